-- As lonode, from the high end.
return {
  name = "hinode",
  doc = "Highest node first, then the highest id in it: fills node after node from the far end.",
  order = { "-node.id", "-id", "-index" },
}
