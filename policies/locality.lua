-- Candidates under one parent whose ids follow each other are a run. The longest run among the first candidates gives
-- first, so that a job lies together, close on the network or in the cache; what is missing comes from the next longest.
return {
  name = "locality",
  doc = "The longest run of free neighbours near the front: keeps a job together, for codes that talk a lot.",
  order = { "node.id", "id" },
  candidates = 16, -- or twice as many as are wanted: the front of the machine is enough to look at
  select = "runs",
}
