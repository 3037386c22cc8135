--- queue_bench.lua - tests of a queue policy: the contract, on a made-up history; cost. Behind `weir policy check`, `bench` and
--- `profile` for queue policies.

local core = require "weir.core"
local files = require "weir.files"
local lines_of = require "weir.policy.lines"
local outcome = require "weir.sim.outcome"
local queue_policy = require "weir.sim.queue_policy"
local sim = require "weir.sim"
local suggest = require "weir.suggest"

local M = {}

local MACHINE = "cluster:1 rack:4 node:8 core:4"
local NODES = 32
local BUDGET = { instructions = 20000000 } -- a loop without end ends after a fraction of a second

-- ---- a history ----------------------------------------------------------------------------------------------

-- Returns a generator of numbers from 0 up to n - 1, equal on every machine.
local function numbers()
  local state = 1
  return function(n)
    state = (state * 6364136223846793005 + 1442695040888963407) & math.maxinteger
    return (state >> 33) % n
  end
end

-- Submits n jobs of several users, with everything that a queue policy may look at; few are as wide as the machine.
local function submit_all(simulator, n)
  local random, at, list = numbers(), 0, {}
  for i = 1, n do
    at = at + random(180)
    local wide = random(20) == 0
    local estimate = 60 * (1 + random(30))
    list[i] = assert(simulator:submit {
      request = ("slot=%d/node"):format(wide and NODES - random(NODES // 2) or 1 + random(6)), at = at, number = i,
      estimate = estimate, runtime = math.max(1, estimate * (25 + random(75)) // 100), user = "user" .. random(5),
      qos = ({ "low", "normal", "high" })[1 + random(3)], priority = random(32), preemptible = random(4) == 0 and 60 or nil,
    })
  end
  return list
end

-- Calls f with the functions of the sandbox timed: hooks[name] = {calls =, seconds =}.
local function timed(simulator, hooks)
  local sandbox = simulator.queue
  simulator.queue = setmetatable({ call = function(_, name, ...)
    local hook = hooks[name] or { calls = 0, seconds = 0 }
    local begin = core.clock()
    hooks[name] = hook
    local results = table.pack(sandbox:call(name, ...))
    hook.calls, hook.seconds = hook.calls + 1, hook.seconds + core.clock() - begin
    return table.unpack(results, 1, results.n)
  end }, { __index = function(_, name) return function(_, ...) return sandbox[name](sandbox, ...) end end })
  return sandbox
end

-- Plays a history of n jobs. Returns {jobs =, hooks =, sim =, sandbox =, promised = {[job] = first reserved start}}, with
-- error = message and trace where the policy failed; or nil, message, code.
local function play(x, n, budget, profiled)
  local run = { hooks = {}, promised = {} }
  local simulator, why, code = sim.new { resources = MACHINE, queue = x, budget = budget,
    on = { reserve = function(job) run.promised[job] = run.promised[job] or job.reserved end } }
  if not simulator then return nil, why, code end
  run.sim, run.sandbox = simulator, timed(simulator, run.hooks)
  if profiled then run.sandbox:profile(true) end
  run.jobs = submit_all(simulator, n)
  local begin = core.clock()
  local ok, raised = pcall(simulator.run, simulator)
  run.seconds = core.clock() - begin
  if ok then return run end
  if raised ~= simulator.failure then error(raised, 0) end
  run.error, run.trace = raised, run.sandbox:traceback()
  return run
end

-- ---- the contract -------------------------------------------------------------------------------------------

local UNREAD = { io = true, unknown = true }

-- Reports the outcome of the jobs, and anything that a user would complain about.
local function judge(run, report, say)
  local late = 0
  for _, job in ipairs(run.jobs) do
    if job.start then report.matched = report.matched + 1 else report.refused = report.refused + 1 end
    local promised = run.promised[job]
    if promised and job.start and job.start > promised + 1e-6 and not job.preempted then late = late + 1 end
  end
  if report.refused > 0 then
    say("errors", ("%d of %d jobs never started, though the machine was idle in the end"):format(report.refused, #run.jobs))
  end
  if late > 0 then say("notes", ("%d jobs started later than their first reservation"):format(late)) end
end

-- Notes a policy with an order of its own that never gives up reservations: they stay with jobs that are no longer first.
local function judge_reservations(x, run, say)
  local _, source = next(assert(queue_policy.texts(x)))
  if next(run.promised) and source:find "%f[%w_]order%s*=%s*function" and not source:find("unreserve", 1, true) then
    say("notes", "order may put another job first after reserve: queue:unreserve(job) gives up the reservation of a job that is not first")
  end
end

-- Says which fields the policy reads of a job that no job has and that the policy sets nowhere: a policy may keep fields of
-- its own in jobs.
local function judge_fields(x, run, say)
  local told, names, fields = run.sandbox:call "strange"
  if not told then return end -- the policy has used up its budget
  local _, source = next(assert(queue_policy.texts(x)))
  for name in names:gmatch "[^\n]+" do
    local set = not name:find "^[%a_][%w_]*$" or source:find("%f[%w_]" .. name .. "%f[^%w_][\"'%]%s]*=[^=]")
    if not set then
      local known = {}
      for field in fields:gmatch "[^\n]+" do known[#known + 1] = field end
      say("errors", ("a job has no field '%s'%s, and the policy gives it none; a job has %s"):format(name, suggest.hint(name, known),
        table.concat(known, ", ")))
    end
  end
end

--- Loads a queue policy and plays a history of 200 jobs twice. Returns a report as weir.policy.bench.check.
function M.check(x)
  local report = { errors = {}, notes = {}, matched = 0, refused = 0, queue = true }
  local function say(kind, text) table.insert(report[kind], text) end
  local run, why, code = play(x, 200, BUDGET)
  if not run then
    say("errors", why)
    report.unread = UNREAD[code]
    return report
  end
  local _, name, doc = run.sandbox:call "about"
  report.policy, report.hooks, report.passes, report.matches = { name = name, doc = doc }, run.hooks, run.sim.passes, run.sim.matches
  if run.error then
    say("errors", run.error .. (run.trace and run.trace:find "\n" and "\n" .. run.trace or ""))
    judge_fields(x, run, say)
    return report
  end
  report.state = run.sim:queue_state()
  judge(run, report, say)
  judge_reservations(x, run, say)
  judge_fields(x, run, say)
  local again = assert(play(x, 200, BUDGET))
  for i, job in ipairs(run.jobs) do
    if job.start ~= again.jobs[i].start then
      say("errors", ("job %d started at %s, and when the policy was loaded again at %s"):format(i, job.start, again.jobs[i].start))
      break
    end
  end
  return report
end

-- ---- cost ---------------------------------------------------------------------------------------------------

--- Plays a history of n jobs. Returns {jobs, passes, matches, us (a pass), wait (mean, in seconds)}, with incomparable, the reason,
--- in place of the wait where jobs have not ended; or nil, message, code.
function M.bench(x, n)
  local run, why, code = play(x, n)
  if not run or run.error then return nil, why or run.error, code or "policy" end
  local wait, schedule, came = 0, run.hooks.schedule or { calls = 0, seconds = 0 }, { jobs = n, unfinished = 0 }
  for _, job in ipairs(run.jobs) do
    if job.state == "done" then wait = wait + job.start - job.submit else came.unfinished = came.unfinished + 1 end
  end
  local missing = outcome.against_all(came)
  return { jobs = n, passes = run.sim.passes, matches = run.sim.matches, wait = not missing and wait / n or nil, incomparable = missing,
    us = schedule.seconds / math.max(1, schedule.calls) * 1e6 }
end

--- Plays a history of n jobs with the profiler on. Returns {matches = jobs, seconds, lua, hooks, lines}, as
--- weir.policy.bench.profile; or nil, message, code.
function M.profile(x, n)
  local run, why, code = play(x, n, nil, true)
  if not run or run.error then return nil, why or run.error, code or "policy" end
  local samples, total = run.sandbox:profile(), 0
  for _, count in pairs(samples) do total = total + count end
  local path = queue_policy.find((type(x) == "table" and x[1] or x):match "^[^:]*")
  local report = { jobs = n, seconds = run.seconds, lua = 0, hooks = run.hooks,
    lines = lines_of(files.read(path, "policy"), { lines = samples, samples = total }) }
  for _, hook in pairs(run.hooks) do report.lua = report.lua + hook.seconds end
  return report
end

return M
