-- The time of a service: the wall clock's, as long as the wall clock is plausible.
local clocks = require "weir.serve.clock"
local service = require "spec.support.service"
local services = require "weir.serve.service"
local shell = require "spec.support.shell"
local weir = require "weir"

local YEAR = 365 * 86400
local BEGIN = 1.8e9

-- A clock with w.wall and w.up as wall and uptime, and a log.
local function on_hands(jump)
  local w, said = { wall = BEGIN, up = 500 }, {}
  local clock = clocks.new {
    jump = jump, log = function(text) said[#said + 1] = text end, wall = function() return w.wall end, uptime = function() return w.up end,
  }
  return clock, w, said
end

describe("the clock of a service", function()
  -- {title, steps of {seconds passed, shift of the wall clock, time since the beginning afterwards}, lines of the
  -- log}
  local CASES = {
    { "goes on", { { 1, 0, 1 }, { 10.5, 0, 11.5 }, { 0, 0, 11.5 } }, 0 },
    { "follows small steps of the wall, forth and back", { { 1, 3600, 3601 }, { 1, -1800, 1802 }, { 1, 0.25, 1803.25 } }, 0 },
    { "follows no large step ahead, and goes on meanwhile", { { 1, 100 * YEAR, 1 }, { 60, 0, 61 }, { 60, 0, 121 } }, 1 },
    { "follows no large step back, and goes on meanwhile", { { 1, -86400, 1 }, { 60, 0, 61 } }, 1 },
    { "follows the wall again once that is right", { { 1, 100 * YEAR, 1 }, { 60, -100 * YEAR, 61 }, { 1, 0.5, 62.5 } }, 2 },
    { "follows the wall again once that is nearly right", { { 1, 100 * YEAR, 1 }, { 60, -100 * YEAR + 30, 91 } }, 2 },
    { "says so once, however long", { { 1, 7200, 1 }, { 1, 0, 2 }, { 1, 5, 3 }, { 1, -9, 4 }, { 1, YEAR, 5 } }, 1 },
    { "goes on in a machine that sleeps", { { 30 * 86400, 0, 30 * 86400 } }, 0 },
  }
  for _, case in ipairs(CASES) do
    it(case[1], function()
      local clock, w, said = on_hands()
      for i, step in ipairs(case[2]) do
        w.wall, w.up = w.wall + step[1] + step[2], w.up + step[1]
        assert.near(step[3], clock:now() - BEGIN, 1e-3, "step " .. i)
      end
      assert.equal(case[3], #said, table.concat(said, "; "))
    end)
  end

  -- {title, time of the state, steps as above, lines of the log}, with the beginning at 0
  local BEHIND = {
    { "follows a wall that was a day behind the state and is put right", 86400,
      { { 60, 0, 60 }, { 60, 86400, 86520 }, { 1, 0, 86521 } }, 1 },
    { "does not follow a jump that does not reach the state", 86400, { { 1, 40000, 1 }, { 1, 0, 2 } }, 1 },
    { "follows a second jump that does", 86400, { { 1, 40000, 1 }, { 1, 46400, 86402 }, { 1, 0, 86403 } }, 2 },
    { "follows one such jump, and none after it", 86400, { { 1, 86400, 86401 }, { 1, 100 * YEAR, 86402 } }, 2 },
    { "follows no jump back either", 86400, { { 1, -7200, 1 } }, 1 },
    { "follows no jump ahead of a wall that was right", -1, { { 1, 86400, 1 } }, 1 },
  }
  for _, case in ipairs(BEHIND) do
    it(case[1], function()
      local clock, w, said = on_hands()
      clock:knows(BEGIN + case[2])
      for i, step in ipairs(case[3]) do
        w.wall, w.up = w.wall + step[1] + step[2], w.up + step[1]
        assert.near(step[3], clock:now() - BEGIN, 1e-3, "step " .. i)
      end
      assert.equal(case[4], #said, table.concat(said, "; "))
    end)
  end

  it("believes the wall when it is told to", function()
    local clock, w, said = on_hands(60)
    w.wall = BEGIN + YEAR
    assert.equal(BEGIN, clock:now())
    assert.matches("the wall clock is 31536000 s ahead of where it should be: it is not followed; SIGHUP", said[1], 1, true)
    clock:follow()
    assert.equal(BEGIN + YEAR, clock:now())
    assert.equal(1, #said)
  end)

  it("is one that goes on", function()
    local clock = clocks.new { log = error }
    local before = clock:now()
    assert.is_true(clock:now() >= before and math.abs(clock:now() - os.time()) < 5)
  end)
end)

-- A service without sockets or state on a graph, at a time; its log, clock and hands.
local function serving(graph)
  local clock, w, said = on_hands()
  local s = assert(services.new(graph, { clock = "wall", log = function(text) said[#said + 1] = text end, state_loaded = false }))
  s:begin(clock)
  return s, said, clock, w
end

describe("a state whose time is ahead of the wall clock", function()
  it("goes back where there is no job, and can be matched on at the wall's time", function()
    local g = assert(weir.synthetic "cluster:1 node:4")
    assert(g:advance(BEGIN + 100 * YEAR))
    local s, said = serving(g)
    assert.equal(BEGIN, s.engine:now())
    assert.matches("100 s ahead", (said[1]:gsub("3153600000", "100")), 1, true)
    assert(s.engine:match("slot=1/node", { mode = "reserve", at = BEGIN + 60, duration = 10 }))
    assert(g:check())
  end)

  it("stands still where there are jobs, until the wall clock is there", function()
    local g = assert(weir.synthetic "cluster:1 node:4")
    assert(g:advance(BEGIN + 1000))
    assert(weir.engine({ resources = g }):match("slot=1/node", { duration = 10 }))
    local s, said = serving(g)
    assert.equal(BEGIN + 1000, s.engine:now())
    assert.matches("there are jobs: it stands still until then", said[1], 1, true)
    s:tick(BEGIN + 500)
    assert.equal(BEGIN + 1000, s.engine:now())
    s:tick(BEGIN + 2000)
    assert.equal(BEGIN + 2000, s.engine:now())
  end)

  it("goes on where there are jobs, once the wall clock is put right", function()
    local g = assert(weir.synthetic "cluster:1 node:4")
    assert(g:advance(BEGIN + 86400))
    assert(weir.engine({ resources = g }):match("slot=1/node", { duration = 1e6 }))
    local s, said, clock, w = serving(g)
    w.wall, w.up = BEGIN + 60, w.up + 60
    s:tick(clock:now())
    assert.equal(BEGIN + 86400, s.engine:now())
    w.wall, w.up = BEGIN + 90000, w.up + 60
    s:tick(clock:now())
    assert.equal(BEGIN + 90000, s.engine:now())
    w.wall, w.up = w.wall + 10, w.up + 10
    s:tick(clock:now())
    assert.equal(BEGIN + 90010, s.engine:now())
    assert.matches("the wall clock was behind the time of the state; it was set 89880 s ahead, and is followed", said[2], 1, true)
  end)

  it("is set back only so far, and finds the starts that there are then", function()
    local g = assert(weir.synthetic "cluster:1 node:2")
    local e = weir.engine { resources = g }
    assert(e:match("slot=2/node", { duration = 100 }))
    local later = assert(e:match("slot=2/node", { mode = "reserve", duration = 10 }))
    assert.equal(100, later.at)
    assert(e:release(later))
    assert(e:release(1))
    assert(g:advance(5000))
    assert.is_nil((g:rewind(6000)))
    assert.is_nil((g:rewind(-1)))
    assert(g:rewind(10))
    assert.equal(10, g:now())
    assert(e:match("slot=2/node", { duration = 100 }))
    assert.equal(110, assert(e:match("slot=2/node", { mode = "reserve", duration = 10 })).at)
    assert(g:check())
  end)
end)

describe("a service", function()
  after_each(service.clean)

  it("with jobs of a wrong clock goes on from the wall clock when it is told to, and after a restart", function()
    local dir = shell.directory()
    local state = shell.path(dir, "state.sqlite")
    local g <close> = assert(weir.synthetic "cluster:1 node:4")
    local e, ahead = weir.engine { resources = g }, 10 * YEAR
    assert(g:advance(os.time() - 5000))
    assert(e:match("slot=1/node", { duration = 20 * YEAR })) -- when the clock was right
    assert(g:advance(os.time() + ahead))
    assert(e:match("slot=1/node", { duration = 6000 }))
    assert(e:match("slot=4/node", { mode = "reserve", duration = 10 }))
    local reserved = e:job(3).at
    assert(g:save(state, { format = "sqlite" }))
    local s = service.start(dir, { "--state", state })
    local c, listener = s:connect(), s:connect()
    local stream = listener:send "events"
    assert(listener:next(stream))
    assert.matches("there are jobs: it stands still until then; the method clock.follow sets it back", s.err.text, 1, true)
    s.process:kill "sighup"
    service.wait("the reload", function() return s.err.text:find "the policy was loaded again" end)
    assert.equal("invalid", select(3, c:ask("match", { request = "slot=1/node", mode = "reserve", at = os.time() + 60 })))
    local answer = assert(c:ask "clock.follow")
    assert.near(ahead, answer.was - answer.now, 60)
    assert.equal(3, answer.jobs)
    local event = assert(listener:next(stream))
    assert.same({ "clock", answer.was, answer.now }, { event.event, event.was, event.now })
    local function right(asked)
      local list = asked:ask("jobs").jobs
      assert.near(os.time() - 5000, list[1].start, 120)
      assert.near(os.time(), list[2].start, 120)
      assert.same({ "allocated", "allocated", "reserved" }, { list[1].state, list[2].state, list[3].state })
      assert.near(reserved - (answer.was - answer.now), list[3].start, 1e-3)
    end
    right(c)
    assert(c:ask("match", { request = "slot=1/node", duration = 60 }))
    assert(c:ask("release", { job = 4 }))
    assert(c:ask("match", { request = "slot=1/node", mode = "reserve", at = os.time() + 600, duration = 10, job = 9 }))
    assert.equal(0, s:stop())
    local again = service.start(dir, { "--state", state })
    right(again:connect())
    assert.equal("", again.err.text)
  end)

  it("that was told goes on from the wall clock after a restart with a state of the future", function()
    local dir = shell.directory()
    local state = shell.path(dir, "state.sqlite")
    local g <close> = assert(weir.synthetic "cluster:1 node:4")
    assert(g:advance(os.time() + 100 * YEAR))
    assert(g:save(state, { format = "sqlite" }))
    local s = service.start(dir, { "--state", state })
    local c <close> = s:connect()
    assert.is_true(math.abs(c:ask("stats").now - os.time()) < 60)
    assert(c:ask("match", { request = "slot=1/node", mode = "reserve", at = os.time() + 600, duration = 10 }))
    assert.matches("ahead of the wall clock: without a job, it is the wall's again", s.err.text)
    s.process:kill "sighup"
    service.wait("the reload", function() return s.err.text:find "the policy was loaded again" end)
    assert.is_true(math.abs(c:ask("stats").now - os.time()) < 60)
    assert.equal(0, s:stop())
  end)
end)
