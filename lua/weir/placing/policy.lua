--- policy.lua - Fluxion's names of policies, and its "policy=high node_exclusive=true ..." form, as policies of weir.

local M = {}

local cache = {}

--- The policy of a string; or nil, message, "invalid".
function M.get(text)
  text = text or "first"
  if not cache[text] then
    local path = require "weir.policy".find(text)
    if not path then return nil, "unknown policy " .. text, "invalid" end
    local f = assert(loadfile(path))
    cache[text] = f()
  end
  return cache[text]
end

return M
