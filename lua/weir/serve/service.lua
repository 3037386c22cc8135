--- service.lua - an engine with its provider, and what clients ask of them. No sockets: calls come in, answers go out through the call.
--
-- The service has the machine as a provider of the acquisition protocol, and schedules what it acquires of that itself, by the same
-- protocol: all of group "default" unless opts.acquire says otherwise. What other schedulers acquire is never placed on here.
--
-- A call is {client =, id =, method =, params =, answer(result), more(result), fail(why, code), pages(next)}; see server.lua.
--
-- Invariant: what is answered is in `graph`; with opts.state it leaves only after `commit` has saved it.

local core = require "weir.core"
local engines = require "weir.engine"
local follow = require "weir.acquire.follow"
local inventory = require "weir.serve.inventory"
local keep = require "weir.serve.keep"
local policies = require "weir.policy"
local providers = require "weir.acquire.provider"
local targets = require "weir.acquire.targets"

local M = {}

local Service = {}
Service.__index = Service

local SELF = "self" -- the stream of the service's own scheduler is this, a dot, and its group
local IDS = 1000    -- ids of jobs are set aside in blocks, so that not each match has to keep the last one

-- ---- messages between provider and scheduler ---------------------------------------------------------------------------

local function own_group(key) return type(key) == "string" and key:match("^" .. SELF .. "%.(.*)$") end

-- From the provider to one of its streams.
local function to_stream(self, key, response)
  local group = own_group(key)
  if group then
    self.queue[#self.queue + 1] = function() self.follower:receive(group, response) end
  else
    key.more(response)
  end
end

-- From the service's own scheduler to the provider.
local function to_provider(self, method, payload, group)
  self.queue[#self.queue + 1] = function()
    local ok, why
    if method == "resource.acquire" then
      ok, why = self.provider:acquire(SELF .. "." .. group, payload)
    else
      ok, why = self.provider:release(SELF .. "." .. group, payload)
    end
    if not ok then self.follower:error(group, why) end
  end
end

--- Delivers what waits between the two. Descriptions of targets that came back are no longer needed.
function Service:settle()
  while self.queue[1] do table.remove(self.queue, 1)() end
  local back = self.stashed & self.follower.targets.all
  if not back:empty() then
    inventory.tidy(self.follower.targets, back)
    self.stashed = self.stashed - back
  end
  self:keeps()
end

--- Keeps the descriptions of targets that may leave the graph.
function Service:stash(set)
  inventory.stash(self.follower.targets, set)
  self.stashed = self.stashed | (set & self.follower.targets.all)
end

-- ---- what happens -------------------------------------------------------------------------------------------------------

--- Tells those who listen.
function Service:event(event)
  for call in pairs(self.listeners) do
    if call.over then self.listeners[call] = nil else call.more(event) end
  end
end

local function events_of(self)
  return {
    exception = function(x)
      self:event { event = "exception", job = x.job, severity = x.severity, type = x.type, note = x.note, targets = x.targets }
    end,
    requeue = function(job) self:event { event = "requeue", job = job } end,
    unsatisfiable = function(name) self:event { event = "unsatisfiable", request = name } end,
    exit = function(why) self:event { event = "exit", note = why } end,
  }
end

-- ---- making one -----------------------------------------------------------------------------------------------------------

-- Targets to be excluded and the like are named on the command line; where the state knows better, it counts.
local function open_provider(self, known, found)
  local saved = known and known.provider
  self.provider = providers.new {
    targets = saved and saved.targets or found.all, up = saved and saved.up or inventory.up(found),
    drained = saved and saved.drained, reasons = saved and saved.reasons, groups = saved and saved.groups or self.opts.groups,
    resources = function(set) return inventory[self.brief and "brief" or "resources"](self.follower.targets, set) end,
    send = function(key, response) to_stream(self, key, response) end,
  }
end

-- {[target] = {job = true}} of {[target] = {job, ...}}, as JSON has it.
local function users_of(known)
  local users = {}
  for target, jobs in pairs(known and known.users or {}) do
    local set = {}
    for _, job in ipairs(jobs) do set[job] = true end
    users[math.tointeger(tonumber(target))] = set
  end
  return users
end

local function users_as_data(users)
  local data = {}
  for target, jobs in pairs(users) do
    local list = core.array {}
    for job in pairs(jobs) do list[#list + 1] = job end
    table.sort(list)
    data[tostring(target)] = list
  end
  return data
end

-- Acquires what is to be scheduled here; the first answers say what of the graph that is.
local function acquire(self)
  if #self.acquires == 0 or self.provider.targets:empty() then return end
  local held = core.idset()
  for _, group in ipairs(self.acquires) do held = held | (self.provider:members(group) or held) end
  self:stash(self.follower.targets.all - held)
  self.brief, self.follower.again = true, true
  self.follower:start()
  self:settle()
  self.brief = false
end

-- Everything from the graph on: at the start, and when the service goes back to what was saved.
local function open(self, graph)
  if not self.opts.state_loaded then targets.number(graph) end
  local known, found = keep.get(graph), targets.of(graph)
  self.graph, self.queue, self.ids, self.stashed = graph, {}, known and known.ids or 0, keep.stashes(graph)
  open_provider(self, known, found)
  self.follower = follow.new {
    graph = graph, groups = self.acquires, policy = self.policy, users = users_of(known), last = self.ids, on = events_of(self),
    send = function(...) to_provider(self, ...) end,
  }
  self.engine = self.follower.engine
  acquire(self)
  if self.follower.consumer.failed then return nil, self.follower.consumer.failed, "invalid" end
  return true
end

-- ---- state --------------------------------------------------------------------------------------------------------------------

--- Something has changed that is to be saved.
function Service:changed() self.dirty = true end

--- Something of what is kept besides graph and books has.
function Service:keeps() self.dirty, self.kept = true, false end

local function keep_rest(self)
  if self.follower.last >= self.ids then self.ids, self.kept = self.follower.last + IDS, false end
  if self.kept then return end
  keep.put(self.graph, { provider = self.provider:save(), users = users_as_data(self.follower:owing()), ids = self.ids })
  self.kept = true
end

--- Saves what has changed since the last time, in one transaction: true; or nil, message, code, and the service has to `restore`.
function Service:commit()
  if not self.dirty then return true end
  self.dirty = false
  if not self.opts.state then return true end
  keep_rest(self)
  self.counts.commits = self.counts.commits + 1
  return self.graph:save(self.opts.state, { format = "sqlite", changed = true })
end

--- Goes back to what was saved last. Streams are over: true; or nil, message, code.
function Service:restore(load)
  local graph, why, code = load()
  if not graph then return nil, why, code end
  for key in pairs(self.provider.streams) do
    if not own_group(key) then key.fail("the service had to go back to its last state; acquire again", "io") end
  end
  self.engine:close()
  self.graph:close()
  self.dirty = false
  self.opts.state_loaded = true
  return open(self, graph)
end

-- ---- time ---------------------------------------------------------------------------------------------------------------------

--- The clock goes on; it never goes back. With a manual clock only `advance` moves it.
function Service:tick(now)
  if self.opts.clock == "wall" and now > self.engine:now() then self.engine:advance(now) end
end

-- ---- calls --------------------------------------------------------------------------------------------------------------------

local methods = {}
for _, name in ipairs { "jobs", "machine", "policy", "resource", "service" } do
  for method, f in pairs(require("weir.serve.methods." .. name)) do methods[method] = f end
end
M.methods = methods

local function internal(raised)
  if type(raised) == "table" then return raised end
  return { text = tostring(raised), trace = debug.traceback("", 2) }
end

--- Answers a call, now or in a stream. What a method raises by params.lua is the caller's fault, anything else the service's: it is
--- told too, and logged.
function Service:handle(call)
  local method = methods[call.method]
  if not method then return call.fail(('there is no method "%s"; see "methods"'):format(tostring(call.method):sub(1, 64)), "unknown") end
  self.counts.requests = self.counts.requests + 1
  local ok, raised = xpcall(method, internal, self, call, call.params)
  if ok then return end
  if raised.misuse then return call.fail(raised.misuse, raised.code or "invalid") end
  self.opts.log(("%s: %s%s"):format(call.method, raised.text or "?", raised.trace or ""))
  call.fail("internal error: " .. (raised.text or "?"), "internal")
end

--- A client is gone: its streams are, and what it had acquired is given back.
function Service:leave(client)
  for call in pairs(self.listeners) do
    if call.client == client then self.listeners[call] = nil end
  end
  local mine = {}
  for key in pairs(self.provider.streams) do
    if not own_group(key) and key.client == client then mine[#mine + 1] = key end
  end
  for _, key in ipairs(mine) do self.provider:disconnect(key) end
  if mine[1] then self:settle() end
end

--- One stream is over.
function Service:cancel(call)
  self.listeners[call] = nil
  if self.provider:disconnect(call) then self:settle() end
end

--- A service. graph: what it has; opts: policy (a name or path), acquire (a list of groups; {"default"} if not given), groups
--- {name = idset}, state (a file), state_loaded (the graph comes from it), clock ("wall" or "manual"), filter_seconds, log(text).
function M.new(graph, opts)
  local policy, why, code = policies.load(opts.policy or policies.default)
  if not policy then return nil, why, code end
  local self = setmetatable({
    opts = opts, policy = policy, policy_name = opts.policy or policies.default, acquires = opts.acquire or { "default" },
    listeners = {}, dirty = true, kept = false, counts = { requests = 0, commits = 0, matches = 0, refused = 0 },
  }, Service)
  local ok
  ok, why, code = open(self, graph)
  if not ok then return nil, why, code end
  return self
end

--- For methods: policies by name or source.
M.policies, M.engines = policies, engines

return M
