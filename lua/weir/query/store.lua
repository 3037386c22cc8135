--- store.lua - the resource graph as resource-query sees it: vertices and edges in the order in which they were made, and
-- what is known of them by path, type and rank.
--
-- A vertex: index, uniq_id, type, basename, name, id, size, unit, rank, down, properties, paths (by subsystem), out and
-- into (edges in order), and what jobs have there: plan, x (planners, made when needed), allocations, reservations, tags,
-- x_spans (spans by job), subplans (by subsystem), job2span. `pool` is the vertex of weir's graph that stands for it.
-- An edge: source, target, subsystem, weight, and from the last match needs, exclusive, sequence.

local intern = require "weir.query.intern"
local planner = require "weir.query.planner"

local M = {}
M.__index = M

-- More are refused: a recipe of a few lines can ask for any number.
local VERTICES, EDGES = 1 << 22, 1 << 23

-- Each job counts one; no vertex has more.
local JOBS = 0x40000000
local WEIGHT = math.maxinteger

local TYPES = { "cluster", "core", "socket", "gpu", "node", "rack", "slot", "xor_slot", "ssd", "storage_node" }

function M.new()
  return setmetatable({
    vertices = {}, roots = {}, root_edges = {}, by_path = {}, by_type = {}, by_rank = {}, nodes_up = 0,
    edges = 0, types = intern.new(TYPES), subsystems = intern.new { "containment" },
  }, M)
end

-- What most vertices have of most things. Writers go through own().
local NONE = setmetatable({}, { __newindex = function(_, _, value) assert(value == nil, "shared by all vertices") end })

--- The table of a vertex under a key, to be written to.
function M.own(v, key)
  if v[key] == NONE then v[key] = {} end
  return v[key]
end

local own = M.own

--- Forgets all that jobs have of a vertex, but for its planners.
function M.forget_jobs(v)
  v.allocations, v.reservations, v.tags, v.x_spans, v.job2span = NONE, NONE, NONE, NONE, NONE
end

local function list_in(t, key)
  local list = t[key]
  if not list then
    list = {}
    t[key] = list
  end
  return list
end

--- Raises when there is no room for n vertices more.
function M:expect(n)
  if #self.vertices + n > VERTICES then error({ limit = ("more than %d vertices"):format(VERTICES) }, 0) end
end

--- Adds a vertex made of the given fields, which becomes the vertex.
function M:add(v)
  v.index = #self.vertices
  self:expect(1)
  v.uniq_id = v.uniq_id or v.index
  v.properties, v.out, v.into = v.properties or NONE, NONE, NONE
  v.allocations, v.reservations, v.tags, v.x_spans, v.job2span, v.subplans = NONE, NONE, NONE, NONE, NONE, NONE
  self.vertices[v.index + 1] = v
  self.types:add(v.type)
  return v
end

--- Makes a vertex findable by its type, rank and paths.
function M:register(v)
  for subsystem, path in pairs(v.paths) do
    self.subsystems:add(subsystem)
    table.insert(list_in(self.by_path, path), v)
  end
  table.insert(list_in(self.by_type, v.type), v)
  table.insert(list_in(self.by_rank, v.rank), v)
end

--- Puts a vertex that is findable already on one more path.
function M:add_path(v, subsystem, path)
  self.subsystems:add(subsystem)
  v.paths[subsystem] = path
  table.insert(list_in(self.by_path, path), v)
end

function M:set_root(subsystem, v)
  if not self.roots[subsystem] then
    self.roots[subsystem] = v
    self.root_edges[subsystem] = {}
  end
end

function M:connect(source, target, subsystem)
  self.edges = self.edges + 1
  if self.edges > EDGES then error({ limit = ("more than %d edges"):format(EDGES) }, 0) end
  local edge = { source = source, target = target, subsystem = subsystem, weight = WEIGHT }
  self.subsystems:add(subsystem)
  table.insert(own(source, "out"), edge)
  table.insert(own(target, "into"), edge)
  source.ranked = nil
  return edge
end

--- Counts the nodes that are up; once, after loading.
function M:count_nodes()
  for _, v in ipairs(self.by_type.node or {}) do self.nodes_up = self.nodes_up + (v.down and -1 or 1) end
end

-- ---- parents ------------------------------------------------------------------------------------------------

--- The first edge into a vertex in a subsystem.
function M.edge_above(v, subsystem)
  for _, edge in ipairs(v.into) do
    if edge.subsystem == subsystem then return edge end
  end
end

local function heavier(a, b)
  if a.weight ~= b.weight then return a.weight > b.weight end
  return a.target.uniq_id > b.target.uniq_id
end

--- The edges of a vertex, those first whose targets have most left.
function M.ranked(v)
  if not v.ranked then
    v.ranked = table.move(v.out, 1, #v.out, 1, {})
    table.sort(v.ranked, heavier)
  end
  return v.ranked
end

--- Changes the weight of an edge.
function M.reweigh(edge, weight)
  local v = edge.source
  if edge.weight ~= weight then
    edge.weight = weight
    v.ranked = nil
  end
end

-- ---- planners -----------------------------------------------------------------------------------------------

--- What of a vertex is left over [at, at + duration).
function M.available(v, at, duration)
  if v.plan then return v.plan:during(at, duration) end
  return v.size
end

function M.plan(v)
  v.plan = v.plan or planner.new(v.size)
  return v.plan
end

function M.exclusive_plan(v)
  v.x = v.x or planner.new(JOBS)
  return v.x
end

--- Whether no job has anything at or below a vertex over [at, at + duration).
function M.unused(v, at, duration)
  return not v.x or v.x:during(at, duration) == JOBS
end

-- ---- taking away --------------------------------------------------------------------------------------------

local function remove_from(list, what)
  for i, x in ipairs(list or {}) do
    if x == what then return table.remove(list, i) end
  end
end

--- Takes all edges from a vertex, and the vertex from what can be found; it stays in the list of vertices.
function M:isolate(v)
  for _, edge in ipairs(v.out) do remove_from(edge.target.into, edge) end
  for _, edge in ipairs(v.into) do
    remove_from(edge.source.out, edge)
    edge.source.ranked = nil
  end
  v.out, v.into, v.ranked, v.removed = NONE, NONE, nil, true
  for _, path in pairs(v.paths) do self.by_path[path] = nil end
  remove_from(self.by_type[v.type], v)
  remove_from(self.by_rank[v.rank], v)
end

return M
