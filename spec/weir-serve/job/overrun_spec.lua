-- Jobs past their ends: the effect on the reservations behind, in an engine, in saved graphs, in the service and in
-- scenarios.
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local weir = require "weir"

local US = 1e-6

local function machine() return weir.synthetic "cluster:1 rack:1 node:2 core:4 memory:1(size=8,unit=GB)" end

-- "2 hold 15.000001" of each event.
local function told(events)
  local list = {}
  for i, x in ipairs(events) do list[i] = ("%d %s %.14g"):format(x.job, x.event, x.time) end
  return table.concat(list, ", ")
end

-- "1 allocated 0-10" of each job, in the order of their ids.
local function jobs_of(e)
  local list = e:jobs()
  table.sort(list, function(a, b) return a.id < b.id end)
  for i, a in ipairs(list) do list[i] = ("%d %s %.14g-%.14g"):format(a.id, a.state, a.at, a.at + a.duration) end
  return table.concat(list, ", ")
end

-- {title, {request, duration, ...}, {{operation, event, jobs afterwards}}, machine}
local HELD = {
  { "the same whole nodes", { { "slot=2/node", 10 }, { "slot=2/node", 10 } }, {
    { 10, "2 hold 10.000001", "1 allocated 0-10, 2 reserved 10.000001-20.000001" },
    { 15, "", "1 allocated 0-10, 2 reserved 15.000001-25.000001" },
    { "release 1" },
    { 15, "", "2 reserved 15.000001-25.000001" },
    { 16, "2 start 15.000001", "2 allocated 15.000001-25.000001" },
  } },
  { "one node of two, while the other one waits with it", { { "slot=1/node", 10 }, { "slot=1/node", 4 }, { "slot=2/node", 10 } }, {
    { 4, "", "1 allocated 0-10, 2 allocated 0-4, 3 reserved 10-20" },
    { "release 2" },
    { 12, "3 hold 12.000001", "1 allocated 0-10, 3 reserved 12.000001-22.000001" },
    { "busy slot=1/node 5" },
  } },
  { "those behind it, in their order, as far as they are in the way", {
    { "slot=2/node", 10 }, { "slot=2/node", 10 }, { "slot=1/node", 5 },
    { "slot=2/node", 10 }, { "slot=1/node", 10, 60 } }, {
    { 15, "2 hold 15.000001, 3 hold 25.000001, 4 hold 30.000001",
      "1 allocated 0-10, 2 reserved 15.000001-25.000001, 3 reserved 25.000001-30.000001, 4 reserved 30.000001-40.000001, "
        .. "5 reserved 60-70" },
  } },
  { "nobody, where what is needed is another node", { { "slot=1/node", 10 }, { "slot=1/node", 20 }, { "slot=1/node", 10 } }, {
    { "release 1" },
    { 10, "3 start 10", "2 allocated 0-20, 3 allocated 10-20" },
  } },
  { "units of a pool only where all of them together are too many", { { "slot=1/memory=4", 10 }, { "slot=1/memory=8", 10 },
    { "slot=1/memory=4", 10, 10 } }, {
    { 10, "3 start 10", "1 allocated 0-10, 2 allocated 0-10, 3 allocated 10-20" },
  }, "cluster:1 node:1 memory:1(size=16,unit=GB)" },
  { "units of a pool where there are too few of them", {
    { "slot=1/memory=5", 10 }, { "slot=1/memory=3", 10, 10 }, { "slot=1/memory=5", 10, 10 } }, {
    { 10, "2 start 10, 3 hold 10.000001", "1 allocated 0-10, 2 allocated 10-20, 3 reserved 10.000001-20.000001" },
    { "release 1" },
    { 11, "3 start 10.000001", "2 allocated 10-20, 3 allocated 10.000001-20.000001" },
  }, "cluster:1 node:1 memory:1(size=8,unit=GB)" },
  { "cores of a node that a job has as a whole", { { "slot=2/node", 10 }, { "node/slot=2/core", 10 } }, {
    { 11, "2 hold 11.000001", "1 allocated 0-10, 2 reserved 11.000001-21.000001" },
  } },
  { "a node with a core that a job has", { { "slot=8/core", 10 }, { "slot=1/node", 10 } }, {
    { 11, "2 hold 11.000001", "1 allocated 0-10, 2 reserved 11.000001-21.000001" },
  } },
  { "what waits behind one that has just begun and is past its end, in a jump", {
    { "slot=2/node", 10 }, { "slot=2/node", 10 }, { "slot=2/node", 10 } }, {
    { "release 1" },
    { 100, "2 start 10, 3 hold 100.000001", "2 allocated 10-20, 3 reserved 100.000001-110.000001" },
  } },
  { "a job without an end, which never gives way", { { "slot=2/node", 10 }, { "slot=2/node", math.huge } }, {
    { 11, "2 hold 11.000001", "1 allocated 0-10, 2 reserved 11.000001-inf" },
  } },
}

describe("a reservation behind a job past its end", function()
  for _, row in ipairs(HELD) do
    it("[A1][A2] is held back: " .. row[1], function()
      local g <close> = row[4] and weir.synthetic(row[4]) or machine()
      local e <close> = weir.engine { resources = g }
      for i, r in ipairs(row[2]) do assert.equal(i, assert(e:match(r[1], { duration = r[2], mode = "reserve", at = r[3] })).id) end
      for _, step in ipairs(row[3]) do
        local released = type(step[1]) == "string" and step[1]:match "^release (%d+)"
        local busy, duration = (type(step[1]) == "string" and step[1] or ""):match "^busy (%S+) (%d+)"
        if released then
          assert(e:release(math.tointeger(tonumber(released))))
        elseif busy then
          assert.equal("busy", select(3, e:match(busy, { duration = tonumber(duration) })))
        else
          local ok, events = e:advance(step[1])
          assert.is_true(ok)
          assert.equal(step[2], told(events))
          assert.equal(step[3], jobs_of(e))
        end
        assert(g:check())
      end
    end)
  end

  it("starts where a new one would, which comes behind it", function()
    local g <close> = machine()
    local e <close> = weir.engine { resources = g }
    assert(e:match("slot=2/node", { duration = 10 }))
    assert(e:match("slot=2/node", { duration = 10, mode = "reserve" }))
    assert(e:advance(15))
    assert.equal(25 + US, assert(e:match("slot=2/node", { duration = 10, mode = "reserve" })).at)
  end)

  it("says in its R when it starts and ends by now", function()
    local g <close> = machine()
    local e <close> = weir.engine { resources = g }
    assert(e:match("slot=2/node", { duration = 10 }))
    local second = assert(e:match("slot=2/node", { duration = 10, mode = "reserve" }))
    assert(e:advance(15))
    local R = weir.json.decode(assert(e:job(second.id)):format "rv1")
    assert.same({ 15 + US, 25 + US }, { R.execution.starttime, R.execution.expiration })
    assert.same({ second.at, 10 }, { 10, second.at }) -- the allocation returned earlier is unchanged
  end)

  it("is held back also while a job that grew, or gave a part back, has what it needs", function()
    local g <close> = machine()
    local e <close> = weir.engine { resources = g }
    assert(e:match("slot=1/node", { duration = 10 }))
    assert(e:grow(1, "slot=1/node"))
    assert(e:match("slot=2/node", { duration = 10, mode = "reserve" }))
    assert(e:advance(12))
    assert(e:shrink(1, g:vertex "/cluster0/rack0/node1"))
    assert(select(2, e:advance(13)))
    assert.equal("1 allocated 0-10, 2 reserved 13.000001-23.000001", jobs_of(e))
    assert(e:shrink(1, g:vertex "/cluster0/rack0/node0"))
    assert.equal("2 start 13.000001", told(select(2, e:advance(14))))
    assert(g:check())
  end)

  it("is told once, however often it is put off", function()
    local g <close> = machine()
    local e <close> = weir.engine { resources = g }
    assert(e:match("slot=2/node", { duration = 10 }))
    assert(e:match("slot=2/node", { duration = 10, mode = "reserve" }))
    local n = 0
    for t = 10, 60 do n = n + #select(2, e:advance(t)) end
    assert.equal(1, n)
  end)

  for _, how in ipairs { "sqlite", "copy" } do
    it("is the same in what is made of the graph: " .. how, function()
      local g <close> = machine()
      local e <close> = weir.engine { resources = g }
      for _ = 1, 3 do assert(e:match("slot=2/node", { duration = 10, mode = "reserve" })) end
      assert(e:advance(15))
      local again
      if how == "sqlite" then
        local path = os.tmpname() .. ".db"
        assert(g:save(path))
        assert(e:advance(16)) -- and the changes since
        assert(g:save(path))
        again = assert(weir.load(path))
        for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
        os.remove(path:sub(1, -4))
      else
        again = g:dup()
      end
      local e2 <close> = weir.engine { resources = again }
      assert(again:check())
      assert.equal(jobs_of(e), jobs_of(e2))
      for _, one in ipairs { e, e2 } do
        assert(one:release(1))
        assert.equal(("2 start %s"):format(one:now() + US), told(select(2, one:advance(20))))
      end
      again:close()
    end)
  end
end)

describe("with overrun = \"expire\" a job", function()
  it("is released at its end, before what starts then begins", function()
    local g <close> = machine()
    local e <close> = weir.engine { resources = g, overrun = "expire" }
    for _ = 1, 3 do assert(e:match("slot=2/node", { duration = 10, mode = "reserve" })) end
    assert.equal("1 expire 10, 2 start 10", told(select(2, e:advance(10))))
    assert.equal("2 allocated 10-20, 3 reserved 20-30", jobs_of(e))
    assert.equal("2 expire 20, 3 start 20, 3 expire 30", told(select(2, e:advance(100))))
    assert.equal("", jobs_of(e))
    assert(g:check())
  end)

  it("stays as long as it has no end, and is gone when it is released before", function()
    local g <close> = machine()
    local e <close> = weir.engine { resources = g, overrun = "expire" }
    assert(e:match("slot=1/node", { duration = math.huge }))
    assert(e:match("slot=1/node", { duration = 10 }))
    assert(e:release(2))
    assert.equal("", told(select(2, e:advance(1000))))
    assert.equal("1 allocated 0-inf", jobs_of(e))
  end)

  it("ends at the next advance where it was past its end before the rule was set", function()
    local g <close> = machine()
    do
      local e <close> = weir.engine { resources = g }
      for _ = 1, 2 do assert(e:match("slot=2/node", { duration = 10, mode = "reserve" })) end
      assert(e:advance(15))
    end
    local e <close> = weir.engine { resources = g, overrun = "expire" }
    assert.equal("1 expire 10, 2 start 15.000001", told(select(2, e:advance(16))))
  end)

  it("is one rule of two", function()
    local g <close> = machine()
    assert.error_matches(function() weir.engine { resources = g, overrun = "wait" } end, "'overrun': hold or expire expected, got 'wait'")
  end)
end)

describe("v:allocate", function()
  local g
  before_each(function()
    g = weir.new()
    local cluster = g:add(nil, { type = "cluster", id = 0 })
    local node = g:add(cluster, { type = "node", id = 0, rank = 0, exclusive = true })
    g:add(node, { type = "core", id = 0 }, 4)
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  it("[A5] gives parts of an exclusive pool to one job only", function()
    local function core(i) return g:vertex("/cluster0/node0/core" .. i) end
    assert(core(0):allocate { job = 70, amount = 1, start = 0, duration = 10 })
    assert(core(1):allocate { job = 70, amount = 1, start = 0, duration = 10 })
    local ok, why, code = core(2):allocate { job = 71, amount = 1, start = 5, duration = 10 }
    assert.same({ nil, "busy" }, { ok, code })
    assert.matches("an ancestor of the vertex is exclusive, and another job has a part of it", why)
    assert(core(2):allocate { job = 71, amount = 1, start = 10, duration = 10 })
    assert.equal("busy", select(3, core(3):allocate { job = 72, amount = 1, start = 10, duration = 1 }))
  end)

  it("says that a job itself has a part of what it wants as a whole", function()
    assert(g:vertex "/cluster0/node0/core0":allocate { job = 70, amount = 1 })
    local ok, why, code = g:vertex "/cluster0/node0":allocate { job = 70, amount = 1 }
    assert.same({ nil, "busy" }, { ok, code })
    assert.matches("the job has something below already: release that first", why)
  end)
end)

describe("what is gone", function()
  it("leaves its job id to nobody else", function()
    local g <close> = machine()
    local e <close> = weir.engine { resources = g }
    for i = 1, 5 do
      assert.equal(i, assert(e:match "slot=1/node").id)
      assert(e:release(i))
    end
    assert(e:match("slot=1/node", { job = 7 }))
    assert.same({ 6, 8 }, { e:match "slot=1/core".id, e:match "slot=1/core".id })
    assert.is_nil((e:release(3)))
  end)

  it("leaves its handle to nobody else, however often its place is taken", function()
    local g <close> = machine()
    local rack = g:vertex "/cluster0/rack0"
    local old, limit = g:add(rack, { type = "node", id = 100 }), 0
    local number = old.index
    assert(g:unlink(old))
    for i = 1, 3000 do
      local v = g:add(rack, { type = "gpu", id = 1000 + i })
      assert.is_false(pcall(function() return old.path end))
      assert.is_false(old == v)
      limit = math.max(limit, v.index)
      assert(g:unlink(v))
    end
    assert.is_true(limit > number and limit <= number + 3) -- a place is left for good each 1,024 times, no sooner
    assert(g:check())
  end)
end)

describe("the service", function()
  after_each(service.clean)

  local function serve(...)
    return service.start(shell.directory(), { "-r", "cluster:1 rack:1 node:2 core:4", "--clock", "manual", ... })
  end

  -- {rule, events of two jobs for a set of nodes at 15, jobs afterwards}
  local RULES = {
    { "hold", { "hold 2 15.000001" }, { "1 allocated", "2 reserved" } },
    { "expire", { "expire 1 10", "start 2 10" }, { "2 allocated" } },
  }
  for _, row in ipairs(RULES) do
    it("tells who listens, with --overrun " .. row[1], function()
      local s = serve("--overrun", row[1])
      local c, listening, seen = s:connect(), false, {}
      local raw = s:raw(function(answer)
        local x = answer.result
        listening = listening or x.event == "listening"
        if x.job then seen[#seen + 1] = ("%s %d %.14g"):format(x.event, x.job, x.at) end
      end)
      raw.send '{"id":1,"method":"events"}\n'
      service.wait("the stream", function() return listening end)
      assert.equal(row[1], c:ask "hello".overrun)
      for _ = 1, 2 do assert(c:ask("match", { request = "slot=2/node", duration = 10, mode = "reserve" })) end
      assert(c:ask("advance", { to = 15 }))
      service.wait("what is told", function() return #seen >= #row[2] end)
      assert.same(row[2], seen)
      local list = c:ask("jobs").jobs
      for i, job in ipairs(list) do list[i] = ("%d %s"):format(job.job, job.state) end
      assert.same(row[3], list)
      if row[1] == "hold" then assert(c:ask("release", { job = 1 })) end
      assert(c:ask("advance", { to = 16 }))
      assert.equal("allocated", c:ask("job", { job = 2 }).state)
      assert.equal(0, s:stop())
    end)
  end
end)

describe("a scenario", function()
  local scenario = require "weir.scenario"

  it("begins no job while one that it knows nothing of has its nodes past its end", function()
    local s = scenario { machine = "cluster:1 node:2 core:4", policy = "low", queue = "conservative" }
    assert(s.engine:match("slot=2/node", { duration = 10, job = 1000 }))
    local first = s:submit { "slot=2/node", lasts = 10, name = "first" }
    s:advance(15)
    assert.equal("pending", first.state)
    assert(s.graph:check())
    assert(s.engine:release(1000))
    s:advance(1)
    assert.equal("running", first.state)
    assert(s.graph:check())
  end)

  it("never has two jobs on one node, whatever runs longer than was said", function()
    local s = scenario { machine = "cluster:1 node:2 core:4", policy = "low", queue = "conservative", overrun = "run" }
    s:submit { "slot=2/node", lasts = 50, estimate = 10, name = "long" }
    for i = 1, 3 do s:submit { "slot=2/node", lasts = 10, name = "j" .. i } end
    for _ = 1, 12 do
      s:advance(10)
      assert(s.graph:check())
      local running = 0
      for _, a in ipairs(s.engine:jobs()) do running = running + (a.state == "allocated" and 1 or 0) end
      assert.is_true(running <= 1)
    end
  end)
end)
