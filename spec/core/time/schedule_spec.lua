-- Schedules: units allocated, available and used, now and later; pools allocated without a match; states and
-- aggregates.

local weir = require "weir"
local cases = require "spec.support.cases"

local function core_job(n, system)
  return {
    resources = { { type = "slot", count = n, label = "s", with = { { type = "core", count = 1 } } } },
    attributes = { system = system or {} },
  }
end

local function with(text)
  local graph = assert(weir.synthetic(text))
  return graph, weir.engine { resources = graph, policy = "low" }
end

local function uses(v)
  local lines = {}
  for i, u in ipairs(v:uses()) do
    lines[i] = ("job %d: %g to %g, %d%s"):format(u.job, u.start, u["end"], u.amount, u.exclusive and "x" or "")
  end
  table.sort(lines)
  return table.concat(lines, "; ")
end

-- All visible state of the schedules, to check that nothing has changed.
local function snapshot(graph)
  local lines = {}
  for v in graph:walk {} do lines[#lines + 1] = ("%s %d %s %s"):format(v.path, v.free, v.state, uses(v)) end
  return table.concat(lines, "\n")
end

describe("schedules", function()
  local graph, engine
  before_each(function() graph, engine = with "cluster:1 rack:1 node:2 core:2 memory:1(size=8,unit=GB)" end)
  after_each(function() assert(graph:check()) end)

  local function at(path) return assert(graph:vertex("/cluster0/rack0/" .. path)) end

  describe("of a single pool", function()
    it("[M14] allocate units under a name", function()
      assert(at("node0/memory0"):allocate { job = 3, amount = 5, start = 0, duration = 10 })
      assert.equal("job 3: 0 to 10, 5", uses(at "node0/memory0"))
    end)

    it("[M14] a second allocation under a name grows it", function()
      local v = at "node0/memory0"
      assert(v:allocate { job = 3, amount = 5, start = 0, duration = 10 })
      assert(v:allocate { job = 3, amount = 2, start = 0, duration = 10 })
      assert.equal("job 3: 0 to 10, 7", uses(v))
    end)

    it("[M14] an allocation is found by its name", function()
      assert(at("node0/memory0"):allocate { job = 3, amount = 5 })
      local list = engine:job(3):vertices()
      assert.equal(1, #list)
      assert.equal(at "node0/memory0", list[1].vertex)
      assert.equal(5, list[1].amount)
    end)

    it("[A1] refuse what would exceed the size, and change nothing", function()
      local v = at "node0/memory0"
      assert(v:allocate { job = 3, amount = 5 })
      local before = snapshot(graph)
      local done, _, code = v:allocate { job = 4, amount = 4 }
      assert.is_nil(done)
      assert.equal("busy", code)
      assert.equal(before, snapshot(graph))
    end)

    it("[A2] all units are an exclusive allocation", function()
      assert(at("node0/memory0"):allocate { job = 3, amount = 8, duration = 4 })
      assert.equal("job 3: 0 to 4, 8x", uses(at "node0/memory0"))
    end)

    it("[A2] a pool that others share does not become exclusive by growing", function()
      local shared = { resources = { { type = "memory", count = 8, exclusive = false } } }
      assert(engine:match(shared))
      assert(at("node0/memory0"):allocate { job = 9, amount = 4 })
      assert.is_nil((at("node0/memory0"):allocate { job = 9, amount = 4 }))
    end)

    it("[A3] nothing below a pool held as a whole can be had", function()
      assert(at("node0"):allocate { job = 3, amount = 1 })
      local done, _, code = at("node0/core0"):allocate { job = 4, amount = 1 }
      assert.is_nil(done)
      assert.equal("busy", code)
    end)

    it("[M15] some of the units are freed", function()
      local v = at "node0/memory0"
      assert(v:allocate { job = 3, amount = 8, duration = 4 })
      assert(v:release(3, 6))
      assert.equal("job 3: 0 to 4, 2", uses(v))
    end)

    it("[M15] all units of a name are freed", function()
      local v = at "node0/memory0"
      assert(v:allocate { job = 3, amount = 8 })
      assert(v:allocate { job = 4, amount = 8, start = 5 } == nil)
      assert(v:release(3))
      assert.equal("", uses(v))
      assert.is_nil(engine:job(3))
    end)

    it("[M15] never more is freed than a name has", function()
      local v = at "node0/memory0"
      assert(v:allocate { job = 3, amount = 5 })
      local before = snapshot(graph)
      local done, why, code = v:release(3, 6)
      assert.is_nil(done)
      assert.equal("invalid", code)
      assert.is_truthy(why:find "5")
      assert.equal(before, snapshot(graph))
    end)

    it("[M15] a name that has nothing frees nothing", function()
      local done, _, code = at("node0/memory0"):release(3)
      assert.is_nil(done)
      assert.equal("unknown", code)
    end)

    it("[M13] tell what is allocated and available, now and at a time", function()
      local v = at "node0/memory0"
      assert(v:allocate { job = 3, amount = 5, start = 0, duration = 10 })
      assert(v:allocate { job = 4, amount = 2, start = 20, duration = 10 })
      assert.equal(3, v.free)
      assert.same({ 3, 8, 6 }, { v:available(5, 6), v:available(12, 13), v:available(25, 26) })
      assert.equal("job 3: 0 to 10, 5; job 4: 20 to 30, 2", uses(v))
    end)

    it("[P13] a pool of one and a pool of many take the same calls", function()
      for _, path in ipairs { "node0/core0", "node0/memory0" } do
        assert(at(path):allocate { job = 3, amount = 1, start = 0, duration = 10 })
        assert.equal(at(path).size - 1, at(path).free)
        assert(at(path):release(3, 1))
        assert.equal(at(path).size, at(path).free)
      end
    end)
  end)

  it("[A12] available over an interval is the least of any time in it", function()
    local v = at "node0/memory0"
    assert(v:allocate { job = 3, amount = 5, start = 0, duration = 10 })
    assert(v:allocate { job = 4, amount = 2, start = 5, duration = 10 })
    assert.same({ 3, 1, 6, 8 }, { v:available(0, 5), v:available(0, 6), v:available(10, 15), v:available(15, math.huge) })
  end)

  it("[A12] what is below a pool held as a whole is not available", function()
    assert(at("node0"):allocate { job = 3, amount = 1, start = 10, duration = 10 })
    assert.same({ 1, 0, 1 }, {
      at("node0/core0"):available(0, 10), at("node0/core0"):available(9, 11), at("node0/core0"):available(20, 30),
    })
  end)

  it("[A8] what a job has stays in use past its end, until it is released", function()
    local a = assert(engine:match(core_job(1, { duration = 5 })))
    engine:advance(8)
    assert.equal(0, at("node0/core0").free)
    assert(engine:release(a.id))
    assert.equal(1, at("node0/core0").free)
  end)

  it("[A8] a reservation becomes an allocation at its start", function()
    local a = assert(engine:match(core_job(4), { mode = "reserve", at = 10 }))
    assert.equal(1, at("node0/core0").free)
    engine:advance(10)
    assert.equal("allocated", engine:job(a.id).state)
    assert.equal(0, at("node0/core0").free)
  end)

  it("[A6] a match that fails leaves no trace", function()
    assert(engine:match(core_job(1)))
    local before = snapshot(graph)
    assert.is_nil((engine:match(core_job(4))))
    assert.is_nil((engine:match(core_job(5))))
    assert.equal(before, snapshot(graph))
    assert.equal(1, #engine:jobs())
  end)

  it("[A10] a release gives back all that a job has", function()
    local before = snapshot(graph)
    local a = assert(engine:match(core_job(3)))
    assert.not_equal(before, snapshot(graph))
    assert(engine:release(a.id))
    assert.equal(before, snapshot(graph))
  end)

  it("[A10] a second release is an error", function()
    local a = assert(engine:match(core_job(3)))
    assert(engine:release(a.id))
    local done, why, code = engine:release(a.id)
    assert.is_nil(done)
    assert.equal("unknown", code)
    assert.is_truthy(why:find(tostring(a.id), 1, true))
  end)

  it("[A10] the release of a job that never was is an error", function()
    local done, _, code = engine:release(99)
    assert.is_nil(done)
    assert.equal("unknown", code)
  end)

  it("[A11] what a job has can be asked for", function()
    local a = assert(engine:match(core_job(3)))
    assert.equal(3, #engine:job(a.id):vertices())
    assert.is_nil(engine:job(99))
  end)

  it("[A11] all jobs can be asked for", function()
    for _ = 1, 3 do assert(engine:match(core_job(1))) end
    local ids = {}
    for i, a in ipairs(engine:jobs()) do ids[i] = a.id end
    table.sort(ids)
    assert.same({ 1, 2, 3 }, ids)
  end)

  it("[A11] who has a pool can be asked for", function()
    local a = assert(engine:match(core_job(1, { duration = 5 })))
    assert.equal(("job %d: 0 to 5, 1x"):format(a.id), uses(at "node0/core0"))
  end)

  it("[A3] the children of what is held exclusively have no records", function()
    assert(engine:match { resources = { { type = "node", count = 1, exclusive = true } } })
    assert.equal("", uses(at "node0/core0"))
    assert.equal(0, at("node0/core0").free)
  end)

  it("[A4] the ancestors of what is allocated are no longer idle", function()
    local root = graph:root()
    assert.same({ 2, 1 }, { root:aggregate().node.idle, root:aggregate().rack.idle })
    assert(engine:match(core_job(1)))
    assert.same({ 1, 0 }, { root:aggregate().node.idle, root:aggregate().rack.idle })
  end)

  it("[M9] aggregates count what is available below a vertex", function()
    assert(engine:match(core_job(3)))
    assert(at("node0/memory0"):allocate { job = 9, amount = 3 })
    local below = graph:root():aggregate()
    assert.same({ 1, 13, 16 }, { below.core.free, below.memory.free, below.memory.total })
    assert.equal(1, at("node1"):aggregate().core.free)
  end)

  it("[M9] nothing below an unavailable vertex counts", function()
    at("node0").state = "down"
    local below = graph:root():aggregate()
    assert.same({ 2, 1, 8 }, { below.core.free, below.node.free, below.memory.free })
  end)

  it("[M9] nothing below what is held as a whole counts", function()
    assert(at("node0"):allocate { job = 3, amount = 1 })
    assert.equal(2, graph:root():aggregate().core.free)
  end)

  it("[P11] states can be set and asked for", function()
    for _, state in ipairs { "up", "down", "degraded", "failing", "unknown", "null" } do
      at("node0").state = state
      assert.equal(state, at("node0").state)
    end
  end)

  it("[P11] a state counts for all that is below", function()
    at("node0").state = "down"
    assert.same({ 0, 1 }, { at("node0/core0").free, at("node1/core0").free })
    at("node0").state = "up"
    assert.equal(1, at("node0/core0").free)
  end)

  it("[P11] what goes down stays with the job that has it", function()
    local a = assert(engine:match(core_job(1)))
    at("node0").state = "down"
    assert.equal(1, #engine:job(a.id):vertices())
    assert(engine:release(a.id))
    assert.equal(0, at("node0/core0").free)
  end)

  it("[G7] a pool has one parent in its containment hierarchy", function()
    assert.equal(at "node0", at("node0/core0"):parent())
    assert.is_nil(graph:root():parent())
  end)
end)

-- The random machines of spec/core/match/match_spec.lua, with long histories: jobs come and go, the clock moves on, states change.
describe("schedules of long histories", function()
  local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1

  it("[A8][A10][A12][M13][M14][M15] are those of a slow, obvious book-keeper", function()
    for seed = 1000001, 1000000 + math.max(1, math.floor(60 * scale)) do
      local why = cases.try(seed, nil, 100)
      if why then error(why, 0) end
    end
  end)
end)
