--- idset.lua - sets of ids as text (RFC 22), from and to lists.

local M = {}

local MOST = 1 << 22 -- ids of one set

local function add_range(ids, text)
  local low, high = text:match "^(%d+)%-(%d+)$"
  low = low or text:match "^%d+$"
  high = high or low
  if not low or (#low > 1 and low:sub(1, 1) == "0") or #low > 10 or #high > 10 then return nil end
  low, high = math.tointeger(tonumber(low)), math.tointeger(tonumber(high))
  if low > high or (ids[#ids] and ids[#ids] >= low) or high - low + #ids >= MOST then return nil end
  for id = low, high do ids[#ids + 1] = id end
  return true
end

--- The ids of a set in ascending order; nil when the text is none.
function M.decode(text)
  local inner, ids = text:match "^%[(.*)%]$" or text, {}
  if inner == "" then return ids end
  for part in (inner .. ","):gmatch "([^,]*)," do
    if not add_range(ids, part) then return nil end
  end
  return ids
end

--- The text of ascending ids; nil when one is negative.
function M.encode(ids)
  local parts, i = {}, 1
  if ids[1] and ids[1] < 0 then return nil end
  while ids[i] do
    local last = i
    while ids[last + 1] and ids[last + 1] <= ids[last] + 1 do last = last + 1 end
    parts[#parts + 1] = ids[i] == ids[last] and tostring(ids[i]) or ids[i] .. "-" .. ids[last]
    i = last + 1
  end
  return table.concat(parts, ",")
end

return M
