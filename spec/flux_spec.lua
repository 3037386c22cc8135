-- The scheduler of a Flux instance, without Flux: messages in, answers out.
local instance_of = require "weir.flux.service"
local jobid = require "weir.flux.jobid"
local jobspec = require "weir.flux.jobspec"
local settings = require "weir.flux.settings"
local weir = require "weir"

local encode, decode = weir.json.encode, weir.json.decode
local DATA = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" .. "/data/"

-- ---- a scheduler, and who talks to it ---------------------------------------------------------------------------

local T0 = 1700000000

-- Arguments as in "queue=easy". s.said: what it answered, s.now the clock.
local function open(arguments, config)
  local s = { said = {}, logged = {}, now = T0, ticks = 0 }
  local port = { clock = function() return s.now end, ticks = function() return s.ticks end }
  for _, name in ipairs { "alloc", "annotate", "deny", "raise" } do
    port[name] = function(...) s.said[#s.said + 1] = { name, ... } end
  end
  function port.explain(id) s.service:told(encode { id = id }, (s.service:reason(encode { id = id }))) end
  function port.log(level, text) s.logged[#s.logged + 1] = level .. ": " .. text end
  local service, why = instance_of.open(arguments or {}, encode(config or {}), port)
  if not service then return nil, why end
  s.service, s.port = service, port
  return s
end

local function machine(nodes, cores, more)
  local R = { version = 1, execution = {
    R_lite = { { rank = ("0-%d"):format(nodes - 1), children = { core = ("0-%d"):format(cores - 1) } } },
    nodelist = { ("n[0-%d]"):format(nodes - 1) }, starttime = 0, expiration = 0,
  } }
  for key, value in pairs(more or {}) do R.execution[key] = value end
  return { resources = R, up = ("0-%d"):format(nodes - 1) }
end

local function started(arguments, nodes, cores, config, more)
  local s = assert(open(arguments, config))
  assert(s.service:acquire(encode(machine(nodes or 4, cores or 4, more))))
  return s
end

-- Whole nodes, or (exclusive = false) a core on each of them.
local function spec_of(nodes, opts)
  local core = { type = "slot", count = 1, label = "task", with = { { type = "core", count = opts.cores or 1 } } }
  local node = { type = "node", count = nodes, exclusive = opts.shared == nil, with = { core } }
  return {
    version = 1, resources = opts.slots and { { type = "slot", count = opts.slots, label = "task", with = core.with } } or { node },
    tasks = { { command = { "app" }, slot = "task", count = { per_slot = 1 } } },
    attributes = { system = { duration = opts.duration or 60, queue = opts.queue, constraints = opts.constraints, cwd = opts.cwd,
      ["preemptible-after"] = opts.after } },
  }
end

local function submit(s, id, nodes, opts)
  opts = opts or {}
  assert(s.service:alloc(encode {
    id = id, priority = opts.priority or 16, userid = 1000, t_submit = s.now, jobspec = spec_of(nodes, opts),
  }))
end

-- Until there is nothing to do.
local function settle(s)
  local wait
  repeat
    wait = s.service:work()
    s.ticks = s.ticks + 0.001
  until wait == nil or wait > 0.1
  return wait
end

local function ids(s, name)
  local list = {}
  for _, entry in ipairs(s.said) do
    if entry[1] == name then list[#list + 1] = entry[2] end
  end
  return table.concat(list, " ")
end

local function R_of(s, id)
  for _, entry in ipairs(s.said) do
    if entry[1] == "alloc" and entry[2] == id then return entry[3] end
  end
end

local function ranks_of(s, id) return decode(R_of(s, id)).execution.R_lite[1].rank end
local function free(s, id, ranks)
  local R = ranks and { version = 1, execution = { R_lite = { { rank = ranks, children = { core = "0-3" } } } } }
  assert(s.service:free(encode { id = id, R = R or decode(R_of(s, id)), final = not ranks or nil }))
end

local function stats(s) return decode(s.service:stats()) end

-- No unit is given twice, and the books are whole.
local function apart(s)
  local all
  for _, entry in ipairs(s.said) do
    if entry[1] == "alloc" and s.service.scheduler.jobs[entry[2]] then
      local set = weir.rset(entry[3], "R")
      all = all and assert(all:append(set)) or set
    end
  end
  assert(s.service.scheduler.graph:check())
end

-- ---- a recorded exchange ----------------------------------------------------------------------------------------

describe("a scheduler for Flux", function()
  for name, record in pairs {
    exchange = { file = "flux_exchange", arguments = { "queue=easy", "policy=low" } },
    preemption = { file = "flux_preempt", arguments = { "queue=preempt" } },
  } do
    it("answers as it did then what was recorded in Flux: " .. name, function()
      local s, expected = assert(open(record.arguments)), {}
      for line in io.lines(DATA .. record.file .. ".jsonl") do
        local entry = decode(line)
        if entry.answer then
          expected[#expected + 1] = encode({ entry.answer, entry.args }, { sort = true })
        else
          s.now, s.ticks = entry.now, entry.now
          s.service[entry.call](s.service, table.unpack(entry.args))
        end
      end
      local got = {}
      for i, said in ipairs(s.said) do got[i] = encode({ said[1], table.move(said, 2, #said, 1, {}) }, { sort = true }) end
      assert.same(expected, got)
      assert.is_true(#got > 6)
      assert.same({ 0, 0 }, { stats(s).pending, stats(s).running })
    end)
  end

  -- ---- starting and waiting -------------------------------------------------------------------------------------

  it("starts in the order of priorities, then of submission", function()
    local s = started({}, 1)
    submit(s, 1, 1)
    settle(s)
    submit(s, 2, 1)
    submit(s, 3, 1, { priority = 20 })
    submit(s, 4, 1)
    for _, id in ipairs { 1, 3, 2, 4 } do
      settle(s)
      free(s, id)
    end
    assert.equal("1 3 2 4", ids(s, "alloc"))
  end)

  it("follows a change of priorities", function()
    local s = started({ "queue=easy" }, 1)
    for id = 1, 4 do submit(s, id, 1) end
    settle(s)
    assert(s.service:prioritize(encode { jobs = { { 4, 100 }, { 2, 1 }, { 99, 1 } } }))
    for _, id in ipairs { 1, 4, 3, 2 } do
      settle(s)
      free(s, id)
    end
    assert.equal("1 4 3 2", ids(s, "alloc"))
  end)

  it("backfills under easy, and not under fcfs", function()
    for queue, expected in pairs { easy = "1 3", fcfs = "1", conservative = "1 3", hybrid = "1 3" } do
      local s = started({ "queue=" .. queue }, 2)
      submit(s, 1, 1, { duration = 100 })
      submit(s, 2, 2)
      submit(s, 3, 1, { duration = 100 })
      submit(s, 4, 1, { duration = 101 })
      settle(s)
      assert.equal(expected, ids(s, "alloc"), queue)
    end
  end)

  it("tells when a job is going to start, and takes it back", function()
    local s = started { "queue=easy" }
    submit(s, 1, 4, { duration = 100 })
    submit(s, 2, 4)
    assert.is_true(settle(s) > 90)
    assert.same({ "annotate", 2, encode { sched = { t_estimate = T0 + 100 } } }, s.said[2])
    submit(s, 3, 4, { priority = 20 })
    s.ticks = 1
    settle(s)
    local told = {}
    for i = 3, #s.said do told[s.said[i][2]] = (told[s.said[i][2]] or "") .. s.said[i][3] end
    assert.matches('"t_estimate": ?null', told[2])
    assert.matches('"t_estimate": ?' .. T0 + 100, told[3])
    free(s, 1)
    settle(s)
    assert.equal("1 3", ids(s, "alloc"))
    for _, entry in ipairs(s.said) do
      if entry[1] == "alloc" and entry[2] == 3 then assert.matches('"t_estimate": ?null', entry[4]) end
    end
  end)

  it("says why a job waits", function()
    local s = started { "queue=fcfs" }
    submit(s, 1, 3)
    submit(s, 2, 2)
    settle(s)
    assert.same({ "annotate", 2, encode { sched = { reason_pending = "2 nodes are needed; the machine has 1 of 4 free." } } }, s.said[2])
    assert.matches("1 of 4 free.*Earliest start", s.service:why(encode { id = 2 }))
    assert.matches("has its resources since", s.service:why(encode { id = 1 }))
    assert.same({ nil, "the scheduler does not know this job", "unknown" }, { s.service:why(encode { id = 7 }) })
  end)

  it("says it a little later where much is to be said, though nothing happens any more", function()
    local s = started { "queue=fcfs" }
    local scattered = { constraints = { ranks = { "0-1" } } }
    submit(s, 1, 3)
    submit(s, 2, 2)
    settle(s)
    submit(s, 3, 2)
    submit(s, 4, 1, scattered)
    submit(s, 5, 1, scattered)
    assert.equal("2", ids(s, "annotate"))
    local wait = settle(s)
    for _ = 1, 2 do
      assert.is_true(wait > 0.1 and wait <= 1, tostring(wait))
      s.ticks = s.ticks + wait
      wait = settle(s)
    end
    assert.equal("2 3 4 5", ids(s, "annotate"))
    assert.is_nil(wait)
  end)

  it("says it the more seldom the more a copy of it costs", function()
    local s = started { "queue=fcfs" }
    local explain, scattered = s.port.explain, { constraints = { ranks = { "0-1" } } }
    local asked = 0
    function s.port.explain(id)
      asked = asked + 1
      s.service:copied "0.2"
      explain(id)
    end
    submit(s, 1, 3)
    for id = 2, 4 do submit(s, id, 1, scattered) end
    for _ = 1, 30 do
      settle(s)
      s.ticks = s.ticks + 1
    end
    assert.equal(2, asked)
  end)

  it("starts a reservation when its time has come", function()
    local s = started({ "queue=easy" }, 2)
    submit(s, 1, 2, { duration = 100 })
    submit(s, 2, 2)
    settle(s)
    s.now = T0 + 99
    free(s, 1)
    settle(s)
    assert.equal("1 2", ids(s, "alloc"))
    assert.equal(T0 + 99, decode(R_of(s, 2)).execution.starttime)
    assert.equal(T0 + 159, decode(R_of(s, 2)).execution.expiration)
  end)

  it("keeps what a job has that goes on beyond its time", function()
    local s = started({ "queue=easy" }, 2)
    submit(s, 1, 2, { duration = 100 })
    submit(s, 2, 2)
    assert.is_true(settle(s) <= 100)
    s.now = T0 + 101
    settle(s)
    assert.equal("1", ids(s, "alloc"))
    apart(s)
    free(s, 1)
    settle(s)
    assert.equal("1 2", ids(s, "alloc"))
  end)

  it("gives jobs without a limit the time that the instance has", function()
    local s = started({}, 2, 4, nil, { starttime = T0, expiration = T0 + 500 })
    submit(s, 1, 1, { duration = 0 })
    settle(s)
    assert.equal(T0 + 500, decode(R_of(s, 1)).execution.expiration)
    assert(s.service:acquire(encode { expiration = T0 + 900 }))
    submit(s, 2, 1, { duration = 0 })
    settle(s)
    assert.equal(T0 + 900, decode(R_of(s, 2)).execution.expiration)
  end)

  it("denies what can never run, and says why", function()
    local s = started()
    submit(s, 1, 5)
    submit(s, 2, 1, { cores = 5 })
    submit(s, 3, 1, { constraints = { properties = { "nowhere" } } })
    assert(s.service:alloc(encode { id = 4, priority = 1, userid = 1, t_submit = T0, jobspec = { version = 1 } }))
    assert.equal("1 2 3 4", ids(s, "deny"))
    assert.equal("unsatisfiable request: 5 nodes are needed; the machine has 4 in all.", s.said[1][3])
    assert.matches("core", s.said[2][3])
    assert.equal("jobspec: attributes.system is missing", "jobspec: " .. s.said[4][3])
    local message = encode { jobspec = spec_of(5, {}) }
    assert.same({ nil, s.said[1][3], "infeasible" }, { s.service:feasible(message) })
    assert.is_true(s.service:feasible(encode { jobspec = spec_of(4, {}) }))
  end)

  -- ---- giving back ----------------------------------------------------------------------------------------------

  it("takes back parts of what a job has", function()
    local s = started()
    submit(s, 1, 4)
    submit(s, 2, 2)
    settle(s)
    free(s, 1, "1-2")
    settle(s)
    assert.equal("1-2", ranks_of(s, 2))
    free(s, 1, "0")
    free(s, 1)
    assert.same({ 0, 1 }, { stats(s).pending, stats(s).running })
    apart(s)
  end)

  it("forgets what is cancelled while it waits, and takes it when it comes again", function()
    local s = started({}, 1)
    submit(s, 1, 1)
    submit(s, 2, 1)
    settle(s)
    for id = 2, 3 do assert(s.service:cancel(encode { id = id })) end
    assert.same({ 0, 1 }, { stats(s).pending, stats(s).running })
    submit(s, 2, 1)
    free(s, 1)
    settle(s)
    assert.equal("1 2", ids(s, "alloc"))
  end)

  it("takes back what a job got whose request was cancelled meanwhile", function()
    local s = started({}, 1)
    submit(s, 1, 1)
    submit(s, 2, 1)
    settle(s)
    assert(s.service:cancel(encode { id = 1 }))
    settle(s)
    assert.equal("1 2", ids(s, "alloc"))
    assert.same({ 0, 1 }, { stats(s).pending, stats(s).running })
    apart(s)
  end)

  it("moves the end of a job that runs", function()
    local s = started({ "queue=easy" }, 1)
    submit(s, 1, 1, { duration = 100 })
    submit(s, 2, 1)
    settle(s)
    assert.is_true(s.service:expiration(encode { id = 1, expiration = T0 + 300 }))
    s.ticks = 1
    settle(s)
    assert.equal(encode { sched = { t_estimate = T0 + 300 } }, s.said[#s.said][3])
    assert.equal("unknown", select(3, s.service:expiration(encode { id = 2, expiration = T0 })))
    assert.equal("invalid", select(3, s.service:expiration(encode { id = 1, expiration = -1 })))
  end)

  -- ---- the machine changes --------------------------------------------------------------------------------------

  it("places nothing on what is down, and goes on when it is up", function()
    local s = started()
    assert(s.service:acquire(encode { down = "0-1" }))
    submit(s, 1, 2)
    submit(s, 2, 2)
    settle(s)
    assert.equal("2-3", ranks_of(s, 1))
    assert(s.service:acquire(encode { up = "1", down = "2" }))
    settle(s)
    assert.equal("1", ids(s, "alloc"))
    assert(s.service:acquire(encode { up = "0" }))
    settle(s)
    assert.equal("0-1", ranks_of(s, 2))
    assert.equal("2", decode(s.service:status()).down.execution.R_lite[1].rank)
  end)

  it("denies what a shrink makes impossible, and takes what comes back of it", function()
    local s = started { "queue=easy" }
    submit(s, 1, 4)
    submit(s, 2, 4)
    submit(s, 3, 2)
    settle(s)
    assert(s.service:acquire(encode { shrink = "3", down = "3" }))
    settle(s)
    assert.equal("2", ids(s, "deny"))
    free(s, 1, "3")
    free(s, 1, "0-2")
    settle(s)
    assert.equal("1 3", ids(s, "alloc"))
    free(s, 1)
    assert.equal("0-2", decode(s.service:status()).all.execution.R_lite[1].rank)
    apart(s)
  end)

  it("follows properties that come and go", function()
    local s = started()
    local big = { duration = 60, constraints = { properties = { "big" } } }
    submit(s, 1, 1, big)
    assert(s.service:acquire(encode { ["property-add"] = { big = "2" } }))
    submit(s, 2, 1, big)
    settle(s)
    submit(s, 3, 1, big)
    assert(s.service:acquire(encode { ["property-remove"] = { big = "2" } }))
    assert.equal("1 3", ids(s, "deny"))
    assert.equal("2", ranks_of(s, 2))
  end)

  it("begins without resources where all are excluded", function()
    local s = assert(open())
    assert(s.service:acquire(encode { resources = { version = 1, execution = { R_lite = weir.array {}, nodelist = weir.array {},
      starttime = 0, expiration = 0 } }, up = "" }))
    submit(s, 1, 1)
    assert.equal("1", ids(s, "deny"))
    assert.same(weir.array {}, decode(s.service:status()).all.execution.R_lite)
  end)

  it("passes on what a scheduling key without a graph holds", function()
    local s, first = assert(open()), machine(2, 2)
    first.resources.scheduling = { test = "data" }
    assert(s.service:acquire(encode(first)))
    submit(s, 1, 1)
    settle(s)
    assert.same({ test = "data" }, decode(R_of(s, 1)).scheduling)
  end)

  it("schedules on the graph of an R that has one", function()
    local s = assert(open())
    local R = decode(weir.synthetic "cluster:1 rack:2 node:2 socket:2 core:2":format "rv1")
    assert(s.service:acquire(encode { resources = R, up = "0-3" }))
    submit(s, 1, 3)
    settle(s)
    local graph = weir.rset(R_of(s, 1), "R"):graph()
    assert.equal(3, graph:aggregate().node.total)
    assert.equal(2, graph:aggregate().rack.total)
  end)

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
    s.ticks = s.ticks + 1 -- it has been said why they wait
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

  -- ---- a scheduler that comes anew ------------------------------------------------------------------------------

  it("books again what runs when it comes", function()
    local s = started { "queue=easy" }
    submit(s, 1, 1, { duration = 100 })
    submit(s, 2, nil, { slots = 3, duration = 100 })
    settle(s)
    local other = started { "queue=easy" }
    for id = 1, 2 do
      assert(other.service:hello(encode { id = id, priority = 16, userid = 1, t_submit = T0 }, R_of(s, id)))
    end
    assert.equal(s.service:status(), other.service:status())
    submit(other, 3, 4)
    assert.is_true(settle(other) > 90)
    assert.equal("", ids(other, "alloc"))
    for id = 1, 2 do other.service:free(encode { id = id, R = decode(R_of(s, id)), final = true }) end
    settle(other)
    assert.equal("3", ids(other, "alloc"))
  end)

  it("refuses what cannot be booked again", function()
    local s = started()
    local function hello(id, rank, core)
      return s.service:hello(encode { id = id, priority = 16, userid = 1, t_submit = T0 }, encode { version = 1, execution = {
        R_lite = { { rank = rank, children = { core = core } } }, nodelist = { "x" }, starttime = T0, expiration = T0 + 9 } })
    end
    assert(hello(1, "0", "0-1"))
    assert.is_nil((hello(2, "0", "1-2")))
    assert.is_nil((hello(3, "0", "9")))
    assert.is_nil((hello(4, "7", "0")))
    assert.equal(1, stats(s).running)
    assert.equal("0-1", decode(s.service:status()).allocated.execution.R_lite[1].children.core)
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
    assert.matches("%* easy", s.service:policy(encode { words = { "list" } }))
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
    texts = nil -- it still has that one
    assert(use "queue=/far/wide.lua")
    settle(s)
    assert.equal("2 1", ids(s, "alloc"))
    assert.equal("1", ranks_of(s, 1))
  end)

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
    assert.matches("queue fcfs\nqueue easy for debug", s.service:policy(encode { words = { "show" } }))
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
    assert.same({ duration = 60, queue = "q", qos = "q" }, what)
    assert.equal(a, (jobspec.read(spec_of(1, { after = 0 }), {})))
    assert.equal(0, jobspec.about(spec_of(1, { after = 0 })).preemptible)
    for _, wrong in ipairs { -1, "0", true } do assert.is_nil(jobspec.about(spec_of(1, { after = wrong })).preemptible) end
    assert.matches('"properties":%["p"%]', (jobspec.read(spec_of(1, { queue = "q" }), { q = { "p" } })))
  end)
end)

-- ---- settings ---------------------------------------------------------------------------------------------------

describe("settings of the scheduler", function()
  for text, expected in pairs {
    ["slice=20ms"] = { "slice", 0.02 }, ["slice=0.1s"] = { "slice", 0.1 }, ["queue-depth=8"] = { "queue-depth", "limited=8" },
    ["mode=limited=8"] = { "queue-depth", "limited=8" }, ["mode=unlimited"] = { "queue-depth", "unlimited" },
    ["policy=low"] = { "policy", "low" },
  } do
    it("reads " .. text, function() assert.equal(expected[2], assert(settings.read({ text }, {}))[expected[1]]) end)
  end

  for text, expected in pairs {
    ["slice=0"] = "a time above 0", ["slice=5h"] = "a time above 0", ["queue-depth=0"] = "unlimited or a number",
    ["polcy=low"] = 'there is no option "polcy"', low = "NAME=VALUE is expected", ["annotate=maybe"] = "true, false",
    ["R-format=jgf"] = "auto, rv1, rv1_nosched",
  } do
    it("refuses " .. text, function() assert.matches(expected, select(2, settings.read({ text }, {})), 1, true) end)
  end

  it("reads the table of the configuration, and lets arguments count more", function()
    local config = { ["sched-weir"] = { queue = "easy", policy = "low", slice = "20ms" } }
    local read = assert(settings.read({ "policy=high" }, config))
    assert.same({ "easy", "high", 0.02 }, { read.queue, read.policy, read.slice })
    assert.matches("[sched-weir] there is no option", select(2, settings.read({}, { ["sched-weir"] = { que = 1 } })), 1, true)
    assert.matches("queues.a", select(2, settings.read({}, { ["sched-weir"] = { queues = { a = { policy = "x" } } } })), 1, true)
  end)

  it("refuses policies that are not there when it opens", function()
    assert.matches('no policy "nonsense"', select(2, open { "policy=nonsense" }))
  end)
end)

describe("job ids", function()
  it("have a prefix that every terminal can show, where one is asked for", function()
    assert.equal("fz", jobid.f58(57, "f"))
    local s = started({ "queue=fcfs" }, 1)
    submit(s, 1000, 1)
    submit(s, 1001, 1)
    settle(s)
    assert.matches("^fJG waits", s.service:why(encode { id = 1001, f58 = "f" }))
    assert.matches("^ƒJG waits", s.service:why(encode { id = 1001 }))
  end)

  for id, text in pairs { [0] = "ƒ1", [57] = "ƒz", [58] = "ƒ21", [1888888888888] = "ƒ", [6731191091817518] = "ƒuZZybuNNy" } do
    it("writes " .. id, function() assert.equal(text, jobid.f58(id):sub(1, #text)) end)
  end
end)
