-- The number of switches that a job's nodes are under decides how many hops its messages take.
return {
  name = "network",
  doc = "Under as few switches as possible: of those that hold the whole job, the one with the least room.",
  options = {
    subsystem = { default = "network", doc = "the subsystem that the switches are in" },
    type = { default = "switch", doc = "the type of what is counted" },
  },
  order = { "id", "index" },
  select = { "fewest", group = { subsystem = "options.subsystem", type = "options.type" } },
}
