-- make bench: memory, load and matching on GRUG-built machines; a table for people, build/bench.json for programs.
-- Arguments: racks of 18 nodes, 55 vertices each (default 56 560; 5600 takes a minute more).
local core = require "weir.core"
local sizes = #arg > 0 and arg or { "56", "560" }

local function run(racks)
  local weir = os.getenv("WEIR_BIN") or "build/weir"
  local pipe = assert(io.popen(("'%s' run spec/bench/machine.lua %s"):format(weir, racks)))
  local text = pipe:read("a")
  pipe:close()
  return assert(core.json_decode(text), "spec/bench/machine.lua failed")
end

local reports = core.array {}
for _, racks in ipairs(sizes) do
  local r = run(racks)
  reports[#reports + 1] = r
  print(("\n%d nodes, %d vertices: loaded in %.1f ms, %.1f bytes a vertex (peak of the process)"):format(r.nodes, r.vertices,
    r.load_ms, r.bytes_per_vertex))
  print("policy  fill    case                              median us     p10     p90  visited")
  for _, c in ipairs(r.cases) do
    print(("%-7s %-7s %-32s %10.2f %7.2f %7.2f %8d%s"):format(c.policy, c.fill, c.case, c.median, c.p10, c.p90, c.visited,
      c.fits and "" or "  refused"))
  end
end
local f = assert(io.open("build/bench.json", "w"))
f:write(core.json_encode(reports, { indent = 1 }), "\n")
f:close()
print("\nwritten to build/bench.json")
