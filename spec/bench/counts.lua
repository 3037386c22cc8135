-- counts.lua - instructions under callgrind, visits and bytes of the rows of the table of spec/bench/run.lua, which are
-- equal from run to run where times are not: weir run spec/bench/counts.lua [BEFORE]. The program measured is WEIR_BIN
-- (default build/weir). Written to build/counts.json; with BEFORE, such a file of an earlier run, each row has its
-- ratio, and rows that are more than a twentieth dearer make the run fail.
package.path = "./?.lua;" .. package.path
local core = require "weir.core"
local bench = require "spec.bench.measure"

local WEIR = os.getenv "WEIR_BIN" or "build/weir"
local MOST = 1.05 -- of what a row was
local COUNTS = { "instructions", "visited", "bytes" }

-- {benchmark, arguments}: sizes that end in seconds, at a fiftieth of the speed of a plain run.
local RUNS = {
  { "machine", 56 }, { "reserve", 56, 500 }, { "walk", 8 }, { "output", 8 }, { "replay", 300 },
}

local function read_before(path)
  local file <close> = assert(io.open(path))
  local before = {}
  for _, row in ipairs(core.json_decode(file:read "a")) do before[row.name] = row end
  return before
end

local function counted(script, racks, ...)
  local profile = os.tmpname()
  local command = ("WEIR_COUNTS='%s' valgrind -q --tool=callgrind --collect-atstart=no --callgrind-out-file='%s' '%s'"):format(profile,
    profile, WEIR)
  local rows = bench.run(command, script, racks, ...)
  os.remove(profile)
  for _, row in ipairs(rows) do row.name = ("%s %d: %2d %s"):format(script, racks, row.point, row.name) end
  return rows
end

local function number(x) return x and ("%.0f"):format(x) or "" end

local before = arg[1] and read_before(arg[1]) or {}
local rows, dearer = core.array {}, 0
print(("%-84s %12s %12s %7s %6s %6s"):format("script, size, point, row", "instructions", "before", "ratio", "visits", "before"))
for _, run in ipairs(RUNS) do
  for _, r in ipairs(counted(table.unpack(run))) do
    local row = { name = r.name, instructions = r.instructions, visited = r.visited or r.mean_visited }
    local old = before[row.name] or {}
    local worst = 0
    for _, count in ipairs(COUNTS) do
      if row[count] and old[count] then worst = math.max(worst, row[count] / old[count]) end
    end
    if worst > MOST then dearer = dearer + 1 end
    if row.instructions then
      rows[#rows + 1] = row
      print(("%-84s %12s %12s %7s %6s %6s%s"):format(row.name, number(row.instructions), number(old.instructions),
        old.instructions and ("%.3f"):format(row.instructions / old.instructions) or "", number(row.visited), number(old.visited),
        worst > MOST and " dearer" or ""))
    end
  end
end
local out <close> = assert(io.open("build/counts.json", "w"))
out:write(core.json_encode(rows, { indent = 1 }), "\n")
if dearer > 0 then
  print(("\n%d rows are dearer than before by more than a twentieth"):format(dearer))
  os.exit(1)
end
