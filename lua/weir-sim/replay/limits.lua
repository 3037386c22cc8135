--- limits.lua - what the queues of a machine say of the jobs of a trace: limits of time for jobs without an estimate, priorities, and
--- which jobs a queue does not take.

local queues = require "weir.machine.queues"
local tables = require "weir.tables"

local M = {}

-- Returns the priority that each queue gives to its jobs: by tier, and within a tier by the factor of the queue; nil where
-- all queues are equal.
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

-- Returns why a queue does not take a job, or nil. What is not known of a job is taken to be right.
local function refusal(name, queue, job)
  local function says(limit, value) return ("partition %s does not take it: %s %s"):format(name, limit, value) end
  local account, qos = job.bank ~= nil and tostring(job.bank), job.qos ~= nil and tostring(job.qos)
  if queue.max_time and not job.guessed and job.estimate > queue.max_time then
    return says("it requests more than MaxTime", ("%d s"):format(queue.max_time // 1))
  end
  if job.nodes and queue.max_nodes and job.nodes > queue.max_nodes then return says("more nodes than MaxNodes", queue.max_nodes) end
  if job.nodes and queue.min_nodes and job.nodes < queue.min_nodes then return says("fewer nodes than MinNodes", queue.min_nodes) end
  if account and queue.accounts and not tables.has(queue.accounts, account) then return says("AllowAccounts lacks", account) end
  if account and queue.not_accounts and tables.has(queue.not_accounts, account) then return says("DenyAccounts has", account) end
  if qos and queue.qos and not tables.has(queue.qos, qos) then return says("AllowQos lacks", qos) end
end

--- Returns a function that completes a job by its queue, and returns why the queue does not take it, or nil; and whether the jobs are
--- ranked by priority; nil for a machine without queues. A job without an estimate gets the default or else the longest time of its
--- queue, and counts no longer as guessed in the trace.
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
    return refusal(tostring(job.queue), queue, job)
  end
  return complete, ranks ~= nil
end

return M
