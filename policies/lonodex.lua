-- As lonode; `exclusive` ("x") gives nodes as a whole: a job requesting a single core of a node gets the entire node.
return {
  name = "lonodex",
  doc = "Lowest node first, and nodes are given whole: for sites that never share a node between jobs.",
  order = { "node.id", "id" },
  exclusive = "node",
}
