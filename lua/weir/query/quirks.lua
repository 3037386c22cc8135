--- quirks.lua - what resource-query does and nobody would want elsewhere: each of these has a name, and is used where its
-- output or its reading of files must be the same. How the engine reads requests for them, the options of a match say:
-- enum weir_reading in weir.h.

local core = require "weir.core"

local M = {}

--- Quirk: only nodes have a rank; weir gives it to all that is in them.
function M.has_rank(v) return v.type == "node" end

--- The rank that is shown of a vertex of a recipe or of hwloc.
function M.rank_of_nodes(v) return v.type == "node" and v.rank or -1 end

--- Quirk: a machine may be what was written for an allocation; "exclusive" then says nothing about the pools. Units are not
-- read. And a vertex without an id has the number at the end of its name when it is a node, else the number of the vertex.
function M.jgf_metadata(node, metadata)
  metadata.exclusive, metadata.unit = nil, nil
  if metadata.id ~= nil then return end
  local digits = metadata.type == "node" and type(metadata.name) == "string" and metadata.name:match "%d+$"
  metadata.id = math.tointeger(tonumber(digits or metadata.uniq_id or tostring(node.id):match "^%s*([+-]?%d+)"))
end

--- Quirk: what a document says of a vertex that is there already does not matter.
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

--- Quirk: nothing is no text, but an error where it would be an R_lite.
function M.text_of_nothing(format)
  if format == "rlite" then return nil, "EINVAL" end
  return ""
end

--- Quirk: numbers of jobs go on after each try, but not where the jobspec could not be read or the output not be written.
function M.uses_number(found, text, code)
  return text ~= nil and (found ~= nil or code == "busy" or code == "infeasible")
end

--- Quirk: the number at the end of a host's name must fit, though nothing is done with it.
function M.host_fits(name)
  local digits = name:match "0*(%d*)$"
  return #digits < 19 or #digits == 19 and digits <= tostring(math.maxinteger)
end

--- Quirk: what follows the digits of a number is not looked at, and what is none is 0.
function M.integer(word) return math.tointeger(tonumber(word:match "^%s*([+-]?%d+)")) or 0 end

local TYPES = {
  cluster = true, core = true, socket = true, gpu = true, node = true, rack = true, slot = true, xor_slot = true, ssd = true,
  storage_node = true,
}

--- Quirk: a type that the machine does not have is a fault of the jobspec, but for some that are always known. What is wrong.
function M.unknown_type(machine, types)
  for type in pairs(types) do
    if not TYPES[type] and not machine:has_type(type) then
      return 'Value of "type" must be a resource type known to fluxion'
    end
  end
end

--- Quirk: jobs last whole seconds. The text of a jobspec that says so.
function M.in_whole_seconds(text)
  local request = core.request(text)
  local duration = request and request:duration()
  if not duration or duration == math.huge or duration == math.ceil(duration) then return text end
  local jobspec = core.json_decode(request:format "json")
  jobspec.attributes.system.duration = math.ceil(duration)
  return core.json_encode(jobspec)
end

--- Quirk: jobs without an end, and the graph itself, last this many seconds.
M.GRAPH_END = 3153600000

return M
