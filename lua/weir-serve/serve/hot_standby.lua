--- hot_standby.lua - a service waiting to replace the leader. The server uses a standby like a service: every call
-- fails with code "standby" and the address of the leader. In the turn in which there is no leader any more, the standby
-- takes the lead.

local M = {}

local Standby = {}
Standby.__index = Standby

function Standby:handle(call)
  local address = self.opts.store:elsewhere()
  call.fail(("this service is on standby; %s leads"):format(address or "another one"), "standby")
end

function Standby:tick()
  if self.opts.store:stand() then self.opts.lead() end
end

function Standby.commit() return true end

function Standby.flush() end

function Standby.leave() end

--- Makes a standby. opts: store; lead(), called in the turn in which the standby takes the lead; log(text).
function M.new(opts) return setmetatable({ opts = opts }, Standby) end

return M
