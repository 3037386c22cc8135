-- The state that a queue policy keeps: who changes it, how long it lasts, whose it is, what it can be; and the fields of jobs.
local client_of_flux = require "spec.support.flux"
local scenario = require "weir.scenario"
local shell = require "spec.support.shell"
local sim = require "weir.sim"
local weir = require "weir"

local MACHINE = "cluster:1 node:2 core:2"

-- First come, first served; counts starts and ends by user, and the jobs that started at a reservation.
local COUNTER = [[return { name = "counter", state = { n = 0, ended = 0, users = {} },
  started = function(job, now, _, state)
    assert(now == job.start and not job.waits)
    state.n = state.n + 1
    local user = tostring(job.user)
    state.users[user] = (state.users[user] or 0) + job.wants.node
  end,
  finished = function(job, _, _, state) state.ended = state.ended + job.wants.node end,
  schedule = function(queue, _, state)
    local job = queue:first()
    while job and queue:reserve(job) do job = queue:first() end
    %s
  end }]]

local function file(text, name, dir) return shell.path(dir or shell.directory(), name or "counter.lua", text) end
local function counter(more, name, dir) return file(COUNTER:format(more or ""), name, dir) end

local function open(queue, machine, start) return assert(sim.new { resources = machine or MACHINE, queue = queue, start = start }) end

local function submit(s, user, nodes, seconds)
  return s:submit { request = ("slot=%d/node"):format(nodes or 1), runtime = seconds or 10, user = user or "ada" }
end

local function failure(s)
  local ok, why = pcall(function()
    submit(s)
    s:run()
  end)
  return not ok and tostring(why) or "no error"
end

after_each(shell.clean)

describe("the state of a queue policy", function()
  it("moves with each start, at once or by a reservation, and with each end", function()
    local s = open(counter())
    assert.is_nil(s:queue_state())
    submit(s, "ada", 2)
    submit(s, "bob", 2)
    submit(s, "ada")
    s:run(5)
    assert.same({ n = 1, ended = 0, users = { ada = 2 } }, s:queue_state())
    s:run(15)
    assert.same({ n = 2, ended = 2, users = { ada = 2, bob = 2 } }, s:queue_state())
    s:run()
    assert.same({ n = 3, ended = 5, users = { ada = 3, bob = 2 } }, s:queue_state())
  end)

  it("lasts over a reload, in which jobs run and wait, and begins anew for fields of another type", function()
    local dir = shell.directory()
    local path = counter(nil, "mine.lua", dir)
    local s = open(path)
    for _ = 1, 4 do submit(s) end
    s:run(5)
    assert(s:use_queue(path))
    assert.same({ n = 2, ended = 0, users = { ada = 2 } }, s:queue_state(), "running jobs are no new starts")
    s:run()
    assert.same({ 4, 4 }, { s:queue_state().n, s:queue_state().ended })
    shell.path(dir, "mine.lua", (COUNTER:format "assert(state.n >= 4 and state.ended == 'none')":gsub("ended = 0", "ended = 'none'")
      :gsub("finished = .-end,\n", "")))
    assert(s:use_queue(path))
    submit(s)
    s:run()
    assert.same({ 5, "none" }, { s:queue_state().n, s:queue_state().ended })
  end)

  it("belongs to one file, and to the machine, with which it is saved", function()
    local dir, other = shell.directory(), shell.directory()
    local s = open(counter(nil, "mine.lua", dir))
    submit(s)
    s:run()
    assert(s:use_queue(counter(nil, "mine.lua", other)))
    assert.is_nil(s:queue_state())
    assert(s:use_queue(dir .. "/../" .. dir:match "[^/]*$" .. "/mine.lua"))
    assert.equal(1, s:queue_state().n)
    local saved = shell.path(dir, "machine.json")
    assert(s.graph:save(saved, { format = "jgf" }))
    local again = open(dir .. "/mine.lua", assert(weir.load(saved)))
    submit(again)
    again:run()
    assert.same({ 2, 1 }, { again:queue_state().n, s:queue_state().n })
    assert.is_nil(shell.slurp(saved):find(dir, 1, true), "no path is in a document")
  end)

  it("is what a forecast begins with, and is not moved by it", function()
    local s = open(counter())
    submit(s)
    s:run()
    local trial = open(s.queue_name, assert(s.graph:dup()), s.now)
    submit(trial)
    trial:run()
    assert.same({ 1, 2 }, { s:queue_state().n, trial:queue_state().n })
  end)

  it("can be read by schedule and order, also by pairs and #, as it is now, and not be changed there", function()
    local s = open(counter [[
      local n, user = 0
      for name, nodes in pairs(state.users) do n, user = n + nodes, name end
      assert(state.n == 0 or n >= 1 and user == "ada" and #state.users == 0)
      for _, change in ipairs { function() state.n = 7 end, function() state.users.eve = 1 end, function() state.new = {} end } do
        local ok, why = pcall(change)
        assert(not ok and why:find("a state can be changed by the hooks 'started' and 'finished' only", 1, true))
      end
      for _, t in ipairs { state, state.users } do
        local ok, why = pcall(rawset, t, "n", 7)
        assert(not ok and why:find("a table that can only be read", 1, true) and rawget(t, "n") == nil and getmetatable(t) == false)
      end]])
    for _ = 1, 3 do submit(s) end
    s:run()
    assert.equal(3, s:queue_state().n)
    local by_order = open(file [[return { state = { last = { ada = 0, bob = 0 } },
      order = function(job, _, _, state) return state.last[job.user] end,
      started = function(job, now, _, state) state.last[job.user] = now + 1 end,
      schedule = function(queue) local job = queue:first() if job then queue:reserve(job) end end }]])
    local jobs = {}
    for i, user in ipairs { "ada", "ada", "bob" } do jobs[i] = submit(by_order, user, 2) end
    by_order:run()
    assert.same({ 0, 20, 10 }, { jobs[1].start, jobs[2].start, jobs[3].start })
  end)

  for what, case in pairs {
    ["a function"] = { "state = { f = print }", "field 'state': f: a state has booleans, numbers, texts and tables of these" },
    ["a list"] = { "state = { 1 }", "field 'state': expected names of fields" },
    ["no table"] = { "state = 7", "field 'state': table expected, got number" },
    ["nothing that changes it"] = { "state = { n = 0 }", "field 'state': the hooks that change it are started and finished", true },
    ["too much"] = { "state = { s = ('x'):rep(100000), t = ('x'):rep(1000000) }", "" },
  } do
    it("is refused as " .. what, function()
      local s, why = sim.new { resources = MACHINE, queue = file(("return { schedule = function() end, %s %s }"):format(
        case[3] and "" or "started = function() end,", case[1])) }
      assert.is_nil(s)
      assert.matches(case[2], why, 1, true)
    end)
  end

  for what, case in pairs {
    ["a field that is not declared"] = { "state.m = 1", "the state has no field 'm'" },
    ["a field of another type"] = { "state.n = 'one'", "field 'n' of the state: number expected, as declared, got string" },
    ["a function"] = { "state.t.f = print", "t: a state has booleans" },
    ["a user's number as a key"] = { "state.t[1000] = 1", "t: the key 1000 is a number, and the table is no list; tostring(1000)" },
    ["more than it may"] = { "for i = 1, 5 do state.t['k' .. i] = ('x'):rep(30000) end", "at most 131072 are possible" },
  } do
    it("ends a simulation in which it gets " .. what, function()
      local why = failure(open(file(([[return { name = "wrong", state = { n = 0, t = {} },
        started = function(_, _, _, state) %s end, schedule = function(queue) queue:start(queue:first()) end }]]):format(case[1]))))
      assert.matches("queue policy", why)
      assert.matches(case[2], why, 1, true)
    end)
  end

  it("is kept in Flux: over passes, and over a new edition of the file", function()
    local path = counter()
    local s = client_of_flux.started { "queue=" .. path }
    for id = 1, 3 do client_of_flux.submit(s, id, 1) end
    client_of_flux.settle(s)
    local function kept()
      for key, value in pairs(s.service.scheduler.engine:resources():root().data) do
        if key:find("weir.policy.queue:counter", 1, true) then return value.n end
      end
    end
    assert.equal(3, kept())
    local groups = s.service.scheduler.queues
    groups:use(assert(groups:open { queue = path, queues = {}, requires = {}, parents = {}, texts = {} }))
    client_of_flux.submit(s, 4, 1)
    client_of_flux.settle(s)
    assert.equal(4, kept())
  end)
end)

describe("turns", function()
  it("gives users turns, whoever submitted more, and goes on after a reload", function()
    local s = scenario { machine = "cluster:1 node:1 core:2", queue = "turns" }
    local jobs = {}
    for i, user in ipairs { "ada", "ada", "ada", "ada", "bob", "bob", "eve" } do
      jobs[i] = s:submit { "slot=1/node", lasts = 10, user = user }
    end
    s:advance(15)
    s:queue "turns"
    s:run()
    local starts = {}
    for i, job in ipairs(jobs) do starts[i] = job.start end
    assert.same({ 0, 30, 50, 60, 10, 40, 20 }, starts)
    assert.same({ starts = 7, last = { ada = 7, bob = 5, eve = 3 } }, s:state "queue")
    assert.is_nil(s:state())
    s:policy "round_robin"
    s:submit { "slot=1/node", lasts = 10 }
    assert.is_true(s:state().next > 0)
    assert.has_error(function() s:state "queues" end)
  end)
end)

describe("turns, whose first job has a reservation,", function()
  it("lets short jobs overtake, and gives the turn on when that job is cancelled, or its user starts another", function()
    local s = scenario { machine = "cluster:1 node:4 core:1", queue = "turns" }
    local long = s:submit { "slot=3/node", lasts = 100, user = "ada" }
    local first = s:submit { "slot=4/node", lasts = 50, user = "bob" }
    local short = s:submit { "slot=1/node", lasts = 90, user = "bob" }
    assert.running(long, short)
    local other = s:submit { "slot=4/node", lasts = 50, user = "eve" }
    assert.reserved(other, 100)
    assert.pending(first)
    s:cancel(other)
    s:settle()
    assert.reserved(first, 100)
    s:run()
    assert.starts_at(first, 100)
  end)
end)

describe("a job of a queue", function()
  it("has what its jobspec says where the host says nothing", function()
    local path = file [[return { schedule = function(queue)
      local job = queue:first()
      error(table.concat({ job.name, job.bank, job.project, job.queue, job.qos, job.wants.core, job.attributes.user.colour }, " "), 0)
    end }]]
    local request = weir.json.encode { version = 9999,
      resources = { { type = "slot", count = 2, label = "a", with = { { type = "core", count = 1 } } } },
      tasks = { { command = { "a" }, slot = "a", count = { per_slot = 1 } } },
      attributes = { system = { duration = 5, bank = "math", project = "x", queue = "batch", qos = "low", job = { name = "train" } },
        user = { colour = "red" } } }
    local s = open(path)
    s:submit { request = request, runtime = 1 }
    local ok, why = pcall(s.run, s)
    assert.is_false(ok)
    assert.matches("train math x batch low 2 red %(", tostring(why))
  end)

  it("may have fields of a policy's own; a name that is nearly one of a job's is an error", function()
    local s = open(file [[return { schedule = function(queue)
      local job = queue:first()
      for own in ("colour rank last share waited used state started parts at unit"):gmatch "%l+" do assert(job[own] == nil) end
      for _, slip in ipairs { "strat", "prioritty", "duraton", "usser", "qeue" } do
        local ok, why = pcall(function() return job[slip] end)
        assert(ok == (#slip < 5) and (ok or why:find "did you mean"))
      end
      assert(job.reserved == nil)
      job.colour = "red"
      assert(job.colour == "red")
      return job.estimat
    end }]])
    assert.matches("counter.lua:11: a job has no field 'estimat' (did you mean \"estimate\"?)", failure(s), 1, true)
  end)
end)
