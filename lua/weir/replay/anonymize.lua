--- anonymize.lua - writes a trace and its machine without names, so that they may be given away: DIR/trace.csv and
--- DIR/machine.json, of which a replay is the replay of the originals.
---
--- Users, accounts, queues, QOS, properties and job numbers are numbered through; times are moved by whole weeks, so that
--- hours and weekdays stay; names, scripts and what else a job carries are left out.

local anonymous = require "weir.machine.anonymous"
local files = require "weir.files"
local writer = require "weir.trace.write"

local M = {}

local WEEK = 604800

local function maps_of()
  local maps = {}
  for field, letter in pairs { user = "u", bank = "a", queue = "q", qos = "s", property = "p", gres = "g" } do
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

local function write_jobs(trace, file, maps)
  local n, shift = 0, nil
  while true do
    local job, why, code = trace.next()
    if why then return nil, why, code end
    if not job then return n end
    if job.request then
      return nil, ("%s: job %s has a jobspec of its own, which may tell names; such a trace is not made anonymous"):format(trace.path,
        job.number or n + 1), "invalid"
    end
    n = n + 1
    shift = shift or math.floor(job.submit // WEEK) * WEEK
    file:write(writer.line(nameless(job, n, shift, maps)))
  end
end

--- Writes trace.csv and machine.json into a directory that exists. Returns the number of jobs; or nil, message, code.
function M.write(dir, trace, graph)
  local maps = maps_of()
  local machine, why, code = anonymous.copy(graph, maps)
  if not machine then return nil, why, code end
  local text
  text, why, code = machine:format "jgf"
  machine:close()
  if not text then return nil, why, code end
  local file
  file, why, code = files.draft(dir .. "/trace.csv")
  if not file then return nil, why, code end
  file:write(writer.head())
  local n
  n, why, code = write_jobs(trace, file, maps)
  if not n then
    file:drop()
    return nil, why, code
  end
  local ok
  ok, why, code = file:keep()
  if not ok then return nil, why, code end
  ok, why, code = files.write(dir .. "/machine.json", text)
  if not ok then return nil, why, code end
  return n
end

return M
