--- settings.lua - settings of the scheduler: module arguments, and the table [sched-weir] of Flux's configuration, or the
-- tables of Fluxion where there is none. Arguments win.

local fluxion_settings = require "weir.flux.fluxion_settings"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

-- Returns the seconds of "50ms", "0.05s" or 0.05.
local function duration(value)
  local number, unit = tostring(value):match "^([%d.]+)(%a*)$"
  local factor = ({ [""] = 1, s = 1, ms = 1e-3 })[unit]
  number = tonumber(number)
  if not number or not factor or number <= 0 then return nil, "expected a time above 0 such as 50ms" end
  return number * factor
end

local function text(value)
  if type(value) ~= "string" or value == "" then return nil, "expected a name" end
  return value
end

-- Parses the number of requests the job manager may send at a time: "unlimited" or "limited=N".
local function depth(value)
  local n = tostring(value):gsub("^limited=", "")
  if n == "unlimited" then return n end
  n = math.tointeger(tonumber(n))
  if not n or n < 1 or n > 2147483647 then return nil, "expected unlimited or a number above 0" end
  return ("limited=%d"):format(n)
end

local function one_of(list)
  return function(value)
    for _, known in ipairs(list) do
      if tostring(value) == known then return known end
    end
    return nil, "expected one of " .. table.concat(list, ", ")
  end
end

local yes = one_of { "true", "false" }

-- KNOWN: name -> {parser of the value, default}.
local KNOWN = {
  policy = { text, "first" },            -- placement
  queue = { text, "fcfs" },              -- order, reservations, backfilling
  slice = { duration, 0.05 },            -- longest time that the reactor is kept
  ["queue-depth"] = { depth, "unlimited" },
  ["R-format"] = { one_of { "auto", "rv1", "rv1_nosched", "rv1_shorthand" }, "auto" },
  annotate = { yes, "true" },            -- t_estimate, reason_pending
  ["log-level"] = { one_of { "err", "warning", "info", "debug" }, "info" },
  ["lost-queue"] = { one_of { "keep", "end" }, false }, -- running jobs whose queue has left the configuration, at a load; see LOST
  ["as-fluxion"] = { yes, "false" },     -- refuse, and write R, as Fluxion does
  ["load-file"] = { text, false },       -- the graph of the machine, in place of that in the R of the instance
  ["load-format"] = { one_of { "jgf", "jgf_shorthand", "grug", "hwloc", "rv1exec", "rv1exec_force" }, false },
  traverser = { one_of { "simple", "flexible" }, "simple" }, -- flexible: sibling slots are alternatives
  watch = { yes, "false" },              -- whether policies are read again when their files change
  record = { text, false },              -- path of a recording, see recording.lua
}

local LOST = { ["true"] = "end", ["false"] = "keep" } -- the default of lost-queue, by as-fluxion

local ALIAS = { mode = "queue-depth" }

local function put(into, name, value)
  name = ALIAS[name] or name
  local known = KNOWN[name]
  if not known then
    return nil, ('there is no option "%s"%s'):format(name, suggest.among(name, tables.keys(KNOWN)))
  end
  local read, why = known[1](value)
  if read == nil then return nil, ("option %s: %s, not %s"):format(name, why, tostring(value)) end
  into[name] = read
  return true
end

-- Reads [sched-weir.queues.NAME] queue = "...": a queue policy of its own for a queue of Flux.
local function put_queues(into, queues)
  if type(queues) ~= "table" then return nil, "queues: expected tables by name" end
  for name, own in pairs(queues) do
    for key, value in pairs(type(own) == "table" and own or { [own] = true }) do
      if key ~= "queue" or type(value) ~= "string" then
        return nil, ("queues.%s: it has queue, the name of a queue policy"):format(tostring(name))
      end
      into[name] = value
    end
  end
  return true
end

-- Returns what is wrong with the parent of a virtual queue (RFC 33), or nil.
local function wrong_parent(queues, name, parent)
  local above = queues[parent]
  if type(parent) ~= "string" or above == nil then
    local known = suggest.among(tostring(parent), tables.keys(queues))
    return ('[queues.%s] parent: there is no queue "%s"%s'):format(name, tostring(parent), known)
  end
  if type(above) == "table" and above.parent ~= nil then
    return ('[queues.%s] parent: the queue "%s" is itself a virtual queue; name a queue without a parent'):format(name, parent)
  end
end

-- Reads [queues] into the names, the required properties and the parents of queues. A virtual queue requires what its parent
-- requires, and has no queue policy of its own. Returns a list of what is wrong; a queue with a wrong parent has none.
local function read_names(settings, queues)
  local wrong = {}
  settings.names = tables.keys(queues)
  for _, name in ipairs(settings.names) do
    local queue = type(queues[name]) == "table" and queues[name] or {}
    local why = queue.parent ~= nil and wrong_parent(queues, name, queue.parent) or nil
    wrong[#wrong + 1] = why
    if queue.parent ~= nil and not why then settings.parents[name] = queue.parent else settings.requires[name] = queue.requires end
  end
  for name, parent in tables.sorted(settings.parents) do
    settings.requires[name] = settings.requires[parent]
    if settings.queues[name] then
      settings.queues[name] = nil
      wrong[#wrong + 1] = ("[sched-weir.queues.%s] %s is a virtual queue, and its jobs wait in the queue %s: set queues.%s.queue")
        :format(name, name, parent, parent)
    end
  end
  return wrong
end

--- Returns the settings of arguments (a list of NAME=VALUE) and configuration (a table): policy, queue, slice,
--- queue-depth, R-format, annotate, watch, queues = {name = queue policy}, requires = {queue = properties}, names = the
--- names of queues, parents = {virtual queue = its parent}, texts = {path = source of a policy not readable here},
--- argued = {name = true} for those given by arguments, notes = {{level =, text =}, ...} on what Fluxion's tables say and
--- weir does not take, fluxion = {qmanager =, resource =}, these tables where they count. Or nil, message.
--- With as-fluxion what Fluxion refuses is refused, too, regardless of spare.
--- spare(message, argued): called for each setting that cannot be used; true: the setting is left out, and reading continues.
function M.read(arguments, config, texts, spare)
  local settings = { queues = {}, requires = {}, texts = texts or {}, argued = {}, notes = {}, names = {}, parents = {} }
  for name, known in pairs(KNOWN) do settings[name] = known[2] end
  local own, ok, why = config["sched-weir"]
  if not own then
    own, settings.notes, settings.fluxion = fluxion_settings.read(config)
    settings.notes = settings.notes or {}
  end
  if own ~= nil and type(own) ~= "table" then
    if not (spare and spare("[sched-weir] expected a table", false)) then return nil, "[sched-weir] expected a table" end
    own = nil
  end
  for name, value in pairs(own or {}) do
    if name == "queues" then ok, why = put_queues(settings.queues, value) else ok, why = put(settings, name, value) end
    if not ok and not (spare and spare("[sched-weir] " .. why, false)) then return nil, "[sched-weir] " .. why end
  end
  for _, reason in ipairs(read_names(settings, type(config.queues) == "table" and config.queues or {})) do
    if not (spare and spare(reason, false)) then return nil, reason end
  end
  for _, argument in ipairs(arguments) do
    local name, value = argument:match "^([^=]+)=(.*)$"
    if name then ok, why = put(settings, name, value) else ok, why = nil, ('argument "%s": expected NAME=VALUE'):format(argument) end
    if ok then settings.argued[name] = true elseif not (spare and spare(why, true)) then return nil, why end
  end
  settings["lost-queue"] = settings["lost-queue"] or LOST[settings["as-fluxion"]]
  for _, note in ipairs(settings["as-fluxion"] == "true" and settings.notes or {}) do
    if note.refused then return nil, note.text end
  end
  return settings
end

return M
