--- machine/scale.lua - a machine with more or fewer of a type: "and with 100 more nodes?".
---
--- New vertices are copies of present vertices, with everything below, in the present proportions: to 60 thin and 40 fat nodes,
--- ten more nodes are six thin and four fat nodes. A copy has the properties of its model and is a sibling of the model, also in
--- further hierarchies, with a new rank and the next free number of the model's name. Removed vertices are the last of their
--- kind, in the same proportions.

local failure = require "weir.failure"
local tables = require "weir.tables"

local M = {}

-- Returns n places of 1 to `count`, evenly spread, the last of each part; places come again where n is above `count`.
local function spread(count, n)
  local places = {}
  for i = 1, n do places[i] = ((i * count - 1) // n) % count + 1 end
  return places
end

local copy_map = tables.copy

local must = failure.must

-- Returns the name that comes behind a name with a number, and its parts: "thin40" gives "thin41".
local function next_name(build, name)
  local head, digits = name:match "^(.-)(%d*)$"
  local n = build.numbers[head]
  repeat
    n = (n or tonumber(digits) or 0) + 1
  until not build.names[("%s%0" .. math.max(#digits, 1) .. "d"):format(head, n)]
  build.numbers[head] = n
  local made = ("%s%0" .. math.max(#digits, 1) .. "d"):format(head, n)
  build.names[made] = true
  return made
end

local function pool_of(build, v, top)
  local pool = { type = v.type, size = v.size, unit = v.unit, exclusive = v.exclusive or nil, properties = copy_map(v.properties) }
  local usual = v.id ~= nil and v.name == v.basename .. v.id
  if top then
    local name = next_name(build, v.name)
    local head, digits = name:match "^(.-)(%d+)$"
    if usual and head == v.basename then pool.basename, pool.id = head, math.tointeger(tonumber(digits)) else pool.name = name end
  elseif usual then
    pool.basename, pool.id = v.basename, v.id
  else
    pool.name = v.name
  end
  if v.rank and (top or v.rank ~= (v:parent() and v:parent().rank)) then
    pool.rank = build.rank
    build.rank = build.rank + 1
  end
  return pool
end

local function copy(build, v, parent, top)
  local made = must(build.graph:add(parent, pool_of(build, v, top)))
  for _, subsystem in ipairs(build.others) do
    for _, edge in ipairs(v:edges(subsystem)) do
      if edge.target == v then
        must(build.graph:add_edge(edge.source, made, { subsystem = subsystem, type = edge.type, back = edge.back }))
      end
    end
  end
  for child in v:children() do copy(build, child, made, false) end
end

local function new_build(graph)
  local build = { graph = graph, rank = 0, names = {}, numbers = {}, others = {} }
  for v in graph:walk {} do
    build.names[v.name] = true
    if v.rank and v.rank >= build.rank then build.rank = v.rank + 1 end
  end
  for _, name in ipairs(graph:subsystems()) do
    if name ~= "containment" then build.others[#build.others + 1] = name end
  end
  return build
end

-- Adds or takes away copies of vertices. Returns true.
local function change(graph, n, models)
  local build = new_build(graph)
  if n > 0 then
    for _, place in ipairs(spread(#models, n)) do copy(build, models[place], models[place]:parent(), true) end
    return true
  end
  local places = spread(#models, -n)
  for i = #places, 1, -1 do must(graph:unlink(models[places[i]])) end
  return true
end

--- Adds n copies of vertices of a type to a graph, or takes away -n. Returns true; or nil, message, code, and the graph may
--- have a part of the change.
function M.change(graph, kind, n)
  local models = tables.collect(graph:walk { type = kind })
  if n == 0 then return true end
  if #models == 0 then return nil, ("the machine has no %s"):format(kind), "unknown" end
  if -n >= #models then return nil, ("the machine has %d of %s, and one of them must stay"):format(#models, kind), "invalid" end
  return failure.caught("invalid", change, graph, n, models)
end

return M
