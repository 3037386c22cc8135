--- ranks.lua - ranks of the graph in an R. In an instance inside another one, Flux gives the ranks of R_lite anew and leaves the graph
-- under "scheduling" as the outer scheduler wrote it, with the ranks of the outer instance (RFC 20).

local core = require "weir.core"

local M = {}

-- Returns the ranks of R_lite as a list, and with a nodelist of as many hosts {host = rank}; nil for hosts where one is there twice.
local function ranks_of(execution)
  local list, hosts = {}, {}
  for _, row in ipairs(execution.R_lite or {}) do
    for rank in core.idset(tostring(row.rank)):ids() do list[#list + 1] = rank end
  end
  local names = core.hostlist(table.concat(execution.nodelist or {}, ","))
  local n = 0
  for name, i in (names or core.hostlist()):names() do
    n = i
    if hosts and hosts[name] then hosts = nil end
    if hosts then hosts[name] = list[i] end
  end
  table.sort(list)
  return list, n == #list and hosts or nil
end

-- Returns the ranks of the nodes of a graph as a sorted list, and {rank = name}.
local function ranks_in(nodes)
  local list, names = {}, {}
  for _, node in ipairs(nodes) do
    local data = type(node) == "table" and node.metadata
    local rank = type(data) == "table" and data.type == "node" and math.tointeger(data.rank)
    if rank and rank >= 0 and not names[rank] then
      list[#list + 1], names[rank] = rank, data.name or tostring(data.basename) .. tostring(data.id)
    end
  end
  table.sort(list)
  return list, names
end

local function equal(a, b)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then return false end
  end
  return true
end

-- Returns {rank in the graph = rank in R_lite}: by the names of hosts where they tell hosts apart, else in order. nil where the two do
-- not have equally many ranks.
local function mapping(old, names, new, hosts)
  if #old ~= #new then return nil end
  local map, used = {}, {}
  for i, rank in ipairs(old) do
    local to = hosts and hosts[names[rank]]
    if hosts and (not to or used[to]) then return mapping(old, names, new) end
    map[rank] = to or new[i]
    used[map[rank]] = true
  end
  return map
end

--- Gives the graph of an R, a table, the ranks of R_lite. Returns whether something has changed.
function M.follow(R)
  local graph = type(R) == "table" and type(R.scheduling) == "table" and R.scheduling.graph
  local nodes = type(graph) == "table" and type(graph.nodes) == "table" and graph.nodes
  if not nodes or type(R.execution) ~= "table" then return false end
  local new, hosts = ranks_of(R.execution)
  local old, names = ranks_in(nodes)
  if equal(old, new) then return false end
  local map = mapping(old, names, new, hosts)
  if not map then return false end
  for _, node in ipairs(nodes) do
    local data = type(node) == "table" and node.metadata
    if type(data) == "table" and map[data.rank] then data.rank = map[data.rank] end
  end
  return true
end

return M
