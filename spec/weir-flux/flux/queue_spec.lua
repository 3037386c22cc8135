-- The order of jobs under the scheduler of a Flux instance: preempted jobs, slices of work, policies and queues.
local flux = require "spec.support.flux"
local weir = require "weir"
local jobid = require "weir.flux.jobid"
local jobspec = require "weir.flux.jobspec"

local encode, decode = weir.json.encode, weir.json.decode
local T0, started, spec_of, submit, settle = flux.T0, flux.started, flux.spec_of, flux.submit, flux.settle
local ids, R_of, ranks_of, free, stats, apart = flux.ids, flux.R_of, flux.ranks_of, flux.free, flux.stats, flux.apart

describe("a scheduler for Flux", function()
  -- ---- making way -----------------------------------------------------------------------------------------------

  it("ends jobs that may be preempted for one that may not, and starts that when they are gone", function()
    local s = started { "queue=preempt" }
    for id = 1, 4 do submit(s, id, 1, { after = id < 4 and 0 or nil, duration = 1000 }) end
    settle(s)
    s.now = T0 + 5
    submit(s, 5, 2, { duration = 1000 })
    submit(s, 6, 1, { duration = 1000 })
    settle(s)
    assert.equal("1 2 3 4", ids(s, "alloc"))
    local raised = {}
    for _, entry in ipairs(s.said) do
      if entry[1] == "raise" then raised[#raised + 1] = entry[2] .. " " .. entry[3] end
    end
    assert.same({ "3 preempted for " .. jobid.f58(5), "2 preempted for " .. jobid.f58(5) }, raised)
    s.now = T0 + 6
    free(s, 3)
    settle(s)
    assert.equal("1 2 3 4", ids(s, "alloc"), "what became free is for 5, not for 6")
    free(s, 2)
    settle(s)
    assert.equal("1 2 3 4 5", ids(s, "alloc"))
    settle(s)
    assert.equal("3 2 1", ids(s, "raise"), "now it is the turn of 6")
    apart(s)
  end)

  it("lets jobs that may be preempted wait for others, and run as long as they were promised", function()
    local s = started({ "queue=preempt" }, 1)
    submit(s, 1, 1, { after = 100, duration = 1000 })
    settle(s)
    submit(s, 2, 1, { after = 0 })
    submit(s, 3, 1, { priority = 20 })
    settle(s)
    s.ticks = s.ticks + 1 -- the annotations tell why the jobs wait
    local wait = settle(s)
    assert.equal("", ids(s, "raise"))
    assert.is_true(wait > 90 and wait <= 100, "it looks again when the time has come: " .. tostring(wait))
    s.now, s.ticks = T0 + 101, 101
    settle(s)
    assert.equal("1", ids(s, "raise"))
    free(s, 1)
    settle(s)
    assert.equal("1 3", ids(s, "alloc"))
  end)

  it("has one reservation for the other as long as a job takes to end", function()
    local s = started({ "queue=preempt" }, 1)
    submit(s, 1, 1, { after = 0, duration = 1000 })
    settle(s)
    submit(s, 2, 1, { duration = 100 })
    for seconds = 1, 35, 5 do
      s.now, s.ticks = T0 + seconds, seconds
      settle(s)
    end
    assert.equal("1", ids(s, "raise"))
    assert.same({ 1, 1, 1 }, { stats(s).pending, stats(s).running, stats(s).reserved })
    free(s, 1)
    settle(s)
    assert.equal("1 2", ids(s, "alloc"))
    apart(s)
  end)

  it("goes on where a job is not to be ended", function()
    local s = started({ "queue=preempt" }, 1)
    submit(s, 1, 1, { after = 0, duration = 1000 })
    settle(s)
    submit(s, 2, 1, { duration = 100 })
    settle(s)
    assert(s.service:spared(encode { id = 1 }))
    assert(s.service:spared(encode { id = 7 }))
    s.ticks = 1
    assert.is_true(settle(s) > 900)
    assert.equal("1", ids(s, "raise"))
  end)

  it("ends nobody who has not allowed it, whatever a queue policy says", function()
    local path = os.tmpname() .. ".lua"
    local file <close> = assert(io.open(path, "w"))
    file:write [[return { name = "ruthless", schedule = function(queue)
      for job in queue:pending() do queue:start(job, queue:running()) end
      for _, job in ipairs(queue:running()) do queue:preempt(job) end
    end }]]
    file:flush()
    local s = started({ "queue=" .. path }, 2)
    os.remove(path)
    submit(s, 1, 1)
    submit(s, 2, 1, { after = 50 })
    submit(s, 3, 2, { after = 0 })
    settle(s)
    s.now, s.ticks = T0 + 60, 60
    submit(s, 4, 1)
    settle(s)
    assert.equal("2", ids(s, "raise"))
    free(s, 2)
    settle(s)
    assert.equal("1 2 4", ids(s, "alloc"))
  end)

  it("knows of jobs that ran before it who may be preempted, and what they have left", function()
    local s = started { "queue=preempt" }
    submit(s, 1, 4, { after = 10, duration = 1000 })
    settle(s)
    local other = started { "queue=preempt" }
    other.now = T0 + 20
    local message = encode { id = 1, priority = 16, userid = 1, t_submit = T0, free = "0-1" }
    assert(other.service:hello(message, R_of(s, 1), encode(spec_of(4, { after = 10, queue = "q" }))))
    assert.equal("2-3", decode(other.service:status()).allocated.execution.R_lite[1].rank)
    submit(other, 2, 3)
    settle(other)
    assert.equal("1", ids(other, "raise"))
  end)

  -- ---- slices ---------------------------------------------------------------------------------------------------

  it("works in slices, and takes what comes between them", function()
    local s = started({ "queue=easy", "slice=1ms" }, 50, 4)
    s.port.ticks = nil
    local work = s.service.scheduler
    local ticks, slices = 0, 0
    work.ticks = function()
      ticks = ticks + 0.0005
      return ticks
    end
    submit(s, 1000, 50)
    settle(s)
    for id = 1, 400 do submit(s, id, nil, { slots = id % 7 + 1 }) end
    free(s, 1000)
    local wait = 0
    while wait do
      wait = s.service:work()
      ticks = ticks + (wait or 0)
      slices = slices + 1
      if slices % 3 == 0 then
        s.service:cancel(encode { id = slices })
        submit(s, 500 + slices, nil, { slots = 2, priority = slices % 20 })
        local id = s.said[#s.said][2]
        if s.service.scheduler.jobs[id] and s.service.scheduler.jobs[id].state == "running" then free(s, id) end
      end
      if slices > 200 then break end
    end
    assert.is_true(slices > 5)
    apart(s)
    local seen = {}
    for _, entry in ipairs(s.said) do
      assert.is_falsy(entry[1] == "alloc" and seen[entry[2]])
      seen[entry[2]] = entry[1] == "alloc" or nil
    end
  end)

  it("stops a queue policy amid its own work", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write [[
      return { name = "slow", schedule = function(queue)
        local x = 0
        for i = 1, 3e6 do x = x + i % 7 end
        for job in queue:pending() do queue:start(job) end
      end }]]
    file:close()
    os.rename(path, path .. ".lua")
    local s = started { "queue=" .. path .. ".lua", "slice=2ms" }
    s.service.scheduler.ticks = require "weir.core".clock
    submit(s, 1, 1)
    local n = 0
    while s.service:work() == 0 do n = n + 1 end
    os.remove(path .. ".lua")
    assert.is_true(n >= 2, "it was stopped " .. n .. " times")
    assert.equal("1", ids(s, "alloc"))
  end)

  it("lets jobs start in order when a queue policy fails", function()
    local path = os.tmpname() .. ".lua"
    local file = assert(io.open(path, "w"))
    file:write [[return { name = "bad", schedule = function(queue) queue:start(queue:first()) error "out of order" end }]]
    file:close()
    local s = started({ "queue=" .. path }, 2)
    for id = 1, 3 do submit(s, id, 1) end
    settle(s)
    os.remove(path)
    assert.equal("1 2", ids(s, "alloc"))
    assert.matches("out of order; fcfs takes its place", s.logged[1])
    assert.matches("it replaces one that failed", s.service:policy(encode { words = { "show" } }))
    free(s, 1)
    settle(s)
    assert.equal("1 2 3", ids(s, "alloc"))
    apart(s)
  end)

  -- ---- policies and queues --------------------------------------------------------------------------------------

  it("changes policies while jobs run and wait", function()
    local s = started({}, 2)
    submit(s, 1, 1, { duration = 100 })
    submit(s, 2, 2)
    submit(s, 3, 1, { duration = 50 })
    settle(s)
    assert.equal("1", ids(s, "alloc"))
    assert.matches("policy high\nqueue easy", s.service:policy(encode { words = { "use", "queue=easy", "policy=high" } }))
    settle(s)
    assert.equal("1 3", ids(s, "alloc"))
    for _, word in ipairs { "queue=nonsense", "policy=nonsense", "slice=1", "x" } do
      assert.is_nil((s.service:policy(encode { words = { "use", word } })), word)
    end
    assert.matches("policy high\nqueue easy", s.service:policy(encode { words = {} }))
    assert.matches("%* easy +EASY backfilling: the first", s.service:policy(encode { words = { "list" } }))
  end)

  it("takes policies as texts, for who stands elsewhere", function()
    local s = started({}, 2)
    local texts = {
      ["/far/last.lua"] = 'return { name = "last", options = { n = 1 }, order = { "-id" } }',
      ["/far/wide.lua"] = [[return { name = "wide", options = { least = 1 }, schedule = function(queue, options)
        for job in queue:pending() do if job.units >= options.least then queue:start(job) end end
      end }]],
    }
    local function use(...) return s.service:policy(encode { words = { "use", ... }, texts = texts }) end
    assert.matches("policy /far/last.lua\nqueue /far/wide.lua", assert(use("policy=/far/last.lua", "queue=/far/wide.lua:least=8")))
    submit(s, 1, 1)
    submit(s, 2, 2)
    settle(s)
    assert.equal("2", ids(s, "alloc"))
    assert.is_true(s.service:configure "{}")
    free(s, 2)
    texts = { ["/far/other.lua"] = "return nonsense(" }
    assert.matches("/far/other.lua", select(2, use "queue=/far/other.lua"))
    assert.matches("/far/away.lua", select(2, use "queue=/far/away.lua"))
    texts = { ["/far/large.lua"] = ("-"):rep(2 << 20) }
    assert.matches("1048576 bytes", select(2, use "queue=/far/large.lua"))
    assert.matches("queue /far/wide.lua", s.service:policy(encode { words = { "show" } }))
    texts = nil -- the scheduler still has that policy
    assert(use "queue=/far/wide.lua")
    settle(s)
    assert.equal("2 1", ids(s, "alloc"))
    assert.equal("1", ranks_of(s, 1))
  end)

  for what, words in pairs {
    ["its queue policy"] = { "policy=low", "queue=/far/broken.lua" }, ["its placement policy"] = { "queue=easy", "policy=/far/broken.lua" },
  } do
    it("changes nothing where " .. what .. " does not open", function()
      local s = started({ "policy=high", "queue=fcfs" }, 4)
      local broken = { ["/far/broken.lua"] = "return nonsense(" }
      local asked = s.service:policy(encode { words = { "use", table.unpack(words) }, texts = broken })
      assert.is_nil(asked)
      assert.matches("policy high\nqueue fcfs", s.service:policy(encode { words = { "show" } }))
      assert.equal("high", (s.service.scheduler.engine:policy()))
      submit(s, 1, 1)
      settle(s)
      assert.equal("3", ranks_of(s, 1))
    end)
  end

  it("gives queues of Flux what they require, and a policy of their own", function()
    local s = started({}, 4, 4, {
      queues = { batch = { requires = { "b" } }, debug = { requires = { "d" } } },
      ["sched-weir"] = { queues = { debug = { queue = "easy" } } },
    }, { properties = { b = "0-2", d = "3" } })
    submit(s, 1, 3, { queue = "batch" })
    submit(s, 2, 3, { queue = "batch" })
    submit(s, 3, 1, { queue = "debug" })
    submit(s, 4, 4, { queue = "batch" })
    settle(s)
    assert.equal("1 3", ids(s, "alloc"))
    assert.equal("3", ranks_of(s, 3))
    assert.equal("4", ids(s, "deny"))
    assert.matches("queue fcfs\nqueue fcfs for batch\nqueue easy for debug", s.service:policy(encode { words = { "show" } }))
  end)

  for what, resources in pairs {
    ["nodes as a whole"] = spec_of(2, {}).resources,
    ["nodes within a slot"] = { { type = "slot", count = 2, label = "task", with = { { type = "node", count = 1 } } } },
    ["all cores of two nodes"] = spec_of(2, { shared = true, cores = 4 }).resources,
    ["as many cores anywhere"] = spec_of(nil, { slots = 8 }).resources,
  } do
    it("counts what a job has of the machine: " .. what, function()
      local path = os.tmpname() .. ".lua"
      local file <close> = assert(io.open(path, "w"))
      file:write [[return { name = "eight", schedule = function(queue)
        for job in queue:pending() do if job.units == 8 and job.machine == 16 then queue:start(job) end end
      end }]]
      file:flush()
      local s = started { "queue=" .. path }
      os.remove(path)
      local spec = spec_of(2, {})
      spec.resources = resources
      assert(s.service:alloc(encode { id = 1, priority = 16, userid = 1000, t_submit = s.now, jobspec = spec }))
      submit(s, 2, 1)
      settle(s)
      assert.equal("1", ids(s, "alloc"))
    end)
  end

  for what, row in pairs {
    ["of a queue that is not configured"] = { { batch = {} }, "debug", "queue debug is not configured; there is batch" },
    ["of a queue where there are none"] = { nil, "debug", "queue debug is not configured; there are no queues" },
    ["without a queue where there are some"] = { { batch = {}, a = {} }, nil, "queue: the job names none; there is a, batch" },
  } do
    it("denies a job " .. what, function()
      local s = started({}, 4, 4, { queues = row[1] })
      submit(s, 1, 1, { queue = row[2] })
      assert.same({ { "deny", 1, row[3] } }, s.said)
    end)
  end

  for what, row in pairs {
    ["keeps no job of other resources waiting"] = { "d", "1 3" }, ["keeps those waiting that compete with it"] = { "b", "1" },
  } do
    it("has a queue whose backlog " .. what, function()
      local s = started({}, 4, 4, { queues = { batch = { requires = { "b" } }, debug = { requires = { row[1] } } } },
        { properties = { b = "0-2", d = "3" } })
      submit(s, 1, 2, { queue = "batch" })
      submit(s, 2, 3, { queue = "batch" })
      submit(s, 3, 1, { queue = "debug" })
      settle(s)
      assert.equal(row[2], ids(s, "alloc"))
    end)
  end

  -- Virtual queues (RFC 33): {queues, [sched-weir], the order in which full-size jobs start}. Jobs 13 to 17 have their id as priority;
  -- 17, 15 and 13 are in expedite, 16 and 14 in batch.
  local BATCH = { requires = { "b" } }
  for what, row in pairs {
    ["of queues with required properties"] = { { batch = BATCH, expedite = { parent = "batch" }, debug = { requires = { "d" } } }, {} },
    ["of queues without required properties"] = { { batch = {}, expedite = { parent = "batch" } }, {} },
    ["of a queue with a policy of its own"] = { { batch = BATCH, expedite = { parent = "batch" } }, { batch = { queue = "easy" } } },
    ["of several virtual queues"] = { { batch = BATCH, expedite = { parent = "batch" }, urgent = { parent = "batch" } }, {} },
  } do
    it("starts jobs of a parent and its virtual queue in one order of priorities: " .. what, function()
      local s = started({}, 4, 4, { queues = row[1], ["sched-weir"] = { queues = row[2] } }, { properties = { b = "0-2", d = "3" } })
      submit(s, 1, 3, { queue = "batch", priority = 31 })
      settle(s)
      for _, id in ipairs { 16, 17, 15, 13, 14 } do
        submit(s, id, 3, { queue = id % 2 == 1 and (id == 15 and row[1].urgent and "urgent" or "expedite") or "batch", priority = id })
      end
      for _, id in ipairs { 1, 17, 16, 15, 14 } do
        settle(s)
        free(s, id)
      end
      settle(s)
      assert.equal("1 17 16 15 14 13", ids(s, "alloc"))
      assert.equal("", ids(s, "deny"))
      if row[1].batch.requires then assert.equal("0-2", ranks_of(s, 17), "a virtual queue requires what its parent requires") end
      apart(s)
    end)
  end

  it("follows a configuration in which a queue becomes virtual, and ceases to be", function()
    local function config(expedite) return { queues = { batch = BATCH, debug = { requires = { "d" } }, expedite = expedite } } end
    local s = started({}, 4, 4, config { requires = { "d" } }, { properties = { b = "0-2", d = "3" } })
    submit(s, 1, 3, { queue = "batch" })
    submit(s, 2, 3, { queue = "batch" })
    settle(s)
    assert(s.service:configure(encode(config { parent = "batch" })))
    submit(s, 3, 3, { queue = "expedite", priority = 17 })
    settle(s)
    free(s, 1)
    settle(s)
    assert.equal("1 3", ids(s, "alloc"))
    assert(s.service:configure(encode(config { requires = { "d" } })))
    submit(s, 4, 1, { queue = "expedite" })
    settle(s)
    assert.equal("1 3 4", ids(s, "alloc"))
    apart(s)
  end)

  it("shows the machine with its books", function()
    local s = started()
    submit(s, 7, 2)
    settle(s)
    local dump = decode(s.service:dump())
    assert.equal(7, dump.books[1].id)
    assert.equal("0-1", dump.books[1].R_lite[1].rank)
    assert.is_truthy(dump.graph.nodes)
  end)

  it("shares one request among jobs that ask for the same", function()
    local a = assert(jobspec.read(spec_of(1, { cwd = "here" }), {}))
    assert.equal(a, (jobspec.read(spec_of(1, { cwd = "there" }), {})))
    local _, what = jobspec.read(spec_of(1, { queue = "q" }), { q = { "p" } })
    assert.same({ system = { duration = 60, queue = "q" } }, decode(what.attributes))
    what.attributes = nil
    assert.same({ duration = 60, queue = "q", qos = "q" }, what)
    assert.equal(a, (jobspec.read(spec_of(1, { after = 0 }), {})))
    assert.equal(0, jobspec.about(spec_of(1, { after = 0 })).preemptible)
    for _, wrong in ipairs { -1, "0", true } do assert.is_nil(jobspec.about(spec_of(1, { after = wrong })).preemptible) end
  end)

  -- Whatever constraint a job has, the job stays on the nodes of its queue.
  for what, row in pairs {
    ["nothing"] = { "starts", nil },
    ["an empty constraint"] = { "starts", {} },
    ["the same property"] = { "starts", { properties = { "d" } } },
    ["one of two queues"] = { "starts", { ["or"] = { { properties = { "d" } }, { properties = { "b" } } } } },
    ["not that it is not"] = { "starts", { ["not"] = { { properties = { "^d" } } } } },
    ["not its queue"] = { "denied", { ["not"] = { { properties = { "d" } } } } },
    ["a host of its name"] = { "denied", { ["or"] = { { hostlist = { "d" } }, { properties = { "b" } } } } },
    ["the other queue"] = { "denied", { properties = { "b" } } },
  } do
    it("holds a job to what its queue requires: " .. what, function()
      local s = started({}, 4, 4, { queues = { batch = { requires = { "b" } }, debug = { requires = { "d" } } } },
        { properties = { b = "0-2", d = "3" } })
      for id = 1, 2 do submit(s, id, 1, { queue = "debug", constraints = row[2] }) end
      settle(s)
      assert.equal(row[1] == "starts" and "1" or "", ids(s, "alloc"))
      assert.equal(row[1] == "denied" and "1 2" or "", ids(s, "deny"))
      if row[1] == "starts" then assert.equal("3", ranks_of(s, 1)) end
    end)
  end

  it("denies a job of a queue whose constraint is none", function()
    local s = started({}, 4, 4, { queues = { debug = { requires = { "d" } } } }, { properties = { d = "3" } })
    submit(s, 1, 1, { queue = "debug", constraints = "d" })
    assert.equal("1", ids(s, "deny"))
  end)

  it("counts what a job is admitted as", function()
    local path = os.tmpname() .. ".lua"
    local file <close> = assert(io.open(path, "w"))
    file:write [[return { admit = function(job) job.resources = { { type = "slot", count = 4, label = "task",
      with = { { type = "core", count = 1 } } } } return job end }]]
    file:flush()
    local s = started { "policy=" .. path, "queue=conservative" }
    os.remove(path)
    for id = 1, 5 do submit(s, id, 16) end
    settle(s)
    assert.equal("1 2 3 4", ids(s, "alloc"))
    apart(s)
  end)
end)
