--- quirks.lua - the quirks of resource-query: behaviour that weir reproduces only for equal output and equal reading
-- of files. Each quirk has a function here. Quirks in the reading of requests are options of a match:
-- see fluxion_match/match.lua.

local core = require "weir.core"

local M = {}

--- Quirk: only nodes have a rank; weir also gives the rank of a node to all descendants.
function M.has_rank(v) return v.type == "node" end

--- Returns the displayed rank of a vertex from a recipe or from hwloc.
function M.rank_of_nodes(v) return v.type == "node" and v.rank or -1 end

--- Quirk: a machine may be read from an allocation, so "exclusive" says nothing about the pools. Units are ignored. A
-- node without an id gets the number at the end of the node's name; any vertex else without an id gets the vertex
-- number.
function M.jgf_metadata(node, metadata)
  metadata.exclusive, metadata.unit = nil, nil
  if metadata.id ~= nil then return end
  local digits = metadata.type == "node" and type(metadata.name) == "string" and metadata.name:match "%d+$"
  metadata.id = math.tointeger(tonumber(digits or metadata.uniq_id or tostring(node.id):match "^%s*([+-]?%d+)"))
end

--- Quirk: metadata of a vertex that already exists are ignored.
function M.jgf_known(metadata, known)
  for _, path in pairs(type(metadata.paths) == "table" and metadata.paths or {}) do
    local v = known(path)
    if v then
      metadata.basename, metadata.name, metadata.id, metadata.size = v.basename, v.name, v.id, v.size
      metadata.unit = v.unit ~= "" and v.unit or nil
      return
    end
  end
end

--- Quirk: a storage node counts as a host, too.
function M.is_host(v) return v.type == "node" or v.type == "storage_node" end

--- Quirk: an empty allocation has an empty text, but is an error in the format rlite.
function M.text_of_nothing(format)
  if format == "rlite" then return nil, "EINVAL" end
  return ""
end

local IN_FULL = { jgf_shorthand = "jgf", rv1_shorthand = "rv1" }

--- Quirk: `find` writes the formats of shorthand in full, as no vertex found counts as part of another.
function M.format_of_find(format) return IN_FULL[format] or format end

--- Quirk: a match uses up a job number even on failure, but not if the jobspec is unreadable or the output fails.
function M.uses_number(found, text, code)
  return text ~= nil and (found ~= nil or code == "busy" or code == "infeasible")
end

--- Quirk: the number at the end of a host name must fit 64 bits, although the number is never used.
function M.host_fits(name)
  local digits = name:match "0*(%d*)$"
  return #digits < 19 or #digits == 19 and digits <= tostring(math.maxinteger)
end

--- Quirk: text after the digits of a number is ignored, and a text without digits reads as 0.
function M.integer(word) return math.tointeger(tonumber(word:match "^%s*([+-]?%d+)")) or 0 end

local TYPES = {
  cluster = true, core = true, socket = true, gpu = true, node = true, rack = true, slot = true, xor_slot = true, ssd = true,
  storage_node = true,
}

--- Quirk: a type unknown to the machine is an error of the jobspec, except a few types that are always known. Returns
--- an error message, or nil.
function M.unknown_type(machine, types)
  for type in pairs(types) do
    if not TYPES[type] and not machine:has_type(type) then
      return 'Value of "type" must be a resource type known to fluxion'
    end
  end
end

local function is_map(x) return type(x) == "table" and getmetatable(x) ~= "weir.array" end

-- Returns an error message if a count is neither a number nor a whole dictionary.
local function fault_of_count(count)
  if not is_map(count) then
    return type(count) == "string" and not count:find "^%s*%+?%d+%s*$" and "bad conversion of a count" or nil
  end
  if count.min == nil then return 'Key "min" missing from count' end
  local n = (count.max ~= nil and 1 or 0) + (count.operator ~= nil and 1 or 0) + (count.operand ~= nil and 1 or 0)
  return n % 3 ~= 0 and 'All or none of "max", "operator", and "operand" must be specified' or nil
end

local function fault_of_counts(resources)
  for _, r in ipairs(type(resources) == "table" and resources or {}) do
    local fault = is_map(r) and (fault_of_count(r.count) or fault_of_counts(r.with))
    if fault then return fault end
  end
end

--- Quirk: a jobspec has all four keys, and RFC 14's counts are numbers or dictionaries with min alone or with max,
--- operator and operand. Returns an error message for a document that weir would read; or nil.
function M.jobspec_fault(document)
  if not is_map(document) then return nil end
  for _, key in ipairs { "version", "resources", "tasks", "attributes" } do
    if document[key] == nil then return ('Missing key "%s" in top level mapping'):format(key) end
  end
  return fault_of_counts(document.resources)
end

--- Quirk: jobs last whole seconds. Returns the text of the jobspec with the duration rounded up.
function M.in_whole_seconds(text)
  local request = core.request(text)
  local duration = request and request:duration()
  if not duration or duration == math.huge or duration == math.ceil(duration) then return text end
  local jobspec = core.json_decode(request:format "json")
  jobspec.attributes.system.duration = math.ceil(duration)
  return core.json_encode(jobspec)
end

--- Quirk: jobs without an end, and the graph as a whole, last GRAPH_END seconds.
M.GRAPH_END = 3153600000

return M
