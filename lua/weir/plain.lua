--- plain.lua - allocations as plain data, for JSON: in the output of commands, of the service and of the repl.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

--- Returns whether a value is a number, and neither infinite nor "nan".
function M.is_finite(x) return type(x) == "number" and x == x and math.abs(x) < math.huge end

--- Returns the name of a vertex unless basename and id give the name.
function M.own_name(v)
  local name = v.name
  return name ~= v.basename .. (v.id or "") and name or nil
end

--- Returns a time, or null for infinity.
function M.finite(t) return t < math.huge and t or core.null end

--- Returns the vertices of an allocation: {path =, type =, unit =, amount =, exclusive =} each.
function M.vertices(a)
  return core.array(tables.map(a:vertices(), function(pick)
    local v = pick.vertex
    return { path = v.path, type = v.type, unit = v.unit ~= "" and v.unit or nil, amount = pick.amount, exclusive = pick.exclusive }
  end))
end

--- Returns the times and the state of an allocation; a matched allocation is no job.
function M.times(a)
  return { job = a.state ~= "matched" and a.id or nil, state = a.state, start = a.at, duration = M.finite(a.duration) }
end

--- Returns times and vertices of an allocation.
function M.allocation(a)
  local t = M.times(a)
  t.vertices = M.vertices(a)
  return t
end

return M
