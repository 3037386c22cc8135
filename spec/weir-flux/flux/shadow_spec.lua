-- flux weir shadow, without Flux: a scheduler (spec/support/flux.lua) makes a history, a shadow is told the journal of it. Of the
-- policies in force it equals what happened; nodes that go down, queues, priorities and limits are followed.
local core = require "weir.core"
local flux = require "spec.support.flux"
local heap = require "weir.sim.event_heap"
local random = require "weir.random"
local shadow = require "weir.flux.shadow"

local T0 = flux.T0
local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1

local encode = core.json_encode

-- ---- a history ------------------------------------------------------------------------------------------------------

-- A machine with a scheduler, and a shadow that is told of it. opts: arguments, config, words (of the shadow), nodes.
local function beside(opts)
  local nodes = opts.nodes or 4
  local arguments = table.move(opts.arguments, 1, #opts.arguments, 2, { "annotate=false" }) -- which has turns of its own
  local t = { s = flux.started(arguments, nodes, 4, opts.config), events = heap.new(), heard = 0, starts = {}, down = {}, nodes = nodes,
    specs = {} }
  local machine = flux.machine(nodes, 4)
  t.R = machine.resources
  function t:status()
    local drained = {}
    for rank in pairs(self.down) do drained[tostring(rank)] = {} end
    return { R = self.R, online = machine.up, offline = "", exclude = "", torpid = "", drain = drained }
  end
  t.clock = function() return t.s.now end
  t.ask = { words = opts.words, force = opts.arguments, config = opts.config or {}, R = t.R, machine = t:status(), in_force = "what is",
    texts = opts.texts }
  t.own = assert(shadow.open(encode(t.ask), { clock = t.clock }))
  function t:journal(id, name, context, more)
    local x = { id = id, events = { { timestamp = self.s.now, name = name, context = context } } }
    for key, value in pairs(more or {}) do x[key] = value end
    self.own:hear("job", encode(x))
  end
  function t:at(time, action) self.events:push { time = T0 + time, kind = 1, action = action } end
  if not opts.later then t.own:hear("job", '{"id":-1,"events":[]}') end
  return t
end

-- Passes the answers of the scheduler on as events of the journal.
local function pass_on(t)
  while t.heard < #t.s.said do
    t.heard = t.heard + 1
    local what, id, R = table.unpack(t.s.said[t.heard])
    if what == "alloc" then
      t.starts[id] = t.s.now - T0
      t:journal(id, "alloc", nil, { R = core.json_decode(R) })
      t:at(t.s.now - T0 + t.specs[id].runtime, function()
        flux.free(t.s, id)
        t:journal(id, "free")
        t:journal(id, "clean")
      end)
    elseif what == "deny" then
      t:journal(id, "exception", { severity = 0 })
      t:journal(id, "clean")
    end
  end
end

-- Submits a job at a time: {id, nodes, duration, runtime, and what flux.submit takes}.
local function submit(t, time, own)
  t.specs[own.id] = own
  t:at(time, function()
    t:journal(own.id, "submit", { userid = 1000 }, { jobspec = flux.spec_of(own.nodes, own) })
    t:journal(own.id, "priority", { priority = own.priority or 16 })
    flux.submit(t.s, own.id, own.nodes, own)
  end)
end

-- Runs the scheduler from event to event, to the end or to a time. Where the scheduler asks to be called again, it is.
local function run(t, stop)
  local wake, wait
  while t.events:peek() and (not stop or t.events:peek().time <= T0 + stop) do
    t.s.now = math.min(t.events:peek().time, wake or math.huge)
    while t.events:peek() and t.events:peek().time == t.s.now do t.events:pop().action() end
    repeat wait = t.s.service:work() until wait ~= 0
    wake = wait and t.s.now + wait
    pass_on(t)
  end
  if stop then t.s.now = T0 + stop end
end

-- Works until the shadow has caught up. Returns its status.
local function told(t)
  local wait = 0
  while wait == 0 do wait = t.own:work(60) end
  return core.json_decode(t.own:status()).report
end

-- Lets the shadow play to its end. Returns its status.
local function finish(t)
  t.s.now = t.s.now + 1e6
  return told(t)
end

local function drain(t, time, rank, back)
  t:at(time, function()
    t.down[rank] = not back or nil
    t.s.service:acquire(encode { [back and "up" or "down"] = tostring(rank) })
    t.own:hear("resource", encode(t:status()))
  end)
end

-- ---- histories ------------------------------------------------------------------------------------------------------

-- A random history; opts as beside() takes them, and queues, drains.
local function history(seed, opts)
  local n, t, at = random.new(seed), beside(opts), 0
  for id = 1, 40 do
    at = at + n(0, 60)
    local duration = 10 * n(20)
    local own = { id = id, nodes = n(4), duration = duration, runtime = n(8) == 1 and duration + n(100) or n(duration), priority = n(4),
      queue = opts.queues and opts.queues[n(#opts.queues)], shared = n(3) == 1 or nil }
    if own.queue then own.nodes = n(2) end
    submit(t, at, own)
    if opts.drains and n(6) == 1 then
      local rank, time = n(0, 3), at
      if not t.down[rank] then
        drain(t, time, rank)
        drain(t, time + 5 + n(100), rank, true)
      end
    end
  end
  return t
end

describe("flux weir shadow", function()
  for _, case in ipairs {
    { "under fcfs", { "queue=fcfs" } }, { "under easy", { "queue=easy" } },
    { "under conservative", { "queue=conservative", "policy=high" } },
    { "with nodes that are drained and come back", { "queue=easy" }, drains = true },
  } do
    it("of the policies in force equals what happened, " .. case[1], function()
      for seed = 1, math.max(2, math.floor(4 * SCALE)) do
        local t = history(seed, { arguments = case[2], words = case[2], drains = case.drains })
        run(t)
        local x = finish(t)
        assert.same({ nil, 40, 0, 0 }, { x.ended, x.status.compared, x.status.earlier, x.status.later }, "seed " .. seed)
        assert.same(x.status.wait.truth, x.status.wait.shadow)
        assert.near(x.status.utilisation.truth, x.status.utilisation.shadow, 1e-9)
      end
    end)
  end

  -- Stops or starts a queue at a time: Flux takes the requests of the jobs that wait back, and sends them anew.
  local function set_queue(t, time, name, start, jobs)
    t:at(time, function()
      t.own:hear("queue", encode { name = name, start = start })
      for _, id in ipairs(jobs) do
        if start then flux.submit(t.s, id, t.specs[id].nodes, t.specs[id]) else t.s.service:cancel(encode { id = id }) end
      end
    end)
  end

  -- {title, configuration, queue}
  for _, case in ipairs { { "the only queue", nil, nil }, { "one of two queues", { queues = { a = {}, b = {} } }, "a" } } do
    it("starts no job of a queue that is stopped: " .. case[1], function()
      local t = beside { arguments = { "queue=fcfs" }, words = { "queue=fcfs" }, config = case[2] }
      submit(t, 0, { id = 1, nodes = 4, duration = 100, runtime = 50, queue = case[3] })
      submit(t, 10, { id = 2, nodes = 1, duration = 100, runtime = 10, queue = case[3] })
      set_queue(t, 20, case[3] or "", false, { 2 })
      if case[3] then submit(t, 60, { id = 3, nodes = 1, duration = 100, runtime = 10, queue = "b" }) end
      set_queue(t, 150, case[3] or "", true, { 2 })
      run(t)
      local x = finish(t)
      assert.equal(150, t.starts[2])
      assert.same({ nil, case[3] and 3 or 2, 0, 0 }, { x.ended, x.status.compared, x.status.earlier, x.status.later })
    end)
  end

  it("submits a job that came while its queue was stopped when the queue starts", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=fcfs" } }
    set_queue(t, 5, "", false, {})
    t.specs[1] = { id = 1, nodes = 2, duration = 60, runtime = 10 }
    t:at(10, function()
      t:journal(1, "submit", { userid = 1000 }, { jobspec = flux.spec_of(2, t.specs[1]) })
      t:journal(1, "priority", { priority = 16 })
    end)
    run(t, 30)
    assert.same({ 0, { "" } }, { told(t).status.jobs, told(t).stopped })
    assert.matches("The queue is stopped", core.json_decode(t.own:status()).text)
    set_queue(t, 40, "", true, { 1 })
    run(t)
    local x = finish(t)
    assert.same({ 40, 1, 0, 0 }, { t.starts[1], x.status.compared, x.status.earlier, x.status.later })
  end)

  it("of another policy equals a scheduler with that policy", function()
    for seed = 1, 3 do
      local easy = history(seed, { arguments = { "queue=easy" }, words = { "queue=easy" } })
      run(easy)
      local fcfs = history(seed, { arguments = { "queue=fcfs" }, words = { "queue=easy" } })
      run(fcfs)
      local a, b = finish(easy).status, finish(fcfs).status
      assert.same(a.wait.shadow, b.wait.shadow)
      assert.is_true(b.earlier > 0)
    end
  end)

  it("follows queues with policies of their own", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=fcfs" }, config = { queues = { a = {}, b = {} },
      ["sched-weir"] = { queues = { b = { queue = "easy" } } } } }
    submit(t, 0, { id = 1, nodes = 3, duration = 100, runtime = 100, queue = "a" })
    submit(t, 1, { id = 2, nodes = 4, duration = 100, runtime = 50, queue = "b" })
    submit(t, 2, { id = 3, nodes = 1, duration = 50, runtime = 50, queue = "b" })
    run(t)
    local x = finish(t)
    assert.same({ 3, 3, nil }, { x.status.compared, x.status.same, x.ended })
    assert.equal(2, t.starts[3])
  end)

  it("begins with what runs and what waits", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=easy" }, later = true }
    submit(t, 0, { id = 1, nodes = 3, duration = 100, runtime = 80 })
    submit(t, 5, { id = 2, nodes = 4, duration = 10, runtime = 10 })
    submit(t, 6, { id = 3, nodes = 1, duration = 20, runtime = 20 })
    run(t, 40)
    t.own:hear("job", '{"id":-1,"events":[]}')
    run(t)
    local x = finish(t)
    assert.same({ 2, 1, 1 }, { x.status.compared, x.status.earlier, x.status.same })
    assert.equal(34, x.status.wait.shadow.median)
  end)

  it("takes a job back that is held, and in again", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=fcfs" } }
    submit(t, 0, { id = 1, nodes = 4, duration = 100, runtime = 100 })
    submit(t, 1, { id = 2, nodes = 2, duration = 100, runtime = 10 })
    submit(t, 2, { id = 3, nodes = 2, duration = 100, runtime = 10 })
    t:at(10, function()
      t:journal(2, "priority", { priority = 0 })
      t.s.service:cancel(encode { id = 2 })
    end)
    t:at(105, function()
      t:journal(2, "priority", { priority = 16 })
      flux.submit(t.s, 2, 2, { duration = 100 })
    end)
    run(t)
    local x = finish(t)
    assert.same({ 0, 0 }, { x.status.earlier, x.status.later })
    assert.equal(105, t.starts[2])
  end)

  it("follows priorities", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=fcfs" } }
    submit(t, 0, { id = 1, nodes = 4, duration = 100, runtime = 100 })
    submit(t, 1, { id = 2, nodes = 4, duration = 100, runtime = 10 })
    submit(t, 2, { id = 3, nodes = 4, duration = 100, runtime = 10 })
    t:at(10, function()
      t:journal(3, "priority", { priority = 30 })
      t.s.service:prioritize(encode { jobs = { { 3, 30 } } })
    end)
    run(t)
    local x = finish(t)
    assert.same({ 3, 100 }, { x.status.same, t.starts[3] })
  end)

  it("follows a changed jobspec, and a longer limit", function()
    local t = beside { arguments = { "queue=easy" }, words = { "queue=easy" } }
    submit(t, 0, { id = 1, nodes = 3, duration = 100, runtime = 150 })
    submit(t, 1, { id = 2, nodes = 4, duration = 100, runtime = 10 })
    submit(t, 2, { id = 3, nodes = 1, duration = 300, runtime = 40 })
    t:at(10, function()
      t:journal(1, "resource-update", { expiration = T0 + 160 })
      t.s.service:expiration(encode { id = 1, expiration = T0 + 160 })
    end)
    t:at(20, function()
      t:journal(3, "jobspec-update", { ["attributes.system.duration"] = 130 })
      t.s.service:cancel(encode { id = 3 })
      t:journal(3, "priority", { priority = 16 })
      flux.submit(t.s, 3, 1, { duration = 130 })
    end)
    run(t)
    local x = finish(t)
    assert.same({ 20, 3 }, { t.starts[3], x.status.same })
  end)

  it("ends a job in the shadow when it is cancelled in truth", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=easy" } }
    submit(t, 0, { id = 1, nodes = 3, duration = 100, runtime = 100 })
    submit(t, 1, { id = 2, nodes = 4, duration = 100, runtime = 10 })
    submit(t, 2, { id = 3, nodes = 1, duration = 50, runtime = 40 })
    t:at(30, function()
      t:journal(3, "exception", { severity = 0 })
      t:journal(3, "clean")
      t.s.service:cancel(encode { id = 3 })
    end)
    run(t)
    local x = finish(t)
    assert.same({ 3, 2, 2 }, { x.status.jobs, x.status.compared, x.status.same })
    assert.is_nil(next(t.own.shadow.records))
  end)

  it("tells in words and in a page what it has found, and how far behind it is", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=easy" } }
    submit(t, 0, { id = 1, nodes = 3, duration = 100, runtime = 100 })
    submit(t, 1, { id = 2, nodes = 4, duration = 100, runtime = 10 })
    submit(t, 2, { id = 3, nodes = 1, duration = 50, runtime = 40 })
    drain(t, 150, 2)
    run(t, 50)
    told(t)
    local said = core.json_decode(t.own:status())
    assert.matches("first and easy ran alongside the policy in force (what is): 3 jobs came, 1 have started", said.text, 1, true)
    assert.matches("It has come to 46 s before now", said.text, 1, true)
    assert.matches("<svg", said.page, 1, true)
    run(t)
    finish(t)
    said = core.json_decode(t.own:status())
    assert.matches("1 would have started earlier, 0 later, 2 at the same time", said.text, 1, true)
    assert.matches("Followed: 1 change of the machine or its queues", said.text, 1, true)
    assert.matches("starts promised +%- +1", said.text)
  end)

  for _, case in ipairs {
    { "a queue policy that is not there", { "queue=nonsense" }, "nonsense" },
    { "a placement policy that is not there", { "policy=nonsense" }, "nonsense" },
    { "another word", { "slice=1" }, "expected policy=NAME or queue=NAME" },
    { "a file that cannot be compiled", { "queue=/none/mine.lua" }, "mine.lua", { ["/none/mine.lua"] = "return {" } },
  } do
    it("refuses " .. case[1], function()
      local t = beside { arguments = { "queue=fcfs" }, words = { "queue=easy" } }
      t.ask.words, t.ask.texts = case[2], case[4]
      local own, why = shadow.open(encode(t.ask), { clock = t.clock })
      assert.is_nil(own)
      assert.matches(case[3], why, 1, true)
    end)
  end

  it("ends, and says so, when it is told more than it may keep", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=easy" } }
    local text = (" "):rep(1 << 20)
    for _ = 1, 65 do t.own:hear("job", text) end
    assert.is_nil(t.own:work(1))
    assert.matches("it fell behind by more than 64 MB", t.own:status(), 1, true)
  end)

  it("ends, and says so, when the instance is given more resources", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=easy" } }
    told(t)
    t.R = flux.machine(6, 4).resources
    t.own:hear("resource", encode(t:status()))
    told(t)
    assert.matches("given more resources: start it again", t.own:status(), 1, true)
  end)

  it("goes on where ranks are taken away", function()
    local t = beside { arguments = { "queue=fcfs" }, words = { "queue=fcfs" } }
    told(t)
    t.R = flux.machine(3, 4).resources
    t:at(1, function()
      t.own:hear("resource", encode(t:status()))
      t.s.service:acquire(encode { shrink = "3", down = "3" })
    end)
    submit(t, 2, { id = 1, nodes = 3, duration = 10, runtime = 10 })
    run(t)
    local x = finish(t)
    assert.same({ nil, 1, 12 }, { x.ended, x.status.same, x.status.total })
  end)
end)
