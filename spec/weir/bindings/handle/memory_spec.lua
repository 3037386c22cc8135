-- Memory that runs out in Lua, or in the core below a call from Lua: each operation of spec/support/operations.lua,
-- with the 1st, 2nd, ... allocation failing. The result must be an error about memory, or nil and a reason; a graph
-- as before, or as the operation leaves it; an engine that continues; nothing leaked, as the sanitizers' build sees.
local core = require "weir.core"
local operations = require "spec.support.operations"

local HOST = assert(os.getenv "WEIR_HOST", "WEIR_HOST is not set: . build/test/env")
local MODES = {
  lua = "all allocations of Lua from the n-th on", once = "the n-th allocation of Lua",
  c = "the n-th allocation of the core and the bindings",
}

-- "ok 12 TEXT" or "FAILED 12 TEXT: why" by text, and whatever else was said.
local function run(mode, dir)
  local pipe = assert(io.popen(("'%s' spec/support/starve.lua %s '%s' 2>&1"):format(HOST, mode, dir)))
  local said, rest = {}, {}
  for line in pipe:lines() do
    local word, count, text = line:match "^(%S+) (%d+) (.*)$"
    for _, operation in ipairs(word and operations.list or {}) do
      if text:sub(1, #operation[2]) == operation[2] then said[operation[2]] = { word = word, count = tonumber(count), line = line } end
    end
    if not word then rest[#rest + 1] = line end
  end
  pipe:close()
  return said, table.concat(rest, "\n")
end

for mode, what in pairs(MODES) do
  describe("without memory for " .. what, function()
    local dir, said, rest

    lazy_setup(function()
      dir = os.tmpname()
      os.remove(dir)
      assert(os.execute(("mkdir '%s'"):format(dir)))
      said, rest = run(mode, dir)
    end)
    lazy_teardown(function() os.execute(("rm -rf '%s'"):format(dir)) end)

    for _, operation in ipairs(operations.list) do
      local text = operation[2]
      it(operation[1] .. ": " .. text, function()
        local is = said[text]
        assert(is, rest)
        assert.equal("ok", is.word, is.line)
      end)
    end

    it("many fail", function()
      local n = 0
      for _, is in pairs(said) do n = n + is.count end
      assert.is_true(n > 1000, n .. " failures")
      assert.equal("", rest)
    end)
  end)
end

describe("a sandbox with too little memory", function()
  local g, e, w

  before_each(function()
    w = operations.world "."
    g, e = w.g, w.e
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  it("is refused, or refuses matches, at any size", function()
    local refused, failed, fine = 0, 0, 0
    local before = g:dup()
    for bytes = 1, 120000, 487 do
      local policy, why, code = core.policy_source(w.hooks, "tight", { memory = bytes })
      if not policy then
        refused = refused + 1
        assert.matches("memory", why .. code)
      else
        local a
        a, why, code = e:match("slot=1/core=1", { policy = policy, job = 9, duration = 5 })
        assert(a or code == "policy" or code == "nomem", why)
        if a then assert(e:release(9)) end
        failed, fine = failed + (a and 0 or 1), fine + (a and 1 or 0)
      end
    end
    assert(g:compare(before, true))
    assert.is_true(refused > 10 and fine > 10, ("%d refused, %d failed, %d went through"):format(refused, failed, fine))
  end)

  it("ends descriptions and functions alike", function()
    local ended = 0
    for bytes = 1, 200000, 911 do
      local data, why, code = core.sandbox_run("return { a = { 1, 2 }, b = ('x'):rep(1000) }", "text", { memory = bytes })
      ended = ended + (data and 0 or 1)
      assert(data or code == "limit" or code == "nomem", why)
    end
    assert.is_true(ended > 10)
  end)
end)
