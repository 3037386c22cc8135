--- measure.lua - helpers of the benchmarks: rows of a point of the table, each with its median and spread.
local core = require "weir.core"

local FEWEST, LONGEST = 5, 1e6 -- calls made in any case; microseconds after which no more are made

local M = { rows = core.array {} }

--- Median, tenth and ninetieth of a hundred.
function M.spread(values)
  table.sort(values)
  local n = #values
  return { median = values[(n + 1) // 2], p10 = values[math.max(1, n // 10)], p90 = values[math.max(1, n * 9 // 10)] }
end

--- Records a row: the number of the point, a name, the unit, all values; the fields of `more` are added.
function M.row(point, name, unit, values, more)
  local row = M.spread(values)
  row.point, row.name, row.unit = point, name, unit
  for key, value in pairs(more or {}) do row[key] = value end
  M.rows[#M.rows + 1] = row
  return row
end

--- Microseconds of each call; `after` is not counted. The clock is the wall clock: exact, and load by further
--- processes shows in the spread, not in the median.
function M.times(repeats, call, after)
  local list, all = {}, 0
  for i = 0, repeats do
    if i > FEWEST and all > LONGEST then break end
    local begin = core.clock()
    local result = call(i)
    list[i] = (core.clock() - begin) * 1e6
    all = all + list[i]
    if after then after(result, i) end
  end
  list[0] = nil -- the first call builds caches for the later calls
  return list
end

--- Kilobytes of a line of /proc: "VmHWM" of this process, "MemAvailable" of the machine.
function M.kilobytes(file, key)
  for line in io.lines(file) do
    local kb = line:match("^" .. key .. ":%s*(%d+)")
    if kb then return tonumber(kb) end
  end
end

--- Prints all rows as JSON.
function M.print() print(core.json_encode(M.rows)) end

return M
