-- Named choices: `select` as data. On random machines with random histories they choose what the description says
-- (spec/support/choices.lua), and the bundled policies choose what their former versions in Lua chose
-- (spec/support/old_policies), also where the engine uses its indices.
local choices = require "spec.support.choices"
local dice = require "spec.support.dice"
local scale = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1
local weir = require "weir"

local OLD = "spec/support/old_policies/"
local SHAPES = { "slot=1/node", "slot=2/node", "slot=3/node", "slot=5/node", "slot=9/node", "slot=2-6/node", "slot=4/core",
  "slot=9/core", "slot=3/core=2", "slot=2/[core=2;gpu]", "slot=2/node/core=2", "rack/slot=2/node", "node=2/slot=2/core",
  "slot=1/[node;core=3]", "socket=2/slot/core=2", "node=2-4/slot=1/core", "slot=2/node/[core=2;gpu]" }

-- A machine of racks of different sizes, with properties, and nodes below switches.
local function machine(roll)
  local racks = {}
  for i = 1, 1 + roll(4) do racks[i] = ("rack:1[node:%d[socket:2[core:2 gpu:%d]]]"):format(1 + roll(7), roll(2)) end
  local g = assert(weir.synthetic("cluster:1 [" .. table.concat(racks, " ") .. "]"))
  local source, switches = g:add(nil, { type = "switch_source" }), {}
  for i = 1, 1 + roll(4) do
    switches[i] = g:add(nil, { type = i % 3 == 0 and "hub" or "switch", id = i - 1 })
    g:add_edge(i > 3 and switches[i - 2] or source, switches[i], { subsystem = "network", type = "supplies" })
  end
  for i, v in ipairs(g:find "type=node") do
    if roll(6) > 1 then g:add_edge(switches[roll(#switches)], v, { subsystem = "network", type = "supplies" }) end
    if roll(5) > 1 then v.properties.perf_class = tostring(roll(4)) end
    if roll(3) > 1 then v.properties.group = "ring" .. roll(2) end
    if roll(3) > 1 then v.properties.position = tostring(i + roll(2)) end
    if roll(4) > 1 then v.properties.colour = ({ "red", "green" })[roll(2)] end
  end
  return g
end

local function choice_of(g, shape, policy)
  local e = weir.engine { resources = g, policy = policy }
  local a, why, code = e:match(shape, { mode = "preview", duration = 100 })
  assert(a or code == "busy" or code == "infeasible", why)
  local names = {}
  for i, pick in ipairs(a and a:vertices() or {}) do names[i] = pick.vertex.path:gsub("^/cluster0/", "") end
  return a and table.concat(names, " ") or code
end

local ancestor = function(kind) return function(v) return v.type == kind and v or v:ancestor(kind) end end
local function property(kind, key)
  return function(v)
    local at = kind and ancestor(kind)(v) or not kind and v
    return at and at.properties[key]
  end
end
local function number(f) return function(v) return tonumber(f(v)) end end
local function id(v) return v.id or v.index end

-- {data, oracle}
local CHOICES = {
  { { "runs" }, choices.runs(function() end, id) },
  { { "shortest" }, choices.shortest(function() end, id) },
  { { "shortest", group = "properties.group", position = "properties.position" },
    choices.shortest(property(nil, "group"), function(v) return tonumber(v.properties.position) or id(v) end) },
  { { "runs", group = "node" }, choices.runs(ancestor "node", id) },
  { { "fewest", group = "rack" }, choices.fewest(ancestor "rack") },
  { { "fewest" }, choices.fewest(function(v) return v:parent() end) },
  { { "fewest", group = "properties.colour" }, choices.fewest(property(nil, "colour")) },
  { { "fewest", group = "node.properties.colour" }, choices.fewest(property("node", "colour")) },
  { { "fewest", group = { property = "colour", type = "node" } }, choices.fewest(property("node", "colour")) },
  { { "fewest", group = function(v) return v.id and v.id % 3 end }, choices.fewest(function(v) return v.id and v.id % 3 end) },
  { { "fewest", group = function(v) return v:parent() end }, choices.fewest(function(v) return v:parent() end) },
  { { "fewest", group = "nothing" }, choices.fewest(function() end) },
  { { "each" }, choices.each(function(v) return v:parent() end) },
  { { "each", group = "rack" }, choices.each(ancestor "rack") },
  { { "each", group = "node.properties.colour" }, choices.each(property("node", "colour")) },
  { { "closest", by = "node.properties.perf_class" }, choices.closest(number(property("node", "perf_class"))) },
  { { "closest", by = "properties.perf_class" }, choices.closest(number(property(nil, "perf_class"))) },
}

local function evaluate(v) return (v.id or 0) % 4 end

-- {"one"} takes what {"fewest"} takes, or nothing where that is more than one rack.
local function one_rack(g, shape, order)
  local fewest, racks = choice_of(g, shape, { order = order, select = { "fewest", group = "rack" } }), {}
  for rack in fewest:gmatch "rack%d+" do racks[rack] = true end
  if not fewest:find "rack" or not next(racks, next(racks)) then return fewest end
  return "busy"
end

-- Changes the machine: jobs come and go, time passes, vertices go down and up.
local function step(g, e, roll, jobs)
  local what, nodes = roll(9), g:find "type=node"
  if what <= 4 then
    assert(e:use(({ "spread", "network", "contiguous", "low" })[roll(4)]))
    local options = { duration = roll(3) == 1 and 10 or 200, mode = roll(3) == 1 and "reserve" or "now" }
    local a, why, code = e:match(SHAPES[roll(#SHAPES)], options)
    assert(a or code == "busy" or code == "infeasible", why)
    jobs[#jobs + 1] = a and a.id
  elseif what == 5 then
    assert(e:advance(e:now() + roll(20)))
  elseif what <= 7 then
    local v = nodes[roll(#nodes)]
    if roll(4) == 1 then v = v:parent() end
    if roll(4) == 1 then v = g:find "type=core"[roll(12)] or v end
    v.state = v.state == "up" and "down" or "up"
  elseif what == 8 and #jobs > 0 then
    local job = table.remove(jobs, roll(#jobs))
    if e:job(job) then assert(e:release(job)) end
  else
    local v = nodes[roll(#nodes)]
    v.properties[({ "colour", "perf_class", "group" })[roll(3)]] = tostring(roll(3))
  end
end

describe("a named choice", function()
  for seed = 1, 8 * scale do
    it("is what its description says, on machine " .. seed, function()
      local roll = dice(seed)
      local g <close> = machine(roll)
      local e, jobs, others = weir.engine { resources = g }, {}, 0
      for _ = 1, 6 do
        for _ = 1, roll(5) do step(g, e, roll, jobs) end
        local order = ({ { "id" }, { "-id", "-index" }, "size", { "node.properties.perf_class" } })[roll(4)]
        local score = roll(3) == 1 and evaluate or nil
        for i, case in ipairs(CHOICES) do
          local shape = SHAPES[roll(#SHAPES)]
          local chosen = choice_of(g, shape, { order = order, select = case[1], evaluate = score })
          assert.equal(choice_of(g, shape, { order = order, select = case[2], evaluate = score }), chosen,
            ("%d: %s by %s"):format(i, shape, case[1][1]))
          if chosen ~= choice_of(g, shape, { order = order, evaluate = score }) then others = others + 1 end
        end
        for n = 1, 4 do
          local shape = ("slot=%d/node"):format(n)
          assert.equal(one_rack(g, shape, order), choice_of(g, shape, { order = order, select = { "one", group = "rack" } }), shape)
        end
        assert(g:check())
      end
      assert.is_true(others > 3 or seed > 8, others .. " choices differ from the order")
    end)

    it("of a bundled policy is what it was in Lua, on machine " .. seed, function()
      local roll = dice(seed + 1000)
      local g <close> = machine(roll)
      local e, jobs = weir.engine { resources = g }, {}
      for _ = 1, 8 do
        for _ = 1, roll(5) do step(g, e, roll, jobs) end
        for _, name in ipairs { "alike", "contiguous", "network", "spread" } do
          for _ = 1, 2 do
            local shape = SHAPES[roll(#SHAPES)]
            assert.equal(choice_of(g, shape, OLD .. name .. ".lua"), choice_of(g, shape, name), name .. " " .. shape)
          end
        end
      end
      assert(g:check())
    end)
  end

  -- Machines whose cores and gpus lie in sockets, in NUMA domains, or straight in the nodes; and with gpus in one socket.
  local DOMAINS = { "cluster:1 node:3 socket:2 core:4 gpu:2", "cluster:1 node:2 socket:2 numanode:2 core:3 gpu:1",
    "cluster:1 node:4 core:4 gpu:2", "cluster:1 rack:2 node:2 [socket:1[core:4] socket:1[core:4 gpu:3]]",
    "cluster:1 node:2 [socket:2[core:4] gpu:2]", "cluster:1 socket:3 core:4 gpu:2" }
  local BESIDE = { "slot=1/[core=2;gpu=1]", "slot=2/[core=2;gpu=1]", "slot=3/[core=1;gpu=1]", "slot=1/node/[core=3;gpu=2]",
    "slot=2/[core=3;gpu=1]", "slot=1/core=3", "slot=1/gpu", "slot=1/node", "core=2", "node=2/slot=1/[core=2;gpu=1]", "gpu=2" }

  for seed = 1, 6 * scale do
    it("of resources beside one another is what it was in Lua, on machine " .. seed, function()
      local roll = dice(seed + 2000)
      local g <close> = assert(weir.synthetic(DOMAINS[(seed - 1) % #DOMAINS + 1]))
      local e, jobs = weir.engine { resources = g, policy = "high" }, {}
      for _ = 1, 25 do
        if roll(3) == 1 and #jobs > 0 then
          assert(e:release(table.remove(jobs, roll(#jobs))))
        else
          local job = e:match(BESIDE[roll(#BESIDE)])
          jobs[#jobs + 1] = job and job.id
        end
        for _, shape in ipairs(BESIDE) do
          assert.equal(choice_of(g, shape, OLD .. "gpu_affinity.lua"), choice_of(g, shape, "gpu_affinity"), shape)
        end
      end
      assert(g:check())
    end)
  end

  it("of resources beside one another costs nothing where there is one resource only", function()
    for _, shape in ipairs { "slot=1/node", "slot=40/node", "slot=1/core=2" } do
      local visits = {}
      for i, racks in ipairs { 4, 40 } do
        local e = assert(weir.engine { resources = ("cluster:1 rack:%d node:30 core:4 gpu:1"):format(racks), policy = "gpu_affinity" })
        assert(e:match(shape))
        assert.equal(0, e:stats().callbacks)
        visits[i] = e:stats().visited
      end
      assert.is_true(visits[2] <= visits[1] + 12 and visits[2] < 140, ("%s: %d visits, then %d"):format(shape, visits[1], visits[2]))
    end
  end)

  -- {select, part of the message}
  for _, case in ipairs {
    { "rnus", 'there is no choice "rnus" (did you mean "runs"?)' },
    { { "fewst", group = "rack" }, 'there is no choice "fewst" (did you mean "fewest"?)' },
    { { "everything" }, 'there is no choice "everything"; there are runs, shortest, fewest, one, each, closest, beside' },
    { { "beside" }, '"beside" needs domain = "TYPE+TYPE"' },
    { { "beside", group = "rack" }, '"beside" has no key \'group\'; it has sort, domain' },
    { { "beside", domain = 3 }, "domain: string expected, got number" },
    { {}, 'a word comes first, such as {"fewest", group = "rack"}, got nil' },
    { 7, "function, word or table expected, got number" },
    { { "fewest", gruop = "rack" }, '"fewest" has no key \'gruop\' (did you mean "group"?); it has sort, group' },
    { { "fewest", by = "properties.k" }, '"fewest" has no key \'by\'; it has sort, group' },
    { { "fewest", "rack" }, '"fewest" has no key \'number\'; it has sort, group' },
    { { "fewest", group = 8 }, "group: a type, a property, a table or a function expected, got number" },
    { { "fewest", group = "" }, "group: the string is empty, too long, or has a zero byte" },
    { { "fewest", group = "properties." }, 'group: "properties.KEY" or "TYPE.properties.KEY" expected, got "properties."' },
    { { "fewest", group = { typ = "rack" } }, 'group: there is no key \'typ\' (did you mean "type"?); it has type, property, subsystem' },
    { { "fewest", group = { subsystem = "io" } }, "group: {property =, type =} or {subsystem =, type =} expected" },
    { { "fewest", group = "options.kind" }, "group: there is no option 'kind'" },
    { { "fewest", group = "options.dept" }, "group: there is no option 'dept' (did you mean \"depth\"?)" },
    { { "fewest", group = "options.depth" }, "group: option 'depth' must be a string, it is a number" },
    { { "closest" }, '"closest" needs by = "properties.KEY"' },
    { { "closest", by = "rack" }, 'by: "properties.KEY" or "TYPE.properties.KEY" expected, got "rack"' },
    { { "closest", by = function() end }, "by: a property expected, got function" },
    { { "runs", position = 3 }, "position: string expected, got number" },
    { { "runs", sort = "id" }, "sort: function expected, got string" },
    { { "each", emptiest = 1 }, "emptiest: boolean expected, got number" },
    { { "each", emptiest = true, group = "properties.k" }, "emptiest: the group must be a type, or the parent" },
  } do
    it("is refused: " .. case[2], function()
      local e, why, code = weir.engine { resources = "node:2", policy = { select = case[1], options = { depth = 3 } } }
      assert.is_nil(e)
      assert.equal("policy", code)
      assert.matches("policy (table): field 'select': " .. case[2], why, 1, true)
    end)
  end

  it("by the emptiest group is refused beside evaluate", function()
    local _, why = weir.engine { resources = "node:2", policy = { select = { "each", emptiest = true }, evaluate = evaluate } }
    assert.matches("emptiest: the policy has an evaluate, which decides already", why, 1, true)
  end)

  it("takes texts from options", function()
    local policy = { select = { "fewest", group = "options.level" }, options = { level = "rack" } }
    local g <close> = assert(weir.synthetic "cluster:1 [rack:1[node:3] rack:1[node:2]]")
    assert.equal("rack1/node3 rack1/node4", choice_of(g, "slot=2/node", policy))
  end)

  it("by a function asks once for each vertex, and again after a change", function()
    local asked = 0
    local policy = { select = { "fewest", group = function(v)
      asked = asked + 1
      return v.properties.colour
    end } }
    local g <close> = assert(weir.synthetic "cluster:1 node:6")
    local e = assert(weir.engine { resources = g, policy = policy })
    for _ = 1, 3 do assert(e:match("slot=2/node", { mode = "preview" })) end
    assert.equal(6, asked)
    for i = 2, 3 do g:find "type=node"[i].properties.colour = "red" end
    assert(e:match("slot=2/node", { mode = "preview" }))
    assert.equal(12, asked)
    local names = {}
    for i, pick in ipairs(assert(e:match("slot=2/node", { mode = "preview" })):vertices()) do names[i] = pick.vertex.name end
    assert.same({ "node1", "node2" }, names)
  end)

  it("by a function that fails, or gives no name, fails the match", function()
    for _, case in ipairs {
      { function() error "no" end, "choice_spec.lua" }, { function() return {} end, "it must return a string" },
      { function(v) return v.free end, "group may not read 'free', which changes without notice" },
      { function(v) return v:parent():below "core" end, "group may not read 'below'" },
      { function(v) return v.state end, "group may not read 'state'" },
    } do
      local e = assert(weir.engine { resources = "node:2", policy = { name = "p", select = { "each", group = case[1] } } })
      local _, why, code = e:match "slot=1/node"
      assert.equal("policy", code)
      assert.matches("^policy p: group: ", why)
      assert.matches(case[2], why, 1, true)
    end
  end)

  it("of one group that no group can hold makes the job wait, and is told as the reason", function()
    local g <close> = assert(weir.synthetic "cluster:1 rack:2 node:3 core:2")
    local e = assert(weir.engine { resources = g, policy = { name = "tight", select = { "one", group = "rack" } } })
    local first, second = assert(e:match("slot=2/node", { duration = 10 })), assert(e:match("slot=2/node", { duration = 20 }))
    assert.equal("busy", select(3, e:match "slot=2/node"))
    assert.matches("it wants one group for all that a job takes", weir.explain.text(assert(e:explain "slot=2/node")), 1, true)
    assert.equal(first.end_, assert(e:match("slot=2/node", { mode = "reserve" })).at)
    assert(e:release(second.id))
    assert.equal(0, assert(e:match("slot=3/node", { duration = 5 })).at)
    assert(g:check())
  end)

  it("applies in a chain after the scores of all parts", function()
    local function scored(f) return { evaluate = f } end
    local g <close> = assert(weir.synthetic "cluster:1 rack:2 node:4")
    local a, b = scored(function(v) return v.id % 2 end), scored(function(v) return v.id end)
    local rack = { options = { level = "rack" }, select = { "fewest", group = "options.level" } }
    g:find "name=node7"[1].state = "down"
    local one = weir.policy.chain { a, b, rack }
    assert.equal("rack1/node5 rack1/node6", choice_of(g, "slot=2/node", assert(one)))
    local spread = { select = { "each", emptiest = true } }
    assert.equal("rack0/node3 rack1/node6", choice_of(g, "slot=2/node", assert(weir.policy.chain { spread, b })))
  end)

  -- Visits of previews on a machine of so many racks, half full: {shape = visits}.
  local function visits(racks, policy, shapes)
    local g <close> = assert(weir.synthetic(("cluster:1 rack:%d node:18 core:2"):format(racks)))
    local source, switch = g:add(nil, { type = "switch_source" }), nil
    for i, v in ipairs(g:find "type=node") do
      if i % 36 == 1 then
        switch = g:add(nil, { type = "switch", id = i })
        g:add_edge(source, switch, { subsystem = "network", type = "supplies" })
      end
      g:add_edge(switch, v, { subsystem = "network", type = "supplies" })
      v.properties.perf_class = tostring(i % 7)
      if i * 7919 % 97 < 48 then v:allocate { job = 10000 + i } end
    end
    local e, out = assert(weir.engine { resources = g, policy = policy }), {}
    for _, shape in ipairs(shapes) do
      local a = assert(e:match(shape))
      out[shape] = e:stats().visited
      assert.equal(0, e:stats().callbacks)
      assert(e:release(a.id))
    end
    assert(g:check())
    return out
  end

  for _, policy in ipairs { "alike", "contiguous", "network", "spread" } do
    it("of the policy " .. policy .. " costs its answer, whatever the machine's size", function()
      local shapes = { "slot=1/node", "slot=64/node", "slot=64/node/core=2", "slot=8/core", "slot=1-3/node", "slot=1/core=2",
        "slot=64/core=2" }
      local small, large = visits(20, policy, shapes), visits(200, policy, shapes)
      for _, shape in ipairs(shapes) do
        local n = shape:find "64" and 1000 or 100
        assert.is_true(small[shape] <= n and large[shape] <= n, ("%s: %d and %d visits"):format(shape, small[shape], large[shape]))
      end
    end)
  end
end)

describe("runs of more than 64 nodes", function()
  it("are found as nodes come back, and go", function()
    local g <close> = weir.synthetic "cluster:1 node:300 core:1"
    local e = weir.engine { resources = g, policy = "contiguous" }
    for i = 0, 299 do assert(e:match("slot=1/node", { job = i + 1 })) end
    local function free(from, to)
      for i = from, to do assert(e:release(i + 1)) end
    end
    -- Takes a run: {first, last}.
    local function take(n)
      local a, low, high = assert(e:match(("slot=%d/node"):format(n), { job = 1000, duration = 5 })), 300, 0
      for _, pick in ipairs(a:vertices()) do low, high = math.min(low, pick.vertex.id), math.max(high, pick.vertex.id) end
      assert(g:check())
      assert(e:release(1000))
      return { low, high }
    end
    free(0, 63)
    free(200, 299)
    free(64, 130)
    assert.same({ { 0, 119 }, { 200, 299 } }, { take(120), take(100) })
    free(131, 199)
    assert.same({ 0, 289 }, take(290))
    g "/cluster0/node150".state = "down"
    assert.same({ { 151, 290 }, { 0, 149 } }, { take(140), take(150) }) -- of the shortest run that has room
    g "/cluster0/node150".state = "up"
    assert.same({ 0, 150 }, take(151))
  end)
end)
