-- Graphs: URIs, hierarchies, edges, subsystems, several subsystems over the pools of one graph, and coarse views.
local weir = require "weir"
local cases = require "spec.support.cases"
local figures = require "spec.support.figures"

local function names(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = v.name end
  return table.concat(out, " ")
end

local function walk_names(step, ...)
  local out = {}
  for v in step, ... do out[#out + 1] = v.name end
  return table.concat(out, " ")
end

-- The picks of a job, as "path amount" texts in order.
local function taken(a)
  local out = {}
  for i, pick in ipairs(a:vertices()) do out[i] = pick.vertex.path .. " " .. pick.amount end
  table.sort(out)
  return out
end

describe("graphs", function()
  local f, g

  before_each(function()
    f = figures.unified()
    g = f.graph
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  it("[G1] a URI names a vertex in each of its hierarchies", function()
    for _, uri in ipairs { "/cluster0/node5", "containment:/cluster0/node5", "power:/panel0/pdu2/node5",
      "bandwidth:/PFS1/core_switch2/edge_switch3/node5" } do
      assert.equal(f.node[6], g:vertex(uri))
    end
  end)

  it("[G1] a vertex tells its URI in each of its hierarchies", function()
    assert.same({ "containment:/cluster0/node5", "power:/panel0/pdu2/node5",
      "bandwidth:/PFS1/core_switch2/edge_switch3/node5" },
      { f.node[6]:uri(), f.node[6]:uri "power", f.node[6]:uri "bandwidth" })
  end)

  -- {URI, part of the message, code}
  local UNKNOWN = {
    { "/cluster0/node9", "there is no 'node9' below /cluster0", "unknown" },
    { "/cluster0/node5/core0/x", "there is no 'x' below /cluster0/node5/core0", "unknown" },
    { "water:/cluster0", "there is no subsystem 'water'", "unknown" },
    { "power:/cluster0", "there is no 'cluster0' at the top; there is 'panel0'", "unknown" },
    { ("x"):rep(300) .. ":/cluster0", "there is no subsystem with so long a name", "unknown" },
    { "cluster9", "there is no vertex 'cluster9' here", "unknown" },
    { "node5/node6", "there is no vertex 'node5/node6' here", "unknown" },
    { "core:x", "there is no subsystem 'core'", "unknown" },
    { "core0", "'core0' names 8 vertices, /cluster0/node0/core0, /cluster0/node1/core0, /cluster0/node2/core0 and others: "
      .. "a path says which", "invalid" },
    { "", "is not a URI", "invalid" },
  }

  for _, case in ipairs(UNKNOWN) do
    it(("[G1] the URI %q names nothing, and it says why"):format(case[1]), function()
      local v, why, code = g:vertex(case[1])
      assert.is_nil(v)
      assert.equal(case[3], code)
      assert.matches(case[2], why, 1, true)
    end)
  end

  -- {name, URI of the vertex that alone has the name}
  for _, case in ipairs { { "node5", "/cluster0/node5" }, { "cluster0", "/cluster0" }, { "pdu2", "power:/panel0/pdu2" },
    { "node5/core0", "/cluster0/node5/core0" }, { "cluster0/core3", "/cluster0/node0/core3" } } do
    it(("[G1] the name %q will do in place of a URI"):format(case[1]), function()
      if case[1] == "cluster0/core3" then
        for i = 2, 8 do assert(g:unlink(g:vertex(("/cluster0/node%d/core3"):format(i - 1)))) end
      end
      assert.equal(g:vertex(case[2]), g:vertex(case[1]))
    end)
  end

  it("[G1] a vertex has no URI in a hierarchy that it is not in", function()
    local uri, _, code = f.pdu[1]:uri "bandwidth"
    assert.same({ code = "unknown" }, { uri = uri, code = code })
  end)

  it("[G2] parent and children in containment", function()
    assert.equal(f.cluster, f.node[3]:parent())
    assert.equal("node2", f.cluster:child(3).name)
    assert.equal(8, f.cluster:nchildren())
  end)

  it("[G2] parent and children in another hierarchy", function()
    local up, down = {}, {}
    for _, e in ipairs(f.edge_switch[2]:edges "bandwidth") do
      if e.target == f.edge_switch[2] then up[#up + 1] = e.source else down[#down + 1] = e.target end
    end
    assert.same({ "core_switch1", "node2 node3" }, { names(up), names(down) })
  end)

  it("[G3] a pool is in several subsystems at once", function()
    local seen = {}
    for _, e in ipairs(f.node[1]:edges()) do seen[e.subsystem] = true end
    assert.same({ containment = true, power = true, bandwidth = true }, seen)
  end)

  it("[G4] an edge has a direction, a type and a subsystem", function()
    local e = f.pdu[1]:edges("power")[1]
    for _, edge in ipairs(f.pdu[1]:edges "power") do
      if edge.source == f.panel then e = edge end
    end
    assert.same({ f.panel, f.pdu[1], "supplies", "power" }, { e.source, e.target, e.type, e.subsystem })
  end)

  it("[G4] an edge can go one way, or both", function()
    assert(g:add_edge(f.pdu[1], f.pdu[2], { subsystem = "link", type = "one_way" }))
    assert(g:add_edge(f.node[1], f.node[2], { subsystem = "mesh", type = "peer", back = "peer" }))
    assert.same({ nil, "peer" }, { f.pdu[1]:edges("link")[1].back, f.node[1]:edges("mesh")[1].back })
  end)

  -- n pools "sw", joined in a ring by edges of the given options.
  local function ring(n, edge)
    local sw = {}
    for i = 0, n - 1 do sw[i] = assert(g:add(nil, { type = "sw", id = i, size = 9 })) end
    for i = 0, n - 1 do assert(g:add_edge(sw[i], sw[(i + 1) % n], edge)) end
    return sw
  end

  it("[G4] [W2] an edge that goes both ways is walked from either end, its opposite type alone is no second way", function()
    assert(g:add_edge(f.node[1], f.node[2], { subsystem = "mesh", type = "peer", back = "peer" }))
    assert(g:add_edge(f.node[1], f.node[2], { subsystem = "tree", type = "feeds", back = "fed by" }))
    for _, upward in ipairs { false, true } do
      for i, expected in ipairs { "node0 node1", "node1 node0" } do
        assert.equal(expected, walk_names(g:walk { subsystem = "mesh", start = f.node[i], upward = upward }))
      end
    end
    assert.equal("node1", walk_names(g:walk { subsystem = "tree", start = f.node[2] }))
    local sw = ring(4, { subsystem = "net", type = "link", back = "link" })
    assert.equal("sw2 sw3 sw0 sw1", walk_names(g:walk { subsystem = "net", start = sw[2] }))
    assert.equal("sw2 sw3 sw1 sw0", walk_names(g:walk { subsystem = "net", start = sw[2], order = "breadth" }))
  end)

  it("[G5] an edge is accompanied by its opposite type", function()
    assert.equal("from", f.pdu[1]:edges("power")[1].back)
    local e = f.node[1]:edges("containment")[1]
    assert.same({ "contains", "in" }, { e.type, e.back })
  end)

  -- {options of an edge, the error text}
  local BAD_EDGES = {
    { { subsystem = "", type = "x" }, "an edge needs a subsystem and a type" },
    { { subsystem = "x", type = "" }, "an edge needs a subsystem and a type" },
    { { subsystem = "containment", type = "contains" }, "containment is made by adding vertices" },
  }

  for _, case in ipairs(BAD_EDGES) do
    it("[G4] no edge: " .. case[2], function()
      local ok, why, code = g:add_edge(f.node[1], f.node[2], case[1])
      assert.is_nil(ok)
      assert.equal("invalid", code)
      assert.matches(case[2], why, 1, true)
    end)
  end

  it("[G6] subsystems are listed", function()
    local list = g:subsystems()
    table.sort(list)
    assert.same({ "bandwidth", "containment", "power", "storage" }, list)
  end)

  it("[G6] a subsystem is the union of its edges and their vertices", function()
    assert.equal("panel0 pdu1 node0 node1 node2 node3 pdu2 node4 node5 node6 node7", walk_names(g:walk { subsystem = "power" }))
  end)

  it("[G6] edges can be restricted to one subsystem", function()
    for _, e in ipairs(f.node[1]:edges "power") do assert.equal("power", e.subsystem) end
    assert.equal(1, #f.node[1]:edges "power")
  end)

  it("[G6] a subsystem has roots of its own", function()
    assert.same({ "panel0", "PFS1", "PFS1" },
      { names(g:roots "power"), names(g:roots "bandwidth"), names(g:roots "storage") })
  end)

  it("[G7] a pool has at most one parent in containment", function()
    for v in g:walk {} do
      local n = 0
      for _, e in ipairs(v:edges "containment") do n = n + (e.target == v and 1 or 0) end
      assert.is_true(n <= 1)
      assert.equal(n == 1, v:parent() ~= nil)
    end
  end)

  it("[G11] a machine is composed of smaller definitions", function()
    local node = { type = "node", count = 2, { type = "core", count = 4 } }
    local made <close> = assert(weir.recipe { type = "cluster", { type = "rack", count = 3, node }, node })
    assert.equal(1 + 3 + 8 + 32, made:count())
  end)
end)

describe("channelled pools", function()
  local f, g, e

  before_each(function()
    f = figures.unified()
    g = f.graph
    e = weir.engine { resources = g, policy = "low" }
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  local function free()
    local out = {}
    for v in g:walk {} do out[v.path] = v.free end
    return out
  end

  -- Nodes with two cores, 2 kW on every power unit and 4 GB/s on every link of the way, at once.
  local function job(nodes) return ("slot=%d/node/[core=2;power=2;bandwidth=4]"):format(nodes) end

  it("[G8] an allocation at an endpoint takes from each unit on the way to the source", function()
    assert(e:match "slot=1/node/bandwidth=3")
    assert.same({ 1, 5, 13 }, { f.edge_switch[1].free, f.core_switch[1].free, f.pfs1.free })
    assert.same({ 4, 8 }, { f.edge_switch[2].free, f.core_switch[2].free })
  end)

  it("[G8] it passes over an endpoint with a full unit on its way", function()
    assert(f.edge_switch[1]:allocate { job = 99, amount = 2 })
    local a = assert(e:match "slot=1/node/bandwidth=3")
    assert.same({ "/PFS1 3", "/cluster0/node2 1", "/core_switch1 3", "/edge_switch2 3" }, taken(a))
  end)

  it("[G8] it fails as a whole when one unit on the way is full", function()
    assert(f.pfs1:allocate { job = 99, amount = 14 })
    local before = free()
    local a, _, code = e:match "slot=1/node/bandwidth=3"
    assert.same({ code = "busy" }, { a = a, code = code })
    assert.same(before, free())
  end)

  it("[G8] [A9] what is taken on the way goes with the endpoint", function()
    local a = assert(e:match "slot=2/node/bandwidth=2")
    assert.same({ 0, 4, 12 }, { f.edge_switch[1].free, f.core_switch[1].free, f.pfs1.free })
    assert(e:shrink(a.id, f.node[2]))
    assert.same({ 2, 6, 14 }, { f.edge_switch[1].free, f.core_switch[1].free, f.pfs1.free })
    assert(e:release(a.id))
    assert.same({ 4, 8, 16 }, { f.edge_switch[1].free, f.core_switch[1].free, f.pfs1.free })
  end)

  it("[G8] nothing comes through a unit that is down", function()
    f.edge_switch[1].state = "down"
    local a = assert(e:match "slot=1/node/bandwidth=3")
    assert.same({ "/PFS1 3", "/cluster0/node2 1", "/core_switch1 3", "/edge_switch2 3" }, taken(a))
    f.pfs1.state = "down"
    assert.equal("busy", select(3, e:match "slot=1/node/bandwidth=3") and "busy")
    assert.is_nil((e:match "slot=1/node/bandwidth=3"))
  end)

  it("[G8] of a count without an end the least is taken", function()
    assert(e:match "slot=1/node/bandwidth=2+")
    assert.same({ 2, 6, 14 }, { f.edge_switch[1].free, f.core_switch[1].free, f.pfs1.free })
  end)

  it("[G8] a resource that stands in containment is no channel, whatever a subsystem is called", function()
    local root = g:root()
    assert(g:add(root, { type = "bandwidth", id = 0, size = 9 }))
    local a = assert(e:match "slot=1/bandwidth=3")
    assert.same({ "/cluster0/bandwidth0 3" }, taken(a))
    assert.equal(16, f.pfs1.free)
  end)

  it("[G8] what the source never has can never be", function()
    assert.equal("infeasible", select(3, e:match "slot=5/node/bandwidth=4"))
    assert.equal("infeasible", select(3, e:match("slot=1/node/power=7", { mode = "feasible" })))
  end)

  it("[G9] containment, power and bandwidth are met at once", function()
    local a = assert(e:match(job(2)))
    assert.same({ "/PFS1 8", "/cluster0/node0 1", "/cluster0/node2 1", "/core_switch1 8", "/edge_switch1 4",
      "/edge_switch2 4", "/panel0 4", "/pdu1 4" }, taken(a))
  end)

  it("[G9] three nodes spread over what the switches and pdus can give", function()
    assert(e:match(job(3)))
    assert.same({ 0, 4, 4 }, { f.core_switch[1].free, f.core_switch[2].free, f.pfs1.free })
    assert.same({ 2, 4, 4 }, { f.pdu[1].free, f.pdu[2].free, f.panel.free })
  end)

  it("[G9] all of it or nothing: power is there, bandwidth is not", function()
    assert(e:match(job(2)))
    assert(f.core_switch[2]:allocate { job = 99, amount = 5 })
    local before = free()
    local a, _, code = e:match(job(1))
    assert.same({ code = "busy" }, { a = a, code = code })
    assert.same(before, free())
  end)

  it("[G9] all of it or nothing: bandwidth is there, power is not", function()
    assert(f.panel:allocate { job = 99, amount = 9 })
    local before = free()
    assert.is_nil((e:match(job(1))))
    assert.same(before, free())
  end)

  it("[G9] release gives all of it back", function()
    local before = free()
    local a = assert(e:match(job(3)))
    assert.not_same(before, free())
    assert(e:release(a.id))
    assert.same(before, free())
  end)

  -- A machine of nodes behind pools "sw" that `join` connects to one another and to a source.
  local function network(nodes, switches, size, join)
    local m = assert(weir.synthetic("cluster:1 node:" .. nodes))
    local source, sw = assert(m:add(nil, { type = "src", id = 0, size = size })), {}
    for i = 0, switches - 1 do sw[i] = assert(m:add(nil, { type = "sw", id = i, size = size })) end
    join(function(from, to, back) assert(m:add_edge(from, to, { subsystem = "net", type = "link", back = back })) end,
      source, sw, function(i) return m:vertex("/cluster0/node" .. i) end)
    return weir.engine { resources = m, policy = "low" }, m
  end

  it("[G8] a cycle of switches is charged once", function()
    for _, back in ipairs { false, "link" } do
      local r, m = network(4, 4, 100, function(edge, source, sw, node)
        for i = 0, 3 do
          edge(sw[i], node(i))
          edge(sw[i], sw[(i + 1) % 4], back or nil)
        end
        edge(source, sw[0])
      end)
      assert.same({ "/cluster0/node0 1", "/src0 1", "/sw0 1" }, taken(assert(r:match "slot=1/node/net=1")))
      r:close()
      m:close()
    end
  end)

  it("[G8] a full source refuses after visits in proportion to the edges, whatever the number of ways", function()
    local r, m = network(4, 34, 1000, function(edge, source, sw, node)
      local above = { source }
      for layer = 0, 16 do
        local here = { sw[2 * layer], sw[2 * layer + 1] }
        for _, from in ipairs(above) do for _, to in ipairs(here) do edge(from, to) end end
        above = here
      end
      for i = 0, 3 do for _, from in ipairs(above) do edge(from, node(i)) end end
    end)
    assert(m:find("type=src")[1]:allocate { job = 99, amount = 1000 })
    assert.equal("busy", select(3, r:match "slot=1/node/net=1"))
    assert.is_true(r:stats().visited < 200)
    r:close()
    m:close()
  end)

  it("[G8] a reservation waits for the link", function()
    assert(f.pfs1:allocate { job = 99, amount = 14, duration = 60 })
    local a = assert(e:match({ resources = { { type = "slot", count = 1, label = "s", with = { { type = "node", count = 1,
      with = { { type = "bandwidth", count = 4 } } } } } }, attributes = { system = { duration = 10 } } },
      { mode = "reserve" }))
    assert.same({ "reserved", 60 }, { a.state, a.at })
  end)
end)

-- Random jobs on all hierarchies: each job has exactly the units of links that its nodes need, never more than exist.
describe("channelled pools under load", function()
  -- The needs of a job's nodes of each distribution unit above them: path -> units.
  local function needs(f, job, node, units)
    for subsystem, n in pairs { bandwidth = job.bandwidth, power = job.power } do
      for v in f.graph:walk { subsystem = subsystem, start = node, upward = true } do
        if v ~= node and n > 0 then units[v.path] = (units[v.path] or 0) + n end
      end
    end
  end

  local function check_job(f, job, a)
    local expected, had, nodes = {}, {}, 0
    for _, pick in ipairs(a:vertices()) do
      if pick.vertex.type == "node" then
        nodes = nodes + 1
        needs(f, job, pick.vertex, expected)
      else
        had[pick.vertex.path] = (had[pick.vertex.path] or 0) + pick.amount
      end
    end
    assert.equal(job.nodes, nodes)
    assert.same(expected, had)
  end

  local function new_job(rnd)
    local job = { nodes = rnd:between(1, 3), bandwidth = rnd:between(0, 4), power = rnd:between(0, 3) }
    local with = { "core=1" }
    if job.power > 0 then with[#with + 1] = "power=" .. job.power end
    if job.bandwidth > 0 then with[#with + 1] = "bandwidth=" .. job.bandwidth end
    job.shape = ("slot=%d/node/[%s]"):format(job.nodes, table.concat(with, ";"))
    return job
  end

  it("[G8] [G9] each job has what its nodes need on every way up, and release gives it back", function()
    for seed = 1, 40 do
      local f, rnd, running = figures.unified(), cases.random(seed), {}
      local e = weir.engine { resources = f.graph, policy = rnd:pick { "low", "high" } }
      for _ = 1, 40 do
        local job = new_job(rnd)
        local a = e:match(job.shape)
        if a then
          check_job(f, job, a)
          running[#running + 1] = a.id
        end
        if #running > 0 and rnd:chance(50) then assert(e:release(table.remove(running, rnd:between(1, #running)))) end
        assert(f.graph:check())
      end
      for _, id in ipairs(running) do assert(e:release(id)) end
      for v in f.graph:walk { subsystem = "bandwidth" } do assert.equal(v.size, v.free) end
      for v in f.graph:walk { subsystem = "power" } do assert.equal(v.size, v.free) end
      f.graph:close()
    end
  end)
end)

describe("coarse views", function()
  local g, e

  before_each(function()
    g = figures.containment()
    e = weir.engine { resources = g, policy = "low" }
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  local function pools(view)
    local out = {}
    for v in view:walk {} do out[#out + 1] = ("%s=%d"):format(v.path, v.size) end
    return table.concat(out, " ")
  end

  it("[G10] nodes with pooled cores and memory", function()
    local view <close> = assert((g:coarsen { keep = { "rack", "node" } }))
    assert.matches("/cluster0/rack0/node0/core=8", pools(view), 1, true)
    assert.matches("/cluster0/rack1/node3/memory=32", pools(view), 1, true)
    assert.equal(1 + 2 + 4 + 4 * 3, view:count()) -- socket, core, memory below each node
    assert(view:check())
  end)

  it("[G10] racks with aggregated nodes", function()
    local view <close> = assert((g:coarsen { keep = { "rack" } }))
    assert.matches("/cluster0/rack0/node=2", pools(view), 1, true)
    assert.matches("/cluster0/rack1/core=16", pools(view), 1, true)
  end)

  it("[G10] single cores: everything stays", function()
    local view <close> = assert((g:coarsen { keep = { "rack", "node", "socket", "core", "memory" } }))
    assert.equal(g:count(), view:count())
  end)

  it("[G10] what jobs have is not in the view", function()
    assert(e:match "slot=1/node{-x}/core=3")
    local view <close> = assert((g:coarsen { keep = { "node" } }))
    assert.equal(5, view:vertex("/cluster0/node0/core").size)
  end)

  it("[G10] the map tells what stands for what, both ways", function()
    local view, map = g:coarsen { keep = { "node" } }
    local core = g "/cluster0/rack0/node0/socket1/core5"
    assert.equal(view "/cluster0/node0/core", map(core))
    local cores = map(view "/cluster0/node0/core")
    assert.equal(8, #cores)
    assert.equal(core, cores[6])
    assert.same({ g "/cluster0/rack0/node0" }, map(view "/cluster0/node0"))
    view:close()
  end)

  it("[G10] the map says so when the fine graph has changed", function()
    local view <close>, map = g:coarsen { keep = { "node" } }
    assert(g:unlink(g "/cluster0/rack1"))
    assert.error_matches(function() map(view:root()) end, "changed since the view was made")
  end)

  it("[G10] the map says so when one of the graphs is closed", function()
    local view, map = g:coarsen { keep = { "node" } }
    view:close()
    assert.error_matches(function() map(g:root()) end, "one of the two graphs is closed")
  end)

  -- {types kept, the request on the view, the picks on the fine graph}
  local EXPANSIONS = {
    { { "node" }, "slot=1/node{-x}/core=3", { "/cluster0/rack0/node0/socket0/core0 1", "/cluster0/rack0/node0/socket0/core1 1",
      "/cluster0/rack0/node0/socket0/core2 1" } },
    { { "node" }, "slot=1/node{-x}/memory=20", { "/cluster0/rack0/node0/socket0/memory0 16",
      "/cluster0/rack0/node0/socket1/memory1 4" } },
    { { "rack", "node" }, "slot=2/node", { "/cluster0/rack0/node0 1", "/cluster0/rack0/node1 1" } },
    { { "rack" }, "slot=1/rack{-x}/node=2", { "/cluster0/rack0/node0 1", "/cluster0/rack0/node1 1" } },
    { { "rack" }, "slot=1/rack{-x}/core=2", { "/cluster0/rack0/node0/socket0/core0 1",
      "/cluster0/rack0/node0/socket0/core1 1" } },
  }

  for _, case in ipairs(EXPANSIONS) do
    it(("[G10] %s on a view of %s is booked on the fine graph"):format(case[2], table.concat(case[1], ", ")), function()
      local view <close> = g:coarsen { keep = case[1] }
      local a = assert(weir.engine({ resources = view, policy = "low" }):match(case[2]))
      local fine = assert(view:expand(a, { job = 7 }))
      assert.same(case[3], taken(fine))
      assert.same({ 7, a.at, a.end_ }, { fine.id, fine.at, fine.end_ })
      assert(e:release(7))
    end)
  end

  it("[G10] of a node in use, the view gives the rest, and that is booked", function()
    assert(e:match "slot=1/node{-x}/core=6")
    local view <close> = g:coarsen { keep = { "node" } }
    local a = assert(weir.engine({ resources = view, policy = "low" }):match "slot=1/node")
    assert.same({ "/cluster0/rack0/node0/socket0/memory0 16", "/cluster0/rack0/node0/socket1/core6 1",
      "/cluster0/rack0/node0/socket1/core7 1", "/cluster0/rack0/node0/socket1/memory1 16" },
      taken(assert(view:expand(a, { job = 7 }))))
  end)

  it("[G10] it is booked as a whole or not at all", function()
    local view <close> = g:coarsen { keep = { "node" } }
    local a = assert(weir.engine({ resources = view, policy = "low" }):match "slot=2/node{-x}/core=6")
    assert(e:match "slot=1/node")
    assert(g("/cluster0/rack0/node1/socket0/core0"):allocate { job = 50 })
    local fine, why, code = view:expand(a, { job = 7 })
    assert.same({ code = "busy" }, { fine = fine, code = code })
    assert.matches("6 units of core are no longer free", why)
    assert.is_nil((e:job(7)))
  end)

  it("[G10] a job number that is taken is refused", function()
    assert(e:match("slot=1/core=1", { job = 7 }))
    local view <close> = g:coarsen { keep = { "node" } }
    local a = assert(weir.engine({ resources = view }):match "slot=1/node{-x}/core=1")
    assert.same({ n = 3, nil, "job 7 is there already", "exists" }, table.pack(view:expand(a, { job = 7 })))
  end)

  it("[G10] a graph that is no view expands nothing", function()
    local a = assert(e:match "slot=1/node")
    assert.error_matches(function() g:expand(a) end, "no view that g:coarsen made")
  end)

  it("refuse options that make no sense", function()
    assert.error_matches(function() g:coarsen {} end, "field 'keep': list of types expected, got nil")
    assert.error_matches(function() g:coarsen { keep = { "node", 7 } } end, "number 2 in it is a number")
    assert.error_matches(function() g:coarsen { keep = {}, drop = {} } end, "there is no option 'drop'")
  end)
end)
