-- Attacks on the sandbox. Whatever a policy from a file does, the match fails clearly or continues unharmed, the
-- schedules are unchanged, and the next match works.
local core = require "weir.core"
local weir = require "weir"

-- A small budget, so that attacks that end only by the budget end soon.
local BUDGET = { instructions = 2000000, memory = 8 << 20, seconds = 5 }

local function load_policy(text, budget)
  local b = budget or BUDGET
  return core.policy_source(text, "attack", { instructions = b.instructions, memory = b.memory, seconds = b.seconds })
end

-- The schedules as a text.
local function books(e)
  local list = {}
  for _, job in ipairs(e:jobs()) do list[#list + 1] = job.id .. " " .. job:format "jgf" end
  table.sort(list)
  return table.concat(list, "\n")
end

local e

before_each(function()
  e = assert(weir.engine { resources = "cluster:1 rack:2 node:3 core:4" })
  assert(e:match "slot=2/node")
end)

local function assert_unharmed(before)
  assert.equal(before, books(e))
  assert(e:resources():check())
  assert(e:use "low")
  assert(e:match "slot=1/node")
end

-- {title, code inside a hook; or the whole text of a policy}. `stops`: the message must name it; `harmless`: the
-- match may continue, as the attack achieves nothing.
local STOPS = {
  { "an endless loop", "while true do end", "budget of %d+ instructions" },
  { "an endless loop in pcall", "while true do pcall(function() while true do end end) end", "instructions" },
  { "an endless loop in xpcall's handler", "xpcall(error, function() while true do end end)", "instructions" },
  { "an endless loop in a handler of errors in handlers",
    "xpcall(error, function() error(setmetatable({}, {__tostring=function() while true do end end})) end) while true do end",
    "instructions" },
  { "an endless loop in __index", "local t = setmetatable({}, {__index=function() while true do end end}) return t.x", "instructions" },
  { "an endless loop in __close", "local x <close> = setmetatable({}, {__close=function() while true do end end})", "instructions" },
  { "an endless loop in a string metamethod",
    "getmetatable('').__add = function() while true do end end return 'a' + {}", "." },
  { "an endless loop in a comparison for table.sort",
    "table.sort({3,2,1}, function() while true do end end)", "instructions" },
  { "a comparison that contradicts itself",
    "local t={} for i=1,1000 do t[i]=i%7 end table.sort(t, function() return true end)", "invalid order function" },
  { "a tail call without end", "local function f() return f() end return f()", "instructions" },
  { "an iterator without end", "for _ in function() return 1 end do end", "instructions" },
  { "goto in a circle", "::a:: goto a", "instructions" },
  { "string.rep", "return #('x'):rep(1 << 30)", "memory" },
  { "string.rep of nothing, for ever", "local s = (''):rep(1 << 62) error(#s)", "0" },
  { "string.rep again and again", "for i = 1, 1e7 do ('x'):rep(1 << 17) end", "instructions" },
  { "a length that lies, to insert", "table.insert(setmetatable({}, {__len=function() return 1 << 60 end}), 1, 1)", "metatable" },
  { "a length that lies, to concat",
    "table.concat(setmetatable({}, {__len=function() return 1 << 60 end, __index=function() return '' end}))", "metatable" },
  { "concat without end", "table.concat({}, '', 1, 1 << 62)", "." },
  { "unpack from end to end", "table.unpack({}, math.mininteger, math.maxinteger)", "too many" },
  { "move without end", "table.move({}, 1, 1 << 60, 2)", "too many" },
  { "variables of its own without end", "_ENV = setmetatable({}, {__index=function() while true do end end}) return x", "instructions" },
  { "closing what has to be closed, without end",
    "local function f() return setmetatable({}, {__close=function() local y <close> = f() end}) end local x <close> = f()", "overflow" },
  { "a handler that is its own", "local function h() return xpcall(error, h) end return h()", "overflow" },
  { "arguments that grow", "local function f(...) local t = {...} return f(1, ...) end f()", "." },
  { "values in the place of many", "return select('#', (function(...) return ... end)(table.unpack({}, 1, 2e5)))", "memory" },
  { "an equality of itself",
    "local m = {} m.__eq=function(a, b) return a==b end return setmetatable({}, m)==setmetatable({}, m)", "overflow" },
  { "an __index of itself", "local t = {} for i = 1, 3000 do t = setmetatable({}, {__index=t}) end return t.x", "chain too long" },
  { "walks without end", "for i = 1, 1e7 do for c in v:graph():walk{} do end end", "instructions" },
  { "string.rep with a separator", "return #('x'):rep(1 << 28, 'yy')", "memory" },
  { "a table that grows", "local t = {} for i = 1, 1e9 do t[i] = i end", "memory" },
  { "a text that doubles", "local s = 'x' while true do s = s .. s end", "memory" },
  { "table.concat of much", "local t = {} for i = 1, 30 do t[i] = ('x'):rep(200000) end return table.concat(t)", "memory" },
  { "a string that is too long", "return #('x'):rep((1 << 18) + 1)", "a string may have 256 KB" },
  { "a text that is looked for as it is, at each place of a longer one",
    "return (('a'):rep(1 << 17)):find(('a'):rep(1 << 16) .. 'b', 1, true)", "look for 65537 bytes" },
  { "string.format widths", "return #('%99d'):rep(1e7):format(1)", "." },
  { "gsub that explodes", "local s = ('x'):rep(3000) while true do s = s:gsub('x', s) end", "memory" },
  { "memory in pcall, again and again",
    "local keep = {} while true do pcall(function() for i = 1, 1e9 do keep[i] = i end end) end", "memory" },
  { "table.unpack of much", "return select('#', table.unpack({}, 1, 1e7))", "." },
  { "a pattern that backtracks", "return (('a'):rep(30) .. 'b'):rep(100):find(('a*'):rep(20) .. 'c')", "pattern" },
  { "a pattern that backtracks in gsub", "return (('a'):rep(5000)):gsub(('.-'):rep(12) .. 'b', '')", "pattern" },
  { "gmatch that backtracks", "for _ in (('a'):rep(5000)):gmatch(('.-'):rep(12) .. 'b') do end", "pattern" },
  { "brackets that are never closed", "return (('('):rep(1 << 16)):find('%b()')", "pattern" },
  { "a capture compared again and again", "return (('a'):rep(20000) .. 'b'):find('(.*)%1c')", "pattern" },
  { "deep recursion", "local function f() return 1 + f() end return f()", "memory" },
  { "deep recursion in C", "local function f() return ('x'):gsub('.', f) end return f()", "overflow" },
  { "deep recursion in metamethods",
    "local t = {} setmetatable(t, {__index = function(_, k) return t[k] end}) return t.x", "overflow" },
  { "an error whose text loops", "error(setmetatable({}, {__tostring=function() while true do end end}))", "." },
  { "an error that is no text", "error({})", "." },
  { "an error that is nil", "error(nil)", "." },
  { "a score that is not a number", "do return 0/0 end", "number" },
  { "a score that is a text", "do return '7' end", "number" },
  { "a score that is a table", "do return {} end", "number" },
  { "a change of the graph", "v.state = 'down'", "only read" },
  { "a tag", "v.tags.mine = 'x'", "only read" },
  { "a property", "v.properties.mine = 'x'", "only read" },
  { "an allocation of its own", "v:allocate{job = 9, amount = 1}", "only read" },
  { "a release", "v:release{job = 1}", "." },
  { "a pool of its own", "v:graph():add(v, {type = 'core'})", "." },
  { "an unlink", "v:graph():unlink(v)", "." },
  { "closing the graph", "v:graph():close()", "." },
  { "merging the graph into itself", "v:graph():merge(v:graph())", "." },
  { "a vertex of another type of number", "return v + 1", "." },
  { "load of text", "return load 'return 1'", "." },
  { "load of bytecode", "return load('\\27Lua')", "." },
  { "require", "return require 'os'", "." },
  { "io", "return io.open '/etc/passwd'", "." },
  { "os", "return os.execute 'true'", "." },
  { "debug", "return debug.getregistry()", "." },
  { "string.dump", "return string.dump(function() end)", "." },
  { "dofile", "return dofile '/etc/passwd'", "." },
  { "collectgarbage", "return collectgarbage 'stop'", "." },
  { "a coroutine", "return coroutine.wrap(function() end)", "." },
  { "a finalizer", "return setmetatable({}, {__gc = function() while true do end end})", "finalizer" },
  { "addresses", "return ('%p'):format({})", "address" },
  { "pairs over addresses", "for k in pairs{[{}] = 1} do return #k end", "fixed order" },
}

-- Calls with a look at every byte of the longest strings within one instruction; the count of instructions hardly
-- grows.
local SLOW = {
  { "tonumber", "local s = ('1'):rep(200000) while true do tonumber(s) end" },
  { "packsize", "local s = ('b'):rep(200000) while true do s:packsize() end" },
  { "less than", "local z = ('\\0'):rep(200000) local a, b, n = z .. 'a', z .. 'b', 0 while a < b do n = n + 1 end" },
  { "equal", "local z = ('x'):rep(200000) local a, b, n = z .. 'a', z .. 'b', 0 while a ~= b do n = n + 1 end" },
  { "table.sort", "local z = ('\\0'):rep(200000) local t, a, b = {}, z .. 'a', z .. 'b' "
    .. "for i = 1, 50000 do t[i] = i % 2 == 0 and a or b end table.sort(t)" },
  { "utf8.len", "local s = ('x'):rep(200000) while true do utf8.len(s) end" },
  { "byte", "local s = ('x'):rep(200000) while true do s:byte(1, 10000) end" },
}

-- Harmless attempts: each match continues.
local HARMLESS = {
  { "tries to change its libraries", "pcall(function() string.format = nil end) assert(string.format and #('x'):rep(2) == 2)" },
  { "tries to replace its globals", "for _, f in ipairs { 'pcall', 'pairs' } do pcall(rawset, _G, f, nil) end assert(pairs)" },
  { "tries to change the metatable of texts", "pcall(function() getmetatable('').__index = nil end) assert(('x'):upper() == 'X')" },
  { "asks for the metatable of a vertex", "local m = getmetatable(v) assert(type(m) ~= 'table')" },
  { "scores infinity", "do return 1/0 end" },
  { "scores minus infinity", "do return -1/0 end" },
  { "keeps vertices and requests", "kept[#kept + 1], kept[#kept + 2] = v, r" },
  { "writes into the request", "r.count = 99 r.min = 99 r.type = 'core' r.options = nil" },
  { "catches its own errors", "pcall(error, 'x')" },
  { "makes garbage", "local t = {} for i = 1, 1000 do t = {t} end" },
}

describe("a policy that keeps one function busy with long strings is stopped in", function()
  for _, row in ipairs(SLOW) do
    it(row[1], function()
      local text = ("return { evaluate = function() do %s end return 1 end }"):format(row[2])
      assert(e:use(assert(load_policy(text, { instructions = 1 << 40, memory = 8 << 20, seconds = 0.3 }))))
      local a, why, status = e:match "slot=1/node"
      assert.is_nil(a)
      assert.equal("policy", status)
      assert.matches("it took more than its 0.3 seconds", why, 1, true)
    end)
  end
end)

describe("a policy in the sandbox that tries", function()
  for _, attack in ipairs(STOPS) do
    local what, code, says = table.unpack(attack)
    for _, hook in ipairs { "evaluate = function(v, r)", "prune = function(v, r)", "order = function(v)" } do
      local name = hook:match "^%a+"
      if not (what:find "^a score" and name ~= "evaluate") then
        it(("%s in %s is stopped"):format(what, name), function()
          local p = assert(load_policy(("return { %s do %s end return 1 end }"):format(hook, code)))
          assert(e:use(p))
          local before = books(e)
          local a, why, status = e:match "slot=1/node"
          assert.is_nil(a)
          assert.equal("policy", status)
          local walks = name == "order" and code:find ":graph()" -- refused before the first step
          assert.is_truthy(why:find(walks and "order may not read 'graph'" or says), why)
          assert.is_truthy(why:find "^policy attack: %a+: ", why)
          assert_unharmed(before)
        end)
      end
    end
  end

  for _, attack in ipairs(HARMLESS) do
    local what, code = table.unpack(attack)
    it(("one that %s does no harm"):format(what), function()
      local p = assert(load_policy(("local kept = {} return { evaluate = function(v, r) do %s end return 1 end }"):format(code)))
      assert(e:use(p))
      for _ = 1, 2 do
        local a = assert(e:match("slot=1/node", { mode = "preview" }))
        assert.equal(1, #a:vertices())
      end
      assert_unharmed(books(e))
    end)
  end

  it("anything while it is loaded is not loaded", function()
    for _, attack in ipairs(STOPS) do
      if not attack[2]:find "%f[%w]v%f[%W]" and not attack[1]:find "^a score" then
        local p, why, code = load_policy("do " .. attack[2] .. " end return {}")
        assert.is_nil(p, attack[1])
        assert.equal("policy", code)
        assert.is_truthy(why:find(attack[3]), attack[1] .. ": " .. why)
      end
    end
  end)

  it("an endless loop in init or admit is stopped", function()
    local before = books(e)
    assert.equal("policy", select(3, e:use(assert(load_policy "return { init = function() while true do end end }"))))
    assert(e:use(assert(load_policy "return { admit = function() while true do end end }")))
    assert.equal("policy", select(3, e:match "slot=1/node"))
    assert_unharmed(before)
  end)

  it("an endless loop in select is stopped", function()
    local before = books(e)
    assert(e:use(assert(load_policy "return { select = function() while true do end end }")))
    assert.equal("policy", select(3, e:match "slot=1/node"))
    assert_unharmed(before)
  end)

  it("to be slow is stopped by the clock", function()
    assert(e:use(assert(load_policy("return { evaluate = function() while true do end end }",
      { instructions = 1 << 40, memory = 8 << 20, seconds = 0.05 }))))
    local a, why = e:match "slot=1/node"
    assert.is_nil(a)
    assert.is_truthy(why:find "seconds", why)
  end)
end)

describe("what a policy keeps", function()
  it("past the match is known as stale when its vertex is gone", function()
    local p = assert(load_policy [[
      local kept
      return { evaluate = function(v) if kept then return #kept.path end kept = v return 1 end }]])
    local g = e:resources()
    assert(e:use(p))
    assert(e:match("slot=1/node", { mode = "preview" }))
    local first = g:find("type=node")[3]
    assert(g:unlink(first))
    local a, why, code = e:match "slot=1/node"
    assert.is_nil(a)
    assert.equal("policy", code)
    assert.is_truthy(why:find "stale", why)
    assert(e:use "low")
    assert(e:match "slot=1/node")
  end)

  it("is its own: another policy does not see it", function()
    assert(e:use(assert(load_policy "local secret = 1 return { evaluate = function() secret = 2 return 1 end }")))
    assert(e:match "slot=1/node")
    local p = assert(load_policy "return { doc = tostring(rawget(_G, 'secret')) }")
    assert.equal("nil", p.doc)
    assert.is_nil(rawget(string, "secret"))
  end)
end)

describe("calls into the engine", function()
  it("from a trusted hook are refused while the match runs", function()
    for _, call in ipairs { "match", "release", "grow", "shrink", "use", "advance" } do
      local seen
      e:use { evaluate = function()
        local first, second = 1, call == "shrink" and {} or "slot=1/node"
        if call == "match" or call == "use" then first, second = call == "use" and "low" or "slot=1/node", nil end
        local ok, why = pcall(e[call], e, first, second)
        seen = not ok and why or "went through"
        return 1
      end }
      assert(e:match("slot=1/node", { mode = "preview" }))
      assert.is_truthy(tostring(seen):find "while a match runs", call .. ": " .. tostring(seen))
      assert(e:use "low")
    end
    assert(e:resources():check())
  end)

  it("cannot yield across a match", function()
    e:use { evaluate = function() coroutine.yield(1) end }
    local co = coroutine.wrap(function() return e:match "slot=1/node" end)
    local a, why, code = co()
    assert.is_nil(a)
    assert.equal("policy", code)
    assert.is_truthy(why:find "yield", why)
  end)
end)

describe("what a sandboxed policy answers", function()
  it("[K2] is the same in every run", function()
    local text = [[
      local t = {} for _, k in ipairs{"x","y","z","a","b"} do t[k] = #k end
      return { evaluate = function(v)
        local s = 0 for k, n in pairs(t) do s = s * 31 + k:byte() + n end
        return s % 1000 + math.random(100) + #tostring(t) end }]]
    local answers = {}
    for i = 1, 5 do
      local p, trace = assert(load_policy(text)), {}
      local own = assert(weir.engine { resources = "cluster:1 node:4", policy = p })
      assert(own:match("slot=1/node", { mode = "preview" }))
      assert(own:match("slot=1/node", { mode = "preview", trace = trace }))
      local scores = {}
      for _, event in ipairs(trace) do scores[#scores + 1] = event.score end
      answers[i] = table.concat(scores, " ")
    end
    for i = 2, 5 do assert.equal(answers[1], answers[i]) end
  end)

  it("counts what walks remember as memory", function()
    local p = assert(core.policy_source([[return { init = function(g)
      for _ in g:walk { best = 100000, evaluate = function(v) return v.index end } do end
    end }]], "hungry", { memory = 300000 }))
    local own, why = weir.engine { resources = "cluster:1 node:300 core:100", policy = p }
    assert.is_nil(own)
    assert.matches("init: hungry:2: not enough memory (it may have 292 KB)", why, 1, true)
  end)

  it("prints where print was switched on, and is asked with true or false only", function()
    local before = core.policy_print()
    assert.equal(before, core.policy_print(true))
    assert.equal(true, core.policy_print(before))
    assert.equal(before, core.policy_print())
    assert.error_matches(function() core.policy_print(1) end, "boolean expected, got number")
  end)
end)
