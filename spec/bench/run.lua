-- make bench: the points of the performance issue as rows, median and spread, on GRUG-built machines of 55 thousand, 555 thousand
-- and 5.5 million vertices (the largest where memory allows); a table for people, build/bench.json for programs.
-- Arguments: racks of 18 nodes, 55 vertices each (default 56 560 5600).
package.path = "./?.lua;" .. package.path
local core = require "weir.core"
local bench = require "spec.bench.measure"

local WEIR = os.getenv "WEIR_BIN" or "build/weir"
local LARGE, LARGE_KB = 2000, 3 << 20 -- racks of a large machine; the memory that its benchmarks need
local JGF_NODES = 5000 -- the most nodes of the texts read: a quarter of a gigabyte

local sizes = {}
for _, racks in ipairs(#arg > 0 and arg or { 56, 560, 5600 }) do
  racks = tonumber(racks)
  if racks < LARGE or bench.kilobytes("/proc/meminfo", "MemAvailable") > LARGE_KB then
    sizes[#sizes + 1] = racks
  else
    print(("%d racks are left out: there is too little memory"):format(racks))
  end
end

local function run(...) return bench.run("'" .. WEIR .. "'", ...) end

-- Rows by point and name, each with its results by size.
local rows, by_name = {}, {}
local function collect(list, racks)
  for _, r in ipairs(list) do
    local key = r.point .. r.name
    if not by_name[key] then
      by_name[key] = { point = r.point, name = r.name, unit = r.unit, sizes = {} }
      rows[#rows + 1] = by_name[key]
      by_name[key].order = #rows
    end
    by_name[key].sizes[tostring(racks)] = r
  end
end

for _, racks in ipairs(sizes) do
  collect(run("machine", racks), racks)
  if racks < LARGE then collect(run("reserve", racks, racks > 100 and 10000 or 1000), racks) end
  collect(run("walk", racks), racks)
  collect(run("output", racks), racks)
  if racks < LARGE then collect(run("jgf", math.min(racks * 18, JGF_NODES)), racks) end
end
table.sort(rows, function(a, b)
  if a.point ~= b.point then return a.point < b.point end
  return a.order < b.order
end)

-- ---- the table ----

local function number(x) return x >= 1000 and ("%.0f"):format(x) or x >= 10 and ("%.1f"):format(x) or ("%.2f"):format(x) end

local function cell(r)
  if not r then return "-" end
  local text = number(r.median)
  if r.p10 ~= r.p90 then text = ("%s (%s-%s)"):format(text, number(r.p10), number(r.p90)) end
  return r.visited and ("%s %4dv"):format(text, r.visited) or text
end

local head = { ("%2s %-58s %-5s"):format("", "median (10 % - 90 %), v: vertices visited", "unit") }
for _, racks in ipairs(sizes) do head[#head + 1] = ("%28s"):format(("%d nodes"):format(racks * 18)) end
print(table.concat(head, " "))
for _, row in ipairs(rows) do
  local line = { ("%2d %-58s %-5s"):format(row.point, row.name, row.unit) }
  for _, racks in ipairs(sizes) do line[#line + 1] = ("%28s"):format(cell(row.sizes[tostring(racks)])) end
  print(table.concat(line, " "))
  for _, racks in ipairs(sizes) do
    local r = row.sizes[tostring(racks)]
    if r and r.mean_first_tenth then
      print(("     %d nodes: mean %.1f us; of the first tenth %.1f, of the last %.1f; %.1f vertices visited"):format(racks * 18, r.mean,
        r.mean_first_tenth, r.mean_last_tenth, r.mean_visited))
    elseif r and r.times_empty then
      print(("     %d nodes: %.2f times an empty call, %.2f times one given as much"):format(racks * 18, r.times_empty, r.times_given))
    elseif r and r.mb_per_s then
      print(("     %d nodes: %.0f bytes, %.0f MB/s"):format(racks * 18, r.bytes, r.mb_per_s))
    end
    if r then r.order = nil end
  end
  row.order = nil
end
local f <close> = assert(io.open("build/bench.json", "w"))
f:write(core.json_encode({ racks = core.array(sizes), rows = core.array(rows) }, { indent = 1 }), "\n")
print "\nwritten to build/bench.json"
