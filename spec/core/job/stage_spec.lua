-- Stages (RFC 4, Staged) and claims of several schedulers, against a plain oracle that knows who holds what, and when.
local weir = require "weir"

local function must(x, ...) return assert(x, ...) end

local function engine(machine) return must(weir.engine { resources = machine, overrun = "expire" }) end

local function paths(a)
  local list = {}
  for i, pick in ipairs(a:vertices()) do list[i] = pick.vertex.path end
  table.sort(list)
  return table.concat(list, " ")
end

describe("a stage", function()
  it("[A6] locks resources without a job: matches do not find them, uses and find show them", function()
    local e = engine "cluster:1 node:2 core:2"
    local g = e:resources()
    local s = must(e:stage("slot=1/node", { lease = 10, duration = 100 }))
    assert.same({ 0, 1, "staged", 10, 0, 100 }, { s.id, s.stage, s.state, s.expires, s.at, s.end_ })
    assert.equal(0, #e:jobs())
    local v = s:vertices()[1].vertex
    assert.same({ { stage = 1, job = -1, start = 0, ["end"] = 100, amount = 1, exclusive = true, active = true } }, v:uses())
    assert.same({}, v:jobs())
    assert.same({ 0, 1 }, { v.free, #g:find "staged and type=node" })
    assert.equal(2, #g:find("staged and type=core"))
    assert.equal(0, #g:find "job=1")
    assert.not_equal(v.path, paths(must(e:match "slot=1/node")))
    local _, _, code = e:match "slot=1/node"
    assert.equal("busy", code)
    assert.is_true(g:check())
  end)

  it("[A6] becomes a job as a whole, is dropped, or expires by the clock of the engine", function()
    local e = engine "cluster:1 node:3 core:2"
    local one, two, three = must(e:stage "slot=1/node"), must(e:stage("slot=1/node", { lease = 5 })), must(e:stage "slot=1/core")
    local job = must(e:commit(one, { job = 7 }))
    assert.same({ 7, "allocated", paths(one) }, { job.id, job.state, paths(job) })
    assert.is_nil(job.stage)
    assert.is_true(e:drop(three))
    local _, events = must(e:advance(5))
    assert.same({ { stage = two.stage, event = "unstage", time = 5 } }, events)
    assert.same({ 0, 1 }, { #e:stages(), #e:jobs() })
    for _, gone in ipairs { one, two, three } do
      local done, why, code = e:commit(gone)
      assert.same({ nil, ("there is no stage %d"):format(gone.stage), "unknown" }, { done, why, code })
      assert.is_nil(e:drop(gone))
    end
    assert.is_true(e:resources():check())
  end)

  it("[A6] has a number of its own: functions for jobs do not know it", function()
    local e = engine "cluster:1 node:2 core:2"
    local s = must(e:stage "slot=1/core")
    assert.equal(1, must(e:match "slot=1/core").id)
    for _, call in ipairs { "release", "job" } do
      assert.is_nil((e[call](e, -s.stage)))
    end
    assert.equal(2, must(e:commit(s.stage)).id)
    assert.equal(2, must(e:stage("slot=1/core")).stage)
    local _, _, code = e:commit(2, { job = 1 })
    assert.equal("exists", code)
    assert.equal(1, #e:stages())
  end)

  it("[A6] of the future is a reservation, and stays one", function()
    local e = engine "cluster:1 node:1 core:2"
    must(e:match("slot=1/node", { duration = 50 }))
    local s = must(e:stage("slot=1/node", { mode = "reserve", duration = 10, lease = 1000 }))
    assert.same({ 50, 60, 60 }, { s.at, s.end_, s.expires })
    assert.equal(60, must(e:match("slot=1/node", { mode = "reserve", duration = 10 })).at)
    must(e:advance(55))
    assert.same({ "staged" }, { e:stages()[1].state })
    assert.same({ 50, "allocated" }, { must(e:commit(s)).at, e:job(3).state })
    must(e:advance(60))
    assert.equal(1, #e:jobs())
  end)

  it("is lost where a vertex is not up any more", function()
    local e = engine "cluster:1 node:2 core:2"
    local s = must(e:stage "slot=2/node")
    e:resources() "/cluster0/node1".state = "down"
    local job, why, code, lost = e:commit(s)
    assert.same({ nil, "1 of 2 resources cannot be had: /cluster0/node1 is not available", "busy" }, { job, why, code })
    assert.same({ "/cluster0/node1", "unavailable" }, { lost[1].path, lost[1].why })
    assert.equal(1, #e:stages())
  end)

  it("is copied with the graph, and never saved", function()
    local e = engine "cluster:1 node:2 core:2"
    local g = e:resources()
    must(e:stage "slot=1/node")
    local copy = must(g:dup())
    assert.equal(1, #copy:find "staged and type=node")
    local path = os.tmpname() .. ".db"
    must(g:save(path))
    local again = must(weir.load(path))
    assert.equal(0, #again:find "staged")
    assert.equal(2, #must(weir.engine { resources = again }):match("slot=2/node"):vertices())
    must(e:stage "slot=1/node")
    must(g:save(path, { changed = true }))
    os.remove(path)
  end)

  it("prevents that its vertex is removed, and is dropped where the removal is forced", function()
    local e = engine "cluster:1 node:2 core:2"
    local g = e:resources()
    local s = must(e:stage "slot=1/node")
    local v = s:vertices()[1].vertex
    local _, why = g:unlink(v)
    assert.match("in use by", why)
    assert.truthy(g:unlink(v, { force = true }))
    assert.equal(0, #e:stages())
    assert.is_true(g:check())
  end)

  it("refuses what makes no sense", function()
    local e = engine "cluster:1 node:2 core:2"
    assert.error_matches(function() e:stage("slot=1/node", { mode = "preview" }) end, "mode now or reserve")
    assert.error_matches(function() e:stage("slot=1/node", { job = 4 }) end, "number of its own")
    assert.error_matches(function() e:stage("slot=1/node", { lease = -1 }) end, "lease")
    assert.error_matches(function() e:match("slot=1/node", { lock = false }) end, "lock")
    assert.error_matches(function() e:commit(0) end, "stage")
    assert.error_matches(function() e:commit(must(e:match "slot=1/node")) end, "stage")
  end)

  it("tells the hook placed of a policy by the commit", function()
    local e = must(weir.engine { resources = "cluster:1 node:2 core:2", policy = {
      name = "counter", state = { n = 0 }, placed = function(_, state, vertices) state.n = state.n + #vertices end } })
    local s = must(e:stage "slot=2/core")
    must(e:stage "slot=1/core")
    assert.equal(0, (e:state() or { n = 0 }).n)
    must(e:commit(s))
    assert.equal(2, e:state().n)
  end)
end)

describe("a list of resources", function()
  it("[C229] is allocated as a whole or not at all", function()
    local e = engine "cluster:1 node:3 core:2 memory:1(size=16)"
    local g = e:resources()
    local a = must(e:allocate({ g "/cluster0/node0", g "/cluster0/node0/core1", { vertex = g "/cluster0/node1/memory0", amount = 4 },
      { vertex = g "/cluster0/node1/memory0", amount = 2 } }, { job = 5, duration = 10 }))
    assert.equal("/cluster0/node0 /cluster0/node1/memory0", paths(a))
    assert.equal(10, g "/cluster0/node1/memory0".free)
    local done, _, code, lost = e:allocate({ g "/cluster0/node2", g "/cluster0/node1" }, { job = 6 })
    assert.same({ nil, "busy", 1 }, { done, code, #lost })
    assert.same({ 2, "/cluster0/node1", 5, "/cluster0/node1/memory0", 6, false },
      { lost[1].pick, lost[1].path, lost[1].job, lost[1].at, lost[1].amount, lost[1].exclusive })
    assert.equal(1, g "/cluster0/node2".free)
    must(e:allocate({ g "/cluster0/node1" }, { job = 6, start = 10, duration = 5 }))
    assert.is_true(g:check())
  end)

  it("[C229] is an R, with and without a graph", function()
    local e = engine "cluster:1 node:3 core:2"
    for rank = 0, 2 do e:resources()("/cluster0/node" .. rank).rank = rank end
    local a = must(e:match("slot=2/core", { job = 1 }))
    for _, format in ipairs { "rv1", "rv1_nosched" } do
      local R = a:format(format)
      e:release(1)
      assert.equal(paths(a), paths(must(e:allocate(R, { job = 1 }))))
    end
    local _, why, code = e:allocate [[{"version": 1, "execution": {"R_lite": [{"rank": "7", "children": {"core": "0"}}],
      "nodelist": ["x"]}}]]
    assert.is_string(why)
    assert.equal("unknown", code)
  end)

  it("[C232] in the future has an end", function()
    local e = engine "cluster:1 node:1"
    local node = e:resources() "/cluster0/node0"
    assert.error_matches(function() e:allocate({ node }, { start = 5 }) end, "requires a duration")
    assert.equal(math.huge, must(e:allocate({ node }, { start = 5, duration = math.huge })).end_)
  end)

  it("refuses what makes no sense", function()
    local e = engine "cluster:1 node:1 memory:1(size=16)"
    local memory = e:resources() "/cluster0/node0/memory0"
    local function fails(what, code, opts) assert.equal(code, select(3, e:allocate(what, opts))) end
    fails({}, "invalid")
    fails({ { vertex = memory, amount = 17 } }, "invalid")
    fails({ { vertex = memory, amount = 9 }, { vertex = memory, amount = 8 } }, "invalid")
    assert.error_matches(function() e:allocate { { amount = 3 } } end, "a vertex expected")
    assert.error_matches(function() e:allocate({ { vertex = memory, amount = "x" } }) end, "amount")
    assert.error_matches(function() e:allocate({ memory }, { stop = 4 }) end, "stop")
    assert.equal(0, #e:jobs())
  end)

  it("refuses a vertex that has left containment", function()
    local e = engine "cluster:1 node:2"
    local g = e:resources()
    local node, pdu = g "/cluster0/node1", must(g:add(nil, { type = "pdu" }))
    must(g:add_edge(pdu, node, { subsystem = "power", type = "supplies" }))
    must(g:unlink(node))
    local _, why, code, lost = e:allocate { node }
    assert.same({ "busy", 1, node }, { code, #lost, lost[1].vertex })
    assert.matches("node1 is not available", why)
  end)
end)

-- ---- random histories -----------------------------------------------------------------------------------------------

-- Holders by id, "job 3" or "stage 4": {start, stop, picks = list of {path, size, amount, exclusive}, expires}.
local function inside(path, top) return path == top or path:sub(1, #top + 1) == top .. "/" end

local function overlaps(h, t0, t1) return h.start < t1 and h.stop > t0 end

-- The most units of a pool in use at once during an interval.
local function most(held, path, t0, t1)
  local best = 0
  for _, at in pairs(held) do
    local t, sum = math.max(at.start, t0), 0
    for _, h in pairs(held) do
      for _, q in ipairs(h.picks) do
        if q.path == path and h.start <= t and t < h.stop and t < t1 then sum = sum + q.amount end
      end
    end
    best = math.max(best, sum)
  end
  return best
end

-- The holders in the way of a pick, "PATH <- job 3 at PATH" each, added to the set `out`.
local function in_the_way(held, p, t0, t1, out)
  local short = p.amount > p.size - most(held, p.path, t0, t1)
  for id, h in pairs(held) do
    for _, q in ipairs(h.picks) do
      if overlaps(h, t0, t1) and (q.exclusive and inside(p.path, q.path) or p.exclusive and inside(q.path, p.path)
          or q.path == p.path and short) then
        out[("%s <- %s at %s"):format(p.path, id, q.path)] = true
      end
    end
  end
end

local function keys(set)
  local list = {}
  for key in pairs(set) do list[#list + 1] = key end
  table.sort(list)
  return list
end

local function picks_of(a)
  local list = {}
  for i, p in ipairs(a:vertices()) do
    list[i] = { path = p.vertex.path, size = p.vertex.size, amount = p.amount, exclusive = p.exclusive, vertex = p.vertex }
  end
  return list
end

local function is_up(v)
  while v do
    if v.state ~= "up" then return false end
    v = v:parent()
  end
  return true
end

-- What a commit or an allocation of picks is to lose.
local function expected(w, picks, t0, t1, locked)
  local out = {}
  for _, p in ipairs(picks) do
    if not is_up(p.vertex) then out[p.path .. " <- unavailable"] = true
    elseif not locked then in_the_way(w.held, p, t0, t1, out) end
  end
  return keys(out)
end

local function told(lost)
  local out = {}
  for _, x in ipairs(lost or {}) do
    local id = x.job and "job " .. x.job or x.stage and "stage " .. x.stage
    out[id and ("%s <- %s at %s"):format(x.path, id, x.at) or x.path .. " <- " .. x.why] = true
  end
  return keys(out)
end

local REQUESTS = { "slot=1/node", "slot=2/node", "slot=1/core", "slot=3/core", "slot=2/[core=1;memory=3]", "slot=1/memory=5",
  "slot=1/rack" }
local OPS = {}

local function any(list) return list[math.random(#list)] end
local function any_key(t) return #keys(t) > 0 and any(keys(t)) or nil end

local function hold(w, id, a, expires)
  w.held[id] = { start = a.at, stop = a.end_, picks = picks_of(a), expires = expires }
end

function OPS.stage(w)
  local lock, lease = math.random(3) > 1, math.random(12)
  local s = any(w.engines):stage(any(REQUESTS), { lock = lock, lease = lease, duration = math.random(15),
    mode = math.random(2) == 1 and "reserve" or "now" })
  if not s then return end
  local expires = math.min(w.now + lease, s.end_)
  assert.equal(expires, s.expires)
  local lost = {}
  for _, p in ipairs(picks_of(s)) do in_the_way(w.held, p, s.at, s.end_, lost) end
  assert.same({}, keys(lost))
  if lock then hold(w, "stage " .. s.stage, s, expires) end
  w.stages[s.stage] = { a = s, expires = expires, locked = lock }
end

function OPS.commit(w)
  local n = any_key(w.stages)
  local s = n and w.stages[n]
  if not s then return end
  local picks = picks_of(s.a)
  local losses = expected(w, picks, math.max(s.a.at, w.now), s.a.end_, s.locked)
  local job, _, code, lost = any(w.engines):commit(n)
  assert.same(losses, told(lost))
  assert.equal(#losses == 0, job ~= nil)
  if not job then return assert.equal("busy", code) end
  w.held["stage " .. n] = nil
  w.stages[n] = nil
  assert.same(paths(s.a), paths(job))
  hold(w, "job " .. job.id, job)
end

function OPS.drop(w)
  local n = any_key(w.stages)
  if not n then return end
  assert(any(w.engines):drop(n))
  w.stages[n], w.held["stage " .. n] = nil, nil
end

function OPS.release(w)
  local id = any_key(w.held)
  local job = id and tonumber(id:match "^job (%d+)")
  if not job then return end
  assert(any(w.engines):release(job))
  w.held[id] = nil
end

function OPS.match(w)
  local a = any(w.engines):match(any(REQUESTS), { duration = math.random(15) })
  if a then hold(w, "job " .. a.id, a) end
end

function OPS.allocate(w)
  local list, start, duration = {}, w.now + math.random(0, 5), math.random(10)
  for i = 1, math.random(3) do list[i] = any(w.vertices) end
  local picks, seen = {}, {}
  for _, v in ipairs(list) do
    local above
    for _, x in ipairs(list) do above = above or x ~= v and x.path ~= v.path and inside(v.path, x.path) end
    if not above and not seen[v.path] then
      picks[#picks + 1] = { path = v.path, size = v.size, amount = v.size, exclusive = true, vertex = v }
      seen[v.path] = true
    elseif seen[v.path] then return end
  end
  local losses = expected(w, picks, start, start + duration)
  local job, _, _, lost = any(w.engines):allocate(list, { start = start, duration = duration })
  assert.same(losses, told(lost))
  assert.equal(#losses == 0, job ~= nil)
  if job then hold(w, "job " .. job.id, job) end
end

function OPS.state(w)
  local v = any(w.vertices)
  v.state = v.state == "up" and math.random(3) == 1 and "down" or "up"
end

function OPS.advance(w)
  w.now = w.now + math.random(4)
  local _, events = assert(any(w.engines):advance(w.now))
  local gone, wanted = {}, {}
  for _, x in ipairs(events) do
    if x.event == "unstage" then gone[x.stage .. " at " .. x.time] = true end
  end
  for id, h in pairs(w.held) do
    if id:find "^job" and h.stop <= w.now then w.held[id] = nil end
  end
  for n, s in pairs(w.stages) do
    if s.expires <= w.now then
      wanted[n .. " at " .. ("%.14g"):format(s.expires)] = true
      w.stages[n], w.held["stage " .. n] = nil, nil
    end
  end
  local exact = {}
  for key in pairs(gone) do
    exact[key:gsub("at (.*)$", function(t) return ("at %.14g"):format(tonumber(t)) end)] = true
  end
  assert.same(keys(wanted), keys(exact))
end

local NAMES = keys(OPS)

local function history(seed, steps)
  math.randomseed(seed)
  local g = must(weir.synthetic "cluster:1 rack:2 node:2 core:2 memory:1(size=8)")
  local w = { now = 0, held = {}, stages = {}, engines = {}, vertices = {} }
  for i, policy in ipairs { "first", "low", "high", "spread" } do
    w.engines[i] = must(weir.engine { resources = g, policy = policy, overrun = "expire" })
  end
  for v in g:walk() do
    if v.type ~= "cluster" then w.vertices[#w.vertices + 1] = v end
  end
  for _ = 1, steps do
    OPS[any(NAMES)](w)
    assert(g:check())
    local live = {}
    for _, s in ipairs(w.engines[1]:stages()) do live[s.stage] = true end
    assert.same(keys(w.stages), keys(live))
    for _, v in ipairs(w.vertices) do
      local staged = false
      for id, h in pairs(w.held) do
        for _, q in ipairs(h.picks) do
          if id:find "^stage" and inside(v.path, q.path) and (q.exclusive or q.path == v.path) then staged = true end
        end
      end
      assert.equal(staged, #g:find("staged and path=" .. v.path) > 0)
      for _, u in ipairs(v:uses()) do assert.truthy(w.held[u.stage and "stage " .. u.stage or "job " .. u.job]) end
    end
  end
end

describe("claims of four engines on one graph", function()
  local scale = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1
  it("[A6] agree with a plain oracle: the first commit wins, the others hear what they lost, pick by pick", function()
    local first = tonumber(os.getenv "WEIR_SPEC_SEED") or 1
    for seed = first, first + 60 * scale - 1 do
      local ok, why = pcall(history, seed, 40)
      if not ok then error(("seed %d: %s"):format(seed, type(why) == "table" and why.message or why), 0) end
    end
  end)
end)
