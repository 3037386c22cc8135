--- filters.lua - what -p asks to be counted where: "ALL:core,rack:node". weir counts all types everywhere, and prunes by that;
-- here it only decides what `find agfilter=true` tells.

local M = {}
M.__index = M

local DEFAULT = "ALL:core,ALL:node"
local ANY = "ALL"

--- The filters of a text; nil: malformed.
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

--- The types that a vertex of a type counts, in the order of their names. Quirk: clusters count the types of leaves too.
function M:types(type, leaf_types)
  local set, list = {}, {}
  for kind in pairs(self.of[type] or {}) do set[kind] = true end
  for kind in pairs(self.of[ANY] or {}) do set[kind] = kind ~= type or nil end
  if type == "cluster" then
    for kind in pairs(leaf_types) do set[kind] = true end
  end
  for kind in pairs(set) do list[#list + 1] = kind end
  table.sort(list)
  return list
end

return M
