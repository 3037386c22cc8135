-- As first; `exclusive` gives nodes as a whole.
return {
  name = "firstnodex",
  doc = "What is met first, and nodes are given whole: the least work for sites that never share a node.",
  exclusive = "node",
}
