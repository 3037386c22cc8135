-- The mirror image of best_fit, on the same measure: what is free of the request's kind around a candidate. And whether that is
-- so for its siblings, too.
local function room(v, request)
  local inside = request.below
  local _, free = (inside and v or v:parent() or v):below(inside or v.type)
  return free, not inside
end

return {
  name = "worst_fit",
  doc = "Where the most is left: jobs keep room to grow, and one busy place does not slow down the next.",
  evaluate = room,
}
