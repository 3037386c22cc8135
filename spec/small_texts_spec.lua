-- Small texts that describe much: each is refused, for the limit that it is over, before the work is done.
local core = require "weir.core"
local weir = require "weir"

local VERTICES = "more than 10000000 vertices (WEIR_VERTICES=N in the environment allows more)"
local R = '{"version":1,"execution":{"R_lite":[{"rank":"0-99999","children":{"core":"0-199"}}]}}'

-- {what, f() -> nil, message, code; part of the message; code}
local TEXTS = {
  { "a machine of one line", function() return weir.synthetic "node:60000000" end, VERTICES },
  { "a machine of one line, level by level", function() return weir.synthetic "a:300 b:300 c:300" end, VERTICES },
  { "a recipe with a count", function() return weir.recipe { type = "cluster", { type = "node", count = 60000000 } } end, VERTICES },
  { "a recipe of a text with a count",
    function() return weir.parse('return { type = "cluster", { type = "node", count = 60000000 } }', { format = "recipe" }) end, VERTICES },
  { "a recipe whose tables are in several places", function()
    local t = { type = "core" }
    for i = 1, 40 do t = { type = "n" .. i, t, t } end
    return weir.recipe(t)
  end, VERTICES },
  { "an R of large idsets", function() return weir.parse(R) end, VERTICES },
  { "pools that are added by a count", function()
    local g = assert(weir.synthetic "node:1")
    return g:add(g:root(), { type = "core", id = 0 }, 60000000, 1)
  end, VERTICES },
  { "RDL with a list", function()
    return weir.parse('Hierarchy "default" { Resource{ "a", children = { ListOf{ Resource, ids = "0-60000000", args = { "n" } } } } }',
      { format = "rdl" })
  end, "" },
  { "a count of a shape", function() return weir.request "slot=99999999999999999999/core" end, "" },
  { "an expression that repeats a text", function() return weir.synthetic "node:2":find(("("):rep(100000)) end, "" },
}

describe("a small text that describes much is refused:", function()
  for _, case in ipairs(TEXTS) do
    it(case[1], function()
      local begin = os.clock()
      local result, why, code = case[2]()
      assert.is_nil(result)
      assert.truthy(why:find(case[3], 1, true), why)
      assert.is_string(code)
      assert.is_true(os.clock() - begin < 20)
    end)
  end

  it("the limit is one that can be raised", function()
    local was = core.vertices_limit(100)
    local ok, why = pcall(function()
      local none, message = weir.synthetic "node:200"
      assert.is_nil(none)
      assert.truthy(message:find("more than 100 vertices", 1, true), message)
      local g <close> = assert(weir.synthetic "node:98")
      assert.is_nil((g:add(g:root(), { type = "core", id = 0 }, 50, 1)))
      assert.is_true(g:count() <= 100 and (g:check()))
    end)
    assert.equal(100, core.vertices_limit(was))
    assert.equal(was, core.vertices_limit())
    if not ok then error(why, 0) end
  end)
end)
