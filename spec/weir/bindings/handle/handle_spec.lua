-- The module weir.core: handles never reach freed memory, views, walks without garbage, policies, budgets.
local core = require "weir.core"

local MACHINE = "cluster:1 rack:2 node:4 socket:2 core:4 gpu:1 memory:2(size=16,unit=GB)"

local function machine(text) return assert(core.synthetic(text or MACHINE)) end

local function engine(policy, text)
  local g = machine(text)
  return assert(core.engine { resources = g, policy = policy }), g
end

local function paths(allocation)
  local out = {}
  for i, pick in ipairs(allocation:vertices()) do out[i] = pick.vertex.path end
  return table.concat(out, " ")
end

-- Kilobytes of garbage made by a function.
local function garbage(f)
  f() -- makes the strings and buffers to be kept
  collectgarbage()
  collectgarbage()
  collectgarbage "stop"
  local before = collectgarbage "count"
  f()
  local made = collectgarbage "count" - before
  collectgarbage "restart"
  return made
end

describe("vertices", function()
  local g, v

  before_each(function()
    g = machine()
    v = assert(g:vertex "/cluster0/rack0/node1")
  end)

  it("have fields", function()
    assert.same({ "node", "node", "node1", 1, 1, "", "up", "/cluster0/rack0/node1", false, 1 },
      { v.type, v.basename, v.name, v.id, v.size, v.unit, v.state, v.path, v.exclusive, v.free })
    assert.equal(36, #v.uuid)
    assert.equal("containment:/cluster0/rack0/node1", v:uri())
    assert.equal("/cluster0/rack0/node1", tostring(v))
    assert.has_error(function() return v.tpye end, "a vertex has no field or method 'tpye' (did you mean \"type\"?)")
  end)

  it("compare and hash as themselves", function()
    assert.equal(v, g "/cluster0/rack0/node1")
    assert.is_true(v == g:vertex "containment:/cluster0/rack0/node1")
    assert.equal(7, ({ [v] = 7 })[g "/cluster0/rack0/node1"])
  end)

  it("know their relatives", function()
    local names = {}
    for child in v:children() do names[#names + 1] = child.name end
    assert.same({ "socket0", "socket1" }, { v:child(1).name, v:child(2).name })
    assert.same(names, { v:child(1).name, v:child(2).name })
    assert.is_nil(v:child(0))
    assert.is_nil(v:child(3))
    assert.equal(2, v:nchildren())
    assert.equal("rack0", v:parent().name)
    assert.is_nil(g:root():parent())
    assert.equal("cluster0", v:ancestor("cluster").name)
    assert.is_true(v:within(g:root()))
    assert.is_false(g:root():within(v))
    assert.equal(g, v:graph())
    assert.same({ 8, 8, 8 }, { v:below "core" })
    assert.same({ 0, 0, 0 }, { v:below "tape" })
    assert.equal(8, v:aggregate().core.total)
    assert.equal(3, #v:edges())
  end)

  it("change state, and nothing else that is fixed", function()
    v.state = "down"
    assert.equal("down", v.state)
    assert.equal(7, g:aggregate().node.free)
    assert.has_error(function() v.state = "tired" end)
    assert.has_error(function() v.type = "rack" end)
  end)

  it("have tags, properties and data that read and write like tables", function()
    v.tags.color, v.tags.spare, v.tags.count = "red", true, 3
    assert.same({ "red", true, "3", nil }, { v.tags.color, v.tags.spare, v.tags.count, v.tags.none })
    assert.equal(3, #v.tags)
    local seen = {}
    for key, value in pairs(v.tags) do
      seen[key] = value
      v.tags[key] = nil
    end
    assert.same({ color = "red", spare = true, count = "3" }, seen)
    assert.equal(0, #v.tags)
    v.tags.none = nil
    v.data.point = { x = 1, list = { 1, 2.5, "three" } }
    assert.same({ x = 1, list = { 1, 2.5, "three" } }, v.data.point)
    assert.has_error(function() v.tags.bad = {} end)
    assert.has_error(function() v.tags.bad = false end)
    assert.has_error(function() v.tags["a\0b"] = 1 end)
    assert.has_error(function() v.data.bad = print end)
    assert.has_error(function() return v.tags[1] end)
  end)

  it("are booked by hand", function()
    assert.is_true(v:allocate { job = 9, start = 0, duration = 10 })
    assert.equal(0, v:available(0, 5))
    assert.equal(1, v:available(10, 20))
    assert.is_true(g:check())
    assert.is_true(v:release(9))
    local ok, _, code = v:release(9)
    assert.same({ code = "unknown" }, { ok = ok, code = code })
    assert.has_error(function() v:allocate { amount = 1 } end)
    assert.has_error(function() v:allocate { job = 1, jbo = 1 } end)
  end)

  it("are stale once removed", function()
    local child = v:child(1)
    assert.is_true(g:unlink(v))
    assert.has_error(function() return v.type end, "the vertex is stale: it was removed from its graph")
    assert.has_error(function() return child:parent() end)
    assert.has_error(function() v.tags.x = 1 end)
    assert.truthy(tostring(v):find "stale")
    local again = assert(g:add(g "/cluster0/rack0", { type = "node", id = 1 }))
    assert.not_equal(v, again)
    assert.has_error(function() return v.type end)
  end)
end)

describe("graphs", function()
  it("are built", function()
    local g = core.new()
    g:begin()
    local root = assert(g:add(nil, { type = "cluster", id = 0 }))
    local first = assert(g:add(root, { type = "node", id = 4, tags = { new = true } }, 3, 2))
    assert.is_true(g:finish())
    assert.same({ "node4", "node6", "node8" }, { root:child(1).name, root:child(2).name, root:child(3).name })
    assert.is_true(root:child(3).tags.new)
    assert.is_true(g:add_edge(root, first, { subsystem = "power", type = "feeds" }))
    assert.equal("power:/cluster0/node4", first:uri "power")
    for edge in g:edges() do assert.same({ root, first, "feeds" }, { edge.source, edge.target, edge.type }) end
    assert.same({ "containment", "power" }, g:subsystems())
    assert.has_error(function() g:add(root, { id = 1 }) end)
    assert.has_error(function() g:add(root, { type = "x", colour = 1 }) end)
    assert.has_error(function() g:add(machine():root(), { type = "x" }) end)
    assert.is_true(g:check())
  end)

  it("tell what cannot be read", function()
    local g, why, code = core.load "/nonexistent.xml"
    assert.is_nil(g)
    assert.truthy(why:find "nonexistent")
    assert.equal("io", code)
    assert.is_nil((core.synthetic "core:"))
    assert.has_error(function() core.load("x", { fromat = "jgf" }) end)
    local v, _, unknown = machine():vertex "/cluster0/rack9"
    assert.same({ code = "unknown" }, { v = v, code = unknown })
  end)

  it("are copied and merged", function()
    local g = machine()
    local twin = assert(g:dup())
    assert.equal(g:count(), twin:count())
    assert.not_equal(g:root(), twin:root())
    assert.has_error(function() g:unlink(twin:root()) end)
    local part = assert(g:copy(g "/cluster0/rack1"))
    assert.is_nil(part:vertex "/cluster0/rack0/node0")
    assert.is_true(g:unlink(g "/cluster0/rack1"))
    assert.is_true(g:merge(part))
    assert.equal(twin:count(), g:count())
    assert.is_true(g:check())
    assert.has_error(function() g:merge(g) end)
  end)

  it("are closed for good", function()
    local g = machine()
    local v, step, walk = g:root(), g:walk {}
    local e = core.engine { resources = g }
    local a = assert(e:match "slot=1/node")
    g:close()
    g:close()
    for _, use in ipairs {
      function() g:count() end, function() return v.type end, function() v:graph() end, function() step(walk) end,
      function() e:match "slot=1/node" end, function() e:resources() end, function() a:format "rv1" end,
    } do
      assert.has_error(use)
    end
    assert.equal("allocated", a.state)
    do
      local h <close> = machine()
      v = h:root()
    end
    assert.has_error(function() return v.type end)
  end)

  it("are collected, vertices or not", function()
    local v = machine():root()
    collectgarbage()
    collectgarbage()
    assert.has_error(function() return v.type end)
    collectgarbage "generational" -- collects in the middle of the walk
    for i = 1, 300 do
      v = machine("cluster:1 node:2"):root()
      pcall(function()
        v.data.x = { i, { i }, tostring(i):rep(100) }
        for _ in pairs(v.data) do v:aggregate() end
        v:allocate { job = i, amount = 1 }
        v:ancestor(i)
      end)
    end
    collectgarbage "incremental"
  end)

  it("survive finalizers that close them in the middle of a call", function()
    local g = machine("cluster:1 node:2000 core:2")
    local v = g:root()
    for _ = 1, 50 do v.tags["key" .. _] = _ end
    setmetatable({}, { __gc = function() g:close() end })
    local ok, why = pcall(function()
      for _ = 1, 200 do
        g:aggregate()
        v:edges()
        for _ in pairs(v.tags) do v:aggregate() end
      end
    end)
    assert.is_true(ok or why:find "closed" ~= nil)
  end)
end)

describe("walks", function()
  it("visit in pre- and postorder", function()
    local g, events = machine "cluster:1 node:2", {}
    for v, event in g:walk { order = "both" } do events[#events + 1] = event .. " " .. v.name end
    assert.same({ "pre cluster0", "pre node0", "post node0", "pre node1", "post node1", "post cluster0" }, events)
  end)

  it("prune, filter and start anywhere", function()
    local g, n = machine(), 0
    local function in_rack1(v) return v.type ~= "rack" or v.id == 1 end
    for v in g:walk { type = "core", prune = in_rack1 } do
      assert.equal(1, v:ancestor("rack").id)
      n = n + 1
    end
    assert.equal(32, n)
    for v in g:walk { start = g "/cluster0/rack0/node0", type = "gpu", reverse = true } do
      assert.equal("gpu", v.type)
    end
    local up = {}
    for v in g:walk { start = g "/cluster0/rack0/node0", upward = true } do up[#up + 1] = v.type end
    assert.same({ "node", "rack", "cluster" }, up)
  end)

  it("keep the best", function()
    local best = machine():walk { type = "node", best = 2, evaluate = function(v) return v.id % 3 end }
    assert.same({ "node2", "node5" }, { best[1].vertex.name, best[2].vertex.name })
    assert.equal(2, best[1].score)
    assert.has_error(function() machine():walk { evaluate = function() return "much" end } end)
    assert.has_error(function() machine():walk { evaluate = function() return 0 / 0 end } end)
  end)

  it("make no garbage", function()
    local g = machine "cluster:1 rack:10 node:100 core:99" -- 100,011 vertices
    local n
    local made = garbage(function()
      n = 0
      for v in g:walk {} do
        if v.type and v.id then n = n + 1 end
      end
    end)
    assert.equal(g:count(), n)
    assert.is_true(made < 4, made .. " KB")
  end)

  it("stop when the graph changes, and may be left early", function()
    local g = machine()
    assert.has_error(function()
      for v in g:walk {} do
        if v.name == "node0" then g:unlink(v) end
      end
    end)
    assert.has_error(function()
      for _ in g:walk {} do g:close() end
    end)
    g = machine()
    local left = pcall(function()
      for _ in g:walk {} do error "enough" end
    end)
    assert.is_false(left)
    assert.has_error(function() g:walk { order = "sideways" } end)
    assert.has_error(function() g:walk { purne = print } end)
    assert.has_error(function() g:walk { start = machine():root() } end)
    assert.has_error(function() g:walk { prune = function() g:close() end, evaluate = function() return 1 end } end)
    local walk
    g = machine()
    local step, state = g:walk { prune = function() do local _ <close> = walk end return true end }
    walk = state
    assert.has_error(function() step(walk) end)
  end)
end)

describe("engines", function()
  it("match texts, tables and requests in every mode", function()
    local e, g = engine()
    local a = assert(e:match("slot=2/node", { job = 7 }))
    assert.same({ 7, 0, math.huge, math.huge, "allocated" }, { a.id, a.at, a.duration, a.end_, a.state })
    assert.equal("/cluster0/rack0/node0 /cluster0/rack0/node1", paths(a))
    local job = { version = 9999, tasks = { { command = { "x" }, slot = "s", count = { per_slot = 1 } } },
      attributes = { system = { duration = 60.5 } },
      resources = { { type = "slot", count = 1, label = "s", with = { { type = "node", count = 8 } } } } }
    local r = assert(core.request(job))
    assert.equal(60.5, r:duration())
    assert.equal("node", r:resources()[1].with[1].type)
    assert.equal(8, core.json_decode(r:format()).resources[1].with[1].count)
    assert.is_true(e:match(r, { mode = "feasible" }))
    local none, why, code = e:match(r)
    assert.is_nil(none)
    assert.is_string(why)
    assert.equal("busy", code)
    local preview = assert(e:match("slot=1/node", { mode = "preview" }))
    assert.equal("matched", preview.state)
    assert.is_true(e:release(7))
    assert.equal("reserved", assert(e:match(job, { mode = "reserve", at = 100 })).state)
    assert.is_true(e:advance(100))
    assert.equal(100, e:now())
    assert.equal(1, #e:jobs())
    assert.equal("allocated", e:job(e:jobs()[1].id).state)
    assert.is_number(e:stats().visited)
    assert.is_true(g:check())
  end)

  it("refuse what makes no sense", function()
    local e = engine()
    for _, wrong in ipairs { function() e:match() end, function() e:match(7) end, function() e:match(print) end,
      function() e:match("slot=1/node", { mode = "later" }) end, function() e:match("slot=1/node", { jbo = 1 }) end,
      function() e:match("slot=1/node", { at = 0 / 0 }) end, function() e:match({ a = print }) end,
      function() e:use "low" end, function() core.engine {} end, function() core.engine { resources = e } end,
      function() core.engine { resources = e:resources(), policy = e } end } do
      assert.has_error(wrong)
    end
    local a, _, code = e:match "slot="
    assert.same({ code = "parse" }, { a = a, code = code })
    assert.equal("infeasible", select(3, e:match "slot=9/node"))
    assert.equal("unknown", select(3, e:release(1)))
    e:close()
    assert.has_error(function() e:match "slot=1/node" end)
  end)

  it("grow and shrink jobs", function()
    local e, g = engine()
    local a = assert(e:match "slot=1/node")
    a = assert(e:grow(a.id, "slot=1/node"))
    assert.equal(2, #a:vertices())
    a = assert(e:shrink(a, g "/cluster0/rack0/node0"))
    assert.equal("/cluster0/rack0/node1", paths(a))
    assert.equal("unknown", select(3, e:shrink(a, { g:root():child(2) })))
    assert.is_true(e:shrink(a, { g "/cluster0/rack0/node1" }))
    assert.equal(0, #e:jobs())
    assert.has_error(function() e:shrink(1, 7) end)
    assert.has_error(function() e:grow(0, "slot=1/node") end)
    assert.is_true(g:check())
  end)

  it("give allocations that outlive their job", function()
    local e, g = engine()
    local a = assert(e:match "slot=1/node")
    assert.is_true(e:release(a))
    assert.equal("/cluster0/rack0/node0", paths(a))
    assert.is_true(g:unlink(a:vertices()[1].vertex))
    assert.has_error(function() return a:vertices()[1].vertex.type end)
    assert.has_error(function() a:format "rv1" end)
  end)
end)

describe("policies", function()
  it("order, prune, evaluate and select", function()
    local e = engine { name = "p", order = { "-id" } }
    assert.equal("/cluster0/rack1/node7", paths(e:match "slot=1/node"))
    assert.equal("p", e:policy())
    assert.is_true(e:use { order = function(v) return -(v.id % 4), v.id end })
    assert.equal("/cluster0/rack0/node3", paths(e:match "slot=1/node"))
    assert.is_true(e:use { prune = function(v) return v.type ~= "rack" or v.id == 1 end })
    assert.equal("/cluster0/rack1/node4", paths(e:match "slot=1/node"))
    assert.is_true(e:use { fields = { "id", "name", "free" }, evaluate = function(v, r, id, name, free)
      assert(name == "node" .. id and free == 1 and r.type == "node" and r.min == 1 and v.id == id)
      return id ~= 6 and id or nil
    end })
    assert.equal("/cluster0/rack1/node5", paths(e:match "slot=1/node"))
    assert.is_true(e:use { select = function(list, _, min, max)
      assert(min == 2 and max == 2)
      return { list[#list], 1 }
    end })
    assert.equal("/cluster0/rack1/node6 /cluster0/rack0/node0", paths(e:match "slot=1/node=2"))
  end)

  it("fail one match, and leave the engine as it was", function()
    local e, g = engine()
    for text, policy in pairs {
      ["boom"] = { evaluate = function() error "boom" end },
      ["it must return up to 4 numbers, not more, and returned 5"] = { order = function() return 1, 2, 3, 4, 5 end },
      ["it must return a number"] = { evaluate = function() return "high" end },
      ["it chose what is no candidate"] = { select = function() return { 99 } end },
      ["it chose a candidate twice"] = { select = function() return { 1, 1 } end },
      ["attempt to index"] = { prune = function(v) return v.tags.none.none end },
      ["from an object"] = { evaluate = function()
        error(setmetatable({}, { __tostring = function() return "from an object" end }))
      end },
      ["attempt to yield"] = { evaluate = function() coroutine.yield() end },
      ["cannot be changed while a match runs"] = { evaluate = function(v) v.tags.x = 1 end },
      ["cannot be used by a hook"] = { evaluate = function() e:match "slot=1/node" end },
      ["cannot be closed while a match runs"] = { prune = function() g:close() end },
    } do
      assert.is_true(e:use(policy))
      local a, why, code = e:match "slot=2/node=2"
      assert.is_nil(a)
      assert.equal("policy", code)
      assert.truthy(why:find(text, 1, true), why)
      assert.equal(0, #e:jobs())
      assert.is_true(g:check())
    end
  end)

  it("are refused by name when their table is wrong", function()
    local e = engine()
    for text, policy in pairs {
      ["no field 'evaluat'"] = { evaluat = print }, ["field 'prune': function expected"] = { prune = 1 },
      ["field 'fields': 'path'"] = { fields = { "path" } }, ["field 'order'"] = { order = 7 },
      ["field 'exclusive'"] = { exclusive = { 1 } }, ["field 'name'"] = { name = {} },
      ["(did you mean \"runs\"?); there are runs, shortest, fewest"] = { select = "run" }, ["field 'select'"] = { select = {} },
      ["at most 4"] = { order = { "id", "id", "id", "id", "id" } }, ["subsystem"] = { subsystem = 7 },
    } do
      local ok, why, code = e:use(policy)
      assert.same({ code = "policy" }, { ok = ok, code = code })
      assert.truthy(why:find(text, 1, true), why)
      assert.equal("first", e:policy())
    end
    assert.equal("policy", select(3, e:use { order = "colour" }))
  end)

  it("from files live in a sandbox", function()
    local p = assert(core.policy_source([[
      for _, name in ipairs { "os", "io", "debug", "package", "require", "load", "loadfile", "dofile",
                              "collectgarbage", "coroutine" } do assert(rawget(_G, name) == nil, name) end
      assert(string.dump == nil and math.randomseed == nil)
      return { name = "box", doc = "d", evaluate = function(v)
        for child in v:graph():walk { start = v, type = "core" } do assert(child:within(v)) end
        assert(not pcall(function() v.tags.x = 1 end) and not pcall(function() v:graph():close() end))
        assert(not pcall(function() return v:graph().unlink end) and not pcall(v.allocate, v, { job = 1 }))
        v.data.list = nil
        return v.id
      end }]], "box"))
    assert.same({ "box", "d", true }, { p.name, p.doc, p.sandboxed })
    local e = engine(p)
    assert.truthy(select(2, e:match "slot=1/node"):find "only read")
    p = assert(core.policy_source("return { evaluate = function(v) return v.id + #v.path end }", "fine"))
    assert.is_true(e:use(p))
    assert.equal("/cluster0/rack1/node7", paths(e:match "slot=1/node"))
  end)

  it("from files are refused with file and line", function()
    for text, source in pairs {
      ["p:2: "] = "\nreturn {", ["must return a table, it returned nil"] = "local x = 1",
      ["p:1: boom"] = "error 'boom'", ["no field 'x'"] = "return { x = 1 }",
      ["attempt to load a binary"] = string.dump(function() end),
      ["no finalizers"] = "setmetatable({}, { __gc = function() end })",
    } do
      local p, why, code = core.policy_source(source, "p")
      assert.same({ code = "policy" }, { p = p, code = code })
      assert.truthy(why:find(text, 1, true), why)
      assert.is_nil(why:find "\n")
    end
    assert.equal("io", select(3, core.policy_load "/nonexistent.lua"))
    assert.equal("io", select(3, core.policy_load "/"))
  end)

  local greedy = {
    ["a loop"] = "while true do end",
    ["a loop in pcall"] = "while true do pcall(function() while true do end end) end",
    ["a loop in the handler"] = "xpcall(function() while true do end end, function() while true do end end)",
    ["a loop in __close"] =
      "local c <close> = setmetatable({}, { __close = function() while true do end end }) while true do end",
    ["memory"] = "local t = {} for i = 1, 1e9 do t[i] = { i } end",
    ["memory in pcall"] = "local t = {} while true do pcall(function() for i = 1, 1e9 do t[i] = { i } end end) end",
    ["one long string"] = "local s = ('x'):rep(1e9)",
    ["many long strings"] = "for i = 1, 1e9 do local s = ('x'):rep(1e7) end",
    ["table.move"] = "table.move({}, 1, 1 << 60, 2)",
    ["a false length"] = "table.insert(setmetatable({}, { __len = function() return 1 << 50 end }), 1, 1)",
    ["a pattern"] = "local s = ('a'):rep(1000) s:find(('a*'):rep(20) .. 'b')",
    ["recursion"] = "local function f() return 1 + f() end f()",
  }
  for what, code in pairs(greedy) do
    it("end at their budget: " .. what, function()
      local p, why, status = core.policy_source(code, "greedy")
      assert.same({ status = "policy" }, { p = p, status = status })
      assert.is_string(why)
      p = assert(core.policy_source("return { evaluate = function() " .. code .. " return 1 end }", "greedy"))
      local e, g = engine(p)
      assert.equal("policy", select(3, e:match "slot=1/node"))
      assert.is_true(g:check())
      assert.is_true(e:use(nil))
      assert.truthy(e:match "slot=1/node")
    end)
  end

  it("make no garbage for each call", function()
    local e = engine({ fields = { "id", "size" }, evaluate = function(_, r, id) return r.min + id end },
      "cluster:1 node:5000")
    local r = core.request "slot=1/node"
    assert.is_true(garbage(function() assert(e:match(r, { mode = "preview" })) end) < 8)
  end)
end)

describe("the policies that come with weir", function()
  -- Three racks of four nodes; a node of rack 1 is allocated.
  local function choose(name, request)
    local e, g = engine(assert(core.policy_load("policies/" .. name .. ".lua")), "cluster:1 rack:3 node:4 core:4")
    assert.is_true(g "/cluster0/rack1/node5":allocate { job = 99 })
    local out = {}
    for i, pick in ipairs(assert(e:match(request)):vertices()) do
      local v = pick.vertex
      out[i] = v.type == "core" and v:ancestor("node").id .. "." .. v.id or tostring(v.id)
    end
    assert.is_true(g:check())
    assert.equal(name, e:policy())
    return table.concat(out, " ")
  end

  local cases = { -- policy, three nodes, three cores
    { "first", "0 1 2", "0.0 0.1 0.2" },
    { "low", "0 1 2", "0.0 0.1 0.2" },
    { "high", "11 10 9", "11.3 10.3 9.3" },
    { "best_fit", "4 6 7", "0.0 0.1 0.2" },
    { "spread", "0 8 4", "0.0 1.0 2.0" },
    { "locality", "0 1 2", "0.0 0.1 0.2" },
  }
  for _, case in ipairs(cases) do
    it("choose as they say: " .. case[1], function()
      assert.equal(case[2], choose(case[1], "slot=1/node=3"))
      assert.equal(case[3], choose(case[1], "slot=3/core"))
    end)
  end

  it("keep neighbours together", function()
    assert.equal("0 1 2 3", choose("locality", "slot=1/node=4"))
    assert.equal("0 1 2 3 8 9 10 11", choose("locality", "slot=1/node=8"))
  end)
end)

-- Wrong handles: spec/weir/bindings/handle/stale_handles_spec.lua.
describe("handles", function()
  it("are closed to getmetatable", function()
    for _, handle in ipairs { machine(), machine():root(), core.idset "1", core.hostlist "a", core.rset(), (engine()) } do
      assert.is_string(getmetatable(handle))
      assert.has_error(function() setmetatable(handle, {}) end)
    end
  end)

  it("stay what they are when the module is loaded again", function()
    local v = machine():root()
    package.loaded["weir.core"] = nil
    local again = require "weir.core"
    package.loaded["weir.core"] = core
    assert.equal(getmetatable(machine()), getmetatable(again.new()))
    assert.is_false(pcall(v.within, v, again.synthetic("cluster:1"):count()))
    assert.equal("cluster", again.synthetic("cluster:1"):root().type)
  end)
end)

describe("a draft", function()
  local path

  local function content(name)
    local file <close> = io.open(name or path, "rb")
    return file and file:read "a"
  end
  local function put(name, text)
    local file <close> = assert(io.open(name, "wb"))
    file:write(text)
  end
  local function made_of(...)
    local d = assert(core.draft(path))
    d:write(...)
    return d
  end

  before_each(function()
    path = os.tmpname()
    put(path, "old")
  end)
  after_each(function()
    for _, suffix in ipairs { "", ".new", ".new1", ".link" } do os.remove(path .. suffix) end
  end)

  it("takes the place of a file when it is kept, as a whole", function()
    local d = made_of("a", "b\0")
    d:write "c"
    assert.equal("old", content())
    assert.is_true(d:keep())
    assert.same({ "ab\0c" }, { content(), content(path .. ".new") })
  end)

  it("is gone when it is dropped, closed, collected, or its file cannot be written", function()
    made_of("x"):drop()
    do local _ <close> = made_of "x" end
    made_of "x"
    collectgarbage()
    assert.same({ "old" }, { content(), content(path .. ".new") })
    local full = assert(core.draft "/dev/full")
    full:write(("x"):rep(100000))
    assert.same({ nil, "/dev/full: cannot be written: No space left on device", "io" }, { full:keep() })
    assert.same({ nil, "/none/x: cannot be written: No such file or directory", "io" }, { core.draft "/none/x" })
  end)

  it("leaves alone what somebody else has under the name of a draft", function()
    put(path .. ".new", "mine")
    assert(made_of("x"):keep())
    assert.same({ "x", "mine" }, { content(), content(path .. ".new") })
  end)

  it("goes where a link leads, unless links are refused", function()
    local link = path .. ".link"
    assert(os.execute(("ln -s '%s' '%s'"):format(path, link)))
    local d = assert(core.draft(link))
    d:write "through"
    assert(d:keep())
    assert(core.write_file(link, content() .. " it"))
    assert.equal("through it", content())
    local says = link .. ": cannot be written: it is a link, expected a file"
    assert.same({ nil, says, "io" }, { core.draft(link, { links = false }) })
    assert.same({ nil, says, "io" }, { core.write_file(link, "x", { links = false }) })
    assert.equal("through it", content(link))
    assert.has_error(function() core.draft(link, { link = false }) end, "there is no option 'link' here (did you mean \"links\"?)")
  end)
end)

local sethook, getinfo = debug.sethook, debug.getinfo

-- The number of functions written in Lua that a match calls.
local function lua_calls(e, request, opts)
  local n = 0
  sethook(function() n = n + (getinfo(2, "S").what ~= "C" and 1 or 0) end, "c")
  e:match(request, opts)
  sethook()
  return n
end

describe("a match of an engine", function()
  local weir = require "weir"
  local request = weir.request "slot=1/node"
  local function one() return 1 end
  local CASES = {
    { "a policy of rules", "low", {}, true },
    { "no policy hook but a rule of select", "locality", {}, true },
    { "options", "low", { mode = "reserve" }, true },
    { "a function for the order", nil, nil, false, { order = one } },
    { "a function for evaluate", nil, nil, false, { evaluate = one } },
    { "a policy in the options", "low", { policy = core.policy_table { name = "own" } }, false },
  }
  for _, case in ipairs(CASES) do
    it(("with %s %s"):format(case[1], case[4] and "runs no Lua" or "runs Lua"), function()
      local e = weir.engine { resources = machine(), policy = case[2] or case[5] }
      assert(e:match(request, case[3]))
      assert.equal(case[4], lua_calls(e, request, case[3]) == 0)
      assert.equal(case[2] ~= nil, (select(2, e:policy()).static))
    end)
  end

  it("runs no Lua from the second one on where the engine is of weir.core, and Lua again once a policy with functions is in use", function()
    local e = assert(core.engine { resources = machine(), policy = assert(weir.policy "low") })
    assert(e:match(request))
    assert.equal(0, lua_calls(e, request))
    assert(e:use { evaluate = one })
    assert.is_true(lua_calls(e, request) > 0)
    assert(e:use "low")
    assert.equal(0, lua_calls(e, request))
  end)

  it("has errors with the line of the caller, and the name, in either way", function()
    local e = weir.engine { resources = machine(), policy = "low" }
    for _, bad in ipairs { { e }, {}, { request, 5 }, { request, { mode = "later" } }, { request, { unknown = 1 } } } do
      assert.matches("^[^:]*handle_spec%.lua:%d+: ", select(2, pcall(function() e:match(table.unpack(bad)) end)))
    end
    e:close()
    assert.matches("^[^:]*handle_spec%.lua:%d+: the engine is closed$", select(2, pcall(function() e:match(request) end)))
  end)
end)
