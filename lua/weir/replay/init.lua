--- replay - a log of jobs, run once more on a machine under policies of one's choice.
---
---   local result = replay.run { resources = "cluster:1 core:100", trace = "KTH-SP2.swf.gz", queue = "easy" }
---   print(result.metrics.bounded_slowdown.mean)

local jobs_file = require "weir.replay.jobs"
local map = require "weir.trace.map"
local metrics = require "weir.replay.metrics"
local sim = require "weir.sim"
local trace = require "weir.trace"
local weir = require "weir"

local M = {}

-- ---- jobs of the trace --------------------------------------------------------------------------------------

-- A number from 0 up to 1 for a job, the same on every machine.
local function lot(seed, number)
  local x = (tonumber(number) and math.tointeger(number) or #tostring(number)) * 0x9E3779B97F4A7C15 + seed * 0x2545F4914F6CDD1D
  x = (x ~ (x >> 30)) * 0xBF58476D1CE4E5B9
  x = (x ~ (x >> 27)) * 0x94D049BB133111EB
  return ((x ~ (x >> 31)) >> 11) / (1 << 53)
end

local function open_trace(opts)
  if type(opts.trace) == "table" then return opts.trace end
  return trace.open(opts.trace, { format = opts.format, malformed = opts.malformed })
end

-- Changes a job as the options say. False: it is left out.
local function adjust(job, opts, first)
  if opts.sample and lot(opts.seed or 1, job.number or 0) >= opts.sample then return false end
  if opts.estimates == "exact" then job.estimate = math.max(job.runtime, 1e-6) end
  if opts.speed then job.submit = first + (job.submit - first) / opts.speed end
  return true
end

-- next() for the simulator.
local function feeder(run, request_of)
  local opts, source, first = run.opts, run.trace, nil
  return function()
    while true do
      local job, why = source.next()
      if not job then
        if why then error({ replay = why }, 0) end
        return nil
      end
      first = first or job.submit
      if adjust(job, opts, first) then
        local request, wrong = request_of(job)
        if not request then error({ replay = ("job %s: %s"):format(job.number or "?", wrong) }, 0) end
        job.request = request
        return job
      end
    end
  end
end

-- ---- what listens -------------------------------------------------------------------------------------------

-- Writes a line a job, and keeps what the report needs.
local function recorder(run)
  local writers, kept = run.writers, run.opts.jobs_kept and {} or nil
  if #writers == 0 and not kept then return nil end
  run.kept = kept
  return function(event, job, simulator)
    if event == "start" then
      job.resources = jobs_file.resources(simulator, job)
    elseif event == "finish" and job.start then
      for _, writer in ipairs(writers) do writer:write(job, job.resources) end
      if kept then
        kept[#kept + 1] = { id = job.number, user = job.user, submit = job.submit, start = job.start, ["end"] = job.finish,
          units = job.units, resources = job.resources, backfilled = job.backfilled or nil, killed = job.killed or nil }
      end
    end
  end
end

local function listener(run, gathered)
  local record, progress, note = recorder(run), run.opts.progress, run.opts.note
  return function(event, job, simulator)
    gathered:on(event, job)
    if record then record(event, job, simulator) end
    if event == "reject" and note then note(job) end
    if progress and event == "finish" then progress(simulator, run.trace) end
  end
end

-- ---- running ------------------------------------------------------------------------------------------------

local WRITERS = { "jobs", "evalys" }

local function open_writers(run)
  run.writers = {}
  for _, kind in ipairs(WRITERS) do
    local path = run.opts[kind]
    if path then
      local writer, why = jobs_file.new(kind, path)
      if not writer then error({ replay = why, code = "io" }, 0) end
      run.writers[#run.writers + 1] = writer
    end
  end
end

local function close_writers(run)
  for _, writer in ipairs(run.writers) do
    local ok, why = writer:close()
    if not ok then error({ replay = why or "a file could not be written", code = "io" }, 0) end
  end
end

local function must(value, why, code)
  if value == nil then error({ replay = why, code = code }, 0) end
  return value
end

-- The type that jobs are counted in: what a processor is.
local function main_type(opts, shape)
  if opts.type then return opts.type end
  return shape:find "core" and "core" or shape:find "node" and "node" or nil
end

local function simulator_of(run, opts, graph)
  local chosen = opts.map or "core"
  local simulator = must(sim.new {
    resources = graph, policy = opts.policy or "low", queue = opts.queue or "easy", rule = opts.rule, overrun = opts.overrun,
    type = main_type(opts, chosen), keep = false, budget = opts.budget, on = function(...) return run.listen(...) end,
  })
  for _, writer in ipairs(run.writers) do writer.sim = simulator end
  return simulator
end

local function go(run)
  local opts = run.opts
  local graph = must(weir.resources(opts.resources))
  local request_of = must(map.new(opts.map or "core", graph))
  run.trace = must(open_trace(opts))
  open_writers(run)
  local simulator = simulator_of(run, opts, graph)
  run.sim = simulator
  local feed = feeder(run, request_of)
  local first = feed()
  local from = opts.warmup and first and first.submit + opts.warmup
  local gathered = metrics.new(simulator, { tau = opts.tau, from = from, points = opts.points })
  run.listen = listener(run, gathered)
  simulator:feed(function()
    local job = first
    first = nil
    return job or feed()
  end)
  simulator:run(opts["until"])
  close_writers(run)
  return { metrics = gathered:result(), series = gathered.series:result(), kept = run.kept, trace = run.trace, sim = simulator,
    policy = opts.policy or "low", queue = opts.queue or "easy" }
end

--- Runs a trace. opts: resources (what weir.resources takes), trace (a file, or {next =} as of weir.trace or weir.trace.lublin), policy
--- ("low"), queue ("easy"), map ("core"; see weir.trace.map), format, malformed, rule, overrun, budget; until (stop the clock
--- there), warmup (seconds after the first submission whose jobs do not count), speed (submissions come that much faster), sample
--- (the share of the jobs that is taken), seed (of the choice), estimates ("user", "exact": the run times), tau (10), type; jobs,
--- evalys (files to be written, see weir.replay.jobs), jobs_kept (what the report needs of each job is in result.kept);
--- progress(simulator, trace), note(job), called after each end, and with jobs that are refused. Returns {metrics, series, kept,
--- trace, sim, policy, queue}, or nil, message, code.
function M.run(opts)
  local run = { opts = opts }
  local ok, result = pcall(go, run)
  if ok then return result end
  if run.sim and result == run.sim.failure then return nil, result, "policy" end
  if type(result) == "table" and result.replay then return nil, result.replay, result.code or "invalid" end
  error(result, 0)
end

return M
