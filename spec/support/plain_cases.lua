-- plain_cases.lua - replays of random jobs by the simulator of plain jobs (bindings/weir/replay), compared with the general
-- simulator: every metric, the series, and every line of --jobs, that is each start, end and each unit.
local assert = require "luassert"
local core = require "weir.core"
local replay = require "weir.replay"
local shell = require "spec.support.shell"
local weir = require "weir"

local M = {}

-- {resources, map, policies}: machines that are seen as plain, small enough for jobs to be in each other's way.
M.MACHINES = {
  { "cluster:1 core:8", "core", { "low", "high", "first" } },
  { "cluster:1 core:70", "core", { "low" } },
  { "cluster:1 node:4 core:3", "core", { "low", "high" } },
  { "cluster:1 rack:2 node:3 core:2", "core", { "low", "first" } },
  { "cluster:1 node:3 socket:2 core:2 gpu:1", "core", { "low", "high" } },
  { "cluster:1 node:9", "node", { "low", "high" } },
  { "cluster:1 rack:3 node:3 core:2 gpu:1 memory:1(size=8)", "node", { "low", "first", "high" } },
  { "cluster:1 rack:2[node:3[core:4] node:2[core:4]]", "core", { "first", "low" } },
  { "cluster:1 node:5 core:4", "slot={N/4}/node", { "low" } },
  { "cluster:1[node:3[core:4] node:4[core:1] node:2[core:3]]", "core", { "low", "first" } },
}
-- Bundled policies that are more than an order, whose units the engine chooses; exclusive ones where units are nodes.
M.SCORING = { "best_fit", "worst_fit", "spread", "weighted", "round_robin", "contiguous", "locality", "drain_first", "emptiest", "alike",
  "variation", "newest_first", "packed_gpu_nodes", "gpu_affinity", "io", "power", "treepool", "network",
  { name = "whole", exclusive = "node" }, { name = "ordered", order = { "node.id", "id" }, exclusive = "node" },
  { name = "unused", descend = { "node", "core" }, exclusive = "node" } }

M.QUEUES = { "fcfs", "easy", "sjbf", "hybrid:k=1", "hybrid:k=3", "conservative", "preempt", "priority", "turns" }
local UNITS = { 1, 0.1, 1.03, 0.000001 } -- seconds

-- Numbers of jobs as traces may have them, for the i-th job.
local NUMBERS = {
  function(i) return i end, function(i) return 1000 - i end, function(i) return -i end, function(i) return i + 0.5 end,
  function(i) return "j" .. i end, function(i) return ('say "%d", %d'):format(i % 3, i) end,
}

local QUEUE_NAMES = { "batch", "debug", "idle" }
local TIERS = { batch = { priority_tier = 2 }, debug = { priority_tier = 3, priority_job_factor = 2 }, idle = { priority_tier = 1 } }

-- beyond: whether jobs may run on for long beyond their estimates.
local function random_jobs(random, units, beyond)
  local jobs, at = {}, 0
  local gap, longest, largest = random(0, 6), random(2, 40), random(units + 1)
  for i = 1, random(4, 30) do
    at = at + (random(3) == 1 and 0 or random(0, gap))
    local estimate = random(longest)
    local number = NUMBERS[random(3) == 1 and random(#NUMBERS) or 1](i)
    jobs[i] = { number = number, submit = at, procs = random(random(largest)), estimate = estimate,
      runtime = random(3) == 1 and estimate or random(0, estimate + (random(9) == 1 and 5 or 0)), user = random(3),
      recorded = random(8) > 1 and at + random(0, longest) or nil, queue = QUEUE_NAMES[random(#QUEUE_NAMES)] }
    if random(3) == 1 then jobs[i].preemptible, jobs[i].qos = random(0, 9), random(3) end
    if beyond and random(5) == 1 then jobs[i].runtime = estimate + random(200) end
  end
  return jobs
end

-- A trace of jobs, in another unit of time.
local function trace_of(jobs, unit)
  local i = 0
  return { format = "swf", read = #jobs, malformed = 0, left_out = 0, next = function()
    i = i + 1
    local job = jobs[i]
    if not job then return nil end
    local copy = {}
    for key, x in pairs(job) do copy[key] = x end
    for _, key in ipairs { "submit", "estimate", "runtime", "recorded", "preemptible" } do copy[key] = job[key] and job[key] * unit end
    return copy
  end }
end

local dir -- of the files, which the caller's teardown removes (shell.clean)

local IGNORED = { decisions = true, decisions_per_job = true, visits_per_job = true }

-- The values of a table of results as lines, numbers with 11 digits: sums of parts of seconds depend on their order.
local function flatten(x, name, lines)
  if type(x) == "table" then
    for key, value in pairs(x) do
      if not IGNORED[key] then flatten(value, name .. "." .. tostring(key), lines) end
    end
  else
    lines[#lines + 1] = ("%s = %s"):format(name, type(x) == "number" and ("%.11g"):format(x) or tostring(x))
  end
  return lines
end

-- Fails with the lines that differ between two texts.
local function assert_equal_lines(a, b, say)
  if a == b then return assert.equal(a, b) end
  local lists, said = { {}, {} }, {}
  for i, text in ipairs { a, b } do
    for line in text:gmatch "[^\n]+" do lists[i][#lists[i] + 1] = line end
  end
  for i = 1, math.max(#lists[1], #lists[2]) do
    if lists[1][i] ~= lists[2][i] and #said < 12 then
      said[#said + 1] = ("general: %s\nplain:   %s"):format(lists[1][i], lists[2][i])
    end
  end
  error(say .. table.concat(said, "\n"), 0)
end

--- Replays jobs with both simulators, and compares the results. opts: of weir.replay.run, without trace; tiers: whether
--- the machine has queues of different priority; bare: without the
--- files of --jobs and --evalys, which take a while to reach the disk. Returns the result of the plain simulator.
function M.compare(make_trace, opts, say, bare)
  local texts, results = {}, {}
  dir = dir or shell.directory()
  local jobs, evalys = not bare and shell.path(dir, "jobs.csv") or nil, not bare and shell.path(dir, "evalys.csv") or nil
  for i, simulator in ipairs { "general", false } do
    local own = { jobs = jobs, evalys = evalys, jobs_kept = true, series = true }
    for key, x in pairs(opts) do own[key] = x end
    own.trace, own.simulator = make_trace(), simulator or nil
    own.tiers = nil
    if opts.tiers then
      own.resources = weir.synthetic(opts.resources)
      own.resources:root().data.queues = TIERS
    end
    local result = assert(replay.run(own))
    assert.equal(simulator == "general", result.sim.queue ~= nil, say) -- the simulator meant
    local lines = flatten({ result.metrics, result.series, result.refused, result.began }, "", {})
    table.sort(lines)
    texts[i] = table.concat(lines, "\n") .. "\n" .. (bare and "" or shell.slurp(jobs) .. shell.slurp(evalys))
    for _, job in ipairs(result.kept) do
      local fields = flatten(job, "", {})
      table.sort(fields)
      texts[i] = texts[i] .. table.concat(fields, " ") .. "\n"
    end
    results[i] = result
  end
  assert_equal_lines(texts[1], texts[2], say)
  return results[2]
end

--- Compares the replay of a long queue: 200 jobs come while a job has the whole machine, 200 later, when small jobs have
--- overtaken large ones. Jobs of queues of higher priority come between others that wait.
function M.crowd(seed, queue, rule)
  math.randomseed(seed)
  local jobs = { { number = 1, submit = 0, procs = 4, estimate = 1000, runtime = 900, user = 1, queue = "batch" } }
  for i = 2, 400 do
    local large, estimate = i == 2 or math.random(3) == 1, math.random(9)
    jobs[i] = { number = i, submit = i <= 200 and math.random(8) * 100 or 1100 + i // 10, procs = large and 4 or 1,
      estimate = large and 300 or estimate, runtime = large and 200 or math.random(0, estimate), user = i % 3 + 1,
      queue = math.random(9) == 1 and "debug" or "batch" }
  end
  table.sort(jobs, function(a, b)
    if a.submit ~= b.submit then return a.submit < b.submit end
    return a.number < b.number
  end)
  M.compare(function() return trace_of(jobs, 1) end, { resources = "cluster:1 core:4", map = "core", policy = "low", queue = queue,
    rule = rule, tiers = true }, ("seed %d under %s, %s"):format(seed, queue, rule), true)
end

-- Returns a policy whose units the engine chooses.
local function scoring(shape, resources)
  while true do
    local policy = M.SCORING[math.random(#M.SCORING)]
    if type(policy) == "string" or not shape:find "core" or not resources:find "node" then return policy end
  end
end

--- Compares n random traces from a seed. placed: under policies that are more than an order.
function M.random(seed, n, placed)
  math.randomseed(seed)
  for i = 1, n do
    local resources, shape, policies = table.unpack(M.MACHINES[math.random(#M.MACHINES)])
    local units = 0
    for count in resources:gmatch "%a+:(%d+)" do units = units == 0 and tonumber(count) or units * tonumber(count) end
    local beyond, unit = math.random(4) == 1, UNITS[i % #UNITS + 1]
    local jobs = random_jobs(math.random, math.min(units, 24), beyond)
    local opts = { resources = resources, map = shape, policy = placed and scoring(shape, resources) or policies[math.random(#policies)],
      queue = M.QUEUES[math.random(#M.QUEUES)], rule = math.random(2) == 1 and "per-event" or "per-timestamp" }
    if math.random(6) == 1 then opts["until"] = math.random(60) * unit end
    if math.random(6) == 1 then opts.warmup = math.random(20) * unit end
    if beyond then opts.overrun = "run" end
    if math.random(4) == 1 then opts.tiers = true end
    if math.random(4) == 1 and not opts.warmup then opts.from = math.random(0, 60) * unit end
    local say = ("trace %d of seed %d, in %g s: %s under %s\n%s\n"):format(i, seed, unit, resources, core.json_encode(opts),
      core.json_encode(jobs))
    M.compare(function() return trace_of(jobs, unit) end, opts, say, i % 10 ~= 1)
  end
end

-- ---- accountings ------------------------------------------------------------------------------------------------

-- A machine of n nodes as slurm.conf tells it; exclusive: whether jobs get whole nodes.
local function slurm_conf(n, exclusive)
  local own = exclusive and " OverSubscribe=EXCLUSIVE" or ""
  return ("NodeName=n[1-%d] Sockets=2 CoresPerSocket=2 RealMemory=100\nPartitionName=batch Nodes=ALL Default=YES%s\n"
    .. "PartitionName=debug Nodes=ALL PriorityTier=2%s\n"):format(n, own, own)
end

local function time(t) return os.date("!%Y-%m-%dT%H:%M:%S", 86400 + t) end

-- What sacct prints of random jobs, whose cores are all those of their nodes.
local function accounting(random, nodes)
  local lines, at = { "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|Partition|User|State" }, 0
  local longest = random(200, 2000)
  for i = 1, random(5, 40) do
    at = at + random(0, 300)
    local start, n, run = at + random(0, longest), random(random(nodes + 1)), random(0, longest)
    local limit = random(3) == 1 and run // 60 + 1 or random(longest // 60 + 1)
    lines[#lines + 1] = table.concat({ i, time(at), time(start), time(start + run), limit, n, 4 * n,
      random(3) == 1 and "debug" or "batch", "u" .. random(3), "COMPLETED" }, "|")
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Compares n random accountings from a seed, whose jobs get whole nodes.
function M.accountings(seed, n)
  math.randomseed(seed)
  dir = dir or shell.directory()
  for i = 1, n do
    local nodes = math.random(2, 9)
    local conf = shell.path(dir, "slurm.conf", slurm_conf(nodes, math.random(2) == 1))
    local text = accounting(math.random, nodes)
    local path = shell.path(dir, "jobs.sacct", text)
    local opts = { resources = conf, queue = M.QUEUES[math.random(#M.QUEUES)],
      policy = ({ "low", "low", "first", "high", "high", "best_fit" })[math.random(6)],
      rule = math.random(2) == 1 and "per-event" or "per-timestamp" }
    if math.random(4) == 1 then opts.from = 86400 + math.random(3000) end
    M.compare(function() return path end, opts, ("accounting %d of seed %d under %s\n%s"):format(i, seed, core.json_encode(opts), text),
      i % 5 ~= 1)
  end
end

return M
