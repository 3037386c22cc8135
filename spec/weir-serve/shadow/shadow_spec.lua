-- A shadow: of the policy in force it equals what happened, on random histories; of another policy it equals a simulation that
-- knows how long jobs last; what it tells; how far behind it is.
local core = require "weir.core"
local random = require "weir.random"
local service = require "spec.support.service"
local shadow = require "weir.shadow"
local shell = require "spec.support.shell"
local sim = require "weir.sim"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local MACHINE = "cluster:1 rack:2 node:4 core:4"

-- Jobs drawn by a seed: whole nodes or cores; some end early, some run longer than estimated, some are cancelled.
local function jobs_of(seed)
  local n, list, at = random.new(seed), {}, 0
  for i = 1, 40 do
    at = at + n(0, 80)
    local estimate = 10 * n(30)
    local kind = n(10)
    list[i] = { id = i, at = at, estimate = estimate, runtime = kind == 1 and estimate + n(200) or kind < 4 and estimate or n(estimate),
      request = n(3) == 1 and ("slot=%d/core"):format(n(12)) or ("slot=%d/node"):format(n(7)),
      cancel = n(12) == 1 and at + n(300) or nil }
  end
  return list
end

-- Plays jobs under a queue policy. Returns the simulator's jobs, and the list of what happened, in order.
local function history(list, queue)
  local events, jobs = {}, {}
  local function happened(what) return function(job, s) events[#events + 1] = { what, job.number, s.now } end end
  local s = assert(sim.new { resources = MACHINE, queue = queue, overrun = "run",
    on = { submit = happened "submit", start = happened "start", finish = happened "stop", cancel = happened "stop" } })
  for i, own in ipairs(list) do
    local job = assert(s:submit { request = own.request, estimate = own.estimate, runtime = own.runtime, at = own.at, number = own.id })
    jobs[i] = job
    if own.cancel then
      s:at(own.cancel, function() if job.state == "pending" then s:cancel(job) end end)
    end
  end
  s:run()
  return jobs, events
end

-- Tells a shadow what happened, and plays it to its end. Returns the starts by job, and the shadow.
local function follow(list, events, opts)
  local starts, furthest = {}, 0
  local own = assert(shadow.new { graph = weir.synthetic(MACHINE), now = 0, queue = opts.queue, policy = opts.policy })
  for _, event in ipairs(events) do
    local what, id, at = table.unpack(event)
    if what == "submit" then
      own:submit { id = id, at = at, request = list[id].request, estimate = list[id].estimate }
      starts[id] = own.records[id]
    else
      own[what](own, id, at)
    end
    furthest = math.max(furthest, own:status().behind)
  end
  own:advance(1e7)
  local found = {}
  for id, record in pairs(starts) do found[id] = record.shadow_began end
  return found, own, furthest
end

describe("a shadow", function()
  for _, queue in ipairs { "fcfs", "easy", "conservative", "sjbf", "priority" } do
    it("of the policy in force equals what happened, under " .. queue, function()
      for seed = 1, math.max(3, math.floor(6 * SCALE)) do
        local list = jobs_of(seed)
        local jobs, events = history(list, queue)
        local starts, own = follow(list, events, { queue = queue })
        for i, job in ipairs(jobs) do
          assert.equal(job.start, starts[i], ("seed %d, job %d"):format(seed, i))
        end
        local report = own:status()
        assert.same(report.wait.truth, report.wait.shadow)
        assert.near(report.utilisation.truth, report.utilisation.shadow, 1e-9)
        assert.same({ 0, 0, report.compared }, { report.earlier, report.later, report.same })
      end
    end)
  end

  it("of another policy equals a simulation that knows how long jobs last", function()
    for seed = 1, math.max(4, math.floor(20 * SCALE)) do
      local list = jobs_of(seed)
      for _, job in ipairs(list) do job.cancel = nil end
      local _, events = history(list, "fcfs")
      local wanted = history(list, "easy")
      local starts, own = follow(list, events, { queue = "easy" })
      for i, job in ipairs(wanted) do assert.equal(job.start, starts[i], ("seed %d, job %d"):format(seed, i)) end
      assert.is_nil(next(own.records))
    end
  end)

  it("is behind by as much as it is ahead, and says so", function()
    local own = assert(shadow.new { graph = weir.synthetic "node:2", now = 0, queue = "easy" })
    own:submit { id = 1, at = 0, request = "slot=1/node", estimate = 100, promise = 50 }
    own:advance(40)
    local report = own:status()
    assert.same({ 40, 0, 40, 0 }, { report.last_message, report.reached, report.behind, report.compared })
    own:start(1, 50)
    own:advance(60)
    assert.equal(50, own:status().behind)
    own:stop(1, 70)
    report = own:status()
    assert.same({ 0, 1, 50, 0 }, { report.behind, report.earlier, report.wait.truth.mean, report.wait.shadow.mean })
    assert.near(20 / 140, report.utilisation.truth, 1e-9)
    assert.near(20 / 140, report.utilisation.shadow, 1e-9)
    assert.same({ 1, 0 }, { report.promises.truth, report.late.truth })
  end)

  it("begins in the midst of things", function()
    local graph = weir.synthetic "node:2"
    local engine = weir.engine { resources = graph }
    assert(engine:match("slot=2/node", { job = 7, duration = 100 }))
    local own = assert(shadow.new { graph = graph, now = 10, queue = "fcfs",
      running = { { id = 7, request = weir.request "slot=2/node", start = 0, due = 100 } },
      waiting = { { id = 8, request = weir.request "slot=1/node", estimate = 5, submit = 4, promise = 100 } } })
    own:stop(7, 30)
    own:start(8, 100)
    own:stop(8, 103)
    own:advance(200)
    local report = own:status()
    assert.same({ 1, 96, 26 }, { report.compared, report.wait.truth.mean, report.wait.shadow.mean })
  end)

  it("tells of a policy that fails, and of jobs that it refuses", function()
    local own = assert(shadow.new { graph = weir.synthetic "node:2", now = 0, queue = "fcfs" })
    own:submit { id = 1, at = 0, request = "slot=3/node", estimate = 10 }
    own:submit { id = 2, at = 5, request = "slot=1/nodes[", estimate = 10 }
    own:advance(20)
    assert.equal(2, own:status().refused)
  end)
end)

-- ---- a service --------------------------------------------------------------------------------------------------

describe("weir -s SOCKET shadow", function()
  local s

  local function run(...) return shell.weir { "-s", s.path, ... } end
  local function done(...)
    local result = run(...)
    assert.equal("", result.err)
    assert.equal(0, result.status)
    return result.out
  end
  local function call(method, params) return done("call", method, params) end
  local function match(shape, mode, duration)
    call("match", ('{"request":"%s","mode":"%s","duration":%d}'):format(shape, mode, duration))
  end
  local function status() return assert(core.json_decode(done("shadow", "status", "--json"))) end

  before_each(function() s = service.start(shell.directory(), { "-r", "node:4 core:2", "--clock", "manual" }) end)
  after_each(function()
    service.clean()
    shell.clean()
  end)

  it("compares waits, utilisation and promises, and writes a page", function()
    match("slot=2/node", "now", 200)
    match("slot=4/node", "reserve", 80)
    assert.equal("low and easy run alongside low from now on\n", done("shadow", "start", "-q", "easy"))
    match("slot=1/node", "reserve", 80)
    call("advance", '{"to":10}')
    match("slot=1/node", "now", 100)
    call("advance", '{"to":100}')
    for job = 1, 4 do
      if job ~= 2 then call("release", ('{"job":%d}'):format(job)) end
    end
    call("advance", '{"to":400}')
    local report = status().status
    assert.same({ 3, 3, 0 }, { report.jobs, report.compared, report.refused })
    assert.equal(400, report.last_message)
    assert.is_true(report.wait.shadow.mean < report.wait.truth.mean)
    local out = shell.path(shell.directory(), "page")
    assert.matches("3 have started on both sides", done("shadow", "status", "--report", out), 1, true)
    local page = shell.slurp(shell.path(out, "index.html"))
    for _, part in ipairs { "<h1>weir shadow: low and easy</h1>", "<svg", "wait, 95th percentile" } do
      assert.truthy(page:find(part, 1, true))
    end
    assert.equal(400, core.json_decode(shell.slurp(shell.path(out, "shadow.json"))).status.last_message)
    call("state", '{"uri":"/cluster0/node0","state":"down"}')
    assert.matches("Followed: 1 change of the machine or its queues", done("shadow", "status"), 1, true)
    done("shadow", "stop")
    assert.equal(1, run("shadow", "status").status)
  end)

  it("follows nodes that go down, are drained and come back", function()
    done("shadow", "start", "-q", "fcfs")
    call("state", '{"uri":"/cluster0/node0","state":"down"}')
    call("resource.drain", '{"targets":"1"}')
    match("slot=2/node", "now", 50)
    match("slot=1/node", "reserve", 50)
    call("advance", '{"to":10}')
    assert.equal(1, status().status.compared)
    call("state", '{"uri":"/cluster0/node0","state":"up"}')
    match("slot=1/node", "now", 50)
    call("advance", '{"to":60}')
    for job = 1, 3 do call("release", ('{"job":%d}'):format(job)) end
    call("advance", '{"to":500}')
    local report = status().status
    assert.same({ 3, 2, 1 }, { report.jobs, report.compared, report.later })
    assert.equal(3, report.followed)
  end)

  it("begins anew where the machine grows, and keeps what it has found", function()
    done("shadow", "start", "-q", "fcfs")
    match("slot=1/node", "now", 50)
    call("advance", '{"to":10}')
    call("release", '{"job":1}')
    call("resource.add", '{"R":{"version":1,"execution":{"R_lite":[{"rank":"4","children":{"core":"0-1"}}],"nodelist":["n4"]}}}')
    service.poll("the new shadow", function() return status().periods ~= nil end)
    match("slot=5/node", "now", 50)
    call("advance", '{"to":20}')
    local report = status()
    assert.same({ 1, 1, 10 }, { report.status.compared, report.periods[1].compared, report.status.total })
    assert.matches("Before it restarted on a changed machine, 1 jobs had started", done("shadow", "status"), 1, true)
  end)

  it("begins anew where a pool is refined, and not where the machine is only read", function()
    s = service.start(shell.directory(), { "-r", "node:4[core:2 memory:1(size=8)]", "--clock", "manual" })
    done("shadow", "start", "-q", "fcfs")
    call("copy", '{"uri":"/cluster0/node0"}')
    call("edges", '{"uri":"/cluster0/node0"}')
    assert.is_nil(status().periods)
    call("refine", '{"uri":"/cluster0/node0/memory0","parts":2}')
    service.poll("the new shadow", function() return status().periods ~= nil end)
  end)

  it("is report to have ended when the service is started again", function()
    local dir = shell.directory()
    local words = { "-r", "node:4 core:2", "--clock", "manual", "--state", shell.path(dir, "state") }
    local function again() return service.start(dir, words) end
    s = again()
    done("shadow", "start", "-q", "fcfs")
    s:stop()
    s = again()
    assert.matches("The shadow of low and fcfs has ended: the service was started again", done("shadow", "status"), 1, true)
    done("shadow", "stop")
    assert.equal(1, run("shadow", "status").status)
  end)

  it("costs the service nothing when it dies: the status says so", function()
    done("shadow", "start")
    os.execute(("kill -9 %d"):format(s:copies()[1]))
    service.poll("the end of the shadow", function() return #s:copies() == 0 end)
    match("slot=1/node", "now", 100)
    assert.matches("has ended: its process is gone", done("shadow", "status"), 1, true)
    done("shadow", "start")
    assert.is_true(status().running)
  end)

  it("is a process of the lowest priority without the sockets of the service", function()
    done("shadow", "start")
    local pid = s:copies()[1]
    assert.is_true(status().running) -- it answers, so it has begun
    assert.equal("19", shell.slurp(("/proc/%d/stat"):format(pid)):match("%) %S" .. (" %S+"):rep(15) .. " (%S+)"))
    local files = {}
    local pipe <close> = assert(io.popen(("ls -l /proc/%d/fd"):format(pid)))
    for line in pipe:lines() do
      if not line:find " 2 %->" then files[#files + 1] = line:match " %-> (%a+):%[" end -- but standard error
    end
    for _, kind in ipairs(files) do assert.equal("pipe", kind) end
  end)

  for _, case in ipairs {
    { { "start", "-q", "nope" }, 'there is no queue policy "nope"', 1 }, { { "status" }, "there is no shadow", 1 },
    { { "stop" }, "there is no shadow", 1 }, { { "begin" }, "expected start, status or stop", 2 },
    { { "stop", "-q", "easy" }, "-p and -q are for start", 2 }, { { "start", "--json" }, "--report and --json are for status", 2 },
  } do
    it("refuses: " .. table.concat(case[1], " "), function()
      local result = run("shadow", table.unpack(case[1]))
      assert.equal(case[3], result.status)
      assert.matches(case[2], result.err, 1, true)
    end)
  end
end)
