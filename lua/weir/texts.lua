--- texts.lua - names and other texts of users, made safe for output.

local M = {}

--- Returns a text with U+FFFD in place of each byte outside of valid UTF-8.
function M.utf8(text)
  local parts, from = {}, 1
  while true do
    local length, bad = utf8.len(text, from)
    if length then break end
    parts[#parts + 1] = text:sub(from, bad - 1) .. "\u{FFFD}"
    from = bad + 1
  end
  if from == 1 then return text end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

--- Returns a text for people: valid UTF-8, with "?" in place of each control character: U+0080 to U+009F too, among
--- which terminals know an escape.
function M.plain(text)
  if not text:find "[%c\127-\255]" then return text end
  return (M.utf8(text):gsub("[%c\127]", "?"):gsub("\xC2[\x80-\x9F]", "?"))
end

return M
