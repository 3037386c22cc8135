-- Fluxion's operations and policies on weir's engine: the differences from weir's own reading of requests.
local weir = require "weir"
local match = require "weir.query.fluxion_match.match"

local MACHINE = "cluster:1 rack:2 node:2 socket:2 [core:2 memory:1(size=4,unit=GB)]"

local function slot(...) return { type = "slot", count = 1, label = "default", with = { ... } } end
local function some(kind, count, ...) return { type = kind, count = count, with = select("#", ...) > 0 and { ... } or nil } end

local function jobspec(...)
  return require "weir.core".json_encode { resources = { ... }, attributes = { system = { duration = 10 } } }
end

local function start(machine) return weir.engine { resources = assert(weir.synthetic(machine or MACHINE)) } end

-- The paths of an allocation's picks, and of the vertices inside, without the cluster.
local function paths(a, inside)
  local out = {}
  for _, list in ipairs { a:vertices(), inside or {} } do
    for _, p in ipairs(list) do out[#out + 1] = p.vertex.path:gsub("^/cluster0/", "") .. (p.exclusive and "" or ":" .. p.amount) end
  end
  table.sort(out)
  return table.concat(out, " ")
end

describe("the policies of Fluxion", function()
  -- {policy, the first core of a job}
  local cases = {
    { "low", "rack0/node0/socket0/core0" }, { "lonode", "rack0/node0/socket0/core0" },
    { "high", "rack0/node0/socket1/core3" }, { "hinode", "rack1/node3/socket1/core3" },
    { "first", "rack1/node3/socket1/core3" }, { "lonodex", "rack0/node0" }, { "hinodex", "rack1/node3" },
    { "firstnodex", "rack1/node3" }, { "policy=low", "rack0/node0/socket0/core0" },
    { "policy=high node_centric=true", "rack1/node3/socket1/core3" },
    { "policy=low node_exclusive=true", "rack0/node0" },
    { "policy=low node_centric=true stop_on_1_matches=true", "rack1/node3/socket1/core3" },
  }
  for _, case in ipairs(cases) do
    it(case[1] .. " takes " .. case[2], function()
      local a = assert(match.match(start(), jobspec(slot(some("core", 1))), { mode = "allocate", policy = case[1] }))
      assert.equal(case[2], paths(a))
    end)
  end

  for text, message in pairs {
    ["policy=middle"] = "accepts only low or high", ["depth=3"] = "invalid policy option: depth",
    ["policy=low node_centric=maybe"] = "requires true or false", ["node_centric=true"] = "no policy=high or policy=low",
  } do
    it(text .. " is refused", function()
      local ok, why = match.check_policy(text)
      assert.is_nil(ok)
      assert.matches(message, why, 1, true)
    end)
  end
end)

describe("the reading of Fluxion", function()
  -- {title, resources, the job's picks, or nil and the code of allocate_with_satisfiability}
  local cases = {
    { "a slot stands right below one vertex", { slot(some("core", 3)) }, nil, "infeasible" },
    { "pools are given as a whole", { slot(some("memory", 1)) }, "rack0/node0/socket0/memory0" },
    { "what a whole node serves is told", { slot(some("node", 1, some("socket", 1, some("core", 1)))) },
      "rack0/node0 rack0/node0/socket0 rack0/node0/socket0/core0" },
    { "levels are left out above the first resource only", { some("node", 1, some("core", 1, slot(some("memory", 1)))) }, nil,
      "infeasible" },
    { "a slot may stand one level below", { some("node", 1, slot(some("core", 2))) },
      "rack0/node0/socket0/core0 rack0/node0/socket0/core1" },
    { "but not two", { some("rack", 1, slot(some("core", 2))) }, nil, "infeasible" },
    { "siblings of one type match nothing", { slot(some("core", 1), some("core", 1)) }, nil, "infeasible" },
    { "nor does what stands beside a slot", { slot(some("core", 1)), some("node", 1) }, nil, "infeasible" },
    { "a slot in a slot is how often it is there", { slot(some("socket", 1, { type = "slot", count = 2, label = "in",
      with = { some("core", 1) } })) }, "rack0/node0/socket0 rack0/node0/socket0/core0 rack0/node0/socket0/core1" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function()
      local inside = {}
      local a, _, code = match.match(start(), jobspec(table.unpack(case[2])),
        { mode = "allocate_with_satisfiability", policy = "lonode", inside = inside })
      assert.same({ case[3], case[4] }, { a and paths(a, inside), code })
    end)
  end
end)

describe("the operations of Fluxion", function()
  local ALL = jobspec({ type = "slot", count = 4, label = "default", with = { some("node", 1) } })
  local TOO_MANY = jobspec({ type = "slot", count = 5, label = "default", with = { some("node", 1) } })

  -- {operation, jobspec, state and start, or a code}, on a machine in full use until 10
  local cases = {
    { "allocate", ALL, "busy" }, { "allocate", TOO_MANY, "busy" },
    { "allocate_with_satisfiability", ALL, "busy" }, { "allocate_with_satisfiability", TOO_MANY, "infeasible" },
    { "allocate_orelse_reserve", ALL, "reserved 10" }, { "allocate_orelse_reserve", TOO_MANY, "busy" },
    { "satisfiability", ALL, "true" }, { "satisfiability", TOO_MANY, "infeasible" },
    { "without_allocating", ALL, "busy" }, { "without_allocating_future", ALL, "reserved 10" },
  }
  for _, case in ipairs(cases) do
    it(("%s tells %s"):format(case[1], case[3]), function()
      local e = start()
      assert(match.match(e, ALL, { mode = "allocate", policy = "low" }))
      local a, _, code = match.match(e, case[2], { mode = case[1], policy = "low" })
      assert.equal(case[3], code or (a == true and "true") or ("%s %d"):format(a.state, a.at))
      assert.equal(case[1] == "allocate_orelse_reserve" and not code and 2 or 1, #e:jobs())
    end)
  end

  it("refuse more nodes than are up as impossible, where that is told", function()
    local e = start()
    e:resources():vertex("/cluster0/rack1").state = "down"
    assert.equal("infeasible", select(3, match.match(e, ALL, { mode = "allocate_with_satisfiability", policy = "low" })))
    assert.equal("busy", select(3, match.match(e, ALL, { mode = "allocate_orelse_reserve", policy = "low" })))
  end)

  it("tell of the jobspec what its output needs", function()
    local text = '{"resources": [{"type": "rack", "count": 1, "exclusive": true, "label": "here", "with": [' ..
      '{"type": "slot", "count": 1, "label": "s", "with": [{"type": "node", "count": 1}]}]}],' ..
      '"attributes": {"system": {"duration": 1, "queue": "debug"}}}'
    local inside = {}
    assert(match.match(start(), text, { mode = "allocate", policy = "low", inside = inside }))
    assert.same({ { [0] = "here" }, { rack = true }, "debug" }, { inside.labels, inside.whole, inside.queue })
  end)
end)

describe("flexible jobspecs", function()
  local function kind(name, label, ...) return { type = name, count = 1, label = label, with = { ... } } end

  -- {title, resources, the picks of some jobs}
  local cases = {
    { "slots side by side are a mix", { some("socket", 1, kind("slot", "a", some("core", 1), some("memory", 1)),
      kind("slot", "a", some("core", 1))) }, { "socket0/core0 socket0/memory0", "socket0/core1", "socket1/core2 socket1/memory1" } },
    { "of xor_slots the first that fits", { kind("xor_slot", "a", some("core", 2), some("memory", 4)),
      kind("xor_slot", "b", some("core", 1)) }, { "socket0/core0 socket0/core1 socket0/memory0",
      "socket1/core2 socket1/core3 socket1/memory1", "-" } },
    { "xor_slots in several places", { some("socket", 1, kind("xor_slot", "a", some("core", 3)), kind("xor_slot", "b", some("core", 2))) },
      { "socket0/core0 socket0/core1", "socket1/core2 socket1/core3", "-" } },
  }
  for _, case in ipairs(cases) do
    it(case[1], function()
      local e, got = start "cluster:1 node:1 socket:2 [core:2 memory:1(size=4)]", {}
      for i = 1, 3 do
        local a = match.match(e, jobspec(table.unpack(case[2])), { mode = "allocate", policy = "low", traverser = "flexible" })
        got[i] = a and paths(a):gsub("node0/", "") or "-"
      end
      assert.same(case[3], got)
    end)
  end

  it("start with the alternative that can start first", function()
    local e = start "cluster:1 node:1 socket:1 [core:2 memory:1(size=4)]"
    local both = { kind("xor_slot", "a", some("core", 2)), kind("xor_slot", "b", some("memory", 4)) }
    local opts = { mode = "allocate_orelse_reserve", policy = "low", traverser = "flexible" }
    local got = {}
    for i = 1, 3 do
      local a = assert(match.match(e, jobspec(table.unpack(both)), opts))
      got[i] = ("%s at %d"):format(a:vertices()[1].vertex.type, a.at)
    end
    assert.same({ "core at 0", "memory at 0", "core at 10" }, got)
    assert.equal(3, #e:jobs())
  end)
end)

describe("policies that stop at the first match", function()
  local weights = require "weir.query.fluxion_match.weights"
  local policy = require "weir.query.fluxion_match.policy"

  local function core() return jobspec(slot(some("core", 1))) end

  -- The nodes of jobs, job after job; "-" releases the last job.
  local function played(steps)
    local e, got, last = start(), {}, nil
    for _, step in ipairs(steps) do
      if step == "-" then
        assert(e:release(last))
      else
        local inside = {}
        local a = assert(match.match(e, step, { mode = "allocate", policy = "first", inside = inside }))
        local parts = {}
        for _, p in ipairs(a:vertices()) do parts[#parts + 1] = { vertex = p.vertex, amount = p.amount } end
        weights.note(parts, false)
        got[#got + 1], last = a:vertices()[1].vertex:ancestor("node").name, a.id
      end
    end
    return table.concat(got, " ")
  end

  it("go to what nothing was ever placed in, also when that is over", function()
    assert.equal("node3 node1 node2", played { core(), core(), "-", core() })
  end)

  it("count what a whole node is given for only", function()
    local e = start()
    local node = e:resources():vertex "/cluster0/rack0/node0"
    weights.note({ { vertex = node, amount = 1 }, { vertex = e:resources():vertex "/cluster0/rack0/node0/socket0/core0", amount = 1 } })
    assert.equal("3", node.tags[weights.TAG])
    weights.note { { vertex = node, amount = 1, whole = true } }
    assert.equal("0", node.tags[weights.TAG])
    weights.note({ { vertex = node, amount = 1, whole = true } }, true)
    assert.equal("4", node.tags[weights.TAG])
  end)

  it("are known by their names and settings", function()
    assert.same({ true, true, false, true }, { policy.stops "first", policy.stops "firstnodex", policy.stops "low",
      policy.stops "policy=low stop_on_1_matches=true" })
  end)

  it("keep by ids where fewer are allowed than there are", function()
    local some_nodes = { min = 3, max = 100, operator = "+", operand = 97 }
    local text = jobspec { type = "node", count = some_nodes, exclusive = true, with = { slot(some("core", 1)) } }
    for settings, nodes in pairs { high = "rack0/node1 rack1/node2 rack1/node3", low = "rack0/node0 rack0/node1 rack1/node2" } do
      local a = assert(match.match(start(), text, { mode = "allocate", policy = ("policy=%s stop_on_1_matches=true"):format(settings) }))
      assert.equal(nodes, paths(a))
    end
  end)
end)
