-- RFC 31 constraints: the nodes that satisfy a constraint, and that a match does not walk through excluded nodes.
--   C1 operators and their empty cases   C2 refused constraints   C3 the cost of a match   C4 changes of the machine
--   C5 vertices held as a whole

local missing = require "spec.support.missing"
local weir = require "weir"

local DATA = os.getenv "WEIR_DATA" or "../shared/data"

local function all(n, f)
  local list = weir.array {}
  for i = 1, n do list[i] = f and f(i) or {} end
  return list
end

-- A jobspec of one slot under a constraint.
local function jobspec(constraint, with, count)
  return { resources = { { type = "slot", count = count or 1, label = "s", with = with } },
    attributes = { system = { constraints = constraint } } }
end

local NODE, RACK = { { type = "node", count = 1 } }, { { type = "rack", count = 1 } }

-- ---- one node --------------------------------------------------------------------------------------------------

local NONE = weir.array {}
local HOLDS = { -- constraint, whether it holds for node foo0 of rank 7, with the properties xx, yy=1 and zz@gpu
  { {}, true }, { { ["and"] = NONE }, true }, { { ["or"] = NONE }, true }, { { ["not"] = NONE }, false },
  { { properties = NONE }, true }, { { hostlist = NONE }, false }, { { ranks = NONE }, false },
  { { properties = { "xx", "yy" } }, true }, { { properties = { "xx", "qq" } }, false }, { { properties = { "^xx" } }, false },
  { { properties = { "^qq", "xx" } }, true }, { { properties = { "x" } }, false }, { { properties = { "foo0" } }, true },
  { { properties = { "^foo0" } }, false }, { { properties = { "foo1" } }, false },
  { { properties = { "zz" } }, true }, { { properties = { "zz@gpu" } }, true }, { { properties = { "zz@core" } }, false },
  { { properties = { "^zz" } }, false }, { { hostlist = { "foo[1-3],foo0" } }, true }, { { hostlist = { "foo[1-3]", "bar" } }, false },
  { { hostlist = { "foo[0-999999999]" } }, true }, { { hostlist = { "foo[00-10]" } }, false },
  { { ranks = { "0-6", "8" } }, false }, { { ranks = { "0-6", "7" } }, true }, { { ranks = { "5-4294967295" } }, true },
  { { ["not"] = { { properties = { "xx" } }, { properties = { "qq" } } } }, true },
  { { ["not"] = { { ["or"] = { { ranks = { "7" } } } } } }, false },
  { { ["or"] = { { ranks = { "8" } }, { hostlist = { "foo0" } } } }, true },
  { { properties = { "xx" }, ranks = { "1" } }, false }, { { properties = { "xx" }, ranks = { "7" } }, true },
}

local REFUSED = { -- JSON, message
  { "[]", "constraint must be JSON object" }, { "3", "constraint must be JSON object" },
  { '{"xor":[]}', 'unknown constraint operator "xor"; known: and, or, not, properties, hostlist, ranks' },
  { '{"or":3}', "or operator value must be an array, not an integer" },
  { '{"properties":"xx"}', "properties value must be an array, not a string" },
  { '{"ranks":[3]}', "ranks value must be a list of strings; element 0 is an integer" },
  { '{"properties":["a","b|c"]}', "invalid character '|' in property \"b|c\"" },
  { '{"properties":["^"]}', "a property must have 1 to 65536 bytes, not 0" },
  { '{"ranks":["0","2,1"]}', "invalid idset '2,1' in [\"0\",\"2,1\"]" },
  { '{"hostlist":["n[1-"]}', "invalid hostlist 'n[1-' in [\"n[1-\"]" },
  { '{"and":[{"or":[7]}]}', "constraint must be JSON object" }, { '{"and":[', "not valid JSON" },
  { ('{"not":['):rep(65) .. "{}" .. ("]}"):rep(65), "operators are nested more than 64 deep" },
}

-- Makes a machine of a single node; returns the graph and the node.
local function lone(rank, properties)
  local g = weir.recipe { type = "cluster",
    { type = "node", name = "foo0", rank = rank, properties = properties, { type = "core" } } }
  return g, g:find("type=node")[1]
end

-- Whether a node of the graph can be allocated under a constraint.
local function gets(g, constraint)
  local a, _, code = weir.engine { resources = g }:match(jobspec(constraint, NODE), { mode = "preview" })
  return code or #a:vertices() == 1
end

describe("a constraint", function()
  for _, row in ipairs(HOLDS) do
    it("[C1] " .. weir.json.encode(row[1]) .. (row[2] and " holds" or " does not hold"), function()
      local g <close>, node = lone(7, { xx = "", yy = "1", ["zz@gpu"] = "" })
      assert.equal(row[2], assert(weir.constraint(row[1])):match(node))
      assert.equal(row[2] or "infeasible", gets(g, row[1]))
    end)
  end

  for _, row in ipairs(REFUSED) do
    it("[C2] is refused: " .. row[2], function()
      local c, why = weir.constraint(row[1])
      assert.is_nil(c)
      assert.is_truthy(why:find(row[2], 1, true), why)
    end)
  end

  local file = io.open(DATA .. "/codec/constraint_match.json")
  if not file then return pending("[C1] " .. missing.data "codec/constraint_match.json") end
  local tables = assert(weir.json.decode(file:read "a")).tables
  file:close()
  for _, row in ipairs(tables.match_tests) do
    if row[2] ~= weir.null then
      it("[C1] codec/constraint_match.json: " .. row[1], function()
        local g <close>, node = lone(0, { xx = "", yy = "" })
        assert.equal(row[3], assert(weir.constraint(row[2])):match(node))
        assert.equal(row[3] or "infeasible", gets(g, weir.json.decode(row[2])))
      end)
    end
  end
  for _, row in ipairs(tables.validate_tests) do
    it("[C2] codec/constraint_match.json: " .. row[1], function()
      local c, why = weir.constraint(row[2])
      assert.equal(row[3], c ~= nil)
      if not c then assert.is_truthy(why:find(row[4], 1, true), why) end
    end)
  end
end)

-- ---- cost ---------------------------------------------------------------------------------------------------

-- 4096 nodes of 4 cores in 128 racks, named node0 to node4095; the number is the rank.
local RACKS, IN_RACK = 128, 32

local function fleet()
  local g = assert(weir.synthetic(("cluster:1 rack:%d node:%d core:4"):format(RACKS, IN_RACK)))
  local nodes = g:find "type=node"
  for i, node in ipairs(nodes) do node.rank = i - 1 end
  return g, nodes
end

describe("a match under a constraint", function()
  local graph, nodes, engine
  setup(function()
    graph, nodes = fleet()
    for _, i in ipairs { 70, 2000, 4000 } do nodes[i + 1].properties.fast = "" end
    for i, node in ipairs(nodes) do
      if i - 1 ~= 3333 then node.properties.old = "" end
    end
  end)
  teardown(function() graph:close() end)

  local function ask(constraint, resources)
    local request = jobspec(constraint)
    request.resources = resources
    local a, _, code = engine:match(request)
    local names = {}
    if a and a ~= true then
      for _, v in ipairs(a:vertices()) do names[#names + 1] = v.vertex.type == "node" and v.vertex.name or v.vertex.path end
      engine:release(a.id)
    end
    return code or table.concat(names, " "), engine:stats().visited
  end

  local ONE, THREE, FOUR = jobspec(nil, NODE).resources, jobspec(nil, NODE, 3).resources, jobspec(nil, NODE, 4).resources
  local CORES = jobspec(nil, { { type = "core", count = 3 } }).resources
  local CASES = { -- name, constraint, resources, under first and under high, most visits
    { "a rank", { ranks = { "3333" } }, ONE, "node3333", "node3333" },
    { "ranks", { ranks = { "70,2000,4000" } }, THREE, "node70 node2000 node4000", "node4000 node2000 node70" },
    { "a host", { hostlist = { "node3333" } }, ONE, "node3333", "node3333" },
    { "hosts, one of them there", { hostlist = { "node3333", "login[1-9999]" } }, ONE, "node3333", "node3333" },
    { "a name as a property", { properties = { "node3333" } }, ONE, "node3333", "node3333" },
    { "a property", { properties = { "fast" } }, THREE, "node70 node2000 node4000", "node4000 node2000 node70" },
    { "a negated property", { properties = { "^old" } }, ONE, "node3333", "node3333" },
    { "what is left by both", { ["and"] = { { properties = { "fast" } }, { ranks = { "100-3999" } } } }, ONE, "node2000", "node2000" },
    { "one or the other", { ["or"] = { { ranks = { "4095" } }, { hostlist = { "node4094" } } } }, ONE, "node4094", "node4095" },
    { "what is not excluded", { ["not"] = { { ranks = { "0-4000" } } } }, ONE, "node4001", "node4095" },
    { "cores in it", { ranks = { "3333" } }, CORES, "/cluster0/rack104/node3333/core0 /cluster0/rack104/node3333/core1 "
      .. "/cluster0/rack104/node3333/core2", "/cluster0/rack104/node3333/core3 /cluster0/rack104/node3333/core2 "
      .. "/cluster0/rack104/node3333/core1" },
    { "a rack around it", { ranks = { "3333" } }, { { type = "rack", count = 1, with = ONE } }, "node3333", "node3333" },
    { "more than it allows", { properties = { "fast" } }, FOUR, "infeasible", "infeasible" },
    { "nobody", { properties = { "faster" } }, ONE, "infeasible", "infeasible" },
    { "nobody at all", { ["not"] = NONE }, ONE, "infeasible", "infeasible" },
  }
  for i, policy in ipairs { "first", "high" } do
    describe("under " .. policy, function()
      setup(function() engine = weir.engine { resources = graph, policy = policy } end)
      for _, case in ipairs(CASES) do
        it("[C3] never walks through what it excludes: " .. case[1], function()
          local got, visited = ask(case[2], case[3])
          assert.equal(case[3 + i], got)
          assert.is_true(visited <= 100, visited .. " visits")
          assert(graph:check())
        end)
      end
      it("[C3] costs nothing where it excludes little", function()
        local _, visited = ask({ properties = { "^fast" } }, ONE)
        assert.is_true(visited <= 10, visited .. " visits")
      end)
      it("[C3] finds out cheaply that all it allows is in use", function()
        assert(engine:match(jobspec({ ranks = { "3333" } }, NODE)))
        local code, visited = ask({ ranks = { "3333" } }, ONE)
        for _, a in ipairs(engine:jobs()) do engine:release(a.id) end
        assert.equal("busy", code)
        assert.is_true(visited <= 100, visited .. " visits")
      end)
    end)
  end

  it("[C3] excludes nothing that is not in a node", function()
    local g <close> = weir.recipe { type = "cluster", { type = "core", id = 99 },
      { type = "rack", count = 20, { type = "node", count = 2, { type = "core" } } } }
    local a = assert(weir.engine { resources = g, policy = "low" }:match(jobspec({ ["not"] = NONE }, { { type = "core", count = 1 } })))
    assert.equal("/cluster0/core99", a:vertices()[1].vertex.path)
  end)

  it("[C3] does not take memory for each vertex", function()
    local g <close> = weir.synthetic "cluster:1 rack:20 node:32 core:64"
    local e = weir.engine { resources = g }
    assert(e:match(jobspec({}, NODE))) -- the index of the policy's order
    local before = g:bytes()
    assert.equal("node600", assert(e:match(jobspec({ hostlist = { "node600" } }, NODE))):vertices()[1].vertex.name)
    assert.is_true(g:bytes() - before < 64 * 640, "64 bytes a node")
  end)
end)

-- ---- changes ------------------------------------------------------------------------------------------------

-- The nodes matched under a constraint, match after match until none fits.
local function drained(g, constraint)
  local e, names = weir.engine { resources = g, policy = "first" }, {}
  repeat
    local a = e:match(jobspec(constraint, NODE))
    if a then names[#names + 1] = a:vertices()[1].vertex.path end
    assert(g:check())
  until not a
  for _, a in ipairs(e:jobs()) do e:release(a.id) end
  return table.concat(names, " ")
end

-- The expected nodes: each node is tested alone.
local function allowed(g, constraint)
  local c, names = assert(weir.constraint(constraint)), {}
  for _, v in ipairs(g:find "type=node") do
    if v.state == "up" and v:parent().state == "up" and c:match(v) then names[#names + 1] = v.path end
  end
  return table.concat(names, " ")
end

describe("the nodes that a constraint allows", function()
  local function machine()
    return assert(weir.recipe { type = "cluster",
      { type = "rack", count = 3, { type = "node", count = 40, { type = "core", count = 2 } } } })
  end
  local CHANGES = { -- title, constraint, change
    { "a property that is set", { properties = { "fast" } }, function(g) g("/cluster0/rack1/node50").properties.fast = "1" end },
    { "a property that is removed", { properties = { "^slow" } }, function(g)
      for _, v in ipairs(g:find "type=node") do v.properties.slow = "" end
      drained(g, { properties = { "^slow" } })
      g("/cluster0/rack2/node100").properties.slow = nil
    end },
    { "a property with a suffix", { properties = { "fast" } }, function(g) g("/cluster0/rack1/node50").properties["fast@gpu"] = "" end },
    { "a rank", { ranks = { "7-9" } }, function(g)
      g("/cluster0/rack1/node55").rank = 8
      g("/cluster0/rack0/node3").rank = 7
    end },
    { "a rank of what is around", { ranks = { "7" } }, function(g) g("/cluster0/rack1").rank = 7 end },
    { "a state", { ranks = { "100-119" } }, function(g)
      for i, v in ipairs(g:find "type=node") do v.rank = i - 1 end
      g("/cluster0/rack2/node101").state = "down"
      g("/cluster0/rack2/node119").state = "draining"
    end },
    { "a node that is taken out", { hostlist = { "node[70-90]" } }, function(g) g:unlink(g "/cluster0/rack1/node75") end },
    { "a machine that is added", { properties = { "new" } }, function(g)
      local more <close> = weir.recipe { type = "cluster",
        { type = "rack", id = 9, { type = "node", name = "late", properties = { "new" } } } }
      assert(g:merge(more))
    end },
  }
  for _, case in ipairs(CHANGES) do
    it("[C4] follow " .. case[1], function()
      local g <close> = machine()
      assert.equal(allowed(g, case[2]), drained(g, case[2]))
      case[3](g)
      local wanted = allowed(g, case[2])
      assert.is_true(#wanted > 0)
      assert.equal(wanted, drained(g, case[2]))
    end)
  end

  it("[C4] follow names that are made of properties and ranks", function()
    local g <close> = weir.recipe { type = "cluster", { type = "rack", count = 2, { type = "node", count = 20, name = "n-${id}-${bay}" } } }
    for i, v in ipairs(g:find "type=node") do v.properties.bay = tostring(i) end
    local c = { hostlist = { "n-17-x", "n-18-19" } }
    assert.equal(allowed(g, c), drained(g, c))
    g:find("type=node and id=17")[1].properties.bay = "x"
    assert.equal("/cluster0/rack0/n-17-x /cluster0/rack0/n-18-19", drained(g, c))
  end)

  it("[C4] include all of those that have one name", function()
    local g <close> = weir.recipe { type = "cluster", { type = "rack", count = 12, { type = "node", count = 3, scope = "local" } } }
    local c = { hostlist = { "node2" } }
    assert.equal(12, select(2, drained(g, c):gsub("node2", "")))
    assert.equal(allowed(g, c), drained(g, c))
  end)

  it("[C4] include nodes inside of nodes only where both are allowed", function()
    local g <close> = weir.recipe { type = "cluster", { type = "node", count = 12, { type = "board", { type = "node", count = 2 } } } }
    for i, v in ipairs(g:find "type=node") do v.rank = i end
    local e = weir.engine { resources = g }
    local function ask(ranks)
      local request = jobspec({ ranks = { ranks } }, NODE)
      request.resources = { { type = "board", count = 1, with = request.resources } }
      return e:match(request, { mode = "preview" })
    end
    assert.is_nil(ask "33")
    assert.equal(33, assert(ask "31,33"):vertices()[1].vertex.rank)
  end)

  -- Random machines, constraints and changes: a match gets exactly the allowed nodes, before and after.
  local random = math.random
  local function letter() return string.char(96 + random(4)) end
  local function property() return (random(3) == 1 and "^" or "") .. letter() end
  local function ranks()
    local lo = random(0, 70)
    return lo .. "-" .. lo + random(8)
  end
  local function hosts() return ("node[%d-%d],x"):format(random(0, 30), random(31, 70)) end
  local function some_constraint(depth)
    local kind = random(depth > 2 and 3 or 6)
    local name, make = ({ "properties", "ranks", "hostlist", "and", "or", "not" })[kind], ({ property, ranks, hosts })[kind]
    return { [name] = all(random(0, 2), make or function() return some_constraint(depth + 1) end) }
  end
  local function some_machine()
    local cluster = { type = "cluster" }
    for _ = 1, random(5) do
      local rack = { type = "rack", { type = "node", count = random(40), { type = "core" } } }
      if random(3) == 1 then table.insert(rack, random(#rack), { type = "switch", count = random(40) }) end
      if random(4) == 1 then rack = { type = "rack" } end
      if random(4) == 1 then rack = { type = "node", count = random(3) } end
      cluster[#cluster + 1] = rack
    end
    return assert(weir.recipe(cluster))
  end
  local function change(g)
    for _, v in ipairs(g:find "type=node or type=rack") do
      if random(4) == 1 then v.rank = random(0, 70) end
      if random(4) == 1 then v.properties[letter()] = random(2) == 1 and "" or nil end
      if random(40) == 1 then v.state = random(2) == 1 and "up" or "down" end
    end
    local node = g:find("type=node")[1]
    if node and random(3) == 1 then g:unlink(node) end
  end
  it("[C4] are those that it holds for, on random machines", function()
    for seed = 1, 25 * (tonumber(os.getenv "WEIR_SPEC_SCALE") or 1) do
      math.randomseed(seed)
      local g <close> = some_machine()
      local constraint = some_constraint(0)
      for step = 1, 3 do
        change(g)
        assert.equal(allowed(g, constraint), drained(g, constraint), ("seed %d, step %d"):format(seed, step))
      end
    end
  end)
end)

-- ---- vertices held as a whole ----------------------------------------------------------------------------------

describe("what is taken as a whole", function()
  local function ask(constraint, resources, mode)
    local g <close> = weir.recipe { type = "cluster",
      { type = "rack", { type = "node", properties = { "old" }, { type = "core" } }, { type = "node", { type = "core" } } },
      { type = "rack", { type = "node", count = 2, { type = "core" } } } }
    local a, _, code = weir.engine { resources = g }:match(jobspec(constraint, resources), { mode = mode })
    return code or a == true or a:vertices()[1].vertex.path
  end
  it("[C5] has no node that the constraint excludes", function()
    assert.equal("/cluster0/rack1", ask({ properties = { "^old" } }, RACK))
  end)
  it("[C5] has none, whatever is asked for in it", function()
    assert.equal("/cluster0/rack1", ask({ properties = { "^old" } }, { { type = "rack", count = 1, with = NODE } }))
  end)
  it("[C5] is infeasible where all have one", function()
    assert.equal("infeasible", ask({ hostlist = { "node[0,2]" } }, RACK, "feasible"))
    assert.equal(true, ask({ hostlist = { "node[2,3]" } }, RACK, "feasible"))
  end)
  it("[C5] is named where it is told why", function()
    local g <close> = weir.recipe { type = "cluster", { type = "rack", { type = "node", count = 2 } } }
    local e = weir.engine { resources = g }
    e:match(jobspec({ ranks = { "5" } }, RACK))
    assert.is_true(e:stats().constraint > 0)
  end)
end)
