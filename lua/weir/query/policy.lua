--- policy.lua - the policies of resource-query as its traverser wants them: what a vertex scores, and which candidates
-- are the best. The policies of the same names in policies/ say the same to weir's own matcher.
--
-- A policy: stop (the first match ends the search), exclusive (a type, or nil), and four methods:
--   discover(v)                 a visit begins; false: no candidate
--   finish(v, resources, found) a visit ends: chooses among what was found below, sets found.score; false: too little
--   finish_slot(found)          orders the candidates that slots are made of
--   finish_graph(resources, found)

local counts = require "weir.query.counts"
local errno = require "weir.query.errno"

local M = {}

local MET, UNMET = 1, 0

local function greater(a, b) return a.score > b.score end
local function less(a, b) return a.score < b.score end

-- Chooses for each resource as many as it may have; false when there are too few of one.
local function choose_all(subsystem, resources, found, before)
  for _, r in ipairs(resources) do
    local count = counts.allowed(r, found:count(subsystem, r.type))
    if count == 0 then return false end
    found:choose(subsystem, r.type, count, before)
  end
  return true
end

-- The same for what is asked for inside of a vertex.
local function choose_inside(subsystem, v, resources, found, before)
  local met = true
  for _, r in ipairs(resources) do
    if r.type == v.type and not choose_all(subsystem, r.with, found, before) then met = false end
  end
  return met
end

local function order_slot(subsystem, types, found, before)
  for _, kind in ipairs(types:sorted(found:kinds(subsystem))) do
    found:choose(subsystem, kind, found:count(subsystem, kind), before)
  end
end

local function busy()
  errno.code = "EBUSY"
  return false
end

-- ---- by id --------------------------------------------------------------------------------------------------

local ById = {}
ById.__index = ById

-- With node_centric, what is below a node scores by the node first, and by its own id within it.
local FACTOR = 10000

local function node_factor(v)
  local base = v.id + 1
  if v.id < -1 then return nil end
  if base < 0 or v.uniq_id < 0 then
    errno.code = "EINVAL"
    return nil
  end
  if base + 1 > math.maxinteger // FACTOR then
    errno.code = "EOVERFLOW"
    return nil
  end
  return (base + 1) * FACTOR + math.abs(v.uniq_id % FACTOR - 1)
end

function ById:discover(v)
  if self.node_centric and v.type == "node" then
    local factor = node_factor(v)
    if not factor then return false end
    self.factor = factor
    self.sum = self.sum + factor
  end
  return true
end

function ById:finish(v, resources, found)
  local met = choose_inside(self.dominant, v, resources, found, self.before)
  if self.node_centric and v.type == "node" then self.sum = self.sum - self.factor end
  found.score = met and MET + self.sum + v.id + 1 or UNMET
  return met or busy()
end

function ById:finish_slot(found) order_slot(self.dominant, self.types, found, self.before) end

function ById:finish_graph(resources, found)
  local met = choose_all(self.dominant, resources, found, self.before)
  found.score = met and MET or UNMET
  self.sum = 0
  return met
end

-- ---- locality -----------------------------------------------------------------------------------------------

local Locality = {}
Locality.__index = Locality

function Locality:discover() return self ~= nil end

function Locality:finish(v, resources, found)
  local met = choose_inside(self.dominant, v, resources, found, greater)
  found.score = met and MET + v.id + 1 or UNMET
  return met or busy()
end

function Locality:finish_slot(found) order_slot(self.dominant, self.types, found, greater) end

-- Scores that follow each other are a run; the run that lies highest comes first. A quirk: the runs are those of the
-- types so far together.
local function by_run(seen)
  local scores, low = {}, {}
  for score in pairs(seen) do scores[#scores + 1] = score end
  table.sort(scores)
  for _, score in ipairs(scores) do low[score] = low[score - 1] or score end
  return function(a, b) return low[a.score] > low[b.score] end
end

function Locality:finish_graph(resources, found)
  local seen, subsystem = {}, self.dominant
  for _, r in ipairs(resources) do
    local count = counts.allowed(r, found:count(subsystem, r.type))
    if count == 0 then
      found.score = UNMET
      return busy()
    end
    for _, candidate in ipairs(found:kinds(subsystem)[r.type].list) do seen[candidate.score] = true end
    found:choose(subsystem, r.type, count, by_run(seen))
  end
  found.score = MET
  return true
end

-- ---- variation ----------------------------------------------------------------------------------------------

local Variation = {}
Variation.__index = Variation

local WORST = 9999

-- The property perf_class, 0 the fastest.
local function class_of(v)
  local text = tostring(v.properties.perf_class or ""):match "^%s*([+-]?%d+)"
  local class = text and math.tointeger(tonumber(text))
  return class and class >= 0 and class <= WORST and class or WORST
end

Variation.discover = Locality.discover

function Variation:finish(v, resources, found)
  local met = choose_inside(self.dominant, v, resources, found, less)
  found.score = met and MET + class_of(v) or UNMET
  return met or busy()
end

Variation.finish_slot = Locality.finish_slot

function Variation:finish_graph(resources, found)
  local met = choose_all(self.dominant, resources, found, less)
  found.score = met and MET or UNMET
  return met or busy()
end

-- ---- by name ------------------------------------------------------------------------------------------------

local NAMED = {
  first = "policy=high node_centric=true stop_on_1_matches=true",
  firstnodex = "policy=high node_centric=true node_exclusive=true stop_on_1_matches=true",
  high = "policy=high", low = "policy=low",
  lonode = "policy=low node_centric=true", hinode = "policy=high node_centric=true",
  lonodex = "policy=low node_centric=true node_exclusive=true",
  hinodex = "policy=high node_centric=true node_exclusive=true",
}

local SETTINGS = { policy = true, node_centric = true, node_exclusive = true, stop_on_1_matches = true }

local function read_setting(word, settings)
  local key, value = word:match "^([^=]*)=?([^=]*)"
  if not SETTINGS[key] then return nil, ("invalid policy option: %s\n"):format(key) end
  if key == "policy" then
    if value ~= "high" and value ~= "low" then
      return nil, "policy key within custom policy accepts only low or high\n"
    end
    settings[value] = true
  elseif value == "true" or value == "false" then
    if settings[key] == nil then settings[key] = value == "true" end
  else
    return nil, ("Policy option %s requires true or false, got %s\n"):format(key, value)
  end
  return true
end

-- "policy=high node_centric=true ..." up to the first setting that makes no sense.
local function read_settings(text)
  local settings = {}
  for word in (text .. " "):gmatch "([^ ]*) " do
    local ok, why = read_setting(word, settings)
    if not ok then return settings, why end
  end
  return settings
end

local function attach(policy, matcher)
  policy.dominant, policy.types = matcher.dominant, matcher.types
  return policy
end

--- A policy by its name or its settings; nil, and what is wrong.
function M.new(name, matcher)
  if name == "locality" then return attach(setmetatable({}, Locality), matcher) end
  if name == "variation" then return attach(setmetatable({}, Variation), matcher) end
  local settings, why = read_settings(NAMED[name] or name)
  if not settings.high and not settings.low then return nil, why or "no policy=high or policy=low\n" end
  return attach(setmetatable({
    before = settings.high and greater or less, sum = 0,
    node_centric = settings.node_centric or false, stop = settings.stop_on_1_matches or false,
    exclusive = settings.node_exclusive and "node" or nil,
  }, ById), matcher)
end

return M
