-- replay.lua - the cost of replaying: processor seconds and memory for logs of real machines (pending without them) and
-- for generated jobs, with a counter of processors (flat_counter.c) beside each row that it can play. Arguments: how many
-- jobs to generate (default 20000). The traces as large as CTC, BLUE, RICC and Curie are generated; they have a tenth of
-- their jobs unless SCALE=full. Written to build/bench_replay.json for programs. spec/bench/counts.lua gets the rows of
-- generated jobs as JSON.
package.path = "./?.lua;" .. package.path
local core = require "weir.core"
local bench = require "spec.bench.measure"
local replay = require "weir.replay"
local lublin = require "weir.trace.lublin"

local JOBS = tonumber(arg[1] or 20000)
local SHARE = os.getenv "SCALE" == "full" and 1 or 0.1
local TRACES = (os.getenv "WEIR_DATA" or "../shared/data") .. "/traces/"
local KTH = TRACES .. "KTH-SP2-1996-2.predictsim-filtered.swf.gz"

local function case(name, resources, trace, queue, more)
  local opts = { resources = resources, trace = trace, rule = "per-event", queue = queue }
  for key, x in pairs(more or {}) do opts[key] = x end
  return { name = name, opts = opts }
end

-- A generated trace: jobs, processors, load.
local function like(jobs, procs, load) return { jobs = math.floor(jobs * SHARE), procs = procs, load = load } end

local CTC, BLUE, RICC, CURIE = like(77199, 338, 0.85), like(232536, 1152, 0.85), like(447782, 8192, 0.95), like(295540, 80640, 0.85)
local MILLION = like(1000000, 10080, 0.85)

-- A queue policy whose order gives a new number for every waiting job at every pass.
local AGING = "build/bench_aging.lua"
do
  local file <close> = assert(io.open(AGING, "w"))
  file:write [[return {
  order = function(job, now) return -(now - job.submit) / job.estimate end,
  schedule = function(queue)
    local head = queue:first()
    for job in queue:pending() do
      if job ~= head and job.reserved then queue:unreserve(job) end
    end
    while head and queue:reserve(head) do head = queue:first() end
    for job in queue:candidates() do queue:start(job) end
  end,
}]]
end

local CASES = {
  case("KTH-SP2, easy", "cluster:1 core:100", KTH, "easy"),
  case("KTH-SP2, fcfs", "cluster:1 core:100", KTH, "fcfs"),
  case("KTH-SP2, conservative", "cluster:1 core:100", KTH, "conservative"),
  case("KTH-SP2, easy, general simulator", "cluster:1 core:100", KTH, "easy", { simulator = "general" }),
  case("KTH-SP2, easy, best_fit", "cluster:1 core:100", KTH, "easy", { policy = "best_fit" }),
  case("KTH-SP2, easy, spread", "cluster:1 core:100", KTH, "easy", { policy = "spread" }),
  case("KTH-SP2, easy, best_fit on nodes", "cluster:1 node:25 core:4", KTH, "easy", { policy = "best_fit" }),
  case("KTH-SP2, easy.lua of one's own", "cluster:1 core:100", KTH, "./policies/queue/easy.lua"),
  case("KTH-SP2, priority", "cluster:1 core:100", KTH, "priority"),
  case("KTH-SP2, aging", "cluster:1 core:100", KTH, AGING),
  case("like CTC, easy", "cluster:1 core:338", CTC, "easy"),
  case("like CTC, fcfs", "cluster:1 core:338", CTC, "fcfs"),
  case("like CTC, conservative", "cluster:1 core:338", CTC, "conservative"),
  case("like BLUE, easy", "cluster:1 core:1152", BLUE, "easy"),
  case("like BLUE, fcfs", "cluster:1 core:1152", BLUE, "fcfs"),
  case("like RICC, easy", "cluster:1 core:8192", RICC, "easy"),
  case("like RICC, easy, --jobs", "cluster:1 core:8192", RICC, "easy", { jobs = "build/bench_jobs.csv" }),
  case("like Curie, easy", "cluster:1 core:80640", CURIE, "easy"),
  case("like Curie, fcfs", "cluster:1 core:80640", CURIE, "fcfs"),
  case("like Curie, easy, --jobs", "cluster:1 core:80640", CURIE, "easy", { jobs = "build/bench_jobs.csv" }),
  case("like Curie, easy, 10 racks of 504 nodes of 16", "cluster:1 rack:10 node:504 core:16", CURIE, "easy"),
  case("the same, --jobs", "cluster:1 rack:10 node:504 core:16", CURIE, "easy", { jobs = "build/bench_jobs.csv" }),
  case("a million on 10080 nodes, easy", "cluster:1 node:10080", MILLION, "easy", { map = "node" }),
  case("HPC2N, easy, 120 nodes with memory", "cluster:1 node:120 core:2 memory:2(size=512,unit=MB)",
    TRACES .. "HPC2N-2002-2.2-cln.swf.gz", "easy", { map = "core+memory", rule = "per-timestamp" }),
  { name = "generated, EASY, 10080 nodes, sizes of the model",
    opts = { resources = "cluster:1 node:10080", map = "node" }, units = 10080, jobs = JOBS },
  { name = "generated, EASY, 10080 nodes, at most 128 each",
    opts = { resources = "cluster:1 node:10080", map = "node" }, units = 10080, largest = 128, jobs = JOBS },
  { name = "generated, EASY, 256 cores", opts = { resources = "cluster:1 core:256" }, units = 256, jobs = 10 * JOBS },
}

-- Writes a generated trace in SWF, once. Returns the path.
local function written(trace)
  if trace.path then return trace.path end
  trace.path = ("build/bench_%d_%d.swf"):format(trace.procs, trace.jobs)
  local file <close> = assert(io.open(trace.path, "w"))
  for job in assert(lublin.new { jobs = trace.jobs, units = trace.procs, load = trace.load, seed = 3 }).next do
    file:write(("%d %d -1 %d %d -1 -1 %d %d -1 1 %d -1 -1 1 -1 -1 -1\n"):format(job.number, job.submit, job.runtime, job.procs,
      job.procs, job.estimate, job.user))
  end
  return trace.path
end

local function held_kb()
  collectgarbage()
  for line in io.lines "/proc/self/status" do
    local kb = line:match "^VmRSS:%s*(%d+)"
    if kb then return tonumber(kb) end
  end
end

local function is_there(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

local COUNTED = { fcfs = true, easy = true, conservative = true }

-- Runs the case with a counter of processors (flat_counter.c). Returns its seconds; nil where it cannot play the case or was
-- not built. Fails where it has other results.
local function counter_seconds(opts, procs, m)
  if bench.counts or not procs or not COUNTED[opts.queue] or not is_there "build/test/flat_counter" then return nil end
  local cat = opts.trace:find "%.gz$" and "gzip -dc" or "cat"
  local pipe <close> = assert(io.popen(("%s '%s' | build/test/flat_counter %s %d"):format(cat, opts.trace, opts.queue, procs)))
  local jobs, slowdown, _, seconds = pipe:read("n", "n", "n", "n")
  assert(jobs == m.jobs and math.abs(slowdown - m.bounded_slowdown.mean) < 1e-6 * slowdown, "the counter has other results")
  return seconds
end

-- Returns the trace of a case, and the processors of a counter beside; nil where there is none.
local function trace_of(one)
  if one.units then return assert(lublin.new { jobs = one.jobs, units = one.units, largest = one.largest }) end
  if bench.counts then return nil end
  local trace = one.opts.trace
  if type(trace) == "table" then return written(trace), trace.procs end
  return is_there(trace) and trace or nil, math.tointeger(tonumber(one.opts.resources:match "^cluster:1 core:(%d+)$"))
end

local reports = core.array {}
local print = bench.counts and function() end or print
print(("%-48s %8s %8s %8s %9s %10s %8s"):format("replay", "jobs", "s", "us/job", "counter s", "times", "KB held"))
for _, one in ipairs(CASES) do
  local opts, trace, procs = one.opts, trace_of(one)
  opts.trace = trace
  if opts.trace then
    local began = bench.processor()
    local m = assert(replay.run(opts)).metrics
    local seconds = bench.processor() - began
    bench.row(6, one.name .. ", a job", "us", { seconds / m.jobs * 1e6 }, { visited = m.visits_per_job })
    local counter, kb = counter_seconds(opts, procs, m), held_kb()
    print(("%-48s %8d %8.2f %8.1f %9s %10s %8d"):format(one.name, m.jobs, seconds, seconds / m.jobs * 1e6,
      counter and ("%.3f"):format(counter) or "", counter and ("%.1f"):format(seconds / counter) or "", kb))
    reports[#reports + 1] = { name = one.name, jobs = m.jobs, seconds = seconds, held_kb = kb, counter = counter,
      decisions_per_job = m.decisions_per_job, visits_per_job = m.visits_per_job }
  else
    print(("%-48s no data"):format(one.name))
  end
end
for _, trace in ipairs { CTC, BLUE, RICC, CURIE, MILLION } do os.remove(trace.path or "") end
os.remove "build/bench_jobs.csv"
if bench.counts then return bench.print() end
local out = assert(io.open("build/bench_replay.json", "w"))
out:write(core.json_encode({ replays = reports }, { indent = 1 }), "\n")
out:close()
