--- plain.lua - replays of plain jobs, which request a number of interchangeable cores or whole nodes. A queue in C
--- (core/queue) decides by counting free units when they start, as the general simulator (weir.sim) decides with the engine.
--- Which units a job has is decided by the queue where the placement policy is an order, else by the engine, and is left open where
--- no result needs it. All other replays are left to the general simulator.

local about = require "weir.about"
local begin = require "weir.replay.from"
local core = require "weir.core"
local failure = require "weir.failure"
local instant = require "weir.sim.instant"
local machines = require "weir.replay.plain_machine"
local map = require "weir.trace.map"
local metrics = require "weir.replay.metrics"
local needs = require "weir.trace.needs"
local placer = require "weir.replay.placer"
local job_fields = require "weir.sim.job_fields"
local queue_policy = require "weir.sim.queue_policy"
local words = require "weir.texts"
local weir = require "weir"

local M = {}

--- Why jobs are not plain.
M.JOBS = "jobs request more than a number of cores, or of whole nodes"

local LAST = instant.LAST
local BATCH = 512 -- jobs entered until results are taken

-- ---- what is plain ----------------------------------------------------------------------------------------------

local FORMATS = { swf = true, csv = true, lublin = true }

-- Whether the jobs of a trace ask for processors, and for nothing in words of their own.
local function processors_only(trace) return FORMATS[trace.format] and not trace.requests and not trace.detailed end

-- Returns the unit of the jobs of an accounting, {unit = type, units_of = function from a job to their number, weight = what
-- a unit counts, nodes = whether all cores of nodes are taken, whole = see weir.trace.needs, way}, where the first job is
-- given whole nodes; else nil.
local function whole_nodes(graph, first)
  local whole = needs.whole(graph)
  if not whole or not first then return nil end
  local n, way = whole(first)
  if not n then return nil end
  local totals = graph:aggregate(nil, { all = true })
  local cores = totals.core and totals.core.total // totals.node.total or 0
  local per = way == "core" and cores or 1
  return { unit = way, weight = way == "node" and cores > 0 and cores or 1, nodes = way == "core", whole = whole, way = way,
    type = cores > 0 and "core" or "node", units_of = function(job) return job.whole * per end }
end

-- Returns the unit of jobs that ask for processors; or nil.
local function processors(shape)
  local type, by = map.unit(shape)
  return type and { unit = type, type = type, weight = 1, units_of = function(job) return -(-job.procs // by) // 1 end,
    sized = function(units) return { procs = units * by } end }
end

--- Returns what the replay of a trace needs, where it is plain; else nil, and why not: {engine, graph, machine, queue = the
--- sandbox of the queue policy; unit = the type of units, units_of = a function from a job to the number of its units, type = of
--- what jobs are counted in, weight = how many of these a unit counts; placed = whether the engine chooses units, so that jobs need
--- requests; check = a function from a job to true, or false for a job that is not plain, or nil and why it can be none, nil where
--- all jobs are plain}. opts: those of weir.replay.run; shape: of the requests, see weir.trace.map; names: whether the resources of
--- jobs are to be written; first: the first job of a trace whose jobs name nodes, where another replay may be begun once a job is
--- not plain.
function M.plan(opts, shape, graph, trace, names, first)
  if opts.simulator == "general" then return nil, opts.why or "as the caller said" end
  if opts.granularity then return nil, "jobs are given parts of a hierarchy" end
  local plan
  if processors_only(trace) then plan = processors(shape) elseif shape == "job" then plan = whole_nodes(graph, first) end
  if not plan or opts.note or opts.type and opts.type ~= plan.type then return nil, M.JOBS end
  local engine = weir.engine { resources = graph, policy = opts.policy or "low" }
  if not engine then return nil end -- the general simulator says why
  local machine, why = machines.of(graph, engine, plan.unit, names, plan.nodes)
  if machine and machine.numbers and opts.keep_going then
    machine, why = nil, "with --keep-going, a placement policy that scores is called for each start"
  end
  if not machine then
    engine:close()
    return nil, why
  end
  plan.queue_of = opts.queue or "easy"
  local queue, name, code = queue_policy.open(plan.queue_of, function() error("the queue is in C", 0) end, opts.budget)
  if not queue then
    engine:close()
    failure.raise(name, code) -- now, as a policy from a pipe cannot be read again
  end
  plan.engine, plan.graph, plan.machine, plan.queue, plan.queue_name = engine, graph, machine, queue, name
  plan.seconds = opts.budget and opts.budget.seconds or queue_policy.SECONDS
  plan.keeps, plan.state_key = queue_policy.keep(queue, plan.queue_of, graph)
  plan.overrun = opts.overrun or trace.detailed and "run" or "kill"
  plan.placed = machine.numbers and (machine.naming or #machine.levels > 0) and true
  plan.check = plan.whole and function(job)
    local n, way = plan.whole(job)
    if n == nil then return nil, way end
    job.whole = n
    return n ~= false and way == plan.way
  end
  return plan
end

-- ---- results ----------------------------------------------------------------------------------------------------

-- The sums of the simulator, as a collector of metrics has them; see metrics.lua.
local SUMS = { "first", "last", "jobs", "backfilled", "killed", "wait", "flow", "slowdown", "worst", "longest", "queued",
  "preempted", "queue_most", "queue_sum", "idle_waiting", "waiting_time", "fragmented", "free_sum" }

-- Passes the sums to the collector.
local function hand_over(plan, gathered, users)
  local figures, machine, simulator = plan.flat:figures(), plan.machine, plan.simulator
  for _, name in ipairs(SUMS) do gathered[name] = figures[name] end
  gathered.last_end = figures.last_end or -math.huge
  for i, sums in ipairs(figures.users) do
    if sums.jobs > 0 then
      sums.user = users[i]
      gathered.users[users[i]] = sums
    end
  end
  local units = figures.used / plan.weight
  local sums = { [plan.unit] = { units, units } }
  for i, type in ipairs(machine.level_types) do sums[type] = { 0, figures.touched[i] } end
  for type, n in pairs(machine.below) do sums[type] = { n * units, n * units } end
  for _, t in ipairs(gathered.types) do
    local own = sums[t.name] or { 0, 0 }
    t.sum, t.touched_sum = own[1], own[2]
  end
  simulator.now, simulator.nrunning, simulator.passes, simulator.matches, simulator.nstarted = figures.now, figures.running,
    figures.passes, figures.decisions, figures.started
end

-- Returns the jobs that have ended, each with its fate.
local function hand_jobs(plan, run)
  local flat, entered, ended = plan.flat, plan.entered, run.ended
  while true do
    local made, start, finish, units, killed, backfilled, resources = flat:pop()
    if not made then return end
    local job = entered[made]
    job.start, job.finish, job.units, job.state, job.killed, job.backfilled = start, finish, units, "done", killed or nil, backfilled or nil
    job.resources, entered[made] = resources, nil
    ended(job)
  end
end

-- Takes from the simulator what has happened since the last call.
local function drain(plan, run, gathered)
  local flat = plan.flat
  local waits = flat:waits()
  gathered.waits:add_all(waits)
  if run.progress then
    for _ = 1, #waits do run.progress(plan.simulator) end
  end
  if #run.files > 0 then
    local text = flat:lines()
    for _, file in ipairs(run.files) do file:write_lines(text) end
  end
  if run.ended then hand_jobs(plan, run) end
end

-- ---- running --------------------------------------------------------------------------------------------------------

-- Makes what the results need of a simulator: a table with the fields that weir.sim has.
local function facade(plan, opts)
  local start, total = instant.of(opts.from or 0), plan.graph:aggregate(nil, { all = true })[plan.type].total
  plan.engine:advance(start)
  return { engine = plan.engine, graph = plan.graph, type = plan.type, now = start, made = 0, nrunning = 0, matches = 0,
    passes = 0, total = function() return total end }
end

-- Returns a function from a job, by its order of submission, with so many units, and the name of a field to what queue
-- policies are given for it.
local function asker(plan, run)
  return function(made, units, field)
    local job = plan.entered and plan.entered[made] or plan.sized(units)
    job.request = job.request or run.request_of(job)
    return job_fields.of(job, field)
  end
end

-- Opens the simulator.
local function open(plan, run, gathered)
  local opts, machine = run.opts, plan.machine
  return core.flat {
    units = machine.units, weight = plan.weight, queue = plan.queue, ask = asker(plan, run),
    per_event = opts.rule == "per-event", tau = opts.tau, from = run.from, levels = machine.levels, node = machine.node,
    per_node = gathered.per_node,
    start = plan.simulator.now, overrun = plan.overrun == "run",
    placer = plan.placed and placer.new(plan.engine, machine.numbers, plan.entered, not run.ended) or nil,
    naming = machine.naming, lines = #run.files > 0, ended = run.ended ~= nil, series = gathered.series and gathered.series.most,
  }
end

-- Notes a job that the machine can never hold.
local function refuse(plan, run, gathered, job)
  gathered.rejected = gathered.rejected + 1
  local _, why, code = plan.engine:match(run.request_of(job), { mode = "feasible", stats = false, about = about.of(job) })
  job.why, job.code, job.id = why, code, plan.simulator.made
  run.rejected(job)
end

-- What a queue policy did that was stopped at a limit, see queue:again.
local LIMITS = {
  turns = function() return "it called queue:again and queue:preempt 100000 times, and meanwhile" end,
  seconds = function(plan) return ("it requested further calls and took more than its %g seconds, and meanwhile"):format(plan.seconds) end,
}

-- Raises an error of the queue policy, which was called for the job of a number, or for none. limit: whether the message is
-- the name of a limit.
local function policy_failed(plan, message, number, limit)
  if message == "interrupted" then error(message, 0) end -- by a signal
  local figures = plan.flat:figures()
  local why = ("queue policy %s: %s"):format(plan.queue_name, limit and LIMITS[message](plan) or message)
  if limit then
    why = ("%s no job came, started for the first time or ended; at time %s it is stopped"):format(why, figures.now)
  else
    why = ("%s (%sat time %s, after the start of %s)"):format(why, number and ("job %s, "):format(number) or "",
      ("%.14g"):format(figures.now), words.counted(figures.started, "job"))
  end
  failure.raise(why, "failed")
end

-- Raises {replay = message, code = "invalid"} for a job that would end behind the end of the clock; takes the results of
-- the simulator: nil, the number of the job, the time, its estimate and run time; nil, false, and an error of the queue policy;
-- or a boolean, which is returned.
local function check_late(plan, ok, number, now, estimate, runtime)
  if ok ~= nil then return ok end
  if number == false then policy_failed(plan, now, estimate, runtime) end
  local _, why = instant.ends_in_time(now, { estimate = estimate, runtime = runtime })
  failure.raise(("job %s: %s"):format(number, why), "invalid")
end

-- Raises {replay = message, code = "invalid"} unless a job that starts when it is submitted ends by the end of the clock.
local function check_times(number, submit, job)
  if submit + job.estimate <= LAST and submit + job.runtime <= LAST then return end
  local fits, why = instant.ends_in_time(submit, job)
  if not fits then failure.raise(("job %s: %s"):format(number, why), "invalid") end
end

-- Returns a function from a job to the number of its user. users: a list by number, which grows.
local function numbering(users)
  local numbers, n = {}, 0
  return function(job)
    local key = job.user or "?"
    local user = numbers[key]
    if not user then
      n = n + 1
      user, users[n], numbers[key] = n, key, n
    end
    return user
  end
end

-- Notes a job that the results or the engine need later, under the number of its entry.
local function keep(entered, made, job)
  entered[made], job.id = job, made
  job.estimate, job.runtime = instant.of(math.max(job.estimate, 1e-6)), instant.of(job.runtime)
end

-- Enters a job that began before the clock and runs still. Returns whether the machine has room for it.
local function resume(plan, user_of, job, began)
  local simulator, entered, now = plan.simulator, plan.entered, plan.simulator.now
  local made = simulator.made + 1
  simulator.made, job.number, job.submit, began = made, job.number or made, instant.of(job.submit), instant.of(began)
  keep(entered or {}, made, job)
  local estimate, units = job.estimate, plan.units_of(job)
  job.estimate = instant.of(instant.due(began, estimate, now) - now) -- the engine is called for the rest
  local done = check_late(plan, plan.flat:resume(job.number, job.submit, estimate, job.runtime, units, user_of(job),
    plan.ranked and job.priority or 0, job, began))
  job.estimate = estimate
  if not done and entered then entered[made] = nil end
  return done
end

-- Enters all jobs up to the limit of the clock. Raises {replay = message, code = "invalid"} for times behind its end.
local function enter(plan, run, gathered, user_of, next_job)
  local flat, simulator, units_of, entered, ranked = plan.flat, plan.simulator, plan.units_of, plan.entered, plan.ranked
  local limit, n = run.opts["until"], 0
  limit = limit and limit < instant.LAST and instant.of(limit) or nil
  local spare = not entered and run.spare
  for job in next_job do
    local made = simulator.made + 1
    simulator.made = made
    local number, submit = job.number or made, instant.of(job.submit)
    job.number, job.submit = number, submit
    check_times(number, submit, job)
    if limit and math.max(submit, simulator.now) > limit then
      simulator.fed = job -- read, and not submitted
      return
    end
    if entered then keep(entered, made, job) end
    if not check_late(plan, flat:submit(number, submit, job.estimate, job.runtime, units_of(job), user_of(job),
      ranked and job.priority or 0, job)) then
      if entered then entered[made] = nil end
      refuse(plan, run, gathered, job)
    elseif spare then
      spare[#spare + 1] = job
    end
    n = n + 1
    if n % BATCH == 0 then drain(plan, run, gathered) end
  end
end

local function simulate(plan, run, gathered, next_job)
  local users = {}
  local user_of = numbering(users)
  if run.opts.from then
    next_job, run.began = begin.begin(function(job, began) return resume(plan, user_of, job, began) end, next_job,
      plan.simulator.now, plan.overrun ~= "run")
  end
  enter(plan, run, gathered, user_of, next_job)
  local limit = run.opts["until"]
  if limit and limit >= instant.LAST then limit = nil end
  while check_late(plan, plan.flat:run(limit)) do drain(plan, run, gathered) end
  if plan.keeps then
    local ok, why = plan.keeps()
    if not ok then policy_failed(plan, "the state: " .. why) end
  end
  hand_over(plan, gathered, users)
  drain(plan, run, gathered)
  if gathered.series then gathered.series:take(plan.flat:series()) end
end

--- Replays a trace as planned. run: {opts; from, the first submission that counts, or nil; files, writers of the kind `jobs`
--- (see weir.replay.jobs); ended, a function called with each job that has ended, or nil; request_of, a function from a
--- job to its request; rejected, called with each refused job; progress, called with the simulator for each job that has
--- ended, or nil; spare, the tables of jobs that are of no use any more, see weir.trace.swf, or nil}; run.began is set where
--- the replay begins in the middle, see from.lua. next_job: the source of jobs. Returns the collector of metrics, and a
--- table with the fields of a simulator.
function M.run(plan, run, next_job)
  plan.entered = (run.ended or plan.placed or not plan.sized) and {} or nil
  plan.simulator = facade(plan, run.opts)
  local gathered = metrics.new(plan.simulator, { tau = run.opts.tau, points = run.opts.points, series = run.opts.series })
  plan.flat = open(plan, run, gathered)
  simulate(plan, run, gathered, next_job)
  return gathered, plan.simulator
end

return M
