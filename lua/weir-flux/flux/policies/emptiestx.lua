-- As emptiest; `exclusive` gives nodes as a whole.
--
-- Use it where jobs do not share nodes.
return {
  name = "emptiestx",
  doc = "The emptiest part first, level by level, with whole nodes.",
  descend = { "node", "core" },
  exclusive = "node",
}
