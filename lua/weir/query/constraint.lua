--- constraint.lua - RFC 31 constraints on vertices, as functions.

local core = require "weir.core"
local idset = require "weir.query.idset"
local values = require "weir.query.values"

local M = {}

local function fail(text, ...) error({ constraint = text:format(...) }, 0) end

local compile

local BUILD = {}

function BUILD.properties(list)
  local wanted = {}
  for i, value in ipairs(list) do
    if type(value) ~= "string" then fail "non-string property specified" end
    local negated = value:sub(1, 1) == "^"
    local name = negated and value:sub(2) or value
    if name:find "[!&'\"^`|()]" then fail("%s is invalid", value) end
    wanted[i] = { name = name, there = not negated }
  end
  return function(v)
    for _, w in ipairs(wanted) do
      if (v.properties[w.name] ~= nil) ~= w.there then return false end
    end
    return true
  end
end

function BUILD.hostlist(list)
  local names = core.hostlist ""
  for _, value in ipairs(list) do
    local hosts = core.hostlist(tostring(value))
    if not hosts then fail("Invalid hostlist `%s'", value) end
    names:append(hosts)
  end
  return function(v) return names:has(v.name) end
end

function BUILD.ranks(list)
  local ranks = {}
  for _, value in ipairs(list) do
    local ids = idset.decode(tostring(value))
    if not ids then fail("Invalid idset `%s'", value) end
    for _, id in ipairs(ids) do ranks[id] = true end
  end
  return function(v) return ranks[v.rank] == true end
end

local function compile_all(operands)
  local list = {}
  for i, value in ipairs(operands) do list[i] = compile(value) end
  return list
end

local function all(list, v)
  for _, match in ipairs(list) do
    if not match(v) then return false end
  end
  return true
end

BUILD["and"] = function(operands)
  local list = compile_all(operands)
  return function(v) return all(list, v) end
end

BUILD["not"] = function(operands)
  local list = compile_all(operands)
  return function(v) return not all(list, v) end
end

BUILD["or"] = function(operands)
  local list = compile_all(operands)
  return function(v)
    for _, match in ipairs(list) do
      if match(v) then return true end
    end
    return false
  end
end

function compile(value)
  if not values.is_map(value) then fail "constraint is not a mapping" end
  local operator, operands = next(value)
  if operator == nil then return function() return true end end
  if next(value, operator) ~= nil then fail "constraint map may not contain > 1 operation" end
  if not values.is_array(operands) then fail("%s operator value must be an array", operator) end
  if not BUILD[operator] then fail("unknown constraint operator: %s", operator) end
  return BUILD[operator](operands)
end

--- A function of a vertex; or nil and what is wrong.
function M.compile(value)
  local ok, match = pcall(compile, value)
  if ok then return match end
  if type(match) ~= "table" or not match.constraint then error(match, 0) end
  return nil, match.constraint
end

return M
