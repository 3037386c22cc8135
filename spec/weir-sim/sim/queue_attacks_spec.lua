-- Queue policies with wrong values, or without an end: the simulation ends with an error about the policy, and the
-- line if known.
local queue_policy = require "weir.sim.queue_policy"
local replay = require "weir.replay"
local shell = require "spec.support.shell"
local sim = require "weir.sim"

after_each(shell.clean)

local function policy(text) return shell.path(shell.directory(), "mine.lua", "return {\n" .. text .. " }") end

-- Runs three jobs, two of the jobs fitting at a time. Returns the error, or nil.
local function run(text, opts)
  opts = opts or {}
  local s = assert(sim.new { resources = "node:2 core:2", queue = policy(text), budget = opts.budget, turns = opts.turns })
  local ok, why = pcall(function()
    for i = 1, 3 do s:submit { request = "slot=1/node", estimate = 10, at = i } end
    s:run()
  end)
  assert.is_true(ok or why == s.failure)
  assert(s.graph:check())
  return not ok and why or nil
end

local function each(code) return ("schedule = function(q) for j in q:pending() do %s end end"):format(code) end

-- {body of the policy, the error}; the body begins on line 2
local WRONG = {
  { each "q:again(1/0)", "mine.lua:2: a time of up to 9e+12 seconds is expected, not inf" },
  { each "q:again(0/0)", "mine.lua:2: a time of up to 9e+12 seconds is expected, not %-?nan" },
  { each "q:again(1e300)", "mine.lua:2: a time of up to 9e+12 seconds is expected, not 1e+300" },
  { each "q:again('5')", "mine.lua:2: a time of up to 9e+12 seconds is expected, not a string" },
  { each "q:again()", "mine.lua:2: a time of up to 9e+12 seconds is expected, not a nil" },
  { each "q:start(1)", "mine.lua:2: a job of the queue is expected" },
  { each "q:start{id = j.id}", "mine.lua:2: a job of the queue is expected" },
  { each "q:start(setmetatable({id = j.id}, {__eq = function() return true end}))", "mine.lua:2: a job of the queue is expected" },
  { each "j.id = 1e300 q:reserve(j)", "mine.lua:2: a job of the queue is expected" },
  { each "j.id = 0/0 q:earliest(j)", "mine.lua:2: a job of the queue is expected" },
  { each "j.id = 'x' q:preempt(j)", "mine.lua:2: a job of the queue is expected" },
  { each "q:start(j, 'x')", "mine.lua:2: a list of running jobs is expected" },
  { each "q:start(j, 5)", "mine.lua:2: a list of running jobs is expected" },
  { each "q:start(j, { j })", "mine.lua:2: a list of running jobs is expected, each once" },
  { each "if not q:start(j) then local v = q:running()[1] q:start(j, { v, v }) end",
    "mine.lua:2: a list of running jobs is expected, each once" },
  { each "q:start(j) j.waits = true q:start(j)", "mine.lua:2: the job does not wait" },
  { each "q:start(j) j.waits = true q:reserve(j)", "mine.lua:2: the job does not wait" },
  { each "q:start(j) j.waits = true q:earliest(j)", "mine.lua:2: the job does not wait" },
  { "order = function() return 0/0 end,\n" .. each "q:start(j)", "mine.lua:2: order: it must return up to 4 numbers, not nan" },
  { "\norder = function() return 1, 'x' end,\n" .. each "q:start(j)", "mine.lua:3: order: it must return up to 4 numbers, not a string" },
  { "order = function() return {} end,\n" .. each "q:start(j)", "mine.lua:2: order: it must return up to 4 numbers, not a table" },
  { "order = function() return 1, 2, 3, 4, 5 end,\n" .. each "q:start(j)", "mine.lua:2: order: it must return up to 4 numbers, not more" },
  { "order = function() error 'oh' end,\n" .. each "q:start(j)", "mine.lua:2: oh" },
  { "finished = function(job) job.start = job.start + {} end,\n" .. each "q:start(j)", "mine.lua:2: attempt to perform arithmetic" },
}

describe("[K2] a queue policy that gives a wrong value ends the run, and is named with the line:", function()
  for _, case in ipairs(WRONG) do
    it(case[1], function()
      local why = run(case[1])
      assert.is_string(why)
      assert.truthy(why:find("^queue policy .*mine%.lua: .*" .. case[2]:gsub("%+", "%%+")), why)
      assert.is_nil(why:find("prelude", 1, true), why)
    end)
  end

  for _, wrong in ipairs { "1e999", "-1e999", "nan" } do
    it("an option half_life=" .. wrong, function()
      local ok, why = queue_policy.open("priority:half_life=" .. wrong, function() end)
      assert.is_nil(ok)
      assert.matches("option 'half_life': .*expected, got '" .. wrong:gsub("%-", "%%-") .. "'", why)
    end)
  end
end)

-- {name, body, options of the run}
local ENDLESS = {
  { "starts and stops a job in turn", "schedule = function(q) local j = q:first() while j do q:start(j) q:preempt(j) end end" },
  { "starts and stops a job in turn, and catches errors",
    "schedule = function(q) local j = q:first() while j and pcall(q.start, q, j) and pcall(q.preempt, q, j) do end end" },
  { "replaces one job by the next in turn", "schedule = function(q) for j in q:pending() do q:start(j) end "
    .. "while q:first() do local j = q:first() q:start(j, { q:running()[1] }) end end" },
  { "asks for many calls", "schedule = function(q) for i = 1, 1e6 do q:again(q.now + i * 1e-6) end end" },
  { "asks for many calls, and catches errors", "schedule = function(q) for i = 1, 1e6 do pcall(q.again, q, q.now + i * 1e-6) end end" },
  { "asks for a call a little later", "schedule = function(q) q:again(q.now + 1e-6) end" },
  { "stops and starts all jobs, a little later again",
    "schedule = function(q) for _, j in ipairs(q:running()) do q:preempt(j) end for j in q:pending() do q:start(j) end "
      .. "q:again(q.now + 1e-6) end" },
  { "drops and makes reservations for ever", "schedule = function(q) for j in q:pending() do q:unreserve(j) q:reserve(j) end "
    .. "q:again(q.now + 1e-6) end" },
}

describe("[K2] a queue policy is ended that", function()
  for _, case in ipairs(ENDLESS) do
    it(case[1], function()
      local why = run(case[2], { turns = 200 })
      assert.is_string(why)
      assert.matches("^queue policy .*mine%.lua: it called queue:again and queue:preempt 200 times, and meanwhile no job came, "
        .. "started for the first time or ended; at time %S+ it is stopped$", why)
    end)
  end

  it("asks for one more call, and takes more seconds altogether than it has for a call", function()
    local why = run("schedule = function(q) q:again(q.now + 1) for i = 1, 1e5 do end end", { budget = { seconds = 0.05 } })
    assert.is_string(why)
    assert.matches("^queue policy .*mine%.lua: .*it .*took more than its 0%.05", why)
  end)

  it("tries starts for ever within a call", function()
    local why = run("schedule = function(q) while true do for j in q:pending() do q:earliest(j) end end end",
      { budget = { instructions = 100000 } })
    assert.matches("^queue policy .*mine%.lua: .*mine.lua:2: it used up its budget of 100000 instructions "
      .. "%(at time 1, after the start of 0 jobs%)$", why)
  end)
end)

describe("a queue policy that stops jobs now and then", function()
  it("is not ended while jobs come and end", function()
    local n = 0
    local s = assert(sim.new { resources = "node:1 core:1", turns = 20, queue = policy [[schedule = function(q)
      for _, j in ipairs(q:running()) do if q.now % 3 == 0 then q:preempt(j) end end
      for j in q:pending() do q:start(j) end
      q:again(q.now + 1)
    end]], on = { finish = function() n = n + 1 end } })
    for i = 1, 40 do s:submit { request = "slot=1/node", estimate = 2, at = 3 * i } end
    s:run()
    assert.equal(40, n)
  end)

  it("takes preemptible jobs whatever their time is", function()
    for _, after in ipairs { 0, 9e12, 1e300, math.huge } do
      local s = assert(sim.new { resources = "node:1 core:1", queue = "preempt" })
      local jobs = { s:submit { request = "slot=1/node", estimate = 10, preemptible = after },
        s:submit { request = "slot=1/node", estimate = 5, at = 1 } }
      s:run()
      assert.same({ "done", "done" }, { jobs[1].state, jobs[2].state })
      assert.equal(after == 0 and 1 or 10, jobs[2].start)
    end
  end)
end)

describe("the end of the clock", function()
  local function simulator() return assert(sim.new { resources = "node:1 core:1", queue = "easy" }) end

  for name, spec in pairs {
    ["a job that comes after it"] = { at = 1e13, estimate = 1 },
    ["a job that comes at infinity"] = { at = math.huge, estimate = 1 },
    ["an estimate beyond it"] = { at = 5, estimate = 9e12 },
    ["a run time beyond it"] = { at = 5e12, estimate = 5, runtime = 5e12 },
    ["a job that never ends, and comes after it"] = { at = 1e13, estimate = math.huge },
  } do
    it("is told of " .. name, function()
      spec.request = "slot=1/node"
      local s = simulator()
      local job, why, code = s:submit(spec)
      assert.same({ nil, "invalid" }, { job, code })
      assert.matches("a job ends by 9e%+12 s, the end of the clock", why)
      assert.equal(0, #s.list)
    end)
  end

  it("is told of a job that has to wait too long", function()
    local s = simulator()
    for _ = 1, 2 do assert(s:submit { request = "slot=1/node", estimate = 5e12 }) end
    local ok, why = pcall(s.run, s)
    assert.is_false(ok)
    assert.matches("^job 2: estimate 5e%+12 s from 5e%+12 s on: a job ends by 9e%+12 s, the end of the clock$", why)
  end)

  it("leaves jobs without an end running", function()
    local s = simulator()
    local job = s:submit { request = "slot=1/node", estimate = math.huge }
    s:run(100)
    assert.equal("running", job.state)
  end)

  it("is told of a line of a trace", function()
    local path = shell.path(shell.directory(), "t.csv", "submit,runtime,procs\n1,5,1\n8999999999999,5,1\n")
    local result = assert(replay.run { resources = "node:1 core:1", trace = path })
    assert.same({ 1, 1 }, { result.metrics.jobs, result.trace.malformed })
    assert.equal("it ends after 9e+12 seconds, the end of the clock", result.trace.problems[1].text)
  end)

  it("is told of a scenario that goes beyond it", function()
    local s = require "weir.scenario" { machine = "node:1 core:1" }
    for says, f in pairs {
      ["s:to: 1e+13 seconds: the clock ends at 9e+12 seconds"] = function() s:to(1e13) end,
      ["s:at: inf seconds: the clock ends at 9e+12 seconds"] = function() s:at(math.huge) end,
    } do
      local ok, why = pcall(f)
      assert.is_false(ok)
      assert.truthy(tostring(why):find(says, 1, true), tostring(why))
    end
    assert.equal(0, s:now())
  end)

  it("is told of submissions that a replay makes slower", function()
    local path = shell.path(shell.directory(), "t.csv", "submit,runtime,procs\n1,5,1\n9,5,1\n")
    local result, why = replay.run { resources = "node:1 core:1", trace = path, speed = 1e-200 }
    assert.is_nil(result)
    assert.matches("^job 2: estimate 5 s from %S+ s on: a job ends by 9e%+12 s, the end of the clock$", why)
  end)
end)
