--- standby.lua - a service that waits for the one that leads to be gone. To a server it is a service: every call is refused, with
-- the address of the one that leads; in the turn in which nobody leads any more, it does.

local M = {}

local Standby = {}
Standby.__index = Standby

function Standby:handle(call)
  local address = self.opts.store:elsewhere()
  call.fail(("this service stands by; %s leads"):format(address or "another one"), "standby")
end

function Standby:tick()
  if self.opts.store:stand() then self.opts.lead() end
end

function Standby.commit() return true end

function Standby.flush() end

function Standby.leave() end

--- One that waits. opts: store, lead(), called in the turn in which it leads; log(text).
function M.new(opts) return setmetatable({ opts = opts }, Standby) end

return M
