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
---
--- A job: id, name, number, request, units, submit, estimate, runtime, user, qos, priority, preemptible; state (submitted,
--- pending, running, done, failed, cancelled, rejected), start, finish, reserved (the start that is booked for it), due (when it
--- is to be gone), killed (it was longer than its estimate), preempted (how often), why and code (why it did not start last).

local asking = require "weir.sim.asking"
local dependency = require "weir.sim.dependency"
local heap = require "weir.sim.heap"
local queue_policy = require "weir.sim.queue_policy"
local weir = require "weir"

local M = {}
M.__index = M

local SUBMIT, FINISH, ACTION, WAKE = 1, 2, 3, 4

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

local RULES, OVERRUNS = { ["per-event"] = true, ["per-timestamp"] = true }, { kill = true, run = true }

local function check_options(opts)
  if not RULES[opts.rule or "per-event"] then return nil, ('rule "%s": per-event or per-timestamp is wanted'):format(opts.rule),
    "invalid" end
  if not OVERRUNS[opts.overrun or "kill"] then return nil, ('overrun "%s": kill or run is wanted'):format(opts.overrun), "invalid" end
  return true
end

--- A simulator. opts: resources, policy, queue ("fcfs" if not given), rule ("per-timestamp", "per-event"), overrun ("kill",
--- "run": what becomes of a job that runs longer than its estimate), type (what jobs are counted in; core where there are
--- any), start (of the clock), budget (of the queue policy), keep (false: jobs that are over are forgotten, s.list stays
--- empty), on (a function called with what happens: event, job, simulator; events are submit, reject, start, reserve, preempt,
--- finish, cancel, and pass, without a job, after each call of the queue policy). Or nil, message, code.
function M.new(opts)
  local ok, why, code = check_options(opts)
  if not ok then return nil, why, code end
  local engine
  engine, why, code = weir.engine { resources = opts.resources, policy = opts.policy or "low", policies = opts.policies }
  if not engine then return nil, why, code end
  local self = setmetatable({
    engine = engine, graph = engine:resources(), now = opts.start or 0, events = heap.new(), jobs = {}, list = {}, made = 0,
    keep = opts.keep ~= false, reservations = {}, nreserved = 0, due = {}, late = {}, wakes = {}, nrunning = 0, npending = 0,
    matches = 0, passes = 0, releases = 0, rule = opts.rule or "per-timestamp", overrun = opts.overrun or "kill", on = opts.on,
      requests = {},
    dirty = true, promises = 0,
  }, M)
  self.type = main_type(self.graph, opts.type)
  engine:advance(self.now)
  ok, why, code = self:use_queue(opts.queue or "fcfs", opts.budget)
  if not ok then return nil, why, code end
  return self
end

local function by_id(a, b) return a.id < b.id end

--- Takes another queue policy; the jobs that wait are handed over, reservations are dropped. Or nil, message, code.
function M:use_queue(x, budget)
  local sandbox, name, code = queue_policy.open(x, function(...) return asking.answer(self, ...) end, budget)
  if not sandbox then return nil, name, code end
  asking.drop_reservations(self)
  self.queue, self.queue_name = sandbox, name
  local list = {}
  for _, job in pairs(self.jobs) do
    if job.state == "pending" and not job.waits or job.state == "running" then list[#list + 1] = job end
  end
  table.sort(list, by_id)
  self:ask("units", self:total())
  for _, job in ipairs(list) do self:hand_over(job) end
  self.dirty = true
  return true
end

--- Takes another placement policy for what starts from now on.
function M:use_policy(x) return self.engine:use(x) end

-- Tells the queue policy something. Where it fails it raises, and self.failure is what.
function M:ask(...)
  local ok, message = self.queue:call(...)
  if ok then return end
  self.failure = ("queue policy %s: %s"):format(self.queue_name, message)
  error(self.failure, 0)
end

--- Units free now, and units in all, of what jobs are counted in.
function M:free() return (self.engine:free(self.type)) end

function M:total()
  local row = self.graph:aggregate()[self.type]
  return row and row.total or 0
end

local FOLLOWED = { start = true, finish = true, cancel = true, reject = true }

-- Who waits for the job is looked at after the call of the policy that this may be amid.
function M:tell(event, job)
  if self.on then self.on(event, job, self) end
  if job and job.followers and FOLLOWED[event] then self:at(self.now, function() self:look_at_followers(job) end) end
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
  known = { request = request, units = units_of(request, self.type) }
  self.requests[x] = known
  return known
end

-- The job is the simulator's from now on: submit, estimate, runtime and request are there.
local function take(self, job)
  local shape, why, code = read_request(self, job.request)
  if not shape then return nil, why, code end
  local id = self.made + 1
  job.id, job.number, job.shape, job.request, job.units = id, job.number or id, shape, shape.request, shape.units
  job.estimate, job.state, job.run = math.max(job.estimate, 1e-6), "submitted", 0
  self.made, self.jobs[id] = id, job
  if self.keep then self.list[id] = job end
  self.events:push { time = job.submit, kind = SUBMIT, job = job }
  return job
end

local function number_of(value, default, what)
  if value == nil then return default end
  if type(value) ~= "number" or value ~= value or value < 0 then error("a job's " .. what .. ": a number from 0 on is expected", 3) end
  return value
end

--- Submits a job: request (text, table, request), estimate (seconds; the request's duration if not given), runtime (the
--- estimate if not given), at (now if not given), and user, qos, priority, preemptible, name, number; after, afterany, afterok,
--- afternotok: jobs that it waits for, see dependency.lua. Returns the job, a table
--- whose state is pending, running, done, failed, cancelled or rejected; or nil, message, code.
function M:submit(spec)
  local shape, why, code = read_request(self, spec.request)
  if not shape then return nil, why, code end
  local estimate = number_of(spec.estimate, spec.runtime, "estimate")
  if not estimate then
    estimate = shape.request:duration()
    estimate = estimate < math.huge and estimate or 3600
  end
  return take(self, {
    name = spec.name, number = spec.number, request = spec.request, submit = math.max(number_of(spec.at, self.now, "at"), self.now),
    estimate = estimate, runtime = number_of(spec.runtime, estimate, "runtime"), user = spec.user, qos = spec.qos,
    priority = spec.priority, preemptible = spec.preemptible, waits = dependency.read(spec),
  })
end

local function pull(self)
  local job = self.source()
  self.fed = job
  if not job then
    self.source = nil
    return
  end
  job.submit = math.max(job.submit, self.now)
  local ok, why = take(self, job)
  if not ok then error(why, 0) end
end

--- Takes jobs from a function as they are needed: next() returns the next job in the order of submission, or nil. A job is a
--- new table {submit =, estimate =, runtime =, request =}, and user, qos, priority, preemptible, name, number.
function M:feed(next)
  self.source = next
  pull(self)
end

function M:hand_over(job)
  self:ask("submit", job.id, job.number, job.submit, job.estimate, job.units, job.user, job.qos, job.priority, job.preemptible)
  if job.state == "running" then self:ask("started", job.id, job.start) end
end

--- Gives a job that waits another priority.
function M:prioritise(job, value)
  job.priority = value
  if job.state == "pending" and not job.waits then self:ask("priority", job.id, value) end
  self.dirty = true
end

-- A job that has its resources begins to run.
function M:begin(job)
  local lasts, now = job.runtime, self.now
  job.state, job.start, job.due, job.run = "running", now, now + job.estimate, job.run + 1
  self.nrunning, self.npending = self.nrunning + 1, self.npending - 1
  if self.overrun == "kill" and lasts > job.estimate then lasts, job.killed = job.estimate, true end
  self.events:push { time = now + lasts, kind = FINISH, job = job, run = job.run }
  local lists = lasts == job.estimate and self.due or lasts > job.estimate and self.late
  if lists then
    local list = lists[job.due] or {}
    lists[job.due], list[#list + 1] = list, { job = job, run = job.run }
    if lists == self.late then self:wake(job.due) end
  end
  self:tell("start", job)
end

-- The clock is to stop at a time; calling: and the queue policy to be called.
function M:wake(time, calling)
  local known = self.wakes[time]
  self.wakes[time] = calling or known or "stop"
  if not known then self.events:push { time = time, kind = WAKE } end
end

-- ---- events -------------------------------------------------------------------------------------------------

local function over(self, job, state)
  job.state, job.finish = state, self.now
  self.jobs[job.id] = nil
end

local function leave(self, job, state)
  local sooner = not job.released
  if sooner then self.engine:release(job.id) end
  self.releases = self.releases + 1
  self.nrunning = self.nrunning - 1
  job.released = nil
  over(self, job, state)
  self:ask("finish", job.id, sooner, self.now)
  self.dirty = true
  self:tell("finish", job)
end

local HANDLE = {}

-- The queue policy gets to know a job; not before what it waits for has happened. False: that can never be.
local function enter(self, job)
  local free_to_go = not job.waits or dependency.look(job)
  if free_to_go == false then
    self:cancel(job)
  elseif free_to_go then
    self.npending = self.npending + 1
    self:hand_over(job)
    self.dirty = true
  end
  return free_to_go
end

function M:look_at_followers(job)
  for _, other in ipairs(dependency.followers(job)) do enter(self, other) end
end

HANDLE[SUBMIT] = function(self, event)
  local job = event.job
  if job == self.fed then pull(self) end
  if job.state ~= "submitted" then return end
  local shape = job.shape
  if shape.feasible == nil then
    local ok, why, code = self.engine:match(job.request, { mode = "feasible", stats = false })
    shape.feasible, shape.why, shape.code = ok and true or false, why, code
  end
  if not shape.feasible then
    job.why, job.code = shape.why, shape.code
    over(self, job, "rejected")
    return self:tell("reject", job)
  end
  job.state = "pending"
  if enter(self, job) ~= false then self:tell("submit", job) end
end

HANDLE[FINISH] = function(self, event)
  local job = event.job
  if job.state == "running" and job.run == event.run then leave(self, job, "done") end
end

HANDLE[ACTION] = function(self, event)
  event.action(self)
  self.dirty = true
end

HANDLE[WAKE] = function(self, event)
  if self.wakes[event.time] == true then self.dirty = true end
  self.wakes[event.time] = nil
end

-- ---- the clock ----------------------------------------------------------------------------------------------

-- Calls f for the jobs of a list for time t that still run.
local function each_at(lists, t, f)
  local list = lists[t]
  if not list then return end
  lists[t] = nil
  for _, entry in ipairs(list) do
    if entry.job.state == "running" and entry.job.run == entry.run then f(entry.job) end
  end
end

-- What ends by its estimate at t has gone when the queue policy is asked at t, before its own event comes.
local function let_go(self, t)
  each_at(self.due, t, function(job)
    self.engine:release(job.id)
    job.released, self.dirty, self.releases = true, true, self.releases + 1
    self:ask("change", false)
  end)
end

-- A job that goes on beyond its estimate keeps what it has, for as long again as it ran; nobody could know, so reservations are
-- made anew.
local function extend(self, t)
  each_at(self.late, t, function(job)
    asking.drop_reservations(self)
    job.due = t + math.max(60, t - job.start)
    assert(self.engine:put(assert(self.engine:lift(job.id)), job.due))
    local list = self.late[job.due] or {}
    self.late[job.due], list[#list + 1] = list, { job = job, run = job.run }
    self:wake(job.due)
    self.dirty = true
  end)
end

local function by_start(a, b)
  if a.reserved ~= b.reserved then return a.reserved < b.reserved end
  return a.id < b.id
end

-- Reservations whose time came: the engine has made allocations of them.
local function begin_reserved(self)
  local list, soonest = {}, math.huge
  for job in pairs(self.reservations) do
    if job.reserved <= self.now then list[#list + 1] = job elseif job.reserved < soonest then soonest = job.reserved end
  end
  table.sort(list, by_start)
  self.soonest = soonest
  for _, job in ipairs(list) do
    asking.forget(self, job)
    self:begin(job)
    self:ask("started", job.id, self.now)
  end
end

local function advance(self, t)
  if t <= self.now and self.began then return end
  let_go(self, t)
  extend(self, t)
  self.now, self.began = t, true
  self.engine:advance(t)
  if self.nreserved > 0 and t >= self.soonest then begin_reserved(self) end
end

-- Asks the queue policy what is to be done.
local function pass(self)
  if not self.dirty then return end
  self.dirty = false
  if self.npending == 0 then return end
  self.passes = self.passes + 1
  self:ask("schedule", self.now, (self.engine:free(self.type)))
  self:tell("pass")
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
  if job.state == "running" then
    leave(self, job, "cancelled")
  elseif job.state == "pending" then
    if job.reserved then asking.unreserve(self, job) end
    if not job.waits then
      self:ask("finish", job.id, false, self.now)
      self.npending = self.npending - 1
    end
    over(self, job, "cancelled")
    self:tell("cancel", job)
  elseif job.state == "submitted" then
    over(self, job, "cancelled")
    self:tell("cancel", job)
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

--- Gives a running job more: what a request finds. Or nil, message, code.
function M:grow(job, request)
  if job.state ~= "running" then return nil, "only a job that runs can grow", "invalid" end
  local a, why, code = self.engine:grow(job.id, request)
  if not a then return nil, why, code end
  self:tell("change", job)
  self:changed()
  return a
end

--- Takes a part away from a running job, as engine:shrink does; a job of which nothing is left is over. Or nil, message, code.
function M:shrink(job, part)
  if job.state ~= "running" then return nil, "only a job that runs can shrink", "invalid" end
  local a, why, code = self.engine:shrink(job.id, part)
  if not a then return nil, why, code end
  if a == true then
    job.released = true
    leave(self, job, "done")
  else
    self:tell("change", job)
  end
  self:changed()
  return a
end

--- Everything that happens up to now has happened, and the queue policy was asked.
function M:settle()
  repeat
    while self:step(self.now) do end
    pass(self)
    local event = self.events:peek()
  until not event or event.time > self.now
end

--- Asks the queue policy now, after changes from outside: states of vertices, resources added or removed. Reservations are made
--- anew, as what they stand on may be gone.
function M:changed()
  self.releases = self.releases + 1
  for _, shape in pairs(self.requests) do shape.feasible = nil end
  asking.drop_reservations(self)
  self:ask("units", self:total())
  self:ask("change", true)
  self.dirty = true
  pass(self)
end

return M
