-- EASY with preemption (RFC 14, preemptible-after). A running job with the attribute may be stopped after the given
-- number of seconds for a waiting job without the attribute. As few jobs as needed are stopped, last started job
-- first. A stopped job returns to the queue and starts from the beginning; where the host of the queue cannot
-- run a job again, it ends as canceled.
--
-- Use it where urgent jobs share a machine with jobs that can be repeated.

local LAST = 9e12 -- seconds; queue:again takes no later time

-- The running jobs that may be stopped now, last started job first; and the time at which the next job may be
-- stopped. `most` limits how often a job is stopped.
local function victims(queue, most)
  local list, soonest = {}, nil
  for _, job in ipairs(queue:running()) do
    local from = job.preemptible and (job.preempted or 0) < most and queue:time(job.start + job.preemptible)
    if from and from <= queue.now then
      list[#list + 1] = job
    elseif from and from < (soonest or LAST) then
      soonest = from
    end
  end
  table.sort(list, function(a, b)
    if a.start ~= b.start then return a.start > b.start end
    if type(a.number) ~= type(b.number) then return type(b.number) == "number" end
    return a.number > b.number
  end)
  return list, soonest
end

-- Starts a job, stopping preemptible jobs if needed. Returns whether the job started.
local function start(queue, job, options)
  if queue:reserve(job) then return true end
  if job.preemptible then return false end
  local list, soonest = victims(queue, options.times)
  if soonest then queue:again(soonest) end
  return #list > 0 and queue:start(job, list)
end

return {
  name = "preempt",
  doc = "EASY, with preemption of preemptible jobs for others; each job is stopped a limited number of times.",
  options = { times = { default = 10, min = 0, max = 1000000, doc = "how often a job may be stopped" } },
  schedule = function(queue, options)
    local head = queue:first()
    while head and start(queue, head, options) do head = queue:first() end
    for job in queue:candidates() do queue:start(job) end
  end,
}
