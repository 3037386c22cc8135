--- future.lua - plays what comes in a copy of the scheduler of a Flux instance: every job ends when its time is over, no job
--- is added, and the policies decide as they do now. The scheduler is of no use afterwards, so this is called in a forked copy.

local core = require "weir.core"

local M = {}

local EVENTS = 100000 -- turns of a forecast

-- Returns the time of the next event: the end of a running job, the start of a reservation, a time that a policy has requested.
local function next_event(self)
  local event = self.due:peek()
  while event and (event.job.state ~= "running" or event.job.due ~= event.time) do
    self.due:pop()
    event = self.due:peek()
  end
  local t = math.min(event and event.time or math.huge, self.again or math.huge)
  return self.nreserved > 0 and math.min(t, self.soonest) or t
end

-- Ends the jobs whose time is over.
local function end_jobs(self, t)
  local event = self.due:peek()
  while event and event.time <= t do
    self.due:pop()
    local job = event.job
    if job.state == "running" and job.due == event.time then
      self.follow:free(job.id)
      self:leave(job)
      self.releases = self.releases + 1
      self.queues:tell_all("change", true)
    end
    event = self.due:peek()
  end
end

-- Runs passes until nothing is left to do now. Returns false when the time for the forecast is over.
local function settle(self, deadline)
  repeat
    self:schedule(1)
    if core.clock() > deadline then return false end
  until not self.queues.passing and not self.dirty
  return true
end

-- Makes a copy of the scheduler silent, with a clock that is set.
local function mute(self, now)
  local nothing = function() end
  self.answer = setmetatable({}, { __index = function() return nothing end })
  self.log, self.queues.log, self.annotations.on, self.files = nothing, nothing, false, {}
  self.clock, self.ticks, self.rests = function() return now() end, function() return 0 end, 0
  self.dirty = true
end

--- Continues until done() is true, which is called after each step. Returns "done"; "never" where nothing happens any more; nil
--- where that takes more than so many seconds.
function M.play(self, done, seconds)
  local now, deadline = self.now, core.clock() + seconds
  mute(self, function() return now end)
  for _ = 1, EVENTS do
    if not settle(self, deadline) then return nil end
    if done() then return "done" end
    local t = next_event(self)
    if t == math.huge then return "never" end
    now = math.max(t, now + 1e-3)
    end_jobs(self, now)
    self.dirty = true
  end
  return nil
end

return M
