--- preempt.lua - preemption, as requested by a queue policy. Only jobs with preemptible-after (RFC 14) can be
--- preempted, after the time given. Flux ends a preempted job by an exception, and its resources become free seconds
--- later. Until then the waiting job has a reservation at the expected end, so no further job takes the resources.

local broker = require "weir.sim.broker"
local instant = require "weir.sim.instant"
local jobid = require "weir.flux.jobid"
local tables = require "weir.tables"

local M = {}

local GRACE = 10 -- seconds given to a job to end
local RESERVE = 2

local function may_go(self, job)
  return job.state == "running" and job.preemptible and not job.stays and self.now >= instant.after(job.start, job.preemptible)
end

local function leave(self, job, note)
  self.leaving[job] = job.due
  self:lasts_until(job, math.min(job.due, instant.after(self.now, GRACE)))
  self.answer.raise(job.id, note)
end

--- Returns true if a job without a reservation fits now. Changes nothing.
function M.fits(self, job)
  self.matches = self.matches + 1
  if self.engine:place(job.request, job.id, self.now, job.estimate, nil, nil, job) ~= self.now then return false end
  assert(self.engine:release(job.id, false))
  return true
end

-- Returns the first jobs of `victims` to be ended in addition to jobs leaving already; nil if ending all is not enough.
-- Restores the schedules.
local function choose(self, job, victims)
  local detached, chosen = {}, {}
  local function detach(other)
    if self.engine:job(other.id) then detached[#detached + 1] = assert(self.engine:detach(other.id)) end
  end
  if job.reserved then detach(job) end
  for other in pairs(self.leaving) do detach(other) end
  local done = M.fits(self, job)
  for _, id in ipairs(victims) do
    local victim = not done and self.jobs[id]
    if victim and may_go(self, victim) and not self.leaving[victim] then
      detach(victim)
      chosen[#chosen + 1] = victim
      done = M.fits(self, job)
    end
  end
  for i = #detached, 1, -1 do assert(self.engine:attach(detached[i])) end
  return done and chosen or nil
end

-- Reserves for the job the resources about to become free.
local function hold(self, job)
  return broker.answer(self, RESERVE, job.id) == self.now and 0
end

-- Returns true if all jobs awaited by the job are still leaving.
local function awaits(self, job)
  if not job.reserved or not job.after then return false end
  return tables.all(job.after, function(other) return self.leaving[other] end)
end

--- Preempts running jobs (ids) for a job unable to start, in the order of `victims` and no more than needed. Returns 0
--- if the job has started after all; otherwise false, with a reservation for the job if enough victims could be ended.
function M.make_way(self, job, victims)
  if awaits(self, job) then return false end
  local chosen = choose(self, job, victims)
  if not chosen then return false end
  for _, victim in ipairs(chosen) do leave(self, victim, "preempted for " .. jobid.f58(job.id)) end
  job.after = chosen
  return hold(self, job)
end

--- Preempts a job for no job in particular. The job runs until it ends.
function M.stop(self, job)
  if may_go(self, job) and not self.leaving[job] then leave(self, job, "preempted") end
  return false
end

--- Keeps a preempted job running beyond its preemption.
function M.spare(self, job)
  local due = self.leaving[job]
  if not due then return end
  self.leaving[job], job.stays = nil, true
  self:lasts_until(job, due)
end

return M
