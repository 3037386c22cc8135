-- Vertices with several parents in a hierarchy (nodes on two power units), through every entrance that matches: policies
-- with hooks, constraints, growth, the questions of simulators. Against all ways of dealing them out, tried one by one.
local weir = require "weir"
local dice = require "spec.support.dice"
local shared = require "spec.support.shared_parents"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1
local SEEDS = math.max(5, math.floor(60 * SCALE))

-- A machine of which some nodes are in use or down, and some nodes and units are marked bad.
local function scene(seed)
  local roll = dice(seed)
  local s = { roll = roll, seed = seed }
  s.g, s.on = shared.machine(roll)
  s.e = weir.engine { resources = s.g, granularity = "power" }
  s.nodes, s.units = s.g:find "type=node", s.g:find "type=unit"
  s.busy, s.bad_node, s.bad_unit = {}, {}, {}
  for n, node in ipairs(s.nodes) do
    local fate = roll(8)
    if fate == 1 then
      node:allocate { job = 900 + n }
      s.busy[n] = true
    elseif fate == 2 then
      node.state, s.busy[n] = "down", true
    elseif fate <= 4 then
      s.bad_node[n] = true
      node.properties.bad = "yes"
    end
  end
  for i, unit in ipairs(s.units) do
    if roll(5) == 1 then
      s.bad_unit[i] = true
      unit.properties.bad = "yes"
    end
  end
  s.groups, s.each = roll(3), roll(3)
  s.shape = ("unit=%d/slot=%d/node"):format(s.groups, s.each)
  return s
end

local function good_node(s) return function(n) return not s.busy[n] and not s.bad_node[n] end end
local function good_unit(s) return function(i) return not s.bad_unit[i] end end
local function any() return true end
local function idle(s) return function(n) return not s.busy[n] end end

-- The nodes of picks, as a set of numbers, after checks that they are what was asked for.
local function nodes_of(s, picks, free, wanted, told)
  local own, count = {}, 0
  for _, pick in ipairs(picks) do
    if pick.vertex.type == "node" then own[pick.vertex.id + 1], count = true, count + 1 end
  end
  assert.equal(s.groups * s.each, count, told)
  assert.is_true(shared.possible(s.on, function(n) return own[n] and free(n) end, s.groups, s.each, wanted), told)
end

-- By name: the policy, and which nodes and units it leaves.
local POLICIES = {
  ["a prune of nodes"] = { { name = "t", prune = function(v) return v.type ~= "node" or v.properties.bad == nil end }, good_node, any },
  ["a prune of units"] = { { name = "t", prune = function(v) return v.type ~= "unit" or v.properties.bad == nil end }, idle, good_unit },
  ["a prune of both"] = { { name = "t", prune = function(v) return v.properties.bad == nil end }, good_node, good_unit },
  ["an evaluate that leaves nodes out"] = {
    { name = "t", evaluate = function(v) return (v.type ~= "node" or v.properties.bad == nil) and v.id or nil end }, good_node, any,
  },
  ["an evaluate of all"] = { { name = "t", evaluate = function(v) return -v.id end }, idle, any },
  ["an order"] = { { name = "t", order = function(v) return -v.id end }, idle, any },
  ["a select"] = {
    { name = "t", select = function(candidates)
      local list = {}
      for i = #candidates, 1, -1 do list[#list + 1] = candidates[i] end
      return list
    end }, idle, any,
  },
  ["the fewest racks"] = { { name = "t", select = { "fewest", group = { subsystem = "containment", type = "cluster" } } }, idle, any },
  ["groups by a function"] = { { name = "t", select = { "each", group = function(v) return v.id % 2 end } }, idle, any },
  ["its text in a sandbox"] = { [[return { name = "t", prune = function(v) return v.properties.bad == nil end,
    evaluate = function(v) return v.id end }]], good_node, good_unit },
}

describe("vertices with several parents in a hierarchy [G3][RFC4b:101]", function()
  for name, row in pairs(POLICIES) do
    it("are dealt out for a policy with " .. name, function()
      local given = 0
      for seed = 1, SEEDS do
        local s = scene(seed)
        local policy = row[1]
        if type(policy) == "string" then policy = assert(require "weir.core".policy_source(policy, "t.lua")) end
        assert(s.e:use(policy))
        local free, wanted = row[2](s), row[3] == any and any or row[3](s)
        local told = ("seed %d, %s"):format(seed, s.shape)
        local expected = shared.possible(s.on, free, s.groups, s.each, wanted)
        local preview = s.e:match(s.shape, { mode = "preview" })
        assert.equal(expected, preview ~= nil, told)
        local a, why, code = s.e:match(s.shape)
        assert.equal(expected, a ~= nil, told)
        assert.equal(code == "infeasible", why ~= nil and why:find("never", 1, true) ~= nil, told)
        if a then
          given = given + 1
          nodes_of(s, a:vertices(), free, wanted, told)
          nodes_of(s, preview:vertices(), free, wanted, told)
        end
        assert(s.g:check())
        s.g:close()
      end
      assert.is_true(given > 0, given)
    end)
  end

  it("are dealt out within a constraint", function()
    local given = 0
    for seed = 1, SEEDS do
      local s = scene(seed)
      local request = { resources = { { type = "unit", count = s.groups, with = { { type = "slot", count = s.each, label = "t",
        with = { { type = "node", count = 1 } } } } } },
        attributes = { system = { constraints = { properties = { "^bad" } } } } }
      local told = ("seed %d, %s"):format(seed, s.shape)
      local a, why, code = s.e:match(request)
      local expected = shared.possible(s.on, good_node(s), s.groups, s.each)
      assert.equal(expected, a ~= nil, told .. tostring(why))
      if not a then
        local ever = shared.possible(s.on, function(n) return not s.bad_node[n] end, s.groups, s.each)
        assert.equal(ever and "busy" or "infeasible", code, told)
      else
        given = given + 1
        nodes_of(s, a:vertices(), good_node(s), any, told)
      end
      s.g:close()
    end
    assert.is_true(given > 0, given)
  end)

  for closed, close in pairs {
    ["is down"] = function(s, i) s.units[i].state = "down" end,
    ["a policy leaves out"] = function(s, i)
      local name = s.units[i].name
      assert(s.e:use { name = "t", prune = function(v) return v.name ~= name end })
    end,
  } do
    it("serve by another parent where one " .. closed .. ", also requests that name no parent", function()
      for seed = 1, SEEDS do
        local s = scene(seed)
        local dark = s.roll(4)
        close(s, dark)
        local left, told = 0, ("seed %d without unit %d"):format(seed, dark)
        for n in ipairs(s.nodes) do
          local served = false
          for _, i in ipairs(s.on[n]) do served = served or i ~= dark end
          if not s.busy[n] and served then left = left + 1 end
        end
        assert.is_nil(s.e:match(("slot=%d/node"):format(left + 1)), told)
        if left > 0 then assert(s.e:match(("slot=%d/node"):format(left), { mode = "preview" }), told) end
        local groups = s.e:match(s.shape) ~= nil
        assert.equal(shared.possible(s.on, idle(s), s.groups, s.each, function(i) return i ~= dark end), groups, told)
        s.g:close()
      end
    end)
  end

  it("are dealt out to units that hang on two feeds themselves, while one of these is up", function()
    local given = 0
    for seed = 1, SEEDS do
      local s = scene(seed)
      local feeds = {}
      for i = 1, 2 do
        feeds[i] = assert(s.g:add(nil, { type = "feed", id = i }))
        for _, unit in ipairs(s.units) do assert(s.g:add_edge(feeds[i], unit, { subsystem = "power", type = "supplies" })) end
      end
      local told = ("seed %d, %s"):format(seed, s.shape)
      local expected = shared.possible(s.on, idle(s), s.groups, s.each)
      for dark = 0, 2 do
        if dark > 0 then feeds[dark].state = "down" end
        assert.equal(expected and dark < 2, s.e:match(s.shape, { mode = "preview" }) ~= nil, told .. " without feed " .. dark)
      end
      given = given + (expected and 1 or 0)
      s.g:close()
    end
    assert.is_true(given > SEEDS / 10, given)
  end)

  it("are dealt out to a job that grows, which keeps what it has", function()
    local grown = 0
    for seed = 1, SEEDS do
      local s = scene(seed)
      local a = s.e:match("slot=1/node", { duration = 100 })
      if a then
        local had = #a:vertices()
        s.busy[a:vertices()[1].vertex.id + 1] = true
        local free = idle(s)
        local told = ("seed %d, %s"):format(seed, s.shape)
        local more = s.e:grow(a.id, s.shape)
        assert.equal(shared.possible(s.on, free, s.groups, s.each), more ~= nil, told)
        local picks = s.e:job(a.id):vertices()
        if more then
          grown = grown + 1
          local own = {}
          for _, pick in ipairs(picks) do own[#own + 1] = not s.busy[pick.vertex.id + 1] and pick or nil end
          nodes_of(s, own, free, any, told)
        else
          assert.equal(had, #picks, told)
        end
        assert(s.g:check())
      end
      s.g:close()
    end
    assert.is_true(grown > 0, grown)
  end)

  it("are dealt out for the questions of simulators: place begins at the earliest start, soonest is no later", function()
    local placed = 0
    for seed = 1, SEEDS do
      local s = scene(seed)
      local busy = {} -- by node: a list of {start, stop}
      local dark = s.roll(8)
      if s.units[dark] then s.units[dark].state = "down" end
      for n = 1, #s.nodes do busy[n] = s.busy[n] and { { 0, math.huge } } or {} end
      for job = 1, 6 do
        local groups, each, lasts = s.roll(2), s.roll(2), 10 * s.roll(3)
        local request = assert(weir.request(("unit=%d/slot=%d/node"):format(groups, each)))
        local starts, expected = { 0 }, nil
        for _, list in ipairs(busy) do
          for _, use in ipairs(list) do starts[#starts + 1] = use[2] end
        end
        table.sort(starts)
        for _, t in ipairs(starts) do
          expected = expected or t < math.huge and shared.possible(s.on, function(n)
            for _, use in ipairs(busy[n]) do
              if use[1] < t + lasts and t < use[2] then return false end
            end
            return true
          end, groups, each, function(i) return i ~= dark end) and t or nil
        end
        local told = ("seed %d, job %d, unit=%d/slot=%d/node for %d"):format(seed, job, groups, each, lasts)
        if expected then
          local bound = assert(s.e:soonest(request, job, 0, lasts))
          assert.is_true(bound <= expected, told)
          local start = s.e:place(request, job, 0, lasts, true, s.roll(2) == 1)
          assert.equal(expected, start, told)
          placed = placed + 1
          for _, pick in ipairs(s.e:job(job):vertices()) do
            if pick.vertex.type == "node" then table.insert(busy[pick.vertex.id + 1], { start, start + lasts }) end
          end
        end
      end
      assert(s.g:check())
      s.g:close()
    end
    assert.is_true(placed > SEEDS, placed)
  end)

  -- {units of a pool, request, nodes given; nil: it can never be met}
  for _, row in ipairs {
    { 1, "unit=2/slot=2/node", 4 }, { 1, "unit=3/slot=1/node" }, { 1, "unit=2/slot=3/node" }, { 1, "unit=1/slot=1/gpu" },
    { 2, "unit=2/slot=2/node", 2 }, { 2, "unit=2/slot=3/node", 3 }, { 2, "unit=3/slot=1/node", 2 }, { 2, "unit=4/slot=2/node", 4 },
    { 2, "unit=4/slot=3/node" },
  } do
    local units, shape, given = table.unpack(row)
    it(("below two pools of %d for %s, which is %s"):format(units, shape, given and "met" or "never met"), function()
      local g = weir.synthetic "cluster:1 node:4 core:1"
      for i = 1, 2 do
        local unit = assert(g:add(nil, { type = "unit", id = i, size = units }))
        for n, node in ipairs(g:find "type=node") do
          if n ~= i then assert(g:add_edge(unit, node, { subsystem = "power", type = "supplies" })) end
        end
      end
      local a, _, code = weir.engine { resources = g, granularity = "power" }:match(shape)
      assert.same({ given, not given and "infeasible" or nil }, { a and #a:vertices() or nil, code })
      assert(g:check())
    end)
  end

  it("are left out of what lies around a vertex, where a pool of a third hierarchy is not", function()
    local g = weir.synthetic "cluster:1 node:2 core:1"
    for i, node in ipairs(g:find "type=node") do
      assert(g:add_edge(assert(g:add(nil, { type = "unit", id = i })), node, { subsystem = "power", type = "supplies" }))
    end
    local switch, node = assert(g:add(nil, { type = "switch", id = 0, size = 10 })), g "/cluster0/node1"
    assert(g:add_edge(switch, node, { subsystem = "net", type = "connects" }))
    local e = weir.engine { resources = g, granularity = "power" }
    local a = assert(e:match("slot=1/[node;switch=1]", { mode = "preview", within = node }))
    assert.same({ node, switch }, { a:vertices()[1].vertex, a:vertices()[2].vertex })
    assert.is_nil((e:match("slot=2/node", { mode = "preview", within = node })))
  end)
end)
