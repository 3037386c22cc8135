-- The switch above a candidate is found by a walk up the network subsystem, once for each node of a graph. `select`
-- takes candidates of as few switches as possible; of the switches with enough candidates, the switch with the
-- fewest.
local switches, root -- node -> number of the switch; true where the graph has the subsystem

local function node_of(v) return v.type == "node" and v or v:ancestor "node" or v end

-- The number of the nearest switch above a vertex, or 0.
local function switch_of(v, options)
  local node = node_of(v)
  local known = switches[node]
  if known then return known end
  switches[node] = 0
  if root then
    for up in v:graph():walk { start = node, subsystem = options.subsystem, upward = true } do
      if up ~= node and up.type == options.type then
        switches[node] = up.index + 1
        break
      end
    end
  end
  return switches[node]
end

return {
  name = "network",
  doc = "Under as few switches as possible: of those that hold the whole job, the one with the least room.",
  options = {
    subsystem = { default = "network", doc = "the subsystem that the switches are in" },
    type = { default = "switch", doc = "the type of what is counted" },
  },
  init = function(graph, options)
    switches, root = {}, nil
    for _, name in ipairs(graph:subsystems()) do root = root or name == options.subsystem end
  end,
  order = { "id", "index" },
  select = function(candidates, request, _, max)
    local groups, by_switch, out = {}, {}, {}
    for i, v in ipairs(candidates) do
      local switch = switch_of(v, request.options)
      if not by_switch[switch] then
        by_switch[switch] = { first = i, none = switch == 0 }
        groups[#groups + 1] = by_switch[switch]
      end
      table.insert(by_switch[switch], i)
    end
    table.sort(groups, function(a, b)
      if a.none ~= b.none then return b.none end -- candidates without a switch come last
      local fits_a, fits_b = #a >= max, #b >= max
      if fits_a ~= fits_b then return fits_a end
      if #a ~= #b then return (#a < #b) == fits_a end
      return a.first < b.first
    end)
    for _, group in ipairs(groups) do
      for _, at in ipairs(group) do
        if #out < max then out[#out + 1] = at end
      end
    end
    return out
  end,
}
