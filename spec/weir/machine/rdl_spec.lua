-- Machines in RDL: the language, the limits of a file's code, and the files of the former Flux.
local weir = require "weir"

local HERE = "spec/data/rdl/"

local function parse(text, opts)
  opts = opts or {}
  opts.format, opts.source = "rdl", opts.source or "m.lua"
  return weir.parse(text, opts)
end

-- "cluster=1 node=4": the vertices of a hierarchy by type.
local function census(g, subsystem)
  local counts, words = {}, {}
  for v in g:walk { subsystem = subsystem } do counts[v.type] = (counts[v.type] or 0) + 1 end
  for type, n in pairs(counts) do words[#words + 1] = ("%s=%d"):format(type, n) end
  table.sort(words)
  return table.concat(words, " ")
end

local function children(v)
  local names = {}
  for child in v:children() do names[#names + 1] = child.name end
  return table.concat(names, " ")
end

-- A machine whose root is made by the expression.
local function root(expression)
  local g = assert(parse(('uses "Node" Hierarchy "default" { %s }'):format(expression)))
  return g:root(), g
end

-- Arguments of a pool: expression, field, value.
local FIELDS = {
  { 'Resource{ "foo" }', "name", "foo" },
  { 'Resource{ "foo" }', "basename", "foo" },
  { 'Resource{ "foo" }', "id", nil },
  { 'Resource{ "foo" }', "size", 1 },
  { 'Resource{ type = "foo" }', "type", "foo" },
  { 'Resource{ "foo", "bar" }', "basename", "bar" },
  { 'Resource{ "foo", "bar", id = 3 }', "name", "bar3" },
  { 'Resource{ "foo", basename = "bar", id = "3" }', "id", 3 },
  { 'Resource{ "pdu", name = "left", id = 7 }', "name", "left" },
  { 'Resource{ "memory", size = 64 }', "size", 64 },
  { 'Resource{ "memory", count = 64 }', "size", 64 },
  { 'Resource{ "memory", size = 64.0, unit = "GB" }', "unit", "GB" },
  { 'Resource{ "foo", exclusive = true }', "exclusive", true },
  { 'Resource{ "foo", uuid = "01234567-89ab-cdef-0123-456789abcdef" }', "uuid", "01234567-89ab-cdef-0123-456789abcdef" },
  { 'Node{ basename = "tux", id = 5, sockets = { "0" } }', "name", "tux5" },
  { 'Node{ name = "tux", id = 5, sockets = { "0" } }', "name", "tux5" },
  { 'Node{ name = "login", basename = "tux", id = 5, sockets = { "0" } }', "name", "login" },
  { 'Node{ name = "tux", sockets = { "0" } }', "rank", 0 },
}

-- Tags and properties: expression, key, value.
local ENTRIES = {
  { '{ "bigmem" }', "bigmem", true },
  { "{ bigmem = true }", "bigmem", true },
  { "{ bigmem = false }", "bigmem", nil },
  { "{ speed = 3 }", "speed", "3" },
  { "{ speed = 6 / 2 }", "speed", "3" },
  { "{ speed = 2.5 }", "speed", "2.5" },
  { '{ owner = "ops" }', "owner", "ops" },
}

-- Children of a cluster: elements of the list, names of the children.
local LISTS = {
  { 'ListOf{ Resource, ids = "0-2", args = { "core" } }', "core0 core1 core2" },
  { 'ListOf{ Resource, ids = "[7,1-2]", args = { "core" } }', "core7 core1 core2" },
  { 'ListOf{ "Resource", ids = "4", args = { "core" } }', "core4" },
  { 'ListOf{ type = Resource, hostids = 4, args = { "core" } }', "core4" },
  { 'ListOf{ Resource, ids = "0-1", args = { "node", name = "tux" } }', "tux0 tux1" },
  { 'ListOf{ Resource, ids = "0-1", args = { "a" } }, ListOf{ Resource, ids = "0-1", args = { "b" } }', "a0 a1 b0 b1" },
  { 'ListOf{ Resource, ids = "0-1", args = { "a" } }, Resource{ "b" }', "a0 a1 b" },
  { 'Node{ basename = "n", id = 1, sockets = { "0-1" } }', "n1" },
}

-- Hierarchies that are refused: text, part of the message, code.
local REFUSED = {
  { "an empty text", "", "m.lua: there is no Hierarchy", "invalid" },
  { "a syntax error", 'Hierarchy "default" {\n  Resource{ "a"\n', "m.lua:3: '}' expected", "parse" },
  { "an unknown name", 'Hierarchy "default" {\n  Resorce{ "a" } }', "m.lua:2: attempt to call a nil value (global 'Resorce')" },
  { "no type", '\nHierarchy "default" { Resource{ name = "x" } }', "m.lua:2: the type is missing" },
  { "an unknown field", 'Hierarchy "default" {\nResource{ "a", childern = {} } }', 'm.lua:2: there is no field "childern"' },
  { "a size that is none", 'Hierarchy "default" { Resource{ "a", size = "big" } }', 'm.lua:1: size: expected a whole number' },
  { "a control character in the name of a hierarchy", 'Hierarchy "a\\0b" { Resource{ "a" } }', "m.lua:1: Hierarchy: a control character" },
  { "a negative id", 'Hierarchy "default" { Resource{ "a", id = -1 } }', 'm.lua:1: id: expected a whole number' },
  { "a name with a slash", 'Hierarchy "default" { Resource{ "a", name = "b/c" } }', 'm.lua:1: name: "b/c" has a "/"' },
  { "tags that are none", 'Hierarchy "default" { Resource{ "a", tags = { x = {} } } }', "m.lua:1: tags.x: expected a text" },
  { "a child that is none", 'Hierarchy "default" { Resource{ "a", children = { "b" } } }', "m.lua:1: children: number 1" },
  { "a class as a child", 'Hierarchy "default" { Resource{ "a", children = { Resource } } }', "m.lua:1: children: number 1" },
  { "children of one name", 'Hierarchy "default" { Resource{ "a", children = {\nResource{ "b" }, Resource{ "b" } } } }',
    "m.lua:1: /a/b: there are two" },
  { "a list without ids", 'Hierarchy "default" {\nListOf{ Resource, args = { "a" } } }', "m.lua:2: ListOf: the ids" },
  { "ids that are none", 'Hierarchy "default" { ListOf{ Resource, ids = "a-b", args = { "a" } } }', "m.lua:1: ListOf: ids" },
  { "a descending range", 'Hierarchy "default" { ListOf{ Resource, ids = "5-3", args = { "a" } } }', "m.lua:1: ListOf: ids" },
  { "a list of nothing known", 'Hierarchy "default" { ListOf{ Nose, ids = "1", args = {} } }', "m.lua:1: ListOf: expected a type" },
  { "an unknown type", '\n\nuses "Nose"', 'm.lua:3: uses "Nose": there is no Nose.lua in ./types, .' },
  { "a type with a path", 'uses "../../secret"', "m.lua:1: uses: expected a name" },
  { "a second such hierarchy", 'Hierarchy "default" { Resource{ "a" } }\nHierarchy "default" { Resource{ "b" } }',
    'm.lua:2: Hierarchy "default" is there already' },
  { "two at the top", 'Hierarchy "default" { Resource{ "a" }, Resource{ "b" } }', "m.lua:1: Hierarchy \"default\": one resource" },
  { "nothing at the top", 'Hierarchy "default" { }', "m.lua:1: Hierarchy \"default\": one resource" },
  { "a place that is not there", 'Hierarchy "default" { Resource{ "a" } }\nHierarchy "default:/a/b" { Resource{ "c" } }',
    'm.lua:2: default:/a/b: there is no "b" in /a' },
  { "a hierarchy that is not there", 'Hierarchy "power:/a" { Resource{ "c" } }', "m.lua:1: power:/a: there is no such hierarchy" },
  { "a resource in two places", 'local n = Resource{ "n" }\nHierarchy "default" { Resource{ "a", children = {'
    .. 'Resource{ "b", children = { n } }, Resource{ "c", children = { n } } } } }', "m.lua:2: /a/c/n: this resource is at /a/b/n" },
  { "a resource inside itself", 'local a = Resource{ "a" }; a:add_child(a)\nHierarchy "default" { a }', "m.lua:2: /a/a: this" },
  { "a node without sockets", 'uses "Node"\nHierarchy "default" { Node{ basename = "a" } }', "m.lua:2: Node: the sockets" },
  { "a node without a name", 'uses "Node"\nHierarchy "default" { Node{ sockets = { "0" } } }', "m.lua:2: Node: the basename" },
  { "cpus that are none", 'uses "Socket"\nHierarchy "default" { Socket{ id = 0, cpus = "all" } }', "m.lua:2: cpus: expected numbers" },
  { "a tag without a name", 'Hierarchy "default" { Resource{ "a", tags = { [""] = 1 }, properties = { "b" } } }',
    "m.lua: /a: a key must not be empty" },
  { "a tag with a zero byte", 'Hierarchy "default" { Resource{ "a", tags = { ["b\\0c"] = 1 } } }',
    "m.lua: /a: field 'tags' contains a zero byte" },
  { "a malformed uuid", 'Hierarchy "default" { Resource{ "a", uuid = "7" } }', "m.lua: /a: " },
  { "a uuid used twice", ('local u = "01234567-89ab-cdef-0123-456789abcdef"; Hierarchy "default" { Resource{ "a", uuid = u, '
    .. 'children = { Resource{ "b", uuid = u } } } }'), "m.lua: /a/b: ", "exists" },
  { "a field that a type made wrong", 'local a = Resource{ "a" }; a.id = {}; Hierarchy "default" { a }', "m.lua: " },
  { "an error of its own", 'error "not today"', "m.lua:1: not today" },
  { "an error that is a table", "error {}", "m.lua: an error that is a table, no text" },
}

-- Actions that a file must not be able to do.
local ATTACKS = {
  { "an endless loop", "while true do end", "budget", "limit" },
  { "an endless loop behind pcall", "while true do pcall(function() while true do end end) end", "budget", "limit" },
  { "endless ids", 'Hierarchy "default" { ListOf{ Resource, ids = "0-99999999999", args = { "a" } } }', "m.lua:1: ", "limit" },
  { "endless cpus", 'uses "Socket" Socket{ id = 0, cpus = "0-99999999999" }', "1000000", "limit" },
  { "a huge string", 'local s = ("x"):rep(1 << 30)', "not enough memory", "limit" },
  { "a growing string", 'local s = "x" while true do s = s .. s end', "not enough memory", "limit" },
  { "endless recursion", "local function f() return 1 + f() end f()", "m.lua:1: not enough memory", "limit" },
  { "10000 levels", 'local a = Resource{ "a" } for i = 1, 1e4 do a = Resource{ "a", children = { a } } end Hierarchy "default" { a }',
    "more than 199 levels", "invalid" },
  { "a slow pattern", '(("a"):rep(5000)):find(("a*"):rep(20) .. "b")', "pattern", "invalid" },
  { "files", 'io.open "/etc/passwd"', "(global 'io')", "invalid" },
  { "processes", 'os.execute "true"', "(global 'os')", "invalid" },
  { "modules", 'require "weir"', "(global 'require')", "invalid" },
  { "loading code", 'load "return 1"', "(global 'load')", "invalid" },
  { "loading files", 'dofile "/etc/passwd"', "(global 'dofile')", "invalid" },
  { "the debug library", "debug.getregistry()", "(global 'debug')", "invalid" },
  { "finalizers", "setmetatable({}, { __gc = print })", "finalizers", "invalid" },
  { "bytecode", string.dump(function() end), "binary", "parse" },
}

describe("RDL", function()
  for _, case in ipairs(FIELDS) do
    it(("[L1] %s has the %s %s"):format(case[1], case[2], tostring(case[3])), function()
      local v, g = root(case[1])
      assert.equal(case[3], v[case[2]])
      g:close()
    end)
  end

  for _, map in ipairs { "tags", "properties" } do
    for _, case in ipairs(ENTRIES) do
      it(("[L1] %s = %s"):format(map, case[1]), function()
        local v, g = root(('Resource{ "a", %s = %s }'):format(map, case[1]))
        assert.equal(case[3], v[map][case[2]])
        g:close()
      end)
    end
  end

  for _, case in ipairs(LISTS) do
    it("[L1] children = { " .. case[1] .. " }", function()
      local v, g = root(('Resource{ "a", children = { %s } }'):format(case[1]))
      assert.equal(case[2], children(v))
      g:close()
    end)
  end

  it("[L1] gives each of a list children of its own", function()
    local v, g = root [[Resource{ "a", children = { ListOf{ Resource, ids = "0-1", args = { "rack",
      children = { ListOf{ Resource, ids = "5-6", args = { "node" } } } } } } }]]
    assert.equal("node5 node6", children(v:child(1)))
    assert.equal("node5 node6", children(v:child(2)))
    g:close()
  end)

  it("[L1] makes sockets, cores, memory and shares of max_bw for a Node", function()
    local v, g = root [[Node{ basename = "n", id = 1, sockets = { "0-1", "0xf0" }, memory_per_socket = 7, tags = { max_bw = 80 } }]]
    assert.equal("core0 core1 memory", children(v:child(1)))
    assert.equal("core4 core5 core6 core7 memory", children(v:child(2)))
    assert.equal(14, g:aggregate().memory.total)
    assert.equal("0-1", v:child(1).properties.cpus)
    assert.same({ "80", "40", "20", "10" }, { v.tags.max_bw, v:child(1).tags.max_bw, v:child(1):child(1).tags.max_bw,
      v:child(2):child(1).tags.max_bw })
    g:close()
  end)

  it("[L1] tells an RDL file from a recipe by what it says", function()
    local path = os.tmpname()
    os.remove(path)
    path = path .. ".lua"
    for text, count in pairs {
      ['-- Hierarchy "default"\nreturn { type = "cluster" }'] = 1,
      ['--[[\nHierarchy "default" {}\n]] return { type = "cluster", { type = "node" } }'] = 2,
      ['#!/bin/weir\n  Hierarchy"default"{ Resource{ "a", children = { Resource{ "b" }, Resource{ "c" } } } }'] = 3,
    } do
      local file <close> = assert(io.open(path, "w"))
      file:write(text)
      file:close()
      local g <close> = assert(weir.load(path))
      assert.equal(count, g:count())
    end
    os.remove(path)
  end)

  it("[L1] [G3] makes subsystems of further hierarchies, of the pools that are there", function()
    local g <close> = assert(weir.load(HERE .. "small.lua"))
    assert.same({ "containment", "power", "network" }, g:subsystems())
    assert.equal("cluster=1 core=24 gpu=2 memory=5 node=4 rack=2 socket=4", census(g))
    assert.equal("core=2 node=4 panel=1 pdu=2 socket=2", census(g, "power"))
    assert.equal("node=4 switch=1", census(g, "network"))
    assert.equal(1 + 24 + 2 + 5 + 4 + 2 + 4 + 3 + 1, g:count())
    assert.equal(g:vertex "/tux/rack0/tux1", g:vertex "power:/main/pdu1/tux1")
    assert.equal(g:vertex "/tux/rack1/tux4", g:vertex "network:/edge/tux4")
    assert.equal(128, g:vertex("/tux/rack1/tux3/memory").size)
    assert(g:check())
  end)

  it("[L1] keeps what another hierarchy says about a pool", function()
    local g <close> = assert(weir.load(HERE .. "small.lua"))
    local v = g:vertex "/tux/rack0/tux2"
    assert.same({ 1, "300", "lan", "80" }, { v.size, v.properties["power.size"], v.tags.port, v.tags.max_bw })
  end)

  it("[L1] [G8] makes hierarchies that channel", function()
    local g <close> = assert(weir.load(HERE .. "small.lua"))
    local engine = assert(weir.engine { resources = g })
    local job = { version = 9999, resources = { { type = "slot", count = 1, label = "default", with = {
      { type = "node", count = 1, with = { { type = "core", count = 1 }, { type = "power", count = 200 } } } } } },
      tasks = { { command = { "a" }, slot = "default", count = { per_slot = 1 } } },
      attributes = { system = { duration = 10 } } }
    for _ = 1, 4 do assert(engine:match(job)) end
    assert.equal(100, g:vertex("power:/main/pdu1").free)
    assert.equal(200, g:vertex("power:/main").free)
    assert.is_nil((engine:match(job)))
  end)

  it("[L1] [G3] takes a resource that is in two hierarchies for one pool", function()
    local g <close> = assert(weir.load(HERE .. "plain.lua"))
    assert.equal(4, g:count())
    assert.equal(g:vertex "/cluster/node1", g:vertex "cooling:/pump/node1")
  end)

  it("[L1] joins hierarchies by uuid, whatever the name", function()
    local uuid = "01234567-89ab-cdef-0123-456789abcdef"
    local g <close> = assert(parse(([[
      Hierarchy "power" { Resource{ "pdu", children = { Resource{ "host", uuid = %q } } } }
      Hierarchy "default" { Resource{ "node", id = 3, uuid = %q } }]]):format(uuid, uuid)))
    assert.equal(2, g:count())
    assert.equal("node=1 pdu=1", census(g, "power"))
  end)

  it("does not take one of several pools of a name for another", function()
    local g <close> = assert(parse [[
      Hierarchy "default" { Resource{ "a", children = { ListOf{ Resource, ids = "0-1", args = { "n",
        children = { Resource{ "fan" } } } } } } }
      Hierarchy "air" { Resource{ "duct", children = { Resource{ "fan" } } } }]])
    assert.equal(5 + 2, g:count())
  end)

  it("[L1] adds to a hierarchy below what was added before, and to several with one type", function()
    local g <close> = assert(parse [[
      Hierarchy "default" { Resource{ "a" } }
      Hierarchy "default:/a" { ListOf{ Resource, ids = "0-2", args = { "b" } } }
      Hierarchy "default:/a/b1" { Resource{ "c" } }
      Hierarchy "power" { Resource{ "p" } }
      Hierarchy "power:/p" { Resource{ "b", id = 1 }, Resource{ "d" } }]])
    assert.equal("b0 b1 b2", children(g:root()))
    assert.equal("/a/b1/c", g:vertex("/a/b1/c").path)
    assert.equal("b=1 d=1 p=1", census(g, "power"))
  end)

  it("[L1] gives nodes the ranks 0, 1, ... in the order of the file", function()
    local g <close> = assert(weir.load(HERE .. "small.lua"))
    for i = 1, 4 do assert.equal(i - 1, g:find("name=tux" .. i)[1].rank) end
  end)

  it("[L1] finds types that a site has", function()
    local dir = os.tmpname()
    os.remove(dir)
    assert(os.execute("mkdir " .. dir))
    local file = assert(io.open(dir .. "/Disk.lua", "w"))
    file:write [[Disk = Resource:subclass "Disk"
      Disk:default_tags { slow = true }
      function Disk:initialize(args) self.super.initialize(self, { "disk", size = args.gb, unit = "GB" }) end]]
    file:close()
    local text = 'uses "Disk"\nHierarchy "default" { Disk{ gb = 9, colour = "red" } }'
    for _, types in ipairs { dir, { "nowhere", dir } } do
      local g <close> = assert(parse(text, { types = types }))
      assert.same({ 9, "GB", true }, { g:root().size, g:root().unit, g:root().tags.slow })
    end
    assert.equal("invalid", select(3, parse(text)))
    os.remove(dir .. "/Disk.lua")
    os.remove(dir)
  end)

  it("names the line of the file, and the line of the type, for an error in a type", function()
    local g, why, code = parse('uses "Bad"\nHierarchy "default" { Bad{} }', { types = HERE .. "bad" })
    assert.same({ nil, "invalid" }, { g, code })
    assert.matches("^m.lua:2: " .. HERE .. "bad/Bad.lua:4: ", why)
    assert.matches("^m.lua:1: " .. HERE .. "bad/Broken.lua:3: ", select(2, parse('uses "Broken"', { types = HERE .. "bad" })))
  end)

  it("leaves one file's globals to that file", function()
    local g <close> = assert(parse 'Node = 7; string.format = nil; Hierarchy "default" { Resource{ "a" } }')
    local h <close> = assert(parse 'uses "Node" Hierarchy "default" { Node{ name = "a", sockets = { "0" } } }')
    assert.same({ 1, 3 }, { g:count(), h:count() })
    assert.is_function(string.format)
  end)

  for _, case in ipairs(REFUSED) do
    it("refuses " .. case[1], function()
      local g, why, code = parse(case[2])
      assert.same({ nil, case[4] or "invalid" }, { g, code })
      assert.truthy(why:find(case[3], 1, true), why)
    end)
  end

  for _, case in ipairs(ATTACKS) do
    it("[K2] withstands " .. case[1], function()
      local g, why, code = parse(case[2], { instructions = 20000000, memory = 32 << 20 })
      assert.same({ nil, case[4] }, { g, code })
      assert.truthy(why:find(case[3], 1, true), why)
    end)
  end

  it("[K2] has budgets of its own accord", function()
    local g, why, code = parse "while true do end"
    assert.same({ nil, "limit" }, { g, code })
    assert.matches("^m.lua:1: ", why)
  end)

  it("refuses options that it does not know", function()
    local says = "there is no option 'tpyes' here (did you mean \"types\"?)"
    assert.has_error(function() parse("", { tpyes = "x" }) end, says)
    assert.has_error(function() weir.load(HERE .. "plain.lua", { tpyes = "x" }) end, says)
  end)

  it("says what cannot be read", function()
    local g, why, code = weir.load("/nonexistent/m.lua", { format = "rdl" })
    assert.same({ nil, "/nonexistent/m.lua: cannot open: No such file or directory", "io" }, { g, why, code })
  end)
end)

-- The files of the former Flux, where available: vertices by type, counted by its own reader.
local IO = "core_switch=1 filesystem=1 gateway=1 "
local FLUX = {
  cab = { containment = "cluster=1 core=19712 node=1232 socket=2464" },
  hype = {
    containment = "cluster=1 core=2464 memory=308 node=154 socket=308",
    power = "core=154 node=154 pdu=2 powerpanel=1 socket=154",
    bandwidth = "core=154 " .. IO .. "node=154 socket=154 switch=2",
  },
  ["hype-io"] = { containment = "cluster=1 core=2464 memory=308 node=154 socket=308" },
  ["cab-io"] = { containment = "core=20480 " .. IO .. "node=1280 socket=2560 switch=72" },
  ["cts-io"] = { containment = "core=61440 " .. IO .. "node=3840 socket=7680 switch=216" },
  ["zin-io"] = { containment = "core=46080 " .. IO .. "node=2880 socket=5760 switch=162" },
}

describe("RDL of Flux", function()
  local dir = os.getenv "WEIR_RDL" or (os.getenv "WEIR_DATA" or "../shared/data") .. "/rdl/conf"

  for name, hierarchies in pairs(FLUX) do
    it("[L1] " .. name .. ".lua has what its own reader counts", function()
      local path = ("%s/%s.lua"):format(dir, name)
      local file = io.open(path)
      if not file then return pending(("no %s: set WEIR_RDL to the folder rdl/conf of a checkout of flux-sched with RDL"):format(path)) end
      file:close()
      local g <close> = assert(weir.load(path))
      for hierarchy, counts in pairs(hierarchies) do assert.equal(counts, census(g, hierarchy)) end
      assert(g:check())
    end)
  end
end)
