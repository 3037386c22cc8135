--- weir policy check.

local core = require "weir.core"
local out = require "weir.cli.output"
local queue_policy = require "weir.sim.queue_policy"
local queue_bench = require "weir.sim.queue_bench"
local trial = require "weir.policy.bench"

-- Formats {evaluate = {calls, seconds}} as "evaluate 12 calls of 0.4 us".
local function hooks_line(hooks)
  local parts = {}
  for _, name in ipairs { "init", "admit", "order", "prune", "evaluate", "evaluate_siblings", "select", "group", "placed", "finished" } do
    local hook = hooks[name]
    if hook and hook.calls > 0 then
      parts[#parts + 1] = ("%s %d calls of %.1f us"):format(name, hook.calls, hook.seconds / hook.calls * 1e6)
    elseif hook then
      parts[#parts + 1] = name .. " not called"
    end
  end
  return #parts > 0 and table.concat(parts, ", ") or "no function is called"
end

local function reads_line(reads)
  local parts = {}
  for field, n in pairs(reads) do parts[#parts + 1] = ("%s (%d)"):format(field, n) end
  table.sort(parts)
  return #parts > 0 and table.concat(parts, ", ") or "nothing of a vertex"
end

local function show(name, report)
  local p = report.policy
  local verdict = #report.errors > 0 and "FAILED" or "ok"
  out.line(("%s: %s%s"):format(out.style().bold(name), verdict, p and p.doc and "  " .. p.doc or ""))
  if report.queue and p then
    out.line(("    %d jobs started, %d did not; %d calls of the queue policy, %d tries to start or reserve"):format(report.matched,
      report.refused, report.passes, report.matches))
  end
  if report.profile then
    out.line(("    %d requests matched, %d refused; %d vertices visited, %d calls"):format(report.matched, report.refused,
      report.visited, report.callbacks))
    out.line("    cost   " .. hooks_line(report.profile.hooks))
    out.line("    reads  " .. reads_line(report.profile.reads or {}))
    if report.profile.hooks.evaluate and not p.uncached and #report.errors == 0 then
      out.line "    scores remembered until something that evaluate read changes"
    end
  end
  if report.state then
    local text = core.json_encode(report.state, { sort = true })
    out.line(("    state  %s afterwards, %d bytes of %d"):format(#text > 200 and text:sub(1, 200) .. "..." or text, #text,
      report.queue and 1 << 17 or 16384))
  end
  for _, text in ipairs(report.errors) do out.line("    error  " .. text:gsub("\n", "\n             ")) end
  for _, text in ipairs(report.notes) do out.line("    note   " .. text) end
end

local function as_json(name, report)
  local p = report.policy
  return {
    policy = name, name = p and p.name, hash = p and p.hash, version = p and p.version, ok = #report.errors == 0,
    errors = core.array(report.errors), notes = core.array(report.notes), matched = report.matched,
    uncached = p and not report.queue and p.uncached or nil,
    refused = report.refused, visited = report.visited, callbacks = report.callbacks, queue = report.queue,
    state = report.state,
    hooks = report.hooks or report.profile and report.profile.hooks, reads = report.profile and report.profile.reads,
  }
end

return function(opts, inputs)
  local status, graph = 0, opts.resources and inputs.resources(opts)
  for _, name in ipairs(opts) do
    local report = queue_policy.names(name) and queue_bench.check(name) or trial.check(name, graph)
    if #report.errors > 0 then status = math.max(status, report.unread and 2 or 1) end
    if opts.json then out.json(as_json(name, report)) else show(name, report) end
  end
  return status
end
