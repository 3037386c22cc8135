-- Senseless calls from Lua: each raises an error, or returns nil and a reason, and leaves graph and engine unchanged.
local core = require "weir.core"
local operations = require "spec.support.operations"
local weir = require "weir"

local function policy(text) return assert(core.policy_source("return { name = 'p', " .. text .. " }", "p")) end
local function place(w, text) return w.e:match("slot=1/core=1", { job = 9, policy = policy(text), duration = 1 }) end

-- Title, a call in a world (spec/support/operations.lua), a part of the message.
local CALLS = {
  -- the options of calls
  { "a job below 0", function(w) return w.e:match("slot=1/core=1", { job = -1 }) end,
    "field 'job': a job number above 0 expected, got -1" },
  { "a trace that is no table", function(w) return w.e:match("slot=1/core=1", { trace = 3 }) end,
    "field 'trace': a table to be filled expected" },
  { "a time that is none", function(w) return w.g:advance(0 / 0) end, "a time in seconds expected" },
  { "a zero byte in a field", function(w) return w.g:add(nil, { type = "a\0b" }) end, "field 'type' contains a zero byte" },
  { "tags that are no table", function(w) return w.g:add(nil, { type = "a", tags = 3 }) end, "field 'tags': table expected, got number" },
  { "tags by number", function(w) return w.g:add(nil, { type = "a", tags = { "x" } }) end, "field 'tags': names with true" },
  { "a tag that is a table", function(w) return w.g:add(nil, { type = "a", tags = { x = {} } }) end, "field 'tags': names with true" },
  { "a tag with a zero byte", function(w) return w.g:add(nil, { type = "a", tags = { x = "\0" } }) end, "contains a zero byte" },
  { "a constraint that is a number", function() return core.constraint(3) end, "table or JSON text expected, got number" },
  { "no budget", function() return core.policy_source("return {}", "p", { seconds = 0 }) end,
    "instructions, memory and seconds are above 0" },
  { "budgets of a sandbox", function() return core.sandbox_run("return {}", "p", { seconds = "x" }) end,
    "field 'seconds': number expected" },
  { "a sandbox without seconds", function() return core.sandbox_run("return {}", "p", { seconds = 0 }) end,
    "instructions, memory and seconds are above 0" },
  { "a class that is none", function() return core.methods "thing" end, "there is no class 'thing'" },
  { "a subsystem to walk", function(w) return w.g:walk { subsystem = "water" } end, "there is no subsystem 'water'" },
  { "options of a picture", function(w) return w.g:write(io.stdout, "svg", { start = "/nowhere" }) end, "nowhere" },
  { "a list of ids and a number", function() return core.idset "1-3" <= false end, "idset" },
  { "a request that cannot be read", function() return weir.request "/proc/self/mem" end, "Input/output error" },
  { "hosts that are none", function(w) return w.must(w.g:rset()):remap { hosts = "a[" } end, "hostlist: ends at column 3" },
  { "ids that are none", function() return core.idset "1-3" <= "x-" end, "idset" },
  { "a file that cannot be read", function() return core.load("/proc/self/mem", { format = "jgf" }) end, "cannot read" },
  { "a key of many letters", function()
    return core.request(('{"resources":[{"type":"node","count":1,"a%s":1}]}'):format(("\u{e9}"):rep(300)))
  end, "\u{e9}..." },
  { "a request that is no JSON", function() return core.request '{"resources":\n\t"a\nb"}' end, "not valid JSON" },
  { "a shape of what is more", function()
    local keys = {}
    for i = 1, 20 do keys[i] = ('"%s%d":1'):format(("k"):rep(60), i) end
    local text = '{"resources":[{"type":"node","count":1}],"attributes":{"system":{' .. table.concat(keys, ",") .. '}}}'
    return core.request(text):format "shape"
  end, "a shape says resources and a duration only" },
  { "hosts of another shape", function(w) return w.must(w.g:rset()):remap { hosts = 3 } end, "hostlist" },
  { "a vertex taken for a table", function(w) return #w.v end, "a vertex is no table; its properties, tags and data are" },
  { "pairs of a vertex", function(w) return pairs(w.v) end, "a vertex is no table; its properties, tags and data are" },
  -- JSON
  { "a list with holes", function() return weir.json.encode(core.array { 1, nil, 3 }) end, "a list with holes" },
  { "a list with names", function() return weir.json.encode(core.array { 1, x = 1 }) end, "a list with the key 'x'" },
  { "a key with a zero byte", function() return weir.json.encode { ["a\0"] = 1 } end, "a key with a zero byte" },
  { "a function", function() return weir.json.encode { a = print } end, "cannot be written as JSON" },
  -- walks
  { "a score that is a text", function(w) return w.g:walk { best = 2, evaluate = function() return "x" end } end,
    "evaluate must return a number, nil or false, not string" },
  { "a type with quotes", function(w) return core.filter_walk(policy("prune = function() return true end"), w.g, { type = 'a"b' }) end,
    "type: expected a name without quotes, backslashes and control characters" },
  { "a number that is none", function(w) return w.g:find "size<1e5x" end, "1e5x" },
  { "a text to start from that names nothing", function(w) return w.g:format("dot", { start = "/cluster0/rack9" }) end,
    "there is no 'rack9'" },
  { "the same, to a file", function(w) return w.g:write(io.stdout, "dot", { start = "/nope" }) end, "there is no 'nope'" },
  { "a subsystem with a long name", function(w) return w.v:parent(("a"):rep(99) .. "\u{e9}" .. ("b"):rep(9)) end,
    "there is no subsystem '" .. ("a"):rep(99) .. "...'" },
  { "a hierarchy of three parts, for a match", function(w) return w.e:match("slot=1/core", { subsystem = "a:b:c" }) end,
    "a hierarchy such as power, or containment:rack to give whole racks, expected, got 'a:b:c'" },
  { "a worker that is too nice", function() return core.worker(function() end, { nice = 99 }) end, "nice from 0 to 19" },
  -- connections
  { "a file that is no socket", function() return core.inherited(0) end, "an inherited socket" },
  -- policies
  { "an option by its place", function() return core.policy_source("return { options = { k = 4 } }", "p", { options = { 7 } }) end,
    "options are given by name, such as {k = 4}" },
  { "an option that is no number", function()
    return core.policy_source("return { options = { k = { default = 1.5, min = 0 } } }", "p", { options = { k = "nan" } })
  end, "option 'k'" },
  { "a name with a zero byte", function() return core.policy_source("return { name = 'a\\0b' }", "p") end, "has a zero byte" },
  { "a name that is not UTF-8", function() return core.policy_source("return { name = 'a\\xff' }", "p") end, "the string is not UTF-8" },
  { "a name with a line end", function() return core.policy_source("return { name = 'a\\nb' }", "p") end,
    "a name has no control characters" },
  { "a name with a control character of two bytes", function() return core.policy_source("return { name = 'a\\u{85}b' }", "p") end,
    "a name has no control characters" },
  { "a hierarchy of three parts", function() return core.policy_source("return { subsystem = 'a:b:c' }", "p") end,
    "field 'subsystem': a hierarchy such as \"power\", or \"containment:rack\" to give whole racks, expected, got 'a:b:c'" },
  { "an origin that is no text", function() return core.policy_source("return {}", "p", { origin = 3 }) end,
    "field 'origin': string expected, got number" },
  { "a policy with a long name that fails", function(w)
    local e = assert(core.engine { resources = w.g, policy = assert(core.policy_source(
      ("return { name = '%s\u{e9}\u{e9}', prune = function() error 'x' end }"):format(("n"):rep(59)), "p")) })
    return e:match "slot=1/core=1"
  end, "policy " .. ("n"):rep(59) .. "\u{e9}\u{e9}: prune: p:1: x" },
  { "a field by its place", function() return core.policy_source("return { name = 'a', 3 }", "p") end, "there is no field 'number'" },
  { "an order that is no number", function(w) return place(w, "order = function(v) return 'x' end") end, "order" },
  { "an order that is none", function(w) return place(w, "order = function(v) return 0/0 end") end, "order" },
  { "a choice that is a number", function(w) return place(w, "select = function() return 3 end") end,
    "it must return a list of candidates or of their positions, or nil" },
  { "a choice of something else", function(w) return place(w, "select = function() return { 'x' } end") end,
    "it must return a list of candidates or of their positions, or nil" },
  { "a job that is not admitted", function(w) return place(w, "admit = function() return false end") end, "it gave no reason" },
  { "a policy that writes", function(w) return place(w, "prune = function(v) v.tags.x = 1 end") end, "a policy may only read the graph" },
  { "an error of several lines", function(w) return place(w, "prune = function() error('a\\nb\\tc', 0) end") end, "a b c" },
  { "an admission of a number", function(w) return place(w, "admit = function() return 3 end") end,
    "it must return nothing, false and a reason, or the jobspec to be matched" },
}

describe("called without sense", function()
  for _, case in ipairs(CALLS) do
    it("says so: " .. case[1], function()
      local w = operations.world "."
      local before = w.g:dup()
      local ok, result, why = pcall(case[2], w)
      assert.is_true(not ok or not result, "it went through")
      assert.is_truthy(tostring(ok and why or result):find(case[3], 1, true), tostring(ok and why or result))
      assert(w.g:check())
      assert(w.g:compare(before, true))
      assert(w.e:match("slot=1/core=1", { job = 4711 }))
    end)
  end
end)

-- ---- while a match runs ---------------------------------------------------------------------------------------

local MATCHING = {
  { "closes the engine", function(w) w.e:close() end, "the engine cannot be closed while a match runs" },
  { "closes the graph", function(w) w.g:close() end, "the graph cannot be closed while a match runs on it" },
  { "changes the graph", function(w) w.g:add(nil, { type = "x" }) end, "the graph cannot be changed while a match runs on it" },
  { "matches", function(w) w.e:match "slot=1/core=1" end, "match" },
}
describe("a policy of the program's own that", function()
  for _, case in ipairs(MATCHING) do
    it(case[1] .. " fails", function()
      local w = operations.world "."
      local p = assert(core.policy_table { name = "own", prune = function() case[2](w) return true end })
      local a, why, code = w.e:match("slot=1/core=1", { job = 9, policy = p })
      assert.same({ nil, "policy" }, { a, code })
      assert.is_truthy(why:find(case[3], 1, true), why)
      assert(w.g:check())
      assert(w.e:match("slot=1/core=1", { job = 4711 }))
    end)
  end
end)

describe("an explanation", function()
  for _, call in ipairs { 1, 18, 31 } do -- calls of the hook: the policy goes during the first match of many, the second, the third
    it("ends where its policy is closed by call " .. call .. " of a hook, and does not leave the core by a raise", function()
      local g <close> = assert(weir.synthetic "cluster:1 node:4 core:2")
      local e <close> = assert(weir.engine { resources = g })
      assert(e:match("node=2/slot=1/core=2", { job = 1, duration = 10 }))
      local n, p = 0, nil
      p = assert(core.policy_table { name = "own", prune = function()
        n = n + 1
        if n == call then debug.getmetatable(p).__gc(p) end
        return true
      end })
      assert.same({ nil, "the policy is closed", "policy" }, { e:explain("node=3/slot=1/core=2", { policy = p }) })
      assert.is_true(n > call)
      assert(g:check())
      assert.equal("busy", assert(e:explain "node=3/slot=1/core=2").verdict)
    end)
  end
end)

-- ---- odd but valid calls ------------------------------------------------------------------------------------------

-- Title, a call in a world, the result.
local GOOD = {
  { "gives the pieces of what changed, and no others", function(w)
    local root = w.g:root()
    for _ = 1, 600 do assert(w.g:add_edge(root, w.v, { subsystem = "net", type = "x" })) end
    local p = assert(w.g:pieces())
    assert(p:stored(w.g))
    assert(w.g:add_edge(root, w.v, { subsystem = "net", type = "y" }))
    local keys = {}
    p = assert(w.g:pieces(p:stamp()))
    for i = 1, 99 do
      local key = p:at(i)
      if key and key:find "^edges" then keys[#keys + 1] = key end
    end
    return table.concat(keys, " ")
  end, "edges/2/ edges/2/0" },
  { "writes a part of a graph from a vertex given by path", function(w)
    local path = w.v.path
    assert(w.g:format("csv", { start = path }) == w.g:format("csv", { start = w.v }))
    local text, _, code = w.g:format("csv", { start = path .. "/nowhere" })
    local file <close> = assert(io.tmpfile())
    local written, _, other = w.g:write(file, "csv", { start = "/nowhere" })
    return ("%s %s %s %s"):format(text, code, written, other)
  end, "nil unknown nil unknown" },
  { "calls a function as often as that", function()
    local sum = 0
    core.calls(function(x, y) sum = sum + x * y end, 5, 2, 3)
    return sum
  end, 30 },
  { "knows hosts by long names", function()
    local name = ("n"):rep(5000)
    local h = core.hostlist(name .. ",b[1-2]")
    return #h[1] + #h .. h[3]
  end, "5003b2" },
  { "has no slots of a set that has no job", function(w) return w.g:rset():nslots() == nil end, true },
  { "has the slots of a job", function(w) return w.a:rset():nslots() end, 1 },
  { "tells names apart that differ late", function(w)
    local other = w.g:dup()
    for i, g in ipairs { w.g, other } do assert(g:add(g:root(), { type = "thing", name = ("n"):rep(5000) .. i })) end
    return select(2, w.g:compare(other)):match "differ late"
  end, "differ late" },
  { "finds by numbers that nothing has", function(w)
    return table.concat({ #w.g:find "id<-1e300", #w.g:find "id>-1e300 and type=rack", #w.g:find "id>1e300",
      #w.g:find "size<9e99 and type=rack",
      #w.g:find "name=node[0-2,1-3]", #w.g:find "name=node[2,0-9]", #w.g:find "name=r?ck*" }, " ")
  end, "0 2 0 2 4 4 2" },
  { "finds what has no name of ASCII", function(w)
    assert(w.g:add(w.g:root(), { type = "thing", name = "m\u{f6}bel-\u{673a}\u{5668}" }))
    return #w.g:find "name=m?bel-??" .. #w.g:find "name=m??bel*"
  end, "10" },
  { "finds pools whose number is below 0", function(w)
    assert(w.g:add(w.g:root(), { type = "thing", id = -12 }))
    return #w.g:find "name=thing-12" .. #w.g:find "name=thing-1[0-9]" .. #w.g:find "id=-12"
  end, "111" },
  { "walks as a policy would", function(w)
    local list = core.filter_walk(policy("prune = function(v) return v.type ~= 'gpu' end, evaluate = function(v) return v.id or 0 end"),
      w.g)
    return #list > 0
  end, true },
  { "has nothing free of what there is not", function(w)
    local free, idle = w.e:free "tank"
    return free .. " " .. idle
  end, "0 0" },
  { "stops a walk where a score is false", function(w)
    -- Postorder: children of the first node.
    return #w.g:walk { best = 9, evaluate = function(v) return v.type ~= "node" and 1 end }
  end, 4 },
  { "passes size and number to a filter", function(w)
    local sum = 0
    for _ in w.g:walk { fields = { "size", "index" }, prune = function(_, size, index) sum = sum + size + index return true end } do
      sum = sum + 0
    end
    return sum > 100
  end, true },
  { "keeps finalizers from changing a graph", function(w)
    local said
    setmetatable({}, { __gc = function() said = select(2, pcall(w.g.add, w.g, nil, { type = "x" })) end })
    collectgarbage()
    return said:match "a finalizer may not change a graph"
  end, "a finalizer may not change a graph" },
  { "shows the graph to a policy, but not to close", function(w)
    local p = policy "init = function(graph) if tostring(graph) ~= 'graph of 26 vertices' then error(tostring(graph), 0) end end"
    return select(2, w.e:match("slot=1/core=1", { job = 9, policy = p })) or "fine"
  end, "fine" },
  { "merges what is left of a machine", function(w)
    local other = weir.synthetic "cluster:1 row:2 node:1"
    local gone = other:add(nil, { type = "gone" })
    assert(other:add(nil, { type = "tower", id = 0 }))
    assert(other:unlink(gone))
    assert(w.g:merge(other))
    return #w.g:find "type=gone or type=tower or type=row"
  end, 3 },
  { "takes a vertex out of one subsystem of two", function(w)
    local v = assert(w.g:add(nil, { type = "thing" }))
    for _, name in ipairs { "net", "water" } do assert(w.g:add_edge(v, w.v, { subsystem = name, type = "x" })) end
    assert(w.g:unlink(v, "net"))
    local left = #v:edges()
    assert(w.g:unlink(v, "water"))
    return left .. #w.g:find "type=thing"
  end, "10" },
  { "has no budget for a policy of the program's own", function() return core.policy_table { name = "x" }.budget == nil end, true },
  { "reads options from text", function()
    local p = assert(core.policy_source("return { options = { on = true, off = { default = true } } }", "p",
      { options = { on = "no", off = "false" } }))
    return tostring(p.options.on.value) .. tostring(p.options.off.value)
  end, "falsefalse" },
  { "makes an empty array", function() return weir.json.encode { a = core.array(), b = core.array {} } end, '{"a":[],"b":[]}' },
  { "names the first of many jobs in the way", function(w)
    local v = w.g:add(w.g:root(), { type = "tank", size = 100 })
    for job = 11, 60 do assert(v:allocate { job = job, amount = 1 }) end
    local _, why = w.g:unlink(v)
    return why:match "and %d+ more" ~= nil
  end, true },
  { "counts a job once that is below and above", function(w)
    local ok, _, _, jobs = w.g:unlink(w.v)
    return not ok and #jobs
  end, 3 },
}
describe("the module", function()
  for _, case in ipairs(GOOD) do
    it(case[1], function()
      local w = operations.world "."
      assert.equal(case[3], case[2](w))
      assert(w.g:check())
    end)
  end
end)

describe("a sandbox that stays", function()
  local PRELUDE = [[local bridge = ...
    return function() return { f = bridge, g = function() return {} end, h = function(...) return ... end } end]]
  local CALLED = { -- function, argument, result
    { "h", 7, true, 7 }, { "h", "x", true, "x" }, { "h", false, true, false }, { "f", 1, true, 2 },
    { "g", nil, nil, "only nil, booleans, numbers and strings go in and out, not a table" },
    { "h", {}, nil, "only nil, booleans, numbers and strings go in and out, not a table" },
    { "f", "table", nil, "only nil, booleans, numbers and strings go in and out, not a table" },
    { "f", "error", nil, "no more" }, { "none", 1, nil, "there is no function 'none'" },
  }
  for i, case in ipairs(CALLED) do
    it(("%d: %s(%s)"):format(i, case[1], tostring(case[2]):match "%w+"), function()
      local sb = assert(core.sandbox_open("return {}", "text", { prelude = PRELUDE, bridge = function(x)
        if x == "error" then error("no more", 0) end
        return x == "table" and {} or x + 1
      end }))
      local ok, result, code = sb:call(case[1], case[2])
      assert.equal(case[3], ok)
      if ok then
        assert.equal(case[4], result)
      else
        assert.is_truthy(result:find(case[4], 1, true), result)
        assert.equal("policy", code)
      end
      assert.is_true((sb:call("h", 1)))
      sb:close()
    end)
  end
end)

describe("in a sandbox", function()
  local RUNS = { -- text, returned value
    { "local ok, x, y = pcall(function(a) return a, 2 end, 1) return { ok and x + y }", { 3 } },
    { "local ok, why = pcall(error, 'x') return { ok, why }", { false, "x" } },
    { "local ok, x, y = xpcall(function(a) return a, 2 end, print or tostring, 1) return { ok and x + y }", { 3 } },
    { "local ok, why = xpcall(error, function(e) return e .. '!' end, 'x') return { ok, why }", { false, "x!" } },
    { "local t = { 1, 2 } table.insert(t, 1, 0) table.insert(t, 3) return t", { 0, 1, 2, 3 } },
    { "return { (('ab'):rep(300):match '^(a?b?)+$') or 'none', (('x'):rep(200):find '.-.-y') or 'none' }", { "none", "none" } },
    { "local t = {} for k in pairs { [true] = 1, [false] = 2, [2] = 3, [1] = 4, b = 5, a = 6 } do t[#t + 1] = tostring(k) end return t",
      { "false", "true", "1", "2", "a", "b" } },
  }
  for i, case in ipairs(RUNS) do
    it(("%d: %s"):format(i, case[1]), function()
      assert.same(case[2], assert(core.sandbox_run(case[1], "text")))
    end)
  end
end)

-- ---- requests beyond the limits of the search ---------------------------------------------------------------------

local function side_by_side(n, format)
  local parts = {}
  for i = 1, n do parts[i] = format:format(i) end
  return "[" .. table.concat(parts, ";") .. "]"
end
local function alternatives(types, n)
  local slots = {}
  for i, kind in ipairs(types) do
    slots[i] = { type = "or_slot", count = n, label = kind, with = { { type = kind, count = 1 } } }
  end
  return weir.json.encode { resources = slots }
end
-- Even parts of 404 units in all, for nodes of an odd number of units each, 408 in all: they do not fit, for no simple reason.
local function uneven()
  local parts, nodes = {}, {}
  for i = 1, 36 do parts[i] = ("slot=1{s%d}/node{-x}/memory=%d"):format(i, i == 36 and 16 or 8 + i % 4 * 2) end
  for i = 1, 12 do nodes[i] = { type = "node", id = 20 + i, { type = "memory", size = 2 * i + 21 }, { type = "core" } } end
  return "[" .. table.concat(parts, ";") .. "]", nodes
end
local UNEVEN, NODES = uneven()
local KINDS = { "core", "gpu", "memory", "disk", "nic", "fpga" }
local TOO_MUCH = { -- title, request, message, the nodes
  { "too many resources that compete", side_by_side(300, "slot=1{s%d}/core"), "more than 256 resources compete with each other" },
  { "too many ways to share", UNEVEN, "40000 tries did not show", NODES },
  { "too many mixes", alternatives(KINDS, 100), "or_slots: there are too many mixes to try" },
}
describe("what is asked for", function()
  for _, case in ipairs(TOO_MUCH) do
    it("may be too much to find out: " .. case[1], function()
      local all = { type = "node", count = 12, { type = "core", count = 4 } }
      for i = 2, #KINDS do all[i] = { type = KINDS[i], count = 64 } end
      all[#all + 1] = case[1] == "too many mixes" and { type = "core", id = 9, count = 60 } or nil
      local g <close> = assert(weir.recipe { type = "cluster", table.unpack(case[4] or { all }) })
      local e = assert(weir.engine { resources = g })
      for _, f in ipairs { e.match, e.explain } do
        local x, why, code = f(e, case[2])
        assert.same({ nil, "limit" }, { x, code })
        assert.is_truthy(why:find(case[3], 1, true), why)
      end
      assert(g:check())
      assert(e:match "slot=1/core")
    end)
  end
end)

-- ---- explanations -----------------------------------------------------------------------------------------------

describe("an explanation", function()
  it("is by the hooks of a policy, each of them", function()
    local g <close> = weir.synthetic "cluster:1 node:4 core:2"
    local asked = {}
    local own = { name = "own", order = "-id",
      prune = function(v) asked.prune = true return v.type ~= "node" or v.id ~= 3 end,
      evaluate = function(v) asked.evaluate = true return v.id end,
      select = function(list, _, min)
        asked.select = true
        local out = {}
        for i = 1, min do out[i] = list[i] end
        return out
      end }
    local e = assert(weir.engine { resources = g, policy = own })
    local x = assert(e:explain("slot=4/node"))
    assert.same({ prune = true, evaluate = true, select = true }, asked)
    assert.same({ "infeasible", "policy" }, { x.verdict, x.ways[1][1].kind })
    x = assert(e:explain("slot=3/node"))
    assert.equal("fits", x.verdict)
    assert(g:check())
  end)
end)

describe("the command", function()
  local RUNS = { -- text of a script, WEIR_TRACE, status, text on stderr
    { "error('x', 0)", "", 1, "weir: x" }, { "error('x', 0)", "1", 1, "stack traceback" }, { "error({})", "", 1, "weir: table: 0x" },
  }
  for i, case in ipairs(RUNS) do
    it(("says what went wrong, %d: %s"):format(i, case[4]), function()
      local path = os.tmpname()
      local f = assert(io.open(path, "w"))
      f:write(case[1])
      f:close()
      local pipe = assert(io.popen(("WEIR_TRACE=%s '%s' run %s 2>&1; echo \" $?\""):format(case[2], os.getenv "WEIR_BIN", path)))
      local out = pipe:read "a"
      pipe:close()
      os.remove(path)
      assert.is_truthy(out:find(case[4], 1, true), out)
      assert.matches(" " .. case[3] .. "\n$", out)
    end)
  end

  it("lets coroutines of the shell run, and looks after them", function()
    local code = "print(coroutine.wrap(function() local n = 0 for i = 1, 1000000 do n = n + i end coroutine.yield(n) end)())"
    local pipe = assert(io.popen(("echo '%s' | '%s' repl -r node:1 2>&1"):format(code, os.getenv "WEIR_BIN")))
    local out = pipe:read "a"
    pipe:close()
    assert.is_truthy(out:find("500000500000", 1, true), out)
  end)
end)
