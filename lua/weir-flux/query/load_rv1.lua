--- load_rv1.lua - machines from R (RFC 20): by its execution part alone.

local core = require "weir.core"
local flux_hostlist = require "weir.flux.hostlist"
local quirks = require "weir.query.quirks"
local tables = require "weir.tables"

local M = {}

-- Numbers in the order of the rows of R_lite.
local function numbers(graph, document)
  local number, count = {}, 0
  local function give(v)
    if not number[v] then
      number[v] = count
      count = count + 1
    end
  end
  local root, nodes = graph:root(), {}
  give(root)
  for node in root:children() do nodes[node.rank] = node end
  for _, row in ipairs(document.execution.R_lite) do
    for rank in core.idset(row.rank):ids() do
      give(nodes[rank])
      for child in nodes[rank]:children() do give(child) end
    end
  end
  return number
end

-- Checks the names of all hosts: returns true, or nil and a reason. Quirk: the property "NAME@core" is only a property
-- of the node, so the properties of the node's children are removed.
local function check_hosts(graph)
  for node in graph:root():children() do
    if not quirks.host_fits(node.name) then return nil, ("unpack_rank: error splitting hostname=%s"):format(node.name) end
    for child in node:children() do
      for _, key in ipairs(tables.keys(child.properties)) do child.properties[key] = nil end
    end
  end
  return true
end

--- Reads an R; see load.lua for parameters and results. Quirk: the grouping of nodes in the scheduling part of the R
--- is ignored.
function M.read(text, options)
  local document, why = core.json_decode(text)
  if document == nil then return nil, ("%s: %s"):format(options.source or "R", why) end
  if type(document) == "table" then
    document.scheduling = nil
    flux_hostlist.correct(document)
    if type(document.execution) == "table" and document.execution.nodelist == nil then
      return nil, ("%s: execution.nodelist is missing"):format(options.source or "R")
    end
  end
  local graph
  graph, why = core.parse(core.json_encode(document), { format = "rv1", source = options.source })
  if not graph then return nil, why end
  assert(graph:set_validity()) -- Fluxion's command does not know the times of an R
  return graph, function()
    local ok, wrong = check_hosts(graph)
    if not ok then return nil, wrong end
    return { number = numbers(graph, document), rank = function(v) return v.rank or -1 end }
  end
end

return M
