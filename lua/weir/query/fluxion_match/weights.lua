--- weights.lua - quirk: where a policy stops at the first match, Fluxion goes to where nothing was ever placed, then to where
-- most was free when something was last placed there: that a job has gone since makes no difference. weir looks at what is free
-- now; so what was free then is kept in a tag.

local M = {}

--- The tag that the policy descends by.
M.TAG = "placing.weight"

-- What counts below v: nodes, or cores where there are none. How many in all, and how many are free; nil: there are neither.
local function counted(v)
  for _, type in ipairs { "node", "core" } do
    local total, free = v:below(type)
    if total > 0 then return type, total, free end
  end
end

-- Units of each type that parts have below each vertex.
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

-- The part that v is in, if that has all of it.
local function part_around(v, own)
  while v and not own[v] do v = v:parent() end
  return own[v]
end

--- Notes what is left now where a job was placed. parts: {vertex, amount, whole}, `whole` of what is given with all below it: of
-- anything else only what is among the parts counts as taken. later: the job has not begun.
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
