-- A run is a list of candidates below one parent with consecutive ids. `select = "runs"` takes vertices from the
-- longest run among the candidates, so that a job is close together on the network or in the cache, and the
-- remainder from the next longest run.
--
-- Use it for jobs that communicate, on a machine whose ids follow the cabling.
return {
  name = "locality",
  doc = "The longest run of free neighbours near the front: keeps the resources of a job close together.",
  order = { "node.id", "id" },
  candidates = 16, -- or twice the number requested: enough to find a run near the front
  select = "runs",
}
