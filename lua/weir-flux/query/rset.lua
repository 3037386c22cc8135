--- rset.lua - reads resource sets: the vertices of a machine named by a JSON graph or an R.

local core = require "weir.core"
local failure = require "weir.failure"
local flux_hostlist = require "weir.flux.hostlist"
local jgf = require "weir.query.load_jgf"

local M = {}

local fail = failure.fail

local function decode(text)
  local document, why = core.json_decode(text)
  if type(document) ~= "table" then fail("%s", why or "expected a JSON object") end
  return document
end

local function ids(text, what)
  local set = type(text) == "string" and core.idset(text)
  if not set then fail('%s: expected a set of ids such as "0-3"', what) end
  return set
end

-- ---- JSON graphs --------------------------------------------------------------------------------------------

-- Returns the ranks that a document declares free; reading skips vertices on free ranks.
local function free_ranks(document)
  if document.free_ranks == nil then return core.idset "" end
  return ids(tostring(document.free_ranks), "free_ranks")
end

local function number(x, otherwise) return math.type(x) == "integer" and x or otherwise end

local function same(machine, v, m)
  return v.type == m.type and v.size == number(m.size, 1) and v.basename == (m.basename or m.type)
    and machine.rank(v) == number(m.rank, -1)
end

-- Returns the vertex of the metadata; nil if the vertex belongs to a subsystem outside the search.
local function find(machine, node, m)
  for _, path in pairs(type(m.paths) == "table" and m.paths or {}) do
    for _, v in ipairs(machine:at(path) or {}) do
      if same(machine, v, m) then return v end
    end
    if machine.elsewhere[path] then return nil end
    fail("there is no vertex %s like the one with id %s", path, tostring(node.id))
  end
  fail("the vertex with id %s has no path", tostring(node.id))
end

local function add(machine, list, node, m)
  local v = find(machine, node, m)
  if not v then return end
  if list[v] then fail("%s is named twice", v.path) end
  list[v] = true
  local rank = machine.rank(v)
  if rank < 0 or not list.free:has(rank) then
    list[#list + 1] = { vertex = v, size = number(m.size, 1), exclusive = m.exclusive == true }
  end
end

--- Returns the vertices named by a JSON graph, {{vertex, size, exclusive}, ...}; the list also has each vertex as a
--- key.
function M.of_jgf(machine, text)
  local document = decode(text)
  local graph, list = document.graph, { free = free_ranks(document) }
  if type(graph) ~= "table" or type(graph.nodes) ~= "table" or type(graph.edges) ~= "table" then
    fail "expected a graph with nodes and edges"
  end
  jgf.each(document, function(node, m) add(machine, list, node, m) end)
  return list
end

-- ---- R ------------------------------------------------------------------------------------------------------

--- Returns the rows of an R, {{ranks (an idset), children (by type)}, ...}, and the document.
function M.rows(text)
  local document = decode(text)
  local execution = document.execution
  if document.version ~= 1 or type(execution) ~= "table" or type(execution.R_lite) ~= "table" then
    fail "expected an R of version 1 with execution.R_lite"
  end
  local rows = {}
  for i, row in ipairs(execution.R_lite) do
    if type(row) ~= "table" or type(row.children) ~= "table" then fail("R_lite: expected a rank and its children") end
    rows[i] = { ranks = ids(row.rank, "R_lite: rank"), children = row.children }
  end
  return rows, document
end

-- Returns the host names by rank. The nodelist has the hosts in ascending order of the ranks.
local function hosts_of(machine, rows, document)
  local all, names, hosts = core.idset "", core.hostlist "", {}
  for _, row in ipairs(rows) do all:add(row.ranks) end
  if #all > machine.graph:count() then fail("R_lite: more ranks than the machine has vertices") end
  local list = document.execution.nodelist
  for _, some in ipairs(type(list) == "table" and list or {}) do
    names:append(type(some) == "string" and core.hostlist(flux_hostlist.read(some)) or fail "nodelist: expected lists of hosts")
  end
  local i = 0
  for rank in all:ids() do
    i = i + 1
    hosts[rank] = names[i] or fail("nodelist: there is no host for rank %d", rank)
  end
  return hosts
end

local function child_named(machine, parent, name, kind, rank)
  for v in parent:children() do
    if v.name == name and v.type == kind and machine.rank(v) == rank then return v end
  end
  fail("%s has no %s of rank %d", parent.path, name, rank)
end

local function add_children(machine, list, node, rank, children)
  local n = 0
  for kind, set in pairs(children) do
    for id in ids(set, "R_lite: children." .. kind):ids() do
      list[#list + 1] = { vertex = child_named(machine, node, kind .. id, kind, rank), size = 1, exclusive = true }
      n = n + 1
    end
  end
  return n
end

--- Returns the vertices named by an R, shaped like the result of of_jgf(). A node is exclusive if the R names as
--- many vertices as the node has children.
function M.of_r(machine, text)
  local rows, document = M.rows(text)
  local hosts, list = hosts_of(machine, rows, document), { [machine:root()] = true }
  for _, row in ipairs(rows) do
    for rank in row.ranks:ids() do
      local node = child_named(machine, machine:root(), hosts[rank], "node", rank)
      local n = add_children(machine, list, node, rank, row.children)
      list[#list + 1] = { vertex = node, size = node.size, exclusive = n == node:nchildren() }
    end
  end
  return list
end

return M
