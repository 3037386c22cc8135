--- forecast_input.lua - shared by the methods about other policies: the policies of a call, read before the call runs in a copy of
--- the service, as copies cannot read files; the jobs of the service.

local forecast = require "weir.forecast"
local params = require "weir.serve.params"
local policies = require "weir.policy"
local queue_policy = require "weir.sim.queue_policy"
local tables = require "weir.tables"

local M = {}

local SECONDS, MOST = 10, 60 -- of a forecast, if not given and at most

-- Returns the placement policy of a call, by default the policy in use; or nil, message, code.
local function placement_of(self, p)
  if p.source then
    local name, options = policies.parse(p.policy or "policy")
    if not name then return nil, options, "invalid" end
    return policies.of_text(p.source, { options = options }, self.policy)
  end
  if not p.policy then return self.policy end
  if p.policy:find("/", 1, true) or p.policy:find "%.lua" then
    return nil, "field 'policy': expected the name of a policy, or its source", "invalid"
  end
  return policies.load(p.policy)
end

-- Returns the queue policy of a call as for sim.new, and the sources of the policy; or nil, message, code.
local function queue_of(p)
  local name = p.queue or "easy"
  if p.queue_source then
    queue_policy.texts "easy" -- has the library read
    return "queue.lua" .. (name:match ":.*" or ""), { ["queue.lua"] = p.queue_source }
  end
  if name:find("/", 1, true) or name:find "%.lua" then
    return nil, "field 'queue': expected the name of a queue policy, or its source", "invalid"
  end
  local texts, why, code = queue_policy.texts(name)
  if not texts then return nil, why, code end
  return next(texts) .. (name:match ":.*" or ""), texts
end

--- Reads the policies of a call of try in the service, as a copy cannot read files. Returns a table for the copy.
function M.prepare(self, given)
  local ok, p = pcall(params.read, "try", given) -- shadow.start has the same parameters
  if not ok then return { wrong = p } end
  local made = { p = p }
  made.policy, made.why, made.code = placement_of(self, p)
  if made.policy then made.queue, made.texts, made.code = queue_of(p) end
  if made.policy and not made.queue then made.why = made.texts end
  return made
end

--- Returns the jobs of the service in the form of weir.forecast: the running jobs, and the waiting jobs in the order of
-- submission; and the starts promised by the service, by job.
function M.jobs_of(self)
  local running, waiting, promised = {}, {}, {}
  for _, a in ipairs(self.engine:jobs()) do
    local known = self.requests[a.id] or { request = assert(forecast.request_of(a)), derived = true }
    local spec = tables.update({ id = a.id, request = known.request, submit = known.submit, derived = known.derived }, known.about)
    if a.state == "reserved" then
      spec.estimate = a.duration < math.huge and a.duration or 9e11
      waiting[#waiting + 1], promised[a.id] = spec, a.at
    else
      spec.start, spec.due = a.at, a.end_
      running[#running + 1] = spec
    end
  end
  return running, tables.sort(waiting, "id"), promised
end

--- Returns the seconds for a forecast, from the parameters of a call.
function M.seconds(given) return math.max(0.1, math.min(type(given) == "number" and given or SECONDS, MOST)) end

--- Returns the milliseconds for a copy that runs a call with the parameters.
function M.ms(given) return math.ceil(2000 * M.seconds(type(given) == "table" and given.seconds)) + 10000 end

return M
