--- language.lua - the statements of RDL: Resource, ListOf, Hierarchy, uses. Not a module: weir.rdl runs this file in
--- the sandbox before the RDL file, and calls the function returned at the end for the result.
---
--- Errors raised here carry no position: the sandbox puts the line of the RDL file before the message.

-- source(name): the type called `name`, as a function; limit(message): raises for a text that requests too much
local source, limit = ...

local DEPTH = 199 -- levels of a hierarchy

--- Stops with a formatted message. Also for files of types.
function fail(...) error(string.format(...), 0) end

local fail = fail

local function show(value)
  if type(value) == "string" then return ("%q"):format(#value > 40 and value:sub(1, 37) .. "..." or value) end
  return type(value) == "number" and tostring(value) or "a " .. type(value)
end

-- ---- lists of numbers -----------------------------------------------------------------------------------------

-- Splits a list at commas. Written without patterns, as patterns exhaust the sandbox's budget on a long list.
local function parts_of(list)
  local parts, at = {}, 1
  while at do
    local comma = list:find(",", at, true)
    parts[#parts + 1] = list:sub(at, (comma or 0) - 1):gsub("%s+", "")
    at = comma and comma + 1
  end
  return parts
end

local NUMBERS = 1000000 -- numbers in a range, at most: more resources would exceed the budget of the file

-- Calls f with each number of a list such as "1-3,7" or "[1-3,7]".
local function each_number(list, what, f)
  local text = type(list) == "number" and tostring(list) or list
  if type(text) ~= "string" then fail('%s: expected numbers such as "0-7", not %s', what, show(list)) end
  if text:sub(1, 1) == "[" and text:sub(-1) == "]" then text = text:sub(2, -2) end
  for _, part in ipairs(parts_of(text)) do
    local low, high = part:match "^(%d+)%-(%d+)$"
    local first = math.tointeger(tonumber(low or part:match "^%d+$"))
    local last = high and math.tointeger(tonumber(high)) or first
    if not first or last < first then fail('%s: expected numbers such as "0-7,9", not %s', what, show(list)) end
    if last - first >= NUMBERS then
      limit(("%s: %s are more numbers than the %d that one range may have"):format(what, show(part), NUMBERS))
    end
    for n = first, last do f(n) end
  end
end

-- Calls f with the number of each bit set in hexadecimal digits.
local function each_bit(digits, f)
  for at = #digits, 1, -1 do
    local digit = tonumber(digits:sub(at, at), 16)
    for bit = 0, 3 do
      if digit >> bit & 1 == 1 then f((#digits - at) * 4 + bit) end
    end
  end
end

--- Calls f with each processor of a set, "0-7,16" or "0xff". For files of types.
function each_cpu(text, f)
  local digits = type(text) == "string" and text:match "^0x(%x+)$"
  if digits then each_bit(digits, f) else each_number(text, "cpus", f) end
end

-- ---- resources ------------------------------------------------------------------------------------------------

-- The fields of a resource passed to weir.rdl; children are in the array part.
local KEPT = {
  type = true, basename = true, name = true, id = true, uuid = true, size = true, unit = true, exclusive = true,
  properties = true, tags = true,
}
local ARGUMENTS = { children = true, count = true, true, true }

--- The class of all resources.
Resource = { is_resource = true }

local function is_resource(x)
  local class = type(x) == "table" and getmetatable(x)
  return class and class.is_resource
end

local function construct(class, ...)
  local self = setmetatable({}, class)
  self:initialize(...)
  return self
end

function Resource.__tostring(self) return self.name end

function Resource.__concat(a, b) return tostring(a) .. tostring(b) end

local function make_class(class, super)
  class.__index, class.class, class.super = class, class, super
  class.__tostring, class.__concat = Resource.__tostring, Resource.__concat
  class.new = construct
  return setmetatable(class, { __index = super, __call = construct })
end

--- Makes a class: `Node = Resource:subclass "Node"`, then `function Node:initialize(args)`.
function Resource.subclass(self) return make_class({}, self) end

make_class(Resource)

--- Sets tags for every resource of a class and of subclasses.
function Resource.default_tags(self, tags) self.defaults = tags end

local function value_of(field, key, value)
  if math.type(value) == "float" and math.tointeger(value) then return math.tointeger(value) end
  if type(value) == "string" or type(value) == "number" or value == true then return value end
  fail("%s.%s: expected a text, a number or true, not %s", field, key, show(value))
end

-- Normalizes properties and tags: {"bigmem", speed = 3} -> {bigmem = true, speed = 3}; nil for an absent list.
local function entries(field, list, into)
  if list == nil then return into end
  if type(list) ~= "table" then fail("%s: expected a table such as {bigmem = true, speed = 3}, not %s", field, show(list)) end
  for key, value in pairs(list) do
    if math.type(key) == "integer" then key, value = value, true end
    if type(key) ~= "string" then fail("%s: expected a text as key, not %s", field, show(key)) end
    into = into or {}
    into[key] = value ~= false and value_of(field, key, value) or nil
  end
  return into
end

local function whole(field, value, otherwise)
  if value == nil then return otherwise end
  local n = math.type(value) == "integer" and value or math.tointeger(tonumber(value))
  if not n or n < 0 then fail("%s: expected a whole number, not %s", field, show(value)) end
  return n
end

local known = {} -- words already checked: most resources share a few

local function word(field, value)
  if known[value] then return value end
  if type(value) ~= "string" or value == "" then fail("%s: expected a text, not %s", field, show(value)) end
  if value:find("/", 1, true) then fail('%s: %s has a "/" in it', field, show(value)) end
  known[value] = true
  return value
end

-- Checks the keys given to Resource{...} directly. Types may pass on further keys.
local function check_arguments(args)
  for key in pairs(args) do
    if not KEPT[key] and not ARGUMENTS[key] then
      fail("there is no field %s in a Resource; it has type, basename, name, id, uuid, size, count, unit, exclusive, "
        .. "properties, tags, children", show(key))
    end
  end
end

local function derived_name(self) return self.id and self.basename .. self.id or self.basename end

-- ListOf returns many values, but Lua keeps only the first in the middle of a list. `lists` maps the first resource
-- to the whole list.
local lists = {}

-- Returns all resources of a nested table as a list without duplicates.
local function flatten(list)
  if is_resource(list) then list = { list } end
  if type(list) ~= "table" then fail("children: expected a list of resources, not %s", show(list)) end
  local out, seen = {}, {}
  for i = 1, #list do
    if not is_resource(list[i]) then fail("children: number %d is %s, not a Resource", i, show(list[i])) end
    for _, each in ipairs(lists[list[i]] or { list[i] }) do
      if not seen[each] then
        seen[each], out[#out + 1] = true, each
      end
    end
  end
  return out
end

--- Resource{"node", basename = "tux", id = 3, size = 1, tags = {...}, children = {...}}
function Resource:initialize(args)
  if type(args) ~= "table" then fail('expected a table, such as Resource{"node", id = 3}, not %s', show(args)) end
  if self.class == Resource then check_arguments(args) end
  local kind = args.type or args[1] or fail 'the type is missing, such as Resource{"node"}'
  self.type, self.id = word("type", kind), whole("id", args.id)
  self.basename = word("basename", args.basename or args[2] or kind)
  self.name = args.name and word("name", args.name) or derived_name(self)
  self.uuid, self.unit = args.uuid and word("uuid", args.uuid), args.unit and word("unit", args.unit)
  self.size = whole("size", args.size or args.count, 1)
  self.exclusive = args.exclusive and true or nil
  self.properties = entries("properties", args.properties)
  self.tags = entries("tags", args.tags, entries("tags", self.defaults))
  if args.children ~= nil then self:add_child(table.unpack(flatten(args.children))) end
end

--- Adds resources; returns self.
function Resource:add_child(...)
  for i = 1, select("#", ...) do
    local child = select(i, ...)
    if not is_resource(child) then fail("add_child: expected a Resource, not %s", show(child)) end
    self[#self + 1] = child
  end
  return self
end

-- A deep copy of a resource: each resource of a list gets copies of the children in `args`.
local function clone(resource)
  local copy = setmetatable({}, getmetatable(resource))
  for key, value in pairs(resource) do
    copy[key] = math.type(key) == "integer" and clone(value) or value
  end
  return copy
end

local function clones(list)
  local out = {}
  for i, child in ipairs(flatten(list)) do out[i] = clone(child) end
  return out
end

-- The arguments of a list's resource with a given id. A name in `args` becomes the basename.
local function arguments_of(args, id)
  local own = {}
  for key, value in pairs(args) do own[key] = value end
  own.id = id
  if own.name and not own.basename then own.basename, own.name = own.name, nil end
  if own.children then own.children = clones(own.children) end
  return own
end

--- ListOf{Node, ids = "1-18", args = {basename = "tux", ...}}: one resource for each id.
function ListOf(spec)
  if type(spec) ~= "table" then fail('ListOf: expected a table, such as ListOf{Node, ids = "1-18", args = {...}}') end
  local kind, ids, made = spec.type or spec[1], spec.ids or spec.hostids, {}
  if type(kind) == "string" then kind = _G[kind] or uses(kind) end
  if type(kind) ~= "table" then fail('ListOf: expected a type, such as ListOf{Node, ids = "1-18"}') end
  if not ids then fail 'ListOf: the ids are missing, such as ids = "1-18"' end
  if type(spec.args) ~= "table" then fail("ListOf: args: expected a table, not %s", show(spec.args)) end
  each_number(ids, "ListOf: ids", function(id) made[#made + 1] = kind(arguments_of(spec.args, id)) end)
  lists[made[1]] = made
  return table.unpack(made)
end

-- ---- hierarchies ----------------------------------------------------------------------------------------------

local blocks = {} -- {hierarchy = name, under = resource or nil, resources...}, in the order of the file
local roots = {}  -- hierarchy -> root resource
local added = {}  -- hierarchy -> resource -> children added by later blocks

local function canonical(name) return name == "default" and "containment" or name end

-- The children of a resource in a hierarchy.
local function children_in(hierarchy, resource)
  local more = added[hierarchy] and added[hierarchy][resource]
  if not more then return resource end
  local all = {}
  for _, child in ipairs(resource) do all[#all + 1] = child end
  for _, child in ipairs(more) do all[#all + 1] = child end
  return all
end

local function find(uri, hierarchy, path)
  local at, here = nil, ""
  for name in path:gmatch "[^/]+" do
    local found
    for _, child in ipairs(at and children_in(hierarchy, at) or { roots[hierarchy] }) do
      found = child.name == name and child or found
    end
    if not found then fail("%s: there is no %s in %s", uri, show(name), here == "" and "the hierarchy" or here) end
    at, here = found, here .. "/" .. name
  end
  return at or roots[hierarchy]
end

-- hierarchy -> resource -> parent; false for a root.
local places = {}

local function path_of(hierarchy, resource)
  local above = places[hierarchy][resource]
  return (above and path_of(hierarchy, above) or "") .. "/" .. resource.name
end

-- Refuses siblings with equal names, as paths would be ambiguous.
local function check_siblings(hierarchy, above)
  local seen, list = {}, children_in(hierarchy, above)
  if #list < 2 then return end
  for _, resource in ipairs(list) do
    if seen[resource.name] then
      fail("%s/%s: there are two of that name; give them ids, or names", path_of(hierarchy, above), resource.name)
    end
    seen[resource.name] = true
  end
end

local function check_tree(hierarchy, resource, above, depth)
  local seen = places[hierarchy][resource] ~= nil
  if depth > DEPTH then
    fail("%s...: more than %d levels (is a resource inside itself?)", path_of(hierarchy, above):sub(1, 80), DEPTH)
  end
  if seen and hierarchy == "containment" then
    fail("%s/%s: this resource is at %s already", path_of(hierarchy, above), resource.name, path_of(hierarchy, resource))
  end
  if seen then return end
  places[hierarchy][resource] = above
  check_siblings(hierarchy, resource)
  for _, child in ipairs(resource) do check_tree(hierarchy, child, resource, depth + 1) end
end

local function depth_of(hierarchy, resource)
  local depth = 0
  while resource do resource, depth = places[hierarchy][resource], depth + 1 end
  return depth
end

local function check_block(block)
  local depth = depth_of(block.hierarchy, block.under) + 1
  if block.under then check_siblings(block.hierarchy, block.under) end
  for _, resource in ipairs(block) do check_tree(block.hierarchy, resource, block.under or false, depth) end
end

local function add_root(uri, name, list)
  if roots[name] then fail('Hierarchy "%s" is there already; "%s:/PATH" adds to it', uri, uri) end
  if #list ~= 1 then fail('Hierarchy "%s": one resource is at the top, not %d', uri, #list) end
  roots[name], added[name], places[name] = list[1], {}, {}
end

-- Records resources as children of an existing resource, given by path. Returns the existing resource.
local function extend(uri, name, path, list)
  local under = roots[name] and find(uri, name, path) or fail("%s: there is no such hierarchy yet", uri)
  local more = added[name][under] or {}
  added[name][under] = table.move(list, 1, #list, #more + 1, more)
  return under
end

--- Hierarchy "default" { Resource{...} } makes a hierarchy, Hierarchy "default:/cab/cab1" { ... } adds resources
--- below a path.
function Hierarchy(uri)
  if type(uri) ~= "string" then fail('Hierarchy: expected a name, such as Hierarchy "default" { ... }') end
  if uri:find "%c" then fail("Hierarchy: a control character in its name, at byte %d", (uri:find "%c")) end
  local name, path = uri:match "^([^:/]+):(/.*)$"
  name = canonical(name or uri:match "^[^:/]+$" or fail('Hierarchy "%s": expected a name or NAME:/PATH', uri))
  return function(body)
    local list = flatten(body)
    local block = { hierarchy = name, under = path and extend(uri, name, path, list) or add_root(uri, name, list) }
    blocks[#blocks + 1] = table.move(list, 1, #list, 1, block)
    check_block(block)
  end
end

-- ---- types ----------------------------------------------------------------------------------------------------

--- uses "Node": loads a type, and makes the class global under the given name.
function uses(name)
  if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then fail('uses: expected a name, such as uses "Node"') end
  if _G[name] == nil then
    local made = source(name)()
    _G[name] = made or _G[name]
  end
  if type(_G[name]) ~= "table" then fail('uses "%s": its file defines no such type', name) end
  return _G[name]
end

unpack = table.unpack

function print() end -- a description has no output

-- ---- handing over ---------------------------------------------------------------------------------------------

-- Removes methods and all keys outside of KEPT from a resource and the resources below.
local function strip(resource, done)
  if not is_resource(resource) then fail("children: expected a Resource, not %s", show(resource)) end
  if done[resource] then return end
  done[resource] = true
  for key in pairs(resource) do
    if not KEPT[key] and math.type(key) ~= "integer" then resource[key] = nil end
  end
  if resource.name == derived_name(resource) then resource.name = nil end
  for i = 1, #resource do strip(resource[i], done) end
end

return function()
  local done = {}
  if #blocks == 0 then fail 'there is no Hierarchy in it, such as Hierarchy "default" { Resource{"cluster"} }' end
  for _, block in ipairs(blocks) do
    for _, resource in ipairs(block) do strip(resource, done) end
  end
  return blocks
end
