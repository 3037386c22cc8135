-- The mirror image of low: highest id first, and among equal ids the last vertex of the description first.
return {
  name = "high",
  doc = "Highest id first: keeps the low end, where services often run, free.",
  order = { "-id", "-index" },
}
