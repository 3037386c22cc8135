--- event_heap.lua - a priority queue of events: by time, then kind, then order of insertion. An event is any table with
--- fields time and kind, and may be in a single heap once.

local M = {}
M.__index = M

function M.new() return setmetatable({ n = 0, made = 0 }, M) end

-- Orders two events of equal time.
local function before(a, b)
  if a.kind ~= b.kind then return a.kind < b.kind end
  return a.made < b.made
end

-- Inserts an event. O(log n)
local function put(self, event)
  local i, time = self.n + 1, event.time
  self.n = i
  while i > 1 do
    local up = self[i // 2]
    if time > up.time or time == up.time and not before(event, up) then break end
    self[i] = up
    i = i // 2
  end
  self[i] = event
end

function M:push(event)
  local made = self.made + 1
  self.made, event.made = made, made
  put(self, event)
end

function M:peek() return self[1] end

--- Removes an event. Returns false if the event is not in the heap. O(n)
function M:remove(event)
  local list, n = {}, self.n
  for i = 1, n do
    if self[i] ~= event then list[#list + 1] = self[i] end
    self[i] = nil
  end
  self.n = 0
  for _, other in ipairs(list) do put(self, other) end
  return #list < n
end

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
