--- flow.lua - matches of nodes with bandwidth on 10,080 nodes behind 1,000 switches: weir run spec/bench/flow.lua
-- 840 edge switches with 12 nodes each, each joined to 8 of 160 core switches below one file system.

local weir = require "weir"

local CORES, EDGES, NODES, WAYS = 160, 840, 12, 8

local function machine(core_size, edge_size)
  local g = assert(weir.synthetic(("cluster:1 node:%d core:4"):format(EDGES * NODES)))
  local nodes = g:find "type=node"
  local pfs = assert(g:add(nil, { type = "pfs", id = 0, size = 1 << 30 }))
  local core = {}
  for i = 0, CORES - 1 do
    core[i] = assert(g:add(nil, { type = "core_switch", id = i, size = core_size }))
    assert(g:add_edge(pfs, core[i], { subsystem = "net", type = "conduit_of" }))
  end
  for i = 0, EDGES - 1 do
    local edge = assert(g:add(nil, { type = "edge_switch", id = i, size = edge_size }))
    for k = 0, WAYS - 1 do
      assert(g:add_edge(core[(i * 7 + k * 20) % CORES], edge, { subsystem = "net", type = "conduit_of" }))
    end
    for k = 1, NODES do assert(g:add_edge(edge, nodes[i * NODES + k], { subsystem = "net", type = "conduit_of" })) end
  end
  return g
end

-- Median milliseconds of a match that is given back.
local function measure(name, e, shape)
  local times, answer = {}, "placed"
  for i = 1, 21 do
    local t = os.clock()
    local a, _, code = e:match(shape)
    times[i] = (os.clock() - t) * 1000
    if a then e:release(a.id) else answer = code end
  end
  table.sort(times)
  print(("%-62s %8.3f ms  %s"):format(name, times[11], answer))
end

local function run(title, core_size, edge_size, before)
  local g = machine(core_size, edge_size)
  local e = weir.engine { resources = g, policy = "low" }
  for _, shape in ipairs(before) do assert(e:match(shape)) end
  print(title)
  measure("  1 node with 10", e, "slot=1/node/net=10")
  measure("  64 nodes with 10", e, "slot=64/node/net=10")
  measure("  64 nodes with 25: split over core switches", e, "slot=64/node/net=25")
  measure("  1,000 nodes with 10", e, "slot=1000/node/net=10")
  measure("  1,000 nodes with 40", e, "slot=1000/node/net=40")
  measure("  9,000 nodes with 40", e, "slot=9000/node/net=40")
  e:close()
  g:close()
end

run("empty, core switches of 400, edge switches of 120", 400, 120, {})
run("core switches of 45: less than a node with 40 and one with 10", 45, 120, {})
run("half full: 4,000 nodes with 10 before", 400, 120, { "slot=4000/node/net=10" })
run("edge switches full: each serves one node with 100", 4000, 120, { "slot=840/node/net=100" })
