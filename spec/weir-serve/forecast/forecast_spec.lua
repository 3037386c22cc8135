-- What comes under other policies: the forecast from any moment of a simulation equals the rest of it; requests of jobs that
-- are not known; the method try of a service and its command.
local core = require "weir.core"
local forecast = require "weir.forecast"
local random = require "weir.random"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local sim = require "weir.sim"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local MACHINE = "cluster:1 rack:2 node:4 core:4"

-- A simulator of jobs drawn by a seed, with run times as estimated. Jobs that backfill ask for whole nodes: with cores, where
-- a job lies depends on the reservations that there were before, which a forecast does not know.
local function history(seed, queue)
  local n = random.new(seed)
  local s, at = assert(sim.new { resources = MACHINE, queue = queue }), 0
  for _ = 1, 30 do
    at = at + n(0, 60)
    local request = n(3) == 1 and queue == "fcfs" and ("slot=%d/core"):format(n(20)) or ("slot=%d/node"):format(n(8))
    assert(s:submit { request = request, estimate = 10 * n(30), at = at, user = "u" .. n(3) })
  end
  return s, at
end

-- The jobs of a simulator that has come to a time, for a forecast.
local function split(s)
  local running, waiting = {}, {}
  for _, job in ipairs(s.list) do
    local spec = { id = job.id, request = job.request, submit = job.submit, user = job.user, estimate = job.estimate }
    if job.state == "running" then
      spec.start, spec.due = job.start, job.due
      running[#running + 1] = spec
    elseif job.state == "pending" then
      waiting[#waiting + 1] = spec
    end
  end
  return running, waiting
end

describe("a forecast", function()
  for _, queue in ipairs { "fcfs", "easy", "sjbf" } do
    it("from any moment equals what comes, under " .. queue, function()
      for seed = 1, math.max(5, math.floor(30 * SCALE)) do
        local s, last = history(seed, queue)
        s:run(last) -- all jobs have come
        local running, waiting = split(s)
        local graph, now = s.graph:dup(), s.now
        local engine = assert(weir.engine { resources = graph })
        for _, job in ipairs(waiting) do engine:release(job.id) end -- reservations
        local told = assert(forecast.run { graph = graph, now = now, running = running, waiting = waiting, queue = queue })
        s:run()
        assert.is_nil(told.incomplete)
        for i, job in ipairs(waiting) do
          assert.equal(s.list[job.id].start, told.jobs[i].start, ("seed %d, job %d, at %g"):format(seed, job.id, now))
        end
      end
    end)
  end

  it("tells why a job does not start now", function()
    local graph = weir.synthetic "node:2 core:4"
    local engine = weir.engine { resources = graph }
    assert(engine:match("slot=1/node", { job = 1, duration = 50 }))
    local node = core.request "slot=2/node"
    local told = assert(forecast.run { graph = graph, now = 0, queue = "fcfs",
      running = { { id = 1, request = node, start = 0, due = 50 } },
      waiting = { { id = 2, request = node, estimate = 5 }, { id = 3, request = core.request "slot=1/node", estimate = 5 },
        { id = 4, request = core.request "slot=3/node", estimate = 5 } } })
    assert.same({ 50, 55 }, { told.jobs[1].start, told.jobs[2].start })
    assert.matches("in use", told.jobs[1].why, 1, true)
    assert.equal("it waits behind job 2", told.jobs[2].why)
    assert.is_true(told.jobs[3].refused)
  end)

  it("expects a job that is overdue to go on for as long as it has run", function()
    local graph = weir.synthetic "node:1 core:4"
    local engine = weir.engine { resources = graph }
    assert(engine:match("slot=1/node", { job = 1, duration = 50 }))
    assert(engine:advance(300))
    local told = assert(forecast.run { graph = graph, now = 300, queue = "fcfs",
      running = { { id = 1, request = core.request "slot=1/node", start = 0, due = 50 } },
      waiting = { { id = 2, request = core.request "slot=1/node", estimate = 5 } } })
    assert.equal(600, told.jobs[1].start)
  end)

  it("says where it has come to when its seconds are over", function()
    local path = shell.path(shell.directory(), "slow.lua", "return { schedule = function() while true do end end }")
    local told = assert(forecast.run { graph = weir.synthetic "node:1", now = 0, queue = path, running = {}, seconds = 0.1,
      waiting = { { id = 2, request = core.request "slot=1/node", estimate = 5 } } })
    assert.matches("seconds", told.incomplete, 1, true)
    assert.is_nil(told.jobs[1] and told.jobs[1].start)
    shell.clean()
  end)

  for _, case in ipairs {
    { "slot=2/node", "slot=2/[core=4]" }, { "slot=3/core=1", "node=1/slot=1/[core=3]" },
    { "node=2/slot=1/core=2", "node=2/slot=1/[core=2]" },
  } do
    it("takes a job whose request is not known for " .. case[2], function()
      local engine = weir.engine { resources = weir.synthetic(MACHINE) }
      local own = forecast.request_of(assert(engine:match(case[1])))
      assert.truthy(engine:match(own))
    end)
  end
end)

-- ---- a service --------------------------------------------------------------------------------------------------

local QUEUE = [[return { options = { k = 1 }, schedule = function(q, o)
  for j in q:pending() do if j.units <= o.k then q:start(j) end end end }]]

describe("weir -s SOCKET try", function()
  local s, dir

  local function run(...) return shell.weir { "-s", s.path, ... } end

  setup(function()
    dir = shell.directory()
    s = service.start(dir, { "-r", "node:4 core:2", "--clock", "manual" })
    shell.path(dir, "mine.lua", QUEUE)
    local function match(shape, mode, duration)
      local words = ('{"request":"%s","mode":"%s","duration":%d}'):format(shape, mode, duration)
      assert.equal(0, run("call", "match", words).status)
    end
    match("slot=2/node", "now", 100)
    match("slot=2/node", "now", 200)
    match("slot=4/node", "reserve", 80)
    match("slot=1/node", "reserve", 80)
    match("slot=2/node", "reserve", 80)
    assert.equal(0, run("release", "1").status)
  end)
  teardown(function()
    service.clean()
    shell.clean()
  end)

  -- The starts tried, in order; "-" where none is known.
  local function starts(...)
    local result = run("try", "--json", ...)
    assert.equal("", result.err)
    local told, list = assert(core.json_decode(result.out)), {}
    for i, job in ipairs(told.jobs) do list[i] = job.start or "-" end
    return list, told
  end

  for _, case in ipairs {
    { "easy if not given", {}, { 200, 0, 80 } }, { "fcfs", { "-q", "fcfs" }, { 200, 280, 280 } },
    { "another placement", { "-q", "conservative", "-p", "high" }, { 200, 0, 80 } },
    { "a file with options", { "-q", "MINE:k=2" }, { "-", 0, "-" } },
  } do
    it("tells the starts: " .. case[1], function()
      local words = {}
      for i, word in ipairs(case[2]) do words[i] = word:gsub("^MINE", dir .. "/mine.lua") end
      local list, told = starts(table.unpack(words))
      assert.same({ 3, 1 }, { told.summary.waiting, told.running })
      assert.same(case[3], list)
      assert.equal(200, told.jobs[1].in_force)
    end)
  end

  it("changes nothing", function()
    local before = run("jobs", "--json").out
    starts("-q", "fcfs")
    assert.equal(before, run("jobs", "--json").out)
  end)

  it("shows the jobs that would start at another time", function()
    local result = run("try", "-q", "fcfs")
    assert.equal("", result.err)
    assert.matches("1 job runs, 3 wait. With low and fcfs: none would start now, 1 later than promised, 2 as promised.\n", result.out, 1,
      true)
    assert.matches("it waits behind job 3", result.out, 1, true)
  end)

  for _, case in ipairs {
    { { "-q", "fcsf" }, 'did you mean "fcfs"' }, { { "-p", "lov" }, "lov" }, { { "-q", "hybrid:z=1" }, "there is no option 'z'" },
    { { "-q", "/none.lua" }, "/none.lua" }, { { "-q", "MINE:k=x" }, "integer expected" }, { { "--seconds", "99" }, "from 0.1 to 60" },
    { { "-p", "weighted:cool=x" }, "option 'cool'" }, { { "-p", "MINE" }, "this is a queue policy" },
  } do
    it("refuses: " .. case[2], function()
      local words = {}
      for i, word in ipairs(case[1]) do words[i] = word:gsub("^MINE", dir .. "/mine.lua") end
      local result = run("try", table.unpack(words))
      assert.is_true(result.status > 0)
      assert.matches(case[2], result.err, 1, true)
    end)
  end
end)
