--- trial.lua - what a call of the method try needs before it runs in a copy of the service, which cannot read files.

local core = require "weir.core"
local params = require "weir.serve.params"
local policies = require "weir.policy"
local queue_policy = require "weir.sim.queue_policy"

local M = {}

local SECONDS, MOST = 10, 60 -- of a forecast, if not given and at most

-- Returns the placement policy of a call, the one in use if none is named; or nil, message, code.
local function placement_of(self, p)
  if p.source then
    local name, options = policies.parse(p.policy or "policy")
    if not name then return nil, options, "invalid" end
    return core.policy_source(p.source, "policy", { options = options })
  end
  if not p.policy then return self.policy end
  if p.policy:find("/", 1, true) or p.policy:find "%.lua" then
    return nil, "field 'policy': a policy by its name is wanted, or its source", "invalid"
  end
  return policies.load(p.policy)
end

-- Returns the queue policy of a call as sim.new takes it, and the sources that it takes; or nil, message, code.
local function queue_of(p)
  local name = p.queue or "easy"
  if p.queue_source then
    queue_policy.texts "easy" -- has the library read
    return "queue.lua" .. (name:match ":.*" or ""), { ["queue.lua"] = p.queue_source }
  end
  if name:find("/", 1, true) or name:find "%.lua" then
    return nil, "field 'queue': a queue policy by its name is wanted, or its source", "invalid"
  end
  local texts, why, code = queue_policy.texts(name)
  if not texts then return nil, why, code end
  return next(texts) .. (name:match ":.*" or ""), texts
end

--- Reads the policies of a call of try in the service, as its copy cannot read files. Returns what the copy needs.
function M.prepare(self, given)
  local ok, p = pcall(params.read, "try", given)
  if not ok then return { wrong = p } end
  local made = { p = p }
  made.policy, made.why, made.code = placement_of(self, p)
  if made.policy then made.queue, made.texts, made.code = queue_of(p) end
  if made.policy and not made.queue then made.why = made.texts end
  return made
end

--- Returns the seconds that a forecast may take, from those of a call.
function M.seconds(given) return math.max(0.1, math.min(type(given) == "number" and given or SECONDS, MOST)) end

--- Returns the milliseconds that the copy may take for a call with these parameters.
function M.ms(given) return math.ceil(2000 * M.seconds(type(given) == "table" and given.seconds)) + 10000 end

return M
