--- rank.lua - orders candidates by one or several objectives, all to be small.
---
--- With several objectives a candidate is better than another if no value is greater and at least one is smaller. Fronts
--- are peeled off: the candidates that no other candidate is better than, then likewise among those left. Within a front
--- the candidates come in descending crowding distance (of NSGA-II), so that a front is kept in its whole width.

local tables = require "weir.tables"

local M = {}

-- Whether a is better than b.
local function better(a, b)
  local smaller = false
  for i, x in ipairs(a) do
    if x > b[i] then return false end
    smaller = smaller or x < b[i]
  end
  return smaller
end

M.better = better

-- The places of the list that no other of the places is better than.
local function front_of(values, places)
  local front, rest = {}, {}
  for _, i in ipairs(places) do
    local beaten = false
    for _, k in ipairs(places) do
      if better(values[k], values[i]) then
        beaten = true
        break
      end
    end
    table.insert(beaten and rest or front, i)
  end
  return front, rest
end

-- Returns by place the crowding distance of a candidate of a front.
local function crowding_of(values, front)
  local crowding = {}
  for _, i in ipairs(front) do crowding[i] = 0 end
  for objective = 1, #values[front[1]] do
    local list = table.move(front, 1, #front, 1, {})
    tables.sort(list, function(i) return values[i][objective] end, tables.itself)
    local span = values[list[#list]][objective] - values[list[1]][objective]
    crowding[list[1]], crowding[list[#list]] = math.huge, math.huge
    for n = 2, #list - 1 do
      local gap = values[list[n + 1]][objective] - values[list[n - 1]][objective]
      crowding[list[n]] = crowding[list[n]] + (span > 0 and span < math.huge and gap / span or 0)
    end
  end
  return crowding
end

local function by_crowding(values, front)
  local crowding = crowding_of(values, front)
  return tables.sort(front, function(i) return -crowding[i] end, tables.itself)
end

--- Returns the places of a list of values, each a list of numbers, from the best on; equal ones in the order of the list.
--- Time: n log n for one objective, n squared for each front of several.
function M.order(values)
  local places = {}
  for i = 1, #values do places[i] = i end
  if #places == 0 then return places end
  if #values[1] == 1 then return tables.sort(places, function(i) return values[i][1] end, tables.itself) end
  local order = {}
  while #places > 0 do
    local front, rest = front_of(values, places)
    tables.append(order, by_crowding(values, front))
    places = rest
  end
  return order
end

--- Returns the places of the candidates that none is better than, by the first objective; of equal ones the first.
function M.front(values)
  local places = {}
  for i = 1, #values do places[i] = i end
  local front, list, last = (front_of(values, places)), {}, nil
  table.sort(front, function(a, b)
    for k, x in ipairs(values[a]) do
      if x ~= values[b][k] then return x < values[b][k] end
    end
    return a < b
  end)
  for _, i in ipairs(front) do
    local same = last ~= nil
    for k, x in ipairs(values[i]) do same = same and x == values[last][k] end
    if not same then list[#list + 1] = i end
    last = i
  end
  return list
end

return M
