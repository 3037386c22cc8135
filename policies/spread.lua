return {
  name = "spread",
  doc = "The emptiest parent first, one resource from each in turn: spreads bandwidth, heat and risk.",
  select = { "each", emptiest = true },
}
