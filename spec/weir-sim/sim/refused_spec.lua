-- What a simulator remembers of jobs that could not start: they are not asked about again until something has come back,
-- and every start is the one that asking each time would give. And what a reservation is to a job that is first no more.
local cases = require "spec.support.steady_cases"
local core = require "weir.core"
local replay = require "weir.replay"
local shell = require "spec.support.shell"
local sim = require "weir.sim"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local dir

setup(function() dir = shell.directory() end)
teardown(shell.clean)

describe("replays of random jobs", function()
  for seed = 1, 3 do
    it(("[K4] start each job when asking about all of them each time would, seed %d"):format(seed), function()
      cases.compare(seed, math.ceil(12 * SCALE))
    end)
  end
end)

-- Counts the calls of two methods of the engine of a simulator.
local function counted(s)
  local own, counts = s.engine, { place = 0, soonest = 0 }
  s.engine = setmetatable({}, { __index = function(_, name)
    return function(_, ...)
      if counts[name] then counts[name] = counts[name] + 1 end
      return own[name](own, ...)
    end
  end })
  return counts
end

describe("a job that could not start", function()
  it("beside a reservation is not asked about again, nor are larger and longer ones, until units come back", function()
    local s = assert(sim.new { resources = "cluster:1 core:8", queue = "easy", rule = "per-event" })
    s:submit { request = "slot=5/core", runtime = 100, at = 0 }
    s:submit { request = "slot=8/core", runtime = 100, at = 1 } -- first in the queue, from 100 on
    for i = 2, 20 do s:submit { request = ("slot=%d/core"):format(1 + i % 3), runtime = 200 + i, at = i } end
    local counts = counted(s)
    s:run(50)
    assert.is_true(counts.soonest <= 4, ("%d questions"):format(counts.soonest)) -- for the smallest and shortest so far
  end)

  for _, queue in ipairs { "greedy.lua", "fcfs" } do
    it("where units are too scattered is matched once, under " .. queue, function()
      local path = queue
      if queue ~= "fcfs" then
        path = shell.path(dir, queue, "return { schedule = function(queue) for job in queue:pending() do queue:start(job) end end }")
      end
      local s = assert(sim.new { resources = "cluster:1 node:2 core:4", queue = path, rule = "per-event" })
      for i = 1, 2 do s:submit { request = "node=1/slot=1/core=3", runtime = 100, at = i } end
      for i = 3, 20 do s:submit { request = "node=1/slot=1/core=2", runtime = 200, at = i } end
      local counts = counted(s)
      s:run(50)
      assert.equal(3, counts.place)
    end)
  end

  it("starts when a script has released something in between", function()
    local s = assert(sim.new { resources = "cluster:1 node:2 core:4", queue = "fcfs" })
    s:submit { request = "node=1/slot=1/core=4", runtime = 100 }
    s:run(1)
    local other = assert(s.engine:match("node=1/slot=1/core=3", { duration = 1000 }))
    local job = s:submit { request = "node=1/slot=1/core=4", runtime = 10 }
    s:run(5)
    assert.equal("pending", job.state)
    s.engine:release(other.id)
    s:submit { request = "node=1/slot=1/core=4", runtime = 10, at = 6 }
    s:run(7)
    assert.equal("running", job.state)
  end)

  it("starts in place of a job that makes way for it", function()
    local s = assert(sim.new { resources = "cluster:1 node:2 core:4", queue = "preempt" })
    for _ = 1, 2 do s:submit { request = "node=1/slot=1/core=3", runtime = 100, preemptible = 10 } end
    local job = s:submit { request = "node=1/slot=1/core=4", runtime = 10 }
    s:run(10)
    assert.equal("running", job.state)
  end)
end)

-- The decision: a reservation is a promise. Job 9 is first when it is submitted, and is promised 10. Job 2, submitted at the
-- same time, comes before it by its number, and gets what is left beside the promise; under the rule per-timestamp, where
-- both are known when the policy is called, job 2 is first from the beginning.
describe("a reservation of a job that is first no more", function()
  local ROWS = "id,submit,runtime,procs,estimate\n1,0,10,3,10\n9,1,10,4,10\n2,1,10,3,10\n"
  for rule, starts in pairs { ["per-event"] = { 0, 10, 20 }, ["per-timestamp"] = { 0, 20, 10 } } do
    for _, simulator in ipairs { "general", "plain" } do
      it(("is kept until its time, %s, in the simulator that is %s"):format(rule, simulator), function()
        local found = {}
        local result = assert(replay.run { resources = "cluster:1 core:4", trace = shell.path(dir, "promise.csv", ROWS), queue = "easy",
          rule = rule, simulator = simulator == "general" and simulator or nil,
          each = function(job) found[job.number] = job.start end })
        assert.equal(simulator == "general", result.sim.queue ~= nil)
        assert.same(starts, { found[1], found[9], found[2] })
      end)
    end
  end
end)

describe("the size of a request", function()
  local size = require "weir.sim.job_size"
  for request, plain in pairs { ["slot=3/core"] = true, ["slot=3/core=2"] = true, ["slot=3/node"] = false, ["slot=1-3/core"] = false,
    ["slot=3/[core=1;memory=1]"] = false, ["node=2/slot=1/core=2"] = false } do
    it(("tells that %s is %s"):format(request, plain and "plain" or "not plain"), function()
      assert.equal(plain, size.is_plain(assert(core.request(request)), "core"))
    end)
  end
end)
