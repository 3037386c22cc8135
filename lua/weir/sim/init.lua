--- sim - a machine with a queue and a virtual clock. Jobs are submitted, start when the queue policy says so, on resources
--- that the placement policy chooses, and end; time jumps from event to event. No wall clock, no chance: the same input gives
--- the same history on every machine.
---
---   local s = sim.new { resources = "node:4 core:8", policy = "low", queue = "easy" }
---   local job = s:submit { request = "slot=2/node", estimate = 100, runtime = 60, at = 5 }
---   s:run()  print(job.state, job.start, job.finish)
---
--- Event rule. Events are ordered by time, then submissions before terminations, then by when they were made. "per-event":
--- the queue policy is called after each; "per-timestamp": after the last one of a second (the default). Whatever the rule, a
--- job whose estimate is over has given its resources back when the policy is called at that time.

local core = require "weir.core"
local heap = require "weir.sim.heap"
local queue_policy = require "weir.sim.queue_policy"
local weir = require "weir"

local M = {}
M.__index = M

local SUBMIT, FINISH, ACTION, WAKE = 1, 2, 3, 4
local START, RESERVE, UNRESERVE, EARLIEST, FREE, PREEMPT = 1, 2, 3, 4, 5, 6

-- ---- what the queue policy asks -----------------------------------------------------------------------------

local now_options, later_options, peek_options = { mode = "now", stats = false }, { mode = "reserve", stats = false },
  { mode = "reserve", stats = false }

local function match(self, job, options)
  options.at, options.duration, options.job = self.now, job.estimate, job.id
  return self.engine:match(job.request, options)
end

-- A job that has its resources begins to run.
local function begin(self, job)
  job.state, job.start, job.reserved = "running", self.now, nil
  job.due = self.now + job.estimate -- when it is to be gone
  job.run = job.run + 1
  self.nrunning = self.nrunning + 1
  local lasts = job.runtime
  if self.overrun == "kill" and lasts > job.estimate then lasts, job.killed = job.estimate, true end
  self.events:push { time = self.now + lasts, kind = FINISH, job = job, run = job.run }
  if job.estimate < lasts then
    self.late[job] = true
    self.events:push { time = job.due, kind = WAKE, late = job, run = job.run }
  elseif job.estimate == lasts then
    local list = self.due[job.due] or {}
    self.due[job.due] = list
    list[#list + 1] = { job = job, run = job.run }
  end
  self:tell("start", job)
end

local ASK = {}

-- A reservation that it has is given up for it, and made anew where it cannot start.
ASK[START] = function(self, id)
  local job = self.jobs[id]
  local reserved = job.reserved
  if reserved then
    self.engine:release(id)
    job.reserved, self.reservations[job] = nil, nil
  end
  self.matches = self.matches + 1
  local a, why, code = match(self, job, now_options)
  if a then
    begin(self, job)
    return true
  end
  job.why, job.code = why, code
  return false, reserved and ASK[RESERVE](self, id)
end

ASK[RESERVE] = function(self, id)
  local job = self.jobs[id]
  self.matches = self.matches + 1
  local a, why, code = match(self, job, later_options)
  if not a then
    job.why, job.code = why, code
    return nil
  end
  if a.at <= self.now then
    begin(self, job)
    return self.now
  end
  job.reserved = a.at
  self.reservations[job] = true
  self.events:push { time = a.at, kind = WAKE }
  return a.at
end

ASK[UNRESERVE] = function(self, id)
  local job = self.jobs[id]
  if not job.reserved then return end
  self.engine:release(id)
  job.reserved, self.reservations[job] = nil, nil
end

ASK[EARLIEST] = function(self, id)
  local job = self.jobs[id]
  self.matches = self.matches + 1
  local a = match(self, job, peek_options)
  if not a then return nil end
  local t = a.at
  self.engine:release(id)
  return t
end

ASK[FREE] = function(self) return self:free() end

-- A preempted job begins anew.
ASK[PREEMPT] = function(self, id)
  local job = self.jobs[id]
  if job.state ~= "running" then return false end
  if not job.released then self.engine:release(id) end
  self.nrunning = self.nrunning - 1
  job.state, job.start, job.due, job.released, job.preempted = "pending", nil, nil, nil, (job.preempted or 0) + 1
  job.run = job.run + 1
  self.late[job] = nil
  self:tell("preempt", job)
  return true
end

-- ---- making one ---------------------------------------------------------------------------------------------

-- The units that jobs are counted in: the smallest type they ask for most, cores if there are any.
local function main_type(graph, given)
  if given then return given end
  local totals = graph:aggregate()
  for _, type in ipairs { "core", "node", "socket", "gpu" } do
    if totals[type] and totals[type].total > 0 then return type end
  end
  return graph:types()[1]
end

--- A simulator. opts: resources, policy, queue ("fcfs" if not given), rule ("per-timestamp", "per-event"), overrun ("kill",
--- "run": what becomes of a job that runs longer than its estimate), type (what jobs are counted in; core where there are
--- any), budget (of the queue policy), on (a function called with what happens: event, job, simulator). Or nil, message, code.
function M.new(opts)
  local engine, why, code = weir.engine { resources = opts.resources, policy = opts.policy or "low", policies = opts.policies }
  if not engine then return nil, why, code end
  local self = setmetatable({
    engine = engine, graph = engine:resources(), now = opts.start or 0, events = heap.new(), jobs = {}, list = {},
    reservations = {}, late = {}, due = {}, nrunning = 0, npending = 0, matches = 0, passes = 0,
    rule = opts.rule or "per-timestamp", overrun = opts.overrun or "kill", on = opts.on, requests = {}, dirty = true,
  }, M)
  if self.rule ~= "per-event" and self.rule ~= "per-timestamp" then
    return nil, ('rule "%s": per-event or per-timestamp is wanted'):format(self.rule), "invalid"
  end
  self.type = main_type(self.graph, opts.type)
  engine:advance(self.now)
  local ok
  ok, why, code = self:use_queue(opts.queue or "fcfs", opts.budget)
  if not ok then return nil, why, code end
  return self
end

local function ask(self, what, id) return ASK[what](self, id) end

--- Takes another queue policy; the jobs that wait are handed over, reservations are dropped.
function M:use_queue(x, budget)
  local sandbox, name, code = queue_policy.open(x, function(...) return ask(self, ...) end, budget)
  if not sandbox then return nil, name, code end
  for job in pairs(self.reservations) do ASK[UNRESERVE](self, job.id) end
  self.queue, self.queue_name = sandbox, name
  for _, job in ipairs(self.list) do
    if job.state == "pending" or job.state == "running" then self:hand_over(job) end
  end
  self.dirty = true
  return true
end

--- Takes another placement policy for what starts from now on.
function M:use_policy(x) return self.engine:use(x) end

local function check(self, ok, message)
  if ok then return message end
  error(("queue policy %s: %s"):format(self.queue_name, message), 0)
end

--- Units free now, of what jobs are counted in.
function M:free()
  local row = self.graph:aggregate()[self.type]
  return row and row.free or 0
end

function M:tell(event, job)
  if self.on then self.on(event, job, self) end
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

-- How many units of a type a request takes, at least.
local function units_of(request, main)
  local function count(resources, times)
    local sum = 0
    for _, r in ipairs(resources) do
      local n = (type(r.count) == "table" and r.count.min or r.count or 1) * times
      if r.type == main then sum = sum + n end
      sum = sum + count(r.with or {}, n)
    end
    return sum
  end
  return count(request:resources(), 1)
end

-- A request is read once for all jobs that give the same text or table.
local function read_request(self, x)
  local known = self.requests[x]
  if known then return known end
  local request, why, code = x, nil, nil
  if type(x) ~= "userdata" then request, why, code = weir.request(x) end
  if not request then return nil, why, code end
  known = { request = request, units = math.max(units_of(request, self.type), 1) }
  self.requests[x] = known
  return known
end

local function number_of(value, default, what)
  if value == nil then return default end
  if type(value) ~= "number" or value ~= value or value < 0 then error("a job's " .. what .. ": a number from 0 on is expected", 3) end
  return value
end

--- Submits a job: request (text, table, request), estimate (seconds; the request's duration if not given), runtime (the
--- estimate if not given), at (now if not given), and user, qos, priority, preemptible, name, number. Returns the job, a table
--- whose state is pending, running, done, failed, cancelled or rejected; or nil, message, code.
function M:submit(spec)
  local read, why, code = read_request(self, spec.request)
  if not read then return nil, why, code end
  local at = math.max(number_of(spec.at, self.now, "at"), self.now)
  local estimate = number_of(spec.estimate, spec.runtime, "estimate")
  local id = #self.list + 1
  local job = {
    id = id, name = spec.name, number = spec.number or id, request = read.request, read = read, units = spec.units or read.units, submit = at,
    estimate = math.max(estimate or spec.duration or 3600, 1e-6), user = spec.user, qos = spec.qos, priority = spec.priority,
    preemptible = spec.preemptible, state = "submitted", run = 0,
  }
  job.runtime = number_of(spec.runtime, job.estimate, "runtime")
  self.list[id], self.jobs[id] = job, job
  self.events:push { time = at, kind = SUBMIT, job = job }
  return job
end

function M:hand_over(job)
  check(self, self.queue:call("submit", job.id, job.number, job.submit, job.estimate, job.units, job.user, job.qos, job.priority,
    job.preemptible))
  if job.state == "running" then check(self, self.queue:call("reserved", job.id, true)) end
end

-- ---- events -------------------------------------------------------------------------------------------------

local HANDLE = {}

HANDLE[SUBMIT] = function(self, event)
  local job = event.job
  if job.state ~= "submitted" then return end
  local read = job.read
  if read.feasible == nil then
    local ok, why, code = self.engine:match(job.request, { mode = "feasible", stats = false })
    read.feasible, read.why, read.code = ok and true or false, why, code
  end
  if not read.feasible then
    job.state, job.why, job.code, job.finish = "rejected", read.why, read.code, self.now
    self:tell("reject", job)
    return
  end
  job.state = "pending"
  self.npending = self.npending + 1
  self:hand_over(job)
  self.dirty = true
  self:tell("submit", job)
end

local function leave(self, job, state)
  if not job.released then self.engine:release(job.id) end
  self.nrunning = self.nrunning - 1
  job.state, job.finish, job.released = state, self.now, nil
  self.jobs[job.id], self.late[job] = nil, nil
  check(self, self.queue:call("finish", job.id))
  self.dirty = true
  self:tell("finish", job)
end

HANDLE[FINISH] = function(self, event)
  local job = event.job
  if job.state == "running" and job.run == event.run then leave(self, job, event.failed and "failed" or "done") end
end

HANDLE[ACTION] = function(self, event)
  event.action(self)
  self.dirty = true
end

HANDLE[WAKE] = function() end

-- ---- the clock ----------------------------------------------------------------------------------------------

-- What ends by its estimate at t has gone when the queue policy is asked at t, before its own event comes.
local function let_go(self, t)
  local list = self.due[t]
  if not list then return end
  self.due[t] = nil
  for _, entry in ipairs(list) do
    local job = entry.job
    if job.state == "running" and job.run == entry.run and not self.late[job] then
      self.engine:release(job.id)
      job.released, self.dirty = true, true
      check(self, self.queue:call("change"))
    end
  end
end

-- A job that goes on beyond its estimate keeps what it has, for as long again as it ran; nothing was promised for longer than
-- that, so reservations are made anew.
local function extend(self, job)
  for other in pairs(self.reservations) do
    ASK[UNRESERVE](self, other.id)
    check(self, self.queue:call("reserved", other.id, false))
  end
  local picks, more = self.engine:job(job.id):vertices(), math.max(60, self.now - job.start)
  self.engine:release(job.id)
  for _, pick in ipairs(picks) do
    assert(pick.vertex:allocate { job = job.id, amount = pick.amount, start = self.now, duration = more })
  end
  job.due = self.now + more
  self.events:push { time = job.due, kind = WAKE, late = job, run = job.run }
  self.dirty = true
end

-- Reservations whose time came: the engine has made allocations of them. In the order of their jobs.
local function begin_reserved(self)
  local list = {}
  for job in pairs(self.reservations) do
    if job.reserved <= self.now then list[#list + 1] = job end
  end
  table.sort(list, function(a, b) return a.id < b.id end)
  for _, job in ipairs(list) do
    self.reservations[job] = nil
    begin(self, job)
    check(self, self.queue:call("clock", self.now))
    check(self, self.queue:call("reserved", job.id, true))
  end
end

HANDLE[WAKE] = function(self, event)
  local job = event.late
  if job and job.state == "running" and job.run == event.run then extend(self, job) end
end

local function advance(self, t)
  if t <= self.now and self.began then return end
  self.now, self.began = t, true
  let_go(self, t)
  self.engine:advance(t)
  if next(self.reservations) then begin_reserved(self) end
end

-- Asks the queue policy what is to be done.
local function pass(self)
  if not self.dirty then return end
  self.dirty = false
  self.passes = self.passes + 1
  self.npending = check(self, self.queue:call("schedule", self.now))
end

--- Handles one event, and calls the queue policy as the event rule says. False: there is none, or it lies after `limit`.
function M:step(limit)
  local event = self.events:peek()
  if not event or limit and event.time > limit then return false end
  advance(self, event.time)
  self.events:pop()
  HANDLE[event.kind](self, event)
  local next_event = self.events:peek()
  if self.rule == "per-event" or not next_event or next_event.time > self.now then pass(self) end
  return true
end

--- Runs to the end, or until the clock is at `limit` (seconds) and all that happens up to then has happened.
function M:run(limit)
  while self:step(limit) do end
  if limit and limit > self.now then advance(self, limit) end
  return self.now
end

--- Has a function called at a time, in the order of events; what it changes is seen by the queue policy then.
function M:at(time, action)
  self.events:push { time = math.max(time, self.now), kind = ACTION, action = action }
end

--- Cancels a job, in whatever state. False: it is over.
function M:cancel(job)
  if job.state == "pending" then
    if job.reserved then ASK[UNRESERVE](self, job.id) end
    check(self, self.queue:call("finish", job.id))
    job.state, job.finish, self.jobs[job.id] = "cancelled", self.now, nil
    self:tell("cancel", job)
  elseif job.state == "submitted" then
    job.state, job.finish = "cancelled", self.now
  elseif job.state == "running" then
    leave(self, job, "cancelled")
  else
    return false
  end
  self.dirty = true
  return true
end

--- Ends a running job as failed. False: it does not run.
function M:fail(job)
  if job.state ~= "running" then return false end
  leave(self, job, "failed")
  return true
end

--- Asks the queue policy now, after changes from outside: states of vertices, resources added or removed.
function M:changed()
  for _, read in pairs(self.requests) do read.feasible = nil end
  check(self, self.queue:call("change"))
  self.dirty = true
  pass(self)
end

return M
