--- anonymize.lua - writes a trace and its machine without names, so that they may be given away: DIR/trace.csv, or DIR/trace.jsonl
--- where jobs have jobspecs of their own, and DIR/machine.json, of which a replay is the replay of the originals.
---
--- Users, accounts, queues, QOS, properties and job numbers are numbered through; times are moved by whole weeks, so that
--- hours and weekdays stay; names, scripts and what else a job carries are left out.

local anonymous = require "weir.machine.anonymous"
local core = require "weir.core"
local failure = require "weir.failure"
local files = require "weir.files"
local tables = require "weir.tables"
local writer = require "weir.trace.write"

local M = {}

local must = failure.must

local WEEK = 604800

local function maps_of()
  local maps = {}
  for field, letter in pairs { user = "u", bank = "a", queue = "q", qos = "s", property = "p", gres = "g", label = "slot" } do
    maps[field] = anonymous.names(letter)
  end
  return maps
end

-- Returns the counts of generic resources without the kinds of devices.
local function gres_of(gres)
  local out = {}
  for key, count in pairs(gres or {}) do
    local name = key:match "^[^:]+"
    if key == name or not gres[name] then out[name] = (out[name] or 0) + count end
  end
  return next(out) and out or nil
end

local function text_of(value) return value ~= nil and tostring(value) or nil end

local function nameless(job, number, shift, maps)
  local features = job.features and job.features:gsub("[^&|,%[%]*()]+", maps.property)
  return { number = number, submit = job.submit - shift, runtime = job.runtime, estimate = job.estimate, guessed = job.guessed,
    procs = job.procs, nodes = job.nodes, spread = job.spread, memory = job.memory, megabytes = job.megabytes, gres = gres_of(job.gres),
    user = maps.user(text_of(job.user)), bank = maps.bank(text_of(job.bank)), queue = maps.queue(text_of(job.queue)),
    qos = maps.qos(text_of(job.qos)), features = features, priority = job.priority, recorded = job.recorded and job.recorded - shift }
end

-- ---- jobspecs -------------------------------------------------------------------------------------------------

local KEPT = { type = true, count = true, unit = true, exclusive = true, label = true, with = true } -- of a resource (RFC 14)

-- Renames the properties of a constraint (RFC 31). Raises a failure for a constraint that cannot be rewritten.
local function constraint_of(constraint, maps)
  local out = {}
  for operator, values in pairs(constraint) do
    out[operator] = core.array {}
    for i, value in ipairs(values) do
      if operator == "properties" then
        local no, name = value:match "^(%^?)(.*)$"
        out[operator][i] = no .. maps.property(name)
      elseif operator == "and" or operator == "or" or operator == "not" then
        out[operator][i] = constraint_of(value, maps)
      elseif operator == "ranks" then
        out[operator][i] = value
      else
        failure.fail('its constraint names nodes ("%s")', operator)
      end
    end
  end
  return out
end

local function resources_of(list, maps)
  local out = core.array {}
  for i, resource in ipairs(list) do
    out[i] = {}
    for key, value in pairs(resource) do
      if KEPT[key] then out[i][key] = value end
    end
    if resource.label then out[i].label = maps.label(resource.label) end
    if resource.with then out[i].with = resources_of(resource.with, maps) end
  end
  return out
end

local function tasks_of(list, maps)
  return core.array(tables.map(list, function(task)
    return { command = core.array { "app" }, slot = task.slot and maps.label(task.slot), count = task.count }
  end))
end

-- Returns the jobspec of a job without names: resources, counts, the limit, and constraints with properties numbered through.
local function jobspec_of(text, maps)
  local request = assert(core.request(text))
  local spec = core.json_decode(assert(request:format "json"))
  local system = spec.attributes and spec.attributes.system or {}
  local constraints = type(system.constraints) == "table" and constraint_of(system.constraints, maps) or nil
  return { version = spec.version, resources = resources_of(spec.resources, maps), tasks = tasks_of(spec.tasks or {}, maps),
    attributes = { system = { duration = system.duration or 0, constraints = constraints } } }
end

-- Returns the line of a job. Raises a failure for a job that cannot be written.
local function line_of(job, own, maps, as_json)
  if not as_json then return writer.line(own) end
  if not job.request then return writer.json(own) end
  return writer.json(own, jobspec_of(job.request, maps))
end

-- ---- the files ------------------------------------------------------------------------------------------------

local function write_jobs(trace, file, maps, as_json)
  local n, read, shift = 0, 0, nil
  while true do
    local job, why, code = trace.next()
    if why then failure.raise(why, code) end
    if not job then return n end
    read = read + 1
    shift = shift or math.floor(job.submit // WEEK) * WEEK
    local line, wrong = failure.caught(nil, line_of, job, nameless(job, n + 1, shift, maps), maps, as_json)
    if line then
      n = n + 1
      file:write(line)
    else
      trace.leave(job.line or read, wrong)
    end
  end
end

-- Returns the first job of a trace, which the trace will give again.
local function peek(trace)
  local rest, first = trace.next, table.pack(trace.next())
  function trace.next()
    if not first then return rest() end
    local given = first
    first = nil
    return table.unpack(given, 1, given.n)
  end
  return first[1]
end

local function write(dir, trace, graph)
  local maps = maps_of()
  local machine = must(anonymous.copy(graph, maps))
  local text = must(machine:format "jgf")
  machine:close()
  local first = peek(trace)
  local as_json = first and first.request ~= nil
  local name = as_json and "trace.jsonl" or "trace.csv"
  local file = must(files.draft(dir .. "/" .. name))
  if not as_json then file:write(writer.head()) end
  local n, why, code = failure.caught(nil, write_jobs, trace, file, maps, as_json)
  if not n then file:drop() end
  must(n, why, code)
  must(file:keep())
  must(files.write(dir .. "/machine.json", text))
  return n, name
end

--- Writes trace.csv or trace.jsonl and machine.json into a directory that exists. Jobs whose constraints name nodes are left out, and
--- counted by the trace. Returns the number of jobs, and the name of the file of the trace; or nil, message, code.
function M.write(dir, trace, graph) return failure.caught(nil, write, dir, trace, graph) end

return M
