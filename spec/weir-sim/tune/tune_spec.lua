-- Looking for the best options: what can vary, what is made small, orders and fronts, samples, searches, the command.
local core = require "weir.core"
local findings = require "weir.html.report.findings"
local lublin = require "weir.trace.lublin"
local objective = require "weir.tune.objective"
local pty = require "pty"
local random = require "weir.random"
local rank = require "weir.tune.rank"
local replay = require "weir.replay"
local sample = require "weir.tune.sample"
local search = require "weir.tune.search"
local shell = require "spec.support.shell"
local space = require "weir.tune.space"
local store = require "weir.tune.jobs"
local text = require "weir.tune.text"
local tune = require "weir.tune"

local SIGINT = 2
local dir

setup(function() dir = shell.directory() end)
teardown(shell.clean)

-- ---- what varies ----------------------------------------------------------------------------------------------

-- A queue policy with the options given as the text of a table.
local function queue_file(name, options)
  return shell.path(dir, name .. ".lua", ("return { options = %s, schedule = function(q) for j in q:pending() do q:start(j) end end }")
    :format(options))
end

describe("a space", function()
  for _, case in ipairs {
    { "even", "{ x = { default = 1, min = 0, max = 10 } }", { 0, 3, 5, 8, 10 } },
    { "a logarithm", "{ x = { default = 1.0, min = 1, max = 10000 } }", { 1.0, 10.0, 100.0, 1000.0, 10000.0 } },
    { "either sign", "{ x = { default = 1.0, min = -1000, max = 1000 } }", { -1000.0, -30.6, 0.0, 30.6, 1000.0 } },
    { "from 0", "{ x = { default = 1, min = 0, max = 1000 } }", { 0, 5, 31, 177, 1000 } },
    { "choices", '{ x = { default = "b", choices = { "a", "b" } } }', { "a", "a", "b", "b", "b" } },
    { "yes and no", "{ x = false }", { false, false, true, true, true } },
  } do
    it("is spread by its range: " .. case[1], function()
      local s = assert(space.new("low", queue_file(case[1]:gsub(" ", "_"), case[2])))
      local values = {}
      for i, u in ipairs { 0, 0.25, 0.5, 0.75, 0.999999 } do values[i] = s:values({ u })[1] end
      for i, value in ipairs(case[3]) do assert.equal(value, values[i]) end
    end)
  end

  it("has the defaults at their place", function()
    local s = assert(space.new("weighted", "priority"))
    local there = s:values(s:defaults())
    for i, value in ipairs(s:present()) do assert.near(value, there[i], 1e-3 * math.abs(value) + 1e-12) end
  end)

  it("leaves what is given as it is given, and names what has no range", function()
    local s = assert(space.new("weighted:cool=3,fast=0", "priority:qos=0,max_age=9,half_life=9,size=1,fair=0"))
    local names = {}
    for i, one in ipairs(s) do names[i] = one.name end
    assert.same({ "low", "pack", "plain", "age" }, names)
    assert.same({ "levels" }, s.fixed)
    local policy, queue = s:policies_of { 0.1, 5.0, 0.0, 2.5 }
    assert.equal("weighted:cool=3,fast=0,pack=5", policy)
    assert.equal("priority:fair=0,half_life=9,max_age=9,qos=0,size=1,age=2.5", queue)
  end)

  it("is narrowed", function()
    local s = assert(space.new("low", "hybrid", { "k=2..5" }))
    assert.same({ { 2 }, { 5 } }, { s:values { 0 }, s:values { 0.999999 } })
  end)

  for _, case in ipairs {
    { "low", "easy", nil, "neither low nor easy has an option with a range" },
    { "low", "hybrid", { "n=1..2" }, "no option n has a range" }, { "low", "hybrid", { "k" }, "expected NAME=MIN..MAX" },
    { "low", "hybrid", { "k=5..2" }, "expected NAME=MIN..MAX" }, { "low", "hybrid", { "k=-1..2" }, "takes k from 0 to 1e+06" },
    { "low", "hybrit", nil, 'did you mean "hybrid"' }, { "lov", "hybrid", nil, "lov" },
    { "low", "priority:age=-1", nil, "option 'age': -1" }, { "low", "hybrid:k=2000000", nil, "above 1000000, the most" },
  } do
    it("refuses: " .. case[4], function()
      local s, why = space.new(case[1], case[2], case[3])
      assert.is_nil(s)
      assert.matches(case[4], why, 1, true)
    end)
  end
end)

describe("an option of a queue policy", function()
  for _, case in ipairs {
    { "{ k = { default = 5, min = 6 } }", "", "option 'k': 5 is below 6, the least" },
    { "{ k = { default = 5, max = 9 } }", ":k=10", "above 9" },
    { "{ k = { least = 5 } }", "", "there is no 'least'; an option has type, default, min, max, choices, doc" },
    { "{ k = { doc = 'x' } }", "", "expected a type or a default" },
    { "{ k = { type = 'integer' } }", ":k=2.5", "integer expected, got '2.5'" },
  } do
    it("is refused: " .. case[3], function()
      local s, why = space.new("low", queue_file("wrong", case[1]) .. case[2])
      assert.is_nil(s)
      assert.matches(case[3], why, 1, true)
    end)
  end
end)

-- ---- what is made small -----------------------------------------------------------------------------------------

describe("objectives", function()
  it("are named in either order", function()
    local list = assert(objective.read "mean_wait, bsld_p95,p95_bsld")
    assert.same({ "mean_wait", "p95_bsld" }, { list[1].name, list[2].name })
    assert.is_nil(list[3])
  end)

  for _, word in ipairs { "mean_wate", "wait", "", "mean_wait,p12_wait" } do
    it(("refuse %q"):format(word), function()
      local list, why = objective.read(word)
      assert.is_nil(list)
      assert.matches("mean_wait", why, 1, true)
    end)
  end

  it("are those of a replay", function()
    local jobs, waits, slowdowns = lublin.new { jobs = 300, units = 16, seed = 3 }, {}, {}
    local result = assert(replay.run { resources = "cluster:1 core:16", trace = jobs, each = function(job)
      waits[#waits + 1], slowdowns[#slowdowns + 1] = objective.measures(job.submit, job.start, job.finish, 10)
    end })
    local values = objective.values(objective.read "mean_wait,p95_wait,max_wait,mean_bsld,max_bsld", { wait = waits, bsld = slowdowns })
    local m = result.metrics
    for i, value in ipairs { m.wait.mean, m.wait.p95, m.wait.max, m.bounded_slowdown.mean, m.bounded_slowdown.max } do
      assert.near(value, values[i], 1e-9 * math.max(1, value))
    end
  end)
end)

-- ---- orders -----------------------------------------------------------------------------------------------------

describe("candidates", function()
  local next_number = random.new(5)

  it("are ordered by one value, equal ones as they come", function()
    assert.same({ 2, 4, 1, 3 }, rank.order { { 5 }, { 1 }, { 7 }, { 1 } })
  end)

  it("have a front that none is better than, and nobody else is on it", function()
    for _ = 1, 100 do
      local values, on = {}, {}
      for i = 1, next_number(12) do values[i] = { next_number(6), next_number(6) } end
      for _, place in ipairs(rank.front(values)) do on[place] = true end
      for i, a in ipairs(values) do
        local beaten, met = false, false
        for k, b in ipairs(values) do
          beaten = beaten or rank.better(b, a)
          met = met or k ~= i and on[k] and b[1] == a[1] and b[2] == a[2]
        end
        assert.equal(not beaten, on[i] or met and not beaten or false)
      end
    end
  end)

  it("are ordered front by front", function()
    for _ = 1, 50 do
      local values = {}
      for i = 1, 8 do values[i] = { next_number(5), next_number(5) } end
      local order = rank.order(values)
      assert.equal(8, #order)
      for i, a in ipairs(order) do
        for k = i + 1, 8 do assert.is_false(rank.better(values[order[k]], values[a])) end
      end
    end
  end)
end)

-- ---- samples ----------------------------------------------------------------------------------------------------

describe("a piece of a trace", function()
  local jobs, was

  setup(function()
    local t = lublin.new { jobs = 7000, units = 32, seed = 2, load = 0.9 }
    jobs, was = store.new(), { start = {}, finish = {}, wait = {}, bsld = {} }
    for job in t.next do jobs:add(job) end
    assert(replay.run { resources = "cluster:1 core:32", queue = "fcfs", series = false, each = function(job)
      local k = job.index
      was.start[k], was.finish[k] = job.start, job.finish
      was.wait[k], was.bsld[k] = objective.measures(job.submit, job.start, job.finish, 10)
    end, trace = { next = sample.source(jobs, 1, jobs.n) } })
  end)

  it("is one of those that hold each job once", function()
    local after = 1
    for _, piece in ipairs(sample.pieces(jobs, jobs.n, was)) do
      assert.equal(after, piece.first)
      after = piece.last + 1
    end
    assert.equal(jobs.n + 1, after)
  end)

  it("begins as it was: under fcfs each of its jobs starts when it did", function()
    local piece = sample.heaviest(sample.pieces(jobs, jobs.n, was), 0.2, jobs.n)[1]
    local n, all = 0, sample.prepare(piece, jobs, was)
    assert(replay.run { resources = "cluster:1 core:32", queue = "fcfs", series = false, each = function(job)
      if not job.index then return end
      n = n + 1
      assert.near(was.start[job.index], job.start, 1e-3)
    end, trace = { next = sample.source_of(piece, jobs, was) } })
    assert.equal(piece.last - piece.first + 1, n)
    assert.is_true(all >= n)
  end)
end)

describe("the jobs of a trace", function()
  it("are given again as they were, each time as a table of its own", function()
    local jobs = store.new()
    local list = { { submit = 1, user = "a" }, { submit = 2, queue = "q" }, { submit = 3, user = "c", bank = 0 } }
    for _, job in ipairs(list) do jobs:add(job) end
    for i, job in ipairs(list) do assert.same(job, jobs:get(i)) end
    jobs:get(1).submit = 9
    jobs:keep { true, nil, true }
    assert.same({ 2, list[1], list[3] }, { jobs.n, jobs:get(1), jobs:get(2) })
  end)
end)

-- ---- searches ---------------------------------------------------------------------------------------------------

-- A space of n numbers from 0 to 1.
local function plain_space(n)
  local s = { key = space.key, fixed = {} }
  for i = 1, n do s[i] = { name = "x" .. i } end
  function s.values(_, point) return table.move(point, 1, n, 1, {}) end
  function s.defaults()
    local point = {}
    for i = 1, n do point[i] = 0.9 end
    return point
  end
  s.present = s.defaults
  return s
end

-- A valley about 0.3; a sample sees it a little to the side.
local function depth(values, sampled)
  local sum = 0
  for i, x in ipairs(values) do sum = sum + (x - 0.3 - (sampled and 0.02 * i or 0)) ^ 2 * i end
  return sum
end

local function run_search(way, budget, costs, seed)
  local s = plain_space(4)
  local own = search.new { space = s, seed = seed or 1, budget = budget, costs = costs, try = function(list)
    local results = {}
    for i, one in ipairs(list) do results[i] = { depth(one.values, one.sample > 0) } end
    return results
  end }
  own[way](own, s:defaults(), { depth(s:defaults()) })
  return own
end

describe("a search", function()
  for _, case in ipairs { { "halve", 40, { 0.1, 0.3 } }, { "halve", 12, {} }, { "halve", 2, { 0.5 } }, { "draw", 12, {} } } do
    it(("keeps to its budget: %s of %d with %d samples"):format(case[1], case[2], #case[3]), function()
      local own = run_search(table.unpack(case))
      local work = 0
      for k = 0, #case[3] do work = work + #own.known[k].list * own:cost(k) end
      assert.near(own.spent, work, 1e-9)
      assert.is_true(own.spent <= case[2] + 1e-9)
      assert.is_true(own:found()[1].result[1] <= depth { 0.9, 0.9, 0.9, 0.9 })
    end)
  end

  it("by halving finds a lower place than one at random, with the same budget", function()
    local lower = 0
    for seed = 1, 10 do
      local a, b = run_search("halve", 40, { 0.1, 0.3 }, seed):found()[1], run_search("draw", 40, {}, seed):found()[1]
      if a.result[1] < b.result[1] then lower = lower + 1 end
    end
    assert.is_true(lower >= 9)
  end)

  for _, case in ipairs { { "keeps samples that order settings as the whole trace does", 1, 3 },
    { "leaves out samples that order them otherwise", -1, 1 } } do
    it(case[1], function()
      for seed = 1, 5 do
        local own = search.new { space = plain_space(4), seed = seed, budget = 40, costs = { 0.1, 0.3 }, try = function(list)
          local results = {}
          for i, one in ipairs(list) do results[i] = { depth(one.values) * (one.sample > 0 and case[2] or 1) } end
          return results
        end }
        own:halve(own.space.defaults(), { depth(own.space.defaults()) })
        assert.equal(case[3], #own.stages, "seed " .. seed)
      end
    end)
  end

  it("ends where there is nothing left to try", function()
    local s = plain_space(1)
    function s.values(_, point) return { point[1] < 0.5 } end
    s.present = function() return { true } end
    local own = search.new { space = s, seed = 1, budget = 1000, costs = {}, try = function(list)
      local results = {}
      for i, one in ipairs(list) do results[i] = { one.values[1] and 1 or 2 } end
      return results
    end }
    own:halve({ 0.1 }, { 1 })
    assert.equal(2, own.spent)
  end)
end)

-- ---- all of it --------------------------------------------------------------------------------------------------

local function run_tune(opts)
  local given = { resources = "cluster:1 core:32", trace = lublin.new { jobs = 240, units = 32, seed = 4, load = 1.2 }, policy = "low",
    queue = "priority", objectives = objective.read "mean_wait", budget = 10 }
  for key, value in pairs(opts or {}) do given[key] = value end
  return assert(tune.run(given))
end

describe("tuning", function()
  it("gives the same with any number of workers, and by the seed", function()
    local function told(opts) return core.json_encode(run_tune(opts), { sort = true }) end
    local one = told { workers = 1 }
    assert.equal(one, told { workers = 3 })
    assert.not_equal(one, told { workers = 3, seed = 2 })
  end)

  it("tells of the second part what a replay of the line to paste gives", function()
    local report = run_tune()
    local best, i, sum, n = report.found[1], 0, 0, 0
    local t = lublin.new { jobs = 240, units = 32, seed = 4, load = 1.2 }
    assert(replay.run { resources = "cluster:1 core:32", policy = best.policy, queue = best.queue, each = function(job)
      if job.index > report.jobs.first then sum, n = sum + job.start - job.submit, n + 1 end
    end, trace = { next = function()
      local job = t.next()
      i = i + 1
      if job then job.index = i end
      return job
    end } })
    assert.equal(report.jobs.second, n)
    assert.near(sum / n, best.second[1], 1e-6)
    assert.is_true(best.first[1] <= report.now.first[1])
  end)

  it("gives the same by the simulator of plain jobs and by the general one", function()
    local t = lublin.new { jobs = 240, units = 32, seed = 4, load = 1.2 }
    local plain, general = run_tune { queue = "hybrid" }, run_tune { queue = "hybrid", trace = { path = t.path, next = t.next } }
    assert.equal(core.json_encode(plain, { sort = true }), core.json_encode(general, { sort = true }))
  end)

  it("with two objectives gives ways of which none is better than another", function()
    local report = run_tune { objectives = objective.read "mean_wait,max_bsld", budget = 20 }
    for _, a in ipairs(report.found) do
      for _, b in ipairs(report.found) do assert.is_false(rank.better(a.first, b.first)) end
    end
    assert.equal(#report.found * 2 + 3, #text.rows(report))
  end)

  it("goes on past settings under which the policy fails, if it is to", function()
    local path = shell.path(dir, "fails.lua", [[return { options = { k = { default = 1, min = 1, max = 9 } },
      schedule = function(q, o) if o.k > 5 then error "too much" end for j in q:pending() do q:start(j) end end }]])
    local report = run_tune { queue = path, keep_going = true }
    assert.is_true(report.failed > 0)
    assert.matches("too much", report.failure, 1, true)
    assert.matches("left out, the first one -p low -q", text.sentences(report)[1], 1, true)
  end)
end)

-- ---- the command ------------------------------------------------------------------------------------------------

local function trace_file(n)
  local t, lines = lublin.new { jobs = n, units = 16, seed = 6, load = 1.1 }, { "submit,runtime,procs,estimate" }
  for job in t.next do lines[#lines + 1] = ("%d,%d,%d,%d"):format(job.submit, job.runtime, job.procs, job.estimate) end
  return shell.path(dir, "trace.csv", table.concat(lines, "\n") .. "\n")
end

describe("what is told of a search", function()
  -- A report on values of the mean wait: in force, tried, the best of them, on the first part and on the second.
  local function report(now, tried, best)
    local option = { name = "k", where = "queue", quarters = {}, bounds = {}, min = 0, max = 31536000, default = 604800, matters = 0.5 }
    local function entry(first, second) return { queue = "easy", policy = "low", options = {}, first = { first }, second = { second } } end
    local list = {}
    for i, value in ipairs(tried) do list[i] = entry(value, value) end
    return { objectives = objective.read "mean_wait", now = entry(now, now), found = { entry(best, best) }, tried = list, samples = {},
      options = { option }, jobs = { first = 10, second = 10 }, failed = 0, whole = 1, spent = 1, seed = 1, fixed = {}, queue = "easy",
      policy = "low" }
  end

  it("has no change that is not printed", function()
    local told = report(0.0003, { 0.0003, 0.00029 }, 0.00029)
    assert.same({ "On the 10 first jobs nothing was found that is better than the policies in force.",
      "On the 10 jobs after, of which the search knew nothing, nothing changes: wait, mean is 0 s.",
      "No setting that was tried changes wait, mean: it is 0 s." }, text.sentences(told))
    for _, row in ipairs(text.rows(told)) do assert.is_nil(table.concat(row, " "):find "%%") end
  end)

  it("has no range where none is known, and whole numbers", function()
    local told = report(20, { 20, 10 }, 10)
    assert.equal("What matters for wait, mean is k (50 % of the differences).", text.sentences(told)[3])
    assert.same({ "k", "easy", "0 to 31536000", "604800", "50 %", "" }, { table.unpack(text.option_rows(told)[2], 1, 6) })
  end)

  for most, unit in pairs { [0.2] = "seconds", [600] = "minutes", [90000] = "hours" } do
    it("counts a page's axis in " .. unit, function()
      local page = findings.html(text.page(report(most, { most, most / 2 }, most / 2)))
      assert.matches(">wait, mean, " .. unit .. "<", page, 1, true)
      assert.is_nil(page:find ">%d+e%-%d+<")
    end)
  end
end)

describe("weir tune", function()
  local path
  setup(function() path = trace_file(120) end)
  local function run(...) return shell.weir { "tune", "-r", "cluster:1 core:16", ... } end

  it("tells what it found, and a line to paste", function()
    local r = run(path, "-q", "hybrid", "--budget", "4", "--vary", "k=1..9")
    assert.equal(0, r.status, r.err)
    assert.matches("60 first jobs", r.out, 1, true)
    assert.matches("of which the search knew nothing", r.out, 1, true)
    local line = r.out:match "(%-p low %-q hybrid%S*)\n$"
    assert.truthy(line)
    assert.equal(0, shell.weir({ "replay", "-r", "cluster:1 core:16", "-q", line:match "%-q (%S+)", path }).status)
  end)

  it("writes a page and what it shows", function()
    local out = dir .. "/out"
    local r = run(path, "-q", "hybrid", "--budget", "3", "--report", out, "--json", "--minimise", "mean_wait,p95_bsld")
    assert.equal(0, r.status, r.err)
    local report = assert(core.json_decode(shell.slurp(shell.path(out, "tune.json"))))
    assert.same(report, core.json_decode(r.out))
    local page = shell.slurp(shell.path(out, "index.html"))
    for _, part in ipairs { "<h1>weir tune: trace.csv</h1>", 'class="said"', "<svg", '<table class="findings">', "slowdown, 95th" } do
      assert.truthy(page:find(part, 1, true), part)
    end
    shell.path(out, "")
  end)

  for _, case in ipairs {
    { {}, "tune: expected a TRACE" }, { { "/none.swf" }, "/none.swf: there is no such file" }, { { "%s", "%s" }, "one TRACE too many" },
    { { "%s" }, "neither low nor easy has an option" }, { { "%s", "--minimise", "wait" }, 'there is no objective "wait"' },
    { { "%s", "--budget", "1" }, "--budget: expected a number from 2" }, { { "%s", "--train", "1" }, "--train: expected a number" },
    { { "%s", "-q", "hybrid", "--vary", "z=1..2" }, "no option z" }, { { "/dev/null", "-q", "hybrid" }, "is empty, expected a trace" },
    { { "%s", "-q", "hybrid", "--map", "slot=N/disk" }, "0 of 120 jobs fit into the machine" },
  } do
    it("refuses: " .. case[2], function()
      local words = {}
      for i, word in ipairs(case[1]) do words[i] = word == "%s" and path or word end
      local r = run(table.unpack(words))
      assert.equal(2, r.status)
      assert.matches(case[2], r.err, 1, true)
    end)
  end

  it("keeps what is known when it is interrupted", function()
    local t = pty.spawn({ shell.bin, "tune", "-r", "cluster:1 core:16", path, "-q", "priority", "--budget", "1e6" }, { TERM = "xterm" })
    assert.truthy(t:wait_for("search  [", 60))
    os.execute(("kill -%d %d"):format(SIGINT, t:pid()))
    local status, out = t:finish(60)
    assert.equal(130, status)
    assert.matches("The search was interrupted", out, 1, true)
    assert.matches("%-p low %-q priority", out)
  end)
end)
