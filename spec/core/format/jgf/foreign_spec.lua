-- Keys of a JSON graph that weir does not know: read, kept through copies and stores, and written where they stood.
local core = require "weir.core"
local shell = require "spec.support.shell"
local weir = require "weir"

local TEXT = [[{"graph":{"label":"the rack","type":"machine","metadata":{"made":"2020","by":{"a":[1, 2.50]}},"nodes":[
{"id":"0","metadata":{"type":"cluster","color":["red", null],"shares":{"1":2}}},
{"id":"1","metadata":{"type":"node","id":1,"rank":0,"color":null,"a b\"c":{"deep": {"x":1}}}},
{"id":"3","metadata":{"type":"core","id":0}},
{"id":"2","metadata":{"type":"pdu","id":0}}],"edges":[
{"source":"2","target":"1","metadata":{"cost":7,"subsystem":"power","relationship":"supplies","w":"z"}},
{"source":"0","target":"1","metadata":{"cost":1.0,"subsystem":"containment"}},
{"source":"1","target":"3","metadata":{"name":{"containment":"contains","net":"link"},"lat":3}}]}}]]

-- The foreign keys of a text, as "place key value", sorted.
local function foreign(text)
  local d = core.json_decode(text)
  local graph, list = d.graph or d.scheduling.graph, {}
  local names = {}
  local function note(place, from, known)
    for key, value in pairs(from) do
      if not known:find(" " .. key .. " ", 1, true) then
        list[#list + 1] = ("%s %s %s"):format(place, key, core.json_encode(value, { sort = true }))
      end
    end
  end
  note("graph", graph, " nodes edges metadata ")
  note("metadata", graph.metadata or {}, " uuid weir ")
  for _, node in ipairs(graph.nodes) do
    names[node.id] = node.metadata.name
    note(node.metadata.name, node.metadata, " type uuid basename name id properties size unit rank exclusive paths ")
  end
  for _, e in ipairs(graph.edges) do
    note(("%s>%s"):format(names[e.source], names[e.target]), e.metadata, " subsystem relationship back ")
  end
  table.sort(list)
  return table.concat(list, "\n")
end

local ALL = [[
cluster0 color ["red",null]
cluster0>node1 cost 1.0
graph label "the rack"
graph type "machine"
metadata by {"a":[1,2.5]}
metadata made "2020"
node1 a b"c {"deep":{"x":1}}
node1 color null
node1>core0 lat 3
node1>core0 lat 3
pdu0>node1 cost 7
pdu0>node1 w "z"]]

local function parse(text) return assert(weir.parse(text)) end

describe("foreign keys of a JSON graph", function()
  after_each(shell.clean)

  for name, way in pairs {
    ["JSON graphs"] = function(g) return parse(g:format "jgf") end,
    ["the scheduling of R"] = function(g) return parse(g:format "rv1") end,
    ["documents"] = function(g) return parse(g:format "document") end,
    ["databases"] = function(g)
      local path = shell.path(shell.directory(), "x.db")
      assert(g:save(path))
      return assert(weir.load(path))
    end,
    ["duplicates"] = function(g) return assert(g:dup()) end,
    ["a set of resources"] = function(g) return assert(weir.R(g:format "rv1"):graph()) end,
  } do
    it("last through " .. name, function()
      local g = parse(TEXT)
      local again <close> = way(way(g))
      assert.equal(ALL, foreign(again:format "jgf"))
      g:close()
    end)
  end

  it("are compared, and do not depend on the order in which they were given", function()
    local g = parse(TEXT)
    local again <close> = parse(g:format "document")
    assert.is_true(g:compare(again))
    assert.equal(g:format "document", again:format "document")
    local v = again "/cluster0/node1"
    v.data["jgf.contains.cost"] = 2
    assert.is_nil((g:compare(again)))
    g:close()
  end)

  it("are data of the vertices, and reach the R of a job with the vertices and edges that the job has", function()
    local g <close> = parse(TEXT)
    local v = g "/cluster0/node1"
    assert.equal(1.0, v.data["jgf.contains.cost"])
    assert.same({ v, v:child(1) }, g:find "data=jgf.contains.cost or data=jgf.contains.lat")
    v.data["jgf.vertex.color"] = "blue"
    local a = assert(weir.engine { resources = g }:match "slot=1/core")
    assert.equal([[
cluster0 color ["red",null]
cluster0>node1 cost 1.0
graph label "the rack"
graph type "machine"
node1 a b"c {"deep":{"x":1}}
node1 color "blue"
node1>core0 lat 3
node1>core0 lat 3]], foreign(a:format "rv1"))
    assert.same({}, weir.check_R(a:format "rv1"))
  end)

  it("of an edge that is removed remain data", function()
    local g = parse(TEXT)
    local v = g "/cluster0/node1"
    local key = ("jgf.edge.power.supplies.%s.cost"):format(g "power:/pdu0".uuid)
    assert.equal(7, v.data[key])
    assert(g:remove_edge(g "power:/pdu0", v, { subsystem = "power" }))
    local again <close> = parse(g:format "document")
    assert.is_true(g:compare(again))
    assert.equal(7, again "/cluster0/node1".data[key])
    g:close()
  end)

  it("cannot take the place of keys that weir writes", function()
    local g = parse(TEXT)
    for _, key in ipairs { "jgf.vertex.type", "jgf.vertex.shares", "jgf.contains.relationship", "jgf.graph.nodes", "jgf.vertex",
      "jgf.graph-metadata.uuid", "jgf.else.x", "jgf." } do
      g:root().data[key] = { 1 }
    end
    local again <close> = parse(g:format "jgf")
    assert.is_true(g:compare(again))
    g:close()
  end)
end)
