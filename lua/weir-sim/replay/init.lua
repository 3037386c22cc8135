--- replay - runs the jobs of a log again, on any machine under any policies.
---
---   local result = replay.run { resources = "cluster:1 core:100", trace = "KTH-SP2.swf.gz", queue = "easy" }
---   print(result.metrics.bounded_slowdown.mean)

local distribution = require "weir.html.report.distribution"
local against = require "weir.replay.against"
local core = require "weir.core"
local begin = require "weir.replay.from"
local failure = require "weir.failure"
local instant = require "weir.sim.instant"
local jobs_file = require "weir.replay.jobs"
local largest_jobs = require "weir.replay.largest_jobs"
local limits = require "weir.replay.limits"
local map = require "weir.trace.map"
local metrics = require "weir.replay.metrics"
local outcome = require "weir.sim.outcome"
local plain = require "weir.replay.plain"
local sim = require "weir.sim"
local tables = require "weir.tables"
local random = require "weir.random"
local scale = require "weir.replay.scale"
local trace = require "weir.trace"
local weir = require "weir"

local M = {}

local REFUSED = 5 -- rejected jobs that the result names
local KEPT, TEXT = 50000, 1 << 23 -- jobs kept for a report, as many as a page shows, and bytes of text of their resources

-- ---- jobs of the trace --------------------------------------------------------------------------------------

-- A pseudo-random number in [0, 1) for a job, equal on every machine.
local function lot(seed, number)
  return random.lot(seed, tonumber(number) and math.tointeger(number) or #tostring(number))
end

-- Returns a function that applies the options to a job, and returns false for a job to leave out; nil where no option
-- changes a job.
local function adjuster(opts)
  local sample, seed, exact, speed, first = opts.sample, opts.seed or 1, opts.estimates == "exact", opts.speed, nil
  if not (sample or exact or speed) then return nil end
  return function(job)
    first = first or job.submit
    if sample and lot(seed, job.number or 0) >= sample then return false end
    if exact then job.estimate = math.max(job.runtime, 1e-6) end
    if speed then job.submit = first + (job.submit - first) / speed end
    return true
  end
end

-- Returns the source of jobs for the simulator. Raises a failure on an error of the trace.
local function feeder(run, request_of)
  local next_job, adjust = run.trace.next, adjuster(run.opts)
  return function()
    while true do
      local job, why = next_job()
      if not job then
        if why then failure.raise(why) end
        return nil
      end
      if not adjust or adjust(job) then
        local request, wrong = request_of(job)
        if request then
          if request ~= true then job.request = request end
          wrong = run.complete and run.complete(job)
          if not wrong or not run.trace.detailed then return job end
        end
        if not (run.trace.detailed and job.line) then failure.raise(("job %s: %s"):format(job.number or "?", wrong)) end
        run.trace.leave(job.line, wrong)
      end
    end
  end
end

-- ---- what listens -------------------------------------------------------------------------------------------

-- Appends g to the listener of an event.
local function also(list, event, g)
  local f = list[event]
  list[event] = function(job, simulator)
    f(job, simulator)
    g(job, simulator)
  end
end

-- Returns a function that notes an ended job: writes a line to all writers, keeps the job for the report; nil where neither
-- is needed.
local function recorder(run, writers)
  local kept = run.opts.jobs_kept and largest_jobs.new(KEPT, TEXT) or nil
  local spread, from, compared, each = kept and distribution.new(run.opts.tau), run.from or -math.huge, run.against, run.opts.each
  run.kept, run.spread = kept, spread
  if #writers == 0 and not kept and not compared and not each then return nil end
  return function(job)
    for _, writer in ipairs(writers) do writer:write(job, job.resources) end
    if compared then compared:add(job) end
    if each then each(job) end
    if not kept then return end
    kept:add(job)
    if job.submit >= from then spread:add(job.number, job.user, job.units, job.submit, job.start, job.finish) end
  end
end

-- Adds listeners that write a line per ended job, and keep jobs for the report.
local function record(run, list)
  local f = recorder(run, run.writers)
  if not f then return end
  if #run.writers > 0 or run.kept then
    also(list, "start", function(job, simulator) job.resources = jobs_file.resources(simulator, job) end)
  end
  also(list, "finish", f)
end

-- Names the first refused jobs.
local function refuse(run, job)
  local refused = run.refused
  run.absent:add(job.id)
  if outcome.is_excluded(job.why, job.code) then run.excluded = run.excluded + 1 end
  if #refused == REFUSED then return end
  refused[#refused + 1] = { number = job.number, why = job.why, line = job.line, procs = job.procs, nodes = job.nodes,
    queue = job.queue }
end

-- Returns all listeners, by event.
local function listen(run, gathered)
  local list, progress, note = gathered:listeners(), run.opts.progress, run.opts.note
  record(run, list)
  also(list, "reject", function(job) refuse(run, job) end)
  also(list, "cancel", function(job) run.cancelled:add(job.id) end)
  if note then also(list, "reject", note) end
  if progress then also(list, "finish", function(_, simulator) progress(simulator, run.trace) end) end
  return list
end

-- ---- running ------------------------------------------------------------------------------------------------

-- {option that has a path, kind of file}
local WRITERS = { { "jobs", "jobs" }, { "evalys", "evalys" }, { "jobs_csv", "jobs" } }

local function open_writers(run)
  for _, row in ipairs(WRITERS) do
    local path = run.opts[row[1]]
    if path then
      local writer, why = jobs_file.new(row[2], path)
      if not writer then failure.raise(why, "io") end
      run.writers[#run.writers + 1], writer.name = writer, row[2]
    end
  end
end

local function close_writers(run)
  for _, writer in ipairs(run.writers) do
    local ok, why = writer:close()
    if not ok then failure.raise(why, "io") end
  end
end

local must = failure.must

-- The type of resource in which the size of jobs is counted: the type of a processor.
local function main_type(opts, shape)
  if opts.type then return opts.type end
  if shape == "job" then return nil end
  return shape:find "core" and "core" or shape:find "node" and "node" or nil
end

local function simulator_of(run, opts, graph)
  local chosen = run.map
  local simulator = must(sim.new {
    resources = graph, policy = opts.policy or "low", queue = opts.queue or "easy", rule = opts.rule,
    granularity = opts.granularity, start = opts.from, overrun = opts.overrun or run.trace.detailed and "run" or nil,
    type = main_type(opts, chosen), keep = false, budget = opts.budget, dependencies = run.trace.format == "jsonl",
    keep_going = opts.keep_going,
  })
  for _, writer in ipairs(run.writers) do writer.sim = simulator end
  return simulator
end

-- In place of requests that are not needed.
local function not_asked() return true end

-- Returns what a replay returns, of the metrics gathered with a simulator.
local function result_of(run, gathered, simulator)
  close_writers(run)
  local kept, opts, figures = run.kept, run.opts, gathered:result()
  local read_ahead = simulator.fed and 1 or 0
  local came = { jobs = simulator.made - read_ahead, unfinished = figures.unfinished, failed = figures.failed,
    refused = tostring(run.absent), cancelled = tostring(run.cancelled), excluded = run.excluded }
  return { metrics = figures, outcome = came, series = gathered.series and gathered.series:result(), kept = kept and kept:list(),
    left = kept and kept.left, spread = run.spread and run.spread:result(), refused = run.refused, trace = run.trace,
    began = run.began, against = run.against and run.against:result(came), policy_errors = simulator.policy_errors,
    starts = { counting = run.engine and 0 or simulator.nstarted, engine = run.engine and simulator.nstarted or 0, why = run.engine },
    sim = simulator, policy = opts.policy or "low", queue = opts.queue or "easy" }
end

-- Replays with the simulator of plain jobs.
local function go_plain(run, plan, request_of, next_job)
  local files, others, progress = {}, {}, run.opts.progress
  for _, writer in ipairs(run.writers) do
    local list = writer.name == "jobs" and files or others
    list[#list + 1], writer.sim = writer, plan
  end
  local own = { opts = run.opts, from = run.from, files = files, ended = recorder(run, others), request_of = request_of,
    rejected = function(job) refuse(run, job) end, spare = run.trace.spare,
    progress = progress and function(simulator) progress(simulator, run.trace) end }
  local gathered, simulator = plain.run(plan, own, next_job)
  run.began = own.began
  return result_of(run, gathered, simulator)
end

-- Replays with the general simulator. ranked: jobs are ordered by priority.
local function go_general(run, graph, ranked, next_job)
  local opts = run.opts
  local simulator = simulator_of(run, opts, graph)
  run.sim = simulator
  if ranked then simulator:ask "ranked" end
  local gathered = metrics.new(simulator, { tau = opts.tau, from = run.from, points = opts.points, series = opts.series })
  simulator.on = listen(run, gathered)
  if opts.from then
    next_job, run.began = begin.begin(function(job, began)
      local ok = simulator:resume(job, began)
      if not ok then run.absent:add(simulator.made) end
      return ok
    end, next_job, simulator.now,
      simulator.overrun == "kill")
  end
  simulator:feed(next_job)
  simulator:run(opts["until"])
  return result_of(run, gathered, simulator)
end

-- Whether a replay that turns out not to be plain can begin again: nothing of it has been seen, and the trace is a file.
local function may_begin_again(opts)
  if type(opts.trace) ~= "string" or opts.each or opts.scale and type(opts.resources) ~= "string" then return false end
  for _, row in ipairs(WRITERS) do
    if opts[row[1]] == "-" then return false end
  end
  local _, _, regular = core.file_mode(opts.trace)
  return regular == true
end

-- Returns the first job of a trace, which the trace will give again; or nil.
local function peek(t)
  local rest, given = t.next, false
  local job, why, code = rest()
  function t.next()
    if given then return rest() end
    given = true
    return job, why, code
  end
  return job
end

-- Returns the plan of a plain replay, or nil; and the source of jobs. run.engine: why the engine decides about starts.
local function plan_of(run, graph, request_of)
  local opts, first = run.opts, nil
  if run.map == "job" and may_begin_again(opts) then
    first = peek(run.trace)
    if type(opts.resources) ~= "string" then graph = graph:dup() end -- the caller's stays for another replay
  end
  local plan, not_plain = plain.plan(opts, run.map, graph, run.trace, #run.writers > 0 or opts.jobs_kept, first)
  if not plan then
    run.engine = not_plain or "of the placement policy"
    return nil, feeder(run, request_of)
  end
  local wanted = plan.placed and request_of or not_asked
  return plan, feeder(run, plan.check and function(job)
    local ok, why = plan.check(job)
    if ok == false then error({ again = true }, 0) end
    return ok and wanted(job), why
  end or wanted)
end

local function go(run)
  local opts = run.opts
  local graph = must(weir.resources(opts.resources))
  run.trace = type(opts.trace) == "table" and opts.trace
    or must(trace.open(opts.trace, { format = opts.format, malformed = opts.malformed }))
  if opts.scale then
    local change = must(scale.parse(opts.scale))
    must(scale.machine(graph, change))
    run.trace = must(scale.trace(run.trace, change, opts.seed))
  end
  run.map = opts.map or map.default(graph, run.trace.detailed)
  local request_of = must(map.new(run.map, graph))
  local ranked
  run.complete, ranked = limits.new(graph, run.trace)
  open_writers(run)
  run.against = opts.against and against.new() or nil
  local plan, feed = plan_of(run, graph, request_of)
  if plan then plan.ranked = ranked end
  local first = not opts.from and feed()
  run.from = opts.from and instant.of(opts.from) or opts.warmup and first and instant.after(first.submit, opts.warmup)
  local function next_job()
    local job = first
    first = nil
    return job or feed()
  end
  if plan then return go_plain(run, plan, request_of, next_job) end
  return go_general(run, graph, ranked, next_job)
end

--- Replays a trace. Returns {metrics, outcome (see weir.sim.outcome), series, kept, left, spread, refused, trace, sim, policy,
--- queue, starts = {counting =, engine = how many jobs each way of deciding started, why = the reason for the engine, or nil}}, where
--- refused has the number of the first rejected jobs, and why; or nil, message, code,
--- where the code is "failed" for an error of a policy
--- that ended the replay. With keep_going, result.policy_errors is {jobs = their number, first = message}. opts:
---   resources   the machine, as weir.resources takes
---   trace       a file, or {next =} as from weir.trace or weir.trace.lublin; format, malformed: see weir.trace.open
---   policy ("low"), queue ("easy"), map ("core"; see weir.trace.map), rule, overrun, budget, type
---   keep_going  an error of the placement policy does not end the replay; the jobs concerned are counted, see weir.sim
---   granularity where matches search, or what jobs get as a whole, as of weir.engine
---   until       time at which the clock stops
---   from        time at which the replay begins: see from.lua; result.began has the jobs that ran and waited then
---   warmup      seconds after the first submission; jobs submitted earlier do not count in the metrics
---   speed       factor by which submissions come faster
---   sample      share of the jobs taken at random; seed: of the choice
---   scale       more or fewer jobs and resources, such as "jobs=1.2,nodes=+100", see scale.lua; seed: of the choice
---   estimates   "user", or "exact": run times as estimates
---   tau         bound of the bounded slowdown (10)
---   jobs, evalys  files to write, see weir.replay.jobs
---   jobs_csv    a further file of the kind of `jobs`
---   against     whether result.against compares starts with recorded ones, see against.lua; nil if none is recorded
---   jobs_kept   whether result.kept has the jobs for the report, in the order of their ends: at most 50,000, and as many as
---               have 8 MiB of resources as text, those with the largest areas (units times run time), and result.left the
---               number of the others; result.spread covers all of them, see weir.html.report.distribution
---   series      false: no series
---   progress(simulator, trace)  called after each end of a job
---   note(job)   called with each rejected job
---   each(job)   called with each ended job, which also has the fields of the trace's job
---   simulator   "general": never the simulator of plain jobs (see weir.replay.plain), which gives equal results at less cost
function M.run(opts)
  local run = { opts = opts, writers = {}, refused = {}, absent = core.idset "", cancelled = core.idset "", excluded = 0 }
  local ok, result = pcall(go, run)
  if ok then return result end
  for _, writer in ipairs(run.writers) do writer:drop() end
  if type(result) == "table" and result.again then
    run.trace.close()
    local again = tables.copy(opts)
    again.simulator, again.why = "general", plain.JOBS
    return M.run(again)
  end
  if run.sim and result == run.sim.failure then return nil, result, run.sim.failed_policy and "failed" or "invalid" end
  local why, code = failure.read(result)
  if not why then error(result, 0) end
  return nil, why, code or "invalid"
end

return M
