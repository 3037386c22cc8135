--- load_jgf.lua - machines from JSON graphs.

local core = require "weir.core"
local quirks = require "weir.query.quirks"

local M = {}

local function is_map(x) return type(x) == "table" and getmetatable(x) ~= "weir.array" end

-- Calls f(node, metadata) for each vertex of a document that can be one.
local function each(document, f)
  local graph = is_map(document) and is_map(document.graph) and document.graph or {}
  for _, node in ipairs(type(graph.nodes) == "table" and graph.nodes or {}) do
    if is_map(node) and is_map(node.metadata) then f(node, node.metadata) end
  end
end
M.each = each

-- Vertices by "SUBSYSTEM:PATH": lists, as siblings can have one name and different ranks.
local function by_path(graph)
  local index = {}
  local function put(key, v)
    index[key] = index[key] or {}
    table.insert(index[key], v)
  end
  for _, subsystem in ipairs(graph:subsystems()) do
    for v in graph:walk { subsystem = subsystem } do
      put(subsystem == "containment" and "containment:" .. v.path or v:uri(subsystem), v)
    end
  end
  return index
end

-- The vertex that metadata are about; several may share a path.
local function find(index, metadata, taken)
  for subsystem, path in pairs(is_map(metadata.paths) and metadata.paths or {}) do
    for _, v in ipairs(index[subsystem .. ":" .. tostring(path)] or {}) do
      if not taken[v] and (not metadata.rank or metadata.rank < 0 or v.rank == metadata.rank) then return v end
    end
  end
end

local function number_of(node, metadata)
  return math.type(metadata.uniq_id) == "integer" and metadata.uniq_id
    or math.tointeger(tonumber(tostring(node.id):match "^%s*([+-]?%d+)"))
end

-- Numbers and ranks as the document gives them.
local function read_marks(graph, document)
  local index, number, rank = by_path(graph), {}, {}
  each(document, function(node, metadata)
    local v = find(index, metadata, number)
    if not v then return end
    number[v] = number_of(node, metadata)
    rank[v] = math.type(metadata.rank) == "integer" and metadata.rank or -1
  end)
  return number, rank
end

--- See load.lua. options.known: a function that finds a vertex that is there by a path, for documents that add to a machine.
function M.read(text, options)
  local document, why = core.json_decode(text)
  if document == nil then return nil, ("%s: %s"):format(options.source or "JSON graph", why) end
  each(document, function(node, metadata)
    quirks.jgf_metadata(node, metadata)
    if options.known then quirks.jgf_known(metadata, options.known) end
  end)
  local graph
  graph, why = core.parse(core.json_encode(document), { format = "jgf", source = options.source })
  if not graph then return nil, why end
  return graph, function()
    local number, rank = read_marks(graph, document)
    return { number = number, rank = function(v) return rank[v] or -1 end }
  end
end

return M
