--- tree.lua - the displayed tree of a job: the vertices that the job holds, and all ancestors.
--
-- A node: {vertex, amount, exclusive, label, usage, hidden, children (nodes, in the order of the graph)}. The resources of a
-- job are a list of parts {vertex, amount, exclusive, label, whole (all descendants are shown)}.

local tables = require "weir.tables"

local M = {}

local function new(v, part)
  return {
    vertex = v, amount = part and part.amount or v.size, exclusive = part ~= nil and part.exclusive, label = part and part.label,
    whole = part and part.whole, children = {},
  }
end

-- Returns the displayed parent of v: the source of the link that the job used, or else the parent.
local function above(parts, v) return parts.above and parts.above[v] or v:parent() end

-- Creates nodes for the parts and all ancestors. Returns the set of the vertices with a part below.
local function collect(parts, nodes)
  local leads = {}
  for _, part in ipairs(parts) do
    local v = part.vertex
    nodes[v] = new(v, part)
    local up = above(parts, v)
    while up and not leads[up] do
      leads[up] = true
      nodes[up] = nodes[up] or new(up)
      up = above(parts, up)
    end
  end
  return leads
end

local function add_whole(node)
  for child in node.vertex:children() do
    local below = new(child, { amount = child.size, exclusive = true })
    table.insert(node.children, below)
    add_whole(below)
  end
end

-- Returns the children of a vertex in the order of the graph, then the targets of links if the job used links.
local function below(parts, v)
  local list = tables.collect(v:children())
  for _, edge in ipairs(parts.above and v:edges "links" or {}) do
    if edge.source == v then list[#list + 1] = edge.target end
  end
  return list
end

-- Attaches the children to a node. Quirk: below an exclusive vertex only requested resources are shown, unless the
-- part is `whole`.
local function link(node, parts, nodes, leads, inside)
  node.exclusive = node.exclusive or inside
  if node.whole then
    add_whole(node)
  elseif leads[node.vertex] then
    for _, child in ipairs(below(parts, node.vertex)) do
      if nodes[child] and above(parts, child) == node.vertex then
        table.insert(node.children, link(nodes[child], parts, nodes, leads, node.exclusive))
      end
    end
  end
  return node
end

--- Returns the tree of some parts; nil without parts. parts.labels: labels of ancestors, by vertex; parts.above:
--- sources of links, by target.
function M.of(root, parts)
  if #parts == 0 then return nil end
  local nodes = {}
  local leads = collect(parts, nodes)
  for v, label in pairs(parts.labels or {}) do
    if nodes[v] then nodes[v].label = label end
  end
  return nodes[root] and link(nodes[root], parts, nodes, leads, false)
end

--- Calls on_node(n, depth, under) and on_edge(parent, child) in the order of resource-query's output: a vertex after
--- all descendants. `under` is true if the parent is exclusive. Hidden nodes are left out, with the edges that lead there.
function M.visit(tree, on_node, on_edge)
  local function walk(n, depth, under)
    for _, child in ipairs(n.children) do
      walk(child, depth + 1, n.exclusive)
      if not child.hidden then on_edge(n, child) end
    end
    if not n.hidden then on_node(n, depth, under) end
  end
  walk(tree, 1, false)
end

--- Returns how many vertices a cancellation visits, and how many vertices the job holds. Visited are the root and all
--- children of held vertices. `tags`: further vertices that count as held, as a set.
function M.count(root, tags)
  local held, looked = {}, 1
  for v in pairs(tags) do held[v] = true end
  if root then M.visit(root, function(n) held[n.vertex] = true end, function() end) end
  local n = 0
  for v in pairs(held) do
    n, looked = n + 1, looked + v:nchildren()
  end
  return looked, n
end

return M
