--- counts.lua - how many of a resource a job gets of those that there are.

local M = {}

local MOST = 0xffffffff

local STEP = {}

STEP["+"] = function(c, n)
  local count = math.min(n, c.max)
  return count - (count - c.min) % c.operand
end

STEP["*"] = function(c, n)
  local count, current = 0, c.min
  if c.operand == 1 then return c.min end
  while current <= n and current <= c.max do
    count = current
    current = current * c.operand
  end
  return count
end

STEP["^"] = function(c, n)
  local count, current = 0, c.min
  if c.operand < 2 or current == 1 then return current end
  while current <= n and current <= c.max do
    count = current
    if c.operand * math.log(current, 2) > 62 then break end
    current = math.tointeger(current ^ c.operand)
  end
  return count
end

--- The largest allowed count that is not above n; 0 for none.
function M.allowed(resource, n)
  local c = resource.count
  if c.min > c.max or c.min > n then return 0 end
  return STEP[c.operator](c, n)
end

--- The largest allowed count of all.
function M.most(resource) return M.allowed(resource, MOST) end

return M
