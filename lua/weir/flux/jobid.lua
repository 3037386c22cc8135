--- jobid.lua - ids of jobs as people see them (RFC 19, F58).

local M = {
  prefix = "ƒ", -- "f" where that cannot be shown
}

local DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

--- The prefix (M.prefix, if not given) and the number to the base of 58.
function M.f58(id, prefix)
  local text = ""
  repeat
    local digit = id % 58
    text, id = DIGITS:sub(digit + 1, digit + 1) .. text, id // 58
  until id == 0
  return (prefix or M.prefix) .. text
end

--- A text with the numbers of those that `known` has written so.
function M.with_ids(text, known, prefix)
  return (text:gsub("%d[%d]+", function(digits)
    local id = math.tointeger(tonumber(digits))
    return id and known[id] and M.f58(id, prefix) or nil
  end))
end

return M
