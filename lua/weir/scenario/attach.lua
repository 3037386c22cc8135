--- attach.lua - adds a machine, or the contents of its cluster, below a vertex of a further machine.

local blame = require "weir.scenario.error_location"
local plain = require "weir.plain"
local tables = require "weir.tables"

-- Returns the next id of each type in a graph, and the next rank.
local function counters(graph)
  local next_id, next_rank = {}, 0
  for v in graph:walk {} do
    if v.id then next_id[v.type] = math.max(next_id[v.type] or 0, v.id + 1) end
    if v.rank then next_rank = math.max(next_rank, v.rank + 1) end
  end
  return next_id, next_rank
end

local function pool_of(v, id, rank)
  return { type = v.type, basename = v.basename, name = plain.own_name(v), id = id, size = v.size, unit = v.unit ~= "" and v.unit or nil,
    rank = rank, exclusive = v.exclusive or nil, properties = tables.copy(v.properties), tags = tables.copy(v.tags) }
end

-- Adds `v` and all vertices below. Ids directly below the top continue the ids present; ids further down stay, except
-- for types numbered through the machine.
local function put(graph, parent, v, numbers, at_top)
  local through = at_top or numbers.through[v.type]
  local id = v.id and (through and numbers.id[v.type] + v.id or v.id)
  local own = v.rank and not (v:parent() and v:parent().rank)
  local made, why = graph:add(parent, pool_of(v, id, own and numbers.rank + v.rank or nil))
  if not made then blame.fail("s:add: %s", why) end
  for kid in v:children() do put(graph, made, kid, numbers) end
end

-- Returns the types numbered through the machine: with vertices below several parents, and no id used twice.
local function numbered_through(graph)
  local seen, twice, place, through = {}, {}, {}, {}
  for v in graph:walk {} do
    local key, parent = ("%s %s"):format(v.type, v.id), v:parent()
    twice[v.type] = twice[v.type] or seen[key]
    seen[key] = true
    if place[v.type] and place[v.type] ~= parent then through[v.type] = true end
    place[v.type] = parent
  end
  for type in pairs(twice) do through[type] = nil end
  return through
end

return function(graph, top, other)
  local ids, rank = counters(graph)
  local numbers = { id = setmetatable(ids, { __index = function() return 0 end }), rank = rank, through = numbered_through(graph) }
  for _, root in ipairs(other:roots()) do
    if root.type ~= "cluster" then put(graph, top, root, numbers, true) end
    for kid in root.type == "cluster" and root:children() or function() end do put(graph, top, kid, numbers, true) end
  end
end
