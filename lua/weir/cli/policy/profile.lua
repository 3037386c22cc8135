--- weir policy profile.

local out = require "weir.cli.output"
local texts = require "weir.texts"
local trial = require "weir.policy.bench"

local LINES = 12 -- shown at most

local function show(report)
  out.line(("%s in %.3f ms: %.0f %% in C, %.0f %% in the policy"):format(texts.counted(report.matches, "match"),
    report.seconds * 1e3, 100 - 100 * report.share, 100 * report.share))
  local cells = { { "hook", "calls", "ms", "us a call" } }
  for _, name in ipairs { "init", "admit", "order", "prune", "evaluate", "select" } do
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

return function(opts, inputs)
  local p = inputs.policy(opts.policy)
  local jobs = inputs.jobs(opts)
  local report = out.check(trial.profile(inputs.resources(opts), p, jobs))
  report.share = math.min(1, report.lua / math.max(report.seconds, 1e-9))
  for _, text in ipairs(report.failures) do out.warn(text) end
  if opts.json then out.json(report) else show(report) end
  return #report.failures > 0 and 1 or 0
end
