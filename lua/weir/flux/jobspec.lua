--- jobspec.lua - what of a jobspec matters to a scheduler. Jobs that ask for the same share one request, so what differs
--- between them and changes nothing is left out.

local core = require "weir.core"

local M = {}

-- Of attributes.system: of no interest, or told apart.
local NOISE = { environment = true, cwd = true, shell = true, exec = true, files = true, job = true, dependencies = true,
  preferences = true, bank = true, ["preemptible-after"] = true }

-- The tasks, without what they run.
local function plain_tasks(tasks)
  if type(tasks) ~= "table" then return tasks end
  local list = {}
  for i, task in ipairs(tasks) do
    list[i] = type(task) == "table" and { command = { "-" }, slot = task.slot, count = task.count } or task
  end
  return core.array(list)
end

-- A job's constraint, and the properties that its queue requires besides, whatever the job's own constraint says of them. A constraint
-- that is none stays part of the request, whose reader refuses it.
local function with_required(constraints, requires)
  if type(requires) ~= "table" or #requires == 0 then return constraints end
  local own = { properties = core.array { table.unpack(requires) } }
  if constraints == nil or constraints == core.null then return own end
  return { ["and"] = core.array { constraints, own } }
end

local function number(value) return type(value) == "number" and value > 0 and value or nil end

local function system_of(spec)
  local attributes = type(spec) == "table" and type(spec.attributes) == "table" and spec.attributes or {}
  return attributes, type(attributes.system) == "table" and attributes.system or {}
end

--- What counts of a jobspec besides the request: {duration =, preemptible = seconds or nil, queue =, qos =}.
function M.about(spec)
  local _, given = system_of(spec)
  local queue, after = type(given.queue) == "string" and given.queue or nil, given["preemptible-after"]
  return { duration = number(given.duration), queue = queue, qos = given.qos or queue,
    preemptible = type(after) == "number" and after >= 0 and after or nil }
end

--- The request of a jobspec as text, the same for jobs that ask for the same, and what else counts, see about().
--- requires: queue -> properties. Or nil, message.
function M.read(spec, requires)
  if type(spec) ~= "table" then return nil, "a jobspec is an object" end
  local attributes, given = system_of(spec)
  local system, what = {}, M.about(spec)
  if spec.version == 1 and attributes.system == nil then return nil, "attributes.system is missing" end
  for key, value in pairs(given) do
    if not NOISE[key] then system[key] = value end
  end
  system.constraints = with_required(given.constraints, what.queue and requires[what.queue])
  system.duration = system.duration or 0
  local text = core.json_encode({
    version = spec.version, resources = spec.resources, tasks = plain_tasks(spec.tasks),
    attributes = { system = system },
  }, { sort = true })
  return text, what
end

return M
