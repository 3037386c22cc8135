--- weir replay: replays a log of jobs on a machine, under chosen policies.

local against = require "weir.replay.against"
local anonymize = require "weir.replay.anonymize"
local core = require "weir.core"
local data = require "weir.replay.data"
local files = require "weir.files"
local from = require "weir.replay.from"
local inputs = require "weir.cli.inputs"
local lublin = require "weir.trace.lublin"
local map = require "weir.trace.map"
local needs = require "weir.trace.needs"
local out = require "weir.cli.output"
local outcome = require "weir.sim.outcome"
local progress = require "weir.replay.progress"
local queue_policy = require "weir.sim.queue_policy"
local replay = require "weir.replay"
local said = require "weir.replay.text"
local scale = require "weir.replay.scale"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local texts = require "weir.texts"
local times = require "weir.trace.times"
local totals = require "weir.cli.totals"
local trace = require "weir.trace"
local weir = require "weir"
local workers = require "weir.replay.workers"

local M = {
  name = "replay",
  doc = "Replay a trace of jobs on a machine, under policies of your choice.",
  usage = "[-r] RESOURCES [OPTION...] TRACE",
  operand = "TRACE",
  machine = true,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help, required = true },
    { "p", "policy", "POLICY", "the placement policy: a name (see weir policy list) or a file; low if not given. With --compare it may "
      .. "be several, as in \"low best_fit\": each queue policy is run with each of them" },
    { "q", "queue", "QUEUE", "the queue policy: a name or a file, with options as in hybrid:k=4; easy if not given" },
    inputs.granularity_option,
    { nil, "compare", "POLICY", "run under each of these and print the differences: a queue policy, a placement policy, or both as "
      .. "QUEUE@PLACEMENT; can be given several times, and more may follow the TRACE", many = true },
    { nil, "workers", "N", "replays of --compare that run at the same time; the number of processors if not given",
      kind = "some", max = 256 },
    { nil, "map", "MAP", "what a processor is: core (or node, where the machine has no cores), node, core+memory, node+memory, job (as in "
      .. "an accounting), or a shape such as slot=N/core=1 (N processors, M memory of each, {N/16} rounded up)" },
    { nil, "format", "FORMAT", "the format of the trace; recognized by name and content if not given", choices = trace.formats },
    { nil, "malformed", "WHAT", "what to do with malformed lines; skip if not given", choices = { "skip", "stop" } },
    { nil, "overrun", "WHAT", "what happens to jobs that exceed their estimate; kill if not given, run for an accounting",
      choices = { "kill", "run" } },
    { nil, "estimates", "WHOSE", "the estimates of the users, or the exact run times; user if not given", choices = { "user", "exact" } },
    { nil, "event-rule", "RULE", "when the queue policy is called; per-timestamp if not given",
      choices = { "per-event", "per-timestamp" } },
    { nil, "jobs", "FILE", "write a CSV, one line per job: job_id,submit,start,end,wait,resources; -: in place of the metrics" },
    { nil, "evalys", "FILE", "write a CSV for evalys.jobset.JobSet.from_csv" },
    { nil, "report", "DIR", "write a report: index.html, a page with charts, and its data as replay.json and jobs.csv; "
      .. "with --compare one page for all" },
    { nil, "json", nil, "the metrics as JSON" },
    { nil, "against-actual", nil, "compare the starts with the recorded ones; with --report also a page, against.html" },
    { nil, "from", "TIME", "start there, with the jobs that ran and waited then by the recorded starts: a time of the trace, or "
      .. "2024-03-01T12:00:00" },
    { nil, "scale", "WHAT", "more or fewer jobs and resources: jobs=1.2,nodes=+100; jobs are added in the manner of the TRACE" },
    { nil, "anonymize", "DIR", "no replay: write TRACE (trace.csv or trace.jsonl) and machine (machine.json) without names" },
    { nil, "until", "SECONDS", "stop the clock there", kind = "time" },
    { nil, "warmup", "SECONDS", "jobs submitted within this time of the first one are not counted", kind = "time" },
    { nil, "speed", "FACTOR", "divide the times between submissions by this; 1 if not given", kind = "number", min = 1e-6, max = 1e6 },
    { nil, "sample", "SHARE", "use only this share of the jobs, from 0 to 1, chosen by --seed", kind = "share" },
    { nil, "tau", "SECONDS", "the minimum run time in slowdowns; 10 if not given", kind = "time" },
    { nil, "generate", "N", "no TRACE: generate this many jobs by a model of supercomputers (Lublin and Feitelson, 2003)",
      kind = "some", max = 10000000 },
    { nil, "load", "SHARE", "the load of generated jobs, as a share of the machine; 0.7 if not given", kind = "number", min = 0.001,
      max = 1000 },
    { nil, "largest", "N", "the most processors of a generated job; all that are up if not given", kind = "some", max = 1000000000 },
    { nil, "seed", "S", "the seed of --generate, --scale and --sample; 1 if not given", kind = "count" },
    { nil, "stats", nil, "whether starts were decided by counting, or by the engine and why, which costs more" },
    { nil, "keep-going", nil, "an error of the placement policy does not end the replay: the jobs that it fails for wait on, and are "
      .. "counted at the end" },
    { nil, "quiet", nil, "print neither progress nor remarks" },
  },
  notes = [[
A TRACE is a file in Standard Workload Format, a CSV with a header (submit, runtime, procs, and estimate, memory, user, queue, ...),
JSON lines of jobspecs with submit and runtime, the accounting of Slurm (sacct -P), or the jobs of Flux (flux jobs -a --json, or flux job
info with eventlog, jobspec, R); compressed with gzip or not. - is standard input.

Missing values: a job without an estimate is estimated by its run time; a job without requested processors requests those that it had;
jobs without a run time or without processors are left out. Malformed lines, jobs that are left out and jobs that can never fit are
counted, and the first ones are reported on standard error.

The jobs of an accounting have the nodes, cores, memory and gpus that they had, in their partition of the machine, and their recorded
run times (--map job, --overrun run, which are not the default for other traces). Where partitions differ in PriorityTier or
PriorityJobFactor, jobs are ranked by these, under queue policies without an order of their own.

Utilisation is the share of the units of a type that jobs have; of a type that contains others, such as nodes with cores, the share of
which jobs have any part, and "taken whole" the share that they have as a whole.

The file of --evalys is for the Python library evalys: JobSet.from_csv(FILE, resource_bounds=(0, N)), where N is the last resource of
the machine; without bounds the machine consists of what jobs had. The number of a resource is its rank, times the maximum of a rank,
plus its id.

Queue policies: fcfs, easy, conservative, hybrid:k=4, priority, sjbf, preempt, turns, or a file of your own.

  weir replay -r "cluster:1 core:100" KTH-SP2-1996-2.1-cln.swf.gz
  weir replay -r "node:120 core:2 memory:2(size=512,unit=MB)" --map core+memory -q conservative HPC2N.swf.gz --jobs jobs.csv
  weir replay -r slurm.conf sacct.txt --against-actual
  weir replay -r slurm.conf sacct.txt --scale jobs=1.2,nodes=+10
  weir replay -r "cluster:1 node:64" --map node --generate 5000 --compare fcfs easy sjbf

Files are written whole or not at all, links are followed, and an input file is never overwritten.

An error of a policy while jobs run ends the replay, with the file, the line and the job.

Exit status: 0 done, 1 a policy failed, 2 wrong usage or unreadable input.]],
}

-- ---- arguments ----------------------------------------------------------------------------------------------

-- Appends the variants that a word of --compare means, such as "easy", "high" or "easy@high": {queue =, policy =,
-- name =}. A queue policy is combined with each of the placement policies of -p.
local function add_variants(list, word, policies, opts)
  local function add(queue, policy, name) list[#list + 1] = { queue = queue, policy = policy, name = name } end
  local queue, policy = word:match "^(.-)@(.*)$"
  if queue then return add(queue, policy, word) end
  local name = word:match "^[^:]*"
  if queue_policy.find(name) and not (name:find "[/.]" and not files.exists(name)) then
    for _, one in ipairs(policies) do add(word, one, #policies > 1 and word .. "@" .. one or word) end
    return
  end
  local placement, why = weir.policy(word)
  if not placement and not name:find "[/.]" and not why:find("did you mean", 1, true) then
    why = select(2, queue_policy.find(name)) .. ". No policy of placement (weir policy list) is called so, either"
  end
  out.check(placement, why)
  add(opts.queue or "easy", word, word)
end

-- Returns the words of a text; the text itself where it is the name of a file.
local function words_of(text)
  if files.exists(text) then return { text } end
  return tables.collect(text:gmatch "%S+")
end

-- Returns the path of the trace among the operands, and the list of variants to compare (nil without --compare).
local function sort_operands(opts)
  if not opts.compare then
    if #opts > 1 then out.fail(2, 'replay: "%s" is one TRACE too many', opts[2]) end
    return opts[1], nil
  end
  local path, words = nil, table.move(opts.compare, 1, #opts.compare, 1, {})
  for _, word in ipairs(opts) do
    if not path and (word == "-" or files.exists(word)) then path = word else words[#words + 1] = word end
  end
  -- A file that is not there would be taken for a policy.
  local named = not path and not opts.generate and opts[1]
  if named and (named:find "%.gz$" or trace.format_of(named)) then out.fail(2, "replay: %s: there is no such file", named) end
  local list, policies = {}, words_of(opts.policy or "low")
  for _, item in ipairs(words) do
    for _, word in ipairs(words_of(item)) do add_variants(list, word, policies, opts) end
  end
  return path, list
end

-- Fails if an output is an input, or two outputs share a file or standard output.
local function check_outputs(opts, path)
  local read = { path or false, opts.resources, opts.policy or false, opts.queue and opts.queue:match "^[^:]*" or false,
    table.unpack(opts.compare or {}) }
  for _, name in ipairs { "jobs", "evalys" } do inputs.check_output(opts[name], "replay: --" .. name, read) end
  for _, name in ipairs { "jobs.csv", "replay.json", "index.html" } do
    inputs.check_output(opts.report and opts.report .. "/" .. name, "replay: --report", read)
  end
  if opts.jobs and opts.evalys and (opts.jobs == opts.evalys or opts.evalys ~= "-" and files.same(opts.jobs, opts.evalys)) then
    out.fail(2, "replay: --jobs and --evalys: both are to be written to %s", opts.jobs)
  end
  if opts.json and (opts.jobs == "-" or opts.evalys == "-") then
    out.fail(2, "replay: --json and --%s -: one of them can have standard output", opts.jobs == "-" and "jobs" or "evalys")
  end
end

-- Returns the time of --from.
local function time_of(opts)
  local other = opts.speed and "speed" or opts.generate and "generate"
  if other then out.fail(2, "replay: --from and --%s cannot be combined", other) end
  local t, why = times.parse(opts.from)
  if not t then out.fail(2, "replay: --from: %s", why or '"' .. opts.from .. '" is no time') end
  return t
end

local function check_anonymize(opts, path)
  if not opts.anonymize then return end
  for _, name in ipairs { "compare", "generate", "jobs", "evalys", "report", "json", "against-actual", "from", "scale", "until", "sample",
    "speed" } do
    if opts[name] then out.fail(2, "replay: --anonymize and --%s cannot be combined", name) end
  end
  for _, name in ipairs { "trace.csv", "trace.jsonl", "machine.json" } do
    inputs.check_output(opts.anonymize .. "/" .. name, "replay: --anonymize", { path or false, opts.resources })
  end
end

local function check_options(opts, path, variants)
  if opts.generate and path then out.fail(2, "replay: a TRACE and --generate cannot be combined") end
  if not opts.generate and not path then out.fail(2, "replay: expected a TRACE or --generate; see weir replay --help") end
  if path and path ~= "-" and not files.exists(path) then out.fail(2, "replay: %s: there is no such file", path) end
  for _, name in ipairs { "load", "largest" } do
    if opts[name] and not opts.generate then out.fail(2, "replay: --%s is for --generate", name) end
  end
  if opts.from then opts.from = time_of(opts) end
  if opts.scale then out.check(scale.parse(opts.scale)) end
  check_anonymize(opts, path)
  check_outputs(opts, path)
  if opts.workers and not variants then out.fail(2, "replay: --workers is for --compare") end
  if not variants then return end
  if #variants < 2 then out.fail(2, "replay: --compare: expected at least two policies") end
  if path == "-" then out.fail(2, "replay: --compare: standard input can be read only once") end
  for _, name in ipairs { "jobs", "evalys", "against-actual" } do
    if opts[name] then out.fail(2, "replay: --compare and --%s cannot be combined", name) end
  end
end

-- ---- running ------------------------------------------------------------------------------------------------

local function units(opts, graph)
  local there = graph:aggregate(nil, { all = true })
  local type = (opts.map or map.default(graph)):find "core" and "core" or "node"
  if not there[type] then
    out.fail(2, "replay: the machine has no %s: --map says what a processor is", type)
  end
  for _, row in ipairs(totals.rows(graph)) do
    if row.type == type then return totals.up(row) end
  end
  return 0
end

-- Returns why jobs of a replay never started: what is not up, by type.
local function stuck(graph)
  local parts = {}
  for _, row in ipairs(totals.rows(graph)) do
    local up = totals.up(row)
    if up < row.total then parts[#parts + 1] = ("%s %s"):format(texts.counted(row.total, row.type), texts.number(up)) end
  end
  if #parts == 0 then return ", though the machine was idle in the end: the policies would not start them" end
  return (": of %s are up, and one that cannot start may hold up others"):format(table.concat(parts, ", "))
end

local function source_of(opts, path, graph)
  if path then return path end
  local jobs, why = lublin.new { jobs = opts.generate, units = units(opts, graph), seed = opts.seed, load = opts.load,
    largest = opts.largest }
  return out.check(jobs, why)
end

local REMARKS = 5

-- Returns the message on a refused job; with the line and the size where an accounting has them.
local function refusal(t, job)
  if not job.line then return ("job %s: %s; refused"):format(job.number, job.why) end
  return ("%s:%d: job %s, %s on %s%s: %s; refused"):format(t.path, job.line, job.number, texts.counted(job.procs or 0, "processor"),
    texts.counted(job.nodes or 1, "node"), job.queue and " of " .. job.queue or "", job.why)
end

-- Calls say(text) with each remark on the jobs of a replay.
local function remark(opts, result, say)
  if opts.quiet then return end
  local t, refused = result.trace, result.metrics.rejected
  for i = 1, math.min(REMARKS, t.problems and #t.problems or 0) do
    say(("%s:%d: %s; %s"):format(t.path, t.problems[i].line, t.problems[i].text, t.problems[i].malformed and "skipped" or "left out"))
  end
  for _, reason in ipairs(t.reasons or {}) do
    say(("%s:%d: %s left out, the first one here: %s"):format(t.path, reason.line, texts.counted(reason.count, "job"), reason.text))
  end
  for _, one in ipairs(t.remarks or {}) do say(("%s: %s"):format(one.text, texts.number(one.count))) end
  for _, text in ipairs(result.began and from.sentences(result.began) or {}) do say("--from: " .. text) end
  local more = (t.malformed or 0) + (t.left_out or 0)
  if more > 0 then
    say(("%s skipped, %s left out"):format(texts.counted(t.malformed, "malformed line"), texts.counted(t.left_out, "job")))
  end
  if (t.guessed or 0) > 0 and opts.estimates ~= "exact" then
    say(("%s of %d without an estimate: the run time was taken, so the queue knew how long they would run"):format(
      texts.counted(t.guessed, "job"), t.read))
  end
  for _, job in ipairs(result.refused) do say(refusal(t, job)) end
  if result.stuck then say(("%s never started%s"):format(texts.counted(result.metrics.unfinished, "job"), result.stuck)) end
  local hint = result.missing and ('; it has no "%s": --map says what a processor is'):format(result.missing) or ""
  if refused > 0 then
    local excluded, one = result.outcome.excluded > 0, refused == 1
    local why = excluded and "can never run on this machine under these policies"
      or (one and "requests" or "request") .. " more than the machine has"
    say(("%s %s, and %s refused%s"):format(texts.counted(refused, "job"), why, one and "was" or "were", hint))
  end
end

-- Returns what is said of the errors of a placement policy, under --keep-going; nil without errors.
local function errors_of(result)
  local errors = result.policy_errors
  if not errors or errors.jobs == 0 then return nil end
  return ("the placement policy failed for %s; first %s"):format(texts.counted(errors.jobs, "job"), errors.first)
end

-- Returns the type that means a processor if the machine lacks the type, else nil. Fails if --map names the
-- type.
local function missing_type(opts, graph)
  local one = map.one(opts.map or map.default(graph, needs.fits(graph)))
  local missing = one and inputs.missing_type(one, graph)
  if missing and opts.map then
    out.fail(2, 'replay: --map %s: there is no "%s" in the machine%s', opts.map, missing, suggest.hint(missing, graph:types()))
  end
  if missing and opts.report then
    out.fail(2, 'replay: --report: the machine has no "%s" to count jobs in: --map says what a processor is', missing)
  end
  return missing
end

-- tick(simulator, trace), or nil, is called after each end of a job.
local function run_one(opts, path, which, tick)
  local graph = out.check(weir.resources(opts.resources))
  local missing, granularity = missing_type(opts, graph), inputs.granularity(opts, graph)
  local result, why, code = replay.run {
    resources = graph, trace = source_of(opts, path, graph), policy = which.policy, queue = which.queue, map = opts.map,
    granularity = granularity, format = opts.format, malformed = opts.malformed, rule = opts["event-rule"],
    overrun = opts.overrun, estimates = opts.estimates,
    ["until"] = opts["until"], warmup = opts.warmup, speed = opts.speed, sample = opts.sample, seed = opts.seed, tau = opts.tau,
    jobs = opts.jobs, evalys = opts.evalys, jobs_kept = opts.report ~= nil,
    against = opts["against-actual"], from = opts.from, scale = opts.scale,
    jobs_csv = opts.report and not opts.compare and opts.report .. "/jobs.csv" or nil,
    series = opts.report ~= nil, progress = tick, keep_going = opts["keep-going"],
  }
  if code == "output" then out.fail(2) end -- the host prints the reason
  if code == "failed" then out.fail(1, "%s", why) end
  out.check(result, why).missing = missing
  if result.metrics.unfinished > 0 and not opts["until"] and graph:validity() == nil then result.stuck = stuck(graph) end
  return result
end

-- Shows the starts against the recorded ones.
local function show_against(path, result)
  if not result.against then out.fail(2, "replay: --against-actual: %s records no starts", path) end
  out.line ""
  out.table(against.rows(result.against), { false, true, true, true, true, true })
  out.line ""
  for _, sentence in ipairs(against.sentences(result.against, result.trace)) do out.line(sentence) end
end

local function show_one(opts, path, which)
  local bar = not opts.quiet and progress.new(which.name, path) or nil
  local result = run_one(opts, path, which, bar and bar.tick)
  if bar then bar.done() end
  remark(opts, result, out.warn)
  if errors_of(result) then out.warn(errors_of(result)) end
  if opts.report then out.check(data.write(opts.report, result)) end
  if opts.report and result.against then
    local page = require("weir.replay.against_page").page(result.against, result.trace, ("-p %s -q %s"):format(result.policy, result.queue))
    out.check(files.write(opts.report .. "/against.html", require("weir.html.report.findings").html(page)))
  end
  if opts.json then return out.json(data.summary(result)) end
  if opts.jobs == "-" or opts.evalys == "-" then return end
  local missing = outcome.missing(result.outcome)
  if missing then out.line(missing .. ": waits and slowdowns are those of the other jobs.\n") end
  out.table(said.rows { result }, { false, true })
  if opts.stats then out.line("\n" .. said.starts(result.starts)) end
  if opts["against-actual"] then show_against(path, result) end
end

-- Runs a variant in a copy of the process. Returns {data =, remarks =}; or nil, message.
local function work(opts, path, which, tick)
  local ok, result = pcall(run_one, opts, path, which, tick)
  if not ok then
    local failure = out.failure(result)
    if failure then return nil, ("%s: %s"):format(which.name, failure.text), failure.status end
    error(result, 0)
  end
  local remarks = core.array {}
  remark(opts, result, function(text) remarks[#remarks + 1] = text end)
  result.name = which.name
  return { data = opts.report and data.report(result) or data.summary(result), remarks = remarks, errors = errors_of(result) }
end

-- Runs the variants side by side. Returns the result of each variant, in order.
local function run_all(opts, path, variants)
  local bar = not opts.quiet and progress.several("replay", #variants) or nil
  local function one(which, tell) return work(opts, path, which, bar and progress.teller(tell)) end
  local list, why, _, status = workers.map(variants, one,
    { workers = opts.workers, progress = bar and bar.progress, done = bar and bar.finished })
  if bar then bar.done() end
  return list or out.fail(status or 2, "%s", why)
end

local function compare(opts, path, variants)
  local results, list = run_all(opts, path, variants), core.array {}
  for i, result in ipairs(results) do list[i] = result.data end
  for _, text in ipairs(results[1].remarks) do out.warn(text) end
  for i, result in ipairs(results) do
    if result.errors then out.warn(variants[i].name .. ": " .. result.errors) end
  end
  local reasons = data.judge(list)
  if opts.report then out.check(data.compare(opts.report, list)) end
  if opts.json then return out.json(list) end
  local named = outcome.sentence(tables.column(list, "name"), reasons)
  if named then out.line(named .. "\n") end
  local right = {}
  for i = 2, 2 * #results do right[i] = true end
  out.table(said.rows(list), right, said.colour)
  if not opts.stats then return end
  out.line ""
  for i, result in ipairs(list) do out.line(variants[i].name .. ": " .. said.starts(result.starts)) end
end

-- Writes trace and machine without names.
local function write_anonymous(opts, path)
  local _ <close> = out.check(data.make(opts.anonymize))
  local graph <close> = out.check(weir.resources(opts.resources))
  local log = out.check(trace.open(path, { format = opts.format, malformed = opts.malformed }))
  local n, name = anonymize.write(opts.anonymize, log, graph)
  out.check(n, name)
  if not opts.quiet then
    remark(opts, { trace = log, metrics = { rejected = 0 }, refused = {} }, out.warn)
    out.line(("%s/%s: %s; %s/machine.json"):format(opts.anonymize, name, texts.counted(n, "job"), opts.anonymize))
  end
end

function M.run(opts)
  if opts.resources == "" then out.fail(2, '-r: "" names no machine') end
  local path, variants = sort_operands(opts)
  check_options(opts, path, variants)
  if opts.anonymize then return write_anonymous(opts, path) end
  local _ <close> = opts.report and out.check(data.make(opts.report)) -- fails before a long replay
  if variants then
    compare(opts, path, variants)
  else
    show_one(opts, path, { queue = opts.queue or "easy", policy = opts.policy or "low", name = opts.queue or "easy" })
  end
end

return M
