-- A clock that is set back with jobs: the jobs move along. A machine whose clock was set back continues as an equal
-- machine whose clock was not, but for the difference of the times.
local dice = require "spec.support.dice"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1
local MACHINE = "cluster:1 rack:2 node:2 core:4 memory:1(size=64)"
local REQUESTS = { "slot=1/core", "slot=3/core", "slot=1/node", "slot=2/node", "node=1/slot=2/core", "slot=5/core=2", "slot=1/rack",
  "slot=1/memory=3", "slot=1/memory=5", "slot=2/memory=20", "slot=1/[core=1;memory=7]" }

-- Takes one random step on each of a list of engines, `later[i]` seconds later. Returns the answers, with `later`
-- subtracted from times.
local function step(roll, engines, later, last)
  local what, answers = roll(10), {}
  local request, mode, duration = REQUESTS[roll(#REQUESTS)], roll(3) == 1 and "now" or "reserve", roll(4) > 1 and roll(500) or nil
  local job, pause = roll(last + 1), roll(90)
  for i, e in ipairs(engines) do
    if what <= 6 then
      local a, _, code = e:match(request, { mode = mode, duration = duration, job = last + 1 })
      answers[i] = a and { a.at - later[i], a.duration, a.state, #a:vertices(), a:vertices()[1].vertex.path } or { code }
    elseif what <= 8 then
      local ok, _, code = e:release(job)
      answers[i] = { ok, code }
    else
      local _, events = assert(e:advance(e:now() + pause))
      answers[i] = {}
      for k, x in ipairs(events) do answers[i][k] = { x.event, x.job, x.time - later[i] } end
    end
  end
  return answers
end

local function checked(e) assert(e:resources():check()) end

describe("the clock of a graph with jobs", function()
  for _, rule in ipairs { "hold", "expire" } do
    it("is set back with them, and all goes on as before; rule " .. rule, function()
      for seed = 1, 60 * SCALE do
        local roll, begin, back = dice(seed), 1000000, 0
        local first = weir.engine { resources = weir.synthetic(MACHINE), overrun = rule }
        assert(first:resources():advance(begin))
        for last = 1, 60 do step(roll, { first }, { 0 }, last) end
        local g = first:resources():dup()
        local twin = weir.engine { resources = g, overrun = rule }
        for k = 1, 2 do
          local by = roll(4) == 1 and 900000 or roll(2) == 1 and roll(700) or roll(20)
          back = math.min(back + by, 1000000)
          assert(g:rewind(first:now() - back))
          checked(twin)
          for last = 61, 90 do
            local answers = step(roll, { first, twin }, { 0, -back }, 1000 * k + last)
            assert.same(answers[1], answers[2], "seed " .. seed)
          end
          checked(first)
          checked(twin)
        end
      end
    end)
  end

  it("leaves what is left of each job, and the start of those that began when it was right", function()
    local g = assert(weir.synthetic "cluster:1 node:5")
    local e = weir.engine { resources = g }
    local function now(duration) return assert(e:match("slot=1/node", { duration = duration })).id end
    assert(g:advance(1000))
    local before, overdue, endless = now(100), now(5000), now()
    assert(g:advance(90000))
    local long = now(20000)
    assert(g:advance(100000))
    local short, later = now(60), assert(e:match("slot=2/node", { mode = "reserve", duration = 30, at = 100500 })).id
    assert(g:rewind(2000))
    -- {job, start, end less now}
    for i, case in ipairs {
      { before, 1000, nil }, { overdue, 1000, nil }, { endless, 1000, math.huge }, { long, 0, 10000 }, { short, 2000, 60 },
      { later, 2500, 530 },
    } do
      local a = e:job(case[1])
      assert.equal(case[2], a.at, i)
      if case[3] then assert.equal(case[3], a.at + a.duration - 2000, i) else assert.is_true(a.at + a.duration <= 2000, i) end
    end
    assert.same({ "allocated", "reserved" }, { e:job(long).state, e:job(later).state })
    assert(g:check())
    assert.is_nil((g:rewind(-1)))
    assert.is_nil((g:rewind(2001)))
  end)

  it("makes a record of a job that was made before worthless", function()
    local e = weir.engine { resources = weir.synthetic "cluster:1 node:2" }
    assert(e:resources():advance(1000))
    local a = assert(e:match("slot=1/node", { duration = 10 }))
    local record = assert(e:record(a.id))
    assert(e:release(a.id))
    assert(e:resources():rewind(10))
    local ok, why, code = e:book(record, 5)
    assert.same({ nil, "busy" }, { ok, code })
    assert.matches("the clock was set back", why, 1, true)
  end)

  it("is saved with the jobs as they are then", function()
    local g = assert(weir.synthetic(MACHINE))
    local e = weir.engine { resources = g }
    assert(g:advance(100000))
    assert(e:match("slot=2/node", { duration = 50 }))
    assert(e:match("slot=4/node", { mode = "reserve", duration = 50 }))
    local path = os.tmpname()
    assert(g:save(path, { format = "sqlite" }))
    assert(g:rewind(300))
    assert(g:save(path, { format = "sqlite" }))
    local again <close> = assert(weir.load(path))
    os.remove(path)
    assert(again:compare(g, true))
    assert.equal(300, again:now())
  end)
end)
