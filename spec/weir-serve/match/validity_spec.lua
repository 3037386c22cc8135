-- The time in which resources are valid (RFC 20, starttime and expiration): in every mode of a match, in explanations,
-- simulations, copies and files, and after an update of the acquisition protocol.
local scheduler_client = require "weir.acquire.scheduler_client"
local shell = require "spec.support.shell"
local sim = require "weir.sim"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or 1)

local function R(start, stop, ranks)
  ranks = ranks or "0-1"
  local entry = { rank = ranks, children = { core = "0-3" } }
  return {
    version = 1,
    execution = { R_lite = { entry }, nodelist = { "n[" .. ranks .. "]" }, starttime = start, expiration = stop },
  }
end

local function engine(start, stop) return assert(weir.engine { resources = assert(weir.R(R(start, stop))) }) end

-- {code} or {start, end} of a match.
local function match(e, request, opts)
  local a, _, code = e:match(request, opts)
  if a == true or not a then return { a or code } end
  return { a.at, a.at + a.duration }
end

after_each(shell.clean)

describe("resources that are valid for a time", function()
  for _, case in ipairs {
    -- mode, at, duration, expected
    { "now", nil, 10, { "busy" } }, { "preview", nil, 10, { "busy" } }, { "reserve", nil, 10, { 1000, 1010 } },
    { "now", nil, 1001, { "infeasible" } }, { "reserve", nil, 1001, { "infeasible" } }, { "feasible", nil, 1001, { "infeasible" } },
    { "feasible", nil, 1000, { true } }, { "now", 1000, 1000, { 1000, 2000 } }, { "now", 1001, 1000, { "infeasible" } },
    { "reserve", 1995, 10, { "infeasible" } }, { "now", 1990, 10, { 1990, 2000 } }, { "now", 5000, 1, { "infeasible" } },
    { "now", 2000, nil, { "infeasible" } }, { "now", 1500, nil, { 1500, 2000 } }, { "reserve", nil, nil, { 1000, 2000 } },
    { "preview", 1500, nil, { 1500, 2000 } }, { "feasible", 2000, nil, { "infeasible" } },
  } do
    it(("[R5] %s at %s for %s s"):format(case[1], case[2] or "the clock", case[3] or "endless"), function()
      local e = engine(1000, 2000)
      assert.same(case[4], match(e, "slot=1/core", { mode = case[1], at = case[2], duration = case[3] }))
      assert(e:resources():check())
    end)
  end

  it("[R5] a job that can never be met is infeasible, before the start of the resources, too", function()
    assert.same({ "infeasible" }, match(engine(1000), "slot=3/node", { duration = 10 }))
  end)

  it("[R5] jobs that hold the resources until too late leave a request busy", function()
    local e = engine(0, 2000)
    assert(e:match("slot=2/node", { duration = 1500 }))
    local a, why, code = e:match("slot=1/core", { mode = "reserve", duration = 600 })
    assert.same({ nil, "busy" }, { a, code })
    assert.truthy(why:find("valid until 2000 s only", 1, true))
    assert.same({ 1500, 2000 }, match(e, "slot=1/core", { mode = "reserve", duration = 500 }))
  end)

  it("[R5] match as a machine that a job holds before the start and after the end", function()
    local request = { "slot=1/core", "slot=2/core", "slot=1/node", "slot=2/node", "slot=3/[core=2]", "slot=4/[core=1]" }
    math.randomseed(tonumber(os.getenv "WEIR_SPEC_SEED") or 7)
    for _ = 1, 40 * SCALE do
      local from = math.random(0, 50)
      local stop = from + math.random(10, 100)
      local valid, held = engine(from, stop), engine()
      local top = held:resources():root()
      if from > 0 then assert(top:allocate { job = 9000001, amount = 1, start = 0, duration = from }) end
      assert(top:allocate { job = 9000002, amount = 1, start = stop, duration = 1e6 })
      for job = 1, 25 do
        local opts = { mode = ({ "now", "reserve", "preview" })[math.random(3)], at = valid:now() + math.random(0, 2) * math.random(0, 40),
          duration = math.random(1, 60), job = job }
        local what = request[math.random(#request)]
        local a, _, code = valid:match(what, opts)
        local b = held:match(what, opts)
        -- The end of the other machine's last job is an earliest start there.
        if b and b.at >= stop then
          if opts.mode == "reserve" then assert(held:release(b.id)) end
          b = nil
        end
        if a and b then
          assert.same({ a.at, tostring(a:rset()) }, { b.at, tostring(b:rset()) })
        else
          assert.equal(nil, a or b, code)
        end
        if math.random(4) == 1 then
          local to = valid:now() + math.random(1, 10)
          assert(valid:advance(to))
          if to >= from and held:job(9000001) then assert(held:release(9000001)) end -- before it is overdue
          assert(held:advance(to))
        end
      end
    end
  end)

  it("[R5] a lower bound of the start minds the bounds", function()
    local e = engine(1000, 2000)
    local r = weir.request "slot=1/core"
    assert.equal(1000, e:soonest(r, 1, 0, 10))
    assert.equal(math.huge, e:soonest(r, 1, 0, 1001))
  end)

  it("[R5] are set, changed and told by a graph", function()
    local g = weir.synthetic "node:2 core:4"
    assert.same({}, { g:validity() })
    assert(g:set_validity(5, 10.5))
    assert.same({ 5, 10.5 }, { g:validity() })
    assert(g:set_validity(nil, 7))
    assert.same({ nil, 7 }, { g:validity() })
    assert.equal("invalid", select(3, g:set_validity(7, 7)))
    assert.same({ nil, 7 }, { g:validity() })
    assert.has_error(function() g:set_validity "soon" end)
    assert.equal("invalid", select(3, g:set_validity(-1)))
  end)

  it("[R5][R9] stay with copies, parts, views, R and databases", function()
    local g = assert(weir.R(R(1000, 2000.5)):graph())
    local path = shell.path(shell.directory(), "g.sqlite")
    assert(g:save(path))
    for name, other in pairs {
      dup = g:dup(), copy = g:copy(g:root()), extract = g:find("type=node", { as = "graph" }), view = (g:coarsen { keep = { "node" } }),
      base = weir.load(path), R = weir.parse(g:format "rv1"),
      flat = weir.parse(g:format "rv1_nosched"), set = g:rset { scheduling = true }:graph(),
    } do
      assert.same({ name, 1000, 2000.5 }, { name, other:validity() })
    end
    assert(g:set_validity(1, 2))
    assert(g:save(path, { changed = true }))
    assert.same({ 1, 2 }, { weir.load(path):validity() })
  end)

  it("[R5] are told by an explanation", function()
    local e = engine(1000, 2000)
    local before, after = e:explain "slot=1/node", e:explain("slot=1/node", { at = 2500 })
    assert.same({ "busy", 1000, "the resources are valid from 1000 s on" }, { before.verdict, before.start, before.why })
    assert.same({ "infeasible", "the resources are valid until 2000 s: a job cannot start at 2500 s" }, { after.verdict, after.why })
    assert.truthy(weir.explain.text(after):find("valid until 2000 s", 1, true))
    assert.equal("fits", e:explain("slot=1/node", { at = 1000 }).verdict)
    assert.same({ 1000, 2000 }, { e:resources():validity() })
  end)

  it("[R5][K4] hold in a simulation", function()
    local s = assert(sim.new { resources = assert(weir.R(R(100, 200)):graph()), queue = "easy" })
    local first = assert(s:submit { request = "slot=2/node", estimate = 60 })
    local second = assert(s:submit { request = "slot=2/node", estimate = 60 })
    local never = assert(s:submit { request = "slot=1/core", estimate = 101 })
    s:run()
    assert.same({ 100, "done" }, { first.start, first.state })
    assert.same({ "pending", "pending" }, { second.state, never.state })
  end)
end)

-- ---- the acquisition protocol ---------------------------------------------------------------------------------------

describe("an update of the expiration", function()
  -- A client whose events are noted: {"cut 1 50", ...}.
  local function client(style, stop)
    local heard = {}
    local f = scheduler_client.new {
      send = function() end, groups = { "default" }, style = style, policy = "low",
      on = {
        cut = function(job, at) heard[#heard + 1] = ("cut %d %g"):format(job, at) end,
        requeue = function(job) heard[#heard + 1] = ("requeue %d"):format(job) end,
        unsatisfiable = function(name) heard[#heard + 1] = "unsatisfiable " .. name end,
      },
    }
    f:start()
    assert(f:receive("default", style == "keyed" and { resources = R(nil, stop), up = "0-1" }
      or { type = "grow", resources = R(nil, stop), online = "0-1", offline = "" }))
    return f, heard
  end

  it("[R5][R9] bounds the jobs of a scheduler in both wordings", function()
    for _, style in ipairs { "keyed", "typed" } do
      local f = client(style, 100)
      assert.equal("infeasible", select(3, f:match("slot=1/node", { duration = 5000 })))
      assert.equal(100, f:match("slot=1/node").duration)
    end
  end)

  it("[R5] shortened, cuts running jobs, drops reservations, and tells both", function()
    local f, heard = client("keyed", 100)
    f:pend("long", weir.request { resources = weir.request("slot=1/core"):resources(), attributes = { system = { duration = 60 } } })
    local a, b = assert(f:match("slot=2/node", { duration = 40 })), assert(f:match("slot=1/node", { mode = "reserve", duration = 20 }))
    local c = assert(f:match("slot=1/node", { mode = "reserve", duration = 5 }))
    assert(f:receive("default", { expiration = 50 }))
    assert.same({ ("requeue %d"):format(b.id), "unsatisfiable long" }, heard)
    assert.equal("reserved", f.engine:job(c.id).state)
    assert(f:receive("default", { expiration = 30 }))
    assert.same({ ("cut %d 30"):format(a.id), ("requeue %d"):format(c.id) }, { heard[3], heard[4] })
    assert.equal(30, f.engine:job(a.id).duration)
    assert.same({ nil, 30 }, { f.engine:resources():validity() })
    assert(f.engine:resources():check())
  end)

  it("[R5] lengthened or lifted, gives time to later jobs", function()
    local f = client("keyed", 100)
    assert(f:receive("default", { expiration = 500 }))
    assert.equal(400, f:match("slot=1/node", { duration = 400 }).duration)
    assert(f:receive("default", { expiration = 0 }))
    assert.equal(math.huge, f:match("slot=1/node").duration)
  end)

  it("[R5] already past, ends a running job no earlier than it began", function()
    local f, heard = client("keyed", 100)
    assert(f:advance(40))
    local a = assert(f:match("slot=1/node", { duration = 20 }))
    assert(f:receive("default", { expiration = 30 }))
    assert.same({ ("cut %d 40"):format(a.id) }, heard)
    assert.equal("allocated", f.engine:job(a.id).state)
    assert.equal("infeasible", select(3, f:match "slot=1/core"))
  end)

  it("[R5][Q12] two groups: resources are valid together while those of each are", function()
    local f = scheduler_client.new { send = function() end, groups = { "a", "b" }, policy = "low" }
    f:start()
    assert(f:receive("a", { type = "grow", resources = R(10, 100, "0-1"), online = "0-1", offline = "" }))
    assert(f:receive("b", { type = "grow", resources = R(nil, 80, "2-3"), online = "2-3", offline = "" }))
    assert.same({ 10, 80 }, { f.engine:resources():validity() })
    assert(f:receive("b", { type = "grow", resources = R(nil, 90, "4"), online = "4", offline = "" }))
    assert.same({ 10, 90 }, { f.engine:resources():validity() })
  end)
end)
