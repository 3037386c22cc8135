-- Jobs with storage of their chassis on a machine of El Capitan's size: 11,136 nodes of 96 cores and 4 gpus, 36 ssds beside the 16
-- nodes of each of 696 chassis, the nodes of some chassis with the property badrabbit. The jobspecs say version 1, as plugins of Flux
-- leave it.
local weir = require "weir"
local flux = require "spec.support.flux"
local query = require "spec.support.query"

local CHASSIS = os.getenv("WEIR_SPEC_SCALE") and 64 or 696 -- smaller under slow sanitizers
local SSD = 453                                            -- GiB of an ssd

local function machine(chassis)
  local g = weir.synthetic(("cluster:1[chassis:%d[node:16[core:96 gpu:4] ssd:36(size=%d,unit=GiB)]]"):format(chassis, SSD))
  for c in g:walk { type = "chassis" } do
    for v in c:children() do
      if v.type == "node" and c.id % 16 == 0 then v.properties.badrabbit = "" end
    end
  end
  return g
end

local function nodes(n)
  local slot = { type = "slot", count = 1, label = "task", with = { { type = "core", count = 1 } } }
  return { type = "node", count = n, exclusive = true, with = { slot } }
end

local function ssds(amount) return { type = "ssd", count = amount, exclusive = true } end

local function jobspec(resources, constraint)
  return { version = 1, resources = resources, tasks = { { command = { "app" }, slot = "task", count = { per_slot = 1 } } },
    attributes = { system = { duration = 3600, constraints = constraint } } }
end

local function by_chassis(chassis, each, amount, constraint)
  return jobspec({ { type = "chassis", count = chassis, with = { nodes(each), ssds(amount) } } }, constraint)
end

local GOOD = { ["not"] = { { properties = { "badrabbit" } } } }

-- The whole nodes and ssds of an allocation by chassis: "chassis1: 8 nodes, 7 ssds", ...
local function shares(a)
  local list, of = {}, {}
  for _, pick in ipairs(a:vertices()) do
    local where = pick.vertex:ancestor "chassis"
    if not of[where] then
      of[where] = { node = 0, ssd = 0 }
      list[#list + 1] = where
    end
    if of[where][pick.vertex.type] then of[where][pick.vertex.type] = of[where][pick.vertex.type] + 1 end
  end
  for i, where in ipairs(list) do list[i] = ("%s: %d nodes, %d ssds"):format(where.name, of[where].node, of[where].ssd) end
  return list
end

describe("jobs with storage of their chassis", function()
  local g, e
  setup(function()
    g = machine(CHASSIS)
    e = weir.engine { resources = g, policy = "low" }
  end)
  teardown(function() g:close() end)
  after_each(function()
    for _, a in ipairs(e:jobs()) do e:release(a.id) end
  end)

  it("get nodes and whole ssds of chassis that are not bad", function()
    local a = assert(e:match(by_chassis(4, 8, 2752, GOOD)))
    assert.same({ "chassis1: 8 nodes, 7 ssds", "chassis2: 8 nodes, 7 ssds", "chassis3: 8 nodes, 7 ssds", "chassis4: 8 nodes, 7 ssds" },
      shares(a))
    assert.is_true(e:stats().visited <= 200, e:stats().visited .. " visits")
  end)

  it("get a slot of nodes with slots in them, and ssds beside these", function()
    local a = assert(e:match(jobspec { { type = "slot", count = 3, label = "default", with = { nodes(1), ssds(1501) } } }))
    assert.same({ "chassis0: 3 nodes, 10 ssds" }, shares(a))
  end)

  it("get resources beside each other at the top", function()
    local a = assert(e:match(jobspec { nodes(2), ssds(453) }))
    assert.same({ "chassis0: 2 nodes, 1 ssds" }, shares(a))
  end)

  for _, case in ipairs {
    { "more storage than a chassis has", function() return by_chassis(4, 16, 24016) end, 10,
      "24,016 GiB of ssd are needed in one chassis; the best, /cluster0/chassis0, has 16,308 in all." },
    { "more nodes than a chassis has", function() return by_chassis(1, 17, SSD) end, 10,
      "17 nodes are needed in one chassis; the best, /cluster0/chassis0, has 16 in all." },
  } do
    it(case[1] .. " is refused at once, with the arithmetic", function()
      local a, _, code = e:match(case[2]())
      assert.same({ nil, "infeasible" }, { a, code })
      assert.is_true(e:stats().visited <= case[3], e:stats().visited .. " visits")
      local text = weir.explain.text(assert(e:explain(case[2]())))
      assert.truthy(text:gsub("\n", " "):find(case[4], 1, true), text)
    end)
  end

  it("tells who has the storage of the chassis", function()
    for _ = 1, CHASSIS do assert(e:match(by_chassis(1, 1, 30 * SSD))) end
    local a, _, code = e:match(by_chassis(2, 8, 7 * SSD))
    assert.same({ nil, "busy" }, { a, code })
    assert.is_true(e:stats().visited <= 2 * CHASSIS, e:stats().visited .. " visits")
    local text = weir.explain.text(assert(e:explain(by_chassis(2, 8, 7 * SSD))))
    assert.truthy(text:gsub("\n", " "):find("3,171 GiB of ssd are needed in one chassis", 1, true), text)
  end)
end)

describe("a jobspec of version 1 with chassis, nodes and ssds", function()
  local small = weir.synthetic "cluster:1[chassis:2[node:2[core:4] ssd:4(size=100,unit=GiB)]]"
  teardown(query.clean)

  it("is placed in a Flux instance", function()
    local s = assert(flux.open {})
    assert(s.service:acquire(weir.json.encode { resources = weir.json.decode(small:format "rv1"), up = "0-3" }))
    local beside = jobspec { { type = "slot", count = 1, label = "default", with = { nodes(1), ssds(100) } } }
    for id, spec in ipairs { by_chassis(1, 2, 150), beside } do
      assert(s.service:alloc(weir.json.encode { id = id, priority = 16, userid = 1, t_submit = s.now, jobspec = spec }))
    end
    flux.settle(s)
    assert.equal("1 2", flux.ids(s, "alloc"))
  end)

  it("is placed by weir query", function()
    local path = query.file(weir.json.encode(by_chassis(1, 2, 150)))
    local out = query.run({ "-f", "jgf", "-P", "low" }, "match allocate " .. path, query.file(small:format "jgf"))
    assert.truthy(out:find("RESOURCES=ALLOCATED", 1, true), out)
  end)
end)
