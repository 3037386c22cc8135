--- grug.lua - grows machines from GRUG recipes, in the order in which resource-query makes vertices: a depth-first walk of
-- the recipe, each of its edges making all that it stands for at once.

local core = require "weir.core"
local errno = require "weir.query.errno"

local M = {}

-- ---- pools --------------------------------------------------------------------------------------------------

-- The i-th id that an edge gives below the j-th pool of its source. `scales` has the scales of the edges above, the
-- nearest first: ids run on over as many levels as id_scope says.
local function id_of(grow, edge, i, j)
  if edge.id_scope < 0 then return -1 end
  if edge.id_scope == 0 then return edge.id_start + i end
  local wrap = 1
  for level = 1, math.min(edge.id_scope, #grow.scales) do wrap = wrap * grow.scales[#grow.scales + 1 - level] end
  return edge.id_start + j % wrap * edge.multi_scale * edge.id_stride + i * edge.id_stride
end

local function rank_of(grow, node)
  if node.type ~= "node" then return -1 end
  grow.rank = grow.rank + 1
  return grow.rank - 1
end

local function make(grow, node, parent, id)
  local name = node.basename .. (id == -1 and "" or id)
  local v = grow.graph:add {
    type = node.type, basename = node.basename, name = name, id = id, size = node.size, unit = node.unit,
    rank = rank_of(grow, node),
    paths = { [node.subsystem] = (parent and parent.paths[node.subsystem] or "") .. "/" .. name },
  }
  grow.graph:register(v)
  return v
end

local function make_root(grow, node)
  local graph = grow.graph
  if not graph.roots[node.subsystem] then graph:set_root(node.subsystem, make(grow, node, nil, 0)) end
  return graph.roots[node.subsystem]
end

-- An edge from v to w; where there is one already, that becomes part of the subsystem.
local function connect(grow, v, w, subsystem)
  local known = grow.targets[v]
  if not known then
    known = {}
    grow.targets[v] = known
    for _, edge in ipairs(v.out) do known[edge.target] = edge end
  end
  if known[w] then
    known[w].subsystem = subsystem
  else
    known[w] = grow.graph:connect(v, w, subsystem)
  end
end

-- ---- the three ways of an edge ------------------------------------------------------------------------------

local METHODS = {}

function METHODS.MULTIPLY(grow, edge, sources, targets)
  grow.graph:expect(#sources * edge.multi_scale)
  for j, v in ipairs(sources) do
    for i = 1, edge.multi_scale do
      local w = make(grow, grow.nodes[edge.to + 1], v, id_of(grow, edge, i - 1, j - 1))
      grow.graph:connect(v, w, edge.e_subsystem)
      targets[#targets + 1] = w
    end
  end
  table.insert(grow.scales, edge.multi_scale)
end

local function associate(grow, edge, v, w, targets)
  local subsystem = edge.e_subsystem
  grow.graph:add_path(w, subsystem, (v.paths[subsystem] or "") .. "/" .. w.name)
  connect(grow, v, w, subsystem)
  targets[#targets + 1] = w
end

function METHODS.ASSOCIATE_IN(grow, edge, sources, targets)
  local candidates = grow.graph.by_type[grow.nodes[edge.to + 1].type] or {}
  for _, v in ipairs(sources) do
    for _, w in ipairs(candidates) do associate(grow, edge, v, w, targets) end
  end
end

-- A path without its last `levels` parts, with a slash at the end; "": it has not that many.
local function prefix(path, levels)
  local _, slashes = path:gsub("/", "")
  if levels >= slashes then return "" end
  local at = 0
  for _ = 1, slashes - levels + 1 do
    at = path:find("/", at + 1, true)
    if not at then break end
  end
  local text = at and path:sub(1, at) or path
  return text:sub(-1) == "/" and text or text .. "/"
end

function METHODS.ASSOCIATE_BY_PATH_IN(grow, edge, sources, targets)
  local within, by_prefix = edge.as_tgt_subsystem, {}
  for _, w in ipairs(grow.graph.by_type[grow.nodes[edge.to + 1].type] or {}) do
    local key = prefix(w.paths[within] or "", edge.as_tgt_uplvl)
    by_prefix[key] = by_prefix[key] or {}
    table.insert(by_prefix[key], w)
  end
  for _, v in ipairs(sources) do
    local key = prefix(v.paths[within] or "", edge.as_src_uplvl)
    for _, w in ipairs(by_prefix[key] or {}) do associate(grow, edge, v, w, targets) end
  end
end

-- ---- the walk -----------------------------------------------------------------------------------------------

local function follow(grow, edge)
  local source = grow.nodes[edge.from + 1]
  local sources = grow.pools[edge.from]
  if source.root ~= 0 and #sources == 0 then sources[1] = make_root(grow, source) end
  grow.pools[edge.to] = {}
  METHODS[edge.gen_method](grow, edge, sources, grow.pools[edge.to])
end

local function visit(grow, n)
  grow.seen[n] = true
  for _, edge in ipairs(grow.edges[n]) do
    if not grow.seen[edge.to] then
      follow(grow, edge)
      visit(grow, edge.to)
    end
  end
  table.remove(grow.scales)
end

local function new(graph, recipe)
  local grow = { graph = graph, nodes = recipe.nodes, edges = {}, pools = {}, seen = {}, scales = {}, targets = {},
    rank = 0 }
  for i, node in ipairs(recipe.nodes) do
    grow.edges[i - 1], grow.pools[i - 1] = {}, {}
    graph.types:add(node.type)
    graph.subsystems:add(node.subsystem)
  end
  for _, edge in ipairs(recipe.edges) do table.insert(grow.edges[edge.from], edge) end
  return grow
end

--- Makes the graph of a recipe; true, or nil and why.
function M.load(graph, text)
  local recipe, why = core.document(text, { format = "grug", source = "recipe" })
  if not recipe then
    errno.code = "EINVAL"
    return nil, "error in reading grug string; ", why
  end
  local grow = new(graph, recipe)
  for n = 0, #recipe.nodes - 1 do
    if not grow.seen[n] then visit(grow, n) end
  end
  return true
end

return M
