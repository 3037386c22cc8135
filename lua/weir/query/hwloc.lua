--- hwloc.lua - machines from hwloc XML: each object of a type that is wanted is a vertex below the nearest that is.

local core = require "weir.core"
local errno = require "weir.query.errno"
local hosts = require "weir.query.hosts"

local M = {}

local SUBSYSTEM = "containment"
-- What devices are, by number.
local BLOCK, GPU, COPROCESSOR = 0, 1, 5

-- ---- objects ------------------------------------------------------------------------------------------------

-- Each: {type, basename, name, id, size, properties} of an object, or nil; or false and why.
local OBJECTS = {}

function OBJECTS.Machine(o, wanted)
  local host = o.infos.HostName
  if not host or not wanted "node" then return nil end
  local basename, id = hosts.split(host)
  if not basename then return false, ("Error converting node id for %s; "):format(host) end
  return { type = "node", basename = basename, name = host, id = id }
end

local function plain(kind)
  return function(_, wanted) return wanted(kind) and { type = kind, basename = kind } or nil end
end

OBJECTS.Group, OBJECTS.NUMANode, OBJECTS.Package = plain "group", plain "numanode", plain "socket"
OBJECTS.Core, OBJECTS.PU = plain "core", plain "pu"

local function cache(level)
  local basename = level .. "cache"
  return function(o, wanted)
    return wanted(basename) and { type = "cache", basename = basename, size = o.size // 1024 } or nil
  end
end

OBJECTS.L1Cache, OBJECTS.L2Cache, OBJECTS.L3Cache = cache "L1", cache "L2", cache "L3"

-- The number that the driver of a GPU gives it.
local function gpu_id(o)
  local digits = o.name:match "^cuda(%d+)" or o.name:match "^rsmi(%d+)" or o.name:match "^opencl[^d]*d(%d+)"
  return digits and math.tointeger(tonumber(digits)) or o.index
end

local function storage(o)
  local size = tonumber((o.infos.Size or ""):match "^%s*(%d+)" or nil)
  if not o.infos.Size then return false, "Error getting the size of block storage device; " end
  if not size or size == 0 then return false, "Error parsing the size of block storage device; " end
  return { type = "storage", basename = "storage", size = math.tointeger(size) // 1000000,
    properties = { LinuxDeviceID = o.infos.LinuxDeviceID or "-1" } }
end

function OBJECTS.OSDev(o, wanted)
  local name = o.name or ""
  if o.device == COPROCESSOR or (o.device == GPU and name:sub(1, 4) == "rsmi") then
    return wanted "gpu" and { type = "gpu", basename = "gpu", id = gpu_id(o) } or nil
  end
  if o.device == BLOCK and wanted "storage" then return storage(o) end
end

-- ---- the walk -----------------------------------------------------------------------------------------------

local function rank_of(grow, kind)
  if kind ~= "node" then return -1 end
  grow.rank = grow.rank + 1
  return grow.rank - 1
end

local function add(grow, parent, fields, index)
  fields.id = fields.id or index
  fields.name = fields.name or fields.basename .. (fields.id == -1 and "" or fields.id)
  fields.size, fields.unit, fields.rank = fields.size or 1, "", rank_of(grow, fields.type)
  fields.paths = { [SUBSYSTEM] = (parent and parent.paths[SUBSYSTEM] or "") .. "/" .. fields.name }
  local v = grow.graph:add(fields)
  grow.graph:register(v)
  if parent then grow.graph:connect(parent, v, SUBSYSTEM) end
  return v
end

local function walk(grow, o, parent)
  local make = OBJECTS[o.type]
  local fields, why = nil, nil
  if make then fields, why = make(o, grow.wanted) end
  if fields == false then return nil, why end
  local v = fields and add(grow, parent, fields, o.index) or parent
  for _, child in ipairs(o.children) do
    local ok
    ok, why = walk(grow, child, v)
    if not ok then return nil, why end
  end
  return true
end

-- "cluster,node,core" as a test of types; an empty list lets all in.
local function allowlist(text)
  local set, any = {}, false
  for word in text:gmatch "[^,]+" do set[word], any = true, true end
  return function(kind) return not any or set[kind] == true end
end

--- Makes the graph of a machine; true, or nil and why. `allowed`: the types that are wanted, between commas.
function M.load(graph, text, allowed)
  local top, why = core.document(text, { format = "hwloc", source = "XML" })
  if not top then
    errno.code = "EINVAL"
    return nil, "Error hwloc load: rank -1; ", why
  end
  local grow = { graph = graph, wanted = allowlist(allowed or ""), rank = 0 }
  local root = add(grow, nil, { type = "cluster", basename = "cluster", id = 0 })
  graph:set_root(SUBSYSTEM, root)
  return walk(grow, top, root)
end

return M
