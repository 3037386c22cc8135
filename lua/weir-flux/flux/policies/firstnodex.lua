-- As first; `exclusive` gives nodes as a whole.
--
-- Use it where jobs do not share nodes.
return {
  name = "firstnodex",
  doc = "First fit in graph order, with whole nodes: the cheapest policy for sites that do not share nodes.",
  exclusive = "node",
}
