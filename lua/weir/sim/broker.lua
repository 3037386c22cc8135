--- broker.lua - answers of a simulator to queue policies: starts, reservations, preemption. Every answer is decided by
--- matches on the real graph, and a reservation is a job in the schedules of the engine; sums over time only show which
--- matches need not be tried.
---
--- A reservation has a fixed start but no fixed resources. If a job does not fit with the present reservations,
--- all reservations with an equal or later start are detached, and allocated again at their starts, in order; if any
--- fails, nothing has changed. With interchangeable resources, moving never fails where the sums allow the job.
---
--- The host of the functions, a simulator or a scheduler, has the fields engine, now, jobs,
--- reservations, nreserved, soonest, promises, releases, matches and the methods tell, ask, wake, begin, stop.
--- A simulator also has the method turn, called before each preemption, and the field steady: true where only the clock and
--- the simulator change what is in use, so that a job refused is refused until the simulator has released or moved something.

local job_fields = require "weir.sim.job_fields"
local tables = require "weir.tables"

local M = {}

local START, RESERVE, UNRESERVE, EARLIEST, FREE, PREEMPT, AGAIN, ABOUT = 1, 2, 3, 4, 5, 6, 7, 8

--- Returns the table for verdicts of the placement policy on a job: jobs of a shape share verdicts, unless the policy
--- has read a field that differs between jobs of a shape, such as the user.
function M.memo(self, job) return self.engine:personal() and job or job.shape end

-- Allocates for a job at a time, or with `later` at the earliest start from then on. Returns the start, or nil.
-- `sums`: check the sums over time first.
local function place(self, job, at, later, sums)
  self.matches = self.matches + 1
  local t, why, code = self.engine:place(job.request, job.id, at, job.estimate, later, sums, job)
  if code == "policy" and self:placement_failed(why, job) then return place(self, job, at, later, sums) end -- by another policy
  if not t then job.why, job.code = why, code end
  return t
end

-- Notifies the placement policy that a job with resources starts. Where the policy fails, the job has no resources any
-- more, and the result is false.
local function told(self, job)
  local ok, why, code = self.engine:placed(job.id, job.request, job)
  if ok then return true end
  assert(self.engine:release(job.id, false))
  job.why, job.code = why, code
  self:placement_failed(why, job)
  return false
end

--- Releases the resources of a job that has started; also where the placement policy fails, which is handled afterwards.
function M.release(self, job)
  local ok, why, code = self.engine:release(job.id, job.request, job)
  if ok then return end
  assert(self.engine:release(job.id, false))
  if code == "policy" then self:placement_failed(why, job) else error(why, 0) end
end

-- ---- existing reservations ----------------------------------------------------------------------------------

--- Notes the reservation of a job from t on.
function M.note(self, job, t)
  if not job.reserved then self.nreserved = self.nreserved + 1 end
  self.reservations[job], job.reserved, self.promises = true, t, self.promises + 1
  if self.nreserved == 1 or t < self.soonest then self.soonest = t end
end

local function note(self, job, t)
  M.note(self, job, t)
  self:wake(t)
  self:tell("reserve", job)
end

--- Forgets the reservation of a job; the resources are left to the caller.
function M.forget(self, job)
  if not job.reserved then return end
  job.reserved, self.reservations[job] = nil, nil
  self.nreserved, self.promises = self.nreserved - 1, self.promises + 1
end

function M.unreserve(self, job)
  if not job.reserved then return end
  assert(self.engine:release(job.id, false))
  M.forget(self, job)
end

--- Drops all reservations, and notifies the queue policy.
function M.drop_reservations(self)
  for _, job in ipairs(tables.sort(tables.collect(pairs(self.reservations)), "id")) do
    M.unreserve(self, job)
    self:ask("lost", job.id)
  end
end

local function by_start(a, b)
  if a.reserved ~= b.reserved then return a.reserved < b.reserved end
  return a.id < b.id
end

--- Starts jobs whose reservation has begun, as the engine has turned the reservation into an allocation. A reservation
--- held back by an overdue job is tried again whenever the clock advances.
function M.begin_reserved(self)
  local list, soonest, held = {}, math.huge, false
  for job in pairs(self.reservations) do
    if job.reserved > self.now then
      soonest = math.min(soonest, job.reserved)
    elseif self.engine:job(job.id).state == "allocated" then
      list[#list + 1] = job
    else
      held = true
    end
  end
  table.sort(list, by_start)
  self.soonest, self.held = soonest, held
  for _, job in ipairs(list) do
    M.forget(self, job)
    if told(self, job) then
      self:begin(job)
      self:ask("started", job.id, self.now)
    else
      self:ask("lost", job.id)
    end
  end
end

-- ---- making room --------------------------------------------------------------------------------------------

-- Returns the remaining jobs with reservations from t on, in the order of their starts.
local function others_from(self, job, t)
  local list = {}
  for other in pairs(self.reservations) do
    if other ~= job and other.reserved >= t then list[#list + 1] = other end
  end
  table.sort(list, by_start)
  return list
end

-- Allocates for a job at t, then for `others` at their starts. On failure, nothing is allocated.
local function place_all(self, job, t, others)
  if not place(self, job, t) then return false end
  for i, other in ipairs(others) do
    if not place(self, other, other.reserved) then
      for k = 1, i - 1 do self.engine:release(others[k].id, false) end
      self.engine:release(job.id, false)
      return false
    end
  end
  return true
end

-- Closes detached jobs that are not attached again. Until garbage collection they would hold memory for all their
-- vertices.
local function forget_detached(detached)
  for _, own in ipairs(detached) do
    if own then own:close() end
  end
end

-- Allocates for a job at t by moving reservations to different resources.
local function make_room(self, job, t)
  local others, detached = others_from(self, job, t), {}
  if #others == 0 then return false end
  for i, other in ipairs(others) do detached[i] = assert(self.engine:detach(other.id)) end
  if place_all(self, job, t, others) then
    forget_detached(detached)
    return true
  end
  for i = 1, #detached do assert(self.engine:attach(detached[i])) end
  return false
end

-- ---- starting -----------------------------------------------------------------------------------------------

-- Runs f with the reservation of the job detached; attaches the reservation again if f returns false.
local function without_reservation(self, job, f, ...)
  local detached <close> = job.reserved and assert(self.engine:detach(job.id))
  local result = f(self, job, ...)
  if detached and not result then assert(self.engine:attach(detached)) end
  return result
end

-- Returns a lower bound of the start; math.huge if no start is possible, or the policy no longer admits the job.
local function soonest(self, job)
  local t, why, code = self.engine:soonest(job.request, job.id, self.now, job.estimate, job)
  if code == "policy" and self:placement_failed(why, job) then return soonest(self, job) end -- by another policy
  if not t then job.why, job.code = why, code end
  return t or math.huge
end

local function has_others(self, job) return self.nreserved > (job.reserved and 1 or 0) end

-- Returns true if an equal request, no longer than the job's, failed since resources became free or a reservation
-- changed last.
local function was_refused(self, job)
  local last = M.memo(self, job).refused
  return last and last.releases == self.releases and last.promises == self.promises and last.estimate <= job.estimate
end

local function refuse(self, job)
  local memo = M.memo(self, job)
  local last = memo.refused or {}
  memo.refused = last
  last.releases, last.promises, last.estimate = self.releases, self.promises, job.estimate
  return false
end

-- Starts a job without harm to the reservations. Sums are checked first. Reservations are moved for a job at most once as long
-- as no reservation changes: a further attempt would rarely succeed, unless all resources are interchangeable.
local function book_beside(self, job)
  if was_refused(self, job) then return false end
  if soonest(self, job) ~= self.now then
    job.short = self.steady and job.shape.plain
    return false
  end
  if place(self, job, self.now) then return true end
  if job.cramped == self.promises then return refuse(self, job) end
  if make_room(self, job, self.now) then return true end
  job.cramped = self.promises
  return refuse(self, job)
end

local function book_now(self, job)
  if has_others(self, job) then return book_beside(self, job) end
  if self.steady and was_refused(self, job) then return false end
  return place(self, job, self.now) or refuse(self, job)
end

local function book_and_tell(self, job) return book_now(self, job) and told(self, job) end

local function start(self, job)
  if not without_reservation(self, job, book_and_tell) then return false end
  M.forget(self, job)
  self:begin(job)
  return true
end

local function book_at(self, job, t) return place(self, job, t) or make_room(self, job, t) end

--- Allocates for a job at a time at which the sums allow it, in place of its reservation if it has one; reservations of
--- others may move to other resources. Returns whether that was possible. The reservation is noted by the caller.
function M.book(self, job, t) return without_reservation(self, job, book_at, t) end

local COUNTER = { preempt = "preempted", requeue = "requeued" }

--- Puts a running job without resources back into the queue. event: preempt or requeue.
function M.back(self, job, event)
  self.nrunning, self.npending, self.releases = self.nrunning - 1, self.npending + 1, self.releases + 1
  self:stop(job)
  self:tell(event, job)
  job.state, job.start, job.due, job.released, job.killed = "pending", nil, nil, nil, nil
  job[COUNTER[event]] = (job[COUNTER[event]] or 0) + 1
end

-- Detaches victims singly until the job fits. Returns the number of victims; or nil, with nothing changed.
local function book_over(self, job, victims)
  local detached = {}
  for i, id in ipairs(victims) do
    local victim = self.jobs[id]
    if not victim or victim.state ~= "running" then break end
    detached[i] = not victim.released and assert(self.engine:detach(id))
    self.releases = self.releases + 1 -- what was refused is tried again
    if book_now(self, job) then
      for k = 1, i do
        local own = self.jobs[victims[k]]
        local _, why
        if detached[k] then _, why = self.engine:finished(detached[k], own.request, own) end
        if why then self:placement_failed(why, own) end
      end
      forget_detached(detached)
      if not told(self, job) then error(job.why, 0) end -- the victims have ended
      return i
    end
  end
  for i = #detached, 1, -1 do
    if detached[i] then assert(self.engine:attach(detached[i])) end
  end
end

local function start_over(self, job, victims)
  local n = without_reservation(self, job, book_over, victims)
  if not n then return false end
  for i = 1, n do M.back(self, self.jobs[victims[i]], "preempt") end
  M.forget(self, job)
  self:begin(job)
  return n
end

local ASK = {}

-- Returns the number of victims preempted for the start (0 for a start without); or false, and true where the sums of units
-- say so to any job with as many units that lasts as long, until units come back or a reservation changes.
ASK[START] = function(self, job, ...)
  job.short = nil
  if start(self, job) then return 0 end
  if select("#", ...) == 0 then return false, job.short end
  self:turn()
  return start_over(self, job, { ... })
end

ASK[PREEMPT] = function(self, job)
  if job.state ~= "running" then return false end
  self:turn()
  if not job.released then M.release(self, job) end
  M.back(self, job, "preempt")
  return true
end

-- ---- reserving ----------------------------------------------------------------------------------------------

-- Allocates for a job at the earliest start from t on. Returns the start, or nil.
local function book_from(self, job, t)
  if has_others(self, job) and (place(self, job, t) or make_room(self, job, t)) then return t end
  return place(self, job, t, true)
end

-- Allocates like book_from, but only for a start earlier than the present reservation.
local function book_sooner(self, job, t)
  t = book_from(self, job, t)
  if not t or not job.reserved or t < job.reserved then return t end
  assert(self.engine:release(job.id, false))
end

local function reserve(self, job)
  if self.nreserved == 0 then return place(self, job, self.now, true, true) end
  local t = soonest(self, job)
  if t < (job.reserved or math.huge) then return without_reservation(self, job, book_sooner, t) end
end

-- Returns the start of the job's reservation; the present time if the job has started.
ASK[RESERVE] = function(self, job)
  local t = reserve(self, job)
  if not t then return job.reserved end
  if t > self.now then
    note(self, job, t)
    return t
  end
  M.forget(self, job)
  if not told(self, job) then return nil end
  self:begin(job)
  return self.now
end

ASK[UNRESERVE] = M.unreserve

ASK[EARLIEST] = function(self, job)
  local earliest
  without_reservation(self, job, function()
    local t = soonest(self, job)
    earliest = t < math.huge and book_from(self, job, t)
    if earliest then assert(self.engine:release(job.id, false)) end
  end)
  return earliest
end

--- Answers a query of the sandbox of a queue policy: numbers in, numbers and booleans out; texts about a job. Raises for a
--- job whose state the policy has changed in its own tables.
function M.answer(self, what, id, ...)
  if what == FREE then return (self.engine:free(self.type)) end
  if what == AGAIN then return self:wake(id, true) end
  local job = self.jobs[id]
  if what == ABOUT then return job_fields.of(job or self.ending, ...) end
  if not job or what ~= PREEMPT and job.state ~= "pending" then error("the job does not wait", 0) end
  return ASK[what](self, job, ...)
end

return M
