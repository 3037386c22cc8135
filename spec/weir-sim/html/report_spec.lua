-- What the page of a report tells: sentences, how waits are spread, what differs between runs, and which jobs are kept.

local difference = require "weir.html.report.difference"
local distribution = require "weir.html.report.distribution"
local facts_of = require "weir.html.report.facts"
local largest_jobs = require "weir.replay.largest_jobs"
local report = require "weir.html.report"
local sentences = require "weir.html.report.sentences"
local weir = require "weir"

-- A job of `size` units that is submitted at a time, waits and runs.
local function job(id, size, submit, wait, run, user)
  return { id = id, size = size, submit = submit, start = submit + wait, finish = submit + wait + run, user = user }
end

local function spread_of(jobs) return distribution.of(jobs, 10) end

describe("the spread of waits", function()
  -- {what, jobs, field, what is told}
  for _, case in ipairs {
    { "no jobs", {}, "worst", {} },
    { "sizes by powers of two", { job(1, 1, 0, 0, 10), job(2, 3, 0, 10, 10), job(3, 4, 0, 30, 10) }, "sizes",
      { { from = 1, to = 1, jobs = 1, wait = 0, slowdown = 1, area = 10 },
        { from = 3, to = 4, jobs = 2, wait = 20, slowdown = 3, area = 70 } } },
    { "users, the most use first", { job(1, 1, 0, 0, 10, "ann"), job(2, 2, 0, 10, 10, 7) }, "users",
      { { user = "7", jobs = 1, wait = 10, slowdown = 2, area = 20 }, { user = "ann", jobs = 1, wait = 0, slowdown = 1, area = 10 } } },
    { "run times below tau count as tau", { job(1, 1, 0, 9, 1) }, "slowdowns", { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
    { "waits of a minute and of more", { job(1, 1, 0, 60, 1), job(2, 1, 0, 61, 1), job(3, 1, 0, 1e9, 1) }, "waits",
      { 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1 } },
    { "waits by time of submission", { job(1, 1, 0, 10, 1), job(2, 1, 30, 20, 1), job(3, 1, 130, 5, 1) }, "over_time",
      { 0, 15, 60, 0, 120, 5, 180, 0 } },
  } do
    it("tells " .. case[1], function()
      local told = spread_of(case[2])[case[3]]
      for _, row in ipairs(told) do
        if type(row) == "table" then row.waits, row.slowdowns = nil, nil end
      end
      assert.same(case[4], told)
    end)
  end

  it("tells the waits and the slowdowns of each size and of each user", function()
    local told = spread_of { job(1, 1, 0, 0, 10, "ann"), job(2, 4, 0, 90, 10, "ann"), job(3, 4, 0, 5, 10, "bob") }
    local waits, slowdowns = {}, {}
    for i, row in ipairs { told.sizes[1], told.sizes[2], told.users[1], told.users[2] } do
      waits[i], slowdowns[i] = table.concat(row.waits), table.concat(row.slowdowns)
    end
    assert.same({ "100000000000", "010100000000", "100100000000", "010000000000" }, waits)
    assert.same({ "10000000000", "01000100000", "10000100000", "01000000000" }, slowdowns)
  end)

  it("has the ten longest waits, the longest first, and none of jobs that did not wait", function()
    local jobs, ids = { job("none", 1, 0, 0, 1) }, {}
    for i = 1, 30 do jobs[#jobs + 1] = job(i, 1, 0, i * 7 % 31, 1) end
    for i, row in ipairs(spread_of(jobs).worst) do ids[i] = row.wait end
    assert.same({ 30, 29, 28, 27, 26, 25, 24, 23, 22, 21 }, ids)
  end)

  it("needs a bounded number of steps for any span of time", function()
    local jobs = {}
    for i = 0, 2000 do jobs[i + 1] = job(i, 1, i * 3600, i % 2 * 100, 1) end
    local points = spread_of(jobs).over_time
    assert.is_true(#points > 2 * 256 and #points <= 2 * 513, #points)
    assert.near(50, points[102], 10)
  end)
end)

describe("the difference of two runs", function()
  local base = { job(1, 1, 0, 10, 5), job(2, 1, 0, 20, 5), job(3, 1, 0, 30, 5), { id = 4, submit = 0 } }
  local now = { job(3, 1, 0, 5, 5), job(2, 1, 0, 25, 5), job(1, 1, 0, 10, 5), job(4, 1, 0, 1, 1), job(9, 1, 0, 0, 1) }

  it("counts jobs of both runs by whether they start earlier", function()
    local d = difference.of(base, now)
    assert.same({ 3, 1, 1, 1, -20 }, { d.jobs, d.earlier, d.later, d.same, d.moved })
    assert.same({ { 3, 30, 5, -25 }, { 2, 20, 25, 5 } }, { { d.better[1].id, d.better[1].before, d.better[1].after, d.better[1].moved },
      { d.worse[1].id, d.worse[1].before, d.worse[1].after, d.worse[1].moved } })
  end)
end)

describe("the sentences of a report", function()
  local function run(title, jobs, more)
    local r = { title = title, machine = { type = "core", total = 4 }, jobs = jobs }
    for key, value in pairs(more or {}) do r[key] = value end
    return r
  end

  local function said(...)
    local runs, facts, differences = { ... }, {}, {}
    for i, r in ipairs(runs) do
      facts[i] = facts_of(r)
      differences[i] = difference.of(runs[1].jobs, r.jobs)
    end
    return table.concat(sentences.of(runs, facts, differences), " ")
  end

  local WAITED = { job(1, 4, 0, 0, 100), job(2, 4, 0, 100, 100) }
  -- {what, runs, sentences}
  for _, case in ipairs {
    { "nothing", { run("easy", {}) }, "No job ran." },
    { "one run", { run("easy", WAITED) }, "2 jobs ran on 4 cores in 3.3 min. 100.0 % of the cores were in use; half of the jobs waited "
      .. "50 s or more, one in twenty 100 s or more; the longest wait was 100 s. On average 0.5 jobs waited, at most 1." },
    { "dates", { run("easy", { job(1, 2, 0, 0, 864000) }, { epoch = 843436800 }) }, "1 job ran on 4 cores from 1996-09-23 to 1996-10-03 "
      .. "(10 days). 50.0 % of the cores were in use; no job waited. On average 0 jobs waited, at most 0." },
    { "what went wrong", { run("easy", { job(1, 4, 0, 0, 100), { id = 2, submit = 0 } }) }, "1 job ran on 4 cores in 100 s. 100.0 % of the "
      .. "cores were in use; no job waited. On average 1 job waited, at most 1; of the jobs, 1 not ended." },
    { "two runs", { run("easy", WAITED), run("fcfs", { job(1, 4, 0, 0, 100), job(2, 4, 0, 300, 100) }) },
      "2 jobs ran on 4 cores in 3.3 min. The mean wait was 50 s under easy and 2.5 min under fcfs, "
      .. "3 times as long; 100.0 % and 50.0 % of the cores were in use. "
      .. "Against easy, 0 of 2 jobs start earlier under fcfs, 1 later." },
    { "two runs of which not all jobs are there",
      { run("easy", { job(1, 4, 0, 0, 100) }), run("fcfs", { job(1, 4, 0, 0, 100) }, { left = 9 }) },
      "1 job ran on 4 cores in 100 s. The mean wait was 0 s under easy and 0 s under fcfs; 100.0 % and 100.0 % of the cores were in use. "
      .. "Against easy, 0 of the 1 largest jobs start earlier under fcfs, 0 later." },
  } do
    it("tell " .. case[1], function() assert.equal(case[3], said(table.unpack(case[2]))) end)
  end
end)

describe("the jobs kept for a report", function()
  local function sim_job(number, units, run) return { number = number, units = units, submit = 0, start = 0, finish = run } end

  -- {what, areas in the order of ends, numbers kept of at most three, number left out}
  for _, case in ipairs {
    { "all of few", { 5, 1, 3 }, { 1, 2, 3 }, 0 }, { "the largest, in their order", { 1, 5, 2, 4, 3, 9, 1, 8 }, { 2, 6, 8 }, 5 },
    { "of equal ones the first", { 2, 2, 2, 2, 2, 2, 2 }, { 1, 2, 3 }, 4 }, { "none", {}, {}, 0 },
  } do
    it("are " .. case[1], function()
      local store, numbers = largest_jobs.new(3), {}
      for i, area in ipairs(case[2]) do store:add(sim_job(i, 1, area)) end
      for i, x in ipairs(store:list()) do numbers[i] = x.id end
      assert.same({ case[3], case[4] }, { numbers, store.left })
    end)
  end

  it("are the largest whose resources have no more text than there is room for", function()
    local store, numbers = largest_jobs.new(100, 20), {}
    for i, area in ipairs { 3, 9, 1, 8, 2, 7 } do
      local one = sim_job(i, 1, area)
      one.resources = ("x"):rep(area)
      store:add(one)
    end
    for i, x in ipairs(store:list()) do numbers[i] = x.id end
    assert.same({ { 2, 4 }, 4 }, { numbers, store.left }) -- 17 bytes; with job 6, 24
  end)
end)

describe("the data of a report", function()
  local function data_of(runs)
    return weir.json.decode((assert(report.html(runs)):match '<script type="application/json" id="data">(.-)</script>'))
  end

  local function run(more)
    local r = { title = "x", machine = { type = "core", total = 8, per_rank = 4 }, jobs = { job(1, 8, 0, 0, 5) } }
    for key, value in pairs(more) do r[key] = value end
    return r
  end

  it("counts what is not drawn", function()
    local r = data_of { run { left = 7 } }.runs[1].jobs
    assert.same({ 7, 8 }, { r.left, r.total })
  end)

  it("has nodes and racks, but no single one", function()
    local machine = { type = "core", total = 8, nodes = { first = { 0, 3 }, names = { "a", "b" } },
      racks = { first = { 0 }, names = { "r" } } }
    local r = data_of { run { machine = machine } }.runs[1]
    assert.same({ { first = { 0, 3 }, names = { "a", "b" } } }, { r.nodes, r.racks })
  end)

  -- {what, run, the date of time 0}
  for _, case in ipairs {
    { "of a trace", { epoch = 843480031 }, 843480031 }, { "of times since 1970", { jobs = { job(1, 8, 1.7e9, 0, 5) } }, 0 },
    { "of times since the start", {}, nil },
  } do
    it("knows the dates " .. case[1], function() assert.equal(case[3], data_of { run(case[2]) }.runs[1].epoch) end)
  end
end)
