--- fluxion.lua - the requests that users and tools send to Fluxion's modules (sched-fluxion-resource.*,
-- sched-fluxion-qmanager.*), answered for the machine and the jobs of this scheduler: the requests of `flux ion-resource`, so that scripts
-- work after a switch. fluxion_jobs.lua has the requests that take resources outside of the jobs of Flux.
--
-- M.answer(scheduler, topic, payload) returns JSON text; or nil, message, code. M.slow: topics answered in a forked copy.

local core = require "weir.core"
local filters = require "weir.query.filters"
local fluxion_jobs = require "weir.flux.fluxion_jobs"
local fluxion_marks = require "weir.flux.fluxion_marks"
local fluxion_settings = require "weir.flux.fluxion_settings"
local jobid = require "weir.flux.jobid"
local query_machine = require "weir.query.machine"
local search = require "weir.query.search"
local tables = require "weir.tables"
local writers = require "weir.query.writers"

local M = {}

local encode = core.json_encode
local null = core.null

-- ---- find ------------------------------------------------------------------------------------------------------------

-- Returns the machine as the commands of weir query know one. Vertices have the numbers and ranks of the graph in R, where there is
-- one; the others are numbered as a walk finds them.
local function machine_of(self)
  local marks = self.marks or { number = {}, rank = {}, last = -1 }
  local number, rank, n = {}, {}, marks.last + 1
  for v in self.graph:walk {} do
    local path = v.path
    number[v], rank[v] = marks.number[path], marks.rank[path]
    if not number[v] then number[v], n = n, n + 1 end
  end
  return setmetatable({ graph = self.graph, number = number, dominant = "containment", elsewhere = {}, all_types = {},
    rank = function(v) return rank[v] or v.type == "node" and v.rank or -1 end, filters = filters.read() }, query_machine)
end

-- Returns the jobs of the engine as weir query lists them, with times from now on.
local function jobs_of(self)
  local list, by_id = {}, {}
  for i, a in ipairs(self.engine:jobs()) do
    local parts = {}
    for _, pick in ipairs(a:vertices()) do
      if pick.amount > 0 then
        parts[#parts + 1] = { vertex = pick.vertex, amount = pick.amount, exclusive = true, whole = pick.exclusive }
      end
    end
    local job = { job = a.id, kind = a.state == "reserved" and "reserve" or "allocate", parts = parts, at = a.at - self.now,
      stop = a.at + a.duration - self.now }
    list[i], by_id[a.id] = job, job
  end
  return list, by_id
end

local TEXTS = { simple = true, pretty_simple = true } -- formats that are no JSON

-- Returns what an expression finds, as JSON text: "null" where nothing is found; or nil, message, code.
local function find(self, text, format)
  if not writers.known(format) then return nil, ('find: there is no format "%s"'):format(format), "invalid" end
  local id = tonumber(text:match "jobid%-%a+=(%d+)" or 0)
  if math.type(id) ~= "integer" then return nil, "Invalid argument", "invalid" end -- the words of Fluxion for an id above 2^63
  if not self.graph:root() then return "null" end
  local list, by_id = jobs_of(self)
  local session = { machine = machine_of(self), jobs = by_id, list = function() return list end }
  local tree = search.run(session, text)
  if tree == false then return nil, ('find: invalid criteria: "%s"'):format(text), "invalid" end
  if not tree then return "null" end
  local found, why = writers.write(format, session.machine, tree, { start = 0, stop = 0 })
  if not found then return nil, "find: " .. why, "invalid" end
  if found == "" then return "null" end
  return TEXTS[format] and encode(found) or (found:gsub("%s+$", ""))
end

local ANSWER = {}

-- {criteria =, format = "rv1_nosched"}: {"R": what is found}
function ANSWER.find(self, given)
  if type(given.criteria) ~= "string" then return nil, "criteria: expected a text", "invalid" end
  local found, why, code = find(self, given.criteria, type(given.format) == "string" and given.format or "rv1_nosched")
  if not found then return nil, why, code end
  return ('{"R":%s}'):format(found)
end

-- {"all", "down", "allocated"}, each R or null
function ANSWER.status(self)
  local function part(text) return assert(find(self, text, "rv1_nosched")) end
  return ('{"all":%s,"down":%s,"allocated":%s}'):format(part "status=up or status=down", part "status=down",
    part "sched-now=allocated")
end

-- ---- vertices --------------------------------------------------------------------------------------------------------

-- Returns the vertex at a path of containment; or nil, message, code.
local function at(self, path)
  local v = type(path) == "string" and self.graph:vertex(path)
  if not v then return nil, ("Couldn't find '%s' in resource graph"):format(tostring(path)), "unknown" end
  return v
end

-- Returns all vertices with the path of v. Brokers on one host make several nodes with one name.
local function namesakes(v)
  local parent, list = v:parent(), {}
  if not parent then return { v } end
  for _, p in ipairs(namesakes(parent)) do
    for child in p:children() do
      if child.name == v.name then list[#list + 1] = child end
    end
  end
  return list
end

-- Returns all vertices at a path, or at each of a list of paths; or nil, message, code.
local function all_at(self, paths)
  local list = {}
  if type(paths) ~= "table" then paths = { paths } end
  if #paths == 0 then return nil, "expected a path or a list of paths", "invalid" end
  for _, path in ipairs(paths) do
    local v, why, code = at(self, path)
    if not v then return nil, why, code end
    for _, each in ipairs(namesakes(v)) do list[#list + 1] = each end
  end
  return list
end

-- {sp_resource_path = path or list, sp_keyval = "KEY=VALUE"}
function ANSWER.set_property(self, given)
  local key, value = tostring(given.sp_keyval):match "^([^=]+)=(.+)$"
  if not key then return nil, "Incorrect format, use set-property <resource> PROPERTY=VALUE", "invalid" end
  local list, why, code = all_at(self, given.sp_resource_path)
  if not list then return nil, why, code end
  for _, v in ipairs(list) do v.properties[key] = value end
  self:machine_changed()
  return "{}"
end

-- {resource_path = path or list, key =}
function ANSWER.remove_property(self, given)
  local list, why, code = all_at(self, given.resource_path)
  if not list then return nil, why, code end
  for _, v in ipairs(list) do v.properties[tostring(given.key)] = nil end
  self:machine_changed()
  return "{}"
end

-- {gp_resource_path =, gp_key =}: {"values": [the value of each vertex at the path that has the property]}
function ANSWER.get_property(self, given)
  local list, why, code = all_at(self, given.gp_resource_path)
  if not list then return nil, why, code end
  local values = {}
  for _, v in ipairs(list) do
    local value = v.properties[tostring(given.gp_key)]
    if value ~= nil then values[#values + 1] = value == true and "" or value end
  end
  if #values == 0 then
    return nil, ("Property '%s' was not found for resource %s"):format(tostring(given.gp_key), given.gp_resource_path), "unknown"
  end
  return encode { values = core.array(values) }
end

-- {resource_path =, status = "up" or "down"}
function ANSWER.set_status(self, given)
  local list = type(given.resource_path) == "string" and all_at(self, given.resource_path)
  if not list then return nil, ("could not find path '%s' in resource graph"):format(tostring(given.resource_path)), "invalid" end
  if given.status ~= "up" and given.status ~= "down" then
    return nil, ("unrecognized status '%s'"):format(tostring(given.status)), "invalid"
  end
  for _, v in ipairs(list) do v.state = given.status end
  self:machine_changed()
  return "{}"
end

-- Returns why a graph cannot be added, or nil: a node of the graph has a rank of another node in the machine.
local function wrong_rank(self, graph)
  for v in graph:walk { type = "node" } do
    if v.rank and self.follow.targets.all:has(v.rank) and not self.graph:vertex(v.path) then
      return ("%s: rank %d is that of another node"):format(v.path, v.rank)
    end
  end
end

-- {subgraph = JGF as text}: adds the vertices that the machine lacks below the root of both. Jobs may get the new vertices at
-- once.
function ANSWER.add_subgraph(self, given)
  local machine, text = machine_of(self), type(given.subgraph) == "string" and given.subgraph or ""
  local more, why = query_machine.read(text, { format = "jgf", source = "subgraph",
    known = function(path) return self.graph:vertex(path) end }, { "containment" })
  why = why or wrong_rank(self, more.graph)
  if why then return nil, why, "invalid" end
  local tops
  tops, why = machine:add(more)
  if not tops then return nil, why, "invalid" end
  fluxion_marks.add(self, machine)
  self.follow.targets:scan()
  self:machine_changed()
  return "{}"
end

-- {subgraph_path =}: removes a vertex and all vertices below, free of jobs, until the module is loaded again.
function ANSWER.remove_subgraph(self, given)
  local v, why, code = at(self, given.subgraph_path)
  if not v then return nil, why, code end
  if not v:parent() then return nil, ("%s is the root of the machine"):format(v.path), "invalid" end
  local id = v:jobs()[1]
  if id then return nil, ("%s: %s has resources there"):format(v.path, self.jobs[id] and jobid.f58(id) or id), "taken" end
  local ok
  ok, why, code = self.graph:unlink(v, { force = true })
  if not ok then return nil, why, code end
  self.follow.targets:scan()
  self:machine_changed()
  return "{}"
end

-- {rank =, ["type-name"] =, id =}: {"id"}: ids are those of the R of the instance, in each instance.
ANSWER["ns-info"] = function(self, given)
  for v in self.graph:walk { type = tostring(given["type-name"]) } do
    if v.rank == given.rank and v.id == given.id then return encode { id = v.id } end
  end
  return nil, ("there is no %s%s on rank %s"):format(tostring(given["type-name"]), tostring(given.id), tostring(given.rank)), "invalid"
end

-- ---- jobs ------------------------------------------------------------------------------------------------------------

for _, name in ipairs { "match", "update", "cancel", "partial-cancel", "info", "next_jobid" } do ANSWER[name] = fluxion_jobs[name] end

-- ---- parameters and counts -------------------------------------------------------------------------------------------

-- {"params"}: what the settings are in Fluxion's words; what has no counterpart is as Fluxion's own table says, or null
function ANSWER.params(self)
  local format, given = self.settings["R-format"], self.settings.fluxion and self.settings.fluxion.resource or {}
  local function said(key, default)
    if given[key] == nil then return default end
    return given[key]
  end
  local file, of_file = self.settings["load-file"] or null, self.settings["load-format"] or "rv1exec"
  return encode { params = { ["load-file"] = file, ["load-format"] = of_file,
    ["load-allowlist"] = said("load-allowlist", null), policy = self.settings.policy,
    ["match-format"] = format == "auto" and "rv1_nosched" or format, subsystems = said("subsystems", "containment"),
    ["reserve-vtx-vec"] = said("reserve-vtx-vec", 0), ["prune-filters"] = said("prune-filters", "ALL:core,ALL:node"),
    ["update-interval"] = said("update-interval", 0), traverser = self.settings.traverser } }
end

-- Returns the number of vertices on each rank: {[ranks] = number}.
local function by_rank(graph)
  local count, ranks, list = {}, {}, {}
  for v in graph:walk {} do
    if v.rank then count[v.rank] = (count[v.rank] or 0) + 1 end
  end
  for rank, n in pairs(count) do
    tables.push(ranks, n, rank)
  end
  for n, of_it in pairs(ranks) do list[tostring(core.idset(of_it))] = n end
  return list
end

ANSWER["stats-get"] = function(self)
  local V, report = self.graph:count(), self.times:report()
  report.V, report.E, report.by_rank = V, math.max(V - 1, 0), by_rank(self.graph)
  return encode(report)
end

ANSWER["stats-clear"] = function(self)
  self.times:clear()
  return "{}"
end

-- ---- the queue manager -----------------------------------------------------------------------------------------------

local QMANAGER = {}

-- Returns the parameters of a queue with a queue policy such as "hybrid:k=4".
local function queue_params(self, policy)
  local depth = self.settings["queue-depth"]:match "%d+"
  local name, options = policy:match "^([^:]*):?(.*)$"
  return { ["queue-policy"] = name, ["queue-params"] = depth and "queue-depth=" .. depth or "",
    ["policy-params"] = (options:gsub("^k=", "reservation-depth=")) }
end

-- Returns the parameters of the instance, and by name of each queue. A virtual queue has none: its jobs wait in the queue of its
-- parent.
local function params_of(self)
  local own, names = self.settings, {}
  for _, name in ipairs(own.names) do
    if not own.parents[name] then names[#names + 1] = name end
  end
  if own.fluxion and own.fluxion.qmanager and not own.argued.queue then
    return fluxion_settings.parameters(own.fluxion.qmanager, names)
  end
  local params = queue_params(self, own.queue)
  for _, name in ipairs(names) do params[name] = queue_params(self, own.queues[name] or own.queue) end
  return params
end

-- {"params"}
function QMANAGER.params(self) return encode { params = params_of(self) } end

local MOST_DEPTH = 1000000 -- Fluxion's default of max-queue-depth

-- Returns the parameters of "queue-depth=8,max-queue-depth=100" by name.
local function by_name(text)
  local list = {}
  for name, value in text:gmatch "([^,=]+)=([^,]+)" do list[name] = value end
  return list
end

-- Returns the counts of a group of queues. Jobs are listed by id in F58 (RFC 19). The depths are the configured ones; a depth that is
-- not limited is the largest one.
local function counts(self, group, params)
  local pending, running = core.array {}, core.array {}
  for _, id in ipairs(tables.keys(self.jobs)) do
    local job = self.jobs[id]
    if job.group == group then
      local list = job.state == "running" and running or pending
      list[#list + 1] = jobid.f58(id, "f")
    end
  end
  local none, own = core.array {}, by_name(params["queue-params"])
  local depth = math.tointeger(tonumber(own["queue-depth"]))
  local most = math.tointeger(tonumber(own["max-queue-depth"])) or not self.settings.fluxion and depth or MOST_DEPTH
  return { policy = group.name, queue_depth = math.min(depth or most, most), max_queue_depth = most, queue_parameters = own,
    policy_parameters = by_name(params["policy-params"]),
    action_counts = { pending = #pending, running = #running, reserved = self.nreserved, rejected = self.denied,
      complete = group.complete or 0, cancelled = group.cancelled or 0, reprioritized = 0 },
    pending_queues = { pending = pending, pending_provisional = none, blocked = none },
    scheduled_queues = { running = running, rejected = none, canceled = none } }
end

QMANAGER["stats-get"] = function(self)
  local queues, params = {}, params_of(self)
  for name, group in pairs(self.queues.by_queue) do
    queues[name == "" and "default" or name] = counts(self, group, params[name] or params)
  end
  return encode { queues = queues }
end

QMANAGER["stats-clear"] = function() return "{}" end

-- ---- answering -------------------------------------------------------------------------------------------------------

local SERVICES = { ["sched-fluxion-resource"] = ANSWER, ["sched-fluxion-qmanager"] = QMANAGER }

local NEEDS = { find = true, set_property = true, remove_property = true, get_property = true, set_status = true, match = true,
  update = true, cancel = true, ["partial-cancel"] = true, info = true, add_subgraph = true, remove_subgraph = true }

--- Answers a request of a topic such as "sched-fluxion-resource.find", with a payload as JSON text or nil. Returns JSON text; or
--- nil, message, code: "unsupported" for what only Fluxion does.
function M.answer(self, topic, payload)
  local service, name = topic:match "^([^.]+)%.(.+)$"
  local answer = SERVICES[service] and SERVICES[service][name]
  if not answer then return nil, ("%s: sched-weir does not serve this request"):format(topic), "unsupported" end
  if not payload and NEEDS[name] then return nil, "could not unpack payload: there is none", "invalid" end
  local given = core.json_decode(payload or "{}")
  if type(given) ~= "table" then return nil, "expected an object", "invalid" end
  return answer(self, given)
end

return M
