-- Coarse views that follow their machine (RFC 4, granularity): in random histories a view has, below each kept vertex, what
-- the machine has there, and the machine's jobs.
local weir = require "weir"
local dice = require "spec.support.dice"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1
local MACHINE = "cluster:1 rack:2 node:2 core:4 memory:1(size=16,unit=GB)"

-- Units below a rack of the machine: those of vertices that are up, and of those the ones that nobody has.
local function below(rack, type)
  local size, free = 0, 0
  for v in rack:graph():walk { start = rack, type = type } do
    local up, held = v, false
    while up do
      if up.state ~= "up" and up.type ~= "rack" and up.type ~= "cluster" then held = true end
      up = up:parent()
    end
    local used = v.allocated
    size = size + (held and used or v.size)
    free = free + (held and 0 or v.size - used)
  end
  return size, free
end

local function check(g, view, told)
  for _, rack in ipairs(g:find "type=rack") do
    local coarse = assert(view:vertex(rack.path))
    assert.equal(rack.state, coarse.state, told)
    for pool in coarse:children() do
      local size, free = below(rack, pool.type)
      assert.same({ size, free }, { pool.size, pool.size - pool.allocated }, told .. " " .. pool.path)
    end
  end
  local ours, theirs = {}, {}
  for _, job in ipairs(weir.engine({ resources = g }):jobs()) do ours[#ours + 1] = ("%d %g %g"):format(job.id, job.at, job.end_) end
  for _, job in ipairs(weir.engine({ resources = view }):jobs()) do
    if job.id < 1 << 52 then theirs[#theirs + 1] = ("%d %g %g"):format(job.id, job.at, job.end_) end
  end
  table.sort(ours)
  table.sort(theirs)
  assert.same(ours, theirs, told)
  assert(view:check())
end

describe("a coarse view that follows [G10][RFC4a:85]", function()
  local g, e, view, ve
  before_each(function()
    g = weir.synthetic(MACHINE)
    e = weir.engine { resources = g }
    view = assert(g:coarsen { keep = { "rack" }, follow = true })
    ve = weir.engine { resources = view }
  end)
  after_each(function()
    view:close()
    g:close()
  end)

  local function free(path) return view(path).free end

  it("has what the machine has, in random histories", function()
    for seed = 1, math.ceil(15 * SCALE) do
      local roll, m = dice(seed), weir.synthetic(MACHINE)
      local engine = weir.engine { resources = m }
      local coarse = assert(m:coarsen { keep = { "rack" }, follow = true })
      local nodes, all = m:find "type=node", m:find "type=node or type=core or type=memory or type=rack"
      for step = 1, 25 do
        local what = roll(8)
        if what <= 3 then
          engine:match(({ "slot=1/node", "slot=1/core=3", "slot=1/[core=2;memory=5]", "slot=2/memory=3" })[roll(4)],
            { duration = 10 * roll(4) })
        elseif what <= 5 then
          local jobs = engine:jobs()
          if #jobs > 0 then engine:release(jobs[roll(#jobs)]) end
        elseif what == 6 then
          all[roll(#all)].state = roll(2) == 1 and "down" or "up"
        elseif what == 7 then
          local jobs = engine:jobs()
          local job = #jobs > 0 and jobs[roll(#jobs)]
          if job and job.state == "allocated" then engine:grow(job.id, "slot=1/memory=1") end
        else
          nodes[roll(#nodes)].state = "up"
        end
        local done, dropped = coarse:follow()
        assert(done, dropped)
        assert.same({}, dropped)
        check(m, coarse, ("seed %d step %d"):format(seed, step))
      end
      coarse:close()
      m:close()
    end
  end)

  it("is brought up to date by a match of an engine on it, and by follow", function()
    assert(e:match "slot=2/node")
    assert.equal(8, free "/cluster0/rack0/core")
    assert.is_nil((ve:match("rack=2/slot=1/core=8", { mode = "preview" })))
    assert.equal(0, free "/cluster0/rack0/core")
    assert(e:release(1))
    assert(view:follow())
    assert.equal(8, free "/cluster0/rack0/core")
  end)

  it("expands an allocation, and has the job of the machine then", function()
    assert(e:match "slot=1/core")
    local a = assert(ve:match "slot=1/core=3")
    local b = assert(view:expand(a, { job = 50 }))
    assert.equal(3, #b:vertices())
    assert.same({ 1, 50 }, { ve:jobs()[1].id, ve:jobs()[2].id })
    assert.equal(4, free "/cluster0/rack0/core")
    assert(e:release(50))
    assert(view:follow())
    assert.equal(7, free "/cluster0/rack0/core")
  end)

  it("drops a job that is not expanded where the machine has given its units to others, and tells", function()
    local a = assert(ve:match("slot=1/core=16", { job = 9 }))
    assert(e:match "slot=1/node")
    local done, dropped = view:follow()
    assert.same({ true, { 9 } }, { done, dropped })
    assert.is_nil((ve:job(9)))
    assert.equal("busy", select(3, view:expand(a)))
    assert.equal(4, free "/cluster0/rack0/core")
  end)

  it("drops a job that is not expanded where less is left, or where the pool changes that it has as a whole", function()
    assert(ve:match("rack=1/slot=1/core=7", { job = 9 }))
    g("/cluster0/rack0/node0/core0").state = "down"
    assert.same({}, select(2, view:follow()))
    g("/cluster0/rack0/node0/core1").state = "down"
    assert.same({ 9 }, select(2, view:follow()))
    assert.same({ 6, 6 }, { free "/cluster0/rack0/core", view("/cluster0/rack0/core").size })
    assert(ve:match("rack=1/slot=1/core=6", { job = 10 }))
    g("/cluster0/rack0/node0/core1").state = "up"
    assert.same({ 10 }, select(2, view:follow()))
    assert.equal(7, free "/cluster0/rack0/core")
  end)

  it("shows stages as jobs, and the clock", function()
    local stage = assert(e:match("slot=1/node", { stage = 60 }))
    assert(e:advance(5))
    assert(view:follow())
    assert.same({ 5, (1 << 52) + stage.stage }, { ve:now(), ve:jobs()[1].id })
    assert(e:drop(stage))
    assert(view:follow())
    assert.equal(0, #ve:jobs())
  end)

  it("has reservations at their times, and a job past its end", function()
    assert(e:match("slot=4/node", { duration = 10 }))
    assert(e:match("slot=2/node", { duration = 10, mode = "reserve" }))
    assert(view:follow())
    assert.same({ "allocated", "reserved" }, { ve:job(1).state, ve:job(2).state })
    assert(e:advance(15))
    assert(view:follow())
    assert.equal(0, free "/cluster0/rack1/core")
    assert(e:release(1))
    assert(e:advance(16))
    assert(view:follow())
    assert.same({ 0, 8 }, { free "/cluster0/rack0/core", free "/cluster0/rack1/core" })
  end)

  it("keeps the units that a reservation has of what is down", function()
    assert(e:match("slot=16/core", { duration = 10 }))
    assert(e:match("slot=16/core", { duration = 10, mode = "reserve" }))
    assert(e:release(1))
    g("/cluster0/rack0/node0/core0").state = "down"
    assert(view:follow())
    assert.same({ 8, "reserved" }, { view("/cluster0/rack0/core").size, ve:job(2).state })
  end)

  it("maps both ways", function()
    local _, map = g:coarsen { keep = { "rack" }, follow = true }
    assert.equal(8, #map(map(g "/cluster0/rack1/node2/core0")))
    assert.equal(g "/cluster0/rack1", map(map(g "/cluster0/rack1"))[1])
    assert.equal(g, map:graph())
  end)

  it("says so when the machine has other vertices", function()
    assert(g:add(g "/cluster0/rack0", { type = "node", id = 9 }))
    local done, why, code = view:follow()
    assert.same({ nil, "stale" }, { done, code })
    assert.matches("other vertices", why)
    assert.equal("stale", select(3, ve:match "slot=1/core"))
  end)

  for _, row in ipairs {
    { "another graph", function() return weir.synthetic("node:1"):follow() end, "no view that g:coarsen" },
    { "a plain view", function() return weir.synthetic("rack:1 node:1"):coarsen({ keep = { "rack" } }):follow() end, "no view" },
    { "a text", function() return weir.synthetic("rack:1 node:1"):coarsen { keep = { "rack" }, follow = "yes" } end, "a boolean expected" },
  } do
    it("is refused for " .. row[1], function()
      local ok, why = pcall(row[2])
      assert.is_false(ok)
      assert.matches(row[3], why)
    end)
  end

  it("is refused as a plain one is for a type that is not there", function()
    local made, why, code = g:coarsen { keep = { "nope" }, follow = true }
    assert.same({ nil, "unknown" }, { made, code })
    assert.matches("nope", why)
  end)
end)
