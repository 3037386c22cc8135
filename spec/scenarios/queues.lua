-- What each queue policy that comes with weir does: who starts when.
local scenario = require "weir.scenario"

-- Eight nodes. long has six of them until 100, and first, which needs all eight, waits for it.
local function crowded(queue)
  local s = scenario { machine = "cluster:1 node:8 core:4", policy = "low", queue = queue }
  local long = s:submit { "slot=6/node", lasts = 100, name = "long" }
  local first = s:submit { "slot=8/node", lasts = 50, name = "first" }
  assert.running(long)
  assert.pending(first, "busy")
  return s, long, first
end

-- first, which needs seven of eight nodes, starts at 100; second needs all. beside is long, and in the way of second only.
local function delayed(queue)
  local s = scenario { machine = "cluster:1 node:8 core:4", policy = "low", queue = queue }
  s:submit { "slot=6/node", lasts = 100, name = "long" }
  local first = s:submit { "slot=7/node", lasts = 50, name = "first" }
  local second = s:submit { "slot=8/node", lasts = 10, name = "second" }
  s:submit { "slot=1/node", lasts = 1000, name = "beside" }
  s:run()
  return first, second
end

describe("fcfs", function()
  it("lets nobody overtake, though there is room", function()
    local s, _, first = crowded "fcfs"
    local small = s:submit { "slot=1/node", lasts = 10, name = "small" }
    assert.pending(small, "queue")
    s:run()
    assert.starts_in_order(first, small)
    assert.starts_at(small, 150)
  end)

  it("starts in the order of submission, whatever the sizes", function()
    local s = scenario { machine = "node:4 core:1", queue = "fcfs" }
    local jobs = {}
    for i, nodes in ipairs { 3, 2, 1, 4, 1, 1, 2 } do jobs[i] = s:submit { ("slot=%d/node"):format(nodes), lasts = 10 * i } end
    s:run()
    assert.starts_in_order(jobs)
  end)
end)

describe("easy", function()
  it("reserves for the first that waits", function()
    local _, _, first = crowded "easy"
    assert.reserved(first, 100)
  end)

  it("lets a job overtake that is over before the first is to start", function()
    local s, _, first = crowded "easy"
    local small = s:submit { "slot=2/node", lasts = 100, name = "small" }
    assert.running(small)
    s:run()
    assert.starts_at(first, 100)
  end)

  it("holds back a job that would delay the first by a second", function()
    local s, _, first = crowded "easy"
    local small = s:submit { "slot=2/node", lasts = 101, name = "small" }
    assert.pending(small, "reserved")
    s:run()
    assert.starts_at(first, 100)
    assert.starts_at(small, 150)
  end)

  it("lets a long job overtake on nodes that the first does not need", function()
    local s = scenario { machine = "cluster:1 node:8 core:4", policy = "low", queue = "easy" }
    s:submit { "slot=6/node", lasts = 100, name = "long" }
    local first = s:submit { "slot=7/node", lasts = 50, name = "first" }
    local beside = s:submit { "slot=1/node", lasts = 1000, name = "beside" }
    assert.running(beside)
    s:run()
    assert.starts_at(first, 100)
    assert.kept_promises()
  end)

  it("protects the first only: the second in line may be delayed", function()
    local first, second = delayed "easy"
    assert.starts_at(first, 100)
    assert.starts_at(second, 1000)
  end)

  it("goes by estimates: who says a hundred and takes ten is treated like a hundred", function()
    local s, _, first = crowded "easy"
    local modest = s:submit { "slot=2/node", lasts = 10, estimate = 200, name = "modest" }
    assert.pending(modest)
    s:run()
    assert.starts_at(first, 100)
  end)

  it("moves the reservation forward when a job ends early", function()
    local s = scenario { machine = "cluster:1 node:8 core:4", queue = "easy" }
    s:submit { "slot=6/node", lasts = 30, estimate = 100 }
    local first = s:submit { "slot=8/node", lasts = 50 }
    assert.reserved(first, 100)
    s:run()
    assert.starts_at(first, 30)
  end)
end)

describe("conservative", function()
  it("reserves for everybody", function()
    local s, _, first = crowded "conservative"
    local second = s:submit { "slot=8/node", lasts = 10, name = "second" }
    local third = s:submit { "slot=2/node", lasts = 200, name = "third" }
    assert.reserved(first, 100)
    assert.reserved(second, 150)
    assert.reserved(third, 160)
  end)

  it("lets a job overtake where it delays nobody at all", function()
    local s, _, first = crowded "conservative"
    local second = s:submit { "slot=7/node", lasts = 10, name = "second" }
    local small = s:submit { "slot=2/node", lasts = 100, name = "small" }
    local long = s:submit { "slot=1/node", lasts = 101, name = "long" }
    assert.running(small)
    assert.pending(long)
    s:run()
    assert.starts_at(first, 100)
    assert.starts_at(second, 150)
    assert.starts_at(long, 150)
  end)

  it("protects the second in line too", function()
    local first, second = delayed "conservative"
    assert.starts_at(first, 100)
    assert.starts_at(second, 150)
  end)

  for seed = 1, 5 do
    it("keeps every promise, also when jobs end early (seed " .. seed .. ")", function()
      local s = scenario { machine = "cluster:1 rack:2 node:4 core:4", queue = "conservative", seed = seed }
      for _ = 1, 80 do
        local lasts = s.random(1, 40)
        s:submit { s.random { "slot=1/node", "slot=3/node", "slot=8/node", "slot=5/core" },
          lasts = lasts, estimate = lasts * s.random(1, 4) }
        s:advance(s.random(0, 10))
      end
      s:run()
      assert.kept_promises()
      assert.invariants()
    end)
  end
end)

describe("backfilling", function()
  it("uses what fcfs leaves idle", function()
    local share = {}
    for _, queue in ipairs { "fcfs", "easy", "conservative" } do
      local s = scenario { machine = "cluster:1 node:8 core:4", queue = queue, seed = 3 }
      for _ = 1, 100 do
        s:submit { ("slot=%d/node"):format(s.random { 1, 1, 1, 2, 3, 4, 8 }), lasts = s.random(10, 100) }
      end
      share[queue] = s:run():utilisation()
    end
    assert.is_true(share.easy > share.fcfs + 0.05)
    assert.is_true(share.conservative > share.fcfs + 0.05)
  end)
end)

describe("every queue policy", function()
  for _, queue in ipairs(scenario.queues()) do
    it(queue .. " starts a job on an empty machine at once", function()
      local s = scenario { queue = queue }
      assert.starts_at(s:submit { "slot=4/node", lasts = 10 }, 0)
    end)

    it(queue .. " forgets nobody", function()
      local s = scenario { machine = "node:3 core:2", queue = queue }
      for i = 1, 30 do s:submit { ("slot=%d/node"):format(i % 3 + 1), lasts = i, at = i } end
      s:run()
      assert.done(s:jobs())
      assert.no_standstill()
    end)

    it(queue .. " goes on where another one left off", function()
      local s = scenario { machine = "node:4 core:2", queue = "easy" }
      local jobs = s:submit { "slot=3/node", lasts = 10, array = 5 }
      s:advance(15):queue(queue)
      s:run()
      assert.done(jobs)
      assert.invariants()
    end)

    it(queue .. " leaves a node that is drained alone", function()
      local s = scenario { machine = "node:4 core:2", queue = queue }
      s:drain "node1"
      local jobs = s:submit { "slot=1/node", lasts = 10, array = 12 }
      s:run()
      assert.done(jobs)
      assert.never_over(0, "core", { within = "node1" })
    end)
  end
end)
