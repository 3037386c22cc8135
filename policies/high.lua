-- The mirror image of low: highest id first, and among equal ids the last vertex of the description first.
--
-- Use it to keep low ids free, or to separate two kinds of jobs: one from the low end, the other from the high end.
return {
  name = "high",
  doc = "Highest id first: keeps the low end, where services often run, free.",
  order = { "-id", "-index" },
}
