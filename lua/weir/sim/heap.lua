--- heap.lua - a priority queue of events: by time, then kind, then in the order in which they were put in.

local M = {}
M.__index = M

function M.new() return setmetatable({ n = 0, made = 0 }, M) end

-- Which of two at the same time comes first.
local function before(a, b)
  if a.kind ~= b.kind then return a.kind < b.kind end
  return a.made < b.made
end

function M:push(event)
  local made, i, time = self.made + 1, self.n + 1, event.time
  self.made, self.n, event.made = made, i, made
  while i > 1 do
    local up = self[i // 2]
    if time > up.time or time == up.time and not before(event, up) then break end
    self[i] = up
    i = i // 2
  end
  self[i] = event
end

function M:peek() return self[1] end

function M:pop()
  local n = self.n
  local top, last = self[1], self[n]
  self[n] = nil
  n = n - 1
  self.n = n
  if n == 0 then return top end
  local i, kid, time = 1, 2, last.time
  while kid <= n do
    local x = self[kid]
    if kid < n then
      local y = self[kid + 1]
      if y.time < x.time or y.time == x.time and before(y, x) then
        kid = kid + 1
        x = y
      end
    end
    if x.time > time or x.time == time and before(last, x) then break end
    self[i] = x
    i, kid = kid, 2 * kid
  end
  self[i] = last
  return top
end

return M
