--- anonymous.lua - a copy of a machine without its names: for a trace that may be given away.
---
--- Nodes, switches and all else with a name are numbered through by type; numbers in names stay, behind n1-, n2-, ...;
--- properties are p1, p2, ..., queues q1, q2, ... Types, sizes, states, ranks, the hierarchies, and the limits and priorities
--- of queues stay. UUIDs are new.

local chunk = require "weir.machine.sandboxed_file"
local failure = require "weir.failure"
local queues = require "weir.machine.queues"
local tables = require "weir.tables"

local M = {}

--- Returns a function that gives each text a new one: a letter and a number, in the order in which texts come.
function M.names(letter)
  local known, n = {}, 0
  return function(text)
    if text == nil then return nil end
    if not known[text] then
      n = n + 1
      known[text] = letter .. n
    end
    return known[text]
  end
end

local must = failure.must

local function properties_of(build, v)
  local out = {}
  for key, value in tables.sorted(v.properties) do
    out[build.maps.property(key)] = tonumber(value) and tostring(value) or true
  end
  return out
end

local function pool_of(build, v)
  local pool = { type = v.type, size = v.size, unit = v.unit, exclusive = v.exclusive or nil, rank = v.rank,
    properties = properties_of(build, v) }
  if v.id and v.name == v.basename .. v.id then -- policies order by ids, which stay
    pool.id, pool.basename = v.id, v.basename ~= v.type and build.basename(v.basename) .. "-" or nil
  else
    local n = (build.counts[v.type] or 0) + 1
    build.counts[v.type], pool.name = n, v.type .. n
  end
  return pool
end

local function grow(build, v, parent)
  local made = must(build.graph:add(parent, pool_of(build, v)))
  build.made[v] = made
  for child in v:children() do grow(build, child, made) end
  if v.state ~= "up" then build.states[#build.states + 1] = { made, v.state } end
end

local function join(build, graph, subsystem)
  for edge in graph:edges(subsystem) do
    for _, end_ in ipairs { edge.source, edge.target } do
      if not build.made[end_] then build.made[end_] = must(build.graph:add(nil, pool_of(build, end_))) end
    end
    must(build.graph:add_edge(build.made[edge.source], build.made[edge.target],
      { subsystem = subsystem, type = edge.type, back = edge.back }))
  end
end

local function queues_of(graph, maps)
  local list, consumption = queues.of(graph)
  local out = {}
  for _, name in ipairs(tables.keys(list)) do
    local one = tables.copy(list[name])
    one.requires = {}
    for i, property in ipairs(list[name].requires or {}) do one.requires[i] = maps.property(property) end
    for field, map in pairs { accounts = maps.bank, not_accounts = maps.bank, qos = maps.qos } do
      if one[field] then one[field] = {} end
      for i, own in ipairs(list[name][field] or {}) do one[field][i] = map(own) end
    end
    out[maps.queue(name)] = one
  end
  return out, consumption
end

--- Returns a copy of a graph without names. maps: {property =, queue =, bank =, qos =}, functions from a name to the new one as from
--- names(), which the trace needs too. Jobs are not copied. Or nil, message, code.
function M.copy(graph, maps)
  return failure.caught("invalid", chunk.build, function(new)
    local build = { graph = new, maps = maps, counts = {}, made = {}, states = {}, basename = M.names "n" }
    for _, root in ipairs(graph:roots()) do grow(build, root, nil) end
    for _, subsystem in ipairs(graph:subsystems()) do
      if subsystem ~= "containment" then join(build, graph, subsystem) end
    end
    for _, state in ipairs(build.states) do state[1].state = state[2] end
    local root = graph:roots()[1]
    if root then queues.set(build.made[root], queues_of(graph, maps)) end
  end)
end

return M
