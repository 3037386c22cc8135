-- output.lua - point 9: the cost of an allocation of whole nodes as text, and, for the largest, against writing bytes
-- held in memory: into a file and into a pipe read by a second process. In a process of its own: weir run
-- spec/bench/output.lua RACKS NODES.
package.path = "./?.lua;" .. package.path
local weir = require "weir"
local core = require "weir.core"
local grug = require "spec.support.grug"
local bench = require "spec.bench.measure"

local RACKS = tonumber(arg[1])
local NODES = math.min(10000, RACKS * 18)
local PATH = "build/bench_output_text.json"
local g = assert(core.parse(grug(RACKS), { format = "grug" }))
local a = assert(weir.engine { resources = g, policy = { name = "low", order = "id" } }:match(("slot=%d/node"):format(NODES)))

local function milliseconds(times)
  for i, t in ipairs(times) do times[i] = t / 1e3 end
  return times
end

for _, format in ipairs { "rv1_nosched", "rlite", "jgf" } do
  local bytes
  local times = bench.times(5, function() return #assert(a:format(format)) end, function(n) bytes = n end)
  local row = bench.row(9, ("%d whole nodes as %s"):format(NODES, format), "ms", milliseconds(times), { bytes = bytes })
  row.mb_per_s = bytes / row.median / 1e3
end

-- ---- against the bytes alone ----

local text = a:format "jgf"

-- Milliseconds from an empty sink to a closed one; the two kinds alternate, so that both see equal load.
local function compare(open)
  local kinds = { { function(file) return a:write(file, "jgf") end, {} }, { function(file) return file:write(text) end, {} } }
  for _ = 0, 5 do
    for _, kind in ipairs(kinds) do
      collectgarbage()
      local file <close> = assert(open())
      local begin = bench.clock()
      assert(kind[1](file))
      assert(file:close())
      table.insert(kind[2], (bench.clock() - begin) * 1e3)
    end
  end
  table.remove(kinds[1][2], 1)
  table.remove(kinds[2][2], 1)
  return kinds[1][2], kinds[2][2]
end

local SINKS = {
  { "a file", function() return io.open(PATH, "w") end },
  { "a pipe", function() return io.popen("cat > /dev/null", "w") end },
}
for _, sink in ipairs(SINKS) do
  local made, plain = compare(sink[2])
  local name = ("%d whole nodes as jgf into %s"):format(NODES, sink[1])
  local row = bench.row(9, name, "ms", made, { bytes = #text })
  row.mb_per_s = #text / row.median / 1e3
  row.plain_ms = bench.row(9, ("the same bytes into %s"):format(sink[1]), "ms", plain).median
  bench.row(9, name .. ", times the bytes", "", { row.median / row.plain_ms })
end
os.remove(PATH)
bench.print()
