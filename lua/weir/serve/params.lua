--- params.lua - what a method takes: fields of its params, checked. Wrong ones end the call with a message that names them.

local core = require "weir.core"

local M = {}

--- Ends the call.
function M.fail(code, ...) error({ misuse = string.format(...), code = code }, 0) end

--- Passes results on, or ends the call with the message and code of `nil, message, code`.
function M.check(value, why, code, ...)
  if value == nil then error({ misuse = why or "failed without saying why", code = code or "invalid" }, 0) end
  return value, why, code, ...
end

local function absent(value) return value == nil or value == core.null end

local KINDS = {
  text = function(x) return type(x) == "string" end,
  number = function(x) return type(x) == "number" and x == x end,
  count = function(x) return math.type(x) == "integer" and x >= 0 end,
  flag = function(x) return type(x) == "boolean" end,
  table = function(x) return type(x) == "table" end,
  id = function(x) return math.type(x) == "integer" and x > 0 end,
}
local WORDS = {
  text = "a text", number = "a number", count = "a whole number from 0 on", flag = "true or false", table = "an object or a list",
  id = "the id of a job",
}

--- A field that may be left out.
function M.maybe(params, name, kind)
  local value = params[name]
  if absent(value) then return nil end
  if not KINDS[kind](value) then M.fail("invalid", "%s: %s is wanted", name, WORDS[kind]) end
  return value
end

--- A field that is needed.
function M.need(params, name, kind)
  local value = M.maybe(params, name, kind)
  if value == nil then M.fail("invalid", "%s is missing: %s", name, WORDS[kind]) end
  return value
end

--- One of some words; the first of them where it is left out.
function M.choice(params, name, words)
  local value = M.maybe(params, name, "text") or words[1]
  for _, word in ipairs(words) do
    if word == value then return value end
  end
  M.fail("invalid", '%s: one of %s is wanted, not "%s"', name, table.concat(words, ", "), value:sub(1, 64))
end

-- {[names] = {name = true}}: methods say theirs in one text.
local sets = setmetatable({}, {
  __index = function(all, names)
    local known = {}
    for name in names:gmatch "%S+" do known[name] = true end
    all[names] = known
    return known
  end,
})

--- Names that a method does not know are mistakes.
function M.only(params, names)
  local known = sets[names]
  for name in pairs(params) do
    if not known[name] then M.fail("invalid", 'there is no parameter "%s" here; there is %s', tostring(name):sub(1, 64), names) end
  end
end

return M
