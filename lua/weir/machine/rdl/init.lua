--- machine/rdl/init.lua - machines in RDL, the resource description language that preceded JGF.
--
--   uses "Node"
--   Hierarchy "default" {
--     Resource{ "cluster", name = "cab", children = {
--       ListOf{ Node, ids = "1-1232", args = { basename = "cab", sockets = {"0-7", "8-15"} } } } } }
--
-- An RDL file is Lua and runs in a sandbox (see weir.rdl.language for the statements). A type such as Node is a small
-- Lua file. Types are looked for in the directories of opts.types, in "types" next to the RDL file, next to the RDL
-- file, and among the types bundled with weir.
--
-- Hierarchy "default" is containment; every further hierarchy becomes a subsystem. Resources of a subsystem often
-- denote pools of "default". A resource denotes an existing pool when the uuids are equal; or when type and name are
-- equal and unique; or when the parent denotes an existing pool with a child of equal type and name. Where the sizes
-- differ, as in Hierarchy "power" {... Node{..., size = 10} ...}, the pool keeps the size and gets the property
-- "power.size".

local chunk = require "weir.machine.sandboxed_file"
local failure = require "weir.failure"
local files = require "weir.files"

local M = {}

local function fail(path, why, code) failure.raise(path .. ": " .. tostring(why), code) end

-- ---- types ----------------------------------------------------------------------------------------------------

local function directories(name, types)
  local dirs = type(types) == "table" and table.move(types, 1, #types, 1, {}) or { types }
  local beside = name:match "^(.*)/[^/]*$" or "."
  dirs[#dirs + 1], dirs[#dirs + 2] = beside .. "/types", beside
  return dirs
end

-- Returns the function by which `uses` loads a type: name -> text, path.
local function finder(name, types)
  local dirs = directories(name, types)
  return function(wanted)
    for _, dir in ipairs(dirs) do
      local path = ("%s/%s.lua"):format(dir, wanted)
      if files.exists(path) then
        local text, why = files.read(path, "script")
        return text, text and path or why
      end
    end
    local path = package.searchpath("weir.machine.rdl.types." .. wanted, package.path)
    if path then return assert(files.read(path, "script")), path end
    return nil, ('uses "%s": there is no %s.lua in %s, and none comes with weir'):format(wanted, wanted,
      table.concat(dirs, ", "))
  end
end

-- ---- building -------------------------------------------------------------------------------------------------

local function pool_of(resource, rank)
  return {
    type = resource.type, basename = resource.basename, name = resource.name, id = resource.id, size = resource.size,
    unit = resource.unit, uuid = resource.uuid, exclusive = resource.exclusive, rank = rank,
    properties = resource.properties, tags = resource.tags,
  }
end

local function name_of(resource)
  return resource.name or tostring(resource.basename) .. tostring(resource.id or "")
end

-- Adds a pool. A type may put values of any kind into a resource, so an error raised by the core is reported as an
-- error of the file.
local function add(build, path, parent, resource, rank)
  local ok, v, why, code = pcall(build.graph.add, build.graph, parent, pool_of(resource, rank))
  if not ok then fail(path, (tostring(v):gsub("^[^:]*:%d+: ", ""))) end
  if not v then fail(path, why, code) end
  build.vertices[resource] = v
  return v
end

local function key_of(resource) return resource.type .. "\0" .. name_of(resource) end

-- Enters a resource into the tables by uuid and by type and name. false marks a type and name of several resources.
local function remember(build, resource, v)
  local key = key_of(resource)
  build.named[key] = build.named[key] == nil and v
  if resource.uuid then build.identified[resource.uuid] = v end
end

local function grow(build, path, parent, resource)
  local here = path .. "/" .. name_of(resource)
  if build.vertices[resource] then fail(here, "is in the hierarchy already") end
  local rank = resource.type == "node" and build.ranks or nil
  build.ranks = build.ranks + (rank and 1 or 0)
  local v = add(build, here, parent, resource, rank)
  remember(build, resource, v)
  for _, child in ipairs(resource) do grow(build, here, v, child) end
end

local function child_like(v, resource)
  for child in v:children() do
    if child.type == resource.type and child.name == name_of(resource) then return child end
  end
end

-- The pool of containment denoted by a resource of a subsystem, or nil. `within`: the pool denoted by the parent.
local function same_pool(build, resource, within)
  if resource.uuid then return build.identified[resource.uuid] end
  local v = build.named[key_of(resource)]
  if v and (not within or v:within(within)) then return v end
  return within and child_like(within, resource)
end

-- Adds properties, tags and a differing size from a subsystem to a pool of containment.
local function enrich(v, resource, subsystem)
  for map, entries in pairs { properties = resource.properties or {}, tags = resource.tags or {} } do
    for key, value in pairs(entries) do
      if v[map][key] == nil then v[map][key] = value end
    end
  end
  if resource.size ~= v.size then v.properties[subsystem .. ".size"] = resource.size end
end

local function join(build, path, parent, v, subsystem)
  local edges = build.edges[subsystem]
  edges[parent] = edges[parent] or {}
  if edges[parent][v] then return end
  edges[parent][v] = true
  local ok, why, code = build.graph:add_edge(parent, v, { subsystem = subsystem, type = "contains", back = "in" })
  if not ok then fail(path, why, code) end
end

local function link(build, path, parent, resource, subsystem, within)
  local here = path .. "/" .. name_of(resource)
  local v = build.vertices[resource]
  local same = v or same_pool(build, resource, within)
  if same and not v then enrich(same, resource, subsystem) end
  v = same or add(build, here, nil, resource)
  build.vertices[resource] = v
  if parent then join(build, here, parent, v, subsystem) end
  if build.linked[subsystem][resource] then return end
  build.linked[subsystem][resource] = true
  for _, child in ipairs(resource) do link(build, here, v, child, subsystem, same or within) end
end

-- Adds the resources of a Hierarchy statement to the graph.
local function grow_block(build, block)
  local name, parent = block.hierarchy, block.under and build.vertices[block.under]
  local path = parent and parent.path or ""
  if name == "containment" then
    for _, resource in ipairs(block) do grow(build, path, parent, resource) end
    return
  end
  build.edges[name], build.linked[name] = build.edges[name] or {}, build.linked[name] or {}
  local within = parent and parent:parent() and parent
  for _, resource in ipairs(block) do link(build, name .. ":" .. path, parent, resource, name, within) end
end

local function grow_blocks(build, blocks)
  for _, block in ipairs(blocks) do
    if block.hierarchy == "containment" then grow_block(build, block) end
  end
  for _, block in ipairs(blocks) do
    if block.hierarchy ~= "containment" then grow_block(build, block) end
  end
end

local function build_graph(blocks)
  return chunk.build(function(graph)
    grow_blocks({ graph = graph, ranks = 0, vertices = {}, named = {}, identified = {}, edges = {}, linked = {} }, blocks)
  end)
end

-- ---- reading --------------------------------------------------------------------------------------------------

local function language()
  return assert(files.read(assert(package.searchpath("weir.machine.rdl.language", package.path)), "script"))
end

--- Builds a graph from an RDL text. `name` is the name of the text in errors, and the path near which types are looked
--- for; opts.types: a directory or a list of directories with types; budgets, see sandboxed_file.lua. Returns the
--- graph; or nil, message, code.
function M.parse(text, name, opts)
  name = name or "<rdl>"
  local how = chunk.budgets(opts)
  how.prelude, how.source = language(), finder(name, opts and opts.types)
  local blocks, why, code = chunk.run(text, name, how)
  if not blocks then return nil, why, code end
  local graph
  graph, why, code = failure.caught("invalid", build_graph, blocks)
  if graph then return graph end
  return nil, name .. ": " .. why, code
end

return M
