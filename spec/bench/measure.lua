--- measure.lua - what the benchmarks share: rows of a point of the table, each with its median and spread.
local core = require "weir.core"

local FEWEST, LONGEST = 5, 1e6 -- calls made in any case; microseconds after which no more are made

local M = { rows = core.array {} }

--- Median, tenth and ninetieth of a hundred.
function M.spread(values)
  table.sort(values)
  local n = #values
  return { median = values[(n + 1) // 2], p10 = values[math.max(1, n // 10)], p90 = values[math.max(1, n * 9 // 10)] }
end

--- Notes a row: the number of the point, what it is, the unit, all values; `more` goes with it.
function M.row(point, name, unit, values, more)
  local row = M.spread(values)
  row.point, row.name, row.unit = point, name, unit
  for key, value in pairs(more or {}) do row[key] = value end
  M.rows[#M.rows + 1] = row
  return row
end

--- Microseconds for each of some calls; `after` is not counted. The clock is that on the wall: it is exact, and who else runs
--- shows in the spread, not in the median.
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
  list[0] = nil -- the first one builds what is kept from then on
  return list
end

--- Kilobytes of a line of /proc: "VmHWM" of this process, "MemAvailable" of the machine.
function M.kilobytes(file, key)
  for line in io.lines(file) do
    local kb = line:match("^" .. key .. ":%s*(%d+)")
    if kb then return tonumber(kb) end
  end
end

--- What a benchmark prints when it is done.
function M.print() print(core.json_encode(M.rows)) end

return M
