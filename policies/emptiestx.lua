-- As emptiest; `exclusive` gives nodes as a whole.
return {
  name = "emptiestx",
  doc = "The emptiest part first, level by level, and nodes are given whole.",
  descend = { "node", "core" },
  exclusive = "node",
}
