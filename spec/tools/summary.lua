-- summary.lua - prints the last line of a check: how many specs passed, how long the check took, and its CPU, builds included.
-- Reads build/report.txt, to which run.sh adds a row for each run, and build/times, which has what `times` of the shell prints.
-- Usage: lua5.4 spec/tools/summary.lua NAME STARTED, where STARTED is the time at which the check began.
local NAME, STARTED = arg[1], tonumber(arg[2])

local runs, broken, passed, failed, pending, cpu = 0, 0, 0, 0, 0, 0
local again = {}
for line in io.lines "build/report.txt" do
  local status, good, bad, open, seconds = line:match "^(%d+)\t[^\t]+\t(%d+)\t(%d+)\t(%d+)\t([%d.]+)\t"
  runs, passed, failed, pending, cpu = runs + 1, passed + good, failed + bad, pending + open, cpu + seconds
  if status ~= "0" then broken = broken + 1 end
  local file = line:match "\t([^\t]+)\tagain$"
  if file and status == "0" then again[#again + 1] = file end
end

local function minutes(seconds) return string.format("%d min %02d s", seconds // 60, math.floor(seconds % 60)) end

-- The CPU of the shell and of all that it ran: user and system, twice.
local total = 0
for m, s in assert(io.open "build/times"):read "a":gmatch "(%d+)m([%d.]+)s" do total = total + 60 * m + s end

if #again > 0 then print(NAME .. ": passed only at the second try, alone: " .. table.concat(again, ", ")) end
print(string.format("%s: %d of %d runs passed; %d checks passed, %d failed, %d pending; %s, %s of CPU, %s of it in the runs", NAME,
  runs - broken, runs, passed, failed, pending, minutes(os.time() - STARTED), minutes(total), minutes(cpu)))
os.exit(broken == 0 and runs > 0)
