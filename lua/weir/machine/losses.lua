--- losses.lua - the parts of a machine that a format cannot hold.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

-- The state of a machine that each format holds. Documents and databases hold all.
local HOLDS = {
  document = { all = true }, sqlite = { all = true },
  jgf = { states = true, tags = true, data = true, subsystems = true, words = true },
  rv1 = { validity = true, words = true, states = true, tags = true, data = true, subsystems = true, names = "R" },
  rv1_nosched = { validity = true, names = "R", values = "R" }, rlite = {},
  csv = { states = true, tags = true, data = true },
  recipe = { states = true, tags = true, data = true, subsystems = true },
}

--- The formats with known losses.
M.formats = tables.keys(HOLDS)

local function plural(n, one) return ("%d %s%s"):format(n, one, n == 1 and "" or "s") end

local function has_keys(map)
  local iterate, state, first = pairs(map)
  return iterate(state, first) ~= nil
end

-- Returns the words for lost jobs of a graph.
local function jobs(g, say)
  local held, reserved = 0, 0
  for _, job in ipairs(core.engine({ resources = g }):jobs()) do
    if job.state == "reserved" then reserved = reserved + 1 else held = held + 1 end
  end
  if held > 0 then say(plural(held, "job")) end
  if reserved > 0 then say(plural(reserved, "reservation")) end
  if g:now() ~= 0 then say "the clock" end
end

-- Whether jobs may use a machine at some times only.
local function is_bounded(g)
  local from, to = g:validity()
  return from ~= nil or to ~= nil
end

local function pools(g, holds, say)
  if not holds.states then
    local n = #assert(g:find "not state=up")
    if n > 0 then say(plural(n, "state")) end
  end
  local tags, data = 0, 0
  for _, v in ipairs(not (holds.tags and holds.data) and assert(g:find "size>=0") or {}) do
    if has_keys(v.tags) then tags = tags + 1 end
    if has_keys(v.data) then data = data + 1 end
  end
  if tags > 0 and not holds.tags then say("the tags of " .. plural(tags, "vertex"):gsub("vertexs", "vertices")) end
  if data > 0 and not holds.data then say("the extended data of " .. plural(data, "vertex"):gsub("vertexs", "vertices")) end
end

local ILLEGAL = "[!&'\"^`|()]" -- in names of properties of an R (RFC 20)

-- Returns the words for lost properties: names forbidden in R, values, and properties of pools below nodes.
local function properties(g, holds, say)
  local names, values, below = {}, 0, 0
  for _, v in ipairs(assert(g:find "size>=0")) do
    local valued = false
    for key, value in pairs(v.properties) do
      if key:find(ILLEGAL) then names[key] = true end
      valued = valued or value ~= true and value ~= ""
    end
    if valued and v.type == "node" then values = values + 1 end
    if v.type ~= "node" and has_keys(v.properties) then below = below + 1 end
  end
  for _, name in ipairs(tables.keys(names)) do
    say(("the property %s%s, a name that R cannot have"):format(name, holds.values and "" or " outside of the graph"))
  end
  if holds.values and values > 0 then say("the values of the properties of " .. plural(values, "node")) end
  local others = plural(below, "vertex"):gsub("vertexs", "vertices")
  if holds.values and below > 0 then say(("the properties of %s that are no nodes"):format(others)) end
end

--- Lists the parts of a graph that are missing in a text of the format: {"2 jobs", "the subsystem power"}; nil for pictures, as no
--- reader reads a picture.
function M.of(g, format)
  local holds, list = HOLDS[format], {}
  if not holds then return nil end
  local function say(text) list[#list + 1] = text end
  local stages = #core.engine({ resources = g }):stages()
  if stages > 0 then say(plural(stages, "stage")) end
  if holds.all then return list end
  jobs(g, say)
  if not holds.validity and is_bounded(g) then say "the time of validity" end
  for _, name in ipairs(holds.subsystems and {} or g:subsystems()) do
    if name ~= "containment" then say("the subsystem " .. name) end
  end
  local edge = not holds.words and g:edges "containment"()
  if edge and (edge.type ~= "contains" or edge.back ~= "in") then
    say(("the words of containment, %s and %s"):format(edge.type, edge.back))
  end
  pools(g, holds, say)
  if holds.names then properties(g, holds, say) end
  return list
end

return M
