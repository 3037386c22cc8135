--- losses.lua - what of a machine a format cannot hold.

local core = require "weir.core"

local M = {}

-- What each format holds of the state that was given to a machine. A document holds all, and so does a database.
local HOLDS = {
  document = { all = true }, sqlite = { all = true },
  jgf = { states = true, tags = true, data = true, subsystems = true },
  rv1 = { states = true, tags = true, data = true, subsystems = true },
  rv1_nosched = {}, rlite = {},
  csv = { states = true, tags = true, data = true },
  recipe = { states = true, tags = true, data = true, subsystems = true },
}

--- The formats of which losses are known.
M.formats = require("weir.tables").keys(HOLDS)

local function plural(n, one) return ("%d %s%s"):format(n, one, n == 1 and "" or "s") end

local function has_keys(map)
  local iterate, state, first = pairs(map)
  return iterate(state, first) ~= nil
end

-- What is said of the jobs of a graph.
local function jobs(g, say)
  local held, reserved = 0, 0
  for _, job in ipairs(core.engine({ resources = g }):jobs()) do
    if job.state == "reserved" then reserved = reserved + 1 else held = held + 1 end
  end
  if held > 0 then say(plural(held, "job")) end
  if reserved > 0 then say(plural(reserved, "reservation")) end
  if g:now() ~= 0 then say "the clock" end
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

--- Lists what of a graph is not in its text in a format: {"2 jobs", "the subsystem power"}; nil for a picture, which no
--- reader takes.
function M.of(g, format)
  local holds, list = HOLDS[format], {}
  if not holds then return nil end
  local function say(text) list[#list + 1] = text end
  if holds.all then return list end
  jobs(g, say)
  for _, name in ipairs(holds.subsystems and {} or g:subsystems()) do
    if name ~= "containment" then say("the subsystem " .. name) end
  end
  pools(g, holds, say)
  return list
end

return M
