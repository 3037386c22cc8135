--- weir -s SOCKET match, commit, drop, stages, release, job, jobs, explain.

local files = require "weir.files"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local remote = require "weir.cli.remote"

local M = {}

-- ---- match -------------------------------------------------------------------------------------------------

M.match = {
  name = "-s SOCKET match", doc = "Match jobs, and print what each one got.", usage = "[OPTION...] JOB...", operand = "JOB", min = 1,
  options = {
    { "m", "mode", "MODE", "the kind of match; now if not given", choices = { "now", "reserve", "feasible", "preview" } },
    { "F", "format", "FORMAT", "how it is written; tree if not given",
      choices = { "tree", "rv1", "rv1_nosched", "rv1_shorthand", "rlite", "jgf", "jgf_shorthand" } },
    { nil, "at", "SECONDS", "the time at which the jobs are to start", kind = "time" },
    inputs.duration_option,
    { nil, "job", "ID", "the id that the job is to have", kind = "count" },
    { nil, "stage", "SECONDS", "lock what is found for this long, without a job; weir -s SOCKET commit makes a job of a stage",
      kind = "time" },
    { "S", "subsystem", "HIERARCHY", "the hierarchy to search in, such as power; with :TYPE, jobs get whole vertices of the type" },
    { nil, "filter", "FILE", "Lua source of a pruning and evaluating filter, which the service runs in a sandbox" },
    { nil, "json", nil, "one line of JSON a job" },
    { "q", "quiet", nil, "print nothing; the exit status is the result" },
  },
  notes = [[
A JOB is what weir match takes. Exit status: 0 all jobs matched, 1 some did not, 2 wrong use, or the service is not there.]],
}

local function headline(name, a)
  local id = a.stage and ("stage %d"):format(a.stage) or a.job and ("job %d"):format(a.job) or "preview"
  local length = type(a.duration) == "number" and "for " .. out.seconds(a.duration) or "no end"
  local what = name == "" and a.state or name .. "  " .. a.state
  return ("%s: %s  start %s  %s"):format(out.style().bold(id), what, out.moment(a.start), length)
end

local function show(name, a, opts)
  if opts.quiet then return end
  if opts.json then
    a.request = name
    return out.json(a)
  end
  if a.feasible then return out.line(("%s: feasible"):format(name)) end
  if opts.format and opts.format ~= "tree" then
    return type(a.resources) == "string" and out.write((a.resources:gsub("\n*$", "\n"))) or out.json(a.resources)
  end
  out.line(headline(name, a))
  for _, tree in ipairs(a.resources or {}) do out.tree(tree) end
end

local function refuse(name, why, code, opts)
  if code == "io" then out.fail(2, "%s", why) end
  if opts.json and not opts.quiet then out.json { request = name, error = why, code = code } end
  out.warn(("%s: %s"):format(name, why))
end

-- Requests a match or, with --stage, a stage.
local function ask_match(client, job, filter, opts)
  local asked = {
    request = job.request:format "json", name = job.name, mode = opts.mode, at = opts.at,
    format = opts.format or not opts.json and "tree" or nil, subsystem = opts.subsystem,
  }
  if opts.stage then
    asked.lease, asked.keep = opts.stage, true
    return client:ask("stage", asked)
  end
  asked.job, asked.filter = opts.job, filter
  return client:ask("match", asked)
end

function M.match.run(client, opts)
  if opts.stage and (opts.job or opts.filter) then out.fail(2, "--stage cannot be combined with --job or --filter") end
  local filter = opts.filter and out.check(files.read(opts.filter, "policy"))
  local status = 0
  for _, job in ipairs(inputs.jobs(opts)) do
    local a, why, code = ask_match(client, job, filter, opts)
    if a then show(job.name, a, opts) else status = 1 end
    if not a then refuse(job.name, why, code, opts) end
  end
  return status
end

-- ---- resources of jobs -------------------------------------------------------------------------------------

M.release = {
  name = "-s SOCKET release", doc = "Give back what jobs have.", usage = "JOBID...", operand = "JOBID", min = 1,
  options = { { "t", "targets", "IDSET", "only what they have on these" } },
}

local function id_of(word)
  return math.tointeger(tonumber(word)) or out.fail(2, 'expected the id of a job, not "%s"', word)
end

function M.release.run(client, opts)
  local status = 0
  for _, word in ipairs(opts) do
    local ok, why, code = client:ask("release", { job = id_of(word), targets = opts.targets })
    if not ok and code ~= "unknown" then out.fail(2, "%s", why) end
    if not ok then
      status = 1
      out.warn(why)
    end
  end
  return status
end

-- ---- stages ------------------------------------------------------------------------------------------------

local function stage_of(word)
  return math.tointeger(tonumber(word)) or out.fail(2, 'expected the number of a stage, not "%s"', word)
end

M.commit = {
  name = "-s SOCKET commit", doc = "Make a job of a stage.", usage = "[OPTION...] STAGE", operand = "STAGE", min = 1, max = 1,
  options = { M.match.options[2], M.match.options[5], { nil, "json", nil, "as one line of JSON" } },
}

function M.commit.run(client, opts)
  local a = remote.ask(client, "commit", {
    stage = stage_of(opts[1]), job = opts.job, format = opts.format or not opts.json and "tree" or nil,
  })
  show("", a, opts)
end

M.drop = { name = "-s SOCKET drop", doc = "Give back what stages lock.", usage = "STAGE...", operand = "STAGE", min = 1, options = {} }

function M.drop.run(client, opts)
  for _, word in ipairs(opts) do remote.ask(client, "drop", { stage = stage_of(word) }) end
end

M.stages = {
  name = "-s SOCKET stages", doc = "List the stages.", usage = "[--json]", max = 0,
  options = { { nil, "json", nil, "as JSON, with what each locks" } },
}

function M.stages.run(client, opts)
  local stages = remote.ask(client, "stages", {}).stages
  if opts.json then return out.json(stages) end
  local rows = { { "stage", "state", "start", "duration", "expires" } }
  for _, s in ipairs(stages) do
    rows[#rows + 1] = {
      tostring(s.stage), s.state, out.moment(s.start), type(s.duration) == "number" and out.seconds(s.duration) or "no end",
      type(s.expires) == "number" and out.moment(s.expires) or "never",
    }
  end
  if #rows > 1 then out.table(rows, { true, false, true, true, true }) end
end

-- ---- one job, and all --------------------------------------------------------------------------------------

M.job = {
  name = "-s SOCKET job", doc = "Show what one job has.", usage = "[OPTION...] JOBID", operand = "JOBID", min = 1, max = 1,
  options = { M.match.options[2], { nil, "json", nil, "as one line of JSON" } },
}

function M.job.run(client, opts)
  local a = remote.ask(client, "job", { job = id_of(opts[1]), format = opts.format or not opts.json and "tree" or nil })
  show("", a, opts)
end

M.jobs = {
  name = "-s SOCKET jobs", doc = "List the jobs.", usage = "[--json]", max = 0,
  options = { { nil, "json", nil, "as JSON, with what each has" } },
}

function M.jobs.run(client, opts)
  local jobs = remote.ask(client, "jobs", { vertices = opts.json, leaving = true }).jobs
  if opts.json then return out.json(jobs) end
  local rows = { { "job", "state", "start", "duration", "policy" } }
  for _, job in ipairs(jobs) do
    rows[#rows + 1] = {
      tostring(job.job), job.state, job.start and out.moment(job.start) or "-",
      type(job.duration) == "number" and out.seconds(job.duration) or job.start and "no end" or "-",
      (job.policy or ""):match "^[^@]*",
    }
  end
  if #rows > 1 then out.table(rows, { true, false, true, true, false }) end
end

-- ---- explain -----------------------------------------------------------------------------------------------

M.explain = {
  name = "-s SOCKET explain", doc = "Say why a job does not fit, and what would have to change.", usage = "[OPTION...] JOB",
  operand = "JOB",
  min = 1, max = 1,
  options = {
    { nil, "at", "VERTEX", "only about this vertex, by its path or name: why not there?" },
    inputs.duration_option,
    { nil, "down", "VERTEX", "assume that this vertex is down: a path, names such as node[3-5], or an expression of weir find; "
      .. "can be given several times", many = true },
    { nil, "up", "VERTEX", "assume that it is up", many = true },
    { nil, "release", "JOBID", "assume that this job has ended", kind = "count", many = true },
    { nil, "json", nil, "everything, as one line of JSON" },
  },
}

function M.explain.run(client, opts)
  local job = inputs.jobs(opts)[1]
  local report = remote.ask(client, "explain", {
    request = job.request:format "json", name = job.name, vertex = opts.at, down = opts.down, up = opts.up, release = opts.release,
    columns = not opts.json and 100 or nil,
  })
  if opts.json then
    report.request = job.name
    out.json(report)
  else
    local head, rest = report.text:match "^([^\n]*)\n(.*)$"
    out.line(("%s: %s"):format(out.style().bold(job.name), head))
    out.write(rest)
  end
  return report.fits and 0 or 1
end

return M
