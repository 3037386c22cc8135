--- plain_machine.lua - a machine as replays of plain jobs see it: interchangeable units, in the order of the
--- placement policy, and the vertices above, such as nodes above cores. Where the policy is more than an order, for example
--- scores, the engine chooses the units (placer.lua), and the units are in the order of the machine's description. The
--- general simulator replays on machines with units that differ, are down or are taken, and under policies that may leave out
--- units for a job.

local core = require "weir.core"
local policies = require "weir.policy"
local tables = require "weir.tables"

local M = {}

local LEVELS = 8
local DIFFER = "the units of type %s are not all identical"

-- ---- the policy ---------------------------------------------------------------------------------------------

-- Whether a policy comes with weir. Bundled policies are known to score each candidate in `evaluate`, and to let a job that requests
-- nothing but units have any free unit, as far as `admit` and `prune` decide.
local function is_bundled(policy)
  local dir = policy.path and policy.path:match "^(.*)/[^/]*$"
  return dir ~= nil and tables.has(policies.bundled(), dir)
end

-- Whether jobs start when as many units are free as they request, with any preference of the policy.
local function takes_any(policy, type, totals)
  local own = is_bundled(policy)
  for _, part in ipairs(policy.parts) do
    if part ~= "exclusive" and not own or part == "exclusive" and type ~= "node" and totals.node then return false end
  end
  return own or policy.static
end

-- Whether the engine has units for a job that requests all of them: a policy that fails with this machine fails here.
local function gives_all(engine, type, n)
  local request = core.request(type == "node" and ("slot=%d/node"):format(n) or ("slot=%d/%s=1"):format(n, type))
  return engine:match(request, { mode = "preview", stats = false }) ~= nil
end

-- ---- the order of the policy --------------------------------------------------------------------------------

local FIELDS = { id = true, index = true }

-- Parses the words of an order, such as "-node.id". Returns a list of {above = type or nil, field =, sign =}; or nil
-- where a word reads anything else.
local function read_order(words)
  local list = {}
  for i, word in ipairs(words) do
    local minus, path = word:match "^(%-?)(.*)$"
    local above, field = path:match "^(%a+)%.(%a+)$"
    field = field or path
    if not FIELDS[field] then return nil end
    list[i] = { above = above, field = field, sign = minus == "-" and -1 or 1 }
  end
  return list
end

-- The value of a field for the order; a vertex without an id has -1, and a vertex that is not there comes last.
local function value(v, key)
  if not v then return math.huge end
  return key.sign * (v[key.field] or -1)
end

-- ---- units ------------------------------------------------------------------------------------------------------

-- The common data of all units below one parent: the vertices above by type, and the keys of the order that the vertices give.
-- Returns nil where a unit is below a unit, a type is nested in itself, or a vertex is given as a whole only.
local function shared(parent, type, order)
  local about = { above = {}, types = {}, keys = {}, rank = parent and parent.rank }
  local v = parent
  while v do
    local own = v.type
    if own == type or about.above[own] or v.exclusive then return nil end
    about.above[own], about.types[#about.types + 1] = v.index, own
    v = v:parent()
  end
  for i, key in ipairs(order) do
    if key.above and key.above ~= type then about.keys[i] = value(parent and parent:ancestor(key.above), key) end
  end
  return about
end

-- Returns the resources below a unit, as a text to compare and a table of units by type.
local function inside(v)
  local list, rows = {}, v:aggregate { all = true }
  local totals = {}
  for type, row in pairs(rows) do
    if row.total > 0 and v:below(type) > 0 then
      list[#list + 1] = ("%s=%d"):format(type, (v:below(type)))
      totals[type] = (v:below(type))
    end
  end
  table.sort(list)
  return table.concat(list, " "), totals
end

-- Returns the numbers of the keys that units take from a vertex above, and the keys that are fields of the units.
local function split(order, type)
  local common, own = {}, {}
  for i, key in ipairs(order) do
    if key.above and key.above ~= type then
      common[#common + 1] = i
    else
      own[#own + 1] = { at = i, by_id = key.field == "id", sign = key.sign }
    end
  end
  return common, own
end

-- Returns the units as lists in parallel: vertex indexes, ids, ranks, what their parents share, and the keys of the order;
-- or nil.
local function list_units(graph, type, order)
  local units, known = { index = {}, id = {}, rank = {}, about = {}, keys = {}, n = 0, below = {} }, {}
  local indexes, ids, ranks, abouts, keys, whole = units.index, units.id, units.rank, units.about, units.keys, type == "node"
  local common, own = split(order, type)
  for i = 1, #order do keys[i] = {} end
  local n, content = 0, nil
  for v, _, _, index, id, size, rank in graph:walk { type = type, fields = { "index", "id", "size", "rank" } } do
    local parent = v:parent()
    local about = known[parent or 0]
    if about == nil then
      about = shared(parent, type, order)
      known[parent or 0] = about
    end
    if not about or size ~= 1 or not whole and v.exclusive then return nil end
    n = n + 1
    indexes[n], ids[n], abouts[n] = index, id, about
    if whole then ranks[n] = rank else ranks[n] = about.rank end
    for i = 1, #common do
      local at = common[i]
      keys[at][n] = about.keys[at]
    end
    for i = 1, #own do
      local key = own[i]
      keys[key.at][n] = key.sign * (key.by_id and (id or -1) or index)
    end
    if content ~= "" then
      local text, totals = "", {}
      if v:nchildren() > 0 then text, totals = inside(v) end
      if content and text ~= content then return nil end
      content, units.below = text, totals
    elseif v:nchildren() > 0 then
      return nil
    end
  end
  units.n = n
  return units
end

-- Returns the numbers of the units in the order of the policy; of equal units the first of the graph comes first.
local function sorted(units)
  local places, keys, index = {}, units.keys, units.index
  for i = 1, units.n do places[i] = i end
  local function before(a, b)
    for i = 1, #keys do
      local x, y = keys[i][a], keys[i][b]
      if x ~= y then return x < y end
    end
    return index[a] < index[b]
  end
  for i = 2, units.n do
    if before(i, i - 1) then
      table.sort(places, before)
      break
    end
  end
  return places
end

-- ---- above the units --------------------------------------------------------------------------------------------

-- Returns the vertex of each unit, numbered from 0; or nil where a unit has none.
local function scattered(units, places, type)
  local list, numbers, n = {}, {}, 0
  for i = 1, units.n do
    local v = units.about[places[i]].above[type]
    if not v then return nil end
    if not numbers[v] then numbers[v], n = n, n + 1 end
    list[i] = numbers[v]
  end
  list.scattered = n
  return list
end

-- Returns the first unit of each vertex of a type above the units, or where the units of a vertex are not consecutive, the
-- vertex of each unit; or nil where a unit has none above.
local function level_of(units, places, type)
  local firsts, seen, last = {}, {}, nil
  for i = 1, units.n do
    local about = units.about[places[i]]
    if about ~= last then
      local v = about.above[type]
      if not v then return nil end
      if not last or last.above[type] ~= v then
        if seen[v] then return scattered(units, places, type) end
        seen[v], firsts[#firsts + 1] = true, i - 1
      end
      last = about
    end
  end
  return firsts
end

-- Adds the levels of all types of which there are several vertices. Returns false where one is no level.
local function add_levels(machine, totals, units, places)
  machine.levels, machine.level_types = {}, {}
  local types = {}
  local last
  for i = 1, units.n do
    local about = units.about[i]
    if about ~= last then
      for _, type in ipairs(about.types) do types[type] = true end
      last = about
    end
  end
  for type in pairs(types) do
    if machine.below[type] then return false end
    if totals[type].total > 1 then
      local firsts = level_of(units, places, type)
      if not firsts or #machine.levels == LEVELS then return false end
      machine.levels[#machine.levels + 1], machine.level_types[#machine.level_types + 1] = firsts, type
      if type == "node" then machine.node = #machine.levels end
    end
  end
  return true
end

-- ---- names --------------------------------------------------------------------------------------------------------

-- Returns the texts of what each rank has, by rank: "core[0-3],gpu[0-1]"; or nil for a machine without R.
local function texts_by_rank(graph)
  local set = graph:rset { scheduling = false }
  if not set then return nil end
  local texts = {}
  for ranks, text in set:format("rlist"):gmatch "rank(%[?[%d,-]+%]?)/(%S+)" do
    for rank in core.idset(ranks):ids() do texts[rank] = text end
  end
  return texts, set
end

-- Appends a unit to a list of stretches (see bindings/weir/replay/flat.h), five numbers each.
local function extend(list, unit, rank, class, id, along)
  local n = #list
  local last = list.last
  if last and last.class == class and last.other == (along == "id" and rank or 0) then
    local step = (along == "id" and id or rank) - last.at
    if (step == 1 or step == -1) and (last.n == 1 or last.step == step) then
      list[n], last.step, last.at, last.n = step, step, last.at + step, last.n + 1
      return
    end
  end
  list[n + 1], list[n + 2], list[n + 3], list[n + 4], list[n + 5] = unit, rank, class, id, 1
  list.last = { class = class, other = along == "id" and rank or 0, at = along == "id" and id or rank, n = 1, step = 1 }
end

-- Returns the naming of cores: of each the rank and the id; or nil where these do not distinguish cores.
local function name_cores(graph, units, places)
  local texts, set = texts_by_rank(graph)
  if not texts then return nil end
  local only = set:ranks():count() == 1 and set:ranks():last()
  local list, seen = {}, {}
  for i = 1, units.n do
    local place = places[i]
    local rank, id = units.rank[place] or only, units.id[place]
    if not rank or not id or id < 0 then return nil end
    local key = rank << 32 | id
    if seen[key] then return nil end
    seen[key] = true
    extend(list, i - 1, rank, 0, id, "id")
  end
  list.last = nil
  return { type = "core", stretches = list }
end

-- Returns the naming of whole nodes: of each the rank, and the text of what is in it; or nil.
local function name_nodes(graph, units, places)
  local texts, set = texts_by_rank(graph)
  if not texts or set:ranks():count() ~= units.n then return nil end
  local classes, numbers, list, seen = {}, {}, {}, {}
  for i = 1, units.n do
    local rank = units.rank[places[i]]
    if not rank or seen[rank] then return nil end
    seen[rank] = true
    local text = texts[rank] or ""
    if not numbers[text] then classes[#classes + 1], numbers[text] = text, #classes end
    extend(list, i - 1, rank, numbers[text], 0, "rank")
  end
  list.last = nil
  return { texts = classes, stretches = list }
end

-- ---- all of it ------------------------------------------------------------------------------------------------------

-- Whether the whole machine is up and free, now and later, and there is nothing but containment and a network.
local function untouched(graph, totals)
  for _, name in ipairs(graph:subsystems()) do
    if name ~= "containment" and name ~= "network" then return false end -- of switches, nothing is taken
  end
  if #graph:roots() ~= 1 or graph:validity() or graph:now() ~= 0 then return false end
  for _, row in pairs(totals) do
    if row.free ~= row.total or row.idle ~= row.total then return false end
  end
  return #graph:root():jobs() == 0
end

-- Returns the number of each unit by the index of its vertex.
local function numbered(units, places)
  local numbers = {}
  for i = 1, units.n do numbers[units.index[places[i]]] = i - 1 end
  return numbers
end

-- Whether the units of a node are consecutive, nodes have as many, and come in the order in which the policy takes nodes.
local function in_nodes(machine, order)
  local firsts = machine.levels[machine.node]
  if not firsts or firsts.scattered or order[1] and order[1].above ~= "node" then return false end
  for i = 2, #firsts do
    if firsts[i] ~= (i - 1) * firsts[2] then return false end
  end
  return machine.units == #firsts * (firsts[2] or machine.units)
end

--- Returns a machine as plain jobs see it: {units = their number, levels = for each type above, the first unit of each
--- vertex, or with a field scattered, the number of vertices, the vertex of each unit; level_types = these types; node =
--- which of them is node; below = units of each type within a unit; naming; numbers = the number of each unit by the index
--- of its vertex, where the engine is to choose the units}; or nil where the general simulator is needed, and why. `names`: whether
--- the resources of jobs are to be written; nodes: whether jobs take all cores of nodes, where type is core. Costs a walk over the units.
function M.of(graph, engine, type, names, nodes)
  local _, policy = engine:policy()
  local words = policy and policy.order
  local order = words and read_order(words)
  local totals = graph:aggregate(nil, { all = true })
  if not totals[type] then return nil, ("the machine has no %s"):format(type) end
  if not untouched(graph, totals) then return nil, "parts of the machine are down, taken or in further hierarchies" end
  if not (order or policy and takes_any(policy, type, totals)) then return nil, "the placement policy may leave out free units" end
  local units = list_units(graph, type, order or {})
  if not units or units.n ~= totals[type].total then return nil, DIFFER:format(type) end
  if not order and not gives_all(engine, type, units.n) then return nil, "the placement policy does not give all units to one job" end
  local places = sorted(units)
  local machine = { units = units.n, below = units.below }
  if not add_levels(machine, totals, units, places) then return nil, DIFFER:format(type) end
  if not order or nodes and not in_nodes(machine, order) then machine.numbers = numbered(units, places) end
  if names then
    machine.naming = (type == "core" and name_cores or name_nodes)(graph, units, places)
    if not machine.naming then return nil, ("rank and id do not name each %s"):format(type) end
  end
  return machine
end

return M
