--- write_jgf.lua - the writers "jgf" and "jgf_shorthand": JSON Graph Format, byte for byte with the keys in the order and
-- the blanks that resource-query has. The shorthand leaves out what is below an exclusive vertex.

local core = require "weir.core"
local errno = require "weir.query.errno"

local M = {}
M.__index = M

local SHORTHAND = "fluxion:jgf_shorthand"

function M.new(shorthand)
  return setmetatable({ nodes = {}, edges = {}, shorthand = shorthand or false, complete = true }, M)
end

local function quote(text) return core.json_encode(text) end
M.quote = quote

-- {"key": "value", ...} in the order of the keys.
local function map(entries)
  local keys, parts = {}, {}
  for key in pairs(entries) do keys[#keys + 1] = key end
  table.sort(keys)
  for i, key in ipairs(keys) do parts[i] = quote(key) .. ": " .. quote(entries[key]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end
M.map = map

-- The paths have the order of the subsystems.
local function paths(v, subsystems)
  local parts = {}
  for i, subsystem in ipairs(subsystems:sorted(v.paths)) do
    parts[i] = quote(subsystem) .. ": " .. quote(v.paths[subsystem])
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function metadata(v, needs, exclusive, usage, subsystems)
  local parts = {}
  local function put(key, text) parts[#parts + 1] = quote(key) .. ": " .. text end
  put("type", quote(v.type))
  if v.basename ~= v.type then put("basename", quote(v.basename)) end
  if v.name ~= v.basename .. v.id then put("name", quote(v.name)) end
  put("id", tostring(v.id))
  put("rank", tostring(v.rank))
  if next(v.properties) then put("properties", map(v.properties)) end
  if v.unit ~= "" then put("unit", quote(v.unit)) end
  if exclusive then put("exclusive", "true") end
  if needs ~= 1 then put("size", tostring(needs)) end
  if next(v.paths) then put("paths", paths(v, subsystems)) end
  if v.label then put("ephemeral", map { label = v.label }) end
  if usage and next(usage) then put("agfilter", map(usage)) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

--- `graph` knows the order of the subsystems.
function M:attach(graph)
  self.subsystems = graph.subsystems
  return self
end

-- Whether the shorthand leaves something out.
local function left_out(self, exclusive_parent)
  if not self.shorthand or not exclusive_parent then return false end
  self.complete = false
  return true
end

function M:vertex(_, v, needs, exclusive, exclusive_parent, usage)
  if left_out(self, exclusive_parent) then return end
  self.nodes[#self.nodes + 1] = ('{"id": "%d", "metadata": %s}'):format(
    v.uniq_id, metadata(v, needs, exclusive, usage, self.subsystems))
end

function M:edge(_, edge, exclusive_parent)
  if left_out(self, exclusive_parent) then return end
  local about = edge.subsystem ~= "containment" and ', "metadata": {"subsystem": ' .. quote(edge.subsystem) .. "}" or ""
  self.edges[#self.edges + 1] = ('{"source": "%d", "target": "%d"%s}'):format(
    edge.source.uniq_id, edge.target.uniq_id, about)
end

function M:times() return self end
function M:attribute() return self end

function M:empty() return #self.nodes == 0 and #self.edges == 0 end

--- The graph without a line end; "" when there is nothing; nil when one of vertices and edges is missing: then all stays
--- for the next time.
function M:graph()
  if self:empty() then return "" end
  if #self.nodes == 0 or #self.edges == 0 then
    errno.code = "ENOENT"
    return nil
  end
  local text = ('{"graph": {"nodes": [%s], "edges": [%s]}'):format(
    table.concat(self.nodes, ", "), table.concat(self.edges, ", "))
  self.nodes, self.edges = {}, {}
  if self.shorthand and not self.complete then text = text .. ', "writer": "' .. SHORTHAND .. '"' end
  return text .. "}"
end

function M:text()
  local text = self:graph()
  return text and text ~= "" and text .. "\n" or text
end

M.found = M.text

return M
