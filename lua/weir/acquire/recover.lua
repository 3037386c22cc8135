--- recover.lua - recovery of running jobs from their R, after an acquire (RFC 27, hello).

local core = require "weir.core"
local rset = require "weir.rset"

local M = {}

-- Returns type -> id -> vertex, for all vertices below the vertices of a target.
local function by_type(vertices)
  local found = {}
  for _, top in ipairs(vertices) do
    for v in top:graph():walk { start = top } do
      if v.id then
        found[v.type] = found[v.type] or {}
        found[v.type][v.id] = v
      end
    end
  end
  return found
end

-- Returns the vertices named by an entry of R_lite on a rank; the whole target if the entry names none.
local function named(targets, rank, children)
  local list, found = {}, by_type(targets:of(rank))
  for type, ids in pairs(children or {}) do
    local set = core.idset(ids)
    if not set then return nil, ("R_lite: children.%s is no idset"):format(type), "parse" end
    for id in set:ids() do
      local v = found[type] and found[type][id]
      if not v then return nil, ("there is no %s %d on target %d"):format(type, id, rank), "unknown" end
      list[#list + 1] = v
    end
  end
  return #list > 0 and list or targets:of(rank)
end

local function book(list, id, times, done)
  for _, v in ipairs(list) do
    local ok, why, code = v:allocate { job = id, amount = v.size, start = times.start, duration = times.duration }
    if not ok then return nil, why, code end
    done[#done + 1] = v
  end
  return true
end

local function undo(done, id)
  for _, v in ipairs(done) do v:release(id) end
end

-- Books the vertices named by R_lite, for an R without a graph.
local function from_entries(targets, set, id, times)
  local done = {}
  for _, entry in ipairs(set:table "rlite") do
    for rank in core.idset(entry.rank):ids() do
      local list, why, code = named(targets, rank, entry.children)
      if list then list, why, code = book(list, id, times, done) end
      if not list then
        undo(done, id)
        return nil, why, code
      end
    end
  end
  return true
end

-- Books the picks named by the graph of an R exactly.
local function from_graph(targets, text, id, times)
  local picks, why, code = targets.graph:resolve(text, { source = "R" })
  if not picks then return nil, why, code end
  local done = {}
  for _, pick in ipairs(picks) do
    local ok
    ok, why, code = pick.vertex:allocate { job = id, amount = pick.amount, start = times.start, duration = times.duration }
    if not ok then
      undo(done, id)
      return nil, why, code
    end
    done[#done + 1] = pick.vertex
  end
  -- an R whose shares do not fit gives the units of switches back with the job, not with each vertex
  local _ = targets.graph:resolve_flows(id, text, { source = "R" })
  return true
end

-- Returns start and duration of a recovered job: from now until the expiration of R.
local function times_of(graph, set)
  local now, ends = graph:now(), set:expiration()
  return { start = now, duration = ends and ends > now and ends - now or math.huge }
end

--- Books a job as its R says, on the targets in the graph, as a whole or not at all. Returns the targets of the job in
--- the graph, and elsewhere; or nil, message, code.
function M.book(targets, id, R)
  local set, why, code = rset.new(R, "R")
  if not set then return nil, why, code end
  local all = core.idset(set:ranks())
  local here = all & targets.all
  if here:empty() then return here, all end
  local part = here == all and set or set:on_ranks(here)
  local times, text = times_of(targets.graph, set), part:format "rv1"
  local ok
  if part:get "scheduling" then
    ok, why, code = from_graph(targets, text, id, times)
  else
    ok, why, code = from_entries(targets, part, id, times)
  end
  if not ok then return nil, why, code end
  return here, all - here
end

return M
