--- text.lua - metrics as a table for people: a single run, or several runs side by side with the change from the first.

local tables = require "weir.tables"

local M = {}

local function seconds(t)
  t = math.floor(t + 0.5)
  if t < 120 then return t .. " s" end
  if t < 7200 then return ("%d min"):format(t // 60) end
  if t < 172800 then return ("%.1f h"):format(t / 3600) end
  return ("%.1f days"):format(t / 86400)
end

local function exact(t) return ("%.14g s"):format(t) end
local function share(x) return ("%.1f %%"):format(x * 100) end
local function number(x) return ("%.4g"):format(x) end
local function count(x) return ("%d"):format(x) end

local function types_of(m)
  return tables.keys(m.utilisation)
end

-- Returns a list of {name, value, format, whether to show 0}.
local function lines_of(m)
  local list = {}
  local function add(name, value, how, always)
    if value and (always ~= false or value ~= 0) then list[#list + 1] = { name, value, how } end
  end
  add("jobs", m.jobs, count)
  add("refused", m.rejected, count, false)
  add("unfinished", m.unfinished, count, false)
  add("longer than estimated", m.killed, count, false)
  add("failed", m.failed, count, false)
  add("preempted", m.preempted, count, false)
  add("makespan", m.makespan, seconds)
  for _, type in ipairs(types_of(m)) do
    local used, whole, touched = m.utilisation[type], m.whole[type], m.touched[type]
    add("utilisation, " .. type, used, share)
    if whole > 0.0005 and whole < used - 0.0005 then add("taken whole, " .. type, whole, share) end
    if touched > used + 0.0005 then add("in use, " .. type, touched, share) end
  end
  add("wait, mean", m.wait.mean, seconds)
  add("wait, median", m.wait.median, seconds)
  add("wait, 95th percentile", m.wait.p95, seconds)
  add("wait, longest", m.wait.max, seconds)
  add("flow time, mean", m.mean_flow, exact)
  add(("bounded slowdown, mean (tau %g s)"):format(m.bounded_slowdown.tau), m.bounded_slowdown.mean,
    function(x) return ("%.14g"):format(x) end)
  add("bounded slowdown, worst", m.bounded_slowdown.max, number)
  add("queue length, mean", m.queue.mean, number)
  add("queue length, longest", m.queue.max, count)
  add("idle while jobs wait", m.idle_while_waiting, share)
  add("fragmentation", m.fragmentation, share)
  add("backfilled", m.backfilled, share)
  add(("fairness over %d users"):format(m.fairness.users), m.fairness.index, number)
  add("decisions per job", m.decisions_per_job, number)
  add("vertices visited per job", m.visits_per_job, number)
  return list
end

local function moved(from, to)
  if from == to then return "" end
  if from == 0 then return "" end
  return ("%+.1f %%"):format((to - from) / math.abs(from) * 100)
end

-- All names, in the order of first appearance.
local function names_of(columns)
  local names, seen = {}, {}
  for _, column in ipairs(columns) do
    for _, line in ipairs(column) do
      if not seen[line[1]] then
        seen[line[1]] = true
        names[#names + 1] = line[1]
      end
    end
  end
  return names
end

local function by_name(column)
  local map = {}
  for _, line in ipairs(column) do map[line[1]] = line end
  return map
end

--- Returns the rows of a table: a name, and a value per result; from the second result on with the change from the
--- first.
function M.rows(results)
  local columns, head = {}, { "" }
  for i, result in ipairs(results) do
    columns[i] = lines_of(result.metrics)
    head[#head + 1] = result.name or result.queue .. "@" .. result.policy
    if i > 1 then head[#head + 1] = "moved" end
  end
  local rows, maps = { head }, {}
  for i, column in ipairs(columns) do maps[i] = by_name(column) end
  for _, name in ipairs(names_of(columns)) do
    local row, first = { name }, maps[1][name]
    for i = 1, #results do
      local line = maps[i][name]
      row[#row + 1] = line and line[3](line[2]) or "-"
      if i > 1 then row[#row + 1] = line and first and moved(first[2], line[2]) or "" end
    end
    rows[#rows + 1] = row
  end
  return rows
end

return M
