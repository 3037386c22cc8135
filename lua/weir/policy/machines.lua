--- machines.lua - small machines to try policies on: a plain one, and one with everything that policies ask for.

local weir = require "weir"

local M = {}

local MACHINE = "cluster:1 rack:3 node:4 socket:2 core:4 gpu:1 memory:1(size=16,unit=GB)"

--- A machine of 12 nodes in three racks: classes of performance, nodes down or under maintenance.
function M.plain()
  local g = assert(weir.synthetic(MACHINE))
  for i, v in ipairs(g:find "type=node") do
    v.properties.perf_class = tostring(i % 3 + 1)
    if i % 5 == 0 then v.state = "down" end
    if i % 4 == 0 then v.tags.maintenance = "" end
  end
  return g
end

-- Adds a subsystem: a source of `size` units, below it a vertex of a type for each rack, below these the nodes.
local function add_subsystem(g, subsystem, type, size)
  local source = assert(g:add(nil, { type = type .. "_source", id = 0, size = size }))
  for i, rack in ipairs(g:find "type=rack") do
    local v = assert(g:add(nil, { type = type, id = i - 1, size = size }))
    assert(g:add_edge(source, v, { subsystem = subsystem, type = "supplies" }))
    for node in rack:children() do assert(g:add_edge(v, node, { subsystem = subsystem, type = "supplies" })) end
  end
end

--- The plain machine, with the subsystems network, power and io above its nodes, and the properties and tags that
--- policies read.
function M.full()
  local g = M.plain()
  add_subsystem(g, "network", "switch", 1)
  add_subsystem(g, "power", "panel", 10000)
  add_subsystem(g, "io", "bandwidth", 100)
  for i, rack in ipairs(g:find "type=rack") do
    rack.tags.temperature = tostring(20 + i)
    for k = 1, rack:nchildren() do
      local node = rack:child(k)
      node.properties.group, node.properties.position = rack.name, tostring(k)
      node.tags.installed = tostring(2020 + k)
      if k == 2 then node.tags.drain = "100" end
    end
  end
  return g
end

return M
