-- As lonode, from the high end.
--
-- Use it to keep few nodes in use, as with Fluxion's policy of this name.
return {
  name = "hinode",
  doc = "Highest node first, then the highest id within the node.",
  order = { "-node.id", "-id", "-index" },
}
