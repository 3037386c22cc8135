--- tree.lua - what is written about a job: the vertices that it has and all above them, as a tree.
--
-- A node: {vertex, amount, exclusive, label, usage, children (nodes, in the order of the graph)}. What a job has is a list of
-- parts {vertex, amount, exclusive, label, whole (all that is below it is shown)}.

local M = {}

local function new(v, part)
  return {
    vertex = v, amount = part and part.amount or v.size, exclusive = part ~= nil and part.exclusive, label = part and part.label,
    whole = part and part.whole, children = {},
  }
end

-- What v is shown below: its parent, or what led to it for this job.
local function above(parts, v) return parts.above and parts.above[v] or v:parent() end

-- Puts the parts and all above them into `nodes`; returns the vertices that have one of these below them.
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

-- What is shown right below a vertex, in the order of the graph: what links lead to comes last.
local function below(parts, v)
  local list = {}
  for child in v:children() do list[#list + 1] = child end
  for _, edge in ipairs(parts.above and v:edges "links" or {}) do
    if edge.source == v then list[#list + 1] = edge.target end
  end
  return list
end

-- Quirk: of what is below an exclusive vertex only what was asked for is shown, unless its type is always given whole.
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

--- The tree of some parts; nil where there is none. parts.labels: of vertices that are only passed through; parts.above: what
--- others than their parents led to, by vertex.
function M.of(root, parts)
  if #parts == 0 then return nil end
  local nodes = {}
  local leads = collect(parts, nodes)
  for v, label in pairs(parts.labels or {}) do
    if nodes[v] then nodes[v].label = label end
  end
  return nodes[root] and link(nodes[root], parts, nodes, leads, false)
end

--- Calls node(n, depth, under) and edge(parent, child) in the order in which resource-query writes: a vertex after all that
--- is below it. `under`: what is above is exclusive.
function M.visit(tree, on_node, on_edge)
  local function walk(n, depth, under)
    for _, child in ipairs(n.children) do
      walk(child, depth + 1, n.exclusive)
      on_edge(n, child)
    end
    on_node(n, depth, under)
  end
  walk(tree, 1, false)
end

--- How many vertices are looked at when a job is cancelled: the root, and what is right below those that the job has something
--- at or below; and how many the latter are. `tags`: more of these, as a set.
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
