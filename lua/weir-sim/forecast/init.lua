--- forecast - what the jobs of a machine would do from now on under other policies: which would start now, which when.
---
---   local result = forecast.run { graph = g, now = 0, queue = "easy", running = {...}, waiting = {...} }
---   print(result.jobs[1].job, result.jobs[1].start)
---
--- Running jobs keep what they have until their expected ends; waiting jobs last as long as they ask for; no further job
--- comes.

local core = require "weir.core"
local sim = require "weir.sim"
local tables = require "weir.tables"

local M = {}

-- ---- requests of jobs -----------------------------------------------------------------------------------------------

-- Returns the units of each type on the ranks of an entry of R_lite, as the text of a shape.
local function units_text(children)
  local words = {}
  for type, ids in pairs(children or {}) do
    local set = core.idset(ids)
    if set then words[#words + 1] = ("%s=%d"):format(type, set:count()) end
  end
  table.sort(words)
  return table.concat(words, ";")
end

--- Returns a request for as much as a job has, for a job whose request is not known: a slot for each of its ranks, as large
--- as the largest. Ranks, cores and gpus are counted, nothing else.
function M.request_of(allocation)
  local set = allocation:rset { scheduling = false }
  local ranks, largest = 0, ""
  for _, entry in ipairs(set and set:table "rlite" or {}) do
    local text = units_text(entry.children)
    ranks = ranks + core.idset(tostring(entry.rank)):count()
    if #text > #largest or #text == #largest and text > largest then largest = text end
  end
  if ranks == 0 then return core.request "slot=1/core" end
  return core.request(largest == "" and ("slot=%d/node"):format(ranks) or ("node=%d/slot=1/[%s]"):format(ranks, largest))
end

-- ---- the simulation -------------------------------------------------------------------------------------------------

-- Takes over the running jobs. An overdue job is expected to go on for as long as the job has run, at least a minute.
local function adopt_all(simulator, running, now)
  for _, spec in ipairs(tables.sort(running, "id")) do
    if spec.due <= now then
      spec.due = now + math.max(60, now - spec.start)
      assert(simulator.engine:attach(assert(simulator.engine:detach(spec.id)), spec.due))
    end
    assert(simulator:adopt(spec))
  end
end

local PASSED = { "user", "bank", "project", "queue", "qos", "urgency", "priority", "preemptible", "name" }

-- Submits the waiting jobs, in order. Returns the list of the simulator's jobs.
local function submit_all(simulator, waiting, now)
  local list = {}
  for i, spec in ipairs(waiting) do
    local own = { request = spec.request, estimate = spec.estimate, runtime = spec.estimate, at = now, number = spec.id }
    for _, name in ipairs(PASSED) do own[name] = spec[name] end
    local job, why, code = simulator:submit(own)
    if job then job.submit = spec.submit or now end
    list[i] = job or { state = "rejected", why = why, code = code }
  end
  return list
end

-- Plays on until all waiting jobs have started, at most until `stop` of the wall clock. Returns nil when all of them have
-- started or none can; else the reason why not.
local function play(simulator, jobs, stop, seconds)
  simulator:settle()
  for _, job in ipairs(jobs) do job.first_why, job.first_code = job.why, job.code end
  while simulator.npending > 0 do
    if core.clock() > stop then return ("after %g seconds it was at %.14g: later starts are not known"):format(seconds, simulator.now) end
    if not simulator:step() then return nil end
  end
end

-- Why a job did not start at once. first: the first job that waits.
local function why_later(job, first)
  if job.first_why then return job.first_why end
  if job.state == "rejected" then return job.why end
  return first and first ~= job and ("it waits behind job %s"):format(first.number) or "the queue policy did not start it"
end

-- Returns the forecast of each waiting job.
local function told_of(waiting, jobs, now)
  local list, first = {}, nil
  for _, job in ipairs(jobs) do
    if not first and job.start ~= now and job.state ~= "rejected" then first = job end
  end
  for i, job in ipairs(jobs) do
    local start = job.start or job.reserved
    list[i] = { job = waiting[i].id, start = start, promised = not job.start and job.reserved ~= nil or nil,
      why = start ~= now and why_later(job, first) or nil, refused = job.state == "rejected" or nil }
  end
  return list
end

--- Simulates what comes. opts:
---   graph     the machine, with the resources of the running jobs and of no waiting one; it is changed
---   now       the time
---   running   a list of jobs as simulator:adopt takes them
---   waiting   a list of jobs in the order of submission: {id, request, estimate, submit, user, ...}
---   policy, granularity, queue, texts   as sim.new takes them
---   seconds   of the wall clock, after which it ends (10)
--- Returns {jobs, incomplete}: jobs has {job, start, promised, why, refused} for each waiting job, in order: the start, nil where
--- none is known; promised, where that is a reservation at the end of what was simulated; why it does not start now; incomplete,
--- the reason why not all starts are known, or nil. Or nil, message, code, which is "failed" for an error of a policy.
function M.run(opts)
  local seconds = opts.seconds or 10
  local stop = core.clock() + seconds
  local simulator, why, code = sim.new { resources = opts.graph, policy = opts.policy, queue = opts.queue, texts = opts.texts,
    granularity = opts.granularity, start = opts.now, keep = false, dependencies = false, budget = { seconds = seconds } }
  if not simulator then return nil, why, code end
  local jobs, incomplete = {}, nil
  local ok, raised = pcall(function()
    adopt_all(simulator, opts.running, opts.now)
    jobs = submit_all(simulator, opts.waiting, opts.now)
    incomplete = play(simulator, jobs, stop, seconds)
  end)
  if not ok and raised ~= simulator.failure then error(raised, 0) end
  if not ok and not tostring(raised):find "second" then return nil, raised, simulator.failed_policy and "failed" or "invalid" end
  return { jobs = told_of(opts.waiting, jobs, opts.now), incomplete = not ok and raised or incomplete, passes = simulator.passes }
end

return M
