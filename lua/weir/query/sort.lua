--- sort.lua - an introspective sort that leaves equals where the one of the GNU C++ library leaves them: insertion sort up
-- to 16, above that median of three, and a heap when the partitions degenerate. Which of two equal candidates a job gets
-- depends on it.

local SMALL = 16

-- ---- insertion ----------------------------------------------------------------------------------------------

local function insert_linear(t, last, before)
  local value, next = t[last], last - 1
  while before(value, t[next]) do
    t[last] = t[next]
    last, next = next, next - 1
  end
  t[last] = value
end

local function insertion(t, first, last, before)
  for i = first + 1, last - 1 do
    if before(t[i], t[first]) then
      local value = t[i]
      table.move(t, first, i - 1, first + 1)
      t[first] = value
    else
      insert_linear(t, i, before)
    end
  end
end

-- ---- heap ---------------------------------------------------------------------------------------------------

local function push(t, first, hole, top, value, before)
  local parent = (hole - 1) // 2
  while hole > top and before(t[first + parent], value) do
    t[first + hole] = t[first + parent]
    hole = parent
    parent = (hole - 1) // 2
  end
  t[first + hole] = value
end

local function adjust(t, first, hole, len, value, before)
  local top, child = hole, hole
  while child < (len - 1) // 2 do
    child = 2 * (child + 1)
    if before(t[first + child], t[first + child - 1]) then child = child - 1 end
    t[first + hole] = t[first + child]
    hole = child
  end
  if len % 2 == 0 and child == (len - 2) // 2 then
    child = 2 * (child + 1)
    t[first + hole] = t[first + child - 1]
    hole = child - 1
  end
  push(t, first, hole, top, value, before)
end

local function heapsort(t, first, last, before)
  local len = last - first
  for parent = (len - 2) // 2, 0, -1 do adjust(t, first, parent, len, t[first + parent], before) end
  while last - first > 1 do
    last = last - 1
    local value = t[last]
    t[last] = t[first]
    adjust(t, first, 0, last - first, value, before)
  end
end

-- ---- partition ----------------------------------------------------------------------------------------------

local function median(t, a, b, c, before)
  if before(t[a], t[b]) then
    if before(t[b], t[c]) then return b end
    return before(t[a], t[c]) and c or a
  end
  if before(t[a], t[c]) then return a end
  return before(t[b], t[c]) and c or b
end

local function partition(t, first, last, before)
  local middle = median(t, first + 1, first + (last - first) // 2, last - 1, before)
  t[first], t[middle] = t[middle], t[first]
  local pivot, low, high = t[first], first + 1, last
  while true do
    while before(t[low], pivot) do low = low + 1 end
    high = high - 1
    while before(pivot, t[high]) do high = high - 1 end
    if low >= high then return low end
    t[low], t[high] = t[high], t[low]
    low = low + 1
  end
end

local function loop(t, first, last, depth, before)
  while last - first > SMALL do
    if depth == 0 then return heapsort(t, first, last, before) end
    depth = depth - 1
    local cut = partition(t, first, last, before)
    loop(t, cut, last, depth, before)
    last = cut
  end
end

local function log2(n)
  local k = 0
  while n > 1 do n, k = n >> 1, k + 1 end
  return k
end

--- Sorts a list in place; `before` is a strict weak order.
return function(t, before)
  local n = #t
  if n < 2 then return end
  loop(t, 1, n + 1, 2 * log2(n), before)
  insertion(t, 1, math.min(n, SMALL) + 1, before)
  for i = SMALL + 1, n do insert_linear(t, i, before) end
end
