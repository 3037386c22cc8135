-- As lonode, from the high end.
return {
  name = "hinode",
  doc = "Highest node first, then the highest id within the node.",
  order = { "-node.id", "-id", "-index" },
}
