-- Flows below groups (two racks, some nodes of each) against all choices tried one by one, and flows of a match in
-- another hierarchy, that of the flow itself too.
local weir = require "weir"
local dice = require "spec.support.dice"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1

-- A machine of 3 racks with 3 nodes, each node behind one or two of 4 switches of some times 10 units.
local function machine(roll)
  local g = weir.synthetic "cluster:1 rack:3 node:3"
  local source = assert(g:add(nil, { type = "source", id = 0, size = 1000 }))
  local switches, ways = {}, {}
  for i = 1, 4 do
    switches[i] = assert(g:add(nil, { type = "switch", id = i, size = 10 * roll(2) }))
    assert(g:add_edge(source, switches[i], { subsystem = "net", type = "conduit_of" }))
  end
  for n, node in ipairs(g:find "type=node") do
    ways[n] = {}
    for i in pairs { [roll(4)] = true, [roll(4)] = true } do
      ways[n][#ways[n] + 1] = i
      assert(g:add_edge(switches[i], node, { subsystem = "net", type = "conduit_of" }))
    end
  end
  return g, switches, ways
end

-- Whether each node of a list gets 10 units, by trying all ways.
local function serves(left, ways, nodes, at)
  if at > #nodes then return true end
  for _, i in ipairs(ways[nodes[at]]) do
    if left[i] >= 10 then
      left[i] = left[i] - 10
      local done = serves(left, ways, nodes, at + 1)
      left[i] = left[i] + 10
      if done then return true end
    end
  end
  return false
end

-- Whether some choice of `racks` racks with `each` nodes is served.
local function choose(left, ways, racks, each, rack, chosen)
  if racks == 0 then return serves(left, ways, chosen, 1) end
  if rack > 3 then return false end
  if choose(left, ways, racks, each, rack + 1, chosen) then return true end
  for set = 0, 7 do
    local list = { table.unpack(chosen) }
    for n = 0, 2 do
      if set >> n & 1 == 1 then list[#list + 1] = 3 * (rack - 1) + n + 1 end
    end
    if #list == #chosen + each and choose(left, ways, racks - 1, each, rack + 1, list) then return true end
  end
  return false
end

describe("flows to nodes of several racks [G8][RFC4b:141]", function()
  it("are found wherever some choice of racks and nodes has one", function()
    local answers = { [true] = 0, [false] = 0 }
    for seed = 1, math.max(1, math.floor(150 * SCALE)) do
      local roll = dice(seed)
      local g, switches, ways = machine(roll)
      local e = weir.engine { resources = g }
      local racks, each, left = roll(2) + 1, roll(3), {}
      for i, v in ipairs(switches) do left[i] = v.size end
      local expected = choose(left, ways, racks, each, 1, {})
      local a, why, code = e:match(("rack=%d/slot=%d/node/net=10"):format(racks, each))
      assert.equal(expected, a ~= nil, ("seed %d: %d racks, %d nodes: %s"):format(seed, racks, each, why))
      assert.equal(expected and nil or not expected and "infeasible" or nil, code, seed)
      assert(g:check())
      answers[expected] = answers[expected] + 1
      g:close()
    end
    assert.is_true(SCALE < 1 or answers[true] > 20 and answers[false] > 20, answers[true])
  end)

  it("are refused without a search where no rack can be served by itself", function()
    local g = weir.synthetic "cluster:1 rack:40 node:6"
    local source = assert(g:add(nil, { type = "source", id = 0, size = 1000 }))
    for _, rack in ipairs(g:find "type=rack") do
      local switch = assert(g:add(nil, { type = "switch", id = rack.id, size = 15 }))
      assert(g:add_edge(source, switch, { subsystem = "net", type = "conduit_of" }))
      for node in rack:children() do assert(g:add_edge(switch, node, { subsystem = "net", type = "conduit_of" })) end
    end
    local e = weir.engine { resources = g }
    assert.equal("infeasible", select(3, e:match "rack=2/slot=2/node/net=9"))
    assert.is_true(e:stats().visited < 20000, e:stats().visited)
    g:close()
  end)
end)

-- 3 racks of 4 nodes; power unit i feeds every third node from i on, and has 100 kW.
local function powered()
  local g = weir.synthetic "cluster:1 rack:3 node:4 core:2"
  local feed = assert(g:add(nil, { type = "feed", id = 0, size = 250, unit = "kW" }))
  local nodes = g:find "type=node"
  for i = 0, 2 do
    local pdu = assert(g:add(nil, { type = "pdu", id = i, size = 100, unit = "kW" }))
    assert(g:add_edge(feed, pdu, { subsystem = "power", type = "supplies" }))
    for n = i, 11, 3 do assert(g:add_edge(pdu, nodes[n + 1], { subsystem = "power", type = "supplies" })) end
  end
  return g
end

local function paths(a)
  local list = {}
  for i, pick in ipairs(a:vertices()) do list[i] = pick.vertex.path .. (pick.exclusive and "" or "=" .. pick.amount) end
  table.sort(list)
  return table.concat(list, " ")
end

describe("flows in the hierarchy that a match searches in [G8][G6]", function()
  local g, e
  before_each(function()
    g = powered()
    e = weir.engine { resources = g }
  end)
  after_each(function() g:close() end)

  it("are units of the vertices above in that hierarchy", function()
    local a = assert(e:match("pdu=1/slot=2/node/power=40", { subsystem = "power" }))
    assert.equal("/cluster0/rack0/node0 /cluster0/rack0/node3 /feed0=80 /pdu0=80", paths(a))
    assert.equal("/cluster0/rack0/node1 /cluster0/rack1/node4 /feed0=80 /pdu1=80",
      paths(assert(e:match("pdu=1/slot=2/node/power=40", { subsystem = "power" }))))
  end)

  it("bound what fits below a vertex", function()
    assert.equal("infeasible", select(3, e:match("pdu=1/slot=3/node/power=40", { subsystem = "power" })))
    assert(e:match("pdu=1/slot=3/node/power=30", { subsystem = "power" }))
  end)

  it("are given back with the job", function()
    assert(e:release(assert(e:match("slot=5/node/power=50", { subsystem = "power" })).id))
    assert.equal(250, g:find("type=feed")[1].free)
    assert(e:match("slot=5/node/power=50", { subsystem = "power" }))
    assert.equal("busy", select(3, e:match("slot=1/node/power=1", { subsystem = "power" })))
    assert(g:check())
  end)

  it("are taken by jobs that get whole racks, for the nodes that they asked for", function()
    local a = assert(e:match("slot=3/node/power=20", { subsystem = "containment:rack" }))
    assert.equal("/cluster0/rack0 /feed0=60 /pdu0=20 /pdu1=20 /pdu2=20", paths(a))
  end)

  it("go with a policy for that hierarchy: under units with 40 kW left, in few racks, 20 kW each", function()
    assert(g:find("type=pdu and id=0")[1]:allocate { job = 90, amount = 70 })
    assert(e:use { name = "cool", subsystem = "power", prune = function(v) return v.type ~= "pdu" or v.free >= 40 end,
      select = { "fewest", group = { subsystem = "containment", type = "rack" } } })
    assert.equal("/cluster0/rack0/node1 /cluster0/rack0/node2 /feed0=40 /pdu1=20 /pdu2=20",
      paths(assert(e:match "slot=2/node/power=20")))
  end)

  it("are explained by the minimum cut", function()
    local text = weir.explain.text(assert(e:explain("pdu=1/slot=3/node/power=40", { subsystem = "power" })))
    assert.matches("At most 2 of 3 slots fit", text)
    assert.matches("feed0 has 250 in",
      weir.explain.text(assert(e:explain("slot=9/node/power=30", { subsystem = "power" }))))
  end)

  it("are gone from a hierarchy taken as a graph of its own once that is changed", function()
    local view = assert(g:hierarchy "power")
    local own = weir.engine { resources = view }
    assert(own:match "pdu=1/slot=2/node/power=40")
    assert(view:add(view:root(), { type = "pdu", id = 9 }))
    assert.equal("infeasible", select(3, own:match "pdu=1/slot=2/node/power=40"))
    assert(view:check())
    view:close()
  end)
end)
