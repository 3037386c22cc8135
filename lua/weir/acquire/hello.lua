--- hello.lua - jobs that run already are booked again, by their R (RFC 27 tells of them after an acquire).

local core = require "weir.core"
local rset = require "weir.rset"

local M = {}

-- Type -> id -> vertex, of what is below a target's vertices.
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

-- The vertices that an entry of R_lite names on one rank; where it names none, the target as a whole.
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

-- What R_lite names, without its exact graph.
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

-- An R that has a graph says exactly what the job has.
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
  return true
end

-- From now on to the end that R tells.
local function times_of(graph, set)
  local now, ends = graph:now(), set:expiration()
  return { start = now, duration = ends and ends > now and ends - now or math.huge }
end

--- Books a job as its R says, as far as it is on targets that are here, as a whole or not at all: the targets that it has here
--- and elsewhere; or nil, message, code.
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
