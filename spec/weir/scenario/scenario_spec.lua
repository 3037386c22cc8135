-- Scenarios themselves: messages of failures and of misuse, `weir test`, random scenarios. The guarantees of the
-- engine and the policies are in spec/scenarios.
local plans = require "weir.scenario.plan"
local scenario = require "weir.scenario"
local weir = require "weir"
local weir_bin = os.getenv("WEIR_BIN") or "build/weir"

local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end

-- Output (both kinds) and exit status.
local function shell(command)
  local pipe = assert(io.popen("(" .. command .. ") 2>&1"))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return text, status
end

local function test(arguments) return shell(("%s test %s"):format(quote(weir_bin), arguments)) end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

-- The error of f, as a text.
local function raised(f, ...)
  local ok, why = pcall(f, ...)
  assert.is_false(ok)
  return tostring(type(why) == "table" and why.message or why)
end

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("%q is not in:\n%s"):format(part, text)) end

describe("the times of a scenario", function()
  it("are whole microseconds, however they are added up", function()
    local s = scenario { machine = "cluster:1 core:4", queue = "preempt" }
    local a = s:submit { "slot=2/core=1", lasts = 0.2, at = 0.1, preemptible = 0.2 }
    local b = s:submit { "slot=4/core=1", lasts = 0.1, at = 0.7, name = "b" }
    local early = s:submit { "slot=3/core=1", lasts = 5, at = 0.7, preemptible = 0.1 }
    s:advance(0.1):advance(0.2)
    assert.equal(0.3, s:now())
    assert.done(a)
    assert.ends_at(a, 0.1 + 0.2)
    assert.waited(a, "==", 0)
    s:at(0.1 + 0.7, function() s:submit { "slot=1/core=1", lasts = 0.1, name = "late" } end)
    s:run()
    assert.starts_at(b, 0.7)
    assert.starts_at(s:job "late", 0.1 + 0.7)
    assert.starts_at(early, 0.8)
    assert.waited(early, "==", 0.1)
    assert.invariants()
  end)

  it("let a job be preempted when the seconds are over that it has", function()
    local s = scenario { machine = "cluster:1 core:4", queue = "preempt" }
    s:submit { "slot=2/core=1", lasts = 100, at = 0.1, preemptible = 0.2 }
    local wide = s:submit { "slot=4/core=1", lasts = 1, at = 0.2 }
    s:run()
    assert.starts_at(wide, 0.3)
  end)
end)

describe("a scenario", function()
  local s, long, first, small

  before_each(function()
    s = scenario { machine = "cluster:1 node:8 core:4", policy = "low", queue = "easy" }
    long = s:submit { "slot=6/node", lasts = 100, name = "long" }
    first = s:submit { "slot=8/node", lasts = 50, name = "first", user = "ann" }
    small = s:submit { "slot=1/core=2", lasts = 20, name = "small", user = "ann" }
  end)

  it("[K4] has a clock of its own: ten years are a moment", function()
    local job = s:submit { "slot=1/node", lasts = 10, at = 10 * 365 * 86400 }
    s:advance(5):to(50)
    assert.equal(50, s:now())
    s:run()
    assert.starts_at(job, 315360000)
    assert.equal(315360010, s:now())
  end)

  it("[K4] sees together what is submitted at one time, and acts in the order of the script", function()
    assert.equal("", s:history())
    s:fail(long)
    assert.equal([[
0 submit long (job 1)
0 submit first (job 2)
0 submit small (job 3)
0 start long (job 1) node[0-5]
0 reserve first (job 2) 100
0 start small (job 3) node6/core[0-1]
0 failed long (job 1)
0 reserve first (job 2) 20]], s:history())
  end)

  it("[K4] can have things done later, as a function and in short", function()
    s:at(10, function(x) x:down("node7"):fail(long) end)
    s:at(30):up "node7"
    s:run()
    assert.failed(long)
    assert.starts_at(first, 30)
  end)

  it("tells about its jobs", function()
    assert.equal("running", long.state)
    assert.equal("node6/core[0-1]", small.place)
    assert.equal(100, first.promised)
    s:run()
    assert.equal(100, first.wait)
    assert.equal("first (job 2)", tostring(first))
    assert.equal("ann", s:job("first").user)
    assert.equal(3, #s:jobs())
    assert.is_nil(s:job "nobody")
  end)

  for _, case in ipairs {
    { "slot=1/node/core=9", "9 cores are needed in one node; the best, /cluster0/node0, has 8 in all" },
    { "slot=5/node", "5 nodes are needed; the machine has 4 in all" },
    { "slot=1/gpu", "1 gpu is needed; there is no gpu here" },
    { { version = 1, resources = { { type = "slot", count = 1, label = "a", with = { { type = "node", count = 1 } } } },
      attributes = { system = { duration = 0, constraints = { properties = { "fast" } } } },
      tasks = { { command = { "a" }, slot = "a", count = { per_slot = 1 } } } },
      'No vertex has the property "fast"; there are no properties here' },
  } do
    it("says of a job that it rejects what weir explain says: " .. case[2], function()
      local own = scenario { machine = "cluster:1 node:4 core:8" }
      local job = own:submit(case[1])
      assert.rejected(job)
      local word, why = own:reason(job)
      assert.equal("infeasible", word)
      has(why, case[2])
      assert.equal(why, job.why)
      has(own:picture(), why)
      local told = weir.explain.text(own.engine:explain(case[1]))
      has(told, why)
    end)
  end

  it("says of a waiting job that nothing can hold any more what weir explain says", function()
    local own = scenario { machine = "cluster:1 node:4 core:8" }
    own:submit "slot=1/node/core=8"
    local wide = own:submit "slot=4/node"
    for id = 1, 3 do own:remove("node" .. id) end
    has(select(2, own:reason(wide)), "4 nodes are needed; the machine has 1 in all")
  end)

  it("has a picture", function()
    s:down "node7"
    assert.equal([=[
at 0 s, policy low, queue easy
  node[0-5]    up        long
  node6        up        small: core[0-1]
  node7        down      -
  long         running    slot=6/node      since 0, until 100, on node[0-5]
  first        pending    slot=8/node      blocked: what it needs is down, drained, or refused by the policy
  small        running    slot=1/core=2    since 0, until 20, on node6/core[0-1]]=], s:picture())
  end)

  it("draws no more than fits on a screen", function()
    s:submit { "slot=1/core", lasts = 1, array = 200 }
    s:to(30)
    local _, lines = s:picture():gsub("\n", "")
    assert.is_true(lines < 50)
    has(s:picture(), "... 197 that are over")
  end)

  it("tells changes of the machine and reservations that they make void in the history", function()
    s:to(20)
    s:down "node7"
    s:to(300)
    s:up "node7"
    s:to(301)
    has(s:history(), "20 down node7")
    has(s:history(), "20 void first (job 2) 100")
    has(s:history(), "300 up node7")
    assert.kept_promises()
    assert.is_not.kept_promises { ever = true }
  end)

  it("refuses s:at without an action, with its line", function()
    s:at(100)
    local ok, why = pcall(s.to, s, 200)
    assert.is_false(ok)
    assert.matches("s:at%(100%) in line %d+: expected an action", why)
  end)

  it("takes a graph without changing it", function()
    local g = weir.synthetic "cluster:1 node:2 core:2"
    local t = scenario { machine = g }
    assert.running(t:submit "slot=2/node")
    t:down "node0"
    assert.equal(4, g:aggregate().core.free)
  end)

  it("takes what is random from its seed", function()
    local a, b, c = scenario { seed = 7 }, scenario { seed = 7 }, scenario { seed = 8 }
    local x, y, z = {}, {}, {}
    for i = 1, 20 do x[i], y[i], z[i] = a.random(1, 1000), b.random(1, 1000), c.random(1, 1000) end
    assert.same(x, y)
    assert.is_not.same(x, z)
    assert.same({ 872, 1, "b" }, { a.random(1000), a.random(1), a.random { "b" } }) -- on every machine
  end)

  it("comes in all combinations of what is a list", function()
    local names = {}
    for name, opts in scenario.each { machine = "node:2", queue = { "fcfs", { "hybrid", k = 1 } }, policy = { "low", "high" } } do
      names[#names + 1] = name
      assert.equal("node:2", opts.machine)
      assert.running(scenario(opts):submit "slot=1/node")
    end
    assert.same({ "low, fcfs", "low, hybrid", "high, fcfs", "high, hybrid" }, names)
  end)

  -- ---- assertions that fail -------

  local failing = {
    { "first (job 2) is to be running, but is pending (to start at 100; busy: what it needs is in use)", function()
      assert.running(first)
    end },
    { "long (job 1) is not to be running, but is running", function() assert.is_not.running(long) end },
    { "first (job 2) is to be running", function() assert.running(long, first, small) end },
    { "long (job 1) is to be pending, but is running (since 0, until 100, on node[0-5])", function() assert.pending(long) end },
    { "first (job 2) is to be pending (down), but is pending", function() assert.pending(first, "down") end },
    { "small (job 3) is to be done, but is running", function() assert.done(small) end },
    { "first (job 2) is to be reserved at 90 s, but is pending (to start at 100", function() assert.reserved(first, 90) end },
    { "long (job 1) is to be on node[1-6], but is on node[0-5]", function() assert.placed(long, "node[1-6]") end },
    { "small (job 3) is to be on node6/core[0-2], but is on node6/core[0-1]", function() assert.placed(small, "node6/core[0-2]") end },
    { "first (job 2) is to be on node0, but is pending", function() assert.placed(first, "node0") end },
    { "long (job 1) is to hold 20 core, 6 node, but holds 24 core, 6 node", function() assert.holds(long, { node = 6, core = 20 }) end },
    { "long (job 1) is to start at 5 s, but did at 0 s", function() assert.starts_at(long, 5) end },
    { "long (job 1) is to end at 100 s, but is running", function() assert.ends_at(long, 100) end },
    { "first (job 2) is to wait > 10 s, but waited 0 s so far", function() assert.waited(first, ">", 10) end },
    { "start: long at 0, first at no time yet", function() assert.starts_in_order(long, first) end },
    { "the machine is to have 7 core free, but has 6", function() assert.free(7, "core") end },
    { "the utilisation of core from 0 to 100 s is to be > 0.9, but is 0.7625", function()
      s:to(100)
      assert.utilisation(">", 0.9)
    end },
    { "what is in use is to never be over 20 core, but was 26 core at 0 s", function() assert.never_over(20, "core") end },
    { "what user ann has is to never be over 1 core, but was 2 core", function() assert.never_over(1, "core", { user = "ann" }) end },
    { "what is in use within node6 is to never be over 1 core", function() assert.never_over(1, "core", { within = "node6" }) end },
    { "nobody is not to wait where there is room", function() assert.is_not.no_standstill() end },
  }
  for _, case in ipairs(failing) do
    it("says: " .. case[1], function()
      local text = raised(case[2])
      has(text, case[1])
      has(text, "s, policy low, queue easy\n") -- the machine at the time of the failure
      has(text, "slot=6/node")
    end)
  end

  it("finds what the books have and nobody got", function()
    s:settle()
    assert(s:find("node7")[1]:allocate { job = 99, amount = 1, start = 0, duration = 50 })
    has(raised(function() assert.invariants() end), "the whole is to be sound, but the engine still has job 99, which is over")
  end)

  it("finds what was taken from a job behind its back", function()
    s:settle()
    s.engine:release(1)
    has(raised(function() assert.invariants() end), "long (job 1) runs, and the engine has nothing of it")
  end)

  it("is the one made last, or the one that is given", function()
    local other = scenario {}
    assert.free(32)
    assert.free(other, 32)
    assert.free(s, 6)
  end)

  -- ---- misuse ----

  local wrong = {
    { "scenario: there is no 'polcy' (did you mean \"policy\"?)", function() scenario { polcy = "low" } end },
    { "scenario: expected a table", function() scenario "node:4" end },
    { "scenario: machine: no-such.json", function() scenario { machine = "no-such.json" } end },
    { "there is no queue policy \"esay\" (did you mean \"easy\"?)", function() scenario { queue = "esay" } end },
    { "scenario: no policy", function() scenario { policy = "lwo" } end },
    { "s:submit: what does it ask for?", function() s:submit { lasts = 3 } end },
    { "s:submit: there is no 'last' (did you mean \"lasts\"?)", function() s:submit { "slot=1/node", last = 3 } end },
    { "s:submit: ", function() s:submit "slot=" end },
    { "array: expected a count from 1 on", function() s:submit { "slot=1/node", array = 0 } end },
    { "after: expected a job or a list of jobs", function() s:submit { "slot=1/node", after = "long" } end },
    { 'there is no "node8" on this machine', function() s:down "node[7-9]" end },
    { '"" names no', function() s:find {} end, "a name such as node3" },
    { "s:down: the jobs there run on", function() s:down("node0", "flail") end },
    { "s:fail: first (job 2) is pending", function() s:fail(first) end },
    { "s:cancel: expected a job or a list of jobs", function() s:cancel "long" end },
    { "s:advance: time does not run backwards", function() s:advance(-1) end },
    { "s:to: it is 10 s already", function() s:to(10):to(9) end },
    { "s:shrink: long (job 1): ", function() s:shrink(long, "node7") end },
    { "s:remove: ", function() s:remove "node0" end },
    { "a job has no 'stat'", function() return long.stat end },
    { "a job of a scenario can only be looked at", function() long.state = "done" end },
    { "assert.running: expected a job", function() assert.running "long" end },
    { "assert.placed: there is no \"nod\"", function() assert.placed(long, "nod") end },
    { "assert.waited: expected an operator and a number", function() assert.waited(long, "=", 3) end },
    { "assert.utilisation: expected an operator", function() assert.utilisation(0.9) end },
    { "a scenario has no method 'dwon' (did you mean \"down\"?)", function() s:at(5):dwon "node0" end },
  }
  for _, case in ipairs(wrong) do
    it("refuses: " .. case[1], function()
      local text = raised(case[2])
      has(text, case[3] or case[1])
      assert.matches("scenario_spec%.lua:%d+: ", text)
    end)
  end
end)

-- The engine gives nothing twice, so the ledger's records are forged.
describe("the ledger finds", function()
  local ledger = require "weir.scenario.alloc_log"
  local function title(job) return "job " .. job.id end

  -- The faults after jobs got the given vertices, each {path, amount}.
  local function faults_of(given, prepare)
    local g = weir.synthetic "cluster:1 rack:2 node:2 core:4 memory:1(size=16)"
    local book, fake = ledger.new(g, 0, title), { now = 5, engine = {} }
    if prepare then prepare(g) end
    for id, picks in ipairs(given) do
      local list = {}
      for i, pick in ipairs(picks) do
        local v = g:vertex(pick[1])
        list[i] = { vertex = v, amount = pick[2] or 1, exclusive = (pick[2] or 1) == v.size }
      end
      fake.engine.job = function() return { vertices = function() return list end } end
      book:note("start", { id = id, start = 5, submit = 0 }, fake)
    end
    return book.faults
  end

  local NODE = "/cluster0/rack0/node0"
  local cases = {
    { "a core that two have", { { { NODE .. "/core0" } }, { { NODE .. "/core0" } } }, "5 s: 2 of the 1 of node0/core0 are given away" },
    { "a pool that is overdrawn", { { { NODE .. "/memory0", 10 } }, { { NODE .. "/memory0", 7 } } }, "17 of the 16 of node0/memory0" },
    { "a core of a node that somebody has whole", { { { NODE } }, { { NODE .. "/core0" } } },
      "node0/core0 is given to job 2, though job 1" },
    { "a node of which somebody has a core", { { { NODE .. "/core0" } }, { { NODE } } }, "node0 is given to job 2, though job 1" },
    { "a rack of which somebody has a core", { { { NODE .. "/core0" } }, { { "/cluster0/rack0" } } },
      "rack0 is given to job 2, though job 1" },
    { "what is given while it is down", { { { NODE .. "/core0" } } }, "job 1 gets node0/core0, which is down", function(g)
      g:vertex("/cluster0/rack0").state = "down"
    end },
  }
  for _, case in ipairs(cases) do
    it(case[1], function()
      local faults = faults_of(case[2], case[4])
      assert.is_true(#faults > 0)
      has(table.concat(faults, "\n"), case[3])
    end)
  end

  it("nothing where all is well", function()
    assert.same({}, faults_of { { { NODE .. "/core0" }, { NODE .. "/memory0", 10 } }, { { NODE .. "/memory0", 6 } },
      { { "/cluster0/rack1" } }, { { "/cluster0/rack0/node1" } } })
  end)
end)

describe("what a name means", function()
  local s = scenario { machine = "cluster:1 rack:2 node:2 core:2" }
  for _, case in ipairs {
    { "node1", { "node1" } }, { "node[1-2]", { "node1", "node2" } }, { "rack1/node2", { "node2" } }, { "rack0", { "rack0" } },
    { "/cluster0/rack1/node3/core0", { "node3/core0" } }, { "rack1/core1", { "node2/core1", "node3/core1" } },
    { "node0/core[0-1] node3", { "node0/core0", "node0/core1", "node3" } }, { "type=node and name=node3", { "node3" } },
  } do
    it(case[1], function()
      local names = {}
      for i, v in ipairs(s:find(case[1])) do names[i] = require("weir.machine.vertex_names").name(v) end
      assert.same(case[2], names)
    end)
  end

  it("is wrong under another rack", function() has(raised(s.find, s, "rack1/node0"), 'there is no "node0"') end)
end)

describe("random scenarios", function()
  local dir

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(os.execute("mkdir " .. quote(dir)))
  end)

  after_each(function() os.execute("rm -rf " .. quote(dir)) end)

  local function made(seed) return plans.make({ seed = seed, steps = 20, policy = "low", queue = "easy", checks = {} }, scenario) end

  it("[K4] are the same for one seed", function()
    assert.same(made(5), made(5))
    assert.is_not.same(made(5), made(6))
  end)

  it("[K4] hold under a policy that keeps its word", function()
    local text, status = test "--random 20 --calm -q conservative --assert 'assert.kept_promises()'"
    assert.equal("20 random scenarios hold, from seed 1 on (policy low, queue conservative)\n", text)
    assert.equal(0, status)
  end)

  local bugs = {
    { "forgets jobs of three", "if job.units ~= 3 then queue:start(job) end", "", "no_standstill" },
    { "fails when four wait", "n = n + 1; if n == 4 then error 'four!' end queue:start(job)", "", "four!" },
    { "breaks promises", [[
      if not head then
        if not queue:start(job) then
          head = job
          queue:unreserve(job)
          queue:reserve(job)
        end
      elseif queue:fits(job) then
        queue:unreserve(head)
        queue:start(job)
        queue:reserve(head)
      end]], "--calm --assert 'assert.kept_promises()'", "kept_promises" },
  }
  for _, bug in ipairs(bugs) do
    it("[K4] find a queue policy that " .. bug[1] .. ", in a file of a few lines that fails as well", function()
      write(dir .. "/bad.lua", ([[
return { name = "bad", schedule = function(queue)
  local head, n = nil, 0
  for job in queue:pending() do
    %s
  end
  return head, n
end }]]):format(bug[2]))
      local found = dir .. "/found.lua"
      local why, status = shell(("%s test --random 100 -q %s/bad.lua %s > %s"):format(quote(weir_bin), dir, bug[3], found))
      assert.equal(1, status, why)
      has(why, "weir: random scenario ")
      local file = assert(io.open(found))
      local script = file:read "a"
      file:close()
      assert.is_true(select(2, script:gsub("\n", "")) <= 14, script)
      local text
      text, status = test(found)
      assert.equal(1, status, text)
      has(text, bug[4] == "four!" and "four!" or "random scenario")
      has(bug[4] == "four!" and text or script, bug[4])
    end)
  end

  it("[K4] find a placement policy that fails", function()
    write(dir .. "/bad.lua", "return { evaluate = function(v) if v.id == 2 then error 'two!' end return 1 end }")
    local text, status = test(("--random 50 -p %s/bad.lua --steps 20"):format(dir))
    assert.equal(1, status)
    has(text, "assert.no_standstill()")
  end)
end)

describe("weir test", function()
  local dir

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(os.execute(("mkdir -p %s/scenarios/deep"):format(dir)))
    write(dir .. "/scenarios/good.lua", [[
local scenario = require "weir.scenario"
it("runs", function()
  local s = scenario {}
  assert.running(s:submit "slot=1/node")
end)
]])
    write(dir .. "/scenarios/deep/bad.lua", [[
local scenario = require "weir.scenario"
it("waits", function()
  local s = scenario { machine = "machine.lua" }
  assert.running(s:submit { "slot=3/node", name = "large" })
end)
]])
    write(dir .. "/scenarios/deep/machine.lua", 'return { type = "cluster", { type = "node", count = 4, { type = "core" } } }')
  end)

  after_each(function() os.execute("rm -rf " .. quote(dir)) end)

  it("runs a file, with status 0", function()
    local text, status = test(dir .. "/scenarios/good.lua")
    assert.equal(0, status, text)
    has(text, "1 success / 0 failures")
  end)

  it("finds a machine that lies beside the scenario, wherever it is started", function()
    local text, status = test(dir .. "/scenarios/deep/bad.lua")
    assert.equal(0, status, text)
  end)

  it("shows where a scenario fails, with status 1", function()
    write(dir .. "/scenarios/deep/machine.lua", 'return { type = "cluster", { type = "node", count = 2, { type = "core" } } }')
    local text, status = test(dir .. "/scenarios/deep/bad.lua")
    assert.equal(1, status)
    has(text, "bad.lua:4: large (job 1) is to be running, but is rejected")
    has(text, "  node[0-1]    up        -\n")
  end)

  local function here(arguments) return shell(("cd %s && %s test %s"):format(quote(dir), quote(weir_bin), arguments)) end

  it("without arguments takes scenarios/ of the current directory, all of it", function()
    os.remove(dir .. "/scenarios/deep/machine.lua")
    write(dir .. "/scenarios/deep/bad.lua", "it('is here', function() end)")
    local text, status = here ""
    assert.equal(0, status, text)
    has(text, "2 successes")
  end)

  it("takes spec/scenarios before that, and no .busted", function()
    assert(os.execute(("mkdir -p %s/spec/scenarios"):format(dir)))
    write(dir .. "/spec/scenarios/one.lua", "it('is here', function() end)")
    write(dir .. "/.busted", "error 'no configuration is wanted'")
    local text, status = here ""
    assert.equal(0, status, text)
    has(text, "1 success")
  end)

  it("filters by name, lists names, writes TAP and JSON", function()
    local files = ("%s/scenarios/good.lua %s/scenarios/deep/bad.lua"):format(dir, dir)
    assert.equal("ok 1 - runs\n1..1\n", (test("--tap -f run " .. files)))
    assert.equal("ok 1 - waits\n1..1\n", (test("--tap --filter-out run " .. files)))
    assert.equal("runs\nwaits\n", (test("--list " .. files)))
    local report = assert(weir.json.decode((test("--json " .. files))))
    assert.equal(2, #report.successes)
  end)

  it("gives scenarios that name no machine or policy those of the command line", function()
    write(dir .. "/scenarios/good.lua", [[
local scenario = require "weir.scenario"
it("runs", function()
  local s = scenario {}
  assert.placed(s:submit "slot=1/node", "node8")
  assert.matches("queue fcfs", s:picture())
end)
]])
    local text, status = test(("-r 'node:9 core:1' -p high -q fcfs %s/scenarios/good.lua"):format(dir))
    assert.equal(0, status, text)
  end)

  it("says so when busted is not there", function()
    local text, status = shell(("LUA_PATH=/nowhere/?.lua %s test %s/scenarios/good.lua"):format(quote(weir_bin), dir))
    assert.equal(2, status)
    has(text, "busted is not installed for Lua 5.4 (Debian: lua-busted)")
  end)

  it("leaves scenarios usable where there is no luassert", function()
    write(dir .. "/plain.lua", [[
local scenario = require "weir.scenario"
local s = scenario { machine = "node:2 core:1" }
local job = s:submit { "slot=2/node", lasts = 10 }
s:run()
print(job.state, job.finish, s:utilisation(), #s:faults())
]])
    local text, status = shell(("LUA_PATH=/nowhere/?.lua %s run %s/plain.lua"):format(quote(weir_bin), dir))
    assert.equal("done\t10\t1.0\t0\n", text)
    assert.equal(0, status)
  end)

  it("runs what the REPL recorded", function()
    write(dir .. "/typed", (":record %s/rec.lua\ne:match 'slot=2/node'\ne:release(1)\n"):format(dir))
    shell(("%s repl -r 'node:4 core:2' < %s/typed"):format(quote(weir_bin), dir))
    local text, status = test(dir .. "/rec.lua")
    assert.equal(0, status, text)
    has(text, "1 success")
    shell(("sed -i 's/slot=2/slot=3/' %s/rec.lua"):format(dir))
    text, status = test(dir .. "/rec.lua")
    assert.equal(1, status)
    has(text, "the books came out differently")
  end)

  local wrong = {
    { "DIR/none.lua", 2, "none.lua: cannot open: No such file" }, { "DIR/empty", 2, "there is no *.lua in" },
    { "DIR/broken.lua", 2, "broken.lua:2:" }, { "--tap --json DIR/scenarios", 2, "one of --json" },
    { "--seed 3 DIR/scenarios", 2, "--seed is for --random" }, { "--random 3 --tap", 2, "--tap is not for --random" },
    { "--random 3 x.lua", 2, "one too many" }, { "--random no", 2, "expected a whole number from 1 to 1000000000" },
    { "--random 1 -q esay", 2, 'did you mean "easy"' }, { "--random 1 --assert 'oops('", 2, "--assert" },
    { "-p lwo DIR/scenarios/good.lua", 2, "no policy" }, { "--random 1 -r none.json", 2, "none.json" },
    { "-o nothere DIR/scenarios/good.lua", 2, "nothere" }, { "DIR/raises.lua", 1, "on purpose" },
    { "DIR/'a,b.lua'", 2, "comma" }, { "-r none.json DIR/scenarios/good.lua", 2, "none.json" },
    { "-q esay DIR/scenarios/good.lua", 2, 'did you mean "easy"' },
  }
  for _, case in ipairs(wrong) do
    it("answers: weir test " .. case[1], function()
      assert(os.execute(("mkdir %s/empty"):format(dir)))
      write(dir .. "/broken.lua", "\nit('x' function() end)")
      write(dir .. "/raises.lua", "error 'on purpose'")
      write(dir .. "/a,b.lua", "")
      local text, status = test((case[1]:gsub("DIR", dir)))
      has(text, case[3])
      assert.equal(case[2], status, text)
    end)
  end

  it("is in the help", function()
    local text, status = test "--help"
    assert.equal(0, status)
    has(text, "usage: weir test [OPTION...] [SCENARIO.lua | DIRECTORY]...")
  end)
end)

describe("under another Lua", function()
  if not os.execute "command -v lua5.1 >/dev/null" then return pending "Lua 5.1 is not here: apt-get install lua5.1" end

  for _, module in ipairs { "weir", "weir.scenario" } do
    it(module .. " says that it needs Lua 5.4", function()
      local dir = (os.getenv "LUA_PATH" or ""):match "^[^;]*"
      local pipe = assert(io.popen(("LUA_PATH='%s;%s' lua5.1 -e 'print(select(2, pcall(require, \"%s\")))' 2>&1"):format(dir,
        dir:gsub("%?%.lua", "?/init.lua"), module)))
      assert.matches("^weir needs Lua 5%.4, and this is Lua 5%.1", pipe:read "a")
      pipe:close()
    end)
  end
end)
