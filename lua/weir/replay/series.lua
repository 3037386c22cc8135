--- series.lua - numbers over time, in at most so many steps of one length, which doubles where they do not suffice.

local M = {}
M.__index = M

local POINTS = 2048

function M.new(points) return setmetatable({ most = points or POINTS, width = 1, n = 0, used = {}, queued = {} }, M) end

-- Two steps become one.
local function halve(self)
  for _, list in ipairs { self.used, self.queued } do
    for i = 1, (self.n + 1) // 2 do list[i] = (list[2 * i - 1] or 0) + (list[2 * i] or 0) end
    for i = (self.n + 1) // 2 + 1, self.n do list[i] = nil end
  end
  self.n, self.width = (self.n + 1) // 2, self.width * 2
end

local function add(self, i, dt, used, queued)
  for k = self.n + 1, i do self.used[k], self.queued[k] = 0, 0 end
  if i > self.n then self.n = i end
  self.used[i], self.queued[i] = self.used[i] + used * dt, self.queued[i] + queued * dt
end

--- From t on, for dt seconds.
function M:add(t, dt, used, queued)
  self.start = self.start or t
  local at, stop = t - self.start, t + dt - self.start
  while stop > self.most * self.width do halve(self) end
  local width = self.width
  while at < stop do
    local i = math.floor(at / width)
    local till = math.min((i + 1) * width, stop)
    add(self, i + 1, till - at, used, queued)
    at = till
  end
end

--- {start, step, used = {...}, queued = {...}}: means over each step.
function M:result()
  local used, queued = {}, {}
  for i = 1, self.n do used[i], queued[i] = self.used[i] / self.width, self.queued[i] / self.width end
  return { start = self.start or 0, step = self.width, used = used, queued = queued }
end

return M
