--- write_r.lua - the formats "rlite", "rv1", "rv1_nosched" and "rv1_shorthand": R (RFC 20) in the layout of
-- resource-query. Ranks with equal cores and gpus share a row; rows are sorted by text.

local core = require "weir.core"
local failure = require "weir.failure"
local flux_hostlist = require "weir.flux.hostlist"
local jgf = require "weir.query.write_jgf"
local quirks = require "weir.query.quirks"
local tables = require "weir.tables"
local tree = require "weir.query.tree"

local M = {}

local quote = core.json_encode
local CHILDREN = { "core", "gpu" }

local function idset(ids)
  table.sort(ids)
  if ids[1] < 0 then failure.fail "EINVAL" end
  return tostring(core.idset(ids))
end

-- Returns {"core": "0-3", ...} of the collected ids.
local function children_text(found)
  local parts = {}
  for _, kind in ipairs(CHILDREN) do
    if found[kind] then parts[#parts + 1] = ('"%s": "%s"'):format(kind, idset(found[kind])) end
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function add_host(machine, r, v, found)
  local rank = machine.rank(v)
  tables.push(r.rows, children_text(found), { rank = rank, name = v.name })
  for key, value in pairs(machine:properties(v)) do
    tables.push(r.properties, value == "" and key or key .. "=" .. value, rank)
  end
end

-- Returns the rows and properties of a tree. Quirk: cores outside any node count for the next node in the tree.
local function collect(machine, root)
  local r, found = { rows = {}, properties = {} }, {}
  tree.visit(root, function(n)
    local v = n.vertex
    if v.type == "core" or v.type == "gpu" then
      tables.push(found, v.type, v.id or -1)
    elseif quirks.is_host(v) and next(found) then
      add_host(machine, r, v, found)
      found = {}
    end
  end, function() end)
  return r
end

local function rows_text(r)
  local rows, hosts = {}, {}
  for _, children in ipairs(tables.keys(r.rows)) do
    local ranks = tables.column(r.rows[children], "rank")
    tables.append(hosts, r.rows[children])
    rows[#rows + 1] = ('{"rank": "%s", "children": %s}'):format(idset(ranks), children)
  end
  tables.sort(hosts, "rank")
  return "[" .. table.concat(rows, ", ") .. "]", hosts
end

local function nodelist_text(hosts)
  local names = tables.column(hosts, "name")
  return "[" .. quote(flux_hostlist.write(tostring(core.hostlist(names) or ""))) .. "]"
end

local function properties_text(r)
  local parts = tables.map(tables.keys(r.properties), function(key) return quote(key) .. ": " .. quote(idset(r.properties[key])) end)
  return #parts > 0 and '"properties": {' .. table.concat(parts, ", ") .. "}, " or ""
end

local function execution_text(r, rows, hosts, about)
  return ('{"R_lite": %s, "nodelist": %s, %s"starttime": %d, "expiration": %d}'):format(
    rows, nodelist_text(hosts), properties_text(r), about.start, about.stop)
end

local function attributes_text(about)
  return about.queue and ', "attributes": {"system": {"scheduler": ' .. jgf.map { queue = about.queue } .. "}}" or ""
end

local function scheduling_text(machine, root, about, shorthand)
  local graph, why = jgf.graph(machine, root, shorthand)
  if not graph then failure.raise(why) end
  return ', "scheduling": ' .. graph .. attributes_text(about)
end

local function write(kind, machine, root, about)
  local r = collect(machine, root)
  if next(r.rows) == nil then
    if kind == "rlite" then failure.fail "EINVAL" end
    return ""
  end
  local rows, hosts = rows_text(r)
  if kind == "rlite" then return rows .. "\n" end
  local scheduling = kind == "rv1_nosched" and "" or scheduling_text(machine, root, about, kind == "rv1_shorthand")
  return ('{"version": 1, "execution": %s%s}\n'):format(execution_text(r, rows, hosts, about), scheduling)
end

for _, kind in ipairs { "rlite", "rv1", "rv1_nosched", "rv1_shorthand" } do
  M[kind] = function(machine, root, about)
    return failure.caught(nil, write, kind, machine, root, about)
  end
end

return M
