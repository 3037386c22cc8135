--- heap.lua - a priority queue of events: by time, then kind, then in the order in which they were put in.

local M = {}
M.__index = M

function M.new() return setmetatable({ n = 0, made = 0 }, M) end

local function before(a, b)
  if a.time ~= b.time then return a.time < b.time end
  if a.kind ~= b.kind then return a.kind < b.kind end
  return a.made < b.made
end

function M:push(event)
  self.made = self.made + 1
  event.made = self.made
  local i = self.n + 1
  self.n = i
  while i > 1 and before(event, self[i // 2]) do
    self[i] = self[i // 2]
    i = i // 2
  end
  self[i] = event
end

function M:peek() return self[1] end

function M:pop()
  local top, last, n = self[1], self[self.n], self.n - 1
  self[self.n], self.n = nil, n
  if n == 0 then return top end
  local i = 1
  while true do
    local kid = 2 * i
    if kid > n then break end
    if kid < n and before(self[kid + 1], self[kid]) then kid = kid + 1 end
    if not before(self[kid], last) then break end
    self[i] = self[kid]
    i = kid
  end
  self[i] = last
  return top
end

return M
