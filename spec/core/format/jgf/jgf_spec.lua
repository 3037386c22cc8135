-- JSON Graph Format: documents that are read or refused, round trips without loss, and shorthands.
local missing = require "spec.support.missing"
local weir = require "weir"

local BIN = os.getenv "WEIR_BIN" or "build/weir"
local DATA = os.getenv "WEIR_DATA" or "../shared/data"

-- ---- documents ----------------------------------------------------------------------------------------------

-- A document of nodes {id, metadata as JSON} and edges {source, target, metadata as JSON}; `order` of the two arrays.
local function document(nodes, edges, order)
  local parts = { nodes = {}, edges = {} }
  for i, n in ipairs(nodes) do parts.nodes[i] = ('{"id":"%s","metadata":{%s}}'):format(n[1], n[2]) end
  for i, e in ipairs(edges) do
    parts.edges[i] = ('{"source":"%s","target":"%s"%s}'):format(e[1], e[2], e[3] and ',"metadata":' .. e[3] or "")
  end
  local members = {}
  for i, name in ipairs(order or { "nodes", "edges" }) do
    members[i] = ('"%s":[%s]'):format(name, table.concat(parts[name], ","))
  end
  return '{"graph":{' .. table.concat(members, ",") .. "}}"
end

local function paths(g)
  local list = {}
  for v in g:walk() do list[#list + 1] = v.path end
  return table.concat(list, " ")
end

-- ---- round trips --------------------------------------------------------------------------------------------

-- Loaded, saved, loaded again, saved again: an equal graph, and an equal text.
local function assert_round_trip(g)
  local first = assert(g:format "jgf")
  local again <close> = assert(weir.parse(first))
  assert(g:compare(again))
  local second = assert(again:format "jgf")
  local third <close> = assert(weir.parse(second))
  assert(again:compare(third))
  assert.equal(second, assert(third:format "jgf"))
  assert(again:check())
  return first, second
end

local function files_below(dir)
  local list = {}
  local pipe <close> = assert(io.popen(("find '%s' -name '*.json' 2>/dev/null | sort"):format(dir)))
  for path in pipe:lines() do list[#list + 1] = path end
  return list
end

describe("[M1] [R6] a JSON graph of Fluxion's loaded, saved and loaded", function()
  local given = files_below(DATA .. "/machines/jgf")
  for _, path in ipairs(files_below(DATA .. "/fluxion/data/resource/jgfs")) do given[#given + 1] = path end
  for _, path in ipairs(given) do
    it(path:match "[^/]+/[^/]+$" .. " is the same", function()
      local g <close> = assert(weir.load(path))
      local first, second = assert_round_trip(g)
      assert.equal(first, second)
    end)
  end
  if #given == 0 then pending("[M1] " .. missing.data "machines/jgf") end
end)

-- The statements of a document, whoever wrote it: vertices by their paths, counts of edges, and the number of
-- vertices. Paths begin at the topmost vertices, as a part of a machine may come without its ancestors. An edge of
-- containment may be written in both directions, and counts once.
local function statements(graph)
  local first, place, vertices, edges = math.huge, {}, {}, {}
  for _, node in ipairs(graph.nodes) do
    local path = node.metadata.paths.containment
    if path then first = math.min(first, #path:match "^(.*/)") end
  end
  for _, node in ipairs(graph.nodes) do
    local all = node.metadata.paths
    place[node.id] = all.containment and all.containment:sub(first) or "power:" .. all.power
    vertices[place[node.id]] = node.metadata
  end
  for _, e in ipairs(graph.edges) do
    local subsystem = type(e.metadata) == "table" and e.metadata.subsystem or "containment"
    local from, to = place[e.source], place[e.target]
    if subsystem == "containment" and #from > #to then from, to = to, from end
    edges[("%s: %s > %s"):format(subsystem, from, to)] = true
  end
  return vertices, edges, #graph.nodes
end

local function graph_of(text)
  local root = weir.json.decode(text)
  return root.graph or root.scheduling and root.scheduling.graph
end

-- Not so: `uniq_id` and `id` of a node are numbers in the document; `exclusive` is of an allocation; a rank of -1 is none.
describe("[M1] [R6] each statement of a JSON graph of Fluxion's is in what weir writes of it:", function()
  local FIELDS = { "type", "basename", "name", "id", "rank", "unit", "size", "status", "properties" }

  local function assert_kept(path, given, written)
    for _, field in ipairs(FIELDS) do
      local value = given[field]
      local silent = (field == "rank" and value == -1) or (field == "status" and value == 0)
      if field == "properties" and value then
        assert.same(value, written.properties, path)
      elseif value ~= nil and not silent and value ~= written[field] then
        error(("%s: %s was %s and is %s"):format(path, field, value, written[field]))
      end
    end
  end

  local given = files_below(DATA .. "/machines/jgf")
  for _, path in ipairs(files_below(DATA .. "/fluxion/data/resource/jgfs")) do given[#given + 1] = path end
  for _, path in ipairs(given) do
    local file <close> = assert(io.open(path))
    local graph = graph_of(file:read "a")
    if graph then
      it(path:match "[^/]+/[^/]+$", function()
        local g <close> = assert(weir.load(path))
        local vertices, edges, n = statements(graph)
        local found, found_edges, found_n = statements(graph_of(assert(g:format "jgf")))
        assert.equal(n, found_n)
        for place, metadata in pairs(vertices) do assert_kept(place, metadata, assert(found[place], place)) end
        for e in pairs(edges) do assert(found_edges[e], e) end
        for e in pairs(found_edges) do assert(edges[e], e) end
      end)
    end
  end
  if #given == 0 then pending("[M1] " .. missing.data "machines/jgf") end
end)

describe("[M1] a graph keeps in JSON", function()
  -- The fields of the vertex below besides its type, and further changes to it.
  local POOLS = {
    { "a name template", { id = 3, name = "n-${slot}", properties = { slot = "7" } } },
    { "a template whose name could be none", { id = 3, name = "n-${slot}", properties = { slot = "a/b\n" } } },
    { "no id", {} },
    { "an id of -1", { id = -1 } },
    { "an id of -77", { id = -77, name = "minus" } },
    { "the largest id", { id = math.maxinteger } },
    { "a name that would be derived", { id = 3, name = "node3" } },
    { "a name that looks derived from something else", { id = 3, name = "node4" } },
    { "a size of 0", { size = 0 } },
    { "a large size and a unit", { size = 1 << 60, unit = "B" } },
    { "a unit of two lines", { unit = "a\nb" } },
    { "a rank", { rank = 4294967295 } },
    { "the wish to be taken as a whole", { exclusive = true } },
    { "a UUID", { uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8" } },
    { "properties with odd texts", { properties = { [" "] = "", ['"\\\1\n'] = "\u{1F600}\t", tag = "</script>" } } },
    { "tags", { tags = { a = "1", b = "" } } },
    { "another basename and a name with quotes", { basename = "tux", id = 1, name = 'tux "1"\\' } },
  }

  for _, case in ipairs(POOLS) do
    it(case[1], function()
      local g <close> = weir.new()
      local top = assert(g:add(nil, { type = "cluster", id = 0 }))
      local pool, maps = { type = "node" }, { properties = {}, tags = {} }
      for k, value in pairs(case[2]) do
        if maps[k] then maps[k] = value else pool[k] = value end
      end
      local v = assert(g:add(top, pool))
      for map, entries in pairs(maps) do
        for k, value in pairs(entries) do v[map][k] = value end
      end
      assert_round_trip(g)
    end)
  end

  it("[P12] extended data", function()
    local g <close> = weir.new()
    local v = assert(g:add(nil, { type = "cluster" }))
    v.data.text, v.data.number, v.data.list = "one\n\"two\"", 2.5, { 1, { a = "b" }, false }
    assert_round_trip(g)
    local again <close> = assert(weir.parse(assert(g:format "jgf")))
    assert.same({ 1, { a = "b" }, false }, again:root().data.list)
  end)

  it("every state", function()
    local g <close> = weir.new()
    local top = assert(g:add(nil, { type = "cluster" }))
    for i, state in ipairs(weir.states) do assert(g:add(top, { type = "node", id = i })).state = state end
    assert_round_trip(g)
  end)

  it("the template that a name is made from", function()
    local g <close> = weir.new()
    assert(g:add(nil, { type = "node", name = "n-${slot}" })).properties.slot = "7"
    local again <close> = assert(weir.parse(assert(g:format "jgf")))
    again:root().properties.slot = "8"
    assert.equal("n-8", again:root().name)
  end)

  it("[G4] edges of other subsystems, with odd names, cycles and several between two vertices", function()
    local g <close> = weir.new()
    local top = assert(g:add(nil, { type = "cluster" }))
    local a, b = assert(g:add(top, { type = "node", id = 0 })), assert(g:add(top, { type = "node", id = 1 }))
    local pdu = assert(g:add(nil, { type = "pdu", id = 0 }))
    g:add_edge(pdu, a, { subsystem = "power", type = "supplies", back = "draws" })
    g:add_edge(a, b, { subsystem = 'net\n"1"', type = "to", back = "" })
    g:add_edge(b, a, { subsystem = 'net\n"1"', type = "to" })
    g:add_edge(a, b, { subsystem = 'net\n"1"', type = "in" })
    g:add_edge(a, a, { subsystem = "self", type = "self" })
    assert_round_trip(g)
  end)

  it("a part of it", function()
    local g <close> = assert(weir.synthetic "cluster:1 rack:2 node:4 core:8 gpu:2")
    local part <close> = assert(g:extract { g:vertex "/cluster0/rack0/node1", g:vertex "/cluster0/rack1" })
    assert.equal(2 + 1 + 11 + 1 + 4 * 11 - 1, part:count())
    assert_round_trip(part)
  end)

  it("what is left when vertices are gone", function()
    local g <close> = assert(weir.synthetic "cluster:1 rack:2 node:4 core:8")
    assert(g:unlink(g:vertex "/cluster0/rack0/node1"))
    assert(g:unlink(g:vertex "/cluster0/rack1/node7/core3"))
    assert_round_trip(g)
  end)

  it("[L1] [L6] in a file", function()
    local g <close> = assert(weir.synthetic "cluster:1 node:300(big,property=rack=a) core:48 memory:2(size=64,unit=GB)")
    local path = os.tmpname()
    assert(g:save(path, { format = "jgf" }))
    local again <close> = assert(weir.load(path))
    os.remove(path)
    assert(g:compare(again))
  end)
end)

-- ---- reading ------------------------------------------------------------------------------------------------

describe("[R6] JSON graphs", function()
  local NODES = { { "c", '"type":"core","id":0,"rank":3,"paths":{"containment":"/top0/n1/core0"}' },
    { "n", '"type":"node","name":"n1","rank":3,"paths":{"containment":"/top0/n1"}' },
    { "t", '"type":"cluster","basename":"top","id":0,"paths":{"containment":"/top0"}' } }
  local WANTED = "/top0 /top0/n1 /top0/n1/core0"
  local CONTAINS = '{"name":{"containment":"contains"}}'
  local EDGES = {
    { "without names", { { "t", "n" }, { "n", "c" } } },
    { "of a subsystem only", { { "t", "n", '{"subsystem":"containment"}' }, { "n", "c", "null" } } },
    { "by name", { { "n", "c", CONTAINS }, { "t", "n", CONTAINS } } },
    { "both ways without names", { { "n", "t" }, { "t", "n" }, { "c", "n" }, { "n", "c" } } },
    { "upward by name", { { "n", "t", '{"name":{"containment":"in"}}' }, { "c", "n", '{"relationship":"in"}' } } },
  }

  for _, case in ipairs(EDGES) do
    for _, order in ipairs { { "nodes", "edges" }, { "edges", "nodes" } } do
      it(("have edges %s, %s first"):format(case[1], order[1]), function()
        local g <close> = assert(weir.parse(document(NODES, case[2], order)))
        assert.equal(WANTED, paths(g))
        assert.equal(3, g:vertex("/top0/n1/core0").rank)
      end)
    end
  end

  it("say several subsystems in one edge", function()
    local g <close> = assert(weir.parse(document(NODES, { { "t", "n", '{"name":{"power":"supplies","containment":"contains"}}' },
      { "n", "c" } })))
    assert.equal(WANTED, paths(g))
    assert.same({ "containment", "power" }, g:subsystems())
  end)

  it("have keys that mean nothing here, spaces, escapes, and a mark of the byte order", function()
    local g <close> = assert(weir.parse('\u{feff} {"x":[{"graph":[1,{}]}],\r\n\t"graph" : {"label":null,"directed":true,'
      .. '"nodes":[{"metadata":{"zz":{"type":1},"t\\u0079pe":"n\\u00f6de","id" :7 },"id":"\\ud83d\\ude00","label":"l"} ] ,"edges":[ ]}} '))
    assert.equal("/nöde7", paths(g))
  end)

  it("may be longer than one piece in every part", function()
    local long = ("ü"):rep(30000)
    local text = document({ { long, ('"type":"node","id":1,"properties":{"k":"%s"},"extended":{"e":{"a":["%s"]}}'):format(long, long) } },
      {})
    local g <close> = assert(weir.parse(text))
    assert.equal(long, g:root().properties.k)
    assert.same({ a = { long } }, g:root().data.e)
  end)

  it("[R9] in an R may have ranks inside ranks: what leads to a host stays", function()
    local top = { "t", '"type":"cluster","basename":"top","id":0,"rank":0' }
    local graph = document({ top, NODES[1], NODES[2] }, { { "t", "n" }, { "n", "c" } })
    local g <close> = assert(weir.parse('{"version":1,"execution":{"R_lite":[{"rank":"1","children":{"core":"0"}}],'
      .. '"nodelist":["n1"]},"scheduling":' .. graph .. "}"))
    assert.equal(WANTED, paths(g))
    assert.equal(1, g:vertex("/top0/n1").rank)
  end)

  it("come through a pipe", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write(document(NODES, EDGES[1][2]))
    file:close()
    local pipe <close> = assert(io.popen(("cat '%s' | '%s' show -r - 2>&1"):format(path, BIN)))
    assert.matches("n1", pipe:read "a")
    os.remove(path)
  end)

  it("keep the one UUID that is given where the vertices come in no order", function()
    local uuid, nodes, edges = "6ba7b810-9dad-11d1-80b4-00c04fd430c8", {}, {}
    for i = 0, 98 do
      nodes[i + 1] = { "n" .. i, ('"type":"node","id":%d%s'):format(i, i == 5 and (',"uuid":"%s"'):format(uuid) or "") }
      edges[i + 1] = { "c", "n" .. i }
    end
    nodes[100] = { "c", '"type":"cluster","id":0' }
    local g <close> = assert(weir.parse(document(nodes, edges)))
    local found = {}
    for v in g:walk() do found[#found + 1] = v.uuid == uuid and v.path or nil end
    assert.same({ "/cluster0/node5" }, found)
  end)

  local CORE, TWO = { "a", '"type":"core"' }, { { "a", '"type":"core"' }, { "b", '"type":"node"' } }
  local BAD = {
    { document({ CORE }, { { "a", "b" } }, { "edges", "nodes" }), 'graph.edges[0].target: there is no vertex "b"' },
    { document(TWO, { { "a", "b" }, { "b", "a" } }, { "edges", "nodes" }), "graph.nodes[0]: vertex \"a\" is below itself" },
    { document(TWO, { { "a", "b", '{"name":{"containment":1}}' } }), "graph.edges[0].metadata.name: is an integer" },
    { document(TWO, { { "a", "b", '{"name":{"power":"a","power":"b"}}' } }), 'graph.edges[0].metadata.name: "power" is given twice' },
    { document({ { "a", '"type":"core","type":"node"' } }, {}), "graph.nodes[0].metadata.type: is given twice" },
    { document({ { "a", '"type":"core","tags":{"x":"1","x":"2"}' } }, {}), 'graph.nodes[0].metadata.tags: "x" is given twice' },
    { document({ { "a", '"type":"core","uuid":"x"' } }, {}), 'graph.nodes[0].metadata.uuid: "x" is not a UUID' },
    { document({ { "a", '"type":"core","rank":4294967296' } }, {}), "metadata.rank: is 4294967296, it must be from -1 to 4294967295" },
    { document({ { "a", '"type":"core","size":99999999999999999999' } }, {}), "metadata.size: is 99999999999999999999, it must be from" },
    { document({ { "a", '"type":"core","size":1.0' } }, {}), "metadata.size: is a real number, expected an integer" },
    { document({ { "a", '"type":"co/re"' } }, {}), "metadata.type: this text has a '/' in it" },
    { document({ { "a", '"type":"core","name_template":"a/${b}"' } }, {}), "metadata.name_template: this text has a '/' in it" },
    { '{"graph":{"nodes":[],"edges":[],"nodes":[]}}', "graph.nodes: is given twice" },
    { '{"graph":{"nodes":[],"edges":[]}}', "graph.nodes: expected an array of vertices" },
    { '{"graph":{"edges":{}}}', "graph.edges: expected an array of edges" },
    { '{"graph":null}', "graph: expected an object with nodes and edges" },
    { '{"graph":{"nodes":[{"id":"a","metadata":{"type":"t"}}],"edges":[]},"scheduling":{"graph":{}}}',
      "scheduling.graph: there is graph already" },
    { '{"graph":{"nodes":[{"id":"a","metadata":{"type":"t"}}],"edges":[]}', ":1:66: JSON: parse error: premature EOF" },
    { '{"graph":\n{"nodes":[,]}}', ":2:11: JSON: parse error: unallowed token" },
    { '{"graph":{"x":' .. ("["):rep(5000), "JSON: more than 4096 levels deep" },
  }

  for _, case in ipairs(BAD) do
    it(("are refused: %s"):format(case[2]), function()
      local g, why, code = weir.parse(case[1], { format = "jgf" })
      assert.is_nil(g)
      assert.truthy(why:find(case[2], 1, true), why)
      assert.truthy(({ invalid = 1, parse = 1, limit = 1 })[code])
    end)
  end

  it("may have as many properties as one likes on a vertex, each of them once", function()
    local keys = {}
    for i = 1, 20000 do keys[i] = ('"x%d":"%d"'):format(i, i) end
    local function text() return document({ { "a", '"type":"core","properties":{' .. table.concat(keys, ",") .. "}" } }, {}) end
    local v = assert(weir.parse(text())):find "type=core"[1]
    assert.same({ "1", "20000" }, { v.properties.x1, v.properties.x20000 })
    keys[20000] = keys[1]
    local g, why, code = weir.parse(text())
    assert.same({ nil, "invalid" }, { g, code })
    assert.matches('"x1" is given twice', why)
  end)

  it("are refused with a text beyond all measure, before long", function()
    local text = '{"graph":{"nodes":[{"id":"' .. ("x"):rep(20 << 20) .. '"}]}}'
    local path, start = os.tmpname(), os.clock()
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    for _, read in ipairs { function() return weir.parse(text) end, function() return weir.load(path, { format = "jgf" }) end } do
      local g, why, code = read()
      assert.is_nil(g)
      assert.equal("limit", code)
      assert.matches("a text of more than 16777216 bytes", why)
    end
    os.remove(path)
    assert.is_true(os.clock() - start < 5)
  end)

  it("keep a text of some megabytes, in a file too", function()
    local g <close> = weir.new()
    assert(g:add(nil, { type = "node" })).data.long = ("ä"):rep(1 << 22)
    local path = os.tmpname()
    assert(g:save(path, { format = "jgf" }))
    local again <close> = assert(weir.load(path))
    os.remove(path)
    assert.is_true(g:compare(again))
  end)
end)

describe("[R6] a large document", function()
  local path = os.tmpname()

  -- 60 MB, most of which weir ignores.
  setup(function()
    local f <close> = assert(io.open(path, "w"))
    f:write '{"graph":{"nodes":['
    local padding = ('{"k":["0123456789abcdef","0123456789abcdef"]},\n     '):rep(1200)
    for i = 0, 1000 do
      f:write(i > 0 and "," or "", ('{"id":"%d","metadata":{"type":"node","id":%d,"zzz":['):format(i, i), padding, "0]}}")
    end
    f:write '],"edges":[]}}'
  end)
  teardown(function() os.remove(path) end)

  it("takes memory for its graph, not for its text", function()
    local script = os.tmpname()
    local f <close> = assert(io.open(script, "w"))
    f:write [[
      local function kilobytes(key)
        for line in io.lines "/proc/self/status" do
          local n = line:match("^" .. key .. ":%s*(%d+)")
          if n then return tonumber(n) end
        end
      end
      local start = kilobytes "VmRSS"
      local g = assert(require "weir".load(arg[1]))
      print(g:count(), kilobytes "VmHWM" - start)]]
    f:close()
    local pipe <close> = assert(io.popen(("'%s' run '%s' '%s' 2>&1"):format(BIN, script, path)))
    local out = pipe:read "a"
    os.remove(script)
    local count, peak = out:match "^(%d+)%s+(%d+)"
    assert.equal("1001", count, out)
    assert.is_true(tonumber(peak) < 20000, out) -- kilobytes; the text has 60 000
  end)
end)

-- ---- shorthands ---------------------------------------------------------------------------------------------

describe("[R6] a shorthand", function()
  local g, engine

  before_each(function()
    g = assert(weir.synthetic "cluster:1 rack:2 node:2 socket:2 core:4 memory:1(size=16,unit=GB)")
    engine = assert(weir.engine { resources = g })
  end)
  after_each(function() g:close() end)

  local function picks(list)
    local words = {}
    for i, p in ipairs(list) do
      words[i] = ("%s %d%s"):format(p.vertex.path, p.amount, p.exclusive and " whole" or "")
    end
    return table.concat(words, "; ")
  end

  it("leaves out what lies below a whole, and says so", function()
    local graph = weir.json.decode(engine:match("slot=1/node"):format "jgf_shorthand")
    assert.equal("fluxion:jgf_shorthand", graph.writer)
    assert.equal(3, #graph.graph.nodes)
    assert.is_true(graph.graph.nodes[3].metadata.exclusive)
    assert.equal(2, #graph.graph.edges)
  end)

  it("that leaves nothing out is the full graph", function()
    local a = engine:match "slot=1/core"
    assert.equal(a:format "jgf", a:format "jgf_shorthand")
    assert.equal(a:format "rv1", a:format "rv1_shorthand")
  end)

  it("goes into a file as it is made, and is the same text", function()
    local large <close> = assert(weir.synthetic "rack:20 node:18 core:32")
    local a, path = assert(weir.engine { resources = large }:match "slot=350/node"), os.tmpname()
    local file = assert(io.open(path, "w"))
    for _, format in ipairs { "jgf", "rv1", "jgf_shorthand", "rv1_nosched", "rlite", "tree" } do
      file:seek "set"
      assert.is_true(a:write(file, format))
      file:flush()
      local read <close> = assert(io.open(path))
      local text = a:format(format)
      assert.is_true(read:read(#text) == text, format)
    end
    file:close()
    os.remove(path)
    assert.error_matches(function() a:write(file, "jgf") end, "the file is closed")
    assert.error_matches(function() a:write("x", "jgf") end, "FILE")
    assert.equal("invalid", select(3, a:write(io.stdout, "csv")))
    local full <close> = assert(io.open("/dev/full", "w"))
    assert.equal("io", select(3, a:write(full, "jgf")))
  end)

  it("in an R stands beside all of its cores", function()
    local R = weir.json.decode(engine:match("slot=1/node"):format "rv1_shorthand")
    assert.equal("0-7", R.execution.R_lite[1].children.core)
    assert.equal("fluxion:jgf_shorthand", R.scheduling.writer)
    assert.equal(3, #R.scheduling.graph.nodes)
  end)

  it("in an R makes a machine of its ranks, as there is no more in the graph", function()
    local small <close> = assert(weir.parse(engine:match("slot=1/node"):format "rv1_shorthand"))
    assert.equal(8, small:aggregate().core.total)
  end)

  for _, format in ipairs { "jgf", "jgf_shorthand", "rv1", "rv1_shorthand" } do
    it("is resolved as the allocation that it was, like any graph: " .. format, function()
      for _, request in ipairs { "slot=2/node", "slot=1/[core=3;memory=5]", "slot=1/rack", "node=1/slot=1/core" } do
        local a = assert(engine:match(request))
        assert.equal(picks(a:vertices()), picks(assert(g:resolve(a:format(format)))))
        assert(engine:release(a.id))
      end
    end)
  end

  it("of Fluxion, where an edge says no more than its ends, is resolved", function()
    local found = assert(g:resolve(document({
      { "0", '"type":"cluster","id":0,"rank":-1,"paths":{"containment":"/cluster0"}' },
      { "1", '"type":"rack","id":1,"rank":-1,"paths":{"containment":"/cluster0/rack1"}' },
      { "9", '"type":"node","id":3,"rank":3,"exclusive":true,"paths":{"containment":"/cluster0/rack1/node3"}' },
    }, { { "0", "1" }, { "1", "9" } })))
    assert.equal("/cluster0/rack1/node3 1 whole", picks(found))
  end)

  it("is resolved to shared use where nothing says more", function()
    assert.equal("/cluster0/rack1 0", picks(assert(g:resolve(document({
      { "0", '"type":"cluster","paths":{"containment":"/cluster0"}' },
      { "1", '"type":"rack","paths":{"containment":"/cluster0/rack1"}' } }, { { "0", "1" } })))))
  end)

  it("tells hosts of one name apart by their ranks", function()
    local same <close> = assert(weir.parse('{"version":1,"execution":{"R_lite":[{"rank":"0-2","children":{"core":"0-1"}}],'
      .. '"nodelist":["a,a,a"]}}'))
    local found = assert(same:resolve(document({
      { "0", '"type":"core","rank":2,"exclusive":true,"paths":{"containment":"/cluster0/a/core1"}' } }, {})))
    assert.equal(2, found[1].vertex.rank)
  end)

  local NODE = '"type":"node","paths":{"containment":"/cluster0/rack0/node0"}'
  local WRONG = {
    { document({ { "0", '"type":"node","paths":{"containment":"/cluster0/rack0/node7"}' } }, {}), "unknown",
      "graph.nodes[0].metadata.paths: there is no vertex /cluster0/rack0/node7" },
    { document({ { "0", NODE .. ',"rank":3' } }, {}), "unknown", "there is no vertex /cluster0/rack0/node0 of rank 3" },
    { document({ { "0", '"type":"node"' } }, {}), "invalid", "graph.nodes[0].metadata.paths: is missing" },
    { document({ { "0", '"type":"node","paths":{"containment":"/cluster0/rack0"}' } }, {}), "invalid",
      'graph.nodes[0].metadata.type: is "node", but the vertex of this path is a "rack"' },
    { document({ { "0", NODE }, { "1", NODE } }, {}), "invalid",
      "graph.nodes[1].metadata.paths: is the same vertex as graph.nodes[0]" },
    { '{"version":1,"execution":{}}', "invalid", "there is no graph in it" },
    { '{"graph":', "parse", "premature EOF" },
  }
  for _, case in ipairs(WRONG) do
    it("is not resolved: " .. case[3], function()
      local found, why, code = g:resolve(case[1], { source = "R" })
      assert.is_nil(found)
      assert.equal(case[2], code)
      assert.truthy(why:find(case[3], 1, true), why)
      assert.matches("^R:", why)
    end)
  end
end)
