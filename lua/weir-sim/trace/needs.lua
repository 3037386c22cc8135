--- needs.lua - turns the resources of a job in an accounting into a request: nodes with cores, memory and gpus, in the job's queue.
---
---   nodes given to one job alone   slot=N/node
---   parts of nodes                 node=N/slot=1/[core=C/N;memory=M/N;gpu=G/N], each rounded up
---   processors wherever they are   slot=C/[core=1;memory=M/C], where the job left the number of nodes open
---
--- The data of a machine (see weir.machine.queues) say how the machine counts: processors of a core, whether memory counts,
--- whether nodes are shared. Types that the machine lacks are not requested, such as memory in a machine without memory.

local core = require "weir.core"
local queues = require "weir.machine.queues"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

local CACHED = 20000 -- requests remembered

local function up(a, b) return -(-a // b) end

-- ---- the machine ----------------------------------------------------------------------------------------------

local BYTES = { B = 1, kB = 1e3, KB = 1e3, MB = 1e6, GB = 1e9, TB = 1e12, KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30, TiB = 1 << 40 }

-- Returns the factor from megabytes to units of the machine's memory pools; nil without such pools.
local function memory_factor(graph)
  local pool = graph:walk { type = "memory" } ()
  if not pool then return nil end
  if pool.unit == "MB" or pool.unit == "MiB" then return 1 end -- Slurm's MB are MiB
  return (1 << 20) / (BYTES[pool.unit] or 1e6)
end

local function survey(graph)
  local list, consumption = queues.of(graph)
  local types = tables.set(graph:types())
  local memory = types.memory and consumption.memory and memory_factor(graph) or nil
  return { queues = list, names = tables.keys(list), unit = consumption.unit or "core", types = types, memory = memory,
    cpus_per_core = consumption.cpus_per_core or 1 }
end

-- ---- one job ----------------------------------------------------------------------------------------------------

local function level(type, count, with) return { type = type, count = count, with = with } end

-- Appends the generic resources of a job, its number divided by `by`, to the resources of a slot.
local function add_gres(machine, with, gres, by)
  local total = {}
  for key, count in pairs(gres or {}) do
    local name = key:match "^[^:]+"
    if key == name or not gres[name] then total[name] = (total[name] or 0) + count end
  end
  for _, name in ipairs(tables.keys(total)) do
    if machine.types[name] and total[name] > 0 then with[#with + 1] = level(name, up(total[name], by)) end
  end
end

-- Returns the resources of a slot, one of `by` equal parts of the job.
local function part(machine, job, cores, by)
  local with = {}
  if machine.types.core then with[1] = level("core", up(cores, by)) end
  if machine.memory and job.megabytes then
    with[#with + 1] = level("memory", math.max(1, math.ceil(job.megabytes * machine.memory / by)))
  end
  add_gres(machine, with, job.gres, by)
  return with
end

local function slot(count, with) return { type = "slot", count = count, label = "task", with = with } end

local function resources_of(machine, job, queue)
  local cores = up(job.procs, queue and queue.cpus_per_core or machine.cpus_per_core)
  local nodes = job.nodes
  cores = math.max(cores, nodes or 1) -- a job has at least a core in each of its nodes
  if nodes and (queue and queue.exclusive or machine.unit == "node" or job.exclusive or not machine.types.core) then
    return { slot(nodes, { level("node", 1) }) }
  end
  if not nodes or not machine.types.node or job.spread and not job.gres then return { slot(cores, part(machine, job, cores, cores)) } end
  return { level("node", nodes, { slot(1, part(machine, job, cores, nodes)) }) }
end

-- Returns the constraint of a job: the properties of its queue, and the requested features, names joined by "&".
local function properties_of(job, queue)
  local list = tables.copy(queue and queue.requires)
  for word in (job.features or ""):gmatch "[^&]+" do list[#list + 1] = word end
  return #list > 0 and { properties = list } or nil
end

-- Returns the queue of a job, nil on a machine without queues; or nil, message.
local function queue_of(machine, job)
  if #machine.names == 0 then return nil end
  local name = job.queue
  if not name then
    for _, known in ipairs(machine.names) do
      if machine.queues[known].default then return machine.queues[known] end
    end
    return nil
  end
  local queue = machine.queues[tostring(name)]
  if queue then return queue end
  return nil, ('the machine has no queue "%s"%s; it has %s'):format(name, suggest.hint(tostring(name), machine.names),
    table.concat(machine.names, ", "))
end

-- Returns a text, equal for jobs with equal requests.
local function key_of(job)
  local parts = { job.procs, job.nodes or "", job.spread and "s" or "", job.megabytes or "", job.queue or "", job.features or "",
    job.exclusive and "x" or "" }
  for key, count in tables.sorted(job.gres) do parts[#parts + 1] = key .. "=" .. count end
  return table.concat(parts, "|")
end

--- Returns a function from a job of a trace to a request; or nil, message, for a job without a request on the machine.
function M.new(graph)
  local machine, cache, count = survey(graph), {}, 0
  return function(job)
    if job.request then return job.request end
    local key = key_of(job)
    local known = cache[key]
    if known then return known end
    local queue, why = queue_of(machine, job)
    if why then return nil, why end
    local request
    request, why = core.request { resources = resources_of(machine, job, queue),
      attributes = { system = { duration = 0, constraints = properties_of(job, queue) } } }
    if not request then return nil, why end
    if count == CACHED then cache, count = {}, 0 end
    cache[key], count = request, count + 1
    return request
  end
end

-- ---- jobs that get whole nodes -------------------------------------------------------------------------------------

-- Returns the cores of a node, if all nodes have equally many; and the properties of all nodes.
local function common(graph)
  local cores, properties
  for v in graph:walk { type = "node" } do
    local own = v:below "core"
    if cores and cores ~= own then return nil end
    local kept = {}
    for name in pairs(v.properties) do
      if not properties or properties[name] then kept[name] = true end
    end
    cores, properties = own, kept
  end
  return cores, properties
end

-- Returns the number of nodes of which resources take all, and how: "node" as a whole, "core" all their cores and nothing
-- else; or false.
local function all_of(resources, cores)
  local first = resources[1]
  local inside = first.with[1]
  if first.type == "slot" and inside.type == "node" then return first.count, "node" end
  if first.type ~= "node" or #inside.with ~= 1 then return false end
  local only = inside.with[1]
  return only.type == "core" and only.count == cores and first.count, "core"
end

--- Returns a function from a job of a trace to the number of whole nodes of the job, and the way: "node", or "core" for a
--- job that requests all cores of its nodes and nothing else; or false for any other job; or nil, message, for a job without
--- a request on the machine. Returns nil for a machine whose nodes have different numbers of cores.
function M.whole(graph)
  local machine, known = survey(graph), {}
  local cores, properties = common(graph)
  if not cores then return nil end
  local function has_all(wanted)
    for _, name in ipairs(wanted and wanted.properties or {}) do
      if not properties[name] then return false end
    end
    return true
  end
  return function(job)
    if job.request then return false end
    local key = key_of(job)
    local row = known[key]
    if not row then
      local queue, why = queue_of(machine, job)
      if why then return nil, why end
      row = has_all(properties_of(job, queue)) and { all_of(resources_of(machine, job, queue), cores) } or { false }
      known[key] = row
    end
    return row[1], row[2]
  end
end

--- Whether a machine has data about jobs, so that jobs of an accounting are read by this module.
function M.fits(graph)
  local list, consumption = queues.of(graph)
  return next(list) ~= nil or next(consumption) ~= nil
end

return M
