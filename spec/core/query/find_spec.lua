-- The expression language of g:find: the vertices for which an expression holds, and refused expressions.
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4 gpu:1 memory:2(size=64,unit=GB)"

local function machine()
  local g = assert(weir.synthetic(MACHINE))
  local node = g:vertex "/cluster0/rack0/node1"
  node.state = "down"
  node.tags.maintenance = "disk"
  node.data.cost = 2.5
  node.data.site = { hall = "A" }
  g:vertex("/cluster0/rack1/node6").tags.speed = "3"
  g:vertex("/cluster0/rack1/node7").tags.speed = "12"
  assert(g:add(g:vertex "/cluster0/rack0", { type = "node", id = 8, properties = { bigmem = true }, exclusive = true }))
  assert(g:vertex("/cluster0/rack0/node0/core1"):allocate { job = 3 })
  assert(g:vertex("/cluster0/rack0/node0/memory0"):allocate { job = 4, amount = 24 })
  return g
end

local function names(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = v.name end
  return table.concat(out, " ")
end

-- Expressions and the names of the vertices found.
local HOLDS = {
  { "type=rack", "rack0 rack1" },
  { "type==rack", "rack0 rack1" },
  { "type=node and state=down", "node1" },
  { "type=node and state!=up", "node1" },
  { "tag=maintenance", "node1" },
  { "tag.maintenance=disk", "node1" },
  { "tag.maintenance", "node1" },
  { "property=bigmem", "node8" },
  { "property.bigmem", "node8" },
  { "type=node and tag.speed>=3", "node6 node7" },
  { "tag.speed>3", "node7" },
  { "tag.speed=3.0", "node6" },
  { "type=node and not tag.speed!=12", "node7" },
  { "name=node[0-2,7]", "node0 node1 node2 node7" },
  { "name=node0,rack1", "node0 rack1" },
  { "name='node3'", "node3" },
  { "basename=rack and id>0", "rack1" },
  { "type=node and id<=1 or type=rack and id=1", "node0 node1 rack1" },
  { "type=node and (id=0 or id=7)", "node0 node7" },
  { "type=node and not (id>1 or id<1)", "node1" },
  { "type=node and !id<7", "node8 node7" },
  { "type=node && rank>=6 || type=cluster", "cluster0 node6 node7" },
  { "unit=GB and path=/cluster0/rack0/node0/memory1", "memory1" },
  { "size>=64 and path='/cluster0/rack0/node0/memory0'", "memory0" },
  { "exclusive", "node8" },
  { "type=node and exclusive=true", "node8" },
  { "type=node and exclusive!=false", "node8" },
  { "type=node and leaf", "node8" },
  { "type=rack,gpu and id=0 and path=*rack0*", "rack0 gpu0 gpu0 gpu0 gpu0" },
  { "type=nod? and id=2-3,8", "node2 node3 node8" },
  { "name=nod*[6-7]", "node6 node7" },
  { "path=/cluster0/rack1/node?", "node4 node5 node6 node7" },
  { "allocated", "core1 memory0" },
  { "allocated=24", "memory0" },
  { "type=node and not idle", "node0 node1" },
  { "type=core and not free", "core1 core0 core1 core2 core3" },
  { "job=3", "core1" },
  { "job=3-4", "core1 memory0" },
  { "job=5", "" },
  { "data=cost", "node1" },
  { "data.cost>2", "node1" },
  { "data.cost=2.5", "node1" },
  { "data.site", "node1" },
  { "rank=2", "node2 core0 core1 core2 core3 gpu0 memory0 memory1" },
  { "type=node and not (type=rack or state=down) and id<2", "node0" },
  { "type=nosuch", "" },
  { "name=node[00-07]", "" },
}

-- Refused expressions, with the column and a part of the message.
local REFUSED = {
  { "", 1, "expected a test such as type=node" },
  { "type", 5, "comparison" },
  { "type=", 6, "expected a value" },
  { "typ=node", 1, 'did you mean "type"' },
  { "type<node", 5, "expected = or !=" },
  { "state=upp", 7, 'no state "upp"' },
  { "size>=many", 7, "expected a number" },
  { "(type=node", 1, "not closed" },
  { "type=node)", 10, '"and" or "or"' },
  { "type=node state=up", 11, '"and" or "or"' },
  { "type=node and", 14, "the expression ends" },
  { "name=n[1-", 7, "not closed" },
  { "name=n[3-1]", 8, "no range" },
  { "name=n1]", 8, 'without a "%["' },
  { "name=a,", 8, "a name is missing" },
  { "property>3", 9, "property.KEY>" },
  { "property.=3", 1, "expected a key" },
  { "property.speed>fast", 16, "expected a number" },
  { "type='node", 6, "quote is not closed" },
  { "exclusive=maybe", 11, "true or false" },
  { "job>3", 4, "expected = or !=" },
  { "leaf=maybe", 6, "true or false" },
  { "rank=1-x", 8, "a number or a set" },
  { "type=\0node", 6, "a byte 0" },
  { ("("):rep(200) .. "type=node", 65, "deeper", "limit" },
}

describe("find", function()
  local g

  setup(function() g = machine() end)
  teardown(function() g:close() end)

  for _, case in ipairs(HOLDS) do
    local expression, expected = case[1], case[2]
    it(("[M10] %s"):format(expression), function()
      assert.equal(expected, names(assert(g:find(expression))))
    end)
  end

  for _, case in ipairs(REFUSED) do
    local expression, column, part, expected = case[1], case[2], case[3], case[4] or "parse"
    it(("refuses %q"):format(expression:sub(1, 30)), function()
      local found, why, code = g:find(expression)
      assert.is_nil(found)
      assert.equal(expected, code)
      assert.matches("^column " .. column .. ": .*" .. part, why)
    end)
  end

  it("[M10] sees amounts that are free now", function()
    local m <close> = machine()
    assert(m:vertex("/cluster0/rack0/node2/memory0"):allocate { job = 1, amount = 30 })
    assert.equal("memory0", names(assert(m:find "type=memory and state=up and free=34")))
    assert(m:vertex("/cluster0/rack0/node2/memory0"):release(1))
    assert.equal("", names(assert(m:find "free=34")))
  end)

  it("tells the line too when there are several", function()
    local _, why = g:find "type=node and\n  or"
    assert.matches("^line 2, column 3: ", why)
  end)

  it("raises for what is neither text nor query", function()
    assert.error_matches(function() weir.query(7) end, "expression or query expected, got number")
    assert.has_error(function() g:find() end)
    assert.error_matches(function() g:find("type=node", { as = "set" }) end, "list or graph expected, got 'set'")
    assert.has_error(function() g:find("type=node", { form = "graph" }) end)
  end)

  it("raises for a start of another graph", function()
    local other <close> = machine()
    assert.error_matches(function() g:find("type=node", { start = other:root() }) end, "belongs to another graph")
  end)

  it("[M12] reports each vertex once, in preorder", function()
    local all, seen = assert(g:find "size>=0"), {}
    assert.equal(g:count(), #all)
    for _, v in ipairs(all) do
      assert.is_nil(seen[v])
      assert.is_true(v:parent() == nil or seen[v:parent()])
      seen[v] = true
    end
  end)

  it("[M12] looks only at and below a start", function()
    assert.equal("node4 node5 node6 node7", names(g:find("type=node", { start = g "/cluster0/rack1" })))
  end)

  it("[M12] gives a graph of the matches with what is below and above them", function()
    local found <close> = assert(g:find("type=node and tag.speed=12", { as = "graph" }))
    local paths = {}
    for v in found:walk {} do paths[#paths + 1] = v.path end
    assert.same({ "/cluster0", "/cluster0/rack1", "/cluster0/rack1/node7", "/cluster0/rack1/node7/core0",
      "/cluster0/rack1/node7/core1", "/cluster0/rack1/node7/core2", "/cluster0/rack1/node7/core3",
      "/cluster0/rack1/node7/gpu0", "/cluster0/rack1/node7/memory0", "/cluster0/rack1/node7/memory1" }, paths)
    assert(found:check())
  end)

  it("[M12] gives an empty graph when nothing matches", function()
    local found <close> = assert(g:find("type=nosuch", { as = "graph" }))
    assert.equal(0, found:count())
  end)

  it("[M10] a query is compiled once and matches vertices", function()
    local query = assert(weir.query "type=node and tag=maintenance")
    assert.is_true(query:match(g "/cluster0/rack0/node1"))
    assert.is_false(query:match(g "/cluster0/rack0/node2"))
    assert.equal("type=node and tag=maintenance", tostring(query))
    assert.equal("node1", names(g:find(query)))
    assert.error_matches(function() query:match(7) end, "vertex expected, got number")
  end)

  it("[M10] an RFC 31 constraint matches vertices", function()
    local constraint = assert(weir.constraint { ["and"] = { { properties = { "bigmem" } }, { hostlist = { "node[7-9]" } } } })
    assert.is_true(constraint:match(g "/cluster0/rack0/node8"))
    assert.is_false(constraint:match(g "/cluster0/rack1/node7"))
    local none, why, code = weir.constraint { colour = { "red" } }
    assert.is_nil(none)
    assert.equal("invalid", code)
    assert.matches('unknown constraint operator "colour"', why, 1, true)
  end)
end)

describe("a UUID that an expression needs", function()
  local g = machine()
  local v = g:vertex "/cluster0/rack0/node1"
  local other = g:vertex "/cluster0/rack1"

  for text, expected in pairs {
    ["uuid=%s"] = "node1", ["uuid=%s and type=node"] = "node1", ["type=core and uuid=%s"] = "",
    ["uuid=%s or type=rack"] = "rack0 node1 rack1", ["uuid!=%s and type=cluster"] = "cluster0",
    ["not uuid!=%s"] = "node1", ["not uuid=%s and type=rack"] = "rack0 rack1",
  } do
    it("is looked up, and nothing else changes: " .. text, function()
      assert.equal(expected, names(assert(g:find(text:format(v.uuid)))))
    end)
  end

  it("is looked up below the start only", function()
    assert.equal("", names(g:find("uuid=" .. v.uuid, { start = other })))
    assert.equal("node1", names(g:find("uuid=" .. v.uuid:upper(), { start = v:parent() })))
  end)
end)
