--- jsonl.lua - JSON lines: each a jobspec (RFC 14) with `submit` and `runtime` at the top or in attributes.user; or an
--- object with the columns of a CSV as keys, and the request as `procs`, `jobspec` or `request`.

local core = require "weir.core"
local fields = require "weir.trace.fields"

local M = {}

local JOBSPEC = { resources = true, tasks = true, attributes = true, version = true }

local function table_at(t, ...)
  for _, key in ipairs { ... } do t = type(t) == "table" and t[key] or nil end
  return type(t) == "table" and t or {}
end

-- The key of each field that a table has, as {field = key}. Of several keys for a field, the first among the names of
-- the field counts.
local function keys_of(from)
  local keys, places = {}, {}
  for key, x in pairs(from) do
    local field, place
    if not JOBSPEC[key] and type(key) == "string" and x ~= core.null then field, place = fields.field(key) end
    if field and (not keys[field] or place < places[field] or place == places[field] and key < keys[field]) then
      keys[field], places[field] = key, place
    end
  end
  return keys
end

local function take(job, from)
  local keys = keys_of(from)
  for _, field in ipairs(fields.list) do
    local key, value, wrong = keys[field], nil, nil
    if key and field == "request" then value = from[key] elseif key then value, wrong = fields.value(field, from[key], key) end
    if wrong then return wrong end
    if key then job[field] = value end
  end
end

-- Copies the fields of attributes.system to the job.
local function take_system(job, jobspec)
  local system = table_at(jobspec, "attributes", "system")
  local duration, preemptible = tonumber(system.duration), tonumber(system["preemptible-after"])
  job.estimate = job.estimate or duration and duration > 0 and duration or nil
  job.preemptible = job.preemptible or preemptible
  for _, key in ipairs { "queue", "bank", "project" } do
    job[key] = job[key] or type(system[key]) == "string" and system[key] or nil
  end
  job.name = job.name or type(table_at(system, "job").name) == "string" and system.job.name or nil
end

local function read_job(value)
  local job = {}
  if value.resources then
    job.request = {}
    for key in pairs(JOBSPEC) do job.request[key] = value[key] end
  end
  local wrong = take(job, table_at(value, "attributes", "user")) or take(job, value)
  if wrong then return nil, wrong end
  if type(job.request) == "table" then
    take_system(job, job.request)
    job.request = core.json_encode(job.request, { sort = true })
  end
  return job
end

--- Returns a source of jobs, as swf.reader does. Jobs with a recorded start are those of an accounting, with details.
function M.reader(trace, lines)
  return function()
    local line, n = lines()
    while line and not line:find "%S" do line, n = lines() end
    if not line then return end
    local value, why = core.json_decode(line)
    if type(value) ~= "table" then return nil, n, why or "expected an object" end
    local job, wrong = read_job(value)
    if job and job.recorded then trace.detailed = true end
    return job, n, wrong
  end
end

return M
