-- The default. Ids are compared first, the order of the description decides between equals.
return {
  name = "low",
  doc = "Lowest id first: jobs gather at the low end, so that the high end stays free for large ones.",
  order = "id",
}
