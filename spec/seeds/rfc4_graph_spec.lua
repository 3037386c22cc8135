-- RFC 4, the graph model, statement by statement: [RFC4b:LINE] is the line of the text.
local weir = require "weir"
local cases = require "spec.support.cases"
local figures = require "spec.support.figures"

local function names(step, ...)
  local out = {}
  for v in step, ... do out[#out + 1] = v.name end
  return table.concat(out, " ")
end

local function listed(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = v.name end
  return table.concat(out, " ")
end

describe("RFC 4, graph model", function()
  local f, g

  before_each(function()
    f = figures.unified()
    g = f.graph
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  describe("resource pools", function()
    it("[RFC4b:18][P1] all present and future types fit the model", function()
      local v = assert(g:add(f.cluster, { type = "quantum annealer", id = 3 }))
      assert.equal("quantum annealer3", v.name)
      assert.same({ v }, g:find 'type="quantum annealer"')
    end)

    it("[RFC4b:31][P9] a pool is a quantity of resources that are alike", function()
      local v = assert(g:add(f.node[1], { type = "memory", id = 0, size = 32, unit = "GB" }))
      assert.same({ 32, 32, "GB" }, { v.size, v.free, v.unit })
      assert(v:allocate { job = 1, amount = 5 })
      assert.equal(27, v.free)
    end)

    it("[RFC4b:33][G10] a finer description has two pools of 16 instead of one of 32", function()
      local m = assert(weir.synthetic "node:1 socket:2 memory:1(size=16,unit=GB)")
      assert.equal(32, m:aggregate().memory.total)
      assert.equal(2, #m:find "type=memory")
      m:close()
    end)

    it("[RFC4b:33][G10] resources of a type are pooled together for a coarser description", function()
      local view = assert(g:coarsen { keep = { "node" } })
      assert.equal(4, view:aggregate(view:find("name=node0")[1]).core.total)
      assert.is_true(view:count() < g:count())
      view:close()
    end)

    it("[RFC4b:35][P13] a pool of size 1 takes the calls of any pool", function()
      local core = g "/cluster0/node0/core0"
      assert.same({ 1, 1 }, { core.size, core.free })
      assert(core:allocate { job = 1, amount = 1 })
      assert.same({ 0, 1 }, { core.free, #core:uses() })
    end)
  end)

  describe("edges", function()
    it("[RFC4b:37][G3] a graph is vertices and edges", function()
      local n = { vertices = 0, edges = 0 }
      for _ in g:walk {} do n.vertices = n.vertices + 1 end
      for e in g:edges() do n.edges = n.edges + (e.subsystem == "power" and 1 or 0) end
      assert.same({ vertices = 1 + 8 * 6, edges = 2 + 8 }, n)
    end)

    it("[RFC4b:39][G4] an edge is directional or bidirectional", function()
      assert(g:add_edge(f.node[1], f.node[2], { subsystem = "mesh", type = "peer", back = "peer" }))
      assert(g:add_edge(f.node[3], f.node[4], { subsystem = "mesh", type = "peer" }))
      assert.equal("node1 node0", names(g:walk { subsystem = "mesh", start = f.node[2] }))
      assert.equal("node3", names(g:walk { subsystem = "mesh", start = f.node[4] }))
    end)

    it("[RFC4b:39][G4] an edge has a type and a subsystem name", function()
      local e = f.pdu[1]:edges("power")[1]
      assert.same({ "power", "supplies" }, { e.subsystem, e.type })
    end)

    it("[RFC4b:39][G6] the edges of a name and their vertices are a subsystem", function()
      assert.equal("panel0 pdu1 node0 node1 node2 node3 pdu2 node4 node5 node6 node7", names(g:walk { subsystem = "power" }))
    end)

    it("[RFC4b:81][G4] direction and type give the meaning, the name tells the subsystem", function()
      for _, e in ipairs(f.edge_switch[1]:edges "bandwidth") do
        assert.same({ "bandwidth", "conduit_of" }, { e.subsystem, e.type })
      end
    end)

    it("[RFC4b:87][G5] a CONTAINS edge is a has-a relationship", function()
      assert.equal(f.cluster, f.node[1]:parent())
      assert.equal("contains", f.node[1]:edges("containment")[1].type)
    end)

    it("[RFC4b:93][G4] a CONDUIT_OF edge is a directional flow", function()
      assert.equal("PFS1 core_switch1 edge_switch1 node0 node1 edge_switch2 node2 node3 core_switch2 edge_switch3 node4 node5 "
        .. "edge_switch4 node6 node7", names(g:walk { subsystem = "bandwidth" }))
      assert.equal("node0", names(g:walk { subsystem = "bandwidth", start = f.node[1] }))
    end)

    it("[RFC4b:93][G4] two opposite edges are a bidirectional relationship, as is one edge with two arrows", function()
      assert(g:add_edge(f.node[1], f.node[2], { subsystem = "two", type = "link" }))
      assert(g:add_edge(f.node[2], f.node[1], { subsystem = "two", type = "link" }))
      assert(g:add_edge(f.node[1], f.node[2], { subsystem = "one", type = "link", back = "link" }))
      for _, s in ipairs { "one", "two" } do
        for i, expected in ipairs { "node0 node1", "node1 node0" } do
          assert.equal(expected, names(g:walk { subsystem = s, start = f.node[i] }))
          assert.equal(expected, names(g:walk { subsystem = s, start = f.node[i], upward = true }))
        end
      end
    end)

    it("[RFC4b:99][G5] the opposite type accompanies a relationship", function()
      local e = f.pdu[1]:edges("power")[1]
      assert.equal("from", e.back)
      assert.equal("in", f.node[1]:edges("containment")[1].back)
    end)

    -- A cluster with a rack, joined by edges {source, target, subsystem, relationship}.
    local function document(edges, more)
      local texts = {}
      for i, e in ipairs(edges) do
        texts[i] = ('{"source":"%s","target":"%s"%s,"metadata":{"subsystem":"%s","relationship":"%s"}}'):format(e[1], e[2],
          e[5] or "", e[3], e[4])
      end
      return assert(weir.parse(([[{"graph":{%s"nodes":[
        {"id":"0","metadata":{"type":"cluster","basename":"c","name":"c0","id":0,"size":1}},
        {"id":"1","metadata":{"type":"rack","basename":"rack","name":"Rack1","id":1,"size":1}}],"edges":[%s]}}]]):format(
        more or "", table.concat(texts, ","))))
    end

    for _, words in ipairs { { "CONTAINS", "IN" }, { "has-a", "part-of" }, { "contains", "in" } } do
      it(("[RFC4b:99][G5] %s is accompanied by %s, and the words come back"):format(words[1], words[2]), function()
        for _, way in ipairs { 1, 2 } do
          local edges = { { "0", "1", "containment", words[1] }, { "1", "0", "containment", words[2] } }
          local m = document(edges)
          for _ = 1, way do
            local again = assert(weir.parse(assert(m:format "jgf")))
            m:close()
            m = again
          end
          local e = m("/c0/Rack1"):edges("containment")[1]
          assert.same({ "c0", words[1], words[2] }, { e.source.name, e.type, e.back })
          m:close()
        end
      end)
    end

    it("[RFC4b:87][G5] the word of a has-a relationship comes back", function()
      local m = document { { "0", "1", "containment", "has-a" } }
      assert.matches('"relationship":"has-a"', assert(m:format "jgf"), 1, true)
      assert.equal("has-a", assert(m:dup())("/c0"):edges()[1].type)
      m:close()
    end)

    it("[RFC4b:101][G5] CONTAINS and IN of a physical hierarchy are one edge with its opposite type", function()
      for _, edges in ipairs {
        { { "0", "1", "physical hierarchy", "CONTAINS" }, { "1", "0", "physical hierarchy", "IN" } },
        { { "1", "0", "physical hierarchy", "IN" }, { "0", "1", "physical hierarchy", "CONTAINS" } },
      } do
        local m = document(edges)
        local e = m:roots("physical hierarchy")[1]:edges("physical hierarchy")[1]
        assert.same({ "c0", "CONTAINS", "IN" }, { e.source.name, e.type, e.back })
        assert.equal("Rack1", m("physical hierarchy:/c0/Rack1").name)
        m:close()
      end
    end)

    it("[RFC4b:39][G4] a JSON graph says which edges have no direction", function()
      for _, m in ipairs { document({ { "0", "1", "net", "link" } }, '"directed":false,'),
        document { { "0", "1", "net", "link", ',"directed":false' } } } do
        local rack = m:find("type=rack")[1]
        assert.equal("Rack1 c0", names(m:walk { subsystem = "net", start = rack }))
        m:close()
      end
    end)

    it("[RFC4b:101][G6] a subsystem has any name", function()
      assert(g:add_edge(f.pfs1, f.node[1], { subsystem = "PFS1 I/O bandwidth hierarchy", type = "CONDUIT_OF" }))
      assert.equal("PFS1 node0", names(g:walk { subsystem = "PFS1 I/O bandwidth hierarchy" }))
      assert.equal("PFS1", listed(g:roots "PFS1 I/O bandwidth hierarchy"))
    end)
  end)

  describe("pool data", function()
    it("[RFC4b:43][P1] base data have type, UUID, basename, name, id, properties, size and unit", function()
      local v = assert(g:add(f.cluster, { type = "disk", id = 7, size = 9, unit = "TB", properties = { ssd = "", rpm = "0" } }))
      assert.same({ "disk", "disk", "disk7", 7, 9, "TB", "0" },
        { v.type, v.basename, v.name, v.id, v.size, v.unit, v.properties.rpm })
      assert.equal(36, #v.uuid)
    end)

    it("[RFC4b:47][P2] the UUID is unique", function()
      local seen = {}
      for v in g:walk {} do
        assert.is_nil(seen[v.uuid])
        seen[v.uuid] = true
      end
    end)

    it("[RFC4b:53][RFC4b:59][P6][P10] id and units are OPTIONAL, and stay so in what is written", function()
      local v = assert(g:add(f.cluster, { type = "license", size = 3 }))
      assert.same({ "license", "", 3 }, { v.name, v.unit, v.size })
      assert.is_nil(v.id)
      for _, format in ipairs { "jgf", "document", "rv1" } do
        local again = assert(weir.parse(assert(g:format(format))))
        local w = again:find "type=license"[1]
        assert.same({ "license", "", 3 }, { w.name, w.unit, w.size }, format)
        assert.is_nil(w.id, format)
      end
    end)

    it("[RFC4b:69][P12] of the extended data each part MAY be absent", function()
      local v = assert(g:add(f.cluster, { type = "license" }))
      assert.is_nil(v.tags.x)
      assert.same({ "up", 0, {} }, { v.state, #v:uses(), v:jobs() })
      assert.is_nil(v.data.x)
    end)

    it("[RFC4b:61][P3][P4] basename defaults to the type, name to basename and id", function()
      local with = assert(g:add(f.cluster, { type = "gpu", id = 2 }))
      local without = assert(g:add(f.cluster, { type = "license" }))
      local based = assert(g:add(f.cluster, { type = "gpu", basename = "accel", id = 3 }))
      assert.same({ "gpu2", "license", "accel3" }, { with.name, without.name, based.name })
    end)

    it("[RFC4b:63][P5] a name is made of attributes and properties", function()
      local v = assert(g:add(f.cluster,
        { type = "node", id = 9, name = "node-${frameid}-${rack}", properties = { frameid = "4", rack = "12" } }))
      assert.equal("node-4-12", v.name)
    end)

    it("[RFC4b:65][P7] several properties identify a pool", function()
      local v = assert(g:add(f.cluster, { type = "node", id = 10, properties = { fast = "", vendor = "x", rack = "4" } }))
      assert.same({ v }, g:find "property=fast and property.vendor=x and property.rack=4")
    end)

    it("[RFC4b:67][P12] extended data are stored and updated by the user", function()
      f.node[1].data.plan = { next = { 1, 2 } }
      assert.same({ 1, 2 }, f.node[1].data.plan.next)
      f.node[1].data.plan = { next = { 3 } }
      assert.same({ 3 }, f.node[1].data.plan.next)
    end)

    it("[RFC4b:71][P8] tags are a dynamic list", function()
      f.node[1].tags.burst, f.node[1].tags.owner = true, "ada"
      assert.equal("ada", f.node[1].tags.owner)
      f.node[1].tags.owner = nil
      assert.is_nil(f.node[1].tags.owner)
    end)

    it("[RFC4b:73][P11] a state is up, down, degraded, failing, unknown or null", function()
      for _, state in ipairs { "up", "down", "degraded", "failing", "unknown", "null" } do
        f.node[1].state = state
        assert.equal(state, f.node[1].state)
      end
    end)

    it("[RFC4b:75][A7] allocations and reservations are kept with the pool", function()
      assert(f.pfs1:allocate { job = 1, amount = 3, duration = 10 })
      assert(f.pfs1:allocate { job = 2, amount = 4, start = 20, duration = 10 })
      assert.equal(2, #f.pfs1:uses())
    end)

    it("[RFC4b:79][P14] a vertex refers to pool data: vertices that are alike cost few bytes each", function()
      local m = assert(weir.synthetic "cluster:1 node:1000 core:64")
      assert.is_true(m:bytes() / m:count() < 100)
      m:close()
    end)
  end)

  describe("common patterns", function()
    it("[RFC4b:105][G14] resource sets range from all resources to a small subset", function()
      local part = assert(g:extract { f.node[1] })
      assert.equal(4, part:aggregate().core.total)
      assert(weir.engine({ resources = part }):match "slot=1/core=2")
      part:close()
    end)

    it("[RFC4b:105][G10] a coarser granularity: nodes with their cores aggregated", function()
      local view = assert(g:coarsen { keep = { "node" } })
      assert.is_true(view:count() < g:count())
      assert.equal(32, view:aggregate().core.total)
      view:close()
    end)

    it("[RFC4b:111][G7] a composite pool has children and at most one parent", function()
      for v in g:walk {} do
        for child in v:children() do assert.equal(v, child:parent()) end
      end
    end)

    it("[RFC4b:113][G2] a hierarchy is bound to a root", function()
      assert.equal("cluster0", g:root().name)
    end)

    it("[RFC4b:123][M10] a group of resources is treated as an instance", function()
      local a = assert(weir.engine({ resources = g }):match "slot=1/node")
      assert.equal(1, #a:vertices())
    end)

    it("[RFC4b:125][M12] a subset is a composite pool", function()
      local part = assert(g:extract { f.node[1], f.node[2] })
      assert(part:check())
      assert.equal("cluster0", part:root().name)
      part:close()
    end)

    it("[RFC4b:127][G2] a composite describes a has-a relationship", function()
      assert.equal("core0 core1 core2 core3 disk0", names(f.node[1]:children()))
    end)

    it("[RFC4b:129][G11] high level resources are made piece by piece", function()
      local node = { type = "node", count = 2, { type = "core", count = 4 } }
      local m = assert(weir.recipe { type = "cluster", { type = "rack", count = 2, node } })
      assert.equal(16, m:aggregate().core.total)
      m:close()
    end)
  end)

  describe("channelled pools", function()
    it("[RFC4b:133][G8] data and power flow through distribution units", function()
      assert.equal(16, g:flow({ subsystem = "bandwidth", to = f.node }).amount)
      assert.equal(10, g:flow({ subsystem = "power", to = f.node }).amount)
    end)

    it("[RFC4b:133][G8] two pools are related as distribution capacities of a flow", function()
      assert.equal(4, g:flow({ subsystem = "bandwidth", to = f.node[1] }).amount)
      assert.equal(4, g:flow({ subsystem = "bandwidth", to = { f.node[1], f.node[2] } }).amount)
    end)

    it("[RFC4b:139][G8] a pool has the capacity of its unit, an edge the direction", function()
      f.core_switch[1].state = "down"
      assert.equal(0, g:flow({ subsystem = "bandwidth", to = f.node[1] }).amount)
      assert.equal(4, g:flow({ subsystem = "bandwidth", to = f.node[8] }).amount)
    end)

    it("[RFC4b:141][G8] a job has the capacity on all distribution units along the path", function()
      assert(weir.engine({ resources = g, policy = "low" }):match "slot=1/node/bandwidth=3")
      assert.same({ 1, 5, 13 }, { f.edge_switch[1].free, f.core_switch[1].free, f.pfs1.free })
    end)

    it("[RFC4b:145][G9] different patterns are combined", function()
      local e = weir.engine { resources = g, policy = "low" }
      assert(e:match "slot=3/node/[core=2;power=2;bandwidth=4]")
      assert.same({ 4, 4 }, { f.pfs1.free, f.panel.free })
    end)
  end)

  describe("interfaces", function()
    it("[RFC4b:162][M6] base and extended data are queried, with the size", function()
      assert.same({ 16, "GB/s", "up" }, { f.pfs1.size, f.pfs1.unit, f.pfs1.state })
    end)

    it("[RFC4b:165][M7][M8] tag and state are set by methods, certain other data too", function()
      f.node[1].tags.maintenance = "monday"
      f.node[1].state = "down"
      f.node[1].properties.fast = "yes"
      f.node[1].rank = 77
      assert.same({ "monday", "down", "yes", 77 },
        { f.node[1].tags.maintenance, f.node[1].state, f.node[1].properties.fast, f.node[1].rank })
    end)

    it("[RFC4b:169][W9] a filter matches on base and extended data", function()
      f.node[2].tags.hot, f.node[2].data.load = true, 3
      local found = g:walk { type = "node", evaluate = function(v)
        return v.tags.hot and v.data.load == 3 and v.size == 1 and v.basename == "node" and v.id or nil
      end }
      assert.same({ 1, f.node[2] }, { #found, found[1].vertex })
    end)

    it("[RFC4b:175][W1] a walker takes a start and a subsystem", function()
      assert.equal("pdu2 node4 node5 node6 node7", names(g:walk { subsystem = "power", start = f.pdu[2] }))
    end)

    it("[RFC4b:175][W2] preorder and postorder", function()
      assert.equal("pdu2 node4 node5 node6 node7", names(g:walk { subsystem = "power", start = f.pdu[2], order = "pre" }))
      assert.equal("node4 node5 node6 node7 pdu2", names(g:walk { subsystem = "power", start = f.pdu[2], order = "post" }))
    end)

    it("[RFC4b:175][W7] filters are called on each visit, several of them", function()
      local seen = {}
      local function note(name, result) return function(v) seen[#seen + 1] = name .. v.name return result end end
      g:walk { subsystem = "power", start = f.pdu[2], type = "pdu", prune = { note("a ", true), note("b ", true) },
        evaluate = note("c ", 1) }
      assert.is_true(#seen >= 3)
      assert.same({ "a pdu2", "b pdu2" }, { seen[1], seen[2] })
    end)

    it("[RFC4b:179][W3] a pruning filter stops or continues the walk below a vertex", function()
      assert.equal("panel0 pdu1 pdu2 node4 node5 node6 node7",
        names(g:walk { subsystem = "power", prune = function(v) return v.name ~= "pdu1" end }))
    end)

    it("[RFC4b:183][W4] an evaluating filter scores vertices into an accumulator, in descending order", function()
      local best = g:walk { type = "node", best = 3, evaluate = function(v) return v.id % 4 end }
      assert.same({ "node3", "node7", "node2" }, { best[1].vertex.name, best[2].vertex.name, best[3].vertex.name })
    end)

    it("[RFC4b:183][W6] an evaluating filter walks another subsystem, with other filters", function()
      f.edge_switch[1]:allocate { job = 5, amount = 3 }
      local best = g:walk { type = "node", best = 1, evaluate = function(v)
        local units = g:walk { subsystem = "bandwidth", start = v, upward = true,
          evaluate = function(u) return u.type == "edge_switch" and u.free or nil end }
        return -units[1].score
      end }
      assert.equal("node0", best[1].vertex.name)
    end)

    it("[RFC4b:186][W5] the accumulator keeps vertices in the order of scores", function()
      local rnd, last = cases.random(4), math.huge
      for _, entry in ipairs(g:walk { evaluate = function() return rnd:between(0, 1000) end }) do
        assert.is_true(entry.score <= last)
        last = entry.score
      end
    end)

    it("[RFC4b:186][W5] a filter pushes other vertices than its own into an accumulator, which keeps the best", function()
      local best = g:accumulator(3)
      for node in g:walk { type = "node" } do
        g:walk { start = node, evaluate = function(v) if v.type == "core" then best:add(v, -node.id - v.id / 10) end end }
      end
      local kept = {}
      for i, entry in ipairs(best:list()) do kept[i] = ("%s %g"):format(entry.vertex.path, entry.score) end
      assert.same({ "/cluster0/node0/core0 0", "/cluster0/node0/core1 -0.1", "/cluster0/node0/core2 -0.2" }, kept)
      assert.same({ 3, g "/cluster0/node0/core1", -0.1 }, { #best, best:get(2) })
      assert.is_nil((best:get(4)))
    end)

    it("[RFC4b:186][W5] equal scores keep the order of addition, and what is no score is refused", function()
      local all = g:accumulator()
      for i = 1, 4 do all:add(f.node[i], i % 2) end
      local order = {}
      for i = 1, #all do order[i] = all:get(i).id end
      assert.same({ 0, 2, 1, 3 }, order)
      assert.has_error(function() all:add(f.node[1], 0 / 0) end)
      assert.has_error(function() all:add(f.node[1]) end)
      assert.has_error(function() g:accumulator(0) end)
      assert(g:add(f.cluster, { type = "node", id = 99 }))
      assert.has_error(function() all:get(1) end, "the graph of the accumulator changed: vertices or edges were added or removed")
    end)

    it("[RFC4b:189][M1] a subset is written with its pool data, and read", function()
      f.node[1].tags.x, f.node[1].data.y, f.node[1].state = "1", { 2 }, "failing"
      local part = assert(g:extract { f.node[1] })
      local again = assert(weir.parse(assert(part:format "jgf")))
      local v = again:find("name=node0")[1]
      assert.same({ "1", 2, "failing" }, { v.tags.x, v.data.y[1], v.state })
      part:close()
      again:close()
    end)

    it("[RFC4b:33][G10] a resource is promoted out of its pool to a pool of its own", function()
      local pool = assert(g:add(f.node[1], { type = "memory", id = 0, size = 32, unit = "GB", tags = { bank = "a" } }))
      assert(pool:allocate { job = 7, amount = 20 })
      local uuid, part = pool.uuid, assert(g:split(pool, 12))
      assert.same({ 20, 12, 0, 12 }, { pool.size, part.size, pool.free, part.free })
      assert.same({ "memory1", "GB", "a", uuid }, { part.name, part.unit, part.tags.bank, pool.uuid })
      assert.equal("busy", select(3, g:split(pool, 1)))
      part.tags.fast = "1"
      local e = weir.engine { resources = g }
      assert.equal(part, assert(e:match "slot=1/memory=5"):vertices()[1].vertex)
    end)

    it("[RFC4b:33][G10] pools are pooled together again", function()
      local pool = assert(g:add(f.node[1], { type = "memory", id = 0, size = 32, unit = "GB" }))
      local parts = assert(g:refine(pool, 4))
      assert.equal(8, parts[4].size)
      for i = 2, 4 do assert(g:join(pool, parts[i])) end
      assert.equal(32, pool.size)
      assert.equal("invalid", select(3, g:refine(pool, 5)))
    end)

    it("[RFC4b:33][G10] a pool that a job has as a whole is not split", function()
      local pool = assert(g:add(f.node[1], { type = "memory", id = 0, size = 32, unit = "GB" }))
      assert(pool:allocate { job = 7 })
      local _, why, code = g:split(pool, 1)
      assert.matches("a job has .* as a whole", why)
      assert.equal("busy", code)
    end)
    it("[RFC4b:101][G6] a hierarchy of another name is matched and looked up as containment is", function()
      local view = assert(g:hierarchy "power")
      local top = view:root()
      assert.equal("power", view:subsystems()[1])
      assert.equal(top, view:vertex(top.path))
      local e = weir.engine { resources = g }
      assert(e:match("slot=1/node", { subsystem = "power" }))
      view:close()
    end)

    it("[RFC4b:105][G10] an instance is configured to a granularity, of any hierarchy", function()
      local e = assert(weir.engine { resources = g, granularity = "containment:node" })
      local a = assert(e:match "slot=1/core")
      assert.equal("node", a:vertices()[1].vertex.type)
      assert.is_true(a:vertices()[1].exclusive)
    end)

    -- What flows to each node of a machine, by subsystem.
    local function flows(m)
      local found = {}
      for _, node in ipairs(m:find "type=node") do
        for _, s in ipairs { "bandwidth", "power" } do
          found[#found + 1] = ("%s %s %d"):format(node.name, s, m:flow({ subsystem = s, to = node }).amount)
        end
      end
      table.sort(found)
      return table.concat(found, ", ")
    end

    for _, format in ipairs { "rv1", "jgf" } do
      it(("[RFC4b:141][G8] %s of a job has its flows: a child has the capacity of the job on the way, no more"):format(format), function()
        local request = "slot=3/node/[core=2;power=%d;bandwidth=4]"
        local a = assert(weir.engine({ resources = g, policy = "low" }):match(request:format(2)))
        local child <close> = assert(weir.parse(assert(a:format(format))))
        assert.same({ 12, 6 }, { child "bandwidth:/PFS1".size, child "power:/panel0".size })
        assert.equal("node0 bandwidth 4, node0 power 4, node2 bandwidth 4, node2 power 4, node4 bandwidth 4, node4 power 2", flows(child))
        local e = weir.engine { resources = child }
        assert.equal("infeasible", select(3, e:match(request:format(3))))
        assert(e:match(request:format(2)))
      end)
    end

    it("[RFC4b:141][G8] another scheduler that finds the job again gives the way back with a node, too", function()
      local scheduler_client = require "weir.acquire.scheduler_client"
      local function client(m)
        local c, all = scheduler_client.new { groups = { "default" }, policy = "low", style = "keyed", send = function() end }, m:rset {
          scheduling = true }
        c:start()
        assert(c:receive("default", { resources = all:table "rv1", up = tostring(all:ranks()) }))
        return c, c.engine:resources()
      end
      local a = assert(client(g):match("slot=3/node/[core=2;power=2;bandwidth=4]", {}))
      local later, m = client(figures.unified().graph)
      assert(later:hello { { id = a.id, R = a:format "rv1" } })
      assert.same({ 12, 6 }, { m "bandwidth:/PFS1".allocated, m "power:/panel0".allocated })
      assert(later.engine:shrink(a.id, m "/cluster0/node0"))
      assert.same({ 8, 4 }, { m "bandwidth:/PFS1".allocated, m "power:/panel0".allocated })
      assert.equal("exists", select(3, m:resolve_flows(a.id, a:format "rv1")))
      assert.equal("unknown", select(3, m:resolve_flows(99, a:format "rv1")))
      assert(m:check())
    end)

    it("[RFC4b:141][G8] parts of the R of a job have what flows to them, and add up to the whole", function()
      local a = assert(weir.engine({ resources = g, policy = "low" }):match "slot=3/node/[core=2;power=2;bandwidth=4]")
      local all = a:rset()
      local first, rest = all:on_ranks "0", all:on_ranks "2,4"
      assert.equal("node0 bandwidth 4, node0 power 2", flows(first:graph()))
      assert.equal("node2 bandwidth 4, node2 power 2, node4 bandwidth 4, node4 power 2", flows(rest:graph()))
      assert.equal(flows(all:graph()), flows((first | rest):graph()))
      assert.equal(flows(rest:graph()), flows((all - first):graph()))
    end)

    it("[RFC4b:175][W8] the standalone service offers the calls on resources", function()
      local methods = require("weir.serve.service").methods
      for _, name in ipairs { "find", "show", "walk", "state", "tag", "set", "data", "edges", "edge.add", "edge.remove", "copy", "save",
        "merge", "unlink", "match", "release", "grow", "shrink", "resource.add", "resource.remove" } do
        assert.is_function(methods[name], name)
      end
    end)
  end)
end)
