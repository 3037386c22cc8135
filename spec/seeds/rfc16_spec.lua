-- RFC 16, Resource Scheduling Methods, statement by statement: [RFC16:LINE] is the line of the text.
local etcds = require "spec.support.etcd"
local missing = require "spec.support.missing"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local state = require "spec.support.state"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:2 core:4 memory:1(size=16,unit=GB)"

local function must(x, ...) return assert(x, ...) end

local function engine(machine, opts)
  opts = opts or {}
  opts.resources = machine or MACHINE
  return must(weir.engine(opts))
end

local function paths(list)
  local out = {}
  for i, x in ipairs(list) do out[i] = (type(x) == "table" and x.vertex or x).path end
  table.sort(out)
  return table.concat(out, " ")
end

local function reload(g, name, opts)
  local path = shell.path(shell.directory(), name)
  must(g:save(path, opts))
  return must(weir.load(path)), path
end

describe("RFC 16", function()
  after_each(function()
    etcds.clean()
    service.clean()
    shell.clean()
  end)

  -- ---- goals ----

  it("[RFC16:30][A1] search, selection and allocation are one call", function()
    assert.equal("/cluster0/rack0/node0", paths(must(engine():match "slot=1/node"):vertices()))
  end)

  it("[RFC16:33][R9] a schedule can be recursive: an R starts an engine that allocates from it alone", function()
    local a = must(engine():match "slot=1/node")
    local child = engine(must(weir.parse(a:format "rv1")))
    must(child:match "slot=1/node")
    assert.is_nil((child:match "slot=1/node"))
  end)

  it("[RFC16:39][K1] each instance has a policy of its own", function()
    local g = must(weir.synthetic(MACHINE))
    assert.equal("/cluster0/rack1/node3", paths(must(engine(g, { policy = "high" }):match "slot=1/node"):vertices()))
    assert.equal("/cluster0/rack0/node0", paths(must(engine(g, { policy = "low" }):match "slot=1/node"):vertices()))
  end)

  it("[RFC16:49][L1] resources are loaded into a scheduler", function()
    local _, path = reload(must(weir.synthetic(MACHINE)), "m.json")
    must(engine(path):match "slot=4/node")
  end)

  it("[RFC16:50][A11] a record is made of what a job gets, [RFC16:51][A10] and removed", function()
    local e = engine()
    must(e:match("slot=1/node", { job = 7 }))
    assert.equal(1, #e:resources():find "job=7 and type=node")
    must(e:release(7))
    assert.equal(0, #e:resources():find "job=7")
  end)

  it("[RFC16:52][L8] changes of allocations are saved with the resources", function()
    local e = engine()
    local g = e:resources()
    local path = select(2, reload(g, "m.db"))
    must(e:match("slot=1/node", { job = 7 }))
    must(g:save(path, { changed = true }))
    assert.equal(1, #must(weir.load(path)):find "job=7 and type=node")
  end)

  it("[RFC16:53][A14] the status of any resource can be shown, that of a parent, too", function()
    local e = engine()
    must(e:match("slot=1/core", { job = 7 }))
    assert.same({ 7 }, e:resources() "/cluster0/rack0":jobs())
    assert.equal(7, e:resources() "/cluster0/rack0/node0/core0":uses()[1].job)
  end)

  it("[RFC16:53][A14] weir show names the jobs below a vertex", function()
    local e = engine()
    must(e:match("slot=1/core", { job = 7 }))
    must(e:match("slot=1/node", { job = 8 }))
    local path = select(2, reload(e:resources(), "m.db"))
    local shown = shell.weir { "show", "-r", path, "--full", "/cluster0/rack0" }.out
    assert.truthy(shown:find("jobs 7, 8, below", 1, true))
    shown = shell.weir { "show", "-r", path, "--full", "/cluster0/rack0/node1" }.out
    assert.truthy(shown:find("job 8, from 0 s, no end, has it as a whole", 1, true))
  end)

  it("[RFC16:55][A15] the goals apply to the service and the library alike", function()
    local w = state.new(MACHINE, {})
    local admin = w:client "administrator"
    must(w:ask(admin, "stage", { request = "slot=1/node" }))
    must(w:ask(admin, "commit", { stage = 1, job = 7 }))
    must(w:ask(admin, "allocate", { vertices = { "/cluster0/rack1/node3" } }))
    assert.equal(2, #must(w:ask(admin, "jobs")).jobs)
    must(w:ask(admin, "release", { job = 7 }))
    assert.equal(0, #must(w:ask(admin, "find", { expression = "job=7" })).vertices)
    w:close()
  end)

  -- ---- background ----

  it("[RFC16:64][G8] ancillary resources such as power are scheduled", function()
    local g = must(weir.synthetic "cluster:1 node:2 core:2")
    local pdu = must(g:add(nil, { type = "power", size = 10 }))
    for _, v in ipairs(g:find "type=node") do must(g:add_edge(pdu, v, { subsystem = "power", type = "supplies" })) end
    local e = engine(g)
    must(e:match "slot=1/[node=1/power=6]")
    assert.is_nil((e:match "slot=1/[node=1/power=6]"))
  end)

  it("[RFC16:82][A1] the record stands in the data of the selected resources", function()
    local e = engine()
    must(e:match("slot=1/memory=5", { job = 7 }))
    local use = e:resources() "/cluster0/rack0/node0/memory0":uses()[1]
    assert.same({ 7, 5, false }, { use.job, use.amount, use.exclusive })
  end)

  it("[RFC16:84][A16] when an allocation expires the record is removed, where the engine is told so", function()
    local e = engine(nil, { overrun = "expire" })
    must(e:match("slot=4/node", { job = 7, duration = 10 }))
    must(e:match("slot=4/node", { job = 8, duration = 10, mode = "reserve" }))
    local _, events = must(e:advance(10))
    assert.same({ { job = 7, event = "expire", time = 10 }, { job = 8, event = "start", time = 10 } }, events)
    assert.same({ { 8 }, 0 }, { e:resources():root():jobs(), #e:resources():find "job=7" })
  end)

  it("[RFC16:84][A16] or the reservation behind is held back until the job is released", function()
    local e = engine()
    must(e:match("slot=4/node", { job = 7, duration = 10 }))
    must(e:match("slot=4/node", { job = 8, duration = 10, mode = "reserve" }))
    must(e:advance(12))
    assert.same({ "allocated", "reserved" }, { e:job(7).state, e:job(8).state })
  end)

  -- ---- allocations and annotations ----

  it("[RFC16:96][A1] what is allocated is no candidate", function()
    local e = engine "node:1 core:2"
    must(e:match "slot=2/core")
    assert.equal("busy", select(3, e:match "slot=1/core"))
  end)

  it("[RFC16:104][A1] an allocation of a resource of size 1 is recorded by the id of the job", function()
    local e = engine()
    must(e:match("slot=1/core", { job = 7 }))
    assert.equal(1, #e:resources():find "type=core and job=7")
  end)

  it("[RFC16:108][A1] units of a pool go to several jobs", function()
    local e = engine()
    for job = 1, 3 do must(e:match("slot=1/memory=5", { job = job })) end
    local uses = e:resources() "/cluster0/rack0/node0/memory0":uses()
    assert.same({ 1, 5, 2, 5, 3, 5 }, { uses[1].job, uses[1].amount, uses[2].job, uses[2].amount, uses[3].job, uses[3].amount })
  end)

  it("[RFC16:134][A4] each parent is annotated with the job, [RFC16:185] up to the top", function()
    local e = engine()
    must(e:match("slot=1/core", { job = 7 }))
    for _, path in ipairs { "/cluster0/rack0/node0", "/cluster0/rack0", "/cluster0" } do
      assert.same({ 7 }, e:resources()(path):jobs())
    end
  end)

  it("[RFC16:142][A4] without an annotation a rack is a candidate for exclusive use", function()
    local e = engine()
    must(e:match "slot=1/core")
    assert.equal("/cluster0/rack1", paths(e:resources():find "type=rack and idle"))
    assert.equal("/cluster0/rack1", paths(must(e:match "slot=1/rack"):vertices()))
  end)

  -- ---- data and rules ----

  it("[RFC16:153][A1] no two jobs have a unit", function()
    local e = engine "node:1 memory:1(size=16)"
    for _ = 1, 3 do must(e:match "slot=1/memory=5") end
    assert.is_nil((e:match "slot=1/memory=2"))
    must(e:match "slot=1/memory=1")
    local memory = e:resources() "/node0/memory0"
    assert.is_nil((memory:allocate { job = 99, amount = 1 }))
    assert.is_nil((e:allocate { { vertex = memory, amount = 1 } }))
  end)

  it("[RFC16:160][A1] the units that a job has are recorded", function()
    local e = engine()
    must(e:match("slot=2/memory=3", { job = 7 }))
    assert.equal(6, e:resources() "/cluster0/rack0/node0/memory0":uses()[1].amount)
  end)

  it("[RFC16:163][A2] all units are an exclusive allocation", function()
    local e = engine()
    must(e:match("slot=1/memory=16", { job = 7 }))
    local use = e:resources() "/cluster0/rack0/node0/memory0":uses()[1]
    assert.same({ 16, true }, { use.amount, use.exclusive })
  end)

  it("[RFC16:167][A5] a pool can require exclusive use, and without it jobs share", function()
    local g = must(weir.recipe { type = "node", { type = "gpu", size = 4, exclusive = true }, { type = "memory", size = 4 } })
    local e = engine(g)
    assert.equal(4, must(e:match "slot=1/gpu=1"):vertices()[1].amount)
    assert.is_nil((e:match "slot=1/gpu=1"))
    must(e:match "slot=1/memory=1")
    must(e:match "slot=1/memory=1")
  end)

  it("[RFC16:172][A8] allocations are an array over time", function()
    local e = engine "node:1"
    for job = 1, 3 do must(e:match("slot=1/node", { job = job, mode = "reserve", duration = 10 })) end
    local times = {}
    for i, use in ipairs(e:resources() "/node0":uses()) do times[i] = { use.job, use.start, use["end"] } end
    assert.same({ { 1, 0, 10 }, { 2, 10, 20 }, { 3, 20, 30 } }, times)
  end)

  it("[RFC16:176][A8] without the future a pool of size 1 has one entry at most", function()
    local e = engine "node:1 core:1"
    for job = 1, 3 do
      must(e:match("slot=1/core", { job = job }))
      assert.equal(1, #e:resources() "/node0/core0":uses())
      assert.equal("busy", select(3, e:match("slot=1/core", { job = 9 })))
      must(e:release(job))
    end
    assert.equal(0, #e:resources() "/node0/core0":uses())
  end)

  it("[RFC16:178][A3] children of an exclusive allocation are implied, without records", function()
    local e = engine()
    must(e:match("slot=1/node", { job = 7 }))
    local core = e:resources() "/cluster0/rack0/node0/core0"
    assert.same({ 0, {} }, { core.free, core:uses() })
    assert.equal(4, #e:resources():find "job=7 and type=core")
  end)

  it("[RFC16:189][A4] an annotation has no units, follows the allocation, and goes with a document", function()
    local e = engine()
    must(e:match("slot=1/core", { job = 7 }))
    local rack = e:resources() "/cluster0/rack0"
    assert.same({ { 7 }, 1 }, { rack:shared(), rack.free })
    local again = must(weir.parse(e:resources():format "document"))
    assert.same({ 7 }, again("/cluster0/rack0"):shared())
    must(e:release(7))
    assert.same({}, rack:shared())
  end)

  it("[RFC16:169][A5] without a requirement a pool is allocated to several jobs, until one has all that is left", function()
    local e = engine()
    for job = 1, 3 do must(e:match("slot=1/memory=4", { job = job })) end
    local memory = e:resources() "/cluster0/rack0/node0/memory0"
    assert.same({ false, 4 }, { memory.exclusive, memory.free })
    assert.has_error(function() memory.exclusive = true end)
    must(e:match("slot=1/memory=4", { job = 4 }))
    assert.equal("busy", select(3, memory:allocate { job = 5, amount = 1 }))
  end)

  -- ---- load and save ----

  it("[RFC16:200][L1] loads a configuration file", function()
    local path = shell.path(shell.directory(), "m.lua", 'return { type = "node", count = 1, { type = "core", count = 4 } }')
    assert.equal(5, must(weir.load(path)):count())
  end)

  it("[RFC16:204][L2] loads by hwloc", function() assert.is_true(must(weir.resources "local"):count() > 1) end)

  local maybe = missing.it_with(etcds.available(), missing.program("etcd", "etcd-server"), it, pending)

  maybe("[RFC16:205][L3] loads from a key-value store, as a library and from the command line", function()
    local url = "etcd:" .. etcds.start().url .. "/machine"
    local g = must(weir.synthetic(MACHINE))
    must(g:save(url))
    assert.is_true(g:compare(must(weir.load(url))))
    assert.equal("cluster0 rack0 rack1", (shell.weir { "find", "-r", url, "type=cluster or type=rack" }.out:gsub("/[^\n]*/", ""):gsub(
      "[/\n]", " "):gsub("^ *(.-) *$", "%1")))
    assert.is_nil((weir.load(url .. "/nothing")))
  end)

  maybe("[RFC16:208][L5] saves to a key-value store: a machine, and the R of a child", function()
    local url = "etcd:" .. etcds.start().url .. "/children/1/R"
    local g = must(weir.synthetic(MACHINE))
    must(g:save(url, { format = "rv1" }))
    local child = engine(must(weir.load(url)))
    must(child:match "slot=4/node")
    assert.equal(16, must(weir.load(url)):aggregate().core.total)
  end)

  it("[RFC16:206][L4] loads from a database, [RFC16:208][L7] and saves to one", function()
    local g = must(weir.synthetic(MACHINE))
    assert.is_true(g:compare((reload(g, "m.db"))))
  end)

  it("[RFC16:208][L6] saves a configuration file that it loads again", function()
    local g = must(weir.synthetic(MACHINE))
    for _, name in ipairs { "m.json", "m.lua" } do assert.is_true(g:compare((reload(g, name)))) end
    g:root().state, g:root().data.notes = "degraded", { 1, { a = true } }
    assert.is_true(g:compare((reload(g, "m.lua"))))
    g:root().data.notes = { weir.null }
    local ok, why, code = g:save(shell.path(shell.directory(), "n.lua"))
    assert.same({ nil, "invalid" }, { ok, code })
    assert.matches("extended data", why)
    must(g:save(shell.path(shell.directory(), "n.lua"), { format = "recipe" }))
  end)

  it("[RFC16:209][L8] saves everything, or what changed since the last save", function()
    local g = must(weir.synthetic(MACHINE))
    local _, path = reload(g, "m.db")
    g:root().tags.x = "1"
    assert.equal(1, #g:changed())
    must(g:save(path, { changed = true }))
    assert.equal(0, #g:changed())
    assert.is_true(g:compare(must(weir.load(path))))
  end)

  it("[RFC16:217][L9] a destroyed graph is gone", function()
    local g = must(weir.synthetic(MACHINE))
    g:close()
    assert.has_error(function() g:count() end)
  end)

  -- ---- find, allocate, release, ask ----

  it("[RFC16:222][M12] finds all resources that match", function()
    assert.equal(16, #must(weir.synthetic(MACHINE)):find "type=core and path=/cluster0/*")
  end)

  it("[RFC16:229][A6] allocates one resource or a set of them, all or none", function()
    local e = engine()
    local g = e:resources()
    local set = { g "/cluster0/rack0/node0", g "/cluster0/rack1" }
    assert.equal("/cluster0/rack0/node0 /cluster0/rack1", paths(must(e:allocate(set, { job = 7 })):vertices()))
    local done, _, code, lost = e:allocate({ g "/cluster0/rack0/node1", g "/cluster0/rack1/node2" }, { job = 8 })
    assert.same({ nil, "busy", 7, "/cluster0/rack1" }, { done, code, lost[1].job, lost[1].at })
    assert.equal(4, g "/cluster0/rack0/node1":below "core")
    assert.is_true(g "/cluster0/rack0/node1":allocate { job = 8 })
  end)

  it("[RFC16:232][A8] a start in the future is given with an end", function()
    local e = engine()
    local node = e:resources() "/cluster0/rack0/node0"
    assert.has_error(function() e:allocate({ node }, { start = 50 }) end)
    local a = must(e:allocate({ node }, { start = 50, duration = 10 }))
    assert.same({ 50, 60, "reserved" }, { a.at, a.end_, a.state })
  end)

  -- Decided: a request without a duration says that the job has no end, now as later.
  it("[RFC16:232][A8] a request for the future without a duration has no end", function()
    local a = must(engine():match("slot=1/core", { at = 100, mode = "reserve" }))
    assert.same({ 100, math.huge }, { a.at, a.end_ })
  end)

  it("[RFC16:234][A9] an allocation grows and shrinks", function()
    local e = engine()
    must(e:match("slot=1/core", { job = 7 }))
    assert.equal(2, #must(e:grow(7, "slot=1/core")):vertices())
    assert.equal(1, #must(e:shrink(7, { e:resources() "/cluster0/rack0/node0/core0" })):vertices())
  end)

  it("[RFC16:236][A10] releases, and a second release is an error", function()
    local e = engine()
    must(e:match("slot=1/core", { job = 7 }))
    must(e:release(7))
    assert.equal("unknown", select(3, e:release(7)))
  end)

  it("[RFC16:240][A11] tells what a job has, and all jobs", function()
    local e = engine()
    must(e:match("slot=1/node", { job = 7 }))
    must(e:match("slot=1/core", { job = 8 }))
    assert.equal("/cluster0/rack0/node0", paths(e:job(7):vertices()))
    assert.equal(2, #e:jobs())
  end)

  it("[RFC16:243][A12] tells what no job has", function()
    local e = engine()
    must(e:match "slot=1/rack")
    assert.equal(8, #e:resources():find "type=core and free")
    assert.equal(8, must(e:resources():copy(e:resources():root())):aggregate().core.total)
  end)
end)
