--- machine/flux.lua - a Flux instance by its configuration: the output of `flux config get`, with the R named by
--- resource.path, the hosts of resource.config, or else a file R or R.json next to the configuration (`flux kvs get resource.R`).
---
--- Queues have their required properties; limits of policy.limits, of all queues and of single queues, are kept. See
--- machine/queues.lua.

local bounds = require "weir.machine.bounds"
local core = require "weir.core"
local description = require "weir.machine.description"
local failure = require "weir.failure"
local files = require "weir.files"
local queues = require "weir.machine.queues"
local tables = require "weir.tables"

local M = {}

local UNITS = { ms = 0.001, s = 1, m = 60, h = 3600, d = 86400 }

local fail = failure.fail

local function table_of(value, path)
  if value == nil or value == core.null then return {} end
  if type(value) ~= "table" then fail("%s: expected a table, not a %s", path, type(value)) end
  return value
end

-- Returns the seconds of a duration in Flux's form, such as "30m"; nil for no limit.
local function seconds(value, path)
  if value == nil then return nil end
  if type(value) == "number" then return value > 0 and value or nil end
  if value == "infinity" or value == "inf" then return nil end
  local digits, unit = tostring(value):match "^(%d+%.?%d*)(%a*)$"
  local factor = digits and UNITS[unit == "" and "s" or unit]
  if not factor then fail('%s: "%s": expected a duration such as "30m", in ms, s, m, h or d', path, tostring(value)) end
  local n = tonumber(digits) * factor
  return n > 0 and (math.tointeger(n) or n) or nil
end

-- ---- queues -------------------------------------------------------------------------------------------------

local function limits_of(policy, path)
  local limits = table_of(table_of(policy, path).limits, path .. ".limits")
  local size = table_of(limits["job-size"], path .. ".limits.job-size")
  return { max_time = seconds(limits.duration, path .. ".limits.duration"),
    max_nodes = math.tointeger(table_of(size.max, path).nnodes), min_nodes = math.tointeger(table_of(size.min, path).nnodes) }
end

local function default_of(policy, path, key)
  local defaults = table_of(table_of(policy, path).jobspec, path .. ".jobspec")
  return table_of(table_of(defaults.defaults, path .. ".jobspec.defaults").system, path .. ".jobspec.defaults.system")[key]
end

-- Returns what a configuration says of a queue itself: required properties, limits, the default duration.
local function own_of(queue, path)
  local one = limits_of(table_of(queue, path).policy, path .. ".policy")
  one.requires = queue.requires and table_of(queue.requires, path .. ".requires") or nil
  one.default_time = seconds(default_of(queue.policy, path .. ".policy", "duration"), path)
  return one
end

-- Fills the fields that `one` lacks from `other`.
local function inherit(one, other)
  for field, value in pairs(other) do
    if one[field] == nil then one[field] = value end
  end
end

-- Returns the queues of a configuration by name. A virtual queue (RFC 33) has the fields that it lacks from its parent.
local function queues_of(config)
  local all, own, list = limits_of(config.policy, "policy"), {}, {}
  local default = default_of(config.policy, "policy", "queue")
  all.default_time = seconds(default_of(config.policy, "policy", "duration"), "policy.jobspec.defaults.system.duration")
  local given = table_of(config.queues, "queues")
  for name, queue in tables.sorted(given) do own[name] = own_of(queue, "queues." .. name) end
  for name, one in tables.sorted(own) do
    local parent = given[name].parent
    if parent ~= nil and not own[parent] then fail('queues.%s.parent: there is no queue "%s"', name, tostring(parent)) end
    local queue = { state = "up", default = name == default or nil }
    inherit(queue, one)
    inherit(queue, own[parent] or {})
    inherit(queue, all)
    list[name] = queue
  end
  return list
end

-- ---- resources ----------------------------------------------------------------------------------------------

-- Returns a value of a type, nil where there is none; fails for a value of another type.
local function value_of(value, kind, path, example)
  if value == nil or value == core.null then return nil end
  if type(value) ~= kind then fail("%s: expected a %s such as %s, not a %s", path, kind, example, type(value)) end
  return value
end

-- Returns the number of ids of an idset; nil where there is none.
local function count_of(value, path)
  local text = value_of(value, "string", path, '"0-3"')
  if not text then return nil end
  local ids, why = core.idset(text)
  if not ids then fail("%s: %s", path, why) end
  return ids:count()
end

local function gpus_of(count) return count and count > 0 and { { name = "gpu", count = count } } or {} end

local function properties_of(value, path)
  local list = {}
  for k, property in pairs(table_of(value, path)) do
    if math.type(k) ~= "integer" then fail("%s: expected a list of names, not an object", path) end
    list[k] = value_of(property, "string", ("%s[%d]"):format(path, k), '"gpu"') or fail("%s[%d]: expected a name, not null", path, k)
  end
  return list
end

-- Returns the hosts of an entry of resource.config, and what the entry says of them: the fields of a node.
local function read_entry(entry, path)
  local list, why = core.hostlist(value_of(table_of(entry, path).hosts, "string", path .. ".hosts", '"node[0-3]"') or "")
  if not list or list:count() == 0 then fail("%s: hosts: %s", path, why or 'expected names such as "node[0-3]"') end
  local cores, gpus = count_of(entry.cores, path .. ".cores"), count_of(entry.gpus, path .. ".gpus")
  local features = properties_of(entry.properties, path .. ".properties")
  return list, { cores = cores, cpus = cores, gres = gpus and gpus_of(gpus), features = features }
end

local NODE = { sockets = 1, cores = 0, threads = 1, cpus = 0, flat = true, memory = 0, gres = {}, features = {}, state = "up" }

-- Returns the description of the hosts of resource.config. A host may be in several entries: a later one replaces its cores and
-- its gpus, and adds properties.
local function hosts_of(entries)
  local nodes, by_name, read, count = {}, {}, {}, bounds.entries()
  for i, entry in ipairs(entries) do -- all are counted before any is expanded
    local path = ("resource.config[%d]"):format(i)
    local list, said = read_entry(entry, path)
    local many = count(list:count() * (1 + #said.features))
    if many then fail("%s: %s", path, many) end
    if list:count() > bounds.HOSTS then fail("%s: more than %d hosts", path, bounds.HOSTS) end
    said.place = { file = path, line = 0 }
    read[i] = { list, said, path }
  end
  for _, entry in ipairs(read) do
    local list, said, path = table.unpack(entry)
    local new = { __index = setmetatable(said, { __index = NODE }) } -- hosts have what they share in the record of the entry
    for k = 1, list:count() do
      local node = by_name[list[k]]
      if node then
        node.cores, node.cpus = rawget(said, "cores") or node.cores, rawget(said, "cpus") or node.cpus
        node.gres = rawget(said, "gres") or node.gres
        if #said.features > 0 then node.features = tables.append(tables.copy(node.features), said.features) end
      else
        if #nodes == bounds.HOSTS then fail("%s: more than %d hosts in all", path, bounds.HOSTS) end
        node = setmetatable({ name = list[k] }, new)
        nodes[#nodes + 1], by_name[node.name] = node, node
      end
    end
  end
  return { name = "cluster", nodes = nodes, queues = {}, switches = {}, consumption = {} }
end

local function beside(name, file) return file:find "^/" and file or (name:match "^(.*/)[^/]*$" or "") .. file end

-- Returns the path of the R: named by the configuration, or next to the configuration.
local function path_of(resource, name)
  if resource.path then return beside(name, resource.path) end
  for _, file in ipairs { "R", "R.json" } do
    if files.exists(beside(name, file)) then return beside(name, file) end
  end
  fail("it has no resources: expected resource.path, resource.config, or a file R or R.json next to it (flux kvs get resource.R)")
end

local function machine_of(config, name)
  local resource = table_of(config.resource, "resource")
  if not resource.path and resource.config then
    return failure.must(description.build(hosts_of(table_of(resource.config, "resource.config"))))
  end
  return failure.must(core.load(path_of(resource, name)))
end

-- ---- the whole ----------------------------------------------------------------------------------------------

--- Whether the beginning of a text looks like a configuration of Flux.
function M.is(head)
  if not head:find "^%s*{" or core.guess(head) then return false end
  return head:find '"resource"%s*:%s*{' ~= nil or head:find '"queues"%s*:%s*{' ~= nil
end

--- Builds a graph from the text of a configuration in JSON. `name`: the name of the text in errors, next to which an R is looked
--- for. Returns the graph; or nil, message, code.
function M.parse(text, name)
  local config, wrong = core.json_decode(text)
  if type(config) ~= "table" then return nil, ("%s: %s"):format(name, wrong or "expected an object"), "parse" end
  local made, why, code = failure.caught("parse", function()
    local list = queues_of(config)
    local graph = machine_of(config, name)
    queues.set(graph:roots()[1], list, { unit = "core" })
    return graph
  end)
  if made then return made end
  return nil, ("%s: %s"):format(name, why), code
end

return M
