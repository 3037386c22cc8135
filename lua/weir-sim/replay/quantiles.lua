--- quantiles.lua - order statistics of numbers from 0 on. Numbers are stored, 16 bytes each, up to a limit; beyond the
--- limit only a histogram remains, with steps at most a 2048th of the value wide.

local tables = require "weir.tables"

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

--- Adds all numbers of a list.
function M:add_all(list)
  local more = #list
  if self.n + more > self.limit then
    for i = 1, more do self:add(list[i]) end
    return
  end
  table.move(list, 1, more, self.n + 1, self.list)
  self.n = self.n + more
end

-- Returns the steps of the histogram in ascending order, and the cumulative counts.
local function cumulated(self)
  local steps, upto, n = tables.keys(self.counts), {}, 0
  for i, step in ipairs(steps) do
    n = n + self.counts[step]
    upto[i] = n
  end
  return steps, upto
end

-- Moves the k-th smallest number of a list to position k, smaller numbers in front, larger numbers behind (Hoare's selection; the
-- median of three is the pivot). O(n) in the mean.
local function select_kth(list, k, low, high)
  while low < high do
    local a, b, c = list[low], list[(low + high) // 2], list[high]
    local pivot = math.max(math.min(a, b), math.min(math.max(a, b), c))
    local i, j = low, high
    while i <= j do
      while list[i] < pivot do i = i + 1 end
      while list[j] > pivot do j = j - 1 end
      if i <= j then
        list[i], list[j] = list[j], list[i]
        i, j = i + 1, j - 1
      end
    end
    if k <= j then high = j elseif k >= i then low = i else return end
  end
end

--- Returns a function from i to the i-th smallest number.
function M:ranked()
  if self.list then
    local list, n = table.move(self.list, 1, self.n, 1, {}), self.n
    return function(i)
      select_kth(list, i, 1, n)
      return list[i]
    end
  end
  local steps, upto = cumulated(self)
  return function(i)
    for k, n in ipairs(upto) do
      if i <= n then return steps[k] end
    end
  end
end

return M
