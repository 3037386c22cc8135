-- The default. Candidates are sorted by id; candidates of equal id by position in the machine's description.
return {
  name = "low",
  doc = "Lowest id first: jobs gather at the low end, so that the high end stays free for large ones.",
  order = "id",
}
