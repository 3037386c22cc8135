-- The performance class of a node: the property perf_class of the node or of the nearest vertex above, 0 for the fastest
-- class. Nodes without a class count as slowest.
--
-- Use it where nodes of one model differ in speed, as they do under caps of power.
local function class_of(v)
  while v do
    local text = v.properties.perf_class -- mostly nil above the node, and then no number is read
    local class = text and tonumber(text)
    if class and class >= 0 and class <= 9999 then return class end
    v = v:parent()
  end
  return 9999
end

return {
  name = "variation",
  doc = "The fastest performance class first, because a job runs at the speed of its slowest node.",
  order = function(v)
    local node = v.type == "node" and v or v:ancestor "node" or v
    return class_of(node), node.id or 0, node ~= v -- true: inside a node, the numbers hold for all siblings
  end,
}
