--- load_grug.lua - machines from GRUG recipes. weir creates the containment subsystem first and numbers vertices from
-- the root down; resource-query numbers vertices in the order of the edges of the recipe. Both keep the order of
-- siblings.

local core = require "weir.core"
local quirks = require "weir.query.quirks"
local tables = require "weir.tables"

local M = {}

local CONTAINMENT = "containment"

-- Returns the targets of the edges of v in a subsystem, in order.
local function targets_of(v, subsystem)
  if subsystem == CONTAINMENT then return tables.collect(v:children()) end
  local list = {}
  for _, edge in ipairs(v:edges(subsystem)) do
    if edge.source == v then list[#list + 1] = edge.target end
  end
  return list
end

local Numbering = {}
Numbering.__index = Numbering

local function new(graph, recipe)
  local self = setmetatable({
    graph = graph, nodes = recipe.nodes, edges = {}, pools = {}, seen = {}, number = {}, count = 0, rank = 0, ways = {},
  }, Numbering)
  for i in ipairs(recipe.nodes) do
    self.edges[i - 1], self.pools[i - 1] = {}, {}
  end
  for _, edge in ipairs(recipe.edges) do table.insert(self.edges[edge.from], edge) end
  return self
end

function Numbering:give(v)
  if self.number[v] then return end
  self.number[v] = self.count
  self.count = self.count + 1
  if quirks.has_rank(v) then
    v.rank = self.rank
    self.rank = self.rank + 1
  end
end

-- Returns the targets of v in a subsystem, {at, list}; edges of the recipe have consumed the targets before index
-- `at`.
function Numbering:way(v, subsystem)
  local ways = self.ways[subsystem] or {}
  self.ways[subsystem] = ways
  if not ways[v] then ways[v] = { at = 1, list = targets_of(v, subsystem) } end
  return ways[v]
end

-- Consumes the targets of v that an edge of the recipe has created or linked, and appends the targets to `into`.
function Numbering:take(edge, v, into)
  local way, type = self:way(v, edge.e_subsystem), self.nodes[edge.to + 1].type
  local made = edge.gen_method == "MULTIPLY"
  local left = made and edge.multi_scale or math.huge
  while left > 0 do
    local w = way.list[way.at]
    if not w or not made and not (self.number[w] and w.type == type) then break end
    self:give(w)
    into[#into + 1] = w
    way.at, left = way.at + 1, left - 1
  end
end

function Numbering:follow(edge)
  local into = {}
  for _, v in ipairs(self.pools[edge.from]) do self:take(edge, v, into) end
  self.pools[edge.to] = into
end

function Numbering:visit(n)
  self.seen[n] = true
  for _, edge in ipairs(self.edges[n]) do
    if not self.seen[edge.to] then
      self:follow(edge)
      self:visit(edge.to)
    end
  end
end

function Numbering:run()
  local roots = {}
  for i, node in ipairs(self.nodes) do
    if node.root ~= 0 then
      local nth = (roots[node.subsystem] or 0) + 1
      roots[node.subsystem] = nth
      local root = self.graph:root(node.subsystem, nth)
      if root then
        self:give(root)
        self.pools[i - 1] = { root }
      end
      self:visit(i - 1)
    end
  end
end

-- Numbers the vertices without an edge in the recipe.
function Numbering:rest()
  for _, subsystem in ipairs(self.graph:subsystems()) do
    for v in self.graph:walk { subsystem = subsystem } do self:give(v) end
  end
end

--- Reads a recipe; see load.lua for parameters and results.
function M.read(text, options)
  local graph, why = core.parse(text, { format = "grug", source = options.source })
  if not graph then return nil, why end
  return graph, function()
    local numbering = new(graph, core.document(text, { format = "grug", source = options.source }))
    numbering:run()
    numbering:rest()
    return { number = numbering.number, rank = quirks.rank_of_nodes }
  end
end

return M
