--- notify.lua - what the service manager is told (sd_notify(3)): that the service is there, how it does, that it ends.

local core = require "weir.core"

local M = {}

--- Tells, where somebody wants to know.
function M.tell(...)
  local path = os.getenv "NOTIFY_SOCKET"
  if path and path ~= "" then return core.notify(path, table.concat({ ... }, "\n")) end
end

--- Seconds between two signs of life that the manager wants, or nil.
function M.watchdog(pid)
  local micro, whose = tonumber(os.getenv "WATCHDOG_USEC" or ""), tonumber(os.getenv "WATCHDOG_PID" or "")
  if not micro or micro <= 0 or whose and whose ~= pid then return nil end
  return micro / 1e6 / 2
end

return M
