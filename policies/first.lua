-- Without `order` or filters the search takes the first fitting vertices, in the order of the machine's description.
--
-- Use it where the place of a job does not matter, and as the baseline of a comparison.
return {
  name = "first",
  doc = "First fit in graph order: the cheapest policy.",
}
