--- scontrol.lua - what `scontrol show node` and `scontrol show partition` print, one after the other or nodes alone, also
--- with -o, as a description of a machine; see machine/description.lua for its fields.

local bounds = require "weir.machine.bounds"
local failure = require "weir.failure"
local gres = require "weir.machine.slurm.gres"
local lines = require "weir.machine.slurm.lines"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

-- Returns the value of a key in a record; a value ends at a blank.
local function value(record, key) return record.text:match("%f[%w_]" .. key .. "=(%S*)") end

local function whole(record, key, default)
  local text = value(record, key)
  if not text and default then return default end
  if not text then lines.fail(record.place, "%s has no %s=: is it cut off?", record.name, key) end
  return lines.whole(text, record.place, key)
end

local OUT = { DOWN = "down", ERROR = "down", FAIL = "down", INVAL = "down", INVALID_REG = "down", FUTURE = "down",
  DRAIN = "draining", DRAINED = "draining", DRAINING = "draining", MAINT = "draining", FAILING = "failing",
  NOT_RESPONDING = "unknown", UNKNOWN = "unknown" }
local WORST = { down = 4, draining = 3, failing = 2, unknown = 1 }
local FINE = { IDLE = true, ALLOCATED = true, ALLOC = true, MIXED = true, COMPLETING = true, COMP = true, RESERVED = true, RESV = true,
  PLANNED = true, CLOUD = true, POWERED_DOWN = true, POWERING_DOWN = true, POWERING_UP = true, POWER_DOWN = true, POWER_UP = true,
  BLOCKED = true, DYNAMIC_NORM = true, DYNAMIC_FUTURE = true, PERFCTRS = true, REBOOT_ISSUED = true, REBOOT_REQUESTED = true,
  REBOOT = true, RES = true, PLND = true }

-- Returns the state of a node from a text such as "IDLE+DRAIN" or "DOWN*"; the worst of its words counts.
local function state_of(record)
  local text = value(record, "State") or "IDLE"
  local worst = text:find("*", 1, true) and "unknown" or "up"
  for word in text:gmatch "[%u_]+" do
    local state = OUT[word]
    if not state and not FINE[word] then lines.fail(record.place, "State=%s: %s is no state of a node that is known", text, word) end
    if state and (WORST[state] > (WORST[worst] or 0)) then worst = state end
  end
  return worst
end

local function node_of(record)
  local boards = whole(record, "Boards", 1)
  local sockets, cores, threads = whole(record, "Sockets"), whole(record, "CoresPerSocket"), whole(record, "ThreadsPerCore")
  local features = value(record, "ActiveFeatures") or value(record, "AvailableFeatures") or ""
  local many = bounds.processors(1.0 * sockets * cores * boards) or bounds.processors(1.0 * sockets * cores * threads)
  if many then lines.fail(record.place, "%s: %s", record.name, many) end
  local effective = whole(record, "CPUEfctv", whole(record, "CPUTot"))
  local total = whole(record, "CPUTot")
  local node = { name = record.name, place = record.place, sockets = sockets * (boards > 1 and sockets < boards and boards or 1),
    cores = cores, threads = threads, cpus = total, state = state_of(record), flat = cores == 1 and threads == 1,
    memory = math.max(whole(record, "RealMemory") - whole(record, "MemSpecLimit", 0), 0),
    features = features == "(null)" and {} or lines.items(features),
    gres = gres.parse(value(record, "Gres") or "", record.place), weight = whole(record, "Weight", 1), queues = {} }
  node.reserved = (total - effective) * (sockets * cores) // math.max(total, 1)
  for _, name in ipairs(lines.items(value(record, "Partitions") or "")) do node.queues[name] = true end
  return node
end

local function time(record, key)
  local text = value(record, key)
  local seconds = text and text ~= "NONE" and lines.duration(text)
  return seconds and seconds < math.huge and seconds or nil
end

local function limit(record, key)
  local text = value(record, key)
  return text and text:find "^%d+$" and math.tointeger(tonumber(text)) or nil
end

local function name_list(record, key)
  local text = value(record, key)
  if not text or text == "ALL" or text == "(null)" or text == "NONE" then return nil end
  return tables.collect(text:gmatch "[^,]+")
end

local function queue_of(record)
  return { name = record.name, place = record.place, nodes = {}, state = (value(record, "State") or "UP"):lower(),
    default = value(record, "Default") == "YES" or nil, exclusive = value(record, "OverSubscribe") == "EXCLUSIVE" or nil,
    max_time = time(record, "MaxTime"), default_time = time(record, "DefaultTime"), min_nodes = limit(record, "MinNodes"),
    max_nodes = limit(record, "MaxNodes"), accounts = name_list(record, "AllowAccounts"), not_accounts = name_list(record, "DenyAccounts"),
    qos = name_list(record, "AllowQos"), priority_tier = limit(record, "PriorityTier"),
    priority_job_factor = limit(record, "PriorityJobFactor") }
end

-- Calls f(kind, record) for each record of the text: a record begins in a line with NodeName= or PartitionName=.
local function each_record(text, file, f)
  local number, kind, record = 0, nil, nil
  text = texts.utf8(text)
  local function ended()
    if record then
      record.text = table.concat(record.parts, " ")
      f(kind, record)
    end
    record = nil
  end
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number, line = number + 1, line:gsub("\r$", "")
    lines.check_text(line, { file = file, line = number })
    local key, name = line:match "^%s*(%a+)Name=(%S+)"
    if key == "Node" or key == "Partition" then
      ended()
      kind, record = key, { name = name, place = { file = file, line = number }, parts = { line } }
    elseif record and line:find "%S" then
      record.parts[#record.parts + 1] = line
    elseif line:find "%S" then
      lines.fail({ file = file, line = number }, 'expected NodeName= or PartitionName=, not "%s"', line:sub(1, 40))
    end
  end
  ended()
end

-- Fills the lists of nodes of the queues, and adds queues that only nodes name.
local function join(nodes, queues, by_name)
  for _, node in ipairs(nodes) do
    for _, name in ipairs(tables.keys(node.queues)) do
      if not by_name[name] then
        by_name[name] = { name = name, place = node.place, nodes = {}, state = "up" }
        queues[#queues + 1] = by_name[name]
      end
      local list = by_name[name].nodes
      list[#list + 1] = node
    end
  end
end

--- Reads a text. `file`: its name in errors. Returns the description; raises a failure for what is wrong.
function M.read(text, file)
  local nodes, queues, known, by_name = {}, {}, {}, {}
  each_record(text, file, function(kind, record)
    if kind == "Partition" then
      by_name[record.name] = queue_of(record)
      queues[#queues + 1] = by_name[record.name]
    else
      local before = known[record.name]
      if before then lines.fail(record.place, "NodeName=%s: the node is described in line %d already", record.name, before) end
      known[record.name] = record.place.line
      nodes[#nodes + 1] = node_of(record)
    end
  end)
  if #nodes == 0 then failure.raise(file .. ": no record describes a node: expected NodeName=...", "parse") end
  join(nodes, queues, by_name)
  return { name = "cluster", nodes = nodes, queues = queues, switches = {}, consumption = { unit = "core" } }
end

return M
