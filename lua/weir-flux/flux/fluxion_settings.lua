--- fluxion_settings.lua - the tables [sched-fluxion-qmanager] and [sched-fluxion-resource] of Flux's configuration as
-- settings of [sched-weir]. What has no counterpart is named in a note with what to do instead; nothing is an error, as
-- Fluxion takes its defaults, too, where it cannot use a value.

local tables = require "weir.tables"

local M = {}

local QMANAGER, RESOURCE = "[sched-fluxion-qmanager]", "[sched-fluxion-resource]"
local QUEUE_POLICIES = { fcfs = true, easy = true, conservative = true, hybrid = true }
local MATCH_POLICIES = { first = true, firstnodex = true, low = true, high = true, lonode = true, hinode = true, lonodex = true,
  hinodex = true, locality = true, variation = true }
local RESERVATIONS = 64          -- Fluxion's default of reservation-depth
local MOST_RESERVATIONS = 100000 -- Fluxion's default of max-reservation-depth

-- ---- values -----------------------------------------------------------------------------------------------------------

-- Returns a positive integer, given as a number or as text; or nil.
local function positive(value)
  local n = math.tointeger(tonumber(value))
  return n and n > 0 and n or nil
end

-- Returns the parameters of a table, or of a text such as "queue-depth=16,max-queue-depth=100".
local function parameters(value)
  if type(value) ~= "string" then return type(value) == "table" and value or {} end
  local list = {}
  for name, text in value:gmatch "([^,=%s]+)=([^,%s]+)" do list[name] = text end
  return list
end

-- Iterates over "debug:fcfs batch:easy": queue, text.
local function by_queue(value) return (type(value) == "string" and value or ""):gmatch "([^%s:]+):(%S+)" end

-- Returns the numbers of a table of parameters under the given names. What is no positive integer is noted.
local function depths(at, given, names, note)
  local out = {}
  for name, value in pairs(given) do
    if not names[name] then
      note("warning", ("%s%s is not known; remove it"):format(at, name))
    else
      out[name] = positive(value)
      if not out[name] then
        note("warning", ("%s%s = %s is not a number above 0, and left out"):format(at, name, tostring(value)), "refused")
      end
    end
  end
  return out
end

-- ---- queues -----------------------------------------------------------------------------------------------------------

-- Returns the queue policy of weir, a name with options, for a name and parameters of Fluxion. Conservative backfilling
-- with few reservations is hybrid backfilling.
local function queue_policy(at, name, given, note)
  local d = depths(at .. " policy-params.", given, { ["max-reservation-depth"] = true, ["reservation-depth"] = true }, note)
  local most = d["max-reservation-depth"] or MOST_RESERVATIONS
  if name == "hybrid" then return ("hybrid:k=%d"):format(math.min(d["reservation-depth"] or RESERVATIONS, most)) end
  if name == "conservative" and most < MOST_RESERVATIONS then return ("hybrid:k=%d"):format(most) end
  return name
end

local function known_policy(at, name, note)
  if QUEUE_POLICIES[name] then return name end
  note("warning", ('Unknown queuing policy "%s": %s queue-policy is none of Fluxion\'s; fcfs is used, as Fluxion does. Queue '
    .. "policies of weir are named in [sched-weir] queue"):format(tostring(name), at))
  return "fcfs"
end

-- Reads queue-params into own["queue-depth"]. A queue of Fluxion has a depth of its own, but the limit of the job manager
-- is about all jobs: a queue that waits would keep another from being seen.
local function read_depth(own, given, queues, note)
  local d = depths(QMANAGER .. " queue-params.", given, { ["queue-depth"] = true, ["max-queue-depth"] = true }, note)
  local depth = d["queue-depth"]
  if not depth then return end
  depth = math.min(depth, d["max-queue-depth"] or depth)
  if next(queues) then
    note("info", ("%s queue-params.queue-depth = %d is not needed where there are queues: all jobs that wait are looked at")
      :format(QMANAGER, depth))
  else
    own["queue-depth"] = depth
  end
end

local SKIPPED = {
  ["queue-params-per-queue"] = "is not needed: all jobs that wait are looked at in each queue",
  ["vqueue-parents"] = "is not needed: [queues.NAME] parent declares a virtual queue",
  queues = "has no counterpart; queues are configured in [queues]",
}

local READ = { ["queue-policy"] = true, ["queue-params"] = true, ["policy-params"] = true, ["queue-policy-per-queue"] = true,
  ["policy-params-per-queue"] = true }

local function read_queues(own, given, queues, note)
  local default = given["queue-policy"] and known_policy(QMANAGER, given["queue-policy"], note) or "fcfs"
  local shared, names, params = parameters(given["policy-params"]), {}, {}
  own.queue = queue_policy(QMANAGER, default, shared, note)
  read_depth(own, parameters(given["queue-params"]), queues, note)
  for queue, name in by_queue(given["queue-policy-per-queue"]) do
    names[queue] = known_policy(("%s queue-policy-per-queue, %s:"):format(QMANAGER, queue), name, note)
  end
  for queue, text in by_queue(given["policy-params-per-queue"]) do params[queue] = parameters(text) end
  own.queues = {}
  local named = tables.copy(names)
  for queue in pairs(params) do named[queue] = true end
  for _, queue in ipairs(tables.keys(named)) do
    if type(queues[queue]) == "table" and queues[queue].parent ~= nil then
      note("warning", ("%s %s: a virtual queue has no queue policy of its own; its jobs wait in the queue %s"):format(QMANAGER, queue,
        tostring(queues[queue].parent)), "refused")
      goto continue
    end
    own.queues[queue] = { queue = queue_policy(QMANAGER .. " " .. queue .. ":", names[queue] or default, params[queue] or shared, note) }
    ::continue::
  end
  for _, key in ipairs(tables.keys(given)) do
    if not READ[key] then
      note(SKIPPED[key] and "info" or "warning", ("%s %s %s"):format(QMANAGER, key, SKIPPED[key] or "is not known; remove it"))
    end
  end
end

-- ---- resources --------------------------------------------------------------------------------------------------------

-- Returns the placement policy for "policy=high node_exclusive=true"; or nil, message.
local function custom_policy(text)
  local s = {}
  for key, value in text:gmatch "([^%s=]+)=(%S+)" do s[key:gsub("^set_", "")] = value end
  if s.policy ~= "low" and s.policy ~= "high" then return nil end
  local whole, node = s.node_exclusive == "true", s.node_centric == "true"
  if s.stop_on_1_matches == "true" then return whole and "firstnodex" or "first" end
  if whole then return s.policy == "low" and "lonodex" or "hinodex" end
  return node and (s.policy == "low" and "lonode" or "hinode") or s.policy
end

local function read_policy(own, text, note)
  own.policy = MATCH_POLICIES[text] and text or type(text) == "string" and custom_policy(text) or nil
  if not own.policy then
    note("warning", ('%s match-policy "%s" is none of Fluxion\'s; first is used, as Fluxion does. Policies of weir are named in '
      .. "[sched-weir] policy"):format(RESOURCE, tostring(text)))
  end
end

local function read_format(own, text, note)
  if text == "rv1" or text == "rv1_nosched" or text == "rv1_shorthand" then
    own["R-format"] = text
  else
    note("warning", ('%s match-format "%s" is not known; [sched-weir] R-format is auto, rv1, rv1_shorthand or rv1_nosched'):format(RESOURCE,
      tostring(text)))
  end
end

local NOT_NEEDED = {
  ["prune-filters"] = "is not needed: free amounts of all types are kept at all levels",
  ["reserve-vtx-vec"] = "is not needed: memory is taken as the machine is read",
  ["load-allowlist"] = "is not needed: the machine is the R of the instance",
  ["update-interval"] = "is not needed: resources are up to date at any time",
}

local NO_COUNTERPART = {
  traverser = "is simple or flexible; simple is used",
  subsystems = "has no counterpart; all subsystems of the machine are used",
}

local function read_resource(own, given, note)
  for _, key in ipairs(tables.keys(given)) do
    local value = given[key]
    if key == "match-policy" or key == "policy" then
      read_policy(own, value, note)
    elseif key == "match-format" then
      read_format(own, value, note)
    elseif key == "load-file" or key == "load-format" then
      own[key] = value
    elseif NOT_NEEDED[key] then
      note("info", ("%s %s %s"):format(RESOURCE, key, NOT_NEEDED[key]))
    elseif key == "traverser" and (value == "simple" or value == "flexible") then
      own.traverser = value
    else
      note("warning", ("%s %s %s"):format(RESOURCE, key, NO_COUNTERPART[key] or "is not known; remove it"))
    end
  end
end

-- ---- the same in Fluxion's words --------------------------------------------------------------------------------------

-- Returns parameters as text, those named first in front: "max-queue-depth=100,queue-depth=16".
local function text_of(given, first)
  local list, done = {}, {}
  local function add(key)
    if given[key] ~= nil and not done[key] then list[#list + 1] = ("%s=%s"):format(key, tostring(given[key])) end
    done[key] = true
  end
  for _, key in ipairs(first) do add(key) end
  for _, key in ipairs(tables.keys(given)) do add(key) end
  return table.concat(list, ",")
end

local QUEUE_PARAMS, POLICY_PARAMS = { "max-queue-depth", "queue-depth" }, { "max-reservation-depth", "reservation-depth" }

local function known_name(name) return QUEUE_POLICIES[name] and name or "fcfs" end

local function words_of(qmanager)
  return { ["queue-policy"] = known_name(qmanager["queue-policy"]),
    ["queue-params"] = text_of(parameters(qmanager["queue-params"]), QUEUE_PARAMS),
    ["policy-params"] = text_of(parameters(qmanager["policy-params"]), POLICY_PARAMS) }
end

-- Returns {queue = text} of a text such as "debug:queue-depth=16".
local function each_queue(value)
  local list = {}
  for queue, text in by_queue(value) do list[queue] = text end
  return list
end

--- Returns the parameters of the queue manager as a table [sched-fluxion-qmanager] gives them, in Fluxion's words, and by name
--- those of the given queues.
function M.parameters(qmanager, names)
  local own = words_of(qmanager)
  local policies, queues, params = each_queue(qmanager["queue-policy-per-queue"]), each_queue(qmanager["queue-params-per-queue"]),
    each_queue(qmanager["policy-params-per-queue"])
  for _, name in ipairs(names) do
    own[name] = { ["queue-policy"] = policies[name] and known_name(policies[name]) or own["queue-policy"],
      ["queue-params"] = queues[name] or own["queue-params"], ["policy-params"] = params[name] or own["policy-params"] }
  end
  return own
end

--- Returns the settings that the tables of Fluxion in a configuration mean, as a table [sched-weir], and notes, a
--- list of {level, text, refused: Fluxion does not load with this value}, and the tables themselves as {qmanager =, resource =}.
--- Without such tables: nil.
function M.read(config)
  local qmanager, resource = config["sched-fluxion-qmanager"], config["sched-fluxion-resource"]
  if type(qmanager) ~= "table" and type(resource) ~= "table" then return nil end
  local own, notes = {}, {}
  local function note(level, text, refused) notes[#notes + 1] = { level = level, text = text, refused = refused } end
  local queues = type(config.queues) == "table" and config.queues or {}
  if type(qmanager) == "table" then read_queues(own, qmanager, queues, note) end
  if type(resource) == "table" then read_resource(own, resource, note) end
  table.sort(notes, function(a, b) return a.text < b.text end)
  return own, notes, { qmanager = type(qmanager) == "table" and qmanager, resource = type(resource) == "table" and resource }
end

return M
