--- tables.lua - tables as values: the keys of a table in ascending order, copies.

local M = {}

--- Returns the keys of a table in ascending order; an empty list for nil.
function M.keys(t)
  local list = {}
  for key in pairs(t or {}) do list[#list + 1] = key end
  table.sort(list)
  return list
end

--- Iterates over keys and values of a table in ascending order of keys.
function M.sorted(t)
  local keys, i = M.keys(t), 0
  return function()
    i = i + 1
    if keys[i] ~= nil then return keys[i], t[keys[i]] end
  end
end

--- Returns a copy of a table, whose values are not copied; an empty table for nil.
function M.copy(t)
  local copy = {}
  for key, value in pairs(t or {}) do copy[key] = value end
  return copy
end

--- Returns a copy of a value, with copies of all tables in it.
function M.clone(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, x in pairs(value) do copy[key] = M.clone(x) end
  return copy
end

--- Returns the list of f(x, i) for the values x of a list.
function M.map(list, f)
  local mapped = {}
  for i, x in ipairs(list) do mapped[i] = f(x, i) end
  return mapped
end

--- Returns the list of the values of a field of tables.
function M.column(list, key)
  return M.map(list, function(x) return x[key] end)
end

--- Returns the list of the values that an iterator gives, the first of each step: tables.collect(text:gmatch "%S+").
function M.collect(step, state, value)
  local list = {}
  for x in step, state, value do list[#list + 1] = x end
  return list
end

--- Returns the list of the values of a list for which keep(x) holds.
function M.filter(list, keep)
  local kept = {}
  for _, x in ipairs(list) do
    if keep(x) then kept[#kept + 1] = x end
  end
  return kept
end

--- Returns whether holds(x) for some value of a list; false for an empty list.
function M.any(list, holds)
  for _, x in ipairs(list) do
    if holds(x) then return true end
  end
  return false
end

--- Returns whether holds(x) for all values of a list; true for an empty list.
function M.all(list, holds)
  return not M.any(list, function(x) return not holds(x) end)
end

--- Appends a value to the list of a key; a missing list is made.
function M.push(t, key, value)
  local list = t[key]
  if list then list[#list + 1] = value else t[key] = { value } end
end

--- Appends the values of another list to a list. Returns the list.
function M.append(list, more) return table.move(more, 1, #more, #list + 1, list) end

--- Returns a table in which each value of a list is a key with the value true.
function M.set(list)
  local set = {}
  for _, x in ipairs(list) do set[x] = true end
  return set
end

--- Sets keys of a table to the values in another table. Returns the table.
function M.update(t, more)
  for key, value in pairs(more or {}) do t[key] = value end
  return t
end

--- Returns a new list of the first n values of a list, or of all if there are fewer.
function M.first(list, n) return table.move(list, 1, math.min(n, #list), 1, {}) end

--- Returns the mean of a list of numbers; 0 for an empty list.
function M.mean(list)
  local sum = 0
  for _, x in ipairs(list) do sum = sum + x end
  return #list > 0 and sum / #list or 0
end

--- Returns its argument: the key of values that are sorted by themselves.
function M.itself(x) return x end

-- Returns the order of values by a key, see M.sort; `later` decides between equal keys.
local function order_by(key, later)
  local down = type(key) == "string" and key:match "^%-(.*)$"
  local computed, name = type(key) == "function", down or key
  return function(a, b)
    local x, y
    if computed then x, y = key(a), key(b) else x, y = a[name], b[name] end
    if x == y then return later ~= nil and later(a, b) end
    if down then return y < x end
    return x < y
  end
end

--- Sorts a list by keys in ascending order, the later ones where the earlier are equal. A key is the name of a field, "-field" for
--- descending order, or a function of a value. Returns the list.
function M.sort(list, ...)
  local order
  for i = select("#", ...), 1, -1 do order = order_by((select(i, ...)), order) end
  table.sort(list, order)
  return list
end

--- Adds n to the number of a key.
function M.add(t, key, n) t[key] = (t[key] or 0) + n end

--- Returns whether a list has a value.
function M.has(list, value)
  for _, x in ipairs(list) do
    if x == value then return true end
  end
  return false
end

--- Returns the number of keys.
function M.size(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

return M
