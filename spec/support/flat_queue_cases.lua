-- flat_queue_cases.lua - starts of random jobs on a flat machine, compared with a counter of processors
-- (flat_queue.lua), in several units of time: a trace in tenths of seconds has the starts of the same trace in seconds.
local assert = require "luassert"
local flat_queue = require "spec.support.flat_queue"
local instant = require "weir.sim.instant"
local sim = require "weir.sim"

local UNITS = { 1, 0.1, 1.03, 0.000001 } -- seconds
local PROCS = 8

local function random_jobs()
  local jobs, at = {}, 0
  local gap, longest = math.random(0, 6), math.random(2, 25)
  for i = 1, math.random(4, 24) do
    at = at + math.random(0, gap)
    local estimate = math.random(longest)
    jobs[i] = { submit = at, procs = math.random(math.random(PROCS)), estimate = estimate,
      runtime = math.random(3) == 1 and estimate or math.random(estimate) }
  end
  return jobs
end

local function starts(queue, rule, jobs, unit)
  local s = assert(sim.new { resources = ("cluster:1 core:%d"):format(PROCS), queue = queue, rule = rule })
  for _, job in ipairs(jobs) do
    assert(s:submit { request = ("slot=%d/core=1"):format(job.procs), at = job.submit * unit, estimate = job.estimate * unit,
      runtime = job.runtime * unit })
  end
  s:run()
  local list = {}
  for i, job in ipairs(s.list) do
    assert.equal(job.start, instant.of(job.start))
    list[i] = math.floor(job.start / unit + 0.5)
  end
  return list
end

local function text(jobs)
  local lines = { "job_id,submit,procs,estimate,runtime" }
  for i, job in ipairs(jobs) do
    lines[i + 1] = ("%d,%d,%d,%d,%d"):format(i, job.submit, job.procs, job.estimate, job.runtime)
  end
  return table.concat(lines, "\n")
end


--- Compares n random traces under a queue policy and an event rule.
return function(queue, rule, n)
  math.randomseed(tonumber(os.getenv "WEIR_SPEC_SEED" or "") or 1)
  for i = 1, n do
    local jobs = random_jobs()
    local unit = UNITS[i % #UNITS + 1]
    local expected = flat_queue.starts(PROCS, queue, rule, jobs)
    assert.same(expected, starts(queue, rule, jobs, unit), ("trace %d, in %g s:\n%s"):format(i, unit, text(jobs)))
  end
end
