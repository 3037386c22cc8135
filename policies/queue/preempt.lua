-- EASY, where jobs that say so make way (RFC 14, preemptible-after): after so many seconds one that runs may be stopped for one
-- that waits and is not preemptible itself. As few as needed go, those first that ran the least; they wait again, and begin anew.
local function victims(queue, most)
  local list, soonest = {}, nil
  for _, job in ipairs(queue:running()) do
    local from = job.preemptible and (job.preempted or 0) < most and job.start + job.preemptible
    if from and from <= queue.now then
      list[#list + 1] = job
    elseif from and from < (soonest or math.huge) then
      soonest = from
    end
  end
  table.sort(list, function(a, b)
    if a.start ~= b.start then return a.start > b.start end
    return a.number > b.number
  end)
  return list, soonest
end

-- Whether it starts, in place of others if need be.
local function start(queue, job, options)
  if queue:reserve(job) then return true end
  if job.preemptible then return false end
  local list, soonest = victims(queue, options.times)
  if soonest then queue:again(soonest) end
  return #list > 0 and queue:start(job, list)
end

return {
  name = "preempt",
  doc = "EASY, and jobs that are preemptible make way for those that are not; each of them at most so many times.",
  options = { times = 10 },
  schedule = function(queue, options)
    local head = queue:first()
    while head and start(queue, head, options) do head = queue:first() end
    for job in queue:candidates() do queue:start(job) end
  end,
}
