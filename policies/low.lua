-- The default. All cores of the lowest node come before any core of the next node, so that few nodes are in use. Nodes
-- of equal id, such as the first nodes of two racks, come in the sequence of the machine's description.
--
-- Use it unless there is a reason for another.
return {
  name = "low",
  doc = "Lowest node id first, then the lowest id within the node; keeps the high end free for large jobs.",
  order = { "node.id", "node.index", "id" },
}
