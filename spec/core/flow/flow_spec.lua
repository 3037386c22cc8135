-- Flows: g:flow, and requests for units of a subsystem that only a split or a move of earlier vertices can serve.
-- Random networks are compared with other algorithms in test_flow_most.c.
local weir = require "weir"
local cases = require "spec.support.cases"
local dice = require "spec.support.dice"
local figures = require "spec.support.figures"

local function taken(a)
  local out = {}
  for i, pick in ipairs(a:vertices()) do out[i] = pick.vertex.path .. " " .. pick.amount end
  table.sort(out)
  return out
end

-- A machine of nodes; edges are "A>B" (one way) and "A=B" (both ways), sizes by name; the rest are units. order: their
-- names, of one letter, in the order in which they are made.
local function network(nodes, sizes, edges, order)
  local g = assert(weir.synthetic("cluster:1 node:" .. nodes .. " core:2"))
  local at, names = {}, {}
  for name in pairs(sizes) do names[#names + 1] = name end
  table.sort(names, order and function(x, y) return order:find(x) < order:find(y) end)
  for _, name in ipairs(names) do
    local size = sizes[name]
    at[name] = assert(g:add(nil, { type = "switch", name = name, size = size }))
  end
  for i = 0, nodes - 1 do at["n" .. i] = g("/cluster0/node" .. i) end
  for from, how, to in edges:gmatch "(%w+)([>=])(%w+)" do
    assert(g:add_edge(at[from], at[to], { subsystem = "net", type = "link", back = how == "=" and "link" or nil }))
  end
  return g, at
end

describe("flows", function()
  local f, g

  before_each(function()
    f = figures.unified()
    g = f.graph
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  local function cut_of(flow)
    local out = {}
    for i, limit in ipairs(flow.cut) do out[i] = ("%s %d of %d"):format(limit.unit.name, limit.left, limit.size) end
    table.sort(out)
    return out
  end

  it("[G8] tells the most that reaches vertices, the shares of each unit, and the minimum cut", function()
    local flow = assert(g:flow { subsystem = "bandwidth", to = { f.node[1], f.node[2], f.node[3] } })
    assert.same({ 8, false, { 4, 0, 4 }, { "core_switch1 8 of 8" } },
      { flow.amount, flow.all, flow.served, cut_of(flow) })
    local sums = {}
    for _, share in ipairs(flow.shares) do sums[share.unit.name] = (sums[share.unit.name] or 0) + share.amount end
    assert.same({ edge_switch1 = 4, edge_switch2 = 4, core_switch1 = 8, PFS1 = 8 }, sums)
  end)

  it("[G8] serves a given number of units to each, or says how far it gets", function()
    local flow = assert(g:flow { subsystem = "bandwidth", to = f.node[5], units = 3 })
    assert.same({ 3, true, { 3 }, {} }, { flow.amount, flow.all, flow.served, flow.cut })
    assert(f.edge_switch[1]:allocate { job = 9, amount = 3, duration = 60 })
    flow = assert(g:flow { subsystem = "bandwidth", to = { f.node[1], f.node[3] }, units = 3 })
    assert.same({ 4, false, { "edge_switch1 1 of 4" } }, { flow.amount, flow.all, cut_of(flow) })
    assert.is_true(g:flow({ subsystem = "bandwidth", to = f.node[1], units = 3, capacity = true }).all)
    assert.is_true(g:flow({ subsystem = "bandwidth", to = f.node[1], units = 3, at = 60 }).all)
    assert.is_false(g:flow({ subsystem = "bandwidth", to = f.node[1], units = 3, at = 50, duration = 5 }).all)
  end)

  it("[G8] comes from one unit where that is asked for", function()
    local flow = assert(g:flow { subsystem = "bandwidth", from = f.core_switch[2], to = f.node, units = 1 })
    assert.same({ 4, { 0, 0, 0, 0, 1, 1, 1, 1 } }, { flow.amount, flow.served })
  end)

  -- The second vertex takes x from the first, by a way back through a: a and b are left with a flow in a circle.
  for _, order in ipairs { "xabsyz", "zysbax", "bazyxs", "szyabx" } do
    it("[G8] has no shares of a circle, with units in the order " .. order, function()
      local net, at = network(2, { x = 1, a = 1, b = 2, s = 5, y = 5, z = 5 }, "x>a a=b s>y y>z z>b b>n0 x>n1", order)
      local flow = assert(net:flow { subsystem = "net", to = { at.n0, at.n1 }, units = 1 })
      local shares = {}
      for i, share in ipairs(flow.shares) do
        shares[i] = ("%s %s %d"):format(share.unit.name, share.vertex.name, share.amount)
      end
      table.sort(shares)
      assert.same({ 2, true, { "b node0 1", "s node0 1", "x node1 1", "y node0 1", "z node0 1" } }, { flow.amount, flow.all, shares })
      net:close()
    end)
  end

  -- {options, code, a part of the text}
  local REFUSED = {
    { { subsystem = "nope" }, "unknown", "there is no subsystem 'nope'" },
    { { subsystem = "containment" }, "invalid", "nothing flows in containment" },
    { { subsystem = "power", units = -1 }, "invalid", "not negative" },
  }
  for _, case in ipairs(REFUSED) do
    it("[G8] no flow: " .. case[3], function()
      local options = { to = f.node[1] }
      for k, v in pairs(case[1]) do options[k] = v end
      local flow, why, code = g:flow(options)
      assert.same({ code = case[2] }, { flow = flow, code = code })
      assert.matches(case[3], why, 1, true)
    end)
  end

  it("[G8] needs a subsystem and vertices", function()
    assert.error_matches(function() g:flow { to = f.node[1] } end, "field 'subsystem': string expected, got nothing", 1, true)
    assert.error_matches(function() g:flow { subsystem = "power" } end, "field 'to'", 1, true)
    assert.error_matches(function() g:flow { subsystem = "power", to = { 1 } } end, "list of vertices expected", 1, true)
    assert.error_matches(function() g:flow { subsystem = "power", to = f.node[1], too = 1 } end, "too", 1, true)
  end)
end)

describe("matches with flows", function()
  local g, at, e

  local function machine(...)
    g, at = network(...)
    e = weir.engine { resources = g, policy = "low" }
  end
  after_each(function()
    assert(g:check())
    e:close()
    g:close()
  end)

  it("[G8] units come over several ways where no single way has enough", function()
    machine(1, { s = 10, a = 3, b = 3 }, "s>a s>b a>n0 b>n0")
    assert.same({ "/a 3", "/b 2", "/cluster0/node0 1", "/s 5" }, taken(assert(e:match "slot=1/node/net=5")))
  end)

  it("[G8] one way is taken where it has enough", function()
    machine(1, { s = 10, a = 3, b = 6 }, "s>a s>b a>n0 b>n0")
    assert.same({ "/b 5", "/cluster0/node0 1", "/s 5" }, taken(assert(e:match "slot=1/node/net=5")))
  end)

  it("[G8] earlier vertices of the match move to other ways", function()
    machine(2, { s = 10, a = 2, b = 2 }, "s>a s>b a>n0 b>n0 a>n1")
    assert.same({ "/a 2", "/b 2", "/cluster0/node0 1", "/cluster0/node1 1", "/s 4" },
      taken(assert(e:match "slot=2/node/net=2")))
  end)

  it("[G8] other vertices are chosen where those in the order of the policy take too much", function()
    -- n0 takes one unit away from each of n1 and n2
    machine(3, { s = 9, a = 1, b = 1, c = 1, d = 1 }, "s>a s>b s>c s>d b>n0 c>n0 a>n1 b>n1 c>n2 d>n2")
    local a = assert(e:match "slot=2/node/net=2")
    assert.same({ "/a 1", "/b 1", "/c 1", "/cluster0/node1 1", "/cluster0/node2 1", "/d 1", "/s 4" }, taken(a))
    assert.equal("busy", select(3, e:match "slot=1/node/net=2"))
    assert(e:release(a.id))
    assert.equal("infeasible", select(3, e:match "slot=3/node/net=2"))
  end)

  it("[G8] a cycle carries a flow, and no way goes around it", function()
    machine(2, { s = 9, a = 4, b = 4, c = 4 }, "s>a a=b b=c c=a b>n0 c>n1")
    assert.same({ "/a 4", "/b 2", "/c 2", "/cluster0/node0 1", "/cluster0/node1 1", "/s 4" },
      taken(assert(e:match "slot=2/node/net=2")))
  end)

  it("[G8] [A9] units of a vertex go with the vertex, on all ways", function()
    machine(2, { s = 10, a = 3, b = 3 }, "s>a s>b a>n0 b>n0 a>n1 b>n1")
    local a = assert(e:match "slot=2/node/net=3")
    assert(e:shrink(a.id, at.n0))
    assert.same({ 7, 3 }, { at.s.free, at.a.free + at.b.free })
    assert(e:release(a.id))
    assert.same({ 10, 6 }, { at.s.free, at.a.free + at.b.free })
  end)

  it("[G8] [A9] units are given back one by one, whatever edges have gone since", function()
    machine(2, { s = 10, a = 3, b = 3 }, "s>a s>b a>n0 b>n0 b>n1")
    assert(g:add_edge(assert(g:add(nil, { type = "pdu", size = 9 })), at.n0, { subsystem = "power", type = "supplies" }))
    local a = assert(e:match "slot=1/node/net=5")
    -- {the edges that go, the unit that gives one back, what is free of s, a and b then}
    for _, row in ipairs {
      { {}, "a", { 6, 1, 1 } },
      { { { "a", "n0" } }, "b", { 9, 1, 2 } }, -- s passes on what b needs
      { {}, "a", { 9, 2, 2 } },
      { { { "s", "b" }, { "b", "n0" }, { "b", "n1" } }, "b", { 9, 2, 3 } },
    } do
      for _, edge in ipairs(row[1]) do assert(g:remove_edge(at[edge[1]], at[edge[2]], { subsystem = "net" })) end
      assert(at[row[2]]:release(a.id, 1))
      assert.same(row[3], { at.s.free, at.a.free, at.b.free })
      assert(g:check())
    end
    assert(e:release(a.id))
    assert.same({ 10, 3, 3 }, { at.s.free, at.a.free, at.b.free })
  end)

  it("[G8] [A6] stages have their ways, with and without locks, and jobs made of them, too", function()
    for _, lock in ipairs { true, false } do
      machine(2, { s = 10, a = 3, b = 3 }, "s>a s>b a>n0 b>n0 b>n1")
      local stage = assert(e:stage("slot=1/node/net=5", { lease = 9, lock = lock, duration = 20 }))
      assert.same(lock and { 5, 1 } or { 10, 6 }, { at.s.free, at.a.free + at.b.free })
      local a = assert(e:commit(stage))
      assert.same({ 5, 1 }, { at.s.free, at.a.free + at.b.free })
      assert(g:check())
      assert(at.b:release(a.id, 1)) -- s passes on one unit less
      assert.same({ 6, 2 }, { at.s.free, at.a.free + at.b.free })
      assert(e:shrink(a.id, at.n0))
      assert.same({ 10, 6 }, { at.s.free, at.a.free + at.b.free })
      if lock then
        e:close()
        g:close()
      end
    end
  end)

  it("[G8] of a range the most that a flow can give is taken", function()
    machine(2, { s = 9, a = 4, b = 3 }, "s>a s>b a>n0 b>n0 b>n1")
    local a = assert(e:match "slot=1/node/net=2-8")
    assert.equal(7, 9 - at.s.free)
    assert(e:release(a.id))
    assert(e:match "slot=2/node/net=2-8") -- both get the same, and the most for one would leave too little for the other
    assert.equal(6, 9 - at.s.free)
  end)

  it("[G8] a switch that is asked for itself passes on what is left", function()
    local node = { type = "slot", count = 1, label = "n", with = { { type = "node", count = 1, with = {
      { type = "net", count = 3 } } } } }
    for _, case in ipairs { { 2, 5 }, { 3, nil } } do
      local switch = { type = "slot", count = 1, label = "s", with = { { type = "switch", count = case[1] } } }
      for _, resources in ipairs { { node, switch }, { switch, node } } do
        machine(1, { a = 5 }, "a>n0")
        local a, _, code = e:match { resources = resources, attributes = { system = {} } }
        assert.same({ case[2], not case[2] and "infeasible" or nil }, { a and 5 - at.a.free, code })
        e:close()
        g:close()
      end
    end
    machine(1, { a = 5 }, "a>n0")
  end)

  -- 60 units of 1, and 200 nodes on three of them each: to find 20 nodes that share no unit is an exact cover.
  local function cover(extra)
    local random, sizes, edges = cases.random(7), {}, {}
    for i = 0, 59 do sizes["u" .. i] = 1 end
    for i = 0, 199 do
      local units, n = {}, 0
      while n < 3 do
        local unit = random:between(0, 59)
        n = units[unit] and n or n + 1
        units[unit] = true
      end
      for unit in pairs(units) do edges[#edges + 1] = ("u%d>n%d"):format(unit, i) end
      if extra then edges[#edges + 1] = extra .. ">n" .. i end
    end
    if extra then sizes[extra] = 100 end
    machine(200, sizes, table.concat(edges, " "))
  end

  it("[G8] a choice that takes too long to find is told as such, and how to search longer", function()
    cover()
    local a, why, code = e:match "slot=20/node/net=3"
    assert.same({ nil, "limit" }, { a, code })
    assert.equal("undecided: no vertices were found that one flow can serve, in 40000000 steps " ..
      "(WEIR_FLOW_STEPS=N in the environment allows more steps)", why)
    assert(e:release(assert(e:match "slot=14/node/net=3").id))
  end)

  it("[G8] a start behind one whose choices were not all tried is no answer, but is told", function()
    cover "late"
    assert(at.late:allocate { job = 1, amount = 100, duration = 50 })
    local a, why, code = e:match("slot=20/node/net=3", { mode = "reserve", duration = 10 })
    assert.same({ nil, "limit" }, { a, code })
    assert.matches("fits at 50 s, but the search for a choice of vertices was cut off at 1 earlier start", why, 1, true)
    assert.equal(50, assert(e:match("slot=20/node/net=3", { mode = "reserve", duration = 10, at = 50 })).at)
  end)

  it("[G8] what the sources have too little of is refused without a look at the nodes", function()
    machine(20, { s = 9, a = 40 }, "s>a" .. (function()
      local edges = {}
      for i = 0, 19 do edges[#edges + 1] = " a>n" .. i end
      return table.concat(edges)
    end)())
    local before = e:stats().visited
    assert.equal("infeasible", select(3, e:match "slot=20/node/net=1"))
    assert.equal(before, e:stats().visited)
    assert(e:match "slot=9/node/net=1")
  end)
end)

-- Machines with power units inside of nodes, at random, and a history of matches: the books always hold.
local function inside_history(seed)
  local roll = dice(seed)
  local g = assert(weir.synthetic "cluster:1 node:4[psu:2(size=4) core:2]")
  local nodes, psus = g:find "type=node", g:find "type=psu"
  for _ = 1, 4 + roll(6) do
    local from, to = psus[roll(#psus)], roll(3) == 1 and psus[roll(#psus)] or nodes[roll(#nodes)]
    if from ~= to then assert(g:add_edge(from, to, { subsystem = "power", type = "supplies" })) end
  end
  local e <close>, ids, now = weir.engine { resources = g }, {}, 0
  local shapes = { "slot=1/node", "slot=1/node/power=1", "slot=2/node/power=2", "slot=1/core", "slot=1/psu=2",
    "node=1/slot=1/[core=1;power=1]", "slot=1/node/power=3" }
  for _ = 1, 25 do
    local what = roll(5)
    if what <= 3 then
      local mode = roll(2) == 1 and "now" or "reserve"
      local a = e:match(shapes[roll(#shapes)], { mode = mode, at = now, duration = 10 * roll(3) })
      ids[#ids + 1] = a and a.id
    elseif what == 4 and ids[1] then
      assert(e:release(table.remove(ids, roll(#ids))))
    else
      now = now + 5
      for i = #ids, 1, -1 do
        local a = e:job(ids[i])
        if a.at + a.duration <= now then assert(e:release(table.remove(ids, i))) end
      end
      assert(e:advance(now))
    end
    assert(g:check())
  end
  g:close()
end

describe("slots with flows", function()
  -- {request, cores taken from each of two nodes below switches of 4; nil: infeasible}
  for _, row in ipairs {
    { "slot=1/[core=2;net=4]", { 2, 0 } }, { "slot=2/[core=1;net=4]", { 1, 1 } }, { "slot=3/[core=1;net=4]" },
    { "slot=2/[core=1;net=2]", { 2, 0 } }, { "slot=3/[core=1;net=2]", { 2, 1 } }, { "slot=1-3/[core=1;net=4]", { 1, 1 } },
    { "slot=4/[core=1;net=1]", { 2, 2 } }, { "slot=1/[core=1;net=5]" },
    { "node=2/slot=1/[core=1;net=4]", { 1, 1 } },
    -- the units of the flow named first
    { "slot=1/[net=4;core=2]", { 2, 0 } }, { "slot=2/[net=4;core=1]", { 1, 1 } }, { "slot=3/[net=4;core=1]" },
    { "slot=2/[net=2;core=1]", { 2, 0 } }, { "slot=3/[net=2;core=1]", { 2, 1 } }, { "slot=1-3/[net=4;core=1]", { 1, 1 } },
    { "slot=4/[net=1;core=1]", { 2, 2 } }, { "slot=1/[net=5;core=1]" }, { "node=2/slot=1/[net=4;core=1]", { 1, 1 } },
  } do
    it("[G8] take of each node the slots that a flow can serve there: " .. row[1], function()
      local g, at = network(2, { a = 4, b = 4, top = 8 }, "top>a top>b a>n0 b>n1")
      local e = weir.engine { resources = g }
      assert.equal(row[2] ~= nil, (e:match(row[1], { mode = "feasible" })) and true or false)
      assert.equal(row[2] and "fits" or "infeasible", e:explain(row[1]).verdict)
      local a, _, code = e:match(row[1])
      if row[2] then
        assert(a, code)
        local cores = { 0, 0 }
        for _, pick in ipairs(a:vertices()) do
          for i = 1, 2 do
            if pick.vertex.type == "core" and pick.vertex:within(at["n" .. i - 1]) then cores[i] = cores[i] + 1 end
          end
        end
        assert.same(row[2], cores)
      else
        assert.equal("infeasible", code)
      end
      assert(g:check())
    end)
  end
end)

describe("power units inside of nodes", function()
  it("[G8][A3] give nothing while a job has the node as a whole", function()
    local g = weir.synthetic "cluster:1 node:2[psu:1(size=10) core:2]"
    assert(g:add_edge(g "/cluster0/node0/psu0", g "/cluster0/node1", { subsystem = "power", type = "supplies" }))
    local e <close> = weir.engine { resources = g }
    assert.equal("/cluster0/node0", assert(e:match "slot=1/node"):vertices()[1].vertex.path)
    assert.equal("busy", select(3, e:match "slot=1/node/power=2"))
    assert.equal(0, g:flow { subsystem = "power", to = g "/cluster0/node1" }.amount)
    assert(g:check())
    g:close()
  end)

  it("[G8][A3] never belong to two jobs, in random histories", function()
    for seed = 1, 60 do inside_history(seed) end
  end)

  it("[G8] that are used up are no hold on what is below them", function()
    local g = weir.synthetic "cluster:1 psu:1(size=4)[node:2]"
    local far = assert(g:add(g "/cluster0", { type = "node", id = 9 }))
    assert(g:add_edge(g "/cluster0/psu0", far, { subsystem = "power", type = "supplies" }))
    local e <close> = weir.engine { resources = g }
    assert(e:match "slot=1/node/power=4")
    assert(e:match "slot=2/node")
    assert(g:check())
    g:close()
  end)
end)

describe("explanations of flows", function()
  local function explained(e, request)
    return weir.explain.text(assert(e:explain(request)))
  end

  it("[G8] name the minimum cut, and that nothing else is short", function()
    local f = figures.unified()
    local e <close> = weir.engine { resources = f.graph, policy = "low" }
    assert(f.edge_switch[1]:allocate { job = 98, amount = 3 })
    for i = 2, 4 do assert(f.edge_switch[i]:allocate { job = 98, amount = 2 }) end
    assert.matches("Needed: 1 node with 3 units of bandwidth. edge_switch2 has 2 of 4 left; nothing else is short.",
      explained(e, "slot=1/node/bandwidth=3"), 1, true)
    assert.matches("At most 4 of 6 slots fit. PFS1 has", explained(e, "slot=6/node/bandwidth=3"), 1, true)
    f.graph:close()
  end)

  -- The source has the type that the subsystem is named by, or another. {source, held before, request, what is short}
  for _, type in ipairs { "panel", "power" } do
    for _, case in ipairs {
      { "slot=2/node/power=2", "slot=1/node/power=2", "Needed: 1 node with 2 units of power. %s0 has 1 of 5 left; nothing else is short." },
      { nil, "slot=1/node/power=6", "Needed: 1 node with 6 units of power. %s0 has 5 in all; nothing else is short." },
      { nil, "slot=3/node/power=2", "At most 2 of 3 slots fit. %s0 has 5 in all; nothing else is short." },
    } do
      it(("[G8] name the source, a %s, for %s after %s"):format(type, case[2], case[1] or "nothing"), function()
        local g <close> = weir.synthetic "cluster:1 node:4 core:8"
        local source = g:add(nil, { type = type, id = 0, size = 5, unit = "kW" })
        for _, node in ipairs(g:find "type=node") do g:add_edge(source, node, { subsystem = "power", type = "supplies" }) end
        local e <close> = weir.engine { resources = g, policy = "low" }
        if case[1] then assert(e:match(case[1])) end
        assert.matches(case[3]:format(type), explained(e, case[2]), 1, true)
      end)
    end
  end

  it("[G8] say what can never be", function()
    local f = figures.unified()
    local e <close> = weir.engine { resources = f.graph, policy = "low" }
    local text = explained(e, "slot=1/node/power=7")
    assert.matches("infeasible", text, 1, true)
    assert.matches("pdu1 has 6 in all; nothing else is short.", text, 1, true)
    f.graph:close()
  end)
end)

describe("units of several subsystems [G8][G6]", function()
  -- {request, units taken of the one unit of 5; nil: infeasible}
  for _, case in ipairs {
    { "slot=1/node/[power=3;cooling=2]", 5 }, { "slot=1/node/[power=3;cooling=3]" }, { "slot=2/node/[power=1;cooling=1]", 4 },
    { "slot=2/node/[power=1;cooling=2]" }, { "slot=1/[node/[power=1;cooling=2];ups=2]", 5 }, { "slot=1/[node/[power=1;cooling=2];ups=3]" },
  } do
    it("pass no more than they have: " .. case[1], function()
      local g = assert(weir.synthetic "cluster:1 node:2")
      local ups = assert(g:add(nil, { type = "ups", id = 0, size = 5 }))
      for _, node in ipairs(g:find "type=node") do
        for _, name in ipairs { "power", "cooling" } do assert(g:add_edge(ups, node, { subsystem = name, type = "supplies" })) end
      end
      local e = weir.engine { resources = g }
      local a, _, code = e:match(case[1])
      assert.same({ case[2], not case[2] and "infeasible" or nil }, { a and 5 - ups.free, code })
      assert(g:check())
      g:close()
    end)
  end

  it("are never given twice, and refused only where there is no way, in random networks", function()
    local limits = 0
    for seed = 1, 150 do
      local roll = dice(seed)
      local g = assert(weir.synthetic "cluster:1 node:3")
      local units, ways, nodes = {}, { power = {}, cooling = {} }, g:find "type=node"
      for i = 1, 3 do units[i] = assert(g:add(nil, { type = "unit", id = i, size = roll(4) })) end
      for name, list in pairs(ways) do
        for k, node in ipairs(nodes) do
          list[k] = {}
          for i in pairs { [roll(3)] = true, [roll(3)] = true } do
            table.insert(list[k], i)
            assert(g:add_edge(units[i], node, { subsystem = name, type = "supplies" }))
          end
        end
      end
      local count, power, cooling = roll(3), roll(2), roll(2)
      local left = {}
      for i, u in ipairs(units) do left[i] = u.size end
      -- takes the units of a node one by one, from each unit that may give them
      local function serve(k, chosen, p, c)
        if p + c == 0 then
          if chosen == count then return true end
          for next_k = k + 1, 3 do
            if serve(next_k, chosen + 1, power, cooling) then return true end
          end
          return false
        end
        for _, i in ipairs(ways[p > 0 and "power" or "cooling"][k]) do
          if left[i] > 0 then
            left[i] = left[i] - 1
            local done = serve(k, chosen, p > 0 and p - 1 or 0, p > 0 and c or c - 1)
            left[i] = left[i] + 1
            if done then return true end
          end
        end
        return false
      end
      local expected = serve(0, 0, 0, 0)
      local e = weir.engine { resources = g }
      local a, _, code = e:match(("slot=%d/node/[power=%d;cooling=%d]"):format(count, power, cooling))
      if code == "limit" then
        limits = limits + 1
      else
        assert.equal(expected, a ~= nil, seed)
      end
      assert(g:check(), seed)
      g:close()
    end
    assert.is_true(limits < 15, limits)
  end)
end)
