--- instance.lua - the scheduler of a Flux instance, without I/O: requests come in as texts (RFC 27, RFC 28), answers go
-- out by opts.answer. Queue policies decide which job starts when, a placement policy decides where; the schedules are
-- kept by the engine.
--
--   local s = instance.new { settings =, answer = {alloc(id, R, annotations), annotate(id, annotations), deny(id, note),
--                            raise(id, note), explain(id)}, log = function(level, text), clock = seconds since 1970,
--                            ticks = seconds from some time on, for slices,
--                            states = the states of policies of before, as answer.keep(text) has given them; nil: none,
--                            spares = function(what, queue), see policies.lua; nil: any policy may be refused }
--   s:acquire(text)  s:hello(text, R, jobspec)  s:alloc(text)  s:free(text)  s:cancel(text)  s:prioritize(text)
--   s:expiration(text)
--   s:schedule(seconds)   works for at most so long; returns in how many seconds the next call is due
--
-- Fields of a job: id, request, shape, units, least, submit, estimate, user, qos, priority, queue, state (pending,
-- running, gone), start, due, reserved, group (of queues, see queues.lua), preemptible; known: the queue policy knows the
-- job. See sim/broker.lua for the fields given to policies.

local about = require "weir.about"
local broker = require "weir.sim.broker"
local core = require "weir.core"
local fluxion_jobs = require "weir.flux.fluxion_jobs"
local scheduler_client = require "weir.acquire.scheduler_client"
local flux_hostlist = require "weir.flux.hostlist"
local heap = require "weir.sim.event_heap"
local instant = require "weir.sim.instant"
local recover = require "weir.acquire.recover"
local jobid = require "weir.flux.jobid"
local jobspec = require "weir.flux.jobspec"
local queues = require "weir.flux.queues"
local machine_graph = require "weir.flux.machine_graph"
local match_times = require "weir.flux.match_times"
local nested = require "weir.flux.nested"
local annotations = require "weir.flux.annotations"
local policies = require "weir.flux.policies"
local policy_states = require "weir.flux.policy_states"
local preempt = require "weir.flux.preempt"
local rset = require "weir.rset"
local sim = require "weir.sim"
local tables = require "weir.tables"

local M = {}
M.__index = M

local MOST_REST = 1 -- seconds
local LONGER = 10 -- seconds by which an overdue job is expected to go on, at least

local function decode(text)
  local value, why = core.json_decode(text or "")
  if type(value) ~= "table" then return nil, why or "expected an object" end
  return value
end

-- ---- the machine ----------------------------------------------------------------------------------------------------

-- Handles the loss of a reservation, and notifies the queue policy.
local function lost(self, id)
  local job = self.jobs[id]
  if not job then return end
  broker.forget(self, job)
  self:ask("lost", id)
end

-- Notes a change of resources: any job might start now, or at a different time.
local function changed(self)
  if not self.engine then return end
  self.releases = self.releases + 1
  self.queues:tell_all("units", self:total())
  self.queues:tell_all("change", true)
  self.dirty = true
end

-- Denies jobs that can never run on the remaining resources.
local function judge(self)
  local list = {}
  for _, shape in pairs(self.requests) do shape.verdict, shape.last = nil, nil end
  for _, job in pairs(self.jobs) do
    job.verdict, job.last = nil, nil
    if job.state == "pending" and not self:feasible_job(job) then list[#list + 1] = job end
  end
  for _, job in ipairs(tables.sort(list, "id")) do
    local _, why = self:feasible_job(job)
    self:leave(job)
    self.answer.deny(job.id, why)
  end
end

--- Handles a change of the machine that did not come from Flux's resource module: of properties or states.
function M:machine_changed()
  self.all = nil
  judge(self)
  changed(self)
end

local function expires(self, t)
  self.expires = t > 0 and instant.of(t) or nil
  self.log("info", t > 0 and ("expiration updated to %.0f"):format(t) or "expiration updated: there is none")
  for _, job in pairs(self.jobs) do
    if job.state == "running" and job.endless then self:lasts_until(job, self.expires or math.huge) end
  end
end

local function on_stream(self)
  return {
    requeue = function(id) lost(self, id) end,
    cut = function(id, stop)
      local job = self.jobs[id]
      if not job then return end
      job.due = stop
      self:ends(job)
      self.log("info", ("job %s: cut to the expiration of the resources, %.0f"):format(jobid.f58(id), stop))
    end,
    changed = function() self.changes = true end,
    policy = function(why) self:placement_failed(why) end,
    exit = function(why) self.broken = why end,
  }
end

-- Measures nodes, in units of the type jobs are counted in: the units of the smallest node, and the mean of nodes with
-- any.
local function measure_nodes(self)
  local smallest, sum, n = math.huge, 0, 0
  for v in self.graph:walk { type = "node" } do
    local units = v:below(self.type)
    smallest, sum, n = math.min(smallest, units), sum + units, n + (units > 0 and 1 or 0)
  end
  self.node_units = smallest < math.huge and smallest or 0
  self.sizes = { node = n > 0 and sum / n or 0 } -- for sim.units_of
end

-- Handles the first response, which came at the time `began` of ticks: the machine is known now.
local function open(self, resources, began)
  self.engine, self.graph = self.follow.engine, self.follow.engine:resources()
  self.type = sim.main_type(self.graph)
  local scheduling = resources.scheduling
  self.scheduling = type(scheduling) == "table" and (scheduling.graph and "graph" or core.json_encode(scheduling)) or nil
  self:tick()
  self.engine:advance(self.now)
  measure_nodes(self)
  local execution = resources.execution or {}
  if (execution.expiration or 0) > 0 then self.expires = instant.of(execution.expiration) end
  local restored = policy_states.restore(self.graph, self.kept)
  if restored > 0 then self.log("info", ("the states of policies are those of before: %d"):format(restored)) end
  policies.begin(self)
  self.times:loaded(self.ticks() - began)
  return true
end

--- Handles a response to resource.acquire. Returns true; or nil, message, after which the scheduler is finished.
function M:acquire(text)
  local message, why = decode(text)
  if not message then return nil, why end
  self.changes, self.all = false, nil
  local first, began, ok = self.engine == nil, self.ticks(), true
  flux_hostlist.correct(message.resources)
  if first then ok, why = machine_graph.take(self, message.resources) end
  if ok then ok, why = self.follow:receive("default", message) end
  if not ok then return nil, why end
  if first then return open(self, message.resources, began) end
  if message.expiration then expires(self, message.expiration) end
  if message.shrink then measure_nodes(self) end
  if message.shrink or message["property-add"] or message["property-remove"] or message.expiration then judge(self) end
  if self.changes or message.expiration then changed(self) end
  return true
end

-- Returns the units of the machine, of the type jobs are counted in.
function M:total()
  local row = self.graph:aggregate(nil, { all = true })[self.type]
  return row and row.total or 0
end

-- ---- host of broker.lua ---------------------------------------------------------------------------------------------

function M:ask(what, id, ...)
  if what == "lost" then self.annotations:reserved(self.jobs[id]) end
  self.queues:tell(self.jobs[id], what, ...)
end

function M:wake(t, calling)
  if calling then self.again = math.min(self.again or t, t) end
end

function M:tell(event, job)
  if event == "reserve" then self.annotations:reserved(job) end
end

-- Starts a job whose resources were allocated.
function M:begin(job)
  job.state, job.start = "running", self.now
  job.due = math.min(instant.after(self.now, job.estimate), self.expires or math.huge)
  self.npending, self.nrunning, self.started = self.npending - 1, self.nrunning + 1, self.started + 1
  job.group.running, job.group.idle = job.group.running + 1, nil
  self:ends(job)
  local a = self.engine:job(job.id)
  self.answer.alloc(job.id, self:R(a, job.queue), self.annotations:start(job, a))
end

--- Returns the R of an allocation in a format; with as-fluxion without the number of slots, which Fluxion omits.
function M:written(a, format)
  local text = assert(a:format(format))
  return self.settings["as-fluxion"] == "true" and text:gsub(',"nslots":%d+', "", 1) or text
end

--- Returns the R of an allocation. With a graph in the R of the machine, the R has a graph, too; any different
-- scheduling key is passed on. The R of a job in a queue names the queue (RFC 20, attributes).
function M:R(a, queue)
  local format, scheduling = self.settings["R-format"], self.scheduling
  local text = self:written(a, format ~= "auto" and format or scheduling == "graph" and "rv1" or "rv1_nosched")
  if format == "auto" and scheduling and scheduling ~= "graph" then
    text = ('%s,"scheduling":%s}'):format(text:sub(1, -2), scheduling)
  end
  if not queue then return text end
  return ('%s,"attributes":{"system":{"scheduler":{"queue":%s}}}}'):format(text:sub(1, -2), core.json_encode(queue))
end

local START, UNRESERVE, FREE, PREEMPT, AGAIN, ABOUT = 1, 3, 5, 6, 7, 8

-- Returns true if an equal request, no longer than the job's, failed since resources became free or a reservation
-- changed last.
local function was_refused(self, job)
  local last = not job.reserved and broker.memo(self, job).last
  return last and last.releases == self.releases and last.promises == self.promises
    and (self.nreserved == 0 or last.estimate <= job.estimate)
end

local function try(self, job)
  if was_refused(self, job) then return false end
  local started = self.times:matches(job.id, self, broker.answer, self, START, job.id)
  if not started and not job.reserved then
    broker.memo(self, job).last = { releases = self.releases, promises = self.promises, estimate = job.estimate }
  end
  return started
end

-- Answers a query of a policy. Jobs may have gone or come since the policy began. Preempted jobs end some time later.
local function answer(self, what, id, ...)
  if what == FREE or what == AGAIN or what == ABOUT then return broker.answer(self, what, id, ...) end
  local job = self.jobs[id]
  if not job or not job.known then return nil end
  if what == PREEMPT then return preempt.stop(self, job) end
  if job.state ~= "pending" then return nil end
  if what == START then return try(self, job) or select("#", ...) > 0 and preempt.make_way(self, job, { ... }) end
  local result = self.times:matches(id, self, broker.answer, self, what, id)
  if what == UNRESERVE then self.annotations:reserved(job) end
  return result
end

-- ---- jobs -----------------------------------------------------------------------------------------------------------

-- Forgets shapes without jobs.
local function forget_shapes(self)
  if self.nshapes < 1000 or self.nshapes < 4 * (self.npending + self.nrunning) then return end
  local used, kept, n = {}, {}, 0
  for _, job in pairs(self.jobs) do used[job.shape or job] = true end
  for text, shape in pairs(self.requests) do
    if used[shape] then kept[text], n = shape, n + 1 end
  end
  self.requests, self.nshapes = kept, n
end

local SLOTS = { slot = true, or_slot = true }

-- Returns the number of whole nodes requested; a node within a slot is whole by default.
local function whole_nodes(resources, times, in_slot)
  local sum = 0
  for _, r in ipairs(resources) do
    local n = (math.tointeger(tonumber(type(r.count) == "table" and r.count.min or r.count or 1)) or 1) * times
    local whole = r.type == "node" and (r.exclusive or in_slot and r.exclusive ~= false)
    sum = sum + (whole and n or whole_nodes(r.with or {}, n, in_slot or SLOTS[r.type]))
  end
  return sum
end

-- Measures the request of a job as admitted by the placement policy.
local function measure(self, job)
  local memo = broker.memo(self, job)
  if not memo.units then
    local asked = self.engine:admitted(job.request, job) or job.request
    local units, least = sim.units_of(asked, self.type, self.graph, self.sizes)
    memo = broker.memo(self, job) -- the call may have been the first that read the job
    local nodes = math.huge -- that each alternative has whole
    for _, one in ipairs(asked:alternatives()) do nodes = math.min(nodes, whole_nodes(one:resources(), 1)) end
    memo.units, memo.least = units, math.max(least, nodes * self.node_units)
  end
  job.units, job.least = memo.units, memo.least
end

--- Measures all requests again, and forgets verdicts: a new policy may admit different requests.
function M:measure_all()
  for _, shape in pairs(self.requests) do shape.units, shape.verdict = nil, nil end
  for _, job in pairs(self.jobs) do
    job.verdict = nil
    if job.state == "pending" and job.shape then
      job.units = nil
      measure(self, job)
    end
  end
end

-- Returns the shape of a request text; equal texts share a shape, so a request is parsed once.
local function read_shape(self, text)
  local flexible = self.settings.traverser == "flexible"
  local key = flexible and "flexible " .. text or text
  local shape = self.requests[key]
  if shape then return shape end
  forget_shapes(self)
  local request, why = jobspec.request(text, flexible)
  if not request then return nil, why end
  shape = { request = request }
  self.requests[key] = shape
  self.nshapes = self.nshapes + 1
  return shape
end

--- Returns true if a job could ever run here; or false, message, code.
function M:feasible_job(job)
  local verdict = broker.memo(self, job).verdict
  if not verdict then
    local known = about.of(job)
    local options = { mode = "feasible", stats = false, about = known }
    local ok, why, code = self.times:match(job.id or -1, self.engine.match, self.engine, job.request, options)
    if code == "policy" and self:placement_failed(why) then return self:feasible_job(job) end -- by the policy that is back
    if code == "infeasible" then why = self.annotations:never(job.request, known) end
    verdict = { ok = ok and true or false, why = why, code = code }
    broker.memo(self, job).verdict = verdict
  end
  return verdict.ok, verdict.why, verdict.code
end

local function read_plainly(self, message)
  local spec = message.jobspec
  local text, what = jobspec.read(spec, self.settings.requires)
  if not text then return nil, what, "invalid" end
  local shape, why = read_shape(self, text)
  if not shape then return nil, why, "invalid" end
  local job = {
    id = message.id, number = message.id, request = shape.request, shape = shape, submit = message.t_submit or self.now,
    user = message.userid, attributes = what.attributes, name = what.name, bank = what.bank, project = what.project,
    queue = what.queue, qos = what.qos,
    priority = message.priority or 0, preemptible = what.preemptible, endless = not what.duration,
    estimate = instant.of(what.duration or math.huge), -- the engine ends a job without a duration with the resources
  }
  local ok, code
  ok, why, code = self:feasible_job(job)
  if not ok then return nil, why, code end
  return job
end

-- Returns a message about a constraint in the words of flux-core and Fluxion, which scripts look for.
local function in_their_words(why)
  why = why:gsub('unknown constraint operator "([%w_.-]+)"', "unknown constraint operator: %1")
  return (why:gsub("invalid character '(.)' in property \"([^\"]+)\"", "%2 is invalid: a property has no character '%1'"))
end

-- Returns the job of a message, an allocation request or a question, without state; or nil, message, code. A jobspec that
-- reveals a mistake of weir's is refused as well: the scheduler continues.
local function read_job(self, message)
  local results = table.pack(xpcall(read_plainly, debug.traceback, self, message))
  if results[1] and results[2] then return results[2] end
  if results[1] then return nil, in_their_words(results[3]), results[4] end
  self.log("err", "jobspec: " .. tostring(results[2]))
  return nil, "a mistake in sched-weir: " .. tostring(results[2]):match "^[^\n]*", "invalid"
end

-- Returns why a job of a queue cannot be taken, or nil: its queue has left the configuration, or queues have come.
local function wrong_queue(self, queue)
  local names = self.settings.names
  if queue and not tables.has(names, queue) then
    local known = #names > 0 and "there is " .. table.concat(names, ", ") or "there are no queues"
    return ("queue %s is not configured; %s"):format(queue, known)
  end
  return not queue and #names > 0 and ("queue: the job names none; there is %s"):format(table.concat(names, ", ")) or nil
end

--- Serves sched.alloc.
function M:alloc(text)
  local message, why = decode(text)
  if not message then return nil, why end
  self:tick()
  local job
  job, why = read_job(self, message)
  why = why or wrong_queue(self, job.queue)
  if not why and not self.jobs[message.id] and self.engine:job(message.id) then
    why = "resources were taken under this job id, by match allocate or update"
  end
  if why then
    self.denied = self.denied + 1
    self.answer.deny(message.id, why)
    return true
  end
  measure(self, job)
  job.state = "pending"
  self.jobs[job.id], self.npending = job, self.npending + 1
  self.queues:add(job)
  self:behind(job)
  self.dirty = true
  return true
end

-- Drops reservations of jobs behind a new job, to be made again.
function M:behind(job)
  if self.nreserved == 0 then return end
  for other in pairs(self.reservations) do
    if other.group == job.group and other.priority < job.priority then
      broker.unreserve(self, other)
      self:ask("lost", other.id)
    end
  end
end

--- Removes a job in any state, and notifies its queue policy.
function M:leave(job)
  local running = job.state == "running"
  broker.unreserve(self, job)
  self:ask("finish", job.id, running and job.due > self.now, self.now)
  self.jobs[job.id], self.leaving[job], job.state = nil, nil, "gone"
  local group = job.group
  if running then
    self.nrunning, group.running, group.complete = self.nrunning - 1, group.running - 1, (group.complete or 0) + 1
  else
    self.npending, group.cancelled = self.npending - 1, (group.cancelled or 0) + 1
  end
  self.annotations:forget(job)
  self.dirty = true
end

-- Returns the ranks of an R, as an idset.
local function ranks_of(R)
  local ids = core.idset()
  for _, entry in ipairs(R and R.execution and R.execution.R_lite or {}) do ids = ids | core.idset(tostring(entry.rank)) end
  return ids
end

--- Serves sched.free: all remaining resources of a job, or the resources on some ranks.
function M:free(text)
  local message, why = decode(text)
  if not message then return nil, why end
  local job = self.jobs[message.id]
  if not job or job.state ~= "running" then
    self.log("err", ("free: job %s has nothing"):format(tostring(message.id)))
    return true
  end
  self:tick()
  if self.settings["log-level"] == "debug" then
    local set = rset.new(message.R, "R")
    self.log("debug", ("free: %s%s"):format(set and set:format "rlist" or "?", message.final and " (final)" or ""))
  end
  if message.final then
    self.follow:free(job.id, nil, job.request, job)
    self:leave(job)
  else
    self.follow:free(job.id, ranks_of(message.R))
    self.queues:tell_all("change", true)
  end
  self.releases, self.dirty = self.releases + 1, true
  return true
end

--- Serves sched.cancel for a request without a final answer. Resources allocated meanwhile are released.
function M:cancel(text)
  local message, why = decode(text)
  if not message then return nil, why end
  local job = self.jobs[message.id]
  if not job then return true end
  self:tick()
  if job.state == "running" then
    self.follow:free(job.id, nil, job.request, job)
    self.releases = self.releases + 1
  end
  self:leave(job)
  return true
end

--- Handles a preempted job that continues.
function M:spared(text)
  local job = self.jobs[(decode(text) or {}).id]
  if job then preempt.spare(self, job) end
  return true
end

--- Serves sched.prioritize.
function M:prioritize(text)
  local message, why = decode(text)
  if not message then return nil, why end
  for _, pair in ipairs(message.jobs or {}) do
    local job = self.jobs[pair[1]]
    if job and job.state == "pending" and job.priority ~= pair[2] then
      job.priority, job.last, job.refused = pair[2], nil, nil
      if job.reserved then
        broker.unreserve(self, job)
        self:ask("lost", job.id)
      end
      self:ask("priority", job.id, job.priority)
      self:behind(job)
      self.dirty = true
    end
  end
  return true
end

-- Changes the expected end of a running job. Reservations in the way are dropped.
function M:lasts_until(job, t)
  if not self.engine:job(job.id) then return end
  local detached = assert(self.engine:detach(job.id))
  local ok = self.engine:attach(detached, t)
  if not ok then
    broker.drop_reservations(self)
    ok = self.engine:attach(detached, t)
    if not ok and fluxion_jobs.drop_reservations(self) > 0 then ok = self.engine:attach(detached, t) end
    assert(ok)
  end
  local sooner = t < job.due
  job.due = t
  self:ends(job)
  self.releases, self.dirty = self.releases + 1, true
  self.queues:tell_all("change", sooner)
end

--- Serves sched.expiration. Returns true; or nil, message, "invalid" or "unknown".
function M:expiration(text)
  local message, why = decode(text)
  if not message then return nil, why, "invalid" end
  local t, job = message.expiration, self.jobs[message.id]
  if type(t) ~= "number" or t < 0 then return nil, "expiration: expected a time since 1970", "invalid" end
  if not job or job.state ~= "running" then return nil, "this job has no resources", "unknown" end
  self:tick()
  self:lasts_until(job, t > 0 and math.max(instant.of(t), self.now + 1) or math.huge)
  return true
end

-- ---- recovery of running jobs ---------------------------------------------------------------------------------------

-- Returns the units of an R, of the type jobs are counted in.
local function units_of_R(self, set) return set:count(self.type) end

-- Returns the rest of an R after some of its ranks were freed.
local function without(set, ranks) return ranks and set:on_ranks(core.idset(set:ranks()) - core.idset(ranks)) or set end

-- Returns whether a graph in shorthand has named all that R_lite says of a job.
local function complete(self, R, set, id)
  if not R:find(nested.SHORTHAND, 1, true) then return true end
  local booked = rset.new(assert(self.engine:job(id):format "rv1_nosched"), "R")
  return units_of_R(self, booked) >= units_of_R(self, set)
end

local function recover_job(self, message, R, spec)
  local what, set, why = jobspec.about(decode(spec)), rset.new(R, "R")
  if not set then return nil, why end
  why = self.settings["lost-queue"] == "end" and wrong_queue(self, what.queue)
  if why then return nil, why end
  set = without(set, message.free)
  if message.free then R = assert(set:format "rv1") end
  self:tick()
  self.engine:advance(self.now)
  local here, elsewhere = recover.book(self.follow.targets, message.id, R)
  if not here then return nil, elsewhere end
  if self.engine:job(message.id) and elsewhere:empty() and not complete(self, R, set, message.id) then
    assert(self.engine:release(message.id))
    return nil, "the graph in R has less than R_lite"
  end
  if here:empty() then return nil, ("none of its targets, %s, is here"):format(tostring(elsewhere)) end
  if not elsewhere:empty() then
    self.log("warning", ("hello: job %d has also targets %s, which are not here"):format(message.id, tostring(elsewhere)))
  end
  local ends = set:expiration()
  local job = {
    id = message.id, number = message.id, units = units_of_R(self, set), submit = message.t_submit or self.now,
    start = set:starttime() or self.now, due = ends and ends > self.now and ends or math.huge, user = message.userid,
    priority = message.priority or 0, state = "running", endless = not ends, name = what.name, bank = what.bank,
    project = what.project, queue = what.queue, qos = what.qos, preemptible = what.preemptible,
  }
  self.log("debug", ("hello: id=%s priority=%d userid=%d t_submit=%.1f"):format(jobid.f58(job.id), job.priority, job.user or 0, job.submit))
  job.estimate = instant.of(job.due - job.start)
  self.jobs[job.id], self.nrunning = job, self.nrunning + 1
  self.log("debug", ("requeue success (queue=%s id=%d)"):format(job.queue or "default", job.id)) -- as Fluxion says it
  self:ends(job)
  self.queues:add(job)
  job.group.running = job.group.running + 1
  return true
end

--- Recovers a running job from the message of hello, its R, and its jobspec if known. A graph in R that cannot be used is
--- left out. Returns true; or nil, message if the job cannot be booked.
function M:hello(text, R, spec)
  local message, why = decode(text)
  if not message then return nil, why end
  local ok
  ok, why = recover_job(self, message, R, spec)
  local plain = not ok and nested.without_scheduling(R)
  if plain then ok, why = recover_job(self, message, plain, spec) end
  return ok, why
end

-- Queues the expected end of a job. Entries of gone jobs stay in the heap until they are too many.
function M:ends(job)
  if job.due == math.huge then return end
  if self.due.n > 4 * self.nrunning + 1000 then
    self.due = heap.new()
    for _, other in pairs(self.jobs) do
      if other ~= job and other.state == "running" and other.due < math.huge then
        self.due:push { time = other.due, kind = 0, job = other }
      end
    end
  end
  self.due:push { time = job.due, kind = 0, job = job }
end

-- ---- time -----------------------------------------------------------------------------------------------------------

--- Reads the clock; during a pass the clock stops.
function M:tick()
  if not self.queues.passing then self.now = math.max(self.now, instant.of(self.clock())) end
end

-- Extends jobs past their expected end by an unknown time, and drops the reservations affected.
local function extend(self)
  local event, late = self.due:peek(), nil
  while event and event.time <= self.now do
    self.due:pop()
    local job = event.job
    if job.state == "running" and job.due == event.time then
      late = late or {}
      late[#late + 1] = job
    end
    event = self.due:peek()
  end
  if not late then return end
  broker.drop_reservations(self)
  for _, job in ipairs(late) do
    job.first_due = job.first_due or job.due
    self:lasts_until(job, instant.of(self.now + math.max(LONGER, self.now - job.first_due)))
  end
end

local function advance(self)
  self:tick()
  extend(self)
  self.engine:advance(self.now)
  if self.nreserved > 0 and (self.held or self.now >= self.soonest) then broker.begin_reserved(self) end
  if self.again and self.again <= self.now then self.again, self.dirty = nil, true end
end

-- Returns the seconds until the scheduler has work without any request; nil: never.
local function until_next(self)
  local t = self.again
  if self.nreserved > 0 then t = math.min(t or math.huge, self.soonest) end
  local wait = t and math.max(t - self.clock(), 0.001) or math.huge
  wait = math.min(wait, self.annotations:wait() or math.huge, policies.wait(self) or math.huge, policy_states.wait(self) or math.huge)
  return wait < math.huge and wait or nil
end

-- ---- scheduling -----------------------------------------------------------------------------------------------------

-- Ends a pass. The next pass waits as long as the last one took, so that half of the time is left to the broker.
local function rest(self, ends)
  self.annotations:write()
  policy_states.changed(self)
  self.rests = ends + math.min(self.spent, MOST_REST)
end

local function begin(self)
  advance(self)
  if not self.dirty or self.npending == 0 then
    self.dirty = false
    return false
  end
  self.dirty, self.passes, self.spent = false, self.passes + 1, 0
  self.queues:begin(self.now)
  return true
end

--- Works for `seconds`, or a little longer. Returns in how many seconds the next call is due: 0, at once; nil, after
--- the next request.
function M:schedule(seconds)
  if not self.engine then return nil end
  policies.look(self)
  policy_states.keep(self)
  local from = self.ticks()
  if not self.queues.passing then
    if from < self.rests then return self.rests - from end
    if not begin(self) then
      if self.annotations.late then self.annotations:write() end
      return until_next(self)
    end
  end
  local over = self.queues:go(seconds, self.ticks)
  local ends = self.ticks()
  self.slices, self.longest, self.spent = self.slices + 1, math.max(self.longest, ends - from), self.spent + ends - from
  if not over then return 0 end
  rest(self, ends)
  return self.dirty and math.max(self.rests - ends, 0) or until_next(self)
end

-- ---- queries --------------------------------------------------------------------------------------------------------

--- Serves feasibility.check. Returns true; or nil, message, "unsatisfiable" or "invalid".
function M:feasible(text)
  local message, why = decode(text)
  if not message then return nil, why, "invalid" end
  if not self.engine then return nil, "nothing has been acquired yet", "busy" end
  local job, code
  job, why, code = read_job(self, message)
  if code == "infeasible" then code = "unsatisfiable" end -- ENODEV, as Fluxion answers
  if code == "unsatisfiable" and self.settings["as-fluxion"] == "true" then return nil, "Unsatisfiable request", code end
  if not job then return nil, (why:gsub("^unsatisfiable", "Unsatisfiable")), code end -- as Fluxion says it
  return true
end

--- Serves sched.resource-status; returns JSON text.
function M:status()
  local function part(state)
    local set = self.graph:root() and assert(self.graph:rset { state = state }) or rset.new()
    return set:format "rv1_nosched"
  end
  self.all = self.all or part "all"
  return ('{"all":%s,"allocated":%s,"down":%s}'):format(self.all, part "allocated", part "down")
end

--- Handles a failure of the placement policy; why: the message. Returns true after a replacement: the failed match is to
--- be made again.
function M:placement_failed(why) return policies.failed(self, why) end

--- Returns statistics as a table.
function M:stats()
  return {
    pending = self.npending, running = self.nrunning, reserved = self.nreserved, started = self.started, denied = self.denied,
    passes = self.passes, slices = self.slices, longest_pass_slice = self.longest, matches = self.matches,
    policy = self.settings.policy, queue = self.settings.queue, queues = self.queues:about(),
    retired = self.engine and self.engine:retired(),
  }
end

--- Replaces the settings, see policies.lua. Returns true; or nil, message, code, with nothing changed.
function M:reconfigure(settings) return policies.reconfigure(self, settings) end

--- Returns a line for the log about settings and machine.
function M:describe()
  local s = self.settings
  local machine = self.graph:root() and self.graph:rset():format "rlist" or "no resources"
  return ("queue-depth=%s policy=%s queue=%s %s"):format(s["queue-depth"], s.policy, s.queue, machine)
end

--- Makes a scheduler; or nil, message, code.
function M.new(opts)
  local self = setmetatable({
    settings = opts.settings, answer = opts.answer, log = opts.log, clock = opts.clock, ticks = opts.ticks or core.clock,
    now = 0, jobs = {}, requests = {}, nshapes = 0, reservations = {}, nreserved = 0, leaving = {}, promises = 0, releases = 0, matches = 0,
    soonest = math.huge,
    due = heap.new(), npending = 0, nrunning = 0, started = 0, denied = 0, passes = 0, slices = 0, longest = 0, spent = 0,
    rests = 0, dirty = false, kept = opts.states,
  }, M)
  self.times = match_times.new(self.ticks)
  self.queues = queues.new {
    bridge = function(...) return answer(self, ...) end, jobs = function() return self.jobs end,
    units = function() return self:total() end, free = function() return (self.engine:free(self.type)) end,
    graph = function() return self.engine:resources() end, log = self.log,
    replaced = function() self.dirty = true end,
  }
  self.annotations = annotations.new(self)
  local ok, why, code = policies.open(self, opts.spares or function() return false end)
  if not ok then return nil, why, code end
  self.follow = scheduler_client.new { style = "keyed", policy = "first", queued = true, send = function() end, on = on_stream(self) }
  return self
end

return M
