--- jgf_vertex.lua - one vertex of a JSON graph: what a document says of it, with what follows from the rest, and the
-- comparison with a vertex that is there.

local core = require "weir.core"
local errno = require "weir.query.errno"
local values = require "weir.query.values"

local M = {}

local function integer(x) return math.type(x) == "integer" end
local function text(x) return type(x) == "string" end

-- What metadata may hold, and what it must.
local KINDS = {
  type = text, basename = text, name = text, unit = text, id = integer, uniq_id = integer, rank = integer,
  status = integer, size = integer, exclusive = function(x) return type(x) == "boolean" end,
}

local function fail(why, ...)
  errno.code = "EINVAL"
  return nil, why:format(...)
end

local function well_formed(m)
  for key, is in pairs(KINDS) do
    if m[key] ~= nil and not is(m[key]) then return false end
  end
  return m.type ~= nil and m.paths ~= nil
end

local function strings(map)
  local copy = {}
  for key, value in pairs(values.is_map(map) and map or {}) do copy[key] = text(value) and value or "" end
  return copy
end

-- The id: given; of a node the number at the end of its name; or that of the vertex.
local function id_of(m, uniq_id)
  if m.id then return m.id end
  local digits = m.type == "node" and m.name and m.name:match "%d+$"
  return digits and math.tointeger(tonumber(digits)) or uniq_id
end

local function describe(key, m)
  local uniq_id = m.uniq_id or math.tointeger(tonumber(key:match "^%s*([+-]?%d+)" or ""))
  if not uniq_id then
    return fail("apply_defaults: value for key (uniq_id) could not be inferred from outer 'id' field %s.\n", key)
  end
  local basename, id = m.basename or m.type, id_of(m, uniq_id)
  return {
    key = key, type = m.type, basename = basename, name = m.name or basename .. id, id = id, uniq_id = uniq_id,
    rank = m.rank or -1, size = m.size or 1, unit = m.unit or "", down = m.status == 1, exclusive = m.exclusive or false,
    paths = strings(m.paths), properties = strings(m.properties),
  }
end

--- {key, type, basename, name, id, uniq_id, rank, size, unit, down, exclusive, paths, properties}; or nil and why.
function M.read(element)
  local key = values.is_map(element) and element.id
  if not text(key) then return fail "fill_fetcher: JGF vertex id key is not found in a node.\n" end
  local m = element.metadata
  if m == nil then
    return fail("fill_fetcher: key (metadata) is not found in an JGF node for %s.\n", key)
  end
  if not values.is_map(m) or not well_formed(m) then
    return fail("fill_fetcher: malformed metadata in an JGF node for %s\n", key)
  end
  if m.properties ~= nil and m.properties ~= core.null and not values.is_map(m.properties) then
    return fail("fill_fetcher: key (properties) must be an object or null for %s.\n", key)
  end
  return describe(key, m)
end

--- The same of a vertex that is there, all of it exclusive.
function M.of(v)
  return {
    key = tostring(v.uniq_id), type = v.type, basename = v.basename, name = v.name, id = v.id, uniq_id = v.uniq_id,
    rank = v.rank, size = v.size, unit = v.unit, down = v.down, exclusive = true, paths = v.paths,
    properties = v.properties,
  }
end

-- ---- comparing ----------------------------------------------------------------------------------------------

local function same_map(a, b)
  for key, value in pairs(a) do
    if b[key] ~= value then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

--- Whether v is what f says. Properties may have changed since.
function M.same(v, f)
  return v.type == f.type and v.basename == f.basename and v.size == f.size and v.rank == f.rank and v.id == f.id
    and v.name == f.name and same_map(v.paths, f.paths)
end

local function map_text(map)
  local keys, parts = {}, {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys)
  for i, key in ipairs(keys) do parts[i] = key .. "=" .. map[key] .. " " end
  return table.concat(parts)
end

--- What the difference is.
function M.difference(v, f)
  local parts = {}
  for i, key in ipairs { "type", "basename", "size", "id", "name" } do
    if v[key] ~= f[key] then parts[#parts + 1] = ("%s%s=(%s, %s)"):format(i > 1 and " " or "", key, v[key], f[key]) end
  end
  for _, key in ipairs { "properties", "paths" } do
    if not same_map(v[key], f[key]) then
      parts[#parts + 1] = (" %s=(%s, %s)"):format(key, map_text(v[key]), map_text(f[key]))
    end
  end
  return table.concat(parts)
end

return M
