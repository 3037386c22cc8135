--- nested.lua - the graph in the R of an instance inside another one. Flux renumbers the ranks and the ids of R_lite from 0 on, and
-- leaves the graph under "scheduling" as the outer scheduler wrote it, with the ranks and ids of the outer instance (RFC 20).

local core = require "weir.core"
local rset = require "weir.rset"
local tables = require "weir.tables"

local M = {}

-- Returns the ranks of R_lite as a list, and with a nodelist of as many hosts {host = rank}; nil for hosts where one is there twice.
local function ranks_of(execution)
  local list, hosts = {}, {}
  for _, row in ipairs(execution.R_lite or {}) do
    for rank in core.idset(tostring(row.rank)):ids() do list[#list + 1] = rank end
  end
  local names = core.hostlist(table.concat(execution.nodelist or {}, ","))
  local n = 0
  for name, i in (names or core.hostlist()):names() do
    n = i
    if hosts and hosts[name] then hosts = nil end
    if hosts then hosts[name] = list[i] end
  end
  table.sort(list)
  return list, n == #list and hosts or nil
end

-- Returns the ranks of the nodes of a graph as a sorted list, and {rank = name}.
local function ranks_in(nodes)
  local list, names = {}, {}
  for _, node in ipairs(nodes) do
    local data = type(node) == "table" and node.metadata
    local rank = type(data) == "table" and data.type == "node" and math.tointeger(data.rank)
    if rank and rank >= 0 and not names[rank] then
      list[#list + 1], names[rank] = rank, data.name or tostring(data.basename) .. tostring(data.id)
    end
  end
  table.sort(list)
  return list, names
end

local function equal(a, b)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then return false end
  end
  return true
end

-- Returns {rank in the graph = rank in R_lite}: by the names of hosts where they distinguish hosts, else in order. nil where the two do
-- not have equally many ranks.
local function mapping(old, names, new, hosts)
  if #old ~= #new then return nil end
  local map, used = {}, {}
  for i, rank in ipairs(old) do
    local to = hosts and hosts[names[rank]]
    if hosts and (not to or used[to]) then return mapping(old, names, new) end
    map[rank] = to or new[i]
    used[map[rank]] = true
  end
  return map
end

local function follow_ranks(R, nodes)
  local new, hosts = ranks_of(R.execution)
  local old, names = ranks_in(nodes)
  local map = not equal(old, new) and mapping(old, names, new, hosts)
  if not map then return false end
  for _, node in ipairs(nodes) do
    local data = type(node) == "table" and node.metadata
    if type(data) == "table" and map[data.rank] then data.rank = map[data.rank] end
  end
  return true
end

-- Returns {path = rank} of the nodes of a graph without any rank, by the names of hosts; nil where another name is among them.
local function ranks_by_host(nodes, hosts)
  local found = {}
  for _, node in ipairs(nodes) do
    local data = type(node) == "table" and type(node.metadata) == "table" and node.metadata or {}
    if math.tointeger(data.rank) and data.rank >= 0 then return nil end
    if data.type == "node" then
      local path = type(data.paths) == "table" and data.paths.containment
      local rank = hosts[data.name or tostring(data.basename) .. tostring(data.id)]
      if not rank or type(path) ~= "string" then return nil end
      found[path] = rank
    end
  end
  return next(found) and found
end

--- Gives the nodes of a graph in an R, a table, and what is below them, the ranks of R_lite, where the graph has none: a graph that
--- was written by a person. Nodes are found by the names of hosts.
function M.give_ranks(R)
  local graph = type(R) == "table" and type(R.scheduling) == "table" and R.scheduling.graph
  local nodes = type(graph) == "table" and type(graph.nodes) == "table" and graph.nodes
  if not nodes or type(R.execution) ~= "table" then return end
  local _, hosts = ranks_of(R.execution)
  local found = hosts and ranks_by_host(nodes, hosts)
  if not found then return end
  local function rank_at(path)
    if not path then return nil end
    return found[path] or rank_at(path:match "^(.+)/[^/]*$")
  end
  for _, node in ipairs(nodes) do
    local data = node.metadata
    local path = type(data) == "table" and type(data.paths) == "table" and data.paths.containment
    if type(path) == "string" then data.rank = rank_at(path) end
  end
end

-- ---- ids -------------------------------------------------------------------------------------------------------------

-- Returns the vertices of a graph by rank and type, each list by id: {["rank type"] = {metadata}}.
local function by_place(nodes)
  local places = {}
  for _, node in ipairs(nodes) do
    local data = type(node) == "table" and node.metadata
    if type(data) == "table" and math.tointeger(data.rank) and math.tointeger(data.id) and data.type then
      local key = ("%d %s"):format(data.rank, tostring(data.type))
      tables.push(places, key, data)
    end
  end
  for _, list in pairs(places) do tables.sort(list, "id") end
  return places
end

-- Gives the vertices of a list the ids of R_lite, in order. Fills moved: {path before = path now}.
local function renumber(list, ids, moved)
  for i, data in ipairs(list) do
    local name = ("%s%d"):format(tostring(data.basename or data.type), ids[i])
    local path = type(data.paths) == "table" and data.paths.containment
    if type(path) == "string" then moved[path] = (path:gsub("[^/]*$", (name:gsub("%%", "%%%%")))) end
    data.id, data.name = ids[i], name
  end
end

-- Gives all vertices below a renamed vertex their new paths.
local function move(nodes, moved)
  local function new_path(path)
    if moved[path] then return moved[path] end
    local above, name = path:match "^(.+)(/[^/]*)$"
    return above and new_path(above) .. name or path
  end
  for _, node in ipairs(nodes) do
    local paths = type(node) == "table" and type(node.metadata) == "table" and node.metadata.paths
    if type(paths) == "table" and type(paths.containment) == "string" then paths.containment = new_path(paths.containment) end
  end
end

-- Returns whether vertices of a type on a rank have ids different from the ids in R_lite, in equal number.
local function differ(list, ids)
  if not list or #list ~= #ids then return false end
  for i, data in ipairs(list) do
    if data.id ~= ids[i] then return true end
  end
  return false
end

local function ids_of(text) return tables.collect((core.idset(tostring(text)) or core.idset()):ids()) end

local function follow_ids(R, nodes)
  local places, moved = by_place(nodes), {}
  for _, row in ipairs(R.execution.R_lite or {}) do
    for type, text in pairs(row.children or {}) do
      local ids = ids_of(text)
      for _, rank in ipairs(ids_of(row.rank)) do
        local list = places[("%d %s"):format(rank, type)]
        if differ(list, ids) then renumber(list, ids, moved) end
      end
    end
  end
  if next(moved) then move(nodes, moved) end
  return next(moved) ~= nil
end

-- ---- graphs of no use ------------------------------------------------------------------------------------------------

-- Returns what of R_lite is not in the graph of an R, as words, or nil. Fluxion's shorthand leaves out what is below vertices
-- that a job has as a whole.
local function lacks(R, nodes)
  local places = by_place(nodes)
  for _, row in ipairs(R.execution.R_lite or {}) do
    for type, text in pairs(row.children or {}) do
      local n = #ids_of(text)
      for _, rank in ipairs(ids_of(row.rank)) do
        local list = places[("%d %s"):format(rank, type)] or {}
        if #list < n then return ("it has %d of %d %ss on rank %d"):format(#list, n, type, rank) end
      end
    end
  end
end

-- ---- shorthand -------------------------------------------------------------------------------------------------------

--- The writer of graphs without what is below vertices that a job has as a whole (Fluxion's match-format rv1_shorthand).
M.SHORTHAND = "fluxion:jgf_shorthand"

-- Returns the topmost vertex of each rank, {rank = node}, the vertices with edges to others, {id = true}, and the largest number
-- that is an id.
local function tops_of(nodes, edges)
  local tops, parents, largest = {}, {}, 0
  for _, node in ipairs(nodes) do
    local data = type(node) == "table" and type(node.metadata) == "table" and node.metadata or {}
    local rank, path = math.tointeger(data.rank), type(data.paths) == "table" and data.paths.containment
    largest = math.max(largest, math.tointeger(tonumber(node.id)) or 0)
    if rank and rank >= 0 and type(path) == "string" and (not tops[rank] or #path < #tops[rank].metadata.paths.containment) then
      tops[rank] = node
    end
  end
  for _, edge in ipairs(edges) do parents[tostring(type(edge) == "table" and edge.source)] = true end
  return tops, parents, largest
end

-- Adds a vertex for each id of a type below the topmost vertex of a rank.
local function add_children(graph, top, kind, ids, n)
  for _, id in ipairs(ids) do
    n = n + 1
    local name = ("%s%d"):format(kind, id)
    table.insert(graph.nodes, { id = tostring(n), metadata = { type = kind, basename = kind, name = name, id = id,
      rank = top.metadata.rank, paths = { containment = ("%s/%s"):format(top.metadata.paths.containment, name) } } })
    table.insert(graph.edges, { source = top.id, target = tostring(n) })
  end
  return n
end

--- Completes the graph of an R in shorthand, a table: ranks with nothing below their topmost vertex, such as whole nodes, get the
--- resources that R_lite lists. The rest of the graph stays unchanged.
function M.complete(R)
  local scheduling = type(R) == "table" and R.scheduling
  local graph = type(scheduling) == "table" and scheduling.writer == M.SHORTHAND and scheduling.graph
  if type(graph) ~= "table" or type(graph.nodes) ~= "table" or type(R.execution) ~= "table" then return end
  if type(graph.edges) ~= "table" then graph.edges = core.array {} end
  scheduling.writer = nil
  local tops, parents, n = tops_of(graph.nodes, graph.edges)
  for _, row in ipairs(R.execution.R_lite or {}) do
    for _, rank in ipairs(ids_of(row.rank)) do
      local top = tops[rank]
      if top and not parents[tostring(top.id)] then
        for kind, text in pairs(row.children or {}) do n = add_children(graph, top, kind, ids_of(text), n) end
      end
    end
  end
end

--- Returns why the key "scheduling" of an R, a table, cannot be used, or nil. Without the key, the resources are those of R_lite.
function M.useless(R)
  if type(R) ~= "table" or R.scheduling == nil or type(R.execution) ~= "table" then return nil end
  local graph = type(R.scheduling) == "table" and R.scheduling.graph
  local nodes = type(graph) == "table" and type(graph.nodes) == "table" and graph.nodes
  local why = nodes and lacks(R, nodes)
  if why then return why end
  local set, machine
  set, why = rset.new(R, "R")
  if not set then return why end
  machine, why = set:graph()
  if not machine then return why end
  machine:close()
  return nil
end

--- Returns the text of an R without the key "scheduling"; nil where there is none.
function M.without_scheduling(text)
  local R = core.json_decode(text or "")
  if type(R) ~= "table" or R.scheduling == nil then return nil end
  R.scheduling = nil
  return core.json_encode(R)
end

--- Gives the graph of an R, a table, the ranks and ids of R_lite. Returns whether something has changed.
function M.follow(R)
  local graph = type(R) == "table" and type(R.scheduling) == "table" and R.scheduling.graph
  local nodes = type(graph) == "table" and type(graph.nodes) == "table" and graph.nodes
  if not nodes or type(R.execution) ~= "table" then return false end
  local ranks = follow_ranks(R, nodes)
  return follow_ids(R, nodes) or ranks
end

return M
