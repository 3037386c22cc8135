-- Nodes of equal model differ in speed, and a job runs at the speed of the slowest node. So the nodes of a job should
-- be alike: among all sets of the right size, `select` takes the set with the smallest difference between fastest and
-- slowest class, and among equal sets the fastest set.

-- The class of the node at or above v, 1 for the fastest; math.huge where unknown.
local function class_of(v, options)
  local node = v.type == "node" and v or v:ancestor "node"
  return node and tonumber(node.properties[options.property]) or math.huge
end

return {
  name = "alike",
  doc = "Nodes of performance classes that lie close together: a job does not wait for one slow node.",
  options = { property = { default = "perf_class", doc = "the property that holds the class; 1 is the fastest" } },
  order = class_of,
  select = function(candidates, request, _, max)
    local list, out = {}, {}
    for i, v in ipairs(candidates) do list[i] = { at = i, class = class_of(v, request.options) } end
    table.sort(list, function(a, b)
      if a.class ~= b.class then return a.class < b.class end
      return a.at < b.at
    end)
    local best, from = math.huge, 1
    for i = 1, #list - max + 1 do
      local spread = list[i + max - 1].class - list[i].class
      if spread < best then best, from = spread, i end -- inf - inf (unknown classes) is NaN, and never less
    end
    for i = from, math.min(from + max - 1, #list) do out[#out + 1] = list[i].at end
    return out
  end,
}
