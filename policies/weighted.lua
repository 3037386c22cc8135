-- The score is a weighted sum of measures. Each measure is between 0 and 1; the options are the weights. For a
-- weighted sum of whole policies, see weir.policy.weighted in the manual.
--
-- Use it to find out by `weir tune` which measures pay, before writing a policy of your own.
local largest = 1 -- the greatest id of a node

-- The free fraction of the units of a type below v; 0 without units.
local function share(v, kind)
  local total, free = v:below(kind)
  return total > 0 and free / total or 0
end

local function node_of(v) return v.type == "node" and v or v:ancestor "node" or v end

-- The terms that decide between siblings.
local own = {
  -- Low ids: 1 for the first node.
  low = function(v) return 1 - (node_of(v).id or 0) / largest end,
  -- Fast nodes: 1 for class 1.
  fast = function(v) return 1 / math.max(1, tonumber(node_of(v).properties.perf_class) or 1e9) end,
  -- Few gpus in the node: 1 for none.
  plain = function(v) return 1 / (1 + (node_of(v):below "gpu")) end,
}

-- The terms that all siblings share, read of the parent or of the rack.
local shared = {
  -- Full parents: 1 where all units of v's type are in use.
  pack = function(v) return 1 - share(v:parent() or v, v.type) end,
  -- Cool racks: 1 at 0 degrees, 0 at 100.
  cool = function(v)
    local rack = v:ancestor "rack"
    return 1 - math.max(0, math.min(100, rack and tonumber(rack.tags.temperature) or 0)) / 100
  end,
}

local names = { "pack", "low", "fast", "plain", "cool" }
local options, active, active_shared = {}, {}, {}
for _, name in ipairs(names) do
  options[name] = { type = "number", default = 0, min = -1000, max = 1000, doc = "the weight of " .. name }
end
options.pack.default, options.low.default = 1, 0.1

-- The sum, rounded to a multiple of 2^-30: sums of such scores are exact, so that the nodes of a rack keep their order
-- among themselves when the part that the nodes share changes.
local function sum(measures, v)
  local all = 0
  for _, measure in ipairs(measures) do all = all + measure.weight * measure.of(v) end
  return all * 0x1p30 // 1 / 0x1p30
end

return {
  name = "weighted",
  doc = "A weighted sum of fullness, id, speed, absence of gpus and rack temperature.",
  options = options,
  init = function(graph, values)
    largest, active, active_shared = 1, {}, {}
    for v in graph:walk { type = "node" } do largest = math.max(largest, v.id or 0) end
    for _, name in ipairs(names) do
      local list = own[name] and active or active_shared
      if values[name] ~= 0 then list[#list + 1] = { weight = values[name], of = own[name] or shared[name] } end
    end
  end,
  order = { "id", "index" },
  evaluate = function(v) return sum(active, v), node_of(v) ~= v end, -- true: for all siblings inside a node
  evaluate_siblings = function(v) return sum(active_shared, v) end,
}
