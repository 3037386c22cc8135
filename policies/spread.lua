return {
  name = "spread",
  doc = "The emptiest parent first, one from each in turn: shares out bandwidth, heat and risk.",
  select = { "each", emptiest = true },
}
