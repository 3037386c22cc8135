-- queues.lua - the bundled queue policies: which job starts when.
local scenario = require "weir.scenario"

-- Eight nodes. Job "long" has six nodes until 100, and job "first" for all eight waits for "long".
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

describe("hybrid", function()
  it("reserves for as many as it is told, and for no more", function()
    local s, _, first = crowded { "hybrid", k = 2 }
    local second = s:submit { "slot=8/node", lasts = 10, name = "second" }
    local third = s:submit { "slot=8/node", lasts = 10, name = "third" }
    assert.reserved(first, 100)
    assert.reserved(second, 150)
    assert.is_not.reserved(third)
  end)

  it("with one reservation lets the second be delayed, with two it does not", function()
    assert.starts_at(select(2, delayed "hybrid:k=1"), 1000)
    assert.starts_at(select(2, delayed "hybrid:k=2"), 150)
  end)
end)

describe("sjbf", function()
  it("backfills the shortest first, where easy takes the first that fits", function()
    for _, case in ipairs { { "easy", "longer" }, { "sjbf", "shorter" } } do
      local s = crowded(case[1])
      s:submit { "slot=2/node", lasts = 90, name = "longer" }
      s:submit { "slot=2/node", lasts = 20, name = "shorter" }
      assert.running(s:job(case[2]))
    end
  end)

  it("keeps the promise to the first all the same", function()
    local s, _, first = crowded "sjbf"
    for i = 1, 10 do s:submit { "slot=1/node", lasts = 30 + i } end
    s:run()
    assert.starts_at(first, 100)
  end)
end)

describe("priority", function()
  local function busy(queue)
    local s = scenario { machine = "node:4 core:1", type = "node", queue = queue }
    s:submit { "slot=4/node", lasts = 100, user = "ann" }
    s:advance(1)
    return s
  end

  it("puts a job's own priority, and its QOS, before its age", function()
    local s = busy "priority"
    local jobs = {}
    for i, spec in ipairs { {}, { priority = 5 }, { qos = "high" } } do
      spec[1], spec.lasts = "slot=4/node", 10
      jobs[i] = s:submit(spec)
    end
    s:run()
    assert.starts_in_order(jobs[2], jobs[3], jobs[1])
  end)

  it("obeys when a priority changes while a job waits", function()
    local s = busy "priority"
    local a, b = s:submit { "slot=4/node", lasts = 10 }, s:submit { "slot=4/node", lasts = 10 }
    s:advance(10):priority(b, 5)
    s:run()
    assert.starts_in_order(b, a)
  end)

  it("puts who has used little before who has used much, and forgets with time", function()
    local s = scenario { machine = "node:4 core:1", type = "node", queue = { "priority", age = 0.0, half_life = 100.0 } }
    s:submit { "slot=4/node", lasts = 100, user = "ann" }
    s:submit { "slot=4/node", lasts = 10, user = "cid", at = 100 }
    local ann = s:submit { "slot=4/node", lasts = 10, user = "ann", at = 101 }
    local bob = s:submit { "slot=4/node", lasts = 10, user = "bob", at = 102 }
    s:run()
    assert.starts_in_order(bob, ann)
  end)

  it("puts large before small, if so it is told", function()
    local s = busy { "priority", size = 10.0 }
    local small, large = s:submit { "slot=1/node", lasts = 10 }, s:submit { "slot=4/node", lasts = 10 }
    s:run()
    assert.starts_in_order(large, small)
    assert.starts_at(small, 110)
  end)

  it("puts the old first where nothing else differs", function()
    local s = busy "priority"
    local jobs = s:submit { "slot=4/node", lasts = 10, array = 4 }
    s:run()
    assert.starts_in_order(jobs)
  end)
end)

describe("preempt", function()
  it("stops a job that may be stopped for one that waits; it begins anew", function()
    local s = scenario { machine = "node:4 core:1", queue = "preempt" }
    local filler = s:submit { "slot=3/node", lasts = 100, preemptible = 0, name = "filler" }
    s:advance(30)
    local urgent = s:submit { "slot=2/node", lasts = 10, name = "urgent" }
    assert.running(urgent)
    assert.pending(filler)
    s:run()
    assert.starts_at(filler, 40)
    assert.ends_at(filler, 140)
    assert.equal(1, filler.preempted)
    assert.invariants()
  end)

  it("does not stop it before it has run as long as it was promised", function()
    local s = scenario { machine = "node:4 core:1", queue = "preempt" }
    s:submit { "slot=3/node", lasts = 100, preemptible = 50 }
    s:advance(30)
    local urgent = s:submit { "slot=2/node", lasts = 10 }
    assert.pending(urgent)
    s:run()
    assert.starts_at(urgent, 50)
  end)

  it("stops nobody who did not agree, and nobody for a job that may be stopped itself", function()
    local s = scenario { machine = "node:4 core:1", queue = "preempt" }
    local a = s:submit { "slot=2/node", lasts = 100 }
    local b = s:submit { "slot=2/node", lasts = 100, preemptible = 0 }
    local c = s:submit { "slot=2/node", lasts = 100, preemptible = 0 }
    s:advance(10)
    assert.running(a, b)
    assert.pending(c)
    local d = s:submit { "slot=4/node", lasts = 10 }
    s:run()
    assert.starts_at(a, 0)
    assert.starts_at(d, 100)
  end)

  it("stops as few as it needs", function()
    local s = scenario { machine = "node:4 core:1", queue = "preempt" }
    local fillers = s:submit { "slot=1/node", lasts = 100, preemptible = 0, array = 4 }
    s:advance(10)
    local urgent = s:submit { "slot=1/node", lasts = 10 }
    assert.running(urgent)
    local stopped = 0
    for _, job in ipairs(fillers) do stopped = stopped + (job.preempted or 0) end
    assert.equal(1, stopped)
  end)
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
