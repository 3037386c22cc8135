-- steady_cases.lua - replays of random jobs by the general simulator with what it remembers of refused jobs, compared with
-- replays in which every job is asked about again: each start is the same.
local assert = require "luassert"
local core = require "weir.core"
local replay = require "weir.replay"
local shell = require "spec.support.shell"
local sim = require "weir.sim"

local M = {}

local MACHINES = {
  { "cluster:1 core:8", { "slot=N/core=1" } },
  { "cluster:1 node:4 core:3 memory:1(size=8)", { "slot=N/core=1", "slot=N/[core=1;memory=2]", "node=N/slot=1/core=2" } },
  { "cluster:1 rack:2 node:3 core:2 gpu:1", { "slot=N/core=1", "slot=N/[core=1;gpu=1]", "slot=N/node" } },
}
-- A user's policies: one that asks for every job at every call, and one that has reservations and drops them.
local GREEDY = "return { schedule = function(queue) for job in queue:pending() do queue:start(job) end end }"
local FICKLE = [[return { schedule = function(queue)
  local n = 0
  for job in queue:pending() do
    if job.reserved and job.number % 3 == 0 then queue:unreserve(job) end
    if n < 2 and job.number % 2 == 0 then
      if not queue:reserve(job) then n = n + 1 end
    else
      queue:start(job)
    end
  end
end }]]

local function jobs_of(random, shapes)
  local jobs, at = {}, 0
  for i = 1, random(5, 30) do
    at = at + (random(3) == 1 and 0 or random(0, 5))
    local estimate = random(30)
    local procs = random(4)
    jobs[i] = { number = i, submit = at, procs = procs, estimate = estimate, user = random(3), priority = random(3),
      request = shapes[random(#shapes)]:gsub("N", procs), preemptible = random(3) == 1 and random(5) or nil,
      runtime = random(3) == 1 and estimate or random(0, estimate + 5) }
  end
  return jobs
end

local function starts(jobs, opts, steady)
  local make = sim.new
  sim.new = function(...) -- luacheck: ignore
    local s = assert(make(...))
    s.steady = steady and s.steady
    return s
  end
  local i, list = 0, {}
  local result, why = replay.run { resources = opts.resources, policy = opts.policy, queue = opts.queue, rule = opts.rule,
    overrun = opts.overrun, simulator = "general", series = false, trace = { requests = true, next = function()
      i = i + 1
      local copy = {}
      for key, x in pairs(jobs[i] or {}) do copy[key] = x end
      return jobs[i] and copy
    end }, each = function(job) list[#list + 1] = ("%d %.14g %.14g"):format(job.number, job.start, job.finish) end }
  sim.new = make -- luacheck: ignore
  assert(result, why)
  return table.concat(list, "\n"), result.sim.matches
end

--- Compares n random traces from a seed.
function M.compare(seed, n)
  math.randomseed(seed)
  local dir = shell.directory()
  local queues = { "fcfs", "easy", "sjbf", "hybrid:k=2", "conservative", "priority", "preempt", shell.path(dir, "greedy.lua", GREEDY),
    shell.path(dir, "fickle.lua", FICKLE) }
  local policies = { "low", "best_fit", "worst_fit", "spread" }
  for i = 1, n do
    local machine = MACHINES[math.random(#MACHINES)]
    local jobs = jobs_of(math.random, machine[2])
    local opts = { resources = machine[1], policy = policies[math.random(#policies)], queue = queues[math.random(#queues)],
      rule = math.random(2) == 1 and "per-event" or "per-timestamp", overrun = math.random(3) == 1 and "run" or "kill" }
    local say = ("trace %d of seed %d under %s\n%s"):format(i, seed, core.json_encode(opts), core.json_encode(jobs))
    local asked, remembered = starts(jobs, opts, false), starts(jobs, opts, true)
    assert.equal(asked, remembered, say)
  end
end

return M
