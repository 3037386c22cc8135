--- jobspec.lua - reads a jobspec (RFC 14) the way resource-query does: what it refuses and how it says so, what it takes
-- though a strict reader would not.
--
-- A resource: type, count {min, max, operator, operand}, unit, label, id, exclusive (true, false or nil), with, and
-- `needs`, units by type that one of it wants below it, which the traverser fills in.

local constraint = require "weir.query.constraint"
local core = require "weir.core"
local values = require "weir.query.values"

local M = {}

local UNBOUNDED = 0xffffffff

local function fail(text) error({ jobspec = text }, 0) end

local is_map, is_scalar = values.is_map, values.is_scalar

-- An unsigned number of 32 bits, or what a conversion says that fails.
local function unsigned(x)
  local n = is_scalar(x) and type(x) ~= "boolean" and math.tointeger(tonumber(x))
  if not n or n < 0 or n > UNBOUNDED then fail "bad conversion" end
  return n
end

-- ---- counts -------------------------------------------------------------------------------------------------

local function check_members(c)
  if c.min == nil then fail 'Key "min" missing from count' end
  if not is_scalar(c.min) then fail 'Value of "min" must be a scalar' end
  if c.max == nil and c.operator == nil and c.operand == nil then return end
  if c.max == nil or c.operator == nil or c.operand == nil then
    fail 'All or none of "max", "operator", and "operand" must be specified'
  end
  for _, key in ipairs { "max", "operator", "operand" } do
    if not is_scalar(c[key]) then fail(('Value of "%s" must be a scalar'):format(key)) end
  end
end

-- What an operator wants of the operand, and what it says of one that is less.
local OPERAND = {
  ["+"] = { 1, "zero for addition '+'" }, ["*"] = { 2, "one for multiplication '*'" },
  ["^"] = { 2, "one for exponentiation '^'" },
}

local function check_values(c)
  local rule = OPERAND[c.operator]
  if c.min < 1 then fail '"min" must be greater than zero' end
  if c.max < c.min then fail '"max" must be greater than or equal to "min"' end
  if not rule then fail "Invalid count operator" end
  if c.operand < rule[1] then fail('"operand" must be greater than ' .. rule[2]) end
  if c.operator == "^" and c.min < 2 then fail '"min" must be greater than one for exponentiation \'^\'' end
end

local function read_count(x)
  if is_scalar(x) then
    local n = unsigned(x)
    return { min = n, max = n, operator = "+", operand = 1 }
  end
  if not is_map(x) then fail "count is not a mapping" end
  check_members(x)
  local c = { min = unsigned(x.min), max = UNBOUNDED, operator = "+", operand = 1 }
  if x.max ~= nil then
    c.max, c.operator, c.operand = unsigned(x.max), tostring(x.operator), unsigned(x.operand)
  end
  check_values(c)
  return c
end

-- ---- resources ----------------------------------------------------------------------------------------------

local FIELDS = { type = true, count = true, unit = true, exclusive = true, with = true, label = true, id = true }

local function text_of(x, key)
  if x[key] == nil then return nil end
  if not is_scalar(x[key]) then fail(('Value of "%s" must be a scalar'):format(key)) end
  return tostring(x[key])
end

local function read_exclusive(x)
  local text = text_of(x, "exclusive")
  if text ~= nil and text ~= "true" and text ~= "false" then
    fail 'Value of "exclusive" must be either "true" or "false"'
  end
  if text == nil then return nil end
  return text == "true"
end

local read_resources

local function read_resource(x, types)
  if not is_map(x) then fail "resource is not a mapping" end
  if x.type == nil then fail 'Key "type" missing from resource' end
  local r = { type = text_of(x, "type") }
  if not types:add(r.type) then fail 'Value of "type" must be a resource type known to fluxion' end
  if x.count == nil then fail 'Key "count" missing from resource' end
  r.count = read_count(x.count)
  r.unit = text_of(x, "unit")
  r.exclusive = read_exclusive(x)
  r.with = x.with ~= nil and read_resources(x.with, types) or {}
  r.label = text_of(x, "label")
  if not r.label and r.type == "slot" then fail "All slots must be labeled" end
  r.id = text_of(x, "id")
  for key in pairs(x) do
    if not FIELDS[key] then fail "Unrecognized key in resource mapping" end
  end
  return r
end

function read_resources(list, types)
  if not values.is_array(list) then fail '"resources" is not a sequence' end
  local resources = {}
  for i, x in ipairs(list) do resources[i] = read_resource(x, types) end
  return resources
end

-- ---- tasks and attributes -----------------------------------------------------------------------------------

local function count_of(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

local function check_task_count(c)
  if c == nil then return end
  if not is_map(c) then fail '"count" in task is not a mapping' end
  if count_of(c) ~= 1 then fail '"count" in task must have exactly one entry' end
end

local function check_task(t)
  if not is_map(t) then fail "task is not a mapping" end
  if t.command == nil then fail 'Key "command" missing from task' end
  if not values.is_array(t.command) then fail '"command" value must be a sequence' end
  if t.slot == nil then fail 'Key "slot" missing from task' end
  if not is_scalar(t.slot) then fail 'Value of task "slot" must be a YAML scalar' end
  check_task_count(t.count)
  if t.distribution ~= nil and not is_scalar(t.distribution) then
    fail 'Value of task "distribution" must be a YAML scalar'
  end
  if t.attributes ~= nil and not is_map(t.attributes) then fail '"attributes" in task is not a mapping' end
  local n = count_of(t)
  if n < 3 or n > 5 then fail "impossible number of entries in task mapping" end
end

local function check_tasks(list)
  if not values.is_array(list) then fail '"tasks" is not a sequence' end
  for _, t in ipairs(list) do check_task(t) end
end

local function read_system(system, job)
  if not is_map(system) then return end
  if system.duration ~= nil then
    job.duration = tonumber(system.duration) or fail "bad conversion"
  end
  if system.queue ~= nil then job.queue = tostring(system.queue) end
  if system.constraints ~= nil then
    local why
    job.constraint, why = constraint.compile(system.constraints)
    if not job.constraint then fail(why) end
  end
end

local function read_attributes(attributes, job)
  if attributes == core.null then return end
  if not is_map(attributes) then fail '"attributes" is not a map' end
  for key in pairs(attributes) do
    if key ~= "user" and key ~= "system" then fail 'Unknown key in "attributes"' end
  end
  read_system(attributes.system, job)
end

-- ---- the whole ----------------------------------------------------------------------------------------------

local function check_top(top)
  if not is_map(top) then fail "Top level of jobspec is not a mapping" end
  for _, pair in ipairs { { "version", "version" }, { "resources", "resource" }, { "tasks", "tasks" },
    { "attributes", "attributes" } } do
    if top[pair[1]] == nil then fail(('Missing key "%s" in top level mapping'):format(pair[2])) end
  end
  if count_of(top) ~= 4 then fail "Top mapping in jobspec must have exactly four entries" end
  if not is_scalar(top.version) then fail '"version" must be an unsigned integer' end
  local version = unsigned(top.version)
  if version < 1 or version > 9999 then fail 'Only jobspec "version" 1-9999 is supported' end
end

local function read(top, types)
  check_top(top)
  local job = { duration = 0 }
  read_attributes(top.attributes, job)
  job.resources = read_resources(top.resources, types)
  check_tasks(top.tasks)
  return job
end

--- {resources, duration (seconds, 0 for none), queue, constraint}; or nil and what is wrong. `types` knows the types of
--- the graph.
function M.parse(text, types)
  local top, why = core.document(text, { format = "yaml", source = "jobspec" })
  if top == nil then return nil, why end
  local ok, job = pcall(read, top, types)
  if ok then return job end
  if type(job) ~= "table" or not job.jobspec then error(job, 0) end
  return nil, job.jobspec
end

return M
