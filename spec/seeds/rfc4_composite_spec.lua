-- RFC 4, composite resource pools, statement by statement: each name has the line of the text, then requirements.
local weir = require "weir"
local files = require "spec.support.shell"

local MACHINE = "cluster:1 rack:2 node:2 core:4 memory:1(size=16,unit=GB)"
local NODE = "/cluster0/rack0/node0"

-- A vertex does not keep its graph: the last machine is kept here.
local kept
local function machine()
  kept = assert(weir.synthetic(MACHINE))
  return kept
end

-- A machine with a hierarchy of power beside containment.
local function powered()
  local g = machine()
  local feed = assert(g:add(nil, { type = "feed", id = 0, size = 100, unit = "kW" }))
  for i = 0, 1 do
    local pdu = assert(g:add(nil, { type = "pdu", id = i, size = 50, unit = "kW" }))
    assert(g:add_edge(feed, pdu, { subsystem = "power", type = "supplies", back = "drawn_from" }))
    for k = 0, 1 do
      local node = g(("/cluster0/rack%d/node%d"):format(i, 2 * i + k))
      assert(g:add_edge(pdu, node, { subsystem = "power", type = "supplies" }))
    end
  end
  return g
end

local function names(list)
  local found = {}
  if type(list) == "function" then
    for v in list do found[#found + 1] = v.name end
  else
    for i, v in ipairs(list) do found[i] = v.name end
  end
  return table.concat(found, " ")
end

describe("RFC 4, composite resource pools: the model", function()
  it("[RFC4a:34][P1] any type fits, present and future", function()
    local g = weir.new()
    local v = assert(g:add(nil, { type = "quantum-Annealer ü", id = 3 }))
    assert.equal("quantum-Annealer ü3", v.name)
    assert.equal(v, g "/quantum-Annealer ü3")
    assert(weir.engine { resources = g }:match { version = 9999, resources = { { type = "slot", count = 1, label = "a",
      with = { { type = "quantum-Annealer ü", count = 1 } } } },
      tasks = { { command = { "x" }, slot = "a", count = { per_slot = 1 } } }, attributes = { system = { duration = 1 } } })
  end)

  it("[RFC4a:36][L1] one scheme of configuration: a nested table", function()
    local g = assert(weir.recipe { type = "cluster", id = 0, { type = "node", count = 3, { type = "core", count = 4 } } })
    assert.equal(12, g:aggregate().core.total)
  end)

  it("[RFC4a:36][L1] and the table holds properties, tags, states, data, and edges of all hierarchies", function()
    local g = powered()
    local v = g(NODE)
    v.properties.gen, v.tags.lent, v.state, v.data.note = "3", "ada", "degraded", { 1, { a = true } }
    g "/cluster0/rack1".data.x = "y"
    assert.same({}, g:losses "recipe")
    local again = assert(weir.parse(g:format "recipe", { format = "recipe" }))
    assert.equal(again:format "recipe", g:format "recipe")
    v = again(NODE)
    assert.same({ "3", "ada", "degraded", { 1, { a = true } } }, { v.properties.gen, v.tags.lent, v.state, v.data.note })
    assert.equal("feed0 pdu0 node0 node1 pdu1 node2 node3", names(again:walk { subsystem = "power" }))
  end)

  it("[RFC4a:37][M16] size, unit and the exclusive flag can be set; type, name and id make the pool what it is", function()
    local v = machine()(NODE .. "/memory0")
    v.size, v.unit, v.exclusive = 32, "GiB", true
    assert.same({ 32, "GiB", true }, { v.size, v.unit, v.exclusive })
    for _, field in ipairs { "type", "basename", "name", "id", "uuid" } do
      assert.has_error(function() v[field] = "x" end)
    end
  end)

  it("[RFC4a:37][M16] one interface stores, changes and discovers", function()
    local g = machine()
    local v = g(NODE)
    v.properties.gen, v.tags.lent, v.state, v.data.note = "3", true, "degraded", { 1 }
    assert.equal(v, g:find("property.gen=3 and tag=lent and data=note")[1])
  end)

  it("[RFC4a:51][G7] a pool has a type with children, and a size", function()
    local v = machine()(NODE)
    assert.equal(5, v:nchildren())
    assert.equal(16, v:child(5).size)
  end)

  it("[RFC4a:59][G2] a hierarchy is bound to a root", function()
    local g = machine()
    assert.equal("cluster0", g:root().name)
    assert.equal(1, #g:roots())
  end)

  it("[RFC4a:67][G12] a group is treated as a single instance", function()
    local a = assert(weir.engine { resources = machine() }:match "slot=1/rack")
    assert.equal(1, #a:vertices())
  end)

  it("[RFC4a:68][M12] a subset is a composite pool", function()
    local g = machine()
    local part = assert(g:extract { g(NODE) })
    assert(part:check())
    assert(weir.engine { resources = part }:match "slot=1/node/core=4")
  end)

  it("[RFC4a:69][G2] children and parents are described", function()
    local v = machine()(NODE)
    assert.equal("core0 core1 core2 core3 memory0", names(v:children()))
    assert.equal("rack0", v:parent().name)
  end)

  it("[RFC4a:70][G11] high-level resources are composed of smaller definitions", function()
    local node = { type = "node", count = 2, { type = "core", count = 4 } }
    local a, b = { type = "cluster", name = "a", node }, { type = "cluster", name = "b", node }
    local g = assert(weir.recipe { type = "center", id = 0, a, b })
    assert.equal(16, g:aggregate().core.total)
  end)

  it("[RFC4a:76][P2][P14] basic data of pools is stored", function()
    local v = machine()(NODE .. "/memory0")
    assert.same({ "memory", "memory0", 0, 16, "GB", "up" }, { v.type, v.name, v.id, v.size, v.unit, v.state })
  end)

  it("[RFC4a:77][G2] composite data is stored: parent and children", function()
    local g = machine()
    for v in g:walk {} do
      for child in v:children() do assert.equal(v, child:parent()) end
    end
  end)

  it("[RFC4a:81][G13] resource sets range from a centre to what one instance was given", function()
    local g = machine()
    local a = assert(weir.engine { resources = g }:match "slot=1/node")
    local child = assert(weir.parse(assert(a:format "rv1")))
    assert.equal(1, child:aggregate().node.total)
    assert(weir.engine { resources = child }:match "slot=4/core")
  end)

  it("[RFC4a:85][G10] several granularities: a coarse view and its map", function()
    local g = machine()
    local view, map = g:coarsen { keep = { "rack" } }
    assert.equal(2, view:aggregate().rack.total)
    assert.equal(16, view:aggregate().core.total)
    assert.equal("rack0", map(g(NODE)) and map(g "/cluster0/rack0").name)
  end)

  it("[RFC4a:85] a granularity that is no type is refused", function()
    local view, why, code = machine():coarsen { keep = { "nope" } }
    assert.is_nil(view)
    assert.truthy(why:find "nope")
    assert.equal("unknown", code)
  end)

  it("[RFC4a:89][G10] a higher instance operates at racks, an instance on its resources at nodes and cores", function()
    local high = assert(weir.engine { resources = machine(), granularity = "containment:rack" })
    local low = assert(weir.engine { resources = assert(high:match "slot=3/core"):rset() })
    assert.equal(2, low:resources():aggregate().node.total)
    assert.equal("core0 core1 core2", names((function()
      local list = {}
      for i, pick in ipairs(assert(low:match "slot=3/core"):vertices()) do list[i] = pick.vertex end
      return list
    end)()))
    assert.equal("/cluster0/rack1", assert(high:match "slot=1/core"):vertices()[1].vertex.path)
    assert.equal("busy", select(3, high:match "slot=1/core"))
  end)

  it("[RFC4a:87][G10] an instance may be configured to operate coarser", function()
    local g = machine()
    local e = assert(weir.engine { resources = g, granularity = "containment:rack" })
    local a = assert(e:match "slot=1/core")
    assert.equal("/cluster0/rack0", a:vertices()[1].vertex.path)
    g(NODE).state = "down"
    assert(e:release(a))
    a = assert(e:match "slot=1/core")
    for _, pick in ipairs(a:vertices()) do assert.not_equal(NODE, pick.vertex.path) end
    assert(g:check())
  end)
end)

describe("RFC 4, composite resource pools: pool data", function()
  it("[RFC4a:95][P1] type", function() assert.equal("node", machine()(NODE).type) end)

  it("[RFC4a:96][P2] the UUID is unique, and frozen when the pool is made", function()
    local g, seen = machine(), {}
    for v in g:walk {} do
      assert.is_nil(seen[v.uuid])
      seen[v.uuid] = v
    end
    local v = assert(g:add(g:root(), { type = "node", id = 9, name = "n-${x}", properties = { x = "1" } }))
    local core = assert(g:add(v, { type = "core", id = 0 }))
    local a, b = v.uuid, core.uuid
    v.properties.x = "2"
    assert.same({ a, b }, { v.uuid, core.uuid })
    assert(g:unlink(g(NODE)))
    assert.same({ a, b }, { v.uuid, core.uuid })
  end)

  it("[RFC4a:96][P2] independent machines have different UUIDs; one that is in use is refused; a merge changes none", function()
    local a, b = machine(), assert(weir.synthetic(MACHINE))
    local v, seen = a(NODE), {}
    for i = 1, 2 do -- WEIR_UUID makes the machines of specs equal
      local pipe <close> = assert(io.popen(("env -u WEIR_UUID %s show -r node:1 --full /node0"):format(files.bin)))
      seen[i] = pipe:read "a":match "uuid%s+(%S+)"
    end
    assert.not_equal(seen[1], seen[2])
    assert.equal("exists", select(3, a:add(a:root(), { type = "z", uuid = v.uuid })))
    local given = "01234567-89ab-4def-8123-456789abcdef"
    assert.equal(given, assert(a:add(a:root(), { type = "z", uuid = given })).uuid)
    local before = v.uuid
    assert(a:merge(b))
    assert.same({ before, v }, { a(NODE).uuid, a:find("uuid=" .. before)[1] })
    assert(a:check())
  end)

  -- Decided: equal changes of two graphs of one text are equal; another UUID of the graph makes another machine of it.
  it("[RFC4a:96][RFC4b:47][P2] is unique in one machine, of which two loads of a text are", function()
    local text = machine():format "document"
    local a, b, c = assert(weir.parse(text)), assert(weir.parse(text)), assert(weir.parse(text))
    assert(c:uuid "01234567-89ab-4def-8123-456789abcdef")
    local list = {}
    for i, g in ipairs { a, b, c } do list[i] = assert(g:add(g:root(), { type = "node", id = 9 })).uuid end
    assert.equal(list[1], list[2])
    assert.not_equal(list[1], list[3])
    assert.not_equal(a(NODE).uuid, c(NODE).uuid)
  end)

  it("[RFC4a:97][P3] basename", function() assert.equal("node", machine()(NODE).basename) end)
  it("[RFC4a:98][P4] name", function() assert.equal("node0", machine()(NODE).name) end)

  it("[RFC4a:99][P6] the id is a number, and optional", function()
    local g = machine()
    assert.equal(0, g(NODE).id)
    assert.is_nil(assert(g:add(g:root(), { type = "switch" })).id)
    assert.has_error(function() g:add(g:root(), { type = "switch", id = 1.5 }) end)
  end)

  it("[RFC4a:100][P7] properties", function()
    local v = machine()(NODE)
    v.properties.vendor, v.properties.fast = "x", true
    assert.same({ "x", true }, { v.properties.vendor, v.properties.fast })
  end)

  it("[RFC4a:101][P8] tags come and go", function()
    local v = machine()(NODE)
    v.tags.lent = "ada"
    v.tags.lent = nil
    assert.is_nil(v.tags.lent)
  end)

  it("[RFC4a:102][P9] size", function() assert.equal(16, machine()(NODE .. "/memory0").size) end)
  it("[RFC4a:103][P10] unit", function() assert.equal("GB", machine()(NODE .. "/memory0").unit) end)

  it("[RFC4a:104][P11] the six states", function()
    local v = machine()(NODE)
    for _, state in ipairs { "up", "down", "degraded", "failing", "unknown", "null" } do
      v.state = state
      assert.equal(state, v.state)
    end
    assert.has_error(function() v.state = "sleepy" end)
  end)

  it("[RFC4a:105][G1][G2] composite data", function()
    local v = machine()(NODE)
    assert.equal("containment:" .. NODE, v:uri())
  end)

  it("[RFC4a:106][G3][G4] graph data", function() assert.equal(2 + 5, #powered()(NODE):edges()) end)

  it("[RFC4a:107][A11] allocation data", function()
    local v = machine()(NODE .. "/memory0")
    assert(v:allocate { job = 5, amount = 4 })
    assert.equal(4, v:uses()[1].amount)
    assert.equal(4, v.allocated)
  end)

  it("[RFC4a:109][P3][P4] defaults: the type, basename and id, or the basename alone", function()
    local g = weir.new()
    local v = assert(g:add(nil, { type = "switch" }))
    assert.same({ "switch", "switch" }, { v.basename, v.name })
    v = assert(g:add(v, { type = "node", basename = "tiny", id = 7 }))
    assert.equal("tiny7", v.name)
  end)

  it("[RFC4a:113][P5] a name is made of any attribute and property, of ancestors too", function()
    local g = weir.new()
    local rack = assert(g:add(nil, { type = "rack", id = 4, properties = { row = "b" } }))
    local v = assert(g:add(rack, { type = "node", id = 7, size = 2, unit = "kW", rank = 3, tags = { lent = "ada" },
      properties = { frameid = "12", place = "a/b" },
      name = "${type}-${basename}-${id}-${size}-${unit}-${rank}-${frameid}-${rack.id}-${rack.name}-${rack.row}-${tags.lent}" }))
    assert.equal("node-node-7-2-kW-3-12-4-rack4-b-ada", v.name)
    assert.equal(v, g(v.path))
    v = assert(g:add(rack, { type = "node", id = 8, name = "x-${uuid}" }))
    assert.equal("x-" .. v.uuid, v.name)
  end)

  it("[RFC4a:113][P5] what is not there stays as it is written, and a slash in a value is escaped", function()
    local g = weir.new()
    local rack = assert(g:add(nil, { type = "rack", id = 4 }))
    local v = assert(g:add(rack, { type = "node", name = "n-${id}-${rank}-${nope}-${row.id}" }))
    assert.equal("n-${id}-${rank}-${nope}-${row.id}", v.name)
    v = assert(g:add(rack, { type = "node", name = "n-${y}", properties = { y = "a/b" } }))
    assert.equal("n-a%2Fb", v.name)
    assert.equal(v, g(v.path))
    assert(g:check())
  end)

  it("[RFC4a:117][P7] several properties identify a pool", function()
    local g = machine()
    g(NODE).properties.a, g(NODE).properties.b = "1", "2"
    g "/cluster0/rack0/node1".properties.a = "1"
    assert.equal("node0", names(g:find "property.a=1 and property.b=2"))
  end)
end)

describe("RFC 4, composite resource pools: composite and graph data", function()
  it("[RFC4a:122][G1] the URI, in each hierarchy, finds the vertex", function()
    local g = powered()
    for v in g:walk {} do assert.equal(v, g(v:uri())) end
    for v in g:walk { subsystem = "power" } do
      assert.equal(v, g(v:uri "power"))
      assert.equal(v, g(v:uri()))
    end
    assert.equal("power:/feed0/pdu1", g "power:/feed0/pdu1":uri())
    assert.equal("power:/feed0/pdu0/node1", g "/cluster0/rack0/node1":uri "power")
    assert.equal("unknown", select(3, g "/cluster0":uri "power"))
  end)

  it("[RFC4a:122][G1] siblings of one name are told apart", function()
    local g = weir.new()
    local top = assert(g:add(nil, { type = "cluster", id = 0 }))
    local list = {}
    for i = 1, 3 do list[i] = assert(g:add(top, { type = "node", id = 1 })) end
    assert.equal("containment:/cluster0/node1", list[1]:uri())
    assert.equal("containment:/cluster0/node1#2", list[2]:uri())
    for i = 1, 3 do assert.equal(list[i], g(list[i]:uri())) end
    assert.is_nil((g "/cluster0/node1#4"))
    local core = assert(g:add(list[3], { type = "core", id = 0 }))
    assert.equal(core, g "/cluster0/node1#3/core0")
  end)

  it("[RFC4a:123][G2] children in each hierarchy", function()
    local g = powered()
    assert.equal("node0 node1", names(g "power:/feed0/pdu0":children "power"))
    assert.equal("", names(g "power:/feed0/pdu0":children()))
    assert.has_error(function() g:root():children "nope" end)
  end)

  it("[RFC4a:124][G2] the parent in each hierarchy", function()
    local v = powered()(NODE)
    assert.same({ "rack0", "pdu0" }, { v:parent().name, v:parent "power".name })
    assert.is_nil(v:parent "power":parent())
    assert.has_error(function() v:parent "nope" end)
  end)

  it("[RFC4a:125][P2] the UUID points to the pool", function()
    local g = machine()
    local v = g(NODE)
    assert.equal(v, g:find("uuid=" .. v.uuid)[1])
  end)

  it("[RFC4a:129][G3] pools are associated across hierarchies by graphs", function()
    local g = powered()
    assert.same({ "containment", "power" }, g:subsystems())
    assert.equal("feed0 pdu0 node0 node1 pdu1 node2 node3", names(g:walk { subsystem = "power" }))
  end)

  it("[RFC4a:132][G3][G4] the links to vertices of other graphs can be read, made and removed", function()
    local g = powered()
    local pdu, v = g "power:/feed0/pdu0", g(NODE)
    local n, contained = 0, 0
    for e in g:edges "power" do n = n + (e.subsystem == "power" and 1 or 100) end
    for e in g:edges "containment" do contained = contained + (e.target:parent() == e.source and 1 or 100) end
    assert.same({ 6, 2 + 4 + 20 }, { n, contained })
    assert(g:remove_edge(pdu, v, { subsystem = "power", type = "supplies" }))
    assert.equal("unknown", select(3, g:remove_edge(pdu, v, { subsystem = "power" })))
    assert.is_nil(v:parent "power")
    assert(g:add_edge(pdu, v, { subsystem = "power", type = "supplies" }))
    assert.equal(pdu, v:parent "power")
    assert(g:check())
  end)

  it("[RFC4a:132][W1] a walk of a hierarchy in which all is on a cycle needs a start", function()
    local g = machine()
    local a, b = g(NODE), g "/cluster0/rack0/node1"
    assert(g:add_edge(a, b, { subsystem = "ring" }) and g:add_edge(b, a, { subsystem = "ring" }))
    assert.has_error(function() for _ in g:walk { subsystem = "ring" } do end end)
    assert.equal("node1 node0", names(g:walk { subsystem = "ring", start = b }))
  end)
end)

describe("RFC 4, composite resource pools: allocation data", function()
  it("[RFC4a:142][A5] all elements of an exclusive pool go to one job", function()
    local g = machine()
    local v = assert(g:add(g(NODE), { type = "fpga", id = 0, size = 8, exclusive = true }))
    assert.equal("invalid", select(3, v:allocate { job = 1, amount = 3 }))
    assert(v:allocate { job = 1 })
    assert.equal("busy", select(3, v:allocate { job = 2 }))
    local whole = assert(g:add(g "/cluster0/rack1", { type = "node", id = 9, exclusive = true }))
    local core = assert(g:add(whole, { type = "core", id = 0 }, 2))
    assert(core:allocate { job = 70 })
    assert.equal("busy", select(3, whole:child(2):allocate { job = 71 }))
    assert(whole:child(2):allocate { job = 70 })
    assert(g:check())
  end)

  it("[RFC4a:142][A5] the flag may be set later, and counts from then on", function()
    local g = machine()
    local memory = g(NODE .. "/memory0")
    memory.exclusive = true
    assert.equal("invalid", select(3, memory:allocate { job = 1, amount = 3 }))
    assert.equal(16, assert(weir.engine { resources = g }:match "node/slot=1/memory=3"):vertices()[1].amount)
  end)

  it("[RFC4a:144][A6] Staged: a temporary lock while a resource is considered for a job", function()
    local g = machine()
    local e, v = weir.engine { resources = g }, g(NODE .. "/memory0")
    local stage = assert(e:stage("node/slot=1/memory=12", { lease = 60 }))
    assert.same({ -stage.stage, 12 }, { v:uses()[1].job, v:uses()[1].amount })
    assert.same({ v, 4 }, { g:find("staged and type=memory")[1], v.free })
    assert.equal("busy", select(3, v:allocate { job = 2, amount = 5 }))
    local job = assert(e:commit(stage))
    assert.same({ job.id, 0 }, { v:uses()[1].job, #g:find "staged" })
    assert(e:stage("slot=1/rack", { lease = 5 }))
    assert.is_true(#g:find "staged" > 0)
    assert(e:advance(5))
    assert.equal(0, #g:find "staged")
    assert(e:drop(assert(e:stage "slot=1/rack")))
    assert.same({}, e:stages())
  end)

  it("[RFC4a:145][A11] the list of allocations, with sizes", function()
    local v = machine()(NODE .. "/memory0")
    assert(v:allocate { job = 1, amount = 3 } and v:allocate { job = 2, amount = 4 })
    local uses = v:uses()
    assert.same({ 1, 3, 2, 4 }, { uses[1].job, uses[1].amount, uses[2].job, uses[2].amount })
  end)

  it("[RFC4a:146][A7] the list of reservations, with sizes", function()
    local v = machine()(NODE .. "/memory0")
    assert(v:allocate { job = 1, amount = 3, start = 10, duration = 5 })
    local use = v:uses()[1]
    assert.same({ false, 10, 15, 3 }, { use.active, use.start, use["end"], use.amount })
  end)

  it("[RFC4a:147][A4][A13] the list of jobs that share a pool, without sizes", function()
    local g = machine()
    assert(g(NODE .. "/core0"):allocate { job = 1 })
    assert(g(NODE .. "/core1"):allocate { job = 2, start = 10, duration = 5 })
    assert(g "/cluster0/rack0/node1":allocate { job = 3 })
    assert.same({ 1 }, g(NODE):shared())
    assert.same({ 1, 3 }, g "/cluster0/rack0":shared())
    assert.same({}, g "/cluster0/rack0/node1":shared())
    assert.same({}, g(NODE .. "/core0"):shared())
    assert.same({}, g "/cluster0/rack1":shared())
  end)

  it("[RFC4a:149][A8] all three change over time", function()
    local g = machine()
    local v = g(NODE .. "/memory0")
    assert(v:allocate { job = 1, amount = 3, duration = 10 })
    assert(v:allocate { job = 2, amount = 16, start = 10, duration = 10 })
    assert.same({ 13, 0, 16 }, { v:available(0, 10), v:available(5, 15), v:available(20, 30) })
  end)
end)

describe("RFC 4, composite resource pools: methods", function()
  after_each(function() files.clean() end)

  it("[RFC4a:161][M1] a pool and its children can be sent and stored, and read", function()
    local g = powered()
    g(NODE).tags.lent = "ada"
    local part = assert(g:extract { g(NODE) })
    local again = assert(weir.parse((part:format "jgf")))
    assert(part:compare(again))
    assert.equal("ada", again(NODE).tags.lent)
    assert.equal(g(NODE).uuid, again(NODE).uuid)
  end)

  it("[RFC4a:161][M1] allocations and reservations go with a document; other formats tell that they are lost", function()
    local g = machine()
    assert(g(NODE):allocate { job = 1 })
    assert(g(NODE .. "/memory0"):graph()("/cluster0/rack1"):allocate { job = 2, start = 10, duration = 5 })
    local again = assert(weir.parse((g:format "document")))
    assert(g:compare(again, true))
    assert.same({ "1 job", "1 reservation" }, g:losses "jgf")
    assert.same({}, g:losses "document")
  end)

  it("[RFC4a:170][M2] Copy: the tree without what is unavailable, and all up to the root", function()
    local g = machine()
    g(NODE .. "/core1").state = "down"
    assert(g(NODE .. "/core2"):allocate { job = 1 })
    local c = assert(g:copy(g(NODE)))
    assert.equal("cluster0 rack0 node0 core0 core3 memory0", names(c:walk {}))
  end)

  it("[RFC4a:170b][M2] a copy has the edges of other subsystems, and what serves the copied pools", function()
    local g = powered()
    g("power:/feed0/pdu1"):allocate { job = 9, amount = 20 }
    local part <close> = assert(g:copy(g "/cluster0/rack1/node2"))
    assert.same({ "containment", "power" }, part:subsystems())
    local edge = part("/cluster0/rack1/node2"):edges("power")[1]
    assert.same({ "/pdu1", 30, "/feed0" }, { edge.source.path, edge.source.size, edge.source:parent("power").path })
    assert.is_nil((part:vertex "power:/feed0/pdu0"))
    g("power:/feed0").state = "down"
    local alone <close> = assert(g:copy(g "/cluster0/rack1/node2"))
    assert.is_nil((alone:vertex "power:/feed0"))
  end)

  it("[RFC4a:171][M2] a copy MAY describe the resources of a sub-job, which an engine of its own schedules", function()
    local g = machine()
    local e = assert(weir.engine { resources = g })
    assert(e:match "slot=1/[core=2;memory=5]")
    local sub = assert(weir.engine { resources = assert(g:copy(g(NODE))) })
    assert.equal("infeasible", select(3, sub:match "slot=1/core=3")) -- never, on what was given to it
    assert(sub:match "slot=1/[core=2;memory=11]")
    assert.is_nil((sub:match "slot=1/core"))
    assert.equal(2, g(NODE):below "core" - select(2, g(NODE):below "core"))
  end)

  it("[RFC4a:178][M2] pools with nothing available, and what is below them, are not copied", function()
    local g = machine()
    assert(weir.engine({ resources = g }):match "slot=1/node")
    g("/cluster0/rack1").state = "down"
    local copy = assert(g:copy(g:root()))
    assert.is_nil((copy:vertex(NODE)))
    assert.is_nil((copy:vertex "/cluster0/rack1/node2/core0"))
    assert.same({ 1, 4, 16 }, { copy:aggregate().node.total, copy:aggregate().core.total, copy:aggregate().memory.total })
    assert.equal(0, #weir.engine({ resources = copy }):jobs())
  end)

  it("[RFC4a:176][M2] what is copied has the available amount as size, and nothing allocated", function()
    local g = machine()
    assert(g(NODE .. "/memory0"):allocate { job = 1, amount = 6 })
    local memory = g:copy(g(NODE))(NODE .. "/memory0")
    assert.same({ 10, 0 }, { memory.size, memory.allocated })
  end)

  it("[RFC4a:182][M3] Duplicate changes nothing", function()
    local g = powered()
    assert(g(NODE):allocate { job = 1 })
    local d = g:dup()
    assert(g:compare(d, true))
    assert.equal(g(NODE).uuid, d(NODE).uuid)
  end)

  it("[RFC4a:186][M4] Merge: at a path that is there", function()
    local g = weir.new()
    local center = assert(g:add(nil, { type = "center", id = 0 }))
    assert(g:add(center, { type = "cluster", id = 5 }))
    local other = assert(weir.synthetic "cluster:1 node:2")
    assert(g:merge(other, "containment:/center0/cluster5"))
    assert.equal("node0 node1", names(g "/center0/cluster5":children()))
  end)

  it("[RFC4a:186][M4] Merge: at a new path", function()
    local g = machine()
    assert(g:merge(assert(weir.synthetic "rack:1 node:2"), "/cluster0/rack7"))
    assert.equal("node0 node1", names(g "/cluster0/rack7":children()))
    assert(g:merge(assert(weir.synthetic "center:1 node:2"), "containment:/other"))
    assert.equal("center", g "/other".type)
    local _, why, code = g:merge(assert(weir.synthetic "rack:1"), "/cluster0/nothing/rack7")
    assert.equal("/cluster0/nothing/rack7: there is no 'nothing' below /cluster0", why)
    assert.equal("unknown", code)
    assert(g:check())
  end)

  it("[RFC4a:190][M4] Merge: a further part of a pool adds its units", function()
    local text = "cluster:1 node:1 memory:1(size=%d,unit=GB)"
    local g, more = assert(weir.synthetic(text:format(6))), assert(weir.synthetic(text:format(4)))
    assert.equal("exists", select(3, g:merge(more)))
    assert(g:merge(more, nil, { parts = true }))
    local pool = g "/cluster0/node0/memory0"
    assert.equal(10, pool.size)
    assert.equal(10, g:aggregate(g "/cluster0").memory.total)
    assert(pool:allocate { job = 1 })
    assert.equal("busy", select(3, g:merge(more, nil, { parts = true })))
    assert.equal(10, pool.size)
    assert(g:check())
  end)

  it("[RFC4a:191][M4] Merge: grows the resources of a job", function()
    local e = assert(weir.engine { resources = machine() })
    local first, more = assert(e:match "slot=1/node"):rset():graph(), assert(e:match "slot=1/node"):rset():graph()
    assert(first:merge(more))
    assert.equal("node0 node1", names(first:find "type=node"))
    assert(weir.engine({ resources = first }):match "slot=2/node")
    assert(first:check())
  end)

  it("[RFC4a:189][M4] Merge: attached at the common ancestor", function()
    local g, other = machine(), machine()
    assert(g:unlink(g(NODE)))
    assert(g:merge(assert(other:extract { other(NODE) })))
    assert.equal(4, g:aggregate().node.total)
  end)

  it("[RFC4a:193][M5] Unlink: out of the children of the parent, and gone with the last hierarchy", function()
    local g = powered()
    local v, n = g(NODE), g:count()
    assert(g:unlink(v))
    assert.is_true(v.detached)
    assert.equal("node1", names(g "/cluster0/rack0":children()))
    assert.equal(n - 5, g:count())
    assert(g:unlink(v, "power"))
    assert.equal(n - 6, g:count())
  end)

  it("[RFC4a:193][M5] what left containment is in no match, sum or R, whatever else holds it, until it is attached", function()
    local g = powered()
    local v, uuid = g(NODE), g(NODE).uuid
    assert(g:unlink(v))
    local e = weir.engine { resources = g }
    assert.equal("infeasible", select(3, e:match("slot=4/node", { mode = "feasible" })))
    assert.same({ 3, 3 }, { g:aggregate().node.total, #g:find "type=node" })
    assert.is_nil((g:format "rv1_nosched"):find("node0", 1, true))
    assert(g:attach(v, g "/cluster0/rack0"))
    assert.equal(uuid, g(NODE).uuid)
    assert(e:match("slot=4/node", { mode = "feasible" }))
  end)

  it("[RFC4a:198][M5] Unlink: the pool MAY be collected once no hierarchy has it", function()
    local g = powered()
    local v, uuid, count = g(NODE), g(NODE).uuid, g:count()
    assert(g:unlink(v))
    assert.equal(uuid, v.uuid)
    assert(g:unlink(v, { subsystem = "power" }))
    assert.equal(0, #g:find("uuid=" .. uuid))
    assert.equal(count - 1 - 5, g:count())
    assert.has_error(function() return v.uuid end)
  end)

  it("[RFC4a:202][M6] Size can be asked for", function() assert.equal(4, machine():aggregate().node.total) end)

  it("[RFC4a:205][M7] Tag: the value is optional", function()
    local g = machine()
    g(NODE).tags.a, g(NODE).tags.b = true, "x"
    assert.equal("node0", names(g:find "tag=a and tag.b=x"))
  end)

  it("[RFC4a:209][M8] State can be set and asked for", function()
    local g = machine()
    g(NODE).state = "down"
    assert.equal("node0", names(g:find "state=down and type=node"))
  end)

  it("[RFC4a:212][M9] Aggregation: the sum of what is available, by type", function()
    local g = machine()
    assert(g(NODE .. "/memory0"):allocate { job = 1, amount = 6 })
    assert.same({ total = 64, free = 58, idle = 48 }, g:aggregate().memory)
    g(NODE).state = "down"
    assert.equal(12, g:aggregate().core.free)
  end)

  it("[RFC4a:214][M9] Aggregation: nothing of a type of which nothing is available, unless asked for", function()
    local g = machine()
    assert(g(NODE .. "/memory0"):allocate { job = 1 })
    assert.is_nil(g(NODE):aggregate().memory)
    assert.same({ total = 16, free = 0, idle = 0 }, g(NODE):aggregate { all = true }.memory)
    assert.same({ total = 16, free = 0, idle = 0 }, g:aggregate(g(NODE), { all = true }).memory)
    g(NODE).state = "down"
    assert.same({}, g(NODE):aggregate())
  end)

  it("[RFC4a:216][M9] Aggregation: children of what is not available are not available", function()
    local g = machine()
    g("/cluster0/rack1").state = "down"
    local sums = g:aggregate()
    assert.same({ 2, 8, 32 }, { sums.node.free, sums.core.free, sums.memory.free })
    assert.same({}, g:aggregate(g "/cluster0/rack1"))
    g("/cluster0/rack0").state = "down"
    assert.is_nil(g:aggregate().node)
  end)

  it("[RFC4a:221][M10] Match on tags, properties, size, type, name, basename, ids", function()
    local g = machine()
    g(NODE).tags.lent, g(NODE).properties.gen = "ada", "3"
    for _, expression in ipairs { "tag.lent=ada", "property.gen=3", "name=node0", "basename=node and id=0", "type=node and id=0" } do
      assert.equal("node0", names(g:find(expression)), expression)
    end
    assert.equal(4, #g:find "size=16")
  end)

  it("[RFC4a:225][M11] Traversal visits every vertex below", function()
    local g = machine()
    assert.equal("node0 core0 core1 core2 core3 memory0", names(g:walk { start = g(NODE) }))
  end)

  it("[RFC4a:228][M11] Traversal is pruned, and children come in a given order", function()
    local g = machine()
    local visited = {}
    local function outside(v) return v.type ~= "node" end
    for v in g:walk { reverse = true, prune = outside } do visited[#visited + 1] = v end
    assert.equal("cluster0 rack1 node3 node2 rack0 node1 node0", names(visited))
  end)

  it("[RFC4a:232][M12] Find: what matches, with children and ancestors", function()
    local found = machine():find("name=node0", { as = "graph" })
    assert.equal("cluster0 rack0 node0 core0 core1 core2 core3 memory0", names(found:walk {}))
  end)

  it("[RFC4a:240][M13] Allocated: the number that jobs have of a pool", function()
    local g = machine()
    local v = g(NODE .. "/memory0")
    assert.equal(0, v.allocated)
    assert(v:allocate { job = 1, amount = 6 } and v:allocate { job = 2, amount = 3 })
    assert(v:allocate { job = 3, amount = 7, start = 10, duration = 5 })
    assert.equal(9, v.allocated)
    assert(g "/cluster0/rack1":allocate { job = 4 })
    assert.equal(16, g "/cluster0/rack1/node3/memory0".allocated)
  end)

  it("[RFC4a:243][M13] Available: the size without what is allocated", function()
    local v = machine()(NODE .. "/memory0")
    assert(v:allocate { job = 1, amount = 6 })
    assert.same({ 10, 10, v.size - v.allocated }, { v.free, v:available(), 10 })
  end)

  it("[RFC4a:245][M13] Available: size less allocated, after any order of taking and giving back", function()
    local g = machine()
    local v, has, roll = g(NODE .. "/memory0"), {}, require "spec.support.dice"(7)
    for _ = 1, 200 do
      local job, amount = roll(4), roll(5)
      local sum = 0
      for _, n in pairs(has) do sum = sum + n end
      if roll(2) == 1 then
        local done = v:allocate { job = job, amount = amount }
        assert.equal(sum + amount <= 16, done == true)
        if done then has[job] = (has[job] or 0) + amount end
      else
        local done = v:release(job, amount)
        assert.equal((has[job] or 0) >= amount, done == true)
        if done then has[job] = has[job] > amount and has[job] - amount or nil end
      end
      sum = 0
      for _, n in pairs(has) do sum = sum + n end
      assert.same({ sum, 16 - sum, 16 - sum }, { v.allocated, v.free, v:available() })
    end
    assert(g:check())
  end)

  it("[RFC4a:247][M14] Allocate N under a name", function()
    local v = machine()(NODE .. "/memory0")
    assert(v:allocate { job = 8, amount = 4 })
    assert.equal("busy", select(3, v:allocate { job = 9, amount = 13 }))
  end)

  it("[RFC4a:247] what a job has with a vertex above is not given again, and the error names the holder", function()
    local g = machine()
    assert(g "/cluster0/rack0":allocate { job = 9 })
    local ok, why, code = g(NODE):allocate { job = 9 }
    assert.is_nil(ok)
    assert.equal("job 9 has /cluster0/rack0 as a whole, and so all that is below", why)
    assert.equal("busy", code)
  end)

  -- Decided otherwise than the text, which lets a name be anything: see doc/explanation/specifications.md, ids of jobs.
  it("[RFC4a:247][M14] the name of an allocation is a number, and a text is refused with a word", function()
    local v = machine()(NODE .. "/memory0")
    local ok, why = pcall(function() v:allocate { job = "fred", amount = 4 } end)
    assert.is_false(ok)
    assert.truthy(why:find("field 'job': integer expected, got string", 1, true))
    v.tags.fred = "8" -- what a scheduler calls its jobs is its own: a tag, or a table
    assert(v:allocate { job = 8, amount = 4 })
    assert.equal(v, v:graph():find("tag=fred and job=8")[1])
  end)

  it("[RFC4a:250][M14] the name is found", function()
    local g = machine()
    assert(g(NODE .. "/memory0"):allocate { job = 8, amount = 4 })
    assert.equal("memory0", names(g:find "job=8"))
  end)

  it("[RFC4a:251][M14] a second allocation under the name grows the first", function()
    local v = machine()(NODE .. "/memory0")
    assert(v:allocate { job = 8, amount = 4 } and v:allocate { job = 8, amount = 3 })
    assert.equal(7, v:uses()[1].amount)
  end)

  it("[RFC4a:255][M15] Free, wholly or in part, and never more than there is", function()
    local v = machine()(NODE .. "/memory0")
    assert(v:allocate { job = 8, amount = 5 } and v:release(8, 2))
    assert.equal(3, v.allocated)
    assert.equal("invalid", select(3, v:release(8, 100)))
    assert(v:release(8))
    assert.equal("unknown", select(3, v:release(8)))
  end)
end)

describe("RFC 4, composite resource pools: records", function()
  it("[RFC4a:262][A1] no unit has two jobs, and never more than the size is given", function()
    local v = machine()(NODE .. "/memory0")
    for job = 1, 5 do assert(v:allocate { job = job, amount = 3 }) end
    assert.equal("busy", select(3, v:allocate { job = 6, amount = 2 }))
    assert.equal(15, v.allocated)
  end)

  it("[RFC4a:262][A1] a unit of a switch is taken once, also where switches are on a cycle", function()
    local g = weir.synthetic "cluster:1 node:2"
    local source, ring = assert(g:add(nil, { type = "source", size = 50 })), {}
    for i = 0, 3 do ring[i] = assert(g:add(nil, { type = "sw", id = i, size = 50 })) end
    assert(g:add_edge(source, ring[0], { subsystem = "net", type = "feeds" }))
    for i = 0, 3 do assert(g:add_edge(ring[i], ring[(i + 1) % 4], { subsystem = "net", type = "feeds" })) end
    assert(g:add_edge(ring[1], g "/cluster0/node0", { subsystem = "net", type = "feeds" }))
    assert(weir.engine { resources = g }:match "slot=1/node/net=1")
    assert.same({ 1, 1, 1, 0, 0 }, { source.allocated, ring[0].allocated, ring[1].allocated, ring[2].allocated, ring[3].allocated })
    assert(g:check())
  end)

  it("[RFC4a:268][A2] all elements make the pool exclusive, and nobody shares it", function()
    local v = machine()(NODE .. "/memory0")
    assert(v:allocate { job = 1, amount = 16 })
    assert.is_true(v:uses()[1].exclusive)
    assert.same({}, v:shared())
  end)

  it("[RFC4a:272][A3] children of an exclusive pool are allocated with it", function()
    local g = machine()
    assert(g(NODE):allocate { job = 9 })
    local core = g(NODE .. "/core0")
    assert.same({ 0, 1 }, { core.free, core.allocated })
    assert.equal("busy", select(3, core:allocate { job = 10 }))
  end)

  it("[RFC4a:274][A3] and get no records of their own", function()
    local g = machine()
    assert(g(NODE):allocate { job = 9 })
    assert.same({}, g(NODE .. "/core0"):uses())
    assert.equal(6, #g:find "job=9")
  end)

  it("[RFC4a:279][A4] each parent has the job in its shared list", function()
    local g = machine()
    assert(g(NODE .. "/core0"):allocate { job = 9 })
    for _, path in ipairs { NODE, "/cluster0/rack0", "/cluster0" } do assert.same({ 9 }, g(path):shared()) end
  end)
end)
