--- load_hwloc.lua - machines from hwloc XML.

local core = require "weir.core"
local quirks = require "weir.rq.quirks"

local M = {}

function M.read(text, options)
  local types = (options.allowlist or ""):gsub("^cluster,", "")
  local graph, why = core.parse(text, { format = types == "" and "hwloc" or "hwloc:" .. types, source = options.source })
  if not graph then return nil, why end
  local number, count = {}, 0
  for v in graph:walk {} do
    number[v] = count
    count = count + 1
  end
  return { graph = graph, number = number, rank = quirks.rank_of_nodes }
end

return M
