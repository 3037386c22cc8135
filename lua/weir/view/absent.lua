--- absent.lua - words for a search without a hit.

local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

--- Returns the words for an expression that holds for no vertex of a graph (or nil), and whether no vertex has the type that
--- the expression names; the words then list the existing types.
function M.vertex(graph, expression)
  local text = "no vertex matches " .. expression
  local wanted, types = expression:match "type%s*=%s*([%w_%-]+)", graph and graph:types() or {}
  if not wanted or not graph or tables.has(types, wanted) then return text, false end
  return ("%s%s; the types here are %s"):format(text, suggest.hint(wanted, types), table.concat(types, ", ")), true
end

return M
