--- follow.lua - an engine that acquires what it schedules, and follows the stream of its provider (RFC 28).
--
--   local follow = require "weir.acquire.follow"
--   local f = follow.new { send = function(method, payload, group) ... end, groups = {"default"}, policy = "low",
--                          on = { exception =, requeue =, unsatisfiable =, exit = } }
--   f:start()                       f:receive("default", response)   f:error("default", message)   f:disconnected()
--   f:match(request, options)       f:free(job)  f:free(job, "3-5")   f:hello { {id =, R =}, ... }
--   f:pend("a name", request)       f:settled "a name"
--
-- What a shrink takes leaves the graph at once, and with it everything that could be placed on it or be called feasible because
-- of it; who still runs there is noted, and the target is released when the last of them is gone. What is offline stays, down.
--
-- opts.on, all optional:
--   exception{job =, severity = 0, type = "resources", note =, targets =}   it runs on what was taken: it must end
--   requeue(job)           its reservation stood on what was taken or is offline: it waits again
--   unsatisfiable(name)    what is pending could never run on what is left
--   changed()              something is different
--   exit(why)              all is over: an error response, or a failure to conform to the protocol

local consumer = require "weir.acquire.consumer"
local core = require "weir.core"
local engines = require "weir.engine"
local hello = require "weir.acquire.hello"
local rset = require "weir.rset"
local targets = require "weir.acquire.targets"

local M = {}

--- The largest id that a job is given by itself: up to here all that reads JSON tells one integer from the next (RFC 8259). Ids that
--- callers choose, as those of Flux, may be larger.
M.IDS_MOST = (1 << 53) - 1

local Follow = {}
Follow.__index = Follow

local function tell(self, what, ...)
  if self.on[what] then self.on[what](...) end
end

-- ---- the machine ------------------------------------------------------------------------------------------------------

-- An id that was given before this follower was there.
local function seen(self, id)
  if id <= M.IDS_MOST then self.last = math.max(self.last, id) end
end

-- Uses this graph.
local function open(self, graph)
  self.engine = assert(engines.new({ policy = self.policy, overrun = self.overrun }, graph))
  self.targets = targets.of(graph)
  if self.last then return end
  self.last = 0
  for _, job in ipairs(self.engine:jobs()) do seen(self, job.id) end
end

-- What of a new part is not in the graph: comes in. False and a message: it does not fit.
local function bring(self, R, missing)
  local set = assert(rset.new(R, "resources"))
  local part, why = (missing == core.idset(set:ranks()) and set or set:on_ranks(missing)):graph()
  if not part then return false, why end
  local done
  done, why = self.engine:resources():merge(part)
  part:close()
  if not done then return false, why end
  self.targets:scan()
  return true
end

-- What is neither up nor down, for a reason of its own, keeps its state. A target that has come back while somebody who was on it
-- when it was taken is still there waits until they are gone.
local function set_online(self, set, on)
  for v, target in self.targets:each(set) do
    local up, state = on and not self.users[target], v.state
    if up and state == "down" then v.state = "up" elseif not up and (state == "up" or state == "degraded") then v.state = "down" end
  end
end

-- Reservations on these targets are given back: their time might come while they are not there.
local function requeue(self, set)
  for target in set:ids() do
    for job in pairs(self.targets:jobs(target)) do
      local a = self.engine:job(job)
      if a and a.state == "reserved" then
        assert(self.engine:release(job))
        tell(self, "requeue", job)
      end
    end
  end
end

-- Pending requests that could not run on what is left are told, once.
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

-- ---- targets that are given back ----------------------------------------------------------------------------------------

-- Releases those that nobody is on.
local function give_back(self)
  local ids = {}
  for target in self.consumer:leaving():ids() do
    if not self.users[target] then ids[#ids + 1] = target end
  end
  if #ids > 0 then self.consumer:freed(core.idset(ids)) end
end

-- Jobs that lost something get their fatal exception, each one.
local function raise(self, lost)
  local jobs = {}
  for job in pairs(lost) do jobs[#jobs + 1] = job end
  table.sort(jobs)
  for _, job in ipairs(jobs) do
    local set = core.idset(lost[job])
    tell(self, "exception", {
      job = job, severity = 0, type = "resources", targets = tostring(set), note = ("target %s was taken away"):format(tostring(set)),
    })
  end
end

-- Takes a target from the graph, noting who is on it: with those who are there still since it was taken before.
local function take(self, target, lost)
  local users = self.targets:jobs(target)
  self.targets:unlink(target)
  for job in pairs(users) do
    lost[job] = lost[job] or {}
    table.insert(lost[job], target)
  end
  for job in pairs(self.users[target] or {}) do users[job] = true end
  self.users[target] = next(users) and users or nil
end

-- ---- what the stream says -------------------------------------------------------------------------------------------------

-- An R without any ranks: all that there is may be excluded.
local function is_empty(R)
  local list = type(R.execution) == "table" and R.execution.R_lite
  return type(list) == "table" and #list == 0 and R.scheduling == nil
end

local function ranks_of(R)
  if is_empty(R) then return core.idset() end
  local set = rset.new(R, "resources")
  return set and core.idset(set:ranks())
end

local Handlers = {}

function Handlers.grow(self, R, all, online)
  if not self.engine then
    open(self, is_empty(R) and core.new() or assert(assert(rset.new(R, "resources")):graph()))
  end
  local missing = all - self.targets.all
  if not missing:empty() then
    local ok, why = bring(self, R, missing)
    if not ok then return false, why end
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

function Handlers.expiration(self, time) self.expires = time end

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

-- ---- the stream ------------------------------------------------------------------------------------------------------------

function Follow:start() self.consumer:start() end

function Follow:receive(group, response)
  if self.record then self.record { group = group, response = response } end
  return self.consumer:receive(group, response)
end

function Follow:error(group, why)
  if self.record then self.record { group = group, error = why } end
  return self.consumer:error(group, why)
end

--- The provider is gone. Jobs stay as they are, nothing more is placed; after `start` and the first responses what has come back
--- is used again, and what has not is treated as taken away.
function Follow:disconnected()
  self.consumer:disconnected()
  self.again = self.engine ~= nil
  if self.engine then set_online(self, self.targets.all, false) end
  tell(self, "changed")
end

-- ---- the engine --------------------------------------------------------------------------------------------------------------

-- Whether there is anything to match on; else nil, message, code.
local function usable(self)
  if self.consumer.failed then return nil, self.consumer.failed, "protocol" end
  if #self.consumer.order == 0 then return nil, "nothing is scheduled here", "unavailable" end
  if self.consumer:ready() then return true end
  return nil, "nothing has been acquired yet", "busy"
end

local BOOKS = { now = true, reserve = true }

-- The next id that no job has. After the largest one they begin again with 1.
local function next_id(self)
  local id = self.last
  repeat id = id < M.IDS_MOST and id + 1 or 1 until not self.engine:job(id) and not self:owes(id)
  return id
end

-- The options of a match, with an id where it takes something and the caller has none; and that id.
local function with_id(self, opts)
  local own = {}
  for key, value in pairs(opts or {}) do own[key] = value end
  local given = BOOKS[own.mode or "now"] and own.job == nil and next_id(self) or nil
  own.job = own.job or given
  return own, given
end

--- What the engine's match does, once all groups have answered. An id that is given here was never given before, so that whoever
--- frees a job late, or twice, meets no other one. An id that the caller chooses, opts.job, changes nothing about the ids of others:
--- they are given on from the last one, and pass over those that are in use. Who chooses an id again means the job that has it then.
function Follow:match(request, opts)
  local ok, why, code = usable(self)
  if not ok then return nil, why, code end
  local own, given = with_id(self, opts)
  if own.job and self:owes(own.job) then return nil, ("job %d is there already"):format(own.job), "exists" end
  local a
  a, why, code = self.engine:match(request, own)
  if a and given then self.last = given end
  return a, why, code
end

--- Books what match has chosen in a copy of this process (engine:record there), under an id as match gives it: the allocation; or
--- nil, message, code: "gone" where something of it is not free any more.
function Follow:book(record, job)
  local ok, why, code = usable(self)
  if not ok then return nil, why, code end
  local own, given = with_id(self, { job = job })
  if self:owes(own.job) then return nil, ("job %d is there already"):format(own.job), "exists" end
  ok, why, code = self.engine:book(record, own.job)
  if not ok and code == "busy" then return nil, "what was chosen is not free any more; again, please", "gone" end
  if not ok then return nil, why, code end
  if given then self.last = given end
  return self.engine:job(own.job)
end

--- Whether a job that is to end is still on something that was taken away.
function Follow:owes(job)
  for _, users in pairs(self.users) do
    if users[job] then return true end
  end
  return false
end

--- Whether a request could ever run on what is acquired, be it online or not.
function Follow:feasible(request) return self:match(request, { mode = "feasible" }) end

--- Keeps an eye on a request that waits: on.unsatisfiable(name) tells when a shrink made it impossible.
function Follow:pend(name, request) self.pending[name] = request end

function Follow:settled(name) self.pending[name] = nil end

-- The job is no longer on these targets (nil: on none that leaves).
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

-- What a job has on these targets in the graph goes back.
local function shrink_job(self, job, set)
  local here = {}
  for target in (set & self.targets.all):ids() do
    if self.targets:jobs(target)[job] then here[#here + 1] = target end
  end
  if #here == 0 then return false end
  return self.engine:shrink(job, { ranks = tostring(core.idset(here)) })
end

--- sched.free: a job is gone (or from some targets, an idset): true; or nil, message, code.
function Follow:free(job, what)
  local set = what and core.idset(what)
  local done, why, code
  if set then done, why, code = shrink_job(self, job, set) else done, why, code = self.engine:release(job) end
  local left = forget(self, job, set)
  give_back(self)
  tell(self, "changed")
  if done or left then return true end
  return nil, why or ("job %d has nothing there"):format(job), code or "unknown"
end

--- The clock goes on: what happened, as the engine tells it; or nil, message, code. A job that ended at its end is gone as by `free`.
function Follow:advance(to)
  local ok, events, code = self.engine:advance(to)
  if not ok then return nil, events, code end
  local gone = false
  for _, x in ipairs(events) do
    if x.event == "expire" then
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

--- Jobs that run already, {id =, R =} each: they are booked again. One that is on targets that were not acquired gets its fatal
--- exception; one that cannot be booked ends it: nil, message, code.
function Follow:hello(jobs)
  local lost = {}
  for _, job in ipairs(jobs) do
    local here, elsewhere, code = hello.book(self.targets, job.id, job.R)
    if not here then return nil, ("job %d: %s"):format(job.id, elsewhere), code end
    for target in elsewhere:ids() do
      lost[job.id] = lost[job.id] or {}
      table.insert(lost[job.id], target)
    end
    seen(self, job.id)
  end
  raise(self, lost)
  return true
end

--- Who is on targets that are to be given back: target -> {job = true}. What has to outlive the process, with the graph.
function Follow:owing() return self.users end

--- A follower. opts: send, groups, style (see consumer.lua); policy; overrun (see engine.lua); graph, where there is one already;
--- users, as `owing` gave it; last, the last id that a job was given (as of the jobs that are there, if not told); on; record(entry),
--- called with all that comes in and goes out (see record.lua).
function M.new(opts)
  local self = setmetatable({
    policy = opts.policy, overrun = opts.overrun, on = opts.on or {}, pending = {}, users = opts.users or {}, record = opts.record,
    again = false, last = opts.last or not opts.graph and 0 or nil,
  }, Follow)
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
