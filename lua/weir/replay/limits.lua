--- limits.lua - what the queues of a machine say of the jobs of a trace: limits of time for jobs without an estimate, and
--- priorities.

local queues = require "weir.machine.queues"

local M = {}

-- Returns the priority that each queue gives to its jobs: by tier, and within a tier by the factor of the queue; nil where
-- all queues are alike.
local function priorities(list)
  local most, first, differ = 0, nil, false
  for _, queue in pairs(list) do most = math.max(most, queue.priority_job_factor or 1) end
  local by_queue = {}
  for name, queue in pairs(list) do
    by_queue[name] = (queue.priority_tier or 1) + (queue.priority_job_factor or 1) / (most + 1)
    first = first or by_queue[name]
    differ = differ or by_queue[name] ~= first
  end
  return differ and by_queue or nil
end

--- Returns a function that completes a job by its queue, and whether the jobs are ranked by priority; nil for a machine
--- without queues. A job without an estimate gets the default or else the longest time of its queue, and counts no longer
--- as guessed in the trace.
function M.new(graph, trace)
  local list = queues.of(graph)
  if next(list) == nil then return nil, false end
  local ranks = priorities(list)
  local function complete(job)
    local queue = list[tostring(job.queue)]
    if not queue then return end
    local limit = job.guessed and (not job.unlimited and queue.default_time or queue.max_time)
    if limit then
      job.estimate = limit
      trace.guessed = trace.guessed - 1
    end
    if ranks and not job.priority then job.priority = ranks[tostring(job.queue)] end
  end
  return complete, ranks ~= nil
end

return M
