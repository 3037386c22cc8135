--- kinds.lua - what a value is, so that it can be shown as that.

local core = require "weir.core"

local M = {}

-- The names of the metatables of handles are their types.
local function class(x)
  local mt = debug.getmetatable(x)
  local name = type(mt) == "table" and rawget(mt, "__name")
  return type(name) == "string" and name:match "^weir%.(%w+)$"
end

--- Whether it stands for something of a service (see remote.lua).
function M.is_remote(x)
  local mt = type(x) == "table" and debug.getmetatable(x)
  return mt and rawget(mt, "__kind") or nil
end

--- "vertex", "graph", "allocation", "engine", "policy", ...; otherwise what type() says.
function M.of(x)
  local t = type(x)
  if t == "table" then return M.is_remote(x) or t end
  if t ~= "userdata" then return t end
  return class(x) or t
end

--- The kind that all entries of a list have, and how many there are; nil: it is no list, or one of several kinds.
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
