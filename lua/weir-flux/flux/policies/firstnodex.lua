-- As first; `exclusive` gives nodes as a whole.
return {
  name = "firstnodex",
  doc = "First fit in graph order, with whole nodes: the cheapest policy for sites that do not share nodes.",
  exclusive = "node",
}
