--- random.lua - pseudo-random numbers, equal on every machine: splitmix64.

local M = {}

--- Makes a generator: next(m, n) returns an integer from m to n; next(n) from 1 to n; next(list) an element of the
-- list.
function M.new(seed)
  local state = math.tointeger(seed) or error("a seed is a whole number", 2)
  local function bits()
    state = state + 0x9e3779b97f4a7c15
    local z = state
    z = (z ~ (z >> 30)) * 0xbf58476d1ce4e5b9
    z = (z ~ (z >> 27)) * 0x94d049bb133111eb
    return (z ~ (z >> 31)) >> 1
  end
  return function(m, n)
    if type(m) == "table" then return m[bits() % #m + 1] end
    if not n then m, n = 1, m end
    return m + bits() % (n - m + 1)
  end
end

return M
