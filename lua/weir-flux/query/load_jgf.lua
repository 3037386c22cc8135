--- load_jgf.lua - machines from JSON graphs.

local core = require "weir.core"
local quirks = require "weir.query.quirks"
local tables = require "weir.tables"

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
  for _, subsystem in ipairs(graph:subsystems()) do
    for v in graph:walk { subsystem = subsystem } do
      tables.push(index, subsystem == "containment" and "containment:" .. v.path or v:uri(subsystem), v)
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

-- Returns numbers and ranks of vertices as given by the document; false as well if a vertex of the document was not
-- found by its path.
local function read_marks(graph, document)
  local index, number, rank, complete = by_path(graph), {}, {}, true
  each(document, function(node, metadata)
    local v = find(index, metadata, number)
    if not v then
      complete = false
      return
    end
    number[v] = number_of(node, metadata)
    rank[v] = math.type(metadata.rank) == "integer" and metadata.rank or -1
  end)
  return number, rank, complete
end

-- ---- fragments ----------------------------------------------------------------------------------------------

local MARK = "weir_number_in_the_document"

-- Returns the graph of a document whose vertices have the properties MARK, their numbers in the document.
local function parse_marked(document, options)
  local n = 0
  each(document, function(_, metadata)
    n = n + 1
    metadata.properties = is_map(metadata.properties) and metadata.properties or {}
    metadata.properties[MARK] = tostring(n)
  end)
  return core.parse(core.json_encode(document), { format = "jgf", source = options.source })
end

-- Returns the paths of the metadata in the form of machine:paths().
local function paths_of(metadata)
  local list = {}
  for subsystem, path in tables.sorted(is_map(metadata.paths) and metadata.paths or {}) do list[#list + 1] = { subsystem, path } end
  return #list > 0 and list or nil
end

-- Reads a fragment: a document with paths that name vertices above which the document lacks. The paths stay as in the document.
-- Returns the graph and the function of read().
local function read_fragment(document, options)
  local graph, why = parse_marked(document, options)
  if not graph then return nil, why end
  return graph, function()
    local by_mark, number, rank, paths, n = {}, {}, {}, {}, 0
    for v in graph:walk {} do
      by_mark[v.properties[MARK]] = v
      v.properties[MARK] = nil
    end
    each(document, function(node, metadata)
      n = n + 1
      local v = by_mark[tostring(n)]
      if not v then return end
      number[v], paths[v] = number_of(node, metadata), paths_of(metadata)
      rank[v] = math.type(metadata.rank) == "integer" and metadata.rank or -1
    end)
    return { number = number, rank = function(v) return rank[v] or -1 end, paths = paths }
  end
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
  local number, rank, complete = read_marks(graph, document)
  if not complete then return read_fragment(document, options) end
  return graph, function() return { number = number, rank = function(v) return rank[v] or -1 end } end
end

return M
