-- The mirror image of low: highest id first, and among equal ids the last vertex of the description first.
return {
  name = "high",
  doc = "Highest id first: leaves the low end, where services often live, for last.",
  order = { "-id", "-index" },
}
