--- intern.lua - names in the order in which they were first seen. Where resource-query goes through types or subsystems
-- it does so in that order.

local M = {}
M.__index = M

function M.new(names)
  local self = setmetatable({ number = {}, count = 0, closed = false }, M)
  for _, name in ipairs(names) do self:add(name) end
  return self
end

--- The number of a name; nil for one that is not known when no more are taken.
function M:add(name)
  local n = self.number[name]
  if n or self.closed then return n end
  self.number[name] = self.count
  self.count = self.count + 1
  return self.count - 1
end

--- The keys of a table in that order.
function M:sorted(t)
  local list = {}
  for name in pairs(t) do list[#list + 1] = name end
  local number = self.number
  table.sort(list, function(a, b) return (number[a] or math.huge) < (number[b] or math.huge) end)
  return list
end

return M
