--- preempt.lua - jobs that make way for others, as a queue policy says: those that may be stopped after some time, and no others
--- (RFC 14, preemptible-after). Flux ends them by an exception; what they have is free when they are gone, some seconds later. Until
--- then the one that they make way for has a reservation for when they are thought to be gone, so that nobody else takes it.

local asking = require "weir.sim.broker"
local jobid = require "weir.flux.jobid"

local M = {}

local GRACE = 10 -- seconds that a job has to end
local RESERVE = 2

local function may_go(self, job)
  return job.state == "running" and job.preemptible and not job.stays and self.now >= job.start + job.preemptible
end

local function leave(self, job, note)
  self.leaving[job] = job.due
  self:lasts_until(job, math.min(job.due, self.now + GRACE))
  self.answer.raise(job.id, note)
end

-- Whether a job fits now.
local function fits(self, job)
  self.matches = self.matches + 1
  if self.engine:place(job.request, job.id, self.now, job.estimate) ~= self.now then return false end
  assert(self.engine:release(job.id))
  return true
end

-- Those that have to go, the first ones of the victims, besides those that leave already; nil: not even that would do. What is
-- tried here is undone.
local function choose(self, job, victims)
  local lifted, chosen = {}, {}
  local function lift(other)
    if self.engine:job(other.id) then lifted[#lifted + 1] = assert(self.engine:lift(other.id)) end
  end
  if job.reserved then lift(job) end
  for other in pairs(self.leaving) do lift(other) end
  local done = fits(self, job)
  for _, id in ipairs(victims) do
    local victim = not done and self.jobs[id]
    if victim and may_go(self, victim) and not self.leaving[victim] then
      lift(victim)
      chosen[#chosen + 1] = victim
      done = fits(self, job)
    end
  end
  for i = #lifted, 1, -1 do assert(self.engine:put(lifted[i])) end
  return done and chosen or nil
end

-- It has what is going to be free, as soon as it is.
local function hold(self, job)
  return asking.answer(self, RESERVE, job.id) == self.now and 0
end

-- Whether all that it waits for are still on their way.
local function awaits(self, job)
  if not job.reserved or not job.after then return false end
  for _, other in ipairs(job.after) do
    if not self.leaving[other] then return false end
  end
  return true
end

--- A job that cannot start takes the place of running ones (ids), as few of them as it needs, the first ones first. False: not now;
--- 0: it has started after all.
function M.make_way(self, job, victims)
  if awaits(self, job) then return false end
  local chosen = choose(self, job, victims)
  if not chosen then return false end
  for _, victim in ipairs(chosen) do leave(self, victim, "preempted for " .. jobid.f58(job.id)) end
  job.after = chosen
  return hold(self, job)
end

--- A job is to end, for nobody in particular. It goes on until it does.
function M.stop(self, job)
  if may_go(self, job) and not self.leaving[job] then leave(self, job, "preempted") end
  return false
end

--- One that was to leave does not.
function M.spare(self, job)
  local due = self.leaving[job]
  if not due then return end
  self.leaving[job], job.stays = nil, true
  self:lasts_until(job, due)
end

return M
