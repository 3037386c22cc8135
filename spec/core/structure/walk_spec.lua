-- Walkers: visited vertices, their order, the effect of filters, and the lifetime of walkers.
local weir = require "weir"
local figures = require "spec.support.figures"

local MACHINE = "cluster:1 rack:2 node:2 core:2"

local function names(step, ...)
  local out = {}
  for v in step, ... do out[#out + 1] = v.name end
  return table.concat(out, " ")
end

local function scored(list)
  local out = {}
  for i, entry in ipairs(list) do out[i] = ("%s=%g"):format(entry.vertex.name, entry.score) end
  return table.concat(out, " ")
end

local function by_id_descending(a, b) return (a.id or 0) > (b.id or 0) end

describe("walks", function()
  local g

  before_each(function() g = assert(weir.synthetic(MACHINE)) end)
  after_each(function() g:close() end)

  -- Options, and the names in the order of the visits. start is a path.
  local ORDERS = {
    { "[W2] preorder", {}, "cluster0 rack0 node0 core0 core1 node1 core0 core1 rack1 node2 core0 core1 node3 core0 core1" },
    { "[W2] postorder", { order = "post", type = "node" }, "node0 node1 node2 node3" },
    { "[W2] postorder, children before parents", { order = "post", start = "/cluster0/rack0" },
      "core0 core1 node0 core0 core1 node1 rack0" },
    { "[W1] from a start", { start = "/cluster0/rack1", type = "node" }, "node2 node3" },
    { "[W1] from a leaf", { start = "/cluster0/rack1/node2/core1" }, "core1" },
    { "[W2] in breadth", { order = "breadth", start = "/cluster0/rack1" }, "rack1 node2 node3 core0 core1 core0 core1" },
    { "[W2] in breadth, last to first", { order = "breadth", reverse = true, start = "/cluster0/rack1" },
      "rack1 node3 node2 core1 core0 core1 core0" },
    { "[M11] children last to first", { reverse = true, start = "/cluster0/rack1" },
      "rack1 node3 core1 core0 node2 core1 core0" },
    { "[M11] children in the order of a function", { order_children = by_id_descending },
      "cluster0 rack1 node3 core1 core0 node2 core1 core0 rack0 node1 core1 core0 node0 core1 core0" },
    { "[M11] children in the order of a function, in postorder",
      { order = "post", type = "node", order_children = by_id_descending }, "node3 node2 node1 node0" },
    { "[M11] equals stay in their order", { type = "node", order_children = function() return false end },
      "node0 node1 node2 node3" },
    { "[M11] a function and reverse", { type = "node", order_children = by_id_descending, reverse = true },
      "node0 node1 node2 node3" },
    { "[W1] upward", { upward = true, start = "/cluster0/rack1/node2/core1" }, "core1 node2 rack1 cluster0" },
    { "[W1] upward in postorder", { upward = true, order = "post", start = "/cluster0/rack1/node2" }, "cluster0 rack1 node2" },
    { "[W1] upward with an order of children",
      { upward = true, start = "/cluster0/rack1/node2", order_children = by_id_descending }, "node2 rack1 cluster0" },
  }

  for _, case in ipairs(ORDERS) do
    it(case[1], function()
      local options = {}
      for k, v in pairs(case[2]) do options[k] = v end
      options.start = options.start and g(options.start)
      assert.equal(case[3], names(g:walk(options)))
    end)
  end

  it("tell event and depth with each vertex", function()
    local lines = {}
    for v, event, depth in g:walk { order = "both", start = g "/cluster0/rack0/node0" } do
      lines[#lines + 1] = ("%s %s %d"):format(event, v.name, depth)
    end
    assert.same({ "pre node0 0", "pre core0 1", "post core0 1", "pre core1 1", "post core1 1", "post node0 0" }, lines)
  end)

  it("tell the same events and depths with an order of children", function()
    local function story(options)
      local lines = {}
      for v, event, depth in g:walk(options) do lines[#lines + 1] = ("%s %s %d"):format(event, v.path, depth) end
      return lines
    end
    local function stay() return false end
    local function not_rack1(v) return v.name ~= "rack1" end
    for _, order in ipairs { "pre", "post", "both" } do
      assert.same(story { order = order }, story { order = order, order_children = stay })
      assert.same(story { order = order, prune = not_rack1 }, story { order = order, prune = not_rack1, order_children = stay })
    end
  end)

  describe("with filters", function()
    it("[W3] prune what is below where a filter says so, not the vertex itself", function()
      assert.equal("rack0 rack1 node2 core0 core1 node3 core0 core1",
        names(g:walk { prune = function(v) return v.name ~= "rack0" end }):match "^cluster0 (.*)$")
    end)

    it("[W3] ask the pruning filter of each vertex once, parents first", function()
      local asked = {}
      names(g:walk { type = "core", prune = function(v)
        asked[#asked + 1] = v.name
        return v.type ~= "node" or v.id == 3
      end })
      assert.equal("cluster0 rack0 node0 node1 rack1 node2 node3 core0 core1", table.concat(asked, " "))
    end)

    it("[W3] prune in breadth", function()
      assert.equal("cluster0 rack0 rack1 node2 node3 core0 core1 core0 core1",
        names(g:walk { order = "breadth", prune = function(v) return v.name ~= "rack0" end }))
    end)

    it("[W7] go on where all of several pruning filters agree", function()
      local filters = { function(v) return v.name ~= "rack0" end, function(v) return v.name ~= "node2" end }
      assert.equal("cluster0 rack0 rack1 node2 node3 core0 core1", names(g:walk { prune = filters }))
    end)

    it("[W7] do not ask further filters once one has pruned", function()
      local asked = 0
      names(g:walk { prune = { function(v) return v.type ~= "cluster" end, function() asked = asked + 1 return true end } })
      assert.equal(0, asked)
    end)

    it("[W7] add up the scores of several evaluating filters", function()
      local list = g:walk { type = "node", evaluate = { function(v) return v.id end, function() return 10 end } }
      assert.equal("node3=13 node2=12 node1=11 node0=10", scored(list))
    end)

    it("[W7] drop a vertex that one of several filters does not want", function()
      local list = g:walk { type = "node", evaluate = { function(v) return v.id end,
        function(v) return v.id % 2 == 0 and 0 or nil end } }
      assert.equal("node2=2 node0=0", scored(list))
    end)

    it("[W4] evaluate in postorder, and keep what has a score", function()
      local asked = {}
      local list = g:walk { start = g "/cluster0/rack0/node0", evaluate = function(v)
        asked[#asked + 1] = v.name
        return v.type == "core" and 1 or nil
      end }
      assert.equal("core0 core1 node0", table.concat(asked, " "))
      assert.equal("core0=1 core1=1", scored(list))
    end)

    it("[W5] keep vertices in descending score, equals in the order of the walk", function()
      local list = g:walk { type = "node", evaluate = function(v) return v.id % 2 end }
      assert.equal("node1=1 node3=1 node0=0 node2=0", scored(list))
    end)

    it("[W5] keep only the best k", function()
      local list = g:walk { type = "node", best = 2, evaluate = function(v) return -v.id end }
      assert.equal("node0=0 node1=-1", scored(list))
    end)

    it("[W4] end early when an evaluating filter says false, and keep the best so far", function()
      local list = g:walk { type = "node", evaluate = function(v) return v.id < 2 and v.id end }
      assert.equal("node1=1 node0=0", scored(list))
    end)

    it("[W4] get the fields that were asked for as further arguments, as the loop does", function()
      local function same(v, kind, id, free) return kind == v.type and id == v.id and free == v.free end
      local fields, wrong = { "type", "id", "free" }, {}
      local function check(...)
        if not same(...) then wrong[#wrong + 1] = (...).path end
        return true
      end
      assert(g "/cluster0/rack0/node0":allocate { job = 1, amount = 1 })
      g "/cluster0/rack1".state = "down"
      g:walk { fields = fields, prune = { check, check }, evaluate = function(...) return check(...) and 1 end }
      g:walk { fields = fields, visit = function(v, _, _, ...) check(v, ...) end }
      for v, _, _, kind, id, free in g:walk { fields = fields } do check(v, kind, id, free) end
      assert.same({}, wrong)
      for v, _, _, name, none in g:walk { fields = "name" } do assert.same({ v.name }, { name, none }) end
    end)

    it("[W4] get nil for the id of what has none", function()
      local box = assert(g:add(g "/cluster0", { type = "box", basename = "crate" }))
      local got = {}
      g:walk { start = box, fields = { "id", "type" }, evaluate = function(_, id, kind) got = { tostring(id), kind } end }
      assert.same({ "nil", "box" }, got)
    end)

    it("[W4] evaluate the same, alone or beside another filter", function()
      assert(g "/cluster0/rack0/node0":allocate { job = 1, amount = 1 })
      local function story(options, evaluate)
        local lines = {}
        options.fields, options.start = { "type", "free", "name", "rank", "state" }, options.from and g(options.from)
        options.from = nil
        options.prune = options.prune and function(v, ...)
          lines[#lines + 1] = "prune " .. table.concat({ v.path, tostring(select("#", ...)), ... }, " ", 1, 4)
          return v.name ~= "rack0" and v.name ~= "core1"
        end
        options.evaluate = evaluate(function(v, kind, free, name)
          lines[#lines + 1] = ("evaluate %s %s %d %s"):format(v.path, kind, free, name)
          return (v.id or 0) + free
        end)
        lines[#lines + 1] = scored(g:walk(options))
        return lines
      end
      local function alone(f) return f end
      local function beside(f) return { f, function() return 0 end } end
      local n = 0
      for _, order in ipairs { "pre", "post", "breadth" } do
        for _, more in ipairs { {}, { prune = true }, { type = "core" }, { type = "node", prune = true }, { reverse = true },
          { upward = true, from = "/cluster0/rack1/node2" }, { best = 2, prune = true }, { from = "/cluster0/rack1/node2/core0" } } do
          local first, second = { order = order }, { order = order }
          for k, v in pairs(more) do first[k], second[k] = v, v end
          local one = story(first, alone)
          assert.same(story(second, beside), one)
          n = n + #one
        end
      end
      assert.is_true(n > 100)
    end)

    -- A node with more leaves side by side than a walker reads at once, of more types than it keeps strings of; a
    -- leaf has a child, and leaves were removed.
    local function wide()
      local big = assert(weir.synthetic "cluster:1 node:2 core:45")
      for _, node in ipairs { big "/cluster0/node0", big "/cluster0/node1" } do
        for i = 0, 11 do big:add(node, { type = "kind" .. i, id = i, size = i + 1 }) end
        big:add(big:add(node, { type = "socket", id = 0 }), { type = "core", id = 77 })
        for i = 0, 39 do big:add(node, { type = i % 2 == 0 and "gpu" or "disk", id = i }) end
      end
      for _, name in ipairs { "core0", "core7", "core44", "gpu38" } do big:unlink(big("/cluster0/node0/" .. name)) end
      return big
    end

    -- The arguments of the filters' calls, in order. `more` are further options; `beside` walks visit by visit.
    local function calls(big, more, act, beside)
      local lines = {}
      local options = { fields = { "type", "id", "size", "free", "rank", "name", "state", "index" } }
      for k, v in pairs(more) do options[k] = v end
      local function note(what, v, ...)
        assert.same({ v.type, v.id or "", v.size, v.free, v.rank or "", v.name, v.state, v.index },
          { (...), select(2, ...) or "", (select(3, ...)), (select(4, ...)), select(5, ...) or "", select(6, ...) })
        lines[#lines + 1] = ("%s %s %d"):format(what, v.path, (select(4, ...)))
        return act(what, v, #lines)
      end
      local function prune(...) return note("prune", ...) end
      local function evaluate(...) return note("evaluate", ...) end
      options.prune = more.prune ~= false and prune or nil
      options.evaluate = beside and { evaluate, function() return 0 end } or evaluate
      local ok, result = pcall(big.walk, big, options)
      lines[#lines + 1] = ok and scored(result) or tostring(result):gsub("^.-:%d+: ", "")
      return lines
    end

    -- Options, and the side effects of the filters: the calls equal the calls of a walk without read-ahead, to the
    -- last.
    local function plain() return 1 end
    local STORIES = {
      { "all of it", {}, plain },
      { "best", { best = 3 }, function(_, v) return v.index % 7 end },
      { "no pruning", { prune = false }, plain },
      { "preorder", { order = "pre" }, plain },
      { "a type", { type = "core" }, plain },
      { "a type, no pruning", { type = "gpu", prune = false, order = "pre" }, plain },
      { "last to first", { reverse = true }, plain },
      { "what is pruned is not called", {}, function(what, v)
        if what == "prune" then return v.name ~= "node0" and v.name ~= "socket0" end
        return v.id
      end },
      { "no number at once", {}, function(what) return what ~= "prune" or nil end, "evaluate must return" },
      { "no candidates", {}, function(what) return what == "prune" or nil end },
      { "an early end", {}, function(what, v) return what == "prune" or v.name ~= "core21" and 1 end },
      { "an early end at a type", { type = "gpu" }, function(what, v) return what == "prune" or v.id < 8 and v.id end },
      { "an error in prune", {}, function(what, v) return what == "prune" and (v.name ~= "core21" or error("no " .. v.path)) or 1 end,
        "no /cluster0/node0/core21" },
      { "an error in evaluate", {}, function(what, v) return what == "prune" or v.name ~= "core21" and 1 or error("no " .. v.path) end,
        "no /cluster0/node0/core21" },
      { "what is no score", {}, function(what, v) return what == "prune" or v.name == "core21" and "high" or 1 end, "not string" },
      { "a score that is not a number", {}, function(what, v) return what == "prune" or v.name == "core21" and 0 / 0 or 1 end,
        "not a number" },
      { "a vertex that comes", {}, function(_, v, n)
        if n == 30 then v:graph():add(v:graph():root(), { type = "late" }) end
        return 1
      end, "the graph changed while it was walked" },
      { "a vertex that goes", {}, function(what, v)
        if what == "evaluate" and v.name == "core20" then v:graph():unlink(v:graph() "/cluster0/node0/core21") end
        return 1
      end, "the graph changed while it was walked" },
      { "the graph that is closed", {}, function(_, v, n)
        if n == 30 then v:graph():close() end
        return 1
      end, "the graph was closed while it was walked" },
      { "data that change ahead", {}, function(what, v)
        local big = v:graph()
        if v.name == "core9" then assert(big "/cluster0/node0/core11":allocate { job = what == "prune" and 1 or 2, amount = 0 }) end
        if v.name == "core15" and what == "evaluate" then big "/cluster0/node0".state = "down" end
        if v.name == "kind3" and what == "prune" then big "/cluster0/node0".state, big "/cluster0/node0".rank = "up", 9 end
        return 1
      end },
      { "data that change at each visit", {}, function(what, v, n)
        v:graph() "/cluster0/node1/gpu0".rank = n
        return what == "prune" or v.rank or 0
      end },
      { "walks within", {}, function(_, v)
        local found = v:graph():walk { start = v, fields = "type", evaluate = function(_, kind) return #kind end,
          prune = function(_, kind) return kind ~= "socket" end }
        return #found
      end },
      { "garbage that is collected", {}, function(_, v)
        collectgarbage()
        return #(v.type .. v.index)
      end },
      { "a yield", {}, function(_, _, n)
        if n == 30 then coroutine.yield() end
        return 1
      end, "attempt to yield" },
    }

    for _, case in ipairs(STORIES) do
      it("[W3] [W4] are called as if each vertex was read when it is visited: " .. case[1], function()
        local seen = {}
        for _, beside in ipairs { false, true } do
          local big <close> = wide()
          local ok, lines = coroutine.resume(coroutine.create(calls), big, case[2], case[3], beside)
          assert(ok, lines)
          seen[#seen + 1] = lines
        end
        assert.same(seen[2], seen[1])
        assert.equal(case[4] or "", case[4] and seen[1][#seen[1]]:match(case[4], 1, true) or "")
      end)
    end

    it("[W4] evaluate what is so after the pruning filter of the same vertex", function()
      local list = g:walk { fields = { "free", "state", "rank" }, type = "core", start = g "/cluster0/rack1",
        prune = function(v)
          if v.path == "/cluster0/rack1/node2/core0" then assert(v:allocate { job = 1, amount = 1 }) end
          if v.path == "/cluster0/rack1/node3/core0" then v.state, v.rank = "draining", 7 end
          return true
        end,
        evaluate = function(v, free, state, rank)
          assert.same({ v.free, v.state, v.rank }, { free, state, rank })
          return free
        end }
      assert.equal("core1=1 core1=1 core0=0 core0=0", scored(list))
    end)

    it("[W3] end when the pruning filter of a leaf removes it", function()
      for _, fields in ipairs { {}, { "free" } } do
        local asked = 0
        assert.error_matches(function()
          g:walk { fields = fields, start = g "/cluster0/rack1", evaluate = function() asked = asked + 1 end,
            prune = function(v)
              if v.type == "core" then g:unlink(v) end
              return true
            end }
        end, "the graph changed while it was walked")
        assert.equal(0, asked)
      end
    end)

    it("[W4] make no garbage", function()
      local big <close> = assert(weir.synthetic "cluster:1 node:1000")
      local function walk()
        big:walk { fields = { "type", "id", "free" }, best = 1, prune = function(_, kind) return kind ~= "none" end,
          evaluate = function(_, _, id, free) return id + free end }
      end
      walk()
      collectgarbage "collect"
      collectgarbage "stop"
      local before = collectgarbage "count"
      walk()
      local kilobytes = collectgarbage "count" - before
      collectgarbage "restart"
      assert.is_true(kilobytes < 2, kilobytes .. " KB for 1001 vertices")
    end)

    it("[W3] do not read fields of what an earlier filter removed", function()
      local options = { fields = { "free", "name" }, order = "pre" }
      local function remove(v)
        if v.type == "rack" then g:unlink(v) end
        return true
      end
      options.prune = { remove, function() return true end }
      assert.error_matches(function() names(g:walk(options)) end, "the graph changed while it was walked")
    end)

    it("[W9] read base and extended data alike", function()
      local node = g "/cluster0/rack1/node2"
      node.data.rating, node.tags.owner = { stars = 5 }, "ops"
      local list = g:walk { evaluate = function(v)
        local rating = v.data.rating
        return rating and v.tags.owner == "ops" and v.type == "node" and v.size + rating.stars or nil
      end }
      assert.equal("node2=6", scored(list))
    end)
  end)

  describe("in other subsystems", function()
    local f

    before_each(function() f = figures.unified() end)
    after_each(function() f.graph:close() end)

    it("[W1] go down from the source", function()
      assert.equal("PFS1 core_switch1 edge_switch1 node0 node1 edge_switch2 node2 node3 core_switch2 edge_switch3 node4 "
        .. "node5 edge_switch4 node6 node7", names(f.graph:walk { subsystem = "bandwidth" }))
    end)

    it("[W1] go up from a node to the source", function()
      assert.equal("node5 edge_switch3 core_switch2 PFS1",
        names(f.graph:walk { subsystem = "bandwidth", start = f.node[6], upward = true }))
    end)

    it("[W2] visit what is shared once", function()
      local seen = {}
      for v in f.graph:walk { subsystem = "storage", type = "disk" } do
        assert.is_nil(seen[v])
        seen[v] = true
      end
      local n = 0
      for _ in pairs(seen) do n = n + 1 end
      assert.equal(8, n)
    end)

    it("[W2] visit what is shared once with an order of children too", function()
      local list = names(f.graph:walk { subsystem = "storage", type = "disk", order_children = by_id_descending })
      assert.equal(8, select(2, list:gsub("disk", "")))
    end)

    it("[W2] end in a subsystem with a loop", function()
      assert(f.graph:add_edge(f.node[1], f.panel, { subsystem = "power", type = "measures" }))
      for _, compare in ipairs { false, by_id_descending } do
        local n = 0
        for _ in f.graph:walk { subsystem = "power", start = f.panel, order_children = compare or nil } do n = n + 1 end
        assert.equal(11, n)
      end
    end)

    it("[W6] start from an evaluating filter, with a walker and filters of their own", function()
      local function watts_left(node)
        local sum = 0
        for unit in f.graph:walk { subsystem = "power", start = node, upward = true,
          prune = function(v) return v.type ~= "pdu" end } do
          if unit.unit == "kW" then sum = sum + unit.free end
        end
        return sum
      end
      assert(f.pdu[1]:allocate { job = 1, amount = 5 })
      local list = f.graph:walk { start = f.cluster, type = "node", best = 1, evaluate = watts_left }
      assert.equal("node4=6", scored(list))
    end)

    it("[W6] start from the evaluating filter of a policy in its sandbox", function()
      local policy = require("weir.core").policy_source([[
        return { name = "power", evaluate = function(node)
          local left
          node:graph():walk { subsystem = "power", start = node, upward = true, type = "pdu",
            visit = function(pdu) left = pdu.free return false end }
          return left
        end }]], "power")
      assert(f.pdu[1]:allocate { job = 1, amount = 5 })
      local e = weir.engine { resources = f.graph, policy = assert(policy) }
      assert.equal("node4", assert(e:match "slot=1/node"):vertices()[1].vertex.name)
    end)

    it("refuse a subsystem that is not there", function()
      assert.error_matches(function() f.graph:walk { subsystem = "water" } end, "there is no subsystem 'water'")
    end)
  end)

  describe("that do not come to their end", function()
    it("call back until false is returned", function()
      local seen = {}
      local ended = g:walk { type = "node", visit = function(v, event, depth)
        seen[#seen + 1] = ("%s %s %d"):format(v.name, event, depth)
        return v.id < 1
      end }
      assert.is_false(ended)
      assert.same({ "node0 pre 2", "node1 pre 2" }, seen)
    end)

    it("call back to the end when nothing is returned", function()
      local n = 0
      assert.is_true(g:walk { visit = function() n = n + 1 end })
      assert.equal(g:count(), n)
    end)

    it("are over when the loop is left", function()
      local step, walk, _, closing = g:walk {}
      for v in step, walk, nil, closing do
        if v.type == "node" then break end
      end
      assert.error_matches(step, "the walk is closed")
    end)

    it("pass an error of a filter on, and are over", function()
      assert.error_matches(function() names(g:walk { prune = function() error "no more" end }) end, "no more")
      assert.error_matches(function() names(g:walk { order_children = function() error "no order" end }) end, "no order")
      assert(g:check())
    end)

    -- Changes during a walk, and the errors of the walk.
    local CHANGES = {
      { "a vertex that goes", function() g:unlink(g "/cluster0/rack1") end, "the graph changed while it was walked" },
      { "a vertex that comes", function() g:add(g:root(), { type = "rack" }) end, "the graph changed while it was walked" },
      { "the graph that is closed", function() g:close() end, "the graph was closed while it was walked" },
    }
    local WALKS = {
      { "a loop", function(change)
        for _ in g:walk {} do change() end
      end },
      { "a loop in breadth", function(change)
        for _ in g:walk { order = "breadth" } do change() end
      end },
      { "a pruning filter", function(change) names(g:walk { prune = function() change() return true end }) end },
      { "an evaluating filter", function(change) g:walk { evaluate = function() change() return 1 end } end },
      { "an order of children", function(change) names(g:walk { order_children = function() change() return true end }) end },
      { "a callback", function(change) g:walk { visit = change } end },
    }

    for _, change in ipairs(CHANGES) do
      for _, walk in ipairs(WALKS) do
        it(("say so: %s in %s"):format(change[1], walk[1]), function()
          assert.error_matches(function() walk[2](change[2]) end, change[3])
        end)
      end
    end

    it("do not mind data that change", function()
      assert.equal("node0 node1 node2 node3", names(g:walk { type = "node", prune = function(v)
        v.tags.met = true
        v.state = "draining"
        return true
      end }))
    end)
  end)

  -- Senseless options, and their messages.
  local REFUSED = {
    { { order = "sideways" }, "pre, post, both or breadth expected, got 'sideways'" },
    { { order = "both", evaluate = function() end }, "pre, post, breadth expected, got 'both'" },
    { { prune = 7 }, "field 'prune': function or list of functions expected, got number" },
    { { prune = { print, 7 } }, "field 'prune': number 2 in the list is no function but a number" },
    { { evaluate = "high" }, "field 'evaluate': function or list of functions expected, got string" },
    { { evaluate = function() return "high" end }, "evaluate must return a number, nil or false, not string" },
    { { evaluate = function() return 0 / 0 end }, "a score that is not a number" },
    { { best = 3 }, "field 'best': a count above 0, with evaluate" },
    { { best = -1, evaluate = print }, "field 'best'" },
    { { visit = 7 }, "field 'visit'" },
    { { visit = print, evaluate = print }, "without evaluate" },
    { { order_children = true }, "field 'order_children': function expected, got boolean" },
    { { order = "breadth", order_children = print }, "no such order for a walk in breadth" },
    { { fields = "path" }, "field 'fields': at most 8 of type, id, size, free, rank, name, state and index expected, got path" },
    { { fields = { "id", 7 } }, "expected, got 7" },
    { { fields = { "id", "id", "id", "id", "id", "id", "id", "id", "id" } }, "at most 8" },
    { { fields = true }, "expected, got true" },
    { { start = "/cluster0" }, "field 'start': vertex expected, got string" },
    { { purne = print }, "there is no option 'purne'" },
  }

  for _, case in ipairs(REFUSED) do
    it("refuse: " .. case[2], function()
      assert.error_matches(function() g:walk(case[1]) end, case[2], 1, true)
    end)
  end

  it("with an order of children survive an order that makes no sense", function()
    local big <close> = assert(weir.synthetic "cluster:1 node:100")
    local n, rnd = 0, 0
    for _ in big:walk { order_children = function()
      rnd = (rnd * 7 + 3) % 11
      return rnd < 5
    end } do
      n = n + 1
    end
    assert.equal(101, n)
  end)
end)
