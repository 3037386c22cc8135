-- Fills the lowest nodes: all cores of node 0 come before any core of node 1, regardless of the ids of the cores.
--
-- Use it to keep few nodes in use, as with Fluxion's policy of this name.
return {
  name = "lonode",
  doc = "Lowest node first, then the lowest id within the node: fills node after node.",
  order = { "node.id", "id" },
}
