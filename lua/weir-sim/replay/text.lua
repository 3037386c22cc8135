--- text.lua - metrics as a table for people: a single run, or several runs side by side with the change from the first.

local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

local UNITS = { days = 86400, h = 3600, min = 60, s = 1 }

-- The unit for all waits and flow times of a table, so that a column can be compared by eye: that in which the mean flow
-- time of the first result is 2 or more.
local function wait_unit(results)
  local flow = 0
  for i = #results, 1, -1 do flow = results[i].metrics.mean_flow or flow end
  return flow >= 7200 and "h" or flow >= 120 and "min" or "s"
end

local function span_unit(results)
  local span = results[1].metrics.makespan
  return span >= 2 * 86400 and "days" or span >= 7200 and "h" or span >= 120 and "min" or "s"
end

local function times_in(unit)
  return function(t) return ("%.2f"):format(t / UNITS[unit]) end
end

local function share(x) return ("%.1f %%"):format(x * 100) end
local function number(x) return ("%.2f"):format(x) end
local function precise(x) return ("%.3f"):format(x) end
local function count(x) return ("%d"):format(x) end

-- Returns the types that some result covers (see metrics.lua), in alphabetical order.
local function types_of(results)
  local known = {}
  for _, result in ipairs(results) do
    for _, type in ipairs(result.metrics.shown or tables.keys(result.metrics.utilisation)) do known[type] = true end
  end
  return tables.keys(known)
end

-- Returns a list of {name, value, format, which value is better: "less", "more" or nil}. units: {wait =, span =}.
local function lines_of(m, units, types)
  local list, wait, span = {}, times_in(units.wait), times_in(units.span)
  local function add(name, value, how, better) list[#list + 1] = value and { name, value, how, better } end
  local function wrong(name, value) if value and value ~= 0 then add(name, value, count, "less") end end
  add("jobs", m.jobs, count)
  wrong("refused", m.rejected)
  wrong("unfinished", m.unfinished)
  wrong("longer than estimated", m.killed)
  wrong("failed", m.failed)
  wrong("cancelled", m.cancelled)
  wrong("preempted", m.preempted)
  add(("makespan, %s"):format(units.span), m.makespan, span, "less")
  for _, type in ipairs(types) do
    local used, whole, touched = m.utilisation[type] or 0, m.whole[type] or 0, m.touched[type] or 0
    add("utilisation, " .. type, used, share, "more")
    if whole > 0.0005 and whole < used - 0.0005 then add("taken whole, " .. type, whole, share) end
    if touched > used + 0.0005 then add("in use, " .. type, touched, share) end
  end
  if m.wait then -- a run that is not comparable has no figures of jobs, see weir.replay.data
    for _, row in ipairs { { "mean", m.wait.mean }, { "median", m.wait.median }, { "95th percentile", m.wait.p95 },
      { "longest", m.wait.max } } do
      add(("wait, %s, %s"):format(row[1], units.wait), row[2], wait, "less")
    end
    add(("flow time, mean, %s"):format(units.wait), m.mean_flow, wait, "less")
    add(("bounded slowdown, mean (tau %g s)"):format(m.bounded_slowdown.tau), m.bounded_slowdown.mean, number, "less")
    add("bounded slowdown, worst", m.bounded_slowdown.max, number, "less")
  end
  add("queue length, mean", m.queue.mean, number, "less")
  add("queue length, longest", m.queue.max, count, "less")
  add("idle while jobs wait", m.idle_while_waiting, share, "less")
  add("fragmentation", m.fragmentation, share, "less")
  add("backfilled", m.backfilled, share)
  if m.fairness then add("fairness over " .. texts.counted(m.fairness.users, "user"), m.fairness.index, precise, "more") end
  add("decisions per job", m.decisions_per_job, number)
  if m.visits_per_job > 0 then add("vertices visited per job", m.visits_per_job, number) end -- none are where units are counted
  return list
end

local SEEN = 0.0005 -- smaller changes would be printed as 0.0 %
local FACTOR = 5 -- changes by more than that factor are printed as a factor

-- The relative change from a first to a second value: "+12.3 % worse".
local function moved(from, to, better)
  if from == to or math.abs(to - from) < SEEN * math.abs(from) then return "" end
  local change = from == 0 and "from 0" or to / from > FACTOR and ("x %.1f"):format(to / from)
    or ("%+.1f %%"):format((to - from) / math.abs(from) * 100)
  if not better then return change .. "       " end
  return change .. ((to < from) == (better == "less") and " better" or "  worse")
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

--- Returns "good" or "bad" for a cell with a change, else nil.
function M.colour(cell)
  return cell:find " better$" and "good" or cell:find " worse$" and "bad" or nil
end

--- Returns the rows of a table: a name, and a value per result; from the second result on with the change from the
--- first, and whether it is better or worse, unless one of the two is not comparable (see weir.replay.data). Waits and flow times have
--- one unit in the whole table.
function M.rows(results)
  local columns, head, units = {}, { "" }, { wait = wait_unit(results), span = span_unit(results) }
  local types = types_of(results)
  for i, result in ipairs(results) do
    columns[i] = lines_of(result.metrics, units, types)
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
      local judged = not results[1].incomparable and not results[i].incomparable
      if i > 1 then row[#row + 1] = judged and line and first and moved(first[2], line[2], line[4]) or "" end
    end
    rows[#rows + 1] = row
  end
  return rows
end

--- Returns a sentence about the way in which starts were decided. starts: of a result, see weir.replay.
function M.starts(starts)
  local by = starts.why and ("by the engine, as %s"):format(starts.why) or "by counting free units"
  return ("%s decided %s"):format(texts.counted(starts.counting + starts.engine, "start"), by)
end

return M
