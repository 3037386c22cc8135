--- jobid.lua - ids of jobs as people see them (RFC 19, F58).

local M = {}

local DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

--- "ƒ" and the number to the base of 58.
function M.f58(id)
  local text = ""
  repeat
    local digit = id % 58
    text, id = DIGITS:sub(digit + 1, digit + 1) .. text, id // 58
  until id == 0
  return "ƒ" .. text
end

return M
