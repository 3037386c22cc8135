-- As lonode; `exclusive` ("x") gives nodes as a whole: a job requesting a single core of a node gets the entire node.
--
-- Use it where jobs do not share nodes.
return {
  name = "lonodex",
  doc = "Lowest node first, with whole nodes: for sites that do not share nodes.",
  order = { "node.id", "id" },
  exclusive = "node",
}
