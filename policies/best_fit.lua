-- Scores a candidate by the free units near it, fewest first. If the request has resources inside v (cores of a node), these are
-- the free units of that type within v; else of v's type below v's parent, with true as second result: the number holds
-- for all siblings of v, so that the engine need not ask again for each sibling.
--
-- Use it where jobs differ in size: small jobs fill the gaps, and whole nodes stay free for large jobs.
local function room(v, request)
  local inside = request.below
  local _, free = (inside and v or v:parent() or v):below(inside or v.type)
  return free, not inside
end

return {
  name = "best_fit",
  doc = "The fullest resource that still fits; keeps large free blocks for large jobs.",
  evaluate = function(v, request)
    local free, alike = room(v, request)
    return -free, alike
  end,
}
