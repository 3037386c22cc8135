--- job_fields.lua - what queue policies can read of a job in addition to the fields that they are given: texts and numbers, as these
--- alone go into a sandbox.

local core = require "weir.core"

local M = {}

-- Adds the least number of each type that resources want in all, `times` over.
local function add(sums, list, times)
  for _, r in ipairs(list) do
    local count = r.count or 1
    if type(count) == "table" then count = count.min or count.set[1] end
    local n = count * times
    sums[r.type] = (sums[r.type] or 0) + n
    add(sums, r.with or {}, n)
  end
  return sums
end

local FIELDS = {}

function FIELDS.wants(request) return core.json_encode(add({}, request:resources(), 1)) end

-- The attributes of the jobspec, a table.
local function attributes(request) return core.json_decode(request:format "json").attributes or {} end

function FIELDS.attributes(request, job) return job.attributes or core.json_encode(attributes(request)) end

function FIELDS.name(request)
  local system = attributes(request).system
  local job = type(system) == "table" and system.job
  local name = type(job) == "table" and job.name
  return type(name) == "string" and name or nil
end

--- Returns a field of a job: "wants" and "attributes" as JSON; name, bank, project, queue and qos as the jobspec has them; nil
--- where nothing is said, or where the job is gone.
function M.of(job, key)
  local request = job and job.request
  if not request then return nil end
  local f = FIELDS[key]
  if f then return f(request, job) end
  return (request:attribute(key))
end

return M
