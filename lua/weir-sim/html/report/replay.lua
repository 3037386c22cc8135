--- replay.lua - turns the data of a replay (weir.replay.data, also as read from replay.json) into a run of a report.

local tables = require "weir.tables"

local M = {}


-- ---- who had what -------------------------------------------------------------------------------------------------

-- Returns {first =, units =} by rank; and the number of units of each rank, or nil where ranks differ or leave gaps.
local function lanes_of(list)
  local lanes, per = {}, list[1] and list[1].units
  for i, lane in ipairs(list) do
    lanes[lane.rank] = lane
    if lane.units ~= per or lane.rank ~= i - 1 or lane.first ~= (i - 1) * per then per = nil end
  end
  return lanes, per
end

local function each_id(text, f)
  for lo, hi in text:gsub("[%[%]]", ""):gmatch "(%d+)%-?(%d*)" do
    for id = tonumber(lo), tonumber(hi) or tonumber(lo) do f(id) end
  end
end

-- Appends the units of ids on a rank, numbered through the machine; all units of the rank for ids = nil.
local function add_rank(words, lane, ids)
  if not lane then return end
  if not ids then
    words[#words + 1] = ("%d-%d"):format(lane.first, lane.first + lane.units - 1)
  else
    each_id(ids, function(id) words[#words + 1] = ("%d"):format(lane.first + id % lane.units) end)
  end
end

-- Converts "rank[0-1]/core[0-3]" into the form of a report: "0-1/0-3"; or a list of units, where ranks differ.
local function units_of(text, type, lanes, per)
  local words = {}
  for ranks, children in text:gmatch "rank(%[?[%d,-]+%]?)(%S*)" do
    local ids = children:match(type .. "(%[[%d,-]+%])") or children:match(type .. "(%d+)")
    local last = ids and tonumber(ids:match "(%d+)%]?$")
    if per and (not ids and per == 1 or last and last < per) then
      words[#words + 1] = (ranks .. "/" .. (ids or "0")):gsub("[%[%]]", "")
    else
      local list = {}
      each_id(ranks, function(rank) add_rank(list, lanes[rank], ids) end)
      words[#words + 1] = table.concat(list, ",")
    end
  end
  return table.concat(words, " ")
end

local function jobs_of(data)
  local c, list, known = data.jobs, {}, {}
  local lanes, per = lanes_of(data.ranks or {})
  for i, id in ipairs(c.id) do
    local function value(name)
      local x = c[name] and c[name][i]
      return (type(x) == "number" or type(x) == "string") and x or nil
    end
    local text = value "resources" or ""
    known[text] = known[text] or units_of(text, data.machine.type, lanes, per)
    list[i] = { id = id, user = value "user", submit = value "submit", start = value "start", finish = value "end", size = value "units",
      resources = known[text], state = value "killed" == 1 and "killed" or value "backfilled" == 1 and "backfilled" or "done" }
  end
  return list, per
end

-- ---- metrics and series -------------------------------------------------------------------------------------------

-- {name, path in the metrics, unit, better, doc}. Rows in OPTIONAL are left out where 0.
local ROWS = {
  { "jobs", "jobs" }, { "refused", "rejected", nil, "less", "can never run on the machine under the policies" },
  { "unfinished", "unfinished", nil, "less" },
  { "longer than estimated", "killed", nil, "less" }, { "failed", "failed", nil, "less" },
  { "cancelled", "cancelled", nil, "less", "a job that they depend on did not succeed" }, { "preempted", "preempted", nil, "less" },
  { "makespan", "makespan", "s", "less" },
  { "wait, mean", "wait.mean", "s", "less" }, { "wait, median", "wait.median", "s", "less" },
  { "wait, 95th percentile", "wait.p95", "s", "less" }, { "wait, longest", "wait.max", "s", "less" },
  { "flow time, mean", "mean_flow", "s", "less", "from submission to end" },
  { "bounded slowdown, mean", "bounded_slowdown.mean", nil, "less", "(wait + run) / run, where run times below tau count as tau" },
  { "bounded slowdown, worst", "bounded_slowdown.max", nil, "less" },
  { "queue length, mean", "queue.mean", nil, "less" }, { "queue length, longest", "queue.max", nil, "less" },
  { "idle while jobs wait", "idle_while_waiting", "%", "less" },
  { "fragmentation", "fragmentation", "%", "less", "the part of the free resources that is in nodes in use" },
  { "backfilled", "backfilled", "%", nil, "jobs that started before one that was submitted earlier" },
  { "fairness over users", "fairness.index", nil, "more", "1: the mean bounded slowdowns of all users are equal" },
  { "decisions per job", "decisions_per_job" }, { "vertices visited per job", "visits_per_job" },
}

local OPTIONAL = { rejected = true, unfinished = true, killed = true, failed = true, cancelled = true, preempted = true,
  visits_per_job = true }

local function lookup(metrics, path)
  local value = metrics
  for name in path:gmatch "[^.]+" do value = type(value) == "table" and value[name] or nil end
  return type(value) == "number" and value or nil
end

local function metrics_of(m)
  local list, types = {}, m.shown or tables.keys(m.utilisation)
  for _, row in ipairs(ROWS) do
    local value = lookup(m, row[2])
    if value and (value ~= 0 or not OPTIONAL[row[2]]) then
      list[#list + 1] = { name = row[1], value = value, unit = row[3], better = row[4], doc = row[5] }
    end
    for _, type in ipairs(row[2] == "makespan" and types or {}) do
      local part = m.utilisation[type]
      if part > 0 then list[#list + 1] = { name = "utilisation, " .. type, value = part, unit = "%", better = "more" } end
    end
  end
  return list
end

local function steps_of(series, name, total)
  local list = {}
  for i, x in ipairs(series[name] or {}) do
    list[2 * i - 1], list[2 * i] = series.start + (i - 1) * series.step, x / total
  end
  if #list > 0 then list[#list + 1], list[#list + 2] = series.start + #series[name] * series.step, 0 end
  return #list > 0 and list or nil
end

-- Series as sampled by the replay, where the list of ended jobs is incomplete (unfinished, preempted or left out);
-- otherwise nil.
local function sampled(data)
  local m, s, total = data.metrics, data.series, data.machine.total
  if (m.unfinished or 0) == 0 and (m.preempted or 0) == 0 and (data.jobs_left or 0) == 0 then return nil end
  return { utilisation = steps_of(s, "used", total), queue = steps_of(s, "queued", 1) }
end

-- {first =, names =} of the nodes of a replay, and of the racks: neighbouring nodes below one rack count together.
local function bands_of(ranks)
  local nodes, racks, last = { first = {}, names = {} }, { first = {}, names = {} }, nil
  for i, lane in ipairs(ranks) do
    nodes.first[i], nodes.names[i] = lane.first, lane.name or "rank " .. lane.rank
    if lane.rack and lane.rack ~= last then
      racks.first[#racks.first + 1], racks.names[#racks.names + 1] = lane.first, lane.rack
    end
    last = lane.rack
  end
  return nodes, racks
end

local function facts_of(data)
  local m = data.metrics
  if not (data.spread and m.queue and m.first_submit) then return nil end
  return { jobs = data.spread.jobs, first = m.first_submit, last = m.last_end, utilisation = m.utilisation[data.machine.type] or 0,
    wait = m.wait or { mean = 0, median = 0, p95 = 0, max = 0 }, queue = m.queue,
    rejected = m.rejected, unfinished = m.unfinished, killed = m.killed, failed = m.failed, cancelled = m.cancelled,
    preempted = m.preempted }
end

--- Returns a run for weir.html.report. `data`: a table from weir.replay.data.report.
function M.run(data)
  local jobs, per = jobs_of(data)
  local nodes, racks = bands_of(data.ranks or {})
  return {
    title = data.name or ("%s, %s"):format(data.queue, data.policy), subtitle = data.trace and data.trace:match "[^/]*$", jobs = jobs,
    metrics = metrics_of(data.metrics), outcome = data.outcome,
    epoch = data.epoch, spread = data.spread, facts = facts_of(data), left = data.jobs_left,
    machine = { type = data.machine.type, total = data.machine.total, per_rank = per, nodes = nodes, racks = racks },
    series = sampled(data),
  }
end

return M
