--- replay/scale.lua - the option --scale: "jobs=1.2,nodes=+100".

local machine = require "weir.machine.scale"
local suggest = require "weir.suggest"
local trace_scale = require "weir.trace.scale"

local M = {}

local FACTOR_MAX = 1000

-- Reads "1.2", "+100" or "-10". Returns a function from a count to the new count; nil for another text.
local function change_of(text)
  local sign, digits = text:match "^([+-])(%d+)$"
  local n = digits and math.tointeger(tonumber(digits))
  if n then return function(count) return sign == "+" and count + n or count - n end end
  local factor = text:find "^%d+%.?%d*$" and tonumber(text)
  if not factor or factor <= 0 or factor > FACTOR_MAX then return nil end
  return function(count) return math.floor(count * factor + 0.5) end
end

--- Reads a text such as "jobs=1.2,nodes=+100". Returns {jobs = a function or nil, types = {{name =, change =}, ...}}; or nil,
--- message. A function maps the present count to the new count.
function M.parse(text)
  local out = { types = {} }
  for item in (text .. ","):gmatch "([^,]*)," do
    local name, value = item:match "^%s*([%a_][%w_]*)%s*=%s*(%S+)%s*$"
    local change = name and change_of(value)
    if not change then
      return nil, ('"%s": expected jobs=1.2, nodes=+100 or cores=-16: a factor up to %d, or a number with + or -'):format(item, FACTOR_MAX)
    end
    if name == "jobs" then out.jobs = change else out.types[#out.types + 1] = { name = name, change = change } end
  end
  return out
end

-- Returns the type of a graph that a word names, in the singular or in the plural.
local function type_of(graph, word)
  local types = graph:types()
  for _, type in ipairs(types) do
    if type == word or type .. "s" == word or type .. "es" == word then return type end
  end
  return nil, ("the machine has no %s%s"):format(word, suggest.hint(word:gsub("s$", ""), types))
end

local function count_of(graph, type)
  local n = 0
  for _ in graph:walk { type = type } do n = n + 1 end
  return n
end

--- Changes the machine as a read text says. Returns true; or nil, message, code.
function M.machine(graph, scale)
  for _, one in ipairs(scale.types) do
    local type, why = type_of(graph, one.name)
    if not type then return nil, why, "unknown" end
    local n = count_of(graph, type)
    local ok, code
    ok, why, code = machine.change(graph, type, one.change(n) - n)
    if not ok then return nil, why, code end
  end
  return true
end

--- Changes the jobs of a trace as a read text says. Returns the trace; or nil, message, code.
function M.trace(trace, scale, seed)
  if not scale.jobs then return trace end
  return trace_scale.trace(trace, scale.jobs, seed)
end

return M
