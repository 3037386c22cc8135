--- write_jgf.lua - the formats "jgf" and "jgf_shorthand": JSON Graph Format with resource-query's order of keys and
-- blanks. The shorthand leaves out the descendants of exclusive vertices.

local core = require "weir.core"
local tables = require "weir.tables"
local tree = require "weir.query.tree"

local M = {}

local SHORTHAND = "fluxion:jgf_shorthand"

local quote = core.json_encode

--- Returns {"key": "value", ...} with sorted keys.
function M.map(entries)
  local parts = {}
  for key, value in tables.sorted(entries) do parts[#parts + 1] = quote(key) .. ": " .. quote(value) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function paths_text(machine, v)
  local parts = tables.map(machine:paths(v), function(path) return quote(path[1]) .. ": " .. quote(path[2]) end)
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- Puts the basename and the name only if different from the defaults, type and basename with id.
local function add_names(put, v, id)
  if v.basename ~= v.type then put("basename", quote(v.basename)) end
  if v.name ~= v.basename .. id then put("name", quote(v.name)) end
end

local function metadata(machine, n)
  local v, parts = n.vertex, {}
  local id = v.id or -1
  local function put(key, text) parts[#parts + 1] = quote(key) .. ": " .. text end
  put("type", quote(v.type))
  add_names(put, v, id)
  put("id", tostring(id))
  put("rank", tostring(machine.rank(v)))
  if #v.properties > 0 then put("properties", M.map(machine:properties(v))) end
  if v.unit ~= "" then put("unit", quote(v.unit)) end
  if n.exclusive then put("exclusive", "true") end
  if n.amount ~= 1 then put("size", tostring(n.amount)) end
  put("paths", paths_text(machine, v))
  if n.label then put("ephemeral", M.map { label = n.label }) end
  if n.usage and next(n.usage) then put("agfilter", M.map(n.usage)) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function edge_text(machine, parent, child)
  local about = machine.dominant ~= "containment" and ', "metadata": {"subsystem": ' .. quote(machine.dominant) .. "}" or ""
  return ('{"source": "%d", "target": "%d"%s}'):format(machine.number[parent.vertex], machine.number[child.vertex], about)
end

--- Returns the graph without a final newline; nil and "ENOENT" if the tree is empty.
function M.graph(machine, root, shorthand)
  local nodes, edges, complete = {}, {}, true
  tree.visit(root, function(n, _, under)
    if shorthand and under then
      complete = false
    else
      nodes[#nodes + 1] = ('{"id": "%d", "metadata": %s}'):format(machine.number[n.vertex], metadata(machine, n))
    end
  end, function(parent, child)
    if not (shorthand and parent.exclusive) then edges[#edges + 1] = edge_text(machine, parent, child) end
  end)
  if #edges == 0 then return nil, "ENOENT" end
  local text = ('{"graph": {"nodes": [%s], "edges": [%s]}'):format(table.concat(nodes, ", "), table.concat(edges, ", "))
  return text .. (complete and "" or ', "writer": ' .. quote(SHORTHAND)) .. "}"
end

local function writer(shorthand)
  return function(machine, root)
    local text, why = M.graph(machine, root, shorthand)
    return text and text .. "\n", why
  end
end

M.jgf, M.jgf_shorthand = writer(false), writer(true)

return M
