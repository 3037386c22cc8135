--- forecast.lua - methods about other policies: try, how the jobs would go on under other policies; shadow, how the jobs would
--- have gone so far.

local core = require "weir.core"
local forecast = require "weir.forecast"
local params = require "weir.serve.params"
local shadow = require "weir.serve.shadow"
local forecast_input = require "weir.serve.forecast_input"
local weir = require "weir"

local M = {}

params.takes("try", "", { policy = "name", source = "source", queue = "name", queue_source = "source", seconds = "seconds" })
params.takes("shadow.start", "policy", { policy = "name", source = "source", queue = "name", queue_source = "source" })
params.takes("shadow.status", "", {})
params.takes("shadow.stop", "policy", {})

-- The figures of all jobs: how many start now, earlier and later, and the mean of the waits from now on.
local function summary_of(jobs, now)
  local s = { waiting = #jobs, now = 0, earlier = 0, later = 0, same = 0, unknown = 0 }
  local was, would, known = 0, 0, 0
  for _, job in ipairs(jobs) do
    if job.start == now then s.now = s.now + 1 end
    if not job.start then
      s.unknown = s.unknown + 1
    else
      local word = job.start < job.promised_start and "earlier" or job.start > job.promised_start and "later" or "same"
      s[word] = s[word] + 1
      was, would, known = was + job.promised_start - now, would + job.start - now, known + 1
    end
  end
  s.wait_in_force, s.wait_tried = known > 0 and was / known or core.null, known > 0 and would / known or core.null
  return s
end

--- {"id":8,"method":"try","params":{"queue":"easy"}}: what the jobs that wait would do under another queue policy ("queue",
--- or "queue_source") and placement policy ("policy" or "source"; the one in use if not given; a name next to a source gives
--- its options), in a copy, so that nothing changes: "jobs", each with "start" under the policies tried, "in_force", the
--- start that it has, and "why" it does not start now. After "seconds" (10, at most 60) it ends, and "incomplete" says so
function M.try(self, call, p)
  local made = call.prepared or forecast_input.prepare(self, call.params)
  if made.wrong then error(made.wrong, 0) end
  if made.why then params.fail(made.code or "invalid", "%s", made.why) end
  local now, running, waiting, promised = self.engine:now(), forecast_input.jobs_of(self)
  local graph = call.prepared and self.graph or self.graph:dup() -- a copy of the service may change its graph
  local engine = call.prepared and self.engine or assert(weir.engine { resources = graph })
  for _, spec in ipairs(waiting) do assert(engine:release(spec.id)) end
  local report = params.check(forecast.run { graph = graph, now = now, running = running, waiting = waiting, policy = made.policy,
    granularity = self.opts.granularity, queue = made.queue, texts = made.texts, seconds = forecast_input.seconds(p.seconds) })
  local jobs = core.array {}
  for i, job in ipairs(report.jobs) do
    jobs[i] = { job = job.job, start = job.start, in_force = promised[job.job], promised = job.promised, why = job.why,
      refused = job.refused, derived = waiting[i].derived }
    job.promised_start = promised[job.job]
  end
  call.answer { now = now, policy = made.policy.name, queue = p.queue or p.queue_source and "source" or "easy", running = #running,
    jobs = jobs, summary = summary_of(report.jobs, now), incomplete = report.incomplete }
end

--- {"id":9,"method":"shadow.start","params":{"queue":"easy"}}: a shadow of the service under other policies, named as for try:
--- a process of its own, of low priority, that plays the jobs that come from now on. A second one takes the place of the first
M["shadow.start"] = function(self, call, p)
  local made = forecast_input.prepare(self, call.params)
  if made.wrong then error(made.wrong, 0) end
  if made.why then params.fail(made.code or "invalid", "%s", made.why) end
  if self.shadow then self.shadow:stop() end
  self:keeps()
  self.shadow = params.check(shadow.start(self, made,
    { policy = made.policy.name, queue = p.queue or p.queue_source and "source" or "easy" }))
  call.answer(self.shadow:about())
end

--- {"id":10,"method":"shadow.status"}: what the shadow has found: waits, utilisation and promises of both sides, how far it is
M["shadow.status"] = function(self, call)
  local before = self.shadow_before
  if not self.shadow and before then
    return call.answer { running = false, ended = "the service was started again", policy = before.policy, queue = before.queue,
      in_force = self.policy.name }
  end
  if not self.shadow then return call.answer { running = false } end
  self.shadow:ask(call)
end

--- {"id":11,"method":"shadow.stop"}: ends the shadow
M["shadow.stop"] = function(self, call)
  local was = self.shadow ~= nil or self.shadow_before ~= nil
  self.shadow_before = nil
  self:keeps()
  if self.shadow then self.shadow:stop() end
  self.shadow = nil
  call.answer { stopped = was }
end

return M
