--- notify.lua - messages to the service manager (sd_notify(3)): ready, status, watchdog, stopping.

local core = require "weir.core"

local M = {}

--- Sends lines to the service manager; does nothing without a service manager.
function M.tell(...)
  local path = os.getenv "NOTIFY_SOCKET"
  if path and path ~= "" then return core.notify(path, table.concat({ ... }, "\n")) end
end

--- Returns the seconds between two watchdog messages (half the timeout of the manager), or nil if none are expected.
function M.watchdog(pid)
  local micro, whose = tonumber(os.getenv "WATCHDOG_USEC" or ""), tonumber(os.getenv "WATCHDOG_PID" or "")
  if not micro or micro <= 0 or whose and whose ~= pid then return nil end
  return micro / 1e6 / 2
end

return M
