-- Each bundled policy, on a small machine where the right choice is evident. Feasibility, which no policy may change,
-- is in spec/weir/bindings/policy/policies_spec.lua.
local weir = require "weir"

local function vertex(g, name) return assert(g:find("name=" .. name)[1], "no vertex " .. name) end

-- Sets a property or a tag of vertices: {node0 = "1", ...}.
local function mark(g, map, key, values)
  for name, value in pairs(values) do vertex(g, name)[map][key] = value end
end

local function take(g, names)
  for i, name in ipairs(names) do
    local v = vertex(g, name)
    v:allocate { job = 1000 + i, amount = v.size }
  end
end

-- The names of the picks of a job, sorted; with a type: only the vertices of the type.
local function names_of(a, kind)
  local list = {}
  for _, pick in ipairs(a:vertices()) do
    if not kind or pick.vertex.type == kind then list[#list + 1] = pick.vertex.name end
  end
  table.sort(list)
  return table.concat(list, " ")
end

local RACKS = "cluster:1 rack:3 node:4 core:4"

-- {policy, machine, preparation, jobs matched in turn, picks of the last job}
local CASES = {
  { "first", RACKS, nil, { "slot=2/node" }, "node0 node1", "takes what it meets" },
  { "low", RACKS, nil, { "slot=2/node" }, "node0 node1", "takes the lowest ids" },
  { "high", RACKS, nil, { "slot=2/node" }, "node10 node11", "takes the highest ids" },
  { "locality", RACKS, function(g) take(g, { "node1", "node5" }) end, { "slot=4/node" }, "node10 node11 node8 node9",
    "takes the longest run" },
  { "best_fit", RACKS, function(g) take(g, { "node4", "node5" }) end, { "slot=2/node" }, "node6 node7",
    "fills the rack with the least room" },
  { "worst_fit", RACKS, function(g) take(g, { "node0", "node4" }) end, { "slot=2/node" }, "node10 node8 node9",
    "goes where the most room is", nil, "slot=3/node" },
  { "emptiest", RACKS, function(g) take(g, { "node9", "node4" }) end, { "slot=1/node", "slot=1/core" }, "core3",
    "goes where the most room is, rack by rack, node by node", "/cluster0/rack2/node11/core3" },
  { "spread", RACKS, nil, { "slot=3/node" }, "node0 node4 node8", "takes one of each rack" },
  { "variation", RACKS, function(g) mark(g, "properties", "perf_class", { node6 = "1", node2 = "2", node9 = "1" }) end,
    { "slot=2/node" }, "node6 node9", "takes the fastest class" },
  { "alike", RACKS, function(g)
    mark(g, "properties", "perf_class", { node0 = "1", node1 = "3", node2 = "5", node3 = "3", node4 = "3", node5 = "1" })
  end, { "slot=3/node" }, "node1 node3 node4", "takes nodes of one class" },
  { "contiguous", RACKS, function(g) take(g, { "node1", "node4" }) end, { "slot=2/node" }, "node2 node3",
    "takes the shortest run that is long enough" },
  { "packed_gpu_nodes", "cluster:1 [node:2(basename=g)[core:2 gpu:2] node:2(basename=c)[core:2]]", nil, { "slot=1/node" },
    "c0", "keeps gpu nodes free" },
  { "packed_gpu_nodes", "cluster:1 [node:2(basename=c)[core:2] node:2(basename=g)[core:2 gpu:2]]", nil,
    { "slot=1/[core;gpu]", "slot=1/[core;gpu]" }, "core1 gpu1", "fills one gpu node before the next", "/cluster0/g0/gpu1" },
  { "drain_first:now=100", RACKS, function(g) mark(g, "tags", "drain", { node5 = "200" }) end, { { "slot=1/node", 60 } },
    "node5", "puts what is over in time on a node that will be drained" },
  { "drain_first:now=100", RACKS, function(g) mark(g, "tags", "drain", { node0 = "120" }) end, { { "slot=1/node", 60 } },
    "node1", "keeps what is not away from it" },
  { "round_robin", RACKS, nil, { "slot=2/node", "slot=1/core=1", "slot=3/node" }, "node3 node4 node5", "goes on behind the last job" },
  { "newest_first", RACKS, function(g) mark(g, "tags", "installed", { node3 = "2022", node7 = "2024.5" }) end,
    { "slot=2/node" }, "node3 node7", "takes the newest" },
  { "weighted:pack=0,low=0,fast=1", RACKS, function(g) mark(g, "properties", "perf_class", { node6 = "1", node2 = "2" }) end,
    { "slot=1/node" }, "node6", "follows its weights" },
  { "weighted:pack=0,low=0,cool=1", RACKS, function(g)
    mark(g, "tags", "temperature", { rack0 = "40", rack1 = "25", rack2 = "30" })
  end, { "slot=1/node" }, "node4", "follows other weights" },
  { "gpu_affinity", "cluster:1 node:1 socket:2 core:4 gpu:2", function(g)
    take(g, { "gpu0", "gpu1" })
  end, { "slot=1/[core=2;gpu]" }, "core4 core5 gpu2", "takes cores beside a free gpu" },
}

local function job(x)
  if type(x) == "string" then return x end
  local request = assert(weir.request(x[1]))
  local jobspec = weir.json.decode(request:format "json")
  jobspec.attributes = { system = { duration = x[2] } }
  return jobspec
end

describe("the policy", function()
  for _, case in ipairs(CASES) do
    local policy, machine, prepare, jobs, wanted, what, path, other = table.unpack(case, 1, 8)
    it(policy .. " " .. what, function()
      local g = assert(weir.synthetic(machine))
      if prepare then prepare(g) end
      local e = assert(weir.engine { resources = g, policy = policy })
      local a
      if other then jobs = { other } end
      for _, x in ipairs(jobs) do a = assert(e:match(job(x))) end
      assert.equal(wanted, names_of(a))
      if path then
        local paths = {}
        for _, pick in ipairs(a:vertices()) do paths[pick.vertex.path] = true end
        assert.is_true(paths[path], "it did not take " .. path)
      end
      assert(g:check())
    end)
  end
end)

-- ---- policies with a look at further subsystems ------------------------------------------------------------------

describe("the policy", function()
  local g

  before_each(function() g = assert(weir.synthetic(RACKS)) end)

  -- Adds pools of a second subsystem, each above some nodes.
  local function hang(subsystem, kind, list)
    local source = g:add(nil, { type = kind .. "_source", size = 100000 })
    local made = {}
    for i, entry in ipairs(list) do
      local v = g:add(nil, { type = kind, id = i - 1, size = entry.size or 1 })
      g:add_edge(source, v, { subsystem = subsystem, type = "supplies" })
      for _, name in ipairs(entry) do g:add_edge(v, vertex(g, name), { subsystem = subsystem, type = "supplies" }) end
      made[i] = v
    end
    return made
  end

  it("network takes the switch that just holds the job", function()
    hang("network", "switch", { { "node0", "node1", "node2", "node3", "node4" }, { "node5", "node6", "node7" }, { "node8" } })
    local e = assert(weir.engine { resources = g, policy = "network" })
    assert.equal("node5 node6 node7", names_of(assert(e:match "slot=3/node")))
  end)

  it("network joins large switches where none is large enough", function()
    hang("network", "switch", { { "node0" }, { "node1", "node2", "node3" }, { "node4", "node5" } })
    local e = assert(weir.engine { resources = g, policy = "network" })
    assert.equal("node1 node2 node3 node4 node5", names_of(assert(e:match "slot=5/node"), "node"))
  end)

  it("io takes the node with the widest way", function()
    local ways = hang("io", "bandwidth", { { "node0", "node1", size = 10 }, { "node2", "node3", size = 30 } })
    ways[2]:allocate { job = 77, amount = 25 }
    local e = assert(weir.engine { resources = g, policy = "io" })
    assert.equal("node0", names_of(assert(e:match "slot=1/node")))
  end)

  it("power keeps the caps, whatever the jobspec says", function()
    hang("power", "pdu", { { "node0", "node1", "node2", "node3", size = 900 }, { "node4", "node5", size = 400 } })
    local e = assert(weir.engine { resources = g, policy = "power:watts=400" })
    local a = assert(e:match "slot=3/node")
    local nodes = names_of(a, "node")
    local _, under_first = nodes:gsub("node[0123]%f[%s\0]", "")
    local _, under_second = nodes:gsub("node[45]%f[%s\0]", "")
    assert.is_true(under_first <= 2 and under_second <= 1, nodes)
    assert.equal("busy", select(3, e:match "slot=1/node"))
  end)

  it("power prefers the cool rack", function()
    mark(g, "tags", "temperature", { rack0 = "40", rack1 = "22", rack2 = "35" })
    local e = assert(weir.engine { resources = g, policy = "power" })
    assert.equal("node4", names_of(assert(e:match "slot=1/node")))
  end)
end)

describe("the library", function()
  local list = weir.policy.list()

  it("has at least 18 policies", function() assert.is_true(#list >= 18) end)

  for _, entry in ipairs(list) do
    it(entry.name .. " has a doc line, and no more than 80 lines", function()
      local p = assert(weir.policy(entry.path))
      assert.is_true(#(p.doc or "") > 20)
      local _, lines = p.source:gsub("\n", "")
      assert.is_true(lines <= 80, lines .. " lines")
    end)

    it(entry.name .. " keeps the contract", function()
      local report = require("weir.policy.bench").check(entry.name)
      assert.same({}, report.errors)
      for _, note in ipairs(report.notes) do
        if not (report.state and note:find "it reads the state of the policy") then
          assert.matches(" us a call;", note) -- depends on clocks
        end
      end
    end)
  end
end)
