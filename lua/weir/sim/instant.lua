--- instant.lua - the times of simulators, scenarios, queue policies and schedulers: whole microseconds, as in the engine. An
--- instant is written as the number of seconds nearest to its microseconds. So equal instants are equal numbers, and later
--- instants are larger numbers. A sum of seconds is no instant: 0.1 + 0.2 is larger than 0.3, and a job that ends at the sum
--- would not make room for a job that starts at 0.3. Code that adds times makes an instant of the sum.
---
--- From 4e9 seconds on (142 years) a number has no room for microseconds in addition to the seconds; instants are whole seconds
--- there.

local floor, type_of = math.floor, math.type

local M = {}

local COARSE = 4e9

--- Seconds; no time of a job is later, but for jobs without an end.
M.LAST = 9e12

--- Returns the instant nearest to a number of seconds; infinity is itself. instant.of(0.1 + 0.2) == 0.3
function M.of(seconds)
  if type_of(seconds) == "integer" then return seconds end
  if floor(seconds) == seconds then return seconds end
  if seconds >= COARSE then return floor(seconds + 0.5) end
  return floor(seconds * 1e6 + 0.5) / 1e6
end

--- Returns the instant so many seconds after another.
function M.after(instant, seconds) return M.of(instant + seconds) end

--- Returns when a job that began at `start` and overran its estimate is expected to end, seen at time t.
function M.later(start, t) return M.of(t + math.max(60, t - start)) end

--- Returns when a job that began at `start` and runs at time `now` is expected to end.
function M.due(start, estimate, now)
  local due = M.after(start, estimate)
  while due <= now do due = M.later(start, due) end
  return due
end

--- Returns true if a job begun at an instant ends by the end of the clock, or is without an end; or nil, message, code.
function M.ends_in_time(at, job)
  local last = M.LAST
  if at + math.max(job.estimate, job.runtime) <= last then return true end
  for _, what in ipairs { "estimate", "runtime" } do
    local stop = at + job[what]
    if at > last or stop > last and job[what] < math.huge then
      return nil, ("%s %g s from %g s on: a job ends by %g s, the end of the clock"):format(what, job[what], at, last), "invalid"
    end
  end
  return true
end

return M
