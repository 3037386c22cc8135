--- write_r.lua - the writers "rlite", "rv1", "rv1_nosched" and "rv1_shorthand": R (RFC 20) in the layout of resource-query.
--
-- Cores and gpus are collected until the node that they are in comes; nodes with the same children share a row.

local core = require "weir.core"
local errno = require "weir.query.errno"
local idset = require "weir.query.idset"
local jgf = require "weir.query.write_jgf"

local M = {}
M.__index = M

local CHILDREN = { "core", "gpu" }
local HOLDERS = { node = true, storage_node = true }

--- kind: "rlite", "rv1", "rv1_nosched", "rv1_shorthand".
function M.new(kind)
  local self = setmetatable({ kind = kind, start = 0, stop = 0, attributes = {} }, M)
  if kind == "rv1" or kind == "rv1_shorthand" then self.jgf = jgf.new(kind == "rv1_shorthand") end
  self:clear()
  self.pending = { core = {}, gpu = {} }
  return self
end

function M:clear() self.rows, self.properties = {}, {} end

function M:attach(graph)
  if self.jgf then self.jgf:attach(graph) end
  return self
end

-- {"core": "0-3", ...} of what was collected, which is then forgotten; nil: an id is negative.
local function take_children(self)
  local parts = {}
  for _, kind in ipairs(CHILDREN) do
    local ids = self.pending[kind]
    if #ids > 0 then
      table.sort(ids)
      local text = idset.encode(ids)
      if not text then return nil end
      parts[#parts + 1] = ('"%s": "%s"'):format(kind, text)
      self.pending[kind] = {}
    end
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function list_in(t, key)
  t[key] = t[key] or {}
  return t[key]
end

local function add_node(self, v)
  if #self.pending.core + #self.pending.gpu == 0 then return true end
  local children = take_children(self)
  if not children then return false end
  table.insert(list_in(self.rows, children), { rank = v.rank, host = v.name })
  for key, value in pairs(v.properties) do
    table.insert(list_in(self.properties, value == "" and key or key .. "=" .. value), v.rank)
  end
  return true
end

function M:vertex(prefix, v, needs, exclusive, exclusive_parent, usage)
  local ok = true
  if self.pending[v.type] then
    table.insert(self.pending[v.type], v.id)
  elseif HOLDERS[v.type] then
    ok = add_node(self, v)
  end
  if ok and self.jgf then self.jgf:vertex(prefix, v, needs, exclusive, exclusive_parent, usage) end
end

function M:edge(prefix, edge, exclusive_parent)
  if self.jgf then self.jgf:edge(prefix, edge, exclusive_parent) end
end

function M:times(start, stop) self.start, self.stop = start, stop end

function M:attribute(key, value) self.attributes[key] = value end

-- ---- text ---------------------------------------------------------------------------------------------------

local function by_rank(a, b) return a.rank < b.rank end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function ranks_of(list)
  local ranks = {}
  for i, node in ipairs(list) do ranks[i] = node.rank end
  return idset.encode(ranks)
end

-- The rows of R_lite, and all nodes; nil: a rank is negative.
local function rows_text(self)
  local rows, nodes = {}, {}
  for _, children in ipairs(sorted_keys(self.rows)) do
    local list = self.rows[children]
    table.sort(list, by_rank)
    local ranks = ranks_of(list)
    if not ranks then
      errno.code = "EINVAL"
      return nil
    end
    rows[#rows + 1] = ('{"rank": "%s", "children": %s}'):format(ranks, children)
    table.move(list, 1, #list, #nodes + 1, nodes)
  end
  return "[" .. table.concat(rows, ", ") .. "]", nodes
end

local function nodelist_text(nodes)
  local names = {}
  table.sort(nodes, by_rank)
  for i, node in ipairs(nodes) do names[i] = node.host end
  return "[" .. jgf.quote(tostring(core.hostlist(names) or "")) .. "]"
end

local function properties_text(self)
  local parts = {}
  for i, key in ipairs(sorted_keys(self.properties)) do
    table.sort(self.properties[key])
    parts[i] = jgf.quote(key) .. ": " .. jgf.quote(idset.encode(self.properties[key]) or "")
  end
  return #parts > 0 and '"properties": {' .. table.concat(parts, ", ") .. "}, " or ""
end

local function attributes_text(self)
  if next(self.attributes) == nil then return "" end
  return ', "attributes": {"system": {"scheduler": ' .. jgf.map(self.attributes) .. "}}"
end

local function execution_text(self, rows, nodes)
  return ('{"R_lite": %s, "nodelist": %s, %s"starttime": %d, "expiration": %d}'):format(
    rows, nodelist_text(nodes), properties_text(self), self.start, self.stop)
end

local function r_text(self, rows, nodes)
  local execution = execution_text(self, rows, nodes)
  self:clear()
  if not self.jgf then return ('{"version": 1, "execution": %s}'):format(execution) end
  local graph = self.jgf:graph()
  if not graph then return nil end
  return ('{"version": 1, "execution": %s, "scheduling": %s%s}'):format(execution, graph, attributes_text(self))
end

local function nothing(self)
  return next(self.rows) == nil or (self.jgf ~= nil and self.jgf:empty())
end

--- With a line end; "" when there is nothing; nil: errno.code says why.
function M:text()
  if nothing(self) then
    if self.kind ~= "rlite" then return "" end
    errno.code = "EINVAL"
    return nil
  end
  local rows, nodes = rows_text(self)
  if not rows then return nil end
  if self.kind == "rlite" then
    self:clear()
    return rows .. "\n"
  end
  local text = r_text(self, rows, nodes)
  return text and text .. "\n"
end

M.found = M.text

return M
