-- "x" for exclusive: a job that asks for one core gets the node around it when it names the node.
return {
  name = "lonodex",
  doc = "Lowest node first, and nodes are given whole: for sites that never share a node between jobs.",
  order = { "node.id", "id" },
  exclusive = "node",
}
