-- Sibling resources that compete: a resource may take the vertices needed by a sibling. Examples by hand, a reason
-- each; then random requests, each answer compared with going through all assignments.

local weir = require "weir"
local cases = require "spec.support.cases"
local backtracks = require "spec.support.cases_backtrack"

local function R(type, count, with, more)
  local r = { type = type, count = count, with = with }
  for k, v in pairs(more or {}) do r[k] = v end
  return r
end

local function slot(count, ...) return R("slot", count, { ... }, { label = "s" }) end

local function pool(type, id, size, more)
  more = more or {}
  return { type = type, id = id, size = size, unit = more.unit, exclusive = more.exclusive }
end

local function vertex(type, id, ...)
  local spec = { type = type, id = id, ... }
  return spec
end

local shared, bars = { exclusive = false }, { unit = "bars" }

-- "node1:1x memory2:3": the picks in the order of the machine, without ancestors.
local function show(allocation)
  local list = {}
  for i, p in ipairs(allocation:vertices()) do
    list[i] = { p.vertex.index, ("%s:%d%s"):format(p.vertex.path:match "[^/]*$", p.amount, p.exclusive and "x" or "") }
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  for i, entry in ipairs(list) do list[i] = entry[2] end
  return table.concat(list, " ")
end

local THREE = vertex("cluster", 0,
  vertex("node", 0, pool("memory", 0, 8), pool("memory", 1, 1, bars), pool("memory", 2, 8)))
local function is_wanted(v) return v.type ~= "memory" or v.id ~= 2 end

-- {name, machine, policy, resources held before, {resources of the request}, picks}
local EXAMPLES = {
  { "units are left where another part can have them only there",
    vertex("cluster", 0, vertex("node", 0, pool("memory", 0, 8), pool("memory", 1, 1, bars))), "low", nil,
    { R("node", 1, { slot(1, R("memory", 4)) }), R("memory", 5, nil, { unit = "chips" }) }, "memory0:8x memory1:1x" },
  { "units of three pools are passed on twice",
    vertex("cluster", 0, vertex("node", 0, pool("memory", 0, 2), pool("memory", 1, 2), pool("memory", 2, 2, bars))), "low", nil,
    { slot(1, R("memory", 2, nil, bars), R("memory", 2, nil, { unit = "chips" }), R("memory", 2)) },
    "memory0:2x memory1:2x memory2:2x" },
  { "units of two pools are passed on to who can have no others",
    vertex("cluster", 0, vertex("node", 0, pool("memory", 0, 2), pool("memory", 1, 2), pool("memory", 2, 4, bars))), "low", nil,
    { slot(1, R("memory", 4), R("memory", 4, nil, { unit = "chips" })) }, "memory0:2x memory1:2x memory2:4x" },
  { "more units than can be counted are too many, not few",
    vertex("cluster", 0, vertex("node", 0, pool("memory", 0, 1 << 40)), vertex("node", 1, pool("memory", 1, 1 << 40))), "low", nil,
    { slot(1, R("node", 1 << 30, { R("memory", 1 << 35) }, shared), R("memory", 1)) }, "infeasible" },
  { "what is in use for now is not too little for ever",
    vertex("cluster", 0, vertex("node", 0, pool("memory", 0, 6), pool("memory", 1, 1, bars), pool("memory", 2, 1, bars))), "high",
    { slot(1, R("memory", 7)) },
    { slot(1, R("memory", 1, nil, { unit = "chips" }), R("node", 1, { R("memory", 6) }, shared)) }, "busy" },
  { "slots fit whose parts compete inside one of their sockets",
    vertex("cluster", 0, vertex("node", 0, vertex("socket", 1, pool("gpu", 3)), vertex("socket", 0, pool("memory", 3, 16))),
      vertex("node", 1, vertex("socket", 5, pool("gpu", 3), pool("memory", 3, 6), pool("memory", 4, 6)))), "low", nil,
    { slot(2, R("socket", 1, { R("memory", 7), R("memory", 7, nil, shared) }, shared), R("gpu", 1)) },
    "gpu3:1x memory3:7 gpu3:1x memory3:5 memory4:2" },
  { "a pool of which all units are given is not shared besides",
    vertex("cluster", 0, vertex("node", 0, pool("memory", 2, 3)),
      vertex("node", 1, pool("memory", 0, 1), pool("memory", 3, 2, { exclusive = true }))), "high", nil,
    { R("memory", 4), R("memory", 1), R("memory", 1, nil, shared) }, "memory2:3x memory0:0 memory3:2x" },
  { "cores of one unit and cores with threads serve beside each other",
    vertex("cluster", 0, vertex("node", 0, pool("core", 0, 3), vertex("core", 1, pool("thread", 0)), vertex("core", 2, pool("thread", 1)))),
    "low", nil, { slot(1, R("core", 4), R("thread", 1)) }, "core0:3x core1:1x thread1:1x" },
  { "what a policy prunes is no pool for anybody", THREE, { name = "pruning", order = "id", prune = is_wanted }, nil,
    { R("node", 1, { slot(1, R("memory", 4)) }), R("memory", 5, nil, { unit = "chips" }) }, "memory0:8x memory1:1x" },
  { "nor is what it gives no score", THREE,
    { name = "scoring", order = "id", evaluate = function(v) return is_wanted(v) and 1 or nil end }, nil,
    { R("node", 1, { slot(1, R("memory", 4)) }), R("memory", 5, nil, { unit = "chips" }) }, "memory0:8x memory1:1x" },
  { "two vertices inside a third of their type, beside a core",
    vertex("cluster", 0, vertex("box", 0, vertex("box", 1, pool("core", 0)), vertex("box", 2, pool("core", 1)), pool("core", 2))), "low",
    nil, { slot(1, R("box", 2), R("core", 1)) }, "box1:1x box2:1x core2:1x" },
  { "two vertices inside a third of their type, by themselves",
    vertex("cluster", 0, vertex("box", 0, vertex("box", 1, pool("core", 0)), vertex("box", 2, pool("core", 1)), pool("core", 2))), "low",
    nil, { slot(2, R("box", 1)) }, "box1:1x box2:1x" },
}

local function run(example)
  local graph = assert(weir.recipe(example[2]))
  local engine = weir.engine { resources = graph, policy = example[3] }
  if example[4] then assert(engine:match({ resources = example[4], attributes = { system = {} } })) end
  local a, _, code = engine:match({ resources = example[5], attributes = { system = {} } })
  return a and show(a) or code
end

describe("parts that compete:", function()
  for _, example in ipairs(EXAMPLES) do
    it(example[1], function() assert.equal(example[6], run(example)) end)
  end
end)

-- ---- random machines ----------------------------------------------------------------------------------------

-- WEIR_SPEC_SEED plays one seed, WEIR_SPEC_SCALE makes the run longer or shorter.
local MACHINES, GROUPS = 600, 5
local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local only = math.tointeger(tonumber(os.getenv "WEIR_SPEC_SEED" or ""))

describe("parts that compete get what going through all assignments says", function()
  local tally = {}

  cases.seeds_in_groups(MACHINES, GROUPS, it, "[A1][A2][A3][A13] on the small machines from %d on",
    function(seed) return cases.try(seed, tally, 5, backtracks.case) end)

  it("without a limit, in all kinds of cases", function()
    if only or scale < 0.2 then return end
    assert.is_nil(tally.limit)
    for _, kind in ipairs { "competing", "busy", "infeasible" } do assert.is_true((tally[kind] or 0) > 50 * scale, kind) end
    assert.is_true((tally.unknown or 0) < tally.competing / 10)
  end)
end)
