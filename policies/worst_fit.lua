-- Scores a candidate by the free units near it, most first. If the request has resources inside v (cores of a
-- node), these are the free units of that type within v; else of v's type below v's parent, with true as
-- second result: the number holds for all siblings of v, so that the engine need not ask again for each sibling.
--
-- Use it where jobs grow, or where jobs on one node slow each other down.
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
