--- objective.lua - what tuning makes small: figures of the waits and of the bounded slowdowns of jobs.
---
--- A wait is start less submission; the bounded slowdown of a job is max(1, (wait + run) / max(run, tau)). Percentiles are
--- those of weir replay: the k-th smallest of n, k = ceil(share * n).

local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

local MEASURES = { wait = "s", bsld = "" }

local mean = tables.mean

local function at_share(share)
  return function(list)
    local ranked = table.move(list, 1, #list, 1, {})
    table.sort(ranked)
    return ranked[math.max(1, math.ceil(share * #ranked))] or 0
  end
end

local FIGURES = { mean = mean, median = at_share(0.5), p90 = at_share(0.9), p95 = at_share(0.95), p99 = at_share(0.99), max = at_share(1) }
local ORDER = { "mean", "median", "p90", "p95", "p99", "max" }

local WORDS = { mean = "mean", median = "median", p90 = "90th percentile", p95 = "95th percentile", p99 = "99th percentile",
  max = "longest" }

--- The names of all objectives, such as "mean_wait".
M.names = {}
for _, measure in ipairs { "wait", "bsld" } do
  for _, figure in ipairs(ORDER) do M.names[#M.names + 1] = figure .. "_" .. measure end
end

-- Returns the objective of a name: mean_wait or wait_mean; nil where there is none.
local function find(word)
  local a, b = word:match "^(%w+)_(%w+)$"
  if MEASURES[a] then a, b = b, a end
  if not (FIGURES[a or ""] and MEASURES[b or ""]) then return nil end
  local label = b == "wait" and "wait, " .. WORDS[a] or "bounded slowdown, " .. (a == "max" and "worst" or WORDS[a])
  return { name = a .. "_" .. b, measure = b, of = FIGURES[a], unit = MEASURES[b], label = label }
end

--- Reads "mean_wait,p95_bsld". Returns a list of {name, measure, unit, label, of(list)}; or nil, message.
function M.read(text)
  local list, known = {}, {}
  for word in text:gmatch "[^,%s]+" do
    local one = find(word)
    if not one then
      return nil, ('there is no objective "%s"%s'):format(word, suggest.among(word, M.names))
    end
    if not known[one.name] then list[#list + 1] = one end
    known[one.name] = true
  end
  if #list == 0 then return nil, "expected an objective, such as mean_wait" end
  return list
end

--- Returns the wait and the bounded slowdown of a job that was submitted, started and ended at these times.
function M.measures(submit, start, finish, tau)
  local wait, run = start - submit, finish - start
  return wait, math.max(1, (wait + run) / math.max(run, tau))
end

--- Returns the values of objectives, in order. measures: {wait = list, bsld = list}, an entry a job.
function M.values(objectives, measures)
  return tables.map(objectives, function(one) return one.of(measures[one.measure]) end)
end

--- Returns a value as text.
function M.text(one, value)
  if one.unit ~= "s" then return ("%.4g"):format(value) end
  if value < 0.0005 then return "0 s" end
  if value < 10 then return ("%.3g s"):format(value) end
  if value < 7200 then return ("%.0f s"):format(value) end
  return ("%.2f h"):format(value / 3600)
end

return M
