-- As hinode; `exclusive` gives nodes as a whole.
return {
  name = "hinodex",
  doc = "Highest node first, and nodes are given whole: unshared nodes, the low end kept for last.",
  order = { "-node.id", "-id", "-index" },
  exclusive = "node",
}
