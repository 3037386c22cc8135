-- The scheduler of a Flux instance, without Flux: messages in, answers out.
local flux = require "spec.support.flux"
local weir = require "weir"

local encode, decode = weir.json.encode, weir.json.decode
local DATA = "spec/data/"
local T0, open, machine, started, spec_of, submit = flux.T0, flux.open, flux.machine, flux.started, flux.spec_of, flux.submit
local settle, ids, R_of, ranks_of, free, stats, apart = flux.settle, flux.ids, flux.R_of, flux.ranks_of, flux.free, flux.stats, flux.apart

-- ---- a recorded exchange ----------------------------------------------------------------------------------------

describe("a scheduler for Flux", function()
  for name, record in pairs {
    exchange = { file = "flux_exchange", arguments = { "queue=easy", "policy=" .. DATA .. "policy_by_id.lua" } },
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
    assert.same({ "annotate", 2, encode { sched = { selection_type = "reserved", t_estimate = T0 + 100 } } }, s.said[2])
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

  it("says how a job came to be chosen: at once, beside a reservation, by its reservation", function()
    local s = started { "queue=easy" }
    submit(s, 1, 3, { duration = 100 })
    submit(s, 2, 4, { duration = 100 })
    submit(s, 3, 1, { duration = 50 })
    settle(s)
    free(s, 3)
    free(s, 1)
    settle(s)
    local types = {}
    for _, said in ipairs(s.said) do
      if said[1] == "alloc" then types[said[2]] = decode(said[4]).sched.selection_type end
    end
    assert.same({ "immediate", "reserved", "backfill" }, types)
  end)

  it("says why a job waits", function()
    local s = started { "queue=fcfs" }
    submit(s, 1, 3)
    submit(s, 2, 2)
    settle(s)
    assert.same({ "annotate", 2, encode { sched = { reason_pending = "2 nodes are needed; the machine has 1 of 4 free." } } }, s.said[2])
    assert.matches("1 of 4 free.*Room for it", (flux.why(s, { id = 2 })))
    assert.matches("has its resources since", (flux.why(s, { id = 1 })))
    assert.same({ nil, "the scheduler does not know this job", "unknown" }, { flux.why(s, { id = 7 }) })
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
    assert.same({ nil, "U" .. s.said[1][3]:sub(2), "unsatisfiable" }, { s.service:feasible(message) })
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
    assert.equal(encode { sched = { selection_type = "reserved", t_estimate = T0 + 300 } }, s.said[#s.said][3])
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

  -- ---- a scheduler that is started again --------------------------------------------------------------------------

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
end)
