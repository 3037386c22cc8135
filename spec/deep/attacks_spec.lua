-- Attacks on the sandbox, on readers and on the schedules, beyond sandbox_attacks_spec.lua: scripts that hide work in
-- metatables, comparisons and handlers of errors, small texts with much work, and histories of grow, shrink, detach,
-- attach, states and the clock; after each step the schedules are added up again from the vertices.
local core = require "weir.core"
local weir = require "weir"
local ledger = require "spec.support.ledger"

-- Seconds allowed; without the bounds the attacks take minutes.
local CPU = 20 * math.max(1, tonumber(os.getenv "WEIR_SPEC_SLOW") or 1)
local MACHINE = "cluster:1 rack:2 node:4 core:4"

local function in_time(f)
  local begin = os.clock()
  f()
  assert.is_true(os.clock() - begin < CPU)
end

-- {body of evaluate, part of the message}
local SCRIPTS = {
  { "local a = {} for i = 1, 1990 do a = setmetatable({}, {__index = a}) end while true do local x = a.z end", "." },
  { "local a = {} for i = 1, 1990 do a = setmetatable({}, {__newindex = a}) end while true do a.z = nil end", "." },
  { "local m = {} m.__eq = function(a, b) return a == b end return setmetatable({}, m) == setmetatable({}, m)", "C stack overflow" },
  { "local m = {} m.__tostring = function(t) return tostring(t) end return tostring(setmetatable({}, m))", "C stack overflow" },
  { "error(setmetatable({}, {__tostring = function() while true do end end}))", "instructions" },
  { "local function h() return xpcall(error, h, 1) end while true do xpcall(error, h, 1) end", "C stack overflow" },
  { "local function f(n) if n > 0 then pcall(f, n - 1) pcall(f, n - 1) end end f(180)", "instructions" },
  { "local function f() local x <close> = setmetatable({}, {__close = function() end}) while true do end end while true do pcall(f) end",
    "instructions" },
  { "local function f(n) return 1 + f(n + 1) end return f(1)", "." },
  { "local s = ('a'):rep(250000) local a, b = s .. 1, s .. 2 while true do local x = a == b end", "." },
  { "local z = ('\0'):rep(250000) local a, b = z .. 1, z .. 2 while true do local x = a < b end", "." },
  { "local s = ('\x80'):rep(250000) .. 'a' while true do utf8.offset(s, -1) end", "instructions" },
  { "local s = ('a'):rep(3000) return s:match '(.-)(.-)%1%2b'", "may take too long" },
  { "local t = {} for i = 1, 9 do t[{}] = i end for k in pairs(t) do end", "no fixed order" },
  { "local t = setmetatable({}, {__len = function() return 1e15 end, __index = function() return '' end}) table.concat(t)", "metatable" },
  { "local function f() v:graph():walk{type = 'core', evaluate = function() f() return 1 end} end f()", "C stack overflow" },
  { "v.tags.x = 'y'", "may only read" }, { "v.data.x = {}", "may only read" }, { "v.rank = 7", "may only read" },
  { "v:allocate{job = 9}", "may only read" }, { "v:release(1)", "may only read" },
}

describe("a script", function()
  for _, row in ipairs(SCRIPTS) do
    local code, says = row[1], row[2]
    it(code .. " is stopped and leaves the engine as it was", function()
      in_time(function()
        local e <const> = assert(weir.engine { resources = MACHINE })
        local first = assert(e:match "slot=1/node"):format "jgf"
        local limits = { instructions = 10000000, memory = 32 << 20, seconds = 3 }
        assert(e:use(core.policy_source("return { evaluate = function(v) " .. code .. " end }", "attack", limits)))
        local a, why, status = e:match "slot=2/node"
        assert.same({ nil, "policy" }, { a, status })
        assert.truthy(why:find(says), why)
        assert.is_nil(why:find "0x%x%x%x%x%x%x")
        assert(e:use "low")
        assert.same({ 1, first }, { #e:jobs(), e:jobs()[1]:format "jgf" })
        assert(e:resources():check())
        assert(e:match "slot=2/node")
      end)
    end)
  end
end)

describe("a positive duration of less than a microsecond", function()
  for _, duration in ipairs { 1e-7, 4.9e-324 } do
    it(("%g is no job without an end"):format(duration), function()
      local e <const> = assert(weir.engine { resources = MACHINE })
      for _, mode in ipairs { "now", "reserve", "preview" } do
        assert.equal(1e-6, assert(e:match("slot=1/node", { duration = duration, mode = mode })).end_)
      end
      assert.equal(0, e:soonest("slot=8/node", 9, 0, duration) // 1)
      assert(e:place("slot=1/node", 9, 0, duration))
      assert.equal(1e-6, e:job(9).end_)
      local v = e:resources():vertex "/cluster0/rack1/node7"
      assert(v:allocate { job = 12, duration = duration })
      assert.equal(1e-6, v:uses()[1]["end"])
      assert(e:resources():check())
    end)
  end

  it("0 is still without an end", function()
    local e <const> = assert(weir.engine { resources = MACHINE })
    assert.equal(math.huge, assert(e:match("slot=1/node", { duration = 0 })).end_)
  end)
end)

describe("a constraint of many ranks", function()
  local function request(ranks)
    return { version = 1, tasks = { { command = { "a" }, slot = "x", count = { per_slot = 1 } } },
      resources = { { type = "slot", count = 1, label = "x", with = { { type = "core", count = 1 } } } },
      attributes = { system = { duration = 1, constraints = { ranks = ranks } } } }
  end

  for _, order in ipairs { "ascending", "descending", "mixed" } do
    it("in " .. order .. " order is read in time and holds for these", function()
      local n, ranks = 150000, {}
      for i = 1, n do
        local at = order == "ascending" and i or order == "descending" and n + 1 - i or i * 7919 % n + 1
        ranks[at] = tostring(5 + 2 * i)
      end
      in_time(function()
        local e <const> = assert(weir.engine { resources = MACHINE })
        assert.equal("/cluster0/rack1/node7", assert(e:match(request(ranks))):vertices()[1].vertex:parent().path)
      end)
    end)
  end

  it("names the element that is wrong, wherever", function()
    local e <const> = assert(weir.engine { resources = MACHINE })
    for at = 1, 5 do
      local ranks = { "0", "1", "2", "3", "4" }
      ranks[at] = "5-3"
      local a, why = e:match(request(ranks))
      assert.is_nil(a)
      assert.truthy(why:find("5-3", 1, true), why)
    end
    assert.is_nil((e:match(request {})))
  end)
end)

-- ---- histories ----------------------------------------------------------------------------------------------------

local SHAPES = { "slot=1/node", "slot=2/node", "slot=1/core", "slot=1/core=3", "node/slot=2/core=2", "slot=1/[core=2;memory=7]",
  "slot=1/memory=20", "rack/slot=1-3/node", "slot=1/gpu", "slot=1-8/core" }

local function any(list) return list[math.random(#list)] end

local STEPS = {
  match = function(e, t, _, duration)
    return e:match(any(SHAPES), { mode = any { "now", "reserve", "reserve", "preview", "feasible" }, duration = duration,
      at = any { t, t + 3, t + 20 } })
  end,
  grow = function(e, _, job) return job and e:grow(job.id, any(SHAPES)) end,
  shrink = function(e, _, job) return job and e:shrink(job.id, any(job:vertices()).vertex) end,
  release = function(e, _, job) return job and e:release(job.id) end,
  detach = function(e, t, job)
    local detached = job and assert(e:detach(job.id))
    if detached and not e:attach(detached, any { t + 5, t, math.huge, job.at }) then e:attach(detached) end
  end,
  state = function(e)
    local list = {}
    for v in e:resources():walk { type = any { "node", "core", "rack" } } do list[#list + 1] = v end
    any(list).state = any { "up", "down", "draining", "failing", "up" }
  end,
  place = function(e, t, _, duration)
    if duration > 0 then e:place(any(SHAPES), math.random(1000, 9999), t, duration, any { true, false }) end
  end,
}
local NAMES = { "match", "match", "match", "grow", "shrink", "release", "detach", "state", "place" }

describe("a history of all that changes books", function()
  for seed = 1, 12 do
    for _, from in ipairs { 0, 1e9 } do
      it(("%d from %g on books nothing twice and loses nothing"):format(seed, from), function()
        math.randomseed(seed)
        local e <const> = assert(weir.engine {
          resources = "cluster:1 rack:2 node:2 [socket:2[core:2 gpu:1] memory:1(size=32,unit=GB)]" })
        local t = from
        assert(e:advance(t))
        for _ = 1, 60 do
          local jobs = e:jobs()
          STEPS[any(NAMES)](e, t, jobs[1] and any(jobs), any { 1, 5, 10, 0, 1e-7, 2e-6, 0.5, 100, 1e5, 9e12 })
          if math.random(5) == 1 then
            t = t + any { 1, 5, 10, 1e-6, 50, 0 }
            assert(e:advance(t))
          end
          ledger.add_up(e:resources())
        end
        for _, job in ipairs(e:jobs()) do assert(e:release(job.id)) end
        assert(e:resources():check())
        for v in e:resources():walk {} do assert.equal(0, #v:uses()) end
      end)
    end
  end
end)
