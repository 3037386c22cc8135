--- hostlist.lua - does a name belong to a hostlist (RFC 29) such as "n[1-16,20],login1"?
-- A list is compiled to a matcher and never expanded, so "n[0-999999]" costs nothing.

local M = {}

-- "08-16" -> {lo=8, hi=16, width=2}. Members are written with at least as many digits as the first.
local function parse_range(text)
  local lo, hi = text:match "^(%d+)%-(%d+)$"
  if not lo then lo, hi = text:match "^%d+$", text end
  if not lo or #lo > 18 or #hi > 18 then return nil end
  local range = { lo = math.tointeger(tonumber(lo)), hi = math.tointeger(tonumber(hi)), width = #lo }
  return range.lo <= range.hi and range or nil
end

local function parse_set(text, at)
  local set = {}
  for part in (text .. ","):gmatch "([^,]*)," do
    local range = parse_range(part)
    if not range then error { text = ('"%s" is no range of numbers such as 1-16'):format(part), offset = at } end
    set[#set + 1] = range
  end
  return set
end

-- "n[1-2]x" -> {"n", {ranges}, "x"}.
local function parse_item(text, at)
  local parts, pos = {}, 1
  while pos <= #text do
    local open = text:find("[", pos, true)
    local literal = text:sub(pos, (open or 0) - 1)
    local stray = literal:find("]", 1, true)
    if stray then error { text = 'a "]" without a "["', offset = at + pos + stray - 2 } end
    if literal ~= "" then parts[#parts + 1] = literal end
    if not open then break end
    local close = text:find("]", open, true)
    if not close then error { text = 'this "[" is not closed', offset = at + open - 1 } end
    parts[#parts + 1] = parse_set(text:sub(open + 1, close - 1), at + open)
    pos = close + 1
  end
  return parts
end

-- The end of the item that starts at `pos`: commas in brackets do not count.
local function item_end(text, pos)
  local inside = false
  for i = pos, #text do
    local c = text:sub(i, i)
    if c == "[" then inside = true elseif c == "]" then inside = false end
    if c == "," and not inside then return i - 1 end
  end
  return #text
end

local function in_set(set, digits)
  local n = math.tointeger(tonumber(digits))
  for _, r in ipairs(set) do
    if n >= r.lo and n <= r.hi and ("%0" .. r.width .. "d"):format(n) == digits then return true end
  end
  return false
end

local match_parts

-- A set takes one digit or more; the longest choice that lets the rest match.
local function match_set(parts, i, name, pos)
  local most = #name:match("^%d*", pos)
  for n = math.min(most, 18), 1, -1 do
    if in_set(parts[i], name:sub(pos, pos + n - 1)) and match_parts(parts, i + 1, name, pos + n) then return true end
  end
  return false
end

function match_parts(parts, i, name, pos)
  local part = parts[i]
  if not part then return pos > #name end
  if type(part) == "table" then return match_set(parts, i, name, pos) end
  return name:sub(pos, pos + #part - 1) == part and match_parts(parts, i + 1, name, pos + #part)
end

local function parse_list(text)
  local items, pos = {}, 1
  while pos <= #text + 1 do
    local stop = item_end(text, pos)
    if stop < pos then error { text = "a name is missing", offset = pos } end
    items[#items + 1] = parse_item(text:sub(pos, stop), pos)
    pos = stop + 2
  end
  return items
end

local function matcher(items)
  return function(name)
    for _, parts in ipairs(items) do
      if match_parts(parts, 1, name, 1) then return true end
    end
    return false
  end
end

--- A function that tells whether a name is in the list; or nil, message and the offset of the fault in `text`.
function M.compile(text)
  if not text:find "[%[%],]" then return function(name) return name == text end end
  local ok, items = pcall(parse_list, text)
  if ok then return matcher(items) end
  if type(items) ~= "table" then error(items, 0) end
  return nil, items.text, items.offset
end

return M
