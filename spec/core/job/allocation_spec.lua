-- Allocations: exclusive, shared and partial use, annotation, staging, times, growing, shrinking, release, queries.
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:2 core:4 gpu:1 memory:1(size=16,unit=GB)"

local function jobspec(resources, duration)
  return { resources = resources, attributes = { system = { duration = duration } } }
end

local function slot(...) return { type = "slot", count = 1, label = "s", with = { ... } } end

local function paths(a)
  local out = {}
  for i, pick in ipairs(a:vertices()) do out[i] = pick.vertex.path end
  table.sort(out)
  return table.concat(out, " ")
end

describe("allocations", function()
  local g, e

  before_each(function()
    g = assert(weir.synthetic(MACHINE))
    e = weir.engine { resources = g, policy = "low" }
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  local function at(path) return assert(g:vertex("/cluster0/" .. path)) end

  -- All visible state of the schedules.
  local function snapshot()
    local lines = {}
    for v in g:walk {} do
      local uses = {}
      for i, u in ipairs(v:uses()) do uses[i] = ("%d:%g-%g:%d"):format(u.job, u.start, u["end"], u.amount) end
      table.sort(uses)
      lines[#lines + 1] = ("%s %d %s"):format(v.path, v.free, table.concat(uses, " "))
    end
    return table.concat(lines, "\n")
  end

  it("[A1] several jobs share the units of a pool, none has the same unit", function()
    local memory = at "rack0/node0/memory0"
    for job = 1, 4 do assert(memory:allocate { job = job, amount = 4 }) end
    assert.equal(0, memory.free)
    assert.equal("busy", select(3, memory:allocate { job = 5, amount = 1 }))
  end)

  it("[A1] a match takes no more of a pool than there is", function()
    for _ = 1, 4 do assert(e:match(jobspec { slot { type = "memory", count = 16 } })) end
    assert.is_nil((e:match(jobspec { slot { type = "memory", count = 1 } })))
  end)

  it("[A2] all units to one job is exclusive, and nobody shares it", function()
    local a = assert(e:match(jobspec { slot { type = "memory", count = 16 } }))
    local memory = a:vertices()[1].vertex
    assert.same({ 1, true }, { #memory:uses(), memory:uses()[1].exclusive })
    assert.is_nil((e:match(jobspec { { type = "memory", count = 64, exclusive = false } })))
  end)

  it("[A3] a parent that is taken whole implies its children, without records", function()
    local a = assert(e:match(jobspec { { type = "rack", count = 1, exclusive = true } }))
    assert.equal("/cluster0/rack0", paths(a))
    assert.same({ 0, 0 }, { at("rack0/node0/core0").free, #at("rack0/node0/core0"):uses() })
    assert.same({ a.id }, at("rack0/node0/core0"):jobs())
  end)

  it("[A3] nobody gets anything below it", function()
    assert(e:match(jobspec { { type = "rack", count = 1, exclusive = true } }))
    assert.equal("busy", select(3, at("rack0/node1/memory0"):allocate { job = 9, amount = 1 }))
  end)

  it("[A4] all ancestors tell that a job is below them", function()
    local a = assert(e:match(jobspec { slot { type = "core", count = 1 } }))
    local v = a:vertices()[1].vertex:parent()
    while v do
      assert.same({ a.id }, v:jobs())
      v = v:parent()
    end
    assert.same({}, at("rack1"):jobs())
  end)

  it("[A4] and no longer when it is gone", function()
    local a = assert(e:match(jobspec { slot { type = "core", count = 1 } }))
    assert(e:release(a.id))
    assert.same({}, g:root():jobs())
  end)

  it("[A4] a pool with a job below it is not given as a whole", function()
    assert(at("rack0/node0/core0"):allocate { job = 1 })
    local a = assert(e:match(jobspec { { type = "rack", count = 1, exclusive = true } }))
    assert.equal("/cluster0/rack1", paths(a))
  end)

  it("[A5] a pool that demands it is only given as a whole", function()
    local tape = assert(g:add(g:root(), { type = "tape", size = 8, exclusive = true }))
    local ok, why, code = tape:allocate { job = 1, amount = 3 }
    assert.same({ code = "invalid" }, { ok = ok, code = code })
    assert.matches("this pool is exclusive: all 8 units or none", why)
    assert(e:match(jobspec { slot { type = "tape", count = 3 } }))
    assert.equal(0, tape.free)
  end)

  it("[A6] a match that fails in the middle leaves nothing behind", function()
    assert(at("rack1/node3/core0"):allocate { job = 1 })
    local before = snapshot()
    assert.is_nil((e:match(jobspec { slot({ type = "core", count = 4 }, { type = "node", count = 4 }) })))
    assert.equal(before, snapshot())
  end)

  it("[A6] a preview takes nothing", function()
    local before = snapshot()
    assert.equal("matched", assert(e:match(jobspec { slot { type = "core", count = 4 } }, { mode = "preview" })).state)
    assert.equal(before, snapshot())
  end)

  it("[A7] a reservation holds amounts in the future", function()
    local memory = at "rack0/node0/memory0"
    assert(memory:allocate { job = 1, amount = 10, start = 100, duration = 50 })
    assert.same({ 16, 6, 16 }, { memory:available(0, 100), memory:available(149.999999, 150), memory:available(150, 1000) })
  end)

  it("[A7] a job that does not fit now is reserved at the earliest time", function()
    assert(e:match(jobspec({ { type = "cluster", count = 1, exclusive = true } }, 60.000001)))
    local a = assert(e:match(jobspec({ slot { type = "core", count = 1 } }, 10), { mode = "reserve" }))
    assert.same({ "reserved", 60.000001 }, { a.state, a.at })
  end)

  it("[A8] times are kept to the microsecond", function()
    local core = at "rack0/node0/core0"
    assert(core:allocate { job = 1, start = 1.000001, duration = 0.000001 })
    assert.same({ 1, 0, 1 }, { core:available(1, 1.000001), core:available(1.000001, 1.000002), core:available(1.000002, 2) })
  end)

  it("[A8] conflicts are judged over the whole interval", function()
    assert(at("rack0/node0/core0"):allocate { job = 1, start = 50, duration = 10 })
    assert.equal("busy", select(3, at("rack0/node0/core0"):allocate { job = 2, start = 0, duration = 51 }))
    assert(at("rack0/node0/core0"):allocate { job = 2, start = 0, duration = 50 })
  end)

  describe("that grow and shrink", function()
    local a

    before_each(function() a = assert(e:match(jobspec({ slot { type = "node", count = 3 } }, 60))) end)

    it("[A9] grow by what a request finds, for the time that is left", function()
      e:advance(20)
      local b = assert(e:grow(a.id, "slot=1/node"))
      assert.equal("/cluster0/rack0/node0 /cluster0/rack0/node1 /cluster0/rack1/node2 /cluster0/rack1/node3", paths(b))
      assert.equal(60, at("rack1/node3"):uses()[1]["end"])
    end)

    it("[A9] grow as a whole or not at all", function()
      local before = snapshot()
      assert.equal("busy", select(3, e:grow(a.id, "slot=2/node")))
      assert.equal(before, snapshot())
    end)

    -- {parts released, parts left}
    local PARTS = {
      { "a vertex", function() return at "rack0/node1" end, "/cluster0/rack0/node0 /cluster0/rack1/node2" },
      { "a list of vertices", function() return { at "rack0/node1", at "rack1" } end, "/cluster0/rack0/node0" },
      { "what is in a node", function() return at "rack0/node0/core2" end,
        "/cluster0/rack0/node0/core0 /cluster0/rack0/node0/core1 /cluster0/rack0/node0/core3 /cluster0/rack0/node0/gpu0 "
        .. "/cluster0/rack0/node0/memory0 /cluster0/rack0/node1 /cluster0/rack1/node2" },
      { "a rank", function() return { ranks = "1" } end, "/cluster0/rack0/node0 /cluster0/rack1/node2" },
      { "ranks", function() return { ranks = "0,2" } end, "/cluster0/rack0/node1" },
      { "an R as text", function() return '{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3","gpu":"0"}}]}}' end,
        "/cluster0/rack1/node2" },
      { "an R as a table", function() return { version = 1, execution = { R_lite = { { rank = "2", children = { core = "0-2" } } } } } end,
        "/cluster0/rack0/node0 /cluster0/rack0/node1 /cluster0/rack1/node2/core3 /cluster0/rack1/node2/gpu0 "
        .. "/cluster0/rack1/node2/memory0" },
      { "an R without children", function() return { execution = { R_lite = { { rank = "0-1" } } } } end,
        "/cluster0/rack1/node2" },
    }

    for _, case in ipairs(PARTS) do
      it("[A9] shrink by " .. case[1], function()
        local b = assert(e:shrink(a.id, case[2]()))
        assert.equal(case[3], paths(b))
      end)
    end

    it("[A9] shrink by the R of the job, part after part, to nothing", function()
      local R = weir.json.decode(a:format "rv1_nosched")
      assert(e:shrink(a.id, { ranks = "0" }))
      R.execution.R_lite[1].rank = "1-2"
      assert.is_true(e:shrink(a.id, R))
      assert.is_nil((e:job(a.id)))
      assert.same({ 16, 4 }, { g:aggregate().core.idle, g:aggregate().node.idle })
    end)

    it("[A9] shrink a rank of a job that has the whole rack above", function()
      assert(e:release(a.id))
      local b = assert(e:match(jobspec { { type = "rack", count = 1, exclusive = true } }))
      assert.equal("/cluster0/rack0/node1", paths(assert(e:shrink(b.id, { ranks = "0" }))))
    end)

    it("[A9] shrink a rank where a job has single cores", function()
      local b = assert(e:match(jobspec { slot { type = "core", count = 2 } }))
      assert.is_true(e:shrink(b.id, { ranks = "3" }))
    end)

    it("[A9] shrink by an amount of a pool", function()
      local b = assert(e:match(jobspec { slot { type = "memory", count = 9 } }))
      local memory = b:vertices()[1].vertex
      assert.equal(5, assert(e:shrink(b.id, { vertex = memory, amount = 4 })):vertices()[1].amount)
      assert.is_true(e:shrink(b.id, { vertex = memory, amount = 5 }))
      assert.is_nil((e:job(b.id)))
    end)

    -- {a part that the job does not have, the message, code}
    local REFUSED = {
      { "another vertex", function() return at "rack1/node3" end, "job 1 has nothing at or below /cluster0/rack1/node3", "unknown" },
      { "another rank", function() return { ranks = "1,3" } end, "job 1 has nothing on rank 3", "unknown" },
      { "ranks that are none", function() return { ranks = "2-1" } end, 'ranks: expected a set such as "0-3,7", not "2-1"', "parse" },
      { "ranks that are empty", function() return { ranks = "" } end, "ranks: expected a set", "parse" },
      { "a core that is not there", function() return { execution = { R_lite = { { rank = "0", children = { core = "3-4" } } } } } end,
        "job 1 has no core 4 on rank 0", "unknown" },
      { "text that is no R", function() return "slot=1/node" end, "expected an R in JSON", "parse" },
      { "an R without execution", function() return { version = 1 } end, "no execution.R_lite", "parse" },
      { "more units than it has", function() return { vertex = at "rack0/node0", amount = 2 } end,
        "2 units cannot be freed: job 1 has 1", "invalid" },
    }

    for _, case in ipairs(REFUSED) do
      it(("[A9] do not shrink by %s, and nothing changes"):format(case[1]), function()
        local before = snapshot()
        local b, why, code = e:shrink(a.id, case[2]())
        assert.is_nil(b)
        assert.equal(case[4], code)
        assert.matches(case[3], why, 1, true)
        assert.equal(before, snapshot())
      end)
    end

    it("[A9] what makes no sense raises", function()
      assert.has_error(function() e:shrink(a.id, 7) end)
      assert.has_error(function() e:shrink(a.id, { 7 }) end)
      assert.error_matches(function() e:shrink(a.id, { vertex = at "rack0/node0", amount = 0 }) end, "expected an amount from 1 on")
    end)

    it("[A9] a job that is not there does neither", function()
      assert.equal("unknown", select(3, e:grow(99, "slot=1/node")))
      assert.equal("unknown", select(3, e:shrink(99, at "rack0")))
    end)
  end)

  it("[A10] release gives everything back, once", function()
    local before = snapshot()
    local a = assert(e:match(jobspec { slot({ type = "core", count = 3 }, { type = "memory", count = 10 }) }))
    assert(e:release(a.id))
    assert.equal(before, snapshot())
    assert.same({ n = 3, nil, "there is no job 1", "unknown" }, table.pack(e:release(a.id)))
  end)

  it("[A11] what is allocated to one job, and to all", function()
    local a = assert(e:match(jobspec { slot { type = "core", count = 2 } }))
    assert(e:match(jobspec { slot { type = "gpu", count = 1 } }))
    assert.equal("/cluster0/rack0/node0/core0 /cluster0/rack0/node0/core1", paths(e:job(a.id)))
    assert.equal(2, #e:jobs())
    assert.equal(3, #g:find "allocated and leaf")
  end)

  it("[A12] what is available, now and over an interval", function()
    assert(at("rack0/node0/core0"):allocate { job = 1 })
    assert(at("rack0/node0/core1"):allocate { job = 2, start = 10, duration = 5 })
    assert.equal(15, #g:find "type=core and free")
    assert.same({ 1, 0, 1 }, { at("rack0/node0/core1"):available(0, 10), at("rack0/node0/core1"):available(0, 11),
      at("rack0/node0/core1"):available(15, math.huge) })
  end)

  it("[A13] several jobs share a pool without taking units of it", function()
    local shared = jobspec { { type = "node", count = 1, exclusive = false } }
    local first, second = assert(e:match(shared)), assert(e:match(shared))
    assert.equal(paths(first), paths(second))
    local node = first:vertices()[1].vertex
    assert.same({ 2, 1, { first.id, second.id } }, { #node:uses(), node.free, node:jobs() })
  end)

  it("[A13] what is shared is not given as a whole", function()
    assert(e:match(jobspec { { type = "node", count = 1, exclusive = false } }))
    assert.equal("busy", select(3, at("rack0/node0"):allocate { job = 9 }))
  end)
end)

describe("resources that are listed for a job", function()
  local g, e, node
  before_each(function()
    g = weir.synthetic "cluster:1 node:4 core:2 memory:1(size=16)"
    e = weir.engine { resources = g }
    e:advance(100)
    node = g "/cluster0/node0"
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  -- {what, list, options, code, message}
  for _, case in ipairs {
    { "none are listed", function() return {} end, {}, "invalid", "no resources are listed" },
    { "it starts before the clock", function() return { node } end, { start = 50, duration = 10 }, "invalid", "before the clock" },
    { "its id is there", function() return { node } end, { job = 7 }, "exists", "job 7 is there already" },
    { "more units than there are", function() return { { vertex = g:find("type=memory")[1], amount = 17 } } end, {}, "invalid", "16" },
    { "a part of an exclusive pool", function()
      local memory = g:find("type=memory")[2]
      memory.exclusive = true
      return { { vertex = memory, amount = 3 } }
    end, {}, "invalid", "all 16 units or none" },
    { "of one that a job has", function() return { g "/cluster0/node3" } end, {}, "busy", "" },
  } do
    it("are refused where " .. case[1], function()
      assert(e:allocate({ g "/cluster0/node3" }, { job = 7 }))
      local none, why, code = e:allocate(case[2](), case[3])
      assert.same({ nil, case[4] }, { none, code })
      assert.matches(case[5], why, 1, true)
      assert.equal(1, #e:jobs())
    end)
  end

  it("are one pick where they lie inside each other", function()
    local a = assert(e:allocate { node, node:child(1), { vertex = node:child(2), amount = 0 } })
    assert.same({ "/cluster0/node0" }, { a:vertices()[1].vertex.path, a:vertices()[2] and a:vertices()[2].vertex.path })
  end)
end)
