--- series.lua - usage and queue length over time, as means over a bounded number of steps of equal length. The length
--- doubles when the number of steps would exceed the bound.

local M = {}
M.__index = M

local POINTS = 2048

function M.new(points) return setmetatable({ most = points or POINTS, width = 1, n = 0, used = {}, queued = {} }, M) end

-- Doubles the length of steps by merging pairs.
local function halve(self)
  for _, list in ipairs { self.used, self.queued } do
    for i = 1, (self.n + 1) // 2 do list[i] = (list[2 * i - 1] or 0) + (list[2 * i] or 0) end
    for i = (self.n + 1) // 2 + 1, self.n do list[i] = nil end
  end
  self.n, self.width = (self.n + 1) // 2, self.width * 2
end

-- Adds empty steps up to the i-th.
local function extend(self, i)
  for k = self.n + 1, i do self.used[k], self.queued[k] = 0, 0 end
  self.n = i
end

--- Records `used` and `queued` for the interval [t, t + dt). Intervals come in the order of time.
function M:add(t, dt, used, queued)
  local start = self.start
  if not start then start, self.start = t, t end
  local at, stop = t - start, t - start + dt
  while stop > self.most * self.width do halve(self) end
  local width, i = self.width, (t - start) // self.width
  local sums, queues = self.used, self.queued
  repeat
    i = i + 1
    if i > self.n then extend(self, i) end
    local till = i * width
    if till > stop then till = stop end
    sums[i], queues[i] = sums[i] + used * (till - at), queues[i] + queued * (till - at)
    at = till
  until at >= stop
end

--- Takes over a series that was gathered in the same way: a table of start, width, n, used and queued.
function M:take(fields)
  for key, value in pairs(fields) do self[key] = value end
end

--- Returns {start, step, used = {...}, queued = {...}}: means over each step.
function M:result()
  local used, queued = {}, {}
  for i = 1, self.n do used[i], queued[i] = self.used[i] / self.width, self.queued[i] / self.width end
  return { start = self.start or 0, step = self.width, used = used, queued = queued }
end

return M
