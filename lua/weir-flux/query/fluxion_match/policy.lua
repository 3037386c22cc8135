--- policy.lua - the match policies of Fluxion, by name ("lonodex") or by settings ("policy=low node_exclusive=true"),
-- mapped to policies of weir and to those in flux/policies.

local policy = require "weir.policy"
local weights = require "weir.query.fluxion_match.weights"

local M = {}

local NAMED = {
  first = "policy=high node_centric=true stop_on_1_matches=true",
  firstnodex = "policy=high node_centric=true node_exclusive=true stop_on_1_matches=true",
  high = "policy=high",
  low = "policy=low",
  lonode = "policy=low node_centric=true",
  hinode = "policy=high node_centric=true",
  lonodex = "policy=low node_centric=true node_exclusive=true",
  hinodex = "policy=high node_centric=true node_exclusive=true",
}

local SETTINGS = { policy = true, node_centric = true, node_exclusive = true, stop_on_1_matches = true }

-- Reads a word KEY=VALUE into `settings`; returns nil and an error message if the word is wrong.
local function read_setting(word, settings)
  local key, value = word:match "^([^=]*)=?([^=]*)"
  if not SETTINGS[key] then return nil, ("invalid policy option: %s\n"):format(key) end
  if key == "policy" then
    if value ~= "high" and value ~= "low" then
      return nil, "policy key within custom policy accepts only low or high\n"
    end
    settings[value] = true
  elseif value ~= "true" and value ~= "false" then
    return nil, ("Policy option %s requires true or false, got %s\n"):format(key, value)
  elseif settings[key] == nil then -- the first occurrence counts
    settings[key] = value == "true"
  end
  return true
end

local function read_settings(text)
  local settings = {}
  for word in (text .. " "):gmatch "([^ ]*) " do
    local ok, why = read_setting(word, settings)
    if not ok then return nil, why end
  end
  if not settings.high and not settings.low then return nil, "no policy=high or policy=low\n" end
  return settings
end

-- Returns the name of the policy file for some settings, except for exclusive nodes.
local function file_of(settings)
  if settings.node_centric then return settings.high and "hinode" or "lonode" end
  return settings.high and "high" or "low"
end

-- Returns a policy for stop_on_1_matches: the search follows most free units and takes the first match; if the search
-- found more than an allowed count, ids decide between the candidates.
local function stopping(settings)
  local order = settings.high and "-id" or "id"
  return policy.load {
    name = "emptiest", descend = "tags." .. weights.TAG, exclusive = settings.node_exclusive and "node" or nil,
    order = settings.node_centric and { settings.high and "-node.id" or "node.id", order } or order,
  }
end

local function load(text)
  if text == "locality" or text == "variation" then return policy.load(text) end
  local settings, why = read_settings(NAMED[text] or text)
  if not settings then return nil, why, "invalid" end
  if settings.stop_on_1_matches then return stopping(settings) end
  local name = file_of(settings)
  if settings.node_centric then
    return policy.load(settings.node_exclusive and name .. "x" or name)
  end
  -- quirk: equal ids are taken from the front of the machine, also when high ids are preferred
  return policy.load { name = name, order = settings.high and "-id" or "id", exclusive = settings.node_exclusive and "node" or nil }
end

local loaded = {}

--- Returns weir's policy, and whether nodes are exclusive; or nil, message, code.
function M.get(text)
  if not loaded[text] then
    local found, why, code = load(text)
    if not found then return nil, why, code end
    loaded[text] = found
  end
  return loaded[text], (NAMED[text] or text):find("node_exclusive=true", 1, true) ~= nil
end

--- Returns whether a policy stops at the first match. Commits under such a policy must call note() of weights.lua.
function M.stops(text)
  local settings = read_settings(NAMED[text] or text)
  return settings and settings.stop_on_1_matches or false
end

return M
