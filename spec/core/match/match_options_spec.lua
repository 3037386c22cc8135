-- Options of a match: the vertices inside of whole vertices that serve a request, and further ways to read slots.
local weir = require "weir"
local dice = require "spec.support.dice"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1

local function matched(machine, policy, request, options)
  local g = assert(weir.synthetic(machine))
  local e = assert(weir.engine { resources = g, policy = policy })
  local a, why, code = e:match(request, options)
  assert(g:check())
  return a, code, g, e, why
end

-- "core3x core1:2" for picks: x for exclusive picks, :N for N units.
local function show(picks)
  local out = {}
  for i, p in ipairs(picks) do out[i] = p.vertex.name .. (p.exclusive and "x" or p.amount > 0 and ":" .. p.amount or "") end
  table.sort(out)
  return table.concat(out, " ")
end

local NODES = "cluster:1 node:2 socket:2 core:2 memory:2(size=2)"

describe("what serves a request inside of whole vertices", function()
  -- {title, policy, request, picks, vertices inside}
  local cases = {
    { "cores of a whole node", "low", "slot=1/node/core=2", "node0x", "core0x core1x" },
    { "the same in the policy's order", "high", "slot=1/node/socket/core=1", "node1x", "core3x socket1x" },
    { "what names a node that is only given whole", { order = { "node.id", "id" }, exclusive = "node" }, "slot=1/core=1", "node0x",
      "core0x" },
    { "nothing where nothing is asked for inside", "low", "slot=1/node", "node0x", "" },
    { "nothing in what is not whole", "low", "node=1/slot=1/core=2", "core0x core1x", "" },
    { "slots of a whole node", "high", "node=1{x}/slot=2/core=1", "node1x", "core2x core3x" },
  }
  for _, case in ipairs(cases) do
    it("is " .. case[1], function()
      local inside = {}
      local a = assert(matched(NODES, case[2], case[3], { inside = inside }))
      assert.same({ case[4], case[5] }, { show(a:vertices()), show(inside) })
    end)
  end

  it("is in no book", function()
    local a, _, g = matched(NODES, "low", "slot=1/node/core=2", { inside = {} })
    assert.same({ 1, 0 }, { #a:vertices(), #g:vertex("/cluster0/node0/socket0/core0"):uses() })
  end)

  it("is told of what a job gets more, too, and of previews", function()
    local inside = {}
    local _, _, _, e = matched(NODES, "low", "slot=1/node/core=2")
    assert(e:match("slot=1/node/core=1", { mode = "preview", inside = inside }))
    assert.equal("core0x", show(inside))
  end)

  it("is nothing where the request does not fit", function()
    local inside = {}
    assert.is_nil((matched(NODES, "low", "slot=3/node/core=2", { inside = inside })))
    assert.same({}, inside)
  end)

  it("must be a table", function()
    assert.error_matches(function() matched(NODES, "low", "slot=1/node", { inside = true }) end, "a table to be filled")
  end)
end)

describe("a slot below one vertex", function()
  -- {request, picks with strict_slots, the code on failure}
  local cases = {
    { "slot=1/core=2", "core0x core1x" },
    { "slot=1/core=3", nil, "infeasible" },
    { "slot=2/[core=1;memory=1]", "core0x core1x memory0x" },
    { "node=1/slot=1/core=2", "core0x core1x" },
    { "slot=1/[socket=2]", "socket0x socket1x" },
    { "slot=1/[core=1;socket=1]", nil, "infeasible" },
  }
  for _, case in ipairs(cases) do
    it(("%s: %s"):format(case[1], case[2] or case[3]), function()
      local a, code = matched("cluster:1 node:2 socket:2 core:2 memory:1(size=2)", "low", case[1], { strict_slots = true })
      assert.same({ case[2], case[3] }, { a and show(a:vertices()), code })
    end)
  end

  it("is found where the parent is the first that has enough, not the first", function()
    local g = assert(weir.synthetic(NODES))
    local e = weir.engine { resources = g, policy = "low" }
    assert(e:match("slot=1/core=1", { strict_slots = true }))
    local a = assert(e:match("slot=1/core=2", { strict_slots = true }))
    assert.equal("/cluster0/node0/socket1", a:vertices()[1].vertex:parent().path)
  end)

  it("is busy, not infeasible, while others are there", function()
    local g = assert(weir.synthetic "cluster:1 node:1 socket:2 core:2")
    local e = weir.engine { resources = g, policy = "low" }
    for socket = 0, 1 do
      assert(g:vertex(("/cluster0/node0/socket%d/core%d"):format(socket, 2 * socket)):allocate { job = socket + 1, amount = 1 })
    end
    assert(e:match("slot=1/core=2", { mode = "preview" }))
    assert.equal("busy", select(3, e:match("slot=1/core=2", { strict_slots = true })))
  end)
end)

describe("whole pools", function()
  -- {request, picks with strict_pools, picks without}
  local cases = {
    { "slot=1/memory=1", "memory0x", "memory0:1" },
    { "slot=1/memory=3", "memory0x memory1x", "memory0x memory1:1" },
    { "slot=2/memory=1", "memory0x memory1x", "memory0x" },
    { "slot=2/[core=1;memory=1]", "core0x core1x memory0x memory1x", "core0x core1x memory0x" },
    { "slot=2/memory=3", "memory0x memory1x memory2x memory3x", "memory0x memory1x memory2x" },
    { "memory=1", "memory0:1", "memory0:1" },
  }
  for _, case in ipairs(cases) do
    it(("%s: %s"):format(case[1], case[2]), function()
      local got = {}
      for i, whole in ipairs { true, false } do
        got[i] = show(assert(matched("cluster:1 node:1 core:4 memory:4(size=2)", "low", case[1], { strict_pools = whole })):vertices())
      end
      assert.same({ case[2], case[3] }, got)
    end)
  end

  it("are counted beside what is inside of whole vertices", function()
    local g = assert(weir.synthetic "cluster:1 rack:2")
    for r = 0, 1 do
      local rack = g:vertex("/cluster0/rack" .. r)
      for i = 0, 3 do g:add(rack, { type = "power", id = i, size = 10 }) end
      for i = 0, 1 do g:add(g:add(rack, { type = "node", id = 2 * r + i }), { type = "core", size = 8 }) end
    end
    local e = weir.engine { resources = g, policy = "low" }
    local options = { strict_pools = true, strict_slots = true, inside = {} }
    local a = assert(e:match("slot=3/[power=1;node/core=2]", options))
    assert.equal("node0x node1x node2x power0x power0x power1x", show(a:vertices()))
    assert.equal("corex corex corex", show(options.inside))
  end)

  it("are not shared by slots, so fewer slots fit", function()
    local a = assert(matched("cluster:1 node:1 memory:3(size=2)", "low", "slot=1-9/memory=3", { strict_pools = true }))
    assert.same({ 1, "memory0x memory1x" }, { a.nslots, show(a:vertices()) })
  end)
end)

describe("edges that are followed", function()
  -- A store with a link to the shelf of each rack; shelves have two disks.
  local function stores()
    local g = weir.new()
    local root = g:add(nil, { type = "cluster", id = 0 })
    local store = g:add(root, { type = "store", id = 0 })
    for r = 0, 1 do
      local rack = g:add(root, { type = "rack", id = r })
      g:add(g:add(rack, { type = "node", id = r }), { type = "core", id = r })
      local shelf = g:add(rack, { type = "shelf", id = r })
      for i = 0, 1 do g:add(shelf, { type = "disk", id = 2 * r + i }) end
      g:add_edge(store, shelf, { subsystem = "links" })
    end
    return g, weir.engine { resources = g, policy = "low" }
  end

  -- {title, request, picks with links, the code without or instead}
  local cases = {
    { "lead to what is asked for inside", "store/shelf/disk=1", "disk0x" },
    { "lead to several", "store/shelf=2/disk=2", "disk0x disk1x disk2x disk3x" },
    { "serve beside what stands elsewhere", "[rack/slot=1{a}/node;store/shelf/slot=1{b}/disk=2]", "disk0x disk1x node0x" },
    { "give nothing twice", "[rack=2/shelf/disk=2;store/shelf/disk=1]", nil, "infeasible" },
    { "give nothing in what is taken whole", "[rack=2{x};store/shelf/disk=1]", nil, "infeasible" },
    { "do not make a whole larger", "slot=1/store/shelf", nil, "infeasible" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function()
      local g, e = stores()
      local a, _, code = e:match(case[2], { follow = "links" })
      assert.same({ case[3], case[4] }, { a and show(a:vertices()), code })
      assert(g:check())
      assert.equal("infeasible", select(3, e:match(case[2])))
    end)
  end

  it("do not lead into what is down, in use, or not wanted by a filter", function()
    local g, e = stores()
    g:vertex("/cluster0/rack0").state = "down"
    local a = assert(e:match("store/shelf/disk=1", { follow = "links" }))
    assert.equal("disk2x", show(a:vertices()))
    assert(e:release(a))
    assert(e:match "rack=1{x}")
    assert.equal("busy", select(3, e:match("store/shelf/disk=1", { follow = "links" })))
    g:vertex("/cluster0/rack0").state = "up"
    assert(e:match("store/shelf/disk=1", { follow = "links", mode = "preview" }))
    assert(e:use { name = "f", prune = function(v) return v.type ~= "rack" end })
    assert.equal("infeasible", select(3, e:match("store/shelf/disk=1", { follow = "links" })))
  end)
end)

describe("strict levels", function()
  it("keep what stands beside a thing in a slot out of it", function()
    local a = assert(matched("cluster:1 node:1 core:2", "low", "slot=1/[node]", { strict_levels = true }))
    assert.equal("node0x", show(a:vertices()))
    assert.equal("infeasible", select(2, matched("cluster:1 node:1 core:2", "low", "slot=1/[node;core=1]", { strict_levels = true })))
  end)

  -- {request, what the answer is}: no row is opened again that a search has opened in vain
  for _, case in ipairs {
    { "node=1/slot=1/socket=1/[core=3;gpu=1]", "busy" }, { "rack=1/node=1/slot=1/socket=1/[core=3;gpu=1]", "busy" },
    { "node=1/slot=1/[core=7;gpu=3]", "infeasible" }, { "node=1/slot=1/core=1", "infeasible" }, { "node=1/core=1", "infeasible" },
  } do
    it("refuse a second time without a search: " .. case[1], function()
      local g = weir.synthetic "cluster:1 rack:10 node:20 socket:2 [core:4 gpu:2]"
      local e = weir.engine { resources = g }
      for job, socket in ipairs(g:find "type=socket") do -- cores of the first socket of a node, gpus of the second
        local given = 0
        for v in socket:children() do
          if given < 2 and v.type == (socket.id == 0 and "core" or "gpu") then
            assert(v:allocate { job = job })
            given = given + 1
          end
        end
      end
      local visits = {}
      for i = 1, 2 do
        assert.equal(case[2], select(3, e:match(case[1], { strict_levels = true })))
        visits[i] = e:stats().visited
      end
      assert.is_true(visits[1] > 200 and visits[2] < 40, visits[2])
      g:close()
    end)
  end

  it("remember refusals only as long as they hold, in random histories", function()
    local shapes = { "node=1/slot=1/core=1", "node=1/slot=1/socket=1/core=2", "slot=1/node/[core=1;gpu=1]",
      "rack=1/slot=1/node/socket=2", "slot=1/socket=1/core=2", "node=1/slot=1/[socket=1;core=1]",
      "rack=1/node=2/slot=1/socket=1/core=1", "slot=2/core=1", "node=1/core=2" }
    for seed = 1, math.max(1, math.floor(60 * SCALE)) do
      local roll = dice(seed)
      local g = assert(weir.synthetic "cluster:1 rack:2[node:2[socket:2[core:2] gpu:1] node:1[core:3]]")
      local e, jobs, all = weir.engine { resources = g }, {}, g:find "type=node or type=socket or type=core"
      for _ = 1, 40 do
        local shape, what = shapes[roll(#shapes)], roll(6)
        if what == 1 and jobs[1] then
          assert(e:release(table.remove(jobs, roll(#jobs))))
        elseif what == 2 then
          local v = all[roll(#all)]
          v.state = v.state == "up" and "down" or "up"
        else
          local copy = g:dup()
          local fresh = weir.engine { resources = copy }
          local expected = select(3, fresh:match(shape, { strict_levels = true }))
          local a, _, code = e:match(shape, { strict_levels = true })
          assert.equal(expected, code, ("seed %d: %s"):format(seed, shape))
          jobs[#jobs + 1] = a and a.id
          fresh:close()
          copy:close()
        end
      end
      g:close()
    end
  end)
end)

describe("a policy that descends by a tag", function()
  local function given(order, request, weights)
    local g = assert(weir.synthetic "cluster:1 node:4 core:2")
    for node, weight in pairs(weights) do g:vertex("/cluster0/node" .. node).tags.weight = weight end
    local e = weir.engine { resources = g, policy = { name = "p", descend = "tags.weight", order = order } }
    return show(assert(e:match(request)):vertices())
  end

  -- {title, order, request, tags by node, picks}
  local cases = {
    { "begins where there is none, the last one first", nil, "slot=1/node", { [3] = "5" }, "node2x" },
    { "goes to the greatest number then", nil, "slot=2/node", { [0] = "7", [1] = "12", [2] = "-1", [3] = "3" }, "node0x node1x" },
    { "takes what is no number for none", nil, "slot=1/node", { [1] = "much", [2] = "1", [3] = "1" }, "node1x" },
    { "keeps by its order where fewer are allowed", "id", "slot=1/node=3-100:97:+", {}, "node0x node1x node2x" },
    { "keeps what it found where there is no order", nil, "slot=1/node=3-100:97:+", {}, "node1x node2x node3x" },
  }
  for _, case in ipairs(cases) do
    it(case[1], function() assert.equal(case[5], given(case[2], case[3], case[4])) end)
  end
end)

describe("a policy that descends to where most is free", function()
  local RACKS = "cluster:1 rack:2 node:2 core:4"

  local function played(policy, requests)
    local g = assert(weir.synthetic(RACKS))
    local e = weir.engine { resources = g, policy = policy }
    local got = {}
    for i, request in ipairs(requests) do
      local a = e:match(request)
      got[i] = a and a:vertices()[1].vertex.path:gsub("/cluster0/", "") or "-"
    end
    assert(g:check())
    return got
  end

  it("takes what has most free, the last of equals, level by level", function()
    assert.same({ "rack1/node3", "rack0/node1", "rack1/node2/core3", "rack1/node2/core2", "rack0/node0" },
      played("emptiest", { "slot=1/node", "slot=1/node", "slot=1/core", "slot=1/core", "rack=1/slot=1/node" }))
  end)

  it("takes what nobody uses before that", function()
    assert.same({ "rack1/node3/core3", "rack0/node1/core3", "rack1/node2/core3" },
      played("emptiest", { "slot=1/core", "slot=1/core", "slot=1/core" }))
  end)

  it("goes depth first: what one job gets stays near", function()
    local a = assert(matched(RACKS, "emptiest", "slot=3/node"))
    assert.equal("node1x node2x node3x", show(a:vertices()))
  end)

  it("refuses only what does not fit", function()
    local unused = { descend = { "node", "core" }, exclusive = "node" }
    assert.same({ "rack1/node3", "-", "rack0/node0" }, played(unused, { "slot=3/node", "slot=2/node", "slot=1/core" }))
  end)
end)

describe("or_slots", function()
  local SOCKETS = "cluster:1 node:2 socket:2 [core:6 gpu:1]"
  local SMALL = { type = "or_slot", label = "small", count = 1, with = { { type = "core", count = 2 }, { type = "gpu", count = 1 } } }
  local BIG = { type = "or_slot", label = "big", count = 1, with = { { type = "core", count = 4 } } }

  -- A request for n of the last type in all.
  local function asking(n, ...)
    local list = { ... }
    local last = {}
    for key, value in pairs(list[#list]) do last[key] = value end
    last.count = n
    list[#list] = last
    return { resources = list, attributes = { system = {} } }
  end

  local function kinds(a)
    local n = { core = 0, gpu = 0 }
    for _, p in ipairs(a:vertices()) do n[p.vertex.type] = n[p.vertex.type] + p.amount end
    return ("%d cores, %d gpus"):format(n.core, n.gpu)
  end

  -- {title, request, picks, slots}
  local cases = {
    { "are the first one where both fit", asking(1, SMALL, BIG), "2 cores, 1 gpus", 1 },
    { "are a mix that leaves room for the most", asking(2, SMALL, BIG), "6 cores, 1 gpus", 2 },
    { "go on below the next vertex", asking(4, SMALL, BIG), "12 cores, 2 gpus", 4 },
    { "stand in any order", asking(1, BIG, SMALL), "4 cores, 0 gpus", 1 },
    { "may be as many as there is room for", asking({ min = 1, max = 100, operator = "+", operand = 1 }, SMALL, BIG),
      "24 cores, 4 gpus", 8 },
    { "are of an allowed number", asking({ min = 1, max = 100, operator = "*", operand = 5 }, SMALL, BIG), "14 cores, 3 gpus", 5 },
  }
  for _, case in ipairs(cases) do
    it(case[1], function()
      local a = assert(matched(SOCKETS, "low", case[2]))
      assert.same({ case[3], case[4] }, { kinds(a), a.nslots })
    end)
  end

  it("are busy or infeasible like other slots", function()
    local g = assert(weir.synthetic(SOCKETS))
    local e = weir.engine { resources = g, policy = "low" }
    assert(e:match(asking(8, SMALL, BIG)))
    assert.equal("busy", select(3, e:match(asking(1, SMALL, BIG))))
    assert.equal("infeasible", select(3, e:match(asking(9, SMALL, BIG))))
  end)

  -- {types in each or_slot, number of or_slots, message}
  local LIMITS = { { 3, 11, "or_slots hold more than 32 types" }, { 17, 1, "more than 16 or_slots side by side" } }
  for _, case in ipairs(LIMITS) do
    it(("are not of any number: %d of %d types"):format(case[1], case[2]), function()
      local list, machine = {}, {}
      for i = 1, case[1] do
        local with = {}
        for k = 1, case[2] do
          local type = "t" .. string.char(96 + i) .. string.char(96 + k)
          with[k], machine[#machine + 1] = { type = type, count = 1 }, type
        end
        list[i] = { type = "or_slot", label = "l" .. i, count = 1, with = with }
      end
      local _, code, _, _, why = matched("node:1 [" .. table.concat(machine, " ") .. "]", "low", asking(1, table.unpack(list)))
      assert.same({ case[3], "limit" }, { why, code })
    end)
  end

  it("take the one that fits when the other cannot", function()
    local machine = "cluster:1 node:1 socket:2 core:4"
    assert.equal("4 cores, 0 gpus", kinds(assert(matched(machine, "low", asking(1, SMALL, BIG)))))
  end)

  it("write and read back as they are", function()
    local r = assert(weir.request(asking(2, SMALL, BIG)))
    assert.equal(r:format "json", assert(weir.request(r:format "yaml")):format "json")
  end)

  it("stand beside nothing else", function()
    local _, why, code = weir.request { resources = { BIG, { type = "node", count = 1 } } }
    assert.matches("an or_slot can only have other or_slots as siblings", why)
    assert.equal("invalid", code)
  end)
end)
