-- The number of switches that a job's nodes are under decides how many hops its messages take.
--
-- Use it for jobs that communicate, on a machine whose switches are a subsystem.
return {
  name = "network",
  doc = "As few switches as possible; of the switches that hold the whole job, the one with the least free room.",
  options = {
    subsystem = { default = "network", doc = "the subsystem of the switches" },
    type = { default = "switch", doc = "the type of the switches" },
  },
  order = { "id", "index" },
  select = { "fewest", group = { subsystem = "options.subsystem", type = "options.type" } },
}
