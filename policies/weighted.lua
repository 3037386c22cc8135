-- The score is a weighted sum of measures. Each measure is between 0 and 1; the options are the weights. For a
-- weighted sum of whole policies, see weir.policy.weighted in the manual.
local largest = 1 -- the greatest id of a node

-- The free fraction of the units of a type below v; 0 without units.
local function share(v, kind)
  local total, free = v:below(kind)
  return total > 0 and free / total or 0
end

local measures = {
  -- Full parents: 1 where all units of v's type are in use.
  pack = function(v) return 1 - share(v:parent() or v, v.type) end,
  -- Low ids: 1 for the first node.
  low = function(_, node) return 1 - (node.id or 0) / largest end,
  -- Fast nodes: 1 for class 1.
  fast = function(_, node) return 1 / math.max(1, tonumber(node.properties.perf_class) or 1e9) end,
  -- Few gpus in the node: 1 for none.
  plain = function(_, node) return 1 / (1 + (node:below "gpu")) end,
  -- Cool racks: 1 at 0 degrees, 0 at 100.
  cool = function(v)
    local rack = v:ancestor "rack"
    return 1 - math.max(0, math.min(100, rack and tonumber(rack.tags.temperature) or 0)) / 100
  end,
}

local names = { "pack", "low", "fast", "plain", "cool" }
local options, active = {}, {}
for _, name in ipairs(names) do
  options[name] = { type = "number", default = 0, min = -1000, max = 1000, doc = "the weight of " .. name }
end
options.pack.default, options.low.default = 1, 0.1

return {
  name = "weighted",
  doc = "A weighted sum of measures: full places, low ids, fast nodes, nodes without gpus, cool racks.",
  options = options,
  init = function(graph, values)
    largest, active = 1, {}
    for v in graph:walk { type = "node" } do largest = math.max(largest, v.id or 0) end
    for _, name in ipairs(names) do
      if values[name] ~= 0 then active[#active + 1] = { weight = values[name], of = measures[name] } end
    end
  end,
  order = { "id", "index" },
  evaluate = function(v)
    local node, sum = v.type == "node" and v or v:ancestor "node" or v, 0
    for _, measure in ipairs(active) do sum = sum + measure.weight * measure.of(v, node) end
    return sum
  end,
}
