--- metrics.lua - what came of a replay, in numbers, gathered while it runs. Memory: 16 bytes a job for the median of the waits, and
--- the users; nothing else grows.
---
--- Times are seconds. A mean over time is weighted by how long each state lasted, from the first submission that counts to the last end.
--- Bounded slowdown is max(1, (wait + run) / max(run, tau)). A job is backfilled where one submitted before it still waited when it
--- started. Fragmentation is the share of what is free, of the type that jobs are counted in, that lies in nodes in use. Fairness is
--- Jain's index of the mean bounded slowdowns of the users: 1 where all are alike, 1/n where one bears it all.

local series = require "weir.replay.series"

local M = {}
M.__index = M

-- ---- the machine --------------------------------------------------------------------------------------------

-- Types that are worth a number, and how many units there are; what all is in one of says nothing.
local function types_of(graph)
  local list = {}
  for type, row in pairs(graph:aggregate()) do
    if row.total > 1 then list[#list + 1] = { name = type, total = row.total, used = 0, touched = 0, sum = 0, touched_sum = 0 } end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

--- opts: tau (10), from (submissions before that are left out of everything).
function M.new(sim, opts)
  local self = setmetatable({
    sim = sim, tau = opts.tau or 10, from = opts.from or -math.huge, types = types_of(sim.graph), waits = {}, users = {},
    jobs = 0, wait = 0, flow = 0, slowdown = 0, worst = 0, backfilled = 0, killed = 0, preempted = 0, rejected = 0, failed = 0,
    queued = 0, queue_sum = 0, queue_most = 0, idle_waiting = 0, waiting_time = 0, fragmented = 0, free_sum = 0,
    waiting = {}, oldest = 1, series = series.new(opts.points),
  }, M)
  for _, t in ipairs(self.types) do
    if t.name == sim.type then self.main = t elseif t.name == "node" then self.node = t end
  end
  self.per_node = self.node and self.main and self.main.total / self.node.total
  return self
end

-- ---- over time ----------------------------------------------------------------------------------------------

local function add_fragments(self, dt)
  local free = self.main.total - self.main.used
  local whole = (self.node.total - self.node.touched) * self.per_node
  self.fragmented = self.fragmented + math.max(free - whole, 0) * dt
  self.free_sum = self.free_sum + free * dt
end

-- The state lasted until now.
local function pass_time(self, now)
  local dt = now - self.last
  self.last = now
  self.queue_sum = self.queue_sum + self.queued * dt
  for _, t in ipairs(self.types) do
    t.sum, t.touched_sum = t.sum + t.used * dt, t.touched_sum + t.touched * dt
  end
  local main = self.main
  if not main then return end
  if self.queued > 0 then
    self.idle_waiting, self.waiting_time = self.idle_waiting + (main.total - main.used) * dt, self.waiting_time + dt
  end
  if self.node then add_fragments(self, dt) end
  self.series:add(now - dt, dt, main.used, self.queued)
end

local function look(self)
  local engine = self.sim.engine
  for _, t in ipairs(self.types) do
    local free, idle = engine:free(t.name)
    t.used, t.touched = t.total - free, t.total - idle
  end
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

local function counts(self, job) return job.submit >= self.from end

-- The first job, by submission, that waits.
local function oldest(self)
  local waiting, i, last = self.waiting, self.oldest, self.sim.made
  while i <= last and not waiting[i] do i = i + 1 end
  self.oldest = i
  return i
end

local ON = {}

function ON.submit(self, job)
  self.waiting[job.id] = true
  self.queued = self.queued + 1
  if self.queued > self.queue_most then self.queue_most = self.queued end
end

function ON.start(self, job)
  local overtakes = oldest(self) < job.id
  self.waiting[job.id] = nil
  self.queued = self.queued - 1
  job.backfilled = overtakes
  look(self)
end

function ON.preempt(self, job)
  self.waiting[job.id], self.queued = true, self.queued + 1
  self.oldest = math.min(self.oldest, job.id)
  if counts(self, job) then self.preempted = self.preempted + 1 end
end

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
  look(self)
  if not counts(self, job) then return end
  local wait, run = job.start - job.submit, job.finish - job.start
  local slowdown = (wait + run) / (run > self.tau and run or self.tau)
  if slowdown < 1 then slowdown = 1 end
  local n = self.jobs + 1
  self.jobs, self.waits[n] = n, wait
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
  if not self.waiting[job.id] then return end
  self.waiting[job.id], self.queued = nil, self.queued - 1
end

function ON.reject(self) self.rejected = self.rejected + 1 end

--- To be called with what the simulator tells.
function M:on(event, job)
  local f = ON[event]
  if not f then return end
  local now = self.sim.now
  if not self.last then
    if not counts(self, job) then return self.last or f(self, job) end
    self.first, self.last = now, now
  elseif now > self.last then
    pass_time(self, now)
  end
  f(self, job)
end

-- ---- the result ---------------------------------------------------------------------------------------------

-- The smallest value that a share of all is not above.
local function quantile(sorted, share)
  return sorted[math.max(1, math.ceil(share * #sorted))] or 0
end

local function median(sorted)
  local n = #sorted
  if n == 0 then return 0 end
  return n % 2 == 1 and sorted[n // 2 + 1] or (sorted[n // 2] + sorted[n // 2 + 1]) / 2
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

-- By user, those who used most first.
local function users_of(self)
  local list = {}
  for _, u in pairs(self.users) do
    list[#list + 1] = { user = u.user, jobs = u.jobs, mean_wait = u.wait / u.jobs, mean_bounded_slowdown = u.slowdown / u.jobs,
      unit_seconds = u.used }
  end
  table.sort(list, function(a, b)
    if a.unit_seconds ~= b.unit_seconds then return a.unit_seconds > b.unit_seconds end
    return tostring(a.user) < tostring(b.user)
  end)
  return list
end

local function over(a, b) return b > 0 and a / b or 0 end

local function utilisation(self, span)
  local used, touched = {}, {}
  for _, t in ipairs(self.types) do
    used[t.name], touched[t.name] = over(t.sum, t.total * span), over(t.touched_sum, t.total * span)
  end
  return used, touched
end

--- All of it, as a table for programs; see the head of this file for what the names mean.
function M:result()
  local sim, sorted, n = self.sim, table.move(self.waits, 1, #self.waits, 1, {}), self.jobs
  table.sort(sorted)
  if self.last and sim.now > self.last then pass_time(self, sim.now) end
  local span = self.last and self.last - self.first or 0
  local used, touched = utilisation(self, span)
  local total = self.main and self.main.total or 0
  return {
    jobs = n, rejected = self.rejected, killed = self.killed, failed = self.failed, preempted = self.preempted,
    unfinished = sim.nrunning + self.queued, first_submit = self.first or 0, last_end = self.last or 0, makespan = span,
    utilisation = used, touched = touched,
    wait = { mean = over(self.wait, n), median = median(sorted), p95 = quantile(sorted, 0.95), max = sorted[#sorted] or 0 },
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
