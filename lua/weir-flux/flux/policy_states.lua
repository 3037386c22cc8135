--- policy_states.lua - the states of policies outlive the module: after a pass that has changed one they are given to the module,
-- which puts them into the key-value store of the instance, and the next scheduler begins with them. Nothing is done where no policy
-- has a state. What was changed in the last DELAY seconds is saved when the module ends; only an instance that dies loses it.
--
-- The states are in the data of a root of the graph, see sim/queue_policy.lua and bindings/weir/policy/policy_state.c.

local core = require "weir.core"
local queue_policy = require "weir.sim.queue_policy"

local M = {}

local DELAY = 2 -- seconds from a change to the saving, at least
local PREFIX = "weir.policy."

local function is_state(key) return type(key) == "string" and key:sub(1, #PREFIX) == PREFIX end

--- Returns the states of all policies of a machine as JSON text; nil where there are none.
function M.text(graph)
  local root, states = queue_policy.root_of(graph), {}
  for key, value in pairs(root and root.data or {}) do
    if is_state(key) then states[key] = value end
  end
  return next(states) and core.json_encode(states, { sort = true }) or nil
end

--- Gives a machine the states of a text of M.text. What is no such text is left out. Returns the number of states.
function M.restore(graph, text)
  local states, root, n = core.json_decode(text or ""), queue_policy.root_of(graph), 0
  for key, value in pairs(root and type(states) == "table" and states or {}) do
    if is_state(key) and type(value) == "table" then root.data[key], n = value, n + 1 end
  end
  return n
end

--- Notes that a pass has ended, which may have changed a state.
function M.changed(self) self.unsaved = self.unsaved or self.answer.keep and self.ticks() + DELAY end

--- Saves the states of a scheduler by answer.keep(text), where a pass has changed one some time ago.
function M.keep(self)
  if not self.unsaved or self.ticks() < self.unsaved then return end
  self.unsaved = nil
  local text = M.text(self.graph)
  if not text or text == self.kept then return end
  self.kept = text
  self.answer.keep(text)
end

-- Returns whether a policy has a state.
local function has_any(graph)
  local root = queue_policy.root_of(graph)
  for key in pairs(root and root.data or {}) do
    if is_state(key) then return true end
  end
  return false
end

--- Returns the seconds until the states are to be saved; nil: no pass has ended since, or no policy has a state.
function M.wait(self) return self.unsaved and has_any(self.graph) and math.max(self.unsaved - self.ticks(), 0.001) or nil end

return M
