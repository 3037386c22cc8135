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

local function take(job, from)
  for key, x in pairs(from) do
    local field = not JOBSPEC[key] and type(key) == "string" and fields.field(key)
    if field and x ~= core.null then
      local value, wrong
      if field == "request" then value = x else value, wrong = fields.value(field, x) end
      if wrong then return wrong end
      job[field] = value
    end
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

--- Returns a source of jobs, as swf.reader does.
function M.reader(_, lines)
  return function()
    local line, n = lines()
    while line and not line:find "%S" do line, n = lines() end
    if not line then return end
    local value, why = core.json_decode(line)
    if type(value) ~= "table" then return nil, n, why or "an object is expected" end
    local job, wrong = read_job(value)
    return job, n, wrong
  end
end

return M
