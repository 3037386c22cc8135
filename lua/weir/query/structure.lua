--- structure.lua - changes of the graph itself: the state of vertices, and taking parts of it away.

local M = {}

local function collect(v, subsystem, into)
  for _, edge in ipairs(v.out) do
    if edge.subsystem == subsystem and not into[edge.target] then
      into[edge.target] = true
      into[#into + 1] = edge.target
      collect(edge.target, subsystem, into)
    end
  end
end

--- v and all below it in a subsystem.
function M.subtree(v, subsystem)
  local list = { v, [v] = true }
  collect(v, subsystem, list)
  return list
end

--- Marks the vertices on a path up or down; the nodes below count as well, each vertex has a state of its own.
function M.mark(graph, path, down, subsystem)
  local nodes = {}
  for _, v in ipairs(graph.by_path[path]) do
    if (v.down or false) ~= down then
      v.down = down
      for _, below in ipairs(M.subtree(v, subsystem)) do nodes[below] = true end
    end
  end
  for v in pairs(nodes) do
    if v.type == "node" then graph.nodes_up = graph.nodes_up + (down and -v.size or v.size) end
  end
end

local function has_parent(v, subsystem)
  for _, edge in ipairs(v.into) do
    if edge.subsystem == subsystem then return true end
  end
  return false
end

local function take_away(graph, roots, vertices, subsystem)
  for _, root in ipairs(roots) do
    if not has_parent(root, subsystem) then return nil end
  end
  for _, v in ipairs(vertices) do graph:isolate(v) end
  return roots
end

--- Takes the vertex on a path away, and all below it. Returns the list of what stood on top; nil: it is not there, or a
--- root.
function M.remove_path(graph, path, subsystem)
  local list = graph.by_path[path]
  if not list then return nil end
  local root = list[#list]
  return take_away(graph, { root }, M.subtree(root, subsystem), subsystem)
end

--- The same for the vertices of some ranks.
function M.remove_ranks(graph, ranks, subsystem)
  local roots, all = {}, {}
  for _, rank in ipairs(ranks) do
    local top
    for _, v in ipairs(graph.by_rank[rank] or {}) do
      all[#all + 1] = v
      if not top or #v.paths[subsystem] < #top.paths[subsystem] then top = v end
    end
    roots[#roots + 1] = top
  end
  return take_away(graph, roots, all, subsystem)
end

return M
