--- filters.lua - the pruning filters of -p, such as "ALL:core,rack:node". weir keeps aggregates of all types at every
-- vertex and always prunes by aggregates; the filters only choose the totals that `find agfilter=true` prints.

local tables = require "weir.tables"

local M = {}
M.__index = M

local DEFAULT = "ALL:core,ALL:node"
local ANY = "ALL"

--- Parses the text of -p. Returns filters, or nil if the text is malformed.
function M.read(text)
  local self = setmetatable({ of = {}, counted = {} }, M)
  for pair in ((text or DEFAULT) .. ","):gmatch "([^,]*)," do
    local anchor, kind = pair:gsub("%s", ""):match "^([^:]+):(.+)$"
    if not anchor then return nil end
    self.of[anchor] = self.of[anchor] or {}
    self.of[anchor][kind], self.counted[kind] = true, true
  end
  return self
end

--- Returns the sorted names of the types counted at vertices of a type. Quirk: clusters also count the types of leaves that
--- no filter names.
function M:types(type, leaf_types)
  local set = {}
  for kind in pairs(self.of[type] or {}) do set[kind] = true end
  for kind in pairs(self.of[ANY] or {}) do set[kind] = kind ~= type or nil end
  if type == "cluster" then
    for kind in pairs(leaf_types) do set[kind] = set[kind] or not self.counted[kind] or nil end
  end
  return tables.keys(set)
end

return M
