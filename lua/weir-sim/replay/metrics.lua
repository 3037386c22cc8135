--- metrics.lua - the metrics of a replay, gathered during the run. Memory: 16 bytes a job for the median of the
--- waits, up to 250,000 jobs (see quantiles.lua), and the users; nothing else grows.
---
--- Times are seconds. Means over time are weighted by duration, from the first submission counted to the last end, or
--- to the time at which the clock stopped. `whole`, by type, is the share of units allocated; `touched` is the share
--- of units in pools with any allocation inside. Utilisation is `touched` for types with children, such as nodes with
--- cores, and `whole` for leaves. Bounded slowdown is max(1, (wait + run) / max(run, tau)). A job is backfilled if a
--- job submitted earlier still waited at the start. Fragmentation is the share of free units (of the type in which
--- jobs are counted) inside nodes in use. Fairness is Jain's index of the users' mean bounded slowdowns: 1 where all
--- users are equal, 1/n where a single user bears everything.

local quantiles = require "weir.replay.quantiles"
local series = require "weir.replay.series"
local tables = require "weir.tables"

local M = {}
M.__index = M

-- ---- the machine --------------------------------------------------------------------------------------------

local LOOKED_AT = 1000 -- vertices looked at per type

-- Whether vertices of a type have children.
local function is_outer(graph, type)
  local n = 0
  for v in graph:walk { type = type } do
    n = n + 1
    if v:nchildren() > 0 then return true end
    if n == LOOKED_AT then return false end
  end
  return false
end

-- Returns the types with metrics, with the number of units and of usable units. A type with a single unit has no
-- metrics.
local function types_of(graph)
  local list = {}
  for type, row in pairs(graph:aggregate(nil, { all = true })) do
    if row.total > 1 then
      list[#list + 1] = { name = type, total = row.total, free = row.free, idle = row.idle, used = 0, touched = 0, sum = 0,
        touched_sum = 0, outer = is_outer(graph, type) }
    end
  end
  return tables.sort(list, "name")
end

--- Returns a collector of metrics. opts: tau (10), from (jobs submitted earlier are ignored), series (false: no
--- series), points (number of steps of the series).
function M.new(sim, opts)
  local self = setmetatable({
    sim = sim, tau = opts.tau or 10, from = opts.from or -math.huge, types = types_of(sim.graph), waits = quantiles.new(),
    users = {}, longest = 0,
    jobs = 0, wait = 0, flow = 0, slowdown = 0, worst = 0, backfilled = 0, killed = 0, preempted = 0, rejected = 0, failed = 0,
    cancelled = 0,
    queued = 0, queue_sum = 0, queue_most = 0, idle_waiting = 0, waiting_time = 0, fragmented = 0, free_sum = 0,
    waiting = {}, oldest = 1, last_end = -math.huge, engine = sim.engine,
    series = opts.series ~= false and series.new(opts.points) or nil,
  }, M)
  for _, t in ipairs(self.types) do
    if t.name == sim.type then self.main = t elseif t.name == "node" then self.node = t end
  end
  self.per_node = self.node and self.main and self.main.total / self.node.total
  return self
end

-- ---- over time ----------------------------------------------------------------------------------------------

local function add_fragments(self, dt)
  local free = self.main.free - self.main.used
  local whole = (self.node.idle - self.node.touched) * self.per_node
  self.fragmented = self.fragmented + math.max(free - whole, 0) * dt
  self.free_sum = self.free_sum + free * dt
end

-- Integrates the last observed state over [self.last, now).
local function pass_time(self, now)
  local last, queued, main, types = self.last, self.seen, self.main, self.types
  local dt = now - last
  self.last = now
  for i = 1, #types do
    local t = types[i]
    t.sum, t.touched_sum = t.sum + t.used * dt, t.touched_sum + t.touched * dt
  end
  if queued > 0 then self.queue_sum, self.waiting_time = self.queue_sum + queued * dt, self.waiting_time + dt end
  if not main then return end
  if queued > 0 then self.idle_waiting = self.idle_waiting + (main.free - main.used) * dt end
  if self.node then add_fragments(self, dt) end
  local steps = self.series
  if steps then steps:add(last, dt, main.used, queued) end
end

-- Called before the clock moves on: integrates the last observed state, and observes the present state.
local function look(self)
  local engine, now = self.engine, self.sim.now
  if now > self.last then pass_time(self, now) end
  self.stale, self.seen = false, self.queued
  if not self.moved then return end
  self.moved = false
  local types = self.types
  for i = 1, #types do
    local t = types[i]
    local free, idle = engine:free(t.name)
    t.used, t.touched = t.free - free, t.idle - idle
  end
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

local function counts(self, job) return job.submit >= self.from end

-- The id of the first waiting job in the order of submission.
local function oldest(self)
  local waiting, i, last = self.waiting, self.oldest, self.sim.made
  while i <= last and not waiting[i] do i = i + 1 end
  self.oldest = i
  return i
end

-- Listeners by event. `stale`: the observed state is out of date; `moved`: allocations changed, too.
local ON = {}

function ON.submit(self, job)
  self.waiting[job.id] = true
  local queued = self.queued + 1
  self.queued, self.stale = queued, true
  if queued > self.queue_most then self.queue_most = queued end
end

function ON.start(self, job)
  local id, waiting = job.id, self.waiting
  if waiting[self.oldest] and self.oldest < id or oldest(self) < id then job.backfilled = true end
  waiting[id] = nil
  self.queued, self.stale, self.moved = self.queued - 1, true, true
end

function ON.preempt(self, job)
  self.waiting[job.id], self.queued, self.stale, self.moved = true, self.queued + 1, true, true
  self.oldest = math.min(self.oldest, job.id)
  if counts(self, job) then self.preempted = self.preempted + 1 end
end

ON.requeue = ON.preempt

local function user_of(self, job)
  local key = job.user or "?"
  local user = self.users[key]
  if not user then
    user = { user = key, jobs = 0, wait = 0, slowdown = 0, used = 0 }
    self.users[key] = user
  end
  return user
end

function ON.finish(self, job)
  self.stale, self.moved, self.last_end = true, true, job.finish
  if job.submit < self.from then return end
  local submit, start = job.submit, job.start
  local wait, run = start - submit, job.finish - start
  local slowdown = (wait + run) / (run > self.tau and run or self.tau)
  if slowdown < 1 then slowdown = 1 end
  self.jobs = self.jobs + 1
  self.waits:add(wait)
  if wait > self.longest then self.longest = wait end
  self.wait, self.flow, self.slowdown = self.wait + wait, self.flow + wait + run, self.slowdown + slowdown
  if slowdown > self.worst then self.worst = slowdown end
  if job.backfilled then self.backfilled = self.backfilled + 1 end
  if job.killed then self.killed = self.killed + 1 end
  if job.state == "failed" then self.failed = self.failed + 1 end
  local user = user_of(self, job)
  user.jobs, user.wait, user.slowdown = user.jobs + 1, user.wait + wait, user.slowdown + slowdown
  user.used = user.used + run * job.units
end

function ON.cancel(self, job)
  if counts(self, job) then self.cancelled = self.cancelled + 1 end
  if not self.waiting[job.id] then return end
  self.waiting[job.id], self.queued, self.stale = nil, self.queued - 1, true
end

function ON.reject(self) self.rejected = self.rejected + 1 end

-- Starts the measurement, at the first submission counted.
local function begin(self, now)
  self.first, self.last, self.seen = now, now, 0
  for _, t in ipairs(self.types) do t.used, t.touched = 0, 0 end
  self.stale, self.moved = true, true
end

--- Returns the listeners for the simulator: functions by event.
function M:listeners()
  local list = {}
  for event, f in pairs(ON) do
    list[event] = function(job) return f(self, job) end
  end
  function list.submit(job, sim)
    if not self.last and counts(self, job) then begin(self, sim.now) end
    return ON.submit(self, job)
  end
  function list.time()
    if self.stale and self.last then look(self) end
  end
  return list
end

-- ---- the result ---------------------------------------------------------------------------------------------

-- Mean, median, 95th percentile and maximum of the waits.
local function wait_of(self)
  local n, ranked = self.waits.n, self.waits:ranked()
  if n == 0 then return { mean = 0, median = 0, p95 = 0, max = 0 } end
  local middle = ranked(n // 2 + 1)
  if n % 2 == 0 then middle = (ranked(n // 2) + middle) / 2 end
  return { mean = self.wait / n, median = middle, p95 = ranked(math.ceil(0.95 * n)), max = self.longest }
end

local function fairness(self)
  local sum, squares, n, worst = 0, 0, 0, nil
  for _, user in pairs(self.users) do
    local mean = user.slowdown / user.jobs
    sum, squares, n = sum + mean, squares + mean * mean, n + 1
    if not worst or mean > worst.mean or mean == worst.mean and tostring(user.user) < tostring(worst.user) then
      worst = { user = user.user, mean = mean, jobs = user.jobs }
    end
  end
  return { users = n, index = n > 0 and sum * sum / (n * squares) or 1, worst_user = worst and worst.user,
    worst_user_bounded_slowdown = worst and worst.mean }
end

-- Metrics by user, sorted by usage, the largest first.
local function users_of(self)
  local list = {}
  for _, u in pairs(self.users) do
    list[#list + 1] = { user = u.user, jobs = u.jobs, mean_wait = u.wait / u.jobs, mean_bounded_slowdown = u.slowdown / u.jobs,
      unit_seconds = u.used }
  end
  tables.sort(list, "-unit_seconds", function(one) return tostring(one.user) end)
  return list
end

local function over(a, b) return b > 0 and a / b or 0 end

-- Returns by type the shares over time: utilisation, whole, touched.
local function utilisation(self, span)
  local used, whole, touched = {}, {}, {}
  for _, t in ipairs(self.types) do
    whole[t.name], touched[t.name] = over(t.sum, t.total * span), over(t.touched_sum, t.total * span)
    used[t.name] = t.outer and touched[t.name] or whole[t.name]
  end
  return used, whole, touched
end

-- Returns the types of which a reader wants to know: nodes, and what is in them, as far as some job had any. That a rack or a
-- switch has a job in some part is no information.
local function shown_types(self)
  local list = {}
  for _, t in ipairs(self.types) do
    local is_main = self.main and t.name == self.main.name
    if is_main or (t.name == "node" or not t.outer) and (t.sum > 0 or t.touched_sum > 0) then list[#list + 1] = t.name end
  end
  return list
end

-- Ends the measurement, at the last end of a job or at the time the clock stopped. Returns the time span measured.
local function finish(self)
  if not self.last then return 0 end
  local live = self.sim.nrunning + self.queued > 0
  if self.stale then look(self) end
  local stop = live and self.sim.now or math.max(self.last_end, self.first)
  if stop > self.last then pass_time(self, stop) end
  return stop - self.first
end

--- Returns all metrics as a table for programs; the head of the file defines the names.
function M:result()
  local sim, n = self.sim, self.jobs
  local span = finish(self)
  local used, whole, touched = utilisation(self, span)
  local total = self.main and self.main.total or 0
  return {
    jobs = n, rejected = self.rejected, killed = self.killed, failed = self.failed, preempted = self.preempted,
    cancelled = self.cancelled,
    unfinished = sim.nrunning + self.queued, first_submit = self.first or 0, last_end = (self.first or 0) + span, makespan = span,
    utilisation = used, whole = whole, touched = touched, shown = shown_types(self),
    wait = wait_of(self),
    mean_flow = over(self.flow, n), bounded_slowdown = { mean = over(self.slowdown, n), max = self.worst, tau = self.tau },
    queue = { mean = over(self.queue_sum, span), max = self.queue_most },
    idle_while_waiting = over(self.idle_waiting, self.waiting_time * total),
    fragmentation = self.node and over(self.fragmented, self.free_sum) or nil,
    backfilled = over(self.backfilled, n), fairness = fairness(self), users = users_of(self),
    decisions = sim.matches, passes = sim.passes, decisions_per_job = over(sim.matches, sim.made),
    visits_per_job = over(sim.engine:visits(), sim.made),
  }
end

return M
