--- from.lua - a replay from a time in the middle of a trace: jobs that ran at the time, by their recorded starts, run on;
--- jobs that waited wait from their submission; jobs that had ended are left out.
---
--- If the recorded starts are those of a replay under fcfs, easy or sjbf, each later start is equal to the recorded
--- one. The memory of a queue policy is not in a trace: `priority` begins without the usage of users, and `conservative` makes its
--- reservations again, so that jobs may start earlier than promised.

local instant = require "weir.sim.instant"
local tables = require "weir.tables"

local M = {}

-- Returns when a job ended, by its recorded start; jobs are killed at their estimate where `kill` says so.
local function stop_of(job, kill)
  return instant.after(job.recorded, kill and math.min(job.runtime, job.estimate) or job.runtime)
end

-- Reads the jobs submitted before a time. Returns the running jobs in the order of their starts, the waiting jobs, and the first
-- job submitted later.
local function read(feed, from, kill, result)
  local running, waiting = {}, {}
  while true do
    local job = feed()
    if job then
      job.submit, job.recorded = instant.of(job.submit), job.recorded and instant.of(job.recorded)
    end
    if not job or job.submit >= from then
      tables.sort(running, "recorded", "submit")
      return running, waiting, job
    end
    if not job.recorded then
      result.unknown = result.unknown + 1
    elseif stop_of(job, kill) <= from then
      result.ended = result.ended + 1
    elseif job.recorded < from then
      running[#running + 1] = job
    else
      waiting[#waiting + 1] = job
    end
  end
end

--- Begins the jobs that run at a time, in a simulator whose clock is at the time: resume(job, start) enters a running job,
--- and returns whether the job fits. `feed`: the source of jobs; kill: whether
--- jobs end at their estimates. Returns the source of all further jobs, and {running =, waiting =, ended =, unknown = jobs
--- without a recorded start, crowded = running jobs for which the machine has no room}.
function M.begin(resume, feed, from, kill)
  local result = { ended = 0, unknown = 0, crowded = 0 }
  local running, waiting, next_job = read(feed, from, kill, result)
  result.running, result.waiting = #running, #waiting
  for _, job in ipairs(running) do
    if not resume(job, job.recorded) then result.crowded, result.running = result.crowded + 1, result.running - 1 end
  end
  local i = 0
  return function()
    i = i + 1
    if waiting[i] then return waiting[i] end
    local job = next_job
    next_job = nil
    return job or feed()
  end, result
end

--- Returns the words for the result of begin().
function M.sentences(result)
  local list = { ("%d jobs ran then and %d waited; %d had ended"):format(result.running, result.waiting, result.ended) }
  if result.unknown > 0 then list[2] = ("%d jobs submitted before have no recorded start, and are left out"):format(result.unknown) end
  if result.crowded > 0 then
    list[#list + 1] = ("%d jobs ran then for which the machine has no room next to the others, and are left out"):format(result.crowded)
  end
  return list
end

return M
