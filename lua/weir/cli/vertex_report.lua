--- vertex_report.lua - the full description of a vertex, as plain data.

local core = require "weir.core"
local plain = require "weir.plain"
local tables = require "weir.tables"

local M = {}

local function map_of(map)
  local t = tables.copy(map)
  return next(t) and t or nil
end

--- Returns the uses of a vertex by jobs, {job=, start=, end=, amount=, exclusive=, vertex=} each, sorted by start. A
--- job that holds an ancestor as a whole also uses the vertex; `vertex` is the vertex allocated to the job.
function M.holders(v)
  local list, up = {}, v
  while up do
    for _, use in ipairs(up:uses()) do
      if up == v or use.exclusive then
        use.vertex = up
        list[#list + 1] = use
      end
    end
    up = up:parent()
  end
  return tables.sort(list, "start", "job")
end

-- Returns the distinct times from `now` on at which a use begins or ends, ascending.
local function changes(holders, now)
  local seen, times = { [now] = true }, { now }
  for _, use in ipairs(holders) do
    for _, t in ipairs { use.start, use["end"] } do
      if t > now and t < math.huge and not seen[t] then
        seen[t] = true
        times[#times + 1] = t
      end
    end
  end
  table.sort(times)
  return times
end

--- Returns the available units over time, from now on: {start=, end=, available=} each; the last has no end.
function M.plan(v)
  local times, plan = changes(M.holders(v), v:graph():now()), {}
  for i, t in ipairs(times) do
    local stop = times[i + 1] or math.huge
    plan[i] = { start = t, ["end"] = stop, available = v:available(t, stop) }
  end
  return plan
end

-- Returns the nearest ancestor with a state that bars jobs from v, or nil.
local function blocked_by(v)
  local up = v:parent()
  while up and (up.state == "up" or up.state == "degraded") do up = up:parent() end
  return up
end

--- Returns the fields of a vertex for lists and trees.
function M.base(v)
  local unit = v.unit ~= "" and v.unit or nil
  return {
    path = v.path, type = v.type, name = v.name, id = v.id, size = v.size, unit = unit, free = v.free,
    state = v.state, rank = v.rank, properties = map_of(v.properties), tags = map_of(v.tags),
  }
end

local function edges_of(v)
  return core.array(tables.map(v:edges(), function(e)
    return { subsystem = e.subsystem, type = e.type, back = e.back, source = e.source.path, target = e.target.path }
  end))
end

local function uses_of(v)
  return core.array(tables.map(M.holders(v), function(use)
    return { job = use.job, start = use.start, ["end"] = plain.finite(use["end"]), amount = use.amount,
      exclusive = use.exclusive, vertex = use.vertex.path }
  end))
end

local function plan_of(v)
  local list = core.array(M.plan(v))
  for _, row in ipairs(list) do row["end"] = plain.finite(row["end"]) end
  return list
end

-- Returns the jobs that have something below a vertex, but not the vertex itself, now or later; nil for none.
local function jobs_below(v, uses)
  local own, list = {}, core.array {}
  for _, use in ipairs(uses) do own[use.job] = true end
  for _, job in ipairs(v:jobs()) do
    if not own[job] then list[#list + 1] = job end
  end
  return list[1] and list or nil
end

--- Returns all fields of a vertex.
function M.describe(v)
  local t, above = M.base(v), blocked_by(v)
  t.basename, t.uuid, t.exclusive, t.data = v.basename, v.uuid, v.exclusive, map_of(v.data)
  t.blocked_by = above and above.path or nil
  t.edges, t.uses, t.plan = edges_of(v), uses_of(v), plan_of(v)
  t.jobs_below = jobs_below(v, t.uses)
  t.below = v:nchildren() > 0 and v:aggregate { all = true } or nil
  return t
end

return M
