-- core.sandbox_run: runs a text on its own, within budgets, and returns plain data.
local core = require "weir.core"

local function run(text, opts) return core.sandbox_run(text, "t", opts) end

-- Allowed values: text, value.
local VALUES = {
  { "return nil", nil },
  { "", nil },
  { "return 1, 2", 1 },
  { "return 1.5", 1.5 },
  { "return 2^53 | 0", 2 ^ 53 | 0 },
  { "return 'a\\0b'", "a\0b" },
  { "return true", true },
  { "return {}", {} },
  { "return { 1, { 'x', [7] = true }, a = { b = false }, [2.5] = 1 }", { 1, { "x", [7] = true }, a = { b = false }, [2.5] = 1 } },
  { "return setmetatable({ 1 }, { __index = { x = 2 }, __pairs = error })", { 1 } },
  { "local k = {} for x in pairs { b = 1, a = 1, ab = 1, [10] = 1, [2] = 1, [1.5] = 1, [true] = 1, [false] = 1 } do k[#k + 1] = x end"
    .. " return k", { false, true, 1.5, 2, 10, "a", "ab", "b" } },
  { "local t, k = { a = 1, b = 1, c = 1 }, {} for x in pairs(t) do k[#k + 1], t.b = x, nil end return k", { "a", "c" } },
  { "local m = { __pairs = function() return function(_, n) n = (n or 0) + 1 return n < 3 and n or nil end end }"
    .. " local k = {} for x in pairs(setmetatable({}, m)) do k[#k + 1] = x end return k", { 1, 2 } },
  { "return { next {} == nil, next { b = 2, a = 1 } }", { true, "a", 1 } },
  { "return { tostring {}, tostring(next), tostring(setmetatable({}, { __tostring = function() return 'mine' end })) }",
    { "table", "function", "mine" } },
  { "return ('%d%% of %-6s|%s'):format(5, {}, next)", "5% of table |function" },
  { "return ('>i4z'):pack(7, 'x')", "\0\0\0\7x\0" },
  { "local t = {} for i = 999, 400, -1 do t[('k'):rep(300) .. i] = i end local n, last = 0, 0"
    .. " for _, v in pairs(t) do n, last = n + (v > last and 1 or 0), v end return n", 600 },
  { "return #arg", nil, "'arg'" },
  { "return print", nil, "a value of type function is no data" },
  { "return require", nil, "there is no 'require' in the sandbox" },
}

-- Failures: text, part of the message, code.
local FAILURES = {
  { "return function() end", "t: a value of type function is no data", "invalid" },
  { "return { x = { string.rep } }", "t: a value of type function is no data", "invalid" },
  { "return { [{}] = 1 }", "t: a table with a key of type table is no data", "invalid" },
  { "error 'x'", "t:1: x", "invalid" },
  { "error('x', 0)", "t:1: x", "invalid" },
  { "error()", "t: nil", "invalid" },
  { "error(setmetatable({}, { __tostring = function() return 'mine' end }))", "t: mine", "invalid" },
  { "error(setmetatable({}, { __tostring = function() while true do end end }))", "t:1: it used up", "invalid" },
  { "\n\nreturn +", "t:3: ", "parse" },
  { "return next({ a = 1 }, 'a')", "use pairs(t)", "invalid" },
  { "for x in pairs(7) do return x end", "table expected, got number", "invalid" },
  { "for x in (pairs 'text'), { a = 1 } do return x end", "table expected, got string", "invalid" },
  { "for x in pairs { [{}] = 1 } do return x end", "keys of type table have no fixed order", "invalid" },
  { "return ('5%'):format()", "no value", "invalid" },
  { "return ('%p'):format({})", "a policy has no addresses", "invalid" },
  { "while true do end", "t:1: ", "limit" },
  { "return ('x'):rep(1 << 28)", "not enough memory", "limit" },
}

describe("sandbox_run", function()
  for _, case in ipairs(VALUES) do
    it("hands back what this returns: " .. case[1], function()
      local value, why = run(case[1])
      if case[3] and why then return assert.truthy(why:find(case[3], 1, true), why) end
      assert.same(case[2], value)
      assert.is_nil(why)
    end)
  end

  for _, case in ipairs(FAILURES) do
    it("says what is wrong with " .. case[1], function()
      local value, why, code = run(case[1], { instructions = 1000000, memory = 1 << 24 })
      assert.same({ nil, case[3] }, { value, code })
      assert.truthy(why:find(case[2], 1, true), why)
      assert.is_nil(why:find "\n")
    end)
  end

  it("keeps one table in two places one table, in circles too", function()
    local t = run "local a = { 1 } local t = { a, a } t.self = t return t"
    assert.equal(t[1], t[2])
    assert.equal(t, t.self)
  end)

  it("has a state for itself", function()
    assert.equal(1, run "x = (x or 0) + 1; string.y = x return x")
    assert.equal(1, run "x = (x or 0) + 1; return x")
    assert.is_nil(rawget(_G, "x"))
    assert.is_nil(rawget(string, "y"))
  end)

  it("runs a prelude first, and what that returns last", function()
    assert.equal("<3>", run("return triple(1)", { prelude = "function triple(x) return 3 * x end "
      .. "return function(x) return ('<%d>'):format(x) end" }))
    assert.matches("^t:2: no", select(2, run("\nf()", { prelude = "function f() error('no', 0) end" })))
    assert.matches("^t:2: no", select(2, run("\nf()", { prelude = "\nfunction f() error 'no' end" })))
    assert.matches("^t:2: attempt to call a nil value", select(2, run("\nf()", { prelude = "function f() local x x() end" })))
    assert.matches("^t:2: prelude:x", select(2, run("\nf()", { prelude = "function f() error('prelude:x', 0) end" })))
  end)

  it("compiles what the host gives it, in the sandbox", function()
    local asked = {}
    local opts = { prelude = "local source = ... get = function(name) return source(name)() end",
      source = function(name)
        asked[#asked + 1] = name
        if name == "bad" then return "return +", "bad.lua" end
        if name == "raises" then error "host" end
        if name == "inner" then return ("return %d"):format(core.sandbox_run("return 6 * 7", "inner")), "inner.lua" end
        if name == "none" then return nil, "there is no none" end
        return "return io or '" .. name .. "'", name .. ".lua"
      end }
    assert.same({ "a", "b" }, run("return { get 'a', get 'b' }", opts))
    assert.same({ "a", "b" }, asked)
    assert.equal(42, run("return get 'inner'", opts))
    for name, message in pairs { bad = "t:1: bad.lua:1: ", raises = "host", none = "t:1: there is no none", [""] = "" } do
      local value, why = run("local x = get '" .. name .. "' return x", opts)
      if name ~= "" then assert.is_nil(value) end
      assert.truthy((why or ""):find(message, 1, true), why)
    end
    assert.matches("there are no sources", select(2, run("get 'a'", { prelude = opts.prelude })))
    assert.matches("t:1: nil", select(2, run("get 'a'", { prelude = opts.prelude, source = function() end })))
    local long = ("d/"):rep(60) .. "f.lua"
    assert.equal(long .. ":2: no", select(2, core.sandbox_run("\nerror 'no'", long)))
  end)

  it("works in a coroutine, and where the host is asked by one", function()
    local wrapped = coroutine.wrap(function() return run "return { 1 }" end)
    assert.same({ 1 }, wrapped())
    local opts = { prelude = "local source = ... source 'x'", source = coroutine.yield }
    local value, why = coroutine.wrap(function() return run("", opts) end)()
    assert.is_nil(value)
    assert.matches("yield", why)
  end)

  it("refuses wrong use", function()
    for _, words in ipairs { {}, { "" }, { {}, "t" }, { "", "t", 7 }, { "", "t", { budget = 1 } },
      { "", "t", { instructions = 0 } }, { "", "t", { memory = -1 } }, { "", "t", { seconds = "long" } } } do
      assert.has_error(function() core.sandbox_run(table.unpack(words)) end)
    end
  end)

  it("can have so little memory that nothing starts", function()
    for bytes = 1, 60000, 997 do
      local value, why, code = run("return { 1 }", { memory = bytes })
      if value == nil then assert.same({ "limit", "string" }, { code, type(why) }) end
    end
  end)
end)
