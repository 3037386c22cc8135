-- Explanations: readable examples of what a report says, its words, and weir explain.

local core = require "weir.core"
local weir = require "weir"

-- ---- examples -----------------------------------------------------------------------------------------------

local function engine_on(machine, policy)
  local graph = assert(weir.synthetic(machine))
  return assert(weir.engine { resources = graph, policy = policy or "low" }), graph
end

local function lasting(seconds, shape)
  local request = weir.json.decode(assert(weir.request(shape)):format "json")
  request.attributes = { system = { duration = seconds } }
  return request
end

local RACKS = "cluster:1 rack:2 node:4 core:8 gpu:2 memory:1(size=64,unit=GiB)"

-- {title, machine, jobs, request, {lines that the report must have}[, options][, policy=]}
local EXAMPLES = {
  { "that it fits, and where", RACKS, {}, "slot=2/node",
    { "fits now", "It gets /cluster0/rack0/node0 and /cluster0/rack0/node1." } },
  { "busy: need and have, and who is in the way", RACKS, { lasting(100, "slot=5/node") }, "slot=4/node",
    { "busy", "4 nodes are needed; the machine has 3 of 8 free.",
      "Earliest start: 100 s, once job 1 has ended, on /cluster0/rack0/node0, " } },
  { "the one job of several that is enough", RACKS,
    { lasting(10, "slot=1/core=1"), lasting(20, "slot=3/node"), lasting(30, "slot=4/node") }, "slot=4/node",
    { "It fits now without job 3.", "Earliest start: 20 s, once job 2 has ended" } },
  { "the reservation that the start waits for, and the jobs that are in the way now", "cluster:1 node:10", { lasting(100, "slot=6/node"),
      { lasting(100, "slot=8/node"), mode = "reserve" }, { lasting(100, "slot=5/node"), mode = "reserve" } }, lasting(200, "slot=9/node"),
    { "It fits now without job 1 and the reservation of job 2 (from 100 s on).", "Earliest start: 300 s, once job 3 has ended" } },
  { "the job and the state that are both in the way", "cluster:1 node:4", { lasting(60, "slot=1/node") }, "slot=4/node",
    { "blocked", "It fits once /cluster0/node3 (down) is up, and without job 1." }, { down = "node3" } },
  { "infeasible, at the level that is too small", RACKS, {}, "rack=1/slot=5/node",
    { "infeasible", "5 nodes are needed in one rack; the best, /cluster0/rack0, has 4 in all.", "too small" } },
  { "the sum of what slots need", "cluster:1 chassis:2 storage:1(size=16308,unit=GiB) node:16",
    {}, "chassis=1/slot=16/[node=1;storage=1501]",
    { "16 slots of 1,501 GiB of storage need 24,016 GiB in one chassis; the best, /cluster0/chassis0, has 16,308 in all." } },
  { "the sum of what is free", "cluster:1 chassis:2 storage:1(size=16308,unit=GiB) node:16",
    { "chassis=2/slot=1/storage=10000" }, "chassis=1/slot=4/storage=2000",
    { "busy", "4 slots of 2,000 GiB of storage need 8,000 GiB in one chassis; the best, /cluster0/chassis0, has 6,308 of 16,308 free." } },
  { "a slot that no node can hold", RACKS, {}, "slot=2/core=9",
    { "9 cores are needed in one node; the best, /cluster0/rack0/node0, has 8" } },
  { "that something is down", RACKS, {}, "slot=4/node",
    { "Assumed: /cluster0/rack0 is down and /cluster0/rack1/node5 is down.", "blocked",
      "It fits once /cluster0/rack1/node5 (down) is up." },
    { down = { "/cluster0/rack0", "/cluster0/rack1/node5" } } },
  { "what a policy's filter takes away", RACKS, {}, "slot=5/node",
    { "infeasible: never under the policy picky", "It fits under a policy other than picky (its prune takes the rest away).",
      "4 left out by the policy" },
    policy = { name = "picky", prune = function(v) return v.type ~= "rack" or v.id == 0 end } },
  { "a constraint that admits too little", RACKS, {}, { resources = { { type = "slot", count = 3, label = "s", with = {
      { type = "node", count = 1 } } } }, attributes = { system = { constraints = { hostlist = { "node[1-2]" } } } } },
    { "infeasible", "3 nodes are needed; the machine has 2 within the constraint.",
      "It fits without the constraint host=node[1-2].", "6 outside the constraint" } },
  { "why not at a vertex", RACKS, { lasting(7, "slot=6/node") }, "slot=1/node/gpu=1",
    { "1 node is needed; /cluster0/rack0/node1 has 0 of 1 free.", "Earliest start: 7 s, once job 1 has ended" },
    { vertex = "/cluster0/rack0/node1" } },
  { "what is missing at a vertex", RACKS, {}, "slot=1/node/gpu=4",
    { "4 gpus are needed in one node; the best, /cluster0/rack1/node4, has 2 in all.",
      "Nothing that could change would make room for it there." },
    { vertex = "/cluster0/rack1/node4/core3" } },
  { "room below a vertex of another type", RACKS, {}, "slot=5/node", { "5 nodes are needed; /cluster0/rack1 has 4 in all." },
    { vertex = "/cluster0/rack1" } },
  { "a type that is not there", RACKS, {}, "slot=1/node/tpu=1",
    { "1 tpu is needed; there is no tpu here.", "The types here are cluster, rack, node, core, gpu and memory." } },
  { "a type that is misspelt", RACKS, {}, "slot=1/nod", { 'there is no nod here (did you mean "node"?).' } },
  { "how many of those asked for, where there are none", RACKS, { lasting(10, "slot=8/node") }, "slot=3/node/core=2",
    { "3 nodes are needed; the machine has 0 of 8 free." } },
  { "one answer, where a reservation waits in between", "cluster:1 node:4", { lasting(500, "slot=2/node"), lasting(600, "slot=2/node"),
    { lasting(600, "slot=3/node"), mode = "reserve" } }, "slot=3/node", { "3 nodes are needed; the machine has 0 of 4 free.",
    "Earliest start: 1,200 s" } },
  { "a property that nobody has", RACKS, {}, { resources = { { type = "slot", count = 1, label = "s", with = {
      { type = "node", count = 1 } } } }, attributes = { system = { constraints = { properties = { "bigmen" } } } } },
    { 'No vertex has the property "bigmen"; there are no properties here.' } },
  { "what is free now but not long enough", "cluster:1 node:32", { lasting(10, "slot=29/node"),
    { lasting(50, "slot=32/node"), mode = "reserve" } }, lasting(20, "slot=6/node"),
    { "6 nodes are needed; the machine has 0 of 32 free for that long, and 3 free now but reserved too soon." } },
  { "amounts in the units of the pools", "cluster:1 storage:1(size=1024,unit=GiB)", {},
    { resources = { { type = "slot", count = 2, label = "s", with = { { type = "storage", count = 1, unit = "TiB" } } } } },
    { "infeasible", "2 slots of 1,024 GiB of storage need 2,048 GiB; the machine has 1,024 in all." } },
  { "how often something larger fits", "cluster:1[chassis:8[node:16[core:4] storage:1(size=16308,unit=GiB)]]",
    { "chassis=1/slot=1/[node=2;storage=10000]" }, "chassis=8/slot=16/[node=1;storage=501]",
    { "Needed: 8 chassis with 16 slots of 501 GiB of storage each. At most 7 of 8 chassis fit into what is free." } },
  { "one pool that holds what is needed, whatever the size of the pool", "cluster:1 pdu:2(size=100,unit=kW) node:2 core:4", {},
    "pdu=1/[node=1/core=4;core=4;core=1]",
    { "Needed: 1 pdu with 4 cores, 4 cores and 1 core. At most 3 of 4 cores fit into all there is in one pdu; the best is" } },
  { "what is needed in each of the pools that units are taken from", "cluster:1[pdu:2(size=100,unit=kW)[fan:1] node:3]", {}, "pdu=3/node=1",
    { "Needed: 3 kW of pdu with 1 node in each pdu. Not one of 3 kW of pdu fits into all there is." } },
  { "what is nowhere together", "cluster:1[node:1[core:2] node:1[gpu:1]]", {}, "slot=1/[core=1;gpu=1]",
    { "No single node has 1 core and 1 gpu together." } },
  { "what is reserved before it would end", "cluster:1 node:2",
    { lasting(10, "slot=1/node"), { lasting(50, "slot=2/node"), mode = "reserve" } }, lasting(20, "slot=1/node"),
    { "busy", "1 reserved too soon", "1 in use", "Earliest start: 60 s" } },
}

local function book(engine, jobs)
  for _, job in ipairs(jobs) do
    local request = type(job) == "table" and job[1] or job
    assert(engine:match(request, { mode = type(job) == "table" and job.mode or nil }))
  end
end

describe("e:explain says", function()
  for _, ex in ipairs(EXAMPLES) do
    it(ex[1], function()
      local engine, graph = engine_on(ex[2], ex.policy)
      book(engine, ex[3])
      local text = weir.explain.text(assert(engine:explain(ex[4], ex[6])))
      for _, line in ipairs(ex[5]) do assert.is_truthy(text:find(line, 1, true), line .. "\n\nin:\n" .. text) end
      assert.is_true(graph:check())
    end)
  end
end)

it("the earliest start is a date where the clock is that of the wall", function()
  local engine = engine_on(RACKS)
  engine:advance(1700000000)
  book(engine, { lasting(3600, "slot=8/node") })
  local text = weir.explain.text(assert(engine:explain "slot=1/node"))
  assert.matches("Earliest start: " .. os.date("%Y-%m-%d %H:%M:%S", 1700003600) .. ", once job 1 has ended", text, 1, true)
end)

describe("a request taken strictly", function()
  -- {option, machine, request, verdict with it, verdict without}
  for _, row in ipairs {
    { "strict_levels", RACKS, "rack/core=1", "infeasible", "fits" },
    { "strict_slots", "cluster:1 node:1 socket:2 core:2", "slot=1/core=3", "infeasible", "fits" },
    { "strict_pools", "cluster:1 node:1 memory:1(size=4)", "slot=2/memory=1", "infeasible", "fits" },
  } do
    it(row[1] .. " is explained as it is matched", function()
      local engine = engine_on(row[2])
      local options = { [row[1]] = true }
      local report, plain = assert(engine:explain(row[3], options)), assert(engine:explain(row[3]))
      assert.same({ row[4], row[5] }, { report.verdict, plain.verdict })
      assert.equal(row[4] == "fits", engine:match(row[3], { mode = "preview", [row[1]] = true }) ~= nil)
    end)
  end

  it("edges are followed, and no sum says that something is too small", function()
    local graph = weir.new()
    local root = graph:add(nil, { type = "cluster", id = 0 })
    local store, disk = graph:add(root, { type = "store", id = 0 }), graph:add(root, { type = "disk", id = 0 })
    graph:add_edge(store, disk, { subsystem = "links" })
    local engine = weir.engine { resources = graph, policy = "low" }
    assert.equal("fits", engine:explain("store/disk=1", { follow = "links" }).verdict)
    assert(engine:match("store/disk=1", { follow = "links" }))
    local report = assert(engine:explain("store/disk=1", { follow = "links" }))
    assert.equal("busy", report.verdict)
    for _, level in ipairs(report.levels) do
      for _, cause in ipairs(level.causes) do assert.not_equal("small", cause.by) end
    end
  end)
end)

describe("the verdict", function()
  for _, case in ipairs { { "prune", function() return false end, "infeasible" }, { "evaluate", function() return nil end, "blocked" } } do
    it(("is %s where the policy's %s takes all away, as feasible has it"):format(case[3], case[1]), function()
      local engine = engine_on "cluster:1 node:2"
      engine:use { name = "picky", [case[1]] = case[2] }
      local report = assert(engine:explain "slot=1/node")
      assert.same({ case[3], "policy" }, { report.verdict, report.ways[1][1].kind })
      assert.equal(case[3] == "infeasible", select(3, engine:match("slot=1/node", { mode = "feasible" })) == "infeasible")
    end)
  end
end)

describe("alternatives", function()
  local function request(count)
    return { attributes = { system = { duration = 5 } }, resources = {
      { type = "or_slot", label = "a", count = 1, with = { { type = "core", count = 3 } } },
      { type = "or_slot", label = "b", count = count, with = { { type = "core", count = 1 } } },
    } }
  end

  it("are explained, but for what there is too little of, and that is said", function()
    local engine = engine_on "cluster:1 node:1 core:4"
    assert.equal("fits", engine:explain(request(2)).verdict)
    local never = assert(engine:explain(request(5)))
    assert.same({ "infeasible", true }, { never.verdict, never.alternatives })
    assert.is_nil(never.shortage)
    assert.truthy(weir.explain.text(never):find("are not listed for slots that are alternatives", 1, true))
    assert(engine:match(request(4)))
    local now = assert(engine:explain(request(2)))
    assert.same({ "busy", 5, 1 }, { now.verdict, now.start, now.ways[1][1].job })
  end)
end)

describe("what is assumed", function()
  local engine, graph

  before_each(function()
    engine, graph = engine_on(RACKS)
    book(engine, { lasting(100, "slot=5/node") })
  end)

  -- {options, verdict}
  for _, row in ipairs {
    { {}, "busy" }, { { release = 1 }, "fits" }, { { release = { 1 }, down = "/cluster0/rack0" }, "fits" },
    { { down = { "/cluster0/rack1" } }, "busy" }, { { down = "/cluster0" }, "blocked" },
    { { down = "/cluster0/rack1/node5", up = "/cluster0/rack1/node5" }, "busy" },
    { { down = "node5" }, "busy" }, { { release = 1, down = "node[0-5]" }, "blocked" }, { { down = "type=rack" }, "blocked" },
    { { down = { "rack1/node5" }, up = "node5" }, "busy" },
    { { policy = { exclusive = "rack" } }, "busy" }, { { at = 99 }, "busy" }, { { at = 100 }, "fits" },
    { { constraint = { hostlist = { "node[5-6]" } } }, "infeasible" },
  } do
    it(("counts: %s"):format(weir.json.encode(row[1], { sort = true })), function()
      local report = assert(engine:explain("slot=4/node", row[1]))
      assert.equal(row[2], report.verdict)
    end)
  end

  it("of several resources, a question about a vertex is about one, and says so", function()
    local report = assert(engine:explain("slot=3/node=2", { vertex = "node5" }))
    assert.same({ type = "node", count = 6 }, report.one_of)
    assert.matches("one node of 6 fits there\n.*the job wants 6 nodes", weir.explain.text(report))
    assert.is_nil(assert(engine:explain("slot=1/node", { vertex = "node5" })).one_of)
  end)

  it("touches nothing", function()
    local before = graph:format "csv"
    assert(engine:explain("slot=4/node", { release = 1, down = "/cluster0/rack1", policy = "high" }))
    assert(engine:explain(lasting(10, "slot=4/node")))
    assert.equal(before, graph:format "csv")
    assert.equal(1, #engine:jobs())
    assert.equal("low", (engine:policy()))
    assert.is_true(graph:check())
  end)

  -- {options, code}
  for _, row in ipairs {
    { { release = 9 }, "unknown" }, { { down = "/cluster0/rack9" }, "unknown" }, { { vertex = "/nowhere" }, "unknown" },
    { { down = "node99" }, "unknown" }, { { down = "type=shelf" }, "unknown" }, { { vertex = "core0" }, "invalid" },
    { { without = "property=a" }, "invalid" }, { { without = "colour" }, "invalid" }, { { policy = "nosuch" }, "unknown" },
    { { constraint = { colour = { "red" } } }, "invalid" },
  } do
    it(("is refused: %s"):format(weir.json.encode(row[1], { sort = true })), function()
      local report, why, code = engine:explain("slot=4/node", row[1])
      assert.is_nil(report)
      assert.equal(row[2], code)
      assert.is_truthy(#why > 5)
    end)
  end

  it("has no other options", function()
    assert.has_error(function() engine:explain("slot=1/node", { relase = 1 }) end,
      "e:explain: there is no option 'relase' here (did you mean \"release\"?)")
  end)

  it("takes parts of a constraint away", function()
    local request = { resources = { { type = "slot", count = 1, label = "s", with = { { type = "node", count = 1 } } } },
      attributes = { system = { constraints = { ["and"] = { { properties = { "x", "^node0" } }, { ranks = { "7" } } } } } } }
    assert.equal("infeasible", engine:explain(request).verdict)
    assert.equal("infeasible", engine:explain(request, { without = "ranks=7" }).verdict)
    assert.equal("fits", engine:explain(request, { without = { "property=x", "ranks" } }).verdict)
    assert.equal("fits", engine:explain(request, { without = "constraint" }).verdict)
  end)

  it("is a policy that rejects the job", function()
    local report = engine:explain("slot=4/node", { policy = { admit = function() return false, "not on Sundays" end } })
    assert.equal("rejected", report.verdict)
    assert.is_truthy(weir.explain.text(report):find "not on Sundays")
  end)
end)

-- ---- what explanations are made of ---------------------------------------------------------------------------

describe("a match", function()
  local engine, graph
  local odd = { name = "odd", admit = function() return false, "never" end,
    prune = function(v) return v.type ~= "node" or v.id % 2 == 1 end,
    evaluate = function(v) return (v.type ~= "node" or v.id < 4) and 1 or nil end, exclusive = "socket" }

  before_each(function() engine, graph = engine_on(RACKS, odd) end)

  -- {request, parts left out, the vertices taken; nil: none}
  for _, row in ipairs {
    { "slot=1/node", {} }, { "slot=2/node", { "admit" }, "/cluster0/rack0/node1 /cluster0/rack0/node3" }, { "slot=3/node", { "admit" } },
    { "slot=3/node", { "admit", "prune" }, "/cluster0/rack0/node0 /cluster0/rack0/node1 /cluster0/rack0/node2" },
    { "slot=4/node", { "admit", "evaluate" }, "/cluster0/rack0/node1 /cluster0/rack0/node3 /cluster0/rack1/node5 /cluster0/rack1/node7" },
  } do
    it(("of %s leaves parts of a policy out: %s"):format(row[1], table.concat(row[2], ", ")), function()
      assert.same({ "admit", "prune", "evaluate", "exclusive" }, select(2, engine:policy()).parts)
      local a = engine:match(row[1], { mode = "preview", without = row[2] })
      local paths = {}
      for _, pick in ipairs(a and a:vertices() or {}) do
        if pick.exclusive then paths[#paths + 1] = pick.vertex.path end
      end
      assert.equal(row[3] or "", table.concat(paths, " "))
    end)
  end

  it("lies at, above or below one vertex", function()
    local rack = graph "/cluster0/rack1"
    local options = { mode = "preview", without = { "admit", "evaluate" }, within = rack }
    for _, pick in ipairs(assert(engine:match("slot=2/node", options)):vertices()) do assert.is_true(pick.vertex:within(rack)) end
    assert.is_nil((engine:match("slot=3/node", options)))
    options.within = graph "/cluster0/rack1/node5/core3"
    local picks = assert(engine:match("slot=1/core=1", options)):vertices()
    assert.same({ 1, options.within }, { #picks, picks[1].vertex })
    assert.is_nil((engine:match("slot=1/core=2", options)))
    assert.is_nil((engine:match("slot=1/gpu=1", options)))
  end)

  it("can be without whole types", function()
    local plain = engine_on(RACKS)
    assert(plain:match "slot=1/core=1")
    local whole = assert(weir.engine { resources = plain:resources(), policy = { exclusive = "node" } })
    assert.is_nil((whole:match("slot=8/node/core=1", { mode = "preview" })))
    assert.equal(56, assert(whole:levels "slot=8/core=1")[1].left)
    assert.equal(63, assert(whole:levels("slot=8/core=1", { without = { "exclusive" } }))[1].left)
    assert.is_truthy(whole:match("slot=63/core=1", { mode = "preview", without = { "exclusive" } }))
  end)

  it("is brief on demand", function()
    local options = { mode = "preview", brief = true, without = { "admit" } }
    assert.is_true(engine:match("slot=2/node", options))
    assert.is_nil((engine:match("slot=3/node", options)))
    options.mode = "now"
    assert.is_true(engine:match("slot=2/node", options))
    assert.equal(1, #engine:jobs())
  end)

  it("prefers vertices with few obstacles", function()
    local plain = engine_on(RACKS)
    local machine = plain:resources()
    book(plain, { "slot=3/node", "slot=1/core=5", "slot=1/core=5" }) -- node0 to node2, node3, node4
    machine "/cluster0/rack1/node4".state = "down"
    machine "/cluster0/rack1/node5".state = "degraded"
    local obstacles, not_up = core.obstacles(machine)
    assert.same({ machine "/cluster0/rack1/node4" }, not_up)
    not_up[1].state = "up"
    for id = 1, 3 do assert(plain:release(id)) end
    local taken = {}
    for i, n in ipairs { 3, 7, 8 } do
      taken[i] = {}
      for _, pick in ipairs(assert(plain:match(("slot=%d/node"):format(n), { mode = "preview", fewest = obstacles })):vertices()) do
        table.insert(taken[i], pick.vertex.id)
      end
      table.sort(taken[i])
    end
    assert.same({ { 5, 6, 7 }, { 0, 1, 2, 3, 5, 6, 7 }, { 0, 1, 2, 3, 4, 5, 6, 7 } }, taken)
    local other <close> = assert(machine:dup())
    assert.has_error(function() weir.engine { resources = other }:match("slot=1/node", { fewest = obstacles }) end)
  end)

  it("can be without admit; levels too, which count what the policy leaves out", function()
    assert.same({ nil, "rejected" }, { (engine:levels "slot=1/node"), select(3, engine:levels "slot=1/node") })
    local levels = assert(engine:levels("slot=1/node", { without = { "admit" } }))
    assert.same({ { type = "node", unit = "", resource = 1, need = 1, visited = 8, left = 4,
      causes = { { by = "policy", count = 4 } } } }, levels)
    levels = assert(engine:levels("slot=1/node", { without = { "admit", "prune" }, within = graph "/cluster0/rack1" }))
    assert.same({ 4, 4 }, { levels[1].visited, levels[1].left })
  end)

  it("finds the vertices of a duplicate, and those of which it is one", function()
    local copy <close> = assert(graph:dup())
    local v = graph "/cluster0/rack1/node5"
    assert.equal(copy "/cluster0/rack1/node5", copy:twin(v))
    assert.equal(v, graph:twin(copy:twin(v)))
    local added = assert(copy:add(copy:root(), { type = "rack", id = 9 }))
    assert.is_nil((graph:twin(added)))
  end)
end)

describe("amounts", function()
  local function storage(count) return { resources = { { type = "slot", count = 1, label = "s", with = {
    { type = "storage", count = count, unit = "PB" } } } } } end

  -- {PB, need, unit}: in the unit of the pools, where the number is small enough
  for _, row in ipairs { { 2, 2000000, "GB" }, { 9007199254740992, 9007199254740992, "PB" } } do
    it(("of %d PB are explained in %s"):format(row[1], row[3]), function()
      local engine = engine_on "cluster:1 storage:1(size=16,unit=GB)"
      local report = assert(engine:explain(storage(row[1])))
      assert.equal("infeasible", report.verdict)
      assert.same({ row[2], row[3] }, { report.shortage.need, report.shortage.unit })
    end)
  end
end)

describe("a large constraint", function()
  local function request(n, member, outer)
    local list = weir.array {}
    for i = 1, n do list[i] = member(i) end
    return { resources = { { type = "slot", count = 1, label = "s", with = { { type = "node", count = 1 } } } },
      attributes = { system = { duration = 9, constraints = { [outer] = list } } } }
  end

  for what, row in pairs {
    ["of properties"] = { function(i) return "p" .. i end, "properties" },
    ["of conjuncts"] = { function(i) return { properties = { "p" .. i } } end, "and" },
    ["of alternatives"] = { function(i) return { ["or"] = { { hostlist = { "h" .. i } } } } end, "and" },
  } do
    it(what .. " costs matches, and the explanation says when it ended early", function()
      local engine = engine_on "cluster:1 node:4 core:2"
      local report = assert(engine:explain(request(3, table.unpack(row))))
      assert.same({ 1, 3 }, { #report.ways, #report.ways[1] })
      assert.is_nil(report.cut or report.ways[1].cut)
      assert.is_truthy(report.shortage)
      report = assert(engine:explain(request(20000, table.unpack(row))))
      assert.same({ true, true, 1 }, { report.cut, report.ways[1].cut, #report.ways })
      assert.is_true(#report.ways[1] > 0 and report.tries < 2500)
    end)
  end
end)

-- ---- words --------------------------------------------------------------------------------------------------

describe("words", function()
  local text = require "weir.explain.text"

  for _, row in ipairs {
    { 1, "node", nil, "1 node" }, { 16, "node", nil, "16 nodes" }, { 2, "switch", nil, "2 switches" },
    { 2, "chassis", nil, "2 chassis" }, { 24016, "storage", "GiB", "24,016 GiB of storage" },
    { 3, "memory", nil, "3 units of memory" }, { 1, "memory", "", "1 unit of memory" }, { 1234567, "core", "", "1,234,567 cores" },
    { 0, "battery", nil, "0 batteries" },
  } do
    it(("for %d %s: %s"):format(row[1], row[2], row[4]), function() assert.equal(row[4], text.amount(row[1], row[2], row[3])) end)
  end

  for shape, words in pairs {
    ["slot=4/node"] = "4 nodes", ["rack=2/slot=16/node"] = "2 racks with 16 nodes each",
    ["slot=3/[core=2;gpu=1]"] = "3 slots of 2 cores and 1 gpu", ["slot=1/core=9"] = "9 cores",
    ["slot=2/node/core=8"] = "2 nodes with 8 cores each",
  } do
    it(("for %s"):format(shape), function()
      assert.equal(words, text.describe(weir.json.decode(weir.request(shape):format "json").resources))
    end)
  end

  it("take a screenful, and lines as wide as there is room", function()
    local engine = engine_on "cluster:1 node:300 core:2"
    for _ = 1, 300 do assert(engine:match "slot=1/node") end
    local lines = 0
    for line in weir.explain.text(assert(engine:explain "slot=200/node/core=1"), 60):gmatch "([^\n]*)\n" do
      lines = lines + 1
      assert.is_true(#line <= 60, line)
    end
    assert.is_true(lines <= 24)
  end)
end)

-- ---- the command --------------------------------------------------------------------------------------------

describe("weir explain", function()
  local bin = os.getenv "WEIR_BIN" or "build/weir"

  local function run(arguments)
    local pipe = assert(io.popen(("'%s' explain %s 2>&1"):format(bin, arguments)))
    local text = pipe:read "a"
    return text, select(3, pipe:close())
  end

  -- {arguments, exit status, a part of the output}
  for _, row in ipairs {
    { "-r 'rack:2 node:4' slot=2/node", 0, "fits now" }, { "-r 'rack:2 node:4' -j slot=5/node slot=4/node", 1, "now without job 1" },
    { "-r 'rack:2 node:4' -j slot=5/node --release 1 slot=4/node", 0, "Assumed: job 1 has ended." },
    { "-r 'cluster:1 rack:2 node:4' --at /cluster0/rack0/node1 slot=4/node", 0, "fits there" },
    { "-r 'rack:2 node:4' -q slot=9/node", 1, "" }, { "-r 'rack:2 node:4' --json slot=9/node", 1, '"verdict":"infeasible"' },
    { "-r 'rack:2 node:4' --at /nowhere slot=4/node", 2, "nowhere" }, { "-r 'rack:2 node:4'", 2, "JOB is missing" },
    { "-r 'rack:2 node:4' a b", 2, "too many" }, { "-r 'rack:2 node:4' --release x slot=1/node", 2, "whole number" },
    { "-r 'rack:2 node:4' --constraint '{' slot=1/node", 2, "--constraint" }, { "--help", 0, "weir explain -r cluster.db" },
    { "-r 'rack:2 node:4' --without property=a slot=1/node", 2, "no constraint" },
    { "-r 'rack:2 node:4' -p nosuch slot=1/node", 2, "nosuch" },
  } do
    it(row[1], function()
      local text, status = run(row[1])
      assert.equal(row[2], status, text)
      assert.is_truthy(text:find(row[3], 1, true), text)
    end)
  end
end)

describe("[A6] stages in explanations", function()
  local g, e
  before_each(function()
    g = weir.synthetic "cluster:1 rack:2 node:2 core:2"
    e = weir.engine { resources = g }
  end)
  after_each(function() g:close() end)

  it("are in the way until they expire", function()
    assert(e:stage("slot=3/node", { lease = 60 }))
    local report = assert(e:explain "slot=2/node")
    assert.same({ "busy", 60 }, { report.verdict, report.start })
    assert.same({ 1, 60 }, { report.after[1].stage, report.after[1]["end"] })
    assert.is_nil(report.after[1].job)
    assert.matches("once stage 1 is dropped or has expired", weir.explain.text(report), 1, true)
    assert.equal(1, #e:stages())
    assert.equal(0, #e:jobs())
  end)

  it("above what is asked for", function()
    assert(e:stage("slot=2/rack", { lease = 60 }))
    assert.equal(1, assert(e:explain "slot=1/core").after[1].stage)
  end)

  it("that lock nothing are no obstacle", function()
    assert(e:stage("slot=4/node", { lease = 60, lock = false }))
    assert.is_true(assert(e:explain "slot=4/node").fits)
  end)
end)
