-- A policy beyond twice its seconds, after its budget failed, is reported and replaced by the last good policy: in an
-- engine, in the service, in the simulator and in Flux.
local core = require "weir.core"
local flux = require "spec.support.flux"
local replay = require "weir.replay"
local services = require "weir.serve.service"
local sim = require "weir.sim"
local weir = require "weir"

local MACHINE = "cluster:1 node:4 core:2"

-- A policy with so small a budget of seconds that any loop takes more than twice as much. Reading the policy has more
-- time.
local function slow(hook)
  local p = assert(core.policy_source(("return { %s = function(v) while true do end end }"):format(hook or "evaluate"), "slow"))
  core.filter_limit(p, 1e-9)
  return p
end

local TOOK = "policy slow: it took [%d.e-]+ seconds of the 1e%-09 that it may"

local function engine(policy) return assert(weir.engine { resources = MACHINE, policy = policy }) end

-- {title, call on an engine, failing by the policy}
local CALLS = {
  { "match", function(e) return e:match "slot=1/node" end },
  { "match of a request that is a table", function(e) return e:match(assert(weir.request "slot=1/node")) end },
  { "match as a preview", function(e) return e:match("slot=1/node", { mode = "preview" }) end },
  { "grow", function(e) return e:grow(1, "slot=1/node") end },
  { "explain", function(e) return e:explain "slot=2/node" end },
}

describe("a policy that took more than twice its seconds", function()
  for _, call in ipairs(CALLS) do
    it("gives way to the one before, in " .. call[1], function()
      local e <close> = engine "low"
      assert(e:match "slot=1/node")
      assert(e:use(slow()))
      assert.is_nil(e:retired())
      local before = #e:jobs()
      local result, why, code = call[2](e)
      assert.same({ nil, "policy" }, { result, code })
      assert.truthy(why:find(TOOK .. "; policy low takes its place"), why)
      assert.equal("low", (e:policy()))
      local told = e:retired()
      assert.same({ "slow", "low" }, { told.policy, told.instead })
      assert.is_true(told.seconds > 2e-9 and why:find(told.why, 1, true) ~= nil)
      assert.equal(before, #e:jobs())
      assert(e:match "slot=1/node")
      assert(e:use "spread")
      assert.is_nil(e:retired())
    end)
  end

  it("gives way wherever the loop is", function()
    for _, hook in ipairs { "order", "prune", "evaluate", "select", "admit" } do
      local e <close> = engine "low"
      assert(e:use(slow(hook)))
      assert.equal("policy", select(3, e:match "slot=1/node"), hook)
      assert.equal("low", (e:policy()), hook)
    end
  end)

  it("gives way to one that was good, where several were none", function()
    local e <close> = engine "spread"
    assert(e:use(slow()))
    assert(e:use(slow()))
    assert.is_nil((e:match "slot=1/node"))
    assert.equal("slow", (e:policy())) -- the first policy has not overrun yet
    assert.is_nil((e:match "slot=1/node"))
    assert.equal("slow", e:retired().policy)
  end)

  it("stays where no other was in use before, and that is told", function()
    local e <close> = engine(slow())
    local _, why = e:match "slot=1/node"
    assert.truthy(why:find(TOOK .. "; no policy was in use before, so it stays"), why)
    assert.equal("slow", (e:policy()))
    assert.is_nil(e:retired().instead)
  end)

  it("is another thing than one that fails, or ends by its instructions", function()
    for _, body in ipairs { "error 'x'", "while true do end", "return 'x'" } do
      local e <close> = engine "low"
      assert(e:use(assert(core.policy_source("return { evaluate = function() " .. body .. " end }", "bad", { instructions = 100000 }))))
      local _, why, code = e:match "slot=1/node"
      assert.equal("policy", code)
      assert.is_nil(why:find("takes its place", 1, true))
      assert.equal("bad", (e:policy()))
      assert.is_nil(e:retired())
    end
  end)

  it("is not what one match was given beside the policy in use", function()
    local e <close> = engine "low"
    assert(e:use "spread")
    assert.equal("policy", select(3, e:match("slot=1/node", { policy = slow() })))
    assert.equal("spread", (e:policy()))
    assert.is_nil(e:retired())
  end)
end)

describe("a service whose policy took more than twice its seconds", function()
  it("goes on with the one before, tells those who listen, the log, stats and policy", function()
    local log, events = {}, {}
    local s = assert(services.new(assert(weir.resources(MACHINE)), { policy = "spread", clock = "manual", overrun = "hold",
      log = function(text) log[#log + 1] = text end, limits = { filters = 250 }, store = nil }))
    local function ask(method, params)
      local result, why, word
      s:handle { method = method, params = params or {}, client = { role = "administrator" }, answer = function(t) result = t end,
        fail = function(text, code) why, word = text, code end, stream = function() end, more = function(t) events[#events + 1] = t end }
      return result, why, word
    end
    ask "events"
    assert(s:use(slow(), nil))
    local result, why, code = ask("match", { request = "slot=1/node" })
    assert.same({ nil, "policy" }, { result, code })
    assert.truthy(why:find(TOOK), why)
    assert.same({ "policy", "slow", "spread" }, { events[2].event, events[2].policy, events[2].instead })
    assert.truthy(table.concat(log, "\n"):find(TOOK .. "; policy spread takes its place"))
    assert.same({ "spread", "slow" }, { ask("policy").name, ask("policy").retired.policy })
    assert.same({ "spread", "slow" }, { ask("stats").policy, ask("stats").retired.policy })
    assert.equal(1, ask("match", { request = "slot=1/node" }).job)
    assert.equal(2, #events) -- the first event announces the subscription
    assert.equal("spread", ask("policy.reload").name)
  end)
end)

describe("a simulation whose policy took more than twice its seconds", function()
  for _, hook in ipairs { "evaluate", "order", "admit" } do
    it("ends and names it, in " .. hook, function()
      local s = assert(sim.new { resources = MACHINE, policy = slow(hook) })
      local ok, why = pcall(function()
        s:submit { request = "slot=1/node", estimate = 10, runtime = 10, at = 0 }
        s:run()
      end)
      assert.is_false(ok)
      assert.equal(s.failure, why)
      assert.truthy(why:find(TOOK), why)
    end)
  end

  it("is a replay that ends", function()
    local given = false
    local result, why, code = replay.run { resources = MACHINE, policy = slow(), trace = { next = function()
      if given then return nil end
      given = true
      return { number = 1, submit = 0, runtime = 10, estimate = 10, procs = 2 }
    end, read = 1, malformed = 0, left_out = 0, problems = {}, header = {}, path = "one job", format = "made" } }
    assert.same({ nil, "failed" }, { result, code })
    assert.truthy(why:find(TOOK), why)
  end)
end)

describe("Flux with a policy that took more than twice its seconds", function()
  it("goes on with the one before, and the job starts", function()
    local s = flux.started {}
    assert(s.service.scheduler.engine:use(slow()))
    flux.submit(s, 1, 1, { duration = 10 })
    flux.settle(s)
    assert.equal("1", flux.ids(s, "alloc"))
    assert.equal("slow", s.service.scheduler.engine:retired().policy)
    assert.is_true(s.service.scheduler.retired ~= nil)
  end)
end)
