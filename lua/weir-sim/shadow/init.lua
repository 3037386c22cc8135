--- shadow - other policies alongside those in force, on the same jobs, for as long as one likes.
---
--- A shadow gets messages: a job came, started, ended. The shadow plays these jobs under policies of its own, on a copy of
--- the machine, and each job lasts in the shadow as long as in truth. Where the shadow starts a job earlier than in truth, the
--- length may not be known yet: then the shadow waits for the end of the job in truth, and lags behind by as much as it is
--- early.
---
---   local s = shadow.new { graph = copy, now = 0, queue = "easy", running = {}, waiting = {} }
---   s:submit { id = 1, at = 0, request = "slot=1/node", estimate = 60 }
---   s:start(1, 0)  s:stop(1, 42)  s:advance(50)
---   print(s:status().wait.shadow.mean)
---
--- Invariant: no event at or after the horizon is played. The horizon is the time of the last message, and, for each job
--- that runs in the shadow and has not ended in truth, the time at which the job may end in the shadow at the earliest: its
--- start there, and the time that it has run in truth so far.
---
--- Who decides in the shadow is a *player*, a simulator that takes the run times of jobs: weir.sim for the queue policies of a
--- service, weir.flux.player for the scheduler of a Flux instance.
---
--- Memory: the jobs that wait or run on either side, 16 bytes for each of the first 250,000 waits, 2 series of fixed length.

local forecast = require "weir.forecast"
local heap = require "weir.sim.event_heap"
local instant = require "weir.sim.instant"
local quantiles = require "weir.replay.quantiles"
local series = require "weir.replay.series"
local sim = require "weir.sim"
local tables = require "weir.tables"

local M = {}
M.__index = M

local ENDLESS = 8e12 -- seconds of a job with an unknown end

-- ---- what is measured -----------------------------------------------------------------------------------------------

-- One of the two sides: units in use and waiting jobs over time, and promised starts.
local function side()
  return { used = 0, queued = 0, area = 0, steps = series.new(), waits = quantiles.new(), wait = 0, longest = 0, promises = 0, late = 0,
    changes = heap.new(), made = 0 }
end

-- Notes a change of a side at a time: units in use and jobs that wait.
local function note(own, t, units, queued)
  own.made = own.made + 1
  own.changes:push { time = t, kind = 1, id = own.made, units = units, queued = queued }
end

-- Adds the time from self.measured up to a time to the sums of a side.
local function integrate(self, own, to)
  local at = self.measured
  while true do
    local change = own.changes[1]
    local t = change and change.time < to and math.max(change.time, at) or to
    if t > at then
      own.area = own.area + own.used * (t - at)
      own.steps:add(at, t - at, own.used, own.queued)
      at = t
    end
    if not change or change.time >= to then return end
    own.changes:pop()
    own.used, own.queued = own.used + change.units, own.queued + change.queued
  end
end

local function measure(self, to)
  if to <= self.measured then return end
  integrate(self, self.truth, to)
  integrate(self, self.own, to)
  self.measured = to
end

local function add_wait(own, wait)
  own.waits:add(wait)
  own.wait, own.longest = own.wait + wait, math.max(own.longest, wait)
end

-- Counts the waits of a job that has started on both sides.
local function compare(self, record)
  if record.counted or not record.began or not record.shadow_began or record.from_before then return end
  record.counted = true
  self.compared = self.compared + 1
  local was, would = record.began - record.submit, record.shadow_began - record.submit
  add_wait(self.truth, was)
  add_wait(self.own, would)
  local word = would < was - self.tolerance and "earlier" or would > was + self.tolerance and "later" or "same"
  self[word] = self[word] + 1
end

-- Forgets a job that has ended on both sides.
local function tidy(self, record)
  if record.ended and record.shadow_ended then self.records[record.id] = nil end
end

-- ---- the simulator's side -------------------------------------------------------------------------------------------

local function listeners(self)
  return {
    start = function(job)
      local record = job.record
      record.shadow_began = self.sim.now
      self.open[record] = not record.ended or nil
      note(self.own, self.sim.now, job.units, -1)
      if record.shadow_promise and self.sim.now > record.shadow_promise then self.own.late = self.own.late + 1 end
      compare(self, record)
    end,
    reserve = function(job)
      if job.record.shadow_promise then return end
      job.record.shadow_promise = job.reserved
      self.own.promises = self.own.promises + 1
    end,
    preempt = function(job) note(self.own, self.sim.now, -job.units, 1) end,
    finish = function(job)
      note(self.own, self.sim.now, -job.units, 0)
      job.record.shadow_ended = true
      self.open[job.record] = nil
      tidy(self, job.record)
    end,
    cancel = function(job)
      note(self.own, self.sim.now, 0, -1)
      job.record.shadow_ended = true
      tidy(self, job.record)
    end,
    reject = function(job)
      self.refused = self.refused + 1
      note(self.own, self.sim.now, 0, -1)
      job.record.shadow_ended = true
      tidy(self, job.record)
    end,
  }
end

-- The time before which the shadow may play.
local function horizon(self)
  local limit = self.last_message
  for record in pairs(self.open) do
    local lasted = record.began and self.last_message - record.began or 0
    limit = math.min(limit, record.shadow_began + lasted)
  end
  return limit
end

-- Plays on as far as is known.
local function play(self)
  if self.failure then return end
  local ok, raised = pcall(function()
    while true do
      local t, limit = self.sim:next_time(), horizon(self)
      if not t or t >= limit then
        if limit > self.sim.now then measure(self, limit) end
        self.reached = math.max(self.reached, limit)
        return
      end
      self.sim:step()
    end
  end)
  if ok then return end
  if raised ~= self.sim.failure then error(raised, 0) end
  self.failure = raised
end

-- ---- input ---------------------------------------------------------------------------------------------------------

local function hear(self, t)
  t = instant.of(math.max(t, self.last_message))
  self.last_message = t
  return t
end

local PASSED = { "user", "bank", "project", "queue", "qos", "urgency", "priority", "preemptible", "name", "message" }

-- Submits a job to the simulator.
local function enter(self, record, spec, at)
  local own = { request = spec.request, estimate = spec.estimate, runtime = math.max(ENDLESS, spec.estimate), at = at, number = spec.id }
  for _, name in ipairs(PASSED) do own[name] = spec[name] end
  local job, why = self.sim:submit(own)
  if not job then
    record.shadow_ended, self.refused, self.refusal = true, self.refused + 1, why
    return
  end
  job.record, record.job = record, job
  note(self.own, math.max(at, self.sim.now), 0, 1)
end

--- A job came: {id, at, request, estimate in seconds, and promise, the start promised in truth, user, bank, project, queue, qos,
--- urgency, priority, preemptible, name, and message for a player that takes more}.
function M:submit(spec)
  local t = hear(self, spec.at)
  local record = { id = spec.id, submit = t, promise = spec.promise }
  self.records[spec.id], self.jobs = record, self.jobs + 1
  if spec.promise then self.truth.promises = self.truth.promises + 1 end
  note(self.truth, t, 0, 1)
  enter(self, record, spec, t)
  play(self)
end

--- Records the start of a job at a time. units: the units given to the job; by default the units of its request.
function M:start(id, at, units)
  local t, record = hear(self, at), self.records[id]
  if record and not record.began then
    record.began = t
    record.units = units or record.job and record.job.units or 0
    note(self.truth, t, record.units, -1)
    if record.promise and t > record.promise + 1e-6 then self.truth.late = self.truth.late + 1 end
    compare(self, record)
  end
  play(self)
end

-- Ends a job in the shadow that has not begun in truth: it was cancelled.
local function cancelled(self, record, t)
  note(self.truth, t, 0, -1)
  if record.shadow_began then
    self.sim:lasts(record.job, math.max(t - record.shadow_began, 0))
  elseif record.job then
    self.sim:at(t, function() self.sim:cancel(record.job) end)
  end
end

--- Records the end of a job at a time, whether the job ran or waited.
function M:stop(id, at)
  local t, record = hear(self, at), self.records[id]
  if record and not record.ended then
    record.ended = true
    if record.began then
      note(self.truth, t, -record.units, 0)
      if record.job then self.sim:lasts(record.job, t - record.began) end
    else
      cancelled(self, record, t)
    end
    self.open[record] = nil
    tidy(self, record)
  end
  play(self)
end

--- The clock has reached a time, and all messages up to that time were sent.
function M:advance(t)
  hear(self, t)
  play(self)
end

--- The machine or its queues have changed at a time: f(player) is called when the shadow reaches the time. counts: the
--- change is counted in the status.
function M:change(at, f, counts)
  local t = hear(self, at)
  if counts then self.followed = self.followed + 1 end
  self.sim:at(t, function() f(self.sim) end)
  play(self)
end

--- The machine has changed, and the shadow does not follow the change.
function M:machine_changed() self.changes = self.changes + 1 end

-- ---- what is known --------------------------------------------------------------------------------------------------

local function waits_of(own)
  local n = own.waits.n
  if n == 0 then return { mean = 0, median = 0, p95 = 0, max = 0 } end
  local ranked = own.waits:ranked()
  return { mean = own.wait / n, median = ranked((n + 1) // 2), p95 = ranked(math.ceil(0.95 * n)), max = own.longest }
end

local function series_of(own)
  local s = own.steps:result()
  return { start = s.start, step = s.step, used = s.used, queued = s.queued }
end

--- Returns what is known so far, a table for programs: since, last_message (the time of the last message), reached (the time that the
--- shadow has come to), behind, jobs that came, compared (jobs that have started on both sides), earlier, later, same; wait =
--- {truth =, shadow =}, each {mean, median, p95, max} of the compared jobs; utilisation, promises and late likewise; refused,
--- followed, changes of the machine, and changes, those that were not followed, failure, series, type, total. Utilisation is up to
--- `reached`.
function M:status()
  local span, total = self.measured - self.since, self.sim:total()
  local function share(own) return span > 0 and total > 0 and own.area / (span * total) or 0 end
  return {
    version = 1, since = self.since, last_message = self.last_message, reached = self.reached,
    behind = self.last_message - self.reached, jobs = self.jobs,
    compared = self.compared, earlier = self.earlier, later = self.later, same = self.same, refused = self.refused,
    refusal = self.refusal, followed = self.followed, changes = self.changes, failure = self.failure, type = self.sim.type, total = total,
    passes = self.sim.passes,
    wait = { truth = waits_of(self.truth), shadow = waits_of(self.own) },
    utilisation = { truth = share(self.truth), shadow = share(self.own) },
    promises = { truth = self.has_promises and self.truth.promises or nil, shadow = self.own.promises },
    late = { truth = self.has_promises and self.truth.late or nil, shadow = self.own.late },
    series = { truth = series_of(self.truth), shadow = series_of(self.own) },
  }
end

-- ---- the beginning --------------------------------------------------------------------------------------------------

-- Takes over the jobs that run.
local function adopt_all(self, running, now)
  for _, spec in ipairs(tables.sort(running, "id")) do
    local record = { id = spec.id, submit = spec.submit or spec.start, began = spec.start, shadow_began = spec.start, from_before = true }
    if self.sim.engine and spec.due <= now then
      spec.due = now + math.max(60, now - spec.start)
      assert(self.sim.engine:attach(assert(self.sim.engine:detach(spec.id)), spec.due))
    end
    spec.stop, spec.record = math.max(ENDLESS, spec.due), record
    local job = assert(self.sim:adopt(spec))
    record.job, record.units, self.records[spec.id], self.open[record] = job, job.units, record, true
    note(self.truth, now, job.units, 0)
    note(self.own, now, job.units, 0)
  end
end

-- Returns the player of a service.
local function simulator(on, opts)
  return sim.new { resources = opts.graph, policy = opts.policy, granularity = opts.granularity, queue = opts.queue, texts = opts.texts,
    start = instant.of(opts.now), keep = false, dependencies = false, overrun = "run", on = on,
    budget = opts.seconds and { seconds = opts.seconds } or nil }
end

--- Makes a shadow at a time. opts: graph, a copy of the machine with the resources of the running jobs; now; running and waiting,
--- lists of jobs as weir.forecast takes them, a waiting one with promise; policy, granularity, queue, texts, as sim.new takes
--- them; seconds of a call of the queue policy. Or, instead of graph, policy, granularity, queue and texts, player: a function
--- that takes the listeners of a simulator by event and returns a player, or nil, message, code; promises: false where none
--- are sent; tolerance, in seconds, up to which two starts count as the same (0). Returns the shadow; or nil,
--- message, code.
function M.new(opts)
  local now = instant.of(opts.now)
  local self = setmetatable({
    since = now, last_message = now, reached = now, measured = now, truth = side(), own = side(), records = {}, open = {}, jobs = 0,
    compared = 0, earlier = 0, later = 0, same = 0, refused = 0, changes = 0, followed = 0, has_promises = opts.promises ~= false,
    tolerance = opts.tolerance or 0,
  }, M)
  local why, code
  self.sim, why, code = (opts.player or simulator)(listeners(self), opts)
  if not self.sim then return nil, why, code end
  adopt_all(self, opts.running or {}, now)
  for _, spec in ipairs(opts.waiting or {}) do
    local record = { id = spec.id, submit = spec.submit or now, promise = spec.promise }
    self.records[spec.id], self.jobs = record, self.jobs + 1
    note(self.truth, now, 0, 1)
    enter(self, record, spec, now)
    if record.job and spec.submit then record.job.submit = spec.submit end
  end
  return self
end

--- The request of a job that is not known (weir.forecast).
M.request_of = forecast.request_of

return M
