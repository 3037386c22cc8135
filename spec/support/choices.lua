--- choices.lua - the named choices of `select`, written in Lua from their description: what the engine does is
--- compared with these. Each entry makes a select function for groups, a function from a vertex to a key or nil.
local M = {}

-- The candidates by group, each group a list of positions with `none` where there is no group.
local function groups_of(candidates, group)
  local list, by_key = {}, {}
  for i, v in ipairs(candidates) do
    local key = group(v)
    local name = key == nil and "none" or type(key) .. tostring(key)
    if not by_key[name] then
      by_key[name] = { none = key == nil }
      list[#list + 1] = by_key[name]
    end
    table.insert(by_key[name], i)
  end
  return list
end

-- Sorts parts: those with `max` candidates first, smallest first; then the largest; then by the first candidate.
local function by_use(parts, max, longest)
  table.sort(parts, function(a, b)
    local fits_a, fits_b = not longest and #a >= max, not longest and #b >= max
    if a.none ~= b.none then return b.none end
    if fits_a ~= fits_b then return fits_a end
    if #a ~= #b then return (#a < #b) == fits_a end
    return a[1] < b[1]
  end)
  return parts
end

local function joined(parts, max)
  local out = {}
  for _, part in ipairs(parts) do
    for _, i in ipairs(part) do out[#out + 1] = #out < max and i or nil end
  end
  return out
end

local function runs_of(candidates, group, position)
  local runs = {}
  for _, part in ipairs(groups_of(candidates, function(v) return group(v) or v:parent() end)) do
    table.sort(part, function(a, b)
      local x, y = position(candidates[a]), position(candidates[b])
      return x < y or x == y and a < b
    end)
    for k, i in ipairs(part) do
      local last = part[k - 1]
      if not last or position(candidates[last]) + 1 ~= position(candidates[i]) then runs[#runs + 1] = { none = false } end
      table.insert(runs[#runs], i)
    end
  end
  return runs
end

function M.runs(group, position)
  return function(candidates, _, _, max)
    if max == 1 then return nil end
    return joined(by_use(runs_of(candidates, group, position), max, true), max)
  end
end

function M.shortest(group, position)
  return function(candidates, _, _, max) return joined(by_use(runs_of(candidates, group, position), max), max) end
end

function M.fewest(group)
  return function(candidates, _, _, max) return joined(by_use(groups_of(candidates, group), max), max) end
end

function M.each(group)
  return function(candidates, _, _, max)
    local turns = {}
    for _, part in ipairs(groups_of(candidates, group)) do
      for k, i in ipairs(part) do turns[#turns + 1] = { k, i } end
    end
    table.sort(turns, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
    local out = {}
    for k = 1, max do out[k] = turns[k][2] end
    return out
  end
end

function M.closest(value)
  return function(candidates, _, _, max)
    local list, best, least = {}, nil, nil
    for i, v in ipairs(candidates) do list[i] = { at = i, value = value(v) or math.huge } end
    table.sort(list, function(a, b) return a.value < b.value or a.value == b.value and a.at < b.at end)
    for i = 1, #list - max + 1 do
      local spread = list[i + max - 1].value - list[i].value
      if spread < (least or math.huge) then best, least = i, spread end
    end
    local out = {}
    for i = best or 1, math.min((best or 1) + max - 1, #list) do out[#out + 1] = list[i].at end
    return out
  end
end

return M
