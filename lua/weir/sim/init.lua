--- sim - a machine with a queue and a virtual clock. Jobs are submitted, start when the queue policy says so, on
--- resources chosen by the placement policy, and end; time jumps from event to event. No wall clock and no randomness:
--- equal input gives an equal history on every machine.
---
---   local s = sim.new { resources = "node:4 core:8", policy = "low", queue = "easy" }
---   local job = s:submit { request = "slot=2/node", estimate = 100, runtime = 60, at = 5 }
---   s:run()  print(job.state, job.start, job.finish)
---
--- Event rule. Events are ordered by time, then submissions before terminations, then by creation. "per-event": the
--- queue policy is called after each event; "per-timestamp" (default): after the last event of a time. With either
--- rule, a job whose estimate is over has released its resources when the policy is called at that time.
---
--- Times are instants (see instant.lua): seconds, rounded to whole microseconds where a job or a time is given.
---
--- Fields of a job: id, name, number, request, units (see job_size.lua), submit, estimate, runtime, user, bank, project,
--- queue, qos, urgency, priority, preemptible; state (submitted, pending, running, done, failed, cancelled, rejected), start, finish,
--- reserved (start of its reservation), due (expected end), killed (true if ended at its estimate), preempted (number
--- of preemptions), why and code (reason of the last failed start).

local about = require "weir.about"
local broker = require "weir.sim.broker"
local dependency = require "weir.sim.dependency"
local heap = require "weir.sim.event_heap"
local instant = require "weir.sim.instant"
local queue_policy = require "weir.sim.queue_policy"
local size = require "weir.sim.job_size"
local words = require "weir.texts"
local weir = require "weir"

local M = {}
M.__index = M

local SUBMIT, FINISH, ACTION, WAKE = 1, 2, 3, 4
local ends_in_time = instant.ends_in_time

-- ---- construction -------------------------------------------------------------------------------------------

-- Returns the type jobs are counted in: core if the machine has cores, else node, socket or gpu.
local function main_type(graph, given)
  if given then return given end
  local totals = graph:aggregate(nil, { all = true })
  for _, type in ipairs { "core", "node", "socket", "gpu" } do
    if totals[type] and totals[type].total > 0 then return type end
  end
  return graph:types()[1]
end

local WITHOUT_JOB = { units = true, schedule = true, change = true, unsure = true, ranked = true }

local RULES, OVERRUNS = { ["per-event"] = true, ["per-timestamp"] = true }, { kill = true, run = true }

local function check_options(opts)
  if not RULES[opts.rule or "per-event"] then return nil, ('rule "%s": expected per-event or per-timestamp'):format(opts.rule),
    "invalid" end
  if not OVERRUNS[opts.overrun or "kill"] then return nil, ('overrun "%s": expected kill or run'):format(opts.overrun), "invalid" end
  return true
end

-- Returns the listeners as a table by event.
local function listeners(on)
  if type(on) ~= "function" then return on or {} end
  return setmetatable({ time = false }, { __index = function(list, event)
    local function f(job, self) return on(event, job, self) end
    list[event] = f
    return f
  end })
end

--- Makes a simulator. opts: resources; policy; granularity (as of weir.engine); queue ("fcfs" by default); rule
--- ("per-timestamp", "per-event"); overrun ("kill" or "run", for jobs running longer than their estimate); type (jobs are
--- counted in its units; core by default, if the machine has cores); start (of the clock); budget (of the queue policy); texts
--- (sources of queue policies by path); turns (how many calls of queue:again and queue:preempt the policy may make while no
--- job comes, starts for the first time or ends; 100,000 by default); keep (false: finished jobs are forgotten, and s.list
--- stays empty); keep_going (true: an error of the placement policy does not end the simulation, see placement_failed);
--- dependencies (false: dependencies in jobspecs are ignored, so nothing is kept of
--- finished jobs); on (a function called with event, job, simulator; or a table of functions by event, called with job
--- and simulator). Events: submit, reject, start, reserve, preempt, finish, cancel; without a job, pass after each call
--- of the queue policy, and, in a table only, time before the clock moves on. Or nil, message, code.
function M.new(opts)
  local ok, why, code = check_options(opts)
  if not ok then return nil, why, code end
  local engine
  engine, why, code = weir.engine { resources = opts.resources, policy = opts.policy or "low", policies = opts.policies,
    granularity = opts.granularity }
  if not engine then return nil, why, code end
  local self = setmetatable({
    engine = engine, graph = engine:resources(), now = instant.of(opts.start or 0), events = heap.new(), jobs = {}, list = {}, made = 0,
    keep = opts.keep ~= false, known = opts.dependencies ~= false and {} or nil, reservations = {}, nreserved = 0, due = {},
    late = {}, wakes = {}, nrunning = 0, npending = 0,
    matches = 0, passes = 0, releases = 0, rule = opts.rule or "per-timestamp", overrun = opts.overrun or "kill",
    on = listeners(opts.on), requests = {}, nrequests = 0, sizes = {}, machine = 1, dirty = true,
    promises = 0, turns = 0, spent = 0, nstarted = 0,
    keep_going = opts.keep_going, policy_errors = { jobs = 0 }, most_turns = opts.turns or 100000,
  }, M)
  self.type = main_type(self.graph, opts.type)
  engine:advance(self.now)
  ok, why, code = self:use_queue(opts.queue or "fcfs", opts.budget, opts.texts)
  if not ok then return nil, why, code end
  local valid = self.graph:validity()
  self.steady = not valid and #engine:jobs() == 0
  if valid and valid > self.now then self:wake(valid, true) end -- no job starts before
  return self
end

-- Ends the simulation. The failure is kept, as a queue policy may catch the error.
local function give_up(self, text, ...)
  self.failure = text:format(...)
  error(self.failure, 0)
end

-- Ends the simulation at an error of a policy. message: with the policy, the file and the line; job: the job that the policy was
-- called for, or nil. self.failed_policy is true from then on.
local function policy_failed(self, message, job)
  self.failed_policy = true
  give_up(self, "%s (%sat time %s, after the start of %s)", message, job and ("job %s, "):format(job.number) or "",
    ("%.14g"):format(self.now), words.counted(self.nstarted, "job"))
end

local function by_id(a, b) return a.id < b.id end

--- Sets a new queue policy; waiting jobs are passed on, reservations are dropped. texts: sources by path, for files that
--- are not to be read. Or nil, message, code.
function M:use_queue(x, budget, texts)
  local sandbox, name, code = queue_policy.open(x, function(...) return broker.answer(self, ...) end, budget, texts)
  if not sandbox then return nil, name, code end
  self:keep_state()
  broker.drop_reservations(self)
  self.queue, self.queue_name, self.queue_seconds = sandbox, name, budget and budget.seconds or queue_policy.SECONDS
  self.keeps, self.state_key = queue_policy.keep(sandbox, x, self.graph)
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

--- Saves the state of the queue policy with the machine; a policy without a state has none to save.
function M:keep_state()
  if not self.keeps or self.failure then return end
  local ok, why = self.keeps()
  if not ok then policy_failed(self, ("queue policy %s: the state: %s"):format(self.queue_name, why)) end
end

--- Returns the state of the queue policy as a table; nil before the first job has started, or without a state.
function M:queue_state()
  self:keep_state()
  return queue_policy.state(self.graph, self.state_key)
end

-- Forgets measurements and feasibility of all requests. Existing jobs keep their units.
local function forget_requests(self)
  self.requests, self.nrequests, self.sizes, self.machine = {}, 0, {}, self.machine + 1
end

-- Forgets what was refused: scripts may change what is in use between two calls of the simulator, or in an action.
local function unsure(self)
  self.releases = self.releases + 1
  self:ask "unsure"
end

--- Sets a new placement policy, for starts from now on.
function M:use_policy(x)
  local done, why, code = self.engine:use(x)
  if done then
    self.releases = self.releases + 1
    forget_requests(self)
  end
  return done, why, code
end

-- Calls a function of the queue policy; most take the id of a job. A failure of the policy is raised, and kept as self.failure.
function M:ask(hook, id, ...)
  local ok, message = self.queue:call(hook, id, ...)
  if self.failure then error(self.failure, 0) end
  if ok then return end
  if message == "interrupted" then error(message, 0) end -- by a signal, not a failure of the policy
  local job = not WITHOUT_JOB[hook] and (self.jobs[id] or self.ending) or nil
  policy_failed(self, ("queue policy %s: %s"):format(self.queue_name, message), job)
end

--- Counts a call of queue:again or queue:preempt. Ends a simulation whose policy keeps calling while nothing happens,
--- as the simulation would never end.
function M:turn()
  self.turns = self.turns + 1
  if self.turns <= self.most_turns then return end
  self.failed_policy = true
  give_up(self, "queue policy %s: it called queue:again and queue:preempt %d times, and meanwhile no job came, started for the first "
    .. "time or ended; at time %s it is stopped", self.queue_name, self.most_turns, self.now)
end

--- Handles an error of the placement policy, which was called for a job. It ends the simulation, as figures of the jobs that are
--- left would say nothing of the policy. With `keep_going` the job is counted in self.policy_errors, and waits or is rejected; a
--- policy that used more than twice its seconds ends the simulation all the same, as each job would take as long.
function M:placement_failed(why, job)
  if why:find "interrupted$" then error("interrupted", 0) end -- by a signal
  local retired = self.engine:retire() or self.engine:retired()
  if retired then
    policy_failed(self, retired.why:find(why, 1, true) and retired.why or ("%s (%s)"):format(why, retired.why), job)
  end
  if not self.keep_going then policy_failed(self, why, job) end
  local errors = self.policy_errors
  errors.first = errors.first or ("job %s: %s"):format(job.number, why)
  if not job.policy_failed then errors.jobs, job.policy_failed = errors.jobs + 1, true end
end

--- Returns the free units, and all units, of the type jobs are counted in.
function M:free() return (self.engine:free(self.type)) end

function M:total()
  local row = self.graph:aggregate(nil, { all = true })[self.type]
  return row and row.total or 0
end

local FOLLOWED = { start = true, finish = true, cancel = true, reject = true }
local PROGRESS = { submit = true, finish = true, cancel = true, reject = true }

-- Reports an event to listeners. Jobs depending on `job` are checked in an event of their own, as a call of the policy
-- may be under way.
function M:tell(event, job)
  local f = self.on[event]
  if PROGRESS[event] or event == "start" and not job.preempted then self.turns, self.spent = 0, 0 end
  if f then f(job, self) end
  if job and job.followers and FOLLOWED[event] then self:at(self.now, function() self:look_at_followers(job) end) end
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

M.units_of, M.main_type = size.of, main_type

local REQUESTS = 10000 -- requests remembered

-- Returns the units of a request, as the placement policy admits the request for a job, and the least units.
local function measure(self, request, job)
  return size.of(self.engine:admitted(request, job) or request, self.type, self.graph, self.sizes)
end

-- Returns the shape of the request of a job; equal texts or tables share a shape, so a request is parsed once.
local function read_request(self, x, job)
  local known = self.requests[x]
  if known then return known end
  local request, why, code = x, nil, nil
  if type(x) ~= "userdata" then request, why, code = weir.request(x, "<request>") end -- never the name of a file
  if not request then return nil, why, code end
  known = { request = request }
  known.units, known.least = measure(self, request, job)
  known.plain = size.is_plain(request, self.type)
  if self.nrequests == REQUESTS then self.requests, self.nrequests = {}, 0 end
  self.requests[x], self.nrequests = known, self.nrequests + 1
  return known
end

-- Takes a job into the simulator; submit, estimate, runtime and request are set already.
local function take(self, job)
  local shape = self.requests[job.request]
  if not shape then
    local why, code
    shape, why, code = read_request(self, job.request, job)
    if not shape then return nil, why, code end
  end
  local id = self.made + 1
  job.id, job.shape, job.request, job.units, job.state = id, shape, shape.request, shape.units, "submitted"
  if self.engine:personal() then job.units, job.least = measure(self, shape.request, job) end
  job.time, job.kind = math.max(job.submit, self.now), SUBMIT
  job.number = job.number or id
  job.estimate, job.runtime = instant.of(math.max(job.estimate, 1e-6)), instant.of(job.runtime)
  self.made, self.jobs[id] = id, job
  if self.keep then self.list[id] = job end
  local known = self.known
  if known then
    known[job.number] = job
    if job.name then known[job.name] = job end
  end
  return job
end

local function number_of(value, default, what)
  if value == nil then return default end
  if type(value) ~= "number" or value ~= value or value < 0 then error("a job's " .. what .. ": expected a number from 0 on", 3) end
  return value
end

--- Submits a job: request (text, table, request), estimate (seconds; by default the request's duration), runtime (by
--- default the estimate), at (now by default), user, bank, project, queue, qos, urgency, priority, preemptible, name,
--- number; after, afterany, afterok, afternotok (jobs), singleton, group: see dependency.lua, in addition to dependencies of
--- the jobspec; requeue (true: begins again instead of failing with its resources). Returns the job, a table with state
--- pending, running, done, failed, cancelled or rejected; or nil, message, code.
function M:submit(spec)
  local shape, why, code = read_request(self, spec.request, spec)
  if not shape then return nil, why, code end
  if shape.named == nil then shape.named = dependency.of_jobspec(shape.request) or false end
  local estimate = number_of(spec.estimate, spec.runtime, "estimate")
  if not estimate then
    estimate = shape.request:duration()
    estimate = estimate < math.huge and estimate or 3600
  end
  local job = {
    name = spec.name, number = spec.number, request = spec.request,
    submit = instant.of(math.max(number_of(spec.at, self.now, "at"), self.now)),
    estimate = estimate, runtime = number_of(spec.runtime, estimate, "runtime"), user = spec.user, bank = spec.bank,
    project = spec.project, queue = spec.queue, qos = spec.qos, urgency = spec.urgency, priority = spec.priority,
    preemptible = number_of(spec.preemptible, nil, "preemptible"), waits = dependency.read(spec),
    group = spec.group, requeue = spec.requeue,
  }
  local ok
  ok, why, code = ends_in_time(job.submit, job)
  if not ok then return nil, why, code end
  if shape.named then
    ok, why = dependency.add(self, job, shape.named)
    if not ok then return nil, why, "dependency" end
  end
  take(self, job)
  self.events:push(job)
  return job
end

-- Linked lists of jobs by time.
local function link(lists, t, job)
  job.beside, lists[t] = lists[t], job
end

local function unlink(lists, t, job)
  local at = lists[t]
  if at == job then
    lists[t], job.beside = job.beside, nil
    return
  end
  while at and at.beside ~= job do at = at.beside end
  if at then at.beside, job.beside = job.beside, nil end
end

--- Takes over a job that has resources in the engine, as when a simulation begins in the midst of things: id, of the
--- engine's job; request; start; due, the expected end, after now; stop, the end, due if not given; submit, user, bank,
--- project, queue, qos, urgency, priority, preemptible, name, number. Both ends may be math.huge. Returns the job; or nil,
--- message, code.
function M:adopt(spec)
  local shape, why, code = read_request(self, spec.request, spec)
  if not shape then return nil, why, code end
  local job = {}
  for key, value in pairs(spec) do job[key] = value end
  job.number, job.shape, job.request, job.units, job.state = spec.number or spec.id, shape, shape.request, shape.units, "running"
  job.start, job.due, job.submit = instant.of(spec.start), spec.due, spec.submit or spec.start
  job.estimate = math.max(instant.of(spec.due - spec.start), 1e-6)
  job.time, job.kind = spec.stop or spec.due, FINISH
  job.runtime = job.time - job.start
  self.jobs[job.id], self.made, self.nrunning = job, math.max(self.made, job.id), self.nrunning + 1
  if self.known then self.known[job.number] = job end
  if job.time == job.due and job.due < math.huge then
    link(self.due, job.due, job)
  elseif job.time > job.due then
    link(self.late, job.due, job)
    self:wake(job.due)
  end
  if job.time < math.huge then self.events:push(job) end
  self:hand_over(job)
  return job
end

-- Takes the next job from the source. The job is kept outside of the event heap, and precedes all events of its time.
local function pull(self)
  local job = self.source()
  self.fed = job
  if not job then
    self.source = nil
    return
  end
  job.submit = instant.of(job.submit)
  local fits, wrong = ends_in_time(job.submit, job)
  if not fits then give_up(self, "job %s: %s", job.number or self.made + 1, wrong) end
  local named = type(job.request) == "string" and dependency.of_jobspec(job.request)
  if named then
    local ok, why = dependency.add(self, job, named)
    if not ok then job.wrong = why end
  end
  local ok, why = take(self, job)
  if not ok then error(why, 0) end
end

--- Submits jobs from a function as they are needed: next() returns the next job in the order of submission, or nil. A
--- job is a new table {submit =, estimate =, runtime =, request =}, with user, bank, project, queue, qos, urgency,
--- priority, preemptible, name, number. Jobspecs given as texts may have dependencies.
function M:feed(next)
  self.source = next
  pull(self)
end

function M:hand_over(job)
  self:ask("submit", job.id, job.number, job.submit, job.estimate, job.units, job.user, job.qos, job.priority, job.preemptible,
    job.least or job.shape.least, job.name, job.bank, job.project, job.queue, job.urgency)
  if job.state == "running" then self:ask("runs", job.id, job.start) end
end

--- Changes the priority of a waiting job.
function M:prioritise(job, value)
  job.priority, job.refused = value, nil
  if job.state == "pending" and not job.waits then self:ask("priority", job.id, value) end
  self.dirty = true
end

--- Starts a job whose resources were allocated. `began`: when it really started, for a job that runs already; now if not
--- given.
function M:begin(job, began)
  local lasts, estimate, now = job.runtime, job.estimate, self.now
  local fits, wrong = ends_in_time(now, job)
  if not fits then give_up(self, "job %s: %s", job.number, wrong) end
  local start = began or now
  job.state, job.start, job.due, job.why, job.code = "running", start, instant.after(start, estimate), nil, nil
  self.nrunning, self.npending = self.nrunning + 1, self.npending - 1
  if not job.preempted then self.nstarted = self.nstarted + 1 end
  if began then job.due = instant.due(start, estimate, now) end
  if lasts >= estimate then
    if lasts > estimate and self.overrun == "kill" then lasts, job.killed = estimate, true end
    if instant.after(start, lasts) == job.due then
      link(self.due, job.due, job)
    elseif instant.after(start, lasts) > job.due then
      link(self.late, job.due, job)
      self:wake(job.due)
    end
  end
  job.time, job.kind = instant.after(start, lasts), FINISH
  self.events:push(job)
  self:tell("start", job)
end

--- Takes a job that started before the clock, at `began`, and runs still: it gets resources now, for the rest of its
--- estimate. A job as for feed(). Returns true; or nil, message, code where the machine has no room for it.
function M:resume(job, began)
  local ok, why, code = take(self, job)
  if not ok then return nil, why, code end
  job.start = began
  local due = instant.due(began, job.estimate, self.now)
  ok, why, code = self.engine:place(job.request, job.id, self.now, due - self.now, false, false, job)
  if ok then ok, why, code = self.engine:placed(job.id, job.request, job) end
  if not ok then
    if code == "policy" then self:placement_failed(why, job) end
    self.engine:release(job.id, false)
    self.jobs[job.id] = nil
    return nil, why, code
  end
  self.npending = self.npending + 1
  self:tell("submit", job)
  self:begin(job, began)
  self:hand_over(job)
  self.dirty = true
  return true
end

--- Sets how long a job lasts, in seconds, also that of a running one; the job must not have run for longer.
function M:lasts(job, runtime)
  job.runtime = instant.of(runtime)
  if job.state ~= "running" then return end
  self:stop(job)
  local finish = instant.after(job.start, job.runtime)
  if finish == job.due then
    link(self.due, job.due, job)
  elseif finish > job.due then
    link(self.late, job.due, job)
  end
  job.time, job.kind = finish, FINISH
  self.events:push(job)
end

--- Removes the pending end of a running job.
function M:stop(job)
  self.events:remove(job)
  unlink(self.due, job.due, job)
  unlink(self.late, job.due, job)
end

-- Makes the clock stop at a time; with `calling` the queue policy is called then.
function M:wake(time, calling)
  time = instant.of(time)
  local known = self.wakes[time]
  if calling and known ~= true then self:turn() end
  self.wakes[time] = calling or known or "stop"
  if not known then self.events:push { time = time, kind = WAKE } end
end

-- ---- events -------------------------------------------------------------------------------------------------

local function over(self, job, state)
  job.state, job.finish = state, self.now
  self.jobs[job.id] = nil
  if job.group then dependency.leave(self, job) end
  if self.known and not self.keep then
    self.known[job.number] = { id = job.id, name = job.name, state = state, start = job.start, killed = job.killed }
  end
end

local function leave(self, job, state)
  local sooner = not job.released
  if sooner then broker.release(self, job) end
  self.releases = self.releases + 1
  self.nrunning = self.nrunning - 1
  job.released = nil
  over(self, job, state)
  self.ending = job
  self:ask("finish", job.id, sooner, self.now)
  self.ending = nil
  self.dirty = true
  self:tell("finish", job)
end

local HANDLE = {}

-- Submits a job to the queue policy once its dependencies are met. Cancels a job whose dependencies can never be met,
-- and returns false.
local function enter(self, job)
  local free_to_go = not job.waits or dependency.look(self, job)
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

--- Checks the dependencies of a waiting job again.
function M:look_again(job)
  if job.state == "pending" and job.waits then enter(self, job) end
end

HANDLE[SUBMIT] = function(self, job)
  if job.state ~= "submitted" then return end
  local verdict = broker.memo(self, job).verdict
  if not verdict or verdict.machine ~= self.machine then
    local ok, why, code = self.engine:match(job.request, { mode = "feasible", stats = false, about = about.of(job) })
    if code == "policy" then self:placement_failed(why, job) end
    verdict = { feasible = ok and true or false, why = why, code = code, machine = self.machine }
    broker.memo(self, job).verdict = verdict
  end
  if job.wrong or not verdict.feasible then
    job.why, job.code = job.wrong or verdict.why, job.wrong and "dependency" or verdict.code
    over(self, job, "rejected")
    return self:tell("reject", job)
  end
  job.state = "pending"
  if enter(self, job) ~= false then self:tell("submit", job) end
end

HANDLE[FINISH] = function(self, job)
  if job.state ~= "running" then return end
  if self.late[job.due] then unlink(self.late, job.due, job) end
  leave(self, job, "done")
end

HANDLE[ACTION] = function(self, event)
  event.action(self)
  unsure(self)
  self.dirty = true
end

HANDLE[WAKE] = function(self, event)
  if self.wakes[event.time] == true then self.dirty = true end
  self.wakes[event.time] = nil
end

-- ---- the clock ----------------------------------------------------------------------------------------------

-- Removes the list of jobs of a time. Returns the jobs by ascending number.
local function take_list(lists, t)
  local list, job = {}, lists[t]
  lists[t] = nil
  while job do
    list[#list + 1] = job
    job, job.beside = job.beside, nil
  end
  if #list > 1 then table.sort(list, by_id) end
  return list
end

-- Releases the resources of jobs whose estimate ends at t, before the policy is called at t and before their own
-- events.
local function let_go(self, t)
  for _, job in ipairs(take_list(self.due, t)) do
    broker.release(self, job)
    job.released = true
    self.releases = self.releases + 1
  end
  self.dirty = true
  self:ask("change", false)
end

-- Extends jobs running beyond their estimate, by the time they have run so far; the end is unknown, so reservations
-- are dropped to be made again.
local function extend(self, t)
  broker.drop_reservations(self)
  for _, job in ipairs(take_list(self.late, t)) do
    job.due = instant.later(job.start, t)
    assert(self.engine:attach(assert(self.engine:detach(job.id)), job.due))
    link(self.late, job.due, job)
    self:wake(job.due)
  end
  self.dirty = true
end

local function advance(self, t)
  if t <= self.now and self.began then return end
  local f = self.on.time
  if f then f(nil, self) end
  if self.due[t] then let_go(self, t) end
  if self.late[t] then extend(self, t) end
  self.now, self.began = t, true
  self.engine:advance(t)
  if self.nreserved > 0 and (self.held or t >= self.soonest) then broker.begin_reserved(self) end
end

-- Calls the queue policy. Calls between which nothing happens share the seconds of a single call.
local function schedule(self)
  local begin = self.turns > 0 and os.clock()
  self:ask("schedule", self.now, (self.engine:free(self.type)))
  if not begin or self.turns == 0 then return end
  self.spent = self.spent + os.clock() - begin
  if self.spent <= self.queue_seconds then return end
  self.failed_policy = true
  give_up(self, "queue policy %s: it requested further calls and took more than its %g seconds, and meanwhile no job came, started "
    .. "for the first time or ended; at time %s it is stopped", self.queue_name, self.queue_seconds, self.now)
end

-- Calls the queue policy, if anything has changed and a job is waiting.
local function pass(self)
  if not self.dirty then return end
  self.dirty = false
  if self.npending == 0 then return end
  self.passes = self.passes + 1
  schedule(self)
  self:tell("pass")
end

--- Returns the time of the next event, or nil.
function M:next_time()
  local event, fed = self.events[1], self.fed
  if fed and not (event and event.time < fed.time) then return fed.time end
  return event and event.time
end

--- Handles the next event, and calls the queue policy as the event rule says. Returns false if no event is left, or the
-- next one is after `limit`.
function M:step(limit)
  local events, fed = self.events, self.fed
  local event = events[1]
  local is_fed = fed and not (event and event.time < fed.time)
  if is_fed then event = fed end
  if not event then return false end
  local t = event.time
  if limit and t > limit then return false end
  if t > self.now or not self.began then advance(self, t) end
  if is_fed then pull(self) else event = events:pop() end -- a job that began now may have ended now, too
  HANDLE[event.kind](self, event)
  if not self.dirty then return true end
  if self.rule == "per-event" then
    pass(self)
  else
    local next_time = self:next_time()
    if not next_time or next_time > self.now then pass(self) end
  end
  return true
end

--- Runs to the end, or until the clock is at `limit` (seconds) and all events up to `limit` were handled.
function M:run(limit)
  limit = limit and instant.of(limit)
  unsure(self)
  while self:step(limit) do end
  if limit and limit > self.now then advance(self, limit) end
  self:keep_state()
  return self.now
end

--- Calls a function at a time, in the order of events; its changes are visible to the queue policy then.
function M:at(time, action)
  self.events:push { time = instant.of(math.max(time, self.now)), kind = ACTION, action = action }
end

--- Cancels a job in any state. Returns false if the job has ended.
function M:cancel(job)
  if job.state == "running" then
    self:stop(job)
    leave(self, job, "cancelled")
  elseif job.state == "pending" then
    if job.reserved then broker.unreserve(self, job) end
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

--- Ends a running job as failed. Returns false if the job is not running.
function M:fail(job)
  if job.state ~= "running" then return false end
  self:stop(job)
  leave(self, job, "failed")
  return true
end

--- Puts a running job back into the queue, to begin again. Returns false if the job is not running.
function M:requeue(job)
  if job.state ~= "running" then return false end
  if not job.released then broker.release(self, job) end
  broker.back(self, job, "requeue")
  self:ask("back", job.id, self.now)
  self.dirty = true
  return true
end

--- Adds to a running job the resources found by a request. Or nil, message, code.
function M:grow(job, request)
  if job.state ~= "running" then return nil, "only a job that runs can grow", "invalid" end
  local a, why, code = self.engine:grow(job.id, request)
  if not a then return nil, why, code end
  self:tell("change", job)
  self:changed()
  return a
end

--- Takes a part from a running job, like engine:shrink; a job left without resources ends. Or nil, message, code.
function M:shrink(job, part)
  if job.state ~= "running" then return nil, "only a job that runs can shrink", "invalid" end
  local a, why, code = self.engine:shrink(job.id, part)
  if not a then return nil, why, code end
  if a == true then
    self:stop(job)
    job.released = true
    leave(self, job, "done")
  else
    self:tell("change", job)
  end
  self:changed()
  return a
end

--- Handles all events up to now, and calls the queue policy.
function M:settle()
  unsure(self)
  repeat
    while self:step(self.now) do end
    pass(self)
    local t = self:next_time()
  until not t or t > self.now
end

--- Calls the queue policy after external changes: states of vertices, resources added or removed. Reservations are
--- dropped to be made again, as their resources may be gone. waits: the policy is called when the events of the time are over.
function M:changed(waits)
  self.releases = self.releases + 1
  forget_requests(self)
  broker.drop_reservations(self)
  self:ask("units", self:total())
  self:ask("change", true)
  self.dirty = true
  if not waits then pass(self) end
end

return M
