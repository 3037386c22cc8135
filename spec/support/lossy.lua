--- lossy.lua - policies that lose jobs, chosen at random by a seed: they never start them, start them late, preempt them for good, reject
-- them, or fail with an error.

local random = require "weir.random"
local tables = require "weir.tables"

local M = {}

-- Queue policies: LOST(job) is whether a job is chosen, LIMIT a number of jobs, DELAY seconds. Under `late` the order is that of fcfs.
local QUEUES = {
  drop = [[schedule = function(queue)
    for job in queue:pending() do if not LOST(job) then queue:start(job) end end
  end]],
  stall = [[state = { n = 0 },
  schedule = function(queue, _, state)
    if state.n < LIMIT then for job in queue:pending() do queue:start(job) end end
  end, started = function(_, _, _, state) state.n = state.n + 1 end]],
  delay = [[schedule = function(queue)
    for job in queue:pending() do
      local at = queue:time(job.submit + (LOST(job) and DELAY or 0))
      if at <= queue.now then queue:start(job) else queue:again(at) end
    end
  end]],
  preempt = [[schedule = function(queue)
    for _, job in ipairs(queue:running()) do if LOST(job) and queue.now > job.start then queue:preempt(job) end end
    for job in queue:pending() do if not job.preempted then queue:start(job) end end
  end]],
  promise = [[schedule = function(queue)
    for job in queue:pending() do
      if not LOST(job) then queue:start(job) elseif not job.reserved and not queue:fits(job) then queue:reserve(job)
      elseif job.reserved and job.reserved <= queue.now + 1 then queue:unreserve(job) end
      if job.reserved then queue:again(job.reserved) end
    end
  end]],
  fail = [[schedule = function(queue)
    for job in queue:pending() do if LOST(job) and job.number > LIMIT then error "lost" end queue:start(job) end
  end]],
  late = [[schedule = function(queue)
    for job in queue:pending() do
      local at = queue:time(job.submit + (LOST(job) and DELAY or 0))
      if at > queue.now then return queue:again(at) end
      if not queue:start(job) then return end
    end
  end]],
}

local PLACEMENTS = {
  admit = [[admit = function(_, _, job) if LOST(job) then return false, "lost" end end]],
  prune = [[prune = function(_, request) return not LOST(request.job) end]],
  evaluate = [[evaluate = function(v, request) if LOST(request.job) then error "lost" end return v.id end]],
}

-- Appends {kind, option, source} of each text.
local function add(list, texts, option, n)
  for _, kind in ipairs(tables.keys(texts)) do
    local chosen = ("local function LOST(job) return math.floor((job.submit or 1) * 7919 + %d) %% %d == 0 end\n"):format(n(1000), n(3, 9))
    local text = texts[kind]:gsub("LIMIT", tostring(n(10, 60))):gsub("DELAY", tostring(10 ^ n(2, 5) // 1))
    list[#list + 1] = { kind = kind, option = option, source = ("%sreturn { %s }\n"):format(chosen, text) }
  end
  return list
end

--- Returns a list of {kind, option = "-q" or "-p", source}.
function M.policies(seed)
  local n = random.new(seed)
  return add(add({}, QUEUES, "-q", n), PLACEMENTS, "-p", n)
end

return M
