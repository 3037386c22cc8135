--- random.lua - pseudo-random numbers, equal on every machine: splitmix64.

local GAMMA = 0x9E3779B97F4A7C15

local M = {}

--- Returns 64 bits that look random for each of the 64-bit integers, and differ for different ones.
function M.mix(x)
  x = (x ~ (x >> 30)) * 0xBF58476D1CE4E5B9
  x = (x ~ (x >> 27)) * 0x94D049BB133111EB
  return x ~ (x >> 31)
end

local function bits(state)
  return function()
    state = state + GAMMA
    return M.mix(state)
  end
end

--- Makes a generator of numbers above 0 and below 1. A whole number is the seed.
function M.fractions(seed)
  local next_bits = bits(M.spread(seed) + GAMMA)
  return function() return ((next_bits() >> 12) + 0.5) / (1 << 52) end
end

--- Returns a 64-bit integer for a seed; those of neighbouring seeds differ widely.
function M.spread(seed) return seed * 0x2545F4914F6CDD1D end

--- Returns a number from 0, below 1, for a whole number and a seed: equal arguments give equal numbers.
function M.lot(seed, number) return (M.mix(number * GAMMA + M.spread(seed)) >> 11) / (1 << 53) end

--- Makes a generator: next(m, n) returns an integer from m to n; next(n) from 1 to n; next(list) an element of the
-- list.
function M.new(seed)
  local next_bits = bits(math.tointeger(seed) or error("a seed is a whole number", 2))
  return function(m, n)
    if type(m) == "table" then return m[(next_bits() >> 1) % #m + 1] end
    if not n then m, n = 1, m end
    return m + (next_bits() >> 1) % (n - m + 1)
  end
end

return M
