--- svg_text.lua - texts of a picture: width, cutting, parts.

local M = {}

-- Widths of characters in hundredths of the font size, as wide fonts need.
local WIDTHS = {}
for byte = 0, 127 do
  local c = string.char(byte)
  WIDTHS[byte] = c:find "%u" and 72 or c:find "%d" and 60 or 64
end
for chars, width in pairs { ["iljI|.,:;'!"] = 34, ["frt()[]-/ "] = 42, ["mMwW@%"] = 96, ['&#+=<>~^$_"*'] = 84 } do
  for c in chars:gmatch "." do WIDTHS[c:byte()] = width end
end

-- Returns the width of the characters of a text that fit into `max_width`, and the place of the first that does not.
local function fitting(text, max_width)
  local sum = 0
  for at, code in utf8.codes(text) do
    local width = WIDTHS[code] or 100
    if sum + width > max_width then return sum, at end
    sum = sum + width
  end
  return sum, #text + 1
end

local MEASURED = 60000 -- hundredths; a wider text is too wide in any case

--- Returns an upper estimate in pixels for the width of a text, valid UTF-8, in a font size.
function M.width(text, size) return (fitting(text, MEASURED) * size + 99) // 100 end

local MIN_BYTES = 3 -- bytes; shorter texts are left out

--- Returns the text cut to a width; nil if too little would be left.
function M.cut(text, size, max_width)
  if text == "" or max_width <= 0 then return nil end
  local _, stop = fitting(text, max_width * 100 // size)
  if stop > #text then return text end
  _, stop = fitting(text, max_width * 100 // size - 100)
  return stop > MIN_BYTES and text:sub(1, stop - 1) .. "\u{2026}" or nil
end

-- Returns the place of the character of a byte.
local function start_of(text, at)
  while at > 1 and (text:byte(at) or 0) & 0xc0 == 0x80 do at = at - 1 end
  return at
end

local LONG = 120 -- bytes

--- Returns a text shortened in the middle, for titles.
function M.shorten(text)
  if #text <= LONG then return text end
  return text:sub(1, start_of(text, LONG // 3 + 1) - 1) .. "\u{2026}" .. text:sub(start_of(text, #text - LONG // 2 + 1))
end

--- Formats a fraction as "62 %"; 0 % means exactly 0, and 100 % exactly 1.
function M.percent(fraction)
  local percent = math.floor(fraction * 100 + 0.5)
  if percent == 0 and fraction > 0 then percent = 1 end
  if percent == 100 and fraction < 1 then percent = 99 end
  return percent .. " %"
end

return M
