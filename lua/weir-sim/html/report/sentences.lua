--- sentences.lua - what happened in a run, or what differs between runs, in three sentences.

local outcome = require "weir.sim.outcome"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

local UNITS = { { 86400, "days" }, { 3600, "h" }, { 60, "min" } }

--- A length of time as text: "2.5 h".
function M.span(t)
  for _, unit in ipairs(UNITS) do
    if t >= 2 * unit[1] then return ("%.1f %s"):format(t / unit[1], unit[2]):gsub("%.0 ", " ") .. "" end
  end
  return ("%.3g s"):format(t < 10 and t or math.floor(t + 0.5))
end

--- A point in time as text: a date where `epoch`, the date of time 0 in seconds since 1970, is known.
function M.moment(t, epoch)
  if not epoch then return "after " .. M.span(t) end
  return os.date("!%Y-%m-%d", math.floor(t + epoch)) --[[@as string]]
end

local function percent(x) return ("%.1f %%"):format(x * 100) end

local function listed(words)
  if #words < 2 then return words[1] or "" end
  return table.concat(words, ", ", 1, #words - 1) .. " and " .. words[#words]
end

-- The span of a run in words: with dates where there are any.
local function period(run, facts)
  local length = M.span(facts.last - facts.first)
  if not run.epoch then return "in " .. length end
  return ("from %s to %s (%s)"):format(M.moment(facts.first, run.epoch), M.moment(facts.last, run.epoch), length)
end

local function scene(run, facts)
  return ("%s ran on %s %s"):format(texts.counted(facts.jobs, "job"), texts.counted(run.machine.total, run.machine.type or "unit"),
    period(run, facts))
end

-- The errors of a run, as a list of parts of a sentence.
local function wrongs(facts)
  local list = {}
  for _, row in ipairs { { "rejected", "refused, as they can never run here" }, { "unfinished", "not ended" },
    { "killed", "ended at their estimates" }, { "failed", "failed" }, { "cancelled", "cancelled" }, { "preempted", "preempted" } } do
    local n = facts[row[1]] or 0
    if n > 0 then list[#list + 1] = ("%s %s"):format(texts.number(n), row[2]) end
  end
  return list
end

local function waited(wait)
  if wait.max == 0 then return "no job waited" end
  local half = wait.median > 0 and ("half of the jobs waited %s or more"):format(M.span(wait.median)) or "half of the jobs did not wait"
  local few = wait.p95 > 0 and (", one in twenty %s or more"):format(M.span(wait.p95)) or ""
  return ("%s%s; the longest wait was %s"):format(half, few, M.span(wait.max))
end

local function one(run, facts)
  local wrong, mean = wrongs(facts), ("%.3g"):format(facts.queue.mean)
  return {
    scene(run, facts) .. ".",
    ("%s of the %s were in use; %s."):format(percent(facts.utilisation), texts.plural(run.machine.type or "unit"), waited(facts.wait)),
    ("On average %s waited, at most %s%s."):format(mean == "1" and "1 job" or mean .. " jobs", texts.number(facts.queue.max),
      #wrong > 0 and "; of the jobs, " .. listed(wrong) or ""),
  }
end

-- The mean waits of the comparable runs, how the second compares with the first, and what was in use.
local function waits(runs, facts, reasons)
  local words, shares = {}, {}
  for i, run in ipairs(runs) do
    if not reasons[i] then
      words[#words + 1] = ("%s under %s"):format(M.span(facts[i].wait.mean), run.title)
      shares[#shares + 1] = percent(facts[i].utilisation)
    end
  end
  if #words == 0 then return nil end
  local base, compared = facts[1].wait.mean, ""
  if #runs == 2 and #words == 2 and base > 0 and base ~= facts[2].wait.mean then
    compared = (", %.3g times as long"):format(facts[2].wait.mean / base)
  end
  return ("The mean wait was %s%s; %s of the %s were in use."):format(listed(words), compared, listed(shares),
    texts.plural(runs[1].machine.type or "unit"))
end

local function moves(runs, differences, reasons)
  local words = {}
  for i = 2, #runs do
    local d = differences[i]
    if outcome.comparable(reasons, i) then
      local all = (runs[i].left or 0) > 0 and "the " .. texts.number(d.jobs) .. " largest jobs" or texts.counted(d.jobs, "job")
      words[#words + 1] = ("%s of %s start earlier under %s, %s later"):format(texts.number(d.earlier), all,
        runs[i].title, texts.number(d.later))
    end
  end
  if #words == 0 then return nil end
  return ("Against %s, %s."):format(runs[1].title, listed(words))
end

--- Returns a list of three sentences about one or several runs of a report. facts[i]: {jobs, first, last, utilisation,
--- wait = {mean, median, p95, max}, queue = {mean, max}, rejected, unfinished, killed, failed, preempted} of run i;
--- differences[i], for i from 2 on: as from weir.html.report.difference; reasons: as from weir.sim.outcome. What is not comparable, or
--- not complete, is named first.
function M.of(runs, facts, differences, reasons)
  reasons = reasons or {}
  if #runs == 1 then
    if facts[1].jobs == 0 then return { "No job ran." } end
    local list, missing = one(runs[1], facts[1]), outcome.missing(runs[1].outcome or {})
    if missing then list[1] = ("%s: waits are those of the other jobs. %s"):format(missing, list[1]) end
    return list
  end
  local list = { outcome.sentence(tables.column(runs, "title"), reasons) }
  list[#list + 1] = facts[1].jobs == 0 and ("No job ran under %s."):format(runs[1].title) or scene(runs[1], facts[1]) .. "."
  list[#list + 1] = waits(runs, facts, reasons)
  list[#list + 1] = moves(runs, differences, reasons)
  return list
end

return M
