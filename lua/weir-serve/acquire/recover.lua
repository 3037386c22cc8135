--- recover.lua - recovery of running jobs from their R, after an acquire (RFC 27, hello).

local core = require "weir.core"
local failure = require "weir.failure"
local rset = require "weir.rset"
local tables = require "weir.tables"

local must = failure.must

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
    local set = core.idset(ids) or failure.raise(("R_lite: children.%s is no idset"):format(type), "parse")
    for id in set:ids() do
      local v = found[type] and found[type][id]
      list[#list + 1] = must(v, ("there is no %s %d on target %d"):format(type, id, rank), "unknown")
    end
  end
  return #list > 0 and list or targets:of(rank)
end

-- Returns the vertices named by R_lite, as a whole, for an R without a graph.
local function picks_of(targets, set)
  local picks = {}
  for _, entry in ipairs(set:table "rlite") do
    for rank in core.idset(entry.rank):ids() do
      tables.append(picks, tables.map(named(targets, rank, entry.children), function(v) return { vertex = v, amount = v.size } end))
    end
  end
  return picks
end

-- Books all picks or none.
local function book(picks, id, times)
  for i, pick in ipairs(picks) do
    local ok, why, code = pick.vertex:allocate { job = id, amount = pick.amount, start = times.start, duration = times.duration }
    if not ok then
      for k = 1, i - 1 do picks[k].vertex:release(id) end
      failure.raise(why, code)
    end
  end
end

-- Returns start and duration of a recovered job: from now until the expiration of R.
local function times_of(graph, set)
  local now, ends = graph:now(), set:expiration()
  return { start = now, duration = ends and ends > now and ends - now or math.huge }
end

--- Books a job as its R says, on the targets in the graph, as a whole or not at all. Returns the targets of the job in
--- the graph, and of those outside; or nil, message, code.
function M.book(targets, id, R)
  local set = must(rset.new(R, "R"))
  local all = core.idset(set:ranks())
  local here = all & targets.all
  if here:empty() then return here, all end
  local part = here == all and set or set:on_ranks(here)
  local times, text = times_of(targets.graph, set), part:format "rv1"
  if part:get "scheduling" then
    book(must(targets.graph:resolve(text, { source = "R" })), id, times)
    -- an R whose shares do not fit gives the units of switches back with the job, not with each vertex
    local _ = targets.graph:resolve_flows(id, text, { source = "R" })
  else
    book(picks_of(targets, part), id, times)
  end
  return here, all - here
end

failure.returning(M)

return M
