-- machine.lua - jobs and reservations when the machine changes.
local scenario = require "weir.scenario"

describe("a node that goes down", function()
  it("is given to nobody; who has it runs on", function()
    local s = scenario { machine = "rack:2 node:4 core:8", policy = "low", queue = "easy" }
    local big = s:submit { "slot=6/node", lasts = 100, name = "big" }
    s:advance(50):down "node3"
    assert.running(big)
    local next = s:submit { "slot=8/node", lasts = 10, name = "next" }
    s:run()
    assert.pending(next, "blocked")
    s:up "node3"
    assert.running(next)
  end)

  it("takes its jobs along, if so it is to be", function()
    local s = scenario { machine = "rack:2 node:4 core:8" }
    local on_it = s:submit { "slot=2/node", lasts = 100 }
    local beside = s:submit { "slot=2/node", lasts = 100 }
    s:advance(10):down("node0", "fail")
    assert.failed(on_it)
    assert.running(beside)
    assert.free(40)
  end)

  it("does not keep a reservation that stood on it: another place is found", function()
    local s = scenario { machine = "node:4 core:1", policy = "low", queue = "conservative" }
    s:submit { "slot=2/node", lasts = 50, name = "low half" }
    s:submit { "slot=2/node", lasts = 100, name = "high half" }
    local job = s:submit { "slot=2/node", lasts = 10 }
    assert.reserved(job, 50)
    s:down "node0"
    assert.reserved(job, 100)
    s:run()
    assert.placed(job, "node[1-2]")
    assert.invariants()
  end)

  it("takes what is below it along", function()
    local s = scenario { machine = "rack:2 node:2 core:4" }
    s:down "rack0"
    assert.placed(s:submit "slot=1/node", "node2")
    local three = s:submit "slot=3/node"
    assert.pending(three, "blocked")
    s:up "rack0"
    assert.running(three)
  end)
end)

describe("a node that is drained", function()
  it("runs empty, and is free again when it comes back", function()
    local s = scenario { machine = "node:2 core:4", policy = "low", queue = "easy" }
    local a = s:submit { "slot=1/core", lasts = 100 }
    s:drain "node0"
    local b = s:submit { "slot=1/node", lasts = 50 }
    local c = s:submit { "slot=1/node", lasts = 50 }
    assert.running(a)
    assert.placed(b, "node1")
    s:to(100)
    assert.done(a)
    assert.placed(c, "node1")
    s:up "node0"
    assert.placed(s:submit "slot=1/node", "node0")
  end)

  it("is known by state, and by an expression that finds several", function()
    local s = scenario { machine = "rack:2 node:3 core:2" }
    s:drain "type=node and name=node[2-4]"
    assert.equal("draining", s:find("node3")[1].state)
    assert.free(6)
  end)
end)

describe("a machine that grows", function()
  it("has room for who waited", function()
    local s = scenario { machine = "cluster:1 rack:2 node:2 core:4", policy = "low" }
    s:submit "slot=4/node"
    local waits = s:submit "slot=2/node"
    assert.pending(waits, "busy")
    s:add("rack1", "node:2 core:4")
    assert.placed(waits, "node[4-5]")
    assert.invariants()
  end)

  it("takes jobs that it had to refuse before", function()
    local s = scenario { machine = "cluster:1 rack:1 node:2 core:4" }
    assert.rejected(s:submit "slot=3/node")
    s:add("rack0", "node:1 core:4")
    assert.running(s:submit "slot=3/node")
    assert.never_over(12, "core")
  end)

  it("counts for the utilisation from then on", function()
    local s = scenario { machine = "cluster:1 node:1 core:4", type = "core" }
    s:submit { "slot=1/node", lasts = 200 }
    s:advance(100):add("cluster0", "node:1 core:4")
    s:run()
    assert.utilisation("==", 1, { to = 100 })
    assert.utilisation("==", 0.5, { from = 100 })
  end)
end)

describe("a machine that shrinks", function()
  it("refuses to lose what is in use, unless the jobs may fail", function()
    local s = scenario { machine = "cluster:1 node:3 core:4", policy = "low" }
    local job = s:submit "slot=1/node"
    assert.error_matches(function() s:remove "node0" end, "in use by job 1")
    assert.running(job)
    s:remove("node0", "fail")
    assert.failed(job)
    assert.free(8)
    assert.invariants()
  end)

  it("loses what is only reserved; the reservation is made anew", function()
    local s = scenario { machine = "cluster:1 node:4 core:1", policy = "low", queue = "easy" }
    s:submit { "slot=2/node", lasts = 50 }
    s:submit { "slot=1/node", lasts = 80 }
    local job = s:submit { "slot=3/node", lasts = 10 }
    assert.reserved(job, 50)
    s:remove "node3"
    assert.reserved(job, 80)
    s:run()
    assert.placed(job, "node[0-2]")
  end)
end)

describe("policies that change while jobs run", function()
  it("place what starts from then on", function()
    local s = scenario { machine = "node:8 core:1", policy = "low" }
    assert.placed(s:submit "slot=2/node", "node[0-1]")
    s:policy "high"
    assert.placed(s:submit "slot=2/node", "node[6-7]")
  end)

  it("let the queue go on under another rule", function()
    local s = scenario { machine = "node:4 core:1", queue = "fcfs" }
    s:submit { "slot=3/node", lasts = 100 }
    local first, small = s:submit { "slot=4/node", lasts = 10 }, s:submit { "slot=1/node", lasts = 50 }
    assert.pending(small, "queue")
    s:queue "easy"
    assert.running(small)
    assert.reserved(first, 100)
  end)
end)
