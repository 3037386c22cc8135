--- against.lua - simulated starts against the starts that a trace has recorded: how true a replay is.
---
---   local against = against.new()
---   listeners.finish(job) -> against:add(job)
---   against:result() -> {jobs =, without =, typical =, ...}
---
--- Times are seconds. `typical`, the figure to quote, is the median of the differences between simulated and recorded
--- start, whichever is earlier: half of the jobs start that close to their recorded start. Memory: 64 bytes a job.

local outcome = require "weir.sim.outcome"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}
M.__index = M

--- Returns a comparison without jobs.
function M.new() return setmetatable({ recorded = {}, simulated = {}, sizes = {}, queues = {}, n = 0, without = 0 }, M) end

--- Adds a job that has ended. The size is the number of nodes where that is known, else of processors.
function M:add(job)
  if not job.recorded then
    self.without = self.without + 1
    return
  end
  local n = self.n + 1
  self.n = n
  self.recorded[n], self.simulated[n] = job.recorded - job.submit, job.start - job.submit
  self.sizes[n], self.queues[n] = job.nodes or job.procs or job.units or 1, job.queue ~= nil and tostring(job.queue) or false
  self.by_nodes = self.by_nodes or job.nodes ~= nil
end

-- ---- statistics ---------------------------------------------------------------------------------------------

-- Returns the share-th value of a sorted list.
local function at(list, share) return list[math.max(1, math.ceil(share * #list))] end

local mean = tables.mean

-- Returns the largest distance between the distributions of two sorted lists of equal length (Kolmogorov-Smirnov).
local function distance(a, b)
  local i, j, most, n = 1, 1, 0, #a
  while i <= n and j <= n do
    local x = math.min(a[i], b[j])
    while i <= n and a[i] == x do i = i + 1 end
    while j <= n and b[j] == x do j = j + 1 end
    most = math.max(most, math.abs(i - j) / n)
  end
  return most
end

-- Returns the row of the jobs with the given numbers.
local function row_of(self, name, numbers)
  local recorded, simulated, apart = {}, {}, {}
  for k, i in ipairs(numbers) do
    recorded[k], simulated[k] = self.recorded[i], self.simulated[i]
    apart[k] = math.abs(simulated[k] - recorded[k])
  end
  table.sort(recorded)
  table.sort(simulated)
  table.sort(apart)
  return { name = name, jobs = #numbers, recorded = mean(recorded), simulated = mean(simulated), recorded_median = at(recorded, 0.5),
    simulated_median = at(simulated, 0.5), recorded_p95 = at(recorded, 0.95), simulated_p95 = at(simulated, 0.95),
    typical = at(apart, 0.5), p90 = at(apart, 0.9), distance = distance(recorded, simulated), apart = apart }
end

local function share_within(apart, seconds)
  local n = 0
  for _, x in ipairs(apart) do
    if x > seconds then break end
    n = n + 1
  end
  return #apart > 0 and n / #apart or 0
end

-- Returns the class of a size: 1, 2, 3-4, 5-8, ...
local function class_of(size)
  local top = 1
  while top < size do top = top * 2 end
  return top
end

local function class_name(top, noun)
  if top <= 2 then return ("%d %s%s"):format(top, noun, top == 1 and "" or "s") end
  return ("%d-%d %ss"):format(top // 2 + 1, top, noun)
end

-- Returns the numbers of jobs by a key, and the keys in ascending order.
local function grouped(n, key_of)
  local groups, keys = {}, {}
  for i = 1, n do
    local key = key_of(i)
    if key and not groups[key] then groups[key], keys[#keys + 1] = {}, key end
    if key then groups[key][#groups[key] + 1] = i end
  end
  table.sort(keys)
  return groups, keys
end

local function rows_by(self, key_of, name_of)
  local groups, keys = grouped(self.n, key_of)
  local rows = {}
  for i, key in ipairs(keys) do
    rows[i] = row_of(self, name_of(key), groups[key])
    rows[i].apart = nil
  end
  return rows
end

-- Returns what jobs that start at once in the simulation had waited for really: the median and the 90th percentile. That
-- is what the model does not know: cycles of the scheduler, holds, dependencies, nodes that were down, priorities.
local function unexplained(self)
  local list = {}
  for i = 1, self.n do
    if self.simulated[i] <= 0 then list[#list + 1] = math.max(self.recorded[i], 0) end
  end
  if #list == 0 then return nil end
  table.sort(list)
  return { jobs = #list, median = at(list, 0.5), p90 = at(list, 0.9) }
end

local POINTS = 100 -- of a distribution

-- Returns a distribution of waits in seconds as points {seconds, share of jobs that waited no longer, ...}.
local function distribution(waits)
  local list, points, n = table.move(waits, 1, #waits, 1, {}), {}, #waits
  table.sort(list)
  for k = 1, POINTS do
    points[2 * k - 1], points[2 * k] = math.max(0, list[math.max(1, math.ceil(k / POINTS * n))]), k / POINTS
  end
  return points
end

local CLOSENESS = { "typical", "p90", "distance", "within", "earlier", "later", "apart" }

-- Takes away what says how close the starts are.
local function withhold(result)
  local function take(row)
    for _, name in ipairs(CLOSENESS) do row[name] = nil end
  end
  take(result)
  for _, row in ipairs(result.by_queue) do take(row) end
  for _, row in ipairs(result.by_size) do take(row) end
end

--- Returns the comparison: jobs, without (jobs without a recorded start), the fields of a row (recorded and simulated, mean
--- waits, with _median and _p95; typical and p90, differences of starts; distance between the distributions of waits, from
--- 0 to 1), within = {minute =, ten_minutes =, hour =} as shares, earlier and later, shares of jobs that start before
--- and after they did; by_queue and by_size, lists of rows with a name; at_once = {jobs =, median =, p90 =}, the
--- recorded waits of jobs that start at once here; waits = {recorded =, simulated =} and apart, distributions: lists of seconds and of
--- the share of jobs up to them. came: the outcome of the replay (see weir.sim.outcome); where jobs are missing, the field
--- incomparable has the reason, and the result lacks what says how close the starts are: they are those of the jobs that are left.
--- Returns nil without a job to compare.
function M:result(came)
  if self.n == 0 then return nil end
  local all, early, late = {}, 0, 0
  for i = 1, self.n do
    local d = self.simulated[i] - self.recorded[i]
    all[i], early, late = i, early + (d < 0 and 1 or 0), late + (d > 0 and 1 or 0)
  end
  local noun = self.by_nodes and "node" or "processor"
  local result = row_of(self, "all", all)
  local apart = result.apart
  result.within = { minute = share_within(apart, 60), ten_minutes = share_within(apart, 600), hour = share_within(apart, 3600) }
  result.waits = { recorded = distribution(self.recorded), simulated = distribution(self.simulated) }
  result.apart, result.without, result.earlier, result.later = distribution(apart), self.without, early / self.n, late / self.n
  result.by_queue = rows_by(self, function(i) return self.queues[i] end, function(key) return key end)
  result.by_size = rows_by(self, function(i) return class_of(self.sizes[i]) end, function(key) return class_name(key, noun) end)
  result.at_once = unexplained(self)
  result.incomparable = came and outcome.missing(came)
  if result.incomparable then withhold(result) end
  return result
end

-- ---- for people ---------------------------------------------------------------------------------------------

local function seconds(t)
  if t < 120 then return ("%.3g s"):format(t) end
  if t < 7200 then return ("%.1f min"):format(t / 60) end
  if t < 172800 then return ("%.1f h"):format(t / 3600) end
  return ("%.1f days"):format(t / 86400)
end

local function line(row)
  return { row.name, ("%d"):format(row.jobs), seconds(row.recorded), seconds(row.simulated), row.typical and seconds(row.typical) or "-",
    row.p90 and seconds(row.p90) or "-" }
end

--- Returns the rows of a table for people.
function M.rows(result)
  local rows = { { "starts, against the recorded ones", "jobs", "mean wait then", "mean wait here", "half within", "90 % within" },
    line(result) }
  for _, row in ipairs(result.by_queue) do rows[#rows + 1] = line(row) end
  for _, row in ipairs(result.by_size) do rows[#rows + 1] = line(row) end
  return rows
end

--- Returns sentences on a comparison: the figure to quote, and what the model does not know. trace: the trace, for its
--- remarks.
function M.sentences(result, trace)
  local list = {}
  if result.incomparable then
    list[1] = ("Not comparable: %s. The waits are those of the %s left, and how close the starts are is not known."):format(
      result.incomparable, texts.counted(result.jobs, "job"))
  else
    list[1] = ("Half of the simulated starts are within %s of the recorded ones, 90 %% within %s; %.0f %% within ten minutes."):format(
      seconds(result.typical), seconds(result.p90), result.within.ten_minutes * 100)
  end
  list[2] = ("The mean wait is %s in the replay and was %s in the trace."):format(seconds(result.simulated), seconds(result.recorded))
  if result.at_once then
    list[#list + 1] = ("%d jobs start at once here; they had waited %s (median) and %s (90 %%), by what is not in the model."):format(
      result.at_once.jobs, seconds(result.at_once.median), seconds(result.at_once.p90))
  end
  list[#list + 1] = "Not in the model: cycles of the scheduler, holds, fair share and QOS (but for -q priority), and when nodes were down."
  if result.without > 0 then list[#list + 1] = ("Without a recorded start: %s."):format(texts.counted(result.without, "job")) end
  for _, reason in ipairs(trace and trace.reasons or {}) do
    list[#list + 1] = ("Left out: %s %s."):format(texts.counted(reason.count, "job"), reason.text)
  end
  return list
end

--- A time in words.
M.seconds = seconds

return M
