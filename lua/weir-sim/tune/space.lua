--- space.lua - the settings that tuning tries: the options of a placement policy and of a queue policy, as points of a cube.
---
--- A point is a list of numbers from 0 up to 1, one for each option that varies. A number is spread evenly over the range of
--- an option; over its logarithm where the range spans a hundredfold; and over sign(x) * log(1 + |x|) where it reaches from 0
--- or from below 0 beyond 100. Numbers are rounded to three significant digits, so that what comes out can be pasted.

local core = require "weir.core"
local policy = require "weir.policy"
local queue_policy = require "weir.sim.queue_policy"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}
M.__index = M

local WIDE = 100

-- ---- options ------------------------------------------------------------------------------------------------

-- Returns how the range of numbers is spread: even, log or sign.
local function spread(min, max)
  if min > 0 then return max / min >= WIDE and "log" or "even" end
  return math.max(-min, max) >= WIDE and "sign" or "even"
end

-- Returns an option that can vary; nil for one without a range.
local function varied(where, name, about)
  local one = { where = where, name = name, type = about.type, default = about.default, doc = about.doc }
  if about.type == "boolean" then
    one.choices = { false, true }
  elseif about.choices then
    one.choices = about.choices
  elseif (about.type == "integer" or about.type == "number") and about.min and about.max and about.max > about.min then
    one.min, one.max, one.spread = about.min, about.max, spread(about.min, about.max)
  else
    return nil
  end
  return one
end

-- Appends the options of a policy to the space. Values that the user gives with the policy stay as given.
local function add_options(self, where, options, given)
  for _, name in ipairs(tables.keys(options)) do
    local one = given[name] == nil and varied(where, name, options[name]) or nil
    if one then
      self[#self + 1] = one
    elseif given[name] == nil then
      self.fixed[#self.fixed + 1] = name
    end
  end
end

-- Narrows the range of an option to "NAME=MIN..MAX". Returns true; or nil, message.
local function narrow(self, text)
  local name, min, max = text:match "^([%w_.]+)=(.-)%.%.(.+)$"
  min, max = tonumber(min), tonumber(max)
  if not (min and max and min < max) then return nil, ('--vary: expected NAME=MIN..MAX, not "%s"'):format(text) end
  for _, one in ipairs(self) do
    if one.name == name or one.where .. "." .. one.name == name then
      if not one.min then return nil, ("--vary: %s is no number"):format(name) end
      if min < one.min or max > one.max then
        return nil, ("--vary %s: the policy takes %s from %g to %g"):format(text, name, one.min, one.max)
      end
      one.min, one.max, one.spread = min, max, spread(min, max)
      return true
    end
  end
  return nil, ("--vary: no option %s has a range%s"):format(name, suggest.hint(name, tables.column(self, "name")))
end

-- Opens a policy with its options. Returns name, options given and options declared; or nil, message.
local function open_placement(text)
  local loaded, why = policy.load(text)
  if not loaded then return nil, why end
  local name, given = policy.parse(text)
  return name, given, loaded.options
end

local function open_queue(text)
  local sandbox, why = queue_policy.open(text, function() end)
  if not sandbox then return nil, why end
  local declared = queue_policy.options(sandbox)
  sandbox:close()
  local name, given = policy.parse(text)
  return name, given, declared
end

--- Makes the space of a placement policy and a queue policy, given as for a replay, such as "weighted:cool=0". vary: texts
--- NAME=MIN..MAX that narrow ranges. Returns a list of options {where = "policy" or "queue", name, type, min, max or
--- choices, default}, with fixed, the names of options without a range; or nil, message.
function M.new(placement, queue, vary)
  local self = setmetatable({ fixed = {}, policies = {} }, M)
  for _, row in ipairs { { "policy", placement, open_placement }, { "queue", queue, open_queue } } do
    local where, text, open = table.unpack(row)
    local name, given, declared = open(text)
    if not name then return nil, given end
    self.policies[where] = { name = name, given = given }
    add_options(self, where, declared, given)
  end
  for _, text in ipairs(vary or {}) do
    local ok, why = narrow(self, text)
    if not ok then return nil, why end
  end
  if #self == 0 then
    return nil, ("neither %s nor %s has an option with a range (min and max, or choices), as -q priority and -p weighted have; "
      .. "see weir policy list -v"):format(placement, queue)
  end
  return self
end

-- ---- points -------------------------------------------------------------------------------------------------

local function signed_log(x) return x < 0 and -math.log(1 - x) or math.log(1 + x) end
local function signed_exp(y) return y < 0 and 1 - math.exp(-y) or math.exp(y) - 1 end

local SPREADS = {
  even = { function(x) return x end, function(y) return y end },
  log = { math.log, math.exp },
  sign = { signed_log, signed_exp },
}

-- Three significant digits, and a whole number where the option is one.
local function rounded(one, x)
  x = tonumber(("%.3g"):format(x))
  if one.type == "integer" then x = math.floor(x + 0.5) end
  x = math.max(one.min, math.min(one.max, x))
  return one.type == "integer" and math.tointeger(x) or x + 0.0
end

-- The value of an option at a coordinate.
local function value_at(one, u)
  if one.choices then return one.choices[math.min(#one.choices, math.floor(u * #one.choices) + 1)] end
  local there, back = table.unpack(SPREADS[one.spread])
  local a, b = there(one.min), there(one.max)
  return rounded(one, back(a + u * (b - a)))
end

-- The coordinate of a value.
local function coordinate(one, value)
  for i, choice in ipairs(one.choices or {}) do
    if choice == value then return (i - 0.5) / #one.choices end
  end
  if one.choices or type(value) ~= "number" then return 0.5 end
  local there = SPREADS[one.spread][1]
  local a, b = there(one.min), there(one.max)
  return math.max(0, math.min(1, (there(value) - a) / (b - a)))
end

--- Returns the values at a point, in the order of the options.
function M:values(point)
  return tables.map(self, function(one, i) return value_at(one, point[i]) end)
end

--- Returns the point of the defaults.
function M:defaults()
  return tables.map(self, function(one) return coordinate(one, one.default) end)
end

local function text_of(value)
  return math.type(value) == "float" and ("%.10g"):format(value) or tostring(value)
end

-- The policy with values as -p and -q take it; options at their defaults are left out.
local function line_of(self, where, values)
  local known, words = self.policies[where], {}
  for _, name in ipairs(tables.keys(known.given)) do words[#words + 1] = name .. "=" .. known.given[name] end
  for i, one in ipairs(self) do
    if one.where == where and values[i] ~= one.default then words[#words + 1] = one.name .. "=" .. text_of(values[i]) end
  end
  return #words > 0 and known.name .. ":" .. table.concat(words, ",") or known.name
end

--- Returns the placement policy and the queue policy of values, as weir replay -p and -q take them.
function M:policies_of(values) return line_of(self, "policy", values), line_of(self, "queue", values) end

--- Returns the policies as they are now: with the given values and the defaults.
function M:present() return tables.column(self, "default") end

--- Returns a text that is equal for equal values.
function M.key(values)
  local words = {}
  for i, value in ipairs(values) do words[i] = text_of(value) end
  return table.concat(words, " ")
end

--- Returns the options for programs: a list of {where, name, min, max, choices, default, doc}.
function M:described()
  return core.array(tables.map(self, function(one)
    return { where = one.where, name = one.name, min = one.min, max = one.max, choices = one.choices and core.array(one.choices),
      default = one.default, doc = one.doc }
  end))
end

--- Returns the policies of a setting as options of weir replay.
function M.paste(setting)
  local function word(text) return text:find "[^%w_.:=,/+@-]" and "'" .. text:gsub("'", [['\'']]) .. "'" or text end
  return ("-p %s -q %s"):format(word(setting.policy), word(setting.queue))
end

return M
