--- failure.lua - failures that are raised deep in a module, and returned at its door as nil, message, code.

local tables = require "weir.tables"

local M = {}

local Failure = {}

--- Raises a failure with a text and a code, which may be nil.
function M.raise(text, code) error(setmetatable({ text = text, code = code }, Failure), 0) end

--- Raises a failure without a code; its text is formatted.
function M.fail(...) M.raise(string.format(...)) end

--- Returns a value; or, given nil, message, code, raises the failure.
function M.must(value, why, code)
  if value == nil then M.raise(why, code) end
  return value
end

--- Returns the text and the code of a raised failure; nil for anything else that was raised.
function M.read(raised)
  if getmetatable(raised) == Failure then return raised.text, raised.code end
end

-- Passes on the results of pcall; raises errors other than failures again.
local function returned(code, ok, ...)
  if ok then return ... end
  local text, own = M.read(...)
  if not text then error(..., 0) end
  return nil, text, own or code
end

--- Returns the results of f(...); or nil, message, code of a failure raised in it. code: of failures without a code.
function M.caught(code, f, ...) return returned(code, pcall(f, ...)) end

--- Makes methods of a class return nil, message, code for the failures that they raise. names: a list; all methods if not given.
function M.returning(class, names)
  for _, name in ipairs(names or tables.collect(pairs(class))) do
    local f = class[name]
    class[name] = function(...) return M.caught(nil, f, ...) end
  end
end

return M
