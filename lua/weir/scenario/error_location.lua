--- error_location.lua - errors in a scenario, reported with the line of the scenario, however deep in the library they
-- are found.

local M = {}

local LIBRARY = debug.getinfo(1, "S").source:match "^(.*)scenario/error_location%.lua$" -- "@.../weir/"

local function is_ours(info)
  return info.what == "C" or info.source == "=(tail call)" or info.source:sub(1, #LIBRARY) == LIBRARY
    or info.source:find "/luassert/[%w_]+%.lua$"
end

-- Returns the nearest caller outside of the library.
local function caller()
  local level = 2
  while true do
    local info = debug.getinfo(level, "Sl")
    if not info or not is_ours(info) then return info end
    level = level + 1
  end
end

--- Raises an error with "FILE:LINE: " of the library's caller.
function M.fail(...)
  local info = caller()
  error((info and ("%s:%d: "):format(info.short_src, info.currentline) or "") .. string.format(...), 0)
end

--- Returns the place of the library's caller: " in line 7", or "".
function M.place()
  local info = caller()
  return info and info.currentline > 0 and (" in line %d"):format(info.currentline) or ""
end

--- Returns the source of the library's caller: "@FILE".
function M.source()
  local info = caller()
  return info and info.source or "="
end

return M
