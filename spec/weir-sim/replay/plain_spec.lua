-- Replays of plain jobs (lua/weir-sim/replay/plain.lua, core/queue): equal to those of the general simulator in every
-- start and every unit, and left to the general simulator where jobs, machine or policies are not plain.
local cases = require "spec.support.plain_cases"
local core = require "weir.core"
local lublin = require "weir.trace.lublin"
local queue_policy = require "weir.sim.queue_policy"
local replay = require "weir.replay"
local shell = require "spec.support.shell"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local FILES = 4 -- of random traces, each with its seed

local JOBS = "job_id,submit,runtime,procs,estimate\n1,0,10,3,20\n2,1,5,4,5\n3,2,3,1,4\n"

local dir
setup(function() dir = shell.directory() end)
teardown(shell.clean)

local NODES_WHOLE = { order = { "node.id", "id" }, exclusive = "node" }

local function file(name, text) return shell.path(dir, name, text) end

describe("plain replays of random jobs", function()
  for seed = 1, FILES do
    it(("[K4] equal those of the general simulator, in each start and each unit, seed %d"):format(seed), function()
      cases.random(seed, math.ceil(25 * SCALE))
    end)
  end

  for seed = 1, FILES do
    it(("[K4] equal those of the general simulator under policies that are more than an order, seed %d"):format(seed), function()
      cases.random(seed, math.ceil(15 * SCALE), true)
    end)
  end

  for _, queue in ipairs { "easy", "sjbf", "conservative" } do
    for _, rule in ipairs { "per-event", "per-timestamp" } do
      it(("[K4] equal those of the general simulator with a long queue, %s, %s"):format(queue, rule), function()
        for seed = 1, math.ceil(3 * SCALE) do cases.crowd(seed, queue, rule) end
      end)
    end
  end

  for seed = 1, 2 do
    it(("[K4] equal those of the general simulator where accountings give whole nodes, seed %d"):format(seed), function()
      cases.accountings(seed, math.ceil(8 * SCALE))
    end)
  end

  -- Many jobs at a high load: long queues, moved reservations, fragments.
  for _, row in ipairs {
    { "cluster:1 core:32", "easy", "low" }, { "cluster:1 core:32", "conservative", "high" }, { "cluster:1 core:32", "sjbf", "first" },
    { "rack:2 node:4 core:4", "easy", "low" }, { "rack:2 node:4 core:4", "hybrid:k=4", "low" },
    { "rack:2 node:4 core:4", "conservative", "low" },
  } do
    local resources, queue, policy = table.unpack(row)
    it(("[K4] equal those of the general simulator at a high load, %s under %s and %s"):format(resources, queue, policy), function()
      local n = math.ceil(150 * SCALE)
      cases.compare(function() return assert(lublin.new { jobs = n, units = 32, load = 1.2, seed = 5 }) end,
        { resources = resources, queue = queue, policy = policy, rule = "per-event" }, "")
    end)
  end
end)

describe("a trace whose jobs have numbers and texts as ids", function()
  for _, queue in ipairs { "fcfs", "easy", "sjbf", "hybrid", "conservative", "preempt", "priority", "turns" } do
    it("is replayed under " .. queue, function()
      local path = file("mixed.csv",
        "job_id,submit,runtime,procs,estimate,user\n9,0,5,4,5,a\nx2,1,5,2,5,b\n3,1,5,2,5,b\n2_1,1,5,4,5,a\n")
      local result, why = replay.run { resources = "cluster:1 core:4", queue = queue, trace = path, jobs_kept = true }
      assert.equal(4, assert(result, why).metrics.jobs)
    end)
  end
end)

-- Whether a replay was made by the simulator of plain jobs.
local function is_plain(opts)
  opts.trace = opts.trace or file("jobs.csv", JOBS)
  return assert(replay.run(opts)).sim.queue == nil
end

describe("a replay is plain", function()
  for what, opts in pairs {
    ["for cores"] = { resources = "cluster:1 core:4" },
    ["for cores in nodes in racks"] = { resources = "rack:2 node:2 core:4" },
    ["for whole nodes"] = { resources = "node:4 core:2", map = "node" },
    ["for processors that share a node"] = { resources = "node:4 core:2", map = "slot={N/2}/node" },
    ["where the cores of a node are not in sequence"] = { resources = "node:4 core:2", policy = "high" },
    ["under a policy without an order"] = { resources = "node:4 core:2", policy = "first" },
    ["under a policy that scores"] = { resources = "node:2 core:4", policy = "best_fit" },
    ["under a policy with options"] = { resources = "node:2 core:4", policy = "weighted:pack=2,low=0" },
    ["under a policy with an order of properties"] = { resources = "cluster:1 core:4", policy = { order = { "properties.x" } } },
    ["under a policy that gives whole nodes, for whole nodes"] = { resources = "node:4 core:2", map = "node", policy = NODES_WHOLE },
    ["for jobs that run on beyond their estimate"] = { resources = "cluster:1 core:4", overrun = "run" },
    ["from a time on"] = { resources = "cluster:1 core:4", from = 2 },
    ["under hybrid with options"] = { resources = "cluster:1 core:4", queue = "hybrid:k=2" },
    ["under a queue policy with an order and a hook"] = { resources = "cluster:1 core:4", queue = "priority" },
    ["with --keep-going, under a policy without functions"] = { resources = "cluster:1 core:4", keep_going = true },
    ["with a budget of the queue policy"] = { resources = "cluster:1 core:4", budget = { seconds = 5 } },
  } do
    it(what, function() assert.is_true(is_plain(opts)) end)
  end
end)

describe("a replay is left to the general simulator", function()
  local function with_down()
    local graph = weir.synthetic "cluster:1 core:5"
    graph:find("name=core4")[1].state = "down"
    return graph
  end
  local function with_job()
    local graph = weir.synthetic "cluster:1 core:5"
    assert(weir.engine { resources = graph }:match("slot=1/core", { at = 50, mode = "reserve", duration = 10 }))
    return graph
  end
  for what, opts in pairs {
    ["with memory beside cores"] = { resources = "node:2 core:4 memory:1(size=8)", map = "core+memory" },
    ["for several cores of a slot"] = { resources = "node:4 core:4", map = "slot=N/core=2" },
    ["under a policy of one's own that scores"] = { resources = "cluster:1 core:4", policy = { evaluate = function() return 1 end } },
    ["under a policy of one's own that leaves out"] = { resources = "cluster:1 core:4", policy = { prune = function() return true end } },
    ["under a policy that gives whole nodes"] = { resources = "node:2 core:4", policy = NODES_WHOLE },
    ["where something is down"] = { resources = with_down },
    ["where somebody has something later"] = { resources = with_job },
    ["where units have units besides"] = { resources = "cluster:1 node:2[core:2] node:2[core:4]", map = "node" },
    ["where a core is a pool"] = { resources = "cluster:1 core:2(size=4)" },
    ["with --keep-going, under a policy that scores"] = { resources = "node:2 core:4", policy = "best_fit", keep_going = true },
    ["where it is asked for"] = { resources = "cluster:1 core:4", simulator = "general" },
  } do
    it(what, function()
      if type(opts.resources) == "function" then opts.resources = opts.resources() end
      assert.is_false(is_plain(opts))
    end)
  end

  it("where jobs have requests of their own", function()
    local path = file("requests.csv", "job_id,submit,runtime,shape\n1,0,10,slot=3/core=1\n")
    assert.is_false(is_plain { resources = "cluster:1 core:4", trace = path })
  end)
end)

describe("a queue policy of one's own counts units as a bundled one does", function()
  local function lublin_jobs() return assert(lublin.new { jobs = 120, units = 16, load = 1.1, seed = 3 }) end
  for _, name in ipairs { "conservative", "easy", "fcfs", "hybrid", "preempt", "priority", "sjbf", "turns" } do
    it("a copy of " .. name, function()
      local copy = file("copy.lua", shell.slurp(("policies/queue/%s.lua"):format(name)))
      local results = {}
      for i, queue in ipairs { name, copy } do
        results[i] = assert(replay.run { resources = "cluster:1 core:16", queue = queue, trace = lublin_jobs() })
        assert.is_nil(results[i].sim.queue)
      end
      assert.same(results[1].metrics, results[2].metrics)
    end)
  end
end)

describe("an error of a queue policy ends a plain replay as it ends one in the general simulator", function()
  local START = "schedule = function(q) for job in q:candidates() do q:start(job) end end, "
  for what, fields in pairs {
    ["in schedule"] = "schedule = function(q) error 'oops' end",
    ["in schedule, about a field"] = "schedule = function(q) for job in q:pending() do local x = job.estimat end end",
    ["in schedule, about a method"] = "schedule = function(q) q:reserv() end",
    ["in schedule, about a job"] = "schedule = function(q) q:start {} end",
    ["in schedule, about victims"] = "schedule = function(q) q:start(q:first(), 7) end",
    ["in schedule, about a time"] = "schedule = function(q) q:again(1e300) end",
    ["in started"] = START .. "started = function(job) if job.number == 2 then error 'oops' end end",
    ["in finished"] = START .. "finished = function(job) error('oops ' .. job.start) end",
    ["in order"] = START .. "order = function(job) return 'x' end",
    ["in order, with too many numbers"] = START .. "order = function(job) return 1, 2, 3, 4, 5 end",
    ["in order, with nan"] = START .. "order = function(job) return 0 / 0 end",
    ["calling again for ever"] = "schedule = function(q) q:again(q.now + 1e-6) end",
    ["calling again too often, caught"] = "schedule = function(q) for i = 1, 1e6 do pcall(q.again, q, q.now + i * 1e-6) end end",
    ["in a state that grows"] = START .. "state = { list = {} }, started = function(_, _, _, s) s.list[1] = ('x'):rep(200000) end",
  } do
    it(what, function()
      local queue = file("mine.lua", "return {" .. fields .. "}")
      local said = {}
      for i, simulator in ipairs { "general", false } do
        local result, why, code = replay.run { resources = "cluster:1 core:4", queue = queue, trace = file("jobs.csv", JOBS),
          simulator = simulator or nil }
        said[i] = { result == nil, why, code }
      end
      assert.is_true(said[1][1])
      assert.same(said[1], said[2])
    end)
  end
end)

describe("a replay of an accounting", function()
  local CONF = "NodeName=n[1-4] Sockets=1 CoresPerSocket=4 RealMemory=100\nPartitionName=batch Nodes=ALL Default=YES\n"
    .. "PartitionName=half Nodes=n[1-2]\n"
  local HEAD = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|Partition|State\n"
  local function row(id, second, nodes, cores, partition)
    return ("%d|2024-01-01T00:00:%02d|2024-01-01T00:01:00|2024-01-01T00:02:00|2|%d|%d|%s|COMPLETED\n"):format(id, second, nodes, cores,
      partition or "batch")
  end
  local WHOLE = HEAD .. row(1, 0, 2, 8) .. row(2, 5, 4, 16) .. row(3, 9, 1, 4)

  for what, case in pairs {
    ["is plain where jobs get whole nodes"] = { true, WHOLE },
    ["begins again where a later job shares a node"] = { false, WHOLE .. row(4, 12, 1, 2) },
    ["begins again where a later job wants nodes of a partition"] = { false, WHOLE .. row(4, 12, 1, 4, "half") },
    ["is left to the general simulator where the first job shares a node"] = { false, HEAD .. row(1, 0, 1, 2) .. row(2, 5, 4, 16) },
  } do
    it(what, function()
      local out = shell.path(dir, "accounting.csv")
      local result = assert(replay.run { resources = file("slurm.conf", CONF), trace = file("jobs.sacct", case[2]), jobs = out })
      local _, lines = case[2]:gsub("\n", "")
      local _, written = shell.slurp(out):gsub("\n", "")
      assert.same({ case[1], lines - 1, lines }, { result.sim.queue == nil, result.metrics.jobs, written })
    end)
  end

  it("leaves the machine of the caller as it was", function()
    local graph = assert(weir.load(file("slurm.conf", CONF)))
    local result = assert(replay.run { resources = graph, trace = file("jobs.sacct", WHOLE .. row(4, 12, 1, 2)), policy = "best_fit" })
    assert.equal(4, result.metrics.jobs)
  end)
end)

describe("a job without run time", function()
  -- Job 994 begins at its reservation, in a turn of the clock that was begun for another event.
  local ROWS = "id,submit,runtime,procs,estimate\n1,0,16,3,18\n998,0,2,2,17\n3,2,1,4,13\n4,3,2,2,26\n5,4,17,4,17\n994,5,0,5,2\n"
    .. "7,5,20,1,20\n8,5,3,1,3\n9,5,4,3,17\n"

  for _, simulator in ipairs { "general", "plain" } do
    it("ends where it begins, in the simulator that is " .. simulator, function()
      local result = assert(replay.run { resources = "cluster:1 node:3 socket:2 core:2 gpu:1", map = "core", policy = "high",
        queue = "sjbf", rule = "per-event", trace = file("zero.csv", ROWS), simulator = simulator == "general" and simulator or nil })
      assert.same({ 9, 0 }, { result.metrics.jobs, result.metrics.unfinished or 0 })
    end)
  end
end)

describe("a plain replay", function()
  it("names jobs that are refused, with the reason of the engine", function()
    local result = assert(replay.run { resources = "cluster:1 core:3", trace = file("jobs.csv", JOBS) })
    local refused = result.refused[1]
    assert.same({ 1, 2, "the request can never be met on these resources" }, { #result.refused, refused.number, refused.why })
  end)

  it("ends where a job would end behind the clock", function()
    local path = file("late.csv", "job_id,submit,runtime,procs,estimate\n1,0,5e12,1,5e12\n2,1,5e12,1,5e12\n")
    for _, simulator in ipairs { "general", "plain" } do
      local result, why, code = replay.run { resources = "cluster:1 core:1", trace = path, simulator = simulator }
      assert.is_nil(result)
      assert.same({ "job 2: estimate 5e+12 s from 5e+12 s on: a job ends by 9e+12 s, the end of the clock", "invalid" }, { why, code })
    end
  end)

  it("writes numbers and names of jobs as they are, quoted where they must be", function()
    local csv = shell.path(dir, "names.out")
    local path = file("names.csv", 'job_id,submit,runtime,procs\n"a,b",0.5,1,1\n2.5,0.5,1,2\nx,1,0.25,1\n')
    assert(replay.run { resources = "cluster:1 core:4", trace = path, jobs = csv })
    assert.equal('job_id,submit,start,end,wait,resources\nx,1,1,1.25,0,rank0/core3\n2.5,0.5,0.5,1.5,0,rank0/core[0-1]\n'
      .. '"a,b",0.5,0.5,1.5,0,rank0/core2\n', shell.slurp(csv))
  end)

  it("keeps memory flat, whatever the jobs", function()
    local n, most, first = math.ceil(30000 * SCALE), 0, nil
    local jobs = assert(lublin.new { jobs = n, units = 64, load = 0.5 })
    assert(replay.run { resources = "cluster:1 core:64", trace = jobs, series = false, progress = function(s)
        if s.made % 5000 ~= 0 then return end
        collectgarbage()
        local now = collectgarbage "count" - s.made * 16 / 1024 -- the waits
        first = first or now
        most = math.max(most, now)
      end })
    assert.is_true(not first or most - first < 400, tostring(first and most - first))
  end)
end)

describe("the simulator of plain jobs", function()
  local function simulator(changes)
    local opts = { units = 4, queue = "easy" }
    for key, x in pairs(changes or {}) do opts[key] = x end
    if type(opts.queue) == "string" then opts.queue = assert(queue_policy.open(opts.queue, function() end)) end
    return core.flat(opts)
  end

  for what, changes in pairs {
    ["no units"] = { units = 0 }, ["a start before all time"] = { start = -1 },
    ["a queue policy that is none"] = { queue = 7 }, ["an unknown field"] = { colour = 1 },
    ["a level out of order"] = { levels = { { 0, 3, 2 } } }, ["a level behind the units"] = { levels = { { 0, 4 } } },
    ["a level of nothing"] = { levels = { {} } }, ["a vertex that is none"] = { levels = { { 0, 1, 2, 3, scattered = 3 } } },
    ["lines without names"] = { lines = true }, ["a node that is no level"] = { node = 1 },
    ["a class without a text"] = { naming = { texts = { "a" }, stretches = { 0, 0, 1, 0, 1 } } },
    ["no stretches"] = { naming = { type = "core", stretches = {} } },
  } do
    it("refuses " .. what, function() assert.has_error(function() simulator(changes) end) end)
  end

  for what, job in pairs {
    ["no number"] = { nil, 0, 1, 1, 1, 1 }, ["a time before 0"] = { 1, -1, 1, 1, 1, 1 }, ["no units"] = { 1, 0, 1, 1, 0, 1 },
    ["not a time"] = { 1, 0 / 0, 1, 1, 1, 1 }, ["no user"] = { 1, 0, 1, 1, 1, 0 }, ["a time behind the clock"] = { 1, 1e13, 1, 1, 1, 1 },
  } do
    it("refuses a job with " .. what, function()
      assert.has_error(function() simulator():submit(table.unpack(job, 1, 6)) end)
    end)
  end

  it("takes jobs that run already until its clock has begun, as far as there is room", function()
    local s = simulator { start = 10 }
    assert.is_true(s:resume(1, 0, 20, 20, 3, 1, 0, nil, 5))
    assert.is_false(s:resume(2, 0, 20, 20, 2, 1, 0, nil, 6))
    s:submit(3, 3, 5, 5, 4, 1)
    s:submit(4, 11, 5, 5, 1, 1)
    assert.has_error(function() s:resume(5, 0, 20, 20, 1, 1, 0, nil, 5) end)
    s:run()
    assert.equal(30, s:figures().now) -- 25, when job 1 ends, and the 5 of job 3
  end)

  it("refuses to take a job that begins after its clock", function()
    assert.has_error(function() simulator { start = 10 }:resume(1, 0, 20, 20, 3, 1, 0, nil, 11) end)
  end)

  it("puts jobs of a higher priority first", function()
    local s = simulator { queue = "fcfs", ended = true }
    s:submit(1, 0, 9, 9, 4, 1)
    for i = 2, 9 do s:submit(i, 1, 9, 9, 4, 1, i % 3) end
    s:run()
    local order = {}
    for made in s.pop, s do order[#order + 1] = made end
    assert.same({ 1, 2, 5, 8, 4, 7, 3, 6, 9 }, order)
  end)

  it("refuses a job that asks for more than there is, and goes on", function()
    local s = simulator()
    assert.is_false(s:submit(1, 0, 5, 5, 5, 1))
    assert.is_true(s:submit(2, 0, 5, 5, 4, 1))
    assert.is_false(s:run())
    assert.equal(1, s:figures().jobs)
  end)

  local function placed_by(changes)
    local function done() end
    local functions = { book = done, begin = function() return { 1, 2 } end, finish = done, drop = done, extend = done, advance = done }
    for key, f in pairs(changes) do functions[key] = f end
    return simulator { placer = functions, levels = { { 0, 2 } } }
  end

  it("takes units from functions", function()
    local s = placed_by {}
    s:submit(1, 0, 5, 5, 2, 1)
    s:run()
    assert.same({ 10 }, s:figures().touched) -- 5 seconds in two of the vertices
  end)

  for name, changes in pairs {
    ["book"] = { book = function() error("no units", 0) end }, ["begin"] = { begin = function() error("no units", 0) end },
    ["finish"] = { finish = function() error("no units", 0) end }, ["advance"] = { advance = function() error("no units", 0) end },
  } do
    it(("ends with the error of the function %s that chooses units"):format(name), function()
      local s = placed_by(changes)
      assert.error_matches(function()
        s:submit(1, 0, 5, 5, 2, 1)
        s:run()
      end, "^no units$")
    end)
  end

  for what, runs in pairs { ["too few units"] = { 0, 1 }, ["units that are not there"] = { 3, 2 }, ["no list"] = 7 } do
    it("refuses from functions " .. what, function()
      local s = placed_by { begin = function() return runs end }
      assert.has_error(function()
        s:submit(1, 0, 5, 5, 2, 1)
        s:run()
      end, "job 1 has other units than requested")
    end)
  end
end)
