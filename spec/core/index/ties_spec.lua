-- A machine that was saved and loaded in the middle of a history places all that follows as the machine that was not:
-- what a policy does not decide is decided by the order of the tree, not by vertex numbers, which a load renews.
local core = require "weir.core"
local weir = require "weir"
local dice = require "spec.support.dice"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1

-- Policies that order by scores, by choices and by fields, with many ties.
local POLICIES = { "first", "low", "high", "best_fit", "worst_fit", "spread", "locality", "contiguous", "emptiest",
  { name = "no order" }, { name = "nodes", order = { "node.id", "id" } }, { name = "sizes", order = { "size" } },
  { name = "indexes", order = { "rack.index", "-index" } },
  { name = "one key", order = function() return 1 end }, { name = "one score", evaluate = function() return 1 end },
  { name = "racks", select = { "fewest", group = "rack" } }, { name = "runs", select = { "runs" } },
  { name = "each", select = { "each", group = "rack" } }, { name = "power", subsystem = "power" },
  { name = "racks of power", subsystem = "power", select = { "fewest", group = { subsystem = "containment", type = "rack" } } } }

local SHAPES = { "slot=1/node", "slot=2/node", "slot=1/core=3", "rack=1/slot=2/node", "slot=3/[core=1;gpu=1]", "node=1/slot=2/core",
  "slot=1/gpu", "slot=4/core", "slot=1/node/power=2", "rack=2/slot=1/node" }

-- 3 racks of 3 nodes, in random order of addition, and 3 power units outside of containment.
local function machine(roll)
  local g = weir.recipe { type = "cluster" }
  local racks, nodes = {}, {}
  for _ = 1, 12 do
    local what = #racks == 0 and 1 or roll(4)
    if what == 1 and #racks < 4 then
      racks[#racks + 1] = assert(g:add(g:root(), { type = "rack" }))
    else
      local node = assert(g:add(racks[roll(#racks)], { type = "node" }))
      nodes[#nodes + 1] = node
      for _ = 1, 4 do assert(g:add(node, { type = "core" })) end
      if roll(2) == 1 then assert(g:add(node, { type = "gpu" })) end
    end
  end
  local units = {}
  for i = 1, 3 do units[i] = assert(g:add(nil, { type = "unit", size = 6 })) end
  for _, node in ipairs(nodes) do assert(g:add_edge(units[roll(3)], node, { subsystem = "power", type = "supplies" })) end
  return g
end

-- The vertices in the order of the tree, which a load keeps.
local function listed(g)
  local list = {}
  for v in g:walk {} do list[#list + 1] = v end
  return list
end

-- The places in the tree of what an allocation has.
local function places(g, a)
  local at, list = {}, {}
  for i, v in ipairs(listed(g)) do at[v] = i end
  for i, pick in ipairs(a:vertices()) do
    list[i] = ("%s:%d:%s"):format(at[pick.vertex] or pick.vertex.path, pick.amount, pick.exclusive)
  end
  table.sort(list)
  return table.concat(list, " ")
end

-- Adds a node or a core, or takes away a vertex that nobody has, at a place in the tree.
local function change(g, what, number)
  local list = listed(g)
  local v = list[number % #list + 1]
  if what == 1 and v.type == "rack" then
    local node = assert(g:add(v, { type = "node" }))
    return assert(g:add(node, { type = "core" }))
  elseif what == 1 and v.type == "node" and #v:jobs() == 0 then
    return assert(g:add(v, { type = "core" }))
  elseif what == 2 and v.type ~= "cluster" and v.type ~= "rack" and v.type ~= "unit" then
    return g:unlink(v)
  end
end

local function reloaded(g)
  local path = os.tmpname()
  assert(core.write_file(path, assert(g:format "document")))
  local copy = assert(weir.load(path))
  os.remove(path)
  return copy
end

local function history(seed, policy)
  local roll = dice(seed)
  local g = machine(roll)
  local e = weir.engine { resources = g, policy = policy }
  local h, f
  for step = 1, 40 do
    if step == 15 then
      h = reloaded(g)
      f = weir.engine { resources = h, policy = policy }
    end
    local what, number = roll(8), roll(1000)
    if what <= 2 then
      change(g, what, number)
      if h then change(h, what, number) end
    elseif what == 3 then
      local id = number % 20 + 1
      local done = e:release(id)
      if f then assert.equal(done, (f:release(id)), step) end
    else
      local shape, opts = SHAPES[roll(#SHAPES)], { mode = roll(2) == 1 and "now" or "reserve", duration = 10 * roll(3) }
      local a, why = e:match(shape, opts)
      if f then
        local b, other = f:match(shape, opts)
        assert.equal(why, other)
        assert.equal(a and places(g, a), b and places(h, b), ("step %d, %s"):format(step, shape))
      end
    end
  end
  assert(g:check())
  assert(h:check())
  g:close()
  h:close()
end

describe("a saved and loaded machine places alike [L6][M1]", function()
  for i, policy in ipairs(POLICIES) do
    it("under " .. (policy.name or policy), function()
      for seed = 1, math.max(2, math.floor(10 * SCALE)) do history(1000 * i + seed, policy) end
    end)
  end
end)
