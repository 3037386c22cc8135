-- From each parent, one vertex at a time, the parent with the most free units first.
--
-- Use it for jobs that compete for what a rack shares, and for services that must survive the loss of a rack.
return {
  name = "spread",
  doc = "The emptiest parent first, one resource from each in turn: spreads bandwidth, heat and risk.",
  select = { "each", emptiest = true },
}
