-- Without `order` or filters the search takes the first fitting vertices, in the order of the machine's description.
return {
  name = "first",
  doc = "First fit in graph order: the cheapest policy.",
}
