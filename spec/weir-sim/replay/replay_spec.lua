-- Replaying logs: reading, the meaning of "processor", results in numbers and files, the command. Logs of real
-- machines are compared, job by job, with the results of a second simulator.
local core = require "weir.core"
local instant = require "weir.sim.instant"
local lublin = require "weir.trace.lublin"
local map = require "weir.trace.map"
local missing = require "spec.support.missing"
local progress = require "weir.replay.progress"
local quantiles = require "weir.replay.quantiles"
local replay = require "weir.replay"
local series = require "weir.replay.series"
local shell = require "spec.support.shell"
local trace = require "weir.trace"
local weir = require "weir"

local DATA = os.getenv "WEIR_DATA" or "../shared/data"
local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local dir

local function file(name, text) return shell.path(dir, name, text) end

setup(function() dir = shell.directory() end)
teardown(shell.clean)

local function exists(path)
  local f = io.open(path)
  if f then f:close() end
  return f ~= nil
end

local function swf(...)
  local lines = {}
  for i, job in ipairs { ... } do
    local id, submit, run, procs, estimate, memory, user = table.unpack(job)
    lines[i] = ("%s %s -1 %s %s -1 -1 %s %s %s 1 %s -1 -1 1 -1 -1 -1"):format(id, submit, run, procs, procs, estimate or -1,
      memory or -1, user or -1)
  end
  return table.concat(lines, "\n") .. "\n"
end

local function read_all(path, opts)
  local t = assert(trace.open(path, opts))
  local list = {}
  while true do
    local job, why = t.next()
    if not job then return list, t, why end
    list[#list + 1] = job
  end
end

local function ids(jobs)
  local list = {}
  for i, job in ipairs(jobs) do list[i] = job.number end
  return table.concat(list, " ")
end

-- ---- reading ------------------------------------------------------------------------------------------------

describe("a trace", function()
  it("is read from SWF", function()
    local jobs, t = read_all(file("a.swf", "; MaxProcs: 8\n;  Note: x\n\n" .. swf({ 1, 0, 10, 4, 20, 1000, 7 })))
    assert.same({ { number = 1, submit = 0, runtime = 10, estimate = 20, procs = 4, memory = 1000, user = 7, queue = 1, qos = 1 } }, jobs)
    assert.equal("8", t.header.MaxProcs)
  end)

  it("is read through gzip, told by content", function()
    local path = file("g.swf", swf({ 1, 0, 10, 4, 20 }))
    local packed = shell.path(dir, "packed.log")
    assert(os.execute(("gzip -c '%s' > '%s'"):format(path, packed)))
    assert.equal("1", ids((read_all(packed))))
  end)

  it("takes what a job had for what it asked, and its run time for an estimate", function()
    local jobs = read_all(file("m.swf",
      "1 0 5 10 3 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n2 1 5 0 3 -1 -1 4 0 -1 1 -1 -1 -1 -1 -1 -1 -1\n"))
    assert.same({ 3, 10, 4, 1 }, { jobs[1].procs, jobs[1].estimate, jobs[2].procs, jobs[2].estimate })
  end)

  it("leaves out jobs that never ran, or without processors, and says which", function()
    local jobs, t = read_all(file("l.swf", swf({ 1, 0, -1, 4 }, { 2, 0, 5, 0 }, { 3, 0, 5, 1 })))
    assert.equal("3", ids(jobs))
    assert.same({ 2, 0, 1, "it has no run time", 2, "it requests no processors" },
      { t.left_out, t.malformed, t.problems[1].line, t.problems[1].text, t.problems[2].line, t.problems[2].text })
  end)

  it("reads the 18 columns of SWF where a log has more, whatever these are", function()
    local jobs, t = read_all(file("wide.swf", "1 0 -1 5 4 -1 -1 4 9 -1 1 1 -1 -1 1 -1 -1 -1 {1241,1241} x86_64\n"
      .. "2 1 -1 5 4 -1 -1 4 -1 -1 1 1 -1 -1 1 -1 -1 -1 7\n"))
    assert.same({ "1 2", 0, 9, 5 }, { ids(jobs), t.malformed, jobs[1].estimate, jobs[2].estimate })
  end)

  it("counts the jobs without an estimate", function()
    local _, t = read_all(file("e.swf", swf({ 1, 0, 5, 4, 9 }, { 2, 0, 5, 1 }, { 3, 0, 5, 1, 0 }, { 4, 0, -1, 1 })))
    assert.same({ 2, 3 }, { t.guessed, t.read })
  end)

  for name, text in pairs { ["c.swf"] = "; only\n; comments\n", ["h.csv"] = "submit,runtime,procs\n\n" } do
    it("is none where nothing of " .. name .. " is a job", function()
      local _, _, why = read_all(file(name, text))
      assert.matches("there is no job in it", why, 1, true)
    end)
  end

  for line, why in pairs {
    ["1 2 3"] = "expected 18 numbers, found 3", ["1 x" .. (" -1"):rep(16)] = '"x" is no number', ["\0\1\2"] = "is no number",
    ["1 -5 0 5 4 -1 -1 4 9 -1 1 -1 -1 -1 -1 -1 -1 -1"] = "submitted at -5: expected a time from 0 on",
    ["1 -1 0 5 4 -1 -1 4 9 -1 1 -1 -1 -1 -1 -1 -1 -1"] = "no submit time",
    ["1 0 0 5 4 -1 -1 2.5 9 -1 1 -1 -1 -1 -1 -1 -1 -1"] = "2.5 processors: expected a whole number",
    ["1 1e300 0 5 4 -1 -1 4 9 -1 1 -1 -1 -1 -1 -1 -1 -1"] = "is more than",
  } do
    it("skips or stops at a line such as " .. ("%q"):format(line), function()
      local path = file("bad.swf", swf({ 1, 0, 5, 1 }) .. line .. "\n" .. swf({ 2, 9, 5, 1 }))
      local jobs, t = read_all(path)
      assert.equal("1 2", ids(jobs))
      assert.equal(1, t.malformed)
      assert.equal(2, t.problems[1].line)
      assert.matches(why, t.problems[1].text, 1, true)
      local _, _, message = read_all(path, { malformed = "stop" })
      assert.matches("bad.swf:2: ", message, 1, true)
    end)
  end

  it("ends where it is nothing but comments or blank lines", function()
    for ending, lines in pairs { swf = "; x\n", csv = "\n", jsonl = " \n" } do
      local path = os.tmpname() .. "." .. ending
      local written <close> = assert(io.open(path, "w"))
      written:write(ending == "csv" and "submit,runtime,procs\n" or "", lines:rep(1000001))
      written:flush()
      local t, why = trace.open(path, { format = ending })
      if t then t, why = t.next() end
      os.remove(path)
      assert.is_nil(t)
      assert.matches(":100000%d: more than 1000000 lines have no job$", why)
    end
  end)

  it("comes in the order of submission, as far as it looks ahead", function()
    local path = file("o.swf", swf({ 1, 50, 5, 1 }, { 2, 0, 5, 1 }, { 3, 50, 5, 1 }, { 4, 20, 5, 1 }))
    assert.equal("2 4 1 3", ids((read_all(path))))
    local jobs, t = read_all(path, { lookahead = 1 })
    assert.equal("2 1 3", ids(jobs))
    assert.same({ 1, 4 }, { t.malformed, t.problems[1].line })
  end)

  it("is read from a CSV with a header", function()
    local jobs = read_all(file("c.csv",
      "job_id,submit time,user,cores,walltime,runtime,other\r\n7,5,\"smith, j\",4,100,50,x\r\n\r\n8,6,,2,-1,60,\n"))
    assert.same({
      { number = 7, submit = 5, user = "smith, j", procs = 4, estimate = 100, runtime = 50 },
      { number = 8, submit = 6, procs = 2, estimate = 60, runtime = 60 },
    }, jobs)
  end)

  for text, why in pairs {
    ["id,procs\n1,2\n"] = "no column is the submit", ["submit,runtime\n1,2\n"] = "no column says what jobs ask for",
    [""] = "is empty, expected a trace",
    ["hello\nworld\n"] = "not a trace",
  } do
    it("refuses " .. ("%q"):format(text), function()
      local t, message, code = trace.open(file("wrong", text))
      assert.is_nil(t)
      assert.matches(why, message, 1, true)
      assert.equal("parse", code)
    end)
  end

  it("counts bad cells and open quotes as malformed", function()
    local _, t = read_all(file("q.csv", 'submit,runtime,procs\n1,x,1\n2,"5,1\n3,5,1\n'))
    assert.same({ 1, 2 }, { t.read, t.malformed })
  end)

  it("is read from JSON lines of jobspecs", function()
    local spec = '{"version":9999,"resources":[{"type":"slot","count":2,"label":"a","with":[{"type":"core","count":1}]}],'
      .. '"tasks":[{"command":["x"],"slot":"a","count":{"per_slot":1}}],"attributes":{"system":{"duration":30,"preemptible-after":5},'
      .. '"user":{"submit":3}},"runtime":20,"user":"u"}'
    local jobs = read_all(file("j.jsonl", spec
      .. '\n{"submit":4,"runtime":1,"procs":2}\n{"submit":5,"runtime":1,"request":"slot=1/node"}\n[\n'))
    assert.equal(3, #jobs)
    local first = jobs[1]
    assert.same({ 3, 20, 30, 5, "u" }, { first.submit, first.runtime, first.estimate, first.preemptible, first.user })
    assert.equal(2, assert(core.request(first.request)):resources()[1].count.min)
    assert.same({ 2, "slot=1/node" }, { jobs[2].procs, jobs[3].request })
  end)

  it("has a field once in JSON lines: the first among its names counts, at each reading", function()
    local line = '{"submit_time":9,"submit":4,"arrival":8,"run_time":7,"runtime":1,"nodes":6,"size":5,"procs":2,"group":"g",'
      .. '"account":"a"}\n'
    for _ = 1, 5 do
      local job = read_all(file("j.jsonl", line))[1]
      assert.same({ 4, 1, 2, "a" }, { job.submit, job.runtime, job.procs, job.bank })
    end
  end)

  it("names a malformed field as the trace does", function()
    for path, text in pairs {
      [file("w.csv", "submit,Run Time,procs\n1,x,1\n")] = 'Run Time: expected a number, not "x"',
      [file("w.jsonl", '{"submit":1,"runtime":1,"procs":1,"account":true}\n')] = "account: expected a text or a number",
    } do
      local _, t = read_all(path)
      assert.truthy(t.problems[1].text:find(text, 1, true), t.problems[1].text)
    end
  end)
end)

-- ---- the meaning of "processor" --------------------------------------------------------------------------------

describe("a map", function()
  local g = weir.synthetic "cluster:1 node:4 core:16 memory:1(size=64,unit=GB)"

  for _, row in ipairs {
    { "core", { procs = 3 }, "slot=3/core=1" }, { "node", { procs = 3 }, "slot=3/node" },
    { "core+memory", { procs = 3, memory = 1500000 }, "slot=3/[core=1;memory=2]" }, { "core+memory", { procs = 3 }, "slot=3/core=1" },
    { "node+memory", { procs = 1, memory = 64e6 }, "slot=1/node/memory=64" }, { "slot=N/core=2", { procs = 5 }, "slot=5/core=2" },
    { "node={N/16}", { procs = 33 }, "node=3" }, { "core", { procs = 3, request = "slot=1/node" }, "slot=1/node" },
  } do
    it(("%s makes %s of %d"):format(row[1], row[3], row[2].procs), function()
      local request = assert(map.new(row[1], g))(row[2])
      request = type(request) == "string" and assert(core.request(request)) or request
      assert.equal(core.request(row[3]):format "resources", request:format "resources")
    end)
  end

  it("makes one request for jobs alike", function()
    local f = map.new("core", g)
    assert.equal(f { procs = 2 }, f { procs = 2 })
  end)

  it("refuses what is no shape", function()
    local f, why = map.new("slots=N/", g)
    assert.is_nil(f)
    assert.matches("core, node, core+memory", why, 1, true)
  end)
end)

-- ---- in numbers ---------------------------------------------------------------------------------------------

describe("metrics", function()
  local function run(text, opts)
    opts = opts or {}
    opts.resources, opts.trace = opts.resources or "cluster:1 core:10", file("t.swf", text)
    return assert(replay.run(opts))
  end

  it("[K4] are what one computes by hand", function()
    -- Job 1 has 8 cores for 100 s, 2 waits for all until then, 3 runs beside 1, 4 waits for 2.
    local m = run(swf({ 1, 0, 100, 8, 100, -1, 1 }, { 2, 1, 5, 10, 5, -1, 1 }, { 3, 2, 50, 2, 60, -1, 2 }, { 4, 3, 20, 1, 200, -1,
      2 })).metrics
    assert.same({ 4, 0, 125, 125 }, { m.jobs, m.rejected, m.makespan, m.last_end })
    assert.near((0 + 99 + 0 + 102) / 4, m.wait.mean, 1e-9)
    assert.same({ 49.5, 102, 102 }, { m.wait.median, m.wait.p95, m.wait.max })
    assert.near((100 + 104 + 50 + 122) / 4, m.mean_flow, 1e-9)
    assert.near((1 + 10.4 + 1 + 6.1) / 4, m.bounded_slowdown.mean, 1e-9)
    assert.near((800 + 50 + 100 + 20) / 1250, m.utilisation.core, 1e-9)
    assert.near((99 + 102) / 125, m.queue.mean, 1e-9)
    assert.same({ 2, 0.25 }, { m.queue.max, m.backfilled })
    local a, b = (1 + 10.4) / 2, (1 + 6.1) / 2
    assert.near((a + b) ^ 2 / (2 * (a * a + b * b)), m.fairness.index, 1e-12)
    assert.equal(1, m.fairness.worst_user)
  end)

  -- The use of each type while one of two nodes of 4 cores, with 2 gpus and 8 units of memory each, or a part of it,
  -- is allocated.
  local SMALL = "cluster:1 node:2 core:4 gpu:2 memory:1(size=8)"
  for _, row in ipairs {
    { "cores of a node", "core", 2, { node = 0.5, core = 0.25, gpu = 0, memory = 0 }, { node = 0 } },
    { "whole nodes", "node", 1, { node = 0.5, core = 0.5, gpu = 0.5, memory = 0.5 }, { node = 0.5 } },
    { "whole nodes for their cores", "slot=N/node/core=2", 1, { node = 0.5, core = 0.5, gpu = 0.5, memory = 0.5 }, { node = 0.5 } },
    { "a part of a pool", "slot=N/[core=1;memory=2]", 2, { node = 0.5, core = 0.25, memory = 0.25 }, { node = 0 }, { memory = 0.5 } },
    { "gpus", "slot=N/gpu", 1, { node = 0.5, core = 0, gpu = 0.25 }, { node = 0 } },
  } do
    local what, shape, procs, used, whole, touched = table.unpack(row)
    it("tell how much is used of what is above, and of what is below, what jobs take: " .. what, function()
      local m = run(swf({ 1, 0, 100, procs }), { resources = SMALL, policy = "first", map = shape }).metrics
      for type, share in pairs(used) do assert.near(share, m.utilisation[type], 1e-9, type) end
      for type, share in pairs(whole) do assert.near(share, m.whole[type], 1e-9, type) end
      for type, share in pairs(touched or {}) do assert.near(share, m.touched[type], 1e-9, type) end
    end)
  end

  -- {shape of a job, the types that tables tell}
  for _, case in ipairs { { "core", "core node" }, { "node", "core gpu memory node" }, { "slot=N/gpu", "core gpu node" } } do
    it("tell of nodes and of what is in them that is used, not of racks: " .. case[1], function()
      local m = run(swf({ 1, 0, 100, 1 }), { resources = "cluster:1 rack:2 node:2 core:4 gpu:2 memory:1(size=8)", policy = "first",
        map = case[1] }).metrics
      assert.equal(case[2], table.concat(m.shown, " "))
      assert.near(0.5, m.utilisation.rack, 1e-9)
    end)
  end

  it("do not take what is down for used", function()
    local graph = weir.synthetic "cluster:1 node:2 core:4"
    graph:find("name=node1")[1].state = "down"
    assert.near(0.25, run(swf({ 1, 0, 100, 2 }), { resources = graph }).metrics.utilisation.core, 1e-9)
  end)

  it("end with the last job, whatever else was to happen later", function()
    -- The second has a reservation for 1000, and starts at 10.
    local m = run(swf({ 1, 0, 10, 10, 1000 }, { 2, 1, 10, 10, 50 })).metrics
    assert.same({ 20, 20 }, { m.last_end, m.makespan })
    local last = 0
    local generated = assert(replay.run { resources = "cluster:1 core:32", jobs_kept = true,
      trace = assert(lublin.new { jobs = 300, units = 32, load = 0.9 }) })
    for _, job in ipairs(generated.kept) do last = math.max(last, job["end"]) end
    assert.equal(last, generated.metrics.last_end)
  end)

  it("know the middle of more waits than are kept", function()
    local few, all = quantiles.new(100), quantiles.new()
    for i = 1, 5000 do
      local x = (i * 7919) % 5003 ^ 2 / 7
      few:add(x)
      all:add(x)
    end
    local a, b = few:ranked(), all:ranked()
    for _, i in ipairs { 1, 50, 2500, 4750, 5000 } do assert.near(b(i), a(i), math.max(1, b(i) / 2048), i) end
    assert.equal(5000, few.n)
  end)

  it("count what is free on nodes in use as fragments", function()
    local m = run(swf({ 1, 0, 100, 6 }), { resources = "cluster:1 node:4 core:4", policy = "first" }).metrics
    assert.near(2 / 10, m.fragmentation, 1e-9)
    assert.near(2 / 4, m.touched.node, 1e-9)
  end)

  it("leave the warm-up out", function()
    local m = run(swf({ 1, 100, 50, 10 }, { 2, 120, 10, 1 }, { 3, 200, 10, 10 }), { warmup = 50 }).metrics
    assert.same({ 1, 200, 10 }, { m.jobs, m.first_submit, m.makespan })
    assert.near(1, m.utilisation.core, 1e-9)
  end)

  it("stop where the clock stops", function()
    local m = run(swf({ 1, 0, 10, 10 }, { 2, 1, 100, 10 }, { 3, 2, 5, 10 }), { ["until"] = 50 }).metrics
    assert.same({ 1, 2, 50 }, { m.jobs, m.unfinished, m.last_end })
  end)

  -- A job beside a reservation starts at the end of another one: 0.1 + 0.2 is 0.3. And a hole that a reservation leaves
  -- is looked at when the next job ends, though it ends when it should.
  for _, row in ipairs {
    { "job_id,submit,runtime,procs,estimate\n1,0,100,2,100\n2,0.1,0.2,2,50\n3,0.15,10,4,10\n4,0.2,10,2,20\n", "easy", "0 0.1 100 0.3" },
    { "job_id,submit,procs,estimate,runtime\n1,0,2,10,5\n2,1,3,8,8\n3,2,1,4,4\n4,3,2,2,2\n5,4,3,4,4\n", "conservative", "0 7 2 5 15" },
    { "job_id,submit,procs,estimate,runtime\n1,0,2,10,5\n2,1,3,8,8\n3,2,1,4,4\n4,3,2,2,2\n5,4,3,4,4\n", "hybrid:k=3", "0 7 2 5 15" },
  } do
    it("[K4] start jobs at once where there is room, under " .. row[2], function()
      local result = assert(replay.run { resources = "cluster:1 core:4", trace = file("holes.csv", row[1]), queue = row[2],
        jobs_kept = true })
      local starts = {}
      for _, job in ipairs(result.kept) do starts[job.id] = ("%.14g"):format(job.start) end
      assert.equal(row[3], table.concat(starts, " "))
    end)
  end

  it("see submissions come faster", function()
    local m = run(swf({ 1, 100, 10, 10 }, { 2, 120, 10, 10 }), { speed = 4 }).metrics
    assert.same({ 20, 5 }, { m.makespan, m.wait.max })
  end)

  it("see the share of jobs that was asked for, the same each time", function()
    local lines = {}
    for i = 1, 400 do lines[i] = { i, i * 10, 1, 1 } end
    local text = swf(table.unpack(lines))
    local n = run(text, { sample = 0.25 }).metrics.jobs
    assert.is_true(n > 60 and n < 140)
    assert.equal(n, run(text, { sample = 0.25 }).metrics.jobs)
    assert.same({ 0, 400 }, { run(text, { sample = 0 }).metrics.jobs, run(text, { sample = 1 }).metrics.jobs })
  end)

  it("count jobs that the machine cannot hold", function()
    local m = run(swf({ 1, 0, 10, 11 }, { 2, 0, 10, 10 })).metrics
    assert.same({ 1, 1 }, { m.jobs, m.rejected })
  end)

  it("take run times for estimates where asked", function()
    local text = swf({ 1, 0, 10, 8, 500 }, { 2, 1, 10, 10, 500 }, { 3, 2, 5, 2, 900 })
    assert.equal(2 + 0, run(text).metrics.jobs - 1)
    assert.is_true(run(text, { estimates = "exact" }).metrics.wait.max < run(text, { queue = "fcfs" }).metrics.wait.max)
  end)

  it("know the series in a bounded number of steps", function()
    local s = series.new(8)
    for t = 0, 99 do s:add(t, 1, t < 50 and 4 or 0, 1) end
    local r = s:result()
    assert.equal(16, r.step)
    assert.equal(7, #r.used)
    assert.near(4, r.used[1], 1e-12)
    assert.near(4 * 2 / 16, r.used[4], 1e-12)
    assert.near(0, r.used[6], 1e-12)
  end)

  it("keep memory flat, but for 16 bytes a job", function()
    collectgarbage()
    local before, most, n = collectgarbage "count", 0, math.floor(4000 * SCALE)
    local jobs = assert(lublin.new { jobs = n, units = 64, load = 0.5 })
    assert(replay.run { resources = "cluster:1 core:64", trace = jobs, progress = function(s)
      if s.made % 1000 == 0 then
        collectgarbage()
        most = math.max(most, collectgarbage "count")
      end
    end })
    assert.is_true((most - before) < 1500, tostring(most - before))
  end)
end)

-- ---- the content of logs ---------------------------------------------------------------------------------------

-- Jobs of an SWF, and their fates on 10 cores: {start, end, killed} of the jobs that ran, by number.
describe("a log says", function()
  for _, row in ipairs {
    { "a job longer than its estimate: it is killed", { { 1, 0, 100, 1, 60 } }, {}, { { 0, 60, true } } },
    { "a job longer than its estimate, and it may go on", { { 1, 0, 100, 1, 60 } }, { overrun = "run" }, { { 0, 100 } } },
    { "one that goes on: who waits starts when it ends", { { 1, 0, 100, 10, 60 }, { 2, 1, 5, 10, 5 } }, { overrun = "run" },
      { { 0, 100 }, { 100, 105 } } },
    { "as long as its estimate: nobody is killed", { { 1, 0, 60, 1, 60 } }, {}, { { 0, 60 } } },
    { "a run time of zero: it starts and ends", { { 1, 5, 0, 10, 60 }, { 2, 5, 7, 10, 60 } }, {}, { { 5, 5 }, { 5, 12 } } },
    { "a run time of zero and no estimate", { { 1, 5, 0, 10 }, { 2, 5, 7, 10 } }, {}, { { 5, 5 }, { 5, 12 } } },
    { "an estimate of zero: that is none", { { 1, 0, 9, 1, 0 } }, {}, { { 0, 9 } } },
    { "no estimate: the run time is one", { { 1, 0, 10, 8 }, { 2, 1, 9, 10 }, { 3, 2, 8, 2 }, { 4, 2, 9, 2 } }, {},
      { { 0, 10 }, { 10, 19 }, { 2, 10 }, { 19, 28 } } },
    { "more processors than there are: it is refused", { { 1, 0, 9, 11 }, { 2, 0, 9, 10 } }, {}, { nil, { 0, 9 } } },
    { "parts of a second", { { 1, 0.5, 0.25, 10, 1 }, { 2, 0.5, 1, 10, 1 } }, {}, { { 0.5, 0.75 }, { 0.75, 1.75 } } },
    { "whole numbers written otherwise", { { 1, "1e1", "5.0", "10.0" } }, {}, { { 10, 15 } } },
    { "memory that is not asked for", { { 1, 0, 9, 4, 9, 700 }, { 2, 0, 9, 4, 9, 700 } }, {}, { { 0, 9 }, { 0, 9 } } },
    { "memory for each processor, in kB, in pools of MB", { { 1, 0, 9, 2, 9, 400000 }, { 2, 0, 9, 2, 9, 400000 } },
      { resources = "node:2 core:5 memory:1(size=900,unit=MB)", map = "core+memory", queue = "fcfs" }, { { 0, 9 }, { 0, 9 } } },
    { "more memory than is left", { { 1, 0, 9, 2, 9, 400000 }, { 2, 0, 9, 3, 9, 400000 } },
      { resources = "node:2 core:5 memory:1(size=900,unit=MB)", map = "core+memory", queue = "fcfs" }, { { 0, 9 }, { 9, 18 } } },
    { "more memory than any node has", { { 1, 0, 9, 1, 9, 900001 }, { 2, 0, 9, 1, 9, 900000 } },
      { resources = "node:2 core:5 memory:1(size=900,unit=MB)", map = "core+memory" }, { nil, { 0, 9 } } },
    { "no memory, where others ask for some", { { 1, 0, 9, 10, 9 }, { 2, 0, 9, 1, 9, 0 } },
      { resources = "node:2 core:5 memory:1(size=900,unit=MB)", map = "core+memory" }, { { 0, 9 }, { 9, 18 } } },
  } do
    local what, jobs, opts, expected = table.unpack(row)
    it(what, function()
      opts.resources, opts.trace, opts.jobs_kept = opts.resources or "cluster:1 core:10", file("edge.swf", swf(table.unpack(jobs))), true
      local result, found = assert(replay.run(opts)), {}
      for _, job in ipairs(result.kept) do found[job.id] = { job.start, job["end"], job.killed } end
      assert.same(expected, found)
      assert.equal(#jobs - #result.kept, result.metrics.rejected)
    end)
  end

  for _, row in ipairs {
    { "a number with a letter in it", "1 0 -1 5x 4 -1 -1 4 9 -1 1 1 -1 -1 1 -1 -1 -1", '"5x" is no number' },
    { "a number missing", "1 0 -1 5 4 -1 -1 4 9 -1 1 1 -1 -1 1 -1 -1", "found 17" },
    { "not a number", "1 nan -1 5 4 -1 -1 4 9 -1 1 1 -1 -1 1 -1 -1 -1", '"nan" is no number' },
    { "no number at all", "hello", '"hello" is no number' },
  } do
    it("malformed: " .. row[1], function()
      local jobs, t = read_all(file("m.swf", swf({ 1, 0, 5, 1 }) .. row[2] .. "\n"))
      assert.same({ "1", 1, 2 }, { ids(jobs), t.malformed, t.problems[1].line })
      assert.matches(row[3], t.problems[1].text, 1, true)
    end)
  end

  for text, expected in pairs {
    ["12 -1 0.5"] = { 3, 12, -1, 0.5 }, [""] = { 0 }, [" \t7\r"] = { 1, 7 }, ["1e3 0x10 2.0"] = { 3, 1000, 16, 2 },
    ["x 5 nan inf - 1-2"] = { 6, false, 5, false, false, false, false }, ["9223372036854775808 1\0002"] = { 2, 2.0 ^ 63, false },
    [("1 "):rep(40)] = { 40, table.unpack(load("return {" .. ("1,"):rep(32) .. "}")()) }, [("1"):rep(300)] = { 1, false },
  } do
    it(("the words of %q are numbers or not"):format(text:sub(1, 20)), function()
      local found = { core.numbers(text) }
      assert.same(expected, found)
      for i, n in ipairs(expected) do assert.equal(math.type(n), math.type(found[i])) end
    end)
  end
end)

-- ---- generated ----------------------------------------------------------------------------------------------

describe("generated jobs", function()
  local function some(opts)
    local t, list = assert(lublin.new(opts)), {}
    for job in t.next do list[#list + 1] = job end
    return list
  end

  it("are the same for a seed on every machine", function()
    local a = some { jobs = 500, units = 128, seed = 7 }
    assert.same(a, some { jobs = 500, units = 128, seed = 7 })
    assert.not_same(a, some { jobs = 500, units = 128, seed = 8 })
    local sum = 0
    for i, job in ipairs(a) do sum = (sum * 31 + job.submit * 7 + job.runtime * 5 + job.procs * 3 + job.estimate + job.user
      + i) % (1 << 31) end
    assert.equal(2003822662, sum)
  end)

  it("are as the model says: a quarter serial, most others powers of two, none larger than the machine, by day more than by night",
    function()
    local jobs = some { jobs = 6000, units = 128 }
    local serial, pow2, day = 0, 0, 0
    for _, job in ipairs(jobs) do
      assert.is_true(job.procs >= 1 and job.procs <= 128 and job.runtime >= 1 and job.estimate >= job.runtime)
      if job.procs == 1 then serial = serial + 1 elseif job.procs & (job.procs - 1) == 0 then pow2 = pow2 + 1 end
      local hour = job.submit // 3600 % 24
      if hour >= 9 and hour < 17 then day = day + 1 end
    end
    assert.near(0.244, serial / #jobs, 0.03)
    assert.is_true(pow2 / #jobs > 0.55)
    assert.is_true(day / #jobs > 0.45)
  end)

  it("ask for about as much of the machine as they should", function()
    local jobs, work = some { jobs = 8000, units = 128, load = 0.6 }, 0
    for _, job in ipairs(jobs) do work = work + job.procs * job.runtime end
    assert.near(0.6, work / (jobs[#jobs].submit * 128), 0.15)
  end)

  it("are no larger than they may be", function()
    for _, job in ipairs(some { jobs = 500, units = 10000, largest = 16 }) do assert.is_true(job.procs <= 16) end
  end)

  it("need a machine", function()
    assert.is_nil(lublin.new { jobs = 1, units = 0 })
    assert.is_nil(lublin.new { jobs = 1, units = 5, load = 0 })
  end)
end)

-- ---- the command --------------------------------------------------------------------------------------------

describe("weir replay", function()
  local path
  setup(function() path = file("r.swf", swf({ 1, 0, 100, 8, 100 }, { 2, 1, 5, 10, 5 }, { 3, 2, 50, 2, 60 })) end)

  local function weir_replay(...) return shell.weir { "replay", "-r", "cluster:1 node:2 core:5", ... } end

  it("prints metrics, and writes a line a job", function()
    local csv = shell.path(dir, "jobs.csv")
    local r = weir_replay(path, "--jobs", csv, "-p", "first")
    assert.same({ 0, "" }, { r.status, r.err })
    assert.matches("jobs +3\n", r.out)
    assert.equal("job_id,submit,start,end,wait,resources\n3,2,2,52,0,rank1/core[3-4]\n1,0,0,100,0,rank0/core[0-4] rank1/core[0-2]\n"
      .. "2,1,100,105,99,rank[0-1]/core[0-4]\n", (shell.slurp(csv):gsub('"', "")))
  end)

  it("writes what evalys reads", function()
    local csv = shell.path(dir, "evalys.csv")
    assert.equal(0, weir_replay(path, "--evalys", csv, "-q", "fcfs", "-p", "first").status)
    local lines = {}
    for line in io.lines(csv) do lines[#lines + 1] = line end
    assert.matches("^job_id,submission_time,requested_number_of_resources,", lines[1])
    assert.equal("1,0,8,100,1,0,100,100,0,100,1,0-7", lines[2])
    assert.equal("2,1,10,5,1,100,5,105,99,104,20.8,0-9", lines[3])
  end)

  it("names nodes that have no cores by their ranks", function()
    local r = shell.weir { "replay", "-r", "cluster:1 node:2[core:2] node:2", "--map", "node", "--jobs", "-", "-q", "fcfs", "--quiet",
      file("nodes.swf", swf({ 1, 0, 9, 3 }, { 2, 0, 9, 1 }, { 3, 20, 5, 2 })) }
    assert.equal("job_id,submit,start,end,wait,resources\n1,0,0,9,0,rank[0-1]/core[0-1] rank2\n2,0,0,9,0,rank3\n"
      .. "3,20,20,25,0,rank[0-1]/core[0-1]\n", r.out)
    local bare = { "replay", "-r", "cluster:1 node:4", "--map", "node", "--quiet", "--evalys", "-", file("bare.swf", swf({ 1, 0, 9, 3 })) }
    assert.matches(",0%-2\n$", shell.weir(bare).out)
    local result = assert(replay.run { resources = "cluster:1 node:4", map = "node", trace = file("bare.swf", swf({ 1, 0, 9, 3 })),
      jobs_kept = true })
    local run = require("weir.html.report.replay").run(require("weir.replay.data").report(result))
    assert.same({ "0-2/0", 1 }, { run.jobs[1].resources, run.machine.per_rank })
  end)

  it("prints JSON", function()
    local value = assert(core.json_decode(weir_replay(path, "--json", "-q", "conservative", "-p", "high").out))
    assert.same({ "conservative", "high", 3, "core", 10 }, { value.queue, value.policy, value.metrics.jobs, value.machine.type,
      value.machine.total })
  end)

  it("prints how starts were decided", function()
    for sentence, words in pairs {
      ["3 starts decided by counting free units"] = { "-q", "conservative", "--keep-going" },
      ["3 starts decided by the engine, as the placement policy may leave out free units"] = { "-p",
        file("mine.lua", "return { evaluate = function(v) return v.id end }") },
      ["2 starts decided by the engine, as jobs request more than a number of cores, or of whole nodes"] = { "--map", "slot={N/2}/core=2" },
      ["fcfs: 3 starts decided by counting free units\neasy: 3 starts decided by counting free units"] = { "--compare", "fcfs easy" },
    } do
      local r = weir_replay(path, "--stats", table.unpack(words))
      assert.equal(0, r.status, r.err)
      assert.equal("\n\n" .. sentence .. "\n", r.out:sub(-#sentence - 3))
    end
    local value = assert(core.json_decode(weir_replay(path, "--json").out))
    assert.same({ counting = 3, engine = 0 }, value.starts)
  end)

  it("compares policies, of the queue and of placement", function()
    for _, words in ipairs { { path, "--compare", "fcfs", "easy", "fcfs@high" }, { "--compare", "fcfs easy fcfs@high", path } } do
      local r = weir_replay(table.unpack(words))
      assert.same({ 0, "" }, { r.status, r.err })
      assert.matches("fcfs +easy +moved +fcfs@high +moved", r.out)
      assert.matches("wait, mean, s +67%.33 +33%.00 +%-51%.0 %% better +67%.33\n", r.out)
    end
    local list = assert(core.json_decode(weir_replay(path, "--json", "--compare", "easy", "--compare", "high").out))
    assert.same({ "low", "high" }, { list[1].policy, list[2].policy })
  end)

  it("generates jobs", function()
    local r = weir_replay("--generate", "50", "--seed", "3")
    assert.equal(0, r.status)
    assert.matches("jobs +50\n", r.out)
    assert.equal(r.out, weir_replay("--generate", "50", "--seed", "3").out)
  end)

  it("writes the data of a report", function()
    local report = shell.directory()
    shell.path(report, "jobs.csv")
    shell.path(report, "replay.json")
    shell.path(report, "index.html")
    assert.equal(0, weir_replay(path, "--report", report).status)
    local value = assert(core.json_decode(shell.slurp(report .. "/replay.json")))
    assert.same({ 3, 1, 2 }, { value.jobs.id[1], value.jobs.id[2], value.jobs.id[3] })
    assert.same({ 1, 0, 0 }, { value.jobs.backfilled[1], value.jobs.backfilled[2], value.jobs.killed[1] })
    assert.same({ { rank = 0, units = 5, first = 0, name = "node0" }, { rank = 1, units = 5, first = 5, name = "node1" } }, value.ranks)
    assert.same({ 0, 3 }, { value.jobs_left, value.spread.jobs })
    assert.equal(105, #value.series.used)
    assert.matches("^job_id,submit,start,end,wait,resources\n3,2,2,52,0,", shell.slurp(report .. "/jobs.csv"))
  end)

  -- Runs weir in a directory of its own, with words and redirections of a shell: returns status, output, and the
  -- files in the directory afterwards.
  local function weir_in_shell(trace_path, words)
    local here, bin = shell.directory(), shell.bin:find "^/" and shell.bin or os.getenv "PWD" .. "/" .. shell.bin
    local _, _, status = os.execute(("cd '%s' && '%s' replay --quiet -r 'cluster:1 node:2 core:5' %s 2>%s >/dev/null %s"):format(here, bin,
      trace_path, shell.path(dir, "said"), words))
    local pipe <close> = assert(io.popen(("ls '%s'"):format(here)))
    return status, shell.slurp(dir .. "/said"), pipe:read "a"
  end

  -- An output that cannot be written gives one line that names the file, and no file, whole or half.
  for _, row in ipairs {
    { "--jobs none/x", "none/x: cannot be written: No such" }, { "--evalys none/x", "none/x: cannot be written: No such" },
    { "--jobs .", "directory" }, { "--jobs /dev/full", "/dev/full: cannot be written: No space" },
    { "--evalys /dev/full", "/dev/full: cannot be written: No space" },
    { "--jobs - >/dev/full", "cannot write the output" }, { ">/dev/full", "cannot write the output" },
    { "--json >/dev/full", "cannot write the output" }, { "--report /dev/full", "cannot be made" },
    { "--json --jobs -", "standard output" }, { "--jobs x --evalys x", "both" }, { "--jobs half --malformed stop", "18 numbers" },
  } do
    it("tells what it cannot write: " .. row[1], function()
      local broken = row[1]:find "stop" and file("broken.swf", swf({ 1, 0, 5, 1 }) .. "1 2 3\n")
      local status, said, files = weir_in_shell(broken or path, row[1])
      assert.same({ 2, "" }, { status, files })
      assert.matches(row[2], said, 1, true)
      assert.matches("^weir: [^\n]+\n$", said)
    end)
  end

  it("stops quietly when nobody reads the jobs any more", function()
    local status, said = weir_in_shell("--generate 5000", "--jobs - | true")
    assert.same({ 0, "" }, { status, said })
  end)

  it("gives standard output to the jobs where asked", function()
    local r = weir_replay(path, "--jobs", "-", "-p", "first", "-q", "fcfs")
    assert.equal("job_id,submit,start,end,wait,resources\n1,0,0,100,0,rank0/core[0-4] rank1/core[0-2]\n", (r.out:gsub("2,1,.*", "")))
    assert.not_matches("makespan", r.out)
  end)

  it("says what it skipped, left out and refused", function()
    local bad = file("bad2.swf", "1 2 3\n" .. swf({ 1, 0, -1, 1 }, { 2, 0, 5, 99 }, { 3, 0, 5, 1 }))
    local r = weir_replay(bad)
    assert.equal(0, r.status)
    assert.matches("bad2.swf:1: expected 18 numbers, found 3; skipped", r.err, 1, true)
    assert.matches("bad2.swf:2: it has no run time; left out", r.err, 1, true)
    assert.matches("1 malformed line skipped, 1 job left out", r.err, 1, true)
    assert.matches("job 2: the request can never be met on these resources; refused\n", r.err, 1, true)
    assert.matches("1 job requests more than the machine has", r.err, 1, true)
    assert.matches("2 jobs of 2 without an estimate: the run time was taken", r.err, 1, true)
    assert.not_matches("estimate", weir_replay(bad, "--estimates", "exact").err, 1, true)
    assert.equal("", weir_replay(bad, "--quiet").err)
    assert.equal(2, weir_replay(bad, "--malformed", "stop").status)
  end)

  describe("on a machine of which half is down", function()
    local machine

    before_each(function()
      local g <close> = weir.synthetic "cluster:1 node:2 core:4"
      g:vertex("node1").state = "down"
      machine = file("half.json", g:format "jgf")
    end)

    it("says why jobs never started", function()
      local wide = file("wide.swf", swf({ 1, 0, 10, 4 }, { 2, 1, 10, 8 }, { 3, 2, 10, 1 }))
      local r = weir_replay(wide, "-r", machine, "-q", "fcfs")
      assert.matches("weir: 2 jobs never started: of 2 nodes 1, 8 cores 4 are up, and one that cannot start may hold up others\n",
        r.err, 1, true)
      assert.not_matches("never started", weir_replay(wide, "-r", machine, "-q", "fcfs", "--until", "5").err, 1, true)
    end)

    it("makes up jobs that fit on what is up", function()
      local r = weir_replay("-r", machine, "--generate", "60", "--seed", "2", "-q", "fcfs")
      assert.matches("jobs +60\n", r.out)
      assert.not_matches("unfinished", r.out, 1, true)
    end)
  end)

  it("takes no file of which no line makes sense", function()
    local r = weir_replay(file("none.swf", "1 2 3\n4 5\n"))
    assert.equal(2, r.status)
    assert.matches("none.swf: no line of it makes sense as swf; line 1: expected 18 numbers, found 3\n", r.err, 1, true)
  end)

  it("says of a damaged file what is wrong, and gzip says nothing besides", function()
    local text = {}
    for i = 1, 20000 do text[i] = ("%d,x"):format(i * 7919) end
    local plain = file("long.swf", table.concat(text, "\n"))
    assert(os.execute(("gzip -kf '%s'"):format(plain)))
    local r = weir_replay(plain .. ".gz")
    assert.equal(2, r.status)
    assert.matches('^weir: [^\n]*: no line of it makes sense as swf; line 1: "7919,x" is no number\n$', r.err)
    local whole = shell.slurp(plain .. ".gz")
    r = weir_replay("--format", "csv", file("cut.csv.gz", whole:sub(1, #whole // 2)))
    assert.same({ 2, 1 }, { r.status, select(2, r.err:gsub("\n", "")) })
  end)

  it("tells where a queue policy failed", function()
    local queue = file("bad.lua", "return {schedule = function(q)\n q:bad() end}")
    local r = weir_replay(path, "-q", queue)
    assert.equal(1, r.status)
    assert.matches("bad.lua:2: ", r.err, 1, true)
    assert.not_matches("internal error", r.err)
  end)

  for _, row in ipairs {
    { {}, "a TRACE" }, { { "none.swf" }, "there is no such file" }, { { "none.swf", "--generate", "5" }, "cannot be combined" },
    { { "%s", "%s" }, "one TRACE too many" }, { { "%s", "-q", "eazy" }, "there is no queue policy \"eazy\"" },
    { { "%s", "-p", "lov" }, "no policy \"lov\"" }, { { "%s", "--map", "gpu=" }, "core, node" },
    { { "%s", "--speed", "0" }, "expected a number from 1e-06 to 1e+06" },
    { { "%s", "--sample", "2" }, "from 0 to 1" }, { { "%s", "--overrun", "maybe" }, "none of kill, run" },
    { { "%s", "--compare", "easy fsfc" }, 'no queue policy "fsfc"' }, { { "%s", "--compare",
      "easy" }, "at least two" },
    { { "%s", "--compare", "easy", "--compare", "fcfs", "--jobs", "x" }, "--compare and --jobs" }, { { "%s", "--jobs", "/none/x" },
      "/none/x" },
    { { "%s", "--event-rule", "often" }, "none of per-event" },
  } do
    it("refuses " .. table.concat(row[1], " "), function()
      local words = {}
      for i, word in ipairs(row[1]) do words[i] = word:gsub("%%s", path) end
      local r = weir_replay(table.unpack(words))
      assert.equal(2, r.status)
      assert.matches(row[2], r.err, 1, true)
      assert.not_matches("internal error", r.err)
    end)
  end
end)

describe("progress", function()
  for _, row in ipairs {
    { { "easy", 25, 100, 5 }, "easy  [======                  ]  25 %  25 of 100 jobs  5/s  15 s left" },
    { { "easy", 100, 100, 5 }, "easy  [========================] 100 %  100 of 100 jobs  20/s  0 s left" },
    { { "easy", 1000, nil, 2 }, "easy  1000 jobs  500/s" },
    { { "easy", 10, 1e6, 10 }, "easy  [                        ]   0 %  10 of 1000000 jobs  1/s  277:46 h left" },
  } do
    it("reads " .. row[2], function() assert.equal(row[2], progress.line(table.unpack(row[1], 1, 4))) end)
  end
end)

-- ---- logs of real machines ----------------------------------------------------------------------------------

local LOGS = {
  KTH = { DATA .. "/traces/KTH-SP2-1996-2.predictsim-filtered.swf.gz", DATA .. "/traces/expected/KTH-SP2-1996-2.filtered.%s.csv.gz", 100 },
  SDSC = { DATA .. "/traces/SDSC-SP2-5K_sample-pyss.predictsim-filtered.swf", DATA
    .. "/traces/expected/SDSC-SP2-5K.filtered.%s.csv.gz", 128 },
}
local QUEUES = { fcfs = "FCFS", easy = "EASY", conservative = "CONS" }

local function expected_starts(path)
  local map_of, pipe <close> = {}, assert(io.popen(("gzip -dc '%s'"):format(path)))
  for line in pipe:lines() do
    local id, start = line:match "^(%d+),.*,(%d+)$"
    if id then map_of[tonumber(id)] = tonumber(start) end
  end
  return map_of
end

-- All jobs of a log, or as many of the first as the scale of the specs allows, with all times in another unit.
local function first_jobs(path, n, unit)
  local t = assert(trace.open(path))
  local next_job, given = t.next, 0
  function t.next()
    given = given + 1
    local job = given <= n and next_job() or nil
    for _, key in ipairs { "submit", "estimate", "runtime" } do
      if job and unit then job[key] = job[key] * unit end
    end
    return job
  end
  return t
end

describe("logs of real machines", function()
  for _, row in ipairs { { "KTH", "easy", math.huge }, { "KTH", "fcfs", 4000 }, { "KTH", "conservative", 3000 },
    { "SDSC", "fcfs", math.huge }, { "SDSC", "easy", math.huge }, { "SDSC", "conservative", 3000 },
    { "KTH", "easy", 6000, 1.03 }, { "KTH", "conservative", 1500, 1.03 }, { "SDSC", "easy", math.huge, 1.03 },
    { "SDSC", "fcfs", math.huge, 0.001 } } do
    local name, queue, most, unit = table.unpack(row)
    for _, simulator in ipairs { "plain", "general" } do
      it(("[K4] %s under %s, times %g: every job starts when it should, by the %s simulator"):format(name, queue, unit or 1, simulator),
        function()
          local path, answers, procs = table.unpack(LOGS[name])
          if not exists(path) then return pending(missing.data(path)) end
          local n = simulator == "plain" and math.huge or SCALE < 1 and math.min(1500, most) or most
          local wrong, last, expected = 0, 0, expected_starts(answers:format(QUEUES[queue]))
          local result = assert(replay.run { resources = "cluster:1 core:" .. procs, trace = first_jobs(path, n, unit), queue = queue,
            rule = "per-event", jobs_kept = true, simulator = simulator })
          for _, job in ipairs(result.kept) do last = math.max(last, job.submit) end
          for _, job in ipairs(result.kept) do -- later jobs, left out here, may delay jobs that start later
            if n == math.huge or job.start <= last then
              wrong = wrong + (instant.of(expected[job.id] * (unit or 1)) == job.start and 0 or 1)
            end
          end
          assert.equal(0, wrong)
          assert.equal(result.sim.made, #result.kept)
          if n < math.huge or name ~= "KTH" or queue ~= "easy" then return end
          if unit then return end
          assert.equal("92.5765397336", ("%.10f"):format(result.metrics.bounded_slowdown.mean))
          assert.equal("15696.798181", ("%.6f"):format(result.metrics.mean_flow))
        end)
    end
  end
end)
