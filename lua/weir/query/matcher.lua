--- matcher.lua - what a session matches with: subsystems (the first is the dominant one), which types are counted below
-- which (prune filters), and which types are always given whole.

local M = {}
M.__index = M

local SETS = {
  CA = { "containment" }, IBA = { "ibnet" }, IBBA = { "ibnetbw" }, PA = { "power" }, PFS1BA = { "pfs1bw" },
  ["C+IBA"] = { "containment", "ibnet" }, ["C+IBBA"] = { "containment", "ibnetbw" },
  ["C+PA"] = { "containment", "power" }, ["C+PFS1BA"] = { "containment", "pfs1bw" },
  ["IB+IBBA"] = { "ibnet", "ibnetbw" }, ["C+P+IBA"] = { "containment", "power", "ibnet" },
  ["V+PFS1BA"] = { "virtual1", "pfs1bw" }, VA = { "virtual1" },
  ALL = { "containment", "ibnet", "ibnetbw", "pfs1bw", "power" },
}

--- The subsystems of a set, by its name in capitals or in small letters; nil: there is no such set.
function M.subsystems(name)
  if SETS[name] then return SETS[name] end
  for known, list in pairs(SETS) do
    if known:lower() == name then return list end
  end
end

-- The types that all vertices count.
local ANY = "ALL"

function M.new(subsystems, store)
  return setmetatable({
    subsystems = subsystems, dominant = subsystems[1], types = store.types,
    anchors = {}, pruning = {}, -- by subsystem: the types that an anchor counts; all of them
    exclusive = {},
  }, M)
end

local function of(t, key)
  t[key] = t[key] or {}
  return t[key]
end

--- Counts units of a type below vertices of type `anchor`.
function M:track(subsystem, anchor, kind)
  local anchors = of(self.anchors, subsystem)
  self.types:add(kind)
  if anchor == ANY then
    for _, kinds in pairs(anchors) do kinds[kind] = nil end
    of(anchors, ANY)[kind] = true
  elseif not (anchors[ANY] and anchors[ANY][kind]) then
    of(anchors, anchor)[kind] = true
  end
  of(self.pruning, subsystem)[kind] = true
end

--- Reads "ALL:core,rack:node"; false: malformed.
function M:track_spec(spec)
  for pair in (spec .. ","):gmatch "([^,]*)," do
    local anchor, kind = pair:gsub("%s", ""):match "^([^:]+):(.+)$"
    if not anchor then return false end
    self:track(self.dominant, anchor, kind)
  end
  return true
end

function M:is_tracked(subsystem, kind)
  return self.pruning[subsystem] and self.pruning[subsystem][kind] or false
end

--- The types that a vertex of a type counts, in their order.
function M:tracked_by(subsystem, anchor)
  local anchors = self.anchors[subsystem]
  if not anchors then return {} end
  local list = self.types:sorted(anchors[anchor] or {})
  for _, kind in ipairs(self.types:sorted(anchors[ANY] or {})) do
    if kind ~= anchor then list[#list + 1] = kind end
  end
  return list
end

return M
