-- Why a job waits in Flux: the queue, reservations, the start that the queue policy leads to.
local flux = require "spec.support.flux"
local why = require "weir.flux.why"

local started, submit, settle, T0 = flux.started, flux.submit, flux.settle, flux.T0

local function when(t) return os.date("%Y-%m-%d %H:%M:%S", t) end

-- Four nodes: job 1 has three of them for 100 s, job 2 wants all four for 60 s.
local function queue_of(policy)
  local s = started { "queue=" .. policy }
  submit(s, 1, 3, { duration = 100 })
  submit(s, 2, 4, { duration = 60 })
  settle(s)
  return s
end

describe("why a job waits in Flux", function()
  local seconds = why.SECONDS
  setup(function() why.SECONDS = 600 end) -- a forecast is short, but the machine may be busy
  teardown(function() why.SECONDS = seconds end)

  local cases = {
    { "fcfs: the first", "fcfs", 2, nil, "It is the first in the queue (fcfs)" },
    { "fcfs: ranks beside paths", "fcfs", 2, nil, "/cluster0/n0 (rank 0)" },
    { "fcfs: when the first starts", "fcfs", 2, nil, "It starts at " .. when(T0 + 100) },
    { "fcfs: who is ahead", "fcfs", 3, { 2, { duration = 30 } }, "1 job is ahead of it in the queue (fcfs): ƒ3" },
    { "fcfs: no sooner than who is ahead", "fcfs", 3, { 2, { duration = 30 } }, "It starts at " .. when(T0 + 160) },
    { "fcfs: it would fit", "fcfs", 3, { 1, { duration = 30 } }, "It would fit now: it is not its turn" },
    { "easy: whose reservation is in the way", "easy", 3, { 1, { duration = 500 } },
      "It fits now without the reservation of job 2 (from " .. when(T0 + 100) .. " on)" },
    { "easy: that the room behind a reservation comes at its end", "easy", 3, { 1, { duration = 500 } },
      "Room for it, next to running and reserved jobs: " .. when(T0 + 160) .. ", once job 2 has ended" },
    { "easy: when it starts behind a reservation", "easy", 3, { 1, { duration = 500 } }, "It starts at " .. when(T0 + 160) },
    { "easy: that resources are reserved", "easy", 2, nil, "resources are reserved for it from " .. when(T0 + 100) .. " on" },
    { "a number of nodes rather than of cores", "fcfs", 3, { 2, { shared = true, duration = 10 } }, "1 job is ahead" },
  }
  for _, case in ipairs(cases) do
    local name, policy, id, own, expected = table.unpack(case)
    it("tells " .. name, function()
      local s = queue_of(policy)
      if own then
        submit(s, id, own[1], own[2])
        settle(s)
      end
      assert.matches(expected, (flux.why(s, { id = id })), 1, true)
    end)
  end

  it("finds no start behind a job without an end", function()
    local s = started()
    submit(s, 1, 4, { duration = 0 })
    submit(s, 2, 1)
    settle(s)
    assert.matches("No start is in sight", (flux.why(s, { id = 2 })))
  end)

  it("tells a constraint that keeps a job waiting", function()
    local s = started({}, 4, 4, nil, { properties = { big = "0" } })
    submit(s, 1, 1, { constraints = { properties = { "big" } } })
    submit(s, 2, 1, { constraints = { properties = { "big" } } })
    settle(s)
    local reasons = {}
    for _, said in ipairs(s.said) do
      if said[1] == "annotate" then reasons[#reasons + 1] = said[3] end
    end
    assert.matches("The constraint is property=big", table.concat(reasons))
  end)

  it("denies a job for the property that nothing has, by name", function()
    local s = started()
    submit(s, 1, 1, { constraints = { properties = { "nosuch" } } })
    assert.matches('Nothing has the property "nosuch"', s.said[1][3])
  end)

  it("leaves the scheduler as it is", function()
    local s = queue_of "easy"
    local before = s.service:stats()
    flux.why(s, { id = 2 })
    assert.equal(before, s.service:stats())
    flux.apart(s)
  end)
end)
