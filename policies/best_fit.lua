-- The room around a candidate: what is free of its kind under its parent, or, where the request wants
-- something inside it (cores of a node), what is free of that within. And whether that is so for its siblings, too.
local function room(v, request)
  local inside = request.below
  local _, free = (inside and v or v:parent() or v):below(inside or v.type)
  return free, not inside
end

return {
  name = "best_fit",
  doc = "Where the least is left that still fits: keeps large holes whole for large jobs.",
  evaluate = function(v, request)
    local free, alike = room(v, request)
    return -free, alike
  end,
}
