--- tight_networks.lua - machines of any size whose nodes draw units of the subsystem "net" through several units at once, and
-- whose units can be made too few: power from two or three feeds, fat trees, dragonflies, tori. Each is made of `racks` racks
-- with `per` nodes of 8 cores. The functions return a graph and its network: { nodes =, edges = { { from, to, whether it goes
-- both ways }, ... } }.
local weir = require "weir"
local M = {}

local function machine(racks, per)
  local g = assert(weir.synthetic(("cluster:1 rack:%d node:%d core:8"):format(racks, per)))
  local nodes = {}
  for i, node in ipairs(g:find "type=node") do nodes[i - 1] = node end
  local function units(type, n, size)
    local list = {}
    for i = 0, n - 1 do list[i] = assert(g:add(nil, { type = type, id = i, size = size })) end
    return list
  end
  local network = { nodes = nodes, edges = {} }
  local function feed(from, to, back)
    assert(g:add_edge(from, to, { subsystem = "net", type = "feeds", back = back }))
    table.insert(network.edges, { from, to, back ~= nil })
  end
  return g, network, units, feed
end

--- `feeds` feeds of `source` units, `pdus` PDUs of `size` units a rack: PDU k of rack r is on feed (r + k) modulo `feeds`.
function M.feeds(racks, per, size, source, feeds, pdus)
  local g, network, units, feed = machine(racks, per)
  local top, list = units("feed", feeds, source), units("pdu", racks * pdus, size)
  for r = 0, racks - 1 do
    for k = 0, pdus - 1 do
      feed(top[(r + k) % feeds], list[r * pdus + k])
      for i = 0, per - 1 do feed(list[r * pdus + k], network.nodes[r * per + i]) end
    end
  end
  return g, network
end

--- Two levels with two parents each: 4 feeds, PDUs on two of them, nodes on two PDUs, in a ring.
function M.levels(racks, per, size, source)
  local g, network, units, feed = machine(racks, per)
  local n = racks * per // 2
  local top, list = units("feed", 4, source), units("pdu", n, size)
  for i = 0, n - 1 do
    feed(top[i % 4], list[i])
    feed(top[(i + 1) % 4], list[i])
  end
  for i = 0, racks * per - 1 do
    feed(list[i % n], network.nodes[i])
    feed(list[(i + 1) % n], network.nodes[i])
  end
  return g, network
end

--- A dragonfly: each rack is a group of `routers` routers joined to each other, and each two groups have a link.
function M.dragonfly(racks, per, size, source, routers)
  local g, network, units, feed = machine(racks, per)
  local store, list = units("store", 1, source), units("router", racks * routers, size)
  for a = 0, racks - 1 do
    for i = 0, routers - 1 do
      for j = i + 1, routers - 1 do feed(list[a * routers + i], list[a * routers + j], "feeds") end
    end
    for i = 0, per - 1 do feed(list[a * routers + i % routers], network.nodes[a * per + i]) end
    for b = a + 1, racks - 1 do feed(list[a * routers + b % routers], list[b * routers + a % routers], "feeds") end
  end
  feed(store[0], list[0])
  feed(store[0], list[racks * routers - 1])
  return g, network
end

--- A torus of racks times nodes with a router each, and two gateways.
function M.torus(racks, per, size, source)
  local g, network, units, feed = machine(racks, per)
  local gateway, list = units("gateway", 2, source), units("router", racks * per, size)
  for i = 0, racks - 1 do
    for j = 0, per - 1 do
      local at = i * per + j
      if racks > 2 or i == 0 then feed(list[at], list[(i + 1) % racks * per + j], "feeds") end
      if per > 2 or j == 0 then feed(list[at], list[i * per + (j + 1) % per], "feeds") end
      feed(list[at], network.nodes[at])
    end
  end
  feed(gateway[0], list[0])
  feed(gateway[1], list[racks // 2 * per + per // 2])
  return g, network
end

--- A fat tree: each rack is a pod of `switches` edge and as many aggregation switches.
function M.fat_tree(racks, per, size, source, switches)
  local g, network, units, feed = machine(racks, per)
  local top, core = units("spine", 1, source), units("core_switch", switches * switches, 2 * size)
  local upper, lower = units("upper_switch", racks * switches, size), units("lower_switch", racks * switches, size)
  for i = 0, switches * switches - 1 do feed(top[0], core[i]) end
  for p = 0, racks - 1 do
    for a = 0, switches - 1 do
      for i = 0, switches - 1 do
        feed(core[a * switches + i], upper[p * switches + a])
        feed(upper[p * switches + a], lower[p * switches + i])
      end
    end
    for i = 0, per - 1 do feed(lower[p * switches + i * switches // per], network.nodes[p * per + i]) end
  end
  return g, network
end

return M
