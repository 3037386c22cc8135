--- load_jgf.lua - machines from JSON graphs.

local core = require "weir.core"
local quirks = require "weir.query.quirks"

local M = {}

local function is_map(x) return type(x) == "table" and getmetatable(x) ~= "weir.array" end

-- Calls f(node, metadata) for each well-formed vertex of a document.
local function each(document, f)
  local graph = is_map(document) and is_map(document.graph) and document.graph or {}
  for _, node in ipairs(type(graph.nodes) == "table" and graph.nodes or {}) do
    if is_map(node) and is_map(node.metadata) then f(node, node.metadata) end
  end
end
M.each = each

-- Returns lists of vertices by "SUBSYSTEM:PATH". A list has several vertices where siblings share a name and differ
-- in rank.
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

-- Returns the vertex of the metadata. Several vertices may share a path; `taken` excludes vertices already found.
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

-- Returns numbers and ranks of vertices as given by the document.
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

--- Reads a JSON graph; see load.lua for parameters and results. options.known: a function that returns an existing
--- vertex by path, for documents that extend a machine.
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
