--- jobid.lua - job ids as shown to users (RFC 19, F58).

local M = {
  prefix = "ƒ", -- "f" for terminals without it
}

local DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

--- Returns an id in F58: the prefix (M.prefix by default), and the number in base 58.
function M.f58(id, prefix)
  local text = ""
  repeat
    local digit = id % 58
    text, id = DIGITS:sub(digit + 1, digit + 1) .. text, id // 58
  until id == 0
  return (prefix or M.prefix) .. text
end

--- Returns a text with all ids found in `known` written in F58.
function M.with_ids(text, known, prefix)
  return (text:gsub("%d[%d]+", function(digits)
    local id = math.tointeger(tonumber(digits))
    return id and known[id] and M.f58(id, prefix) or nil
  end))
end

return M
