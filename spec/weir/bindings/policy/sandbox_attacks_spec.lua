-- Scripts that keep one function in C busy, or fill uncounted memory. Each is refused before it starts, or ends by
-- its budget within a generous processor time; the engine is unchanged. And the list of all functions that a script
-- can reach, each with its bound: a new function needs a row.
local core = require "weir.core"
local shell = require "spec.support.shell"
local sim = require "weir.sim"
local weir = require "weir"

-- Seconds allowed; without the bounds the attacks take minutes.
local CPU = 20 * math.max(1, tonumber(os.getenv "WEIR_SPEC_SLOW") or 1)

-- {title, code, part of the message}
local ATTACKS = {
  { "gmatch with ^, which is a letter there", "for _ in ('^'):rep(190000):gmatch('^.-b') do end", "may take too long" },
  { "gmatch step by step", "local f = ('^'):rep(5000):gmatch('^.-b') while true do f() end", "." },
  { "gsub with a long replacement that adds nothing", "return (('x'):rep(200000)):gsub('', ('%0'):rep(100000))", "this replacement" },
  { "gsub with a capture many times", "return (('x'):rep(200000)):gsub('.+', ('%0'):rep(100000))", "may take too long" },
  { "table.sort of texts of zero bytes",
    "local z = ('\\0'):rep(4090) local a, b, t = z .. 'a', z .. 'b', {} for i = 1, 20000 do t[i] = i * 7919 % 3 == 0 and a or b end "
      .. "for i = 1, 1e9 do table.sort(t) end", "instructions" },
  { "table.sort by string.find", "local s, t = ('a'):rep(450) .. '-b', {} for i = 1, 30000 do t[i] = s end table.sort(t, string.find)",
    "instructions" },
  { "table.sort by math.ult, for ever",
    "local t = {} for i = 1, 50000 do t[i] = i * 7919 % 1000003 end for i = 1, 1e9 do table.sort(t, math.ult) end", "instructions" },
  { "table.sort of many numbers, for ever",
    "local t = {} for i = 1, 50000 do t[i] = i * 7919 % 1000003 end for i = 1, 1e9 do table.sort(t) end", "instructions" },
  { "table.move of nothing", "table.move({}, 1, 9999999, 1, {})", "too many elements" },
  { "table.move of little, for ever", "for i = 1, 1e9 do table.move({}, 1, 1000000, 1, {}) end", "instructions" },
  { "table.insert at the front, for ever",
    "local t = {} for i = 1, 50000 do t[i] = i end while true do table.insert(t, 1, 1) table.remove(t, 1) end", "instructions" },
  { "table.concat of nothing, for ever", "local t = {} for i = 1, 50000 do t[i] = '' end while true do table.concat(t) end",
    "instructions" },
  { "pairs of a table that was large, for ever",
    "local t = {} for i = 1, 60000 do t[i] = i end for i = 1, 60000 do t[i] = nil end while true do pairs(t) end", "." },
  { "ephemerons", "local k = setmetatable({}, {__mode='k'}) local p = {} for i = 1, 1e6 do local n = {} k[n] = p p = n end",
    "no weak tables" },
  { "ephemerons by a metatable that is changed later",
    "local m = {} local k, p = setmetatable({}, m), {} m.__mode = 'k' getmetatable(k).__mode = 'k' rawset(m, '__mode', 'k') "
      .. "for i = 1, 1e6 do local n = {} k[n] = p p = n end", "memory" },
  { "memory to the brim", "local k = {} while true do k = {k} end", "memory" },
  { "memory to the brim, and garbage beside it",
    "local k = {} pcall(function() for i = 1, 400000 do k = {k} end end) while true do local t = {{}, {}} end", "." },
  { "a table that is full of what was removed", "local t = {} for i = 1, 65535 do t[-i] = i end "
    .. "local i = 1 while true do t['k' .. i] = 1 t['k' .. i] = nil i = i + 1 end", "." },
  { "numbers of 200,000 digits", "local s, x = '0x' .. ('f'):rep(200000), 0 while true do x = s + 1 x = s & 1 x = math.max(s, 1) end",
    "." },
  { "string.format of many", "return ('%.99f'):rep(50000):format(table.unpack({}, 1, 50000))", "." },
  { "string.pack of many bytes", "return string.pack('c60000000', '')", "256 KB" },
  { "native memory of walks", "local g, k = v:graph(), {} for i = 1, 1e9 do k[i] = g:walk{upward = true} k[i]() end", "memory" },
  { "native memory of accumulators", "local g, k = v:graph(), {} for i = 1, 1e9 do k[i] = g:accumulator() end", "memory" },
  { "native memory of an accumulator", "local a = v:graph():accumulator() for i = 1, 1e9 do a:add(v, i) end", "memory" },
  { "native memory of walks in breadth",
    "local g, k = v:graph(), {} for i = 1, 1e9 do k[i] = g:walk{order = 'breadth'} k[i]() end", "memory" },
}

local function policy(text)
  return core.policy_source(text, "attack", { instructions = 5000000, memory = 16 << 20, seconds = 10 })
end

local function state_of(e)
  local list = {}
  for _, job in ipairs(e:jobs()) do list[#list + 1] = job.id .. " " .. job:format "jgf" end
  return table.concat(list, "\n")
end

local function in_time(f)
  local begin = os.clock()
  f()
  assert.is_true(os.clock() - begin < CPU)
end

local function assert_stopped(text, hook, says)
  local e <const> = assert(weir.engine { resources = "cluster:1 rack:2 node:3 core:4" })
  assert(e:match "slot=2/node")
  local before = state_of(e)
  local loaded = assert(policy(text))
  local ok, why, code = e:use(loaded)
  if ok then ok, why, code = e:match "slot=1/node" end
  assert.same({ nil, "policy" }, { ok, code })
  assert.truthy(why:find(says), why)
  assert.truthy(why:find("attack:%d+: "), why)
  assert.truthy(why:find("policy attack: " .. hook .. ": ", 1, true), why)
  assert.is_nil(why:find "0x%x%x%x%x%x")
  assert.equal(before, state_of(e))
  assert(e:resources():check())
  assert(e:use "low")
  assert(e:match "slot=1/node")
end

describe("[K2] a script that tries", function()
  for _, attack in ipairs(ATTACKS) do
    local what, code, says = table.unpack(attack)

    it(what .. " in evaluate is stopped", function()
      in_time(function()
        assert_stopped(("return { evaluate = function(v) do %s end return 1 end }"):format(code), "evaluate", says)
      end)
    end)

    if not code:find "v:graph" then
      it(what .. " in a recipe is stopped", function()
        in_time(function()
          local value, why = core.sandbox_run("do " .. code .. " end return 1", "t", { instructions = 5000000, memory = 16 << 20 })
          assert.is_nil(value)
          assert.truthy(why:find(says), why)
          assert.truthy(why:find "^t:1: ", why)
        end)
      end)

      it(what .. " in a sandbox that stays is stopped", function()
        in_time(function()
          local sandbox = assert(core.sandbox_open("return { f = function() " .. code .. " end }", "t",
            { prelude = "return function(t) return t end", bridge = function() end, instructions = 5000000, memory = 16 << 20 }))
          local ok, why, status = sandbox:call "f"
          assert.same({ nil, "policy" }, { ok, status })
          assert.truthy(why:find(says), why)
          assert.truthy(why:find "t:1: ", why)
          sandbox:close()
        end)
      end)
    end
  end

  it("a table in 2^60 places, in admit, is stopped", function()
    in_time(function()
      assert_stopped("return { admit = function(j) local t = {} for i = 1, 60 do t = {t, t} end j.attributes = {user = {x = t}} "
        .. "return j end }", "admit", "it would take more memory than is left")
    end)
  end)

  it("a table in 2^60 places, as the default of an option, is not loaded", function()
    local loaded, why, code = policy("local t = {} for i = 1, 60 do t = {t, t} end "
      .. "return { options = {x = {type = 'table', default = {y = t}}} }")
    assert.same({ nil, "policy" }, { loaded, code })
    assert.truthy(why:find("it would take more memory than is left", 1, true), why)
  end)
end)

-- {text of a policy, part of the message}: errors that have no text of Lua's own name the line too.
local PLACES = {
  { "return {\n admit = function() return 7 end }", "policy attack: admit: attack:2: it must return nothing" },
  { "return {\n admit = function(j) j.x = pairs return j end }", "attack:2: " },
  { "return {\n admit = function(j) error({}) end }", "policy attack: admit: attack:2: an error that is a table, no text" },
  { "return {\n\n order = function() return 1, 2, 3, 4, 5 end }", "policy attack: order: attack:3: it must return up to 4 numbers" },
  { "return {\n\n order = function() return 'x' end }", "policy attack: order: attack:3: " },
  { "return {\n select = function() return 7 end }", "policy attack: select: attack:2: it must return a list" },
  { "return {\n evaluate = function() return 'x' end }", "policy attack: evaluate: attack:2: it must return a number" },
  { "return {\n evaluate = function() return ('x'):rep(-1, 7, 8):rep({}) end }", "attack:2: bad argument" },
  { "return {\n evaluate = function()\n local t = {} for i = 1, 1e9 do t[i] = i end end }", "attack:3: not enough memory" },
  { "return {\n evaluate = function() error(nil) end }", "attack:2: nil" },
  { "return {\n evaluate = function() error(pairs) end }", "attack:2: an error that is a function, no text" },
  { "return {\n init = function() error({}) end }", "policy attack: init: attack:2: an error that is a table, no text" },
}

describe("an error of a policy names the line:", function()
  for _, case in ipairs(PLACES) do
    it(case[2], function()
      local e = assert(weir.engine { resources = "node:4 core:2" })
      local ok, why = e:use(assert(policy(case[1])))
      if ok then ok, why = e:match "slot=1/node" end
      assert.is_nil(ok)
      assert.truthy(why:find(case[2], 1, true), why)
    end)
  end
end)

describe("an error of a queue policy", function()
  after_each(shell.clean)

  it("names a line of the policy, also where it broke what the library keeps of the jobs", function()
    for field, value in pairs { estimate = "{}", number = "{}", place = "999999" } do
      local path = shell.path(shell.directory(), "mine.lua",
        ("return { schedule = function(queue)\n for job in queue:pending() do job.id, job.waits, job.%s = {}, true, %s "
          .. "queue:start(job) end end }"):format(field, value))
      local s = assert(sim.new { resources = "node:4 core:2", queue = path })
      local ok, why = pcall(function()
        s:submit { request = "slot=1/node", estimate = 10, runtime = 10, at = 0 }
        s:run()
      end)
      assert.is_false(ok)
      assert.truthy(why:find "mine.lua:2: ", why)
      assert.is_nil(why:find("prelude", 1, true), why)
    end
  end)
end)

describe("no address is shown", function()
  for _, code in ipairs { "('\\0%p'):format('abc')", "('%d%p'):format(1, 'abc')",
    "('x%s\\0y%p'):format('abc', 'abcabc')", "('%-5.3p'):format({})" } do
    it("by " .. code, function()
      local value, why = core.sandbox_run("return " .. code, "t")
      assert.is_nil(value)
      assert.truthy(why:find "no addresses", why)
    end)
  end

  it("by tostring and string.format of what has one", function()
    assert.same({ "table", "function", "a table\0b", "function" }, core.sandbox_run(
      "return { tostring {}, tostring(print), ('a %s\\0b'):format {}, ('%s'):format(pairs) }", "t"))
  end)
end)

-- Every function that a script can reach, and the bound of a call. "string": as long as a string, which the allocator
-- bounds to 256 KB; "once": a few instructions; "elements": as many elements as the call is charged for, refused
-- above 5e7 steps; "pattern": refused above 5e7 steps; "calls": the functions called are charged; "vertices": of the
-- graph, charged as visits.
local BOUNDS = {
  once = { "assert", "error", "getmetatable", "ipairs", "rawget", "rawlen", "rawset", "type", "setmetatable", "math.abs", "math.acos",
    "math.asin", "math.atan", "math.ceil", "math.cos", "math.deg", "math.exp", "math.floor", "math.fmod", "math.log", "math.modf",
    "math.rad", "math.random", "math.sin", "math.sqrt", "math.tan", "math.type", "math.ult", "string.len" },
  arguments = { "select", "math.max", "math.min", "string.char", "utf8.char", "table.pack" },
  string = { "print", "rawequal", "tonumber", "tostring", "math.tointeger", "string.byte", "string.lower", "string.reverse", "string.sub",
    "string.upper", "string.rep", "string.format", "string.pack", "string.packsize", "string.unpack", "utf8.codepoint", "utf8.codes",
    "utf8.len", "utf8.offset", "text.__add", "text.__div", "text.__idiv", "text.__mod", "text.__mul", "text.__pow", "text.__sub",
    "text.__unm" },
  elements = { "next", "pairs", "table.concat", "table.insert", "table.move", "table.remove", "table.sort", "table.unpack" },
  pattern = { "string.find", "string.gmatch", "string.gsub", "string.match" },
  calls = { "pcall", "xpcall" },
}

-- All functions below the globals, and in the metatable of texts, as a list of names.
local CENSUS = [[
  local found, seen = {}, {}
  local function walk(t, prefix)
    if seen[t] then return end
    seen[t] = true
    for name, value in pairs(t) do
      if type(value) == "function" then found[#found + 1] = prefix .. name end
      if type(value) == "table" then walk(value, value == _G and prefix or name .. ".") end
    end
  end
  walk(_G, "")
  walk(getmetatable "", "text.")
  table.sort(found)
]]

describe("the functions that a script can reach", function()
  local expected = {}
  for _, list in pairs(BOUNDS) do
    for _, name in ipairs(list) do expected[#expected + 1] = name end
  end
  -- Functions of Lua 5.2, where Lua was built with compatibility.
  for _, name in ipairs { "cosh", "sinh", "tanh", "pow", "frexp", "ldexp", "log10" } do
    if core.sandbox_run("return math." .. name .. " ~= nil", "t") then expected[#expected + 1] = "math." .. name end
  end
  table.sort(expected)

  it("in a recipe have a bound each", function()
    assert.same(expected, core.sandbox_run(CENSUS .. "return found", "t"))
  end)

  it("in a policy have a bound each", function()
    local p = assert(core.policy_source(CENSUS .. "return { doc = table.concat(found, ' ') }", "census"))
    assert.equal(table.concat(expected, " "), p.doc)
  end)

  it("of a prelude in a sandbox that stays have errors at the place of the script", function()
    local sandbox = assert(core.sandbox_open("return {\n f = function() g() end }", "t",
      { prelude = "function g() local x x() end return function(t) return t end", bridge = function() end }))
    local ok, why = sandbox:call "f"
    assert.same({ nil, "t:2: attempt to call a nil value (local 'x')" }, { ok, why })
    sandbox:close()
  end)

  it("in a sandbox that stays have a bound each", function()
    local sandbox = assert(core.sandbox_open(CENSUS .. "return { f = function() return table.concat(found, ' ') end }", "t",
      { prelude = "return function(t) return t end", bridge = function() end }))
    assert.same({ true, table.concat(expected, " ") }, { sandbox:call "f" })
    sandbox:close()
  end)

  it("are all those of the libraries of strings, tables and UTF-8, but for string.dump", function()
    local out = { string = { "dump" }, table = {}, utf8 = {} }
    local known = " " .. table.concat(expected, " ") .. " "
    for lib, left_out in pairs(out) do
      for name, f in pairs(_G[lib]) do
        local wanted = type(f) == "function" and not (" " .. table.concat(left_out, " ") .. " "):find(" " .. name .. " ", 1, true)
        if wanted then
          assert.truthy(known:find(" " .. lib .. "." .. name .. " ", 1, true), lib .. "." .. name)
        end
      end
    end
  end)
end)

-- The methods of the graph and its vertices in a sandbox, each with the bound of a call. "steps": charged for each
-- vertex, edge or entry visited, while the function runs; "timed": one call of the core, which visits at most the
-- vertices with jobs, is charged by the clock when it ends; "visits": each visit of a walk is charged.
local HANDLES = {
  once = { "graph.count", "graph.twin", "graph.now", "graph.validity", "graph.root", "graph.aggregate", "graph.__tostring",
    "vertex.parent", "vertex.child", "vertex.children", "vertex.nchildren", "vertex.below", "vertex.aggregate", "vertex.graph",
    "vertex.__tostring", "vertex.__newindex", "vertex.__index", "graph.accumulator", "accumulator.add", "accumulator.__len",
    "accumulator.__tostring" },
  names = { "graph.roots", "graph.types", "graph.subsystems", "vertex.__len", "vertex.__pairs" },
  levels = { "vertex.uri", "vertex.ancestor", "vertex.within" },
  steps = { "graph.edges", "vertex.edges", "vertex.uses", "accumulator.get", "accumulator.list" },
  timed = { "graph.vertex", "graph.__call", "vertex.available", "vertex.jobs", "vertex.shared" },
  visits = { "graph.walk" },
  refused = { "vertex.allocate", "vertex.release", "graph.__gc", "graph.__close", "vertex.__gc", "walk.__gc", "walk.__close",
    "accumulator.__gc", "accumulator.__close" },
}
-- Iterators: a call gives one more element.
local ITERATORS = {
  { "v:children()", "local f = v:children() return f", "once" },
  { "g:edges()", "return (v:graph():edges())", "steps: what was removed is gone over" },
  { "g:walk{}", "return (v:graph():walk {})", "visits" },
  { "pairs(v.properties)", "return (pairs(v.properties))", "once" },
  { "pairs(t)", "return (pairs { 1 })", "once" },
  { "ipairs(t)", "return (ipairs { 1 })", "once" },
  { "gmatch", "return (('a'):gmatch 'a')", "pattern" },
  { "utf8.codes", "return (utf8.codes 'a')", "once" },
}

-- {title, code with v and g, of a machine with many edges and vertices}
local MACHINE_ATTACKS = {
  { "edges of a vertex with many", "local hub = g '/cluster0/switch0' for i = 1, 1e9 do hub:edges() end" },
  { "edges of a vertex with many, in a subsystem", "local hub = g '/cluster0/switch0' for i = 1, 1e9 do hub:edges 'net' end" },
  { "an ordered walk of many edges", "while true do g:walk { subsystem = 'net', start = g '/cluster0/switch0', order_children = rawequal,"
    .. " visit = type } end" },
  { "sorting again and again", "local a = g:accumulator() for i = 1, 1e5 do a:add(v, i) end while true do a:add(v, 1) a:get(1) end" },
  { "listing again and again", "local a = g:accumulator() for i = 1, 1e5 do a:add(v, i) end while true do a:list() end" },
  { "all edges", "while true do for e in g:edges() do end end" },
  { "the first edge behind many that were removed", "while true do g:edges()() end" },
  { "walks, and none of it is told", "while true do for _ in g:walk { type = 'none' } do end end" },
  { "walks with a pruning function in C", "while true do for _ in g:walk { type = 'none', prune = type } do end end" },
  { "walks with an evaluating function in C", "while true do g:walk { evaluate = math.ult, fields = { 'id' }, type = 'none' } end" },
  { "walks with a visiting function in C", "while true do g:walk { visit = type } end" },
  { "walks in an order by a function in C", "while true do g:walk { order_children = rawequal, visit = type } end" },
  { "jobs of the machine", "local top = g:root() while true do top:jobs() end" },
  { "who uses a vertex", "while true do g '/cluster0/node0':uses() end" },
  { "when a vertex is free", "while true do v:available(0, 1e9) end" },
  { "paths", "while true do g '/cluster0/node3999' g '/cluster0/none' end" },
  { "units below", "local top = g:root() while true do top:below 'core' top:aggregate() end" },
}

describe("the methods that a policy can reach", function()
  -- Names of the methods and metamethods of a class.
  local function names_of(class)
    local metatable, names = debug.getregistry()["weir." .. class], {}
    local index = metatable.__index
    if type(index) == "function" then
      local _, methods = debug.getupvalue(index, 2)
      index = type(methods) == "table" and methods or nil
    end
    for _, from in ipairs { metatable, type(index) == "table" and index or {} } do
      for name, f in pairs(from) do
        if type(f) == "function" then names[#names + 1] = name end
      end
    end
    return names
  end

  it("have a bound each", function()
    local known = {}
    for bound, list in pairs(HANDLES) do
      for _, name in ipairs(list) do known[name] = bound end
    end
    local e <close> = assert(weir.engine { resources = "node:1 core:1" })
    local missing = {}
    for _, class in ipairs { "accumulator", "graph", "vertex", "walk" } do
      for _, name in ipairs(names_of(class)) do
        local handle = class == "graph" and "v:graph()" or class == "accumulator" and "v:graph():accumulator()" or "v"
        local there = name:find "^__" and "true" or class == "walk" and "false"
          or ("pcall(function() assert(type(%s.%s) == 'function') end)")
          :format(handle, name)
        local _, why = e:match("slot=1/core", { policy = assert(policy("return { evaluate = function(v) error(tostring((" .. there
          .. ")), 0) end }")) })
        if why:find("true", 1, true) and not known[class .. "." .. name] then missing[#missing + 1] = class .. "." .. name end
      end
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "), "say here what bounds them")
  end)

  it("give iterators that are functions, with a bound each", function()
    local e <close> = assert(weir.engine { resources = "node:1 core:1" })
    for _, row in ipairs(ITERATORS) do
      local _, why = e:match("slot=1/core", { policy = assert(policy("return { evaluate = function(v) local f = (function() " .. row[2]
        .. " end)() error(type(f), 0) end }")) })
      assert.truthy(why:find("function", 1, true), row[1] .. ": " .. why)
    end
  end)

  -- A machine with many edges and vertices, and a job.
  local function large()
    local g = assert(weir.synthetic "cluster:1 node:4000 core:2")
    local hub = assert(g:add(g:root(), { type = "switch", id = 0 }))
    for node in g:root():children() do
      if node.type == "node" then assert(g:add_edge(hub, node, { subsystem = "net" })) end
    end
    local e = assert(weir.engine { resources = g })
    assert(e:match "slot=4/node")
    return e, g
  end

  for _, attack in ipairs(MACHINE_ATTACKS) do
    it("end by the budget: " .. attack[1], function()
      in_time(function()
        local e <close>, g = large()
        if attack[1]:find "removed" then
          local ends = {}
          for edge in g:edges() do ends[#ends + 1] = edge.target end
          for i = 1, #ends - 1 do assert(g:unlink(ends[i], "net")) end
        end
        local bad = assert(policy(("return { evaluate = function(v) local g = v:graph() %s end }"):format(attack[2])))
        local a, why, code = e:match("slot=1/core", { policy = bad })
        assert.same({ nil, "policy" }, { a, code })
        assert.truthy(why:find "attack:1: ", why)
        assert.truthy(why:find "instructions" or why:find "memory", why)
        assert(g:check())
      end)
    end)
  end
end)

describe("metatables of scripts", function()
  local function run(text) return core.sandbox_run(text, "t") end

  it("are given back as they are, and work", function()
    assert.same({ true, 7, "it", 3, true, 2 }, run [[
      local m = { __index = { x = 7 }, __tostring = function() return "it" end, __len = function() return 3 end }
      m.__eq = function() return true end
      local t, u = setmetatable({}, m), setmetatable({}, m)
      local again = setmetatable(setmetatable({}, m), { __index = { x = 2 } })
      return { getmetatable(t) == m, t.x, tostring(t), #t, t == u, again.x }]])
  end)

  it("can be protected, and taken away", function()
    assert.same({ "no", false, "protected", true }, run [[
      local t = setmetatable({}, { __metatable = "no" })
      local ok, why = pcall(setmetatable, t, {})
      return { getmetatable(t), ok, why:match "protected", getmetatable(setmetatable(setmetatable({}, {}), nil)) == nil }]])
  end)

  it("have the metamethods that they had when setmetatable was called", function()
    assert.same({ true, 2 }, run [[
      local m = {}
      local t = setmetatable({}, m)
      m.__index = { x = 2 }
      return { t.x == nil, setmetatable({}, m).x }]])
  end)
end)
