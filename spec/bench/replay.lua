-- replay.lua - the cost of replaying: processor seconds and memory for logs of real machines (pending without them)
-- and for generated jobs. Arguments: how many jobs to generate (default 20000). Written to build/bench_replay.json
-- for programs. spec/bench/counts.lua gets the rows of generated jobs as JSON.
package.path = "./?.lua;" .. package.path
local core = require "weir.core"
local bench = require "spec.bench.measure"
local replay = require "weir.replay"
local lublin = require "weir.trace.lublin"

local JOBS = tonumber(arg[1] or 20000)
local TRACES = (os.getenv "WEIR_DATA" or "../shared/data") .. "/traces/"

local CASES = {
  { "KTH-SP2, EASY, 100 cores", 1, { resources = "cluster:1 core:100", trace = TRACES .. "KTH-SP2-1996-2.predictsim-filtered.swf.gz",
    rule = "per-event", queue = "easy" } },
  { "KTH-SP2, FCFS", nil, { resources = "cluster:1 core:100", trace = TRACES .. "KTH-SP2-1996-2.predictsim-filtered.swf.gz",
    rule = "per-event", queue = "fcfs" } },
  { "KTH-SP2, conservative", nil, { resources = "cluster:1 core:100", trace = TRACES .. "KTH-SP2-1996-2.predictsim-filtered.swf.gz",
    rule = "per-event", queue = "conservative" } },
  { "HPC2N, EASY, 120 nodes with memory", 15, { resources = "cluster:1 node:120 core:2 memory:2(size=512,unit=MB)", queue = "easy",
    trace = TRACES .. "HPC2N-2002-2.2-cln.swf.gz", map = "core+memory" } },
  { "generated, EASY, 10080 nodes, sizes of the model", nil, { resources = "cluster:1 node:10080", units = 10080, map = "node" } },
  { "generated, EASY, 10080 nodes, at most 128 each", nil, { resources = "cluster:1 node:10080", units = 10080,
    largest = 128, map = "node" } },
}

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

local COUNTED = { fcfs = true, easy = true }

-- Runs the case with a counter of processors (flat_counter.c). Returns its seconds; nil where it has no such queue or
-- was not built. Fails where it has other results.
local function counter_seconds(opts, m)
  local procs = type(opts.resources) == "string" and opts.resources:match "^cluster:1 core:(%d+)$"
  if bench.counts or not procs or not COUNTED[opts.queue] or not is_there "build/test/flat_counter" then return nil end
  local pipe <close> = assert(io.popen(("gzip -dc '%s' | build/test/flat_counter %s %s"):format(opts.trace, opts.queue, procs)))
  local jobs, slowdown, _, seconds = pipe:read("n", "n", "n", "n")
  assert(jobs == m.jobs and math.abs(slowdown - m.bounded_slowdown.mean) < 1e-6 * slowdown, "the counter has other results")
  return seconds
end

local reports = core.array {}
local print = bench.counts and function() end or print
print(("%-48s %8s %9s %9s %10s %10s"):format("replay", "jobs", "s", "us/job", "decisions", "visits"))
for _, case in ipairs(CASES) do
  local name, limit, opts = table.unpack(case)
  if opts.units then opts.trace = assert(lublin.new { jobs = JOBS, units = opts.units, largest = opts.largest }) end
  if type(opts.trace) == "table" or not bench.counts and is_there(opts.trace) then
    local began = bench.processor()
    local m = assert(replay.run(opts)).metrics
    local seconds = bench.processor() - began
    bench.row(6, name .. ", a job", "us", { seconds / m.jobs * 1e6 }, { visited = m.visits_per_job })
    print(("%-48s %8d %9.2f %9.1f %10.2f %10.1f%s"):format(name, m.jobs, seconds, seconds / m.jobs * 1e6, m.decisions_per_job,
      m.visits_per_job, limit and seconds > limit and ("  more than %d s"):format(limit) or ""))
    local counter = counter_seconds(opts, m)
    if counter then print(("%-48s %8d %9.2f %38.0f times"):format("  a counter of processors", m.jobs, counter, seconds / counter)) end
    reports[#reports + 1] = { name = name, jobs = m.jobs, seconds = seconds, limit = limit, held_kb = held_kb(), counter = counter,
      decisions_per_job = m.decisions_per_job, visits_per_job = m.visits_per_job }
  else
    print(("%-48s no data"):format(name))
  end
end
if bench.counts then return bench.print() end
local out = assert(io.open("build/bench_replay.json", "w"))
out:write(core.json_encode({ replays = reports }, { indent = 1 }), "\n")
out:close()
