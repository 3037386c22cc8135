--- scheduler_client.lua - an engine on acquired resources, kept up to date by the stream of a provider (RFC 28).
--
--   local scheduler_client = require "weir.acquire.scheduler_client"
--   local f = scheduler_client.new {
--     send = function(method, payload, group) ... end, groups = {"default"}, policy = "low",
--     on = { exception =, requeue =, unsatisfiable =, exit = } }
--   f:start()                       f:receive("default", response)   f:error("default", message)   f:disconnected()
--   f:match(request, options)       f:free(job)  f:free(job, "3-5")   f:hello { {id =, R =}, ... }
--   f:pend("a name", request)       f:settled "a name"
--
-- The times of R, and an update of the expiration, are the validity of the graph: no job is placed outside of that time,
-- running jobs that would end later are cut, and reservations without enough time are dropped.
--
-- Targets taken by a shrink leave the graph at once, so nothing more is placed on them or counted as feasible because
-- of them. Jobs still running on a taken target are noted, and the target is released when the last of the jobs has
-- gone. An offline target stays in the graph, down.
--
-- opts.on, all optional:
--   exception{job =, severity = 0, type = "resources", note =, targets =}   targets were taken: the job must end
--   policy(why)            the hook `finished` of the policy has failed
--   requeue(job)           the job's reservation used targets taken or offline: the job must wait again
--   unsatisfiable(name)    a pending request can never run on the remaining resources
--   cut(job, stop)         the resources are no longer valid than until `stop`, in seconds: the job ends then
--   changed()              the resources have changed
--   exit(why)              the client is finished, by an error response or a protocol error

local consumer = require "weir.acquire.consumer"
local core = require "weir.core"
local engines = require "weir.engine"
local recover = require "weir.acquire.recover"
local rset = require "weir.rset"
local tables = require "weir.tables"
local targets = require "weir.acquire.targets"

local M = {}

--- IDS_MOST is the largest job id assigned here: up to 2^53 - 1 all readers of JSON distinguish integers (RFC 8259). Ids
--- chosen by callers, as by Flux, may be larger.
M.IDS_MOST = (1 << 53) - 1

local SchedulerClient = {}
SchedulerClient.__index = SchedulerClient

local function tell(self, what, ...)
  if self.on[what] then self.on[what](...) end
end

-- ---- the machine ----------------------------------------------------------------------------------------------------

-- Notes an id assigned before the client existed.
local function seen(self, id)
  if id <= M.IDS_MOST then self.last = math.max(self.last, id) end
end

-- Makes the engine on a graph.
local function open(self, graph)
  self.engine = assert(engines.new({
    policy = self.policy, overrun = self.overrun, granularity = self.granularity, growing = true,
  }, graph))
  self.targets = targets.of(graph)
  if self.last then return end
  self.last = 0
  for _, job in ipairs(self.engine:jobs()) do seen(self, job.id) end
end

-- Merges into the graph the targets of R missing there. Returns false and a message if R does not fit.
local function bring(self, R, missing)
  local set = assert(rset.new(R, "resources"))
  local part, why = (missing == core.idset(set:ranks()) and set or set:on_ranks(missing)):graph()
  if not part then return false, why end
  targets.unblock(part)
  local done
  done, why = self.engine:resources():merge(part)
  part:close()
  if not done then return false, why end
  self.targets:scan()
  return true
end

-- Sets targets up or down; any further state of a vertex is left alone. A target taken and returned stays down until
-- the jobs noted on it have gone.
local function set_online(self, set, on)
  for v, target in self.targets:each(set) do
    local up, state = on and not self.users[target], v.state
    if up and state == "down" then v.state = "up" elseif not up and (state == "up" or state == "degraded") then v.state = "down" end
  end
end

-- Releases reservations on targets: their start might come while the targets are away.
local function requeue(self, set)
  for target in set:ids() do
    for job in pairs(self.targets:jobs(target)) do
      local a = self.engine:job(job)
      if a and a.state == "reserved" then
        assert(self.engine:release(job, self.untold))
        tell(self, "requeue", job)
      end
    end
  end
end

-- ---- validity -------------------------------------------------------------------------------------------------------

-- Ends a running job at a time, and reports the new end. A job cannot end before the job began.
local function cut(self, a, stop)
  local detached = assert(self.engine:detach(a.id))
  stop = math.max(stop, a.at + 1e-6)
  assert(self.engine:attach(detached, stop))
  tell(self, "cut", a.id, stop)
end

-- Brings the schedules within the validity of the resources: a running job that would end later is cut, a reservation
-- without enough time is dropped.
local function trim(self)
  local start, stop = self.engine:resources():validity()
  start, stop = start or 0, stop or math.huge
  for _, a in ipairs(self.engine:jobs()) do
    if a.state == "reserved" and (a.at < start or a.at + a.duration > stop) then
      assert(self.engine:release(a.id, self.untold))
      tell(self, "requeue", a.id)
    elseif a.state == "allocated" and a.at + a.duration > stop then
      cut(self, a, stop)
    end
  end
end

-- Makes the validity of all groups the validity of the graph: resources of several groups are valid together while the
-- resources of each group are.
local function set_validity(self)
  local start, stop = 0, math.huge
  for _, times in pairs(self.valid) do
    start, stop = math.max(start, times.start or 0), math.min(stop, times.stop or math.huge)
  end
  stop = math.max(stop, start + 1e-6)
  assert(self.engine:resources():set_validity(start, stop < math.huge and stop or nil))
  trim(self)
end

-- ---- requests that wait ---------------------------------------------------------------------------------------------

-- Reports, once each, pending requests that can never run on the remaining resources.
local function judge(self)
  local lost = {}
  for name, request in pairs(self.pending) do
    local ok, _, code = self.engine:match(request, { mode = "feasible", stats = false })
    if not ok and code == "infeasible" then lost[#lost + 1] = name end
  end
  table.sort(lost, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(lost) do
    self.pending[name] = nil
    tell(self, "unsatisfiable", name)
  end
end

-- ---- release of targets ---------------------------------------------------------------------------------------------

-- Releases leaving targets without jobs.
local function give_back(self)
  local ids = {}
  for target in self.consumer:leaving():ids() do
    if not self.users[target] then ids[#ids + 1] = target end
  end
  if #ids > 0 then self.consumer:freed(core.idset(ids)) end
end

-- Raises a fatal exception for each job with taken targets.
local function raise(self, lost)
  for job, list in tables.sorted(lost) do
    local set = tostring(core.idset(list))
    tell(self, "exception", {
      job = job, severity = 0, type = "resources", targets = set, note = ("target %s was taken away"):format(set),
    })
  end
end

-- Removes a target from the graph and notes its jobs, in addition to jobs noted when the target was taken earlier.
local function take(self, target, lost)
  local users = self.targets:jobs(target)
  self.targets:unlink(target)
  for job in pairs(users) do
    tables.push(lost, job, target)
  end
  for job in pairs(self.users[target] or {}) do users[job] = true end
  self.users[target] = next(users) and users or nil
end

-- ---- responses of the stream ----------------------------------------------------------------------------------------

-- Returns true for an R without ranks: all resources may be excluded.
local function is_empty(R)
  local list = type(R.execution) == "table" and R.execution.R_lite
  return type(list) == "table" and #list == 0 and R.scheduling == nil
end

local function ranks_of(R)
  if is_empty(R) then return core.idset() end
  local set, why = rset.new(R, "resources")
  if not set then return nil, why end
  return core.idset(set:ranks())
end

-- Returns the validity of an R, a table or a set: {start =, stop =}, nil: without a bound.
local function times_of(R)
  if rset.is(R) then return { start = R:starttime(), stop = R:expiration() } end
  local execution = type(R.execution) == "table" and R.execution or {}
  local function given(t) return type(t) == "number" and t ~= 0 and t or nil end
  return { start = given(execution.starttime), stop = given(execution.expiration) }
end

local Handlers = {}

function Handlers.grow(self, R, all, online, group)
  if not self.engine then
    open(self, is_empty(R) and core.new() or targets.unblock(assert(assert(rset.new(R, "resources")):graph())))
  end
  local missing = all - self.targets.all
  if not missing:empty() then
    local ok, why = bring(self, R, missing)
    if not ok then return false, why end
  end
  if not is_empty(R) then
    self.valid[group] = times_of(R)
    set_validity(self)
  end
  set_online(self, online, true)
  Handlers.offline(self, all - online)
  if self.again and self.consumer:ready() then
    self.again = false
    Handlers.shrink(self, self.targets.all - self.consumer:acquired(), true)
  end
end

function Handlers.shrink(self, set, fatal)
  local lost = {}
  requeue(self, set)
  for target in set:ids() do take(self, target, lost) end
  if fatal then raise(self, lost) end
  give_back(self)
  judge(self)
end

function Handlers.online(self, set) set_online(self, set, true) end

function Handlers.offline(self, set)
  set_online(self, set, false)
  requeue(self, set)
end

function Handlers.property_add(self, name, set)
  for v in self.targets:each(set) do v.properties[name] = true end
end

function Handlers.property_remove(self, name, set)
  for v in self.targets:each(set) do v.properties[name] = nil end
  judge(self)
end

-- Handles a new end of the resources, in seconds since 1970; 0: without an end.
function Handlers.expiration(self, time, group)
  local times = self.valid[group] or {}
  self.valid[group] = times
  times.stop = time > 0 and time or nil
  set_validity(self)
  judge(self)
end

local function handlers(self)
  local on = { ranks = ranks_of, exit = function(why) tell(self, "exit", why) end }
  for name, f in pairs(Handlers) do
    on[name] = function(...)
      local ok, why = f(self, ...)
      tell(self, "changed")
      return ok, why
    end
  end
  return on
end

-- ---- the stream -----------------------------------------------------------------------------------------------------

function SchedulerClient:start() self.consumer:start() end

function SchedulerClient:receive(group, response)
  if self.record then self.record { group = group, response = response } end
  return self.consumer:receive(group, response)
end

function SchedulerClient:error(group, why)
  if self.record then self.record { group = group, error = why } end
  return self.consumer:error(group, why)
end

--- Handles the loss of the provider. Jobs stay, and nothing more is placed. After `start` and the first responses,
--- returned targets are used again, and missing targets count as taken.
function SchedulerClient:disconnected()
  self.consumer:disconnected()
  self.again = self.engine ~= nil
  if self.engine then set_online(self, self.targets.all, false) end
  tell(self, "changed")
end

-- ---- the engine -----------------------------------------------------------------------------------------------------

-- Returns true if matches are possible; or nil, message, code.
local function usable(self)
  if self.consumer.failed then return nil, self.consumer.failed, "protocol" end
  if #self.consumer.order == 0 then return nil, "nothing is scheduled here", "unavailable" end
  if self.consumer:ready() then return true end
  return nil, "nothing has been acquired yet", "busy"
end

local BOOKS = { now = true, reserve = true }

-- Returns the next id without a job; after the largest id, 1 follows.
local function next_id(self)
  local id = self.last
  repeat id = id < M.IDS_MOST and id + 1 or 1 until not self.engine:job(id) and not self:owes(id)
  return id
end

-- Returns a copy of the options of a match, with an id if the match books a job and the caller has given none; and the
-- id assigned.
local function with_id(self, opts)
  local own = tables.copy(opts)
  local given = BOOKS[own.mode or "now"] and own.job == nil and next_id(self) or nil
  own.job = own.job or given
  return own, given
end

--- Matches like engine:match, once all groups have responded. An id assigned here was never assigned before, so a late
--- or repeated free hits no younger job. An id chosen by the caller, opts.job, has no effect on ids assigned later:
--- assigning continues from the last id and skips ids in use. A chosen id used twice means the current job.
function SchedulerClient:match(request, opts)
  local ok, why, code = usable(self)
  if not ok then return nil, why, code end
  local own, given = with_id(self, opts)
  if own.job and self:owes(own.job) then return nil, ("job %d is there already"):format(own.job), "exists" end
  local a
  a, why, code = self.engine:match(request, own)
  if a and given then self.last = given end
  return a, why, code
end

--- Books the picks of a match made in a copy of the process (a result of engine:record), with an id as of `match`. request,
--- about: of the match, for the policy's hook placed. Returns the allocation; or nil, message, code: "gone" if a pick is
--- no longer free.
function SchedulerClient:book(record, job, request, about)
  local ok, why, code = usable(self)
  if not ok then return nil, why, code end
  local own, given = with_id(self, { job = job })
  if self:owes(own.job) then return nil, ("job %d is there already"):format(own.job), "exists" end
  ok, why, code = self.engine:book(record, own.job)
  if not ok and code == "busy" then return nil, "what was chosen is not free any more; again, please", "gone" end
  if not ok then return nil, why, code end
  ok, why, code = self.engine:placed(own.job, request, about)
  if not ok then
    assert(self.engine:release(own.job, false))
    return nil, why, code
  end
  if given then self.last = given end
  return self.engine:job(own.job)
end

--- Makes a stage like engine:stage, once all groups have responded.
function SchedulerClient:stage(request, opts)
  local ok, why, code = usable(self)
  if not ok then return nil, why, code end
  return self.engine:stage(request, opts)
end

-- Books a job by f(id), with an id as of `match`.
local function with_job(self, job, f)
  local own, given = with_id(self, { job = job })
  if self:owes(own.job) then return nil, ("job %d is there already"):format(own.job), "exists" end
  local a, why, code, lost = f(own.job)
  if a and given then self.last = given end
  return a, why, code, lost
end

--- Makes a job of a stage like engine:commit, with an id as of `match`.
function SchedulerClient:commit(stage, job)
  return with_job(self, job, function(id) return self.engine:commit(stage, { job = id }) end)
end

--- Gives listed resources to a job like engine:allocate, with an id as of `match`.
function SchedulerClient:allocate(what, opts)
  local ok, why, code = usable(self)
  if not ok then return nil, why, code end
  return with_job(self, opts.job, function(id)
    return self.engine:allocate(what, { job = id, start = opts.start, duration = opts.duration })
  end)
end

--- Returns true if a job that must end is still on taken targets.
function SchedulerClient:owes(job)
  for _, users in pairs(self.users) do
    if users[job] then return true end
  end
  return false
end

--- Returns true if a request could ever run on the acquired targets, online or not; or nil, message, code.
function SchedulerClient:feasible(request) return self:match(request, { mode = "feasible" }) end

--- pend watches a waiting request: on.unsatisfiable(name) is called when a shrink makes the request impossible. settled
-- ends the watch.
function SchedulerClient:pend(name, request) self.pending[name] = request end

function SchedulerClient:settled(name) self.pending[name] = nil end

-- Removes a job from taken targets of `set` (nil: all). Returns true if the job was on any.
local function forget(self, job, set)
  local was = false
  for target, users in pairs(self.users) do
    if users[job] and (set == nil or set:has(target)) then
      was, users[job] = true, nil
      if not next(users) then
        self.users[target] = nil
        set_online(self, core.idset { target } & self.consumer:online(), true)
      end
    end
  end
  return was
end

-- Releases the part of a job on targets of `set` in the graph.
local function shrink_job(self, job, set)
  local here = {}
  for target in (set & self.targets.all):ids() do
    if self.targets:jobs(target)[job] then here[#here + 1] = target end
  end
  if #here == 0 then return false end
  return self.engine:shrink(job, { ranks = tostring(core.idset(here)) })
end

--- Serves sched.free: a job has ended, or has left the targets `what` (an idset). request and about: of its match, for the hook
--- `finished` of the policy. Returns true; or nil, message, code.
function SchedulerClient:free(job, what, request, about)
  local set = what and core.idset(what)
  local done, why, code
  if set then done, why, code = shrink_job(self, job, set) else done, why, code = self.engine:release(job, request, about) end
  if code == "policy" then
    done = done or self.engine:release(job, false)
    tell(self, "policy", why)
  end
  local left = forget(self, job, set)
  give_back(self)
  tell(self, "changed")
  if done or left then return true end
  return nil, why or ("job %d has nothing there"):format(job), code or "unknown"
end

--- Advances the clock. Returns the events of the engine; or nil, message, code. A job that expires is freed as by
-- `free`.
function SchedulerClient:advance(to)
  local ok, events, code = self.engine:advance(to)
  if not ok then return nil, events, code end
  local gone = false
  for _, x in ipairs(events) do
    if x.event == "expire" then
      if x.error then tell(self, "policy", x.error) end
      forget(self, x.job)
      gone = true
    end
  end
  if gone then
    give_back(self)
    tell(self, "changed")
  end
  return events
end

--- Recovers running jobs, {id =, R =} each. A job on targets not acquired gets a fatal exception; a job that cannot be
--- booked ends the recovery: nil, message, code.
function SchedulerClient:hello(jobs)
  local lost = {}
  for _, job in ipairs(jobs) do
    local here, elsewhere, code = recover.book(self.targets, job.id, job.R)
    if not here then return nil, ("job %d: %s"):format(job.id, elsewhere), code end
    for target in elsewhere:ids() do
      tables.push(lost, job.id, target)
    end
    seen(self, job.id)
  end
  raise(self, lost)
  return true
end

--- Sets the validity of the resources of all groups, in seconds; nil: without a bound.
function SchedulerClient:set_validity(start, stop)
  self.valid = { { start = start, stop = stop } }
  set_validity(self)
  judge(self)
  tell(self, "changed")
end

--- Returns the jobs on targets to be given back: target -> {job = true}. To be saved together with the graph.
function SchedulerClient:owing() return self.users end

--- Makes a client. opts: queued (true: reservations are those of a queue, whose jobs the policy is notified of when they start);
--- send, groups, style (see consumer.lua); policy; overrun, granularity (see engine.lua); graph, if it exists
--- already; users, from `owing`; last, the last id assigned (by default the largest id of a job in the graph); on;
--- record(entry), called with every message in and out (see recording.lua).
function M.new(opts)
  local self = setmetatable({
    policy = opts.policy, overrun = opts.overrun, granularity = opts.granularity, on = opts.on or {},
    pending = {}, users = opts.users or {}, record = opts.record,
    again = false, valid = {}, last = opts.last or not opts.graph and 0 or nil,
  }, SchedulerClient)
  if opts.queued then self.untold = false end -- see engine:release
  self.consumer = consumer.new {
    groups = opts.groups, style = opts.style, on = handlers(self),
    send = function(method, payload, group)
      if self.record then self.record { group = group, request = method, payload = payload } end
      opts.send(method, payload, group)
    end,
  }
  if opts.graph then open(self, opts.graph) end
  return self
end

return M
