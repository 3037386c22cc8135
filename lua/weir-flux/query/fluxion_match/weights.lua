--- weights.lua - quirk: with a policy that stops at the first match, Fluxion prefers vertices never used so far, then
-- vertices with the most resources free at the time of the vertex's last allocation; later cancellations have no
-- effect. weir decides by current amounts, so the amount at the last allocation is kept in a tag.

local M = {}

--- Name of the tag for the policy's descent.
M.TAG = "placing.weight"

-- Returns the type counted below v (nodes, or cores without nodes), the total and the free number; nil with neither
-- type.
local function counted(v)
  for _, type in ipairs { "node", "core" } do
    local total, free = v:below(type)
    if total > 0 then return type, total, free end
  end
end

-- Returns the units of each type that the parts have below each vertex.
local function sum_up(parts)
  local sums = {}
  for _, part in ipairs(parts) do
    local type, v = part.vertex.type, part.vertex:parent()
    while v do
      sums[v] = sums[v] or {}
      sums[v][type] = (sums[v][type] or 0) + part.amount
      v = v:parent()
    end
  end
  return sums
end

-- Returns the part of the nearest held vertex at or above v; nil if none.
local function part_around(v, own)
  while v and not own[v] do v = v:parent() end
  return own[v]
end

--- Tags the vertices of an allocation, and all ancestors, with the number of free nodes or cores. parts: {vertex,
-- amount, whole}. A part with `whole` uses all descendants; otherwise only descendants among the parts count as used.
-- later: the job has not begun, or there is none.
function M.note(parts, later)
  local own, sums, done = {}, sum_up(parts), {}
  for _, part in ipairs(parts) do own[part.vertex] = not later and part or nil end
  for _, part in ipairs(parts) do
    local v = part.vertex
    while v and not done[v] do
      done[v] = true
      local type, total, free = counted(v)
      local around = type and part_around(v, own)
      if around then free = around.whole and 0 or total - (sums[v] and sums[v][type] or 0) end
      if type then v.tags[M.TAG] = ("%d"):format(free) end
      v = v:parent()
    end
  end
end

return M
