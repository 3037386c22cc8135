--- subsystems.lua - the sets of subsystems of -S, and the graph to search for a set: a copy with the first subsystem
-- of the set as containment, and without vertices and edges outside the set.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

local SETS = {
  CA = { "containment" }, IBA = { "ibnet" }, IBBA = { "ibnetbw" }, PA = { "power" }, PFS1BA = { "pfs1bw" },
  ["C+IBA"] = { "containment", "ibnet" }, ["C+IBBA"] = { "containment", "ibnetbw" },
  ["C+PA"] = { "containment", "power" }, ["C+PFS1BA"] = { "containment", "pfs1bw" },
  ["IB+IBBA"] = { "ibnet", "ibnetbw" }, ["C+P+IBA"] = { "containment", "power", "ibnet" },
  ["V+PFS1BA"] = { "virtual1", "pfs1bw" }, VA = { "virtual1" },
  ALL = { "containment", "ibnet", "ibnetbw", "pfs1bw", "power" },
}

--- Returns the subsystems of a set by the set's name, in capitals or in small letters; nil if the name is unknown.
function M.named(name)
  if SETS[name] then return SETS[name] end
  for known, list in pairs(SETS) do
    if known:lower() == name then return list end
  end
end

local function path_in(v, subsystem)
  if subsystem == "containment" then return v.path end
  local uri = v:uri(subsystem)
  return uri and uri:match "^[^:]*:(.*)$"
end


--- Returns the paths of each vertex, {{subsystem, path}, ...} in the order of the graph's subsystems.
function M.paths_of(graph)
  local paths = {}
  for _, subsystem in ipairs(graph:subsystems()) do
    for v in graph:walk { subsystem = subsystem } do
      tables.push(paths, v, { subsystem, path_in(v, subsystem) })
    end
  end
  return paths
end

local function describe(v)
  return {
    type = v.type, basename = v.basename, name = v.name, id = v.id, size = v.size, unit = v.unit ~= "" and v.unit or nil,
    rank = v.rank,
  }
end

local Copy = {}
Copy.__index = Copy

function Copy:add(v, parent)
  local w = self.graph:add(parent, describe(v))
  for key, value in pairs(v.properties) do w.properties[key] = value end
  if v.state ~= "up" then w.state = v.state end
  self.of[v] = w
  return w
end

local function next_in(v, subsystem)
  if subsystem == "containment" then return v:children() end
  local edges, i = v:edges(subsystem), 0
  return function()
    repeat i = i + 1 until not edges[i] or edges[i].source == v
    return edges[i] and edges[i].target
  end
end

-- Copies v and the descendants of v. A vertex with several parents becomes a child of the first.
function Copy:grow(v, parent)
  local w = self:add(v, parent)
  for child in next_in(v, self.dominant) do
    if not self.of[child] then self:grow(child, w) end
  end
end


-- Adds the edges of the further subsystems of a set. weir stores second parents in containment as edges of "links".
function Copy:link(graph, set)
  local wanted = { links = set[1] == "containment" }
  for i = 2, #set do wanted[set[i]] = set[i] ~= "containment" end
  for edge in graph:edges() do
    local source, target = self.of[edge.source], self.of[edge.target]
    if wanted[edge.subsystem] and source and target then
      self.graph:add_edge(source, target, { subsystem = edge.subsystem })
    end
  end
end

-- Returns the set of the paths of vertices that are not in the copy.
local function paths_outside(copy, paths)
  local set = {}
  for v, list in pairs(paths) do
    for _, path in ipairs(copy.of[v] and {} or list) do set[path[2]] = true end
  end
  return set
end

--- Returns the machine as seen through a set of subsystems; or nil and the name of a subsystem that is missing. Fields of the
--- result in addition to those of load.lua: `paths` by vertex, as from paths_of(), or nil if containment is the only
--- subsystem; `elsewhere`, the paths of hidden vertices; `types`, the types of all vertices, shown or hidden.
function M.restrict(machine, set)
  local graph = machine.graph
  for _, name in ipairs(set) do
    if not graph:root(name) then return nil, name end
  end
  local root = graph:root(set[1])
  if #graph:subsystems() == 1 then return machine end
  local copy = setmetatable({ graph = core.new(), of = {}, dominant = set[1] }, Copy)
  copy.graph:begin()
  copy:grow(root, nil)
  copy:link(graph, set)
  assert(copy.graph:finish())
  local shown = { graph = copy.graph, number = {}, paths = {} }
  local paths, ranks = M.paths_of(graph), {}
  for v, w in pairs(copy.of) do
    shown.number[w], shown.paths[w], ranks[w] = machine.number[v], paths[v], machine.rank(v)
  end
  shown.rank = function(w) return ranks[w] or -1 end
  shown.elsewhere, shown.types = paths_outside(copy, paths), graph:types()
  return shown
end

return M
