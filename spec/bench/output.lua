-- Point 9: what an allocation of whole nodes costs as text. In a process of its own: weir run spec/bench/output.lua RACKS NODES.
package.path = "./?.lua;" .. package.path
local weir = require "weir"
local core = require "weir.core"
local grug = require "spec.support.grug"
local bench = require "spec.bench.measure"

local RACKS = tonumber(arg[1])
local NODES = math.min(10000, RACKS * 18)
local g = assert(core.parse(grug(RACKS), { format = "grug" }))
local a = assert(weir.engine { resources = g, policy = "low" }:match(("slot=%d/node"):format(NODES)))
for _, format in ipairs { "rv1_nosched", "rlite", "jgf" } do
  local bytes
  local times = bench.times(5, function() return #assert(a:format(format)) end, function(n) bytes = n end)
  for i, t in ipairs(times) do times[i] = t / 1e3 end
  local row = bench.row(9, ("%d whole nodes as %s"):format(NODES, format), "ms", times, { bytes = bytes })
  row.mb_per_s = bytes / row.median / 1e3
end
bench.print()
