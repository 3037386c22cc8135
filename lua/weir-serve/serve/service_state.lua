--- service_state.lua - data of a service other than the machine and its schedules, kept in the graph so that one
-- transaction saves everything: plain data on the first root, and the R of targets missing in the graph at
-- present.
--
-- The core limits a value to 64 KB, so long texts are split into pieces.

local core = require "weir.core"
local owners = require "weir.serve.owners"

local M = {}

local PIECE = 24000 -- bytes; below the limit even as JSON text with all quotes escaped
local META = "weir.service"

local function key_of(name, i) return ("%s.%d"):format(name, i) end

-- Returns the root carrying the data; never a target, as targets may leave.
local function host(graph)
  for _, root in ipairs(graph:roots()) do
    if not root.rank then return root end
  end
  return assert(graph:root(), "a graph without a root has no place for what the service keeps")
end

local function put(graph, name, text)
  local data, n = host(graph).data, 0
  for at = 1, #text, PIECE do
    n = n + 1
    data[key_of(name, n)] = text:sub(at, at + PIECE - 1)
  end
  while data[key_of(name, n + 1)] ~= nil do
    n = n + 1
    data[key_of(name, n)] = nil
  end
end

local function get(graph, name)
  local data, parts = host(graph).data, {}
  while data[key_of(name, #parts + 1)] ~= nil do parts[#parts + 1] = data[key_of(name, #parts + 1)] end
  return #parts > 0 and table.concat(parts) or nil
end

--- Keeps plain data. Writes nothing if the data equals the data kept before.
function M.put(graph, value)
  local text = core.json_encode(value, { sort = true })
  if get(graph, META) ~= text then put(graph, META, text) end
end

local function is_job(id) return math.type(id) == "integer" and id > 0 end

-- Returns true for a list of job ids.
local function are_jobs(list)
  if type(list) ~= "table" then return false end
  for key, id in pairs(list) do
    if math.type(key) ~= "integer" or not is_job(id) then return false end
  end
  return true
end

local function digits(key) return type(key) == "string" and key:find "^%d+$" and math.tointeger(tonumber(key)) end

local function is_idset(text) return type(text) == "string" and core.idset(text) ~= nil end

-- PARTS has for each part of the data a check of keys and a check of values.
local PARTS = {
  owners = { owners.is_name, are_jobs },
  users = { digits, are_jobs },
  children = { function(key) return is_job(digits(key)) end,
    function(child) return type(child) == "table" and is_idset(child.leaving) and is_idset(child.passing) end },
}

-- Returns the name of the first malformed part of saved data, or nil.
local function strange(known)
  if type(known) ~= "table" then return "all of it" end
  if known.ids ~= nil and math.type(known.ids) ~= "integer" then return "ids" end
  for name, part in pairs(PARTS) do
    local entries = known[name] == nil and {} or known[name]
    if type(entries) ~= "table" then return name end
    for key, value in pairs(entries) do
      if not part[1](key) or not part[2](value) then return ("%s: %s"):format(name, tostring(key):sub(1, 64)) end
    end
  end
end

--- Returns the data kept, or nil; or nil and a message if the data is malformed.
function M.get(graph)
  local text = graph:root() and get(graph, META)
  if not text then return nil end
  local ok, known = pcall(core.json_decode, text)
  local wrong = not ok and "all of it" or strange(known)
  if wrong then return nil, ("%s: not the state of a service: unexpected %s"):format(META, wrong) end
  return known
end

local function stash_name(target) return "weir.stash." .. target end

--- stash keeps the description of a target (an R as text) until `forget`; stashed returns the description or nil.
function M.stash(graph, target, text) put(graph, stash_name(target), text) end

function M.stashed(graph, target) return get(graph, stash_name(target)) end

function M.forget(graph, target) put(graph, stash_name(target), "") end

--- Returns the targets with a description, as an idset.
function M.stashes(graph)
  local ids = {}
  for key in pairs(graph:root() and host(graph).data or {}) do
    local target = key:match "^weir%.stash%.(%d+)%.1$"
    if target then ids[#ids + 1] = math.tointeger(tonumber(target)) end
  end
  return core.idset(ids)
end

--- Returns true if a key of extended data belongs to the service, or is the state of a policy.
function M.owns(key)
  return key:find "^weir%.service%." ~= nil or key:find "^weir%.stash%." ~= nil or key:find "^weir%.policy%." ~= nil
end

-- Returns the nodes of a document: of a JGF, or of the JGF within an R.
local function nodes_of(document)
  local graph = document.graph or type(document.scheduling) == "table" and document.scheduling.graph
  return type(graph) == "table" and graph.nodes or {}
end

--- Removes the data of the service from an R or JGF (a table) before the document leaves the service: in a graph made
--- from the document, the data would collide with the data of its user. Returns the document.
function M.strip(document)
  for _, node in ipairs(nodes_of(document)) do
    local data = node.metadata and node.metadata.extended
    for key in pairs(data or {}) do
      if M.owns(key) then data[key] = nil end
    end
    if data and next(data) == nil then node.metadata.extended = nil end
  end
  return document
end

--- Does the work of `strip` on a document as text.
function M.strip_text(text)
  if not text:find '"weir%.[sp]' then return text end
  return core.json_encode(M.strip(core.json_decode(text)), { sort = false })
end

return M
