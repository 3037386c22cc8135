--- expect_explain.lua - why a job does not run, as a word and as a sentence.
---
---   future      the job has not been submitted yet          blocked    its resources are down or drained
---   dependency  the job waits for further jobs              queue      the job would fit; the queue policy waits
---   busy        its resources are in use                    infeasible the machine can never hold the job any more
---   reserved    its resources are free but reserved         policy     the placement policy fails, or refuses the job

local about = require "weir.about"
local wording = require "weir.explain.text"

local M = {}

local TEXTS = {
  busy = "what it needs is in use",
  blocked = "what it needs is down, drained, or refused by the policy",
  reserved = "what it needs is free, and reserved for others",
}

local function reserved_by_others(sim, job)
  local ids = {}
  for _, other in ipairs(sim.list) do
    if other.reserved and other ~= job then ids[#ids + 1] = other.id end
  end
  return ids
end

local function explained(sim, job, release)
  return sim.engine:explain(job.request, { about = about.of(job), release = release }) or { verdict = "busy" }
end

-- Returns the reason that `weir explain` reports where nothing on the machine can hold a job; nil for other verdicts.
local function never(report) return report.verdict == "infeasible" and wording.reason(report) or nil end

-- Returns word and sentence for a job in the queue.
local function of_waiting(sim, job)
  local a, why, code = sim.engine:match(job.request, {
    mode = "preview", duration = job.estimate, stats = false, about = about.of(job),
  })
  if a then return "queue", ("it would fit now; %s keeps it waiting"):format(sim.queue_name) end
  if code ~= "busy" and code ~= "infeasible" then return "policy", why end
  local others = reserved_by_others(sim, job)
  if #others > 0 and explained(sim, job, others).verdict == "fits" then return "reserved", TEXTS.reserved end
  local report = explained(sim, job)
  return report.verdict, never(report) or TEXTS[report.verdict] or job.why or TEXTS.busy
end

--- Returns the sentence for a job that does not wait: the simulator's; for a job rejected as infeasible, the
--- one that `weir explain` reports, unless the machine has changed so that the job would fit.
function M.why(sim, job)
  if job.state ~= "rejected" or job.code ~= "infeasible" then return job.why end
  return never(explained(sim, job)) or job.why
end

--- Returns word and sentence for a waiting job; for a job in a different state, the simulator's code and M.why.
function M.of(sim, job)
  if job.state == "submitted" then return "future", ("it comes at %.14g s"):format(job.submit) end
  if job.state ~= "pending" then return job.code, M.why(sim, job) end
  if job.waits then return "dependency", job.why end
  return of_waiting(sim, job)
end

return M
