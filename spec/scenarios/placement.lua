-- placement.lua - the bundled placement policies: which vertices a job gets, of all vertices that would fit.
local scenario = require "weir.scenario"

-- Two racks of four nodes with four cores each. Jobs have no end unless given one.
local function racks(policy) return scenario { machine = "cluster:1 rack:2 node:4 core:4", policy = policy } end

describe("low, high, first:", function()
  it("low takes the lowest numbers", function()
    local s = racks "low"
    assert.placed(s:submit "slot=3/node", "node[0-2]")
    assert.placed(s:submit "slot=2/node", "node[3-4]")
  end)

  it("low fills a node before it opens the next", function()
    local s = racks "low"
    local a, b, c = s:submit "slot=1/core=3", s:submit "slot=1/core=1", s:submit "slot=1/core=2"
    assert.placed(a, "node0/core[0-2]")
    assert.placed(b, "node0/core3")
    assert.placed(c, "node1/core[0-1]")
  end)

  it("low fills a gap at the low end before it goes on", function()
    local s = racks "low"
    local a, b = s:submit "slot=2/node", s:submit "slot=2/node"
    assert.placed(b, "node[2-3]")
    s:cancel(a)
    assert.placed(s:submit "slot=3/node", "node[0-1,4]")
  end)

  it("high takes the highest", function()
    local s = racks "high"
    assert.placed(s:submit "slot=3/node", "node[5-7]")
  end)

  it("first takes any, and finds room as long as there is some", function()
    local s = racks "first"
    for _ = 1, 8 do assert.running(s:submit "slot=1/node") end
    assert.free(0)
  end)
end)

describe("how full a place is:", function()
  -- Three cores of node0 and one of node1 are allocated.
  local function uneven(policy)
    local s = racks "low"
    s:submit "slot=1/node/core=3"
    s:submit "slot=1/core=1"
    s:submit "slot=1/core=1"
    s:settle()
    return s:policy(policy)
  end

  it("best_fit goes where the least is left", function()
    local s = scenario { machine = "cluster:1 rack:3 node:4 core:4", policy = "low" }
    s:submit "slot=3/node"
    s:settle()
    s:policy "best_fit"
    assert.placed(s:submit "slot=1/node", "node3")
  end)

  it("worst_fit goes where the most is left", function()
    local s = scenario { machine = "cluster:1 rack:2 node:4 core:4", policy = "low" }
    s:submit "slot=1/node"
    s:settle()
    s:policy "worst_fit"
    assert.placed(s:submit "slot=1/node", "node4")
  end)

  it("spread takes one from each rack in turn", function()
    local s = racks "spread"
    local a, b = s:submit "slot=1/node", s:submit "slot=1/node"
    assert.placed(a, "node0")
    assert.placed(b, "node4")
  end)

  it("emptiest goes where nobody is", function()
    local job = uneven("emptiest"):submit "slot=1/core=1"
    assert.is_not.placed(job, "node0")
    assert.is_not.placed(job, "node1")
  end)
end)

describe("neighbours:", function()
  it("locality takes the longest run that is free", function()
    local s = racks "low"
    local jobs = s:submit { "slot=1/node", array = 8 }
    s:settle()
    s:cancel { jobs[1], jobs[2], jobs[5], jobs[6], jobs[7] } -- free: node[0-1], node[4-6]
    s:policy "locality"
    assert.placed(s:submit "slot=2/node", "node[4-5]")
  end)

  it("contiguous takes the shortest run that is long enough", function()
    local s = racks "low"
    local jobs = s:submit { "slot=1/node", array = 8 }
    s:settle()
    s:cancel { jobs[1], jobs[2], jobs[5], jobs[6], jobs[7] } -- free: node[0-1], node[4-6]
    s:policy "contiguous"
    assert.placed(s:submit "slot=2/node", "node[0-1]")
    assert.placed(s:submit "slot=3/node", "node[4-6]")
  end)

  it("network stays under one switch, the one with the least room", function()
    local weir = require "weir"
    local s = scenario { policy = "network", machine = function()
      local g = weir.synthetic "cluster:1 node:6 core:2"
      local nodes = g:find "type=node"
      for i, first in ipairs { 1, 3 } do -- switch0: node[0-1], switch1: node[2-5]
        local switch = g:add(nil, { type = "switch", id = i - 1 })
        for k = first, i == 1 and 2 or 6 do g:add_edge(switch, nodes[k], { subsystem = "network", type = "conduit_of" }) end
      end
      return g
    end }
    assert.placed(s:submit "slot=2/node", "node[0-1]")
    assert.placed(s:submit "slot=3/node", "node[2-4]")
  end)
end)

describe("what differs from node to node:", function()
  -- Classes 3 1 2 1 3 3 of six nodes.
  local function classes(policy)
    local s = scenario { machine = "cluster:1 node:6 core:2", policy = policy }
    for i, class in ipairs { 3, 1, 2, 1, 3, 3 } do s:property("node" .. i - 1, { perf_class = class }) end
    return s
  end

  it("variation takes the fastest class first", function()
    local s = classes "variation"
    assert.placed(s:submit "slot=3/node", "node[1-3]")
  end)

  it("alike takes nodes of one class, if slower, before it mixes", function()
    local s = classes "alike"
    assert.placed(s:submit "slot=3/node", "node[0,4-5]")
  end)

  it("round_robin goes on behind the last job", function()
    local s = racks "round_robin"
    assert.placed(s:submit { "slot=1/node", lasts = 1 }, "node0")
    s:advance(5)
    assert.placed(s:submit "slot=1/node", "node1")
    assert.placed(s:submit "slot=6/node", "node[2-7]")
  end)

  it("newest_first takes what was installed last", function()
    local s = racks "newest_first"
    s:tag("node5", { installed = "2025" }):tag("node2", { installed = "2023" })
    assert.placed(s:submit "slot=1/node", "node5")
    assert.placed(s:submit "slot=1/node", "node2")
    assert.placed(s:submit "slot=1/node", "node0")
  end)

  it("weighted follows the weights it is given", function()
    local s = racks { "weighted", pack = 0, low = -1 }
    assert.placed(s:submit "slot=1/node", "node7")
    s = racks { "weighted", pack = 0, cool = 1 }
    s:tag("rack0", { temperature = "60" })
    assert.placed(s:submit "slot=2/node", "rack1")
  end)
end)

describe("what is to happen to nodes:", function()
  it("drain_first puts short jobs where a drain is near, and no others", function()
    local s = racks "drain_first"
    s:tag("node6", { drain = "3600" })
    local function job(seconds)
      return s:submit { request = { resources = { { type = "node", count = 1 } }, attributes = { system = { duration = seconds } } } }
    end
    assert.placed(job(600), "node6")
    assert.is_not.placed(job(7200), "node6")
    assert.is_not.placed(s:submit "slot=1/node", "node6")
  end)
end)

describe("gpus:", function()
  it("packed_gpu_nodes keeps jobs without gpus off gpu nodes", function()
    local weir = require "weir"
    local s = scenario { policy = "packed_gpu_nodes", machine = function()
      local g = weir.synthetic "cluster:1 node:3 core:4"
      for i = 0, 1 do g:add(g:vertex "/cluster0/node0", { type = "gpu", id = i }) end
      for i = 0, 1 do g:add(g:vertex "/cluster0/node1", { type = "gpu", id = i }) end
      return g
    end }
    assert.placed(s:submit "slot=1/core=1", "node2")
    assert.placed(s:submit "slot=1/[core=1;gpu]", "node0")
    assert.placed(s:submit "slot=1/[core=1;gpu]", "node0")
  end)

  it("gpu_affinity takes cores and gpu from one socket", function()
    local s = scenario { machine = "cluster:1 node:1 socket:2 core:4 gpu:1", policy = "low" }
    s:submit "slot=1/core=3" -- one core is left in socket0
    s:settle()
    s:policy "gpu_affinity"
    assert.placed(s:submit "slot=1/[core=2;gpu]", "socket1")
  end)

  it("treepool keeps a slot within one socket where one could hold it", function()
    local s = scenario { machine = "cluster:1 node:2 socket:2 core:4", policy = "treepool" }
    local a, b = s:submit "slot=1/core=3", s:submit "slot=1/core=3"
    assert.placed(a, "node0/socket0")
    assert.placed(b, "node0/socket1")
    assert.placed(s:submit "slot=1/core=2", "node1/socket0")
  end)
end)

describe("other ways to a node:", function()
  local weir = require "weir"

  -- A panel with the first size for nodes 0 and 1, and a panel with the second size for nodes 2 and 3.
  local function panels(subsystem, type, unit, sizes)
    local g = weir.synthetic "cluster:1 rack:2 node:2 core:2"
    local nodes = g:find "type=node"
    for i, size in ipairs(sizes) do
      local panel = g:add(nil, { type = type, id = i - 1, size = size, unit = unit })
      for k = 2 * i - 1, 2 * i do g:add_edge(panel, nodes[k], { subsystem = subsystem, type = "supplies" }) end
    end
    return g
  end

  it("power keeps to the caps of the panels, and starts where it is cool", function()
    local s = scenario { machine = panels("power", "panel", "W", { 400, 800 }), policy = { "power", watts = 400 } }
    s:tag("rack1", { temperature = "40" }):tag("rack0", { temperature = "20" })
    local jobs = s:submit { "slot=1/node", array = 4 }
    assert.placed(jobs[1], "node0")
    assert.placed(jobs[2], "node2") -- panel0 has no watt left for node1
    assert.placed(jobs[3], "node3")
    assert.pending(jobs[4])
    assert.never_over(800, "panel", { within = "panel1" })
  end)

  it("io goes where the way to the file system has the most room", function()
    local s = scenario { machine = panels("io", "bandwidth", "GB/s", { 10, 40 }), policy = "io" }
    assert.placed(s:submit "slot=1/node", "node2")
  end)
end)

describe("all of them:", function()
  for _, name in ipairs(scenario.policies()) do
    it(name .. " finds room wherever there is some, and never gives a unit twice", function()
      local s = scenario { machine = "cluster:1 rack:2 node:3 socket:2 core:2 gpu:1", policy = name, queue = "easy", seed = 11 }
      for i = 1, 30 do
        s:submit { s.random { "slot=1/node", "slot=2/node", "slot=1/core=2", "slot=2/[core=1;gpu]", "slot=3/core" },
          lasts = s.random(1, 60), estimate = 60, at = i * 5 }
      end
      s:at(70):down "node1"
      s:at(130):up "node1"
      s:run()
      for _, job in ipairs(s:jobs()) do assert.done(job) end
      assert.never_over(24, "core")
      assert.invariants()
    end)
  end
end)
