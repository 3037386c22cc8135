--- load_hwloc.lua - machines from hwloc XML. Quirk: weir's own reader normalizes the objects of hwloc (memory in NUMA
-- nodes, each GPU once, cores numbered across the node). resource-query makes a vertex of each object, at the depth
-- and with the number of the object.

local core = require "weir.core"
local quirks = require "weir.query.quirks"
local tables = require "weir.tables"

local M = {}

-- Device types of hwloc.
local BLOCK, GPU, COPROCESSOR = 0, 1, 5

-- ---- pools --------------------------------------------------------------------------------------------------

-- By the type of an object: a function that returns the pool of the object, {type, basename, name, id, size,
-- properties}, or nil if the object is not a resource.
local POOL = {}

function POOL.Machine(o)
  local host = o.infos.HostName
  if not host then return nil end
  local stem, digits = host:match "^(.-)(%d*)$"
  local id = math.tointeger(tonumber(digits))
  return { type = "node", basename = id and stem ~= "" and stem or host, name = host, id = id or -1 }
end

for object, type in pairs { Group = "group", NUMANode = "numanode", Package = "socket", Core = "core", PU = "pu" } do
  POOL[object] = function() return { type = type } end
end

for _, level in ipairs { "L1", "L2", "L3" } do
  POOL[level .. "Cache"] = function(o)
    return { type = "cache", wanted = level .. "cache", basename = level .. "cache", size = o.size // 1024 }
  end
end

-- Returns the number that a driver gives a GPU. Several objects can describe a single GPU.
local function gpu(o)
  local name = o.name or ""
  local digits = name:match "^cuda(%d+)" or name:match "^rsmi(%d+)" or name:match "^opencl[^d]*d(%d+)"
  return { type = "gpu", id = math.tointeger(tonumber(digits)) }
end

-- Returns the pool of a disk, sized in GB; nil if the size is unknown.
local function storage(o)
  local kilobytes = math.tointeger(tonumber((o.infos.Size or ""):match "^%s*(%d+)"))
  if not kilobytes or kilobytes == 0 then return nil end
  return { type = "storage", size = kilobytes // 1000000, properties = { LinuxDeviceID = o.infos.LinuxDeviceID or "-1" } }
end

function POOL.OSDev(o)
  if o.device == COPROCESSOR or o.device == GPU and (o.name or ""):match "^rsmi" then return gpu(o) end
  return o.device == BLOCK and storage(o) or nil
end

-- ---- the tree -----------------------------------------------------------------------------------------------

-- Returns a test of types from a list like "node,socket,core"; an empty list allows all types.
local function allowing(list)
  local set = tables.set(tables.collect(list:gmatch "[^,]+"))
  return function(type) return next(set) == nil or set[type] == true end
end

local Build = {}
Build.__index = Build

function Build:add(parent, pool, index)
  pool.basename, pool.id = pool.basename or pool.type, pool.id or index
  pool.name = pool.name or pool.basename .. (pool.id == -1 and "" or pool.id)
  if pool.type == "node" then
    pool.rank = self.rank
    self.rank = self.rank + 1
  end
  pool.wanted = nil
  local v = assert(self.graph:add(parent, pool))
  self.number[v] = self.count
  self.count = self.count + 1
  return v
end

function Build:walk(o, parent)
  local describe = POOL[o.type]
  local pool = describe and describe(o)
  local v = parent
  if pool and self.allowed(pool.wanted or pool.type) then v = self:add(parent, pool, o.index) end
  for _, child in ipairs(o.children) do self:walk(child, v) end
end

--- Reads hwloc XML; see load.lua for parameters and results. options.allowlist: the types to read, separated by
--- commas.
function M.read(text, options)
  local top, why = core.document(text, { format = "hwloc", source = options.source })
  if not top then return nil, why end
  local build = setmetatable({
    graph = core.new(), number = {}, count = 0, rank = 0, allowed = allowing(options.allowlist or ""),
  }, Build)
  build.graph:begin()
  build:walk(top, build:add(nil, { type = "cluster" }, 0))
  local done
  done, why = build.graph:finish()
  if not done then return nil, why end
  return build.graph, function() return { number = build.number, rank = quirks.rank_of_nodes } end
end

return M
