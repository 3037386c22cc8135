--- networks.lua - machines with a network of distribution units, as they are built: power with one, two and three feeds, feeds
--- over distribution units that each have several parents, fat trees, dragonflies, tori. Each function takes about how many
--- nodes there are to be, and returns the graph and the name of the subsystem.
local weir = require "weir"

local M = {}

-- Adds vertices outside of containment and edges of a subsystem.
local function builder(g, subsystem, unit)
  local b = {}
  function b.unit(type, id, size) return assert(g:add(nil, { type = type, id = id, size = size, unit = unit })) end
  function b.edge(from, to, back)
    assert(g:add_edge(from, to, { subsystem = subsystem, type = "supplies", back = back and "supplies" or nil }))
  end
  return b
end

local function children(v)
  local list = {}
  for kid in v:children() do list[#list + 1] = kid end
  return list
end

-- Racks of up to 20 nodes with two power units each, of which each node hangs on `ways`; eight UPSs, two feeds.
local function power(nodes, ways)
  local per_rack = math.min(nodes, 20)
  local g = assert(weir.synthetic(("cluster:1 rack:%d node:%d core:8"):format(nodes // per_rack, per_rack)))
  local b, feeds, ups = builder(g, "power", "kW"), {}, {}
  for f = 0, ways == 3 and 2 or 1 do feeds[f] = b.unit("feed", f, nodes * 3) end
  for u = 0, 7 do
    ups[u] = b.unit("ups", u, nodes)
    b.edge(feeds[u % (#feeds + 1)], ups[u])
  end
  for r, rack in ipairs(g:find "type=rack") do
    local pdus = {}
    for k = 0, math.max(ways, 2) - 1 do
      pdus[k] = b.unit("pdu", (r - 1) * 3 + k, per_rack * 5 // 2)
      b.edge(ups[(r * 2 + k) % 8], pdus[k])
    end
    for _, node in ipairs(children(rack)) do
      for k = 0, ways - 1 do b.edge(pdus[k], node) end
    end
  end
  return g, "power"
end

function M.single(nodes) return power(nodes, 1) end
function M.dual(nodes) return power(nodes, 2) end
function M.triple(nodes) return power(nodes, 3) end

--- Two levels with several parents: each power unit hangs on two of four feeds, each node on two units of a row of racks.
function M.levels(nodes)
  local g = assert(weir.synthetic(("cluster:1 node:%d core:8"):format(nodes)))
  local b, feeds, pdus = builder(g, "power", "kW"), {}, {}
  for f = 0, 3 do feeds[f] = b.unit("feed", f, nodes) end
  for p = 0, math.max(2, nodes // 4) - 1 do
    pdus[p] = b.unit("pdu", p, 7)
    b.edge(feeds[p % 4], pdus[p])
    b.edge(feeds[(p * 3 + 1) % 4], pdus[p])
  end
  for i, node in ipairs(g:find "type=node") do
    b.edge(pdus[(i * 2) % (#pdus + 1)], node)
    b.edge(pdus[(i * 2 + 1) % (#pdus + 1)], node)
  end
  return g, "power"
end

--- A fat tree of switches with k ports, k^3 / 4 nodes: core, aggregation and edge switches.
function M.fat_tree(nodes)
  local k = 2
  while (k + 2) ^ 3 // 4 <= nodes do k = k + 2 end
  local half = k // 2
  local g = assert(weir.synthetic(("cluster:1 pod:%d node:%d core:8"):format(k, half * half)))
  local b, core = builder(g, "net", "Gb"), {}
  local spine = b.unit("spine", 0, k * half * half * 10)
  for c = 0, half * half - 1 do
    core[c] = b.unit("core_switch", c, k * 10)
    b.edge(spine, core[c])
  end
  for p, pod in ipairs(g:find "type=pod") do
    local kids, middle = children(pod), {}
    for a = 0, half - 1 do
      middle[a] = b.unit("aggregation", p * k + a, k * 5)
      for c = 0, half - 1 do b.edge(core[a * half + c], middle[a]) end
    end
    for e = 0, half - 1 do
      local switch = b.unit("edge_switch", p * k + e, k * 5)
      for a = 0, half - 1 do b.edge(middle[a], switch) end
      for i = 1, half do b.edge(switch, kids[e * half + i]) end
    end
  end
  return g, "net"
end

--- A dragonfly: groups of four routers, each joined to all others of the group and to one router of each other group; two
--- nodes a router, and a gateway into each group.
function M.dragonfly(nodes)
  local groups = math.max(2, nodes // 8)
  local g = assert(weir.synthetic(("cluster:1 group:%d node:8 core:8"):format(groups)))
  local b, routers = builder(g, "net", "Gb"), {}
  local gateway = b.unit("gateway", 0, nodes * 3)
  for i, group in ipairs(g:find "type=group") do
    local kids = children(group)
    routers[i] = {}
    for r = 1, 4 do
      routers[i][r] = b.unit("router", i * 4 + r, 13)
      b.edge(routers[i][r], kids[2 * r - 1])
      b.edge(routers[i][r], kids[2 * r])
      for other = 1, r - 1 do b.edge(routers[i][other], routers[i][r], true) end
    end
    b.edge(gateway, routers[i][1])
  end
  for i = 1, groups do
    for k = i + 1, groups do b.edge(routers[i][(k - 1) % 4 + 1], routers[k][(i - 1) % 4 + 1], true) end
  end
  return g, "net"
end

--- A torus of switches, four nodes behind each, and a gateway into each row.
function M.torus(nodes)
  local side = 2
  while (side + 1) ^ 2 * 4 <= nodes do side = side + 1 end
  local g = assert(weir.synthetic(("cluster:1 node:%d core:8"):format(side * side * 4)))
  local b, switches, list = builder(g, "net", "Gb"), {}, g:find "type=node"
  local gateway = b.unit("gateway", 0, nodes * 3)
  for i = 0, side * side - 1 do
    switches[i] = b.unit("switch", i, 17)
    for k = 1, 4 do b.edge(switches[i], list[i * 4 + k]) end
  end
  for x = 0, side - 1 do
    for y = 0, side - 1 do
      local at = switches[x * side + y]
      if side > 2 or y == 0 then b.edge(at, switches[x * side + (y + 1) % side], true) end
      if side > 2 or x == 0 then b.edge(at, switches[(x + 1) % side * side + y], true) end
    end
    b.edge(gateway, switches[x * side])
  end
  return g, "net"
end

--- The names of the machines, in order.
M.names = { "single", "dual", "triple", "levels", "fat_tree", "dragonfly", "torus" }

return M
