--- clock.lua - the time of a service: the wall clock, as long as the wall clock is plausible.
--
-- Engine time never decreases, so a single moment with a wrong wall clock would last for ever. The monotonic uptime
-- measures how much time has passed; the wall clock is followed while the two differ by at most `jump` seconds. Beyond
-- `jump`, uptime carries the time on, and the log says so once, until the wall clock is plausible again or an
-- administrator makes the service follow the wall clock (SIGHUP, the method clock.follow, or a restart). Only clock.follow
-- sets engine time back (Service:follow).
--
-- A wall clock behind the time of the state is wrong, as the state was saved later: a service that was started before the
-- clock was set follows a jump to that time or beyond.

local core = require "weir.core"
local uv = require "luv"

local M = { JUMP = 3600 }

local Clock = {}
Clock.__index = Clock

--- Returns the wall clock of the system, in seconds since 1970.
function M.wall()
  local seconds, micro = uv.gettimeofday()
  return seconds + micro / 1e6
end

local function apart(off)
  return ("%.0f s %s"):format(math.abs(off), off > 0 and "ahead" or "behind")
end

--- Returns the time of the service, in seconds since 1970. Logs when the wall clock jumps away, and when it is
-- plausible again.
function Clock:now()
  local wall, uptime = self.wall(), self.uptime()
  local due = self.time + uptime - self.at
  local off = wall - due
  local jumped = math.abs(off) > self.jump
  if jumped and due < self.known and wall >= self.known then
    jumped, self.jumped = false, false
    self.log(("the wall clock was behind the time of the state; it was set %.0f s ahead, and is followed"):format(off))
  end
  if jumped ~= self.jumped then
    self.jumped = jumped
    self.log(jumped
      and ("the wall clock is %s of where it should be: it is not followed; SIGHUP makes the service follow it"):format(apart(off))
      or "the wall clock is where it should be again, and followed", { often = "clock" })
  end
  self.time, self.at = jumped and due or wall, uptime
  return self.time
end

--- Notes a time that has been: the time of a state.
function Clock:knows(time) self.known = math.max(self.known, time) end

--- Follows the wall clock from now on, however far away.
function Clock:follow() self.time, self.at, self.jumped = self.wall(), self.uptime(), false end

--- Makes a clock. opts: jump (seconds; 3600 by default), log(text, fields); for specs also wall() and uptime().
function M.new(opts)
  local self = setmetatable({
    jump = opts.jump or M.JUMP, known = 0, log = opts.log, wall = opts.wall or M.wall, uptime = opts.uptime or core.uptime,
  }, Clock)
  self:follow()
  return self
end

return M
