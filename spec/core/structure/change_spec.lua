-- Machines that change while in use: random operations, with everything verified after each.
local weir = require "weir"
local cases = require "spec.support.cases"

local SHAPES = { "slot=1/node", "slot=2/core=1", "slot=1/node{-x}/core=2", "slot=1/[core=1;memory=3]", "slot=1/gpu=1",
  "slot=1/socket", "slot=1/rack", "slot=3/node{-x}/memory=2" }
local STATES = { "up", "up", "up", "down", "draining", "degraded" }

-- A machine, an engine, and how many of each operation were done.
local function new_world(seed)
  local g = assert(weir.synthetic "cluster:1 rack:2 node:3 socket:2 core:2 gpu:1 memory:1(size=8,unit=GB)")
  return { g = g, e = weir.engine { resources = g, policy = "low" }, rnd = cases.random(seed), done = {}, ids = 100 }
end

local function pick_vertex(w, expression)
  local list = w.g:find(expression)
  return #list > 0 and w.rnd:pick(list) or nil
end

local function pick_job(w)
  local jobs = w.e:jobs()
  return #jobs > 0 and w.rnd:pick(jobs) or nil
end

local OPERATIONS = {}

function OPERATIONS.match(w)
  local mode = w.rnd:chance(30) and "reserve" or "now"
  local request = assert(weir.request(w.rnd:pick(SHAPES)))
  local jobspec = weir.json.decode(request:format())
  jobspec.attributes.system.duration = w.rnd:between(1, 50)
  return w.e:match(jobspec, { mode = mode })
end

function OPERATIONS.release(w)
  local job = pick_job(w)
  return job and w.e:release(job.id)
end

function OPERATIONS.advance(w) return w.e:advance(w.e:now() + w.rnd:between(0, 5)) end

function OPERATIONS.state(w)
  local v = pick_vertex(w, "size>=0")
  if v then v.state = w.rnd:pick(STATES) end
  return v ~= nil
end

function OPERATIONS.grow(w)
  local job = pick_job(w)
  return job and w.e:grow(job.id, w.rnd:pick(SHAPES))
end

-- Shrinks a job by a vertex of the job, by a vertex below, or by a rank.
function OPERATIONS.shrink(w)
  local job = pick_job(w)
  if not job then return end
  local pick = w.rnd:pick(job:vertices())
  local v = pick.vertex
  local kind = w.rnd:between(1, 4)
  if kind == 1 and pick.exclusive and v:nchildren() > 0 then v = v:child(w.rnd:between(1, v:nchildren())) end
  if kind == 2 and v.rank then return w.e:shrink(job.id, { ranks = tostring(v.rank) }) end
  if kind == 3 and pick.amount > 1 then return w.e:shrink(job.id, { vertex = v, amount = 1 }) end
  return w.e:shrink(job.id, v)
end

-- Without force, unlinking succeeds exactly when no job is there.
function OPERATIONS.unlink(w)
  local v = pick_vertex(w, "type=node,core,socket,memory")
  if not v or w.g:count() < 25 then return end
  local jobs = #v:jobs()
  local gone, why, code = w.g:unlink(v)
  assert(gone and jobs == 0 or code == "busy" and jobs > 0, why)
  return gone
end

-- With force, unlinking always succeeds, and the jobs there lose their units.
function OPERATIONS.force(w)
  local v = pick_vertex(w, "type=node,core,socket")
  if not v or w.g:count() < 25 then return end
  local jobs, losers = v:jobs(), {}
  for _, loss in ipairs(assert(w.g:unlink(v, { force = true }))) do losers[loss.job] = true end
  for _, id in ipairs(jobs) do
    assert(losers[id], "job " .. id .. " lost nothing")
    losers[id] = nil
  end
  assert(next(losers) == nil)
  return true
end

function OPERATIONS.add(w)
  local rack = pick_vertex(w, "type=rack")
  if not rack or w.g:count() > 120 then return end
  w.ids = w.ids + 1
  local v = w.g:add(rack, { type = "node", id = w.ids, rank = w.ids })
  if not v then return end
  assert(w.g:add(v, { type = "core", id = 0 }, 3))
  assert(w.g:add(v, { type = "memory", id = 0, size = 8, unit = "GB" }))
  return true
end

-- Allocates on the machine the amounts of a match on the coarse view.
function OPERATIONS.coarse(w)
  local view <close> = w.g:coarsen { keep = w.rnd:pick { { "node" }, { "rack" }, { "rack", "node" } } }
  assert(view:check())
  local a = weir.engine({ resources = view, policy = "low" }):match(w.rnd:pick { "slot=2/core=1", "slot=1/memory=5" })
  if not a then return end
  w.ids = w.ids + 1
  local sum, got = 0, 0
  for _, pick in ipairs(a:vertices()) do sum = sum + pick.amount end
  local fine, why, code = view:expand(a, { job = w.ids })
  assert(fine or code == "busy", why) -- a reservation may stand against the job, as the view shows none
  for _, pick in ipairs(fine and fine:vertices() or {}) do got = got + pick.amount end
  assert(not fine or got == sum)
  return fine
end

local NAMES = { "match", "match", "match", "release", "advance", "state", "grow", "shrink", "unlink", "force", "add", "coarse" }

-- Returns the fault.
local function play(seed, steps)
  local w = new_world(seed)
  for step = 1, steps do
    local name = w.rnd:pick(NAMES)
    local ok, result = pcall(OPERATIONS[name], w)
    local right, why = w.g:check()
    if not ok or not right then return ("seed %d, step %d, %s: %s"):format(seed, step, name, ok and why or result) end
    if result then w.done[name] = (w.done[name] or 0) + 1 end
  end
  for _, job in ipairs(w.e:jobs()) do assert(w.e:release(job.id)) end
  for type, row in pairs(w.g:aggregate()) do assert(row.idle == row.free, type) end
  local twin <close> = assert(w.g:dup())
  assert(w.g:compare(twin, true))
  w.g:close()
  return nil, w.done
end

describe("machines that change while they are in use", function()
  local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1

  it("[A9] [M5] [P11] [G10] stay exact, whatever the order", function()
    local total = {}
    for seed = 1, math.max(1, math.floor(100 * scale)) do
      local why, done = play(seed, 150)
      if why then error(why, 0) end
      for name, n in pairs(done) do total[name] = (total[name] or 0) + n end
    end
    for name in pairs(OPERATIONS) do assert.is_true((total[name] or 0) > 20 * math.min(1, scale), name .. " was hardly done") end
  end)
end)

describe("what is gone from a machine", function()
  it("[M5] leaves a pool of units, which gets no children while jobs have some of it", function()
    local pool = { type = "pool", id = 0, size = 8, { type = "part", id = 0 } }
    local g <close> = assert(weir.recipe { type = "cluster", id = 0, pool })
    local e = weir.engine { resources = g, policy = "low" }
    assert(g:unlink(g "/cluster0/pool0/part0"))
    local job = assert(e:match "slot=1/pool=3")
    local part, _, code = g:add(g "/cluster0/pool0", { type = "part", id = 1 })
    assert.same({ code = "busy" }, { part = part, code = code })
    assert(e:release(job.id))
    assert(g:add(g "/cluster0/pool0", { type = "part", id = 1 }))
    assert(g:check())
  end)

  local function fits(machine, gone, shape)
    local g <close> = assert(weir.recipe(machine))
    assert(g:unlink(assert(g(gone))))
    local a, why = weir.engine({ resources = g, policy = "low" }):match(shape)
    assert.is_truthy(a, why)
    assert(g:check())
  end

  it("[M5] no longer tells that a slot's things come from one node", function()
    fits({ type = "cluster", id = 0, { type = "rack", id = 0, { type = "node", id = 0, { type = "gpu", id = 0 } } },
      { type = "rack", id = 1, { type = "node", id = 1, { type = "core", id = 0 } }, { type = "gpu", count = 1, id = 5 } },
      { type = "rack", id = 2, { type = "gpu", count = 1, id = 6 } } }, "/cluster0/rack0", "slot=1/gpu=2")
  end)

  it("[M5] [P10] no longer keeps units from being converted", function()
    local jobspec = { resources = { { type = "memory", count = 1500, unit = "MB" } } }
    fits({ type = "cluster", id = 0, { type = "memory", id = 0, size = 4, unit = "GB" }, { type = "memory", id = 1, size = 4 } },
      "/cluster0/memory1", jobspec)
  end)
end)

it("[G7] things beside nodes are told from those in them, however many types there are", function()
  local node = { type = "node", id = 0 }
  for i = 1, 40 do node[i] = { type = "part" .. i, id = 0 } end
  local g <close> = assert(weir.recipe { type = "cluster", id = 0, node, { type = "rack", id = 0, { type = "disk", id = 0 } },
    { type = "rack", id = 1, { type = "disk", id = 1 } } })
  local e = weir.engine { resources = g, policy = "low" }
  assert.is_truthy(e:match "slot=1/disk=2")
  assert.is_truthy(e:match("slot=1/[part1;part40]"))
end)

it("[A10] a job past its end that was detached is not put back onto what another job has by now", function()
  local e = assert(weir.engine { resources = "cluster:1 core:1", policy = "low" })
  assert(e:match("slot=1/core", { job = 1, duration = 3 }))
  e:advance(9)
  local detached = e:detach(1)
  assert(e:match("slot=1/core", { job = 2, duration = 5 }))
  assert.equal("busy", select(3, e:attach(detached)))
  assert(e:release(2))
  assert(e:attach(detached))
  assert.equal("busy", select(3, e:match("slot=1/core", { duration = 5 })))
end)

it("[M5] a type that comes below a vertex as that gets more kids than its rows hold is found, and known above it", function()
  local g = assert(weir.recipe { type = "cluster", { type = "rack", { type = "node", { type = "core" } } } })
  local e = assert(weir.engine { resources = g, policy = "low" })
  local id = 0
  local function add(parent, type, count)
    local first
    for _ = 1, count do
      id = id + 1
      first = first or id
      assert(g:add(assert(g(parent)), { type = type, id = id }))
      if id == first + count - 1 then assert(e:release(assert(e:match "slot=1/node").id)) end
    end
    return parent .. "/" .. type .. first
  end
  local rack, memory = add("/cluster0", "rack", 2), add("/cluster0", "memory", 3)
  local gpu = add(memory, "gpu", 3)
  add(rack, "gpu", 1)
  local box = rack .. "/gpu" .. id
  add(box, "gpu", 32)
  add(gpu, "gpu", 3)
  add(box, "node", 2)
  assert(g:check())
  assert.equal(3, #assert(e:match "slot=3/node"):vertices())
end)

it("a property that is set twice between two matches counts as it was set last", function()
  local g = assert(weir.synthetic "cluster:1 node:4")
  local e = assert(weir.engine { resources = g, policy = { order = "properties.class" } })
  local function first() return assert(e:match("slot=1/node", { mode = "preview" })):vertices()[1].vertex.name end
  for i, v in ipairs(g:find "type=node") do v.properties.class = tostring(i) end
  local seen, last = { first() }, g "/cluster0/node3"
  for _, two in ipairs { { "0", "9" }, { "9", "0" } } do
    last.properties.class = two[1]
    last.properties.class = two[2]
    seen[#seen + 1] = first()
  end
  assert.same({ "node0", "node0", "node3" }, seen)
end)
