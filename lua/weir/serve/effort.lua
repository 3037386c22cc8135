--- effort.lua - how a request is run, by what it may cost the others:
--
--   here     in the service: short, whatever it asks for
--   change   in the service, as it changes something; its search for resources ends when the time for that is over
--   try      in the service, for a few milliseconds; then again in a copy
--   copy     in a forked copy of the service (copies.lua)

local core = require "weir.core"

local M = {}

local SMALL = 1000     -- vertices that are looked through in the service
local SHORT = 16 << 10 -- bytes of a request that is read in the service just to look

local function by_size(service) return service.graph:count() <= SMALL and "here" or "copy" end

local WAYS = {
  explain = "copy", walk = "copy", jobs = "copy", job = "try", grow = "change", find = by_size,
  match = function(_, p) return (p.mode == "preview" or p.mode == "feasible") and "try" or "change" end,
  show = function(service, p) return (p.as == "pool" or p.as == "totals") and "here" or by_size(service) end,
}

--- Whether code comes with a call.
function M.has_filter(call)
  local filter = call.params.filter
  return filter ~= nil and filter ~= core.null
end

--- How a call is run.
function M.of(service, call)
  local way = WAYS[call.method] or "here"
  if type(way) == "function" then way = way(service, call.params) end
  if M.has_filter(call) then return "copy" end
  local looks = way == "try" or WAYS[call.method] == by_size
  return looks and (call.size or 0) > SHORT and "copy" or way
end

--- More things than are told of in the service.
M.MANY = 1000

return M
