--- weir match: allocates jobs in turn, and prints the allocation of each job.

local core = require "weir.core"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local plain = require "weir.plain"
local tables = require "weir.tables"
local view = require "weir.view"
local weir = require "weir"

local M = {
  name = "match",
  doc = "Match jobs on a machine, one after the other on the same books, and print what each one got.",
  usage = "[-r] RESOURCES [OPTION...] JOB...",
  operand = "JOB", min = 1,
  meant = { reserve = "-m reserve is meant, or weir show --reserve", preview = "-m preview is meant", feasible = "-m feasible is meant",
    satisfiability = "-m feasible is meant", down = "weir explain --down says what would be" },
  machine = true,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help, required = true },
    { "p", "policy", "POLICY", "what to prefer: a name (see weir policy list) or a file; low if not given" },
    { "m", "mode", "MODE", "the kind of match; now if not given", choices = { "now", "reserve", "feasible", "preview" } },
    { "F", "format", "FORMAT", "how it is written; tree if not given",
      choices = { "tree", "rv1", "rv1_nosched", "rv1_shorthand", "rlite", "jgf", "jgf_shorthand" } },
    { nil, "about", "LIST", "further facts about the jobs for policies: user=ada,bank=physics,urgency=20" },
    { nil, "at", "SECONDS", "the time at which the jobs are to start; 0 if not given", kind = "time" },
    inputs.duration_option,
    { nil, "json", nil, "one line of JSON a job: what it got, or why not" },
    { "S", "subsystem", "HIERARCHY", "the hierarchy to search in, such as power, in place of containment; with :TYPE, as in "
      .. "containment:rack, jobs get whole racks" },
    { nil, "stage", "SECONDS", "lock what is found for this long, without a job; later jobs of the call go round it. The locks "
      .. "end with the call, those of a service last: weir -s SOCKET match --stage", kind = "time" },
    { nil, "policies", "LIST", "policies that a job may choose by its attribute system.policy, separated by blanks" },
    { nil, "trace", nil, "what each match looked at: visited, cut and why, scored, chosen" },
    { nil, "stats", nil, "what the search cost: vertices visited, pruned and by what" },
    { "q", "quiet", nil, "print nothing on standard output; the exit status is the result" },
  },
  notes = [[
A JOB is a jobspec file (YAML or JSON), - for standard input, or a shape such as slot=4/node/core=8 or, with a duration,
slot=4{duration:1h}/node. What names no existing file and does not look like a path is read as a shape.

Modes: now gives the job its resources or fails; reserve gives them now or at the earliest later time; feasible
checks whether it could ever run on this machine; preview shows what now would allocate, and allocates nothing.
Formats: a tree is for people; the others are one JSON document a job and line.

Exit status: 0 all jobs matched, 1 some did not, 2 wrong use or unreadable input (nothing is matched then).

  weir match -r local slot=1/core=2
  weir match -r "rack:2 node:4 core:8" -p spread -F rlite job.yaml slot=1/node
  weir match -r "node:4 core:8" -m reserve --duration 2h slot=4/node slot=2/node]],
}

-- ---- reports of a job ---------------------------------------------------------------------------------------

local function headline(job, a)
  local id = a.stage and ("stage %d"):format(a.stage) or a.state == "matched" and "preview" or "job " .. a.id
  return ("%s: %s  %s  start %s  %s"):format(out.style().bold(id), job.name, a.state, out.moment(a.at), out.lasting(a.duration))
end

local function show_tree(job, a)
  if a == true then return out.line(("%s: feasible"):format(job.name)) end
  out.line(headline(job, a))
  for _, tree in ipairs(view.allocation(a)) do out.tree(tree) end
end

-- Writes an allocation to standard output piece by piece.
local function show_document(_, a, format)
  if a == true then return end
  local written, why, code = a:write(io.stdout, format)
  if not written and code ~= "io" then out.fail(2, why) end
  out.line "" -- fails with the cause if standard output is broken
end

local function as_json(job, a)
  if a == true then return { request = job.name, feasible = true } end
  local t = plain.allocation(a)
  t.request = job.name
  if a.stage then t.job, t.stage, t.expires = nil, a.stage, plain.finite(a.expires) end
  return t
end

local STATS = { "visited", "pruned", "state", "constraint", "busy", "policy", "callbacks", "starts" }

local function stats_line(stats)
  local parts = {}
  for _, key in ipairs(STATS) do
    if (stats[key] or 0) > 0 then parts[#parts + 1] = key .. " " .. stats[key] end
  end
  return "stats: " .. table.concat(parts, ", ")
end

local function plain_table(stats)
  local t = {}
  for _, key in ipairs(STATS) do t[key] = stats[key] end
  return t
end

-- ---- traces -------------------------------------------------------------------------------------------------

local function event_line(event)
  local where = event.vertex and event.vertex.path or "(everything)"
  local text = ("%-10s %s"):format(event.event, where)
  if event.type then text = ("%s: %d %s needed, %d there"):format(text, event.need, event.type, event.have) end
  if event.score then text = ("%s: %.14g"):format(text, event.score) end
  return text
end

-- Prints a trace: to stderr with -F or -q, since stdout must stay a parseable document.
local function show_trace(run, trace)
  local opts = run.opts
  if not trace or opts.json then return end
  for _, event in ipairs(trace) do
    if opts.quiet or opts.format then io.stderr:write(event_line(event), "\n") else out.line(event_line(event)) end
  end
end

local function trace_json(trace)
  local list = core.array {}
  for i, event in ipairs(trace) do
    local copy = tables.copy(event)
    copy.vertex = event.vertex and event.vertex.path or core.null
    list[i] = copy
  end
  return list
end

-- ---- the work -----------------------------------------------------------------------------------------------

-- Prints statistics: to stderr with -F or -q, since stdout must stay a parseable document.
local function show_stats(run)
  if not run.opts.stats or run.opts.json then return end
  local line = stats_line(run.engine:stats())
  if run.opts.quiet or run.opts.format then io.stderr:write(line, "\n") else out.line(line) end
end

local function show(run, job, a)
  local opts, format = run.opts, run.opts.format or "tree"
  if opts.quiet then return end
  if opts.json then
    local value = as_json(job, a)
    value.stats = opts.stats and plain_table(run.engine:stats()) or nil
    value.trace = run.trace and trace_json(run.trace)
    out.json(value)
  elseif format == "tree" then
    show_tree(job, a)
  else
    show_document(job, a, format)
  end
end

local NO_MATCH = { busy = true, infeasible = true, rejected = true }

-- Says which of the jobs were not tried after an error, which ends the command.
local function untried(jobs, from)
  local names = {}
  for i = from, math.min(#jobs, from + 4) do names[#names + 1] = jobs[i].name end
  if #jobs > from + 4 then names[#names + 1] = ("and %d more"):format(#jobs - from - 4) end
  return #names > 0 and "; not tried: " .. table.concat(names, ", ") or ""
end

local function refuse(run, job, why, code)
  local no_file = code == "infeasible" and why:find(('there is no "%s" here'):format(job.name), 1, true)
  why = ("%s: %s"):format(job.name, no_file and why:gsub(" here", " here, and no file of that name", 1) or why)
  if not NO_MATCH[code] then out.fail(2, "%s%s", why, untried(run.jobs, run.at + 1)) end
  if run.opts.json and not run.opts.quiet then
    out.json { request = job.name, error = why, code = code, trace = run.trace and trace_json(run.trace) }
  end
  out.warn(why:find("have no end time", 1, true) and not run.opts.duration and why .. " (--duration gives jobs an end)" or why)
end

-- Matches a job. Returns whether the job got an allocation.
local function match_one(run, job)
  run.trace = run.opts.trace and {} or nil
  local find = run.opts.stage and run.engine.stage or run.engine.match
  local a, why, code = find(run.engine, job.request, {
    lease = run.opts.stage, mode = run.opts.mode, at = run.opts.at, about = run.about, trace = run.trace,
    subsystem = run.opts.subsystem,
  })
  show_trace(run, run.trace)
  if a then show(run, job, a) else refuse(run, job, why, code) end
  show_stats(run)
  return a ~= nil
end

local function check_options(opts)
  inputs.check_stdin(opts, opts)
  if opts.stage and (opts.stage <= 0 or opts.mode == "feasible" or opts.mode == "preview") then
    out.fail(2, "match: --stage: expected seconds above 0 and the mode now or reserve")
  end
  if opts.json and opts.format then out.fail(2, "match: --json and -F %s cannot be combined", opts.format) end
end

function M.run(opts)
  check_options(opts)
  local policy = inputs.policy(opts.policy or "low")
  local jobs = inputs.jobs(opts)
  local allowed = opts.policies and tables.collect(opts.policies:gmatch "%S+")
  local engine = inputs.begin(out.check(weir.engine { resources = inputs.resources(opts), policy = policy, policies = allowed,
    granularity = opts.subsystem }))
  local status, run = 0, { engine = engine, opts = opts, about = inputs.about(opts), jobs = jobs }
  if not opts.quiet then inputs.tell_queue(run.about, engine:resources()) end
  for i, job in ipairs(jobs) do
    run.at = i
    if not match_one(run, job) then status = 1 end
  end
  if opts.stage and engine:stages()[1] and not (opts.json or opts.format or opts.quiet) then
    out.warn "the stages end with this call; a service keeps stages: weir -s SOCKET match --stage, commit, drop"
  end
  return status
end

return M
