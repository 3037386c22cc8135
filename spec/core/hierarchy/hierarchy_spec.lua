-- Matches in a hierarchy other than containment: against a second graph that has this hierarchy as its containment, in
-- random histories of matches in both hierarchies, releases, states and time; then what the histories do not have.
local core = require "weir.core"
local weir = require "weir"
local dice = require "spec.support.dice"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1

-- A cluster of 3 racks with 4 nodes and 3 cores each, every fourth node on one of 4 power units below one feed.
local function machine()
  local g = weir.recipe { type = "cluster", id = 0 }
  local pdus, at = {}, {}
  local cluster = g:root()
  for r = 0, 2 do
    local rack = assert(g:add(cluster, { type = "rack", id = r }))
    for n = 0, 3 do
      local node = assert(g:add(rack, { type = "node", id = 4 * r + n, rank = 4 * r + n }))
      at[4 * r + n] = node
      for c = 0, 2 do assert(g:add(node, { type = "core", id = 12 * r + 3 * n + c })) end
    end
  end
  local feed = assert(g:add(nil, { type = "feed", id = 0 }))
  for i = 0, 3 do
    pdus[i] = assert(g:add(nil, { type = "pdu", id = i, size = 10, unit = "kW" }))
    assert(g:add_edge(feed, pdus[i], { subsystem = "power", type = "supplies" }))
    for n = i, 11, 4 do assert(g:add_edge(pdus[i], at[n], { subsystem = "power", type = "supplies" })) end
  end
  return g
end

-- The same hierarchy of power as containment: the model.
local function model()
  local g = weir.recipe { type = "feed", id = 0 }
  for i = 0, 3 do
    local pdu = assert(g:add(g:root(), { type = "pdu", id = i, size = 10, unit = "kW" }))
    for n = i, 11, 4 do
      local node = assert(g:add(pdu, { type = "node", id = n, rank = n }))
      for c = 0, 2 do assert(g:add(node, { type = "core", id = 3 * n + c })) end
    end
  end
  return g
end

local function named(g)
  local list = {}
  for v in g:walk {} do list[v.name] = v end
  return list
end

-- The names of the cores that an allocation holds, and of other vertices with their units, sorted.
local function held(a, model_graph)
  local set = {}
  local function cores(v)
    if v.type == "core" then set[v.name] = true end
    for child in v:children() do cores(child) end
  end
  for _, pick in ipairs(a:vertices()) do
    local v = pick.vertex
    if pick.exclusive and v.type ~= "pdu" then cores(v)
    elseif pick.exclusive then
      set[v.name .. "!"] = true
      if model_graph then cores(v) end
    elseif pick.amount > 0 then set[v.name .. "=" .. pick.amount] = true end
  end
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return table.concat(list, " ")
end

local POWER = { "slot=2/node", "pdu=1/slot=3/node", "pdu=1/slot=2/node", "pdu=1/slot=2/core=2", "slot=1/pdu", "slot=5/core",
  "node=1/slot=2/core", "slot=13/pdu", "pdu=2/slot=2/node", "slot=1/node/core=3", "pdu=1/slot=4/node" }
local RACKS = { "slot=1/node", "rack=1/slot=2/node", "slot=1/rack", "slot=4/core", "rack=2/slot=1/node" }

-- One history: `real` and `plain` are the engines, of the machine and of the model.
local History = {}
History.__index = History

local function history(seed)
  local self = setmetatable({ roll = dice(seed), g = machine(), m = model(), jobs = {}, now = 0, down = {} }, History)
  local policy = { name = "by id", order = { "id" } }
  self.real = weir.engine { resources = self.g, policy = policy }
  self.plain = weir.engine { resources = self.m, policy = policy }
  self.names, self.of = named(self.m), named(self.g)
  for v in self.g:walk { subsystem = "power" } do self.of[v.name] = v end
  return self
end

function History:options()
  local mode = self.roll(2) == 1 and "now" or "reserve"
  return { mode = mode, at = self.now, duration = 10 * self.roll(4) }
end

function History:power()
  local shape, opts = POWER[self.roll(#POWER)], self:options()
  local b, _, expected = self.plain:match(shape, opts)
  opts.subsystem, opts.job = "power", b and b.id
  local a, why, code = self.real:match(shape, opts)
  assert.equal(expected, code, ("%s: %s"):format(shape, why))
  if not a then return end
  assert.equal(b.at, a.at, shape)
  assert.equal(held(b, true), held(a), shape)
  self.jobs[a.id] = a.at + opts.duration
end

-- What is taken by racks is booked by hand in the model.
function History:racks()
  local opts = self:options()
  local a = self.real:match(RACKS[self.roll(#RACKS)], opts)
  for _, pick in ipairs(a and a:vertices() or {}) do
    local list = { pick.vertex }
    if pick.vertex.type == "rack" then
      list = {}
      for node in pick.vertex:children() do list[#list + 1] = node end
    end
    for _, v in ipairs(list) do
      if pick.exclusive then
        assert(self.names[v.name]:allocate { job = a.id, start = a.at, duration = opts.duration })
      end
    end
  end
  if a then self.jobs[a.id] = a.at + opts.duration end
end

function History:release(id)
  assert(self.real:release(id))
  assert(self.plain:release(id))
  self.jobs[id] = nil
end

function History:release_some()
  local ids = {}
  for id in pairs(self.jobs) do ids[#ids + 1] = id end
  table.sort(ids)
  if #ids > 0 then self:release(ids[self.roll(#ids)]) end
end

function History:pass()
  self.now = self.now + 5 * self.roll(3)
  local over = {}
  for id, stop in pairs(self.jobs) do
    if stop <= self.now then over[#over + 1] = id end
  end
  for _, id in ipairs(over) do self:release(id) end
  assert(self.real:advance(self.now))
  assert(self.plain:advance(self.now))
end

function History:fail()
  local list = { "node" .. self.roll(12) - 1, "rack" .. self.roll(3) - 1, "pdu" .. self.roll(4) - 1 }
  local name = list[self.roll(3)]
  self.down[name] = not self.down[name]
  self.of[name].state = self.down[name] and "down" or "up"
  for n = 0, 11 do
    local off = self.down["node" .. n] or self.down["rack" .. n // 4]
    self.names["node" .. n].state = off and "down" or "up"
  end
  for i = 0, 3 do self.names["pdu" .. i].state = self.down["pdu" .. i] and "down" or "up" end
end

function History:grow()
  local ids = {}
  for id in pairs(self.jobs) do ids[#ids + 1] = id end
  table.sort(ids)
  local id = ids[1] and ids[self.roll(#ids)]
  if not id then return end
  local shape = ({ "slot=1/node", "pdu=1/slot=2/core" })[self.roll(2)]
  local b, _, expected = self.plain:grow(id, shape)
  local a, why, code = self.real:grow(id, shape, { subsystem = "power" })
  assert.equal(expected, code, why)
  if a then assert.equal(held(b, true), held(a)) end
end

local STEPS = { "power", "power", "power", "racks", "racks", "release_some", "pass", "fail", "grow" }

describe("a hierarchy beside containment [G6][RFC4b:101]", function()
  it("gives what the same hierarchy gives as containment, in random histories", function()
    for seed = 1, math.max(1, math.floor(40 * SCALE)) do
      local h = history(seed)
      for _ = 1, 40 do
        h[STEPS[h.roll(#STEPS)]](h)
        assert(h.g:check())
      end
      assert(h.m:check())
      h.g:close()
      h.m:close()
    end
  end)

  local g, e
  before_each(function()
    g = machine()
    e = weir.engine { resources = g }
  end)
  after_each(function() g:close() end)

  -- The paths of the vertices of an allocation.
  local function paths(a)
    local list = {}
    for i, pick in ipairs(a:vertices()) do list[i] = pick.vertex.path end
    table.sort(list)
    return list
  end

  it("is asked for by a match", function()
    local a = assert(e:match("pdu=1/slot=3/node", { subsystem = "power" }))
    assert.same({ "/cluster0/rack0/node0", "/cluster0/rack1/node4", "/cluster0/rack2/node8" }, paths(a))
  end)

  it("shares no vertex that a job has as a whole, now or later", function()
    assert(e:allocate({ g "pdu0" }, { start = 5, duration = 9 }))
    assert.same({ "/pdu1" }, paths(assert(e:match("pdu=1", { subsystem = "power", duration = 8 }))))
    assert(g:check())
  end)

  -- A machine whose nodes are in a different order in the hierarchy, and not in the order of their numbers.
  local function turned()
    local own = weir.synthetic "cluster:1 node:3 core:1"
    local pdu = assert(own:add(nil, { type = "pdu", id = 0 }))
    assert(own:add(own:root(), { type = "node", id = 9 }))
    for _, i in ipairs { 9, 2, 1, 0 } do
      assert(own:add_edge(pdu, own("/cluster0/node" .. i), { subsystem = "power", type = "supplies" }))
    end
    return own
  end

  it("as a graph of its own has its own order from the first change on", function()
    local own = assert(turned():hierarchy "power")
    assert(weir.engine { resources = own, policy = "spread" }:match "slot=1/node")
    assert(own:add_edge(own "/pdu0/node0", own "/pdu0/node1", { subsystem = "net", type = "x" }))
    assert(own:check())
  end)

  -- Under sanitizers: the list of the match that is given up is freed.
  it("lists what is inside whole vertices of a reservation for which all parents were tried", function()
    local own = weir.synthetic "cluster:1 node:2 core:2"
    for i = 0, 1 do
      local pdu = assert(own:add(nil, { type = "pdu", id = i }))
      for n = 0, 1 do assert(own:add_edge(pdu, own("/cluster0/node" .. n), { subsystem = "power", type = "supplies" })) end
    end
    local engine, inside = weir.engine { resources = own }, {}
    assert(engine:match("slot=2/node", { duration = 10 }))
    local a = assert(engine:match("slot=1/node/core=1", { subsystem = "power", mode = "reserve", duration = 5, inside = inside }))
    assert.same({ 10, 1, "core" }, { a.at, #inside, inside[1].vertex.type })
  end)

  it("as a graph of its own takes no edges of the hierarchy", function()
    local own = assert(turned():hierarchy "power")
    local _, why, code = own:add_edge(own "/pdu0/node0", own "/pdu0/node1", { subsystem = "power", type = "x" })
    assert.same({ "power is made by adding vertices below their parent, not by edges", "invalid" }, { why, code })
  end)

  it("is checked as the graph is now", function()
    local own = turned()
    assert(weir.engine { resources = own, policy = "spread" }:match("slot=1/core=1", { subsystem = "power" }))
    assert(own:unlink(own "/cluster0/node1"))
    assert(own:check())
  end)

  it("is asked for by a policy", function()
    assert(e:use { name = "power", subsystem = "power" })
    assert.equal("power", e:hierarchy())
    assert.equal(3, #assert(e:match "pdu=1/slot=3/node":vertices()))
  end)

  it("is asked for by an engine", function()
    local own = assert(weir.engine { resources = g, granularity = "power" })
    assert.equal(3, #assert(own:match "pdu=1/slot=3/node":vertices()))
  end)

  it("gives whole vertices of a type, with all that hangs on them", function()
    local a = assert(e:match("slot=1/core", { subsystem = "power:pdu" }))
    assert.same({ "/cluster0/rack0/node0", "/cluster0/rack1/node4", "/cluster0/rack2/node8", "/pdu0" }, paths(a))
  end)

  it("leaves hooks the groups of containment: few racks, and units that have much left", function()
    local pdu = g:find("type=pdu and id=0")[1]
    assert(pdu:allocate { job = 50, amount = 7 })
    assert(e:use { name = "cool", subsystem = "power",
      prune = function(v) return v.type ~= "pdu" or v.free >= 4 end,
      select = { "fewest", group = { subsystem = "containment", type = "rack" } } })
    local a = assert(e:match "slot=3/node")
    assert.same({ "/cluster0/rack0/node1", "/cluster0/rack0/node2", "/cluster0/rack0/node3" }, paths(a))
  end)

  it("shows hooks parents of the hierarchy", function()
    local seen
    assert(e:use { name = "look", subsystem = "power", prune = function(v)
      if v.type == "node" then seen = v:parent().type end
      return true
    end })
    assert(e:match "slot=1/node")
    assert.equal("pdu", seen)
    assert.equal("rack", g:vertex("/cluster0/rack0/node0"):parent().type)
  end)

  it("keeps the state of a policy in the graph", function()
    assert(e:use { name = "count", subsystem = "power", state = { n = 0 },
      placed = function(_, state) state.n = state.n + 1 end })
    assert(e:match "slot=1/node")
    assert(e:match "slot=1/node")
    assert.equal(2, e:state().n)
  end)

  it("previews without a trace", function()
    local a = assert(e:match("slot=1/pdu", { subsystem = "power", mode = "preview" }))
    assert.equal(4, #a:vertices())
    assert.equal(0, #e:jobs())
    assert(e:match("slot=12/node", { subsystem = "power" }))
  end)

  it("stages what it finds", function()
    local a = assert(e:match("slot=1/pdu", { subsystem = "power", stage = 60 }))
    assert.equal("busy", select(3, e:match("slot=12/node", { subsystem = "power" })))
    assert(e:drop(a))
    assert(e:match("slot=12/node", { subsystem = "power" }))
  end)

  it("bounds starts by its own sums", function()
    assert(e:match("pdu=1/slot=3/node", { subsystem = "power", duration = 10 }))
    local own = weir.engine { resources = g, granularity = "power" }
    assert.equal(0, own:soonest("slot=9/node", 9, 0, 5))
    assert.equal(10, own:soonest("slot=10/node", 9, 0, 5))
    assert.equal(10, own:place("slot=40/pdu", 9, 0, 5, true))
  end)

  it("follows edges that come and go", function()
    assert.equal("infeasible", select(3, e:match("pdu=1/slot=4/node", { subsystem = "power" })))
    local pdu = g:find("type=pdu and id=0")[1]
    local node = g:vertex "/cluster0/rack0/node1"
    assert(g:unlink(node, "power"))
    assert(g:add_edge(pdu, node, { subsystem = "power", type = "supplies" }))
    assert.equal(4, #assert(e:match("pdu=1/slot=4/node", { subsystem = "power" })):vertices())
  end)

  it("gives after any change what it gives of a graph that was read again", function()
    local pdu, rings = g:find("type=pdu and id=0")[1], {}
    local node = g:vertex "/cluster0/rack0/node0"
    local policy = { name = "tags", prune = function(v) return v.tags.off == nil and v.rank ~= 78 end }
    assert(e:use(policy))
    local function ask(engine, shape)
      local a, why = engine:match(shape, { subsystem = "power", mode = "preview" })
      local list = { why }
      for i, pick in ipairs(a and a:vertices() or {}) do list[i] = pick.vertex.name .. "=" .. pick.amount end
      return table.concat(list, " ")
    end
    for _, change in ipairs {
      function() node.tags.note, node.tags.off = "x", "1" end,
      function() node.tags.off = nil end,
      function() node.rank = 77 end,
      function() node.rank = 78 end,
      function() pdu.size = 3 end,
      function() for i = 11, 600 do assert(e:release(assert(e:match("slot=1/core", { job = i })).id)) end end,
      function() assert(e:match("slot=1/core", { job = 9999 })) end,
      function()
        for i = 1, 2 do rings[i] = assert(g:add(nil, { type = "ring", id = i, size = 3 })) end
        for i = 1, 2 do assert(g:add_edge(rings[i], rings[3 - i], { subsystem = "power", type = "supplies" })) end
      end,
      function() assert(g:unlink(rings[1], "power")) end,
    } do
      change()
      assert(g:check())
      local fresh <close> = assert(weir.parse(assert(g:format "document")))
      local other = assert(weir.engine { resources = fresh, policy = policy })
      for _, shape in ipairs { "pdu=1/slot=2/node", "slot=1/pdu=3", "slot=12/node", "slot=1/ring=3", "ring=1/slot=1/ring=3" } do
        assert.equal(ask(other, shape), ask(e, shape), shape)
      end
    end
  end)

  it("is made of a graph with numbers of vertices that are free", function()
    local nodes = {}
    for i = 1, 40 do nodes[i] = assert(g:add(g "/cluster0/rack0", { type = "node", id = 100 + i })) end
    for _, v in ipairs(nodes) do assert(g:unlink(v)) end
    assert(e:match("slot=12/node", { subsystem = "power" }))
    assert(g:check())
  end)

  it("follows tags", function()
    g:vertex("/cluster0/rack0/node0").tags.off = "1"
    local policy = { name = "tags", subsystem = "power", prune = function(v) return not v.tags.off end }
    assert(e:use(policy))
    assert.equal("infeasible", select(3, e:match "slot=12/node"))
    g:vertex("/cluster0/rack0/node0").tags.off = nil
    assert(e:match "slot=12/node")
  end)

  it("searches below members of a node that hang on other power", function()
    local node, pdu = g:vertex "/cluster0/rack0/node0", g:find("type=pdu and id=3")[1]
    local gpu = assert(g:add(node, { type = "gpu", id = 0 }))
    assert(g:add_edge(pdu, gpu, { subsystem = "power", type = "supplies" }))
    assert(e:match("pdu=1/slot=1/gpu", { subsystem = "power" }))
    assert.equal("busy", select(3, e:match("slot=12/node", { subsystem = "power" })))
    assert.equal("busy", select(3, e:match "slot=12/node"))
    assert(g:check())
  end)

  it("names a hierarchy that is not there", function()
    local a, why, code = e:match("slot=1/node", { subsystem = "heat" })
    assert.is_nil(a)
    assert.equal("there is no hierarchy 'heat' other than containment", why)
    assert.equal("unknown", code)
  end)

  it("has sums of its own, always up to date", function()
    local pdu = g:find("type=pdu and id=0")[1]
    assert.equal(9, pdu:aggregate { subsystem = "power" }.core.free)
    assert(e:match("rack=1/slot=2/core"))
    assert.equal(7, g:aggregate(pdu, { subsystem = "power" }).core.free)
    assert.equal("unknown", select(3, pdu:aggregate { subsystem = "heat" }))
  end)

  it("is searched for vertices, below one of its own", function()
    local pdu = g:find("type=pdu and id=1")[1]
    local found = g:find("type=node and free", { subsystem = "power", start = pdu })
    assert.equal("/cluster0/rack0/node1 /cluster0/rack1/node5 /cluster0/rack2/node9",
      found[1].path .. " " .. found[2].path .. " " .. found[3].path)
    assert.equal("unknown", select(3, g:find("type=node", { subsystem = "heat" })))
  end)

  it("is none for a policy besides its own", function()
    local file <close> = setmetatable({ path = os.tmpname() }, { __close = function(f) os.remove(f.path) end })
    assert(core.write_file(file.path, [[return { name = "sums", prune = function(v)
      return v:aggregate { subsystem = "power" } ~= nil
    end }]]))
    assert(e:use(file.path))
    local _, why, code = e:match "slot=1/node"
    assert.matches("policies see one hierarchy", why)
    assert.equal("policy", code)
  end)

  it("of a policy is more than an order, so that no simulator takes the policy for one", function()
    assert(e:use { name = "order", order = { "id" } })
    assert.same({ "id" }, select(2, e:policy()).order)
    assert(e:use { name = "order", order = { "id" }, subsystem = "containment:rack" })
    assert.is_nil(select(2, e:policy()).order)
  end)

  it("is a graph of its own for what only looks", function()
    local view = assert(g:hierarchy "power")
    assert.same({ "power", "containment" }, view:subsystems())
    assert.equal("/feed0/pdu0/node4", view:find("name=node4")[1].path)
    assert.equal(9, view:aggregate(view:find("name=pdu0")[1]).core.free)
    assert.equal("/cluster0/rack1/node4", g:twin(view:find("name=node4")[1]).path)
    assert(view:check())
    view:close()
  end)
end)

-- Whole racks, in plain numbers: 4 racks of 4 nodes; uses[rack] is a list of {start, stop}.
local Racks = {}
Racks.__index = Racks

local function plain_racks()
  local self = setmetatable({ uses = {}, down = {} }, Racks)
  for r = 0, 3 do self.uses[r] = {} end
  return self
end

function Racks:free(r, from, to)
  for _, use in ipairs(self.uses[r]) do
    if use.start < to and from < use.stop then return false end
  end
  return true
end

-- The racks for a number of nodes in an interval, or nil.
function Racks:at(want, from, to)
  local list = {}
  for r = 0, 3 do
    local up = 0
    for n = 4 * r, 4 * r + 3 do up = up + (self.down[n] and 0 or 1) end
    if want > 0 and up > 0 and self:free(r, from, to) then
      want, list[#list + 1] = want - up, r
    end
  end
  return want <= 0 and list or nil
end

-- The earliest start from `now` on, and the racks.
function Racks:earliest(want, now, lasts)
  local starts = { now }
  for r = 0, 3 do
    for _, use in ipairs(self.uses[r]) do
      if use.stop > now then starts[#starts + 1] = use.stop end
    end
  end
  table.sort(starts)
  for _, start in ipairs(starts) do
    local list = self:at(want, start, start + lasts)
    if list then return start, list end
  end
end

local function racks_of(a)
  local set, list = {}, {}
  for _, pick in ipairs(a:vertices()) do
    local rack = pick.vertex:ancestor "rack"
    if rack then set[rack.id] = true end
  end
  for r = 0, 3 do
    if set[r] then list[#list + 1] = r end
  end
  return list
end

-- The ids of the nodes that an allocation has as a whole.
local function core_ranks(a)
  local set = core.idset()
  for _, pick in ipairs(a:vertices()) do
    if pick.vertex.type == "node" and pick.exclusive then set:add(pick.vertex.id) end
  end
  return tostring(set)
end

local function coarse_history(seed, steps)
  local roll, racks, now, jobs = dice(seed), plain_racks(), 0, {}
  local g = weir.synthetic "cluster:1 rack:4 node:4 core:2"
  local e = weir.engine { resources = g, granularity = "containment:rack", policy = { name = "by id", order = { "id" } } }
  local nodes = {}
  for v in g:walk { type = "node" } do nodes[v.id] = v end
  for _ = 1, steps do
    local what = roll(6)
    if what <= 3 then
      local want, lasts, mode = roll(10), 10 * roll(3), roll(2) == 1 and "now" or "reserve"
      local start, list = racks:earliest(want, now, lasts)
      if mode == "now" and start ~= now then list = nil end
      local a, why = e:match(("slot=%d/node"):format(want), { mode = mode, at = now, duration = lasts })
      assert.equal(list ~= nil, a ~= nil, why)
      if a then
        assert.same({ start, list }, { a.at, racks_of(a) })
        jobs[a.id] = start + lasts
        for _, r in ipairs(list) do table.insert(racks.uses[r], { start = start, stop = start + lasts, job = a.id }) end
      end
    elseif what == 4 then -- a core booked by hand keeps the rack from others
      local n, id = roll(16) - 1, 1000 + seed * steps + roll(1 << 20)
      if racks:free(n // 4, now, now + 10) and not jobs[id] then
        assert(nodes[n]:child(1):allocate { job = id, start = now, duration = 10 })
        jobs[id] = now + 10
        table.insert(racks.uses[n // 4], { start = now, stop = now + 10, job = id })
      end
    elseif what == 5 then
      local n = roll(16) - 1
      racks.down[n] = not racks.down[n] or nil
      nodes[n].state = racks.down[n] and "down" or "up"
    else
      now = now + 5 * roll(3)
      for id, stop in pairs(jobs) do
        if stop <= now then
          assert(e:release(id))
          jobs[id] = nil
        end
      end
      assert(e:advance(now))
    end
    assert(g:check())
  end
  g:close()
end

describe("whole vertices of a type [G10][RFC4a:87][RFC4b:105]", function()
  local g, e
  before_each(function()
    g = weir.synthetic "cluster:1 rack:3 node:4 core:2"
    e = weir.engine { resources = g, granularity = "containment:rack" }
  end)
  after_each(function() g:close() end)

  it("are what plain numbers of racks say, in random histories", function()
    for seed = 1, math.max(1, math.floor(30 * SCALE)) do coarse_history(seed, 40) end
  end)

  it("are given without the parts that are not up, which nobody else gets", function()
    g:vertex("/cluster0/rack0/node1").state = "down"
    local a = assert(e:match "slot=1/core")
    assert.equal("0,2-3", core_ranks(a))
    g:vertex("/cluster0/rack0/node1").state = "up"
    assert.equal("/cluster0/rack1", assert(e:match "slot=1/core"):vertices()[1].vertex.path)
  end)

  it("are given for any part", function()
    local a = assert(e:match "slot=1/core")
    assert.equal("/cluster0/rack0", a:vertices()[1].vertex.path)
    assert.equal("/cluster0/rack1", assert(e:match "slot=1/core"):vertices()[1].vertex.path)
  end)

  it("are as many as the request needs", function()
    assert.equal(2, #assert(e:match "slot=5/node"):vertices())
  end)

  it("have no user when they are given", function()
    assert(g:vertex("/cluster0/rack0/node3"):child(1):allocate { job = 9 })
    assert.equal("/cluster0/rack1", assert(e:match "slot=1/core"):vertices()[1].vertex.path)
    assert.equal("busy", select(3, e:match "slot=5/node"))
  end)

  it("are reserved when they are free", function()
    assert(e:match("slot=9/node", { duration = 10 }))
    assert.equal(10, assert(e:match("slot=1/core", { mode = "reserve", duration = 5 })).at)
  end)

  it("are asked for by one match", function()
    local own = weir.engine { resources = g }
    assert.equal("rack", assert(own:match("slot=1/core", { subsystem = "containment:rack" })):vertices()[1].vertex.type)
    assert.equal("core", assert(own:match "slot=1/core"):vertices()[1].vertex.type)
  end)

  for name, text in pairs { colon = "power:", empty = ":rack", two = "a:b:c" } do
    it("need a hierarchy and a type: " .. name, function()
      assert.has_error(function() weir.engine { resources = g, granularity = text } end)
    end)
  end

  it("are of a type that is there", function()
    local own, why, code = weir.engine { resources = g, granularity = "containment:shelf" }
    assert.is_nil(own)
    assert.equal("hierarchy 'containment:shelf': there is no type 'shelf' here", why)
    assert.equal("unknown", code)
  end)
end)
