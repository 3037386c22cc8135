--- weir policy profile.

local out = require "weir.cli.output"
local queue_policy = require "weir.sim.queue_policy"
local queue_bench = require "weir.sim.queue_bench"
local tables = require "weir.tables"
local texts = require "weir.texts"
local trial = require "weir.policy.bench"

local LINES = 12 -- shown at most

local HOOKS = { "init", "admit", "order", "prune", "evaluate", "select", "group" }

local function show(report)
  local ms, percent = report.seconds * 1e3, 100 * report.share
  if report.jobs then
    out.line(("%d jobs in %.3f ms: %.0f %% in the policy and its calls of the engine"):format(report.jobs, ms, percent))
  else
    out.line(("%s in %.3f ms: %.0f %% in C, %.0f %% in the policy"):format(texts.counted(report.matches, "match"), ms, 100 - percent,
      percent))
  end
  local cells = { { report.jobs and "call" or "hook", "calls", "ms", "us a call" } }
  for _, name in ipairs(report.jobs and tables.keys(report.hooks) or HOOKS) do
    local hook = report.hooks[name]
    if hook then
      cells[#cells + 1] = {
        name, tostring(hook.calls), ("%.3f"):format(hook.seconds * 1e3),
        ("%.2f"):format(hook.calls > 0 and hook.seconds / hook.calls * 1e6 or 0),
      }
    end
  end
  out.table(cells, { false, true, true, true })
  if #report.lines == 0 then return end
  out.line "hottest lines, by instructions"
  for i = 1, math.min(LINES, #report.lines) do
    local line = report.lines[i]
    out.line(("  %5.1f %%  %4d  %s"):format(line.share * 100, line.line, line.text))
  end
end

local JOBS = 1000

-- The calls of a queue policy, on a synthetic history. Its calls of the engine are part of its time.
local function profile_queue(opts)
  local report = out.check(queue_bench.profile(opts.policy, JOBS))
  report.share = math.min(1, report.lua / math.max(report.seconds, 1e-9))
  if opts.json then out.json(report) else show(report) end
end

return function(opts, inputs)
  if queue_policy.names(opts.policy) then return profile_queue(opts) end
  if not (opts.resources and opts[1]) then out.fail(2, "policy profile: expected -r RESOURCES, -p POLICY and a JOB") end
  local p = inputs.policy(opts.policy)
  local jobs = inputs.jobs(opts)
  local report = out.check(trial.profile(inputs.resources(opts), p, jobs))
  report.share = math.min(1, report.lua / math.max(report.seconds, 1e-9))
  for _, text in ipairs(report.failures) do out.warn(text) end
  if opts.json then out.json(report) else show(report) end
  return #report.failures > 0 and 1 or 0
end
