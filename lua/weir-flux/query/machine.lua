--- machine.lua - the machine of a session: weir's graph, and the attributes of vertices in the output. See load.lua.
--
-- Fields: graph, number (by vertex), rank (function of a vertex), dominant (the subsystem to search, stored as the
-- containment of the graph), filters (of -p), elsewhere (set of the paths of vertices in the remaining subsystems),
-- all_types (the types of all loaded vertices, shown or not).

local load = require "weir.query.load"
local subsystems = require "weir.query.subsystems"
local tables = require "weir.tables"

local M = {}
M.__index = M

-- Returns the number of pairs of vertices with an edge in any subsystem but containment, without parents and children.
local function edges_beside(graph)
  local n, seen = 0, {}
  for edge in graph:edges() do
    local source, target = edge.source, edge.target
    seen[source] = seen[source] or {}
    if target:parent() ~= source and not seen[source][target] then n = n + 1 end
    seen[source][target] = true
  end
  return n
end

-- Returns what a loaded machine has in all its subsystems, shown or not: the numbers of vertices and edges, and counts by
-- type, name, path and rank.
local function census(loaded)
  local found = { vertices = 0, edges = 0, types = {}, names = {}, paths = {}, ranks = {} }
  for v, paths in pairs(subsystems.paths_of(loaded.graph)) do
    found.vertices, found.edges = found.vertices + 1, found.edges + v:nchildren()
    tables.add(found.types, v.type, 1)
    tables.add(found.names, v.name, 1)
    tables.add(found.ranks, loaded.rank(v), 1)
    for _, path in ipairs(paths) do tables.add(found.paths, path[2], 1) end
  end
  found.edges = found.edges + edges_beside(loaded.graph)
  return found
end

--- Reads a machine from a text, restricted to a set of subsystems. options.count: also count the whole machine (field
--- census). Returns the machine, or nil and a reason.
function M.read(text, options, set)
  local loaded, why = load.read(text, options)
  if not loaded then return nil, why end
  local counts = options.count and census(loaded)
  local shown, missing = subsystems.restrict(loaded, set)
  if not shown then return nil, nil, missing end
  local self = setmetatable({ graph = shown.graph, number = shown.number, rank = shown.rank, kept = shown.paths }, M)
  self.census = counts
  self.dominant, self.elsewhere, self.all_types = set[1], shown.elsewhere or {}, shown.types or {}
  return self
end

function M:root() return self.graph:root() end

--- Returns the paths of a vertex: {{subsystem, path}, ...}.
function M:paths(v)
  return self.kept and self.kept[v] or { { self.dominant, v.path } }
end

--- Returns the properties of a vertex, values by key; a property without a value has "".
function M.properties(_, v)
  local properties = {}
  for key, value in pairs(v.properties) do properties[key] = value == true and "" or value end
  return properties
end

local function index_paths(self)
  local index = {}
  for v in self.graph:walk {} do
    for _, path in ipairs(self:paths(v)) do tables.push(index, path[2], v) end
  end
  return index
end

--- Returns the vertices at a path in any subsystem; several if siblings share a name and differ in rank. nil if none
--- exists.
function M:at(path)
  self.index = self.index or index_paths(self)
  return self.index[path]
end

--- Returns the vertices with a rank, as printed.
function M:on_rank(rank)
  if not self.by_rank then
    self.by_rank = {}
    for v in self.graph:walk {} do tables.push(self.by_rank, self.rank(v), v) end
  end
  return self.by_rank[rank]
end

--- Returns the set of the types of vertices without children.
function M:leaf_types()
  if not self.leaves then
    self.leaves = {}
    for v in self.graph:walk {} do
      if v:nchildren() == 0 then self.leaves[v.type] = true end
    end
  end
  return self.leaves
end

--- Returns whether a type is known: a vertex of the type exists or existed, or -p counts the type.
function M:has_type(type)
  if not self.types then
    self.types = tables.update(tables.set(self.graph:types()), tables.set(self.all_types))
  end
  return self.types[type] or self.filters.counted[type] or false
end

--- Returns whether any vertex has a second parent.
function M:has_links() return tables.has(self.graph:subsystems(), "links") end

--- Drops cached tables. Must be called after vertices were added or removed.
function M:changed() self.index, self.by_rank, self.leaves, self.types = nil, nil, nil, nil end

-- ---- growing ------------------------------------------------------------------------------------------------

-- Returns the number and rank of an added vertex, found by path and by the vertex's rank in weir's graph, or else by
-- path and rank -1.
local function mark_of(v, marks)
  return marks[v.path .. " " .. (v.rank or -1)] or marks[v.path .. " -1"]
end

--- Merges a second machine with an equal root. Returns the topmost added vertices, or nil and a reason.
function M:add(other)
  if not self:at(other:root().path) then
    return nil, ("add_graph_metadata: failed to add root metadata for %s subsystem. Possible duplicate root."):format(
      self.dominant)
  end
  local marks = {}
  for v in other.graph:walk {} do marks[v.path .. " " .. other.rank(v)] = { number = other.number[v], rank = other.rank(v) } end
  local ok, why = self.graph:merge(other.graph)
  if not ok then return nil, why end
  local added, rank, tops = {}, self.rank, {}
  self.rank = function(v) return added[v] or rank(v) end
  for v in self.graph:walk {} do
    local mark = not self.number[v] and mark_of(v, marks)
    if mark then self.number[v], added[v] = mark.number, mark.rank end
    if mark and not added[v:parent()] then tops[#tops + 1] = v end
  end
  self:changed()
  return tops
end

return M
