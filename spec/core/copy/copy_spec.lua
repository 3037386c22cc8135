-- The methods on resources: serialize, copy, duplicate, merge, unlink, aggregate, match, find, allocate, free.
local weir = require "weir"
local figures = require "spec.support.figures"

local MACHINE = "cluster:1 rack:2 node:2 core:4 gpu:1 memory:1(size=16,unit=GB)"

local function paths(graph)
  local out = {}
  for v in graph:walk {} do out[#out + 1] = v.path end
  return table.concat(out, " ")
end

-- Gives vertices every visible property but jobs.
local function decorate(g)
  local v = g "/cluster0/rack1/node2"
  v.tags.owner, v.properties.bigmem, v.data.notes = "ops", true, { "a", { b = 1 } }
  v.state = "draining"
  g("/cluster0/rack0/node0/gpu0").state = "down"
end

describe("methods", function()
  local g

  before_each(function() g = assert(weir.synthetic(MACHINE)) end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  describe("to save", function()
    it("[M1] a whole graph is saved and loaded without loss", function()
      decorate(g)
      local again <close> = assert(weir.parse(assert(g:format "jgf")))
      assert(g:compare(again))
    end)

    it("[M1] [L6] into a file, whole or not at all", function()
      local path = os.tmpname()
      decorate(g)
      assert(g:save(path))
      local again <close> = assert(weir.load(path))
      assert(g:compare(again))
      assert.equal("invalid", select(3, g:save(path, { format = "yaml" })))
      assert(weir.load(path)):close()
      os.remove(path)
      assert.equal("io", select(3, g:save "/nonexistent/x.json"))
      assert.has_error(function() g:save(path, { chnged = true }) end, "there is no option 'chnged' here (did you mean \"changed\"?)")
    end)

    it("[M1] with all of its subsystems", function()
      local f = figures.unified()
      local again <close> = assert(weir.parse(assert(f.graph:format "jgf")))
      assert(f.graph:compare(again))
      f.graph:close()
    end)

    it("[M1] any subset is one, and is saved and loaded without loss", function()
      decorate(g)
      local some <close> = assert(g:extract { g "/cluster0/rack1/node2", g "/cluster0/rack0/node1/core1" })
      local again <close> = assert(weir.parse(assert(some:format "jgf")))
      assert(some:compare(again))
      assert.equal("/cluster0 /cluster0/rack0 /cluster0/rack0/node1 /cluster0/rack0/node1/core1 /cluster0/rack1 "
        .. "/cluster0/rack1/node2 /cluster0/rack1/node2/core0 /cluster0/rack1/node2/core1 /cluster0/rack1/node2/core2 "
        .. "/cluster0/rack1/node2/core3 /cluster0/rack1/node2/gpu0 /cluster0/rack1/node2/memory0", paths(again))
    end)

    it("[M1] an extract refuses vertices of another graph", function()
      local other <close> = assert(weir.synthetic(MACHINE))
      assert.error_matches(function() g:extract { other:root() } end, "belongs to another graph")
      assert.error_matches(function() g:extract { g:root(), 7 } end, "number 2 in it is a number")
    end)

    it("a comparison names the first difference", function()
      local twin <close> = assert(g:dup())
      twin("/cluster0/rack1").tags.x = true
      local same, why, code = g:compare(twin)
      assert.same({ code = "invalid" }, { same = same, code = code })
      assert.matches("rack1", why)
    end)

    it("a comparison looks at schedules only when asked", function()
      local twin <close> = assert(g:dup())
      assert(twin("/cluster0/rack1"):allocate { job = 1 })
      assert(g:compare(twin))
      assert.is_nil((g:compare(twin, true)))
    end)
  end)

  describe("to copy", function()
    it("[M2] a copy has what is below a vertex, and its ancestors", function()
      local part <close> = assert(g:copy(g "/cluster0/rack1/node2"))
      assert.equal("/cluster0 /cluster0/rack1 /cluster0/rack1/node2 /cluster0/rack1/node2/core0 /cluster0/rack1/node2/core1 "
        .. "/cluster0/rack1/node2/core2 /cluster0/rack1/node2/core3 /cluster0/rack1/node2/gpu0 "
        .. "/cluster0/rack1/node2/memory0", paths(part))
    end)

    it("[M2] sizes become what is available, and nothing is allocated", function()
      assert(g("/cluster0/rack0/node0/memory0"):allocate { job = 1, amount = 10 })
      local part <close> = assert(g:copy(g "/cluster0/rack0"))
      local memory = part "/cluster0/rack0/node0/memory0"
      assert.same({ 6, 6, 0 }, { memory.size, memory.free, #memory:uses() })
    end)

    it("[M2] what is unavailable is left out, with all that is below", function()
      assert(g("/cluster0/rack0/node0"):allocate { job = 1 })
      g("/cluster0/rack0/node1/gpu0").state = "down"
      assert(g("/cluster0/rack0/node1/core2"):allocate { job = 2 })
      local part <close> = assert(g:copy(g "/cluster0/rack0"))
      assert.equal("/cluster0 /cluster0/rack0 /cluster0/rack0/node1 /cluster0/rack0/node1/core0 /cluster0/rack0/node1/core1 "
        .. "/cluster0/rack0/node1/core3 /cluster0/rack0/node1/memory0", paths(part))
    end)

    it("[M3] a duplicate has everything, schedules too", function()
      decorate(g)
      local e = weir.engine { resources = g }
      local a = assert(e:match "slot=1/core=2")
      local twin <close> = assert(g:dup())
      assert(g:compare(twin, true))
      assert.equal(2, #weir.engine({ resources = twin }):job(a.id):vertices())
    end)

    it("[M3] a duplicate is independent", function()
      local twin <close> = assert(g:dup())
      assert(twin:unlink(twin "/cluster0/rack1"))
      assert.is_truthy(g:vertex "/cluster0/rack1")
    end)
  end)

  describe("to merge", function()
    it("[M4] what was taken away comes back at the common ancestor", function()
      local twin <close> = assert(g:dup())
      local part <close> = assert(g:copy(g "/cluster0/rack1"))
      assert(g:unlink(g "/cluster0/rack1"))
      assert(g:merge(part))
      assert(g:compare(twin))
    end)

    it("[M4] a graph is merged at a URI", function()
      local rack <close> = assert(weir.recipe { type = "rack", id = 1, { type = "node", id = 9, count = 2 } })
      assert(g:merge(rack, "/cluster0/rack1"))
      assert.equal("/cluster0/rack1/node10", g("/cluster0/rack1/node10").path)
    end)

    -- {a recipe, the URI to merge at, part of the message, code}
    local CLASHES = {
      { { type = "rack", id = 1 }, "/cluster0/row0/rack9", "there is no 'row0' below /cluster0", "unknown" },
      { { type = "rack", id = 1 }, "water:/cluster0", "there is no subsystem 'water'", "unknown" },
      { { type = "row", id = 1 }, "/cluster0/rack1", "a vertex of type rack; a root of type row", "invalid" },
      { { type = "cluster", { type = "rack", size = 2 } }, nil, "/cluster0/rack0 is there already, but", "exists" },
    }

    for _, case in ipairs(CLASHES) do
      it("[M4] nothing is merged: " .. case[3], function()
        local other <close> = assert(weir.recipe(case[1]))
        local before = paths(g)
        local ok, why, code = g:merge(other, case[2])
        assert.is_nil(ok)
        assert.equal(case[4], code)
        assert.matches(case[3], why, 1, true)
        assert.equal(before, paths(g))
      end)
    end
  end)

  describe("to unlink", function()
    local f

    before_each(function() f = figures.unified() end)
    after_each(function()
      assert(f.graph:check())
      f.graph:close()
    end)

    it("[M5] a vertex leaves with all that is below it", function()
      assert(g:unlink(g "/cluster0/rack0"))
      assert.equal(1 + 7 * 2 + 1, g:count())
      assert.is_nil(g:vertex "/cluster0/rack0/node0")
    end)

    it("[M5] aggregates follow", function()
      assert(g:unlink(g "/cluster0/rack0/node0"))
      assert.same({ 12, 48 }, { g:aggregate().core.total, g:aggregate().memory.free })
    end)

    it("[M5] a pool leaves one hierarchy and stays in the others", function()
      assert(f.graph:unlink(f.node[1], "power"))
      assert.equal(0, #f.node[1]:edges "power")
      assert.equal("/cluster0/node0", f.node[1].path)
      assert.equal("bandwidth:/PFS1/core_switch1/edge_switch1/node0", f.node[1]:uri "bandwidth")
    end)

    it("[M5] a pool that leaves containment stays in the hierarchies that have it", function()
      local node = f.node[1]
      assert(f.graph:unlink(node))
      assert(f.graph:check())
      assert.is_nil((f.graph:vertex "/cluster0/node0"))
      assert.equal("power:/panel0/pdu1/node0", node:uri "power")
      assert.equal(0, node:nchildren())
      assert(f.graph:unlink(node, "power"))
      assert(f.graph:unlink(node, "bandwidth"))
      assert.has_error(function() return node.type end)
    end)

    it("[M5] a vertex that is not in a hierarchy cannot leave it", function()
      local ok, why, code = f.graph:unlink(f.core_switch[1], "power")
      assert.same({ code = "unknown" }, { ok = ok, code = code })
      assert.matches("is not in the subsystem 'power'", why)
    end)

    it("[M5] what is in use stays, and the jobs are named", function()
      local e = weir.engine { resources = g, policy = "low" }
      assert(e:match("slot=1/core=1", { job = 12 }))
      assert(e:match("slot=1/memory=4", { job = 5 }))
      local ok, why, code, jobs = g:unlink(g "/cluster0/rack0")
      assert.is_nil(ok)
      assert.equal("/cluster0/rack0 is in use by jobs 5, 12; release them first, or force it", why)
      assert.equal("busy", code)
      assert.same({ 5, 12 }, jobs)
    end)

    it("[M5] what is reserved stays", function()
      assert(g("/cluster0/rack0/node0/core0"):allocate { job = 3, start = 100, duration = 10 })
      assert.equal("/cluster0/rack0/node0 is in use by job 3; release it first, or force it",
        select(2, g:unlink(g "/cluster0/rack0/node0")))
    end)

    it("[M5] what stands in a vertex that a job has as a whole stays", function()
      assert(g("/cluster0/rack0"):allocate { job = 3 })
      assert.same({ 3 }, (select(4, g:unlink(g "/cluster0/rack0/node0/core0"))))
    end)

    it("[M5] the root stays while something is in use", function()
      assert(g("/cluster0/rack0/node0/core0"):allocate { job = 3 })
      assert.equal("/cluster0 is in use by job 3; release it first, or force it", select(2, g:unlink(g:root())))
    end)

    it("[M5] the root goes with everything, when nothing is in use", function()
      assert(g:unlink(g:root()))
      assert.same({ 0, 0 }, { g:count(), #g:roots() })
      assert(g:add(nil, { type = "cluster" }))
    end)

    it("[M5] with force, jobs lose what they have there, and it is told", function()
      assert(g("/cluster0/rack0/node0/core0"):allocate { job = 3 })
      assert(g("/cluster0/rack1/node2/core0"):allocate { job = 3 })
      assert(g("/cluster0/rack0/node0/memory0"):allocate { job = 4, amount = 6 })
      local e, lost = weir.engine { resources = g }, assert(g:unlink(g "/cluster0/rack0/node0", { force = true }))
      for i, loss in ipairs(lost) do lost[i] = ("%d %s %d"):format(loss.job, loss.path, loss.amount) end
      assert.same({ "3 /cluster0/rack0/node0/core0 1", "4 /cluster0/rack0/node0/memory0 6" }, lost)
      assert.equal("/cluster0/rack1/node2/core0", e:job(3):vertices()[1].vertex.path)
      assert.is_nil((e:job(4)))
      assert.is_nil(g:vertex "/cluster0/rack0/node0")
    end)

    it("[M5] with force, a job that has a vertex above as a whole keeps the rest of that", function()
      assert(g("/cluster0/rack0"):allocate { job = 3 })
      local lost = assert(g:unlink(g "/cluster0/rack0/node0", { force = true }))
      assert.same({ 1, 3, "/cluster0/rack0/node0" }, { #lost, lost[1].job, lost[1].path })
      assert.equal("/cluster0/rack0/node1", weir.engine({ resources = g }):job(3):vertices()[1].vertex.path)
    end)

    it("[M5] with force, what nobody has is lost to nobody", function()
      assert.same({}, (g:unlink(g "/cluster0/rack0", { force = true })))
    end)

    it("[M5] force is about containment", function()
      assert.error_matches(function() f.graph:unlink(f.node[1], { subsystem = "power", force = true }) end,
        "only what leaves containment is lost to jobs")
    end)
  end)

  describe("of pools", function()
    it("[M6] tell the size", function() assert.equal(16, g("/cluster0/rack0/node0/memory0").size) end)

    it("[M7] tag with a key, and with a key and a value", function()
      local tags = g:root().tags
      tags.spare, tags.owner = true, "ops"
      assert.same({ true, "ops" }, { tags.spare, tags.owner })
    end)

    it("[M8] set and tell the state", function()
      g:root().state = "failing"
      assert.equal("failing", g:root().state)
    end)

    it("[M9] aggregate what is available by type below a vertex", function()
      assert(g("/cluster0/rack0/node0/memory0"):allocate { job = 1, amount = 10 })
      local rows = g("/cluster0/rack0"):aggregate()
      assert.same({ 2, 8, 2, 22 }, { rows.node.free, rows.core.free, rows.gpu.free, rows.memory.free })
      assert.is_nil(rows.rack)
    end)

    it("[M9] leave out types there is nothing of", function()
      assert.is_nil(g("/cluster0/rack0/node0"):aggregate().node)
      assert.is_nil(g("/cluster0/rack0/node0/core0"):aggregate().core)
    end)

    it("[M13] tell what is allocated and available, now and at a time", function()
      local v = g "/cluster0/rack0/node0/memory0"
      assert(v:allocate { job = 1, amount = 10, start = 5, duration = 5 })
      assert.same({ 16, 6, 16 }, { v.free, v:available(7, 8), v:available(10, 11) })
      assert.same({ 10, 5, 10 }, { v:uses()[1].amount, v:uses()[1].start, v:uses()[1]["end"] })
    end)

    it("[M13] tell as free what is available now, whatever jobs and states there are", function()
      local machine <close> = assert(weir.synthetic(MACHINE))
      local e, seen = weir.engine { resources = machine }, {}
      local function compare()
        local now = machine:now()
        for v in machine:walk {} do
          assert.equal(v:available(now, now + 1e-6), v.free, v.path)
          seen[v.free] = true
        end
      end
      compare()
      assert(e:match("slot=1/memory=3", { duration = 10 }))
      assert(machine("/cluster0/rack1/node2"):allocate { job = 70, start = 5, duration = 10 })
      assert(machine("/cluster0/rack0/node1/memory0"):allocate { job = 71, amount = 6 })
      compare()
      machine("/cluster0/rack0/node0").state = "down"
      machine("/cluster0/rack1/node3/core0").state = "draining"
      compare()
      for _, at in ipairs { 5, 12, 20 } do -- job 70 begins, and stays past its end
        assert(e:advance(at))
        compare()
      end
      machine("/cluster0/rack0/node0").state = "degraded"
      assert(e:release(70))
      compare()
      assert.same({ [0] = true, true, [10] = true, [13] = true, [16] = true }, seen)
    end)
  end)

  describe("to find", function()
    it("[M10] match on tags, properties, size, type, name, basename and ids", function()
      decorate(g)
      local v = g "/cluster0/rack1/node2"
      for _, expression in ipairs { "tag=owner", "tag.owner=ops", "property=bigmem", "size=1", "type=node", "name=node2",
        "basename=node", "id=2", "uuid=" .. v.uuid, "state=draining", "data=notes" } do
        local query = assert(weir.query(expression))
        assert.is_true(query:match(v), expression)
        assert.is_false(query:match(g "/cluster0/rack0/node1/memory0") and expression ~= "size=1", expression)
      end
    end)

    it("[M11] traverse with pruning, and with an order of the children", function()
      local seen = {}
      for v in g:walk { prune = function(v) return v.type ~= "node" end, order_children = function(a, b) return a.index > b.index end } do
        seen[#seen + 1] = v.name
      end
      assert.equal("cluster0 rack1 node3 node2 rack0 node1 node0", table.concat(seen, " "))
    end)

    it("[M12] every match with its children and its ancestors, as a graph of its own", function()
      local found <close> = assert(g:find("type=node and id=1", { as = "graph" }))
      assert.equal("/cluster0 /cluster0/rack0 /cluster0/rack0/node1 /cluster0/rack0/node1/core0 /cluster0/rack0/node1/core1 "
        .. "/cluster0/rack0/node1/core2 /cluster0/rack0/node1/core3 /cluster0/rack0/node1/gpu0 "
        .. "/cluster0/rack0/node1/memory0", paths(found))
    end)

    it("[M12] with the edges of other subsystems between them", function()
      local f = figures.unified()
      local found <close> = assert(f.graph:find("type=node or type=pdu", { as = "graph" }))
      assert.equal(4, #found:vertex("power:/pdu1"):edges "power")
      f.graph:close()
    end)

    it("[M14] by the name of an allocation", function()
      assert(g("/cluster0/rack1/node2/memory0"):allocate { job = 77, amount = 3 })
      assert.equal(g "/cluster0/rack1/node2/memory0", g:find("job=77")[1])
      assert.is_true(weir.query("job=77"):match(g "/cluster0/rack1/node2/memory0"))
    end)
  end)

  describe("to allocate and free", function()
    local v

    before_each(function() v = g "/cluster0/rack0/node0/memory0" end)

    local function had()
      local use = v:uses()[1]
      return use and use.amount or 0
    end

    it("[M14] allocate units under a name", function()
      assert(v:allocate { job = 3, amount = 5 })
      assert.same({ 5, 11 }, { had(), v.free })
    end)

    it("[M14] a second allocation under the name grows it", function()
      assert(v:allocate { job = 3, amount = 5 })
      assert(v:allocate { job = 3, amount = 2 })
      assert.same({ 7, 1 }, { had(), #v:uses() })
    end)

    it("[M15] free a name wholly", function()
      assert(v:allocate { job = 3, amount = 5 })
      assert(v:release(3))
      assert.same({ 0, 16 }, { had(), v.free })
    end)

    it("[M15] free some of it", function()
      assert(v:allocate { job = 3, amount = 5 })
      assert(v:release(3, 2))
      assert.same({ 3, 13 }, { had(), v.free })
    end)

    -- Calls with nil, message, code as result: {title, call, message, code}
    local REFUSED = {
      { "[M14] 0 units", function() return v:allocate { job = 3, amount = 0 } end, "0 units cannot be allocated", "invalid" },
      { "[M14] more than is free", function() return v:allocate { job = 3, amount = 17 } end,
        "17 units requested, 16 of 16 are free", "busy" },
      { "[M14] more than is free beside another job", function() return v:allocate { job = 4, amount = 13 } end,
        "13 units requested, 12 of 16 are free", "busy", 4 },
      { "[M14] a vertex with something in use below", function() return v:parent():allocate { job = 4 } end,
        "another job shares the vertex or has something below", "busy", 4 },
      { "[M14] other times under the same name", function() return v:allocate { job = 3, amount = 1, start = 50, duration = 5 } end,
        "job 3 has other times", "invalid", 4 },
      { "[A8] a start in the past", function()
        assert(g:advance(10))
        return v:allocate { job = 4, amount = 1, start = 5, duration = 50 }
      end, "before the clock", "invalid" },
      { "[M15] what is not held", function() return v:release(3) end, "job 3 has nothing of", "unknown" },
      { "[M15] what another job holds", function() return v:release(4) end, "job 4 has nothing of", "unknown", 4 },
      { "[M15] more than is held", function() return v:release(3, 5) end, "5 units cannot be freed: job 3 has 4", "invalid", 4 },
    }

    for _, case in ipairs(REFUSED) do
      it("refuse: " .. case[1], function()
        if case[5] then assert(v:allocate { job = 3, amount = case[5] }) end
        local ok, why, code = case[2]()
        assert.is_nil(ok)
        assert.matches(case[3], why, 1, true)
        assert.equal(case[4], code)
        assert.equal(case[5] or 0, had())
      end)
    end

    -- Calls that raise, as only a faulty program does: {title, call, the error text}
    local RAISED = {
      { "[M14] an amount below 0", function() v:allocate { job = 3, amount = -1 } end, "an amount that is not negative expected" },
      { "[M14] an amount that is no integer", function() v:allocate { job = 3, amount = 1.5 } end,
        "field 'amount': integer expected" },
      { "[M14] no name", function() v:allocate { amount = 1 } end, "field 'job': a job number above 0 expected" },
      { "[M14] an empty name", function() v:allocate { job = "", amount = 1 } end, "field 'job': integer expected, got string" },
      { "[M14] the name 0", function() v:allocate { job = 0, amount = 1 } end, "field 'job': a job number above 0 expected" },
      { "[A8] a window that ends before it starts", function() v:allocate { job = 3, start = 5, duration = -3 } end,
        "a duration above 0 expected" },
      { "[A8] a window of no length", function() v:allocate { job = 3, start = 5, duration = 0 } end, "a duration above 0 expected" },
      { "[A12] a query that ends before it starts", function() v:available(8, 5) end, "the end must be after the start" },
      { "[M15] to free less than nothing", function() v:release(3, -1) end, "an amount that is not negative expected" },
    }

    for _, case in ipairs(RAISED) do
      it("raise: " .. case[1], function()
        assert.error_matches(case[2], case[3], 1, true)
        assert.equal(0, had())
      end)
    end
  end)
end)
