--- hierarchy.lua - matches in a hierarchy of power on 10,080 nodes with 40 cores (413,842 vertices): weir run
-- spec/bench/hierarchy.lua. 280 racks of 36 nodes; 280 power units, each with one node of every eighth rack or so.

local weir = require "weir"

local RACKS, NODES, PDUS = 280, 36, 280

local function machine()
  local g = assert(weir.synthetic(("cluster:1 rack:%d node:%d core:40"):format(RACKS, NODES)))
  local nodes = g:find "type=node"
  local feed = assert(g:add(nil, { type = "feed", id = 0 }))
  for i = 0, PDUS - 1 do
    local pdu = assert(g:add(nil, { type = "pdu", id = i, size = 1000 }))
    assert(g:add_edge(feed, pdu, { subsystem = "power", type = "supplies" }))
    for n = i, #nodes - 1, PDUS do assert(g:add_edge(pdu, nodes[n + 1], { subsystem = "power", type = "supplies" })) end
  end
  return g
end

local g = machine()
local e = weir.engine { resources = g }

-- Milliseconds and visits of a match that is given back.
local function measure(name, shape, subsystem, times)
  local from = os.clock()
  for _ = 1, times do e:release(assert(e:match(shape, { subsystem = subsystem })).id) end
  print(("%-44s %8.3f ms  %5d visits"):format(name, (os.clock() - from) * 1000 / times, e:stats().visited))
end

local before = g:bytes()
measure("the first match in power, which makes the view", "pdu=1/slot=8/node", "power", 1)
print(("%-44s %8.1f MB of %.1f MB"):format("the view", (g:bytes() - before) / 1e6, before / 1e6))
measure("8 nodes of one power unit", "pdu=1/slot=8/node", "power", 500)
measure("8 nodes of one rack", "rack=1/slot=8/node", nil, 500)
measure("4 cores, in power", "slot=1/core=4", "power", 500)
measure("4 cores", "slot=1/core=4", nil, 500)
measure("a whole power unit for 4 cores", "slot=1/core=4", "power:pdu", 500)
measure("a whole rack for 4 cores", "slot=1/core=4", "containment:rack", 500)
measure("a rack", "slot=1/rack", nil, 500)

-- Each node on two power units: those of a rack on the unit of the rack and on the next one.
local dual = assert(weir.synthetic(("cluster:1 rack:%d node:%d core:40"):format(RACKS, NODES)))
local nodes = dual:find "type=node"
for i = 0, PDUS - 1 do
  local pdu = assert(dual:add(nil, { type = "pdu", id = i }))
  for k = 1, NODES do
    for _, rack in ipairs { i, (i + 1) % RACKS } do
      assert(dual:add_edge(pdu, nodes[rack * NODES + k], { subsystem = "power", type = "supplies" }))
    end
  end
end
local both = weir.engine { resources = dual, granularity = "power" }

local function try(name, shape, times)
  local from, answer = nil, nil
  for i = 0, times do -- the first makes the views
    if i == 1 then from = os.clock() end
    local a, _, code = both:match(shape)
    if a then both:release(a.id) end
    answer = a and "placed" or code
  end
  print(("%-44s %8.3f ms  %s"):format(name, (os.clock() - from) * 1000 / times, answer))
end

print "each node on two power units"
try("64 nodes", "slot=64/node", 200)
try("10,081 nodes", "slot=10081/node", 200)
try("36 nodes of one power unit", "pdu=1/slot=36/node", 200)
try("73 nodes of one power unit", "pdu=1/slot=73/node", 20)
try("50 nodes of each of two", "pdu=2/slot=50/node", 20)
try("36 nodes of each of 280", "pdu=280/slot=36/node", 5)
try("72 nodes of each of 141", "pdu=141/slot=72/node", 20)
