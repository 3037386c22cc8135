--- description.lua - a cluster as its administrators describe it, made a graph. A description has
---
---   name         of the cluster
---   nodes        a list of {name =, sockets =, cores = of a socket, threads = of a core, cpus =, flat = (true: no sockets are
---                given), reserved = cores that jobs do not get, memory = MB, state = a word of weir.states, features = a list,
---                gres = a list of {name =, kind =, count =}, weight =, reason =}
---   queues       a list of {name =, nodes = a list of nodes, ...}; further fields are limits, see machine/queues.lua
---   switches     a list of {name =, below = a list of switches, hosts = a list of nodes}; empty without a topology
---   consumption  {unit = "core", "cpu", "socket" or "node", memory =}: what jobs are given
---
--- The graph has a cluster with nodes, in their order and with ranks; below a node are its sockets with cores, its memory,
--- its gpus and its other resources. Features are properties of nodes; so are the names of queues, as a queue
--- requires a property (RFC 33). The switches are the subsystem "network". Queues are in `data.queues` of the cluster.

local bounds = require "weir.machine.bounds"
local chunk = require "weir.machine.sandboxed_file"
local failure = require "weir.failure"
local queues = require "weir.machine.queues"
local tables = require "weir.tables"

local M = {}

local must = failure.must

local INNER = { gpu = true, mic = true } -- resources of which each is a vertex

-- Returns the number of vertices of a node, reserved cores included: a float, as counts of a text may be large.
local function vertices_of(node)
  local n = 1.0 + (node.flat and 0 or node.sockets) + node.sockets * node.cores + (node.memory > 0 and 1 or 0)
  for _, one in ipairs(node.gres or {}) do n = n + (INNER[one.name] and one.count or 1) end
  return n
end

-- Fails where the machine has too many vertices, at the node that exceeds the bound.
local function check_size(description)
  local n = 1 + #description.switches
  for _, node in ipairs(description.nodes) do
    n = n + vertices_of(node)
    local many = bounds.vertices(n)
    if many then failure.fail("%s%s", node.place.line > 0 and ("line %d: "):format(node.place.line) or "", many) end
  end
end

-- Adds `count` leaves of a type, none where the count is below 1, with ids from `id` on.
local function leaves(build, parent, type, id, count, properties)
  if count <= 0 then return end
  must(build.graph:add(parent, { type = type, id = id, properties = properties }, count, 1))
end

-- Adds the cores of a node, below sockets where sockets are given. Cores reserved for the system are the last of each
-- socket in turn.
local function add_cores(build, v, node)
  local kept = {}
  for s = 1, node.sockets do kept[s] = node.cores end
  for i = 0, math.min(node.reserved or 0, node.sockets * node.cores) - 1 do
    local s = node.sockets - i % node.sockets
    kept[s] = kept[s] - 1
  end
  for s = 1, node.sockets do
    local parent = v
    if not node.flat then parent = must(build.graph:add(v, { type = "socket", id = s - 1 })) end
    leaves(build, parent, "core", (s - 1) * node.cores, kept[s])
  end
end

local function add_gres(build, v, list)
  local ids = {}
  for _, one in ipairs(list) do
    local id = ids[one.name] or 0
    local properties = one.kind and { [one.kind] = true } or nil
    if INNER[one.name] then
      leaves(build, v, one.name, id, one.count, properties)
      ids[one.name] = id + one.count
    else
      must(build.graph:add(v, { type = one.name, id = id, size = one.count, properties = properties }))
      ids[one.name] = id + 1
    end
  end
end

local function properties_of(build, node)
  local properties = tables.set(node.features)
  for _, property in ipairs(build.properties[node] or {}) do properties[property] = true end
  if node.weight and node.weight ~= 1 then properties.weight = tostring(node.weight) end
  return properties
end

-- Splits a name that ends in a number. Returns the stem, the digits and their number; nil for a name without a number at the end.
local function split(name)
  local basename, digits = name:match "^(.-%a)(%d+)$"
  local id = digits and #digits < 16 and math.tointeger(tonumber(digits))
  if id then return basename, digits, id end
end

-- Returns the stems of host names for which some number has leading zeros.
local function padded_of(nodes)
  local padded = {}
  for _, node in ipairs(nodes) do
    local basename, digits, id = split(node.name)
    if basename and tostring(id) ~= digits then padded[basename] = true end
  end
  return padded
end

-- A name that ends in a number of usual form is kept as basename and id, which costs less than a name; node08 and node10 are
-- both kept as names.
local function identity(build, name)
  local basename, digits, id = split(name)
  if basename and tostring(id) == digits and not build.padded[basename] then return basename, id end
end

local function add_node(build, cluster, node, rank)
  local pool = { type = "node", rank = rank, properties = properties_of(build, node) }
  pool.basename, pool.id = identity(build, node.name)
  if not pool.id then pool.name = node.name end
  local v = must(build.graph:add(cluster, pool))
  if node.flat then leaves(build, v, "core", 0, node.sockets * node.cores - (node.reserved or 0)) else add_cores(build, v, node) end
  if node.memory and node.memory > 0 then
    must(build.graph:add(v, { type = "memory", id = 0, size = node.memory, unit = "MB" }))
  end
  add_gres(build, v, node.gres or {})
  build.vertices[node] = v
end

local function add_edge(build, from, to)
  must(build.graph:add_edge(from, to, { subsystem = "network", type = "contains", back = "in" }))
end

local function add_switches(build, switches)
  local made = {}
  for i, switch in ipairs(switches) do
    local pool = { type = "switch", name = switch.name }
    made[i] = must(build.graph:add(nil, pool))
    build.vertices[switch] = made[i]
  end
  for i, switch in ipairs(switches) do
    for _, other in ipairs(switch.below) do add_edge(build, made[i], build.vertices[other]) end
    for _, node in ipairs(switch.hosts) do add_edge(build, made[i], build.vertices[node]) end
  end
end

-- Sets the properties that mark the nodes of a queue: the name of the queue, or "queue-NAME" where other nodes have a
-- feature of that name.
local function mark_queues(build, description)
  local featured = {}
  for _, node in ipairs(description.nodes) do
    for _, feature in ipairs(node.features) do featured[feature] = true end
  end
  for _, queue in ipairs(description.queues) do
    local property = featured[queue.name] and "queue-" .. queue.name or queue.name
    queue.requires = { property }
    for _, node in ipairs(queue.nodes) do
      tables.push(build.properties, node, property)
    end
  end
end

local function set_states(build, nodes)
  for _, node in ipairs(nodes) do
    local v = build.vertices[node]
    if node.state ~= "up" then v.state = node.state end
    if node.reason then v.data.reason = node.reason end
  end
end

-- The processors of a core that Slurm counts, by queue.
local function cpus_of_core(nodes)
  local most = 1
  for _, node in ipairs(nodes) do most = math.max(most, node.cpus // math.max(node.sockets * node.cores, 1)) end
  return most
end

local function fill(build, description)
  local cluster = must(build.graph:add(nil, { type = "cluster", name = description.name }))
  mark_queues(build, description)
  build.padded = padded_of(description.nodes)
  for i, node in ipairs(description.nodes) do add_node(build, cluster, node, i - 1) end
  add_switches(build, description.switches)
  set_states(build, description.nodes)
  local list = {}
  for _, queue in ipairs(description.queues) do
    queue.cpus_per_core = cpus_of_core(queue.nodes)
    list[queue.name] = queue
  end
  queues.set(cluster, list, { unit = description.consumption.unit, memory = description.consumption.memory,
    cpus_per_core = cpus_of_core(description.nodes) })
end

--- Makes the graph of a description. Returns the graph; or nil, message, code.
function M.build(description)
  return failure.caught("invalid", function()
    check_size(description)
    return chunk.build(function(graph) fill({ graph = graph, vertices = {}, properties = {} }, description) end)
  end)
end

return M
