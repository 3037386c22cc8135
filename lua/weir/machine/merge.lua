--- merge.lua - a single machine made of several.
--
-- M.nodes makes machines of one node each, as hwloc describes hosts, the nodes of a cluster, with the ranks 0, 1, ...
-- in the order given. M.merged unites any machines: vertices with equal paths become a single vertex; a node whose
-- rank is in use by a different node gets the next free rank.

local chunk = require "weir.machine.sandboxed_file"
local failure = require "weir.failure"
local plain = require "weir.plain"

local M = {}

local must = failure.must

local MAPS = { "properties", "tags", "data" }

local function copy_maps(from, to)
  for _, map in ipairs(MAPS) do
    for key, value in pairs(from[map]) do to[map][key] = value end
  end
  if from.state ~= "up" then to.state = from.state end
end

local function pool_of(v)
  return {
    type = v.type, basename = v.basename, name = plain.own_name(v), id = v.id, size = v.size,
    unit = v.unit ~= "" and v.unit or nil, exclusive = v.exclusive or nil,
  }
end

local function copy_tree(g, parent, v, pool)
  local to = must(g:add(parent, pool or pool_of(v)))
  copy_maps(v, to)
  for child in v:children() do copy_tree(g, to, child) end
end

-- The node of a graph that consists of a cluster with a single node as its child; nil for any other graph.
local function only_node(g)
  local roots = g:roots()
  local root = roots[1]
  if #roots ~= 1 or root.type ~= "cluster" or root:nchildren() ~= 1 or #g:subsystems() > 1 then return nil end
  local node = root:child(1)
  return node.type == "node" and node or nil
end

-- The base name of a file: "machines/tux3.xml" -> "tux3".
local function stem(name) return name:match "([^/]+)$":gsub("%.[^.]*$", "") end

-- Gives a pool the name of a host.
local function name_pool(pool, name)
  pool.name = name
  pool.basename, pool.id = name:match "^(.-%D)(%d+)$"
  pool.basename, pool.id = pool.basename or name, math.tointeger(tonumber(pool.id))
  return pool
end

-- The pool of a node in the cluster, called `host` if given. A node without a host name (hwloc's "node0") is named after the file.
local function node_pool(node, name, rank, host)
  local pool = pool_of(node)
  pool.rank = rank
  if host then return name_pool(pool, host) end
  if pool.basename ~= "node" or pool.name or node.id ~= 0 then return pool end
  return name_pool(pool, stem(name))
end

local function grow_nodes(g, graphs, names, hosts)
  local seen, root = {}, must(g:add(nil, pool_of(graphs[1]:root())))
  copy_maps(graphs[1]:root(), root)
  for i = 1, hosts and #hosts or #graphs do
    local from, file = graphs[i] or graphs[1], names[i] or names[1]
    local node = must(only_node(from), file .. ": is no cluster of one node", "invalid")
    local pool = node_pool(node, file, i - 1, hosts and hosts[i])
    local name = pool.name or node.name
    if seen[name] then failure.raise(("%s: the host %s is in %s already"):format(file, name, seen[name]), "exists") end
    seen[name] = file
    copy_tree(g, root, node, pool)
  end
end

--- Makes a cluster of graphs with a single node each. `names`: the files' names, for errors and for nodes without a
--- host name. `hosts`: the names of the nodes, or nil; with a single graph there may be any number of them, and the nodes are
--- identical. Returns a new graph; or nil, message, code.
function M.nodes(graphs, names, hosts)
  return failure.caught(nil, chunk.build, function(g) grow_nodes(g, graphs, names, hosts) end)
end

-- Returns the nodes by rank, the ranks by path of node, and the lowest rank above all ranks in use.
local function ranks_of(g)
  local used, by_path, free = {}, {}, 0
  for v in g:walk { type = "node" } do
    if v.rank then used[v.rank], by_path[v.path], free = true, v.rank, math.max(free, v.rank + 1) end
  end
  return used, by_path, free
end

-- Prepares the nodes of `from` for the merge: a node also in g takes the rank from g, a node whose rank is in use in g
-- takes a free rank.
local function make_ranks_free(g, from)
  local used, by_path, free = ranks_of(g)
  free = math.max(free, select(3, ranks_of(from)))
  for v in from:walk { type = "node" } do
    if v.rank and by_path[v.path] then
      v.rank = by_path[v.path]
    elseif used[v.rank or -1] then
      v.rank, free = free, free + 1
    end
  end
end

--- Merges all graphs into the first. Returns the first graph; or nil, message, code.
function M.merged(graphs, names)
  for i = 2, #graphs do
    make_ranks_free(graphs[1], graphs[i])
    local ok, why, code = graphs[1]:merge(graphs[i])
    if not ok then return nil, ("%s: %s"):format(names[i], why), code end
  end
  return graphs[1]
end

return M
