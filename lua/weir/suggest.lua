--- suggest.lua - the known word that a mistyped one probably meant.

local M = {}

-- One row of the edit distance table, from the row above it.
local function next_row(above, a, i, b)
  local row = { [0] = i }
  for j = 1, #b do
    local cost = a:byte(i) == b:byte(j) and 0 or 1
    row[j] = math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost)
  end
  return row
end

--- How many letters have to be added, removed or replaced to turn `a` into `b`.
function M.distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do row = next_row(row, a, i, b) end
  return row[#b]
end

local function begins(word, start) return #start >= 2 and word:sub(1, #start) == start end

--- The entry of `words` nearest to `word`, or nil when none is near.
function M.nearest(word, words)
  local best, least = nil, (#word < 4 and 1 or math.max(2, #word // 3)) + 1
  if #word > 64 then return nil end
  for _, known in ipairs(words) do
    local d = begins(known, word) and 1 or M.distance(word:lower(), known:lower())
    if d < least then best, least = known, d end
  end
  return best
end

--- ` (did you mean "x"?)`, or "" when nothing is near.
function M.hint(word, words, prefix)
  local near = M.nearest(word, words)
  return near and (' (did you mean "%s%s"?)'):format(prefix or "", near) or ""
end

return M
