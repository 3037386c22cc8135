-- Slots: what of a slot comes from one node, and mixes of or_slots. Compared with sums over the nodes of small machines.
local weir = require "weir"

local function engine(machine) return assert(weir.engine { resources = machine, policy = "first" }) end

-- The parents of the picks of a type, one name for each unit, in order.
local function parents(allocation, type)
  local names = {}
  for _, pick in ipairs(allocation:vertices()) do
    if pick.vertex.type == type then names[#names + 1] = pick.vertex:parent().name end
  end
  table.sort(names)
  return table.concat(names, " ")
end

describe("a slot with a part outside nodes", function()
  local MACHINE = "cluster:1[node:1[core:1] node:2[core:3] storage:1(size=3)]"

  -- {request, the parents of the cores, or the code of the refusal}
  for _, case in ipairs {
    { "slot=1/[core=2;storage=1]", "node1 node1" },
    { "slot=1/[storage=1;core=2]", "node1 node1" },
    { "slot=2/[core=2;storage=1]", "node1 node1 node2 node2" },
    { "slot=3/[core=1;storage=1]", "node0 node1 node1" },
    { "slot=3/[core=2;storage=1]", "infeasible" },
    { "slot=2/[core=2;storage=2]", "infeasible" },
    { "slot=1-5/[core=2;storage=1]", "node1 node1 node2 node2" },
    { "[node=1{-x};slot=2/[core=3;storage=1]]", "node1 node1 node1 node2 node2 node2" },
    { "slot=1/[core=4;storage=1]", "infeasible" },
  } do
    it("has the part inside nodes in one node: " .. case[1], function()
      local got, _, code = engine(MACHINE):match(case[1])
      assert.equal(case[2], got and parents(got, "core") or code)
    end)
  end

  it("fits exactly where the sums of whole slots suffice", function()
    math.randomseed(38)
    for round = 1, 300 do
      local cores, words, storage = {}, {}, math.random(0, 6)
      for i = 1, math.random(1, 4) do
        cores[i] = math.random(1, 5)
        words[i] = ("node:1[core:%d]"):format(cores[i])
      end
      local e = engine(("cluster:1[%s storage:1(size=%d)]"):format(table.concat(words, " "), math.max(1, storage)))
      local slots, each, part = math.random(1, 3), math.random(1, 4), math.random(1, 3)
      local room = 0
      for _, n in ipairs(cores) do room = room + n // each end
      local fits = room >= slots and part * slots <= math.max(1, storage)
      local shape = ("slot=%d/[core=%d;storage=%d]"):format(slots, each, part)
      assert.equal(fits, e:match(shape) ~= nil, ("round %d: %s on %s"):format(round, shape, table.concat(words, " ")))
      assert(e:resources():check())
    end
  end)
end)

describe("or_slots", function()
  -- {machine, jobs before, request, cores, gpus}
  for _, case in ipairs {
    { "node:1 core:8", {}, "[or_slot=1{a}/gpu;or_slot=4{a}/core=2]", 8, 0 },
    { "node:1 [core:8 gpu:1]", { "slot=1/[core=4;gpu=1]" }, "[or_slot=1{a}/gpu;or_slot=2{a}/core=1]", 2, 0 },
    { "node:1 [core:8 gpu:1]", {}, "[or_slot=1{a}/gpu;or_slot=2{a}/core=1]", 1, 1 },
    { "node:1[gpu:1] node:2[core:1]", {}, "[or_slot=1{a}/gpu;or_slot=3{a}/core=1]", 2, 1 },
    { "node:2[core:1] node:1[gpu:1]", {}, "[or_slot=1{a}/core=2;or_slot=1{a}/gpu]", 0, 1 },
  } do
    it(("are served by a further alternative: %s on %s"):format(case[3], case[1]), function()
      local e = engine("cluster:1 " .. case[1])
      for _, job in ipairs(case[2]) do assert(e:match(job)) end
      local got, counts = assert(e:match(case[3])), { core = 0, gpu = 0 }
      for _, pick in ipairs(got:vertices()) do counts[pick.vertex.type] = counts[pick.vertex.type] + 1 end
      assert.same({ core = case[4], gpu = case[5] }, counts)
    end)
  end

  -- The most slots of one node, over all mixes of two alternatives {core =, gpu =}.
  local function most(node, a, b)
    local best = 0
    for i = 0, 8 do
      local core, gpu = node.core - i * a.core, node.gpu - i * a.gpu
      if core >= 0 and gpu >= 0 then
        local rest = math.min(b.core > 0 and core // b.core or math.huge, b.gpu > 0 and gpu // b.gpu or math.huge)
        best = math.max(best, i + rest)
      end
    end
    return best
  end

  local function shape_of(need)
    local parts = {}
    for _, type in ipairs { "core", "gpu" } do
      if need[type] > 0 then parts[#parts + 1] = ("%s=%d"):format(type, need[type]) end
    end
    return #parts > 1 and "[" .. table.concat(parts, ";") .. "]" or parts[1]
  end

  it("fit exactly where the sums of the best mixes of the nodes suffice, in either order", function()
    math.randomseed(380)
    for round = 1, 300 do
      local nodes, words = {}, {}
      for i = 1, math.random(1, 3) do
        nodes[i] = { core = math.random(0, 6), gpu = math.random(0, 2) }
        words[i] = ("node:1[core:%d gpu:%d x:1]"):format(nodes[i].core, nodes[i].gpu):gsub("%a+:0 ?", "")
      end
      local a, b = { core = math.random(0, 2), gpu = 1 }, { core = math.random(1, 3), gpu = math.random(0, 1) }
      local want = math.random(1, 5)
      for order = 1, 2 do
        local e = engine(("cluster:1[%s]"):format(table.concat(words, " ")))
        local room = 0
        for _, node in ipairs(nodes) do room = room + most(node, a, b) end
        local first, last = order == 1 and a or b, order == 1 and b or a
        local shape = ("[or_slot=%d{a}/%s;or_slot=%d{a}/%s]"):format(want, shape_of(first), want, shape_of(last))
        local got, why = e:match(shape)
        assert.equal(room >= want, got ~= nil, ("round %d: %s on %s: %s"):format(round, shape, table.concat(words, " "), why))
        assert.equal(room >= want, e:match(shape, { mode = "feasible" }) ~= nil, shape)
      end
    end
  end)
end)
