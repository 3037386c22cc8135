--- gcstress.lua - a helper for busted: from now on Lua collects all garbage at each allocation made while a function
-- of the compiled module runs, callbacks included. An object without a reference is gone at the next use. Run by
-- `make gcstress`, under sanitizers.
require "weir"

local PAUSE, STEPS, WHOLE = 1, 1000, 100 -- no pause between cycles; each step is a full cycle
local depth = 0

local leave = setmetatable({}, { __close = function()
  depth = depth - 1
  if depth == 0 then collectgarbage("incremental", 200, 100, 13) end
end })

local function enter()
  depth = depth + 1
  if depth > 1 then return end
  collectgarbage("incremental", PAUSE, STEPS, WHOLE)
  collectgarbage "step"
end

local wrapped = {}

local function wrap(f)
  if wrapped[f] then return wrapped[f] end
  local function stressed(...)
    enter()
    local _ <close> = leave
    return f(...)
  end
  wrapped[f], wrapped[stressed] = stressed, stressed
  return stressed
end

local function wrap_all(list)
  for name, f in pairs(list) do
    if type(f) == "function" and name ~= "__gc" and debug.getinfo(f, "S").what == "C" then list[name] = wrap(f) end
  end
end

local registry = debug.getregistry()
for name, metatable in pairs(registry) do
  if type(name) == "string" and type(metatable) == "table" and metatable.__name == name and name:find "^weir%." then
    local index = metatable.__index
    if type(index) == "function" then
      local _, members = debug.getupvalue(index, 2)
      if type(members) == "table" then wrap_all(members) end
    elseif type(index) == "table" then
      wrap_all(index)
    end
    wrap_all(metatable)
  end
end
wrap_all(require "weir.core")
