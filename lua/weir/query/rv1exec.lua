--- rv1exec.lua - R (RFC 20) by its execution part: a cluster of nodes, with children by type right below them.

local core = require "weir.core"
local errno = require "weir.query.errno"
local hosts = require "weir.query.hosts"
local idset = require "weir.query.idset"
local store = require "weir.query.store"
local values = require "weir.query.values"

local M = {}

local function fail(why)
  errno.code = "EINVAL"
  return nil, why or ""
end

-- ---- the document -------------------------------------------------------------------------------------------

local function read_document(text)
  local r = text ~= "" and core.document(text, { format = "json", keys = true }) or nil
  if not values.is_map(r) then
    errno.code = text == "" and "EINVAL" or "ENOMEM"
    return nil
  end
  local execution = r.execution
  if math.type(r.version) ~= "integer" or not values.is_map(execution) or execution.R_lite == nil or r.version ~= 1 then
    return fail()
  end
  return execution
end

-- Ranks in order, to their place in the list of hosts.
local function places(rows)
  local all, place = {}, {}
  for _, row in ipairs(values.is_array(rows) and rows or {}) do
    local ranks = values.is_map(row) and type(row.rank) == "string" and idset.decode(row.rank)
    if not ranks then return nil end
    for _, rank in ipairs(ranks) do
      if not place[rank] then
        place[rank] = true
        all[#all + 1] = rank
      end
    end
  end
  table.sort(all)
  for i, rank in ipairs(all) do place[rank] = i end
  return place
end

local function properties_of(map)
  local by_rank = {}
  for _, key in ipairs(values.is_map(map) and map or {}) do
    local ranks = type(map[key]) == "string" and idset.decode(map[key])
    if not ranks then return nil end
    for _, rank in ipairs(ranks) do
      by_rank[rank] = by_rank[rank] or {}
      if by_rank[rank][key] then return nil end
      by_rank[rank][key] = ""
    end
  end
  return by_rank
end

local function names_of(list)
  local names = core.hostlist ""
  for _, text in ipairs(values.is_array(list) and list or {}) do
    local some = type(text) == "string" and core.hostlist(text)
    if not some then return nil end
    names:append(some)
  end
  return names
end

-- Calls node(host, rank, properties), then child(parent, type, id, rank) for what is in it; done(parent) at the end.
local function each_rank(row, info, visitor)
  local ranks = values.is_map(row) and type(row.rank) == "string" and idset.decode(row.rank)
  if not ranks or not values.is_map(row.children) then return fail() end
  for _, rank in ipairs(ranks) do
    local host = info.names[info.place[rank]]
    if not host then return fail() end
    local v, why = visitor.node(host, rank, info.properties[rank] or {})
    if not v then return nil, why end
    local ok
    ok, why = M.each_child(row.children, v, rank, visitor)
    if not ok then return nil, why end
    ok, why = visitor.done(v)
    if not ok then return nil, why end
  end
  return true
end

function M.each_child(children, v, rank, visitor)
  for _, kind in ipairs(children) do
    local ids = type(children[kind]) == "string" and idset.decode(children[kind])
    if not ids then return fail() end
    for _, id in ipairs(ids) do
      local ok, why = visitor.child(v, kind, id, rank)
      if not ok then return nil, (why or "") .. ("unpack_child: failed unpacking child for %s%d.\n"):format(kind, id) end
    end
  end
  return true
end

local function each_row(execution, visitor)
  if execution.nodelist == nil then return fail() end
  local info = {
    place = places(execution.R_lite), properties = properties_of(execution.properties),
    names = names_of(execution.nodelist),
  }
  if not info.place or not info.properties or not info.names then return fail() end
  for _, row in ipairs(execution.R_lite) do
    local ok, why = each_rank(row, info, visitor)
    if not ok then return nil, why end
  end
  return true
end

-- ---- machines -----------------------------------------------------------------------------------------------

local SUBSYSTEM = "containment"

local function add(graph, parent, fields)
  fields.paths = { [SUBSYSTEM] = (parent and parent.paths[SUBSYSTEM] or "") .. "/" .. fields.name }
  fields.size, fields.unit = 1, ""
  local v = graph:add(fields)
  graph:register(v)
  if parent then graph:connect(parent, v, SUBSYSTEM) end
  return v
end

local function find(graph, parent, name, kind, id, rank)
  for _, v in ipairs(graph.by_path[parent.paths[SUBSYSTEM] .. "/" .. name] or {}) do
    if v.rank == rank and v.id == id and v.size == 1 and v.type == kind then return v end
  end
end

local function add_new(graph, parent, fields)
  if find(graph, parent, fields.name, fields.type, fields.id, fields.rank) then
    return fail(("add_or_update: found duplicate vertex in graph for %s.\n"):format(fields.name))
  end
  return add(graph, parent, fields)
end

--- Makes the graph of an R; true, or nil and why.
function M.load(graph, text)
  if text == "" then return fail() end
  local root = add(graph, nil, { type = "cluster", basename = "cluster", name = "cluster0", id = 0, rank = -1 })
  graph:set_root(SUBSYSTEM, root)
  local execution = read_document(text)
  if not execution then return nil, "" end
  return each_row(execution, {
    node = function(host, rank, properties)
      local basename, id = hosts.split(host)
      if not basename then return nil, ("unpack_rank: error splitting hostname=%s; "):format(host) end
      local copy = {}
      for key, value in pairs(properties) do copy[key] = value end
      return add_new(graph, root, { type = "node", basename = basename, name = host, id = id, rank = rank,
        properties = copy })
    end,
    child = function(v, kind, id, rank)
      return add_new(graph, v, { type = kind, basename = kind, name = kind .. id, id = id, rank = rank })
    end,
    done = function() return true end,
  })
end

-- ---- what a job has -----------------------------------------------------------------------------------------

local function note(change, v)
  change.booked[v.rank] = change.booked[v.rank] or {}
  table.insert(change.booked[v.rank], v)
end

local function plan(change, v, who)
  local span = store.plan(v):add(change.at, change.duration, v.size)
  if not span then return nil, ("%s: can't add span into %s.\n"):format(who, v.name) end
  store.own(v, "allocations")[change.job] = span
  note(change, v)
  return true
end

local function mark_edge(change, source, target)
  for _, edge in ipairs(source.out) do
    if edge.target == target then
      edge.needs, edge.exclusive, edge.sequence = target.size, true, change.sequence
      return true
    end
  end
  return fail "update_edges: rv1exec edge not found in resource graph.\n"
end

-- Books v for a job but for nodes, which are booked when all that is in them is.
local function book(change, parent, name, kind, id, rank)
  local v = find(change.graph, parent, name, kind, id, rank)
  if not v then return nil, ("add_or_update: couldn't find vertex in graph for %s.\n"):format(name) end
  local left = store.available(v, change.at, change.duration)
  if not left then
    return nil, ("update_vertex: planner_avail_resource_during return -1 for %s.\n"):format(v.name)
  end
  if left < v.size then return nil, ("update_vertex: %s is unavailable.\n"):format(v.name) end
  if kind ~= "node" then
    local ok, why = plan(change, v, "update_vertex")
    if not ok then return nil, why end
  end
  local ok, why = mark_edge(change, parent, v)
  if not ok then return nil, why end
  return v
end

local function book_node(change, v)
  if not change.booked[v.rank] then return nil, "update_exclusivity: rank not found in agfilters map.\n" end
  if #change.booked[v.rank] ~= #change.graph.by_rank[v.rank] - 1 then return true end
  return plan(change, v, "update_exclusivity")
end

local function undo(change)
  for _, list in pairs(change.booked) do
    for _, v in ipairs(list) do
      v.plan:remove(v.allocations[change.job])
      v.allocations[change.job] = nil
    end
  end
end

-- Finds and books all that an R names.
local function book_all(change, root, execution)
  return each_row(execution, {
    node = function(host, rank)
      local _, id = hosts.split(host)
      if not id then return nil, ("unpack_rank: error splitting hostname=%s; "):format(host) end
      local v, why = book(change, root, host, "node", id, rank)
      return v, v and "" or why .. ("unpack_rank: failed unpacking rank for %s.\n"):format(host)
    end,
    child = function(v, kind, id, rank) return book(change, v, kind .. id, kind, id, rank) end,
    done = function(v)
      local ok, why = book_node(change, v)
      if ok then return true end
      return nil, why .. ("unpack_rank: exclusive filter update failed for %s.\n"):format(v.name)
    end,
  })
end

--- Plans what an R says that a job has, and marks it as the last match of the traverser.
function M.update(t, text, meta)
  local graph = t.graph
  local change = { graph = graph, job = meta.job, at = meta.at, duration = meta.duration, sequence = t.sequence,
    booked = {} }
  local execution = read_document(text)
  local root = graph.roots[SUBSYSTEM]
  if not execution then return nil, "" end
  if not root then
    errno.code = "ENOENT"
    return nil, ""
  end
  local top = graph.root_edges[SUBSYSTEM]
  top.needs, top.exclusive, top.sequence = root.size, false, change.sequence
  local ok, why = book_all(change, root, execution)
  if not ok then undo(change) end
  return ok, why
end

--- The ranks that an R gives back: {ranks}.
function M.cancel(_, text)
  local execution = read_document(text)
  if not execution or not values.is_array(execution.R_lite) then return nil, "" end
  local seen, change = {}, { ranks = {} }
  for _, row in ipairs(execution.R_lite) do
    local ranks = values.is_map(row) and type(row.rank) == "string" and idset.decode(row.rank)
    if not ranks then return fail() end
    for _, rank in ipairs(ranks) do
      if not seen[rank] then change.ranks[#change.ranks + 1] = rank end
      seen[rank] = true
    end
  end
  table.sort(change.ranks)
  return change
end

return M
