-- As hinode; `exclusive` gives nodes as a whole.
return {
  name = "hinodex",
  doc = "Highest node first, with whole nodes.",
  order = { "-node.id", "-id", "-index" },
  exclusive = "node",
}
