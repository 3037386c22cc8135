-- Size, unit and exclusiveness of a pool are set while jobs run.
local weir = require "weir"
local cases = require "spec.support.cases"

describe("a pool whose fields are set", function()
  local g, e, memory
  before_each(function()
    g = weir.synthetic "cluster:1 rack:2 node:2 core:4 memory:1(size=16,unit=GB)"
    e = weir.engine { resources = g }
    memory = g "/cluster0/rack0/node0/memory0"
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  local function total() return g:aggregate(nil, { all = true }).memory end

  it("[P9] has the new size in sums and matches", function()
    memory.size = 40
    assert.same({ 40, 88, 88 }, { memory.size, total().total, total().free })
    assert(e:match "slot=1/memory=40")
    assert.equal("infeasible", select(3, e:match "slot=1/memory=41"))
  end)

  it("[P9] keeps what jobs have, and can shrink to that", function()
    local a = assert(e:match("slot=1/memory=10", { duration = 10 }))
    memory.size = 10
    assert.same({ 0, 10 }, { memory.free, memory.allocated })
    assert.error_matches(function() memory.size = 9 end, "jobs have 10 units: the size cannot become 9")
    e:release(a.id)
    memory.size = 0
    assert.equal(48, total().total)
  end)

  it("[P9] counts what is reserved later", function()
    assert(e:match("slot=1/memory=16", { duration = 10 }))
    assert(e:match("slot=1/memory=12", { mode = "reserve", at = 20, duration = 10 }))
    e:advance(15)
    e:release(1)
    assert.error_matches(function() memory.size = 11 end, "jobs have 12 units")
    memory.size = 12
  end)

  it("[P10] has the new unit, which requests are converted to", function()
    for _, v in ipairs(g:find "type=memory") do v.unit = "MB" end
    local kilobytes = { type = "memory", count = 16000, unit = "kB" }
    assert(e:match { resources = { { type = "slot", count = 1, label = "a", with = { kilobytes } } } })
    local other = g "/cluster0/rack1/node3/memory0"
    other.unit = ""
    assert.equal("", other.unit)
  end)

  it("[A5] is given as a whole from then on", function()
    memory.exclusive = true
    local a = assert(e:match "slot=1/memory=3")
    assert.same({ 16, true }, { a:vertices()[1].amount, memory.exclusive })
    e:release(a.id)
    memory.exclusive = false
    assert.equal(3, assert(e:match "slot=1/memory=3"):vertices()[1].amount)
    assert.error_matches(function() memory.exclusive = true end, "has a part of the pool")
  end)

  for _, case in ipairs {
    { "a node's size", function() g("/cluster0/rack0/node0").size = 2 end,
      "has vertices below: only a pool without them can be given another size" },
    { "a negative size", function() memory.size = -1 end, "a size is 0 or more, not %-1" },
    { "a size that is no number", function() memory.size = "x" end, "number expected" },
    { "exclusive that is no boolean", function() memory.exclusive = 1 end, "boolean expected" },
    { "a pool that a job has as a whole", function()
      assert(e:match "slot=1/core")
      g("/cluster0/rack0/node0/core0").size = 3
    end, "as a whole" },
  } do
    it("refuses " .. case[1], function() assert.error_matches(case[2], case[3]) end)
  end

  it("is saved with the changes of a database", function()
    local path = os.tmpname()
    os.remove(path)
    path = path .. ".db"
    assert(g:save(path))
    memory.size, memory.unit, memory.exclusive = 7, "TB", true
    assert(g:save(path, { changed = true }))
    local again <close> = assert(weir.load(path))
    os.remove(path)
    local v = again(memory.path)
    assert.same({ 7, "TB", true }, { v.size, v.unit, v.exclusive })
  end)

  it("stays sound over random changes between jobs", function()
    local rnd, pools = cases.random(7), g:find "type=memory or type=core"
    for _ = 1, 200 do
      local v, what = pools[rnd:between(1, #pools)], rnd:between(1, 5)
      if what == 1 then
        pcall(function() v.size = rnd:between(0, 20) end)
      elseif what == 2 then
        pcall(function() v.exclusive = rnd:between(0, 1) == 1 end)
      elseif what == 3 then
        e:match(("slot=1/[core=%d;memory=%d]"):format(rnd:between(1, 3), rnd:between(1, 12)), { duration = rnd:between(1, 50) })
      elseif what == 4 then
        e:match(("slot=1/memory=%d"):format(rnd:between(1, 16)), { mode = "reserve", duration = rnd:between(1, 50) })
      else
        local jobs = e:jobs()
        if #jobs > 0 then e:release(jobs[rnd:between(1, #jobs)].id) end
      end
      assert(g:check())
    end
  end)
end)

describe("a pool that is split or joined", function()
  it("[P9] below a node that a job has as a whole stays with the job, in both parts", function()
    local g <close> = weir.synthetic "cluster:1 node:2 core:4 memory:1(size=16,unit=GB)"
    local e = weir.engine { resources = g }
    local a = assert(e:match "slot=1/node")
    local memory = g:vertex "node0/memory0"
    local part = assert(g:split(memory, 4))
    assert.same({ 12, 0, 4, 0 }, { memory.size, memory.free, part.size, part.free })
    assert(g:check())
    assert(e:release(a.id))
    assert.same({ 12, 4 }, { memory.free, part.free })
    assert(g:check())
  end)

  local g, e, memory, node
  before_each(function()
    g = weir.synthetic "cluster:1 rack:2 node:2 core:4 memory:1(size=16,unit=GB)"
    e = weir.engine { resources = g }
    node = g "/cluster0/rack0/node0"
    memory = g "/cluster0/rack0/node0/memory0"
  end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  local function unlinked()
    local pool = assert(g:add(node, { type = "bb", size = 8 }))
    assert(g:add_edge(node, pool, { subsystem = "storage", type = "has" }))
    assert(g:unlink(pool, "containment"))
    return pool
  end

  -- {what, call, code, message}
  for _, case in ipairs {
    { "with vertices below", function() return g:split(node, 1) end, "invalid",
      "has vertices below: only a pool without them can be split" },
    { "of which nothing would be left", function() return g:split(memory, 16) end, "invalid", "16 of 16 units cannot be split off" },
    { "for no units", function() return g:split(memory, 0) end, "invalid", "0 of 16 units cannot be split off" },
    { "out of containment", function() return g:split(unlinked(), 1) end, "invalid", "taken out of containment" },
    { "that a job has as a whole", function()
      for _, pool in ipairs(g:find "type=memory") do pool.exclusive = true end
      for _ = 1, 4 do assert(e:match "slot=1/memory=3") end
      return g:split(memory, 1)
    end, "busy", "a job has /cluster0/rack0/node0/memory0 as a whole" },
    { "with a pool elsewhere", function() return g:join(memory, g:find("type=memory")[4]) end, "invalid", "" },
    { "with itself", function() return g:join(memory, memory) end, "invalid", "" },
    { "with one that has vertices below", function() return g:join(memory, node) end, "invalid", "can be joined" },
  } do
    it("is refused " .. case[1], function()
      local none, why, code = case[2]()
      assert.same({ nil, case[3] }, { none, code })
      assert.matches(case[4], why, 1, true)
      assert.equal(16, memory.size)
    end)
  end

  it("gives its state to the new pool", function()
    memory.state = "down"
    local part = assert(g:split(memory, 4))
    assert.same({ "down", 4, 12 }, { part.state, part.size, memory.size })
  end)

  it("at the root has the next number of its name", function()
    local root = assert(g:add(nil, { type = "pdu", size = 10, id = 3 }))
    local part = assert(g:split(root, 4))
    assert.same({ 4, "/pdu4" }, { part.id, part.path })
  end)

  it("[P9] keeps the units that jobs have while it is down", function()
    assert(e:match("slot=1/memory=10", { duration = 10 }))
    memory.state = "down"
    assert.error_matches(function() memory.size = 9 end, "jobs have 10 units")
    memory.size = 10
  end)
end)
