-- Queue policies: each in small cases whose answer is evident, the simulator's promises to policies, and vectors made
-- elsewhere.
local core = require "weir.core"
local heap = require "weir.sim.event_heap"
local queue_policy = require "weir.sim.queue_policy"
local sim = require "weir.sim"

local DATA = os.getenv "WEIR_DATA" or "../shared/data"

local function write(text)
  local path = os.tmpname() .. ".lua"
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
  return path
end

-- {at, cores, estimate, more}
local function job_of(row)
  local job = { at = row[1], request = ("slot=%d/core=1"):format(row[2]), estimate = row[3] }
  for key, value in pairs(row[4] or {}) do job[key] = value end
  return job
end

local function run(rows, opts)
  opts = opts or {}
  local s = assert(sim.new { resources = opts.machine or "cluster:1 core:10", queue = opts.queue, rule = opts.rule, overrun = opts.overrun,
    on = opts.on })
  local jobs = {}
  for i, row in ipairs(rows) do jobs[i] = assert(s:submit(job_of(row))) end
  s:run()
  assert(s.graph:check())
  return jobs, s
end

local function starts(jobs)
  local list = {}
  for i, job in ipairs(jobs) do list[i] = job.start or job.state end
  return table.concat(list, " ")
end

describe("queue policies", function()
  -- 8 of 10 cores are busy until 100; a wide job, then two narrow jobs: one ends by 100, one does not.
  local WIDE = { { 0, 8, 100 }, { 1, 10, 100 }, { 2, 2, 90 }, { 3, 2, 50 }, { 4, 2, 200 } }

  for _, row in ipairs {
    { "fcfs lets nobody overtake", "fcfs", WIDE, "0 100 200 200 200" },
    { "easy lets pass who does not delay the first", "easy", WIDE, "0 100 2 200 200" },
    { "easy lets pass who uses what the first leaves", "easy", { { 0, 8, 100 }, { 1, 9, 100 }, { 2, 1, 500 }, { 3, 1, 500 } },
      "0 100 2 200" },
    { "easy lets the second be delayed", "easy", { { 0, 7, 100 }, { 1, 8, 100 }, { 2, 9, 100 }, { 50, 2, 250 } }, "0 100 300 50" },
    { "conservative delays nobody", "conservative", { { 0, 7, 100 }, { 1, 8, 100 }, { 2, 9, 100 }, { 50, 2, 250 } }, "0 100 200 300" },
    { "hybrid with one reservation is easy", "hybrid:k=1", { { 0, 7, 100 }, { 1, 8, 100 }, { 2, 9, 100 }, { 50, 2, 250 } },
      "0 100 300 50" },
    { "hybrid with two delays neither", "hybrid:k=2", { { 0, 7, 100 }, { 1, 8, 100 }, { 2, 9, 100 }, { 50, 2, 250 } }, "0 100 200 300" },
    { "hybrid without any takes whatever fits", "hybrid:k=0", WIDE, "0 300 2 92 100" },
    { "easy takes the first that fits", "easy", { { 0, 8, 100 }, { 1, 2, 5 }, { 2, 10, 100 }, { 3, 2, 80 }, { 4, 2, 10 } },
      "0 1 100 6 86" },
    { "sjbf takes the shortest that fits", "sjbf", { { 0, 8, 100 }, { 1, 2, 5 }, { 2, 10, 100 }, { 3, 2, 80 }, { 4, 2, 10 } },
      "0 1 100 16 6" },
    { "priority: by QOS", "priority", { { 0, 10, 100 }, { 1, 10, 9, { qos = "low" } }, { 2, 10, 9, { qos = "high" } } }, "0 109 100" },
    { "priority: by levels of one's own", { "priority", levels = "batch debug" },
      { { 0, 10, 100 }, { 1, 10, 9, { qos = "batch" } }, { 2, 10, 9, { qos = "debug" } } }, "0 109 100" },
    { "priority: by size", "priority:size=5", { { 0, 10, 100 }, { 1, 5, 10 }, { 2, 10, 10 } }, "0 110 100" },
    { "priority: the given one", "priority", { { 0, 10, 100 }, { 1, 10, 10 }, { 2, 10, 10, { priority = 9 } } }, "0 110 100" },
    { "priority: by age", "priority:qos=0,fair=0", { { 0, 10, 100 }, { 1, 10, 10 }, { 2, 10, 10 } }, "0 100 110" },
    { "priority: who used much comes later", "priority",
      { { 0, 10, 9000, { user = "a", runtime = 100 } }, { 1, 10, 9, { user = "a" } }, { 2, 10, 9, { user = "b" } } }, "0 109 100" },
    { "priority: and that is forgotten", { "priority", half_life = 10, max_age = 20 },
      { { 0, 10, 9000, { user = "a", runtime = 100 } }, { 1, 1, 5, { user = "x" } }, { 500, 10, 100, { user = "c" } },
        { 501, 10, 9, { user = "a" } }, { 520, 10, 9, { user = "b" } } }, "0 100 500 600 609" },
    { "preempt: makes way after the time that it says", "preempt", { { 0, 8, 100, { preemptible = 30 } }, { 1, 10, 50 }, { 2, 2,
      5 } }, "80 30 2" },
    { "preempt: never without saying so", "preempt", { { 0, 8, 100 }, { 1, 10, 50 } }, "0 100" },
    { "preempt: not for one that is preemptible itself", "preempt", { { 0, 8, 100, { preemptible = 0 } }, { 1, 10, 50,
      { preemptible = 0 } } }, "0 100" },
    { "preempt: the one that ran the least, and no more than are needed", "preempt",
      { { 0, 4, 100, { preemptible = 10 } }, { 5, 4, 100, { preemptible = 10 } }, { 20, 6, 50 } }, "0 70 20" },
    { "preempt: nobody, where all of them would not do", "preempt", { { 0, 4, 100, { preemptible = 0 } }, { 0, 4, 100 }, { 1, 9,
      10 } }, "0 0 100" },
    { "preempt: each so many times", "preempt:times=0", { { 0, 8, 100, { preemptible = 0 } }, { 1, 10, 50 } }, "0 100" },
  } do
    it(row[1], function() assert.equal(row[4], starts((run(row[3], { queue = row[2] })))) end)
  end

  -- The units of a job's request, and the units that any allocation takes, on 8 nodes of 4 cores, 2 gpus and 16 GB
  -- each.
  for _, row in ipairs {
    { "slot=3/core=2", 6, 6 }, { "slot=4/node", 16, 0 }, { "slot=2/node/core=3", 8, 6 }, { "node=2/slot=1/core=3", 6, 6 },
    { "slot=1/socket", 4, 0 }, { "slot=2/[core=1;memory=30]", 2, 2 }, { "slot=8/gpu", 16, 0 }, { "slot=1/[core=1;gpu=2]", 1, 1 },
    { "slot=1/memory=64", 16, 0 }, { "rack=1/slot=2/node", 8, 0 }, { "slot=2/node{-x}", 0, 0 },
  } do
    it("are told how large a job is, whatever it asks for: " .. row[1], function()
      local s = assert(sim.new { resources = "cluster:1 rack:2 node:4 socket:1 core:4 gpu:2 memory:1(size=16,unit=GB)" })
      local job = assert(s:submit { request = row[1], estimate = 1 })
      assert.same({ row[2], row[3] }, { job.units, job.shape.least })
    end)
  end

  it("are told the mean of what nodes have, where they are not alike", function()
    local s = assert(sim.new { resources = require("weir").parse [[{"version":1,"execution":{"R_lite":[{"rank":"0","children":
      {"core":"0-3"}},{"rank":"1-2","children":{"core":"0-6"}}],"starttime":0,"expiration":0,"nodelist":["n[0-2]"]}}]] })
    assert.equal(12, s:submit { request = "slot=2/node", estimate = 1 }.units)
  end)

  for _, row in ipairs {
    { "a large one first, where that counts", "priority:size=5", { { 0, 8, 100 }, { 1, 2, 10 }, { 2, 8, 10 } }, "0 110 100" },
    { "who used many nodes comes later", "priority", { { 0, 8, 9000, { user = "a", runtime = 100 } }, { 1, 8, 9, { user = "a" } },
      { 2, 8, 9, { user = "b" } } }, "0 109 100" },
  } do
    it("priority, of jobs that ask for nodes: " .. row[1], function()
      local s, jobs = assert(sim.new { resources = "cluster:1 node:8 core:4", queue = row[2] }), {}
      for i, job in ipairs(row[3]) do
        local spec = job_of(job)
        spec.request = ("slot=%d/node"):format(job[2])
        jobs[i] = assert(s:submit(spec))
      end
      s:run()
      assert.equal(row[4], starts(jobs))
    end)
  end

  it("[K4] each has a name, a line about itself, and is at most a page", function()
    local list = queue_policy.list()
    assert.is_true(#list >= 7)
    for _, entry in ipairs(list) do
      local sandbox = assert(queue_policy.open(entry.path, function() end))
      local _, name, doc = sandbox:call "about"
      assert.equal(entry.name, name)
      assert.is_true(#doc > 20 and #doc <= 140, name)
      local n = 0
      for _ in io.lines(entry.path) do n = n + 1 end
      assert.is_true(n <= 60, name)
    end
  end)

  for _, row in ipairs {
    { "easi", 'there is no queue policy "easi".*easy' }, { "hybrid:k=x", "option 'k'" }, { "hybrid:n=1",
      "there is no option 'n'; it has k" },
    { "./none.lua", "none.lua" },
  } do
    it("refuses " .. row[1], function()
      local ok, why, code = sim.new { resources = "core:1", queue = row[1] }
      assert.is_nil(ok)
      assert.matches(row[2], why)
      assert.is_string(code)
    end)
  end

  for _, row in ipairs {
    { "return 5", "returns a table" }, { "return {}", "schedule" }, { "return {schedule = 1}", "function expected" },
    { "return {schedule = function() end, more = 1}", "there is no field 'more'" }, { "return {", "expected" },
    { "os.exit()", "os" }, { "return {schedule = function() end, order = 5}", "order" },
  } do
    it("refuses a file that says " .. row[1], function()
      local path = write(row[1])
      local ok, why = sim.new { resources = "core:1", queue = path }
      os.remove(path)
      assert.is_nil(ok)
      assert.matches(row[2], why)
    end)
  end

  it("[K2] one that raises or does not end stops the run, and says where", function()
    for text, pattern in pairs {
      ["return {schedule = function(q) error('oh') end}"] = "oh",
        ["return {schedule = function(q) while true do end end}"] = "instructions",
      ["return {schedule = function(q) q:start(5) end}"] = "a job of the queue is expected",
    } do
      local path = write(text)
      local s = assert(sim.new { resources = "core:1", queue = path, budget = { instructions = 100000 } })
      s:submit { request = "slot=1/core=1", estimate = 5 }
      local ok, why = pcall(s.run, s)
      os.remove(path)
      assert.is_false(ok)
      assert.matches(pattern, why)
      assert(s.graph:check())
    end
  end)
end)

describe("the simulator", function()
  it("[K4] takes a start that would delay a reservation back as if it had never been", function()
    local s = assert(sim.new { resources = "cluster:1 core:10", queue = "easy" })
    local jobs = {}
    for i, row in ipairs { { 0, 8, 100 }, { 1, 10, 100 }, { 2, 2, 150 } } do jobs[i] = s:submit(job_of(row)) end
    s:run(2)
    assert.equal("running 100 pending", ("%s %s %s"):format(jobs[1].state, jobs[2].reserved, jobs[3].state))
    assert.equal(2, #s.engine:jobs())
    assert(s.graph:check())
  end)

  it("gives a reservation other resources for the same time, where somebody can start then", function()
    -- The reservation has cores 0 to 8, of which 8 is free now; the third job needs both 8 and 9 beyond the start.
    local jobs = run({ { 0, 8, 100 }, { 1, 8, 100 }, { 2, 2, 500 } }, { queue = "easy" })
    assert.equal("0 100 2", starts(jobs))
  end)

  it("moves forward what is reserved when a job ends early", function()
    local jobs = run({ { 0, 10, 100, { runtime = 20 } }, { 1, 10, 50 }, { 2, 5, 30 } }, { queue = "conservative" })
    assert.equal("0 20 70", starts(jobs))
  end)

  for overrun, row in pairs { kill = { "0 100", 100, true }, run = { "0 160", 160 } } do
    it("overrun " .. overrun, function()
      local jobs = run({ { 0, 10, 100, { runtime = 160 } }, { 1, 10, 50 } }, { queue = "easy", overrun = overrun })
      assert.equal(row[1], starts(jobs))
      assert.equal(row[2], jobs[1].finish)
      assert.equal(row[3], jobs[1].killed)
    end)
  end

  it("refuses what the machine can never hold, at once", function()
    local jobs = run({ { 0, 11, 10 }, { 0, 10, 10 } }, {})
    assert.equal("rejected 0", starts(jobs))
    assert.equal("infeasible", jobs[1].code)
  end)

  it("counts a job as gone in the second in which its estimate ends, under either rule", function()
    for _, rule in ipairs { "per-event", "per-timestamp" } do
      assert.equal("0 10 10", starts((run({ { 0, 10, 10 }, { 10, 5, 5 }, { 10, 5, 5 } }, { queue = "fcfs", rule = rule }))))
    end
  end)

  it("runs jobs of no length, and of no estimate", function()
    assert.equal("0 0 5", starts((run({ { 0, 10, 0 }, { 0, 10, 5, { runtime = 5 } }, { 1, 10, 0 } }, { queue = "easy" }))))
  end)

  it("takes jobs as they are needed, and forgets those that are over", function()
    local request, n, most = assert(require("weir.core").request "slot=1/core=1"), 0, 0
    local s
    s = assert(sim.new { resources = "cluster:1 core:2", queue = "easy", keep = false, on = function()
      local live = 0
      for _ in pairs(s.jobs) do live = live + 1 end
      most = math.max(most, live)
    end })
    s:feed(function()
      n = n + 1
      return n <= 100 and { submit = n, estimate = 2, runtime = 1, request = request } or nil
    end)
    s:run()
    assert.equal(100, s.made)
    assert.equal(0, #s.list)
    assert.is_true(most <= 4)
    assert.equal(0, #s.engine:jobs())
  end)

  it("keeps events in order, and takes them out again", function()
    local list, events = heap.new(), {}
    for i = 1, 50 do
      events[i] = { time = i * 7 % 10, kind = i * 3 % 4 }
      list:push(events[i])
    end
    for i = 5, 45, 5 do assert.is_true(list:remove(events[i])) end
    assert.is_false(list:remove(events[5]))
    local n, last = 0, { time = -1, kind = 0, made = 0 }
    while list:peek() do
      local event = list:pop()
      assert.is_true(last.time < event.time or last.time == event.time and (last.kind < event.kind
        or last.kind == event.kind and last.made < event.made))
      n, last = n + 1, event
    end
    assert.equal(41, n)
  end)

  it("[K4] does what jobspecs of a log say that they depend on", function()
    local function jobspec(number, submit, dependencies)
      return { number = number, submit = submit, estimate = 10, runtime = 10, request = core.json_encode {
        version = 1, tasks = { { command = { "x" }, slot = "a", count = { per_slot = 1 } } },
        resources = { { type = "slot", count = 1, label = "a", with = { { type = "core", count = 1 } } } },
        attributes = { system = { duration = 10, dependencies = dependencies } },
      } }
    end
    local list, history, i = { jobspec(7, 0), jobspec("f8", 1, { { scheme = "afterok", value = "7" } }),
      jobspec(9, 2, { { scheme = "afterany", value = "f8" } }), jobspec(10, 3, { { scheme = "after", value = "6" } }) }, {}, 0
    local s = assert(sim.new { resources = "cluster:1 core:10", keep = false, on = function(event, job, self)
      if event == "start" or event == "reject" then history[#history + 1] = ("%s %s %s"):format(self.now, event, job.number) end
    end })
    s:feed(function()
      i = i + 1
      return list[i]
    end)
    s:run()
    assert.equal("0 start 7, 3 reject 10, 10 start f8, 20 start 9", table.concat(history, ", "))
  end)

  it("stops for nothing that does not happen any more", function()
    local s = assert(sim.new { resources = "cluster:1 core:10" })
    local job = s:submit { request = "slot=1/core=1", estimate = 1000 }
    s:at(10, function() s:cancel(job) end)
    assert.equal(10, s:run())
    assert.is_nil(s:next_time())
  end)

  it("changes the queue policy while jobs wait and run", function()
    local s = assert(sim.new { resources = "cluster:1 core:10", queue = "easy" })
    local jobs = {}
    for i, row in ipairs { { 0, 8, 100 }, { 1, 10, 100 }, { 2, 2, 90 }, { 200, 1, 1 } } do jobs[i] = s:submit(job_of(row)) end
    s:at(1, function() assert(s:use_queue "fcfs") end)
    s:run()
    assert.equal("0 100 200 200", starts(jobs))
  end)

  it("gives the same history each time", function()
    local histories = {}
    for i = 1, 2 do
      local log, rows = {}, {}
      for k = 1, 60 do rows[k] = { k * 3 % 40, k * 7 % 9 + 1, k * 13 % 50 + 1, { runtime = k * 11 % 40 } } end
      run(rows, { queue = "conservative", on = function(event, job, s) log[#log + 1] = ("%s %s %s"):format(event, job and job.id,
        s.now) end })
      histories[i] = table.concat(log, "\n")
    end
    assert.equal(histories[1], histories[2])
  end)

  -- A policy may shrink a job: the job waits no longer than a job that is submitted as small.
  for _, queue in ipairs { "fcfs", "easy", "conservative", "hybrid", "sjbf", "priority", "preempt" } do
    it("counts what a job is admitted as, under " .. queue, function()
      local s = assert(sim.new { resources = "cluster:1 node:4 core:4", queue = queue, policy = { admit = function(job)
        if job.resources[1].count == 64 then job.resources[1].count = 10 end
        return job
      end } })
      local jobs = {}
      for i, at in ipairs { 0, 1, 2, 3 } do
        jobs[i] = assert(s:submit { request = "slot=64/core=1", at = at, estimate = 10, runtime = i == 2 and 5 or 10 })
      end
      s:run()
      assert.equal("0 10 15 25", starts(jobs))
      assert.same({ 10, 10, 10, 10 }, { jobs[1].units, jobs[2].units, jobs[3].units, jobs[4].units })
      assert(s.graph:check())
    end)
  end

  it("counts anew what jobs are admitted as, once the policy is another one", function()
    local s = assert(sim.new { resources = "cluster:1 node:4 core:4", queue = "conservative" })
    local first = assert(s:submit { request = "slot=64/core=1", at = 0, estimate = 10 })
    s:run(1)
    assert.equal("rejected", first.state)
    assert(s:use_policy { admit = function(job)
      job.resources[1].count = 10
      return job
    end })
    local second = assert(s:submit { request = "slot=64/core=1", at = 2, estimate = 10 })
    s:run()
    assert.same({ "done", 10 }, { second.state, second.units })
  end)

  -- On a machine with structure, whatever happens: no resource has two jobs, reservations are kept or move forward,
  -- every job starts in the end.
  for _, queue in ipairs { "fcfs", "easy", "conservative", "hybrid", "sjbf", "priority", "preempt" } do
    it("keeps its books under " .. queue, function()
      local promised = {}
      local shapes = { "slot=1/node", "slot=3/core=2", "slot=2/[core=1;memory=3]", "node=2/slot=2/core=1", "slot=5/core=1" }
      local s = assert(sim.new { resources = "cluster:1 rack:2 node:3 core:4 memory:2(size=4)", queue = queue, rule = "per-event",
        on = function(event, job)
          if event == "reserve" then promised[job] = math.min(promised[job] or math.huge, job.reserved) end
        end })
      local jobs = {}
      for k = 1, 80 do
        jobs[k] = assert(s:submit { request = shapes[k * 7 % 5 + 1], at = k * 5 % 97, estimate = k * 13 % 40 + 1,
          runtime = k * 11 % 40, preemptible = k % 3 == 0 and 5 or nil, user = k % 4 })
      end
      while s:step() do
        if s.passes % 16 == 0 then assert(s.graph:check()) end
      end
      for _, job in ipairs(jobs) do
        assert.same({ "done" }, { job.state, job.why, job.code })
        assert.is_true(job.start >= job.submit)
        if queue == "easy" or queue == "conservative" then assert.is_true(job.start <= (promised[job] or job.start)) end
      end
      assert.equal(0, #s.engine:jobs())
    end)
  end
end)

-- ---- made elsewhere -----------------------------------------------------------------------------------------

local VECTORS = { fcfs = { basic = 28, fcfs = 7 }, easy = { basic = 28, bf = 8, easy_bf = 3 }, conservative = { basic = 28, bf = 8 } }

local function read_vector(path)
  local jobs, expected = {}, {}
  for line in io.lines(path) do
    local submit, id, estimate, procs, runtime = line:match "^%s*(%d+)%s+([%d.]+)%s+(%d+)%s+(%d+)%s+(%d+)"
    if submit then
      jobs[#jobs + 1] = { tonumber(submit), tonumber(procs), tonumber(estimate), { runtime = tonumber(runtime) } }
      expected[#expected + 1] = tonumber((id:match "^%d+"))
    end
  end
  return jobs, expected
end

describe("vectors of small cases", function()
  for queue, kinds in pairs(VECTORS) do
    for kind, last in pairs(kinds) do
      it(("%s finishes jobs of %s when it should"):format(queue, kind), function()
        local first = io.open(("%s/traces/vectors/%s_input.0"):format(DATA, kind))
        if not first then return pending "no data" end
        first:close()
        for i = 0, last do
          local rows, expected = read_vector(("%s/traces/vectors/%s_input.%d"):format(DATA, kind, i))
          local finished = {}
          for k, job in ipairs((run(rows, { queue = queue, rule = "per-event",
            machine = "cluster:1 core:100" }))) do finished[k] = job.finish end
          assert.same(expected, finished, ("%s_input.%d"):format(kind, i))
        end
      end)
    end
  end
end)

describe("the order in which jobs wait", function()
  -- Random submissions, changed priorities, ends and calls of the policy; returns the final order of jobs.
  local function history(seed)
    math.randomseed(seed)
    local waiting = {}
    local host = assert(queue_policy.open("fcfs", function(_, id) -- starts a third of the jobs offered
      if math.random(3) > 1 then return false end
      waiting[id] = nil
      return true
    end))
    local function call(...) assert(host:call(...)) end
    call "ranked"
    call("units", 100)
    for id = 1, 120 do
      local job = { id = id, submit = math.random(id), priority = math.random(0, 3) }
      waiting[id] = job
      call("submit", id, id, job.submit, 10, 1, "u", "q", job.priority, nil, 1)
      local other = waiting[math.random(id)]
      if other and math.random(2) == 1 then
        other.priority = math.random(0, 3)
        call("priority", other.id, other.priority)
      end
      if math.random(4) == 1 then call("schedule", id, 100) end
      other = waiting[math.random(id)]
      if other and math.random(5) == 1 then
        waiting[other.id] = nil
        call("finish", other.id, false, id)
      end
    end
    local want = {}
    for _, job in pairs(waiting) do want[#want + 1] = job end
    table.sort(want, function(a, b)
      if a.priority ~= b.priority then return a.priority > b.priority end
      if a.submit ~= b.submit then return a.submit < b.submit end
      return a.id < b.id
    end)
    for i, job in ipairs(want) do want[i] = job.id end
    return want, { select(2, host:call("heads", 1000)) }
  end

  for seed = 1, 20 do
    it(("is that of their priorities, then of their submission, in history %d"):format(seed), function()
      local want, got = history(seed)
      assert.same(want, got)
    end)
  end
end)
