-- The mirror image of best_fit: the most free units first. If the request has resources inside v (cores of a
-- node), the free units of that type within v count; else the free units of v's type below v's parent, with true as
-- second result: the number holds for all siblings of v, so that the engine need not ask again for each sibling.
local function room(v, request)
  local inside = request.below
  local _, free = (inside and v or v:parent() or v):below(inside or v.type)
  return free, not inside
end

return {
  name = "worst_fit",
  doc = "The emptiest resource first: leaves jobs room to grow and balances load.",
  evaluate = room,
}
