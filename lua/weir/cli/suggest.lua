--- suggest.lua - suggests a known word for a mistyped word.

local M = {}

-- Returns whether the letters before and at i of a equal the letters before and at j of b in exchanged order.
local function exchanged(a, i, b, j)
  return i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j)
end

-- Returns row i of the edit distance table, computed from the previous two rows.
local function next_row(above, before, a, i, b)
  local row = { [0] = i }
  for j = 1, #b do
    local cost = a:byte(i) == b:byte(j) and 0 or 1
    row[j] = math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost)
    if exchanged(a, i, b, j) then row[j] = math.min(row[j], before[j - 2] + 1) end
  end
  return row
end

--- Returns the edit distance of `a` and `b`: the number of letters to add, remove, replace, or exchange with a
--- neighbour.
function M.distance(a, b)
  local row, before = {}, nil
  for j = 0, #b do row[j] = j end
  for i = 1, #a do row, before = next_row(row, before, a, i, b), row end
  return row[#b]
end

local function begins(word, start) return #start >= 2 and word:sub(1, #start) == start end

--- Returns the entry of `words` nearest to `word`, or nil if no entry is near.
function M.nearest(word, words)
  local best, least = nil, (#word < 4 and 1 or math.max(2, #word // 3)) + 1
  if #word > 64 then return nil end
  for _, known in ipairs(words) do
    local d = begins(known, word) and 1 or M.distance(word:lower(), known:lower())
    if d < least then best, least = known, d end
  end
  return best
end

--- Returns ` (did you mean "x"?)`, or "" if no entry of `words` is near.
function M.hint(word, words, prefix)
  local near = M.nearest(word, words)
  return near and (' (did you mean "%s%s"?)'):format(prefix or "", near) or ""
end

return M
