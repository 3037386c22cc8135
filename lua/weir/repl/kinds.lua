--- kinds.lua - the kinds of values, by which the REPL selects the form of output.

local core = require "weir.core"

local M = {}

-- The names of metatables of handles are the types of the handles.
local function class(x)
  local mt = debug.getmetatable(x)
  local name = type(mt) == "table" and rawget(mt, "__name")
  return type(name) == "string" and name:match "^weir%.(%w+)$"
end

--- Returns whether a value is a proxy of an object of a service (see remote.lua).
function M.is_remote(x)
  local mt = type(x) == "table" and debug.getmetatable(x)
  return mt and rawget(mt, "__kind") or nil
end

--- Returns the kind of a value: "vertex", "graph", "allocation", "engine", "policy", ... for handles, else type(x).
function M.of(x)
  local t = type(x)
  if t == "table" then return M.is_remote(x) or t end
  if t ~= "userdata" then return t end
  return class(x) or t
end

--- Returns the common kind of all entries of a list, and the number of entries; nil if the value is not a list or the
--- kinds differ.
function M.of_list(t)
  local n = #t
  if n == 0 or next(t, n) ~= nil then return nil end
  local kind = M.of(t[1])
  for i = 2, n do
    if M.of(t[i]) ~= kind then return nil end
  end
  return kind, n
end

M.null = core.null

return M
