--- machine_part.lua - the part of a machine that an R, a vertex or a list of vertices names.

local core = require "weir.core"
local rset = require "weir.rset"
local tables = require "weir.tables"

local M = {}

local function has_no_rank(v) return v.rank == nil end

-- Returns rank -> list of the topmost vertices of the rank.
local function by_rank(graph)
  local found = {}
  for v in graph:walk { prune = has_no_rank } do
    if v.rank then
      tables.push(found, v.rank, v)
    end
  end
  return found
end

-- Appends the vertices of a type with the ids of a set at and below the vertices `tops` of a rank.
local function add_ids(list, tops, rank, type, set)
  local found = {}
  for _, top in ipairs(tops) do
    for v in top:graph():walk { start = top } do
      if v.type == type and v.id then found[v.id] = v end
    end
  end
  for id in set:ids() do
    if not found[id] then return nil, ("there is no %s %d on rank %d"):format(type, id, rank), "unknown" end
    list[#list + 1] = found[id]
  end
  return true
end

local function add_rank(list, tops, rank, children)
  local before = #list
  for type, ids in pairs(children or {}) do
    local set, why = core.idset(ids)
    if not set then return nil, ("R_lite: children.%s: %s"):format(type, why), "parse" end
    local ok, what, code = add_ids(list, tops, rank, type, set)
    if not ok then return nil, what, code end
  end
  if #list == before then table.move(tops, 1, #tops, #list + 1, list) end
  return true
end

local function of_entries(graph, set)
  local list, ranks = {}, by_rank(graph)
  for _, entry in ipairs(set:table "rlite") do
    for rank in core.idset(entry.rank):ids() do
      if not ranks[rank] then return nil, ("there is no rank %d"):format(rank), "unknown" end
      local ok, why, code = add_rank(list, ranks[rank], rank, entry.children)
      if not ok then return nil, why, code end
    end
  end
  return list
end

local function of_R(graph, R)
  local set, why, code = rset.new(R, "R")
  if not set then return nil, why, code end
  if set:get "scheduling" then return graph:resolve(set:format "rv1", { source = "R" }) end
  return of_entries(graph, set)
end

--- Returns a list of vertices and of {vertex =, amount =} that `what` names; or nil, message, code. what: a vertex, such
--- a list, or an R (text, table or set). The vertices of an R without a graph are those of R_lite, or whole ranks.
function M.picks(graph, what)
  if rset.is(what) or type(what) == "string" then return of_R(graph, what) end
  if type(what) ~= "table" then return { what } end
  if what.version ~= nil or what.execution ~= nil then return of_R(graph, what) end
  return what
end

return M
