--- jgf.lua - JSON graphs: as a machine, as a part to be attached, and as what a job has or gives back.
--
-- Readers of parts of jobs return true or what changes, or nil and why; nothing stays of what failed.

local core = require "weir.core"
local errno = require "weir.query.errno"
local idset = require "weir.query.idset"
local store = require "weir.query.store"
local values = require "weir.query.values"
local vertex = require "weir.query.jgf_vertex"

local M = {}

local function fail(why, ...)
  errno.code = "EINVAL"
  return nil, why:format(...)
end

-- ---- documents ----------------------------------------------------------------------------------------------

-- Ranks that are free already: a text, or a number.
local function free_ranks(document)
  if document.free_ranks == nil then return nil end
  local list = idset.decode(tostring(document.free_ranks))
  if not list then return fail "fetch_jgf: failed to decode ranks.\n" end
  local ranks = {}
  for _, rank in ipairs(list) do ranks[rank] = true end
  return ranks
end

-- {nodes, edges, free (ranks, or nil)}
local function fetch(text)
  local document, why = core.json_decode(text)
  if document == nil then return fail("fetch_jgf: json_loads returned an error: %s.\n", why) end
  if not values.is_map(document) or document.graph == nil then
    return fail "fetch_jgf: JGF does not contain a required key (graph).\n"
  end
  local free
  free, why = free_ranks(document)
  if why then return nil, why end
  for _, key in ipairs { "nodes", "edges" } do
    if not values.is_map(document.graph) or document.graph[key] == nil then
      return fail("fetch_jgf: JGF does not contain a required key (%s).\n", key)
    end
  end
  local function list(x) return values.is_array(x) and x or {} end
  return { nodes = list(document.graph.nodes), edges = list(document.graph.edges), free = free }
end

-- {source, target (keys), subsystem}; nil and why; or false: one end is left out on purpose.
local function read_edge(element, known, skip)
  local source, target = values.is_map(element) and element.source, values.is_map(element) and element.target
  if type(source) ~= "string" or type(target) ~= "string" then
    return fail "unpack_edge: encountered a malformed edge.\n"
  end
  if not known[source] or not known[target] then
    if skip then return false end
    return fail("unpack_edge: source and/or target vertex not found%s -> %s.\n", source, target)
  end
  local about = element.metadata
  local subsystem = values.is_map(about) and about.subsystem or "containment"
  if (about ~= nil and not values.is_map(about)) or type(subsystem) ~= "string" then
    return fail "unpack_edge: could not unpack edge metadata.\n"
  end
  return { source = source, target = target, subsystem = subsystem }
end

local function is_root(path) return select(2, path:gsub("/", "")) == 1 end

-- ---- machines -----------------------------------------------------------------------------------------------

local function there(graph, f)
  for _, path in pairs(f.paths) do
    for _, v in ipairs(graph.by_path[path] or {}) do
      if v.rank == f.rank then return v end
    end
  end
end

local function add_vertex(graph, f)
  for subsystem, path in pairs(f.paths) do
    if is_root(path) and graph.roots[subsystem] then
      return fail("add_graph_metadata: failed to add root metadata for %s subsystem. Possible duplicate root.\n", subsystem)
    end
  end
  local v = graph:add {
    uniq_id = f.uniq_id, type = f.type, basename = f.basename, name = f.name, id = f.id, size = f.size, unit = "",
    rank = f.rank, down = f.down, properties = f.properties, paths = f.paths,
  }
  for subsystem, path in pairs(f.paths) do
    if is_root(path) then graph:set_root(subsystem, v) end
  end
  graph:register(v)
  return v
end

-- Adds the vertices that are not there; `known` gets all by key, `new` those by key.
local function add_vertices(graph, nodes, known, new)
  for _, element in ipairs(nodes) do
    local f, why = vertex.read(element)
    if not f then return nil, why end
    local v = there(graph, f)
    if known[f.key] then
      if v then return fail("update_vmap: can't insert into vmap for %s.\n", f.key) end
      return fail("add_vtx: found duplicate JGF node id for %s.\n", f.key)
    end
    if not v then
      v, why = add_vertex(graph, f)
      if not v then return nil, why end
      new[f.key] = true
    end
    known[f.key] = v
  end
  return true
end

local function connected(source, target)
  for _, edge in ipairs(source.out) do
    if edge.target.uniq_id == target.uniq_id then return true end
  end
  return false
end

local function add_edges(graph, edges, known, new)
  for _, element in ipairs(edges) do
    local e, why = read_edge(element, known)
    if not e then return nil, why end
    if new[e.source] or new[e.target] then
      local source, target = known[e.source], known[e.target]
      if connected(source, target) then
        errno.code = "EEXIST"
        return nil, ("error inserting an edge to outedge metadata map: %s -> %s; "):format(source.name, target.name)
      end
      graph:connect(source, target, e.subsystem)
    end
  end
  return true
end

--- Adds what a text says and the graph has not; true, or nil and why. What was added before the failure stays.
function M.load(graph, text)
  local document, why = fetch(text)
  if not document then return nil, why end
  local known, new = {}, {}
  local ok, wrong = add_vertices(graph, document.nodes, known, new)
  if not ok then return nil, wrong end
  return add_edges(graph, document.edges, known, new)
end

-- ---- vertices that are there --------------------------------------------------------------------------------

local function find_path(graph, f, path)
  for _, v in ipairs(graph.by_path[path] or {}) do
    if v.rank == f.rank then return v end
  end
  errno.code = "ENOENT"
  return nil, ("exist: inconsistent input vertex: nonexistent path (%s) %s.\n"):format(path, f.key)
end

-- The vertex that f is about.
local function find_vertex(graph, known, f)
  if known[f.key] then return fail("find_vtx: found duplicate JGF node id for %s.\n", f.key) end
  local v
  for _, subsystem in ipairs(graph.subsystems:sorted(f.paths)) do
    local u, why = find_path(graph, f, f.paths[subsystem])
    if not u then return nil, why end
    if v and v ~= u then
      return fail("find_vtx: inconsistent input vertex for %s (id=%s).\n%d != %d.\n", f.paths[subsystem], f.key, u.index,
        v.index)
    end
    v = u
  end
  if not v or not vertex.same(v, f) then
    return fail("find_vtx: inconsistent input vertex for %s.\n%s.\n", f.key, v and vertex.difference(v, f) or "")
  end
  return v
end

local function roots_of(v)
  local list = {}
  for subsystem, path in pairs(v.paths) do
    if is_root(path) then list[#list + 1] = subsystem end
  end
  return list
end

-- Plans v for a job, or cancels what the job has of it.
local function visit_vertex(change, f)
  local v, why = find_vertex(change.graph, change.known, f)
  if not v then return nil, why end
  if change.free and next(change.free) and change.free[f.rank] then return true end
  change.known[f.key] = { v = v, roots = roots_of(v), needs = f.size, exclusive = f.exclusive }
  return change.visit(change, v, f)
end

local function collect_below(v, list)
  for _, edge in ipairs(v.out) do
    if edge.subsystem == "containment" and not list[edge.target] then
      list[edge.target] = true
      list[#list + 1] = vertex.of(edge.target)
      collect_below(edge.target, list)
    end
  end
  return list
end

-- What the shorthand left out below an exclusive vertex.
local function left_out(change, f)
  if not change.shorthand or not f.exclusive then return {} end
  local v, why = find_vertex(change.graph, {}, f)
  if not v then return nil, why end
  return collect_below(v, {})
end

-- ---- edges that are there -----------------------------------------------------------------------------------

local function mark_root(change, key)
  local entry = change.known[key]
  for _, subsystem in ipairs(entry.roots) do
    local top = change.graph.root_edges[subsystem]
    top.needs, top.exclusive, top.sequence = entry.needs, entry.exclusive, change.sequence
  end
  entry.roots = {}
end

local function mark_edge(change, source, target)
  local entry = change.known[target]
  for _, edge in ipairs(change.known[source].v.out) do
    if entry and edge.target == entry.v then
      edge.needs, edge.exclusive, edge.sequence = entry.needs, entry.exclusive, change.sequence
      return true
    end
  end
  return fail("update_tgt_edge: JGF edge from %s to %s not found in resource graph.\n", source, target)
end

local function mark_below(change, f)
  local v = find_vertex(change.graph, {}, f)
  if not v then return nil, "" end
  local key = tostring(f.uniq_id)
  for _, edge in ipairs(v.out) do
    if edge.subsystem == "containment" then
      mark_root(change, key)
      local ok, why = mark_edge(change, key, tostring(edge.target.index))
      if not ok then return nil, why end
    end
  end
  return true
end

local function mark_left_out(change, f, list)
  if #list == 0 then return true end
  local ok, why = mark_below(change, f)
  for _, below in ipairs(list) do
    if ok then ok, why = mark_below(change, below) end
  end
  return ok, why
end

local function mark_edges(change, edges)
  for _, element in ipairs(edges) do
    local e, why = read_edge(element, change.known, change.free)
    if e == nil then return nil, why end
    if e then
      mark_root(change, e.source)
      local ok
      ok, why = mark_edge(change, e.source, e.target)
      if not ok then return nil, why end
    end
  end
  return true
end

-- ---- what a job has -----------------------------------------------------------------------------------------

local function visit_element(change, element)
  local f, why = vertex.read(element)
  if not f then return nil, why end
  local ok, list
  ok, why = visit_vertex(change, f)
  if not ok then return nil, why end
  list, why = left_out(change, f)
  if not list then return nil, why end
  for _, below in ipairs(list) do
    ok, why = visit_vertex(change, below)
    if not ok then return nil, why end
  end
  return mark_left_out(change, f, list)
end

local function visit_all(change, nodes)
  for _, element in ipairs(nodes) do
    local ok, why = visit_element(change, element)
    if not ok then return nil, why end
  end
  return true
end

local function book(change, v, f)
  local left = store.available(v, change.at, change.duration)
  if not left then
    return nil, ("update_vtx_plan: planner_avail_resource_during return -1 for %s.\n"):format(v.name)
  end
  if not f.exclusive then
    if left < v.size then return nil, ("update_vtx_plan: %s is unavailable.\n"):format(v.name) end
    return true
  end
  local span = store.plan(v):add(change.at, change.duration, v.size)
  if not span then return nil, ("update_vtx_plan: can't add span into %s.\n"):format(v.name) end
  store.own(v, "allocations")[change.job] = span
  return true
end

local function undo(change)
  for _, entry in pairs(change.known) do
    local span = entry.exclusive and entry.v.allocations[change.job]
    if span then
      entry.v.allocations[change.job] = nil
      entry.v.plan:remove(span)
    end
  end
end

local function new_change(t, job, shorthand, visit)
  return {
    graph = t.graph, sequence = t.sequence, known = {}, job = job, shorthand = shorthand, visit = visit,
    ranks = {}, freed = {}, roots = {},
  }
end

-- Plans what a text says that a job has, and marks it as the last match of the traverser.
local function update(t, text, meta, shorthand)
  local change = new_change(t, meta.job, shorthand, book)
  change.at, change.duration = meta.at, meta.duration
  local document, why = fetch(text)
  if not document then return nil, why end
  change.free = document.free
  local ok
  ok, why = visit_all(change, document.nodes)
  if not ok then
    undo(change)
    return nil, why
  end
  return mark_edges(change, document.edges)
end

-- ---- what a job gives back ----------------------------------------------------------------------------------

local function missing(change, v, what)
  return fail("cancel_vtx: can't %s for job %d in %s.\n", what, change.job, v.name)
end

local function count_freed(change, v, amount)
  local by_type = change.freed[v.rank] or {}
  change.freed[v.rank] = by_type
  by_type[v.type] = (by_type[v.type] or 0) + amount
  local root = change.roots[v.rank]
  if not root or #root.paths.containment > #v.paths.containment then change.roots[v.rank] = v end
end

local function drop_below(change, v)
  local span, plan = v.job2span[change.job], v.subplans.containment
  if not span then return true end
  if not plan or not plan:remove(span) then return false end
  v.job2span[change.job] = nil
  return true
end

local function give_back(change, v)
  local job = change.job
  if not drop_below(change, v) then return fail "" end
  local use, span = v.x_spans[job], v.allocations[job]
  if not use then return missing(change, v, "find x_checker span") end
  v.tags[job], v.x_spans[job] = nil, nil
  if not v.x:remove(use) then return missing(change, v, "remove x_checker span") end
  if not span then return missing(change, v, "find allocation span") end
  local amount = v.plan:amount(span)
  v.allocations[job] = nil
  if not v.plan:remove(span) then return missing(change, v, "remove allocation span") end
  count_freed(change, v, amount)
  return true
end

local function cancel(t, text, job, shorthand)
  if job <= 0 then return fail "partial_cancel: invalid jobid\n" end
  local change = new_change(t, job, shorthand, give_back)
  local document, why = fetch(text)
  if not document then return nil, why end
  change.free = document.free
  local ok
  ok, why = visit_all(change, document.nodes)
  if not ok then return nil, why end
  return change
end

M.full = {
  update = function(t, text, meta) return update(t, text, meta, false) end,
  cancel = function(t, text, job) return cancel(t, text, job, false) end,
}
M.shorthand = {
  update = function(t, text, meta) return update(t, text, meta, true) end,
  cancel = function(t, text, job) return cancel(t, text, job, true) end,
}

return M
