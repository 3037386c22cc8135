-- Nodes of equal model differ in speed, and a job runs at the speed of the slowest node. So the nodes of a job should
-- be similar: of all sets of the right size, the set with the smallest difference between the fastest and the slowest
-- class, and of equal sets the fastest.
--
-- Use it for tightly coupled jobs on nodes that differ in speed.
return {
  name = "alike",
  doc = "Nodes of similar performance class, so that no job waits for one slow node.",
  options = { property = { default = "perf_class", doc = "the property with the class; 1 is the fastest" } },
  order = function(v, options)
    local node = v.type == "node" and v or v:ancestor "node"
    return node and tonumber(node.properties[options.property]), node ~= v -- true: for all siblings inside a node
  end,
  select = { "closest", by = { property = "options.property", type = "node" } },
}
