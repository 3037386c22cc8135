-- Everything on the lowest nodes: cores of node 0 before any core of node 1, whatever their own ids.
return {
  name = "lonode",
  doc = "Lowest node first, then the lowest id in it: fills node after node, so that few nodes are in use.",
  order = { "node.id", "id" },
}
