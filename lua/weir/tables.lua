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
