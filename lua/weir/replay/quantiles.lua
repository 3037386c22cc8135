--- quantiles.lua - order statistics of numbers from 0 on. Numbers are stored, 16 bytes each, up to a limit; beyond the
--- limit only a histogram remains, with steps at most a 2048th of the value wide.

local M = {}
M.__index = M

local LIMIT, STEPS = 250000, 2048

--- limit: number of values stored exactly (250000).
function M.new(limit) return setmetatable({ n = 0, limit = limit or LIMIT, list = {} }, M) end

-- The middle of the histogram's step for a number; small integers have a step each.
local function step_of(x)
  if x < STEPS then return x // 1 end
  local width = 2.0 ^ math.floor(math.log(x, 2)) / (STEPS // 2)
  return (x // width + 0.5) * width
end

local function count(counts, x)
  local step = step_of(x)
  counts[step] = (counts[step] or 0) + 1
end

function M:add(x)
  local n = self.n + 1
  self.n = n
  if n <= self.limit then
    self.list[n] = x
    return
  end
  if not self.counts then
    self.counts = {}
    for i = 1, n - 1 do count(self.counts, self.list[i]) end
    self.list = nil
  end
  count(self.counts, x)
end

-- Returns the values, sorted, and the cumulative counts; no counts where each value counts once.
local function sorted(self)
  if self.list then
    local list = table.move(self.list, 1, self.n, 1, {})
    table.sort(list)
    return list
  end
  local steps, upto, n = {}, {}, 0
  for step in pairs(self.counts) do steps[#steps + 1] = step end
  table.sort(steps)
  for i, step in ipairs(steps) do
    n = n + self.counts[step]
    upto[i] = n
  end
  return steps, upto
end

--- Returns a function from i to the i-th smallest number.
function M:ranked()
  local values, upto = sorted(self)
  if not upto then return function(i) return values[i] end end
  return function(i)
    for k, n in ipairs(upto) do
      if i <= n then return values[k] end
    end
  end
end

return M
