--- weir explain: why a job does not fit, and by which changes the job would fit.

local core = require "weir.core"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local weir = require "weir"

local M = {
  name = "explain",
  doc = "Say why a job does not fit on a machine, when it could start, and what would have to change.",
  usage = "[-r] RESOURCES [OPTION...] JOB",
  operand = "JOB", min = 1, max = 1,
  machine = true,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help, required = true },
    { "p", "policy", "POLICY", "the policy that the job is placed by; low if not given" },
    { "j", "job", "JOB", "a job that is matched first, as with weir match; can be given several times", many = true },
    { nil, "job-policy", "POLICY", "how those jobs are placed; low if not given" },
    { nil, "at", "VERTEX", "only about this vertex, by its path or name: why not there?" },
    { nil, "about", "LIST", "further facts about the job for policies: user=ada,bank=physics,urgency=20" },
    { nil, "time", "SECONDS", "the time at which the job is to start; now if not given", kind = "time" },
    inputs.duration_option,
    { nil, "down", "VERTEX", "assume that this vertex is down: a path, names such as node[3-5], or an expression of weir find; "
      .. "can be given several times", many = true },
    { nil, "up", "VERTEX", "assume that it is up", many = true },
    { nil, "release", "JOBID", "assume that this job has ended", kind = "count", many = true },
    { nil, "without", "PART", "assume that the request's constraint is without this: property=NAME, hostlist, ranks, or constraint "
      .. "for all of it", many = true },
    { nil, "constraint", "JSON", "assume this constraint (RFC 31) in place of the request's" },
    { "S", "subsystem", "HIERARCHY", "the hierarchy to search in, such as power, in place of containment; with :TYPE, as in "
      .. "containment:rack, jobs get whole racks" },
    { nil, "json", nil, "everything, as one line of JSON" },
    { "q", "quiet", nil, "print nothing; the exit status is the result" },
  },
  notes = [[
A JOB is what weir match takes: a jobspec file, - for standard input, or a shape such as slot=4/node/core=8. Jobs that
are in the books of RESOURCES (a database that weir saved) have what they have. Nothing is changed: what is assumed is
assumed on a duplicate.

  fits        it fits now
  busy        it fits once some jobs have ended; these are named, and the earliest start
  blocked     it could fit, but vertices that are not up, or the policy, are in the way, so that waiting is not enough
  infeasible  never on this machine under this policy, be it all up and empty
  rejected    the policy does not admit it

What is said has been tried out: without the obstacles of one line the job fits, and each of them is needed.

Exit status: 0 it fits, 1 it does not, 2 wrong use or unreadable input.

  weir explain -r cluster.json job.yaml
  weir explain -r cluster.json job.yaml --at node17
  weir explain -r cluster.db job.yaml --release 7 --up /cluster0/rack3
  weir explain -r "rack:2 node:4 core:8" -j "slot=5{duration:1h}/node" -p spread slot=4/node]],
}

local function constraint(text)
  if not text then return nil end
  local value, why = core.json_decode(text)
  if type(value) ~= "table" then out.fail(2, "--constraint: %s", why or "expected an object, such as {\"properties\": [\"gpu\"]}") end
  return value
end

-- Returns the width of lines: the width of the terminal, or a readable default.
local function columns()
  if not out.is_terminal() then return 100 end
  local pipe <close> = assert(io.popen "stty size 2>/dev/null </dev/tty")
  local wide = (pipe:read "a" or ""):match "^%d+ (%d+)"
  return math.max(40, math.min(tonumber(wide) or 80, 160))
end

local function engine_for(opts)
  local graph = inputs.booked { resources = opts.resources, job = opts.job, policy = opts["job-policy"] }
  return inputs.begin(out.check(weir.engine { resources = graph, policy = inputs.policy(opts.policy or "low"),
    granularity = opts.subsystem }))
end

local function ask(engine, opts, job)
  local assumed = { down = opts.down, up = opts.up, release = opts.release, without = opts.without }
  assumed.about = inputs.about(opts)
  assumed.at, assumed.vertex, assumed.constraint = opts.time, opts.at, constraint(opts.constraint)
  assumed.subsystem = opts.subsystem
  return engine:explain(job.request, assumed)
end

local function show(opts, job, report)
  if opts.quiet then return end
  if opts.json then
    local plain = weir.explain.plain(report)
    plain.request = job.name
    return out.json(plain)
  end
  local text = weir.explain.text(report, columns())
  local head, rest = text:match "^([^\n]*)\n(.*)$"
  out.line(("%s: %s"):format(out.style().bold(job.name), head))
  out.write(rest)
end

function M.run(opts)
  inputs.check_stdin(opts, opts)
  local job = inputs.jobs(opts)[1]
  local engine <close> = engine_for(opts) -- the report refers to vertices of the engine's graph
  local report, why = ask(engine, opts, job)
  if not report then out.fail(2, "%s: %s", job.name, why) end
  show(opts, job, report)
  return report.fits and 0 or 1
end

return M
