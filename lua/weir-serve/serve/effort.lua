--- effort.lua - how a call is run, by its possible cost for the remaining clients:
--
--   here     in the service: short with any parameters
--   change   in the service, as the call has effects; its search for resources has a time limit
--   try      in the service, for a few milliseconds; then again in a copy
--   copy     in a forked copy of the service (copies.lua)

local core = require "weir.core"

local M = {}

local SMALL = 1000     -- vertices walked in the service at most
local SHORT = 16 << 10 -- bytes of a request parsed in the service for a call without effects

local function by_size(service) return service.graph:count() <= SMALL and "here" or "copy" end

local WAYS = {
  copy = "copy", save = "copy", edges = by_size,
  explain = "copy", try = "copy", walk = "copy", jobs = "copy", job = "try", grow = "change", stage = "change", find = by_size,
  match = function(_, p) return (p.mode == "preview" or p.mode == "feasible") and "try" or "change" end,
  show = function(service, p) return (p.as == "pool" or p.as == "totals") and "here" or by_size(service) end,
}

--- Returns true if a call has a filter.
function M.has_filter(call)
  local filter = call.params.filter
  return filter ~= nil and filter ~= core.null
end

--- Returns how a call is run: a word of the list above.
function M.of(service, call)
  local way = WAYS[call.method] or "here"
  if type(way) == "function" then way = way(service, call.params) end
  if M.has_filter(call) then return "copy" end
  local looks = way == "try" or WAYS[call.method] == by_size
  return looks and (call.size or 0) > SHORT and "copy" or way
end

--- MANY: parts of an answer beyond which a call is run in a copy.
M.MANY = 1000

return M
