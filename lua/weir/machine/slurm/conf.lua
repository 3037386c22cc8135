--- conf.lua - slurm.conf, and gres.conf and topology.conf next to it, as a description of a machine; see
--- machine/description.lua for its fields.
---
--- Read are ClusterName, SelectType, SelectTypeParameters, NodeName, NodeSet, DownNodes, PartitionName, SwitchName and
--- Include. All other keys have no meaning for the machine, and are passed over; a key that looks like a mistyped key of
--- a node or a partition is an error, as a core count passed over would make a different machine.

local bounds = require "weir.machine.bounds"
local core = require "weir.core"
local failure = require "weir.failure"
local files = require "weir.files"
local gres = require "weir.machine.slurm.gres"
local lines = require "weir.machine.slurm.lines"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

local fail = lines.fail

local function set_of(text)
  local set = {}
  for word in text:gmatch "%S+" do set[word:lower()] = word end
  return set
end

local NODE = set_of [[NodeName Boards CPUs Procs CoreSpecCount CoresPerSocket CpuBind CpuSpecList Feature Features Gres
  MemSpecLimit NodeAddr NodeHostname BcastAddr Port RealMemory Reason RestrictedCoresPerGPU Sockets SocketsPerBoard State
  ThreadsPerCore TmpDisk TRESWeights Weight Topology Extra Comment Parameters GpuSpec]]
local PARTITION = set_of [[PartitionName AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind Default
  DefaultTime DefCpuPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode DenyAccounts DenyQos DisableRootJobs ExclusiveTopo
  ExclusiveUser GraceTime Hidden JobDefaults LLN MaxCPUsPerNode MaxCPUsPerSocket MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime
  MinNodes Nodes OverSubscribe OverTimeLimit PowerDownOnIdle PreemptMode Priority PriorityJobFactor PriorityTier QOS ReqResv
  ResumeTimeout RootOnly SelectTypeParameters Shared State SuspendTime SuspendTimeout TRESBillingWeights Topology]]

local function check_keys(keys, known, place)
  for _, key in ipairs(keys) do
    if not known[key:lower()] then
      local near = suggest.nearest(key, tables.map(tables.keys(known), function(name) return known[name] end))
      if near then fail(place, 'unknown key "%s" (did you mean "%s"?)', key, near) end
    end
  end
end

-- Returns the values of a line above those of the last DEFAULT line.
local function with_defaults(values, defaults) return tables.update(tables.copy(defaults), values) end

-- ---- nodes --------------------------------------------------------------------------------------------------

-- Returns the value of a key that counts parts of a node; nil without the key.
local function number(values, key, place, name)
  if not values[key] then return nil end
  local n = lines.whole(values[key], place, name)
  if n < 1 then fail(place, "%s=%s: expected 1 or more", name, values[key]) end
  local many = bounds.processors(n)
  if many then fail(place, "%s=%s: %s", name, values[key], many) end
  return n
end

-- Returns sockets, cores of a socket, threads of a core and processors of a node, by the rules of Slurm: what is left
-- out is 1, and processors alone are as many sockets of one core.
local function shape_of(values, place)
  local boards = number(values, "boards", place, "Boards")
  local cores = number(values, "corespersocket", place, "CoresPerSocket")
  local threads = number(values, "threadspercore", place, "ThreadsPerCore")
  local cpus = number(values, values.cpus and "cpus" or "procs", place, "CPUs")
  local sockets = number(values, "sockets", place, "Sockets")
  local each = number(values, "socketsperboard", place, "SocketsPerBoard")
  if sockets and each then fail(place, "Sockets and SocketsPerBoard: expected one of them") end
  if not sockets and (boards or each) then sockets = (boards or 1) * (each or 1) end
  local one = (cores or 1) * (threads or 1)
  if not sockets and cpus and (boards or 1) == 1 then sockets = math.max(cpus // one, 1) end
  sockets = sockets or 1
  local many = bounds.processors(sockets) or bounds.processors(sockets * (cores or 1)) or bounds.processors(sockets * one)
  if many then fail(place, "%s", many) end
  local total = sockets * one
  cpus = cpus or total
  if cpus ~= total and cpus ~= sockets * (cores or 1) and cpus ~= sockets then
    fail(place, "CPUs=%d does not match %d %s of %d %s with %d %s: expected %d or %d", cpus, sockets, sockets == 1 and "socket" or
      "sockets", cores or 1, (cores or 1) == 1 and "core" or "cores", threads or 1, (threads or 1) == 1 and "thread" or "threads",
      total, sockets * (cores or 1))
  end
  return sockets, cores or 1, threads or 1, cpus
end

local STATES = { unknown = "up", idle = "up", up = "up", cloud = "up", down = "down", drain = "draining", drained = "draining",
  draining = "draining", fail = "down", failing = "failing", undrain = "up", resume = "up" }

local function state_of(text, place)
  local word = text:lower()
  if word == "future" then return "future" end
  local state = STATES[word]
  if not state then
    fail(place, "State=%s: expected CLOUD, DOWN, DRAIN, FAIL, FAILING, FUTURE or UNKNOWN%s", text,
      suggest.hint(word, { "cloud", "down", "drain", "fail", "failing", "future", "unknown" }))
  end
  return state
end

local function add_nodes(build, values, keys, place)
  check_keys(keys, NODE, place)
  if values.nodename:upper() == "DEFAULT" then
    build.node_defaults = with_defaults(values, build.node_defaults)
    return
  end
  values = with_defaults(values, build.node_defaults)
  local sockets, cores, threads, cpus = shape_of(values, place)
  local state = state_of(values.state or "UNKNOWN", place)
  if state == "future" then return end
  local one = { place = place, sockets = sockets, cores = cores, threads = threads, cpus = cpus, state = state,
    flat = not (values.sockets or values.socketsperboard or values.boards or values.corespersocket),
    reserved = values.corespeccount and lines.whole(values.corespeccount, place, "CoreSpecCount") or 0,
    memory = values.realmemory and lines.whole(values.realmemory, place, "RealMemory") or 1,
    features = lines.items(values.features or values.feature or ""), gres = gres.parse(values.gres or "", place),
    weight = values.weight and lines.whole(values.weight, place, "Weight") or nil, reason = values.reason }
  if values.memspeclimit then
    one.memory = math.max(one.memory - lines.whole(values.memspeclimit, place, "MemSpecLimit"), 0)
  end
  local names = lines.hosts(values.nodename, place, "NodeName")
  if #build.nodes + #names > bounds.HOSTS then fail(place, "NodeName: more than %d hosts in all", bounds.HOSTS) end
  lines.count(place, #names * (#one.features + #one.gres), "NodeName")
  local line = { __index = one } -- nodes have what they share in the record of the line
  for _, name in ipairs(names) do
    if build.by_name[name] then
      fail(place, "NodeName=%s: the node is described in line %d already", name, build.by_name[name].place.line)
    end
    local node = setmetatable({ name = name }, line)
    build.nodes[#build.nodes + 1], build.by_name[name] = node, node
  end
end

-- ---- partitions ---------------------------------------------------------------------------------------------

local function duration(values, key, place, name)
  local text = values[key]
  if not text or text:upper() == "NONE" then return nil end
  local seconds = lines.duration(text)
  if not seconds then fail(place, '%s=%s: expected a time such as 60, 1-00:00:00 or UNLIMITED', name, text) end
  return seconds < math.huge and seconds or nil
end

local function limit(values, key, place, name)
  local text = values[key]
  if not text or text:upper() == "UNLIMITED" or text:upper() == "INFINITE" then return nil end
  return lines.whole(text, place, name)
end

-- Returns a list of names, such as those of AllowAccounts; nil where all are meant.
local function name_list(values, key)
  local text = values[key]
  if not text or text:upper() == "ALL" then return nil end
  return lines.items(text)
end

local QUEUE_STATES = { up = "up", down = "down", drain = "drain", inactive = "inactive" }

local function add_partition(build, values, keys, place)
  check_keys(keys, PARTITION, place)
  if values.partitionname:upper() == "DEFAULT" then
    build.partition_defaults = with_defaults(values, build.partition_defaults)
    return
  end
  values = with_defaults(values, build.partition_defaults)
  for _, name in ipairs(lines.items(values.partitionname)) do
    if build.queues_by_name[name] then fail(place, "PartitionName=%s: the partition is described already", name) end
    local state = QUEUE_STATES[(values.state or "UP"):lower()]
    if not state then fail(place, "State=%s: expected UP, DOWN, DRAIN or INACTIVE", values.state) end
    local share = (values.oversubscribe or values.shared or "NO"):upper()
    local queue = { name = name, place = place, nodes = values.nodes or "", state = state,
      default = (values.default or "NO"):upper() == "YES" or nil, exclusive = share:find "^EXCLUSIVE" and true or nil,
      max_time = duration(values, "maxtime", place, "MaxTime"), default_time = duration(values, "defaulttime", place, "DefaultTime"),
      min_nodes = limit(values, "minnodes", place, "MinNodes"), max_nodes = limit(values, "maxnodes", place, "MaxNodes"),
      accounts = name_list(values, "allowaccounts"), not_accounts = not values.allowaccounts and name_list(values, "denyaccounts") or nil,
      qos = name_list(values, "allowqos"),
      priority_tier = limit(values, values.prioritytier and "prioritytier" or "priority", place, "PriorityTier"),
      priority_job_factor = limit(values, values.priorityjobfactor and "priorityjobfactor" or "priority", place, "PriorityJobFactor") }
    build.queues[#build.queues + 1], build.queues_by_name[name] = queue, queue
  end
end

-- Returns the nodes of a list that may have ALL, names, and names of node sets.
local function nodes_of(build, text, place, key)
  local list, seen = {}, {}
  local function add(node)
    if not seen[node] then list[#list + 1], seen[node] = node, true end
  end
  for _, item in ipairs(lines.items(text)) do
    local set = build.sets[item]
    if set or item:upper() == "ALL" then lines.count(place, #build.nodes, key) end
    if item:upper() == "ALL" then
      for _, node in ipairs(build.nodes) do add(node) end
    elseif set then
      for _, node in ipairs(build.nodes) do
        if set.names[node.name] or set.feature and tables.has(node.features, set.feature) then add(node) end
      end
    else
      for _, name in ipairs(lines.hosts(item, place, key)) do
        local node = build.by_name[name]
        if not node and not build.future[name] then
          fail(place, '%s=%s: there is no node "%s"', key, text:sub(1, 60), name)
        end
        if node then add(node) end
      end
    end
  end
  return list
end

-- Counts what the lists of the partitions expand to, before the first of them is expanded.
local function count_partitions(build)
  local count = bounds.entries()
  count(#build.nodes)
  for _, queue in ipairs(build.queues) do
    for _, item in ipairs(lines.items(queue.nodes)) do
      local all = build.sets[item] or item:upper() == "ALL"
      local list = not all and core.hostlist(item)
      local many = count(all and #build.nodes or list and list:count() or 0)
      if many then fail(queue.place, "Nodes: %s", many) end
    end
  end
end

local function add_set(build, values, _, place)
  local set = { feature = values.feature, names = {} }
  for _, name in ipairs(lines.hosts(values.nodes or "", place, "Nodes")) do set.names[name] = true end
  build.sets[values.nodeset] = set
end

local function add_down(build, values, _, place)
  if values.downnodes:upper() == "DEFAULT" then return end
  build.down[#build.down + 1] = { nodes = values.downnodes, state = state_of(values.state or "DOWN", place), place = place,
    reason = values.reason }
end

-- ---- switches -----------------------------------------------------------------------------------------------

local function add_switch(build, values, _, place)
  for _, name in ipairs(lines.hosts(values.switchname, place, "SwitchName")) do
    if build.switches_by_name[name] then fail(place, "SwitchName=%s: the switch is described already", name) end
    if values.nodes and values.switches then fail(place, "SwitchName=%s: expected Nodes or Switches, not both", name) end
    if not (values.nodes or values.switches) then fail(place, "SwitchName=%s: expected Nodes or Switches", name) end
    local switch = { name = name, place = place, nodes = values.nodes, switches = values.switches }
    build.switches[#build.switches + 1], build.switches_by_name[name] = switch, switch
  end
end

-- Replaces the texts of a switch by lists of the switches and nodes below. A switch is below one switch at most, and never below
-- itself.
local function resolve_switches(build)
  for _, switch in ipairs(build.switches) do
    local names = lines.hosts(switch.switches or "", switch.place, "Switches")
    switch.below = {}
    for i, name in ipairs(names) do
      local other = build.switches_by_name[name]
      if not other then fail(switch.place, 'Switches=%s: there is no switch "%s"', switch.switches, name) end
      if other.above then fail(switch.place, "Switches=%s: %s is below %s already", switch.switches, name, other.above.name) end
      other.above, switch.below[i] = switch, other
    end
    switch.hosts = nodes_of(build, switch.nodes or "", switch.place, "Nodes")
  end
  for _, switch in ipairs(build.switches) do
    local at, steps = switch.above, 0
    while at do
      steps = steps + 1
      if steps > #build.switches then fail(switch.place, "SwitchName=%s: the switch is below itself", switch.name) end
      at = at.above
    end
  end
end

-- ---- the whole ----------------------------------------------------------------------------------------------

local KINDS = { { "nodename", add_nodes }, { "partitionname", add_partition }, { "nodeset", add_set }, { "downnodes", add_down },
  { "switchname", add_switch } }

local function future_names(build, values, place)
  if (values.state or (build.node_defaults or {}).state or ""):upper() ~= "FUTURE" then return end
  if values.nodename:upper() == "DEFAULT" then return end
  for _, name in ipairs(lines.hosts(values.nodename, place, "NodeName")) do build.future[name] = true end
end

local function take(build, line, place)
  local first = line:match "^%s*([%w_]+)%s*="
  if not first then fail(place, 'expected Key=Value, not "%s"', (line:match "^%s*(%S*)"):sub(1, 40)) end
  first = first:lower()
  for _, kind in ipairs(KINDS) do
    if kind[1] == first then
      local values, keys = lines.pairs(line, place)
      if first == "nodename" then future_names(build, values, place) end
      return kind[2](build, values, keys, place)
    end
  end
  build.settings[first] = line:match "=%s*(.-)%s*$"
end

-- Reads a file next to slurm.conf, if there is one.
local function beside(name, file, f)
  local path = lines.beside(name, file)
  if not files.exists(path) then return end
  lines.each(failure.must(files.read(path, "settings")), path, f)
end

-- How jobs are given parts of nodes: {unit = "core", "cpu", "socket" or "node", memory = whether memory is counted}.
local function consumption(settings)
  local kind, params = (settings.selecttype or ""):lower(), (settings.selecttypeparameters or ""):lower()
  local unit = kind:find "linear" and "node" or params:find "cr_socket" and "socket" or params:find "cr_core" and "core" or "cpu"
  return { unit = unit, memory = params:find "memory" ~= nil or nil }
end

--- Reads the text of a slurm.conf. `file`: its name; gres.conf and topology.conf are looked for next to it. Returns the
--- description; raises a failure for what is wrong.
function M.read(text, file)
  local build = { nodes = {}, by_name = {}, queues = {}, queues_by_name = {}, sets = {}, down = {}, switches = {}, future = {},
    switches_by_name = {}, settings = {} }
  lines.each(text, file, function(line, place) take(build, line, place) end)
  if #build.nodes == 0 then failure.raise(file .. ": no line describes a node: expected NodeName=...", "parse") end
  if file ~= "<stdin>" and file ~= "<string>" then
    beside(file, "topology.conf", function(line, place) take(build, line, place) end)
    local records = {}
    beside(file, "gres.conf", function(line, place) records[#records + 1] = gres.record(line, place) end)
    gres.refine(build, records)
  end
  count_partitions(build)
  for _, down in ipairs(build.down) do
    for _, node in ipairs(nodes_of(build, down.nodes, down.place, "DownNodes")) do node.state, node.reason = down.state, down.reason end
  end
  for _, queue in ipairs(build.queues) do queue.nodes = nodes_of(build, queue.nodes, queue.place, "Nodes") end
  resolve_switches(build)
  return { name = build.settings.clustername or "cluster", nodes = build.nodes, queues = build.queues, switches = build.switches,
    consumption = consumption(build.settings) }
end

return M
