-- As hinode; `exclusive` gives nodes as a whole.
--
-- Use it where jobs do not share nodes.
return {
  name = "hinodex",
  doc = "Highest node first, with whole nodes.",
  order = { "-node.id", "-id", "-index" },
  exclusive = "node",
}
