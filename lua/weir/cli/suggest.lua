--- suggest.lua - the known word that a mistyped one probably meant.

local M = {}

-- Whether the letters before i of a and before j of b are the same two, exchanged.
local function exchanged(a, i, b, j)
  return i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j)
end

-- One row of the edit distance table, from the two above it.
local function next_row(above, before, a, i, b)
  local row = { [0] = i }
  for j = 1, #b do
    local cost = a:byte(i) == b:byte(j) and 0 or 1
    row[j] = math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost)
    if exchanged(a, i, b, j) then row[j] = math.min(row[j], before[j - 2] + 1) end
  end
  return row
end

--- How many letters have to be added, removed, replaced or exchanged with the next to turn `a` into `b`.
function M.distance(a, b)
  local row, before = {}, nil
  for j = 0, #b do row[j] = j end
  for i = 1, #a do row, before = next_row(row, before, a, i, b), row end
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
