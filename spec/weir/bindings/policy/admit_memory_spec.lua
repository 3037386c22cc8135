-- The answers of admit that are remembered: for one handle of a request, where admit has read nothing but the request
-- and its own variables, and has changed nothing.
local weir = require "weir"
local core = require "weir.core"
local dice = require "spec.support.dice"

local function engine_of(text, machine)
  local policy = assert(core.policy_source(text, "admitting"))
  policy:profile(true)
  return assert(weir.engine { resources = weir.synthetic(machine or "cluster:1 node:8 core:4"), policy = policy }), policy
end

local function calls_of(policy) return policy:profile().hooks.admit.calls end

describe("an answer of admit", function()
  local AMENDS = [[return { admit = function(jobspec)
    jobspec.resources[1].with[1].count = 2
    return jobspec
  end }]]

  it("is remembered for the handle of a request: the amended request, a rejection, an admission", function()
    local cases = {
      { AMENDS, 2 }, { "return { admit = function() end }", 1 },
      { "return { admit = function(j, o) return j.resources[1].count < 2 and o.most > 0, 'no' end, options = {most = 3} }", 1 },
      { "return { admit = function() return false, 'not today' end }", "policy admitting rejects the job: not today" },
    }
    for _, case in ipairs(cases) do
      local engine, policy = engine_of(case[1])
      local request = weir.request "slot=1/node"
      for _ = 1, 5 do
        local a, why, code = engine:match(request, { mode = "preview" })
        if type(case[2]) == "number" then
          assert.equal(case[2], #a:vertices())
        else
          assert.is_nil(a)
          assert.same({ case[2], "rejected" }, { why, code })
        end
      end
      assert.equal(1, calls_of(policy))
      assert(engine:match("slot=1/node", { mode = "preview" }) or true)
      assert.equal(2, calls_of(policy))
    end
  end)

  it("is asked for again where admit has read or changed what is not in the request", function()
    local cases = {
      "local n = 0 return { admit = function(j) n = n + 1 if n % 2 == 0 then return false, 'even' end end }",
      "return { admit = function(_, _, job) return job.user ~= 'eve', 'eve' end }",
      "return { admit = function(_, _, job) return (job.priority or 1) > 0, 'low' end }",
      "return { admit = function(_, _, job) return job.duration > 5, 'short' end }",
      "return { admit = function(_, _, job) return job.id ~= 3, 'three' end }",
      "return { admit = function() return math.random() < 2, 'never' end }",
      "local root return { init = function(g) root = g:root() end, admit = function() return root.free == 1, 'busy' end }",
      "local t = {} return { admit = function(j) t[1] = j end }",
    }
    for _, text in ipairs(cases) do
      local engine, policy = engine_of(text)
      local request = weir.request "slot=1/node"
      for i = 1, 4 do
        engine:match(request, { mode = "preview", about = { user = i % 2 == 0 and "eve" or "ada" } })
        assert.equal(i, calls_of(policy), text)
      end
    end
  end)

  it("may read of the job what the request says", function()
    local engine, policy = engine_of [[return { admit = function(_, _, job)
      return job.wants.node < 3 and #job.resources == 1 and type(job.attributes) == "table", "many" end }]]
    local few, many = weir.request "slot=1/node", weir.request "slot=3/node"
    for _ = 1, 3 do
      assert(engine:match(few, { mode = "preview" }))
      assert.equal("rejected", select(3, engine:match(many, { mode = "preview" })))
    end
    assert.equal(2, calls_of(policy))
  end)

  it("is asked for again once init has set a variable that admit reads", function()
    local engine, policy = engine_of [[local nodes = 0
      return { init = function(g) nodes = 0 for _ in g:walk { type = "node" } do nodes = nodes + 1 end end,
        admit = function(j) return nodes > 8 or j.resources[1].count > 1, "few nodes" end }]]
    local one, two = weir.request "slot=1/node", weir.request "slot=2/node"
    for _ = 1, 2 do assert.equal("rejected", select(3, engine:match(one))) end
    local cluster = engine:resources():root()
    local node = assert(engine:resources():add(cluster, { type = "node", id = 8 }))
    assert(engine:resources():add(node, { type = "core", id = 0 }))
    assert(engine:match(two)) -- init runs, after admit
    for _ = 1, 2 do assert(engine:match(one)) end
    assert.equal(3, calls_of(policy))
  end)

  it("is remembered for the last requests, and a handle that is gone leaves nothing behind", function()
    local engine, policy = engine_of(AMENDS)
    local list = {}
    for i = 1, 40 do list[i] = weir.request "slot=1/node" end
    for i = 1, 40 do assert(engine:match(list[i], { mode = "preview" })) end
    assert.equal(40, calls_of(policy))
    for i = 25, 40 do assert(engine:match(list[i], { mode = "preview" })) end
    assert.equal(40, calls_of(policy))
    for i = 1, #list do list[i] = nil end
    collectgarbage()
    for _ = 1, 40 do
      assert.equal(2, #assert(engine:match(weir.request "slot=1/node", { mode = "preview" })):vertices())
      collectgarbage()
    end
    assert.equal(80, calls_of(policy))
  end)

  it("is the answer of a policy that remembers nothing, in random histories", function()
    local TEXT = [[local few = 2
      local function count(list) local n = 0 for _, r in ipairs(list) do n = n + r.count + count(r.with or {}) end return n end
      return {
        admit = function(j)
          %s
          if count(j.resources) > 6 then return false, "more than " .. few end
          if count(j.resources) %% 2 == 1 then j.resources[1].count = few return j end
        end,
        prune = function(v) few = v.type == "node" and v.id == 5 and 1 + few %% 2 or few return true end }]]
    local roll = dice(71)
    for _ = 1, 6 do
      local a, remembering = engine_of(TEXT:format "")
      local b = engine_of(TEXT:format "math.random()")
      local shapes, handles = { "slot=1/node", "slot=2/node", "slot=1/node/core=2", "slot=4/node/core=2", "slot=3/node" }, {}
      for i, shape in ipairs(shapes) do handles[i] = weir.request(shape) end
      for _ = 1, 60 do
        local request, mode = handles[roll(#handles)], roll(3) == 1 and "preview" or "now"
        local answers = {}
        for i, engine in ipairs { a, b } do
          local x, why = engine:match(request, { mode = mode })
          answers[i] = x and x:format "rlite" or why
          if x and x.id > 0 then engine:release(x.id) end
        end
        assert.equal(answers[2], answers[1])
      end
      assert.is_true(calls_of(remembering) < 60)
    end
  end)
end)
