--- figures.lua - the machines of the figures of RFC 4, as graphs.

local weir = require "weir"

local M = {}

-- Adds an edge of a subsystem and the opposite edge.
local function conduit(g, source, target, subsystem, type)
  assert(g:add_edge(source, target, { subsystem = subsystem, type = type, back = "from" }))
end

local function add_nodes(g, cluster, n)
  local nodes = {}
  for i = 1, n do
    nodes[i] = assert(g:add(cluster, { type = "node", id = i - 1, rank = i - 1 }))
    assert(g:add(nodes[i], { type = "core", id = 0 }, 4))
    assert(g:add(nodes[i], { type = "disk", id = 0, size = 800, unit = "GB" }))
  end
  return nodes
end

--- Figures 5 and 6: a file system PFS1 of 16 GB/s; two core switches of 8; four edge switches of 4; eight nodes of four
--- cores, two behind each edge switch. Power beside it: a panel of 10 kW, two pdus of 6, four nodes behind each. Storage:
--- PFS1 is read through two gateways, and by the local disk of each node.
function M.unified()
  local g = weir.new()
  local f = { graph = g, core_switch = {}, edge_switch = {}, pdu = {}, gateway = {} }
  f.cluster = assert(g:add(nil, { type = "cluster", id = 0 }))
  f.pfs1 = assert(g:add(nil, { type = "filesystem", name = "PFS1", size = 16, unit = "GB/s" }))
  f.panel = assert(g:add(nil, { type = "panel", id = 0, size = 10, unit = "kW" }))
  f.node = add_nodes(g, f.cluster, 8)
  for i = 1, 2 do
    f.core_switch[i] = assert(g:add(nil, { type = "core_switch", id = i, size = 8, unit = "GB/s" }))
    f.pdu[i] = assert(g:add(nil, { type = "pdu", id = i, size = 6, unit = "kW" }))
    f.gateway[i] = assert(g:add(nil, { type = "gateway", id = i, size = 8, unit = "GB/s" }))
    conduit(g, f.pfs1, f.core_switch[i], "bandwidth", "conduit_of")
    conduit(g, f.panel, f.pdu[i], "power", "supplies")
    conduit(g, f.pfs1, f.gateway[i], "storage", "serves")
  end
  for i = 1, 4 do
    f.edge_switch[i] = assert(g:add(nil, { type = "edge_switch", id = i, size = 4, unit = "GB/s" }))
    conduit(g, f.core_switch[(i + 1) // 2], f.edge_switch[i], "bandwidth", "conduit_of")
  end
  for i, node in ipairs(f.node) do
    conduit(g, f.edge_switch[(i + 1) // 2], node, "bandwidth", "conduit_of")
    conduit(g, f.pdu[(i + 3) // 4], node, "power", "supplies")
    for _, gateway in ipairs(f.gateway) do conduit(g, gateway, assert(node:child(5)), "storage", "serves") end
  end
  return f
end

--- Figure 4: a containment hierarchy: a cluster of two racks of two nodes with sockets, cores and pooled memory.
function M.containment()
  return assert(weir.synthetic "cluster:1 rack:2 node:2 socket:2 core:4 memory:1(size=16,unit=GB)")
end

return M
