--- player.lua - the scheduler of a Flux instance (instance.lua) with a clock that jumps from event to event: what a shadow (weir.shadow)
-- plays its jobs on. It decides by the same code as the scheduler in force: queues with policies of their own, drained nodes,
-- priorities, expirations.
--
-- Events are ordered by time, then in the order in which they were sent. The scheduler makes its passes when all events of a time are
-- handled. A job that its queue policy preempts ends at once.
--
-- Fields of a job: id, units (0 until it starts), runtime, state (waiting, running, over), start, stop (its end, once known),
-- message (of sched.alloc, RFC 27), and record, which belongs to the shadow.

local core = require "weir.core"
local heap = require "weir.sim.event_heap"
local instance = require "weir.flux.instance"
local instant = require "weir.sim.instant"

local M = {}
M.__index = M

local UNTOLD = 8e12  -- seconds from which on the runtime of a job means that it is not known
local SECONDS = 60   -- of work for the passes of one time
local SHORTEST = 1e-3 -- seconds between two passes where nothing else moves the clock

local function tell(self, event, job)
  if self.on[event] then self.on[event](job, self) end
end

-- ---- jobs -----------------------------------------------------------------------------------------------------------

-- Puts the end of a job that runs among the events, once it is known.
local function plan_end(self, job)
  if job.runtime >= UNTOLD then return end
  local stop = math.max(instant.after(job.start, job.runtime), self.now)
  job.stop = stop
  self.events:push { time = stop, kind = 1, action = function()
    if job.state == "running" and job.stop == stop then self:finish(job) end
  end }
end

--- Ends a job that runs.
function M:finish(job)
  local s = self.scheduler
  local own = s.jobs[job.id]
  job.state, self.jobs[job.id] = "over", nil
  if own then
    s.follow:free(job.id)
    s:leave(own)
    s.releases, s.dirty = s.releases + 1, true
    s.queues:tell_all("change", true)
  end
  tell(self, "finish", job)
end

-- The answers of the scheduler.
local function answers(self)
  local nothing = function() end
  return { annotate = nothing, explain = nothing,
    alloc = function(id)
      local job = self.jobs[id]
      job.state, job.start, job.units = "running", self.now, self.scheduler.jobs[id].units
      plan_end(self, job)
      tell(self, "start", job)
    end,
    deny = function(id, why)
      local job = self.jobs[id]
      job.state, job.why, self.jobs[id] = "over", why, nil
      tell(self, "reject", job)
    end,
    raise = function(id)
      local job = self.jobs[id]
      if job then self:at(self.now, function() if job.state == "running" then self:finish(job) end end) end
    end }
end

--- Submits a job at a time: {at, runtime, message}. Returns the job.
function M:submit(spec)
  local job = { id = spec.message.id, units = 0, runtime = spec.runtime, state = "waiting", message = spec.message }
  self:at(spec.at, function()
    self.jobs[job.id] = job
    local ok, why = self.scheduler:alloc(core.json_encode(job.message))
    job.message = nil
    if not ok then error(why, 0) end
  end)
  return job
end

--- Takes over a running job: {id, start, message of hello (RFC 27), R and jobspec as texts}. A job with resources that the
--- machine lacks has no resources here, until the job ends. Returns the job.
function M:adopt(spec)
  local job = { id = spec.id, units = 0, runtime = UNTOLD, state = "running", start = spec.start, record = spec.record }
  local ok, why = self.scheduler:hello(core.json_encode(spec.message), spec.R, spec.jobspec)
  if ok then
    job.units = self.scheduler.jobs[spec.id].units
  else
    self.lost, self.lost_why = self.lost + 1, why
  end
  self.jobs[spec.id] = job
  return job
end

--- Sets how long a job lasts, in seconds.
function M:lasts(job, runtime)
  job.runtime = runtime
  if job.state == "running" then plan_end(self, job) end
end

--- Cancels a waiting job, or ends a running job.
function M:cancel(job)
  if job.state == "running" then return self:finish(job) end
  if job.state ~= "waiting" then return end
  self.scheduler:cancel(core.json_encode { id = job.id })
  job.state, self.jobs[job.id] = "over", nil
  tell(self, "cancel", job)
end

-- ---- the clock ------------------------------------------------------------------------------------------------------

--- Calls a function at a time, in the order of events.
function M:at(time, action) self.events:push { time = math.max(instant.of(time), self.now), kind = 1, action = action } end

-- The next time at which the scheduler has work by itself: a reservation begins, a policy requested it. That the expected end of a job
-- is over it sees at the next event, as in Flux.
local function own_time(s)
  local t = s.again or math.huge
  return s.nreserved > 0 and math.min(t, s.soonest) or t
end

--- Returns the time of the next event; or nil.
function M:next_time()
  local event, own = self.events:peek(), own_time(self.scheduler)
  if own <= self.now then own = self.now + SHORTEST * 2 ^ math.min(self.stuck, 20) end -- nothing came of the last pass
  local t = math.min(event and event.time or math.huge, own)
  return t < math.huge and t or nil
end

-- Makes the passes of a time.
local function settle(self)
  local s, deadline = self.scheduler, core.clock() + SECONDS
  repeat
    s:schedule(1)
    if core.clock() > deadline then
      self.failure = ("the passes of the scheduler at %.0f took more than %d s"):format(self.now, SECONDS)
      error(self.failure, 0)
    end
  until not s.queues.passing and not s.dirty
end

--- Handles the events of the next time, and makes the passes that follow. Returns false where there are none.
function M:step()
  local t = self:next_time()
  if not t then return false end
  self.stuck = t == self.now and 0 or own_time(self.scheduler) <= self.now and self.stuck + 1 or 0
  self.now = math.max(self.now, t)
  local event = self.events:peek()
  while event and event.time <= self.now do
    self.events:pop()
    event.action()
    event = self.events:peek()
  end
  settle(self)
  self.passes = self.scheduler.passes
  return true
end

--- Returns the units of the machine, of the type jobs are counted in.
function M:total() return self.scheduler:total() end

-- ---- changes --------------------------------------------------------------------------------------------------------

--- Takes a response to resource.acquire (RFC 28), as text: what has come up, gone down, or left.
function M:acquire(text)
  local ok, why = self.scheduler:acquire(text)
  if ok then return end
  self.failure = why
  error(why, 0)
end

--- Takes other priorities: {{id, priority}, ...}.
function M:prioritize(pairs_of) self.scheduler:prioritize(core.json_encode { jobs = core.array(pairs_of) }) end

--- Takes another end of a job that runs here, in seconds since 1970.
function M:expire(id, t)
  if self.jobs[id] and self.jobs[id].state == "running" then self.scheduler:expiration(core.json_encode { id = id, expiration = t }) end
end

--- Puts other settings in use (settings.lua). A policy that fails now leaves those before in use.
function M:reconfigure(settings) return self.scheduler:reconfigure(settings) end

--- Makes a player. opts: settings, the policies to play by; acquire, the first response to resource.acquire as text; now; on,
--- listeners by event, called with a job: start, finish, cancel, reject, reserve; log(level, text). Returns the player; or nil,
--- message, code, where the policies or the machine cannot be used.
function M.new(opts)
  local self = setmetatable({ now = instant.of(opts.now), events = heap.new(), jobs = {}, on = opts.on or {}, passes = 0, stuck = 0,
    lost = 0 }, M)
  local s, why, code = instance.new { settings = opts.settings, answer = answers(self), log = opts.log or function() end,
    clock = function() return self.now end, ticks = function() return 0 end }
  if not s then return nil, why, code end
  local ok
  ok, why = s:acquire(opts.acquire)
  if not ok then return nil, why, "invalid" end
  if s.placement.failed then return nil, s.placement.failed, "policy" end
  s.R = function() return "" end -- never read
  s.tell = function(_, event, job)
    local own = self.jobs[job.id]
    if event == "reserve" and own then
      own.reserved = job.reserved
      tell(self, "reserve", own)
    end
  end
  s.annotations.on, s.annotations.start = false, function() return "" end
  self.scheduler, self.type = s, s.type
  return self
end

return M
