--- jobid.lua - the notations of job ids: decimal, 0x hexadecimal, dotted hexadecimal, KVS paths, and F58 (RFC 19).

local M = {}

local DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

local function decimal(text)
  if not text:match "^%d+$" or #text > 20 then return nil end
  local n = 0
  for digit in text:gmatch "%d" do
    if math.ult(0x1999999999999999, n) then return nil end
    n = n * 10 + math.tointeger(tonumber(digit))
  end
  return n
end

local function hexadecimal(text)
  local digits = text:match "^0[xX](%x+)$"
  return digits and #digits <= 16 and math.tointeger(tonumber(digits, 16)) or nil
end

-- Parses dotted hexadecimal, "0000.0004.0000.0000", with or without the prefix "job.".
local function dotted(text)
  local parts = { (text:match "^job%.(.*)$" or text):match "^(%x+)%.(%x+)%.(%x+)%.(%x+)$" }
  if #parts ~= 4 then return nil end
  local n = 0
  for _, part in ipairs(parts) do
    if #part ~= 4 then return nil end
    n = n << 16 | math.tointeger(tonumber(part, 16))
  end
  return n
end

local function f58(text)
  local digits = text:match "^ƒ(.+)$" or text:match "^f(.+)$"
  if not digits then return nil end
  local n = 0
  for digit in digits:gmatch "." do
    local at = DIGITS:find(digit, 1, true)
    if not at then return nil end
    n = n * 58 + at - 1
  end
  return n
end

--- Returns the number of a job id in any notation; nil if the text is not a job id.
function M.parse(text)
  text = text:match "^%s*(.-)%s*$"
  return hexadecimal(text) or decimal(text) or dotted(text) or f58(text)
end

return M
