--- flow_machines.lua - matches with units of a network on machines of spec/support/networks.lua that are filled, and emptied a
--- little where nothing fits: weir run spec/bench/flow_machines.lua [MATCHES [MACHINE]]. How many matches ended how, the mean
--- of the visits, mean and longest time.
local weir = require "weir"
local dice = require "spec.support.dice"
local networks = require "spec.support.networks"

local MATCHES, ONLY = tonumber(arg and arg[1]) or 2000, arg and arg[2]
local SHAPES = { "slot=%d/node/%s=%d", "slot=%d/[core=4;%s=%d]", "node=%d/slot=1/[core=2;%s=%d]" }

local function run(name, nodes)
  local g <close>, subsystem = networks[name](nodes)
  local engine <close> = weir.engine { resources = g }
  local roll, jobs, codes, visits, longest, hardest = dice(nodes), {}, {}, 0, 0, ""
  local begin = os.clock()
  for _ = 1, MATCHES do
    local shape, t = SHAPES[roll(#SHAPES)]:format(roll(8), subsystem, roll(6)), os.clock()
    local a, _, code = engine:match(shape)
    t, visits = os.clock() - t, visits + engine:stats().visited
    if t > longest then longest, hardest = t, shape end
    codes[a and "placed" or code] = (codes[a and "placed" or code] or 0) + 1
    if a then
      jobs[#jobs + 1] = a.id
    else
      for _ = 1, math.min(3, #jobs) do engine:release(table.remove(jobs, roll(#jobs))) end
    end
  end
  local ends = {}
  for code, n in pairs(codes) do ends[#ends + 1] = ("%s %d"):format(code, n) end
  table.sort(ends)
  print(("%-10s %6d nodes  %8.0f visits  %7.3f ms, longest %6.1f (%s)  %s"):format(name, nodes, visits / MATCHES,
    (os.clock() - begin) / MATCHES * 1e3, longest * 1e3, hardest, table.concat(ends, ", ")))
end

for _, name in ipairs(networks.names) do
  for _, nodes in ipairs { 100, 1000, 10000 } do
    if not ONLY or ONLY == name then run(name, nodes) end
  end
end
