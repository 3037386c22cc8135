-- Small texts that describe much: each is refused before the work is done, with the limit exceeded in the message.
local core = require "weir.core"
local replay = require "weir.replay"
local shell = require "spec.support.shell"
local weir = require "weir"

local VERTICES = "more than 10000000 vertices (WEIR_VERTICES=N in the environment allows more)"
local R = '{"version":1,"execution":{"R_lite":[{"rank":"0-99999","children":{"core":"0-199"}}]}}'

local function jgf(field, value)
  local metadata = { type = '"node"', id = "0", rank = "-1", size = "1", paths = '{"containment":"/node0"}' }
  metadata[field] = value
  local list = {}
  for _, name in ipairs { "type", "id", "rank", "size", "paths" } do list[#list + 1] = ('"%s":%s'):format(name, metadata[name]) end
  return ('{"graph":{"nodes":[{"id":"0","metadata":{%s}}],"edges":[]}}'):format(table.concat(list, ","))
end

-- A jobspec with a count at each level.
local function nested(...)
  local inner, types = '{"type":"slot","label":"a","count":1,"with":[{"type":"core","count":1}]}', { "cluster", "rack", "node" }
  for i = select("#", ...), 1, -1 do
    inner = ('{"type":"%s","count":%s,"with":[%s]}'):format(types[i], (select(i, ...)), inner)
  end
  return ('{"version":9999,"resources":[%s],"tasks":[{"command":["a"],"slot":"a","count":{"per_slot":1}}],'
    .. '"attributes":{"system":{"duration":1}}}'):format(inner)
end

local function engine() return assert(weir.engine { resources = "cluster:1 node:4 core:4" }) end

local function trace(ending, text)
  return replay.run { resources = "cluster:1 core:64", trace = shell.path(shell.directory(), "trace" .. ending, text .. "\n") }
end

-- {title, f() -> nil, message, code; part of the message; code}
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
  end, '<string>:1: ListOf: ids: "0-60000000" are more numbers than the 1000000 that one range may have' },
  { "a count of a shape", function() return weir.request "slot=99999999999999999999/core" end, "larger than 2^53, the largest count" },
  { "a depth of a shape", function() return weir.request(("node/"):rep(10000) .. "core") end, "resources are nested more than 32 deep" },
  { "a breadth of a shape", function() return weir.request("slot=1/[" .. ("core;"):rep(10000) .. "core]") end, "more than 4096 resources" },
  { "an expression that repeats a text", function() return weir.synthetic "node:2":find(("("):rep(100000)) end,
    "the expression is longer than 65536 bytes" },
  { "a host list of numbers that are too large", function() return core.hostlist "n[0-18446744073709551615]" end,
    "a number in brackets has more than 18 digits" },
  { "a host list that is to be sorted", function() return core.hostlist(("n[0-4294967294],"):rep(200) .. "a"):sort() end,
    "too many names that come more than once" },
  { "ids that are too large", function() return core.idset "0-18446744073709551615" end, "the id at column 3 is above 4294967295" },
  { "ranks of an R", function()
    return core.rset '{"version":1,"execution":{"R_lite":[{"rank":"0-4294967290","children":{"core":"0-100"}}]}}'
  end, "R_lite: more than 4194304 ranks" },
  { "hosts of an R", function()
    return weir.parse '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}],"nodelist":["n[0-4294967294]"]}}'
  end, "execution.nodelist: names 4294967295 hosts, but R_lite has 1 ranks" },
  { "a JSON graph of a size", function() return weir.parse(jgf("size", "9223372036854775807")) end,
    "graph.nodes[0]: the sizes of all pools add up to more than 2305843009213693951" },
  { "a JSON graph of a rank", function() return weir.parse(jgf("rank", "9223372036854775807")) end,
    "graph.nodes[0].metadata.rank: is 9223372036854775807, it must be from -1 to 4294967295" },
  { "a JSON graph of a number", function() return weir.parse(jgf("size", "99999999999999999999")) end,
    "graph.nodes[0].metadata.size: is 99999999999999999999, it must be from 0 to 9223372036854775807" },
  { "a pool of one line of a size", function() return weir.synthetic "node:1 core:2(size=9223372036854775807)" end,
    "expected an integer from 0 to 2^61" },
  { "a constraint that is deep", function()
    return core.constraint(('{"and":['):rep(5000) .. '{"ranks":["0"]}' .. ("]}"):rep(5000))
  end, "maximum parsing depth reached" },
  { "a count of a jobspec", function() return weir.request(nested "9223372036854775807") end,
    "resources[0]: count is larger than 2^53, the largest count" },
  { "a number of a jobspec", function() return weir.request(nested "99999999999999999999") end, "too big integer" },
  { "counts of a jobspec whose product is 10^18", function() return engine():match(nested("1000000", "1000000", "1000000")) end,
    "the request can never be met on these resources" },
  { "counts of a jobspec whose product is 2^106", function() return engine():match(nested("9007199254740992", "9007199254740992")) end,
    "the request can never be met on these resources" },
  { "ranges of a jobspec whose product is 2^159", function()
    local range = '{"min":2,"max":9007199254740992,"operator":"+","operand":1}'
    return engine():match(nested(range, range, range))
  end, "the request can never be met on these resources" },
  { "host names of a constraint", function()
    return engine():match { resources = { { type = "slot", count = 1, label = "a", with = { { type = "core", count = 1 } } } },
      attributes = { system = { constraints = { hostlist = { ("n[0-4294967294],"):rep(1000) .. "a" } } } } }
  end, "the request can never be met on these resources" },
  { "a trace with a run time", function() return trace(".swf", "1 0 0 9223372036854775807 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1") end,
    "line 1: runtime 9.22337e+18 is more than 9e+12 seconds" },
  { "a trace with an estimate", function() return trace(".swf", "1 0 0 9 4 -1 -1 4 9223372036854775807 -1 1 1 1 1 1 1 -1 -1") end,
    "line 1: estimate 9.22337e+18 is more than 9e+12 seconds" },
  { "a trace with a submission", function() return trace(".swf", "1 1000000000000000 0 9 4 -1 -1 4 9 -1 1 1 1 1 1 1 -1 -1") end,
    "line 1: submit 1e+15 is more than 9e+12 seconds" },
  { "a table with a run time", function() return trace(".csv", "number,submit,runtime,procs\n1,0,1e308,4") end,
    "line 2: runtime 1e+308 is more than 9e+12 seconds" },
  { "a table of many columns", function() return trace(".csv", ("a,"):rep(200000)) end, "no column is the submit" },
  { "a table with a quote", function() return trace(".csv", 'number,submit,runtime,procs\n1,"0' .. ("x\n"):rep(100000)) end,
    "line 2: a quote is not closed" },
  { "lines of JSON with a number", function()
    return trace(".jsonl", '{"number":1,"submit":0,"runtime":10,"procs":99999999999999999999}')
  end, "line 1: too big integer" },
  { "lines of JSON that are deep", function() return trace(".jsonl", ("["):rep(100000)) end, "line 1: maximum parsing depth reached" },
}

describe("a small text that describes much is refused:", function()
  after_each(shell.clean)

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
