-- flat_queue.lua - a second simulator of fcfs, EASY and conservative backfilling, which knows nothing of weir: a counter
-- of processors, and for each question a walk over all jobs. Times are integers, in any unit. Events are handled in
-- the order of time, then submissions before ends, then as they were made. A job whose estimate is over at t is gone
-- throughout t; one that ends earlier is gone once its end is handled.
--
--   flat_queue.starts(100, "easy", "per-event", { { submit =, procs =, estimate =, runtime = }, ... })
--
-- gives the start of each job. Jobs come in the order of their submission, and last from 1 up to their estimate.

local M = {}

-- Returns the processors that running jobs and reservations leave at a time.
local function free_at(self, t, but)
  local n = self.procs
  for _, job in ipairs(self.jobs) do
    local from = job ~= but and not job.gone and (job.start or job.reserved)
    if from and from <= t and t < from + job.estimate then n = n - job.procs end
  end
  return n
end

-- Returns whether so many processors are free from a time on for as long as a job is to last.
local function fits(self, job, at)
  if free_at(self, at, job) < job.procs then return false end
  for _, other in ipairs(self.jobs) do
    local from = other ~= job and not other.gone and (other.start or other.reserved)
    if from and from > at and from < at + job.estimate and free_at(self, from, job) < job.procs then return false end
  end
  return true
end

-- Returns the earliest start of a job: now, or where running jobs and reservations end.
local function earliest(self, job)
  local best = fits(self, job, self.now) and self.now or nil
  if best then return best end
  for _, other in ipairs(self.jobs) do
    local from = other ~= job and not other.gone and (other.start or other.reserved)
    local ends = from and from + other.estimate
    if ends and ends > self.now and (not best or ends < best) and fits(self, job, ends) then best = ends end
  end
  return best
end

local function begin(self, job)
  job.start, job.reserved = self.now, nil
  self.made = self.made + 1
  table.insert(self.events, { self.now + job.runtime, 2, self.made, job })
end

local function waiting(self)
  local list = {}
  for _, job in ipairs(self.jobs) do
    if job.came and not job.start then list[#list + 1] = job end
  end
  return list
end

local PASS = {}

function PASS.fcfs(self)
  for _, job in ipairs(waiting(self)) do
    if not fits(self, job, self.now) then return end
    begin(self, job)
  end
end

-- The first that cannot start has its time when enough of the running jobs will have ended, and leaves the processors
-- that are free then beyond its own.
function PASS.easy(self)
  local head, time, spare
  for _, job in ipairs(waiting(self)) do
    local room = free_at(self, self.now)
    if not head and job.procs <= room then
      begin(self, job)
    elseif not head then
      head, time = job, earliest(self, job)
      spare = free_at(self, time) - job.procs
    elseif job.procs <= room and (self.now + job.estimate <= time or job.procs <= spare) then
      if self.now + job.estimate > time then spare = spare - job.procs end
      begin(self, job)
    end
  end
end

-- Every job has a reservation; each end lets all of them look for an earlier one, in the order of the queue.
function PASS.conservative(self, ended)
  for _, job in ipairs(waiting(self)) do
    if ended or not job.reserved then job.reserved = earliest(self, job) end
    if job.reserved == self.now then begin(self, job) end
  end
end

local function before(a, b)
  for i = 1, 3 do
    if a[i] ~= b[i] then return a[i] < b[i] end
  end
  return false
end

-- Starts jobs whose reservation begins.
local function begin_reserved(self)
  for _, job in ipairs(waiting(self)) do
    if job.reserved == self.now then begin(self, job) end
  end
end

-- Takes the next event out, or a step of the clock to the next reservation: {time}.
local function next_event(self)
  table.sort(self.events, before)
  local first = self.events[1]
  local time = first and first[1] or math.huge
  for _, job in ipairs(self.jobs) do
    if job.came and not job.start and job.reserved and job.reserved < time then time, first = job.reserved, nil end
  end
  if first then table.remove(self.events, 1) end
  return first or time < math.huge and { time } or nil
end

function M.starts(procs, queue, rule, jobs)
  local self = { procs = procs, jobs = {}, events = {}, made = 0, now = 0 }
  for i, job in ipairs(jobs) do
    self.jobs[i] = { procs = job.procs, estimate = job.estimate, runtime = math.min(job.runtime, job.estimate) }
    self.events[i], self.made = { job.submit, 1, i, self.jobs[i] }, i
  end
  local ended = false
  for event in next_event, self do
    if event[1] > self.now then
      self.now, ended = event[1], false
      begin_reserved(self)
    end
    local job = event[4]
    if event[2] == 1 then job.came = true elseif job then job.gone, ended = true, true end
    table.sort(self.events, before)
    local more = self.events[1] and self.events[1][1] == self.now
    if job and (rule == "per-event" or not more) then
      PASS[queue](self, ended)
      ended = false
    end
  end
  local list = {}
  for i, job in ipairs(self.jobs) do list[i] = job.start end
  return list
end

return M
