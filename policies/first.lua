-- Takes what the search meets first: the order in which the machine was described.
return {
  name = "first",
  doc = "What is met first: no preference, the least work. For tests, and where any place is as good.",
}
