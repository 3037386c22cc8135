--- facts.lua - the facts in the sentences of a report, computed from its list of jobs.

local tables = require "weir.tables"

local function waits_of(jobs)
  local list, sum = {}, 0
  for _, job in ipairs(jobs) do
    if job.start then
      list[#list + 1] = job.start - job.submit
      sum = sum + job.start - job.submit
    end
  end
  table.sort(list)
  local n = #list
  if n == 0 then return { mean = 0, median = 0, p95 = 0, max = 0 } end
  return { mean = sum / n, median = (list[(n + 1) // 2] + list[n // 2 + 1]) / 2, p95 = list[math.ceil(0.95 * n)], max = list[n] }
end

-- The mean and the largest number of jobs that wait, between two times. A job that never started waits to the end.
local function queue_of(jobs, first, last)
  local changes, n, most, sum = {}, 0, 0, 0
  for _, job in ipairs(jobs) do
    changes[#changes + 1] = { job.submit, 1 }
    if job.start then changes[#changes + 1] = { job.start, -1 } end
  end
  tables.sort(changes, 1, 2)
  local now = first
  for i, change in ipairs(changes) do
    sum, now, n = sum + n * (change[1] - now), change[1], n + change[2]
    if (not changes[i + 1] or changes[i + 1][1] > now) and n > most then most = n end
  end
  sum = sum + n * math.max(0, last - now)
  return { mean = last > first and sum / (last - first) or 0, max = most }
end

--- Returns {jobs, first, last, utilisation, wait = {mean, median, p95, max}, queue = {mean, max}, unfinished, killed,
--- failed, preempted} of a run: jobs that started, from the first submission to the last end.
return function(run)
  local facts = { jobs = 0, unfinished = 0, killed = 0, failed = 0, preempted = 0 }
  local first, last, area = math.huge, -math.huge, 0
  for _, job in ipairs(run.jobs) do
    first = math.min(first, job.submit)
    last = math.max(last, job.finish or job.start or job.submit)
    if job.finish then area = area + (job.size or 1) * (job.finish - job.start) end
    if job.start then facts.jobs = facts.jobs + 1 end
    if not job.finish then facts.unfinished = facts.unfinished + 1 end
    if facts[job.state] then facts[job.state] = facts[job.state] + 1 end
  end
  if first > last then first, last = 0, 0 end
  facts.first, facts.last = first, last
  facts.utilisation = last > first and area / (run.machine.total * (last - first)) or 0
  facts.wait, facts.queue = waits_of(run.jobs), queue_of(run.jobs, first, last)
  return facts
end
