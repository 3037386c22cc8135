-- The mirror image of low: equal ids are taken from the end of the machine.
return {
  name = "high",
  doc = "Highest id first: leaves the low end, where services often live, for last.",
  order = { "-id", "-index" },
}
