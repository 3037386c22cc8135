-- Order by free cores changes with each job, so it is no static order: the search itself goes to where most is free.
return {
  name = "emptiest",
  doc = "The emptiest part first, level by level: jobs keep apart, and find what they need where least is in their way.",
  descend = { "node", "core" },
}
