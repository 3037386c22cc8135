--- clock.lua - the time that a service goes by: the wall's, for as long as that can be believed.
--
-- Engine time never goes back, so one moment with a wrong wall clock would stay for ever. A clock that only goes on (uptime) tells how
-- much time has passed; the wall clock is followed while it is within `jump` seconds of that. Beyond, uptime carries the time on, which
-- the log says once, until the wall clock is right again or an administrator has the service believe it (SIGHUP, or a restart).

local core = require "weir.core"
local uv = require "luv"

local M = { JUMP = 3600 }

local Clock = {}
Clock.__index = Clock

--- Seconds since 1970, as the system says.
function M.wall()
  local seconds, micro = uv.gettimeofday()
  return seconds + micro / 1e6
end

local function apart(off)
  return ("%.0f s %s"):format(math.abs(off), off > 0 and "ahead" or "behind")
end

--- The time, in seconds since 1970.
function Clock:now()
  local wall, uptime = self.wall(), self.uptime()
  local due = self.time + uptime - self.at
  local off = wall - due
  local jumped = math.abs(off) > self.jump
  if jumped ~= self.jumped then
    self.jumped = jumped
    self.log(jumped
      and ("the wall clock is %s of where it should be: it is not followed; SIGHUP makes the service follow it"):format(apart(off))
      or "the wall clock is where it should be again, and followed", { often = "clock" })
  end
  self.time, self.at = jumped and due or wall, uptime
  return self.time
end

--- Believes the wall clock as it is now.
function Clock:follow() self.time, self.at, self.jumped = self.wall(), self.uptime(), false end

--- A clock. opts: jump (seconds; 3600 if not given), log(text, fields), and for specs wall() and uptime().
function M.new(opts)
  local self = setmetatable({
    jump = opts.jump or M.JUMP, log = opts.log, wall = opts.wall or M.wall, uptime = opts.uptime or core.uptime,
  }, Clock)
  self:follow()
  return self
end

return M
