--- groups.lua - the groups of targets of a service, as a table for people.

local out = require "weir.cli.output"

local M = {}

--- Prints the result of the method "resource.status".
function M.show(status)
  local rows = { { "group", "targets", "online", "offline", "acquired", "leaving" } }
  for _, g in ipairs(status.groups) do
    rows[#rows + 1] = { g.group, g.targets, g.online, g.offline, g.acquired and "yes" or "no", g.leaving }
  end
  out.table(rows)
  for _, d in ipairs(status.drained) do out.line(("drained: %d%s"):format(d.target, d.reason and "  " .. d.reason or "")) end
end

return M
