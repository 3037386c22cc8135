-- engine.lua - guarantees of the engine under every policy.
local scenario = require "weir.scenario"
local weir = require "weir"

describe("what is given to one job", function()
  it("is given to nobody else: a node that is taken whole, its cores, and what is around it", function()
    local s = scenario { machine = "cluster:1 rack:2 node:2 core:4", policy = "low" }
    local node = s:submit { "slot=1/node", name = "node" }
    local core = s:submit { "slot=9/core", name = "core" }
    local rack = s:submit { "slot=2/rack", name = "rack" }
    assert.placed(node, "node0")
    assert.placed(core, "node1/core[0-3] node2/core[0-3] node3/core0")
    assert.pending(rack, "busy")
    assert.free(3)
    assert.invariants()
  end)

  it("is counted by units where a pool has several: 24 of 64 GB", function()
    local s = scenario { machine = "cluster:1 node:1 core:8 memory:1(size=64,unit=GB)" }
    local a, b = s:submit "slot=1/[core=1;memory=24]", s:submit "slot=1/[core=1;memory=40]"
    assert.holds(a, { core = 1, memory = 24 })
    assert.running(a, b)
    assert.pending(s:submit "slot=1/[core=1;memory=1]", "busy")
    assert.free(0, "memory")
    assert.never_over(64, "memory")
  end)

  it("comes back at the moment when its time is over, neither earlier nor later", function()
    local s = scenario { machine = "node:2 core:1" }
    local a = s:submit { "slot=2/node", lasts = 10 }
    local b = s:submit { "slot=2/node", lasts = 10 }
    s:to(9.999999)
    assert.running(a)
    assert.pending(b)
    s:to(10)
    assert.done(a)
    assert.running(b)
  end)

  it("comes back at once when a job is cancelled, fails, or is shorter than it thought", function()
    local s = scenario { machine = "node:3 core:1" }
    local a, b = s:submit "slot=1/node", s:submit "slot=1/node"
    local c = s:submit { "slot=1/node", lasts = 5, estimate = 1000 }
    local next = s:submit { "slot=1/node", array = 3 }
    assert.pending(next)
    s:cancel(a)
    assert.running(next[1])
    s:advance(1):fail(b)
    assert.running(next[2])
    s:to(5)
    assert.done(c)
    assert.running(next[3])
    assert.free(0)
  end)
end)

describe("all or nothing:", function()
  it("a job that lacks one unit of one type takes nothing of the others", function()
    local s = scenario { machine = "cluster:1 node:2 core:4 gpu:1" }
    s:submit "slot=1/gpu"
    local job = s:submit "slot=2/node/[core=4;gpu]"
    assert.pending(job, "busy")
    assert.free(8, "core")
    assert.free(1, "gpu")
  end)

  it("what could never run is refused when it comes, and does not hold up the queue", function()
    local s = scenario { machine = "node:4 core:8", queue = "fcfs" }
    local too_big = s:submit { "slot=5/node", lasts = 10 }
    local next = s:submit { "slot=4/node", lasts = 10 }
    assert.rejected(too_big)
    assert.running(next)
  end)

  it("what could run, were everything up, is not refused", function()
    local s = scenario { machine = "node:4 core:8" }
    s:down "node[0-3]"
    local job = s:submit { "slot=4/node", lasts = 10 }
    assert.pending(job, "blocked")
    s:advance(1000):up "node[0-3]"
    assert.starts_at(job, 1000)
  end)
end)

describe("a request", function()
  local MACHINE = "cluster:1 rack:2 node:2 socket:2 core:4 gpu:1"

  for _, case in ipairs {
    { "by shape", "node/slot=1/[core=3;gpu]" },
    { "as a jobspec in YAML", [[
version: 9999
resources:
  - type: node
    count: 1
    with:
      - type: slot
        count: 1
        label: task
        with: [{type: core, count: 3}, {type: gpu, count: 1}]
tasks: [{command: [app], slot: task, count: {per_slot: 1}}]
attributes: {system: {duration: 60}}
]] },
    { "as a table", {
      resources = { { type = "node", count = 1, with = { { type = "slot", count = 1, label = "task",
        with = { { type = "core", count = 3 }, { type = "gpu", count = 1 } } } } } },
      attributes = { system = { duration = 60 } },
    } },
  } do
    it("means the same " .. case[1], function()
      local s = scenario { machine = MACHINE }
      assert.holds(s:submit { case[2], lasts = 60 }, { core = 3, gpu = 1 })
    end)
  end

  it("lasts as long as its jobspec says", function()
    local s = scenario { machine = MACHINE }
    local job = s:submit { request = { resources = { { type = "node", count = 1 } }, attributes = { system = { duration = 60 } } } }
    s:run()
    assert.ends_at(job, 60)
  end)

  it("searches through the levels that it leaves out", function()
    local s = scenario { machine = MACHINE, policy = "low" }
    assert.placed(s:submit "rack/slot=2/gpu", "node0/gpu[0-1]")
    assert.running(s:submit "slot=1/rack")
  end)
end)

describe("a machine", function()
  it("can be a line, a recipe, or a graph, which each scenario has for itself", function()
    local g = weir.synthetic "cluster:1 node:3 core:2"
    for _, machine in ipairs { "cluster:1 node:3 core:2", { type = "cluster", { type = "node", count = 3, { type = "core", count = 2 } } },
      g, g } do
      local s = scenario { machine = machine }
      assert.running(s:submit "slot=3/node")
      assert.free(0, "core")
    end
    assert.equal(6, g:aggregate().core.free)
  end)
end)

describe("the same scenario", function()
  for name, opts in scenario.each { machine = "cluster:1 rack:2 node:4 core:4", queue = scenario.queues(), policy = { "low", "spread" } } do
    it("has the same history each time: " .. name, function()
      local function play()
        local s = scenario(opts)
        for _ = 1, 40 do
          s:submit { s.random { "slot=1/node", "slot=3/node", "slot=5/core" }, lasts = s.random(1, 40), estimate = s.random(20, 40) }
          s:advance(s.random(0, 9))
        end
        return s:run():history()
      end
      assert.equal(play(), play())
    end)
  end
end)

describe("under all queue policies and some placement policies", function()
  for name, opts in scenario.each { machine = "cluster:1 rack:2 node:4 core:4", queue = scenario.queues(),
    policy = { "low", "best_fit", "contiguous" } } do
    it("books stay sound while nodes come and go, and everybody runs in the end: " .. name, function()
      local s = scenario(opts)
      for i = 1, 40 do
        s:submit { s.random { "slot=1/node", "slot=2/node", "slot=8/node", "slot=2/core=2", "slot=7/core" },
          lasts = s.random(1, 50), estimate = s.random(25, 60), at = i * s.random(1, 8), user = s.random { "ann", "bob" } }
      end
      s:at(50):down("node[2-3]", "fail")
      s:at(90):drain "node7"
      s:at(140):up "node[2-3]"
      s:at(200):up "node7"
      for t = 50, 300, 50 do
        s:to(t)
        assert.invariants()
      end
      s:run()
      for _, job in ipairs(s:jobs()) do assert.is_not.pending(job) end
      assert.free(32)
      assert.never_over(32, "core")
      assert.invariants()
    end)
  end
end)
