--- jobspec.lua - the parts of a jobspec relevant to the scheduler. Jobs with equal resources share a request, so parts
--- that differ between jobs without affecting placement are left out.

local core = require "weir.core"
local weir = require "weir"

local M = {}

-- Keys of attributes.system without effect on the request, or read by about().
local NOISE = { environment = true, cwd = true, shell = true, exec = true, files = true, job = true, dependencies = true,
  preferences = true, bank = true, project = true, ["preemptible-after"] = true }

-- Returns the tasks without their commands.
local function plain_tasks(tasks)
  if type(tasks) ~= "table" then return tasks end
  local list = {}
  for i, task in ipairs(tasks) do
    list[i] = type(task) == "table" and { command = { "-" }, slot = task.slot, count = task.count } or task
  end
  return core.array(list)
end

-- Returns the job's constraint and the properties required by its queue, joined by "and". A malformed constraint stays
-- in the request, to be refused by the parser.
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

local function word(value) return type(value) == "string" and value or nil end

-- Keys of attributes.system that are large, and useless to a policy.
local LARGE = { environment = true, files = true }

-- The attributes of a jobspec as JSON, for policies.
local function attributes_text(attributes, given)
  local system = {}
  for key, value in pairs(given) do
    if not LARGE[key] then system[key] = value end
  end
  return core.json_encode { system = system, user = attributes.user }
end

--- Returns the parts of a jobspec other than the request: {duration =, preemptible = seconds or nil, queue =, qos =,
--- bank =, project =, name =, attributes = as JSON}.
function M.about(spec)
  local attributes, given = system_of(spec)
  local queue, after = word(given.queue), given["preemptible-after"]
  return { duration = number(given.duration), queue = queue, qos = given.qos or queue, bank = word(given.bank),
    project = word(given.project), name = type(given.job) == "table" and word(given.job.name) or nil,
    attributes = attributes_text(attributes, given),
    preemptible = type(after) == "number" and after >= 0 and after or nil }
end

--- Returns the request of a jobspec as text; or nil, message. `flexible`: sibling slots are alternatives, as Fluxion's
--- flexible traverser reads them; RFC 14 wants all slots.
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

-- Whether a list has several resources, all of them slots.
local function only_slots(list)
  for _, r in ipairs(list) do
    if type(r) ~= "table" or r.type ~= "slot" then return false end
  end
  return #list > 1
end

-- Turns sibling slots into or_slots, in a list and below. What is no list is left for the parser to refuse.
local function loosen(list)
  if type(list) ~= "table" then return end
  local any = only_slots(list)
  for _, r in ipairs(list) do
    if type(r) == "table" then
      loosen(r.with)
      if any then r.type = "or_slot" end
    end
  end
end

--- Returns the request of a jobspec as text; or nil, message. `flexible`: sibling slots are alternatives, as Fluxion's
--- traverser of that name reads them, and not all requested, as RFC 14 says.
function M.request(text, flexible)
  local doc = flexible and core.document(text, { format = text:match "^%s*{" and "json" or "yaml" })
  if type(doc) ~= "table" then return weir.request(text, "jobspec") end
  loosen(doc.resources)
  return weir.request(doc, "jobspec")
end

return M
