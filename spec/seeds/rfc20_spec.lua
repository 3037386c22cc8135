-- RFC 20, resource set specification version 1, statement by statement, by line of the text. The strict rules are those of
-- weir.check_R, which spec/core/rset/check_spec.lua breaks one by one.
local core = require "weir.core"
local flux = require "spec.support.flux"
local scheduler_client = require "weir.acquire.scheduler_client"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:2 core:4 gpu:1"

local function machine()
  local g = weir.synthetic(MACHINE)
  for v in g:walk { type = "node" } do v.properties.fast = "yes" end
  return g
end

-- The R of a job on a machine, as a set.
local function job(request, opts)
  local e = assert(weir.engine { resources = machine() })
  return assert(e:match(request or "slot=2/node", opts or { duration = 10 })):rset(), e
end

local function document()
  return {
    version = 1,
    execution = {
      R_lite = { { rank = "19-20", children = { core = "0-3", gpu = "0" } }, { rank = "22", children = { core = "1" } } },
      nodelist = { "node[186-187]", "node189" }, properties = { big = "19,22", ["amd-mi50@gpu"] = "20" },
      starttime = 1000.25, expiration = 2000.5,
    },
    attributes = { system = { scheduler = { queue = "batch", more = { 1, 2 } } } },
  }
end

local function R(change)
  local d = document()
  if change then change(d) end
  return weir.R(d)
end

-- The first fault of a changed document.
local function fault(change)
  local d = document()
  change(d)
  local first = weir.check_R(d)[1]
  return first and ("%s: %s"):format(first.place, first.text)
end

local function graph_of(set) return set:table("rv1").scheduling.graph end

describe("RFC 20, overview and goals", function()
  it("[RFC20:48][R2] R is constructed by the scheduler in response to a request", function()
    assert.equal("rank[0-1]/core[0-3],gpu0", tostring((job())))
  end)

  it("[RFC20:51][R2] R has what the execution system needs: ranks, hosts, cores and gpus", function()
    local d = (job()):table "rv1_nosched"
    assert.same({ { rank = "0-1", children = { core = "0-3", gpu = "0" } } }, d.execution.R_lite)
    assert.same({ "node[0-1]" }, d.execution.nodelist)
  end)

  it("[RFC20:54][R8] shards released add up to the union", function()
    local all, e = job()
    local id = e:jobs()[1].id
    local first, second = all:on_ranks "0", all:on_ranks "1"
    assert.is_true((first | second) == all)
    assert(e:shrink(id, first))
    assert.is_true(e:job(id):rset() == second)
    assert.is_true(e:shrink(id, second))
    assert.equal(0, #e:jobs())
  end)

  it("[RFC20:57][R9] R primes a child scheduler with allocatable resources, for the time of the job", function()
    local child = assert(weir.engine { resources = (job()) })
    assert.equal(8, child:resources():aggregate().core.total)
    assert.equal("infeasible", select(3, child:match("slot=1/core", { duration = 11 })))
    assert(child:match("slot=2/node", { duration = 10 }))
  end)

  it("[RFC20:57][R9] a child knows the other hierarchies of its resources", function()
    local g = machine()
    local pdu = assert(g:add(nil, { type = "pdu", id = 0, size = 10, unit = "kW" }))
    for _, v in ipairs(g:find "type=node") do assert(g:add_edge(pdu, v, { subsystem = "power", type = "supplies" })) end
    local child = weir.parse(assert(weir.engine { resources = g }:match "slot=2/node/power=3"):format "rv1")
    assert.same({ "containment", "power" }, child:subsystems())
    assert.equal(6, child "power:/pdu0".size)
    assert.equal("infeasible", select(3, weir.engine { resources = child }:match "slot=2/node/power=4"))
  end)

  it("[RFC20:67][R6] data of the resource model is serialized and deserialized without loss", function()
    local g = machine()
    local v = g "/cluster0/rack0/node1"
    v.tags.t, v.data.own, v.state = "x", { 1, { a = "b" } }, "down"
    local again = weir.parse(g:format "rv1")
    assert.equal(g:format "jgf", again:format "jgf")
    assert.same({ "x", "down" }, { again(v.path).tags.t, again(v.path).state })
  end)

  it("[RFC20:67c][R6] numbers as values of properties are read, as texts, and true as a property without a value", function()
    local d = weir.json.decode(machine():format "jgf")
    d.graph.nodes[3].metadata.properties = { speed = 2.5, count = 4, fast = true }
    local text = core.json_encode(d):gsub('"properties":%[%]', '"properties":{}')
    local p = assert(weir.parse(text)):vertex("/cluster0/rack0/node0").properties
    assert.same({ "2.5", "4", "" }, { tostring(p.speed), tostring(p.count), p.fast == true and "" or p.fast })
  end)

  it("[RFC20:67b][R6] a set keeps metadata of vertices and edges that weir does not know, and the label", function()
    local d = weir.json.decode((job "slot=2/node"):format "rv1")
    local graph = d.scheduling.graph
    graph.label, graph.nodes[1].metadata.color, graph.edges[1].metadata.cost = "the rack", { "red" }, 7
    local all = assert(weir.R(d))
    for _, set in ipairs { all, all:on_ranks "0", all:on_ranks "1" | assert(weir.R(all:on_ranks("0"):format "rv1")) } do
      local kept = set:table("rv1").scheduling.graph
      assert.same({ "the rack", { "red" }, 7 }, { kept.label, kept.nodes[1].metadata.color, kept.edges[1].metadata.cost })
    end
  end)

  it("[RFC20:67b][R6] a machine keeps metadata that weir does not know, and the label", function()
    local d = weir.json.decode(machine():format "rv1")
    local graph = d.scheduling.graph
    graph.label, graph.nodes[1].metadata.color, graph.edges[1].metadata.cost = "the rack", { "red" }, 7
    local text = core.json_encode(d):gsub('"properties":%[%]', '"properties":{}')
    local g <close> = assert(weir.parse(text))
    local job_of = assert(weir.engine { resources = g }:match "slot=1/node"):rset()
    for _, kept in ipairs { weir.json.decode(g:format "rv1"), job_of:table "rv1" } do
      graph = kept.scheduling.graph
      assert.same({ "the rack", { "red" }, 7 }, { graph.label, graph.nodes[1].metadata.color, graph.edges[1].metadata.cost })
    end
  end)

  it("[RFC20:72][R8] one format: a subset is released by an R", function()
    local all, e = job()
    assert.equal("rank1/core[0-3],gpu0", tostring(assert(e:shrink(1, all:on_ranks("0"):format "rv1")):rset()))
  end)

  it("[RFC20:74][R2] consumers may read R without the graph", function()
    assert.is_nil((job()):table("rv1_nosched").scheduling)
  end)

  it("[RFC20:86][R9] the scheduler deserializes R to build its resource data", function()
    assert.equal("node187", assert(R():graph()):find("type=node and rank=20")[1].name)
  end)

  it("[RFC20:89][R1] users MAY write R by hand", function()
    assert(weir.R '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}],"nodelist":["a"]}}')
  end)

  it("[RFC20:91][R10] utilities show what an R has", function()
    local shell = require "spec.support.shell"
    local path = shell.path(shell.directory(), "R", (job()):format "rv1")
    local shown = shell.weir { "list", "-s", "all", "-o", "rlist", path }.out
    assert.truthy(shown:find("rank[0-1]/core[0-3],gpu0", 1, true), shown)
    shell.clean()
  end)

  it("[RFC20:95][R8] a valid R releases a subset", function()
    local all = job()
    assert.same({}, weir.check_R(all:on_ranks("1"):format "rv1"))
  end)
end)

describe("RFC 20, the document", function()
  it("[RFC20:104][R1] a dictionary of version, execution, scheduling and attributes", function()
    assert.equal(': the key "more" is none of version, execution, scheduling and attributes', fault(function(d) d.more = 1 end))
    assert.is_nil(fault(function() end))
  end)

  it("[RFC20:106][R1] valid if and only if it has the version, and execution or scheduling", function()
    for _, key in ipairs { "version", "execution" } do
      assert.is_nil((R(function(d) d[key] = nil end)))
      assert.truthy(fault(function(d) d[key] = nil end))
    end
    local d = assert(machine():rset { scheduling = true }):table "rv1"
    d.execution = nil
    assert.equal(4, #assert(weir.R(d)))
  end)

  it("[RFC20:108][R2] execution is sufficient for the core tasks of the execution system", function()
    assert(assert(R()):validate())
  end)

  it("[RFC20:108b][R2] the R of a job with gpus or memory only keeps to the text: its cores are an empty idset", function()
    local e = weir.engine { resources = weir.synthetic "cluster:1 node:2 core:2 gpu:2 memory:1(size=16)" }
    for _, request in ipairs { "slot=1/gpu", "slot=1/memory=4" } do
      local a = assert(e:match(request, { duration = 10 }))
      assert.same({}, weir.check_R(a:format "rv1_nosched"))
      assert.same({}, weir.check_R(a:format "rv1"))
    end
  end)

  it("[RFC20:110][R6] scheduling alone is sufficient for a scheduler", function()
    local d = (job()):table "rv1"
    d.execution = nil
    assert.same({}, weir.check_R(d))
    local e = assert(weir.engine { resources = assert(weir.R(d)) })
    assert(e:match "rack=1/slot=2/node/[core=4;gpu=1]")
    assert.equal("yes", e:resources():find("type=node")[1].properties.fast)
  end)

  it("[RFC20:120][R1] the version SHALL be 1", function()
    for _, version in ipairs { "1", 2, 0, 1.5 } do assert.is_nil((R(function(d) d.version = version end))) end
    assert.equal(1, (job()):table("rv1").version)
  end)

  it("[RFC20:127][R2][R3] execution SHALL contain at least R_lite and nodelist", function()
    assert.truthy(fault(function(d) d.execution.nodelist = nil end):find "nodelist")
    assert.truthy(fault(function(d) d.execution.R_lite = nil end):find "R_lite")
  end)

  it("[RFC20:129][R11] other keys are reserved: they are kept", function()
    local set = assert(R(function(d) d.execution.future = { 1, "x" } end))
    assert.same({ 1, "x" }, set:table("rv1").execution.future)
  end)
end)

describe("RFC 20, execution", function()
  it("[RFC20:129][R11] weir's own key there, nslots, is no fault", function()
    local d = (job()):table "rv1"
    assert.equal(2, d.execution.nslots)
    assert.same({}, weir.check_R(d))
  end)

  it("[RFC20:132][R2] R_lite is a strict list of dictionaries", function()
    assert.is_nil((R(function(d) d.execution.R_lite = d.execution.R_lite[1] end)))
    assert.truthy(fault(function(d) d.execution.R_lite = { 1 } end))
  end)

  it("[RFC20:136][R2] rank SHALL be a string in idset format", function()
    for _, rank in ipairs { 0, "x", "2-1", "" } do
      assert.truthy(fault(function(d) d.execution.R_lite[1].rank = rank end))
    end
    assert.equal("19-20,22", tostring(R():ranks()))
  end)

  it("[RFC20:138][R2] the ranks of an entry are those that its children are of", function()
    local g = assert(R():graph())
    for rank, cores in pairs { [19] = 4, [20] = 4, [22] = 1 } do
      assert.equal(cores, (g:find("type=node and rank=" .. rank)[1]:below "core"))
    end
    assert.equal("22", tostring(R():on_ranks("22"):ranks()))
    assert.truthy(fault(function(d) d.execution.R_lite[2].rank = "20" end))
  end)

  it("[RFC20:141][R2] children SHALL be a dictionary with core and gpu", function()
    assert.is_nil((R(function(d) d.execution.R_lite[1].children = "core" end)))
    assert.equal(1, R():count "core" - 8)
  end)

  it("[RFC20:144][R2] other children are reserved: they are kept", function()
    local set = assert(R(function(d) d.execution.R_lite[2].children.fpga = "0-1" end))
    assert.equal(2, set:count "fpga")
    assert.equal("0-1", set:table("rv1").execution.R_lite[2].children.fpga)
  end)

  it("[RFC20:148][R2] core SHALL be an idset; the OPTIONAL gpu SHALL be one", function()
    for _, key in ipairs { "core", "gpu" } do
      assert.is_nil((R(function(d) d.execution.R_lite[1].children[key] = 0 end)))
      assert.truthy(fault(function(d) d.execution.R_lite[1].children[key] = "3-1" end))
    end
    assert.is_nil(fault(function(d) d.execution.R_lite[1].children.gpu = nil end))
  end)

  it("[RFC20:156][R3] nodelist SHALL map the ranks to hosts, in order", function()
    local names = {}
    for name in R():hosts():names() do names[#names + 1] = name end
    assert.same({ "node186", "node187", "node189" }, names)
    assert.is_nil((R(function(d) d.execution.nodelist = { "a" } end)))
    assert.truthy(fault(function(d) d.execution.nodelist = { "a", "b", "a" } end):find "twice")
  end)

  it("[RFC20:158][R3] entries MAY be hostlists", function()
    assert.equal(3, #assert(R(function(d) d.execution.nodelist = { "a[1-3]" } end)):hosts())
  end)

  it("[RFC20:163][R4] properties SHALL map names to idsets of ranks", function()
    assert.equal("19,22", tostring(R():properties().big))
    assert.is_nil((R(function(d) d.execution.properties.big = 19 end)))
    assert.is_nil((R(function(d) d.execution.properties.big = "5" end)))
  end)

  it("[RFC20:166][R4] a rank MAY have several properties", function()
    local p = assert(R(function(d) d.execution.properties.more = "19-20" end)):properties()
    assert.is_true(p.big:has(19) and p.more:has(19))
  end)

  it("[RFC20:168][R4] names MUST NOT contain any of ! & ' \" ^ ` | ( )", function()
    for c in ("!&'\"^`|()"):gmatch "." do
      assert.is_nil((R(function(d) d.execution.properties["a" .. c] = "19" end)))
      assert.truthy(fault(function(d) d.execution.properties["a" .. c] = "19" end))
    end
    assert(R(function(d) d.execution.properties["größe"] = "19" end))
  end)

  it("[RFC20:168b][R4] a property of a vertex that R cannot have is told where R is written", function()
    local g = machine()
    g("/cluster0/rack0/node1").properties["a|b"] = true
    assert.same({ "the property a|b outside of the graph, a name that R cannot have" }, g:losses "rv1")
    assert.same({}, weir.check_R(g:format "rv1"))
  end)

  it("[RFC20:167][R4] names SHALL be valid UTF-8", function()
    for _, name in ipairs { "a\xff", "\xc3(", "\xed\xa0\x80" } do
      local text = weir.json.encode(document()):gsub('"big"', '"' .. name .. '"')
      assert.is_nil((weir.R(text)), name)
      assert.is_true(#weir.check_R(text) > 0)
    end
  end)

  it("[RFC20:165][R4] the ranks of a property are ranks of the set", function()
    assert.truthy(fault(function(d) d.execution.properties.big = "19,23" end))
    assert.is_nil(fault(function(d) d.execution.properties.big = "19-20,22" end))
  end)

  it("[RFC20:181][R4] both amd-mi50@gpu and amd-mi50 MAY be properties", function()
    local set = assert(R(function(d) d.execution.properties["amd-mi50"] = "19" end))
    assert.same({ "20", "19" }, { tostring(set:properties()["amd-mi50@gpu"]), tostring(set:properties()["amd-mi50"]) })
    local g = assert(set:graph())
    assert.same({ "19" }, { tostring(g:find("property=amd-mi50 and type=node")[1].rank) })
    assert.is_true(assert(weir.R(g:format "rv1")) == set)
  end)

  it("[RFC20:174][R4] @: the literal property applies to the ranks, and the scheduler MAY use the suffix for children", function()
    local g = assert(R():graph())
    assert.equal(20, g:find("property=amd-mi50@gpu")[1].rank)
    assert.equal("gpu", g:find("property=amd-mi50")[1].type)
  end)

  it("[RFC20:185][R5] starttime: the set is valid from then on", function()
    local e = assert(weir.engine { resources = R() })
    assert.equal("busy", select(3, e:match("slot=1/core", { duration = 1 })))
    assert.equal(1000.25, e:match("slot=1/core", { duration = 1, mode = "reserve" }).at)
  end)

  it("[RFC20:188][R5] seconds since the epoch with OPTIONAL microseconds", function()
    local set = assert(R(function(d) d.execution.starttime = 1700000000.123456 end) or R(function(d)
      d.execution.starttime, d.execution.expiration = 1700000000.123456, 1700000001
    end))
    assert.equal(1700000000.123456, set:starttime())
    assert.equal("execution.starttime: is before 1970", fault(function(d) d.execution.starttime = -1 end))
  end)

  it("[RFC20:190][R5] without starttime it is valid at any time up to the expiration", function()
    local e = assert(weir.engine { resources = R(function(d) d.execution.starttime = nil end) })
    assert.equal(0, assert(e:match("slot=1/core", { duration = 2000.5 })).at)
  end)

  it("[RFC20:193][R5] expiration: the end of the set", function()
    local e = assert(weir.engine { resources = R() })
    assert(e:advance(1500))
    assert.equal("infeasible", select(3, e:match("slot=1/core", { duration = 501 })))
    assert.equal(500.5, e:match("slot=1/core").duration)
  end)

  it("[RFC20:197][R5] expiration MUST be greater than starttime", function()
    assert.is_nil((R(function(d) d.execution.expiration = 1000.25 end)))
    assert.equal("execution.expiration: is not after the starttime", fault(function(d) d.execution.expiration = 1000 end))
  end)

  it("[RFC20:198][R5] without expiration it has no end", function()
    local e = assert(weir.engine { resources = R(function(d) d.execution.expiration = nil end) })
    assert.equal(1e12, e:match("slot=1/core", { at = 1e12, duration = 1e9, mode = "reserve" }).at)
  end)

  it("[RFC20:200][R5] with a start and no expiration it is valid from then on without end", function()
    local e = assert(weir.engine { resources = assert(R(function(d) d.execution.expiration = nil end)) })
    assert.equal("busy", select(3, e:match "slot=1/core"))
    assert.same({ 1000.25, math.huge }, { e:match("slot=1/core", { mode = "reserve" }).at, e:jobs()[1].end_ })
  end)

  it("[RFC20:193b][R5][Q16] a new expiration, by the acquisition protocol, replaces it", function()
    local f = scheduler_client.new { send = function() end, groups = { "default" }, style = "keyed", policy = "low" }
    f:start()
    assert(f:receive("default", { resources = document(), up = "19-20,22" }))
    assert(f:receive("default", { expiration = 1500 }))
    assert.same({ 1000.25, 1500 }, { f.engine:resources():validity() })
  end)
end)

describe("RFC 20, scheduling", function()
  it("[RFC20:206][R6] any subset of the graph is written and read back without loss", function()
    local set = job()
    local d = set:table "rv1"
    assert.equal(core.json_encode(d.scheduling, { sort = true }), core.json_encode(weir.R(d):table("rv1").scheduling, { sort = true }))
  end)

  it("[RFC20:208][R6] the key graph; others are reserved, and kept", function()
    local d = (job()):table "rv1"
    d.scheduling.writer2 = "x"
    assert.equal("x", weir.R(d):table("rv1").scheduling.writer2)
  end)

  it("[RFC20:210][R6] the JSON Graph Format: nodes and edges, strict lists", function()
    local graph = graph_of(job())
    assert.same({ 14, 13 }, { #graph.nodes, #graph.edges })
  end)

  it("[RFC20:221][R6] each vertex has a unique string id and metadata", function()
    local seen = {}
    for _, node in ipairs(graph_of(job()).nodes) do
      assert.is_nil(seen[node.id])
      assert.equal("string", type(node.id))
      assert.equal("table", type(node.metadata))
      seen[node.id] = true
    end
  end)

  it("[RFC20:224][R6] metadata SHALL contain type, uuid, basename, name, id, properties, size and unit", function()
    local KEYS = { "type", "uuid", "basename", "name", "id", "properties", "size", "unit" }
    for _, node in ipairs(graph_of(job()).nodes) do
      for _, key in ipairs(KEYS) do assert.not_nil(node.metadata[key]) end
    end
    for _, key in ipairs(KEYS) do
      local d = (job()):table "rv1"
      d.scheduling.graph.nodes[1].metadata[key] = nil
      local found = weir.check_R((core.json_encode(d):gsub('"properties":%[%]', '"properties":{}')))
      assert.equal(1, #found)
      assert.equal(('the key "%s" is missing'):format(key), found[1].text)
    end
  end)

  it("[RFC20:243][R6] it MAY contain other data", function()
    local g = machine()
    g("/cluster0/rack0/node0").data.mine = 5
    assert.equal(5, weir.R(g:format "rv1"):graph()("/cluster0/rack0/node0").data.mine)
  end)

  it("[RFC20:249][R6] edges SHALL connect two vertices by their ids, with metadata", function()
    local graph, ids = graph_of(job()), {}
    for _, node in ipairs(graph.nodes) do ids[node.id] = true end
    for _, e in ipairs(graph.edges) do assert.is_true(ids[e.source] and ids[e.target] and type(e.metadata) == "table") end
  end)

  for _, key in ipairs { "source", "target" } do
    it(("[RFC20:%d][R6] the %s SHALL be the id of a vertex"):format(key == "source" and 252 or 253, key), function()
      for _, value in ipairs { '"999"', "1", "null" } do
        local text, n = (job()):format("rv1"):gsub(('"%s":"1"'):format(key), ('"%s":%s'):format(key, value), 1)
        assert.equal(1, n)
        assert.is_true(#weir.check_R(text) > 0, value)
        if value ~= "1" then assert.is_nil((weir.parse(text)), value) end
      end
    end)
  end

  it("[RFC20:256][R6] metadata of an edge SHALL contain subsystem and relationship, strings", function()
    for _, e in ipairs(graph_of(job()).edges) do assert.same({ subsystem = "containment", relationship = "contains" }, e.metadata) end
    for _, key in ipairs { "subsystem", "relationship" } do
      local d = (job()):format("rv1"):gsub(('"%s":"[^"]*"'):format(key), '"other":"x"', 1)
      assert.equal(('the key "%s" is missing'):format(key), weir.check_R(d)[1].text)
    end
  end)
end)

it("[RFC20:264][R6] the relationship is the word of the document, in R, sets and machines", function()
  local text = (job()):format("rv1"):gsub('"contains"', '"has-a"')
  for _, again in ipairs { weir.parse(text):format "rv1", weir.R(text):format "rv1", weir.R(text):graph():format "rv1" } do
    for _, e in ipairs(core.json_decode(again).scheduling.graph.edges) do assert.equal("has-a", e.metadata.relationship) end
  end
end)

describe("RFC 20, attributes", function()
  it("[RFC20:273][R7] SHALL be a dictionary of one key: system", function()
    assert.equal('attributes: the key "system" is missing', fault(function(d) d.attributes = { foo = 1 } end))
    assert.is_nil(fault(function(d) d.attributes = nil end))
  end)

  it("[RFC20:276][R7] other keys are reserved: they are kept", function()
    local set = assert(R(function(d) d.attributes.later = { a = 1 } end))
    assert.same({ a = 1 }, set:table("rv1").attributes.later)
    assert.is_nil(fault(function(d) d.attributes.later = { a = 1 } end))
  end)

  it("[RFC20:278][R7] system attributes are OPTIONAL, and kept", function()
    local set = assert(R(function(d) d.attributes.system.more = "x" end))
    assert.equal("x", set:table("rv1").attributes.system.more)
  end)

  it("[RFC20:285][R7] scheduler is a free-form dictionary, and kept", function()
    assert.same({ queue = "batch", more = { 1, 2 } }, R():on_ranks("22"):table("rv1").attributes.system.scheduler)
  end)

  -- What the R of jobs of an engine, a database, a document and a stage says of their queues.
  local function queue_of(a)
    local d = core.json_decode(a:format "rv1")
    assert.same({}, weir.check_R(a:format "rv1"))
    assert.same(d.attributes, a:rset():table("rv1_nosched").attributes)
    return d.attributes and d.attributes.system.scheduler.queue or "none"
  end

  it("[RFC20:288][R7] the R of a job names the queue that the match or the jobspec says", function()
    local e = weir.engine { resources = machine() }
    local spec = { version = 1, resources = { { type = "slot", count = 1, label = "x", with = { { type = "core", count = 1 } } } },
      tasks = { { command = { "x" }, slot = "x", count = { per_slot = 1 } } }, attributes = { system = { queue = "night", duration = 9 } } }
    assert.equal("batch", queue_of(assert(e:match("slot=1/core", { about = { queue = "batch" } }))))
    assert.equal("night", queue_of(assert(e:match(spec))))
    assert.equal("batch", queue_of(assert(e:match(spec, { about = { queue = "batch" } }))))
    assert.equal("none", queue_of(assert(e:match "slot=1/core")))
    assert.truthy(e:job(1).policy:find "^low@")
  end)

  it("[RFC20:288][R7] stages, files, duplicates and a restarted service keep the queue", function()
    local shell, state = require "spec.support.shell", require "spec.support.state"
    local path = shell.path(shell.directory(), "x.db")
    local e = weir.engine { resources = machine() }
    for _, lock in ipairs { true, false } do
      local stage = assert(e:stage("slot=1/core", { lock = lock, about = { queue = "batch" } }))
      assert.equal("batch", queue_of(assert(e:commit(stage))))
    end
    local g = e:resources()
    assert(g:save(path))
    for name, again in pairs { database = assert(weir.load(path)), document = assert(weir.parse((g:format "document"))),
      duplicate = g:dup(), pieces = assert(g:pieces():graph()), difference = assert(machine():apply(assert(machine():diff(g)))) } do
      assert.equal("batch", queue_of(weir.engine({ resources = again }):job(1)), name)
      assert.truthy(weir.engine({ resources = again }):job(1).policy:find "^low@")
    end
    path = shell.path(shell.directory(), "y.db")
    for _, method in ipairs { "match", "job" } do
      local w = state.new(MACHINE, { path = path })
      local told = assert(w:ask(w:client "administrator", method, method == "match"
        and { request = "slot=1/core", job = 5, about = { queue = "batch" }, format = "rv1" } or { job = 5, format = "rv1" }))
      assert.equal("batch", told.resources.attributes.system.scheduler.queue)
      w:close()
    end
    shell.clean()
  end)

  it("[RFC20:288][R7] a scheduler with queues may add queue=batch: in Flux the R of a job names its queue", function()
    local s = flux.started({}, 4, 4, { queues = { batch = {} } })
    flux.submit(s, 1, 1, { queue = "batch" })
    flux.submit(s, 2, 1)
    flux.settle(s)
    local found = {}
    for _, said in ipairs(s.said) do
      if said[1] == "alloc" then
        local attributes = core.json_decode(said[3]).attributes
        found[said[2]] = attributes and attributes.system.scheduler.queue or "none"
        assert.same({}, weir.check_R(said[3]))
      end
    end
    assert.equal("batch", found[1])
  end)
end)

it("[RFC20:296][R1][R5] the example: ranks 19-22 on node186 to node189, 48 cores, 8 gpus, about 30 minutes", function()
  local d = {
    version = 1,
    execution = {
      R_lite = { { rank = "19-22", children = { core = "0-47", gpu = "0-7" } } }, nodelist = { "node[186-189]" },
      starttime = 1676560000, expiration = 1676561800,
    },
  }
  assert.same({}, weir.check_R(d))
  local e = assert(weir.engine { resources = weir.R(d) })
  assert(e:advance(1676560000))
  assert.equal(1800, assert(e:match "slot=4/node").duration)
  assert.equal(192, e:resources():aggregate(nil, { all = true }).core.total)
end)
