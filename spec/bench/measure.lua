--- measure.lua - helpers of the benchmarks: rows of a point of the table, each with its median and spread. Where
--- WEIR_COUNTS is set, by spec/bench/counts.lua, the clocks count instructions under callgrind instead of time.
local core = require "weir.core"

local FEWEST, LONGEST = 5, 1e6 -- calls made in any case; microseconds after which no more are made
local COUNTED = 7 -- calls whose instructions are counted: counts hardly differ

local M = { rows = core.array {} }

local profile = os.getenv "WEIR_COUNTS" -- callgrind's output: a file for each part, PROFILE.1, PROFILE.2 and so on
M.counts = profile ~= nil

local counting, part, instructions
if M.counts then
  package.cpath = "./build/test/?.so;" .. package.cpath
  counting, part, instructions = require "counting", 0, 0
  counting.resume()
end

-- Instructions so far, in millions: an instruction is a microsecond of this clock. Instructions of the clock itself are
-- not counted.
local function count()
  counting.pause()
  part = part + 1
  local path = ("%s.%d"):format(profile, part)
  local file <close> = assert(io.open(path))
  file:seek("end", -64)
  instructions = instructions + assert(tonumber(file:read("a"):match "totals: (%d+)"))
  os.remove(path)
  counting.resume()
  return instructions / 1e6
end

--- Seconds on the wall: exact, and load by further processes shows in the spread, not in the median.
M.clock = M.counts and count or core.clock
--- Seconds of the processor.
M.processor = M.counts and count or os.clock

--- Median, tenth and ninetieth of a hundred.
function M.spread(values)
  table.sort(values)
  local n = #values
  return { median = values[(n + 1) // 2], p10 = values[math.max(1, n // 10)], p90 = values[math.max(1, n * 9 // 10)] }
end

local UNITS = { us = 1, ms = 1e3, ns = 1e-3, s = 1e6 } -- instructions that a unit of time stands for

--- Records a row: the number of the point, a name, the unit, all values; the fields of `more` are added.
function M.row(point, name, unit, values, more)
  local row = M.spread(values)
  row.point, row.name, row.unit = point, name, unit
  for key, value in pairs(more or {}) do row[key] = value end
  if M.counts and UNITS[unit] then row.instructions = (row.mean or row.median) * UNITS[unit] end
  M.rows[#M.rows + 1] = row
  return row
end

--- Microseconds of each call; `after` is not counted.
function M.times(repeats, call, after)
  local list, all = {}, 0
  for i = 0, M.counts and math.min(repeats, COUNTED) or repeats do
    if i > FEWEST and all > LONGEST then break end
    local begin = M.clock()
    local result = call(i)
    list[i] = (M.clock() - begin) * 1e6
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

--- Runs a benchmark of spec/bench in a process of its own, `command` before it; its rows.
function M.run(command, script, ...)
  local words = ("%s run spec/bench/%s.lua %s"):format(command, script, table.concat({ ... }, " "))
  local pipe = assert(io.popen(words))
  local text = pipe:read "a"
  return pipe:close() and core.json_decode(text) or error(words .. " failed")
end

return M
