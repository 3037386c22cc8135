-- As emptiest; `exclusive` gives nodes as a whole.
return {
  name = "emptiestx",
  doc = "The emptiest part first, level by level, with whole nodes.",
  descend = { "node", "core" },
  exclusive = "node",
}
