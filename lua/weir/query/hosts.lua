--- hosts.lua - names of hosts: what is before the number at their end, and the number.

local M = {}

--- basename and id, -1 where there is no number; nil: the number is too large. A name of digits only is its own basename.
function M.split(name)
  local stem, digits = name:match "^(.-)(%d*)$"
  if digits == "" then return name, -1 end
  local number = digits:match "^0*(%d+)$"
  local id = #number <= 19 and math.tointeger(tonumber(number)) or nil
  if not id then return nil end
  return stem == "" and name or stem, id
end

return M
