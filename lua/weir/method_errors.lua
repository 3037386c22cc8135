--- method_errors.lua - methods written in Lua raise errors as methods in C do: with the line of the caller, not a line of the
--- library, and with the name of the method called.

local M = {}

local HERE = debug.getinfo(1, "S").source:match "^@(.*)method_errors%.lua$" -- "/usr/share/lua/5.4/weir/"

-- Returns the text behind the line of the library that a message begins with; nil: the message begins otherwise. Lua
-- shows the end of a path only, behind "...", where the path is longer than 60 bytes.
local function behind_line(message)
  local place, text = message:match "^([^\n]-%.lua):%d+: (.*)$"
  if not place then return nil end
  local tail = place:match "^%.%.%.(.*/weir/)"
  local ours = place:sub(1, #HERE) == HERE or tail and HERE:sub(-#tail) == tail
  return ours and text or nil
end

-- Returns the text for the caller in place of a message; nil: the message is right. An error raised by Lua itself in the
-- library is a fault of the library, and keeps its line.
local function for_caller(name, message)
  local text = type(message) == "string" and behind_line(message)
  if not text or text:find "^attempt to " then return nil end
  return (text:gsub("^bad argument #%d+ to '[^']*' ", ("bad argument to '%s' "):format(name)))
end

-- The level of `error`, 2, is the level of the caller, as the method ends in a tail call of pass(); one more where the
-- method in Lua is called by the method in C.
local function pass(name, level, ok, ...)
  if ok then return ... end
  local message = ...
  local text = for_caller(name, message)
  if text then error(text, level) end
  error(message, 0)
end

--- Returns f, written in Lua, for calls by the method `name` in C.
function M.below(name, f)
  return function(...) return pass(name, 3, pcall(f, ...)) end
end

--- Mends the errors of the methods of a class that are written in Lua.
function M.mend(methods)
  for name, f in pairs(methods) do
    if type(f) == "function" and debug.getinfo(f, "S").what ~= "C" then
      methods[name] = function(...) return pass(name, 2, pcall(f, ...)) end
    end
  end
end

return M
