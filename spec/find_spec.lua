-- The expression language of g:find: what holds for which vertex, and what is refused.
local weir = require "weir"
local find = require "weir.find"
local hostlist = require "weir.hostlist"

local MACHINE = "cluster:1 rack:2 node:4 core:4 gpu:1 memory:2(size=64,unit=GB)"

local function machine()
  local g = assert(weir.synthetic(MACHINE))
  local node = g:vertex "/cluster0/rack0/node1"
  node.state = "down"
  node.tags.maintenance = "disk"
  g:vertex("/cluster0/rack1/node6").tags.speed = "3"
  g:vertex("/cluster0/rack1/node7").tags.speed = "12"
  assert(g:add(g:vertex "/cluster0/rack0", { type = "node", id = 8, properties = { bigmem = true }, exclusive = true }))
  return g
end

local function names(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = v.name end
  return table.concat(out, " ")
end

-- Expressions and the names of what they find.
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
  { "type=nosuch", "" },
  { "name=node[00-07]", "" },
}

-- Expressions that are refused, with the column and a part of the message.
local REFUSED = {
  { "", 1, "type=node is wanted" },
  { "type", 5, "comparison" },
  { "type=", 6, "value is wanted" },
  { "typ=node", 1, 'did you mean "type"' },
  { "type<node", 5, "= or != is wanted" },
  { "state=upp", 7, 'no state "upp"' },
  { "size>=many", 7, "a number is wanted" },
  { "(type=node", 1, "not closed" },
  { "type=node)", 10, '"and" or "or"' },
  { "type=node state=up", 11, '"and" or "or"' },
  { "type=node and", 14, "ends where a test" },
  { "name=n[1-", 7, "not closed" },
  { "name=n[3-1]", 8, "no range" },
  { "name=n1]", 8, 'without a "%["' },
  { "name=a,", 8, "" },
  { "property>3", 9, "property.KEY>" },
  { "property.=3", 1, "a key is wanted" },
  { "property.speed>fast", 16, "a number is wanted" },
  { "type='node", 6, "quote is not closed" },
  { "exclusive=maybe", 11, "true or false" },
  { ("("):rep(200) .. "type=node", 101, "deeper" },
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
    local expression, column, part = case[1], case[2], case[3]
    it(("refuses %q"):format(expression:sub(1, 30)), function()
      local found, why, code = g:find(expression)
      assert.is_nil(found)
      assert.equal("parse", code)
      assert.matches("^column " .. column .. ": .*" .. part, why)
    end)
  end

  it("[M10] sees amounts that are free now", function()
    local m = machine()
    assert(m:vertex("/cluster0/rack0/node0/memory0"):allocate { job = 1, amount = 24 })
    assert.equal("memory0", names(assert(m:find "type=memory and state=up and free=40")))
    assert.equal("memory0", names(assert(m:find "type=memory and free>0 and free<64")))
    m:close()
  end)

  it("raises for what is no text", function()
    assert.has_error(function() find.compile(7) end)
    assert.has_error(function() g:find() end)
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
end)

-- {hostlist, names in it, names not in it}
local HOSTLISTS = {
  { "n1", { "n1" }, { "n", "n01", "n11", "" } },
  { "n[1-16]", { "n1", "n9", "n10", "n16" }, { "n0", "n17", "n01", "n1x", "n" } },
  { "n[01-16]", { "n01", "n09", "n16" }, { "n1", "n9", "n17", "n001" } },
  { "n[098-102]", { "n098", "n099", "n100", "n102" }, { "n98", "n0100" } },
  { "n[1,3-4]x", { "n1x", "n3x", "n4x" }, { "n2x", "n1", "n13x" } },
  { "r[0-1]n[0-1]", { "r0n0", "r1n1" }, { "r2n0", "r0n2", "r0" } },
  { "[1-2][3-4]", { "13", "24" }, { "1", "31", "134" } },
  { "a,b[7],c", { "a", "b7", "c" }, { "b", "a,b7" } },
  { "n[0-999999999]", { "n123456789" }, { "n1234567890" } },
}

describe("hostlist", function()
  for _, case in ipairs(HOSTLISTS) do
    it(case[1], function()
      local has = assert(hostlist.compile(case[1]))
      for _, name in ipairs(case[2]) do assert.is_true(has(name), name .. " belongs to it") end
      for _, name in ipairs(case[3]) do assert.is_false(has(name), name .. " does not") end
    end)
  end
end)
