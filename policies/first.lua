-- Without `order` or filters the search takes the first fitting vertices, in the order of the machine's description.
return {
  name = "first",
  doc = "What is met first: no preference, the least work. For tests, and where any place is as good.",
}
