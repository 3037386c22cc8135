-- The number of free cores changes with each job, so `order`, computed once, cannot sort by free cores. `descend`
-- makes the search itself visit, at each level of the machine, the vertex with the most free units first.
--
-- Use it where jobs on one node or in one rack slow each other down, and the machine is seldom full.
return {
  name = "emptiest",
  doc = "The emptiest part first, level by level: least interference between jobs.",
  descend = { "node", "core" },
}
