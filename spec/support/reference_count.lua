--- reference_count.lua - the counts that a request allows (RFC 14), as lists of numbers.
local UNITS_MAX = 4096 -- more than any machine here has; of MB, where pools are in GB, the limit is MB_MAX
local MB_MAX = 400000

local M = {}

local OPERATORS = {
  ["+"] = function(n, operand) return n + operand end,
  ["*"] = function(n, operand) return n * operand end,
  ["^"] = function(n, operand) return math.tointeger(n ^ operand) or math.maxinteger end,
}

local function series(count, most)
  local list, n = {}, count.min
  local step, last = OPERATORS[count.operator or "+"], math.min(count.max or most, most)
  while n <= last and n ~= list[#list] do
    list[#list + 1] = n
    n = step(n, count.operand or 1)
  end
  return list
end

--- All allowed counts, ascending: of 3, {min=1,max=4}, "1,3,5".
function M.allowed(count, unit)
  if type(count) == "number" then return { count } end
  if type(count) == "table" then return series(count, unit == "MB" and MB_MAX or UNITS_MAX) end
  local list = {}
  for n in count:gmatch "%d+" do list[#list + 1] = math.tointeger(n) end
  return list
end

--- The greatest number of a list that is at most `most`; nil for none.
function M.largest(list, most)
  for i = #list, 1, -1 do
    if list[i] <= most then return list[i] end
  end
end

return M
