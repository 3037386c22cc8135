--- machine.lua - the machine of a session: weir's graph, and what is shown of its vertices. See load.lua.
--
-- Fields: graph, number (by vertex), rank (function of a vertex), dominant (the subsystem that is searched, which the graph has
-- as its containment), filters (what -p asks to be counted),
-- elsewhere (paths of vertices in other subsystems, as a set), all_types (those of what was read, shown or not).

local load = require "weir.query.load"
local subsystems = require "weir.query.subsystems"

local M = {}
M.__index = M

--- A machine from a text, for a set of subsystems; or nil and why.
function M.read(text, options, set)
  local loaded, why = load.read(text, options)
  if not loaded then return nil, why end
  local shown = subsystems.restrict(loaded, set)
  if not shown then return nil, nil, set[1] end
  local self = setmetatable({ graph = shown.graph, number = shown.number, rank = shown.rank, kept = shown.paths }, M)
  self.dominant, self.elsewhere, self.all_types = set[1], shown.elsewhere or {}, shown.types or {}
  return self
end

function M:root() return self.graph:root() end

--- The paths of a vertex: {{subsystem, path}, ...}.
function M:paths(v)
  return self.kept and self.kept[v] or { { self.dominant, v.path } }
end

--- The properties of a vertex, texts by key; "" where one has no value.
function M.properties(_, v)
  local properties = {}
  for key, value in pairs(v.properties) do properties[key] = value == true and "" or value end
  return properties
end

local function put(index, key, v)
  index[key] = index[key] or {}
  table.insert(index[key], v)
end

local function index_paths(self)
  local index = {}
  for v in self.graph:walk {} do
    for _, path in ipairs(self:paths(v)) do put(index, path[2], v) end
  end
  return index
end

--- The vertices at a path, in whatever subsystem; several may have one name and different ranks. nil: none.
function M:at(path)
  self.index = self.index or index_paths(self)
  return self.index[path]
end

--- The vertices of a rank, as it is shown.
function M:on_rank(rank)
  if not self.by_rank then
    self.by_rank = {}
    for v in self.graph:walk {} do put(self.by_rank, self.rank(v), v) end
  end
  return self.by_rank[rank]
end

--- The types of the vertices that have none below them, as a set.
function M:leaf_types()
  if not self.leaves then
    self.leaves = {}
    for v in self.graph:walk {} do
      if v:nchildren() == 0 then self.leaves[v.type] = true end
    end
  end
  return self.leaves
end

--- Whether a type is known: there is, or was, a vertex of it, or -p counts it.
function M:has_type(type)
  if not self.types then
    self.types = {}
    for _, names in ipairs { self.graph:types(), self.all_types } do
      for _, name in ipairs(names) do self.types[name] = true end
    end
  end
  return self.types[type] or self.filters.counted[type] or false
end

--- Whether there are vertices with a second parent.
function M:has_links()
  for _, name in ipairs(self.graph:subsystems()) do
    if name == "links" then return true end
  end
  return false
end

--- To be called after vertices were added or removed.
function M:changed() self.index, self.by_rank, self.leaves, self.types = nil, nil, nil, nil end

-- ---- growing ------------------------------------------------------------------------------------------------

local function key_of(machine, v) return v.path .. " " .. machine.rank(v) end

-- What is known of a vertex that was added, by its path and whatever rank it has in weir's graph.
local function mark_of(v, marks)
  return marks[v.path .. " " .. (v.rank or -1)] or marks[v.path .. " -1"]
end

--- Adds what another machine has more: the topmost vertices that are new; or nil and why. It has to have the same root.
function M:add(other)
  if not self:at(other:root().path) then
    return nil, ("add_graph_metadata: failed to add root metadata for %s subsystem. Possible duplicate root."):format(
      self.dominant)
  end
  local marks = {}
  for v in other.graph:walk {} do marks[key_of(other, v)] = { number = other.number[v], rank = other.rank(v) } end
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
