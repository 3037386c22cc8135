-- Machines from nested Lua tables, and from files returning a table.
local weir = require "weir"

local function paths(g, type)
  local out = {}
  for v in g:walk { type = type } do out[#out + 1] = v.path end
  return table.concat(out, " ")
end

local function write_file(text)
  local path = os.tmpname()
  os.remove(path)
  path = path .. ".lua"
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
  return path
end

-- Refused recipes, with a part of the message.
local REFUSED = {
  { "no type", {}, "^recipe: type is missing" },
  { "an unknown field", { type = "cluster", cuont = 3 }, '^recipe: unknown field "cuont" %(did you mean "count"%?%)' },
  { "a count of 0", { type = "cluster", { type = "rack", { type = "core", count = 0 } } }, "^recipe.rack.core: count: expected" },
  { "a count of -1", { type = "cluster", { type = "rack", count = -1 } }, "^recipe.rack: count: " },
  { "a count that is no integer", { type = "cluster", { type = "rack", count = 1.5 } }, "^recipe.rack: count: .*1.5" },
  { "a count that is a text", { type = "cluster", { type = "rack", count = "four" } }, 'count: .*"four"' },
  { "the second of two children", { type = "cluster", { type = "a" }, { type = "b", { type = "c", size = -1 } } },
    "^recipe.b%[2%].c: size: " },
  { "a child that is no table", { type = "cluster", "rack" }, '^recipe.child: expected a table, not "rack"' },
  { "a type that is no text", { type = 7 }, "^recipe: type: expected a text" },
  { "several at the top", { type = "cluster", count = 2 }, "^recipe: count: one pool is at the top" },
  { "one name for several", { type = "cluster", { type = "node", count = 2, name = "n" } }, "^recipe.node: name: " },
  { "too many pools", { type = "cluster", { type = "a", count = 2 ^ 20 // 1, { type = "b", count = 2 ^ 20 // 1 } } },
    "more than 10000000 vertices .WEIR_VERTICES=N" },
  { "properties that are none", { type = "cluster", properties = { { 1 } } }, "^recipe: properties: expected a table such as" },
  { "exclusive = 1", { type = "cluster", exclusive = 1 }, "^recipe: exclusive: expected true or false" },
  { "an unknown scope", { type = "cluster", scope = "rack" }, '^recipe: scope: expected "local" or "global"' },
  { "an unknown state", { type = "cluster", state = "dwon" }, '^recipe: state: expected one of up, down, .*, not "dwon"' },
  { "data without keys", { type = "cluster", data = { 1 } }, "^recipe: data: expected a table such as" },
  { "data with a function", { type = "cluster", data = { f = print } }, "^recipe: data: expected a table such as" },
  { "edges below the top", { type = "cluster", { type = "node", edges = {} } }, '^recipe.node: unknown field "edges"' },
  { "edges that are no list", { type = "cluster", edges = 1 }, "^recipe: edges: expected a list, not 1" },
  { "an edge without a source", { type = "cluster", edges = { { targets = {}, subsystem = "power" } } },
    "^recipe.edges%[1%]: source: expected a text" },
  { "an edge with an unknown field", { type = "cluster", edges = { { sorce = "/a" } } }, '%(did you mean "source"%?%)' },
  { "an edge to nowhere", { type = "cluster", id = 0, edges = { { source = "/cluster0", targets = { "/x" }, subsystem = "power" } } },
    "^recipe.edges%[1%]: .*there is no 'x'" },
  { "a wrong pool beside", { type = "cluster", beside = { { type = "panel", size = -1 } } }, "^recipe.beside%[1%]: size: " },
  { "a name with a slash", { type = "cluster", { type = "node", name = "a/b" } }, "^recipe.node: " },
}

-- Unreadable files, with a part of the message.
local BAD_FILES = {
  { "is empty", "", "no table", "invalid" },
  { "has a syntax error", "return {type=", "", "parse" },
  { "raises", 'error "oops"', "oops", "invalid" },
  { "returns a number", "return 7", "no table", "invalid" },
  { "reaches for files", "return io.open '/etc/passwd'", "io", "invalid" },
  { "reaches for processes", "os.exit(3)", "os", "invalid" },
  { "loads code", "return load 'return 1'", "load", "invalid" },
  { "is bytecode", string.dump(function() return { type = "cluster" } end), "", "parse" },
  { "runs for ever", "while true do end", ":1: ", "limit" },
  { "hides that it runs for ever", "while true do pcall(function() while true do end end) end", ":1: ", "limit" },
  { "eats memory", "local t = {} for i = 1, math.huge do t[i] = { i } end", "not enough memory", "limit" },
  { "is inside itself", "local t = { type = 'rack' } t[1] = t return { type = 'cluster', t }", "inside itself", "invalid" },
  { "returns a function", "return { type = 'cluster', print = function() end }", "a value of type function", "invalid" },
  { "has odd keys", "return { type = 'cluster', [true] = 1 }", "key of type boolean", "invalid" },
  { "returns 1000 levels", "local t = {} for i = 1, 1000 do t = { t } end return t", "450 tables", "invalid" },
  { "has a wrong recipe", "return {type='cluster', {type='node', count=0}}", "recipe.node: count", "invalid" },
}

describe("recipe", function()
  it("[G11] composes a machine from smaller definitions", function()
    local node = { type = "node", count = 2, { type = "core", count = 4 }, { type = "memory", size = 64, unit = "GB" } }
    local small = { type = "rack", count = 2, node }
    local g = assert(weir.recipe { type = "cluster", small, { type = "rack", node, node } })
    assert.equal(1 + 3 + 8 + 32 + 8, g:count())
    assert.equal("/cluster0/rack0 /cluster0/rack1 /cluster0/rack2", paths(g, "rack"))
    assert.equal(8 * 64, g:aggregate().memory.total)
    assert.equal("GB", g:vertex("/cluster0/rack2/node7/memory0").unit)
    assert(g:check())
    g:close()
  end)

  it("makes the machine that the synthetic string makes", function()
    local a = assert(weir.synthetic "cluster:1 rack:2 node:3 socket:2 core:4 gpu:1 memory:2(size=16,unit=GB)")
    local b = assert(weir.recipe { type = "cluster", { type = "rack", count = 2, { type = "node", count = 3,
      { type = "socket", count = 2, { type = "core", count = 4 }, { type = "gpu" },
        { type = "memory", count = 2, size = 16, unit = "GB" } } } } })
    local step, walk = a:walk {}
    for v in b:walk {} do
      local w = step(walk)
      for _, field in ipairs { "path", "type", "id", "size", "unit", "rank" } do assert.equal(w[field], v[field]) end
    end
    assert.is_nil(step(walk))
    a:close()
    b:close()
  end)

  it("[P3] [P4] [P6] names pools by basename and id, or by name", function()
    local g = assert(weir.recipe { type = "cluster", id = false,
      { type = "node", count = 2, basename = "tux", id = 10 }, { type = "node", name = "login" },
      { type = "switch", id = false } })
    assert.equal("cluster", g:root().name)
    assert.equal("/cluster/tux10 /cluster/tux11 /cluster/login", paths(g, "node"))
    assert.is_nil(g:vertex("/cluster/switch").id)
    g:close()
  end)

  it("numbers ids locally or over the machine as asked", function()
    local function cores(scope)
      local g <close> = assert(weir.recipe { type = "cluster", { type = "node", count = 2,
        { type = "socket", count = 2, { type = "core", count = 2, scope = scope } } } })
      return (paths(g, "core"):gsub("/cluster0/node%d/socket%d/core", ""))
    end
    assert.equal("0 1 2 3 0 1 2 3", cores(nil))
    assert.equal("0 1 0 1 0 1 0 1", cores "local")
    assert.equal("0 1 2 3 4 5 6 7", cores "global")
  end)

  it("gives nodes the ranks 0, 1, ... in preorder, unless told", function()
    local g <close> = assert(weir.recipe { type = "cluster", { type = "rack", count = 2, { type = "node", count = 2 } },
      { type = "node", count = 2, rank = 10 } })
    local ranks = {}
    for v in g:walk { type = "node" } do ranks[#ranks + 1] = v.rank end
    assert.same({ 0, 1, 2, 3, 10, 11 }, ranks)
  end)

  it("[P7] [P8] [P9] [A5] sets properties, tags, size and exclusive", function()
    local g <close> = assert(weir.recipe { type = "cluster", { type = "node", count = 2, exclusive = true, size = 3,
      properties = { "bigmem", speed = 7 }, tags = { owner = "ops" } } })
    local v = g:vertex "/cluster0/node1"
    assert.is_true(v.exclusive)
    assert.equal(3, v.size)
    assert.is_true(v.properties.bigmem)
    assert.equal("7", v.properties.speed)
    assert.equal("ops", v.tags.owner)
  end)

  for _, case in ipairs(REFUSED) do
    it("refuses " .. case[1], function()
      local g, why, code = weir.recipe(case[2])
      assert.is_nil(g)
      assert.matches(case[3], why)
      assert.equal("invalid", code)
    end)
  end

  it("refuses a table inside itself", function()
    local rack = { type = "rack" }
    rack[1] = rack
    local g, why = weir.recipe { type = "cluster", rack }
    assert.is_nil(g)
    assert.matches("inside itself", why)
  end)

  it("raises for what is no table", function()
    assert.has_error(function() weir.recipe "cluster" end)
  end)

  it("[L1] reads a configuration file", function()
    local path = write_file [[
      local node = { type = "node", count = 4, { type = "core", count = math.max(8, 2) } }
      return { type = "cluster", basename = "tux", { type = "rack", count = 2, node } }]]
    local g <close> = assert(weir.load(path))
    assert.equal(64, g:aggregate().core.total)
    assert.equal("/tux0/rack1/node7/core7", g:vertex("/tux0/rack1/node7/core7").path)
    os.remove(path)
  end)

  for _, case in ipairs(BAD_FILES) do
    it("refuses a file that " .. case[1], function()
      local path = write_file(case[2])
      local g, why, code = weir.load(path, { instructions = 20000000, memory = 32 << 20 })
      os.remove(path)
      assert.is_nil(g)
      assert.matches(path, why, 1, true)
      assert.matches(case[3], why, 1, true)
      assert.equal(case[4], code)
    end)
  end

  it("reads a table that is in many places as often as that, and no more", function()
    local path = write_file [[
      local t = { type = "core" }
      for i = 1, 10 do t = { type = "level", t, t } end
      return { type = "cluster", t }]]
    local g <close> = assert(weir.load(path))
    assert.equal(1 << 10, g:aggregate().core.total)
    os.remove(path)
  end)

  it("[P11] [P12] [G3] holds states, data, pools beside the tree and edges, and is written with them", function()
    local node = { type = "node", count = 2, { type = "core", count = 2, state = "down" } }
    local g <close> = assert(weir.recipe {
      type = "cluster", data = { note = { 1, "two", { ["a b"] = true } }, half = 0.5 }, node,
      beside = { { type = "panel", size = 5, unit = "kW", { type = "pdu", count = 2 } } },
      edges = { { source = "/panel0/pdu1", targets = { "/cluster0/node0", "/cluster0/node1" }, subsystem = "power", type = "feeds",
        back = "drawn_from" } },
    })
    assert.equal("down", g("/cluster0/node1/core1").state)
    assert.same({ note = { 1, "two", { ["a b"] = true } }, half = 0.5 }, { note = g:root().data.note, half = g:root().data.half })
    local edge = g("/cluster0/node1"):edges("power")[1]
    assert.same({ "/panel0/pdu1", "feeds", "drawn_from" }, { edge.source.path, edge.type, edge.back })
    local again <close> = assert(weir.parse(g:format "recipe", { format = "recipe" }))
    assert.equal(g:format "jgf", again:format "jgf")
  end)

  it("leaves the libraries alone", function()
    local path = write_file "string.format = nil; math.max = nil; return { type = 'cluster' }"
    local g <close> = assert(weir.load(path))
    assert.is_function(string.format)
    assert.is_function(math.max)
    assert.equal(1, g:count())
    os.remove(path)
  end)
end)
