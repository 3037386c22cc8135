-- Scores that are remembered: equal to fresh ones, and equal answers, on random machines and histories; what makes a
-- score stale; and what a match costs then.
local weir = require "weir"
local core = require "weir.core"
local dice = require "spec.support.dice"
local scores = require "spec.support.scores"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1

describe("remembered scores", function()
  for _, name in ipairs(scores.bundled()) do
    it("are the scores of a fresh call under " .. name, function()
      local answers = 0
      for seed = 1, math.max(2, 12 * SCALE) // 1 do
        answers = answers + scores.play(seed * 7919, function() return assert(weir.policy(name)) end, 60)
      end
      assert.is_true(answers > 10)
    end)
  end

  it("are the scores of a fresh call for made-up functions", function()
    local answers = 0
    for seed = 1, math.max(30, 300 * SCALE) // 1 do
      local text = scores.policy_text(dice(seed * 31))
      local fine, why = pcall(scores.play, seed, function() return assert(core.policy_source(text, "made-up")) end, 40)
      assert(fine, tostring(why) .. "\n" .. text)
      answers = answers + why
    end
    assert.is_true(answers > 100)
  end)

  -- The calls and visits of the fourth match of a stream, with `racks` racks of 30 nodes.
  local function cost(name, racks, shape)
    local g = weir.synthetic(("cluster:1 rack:%d node:30 core:4 gpu:1"):format(racks))
    local policy, request = assert(weir.policy(name)), weir.request(shape)
    local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
    for _ = 1, 3 do engine:release(assert(engine:match(request))) end
    assert(engine:match(request))
    local stats = engine:stats()
    g:close()
    return stats, policy.uncached
  end

  for _, name in ipairs(scores.bundled()) do
    for _, shape in ipairs { "slot=1/node", "slot=20/node", "slot=1/core=2" } do
      it(("cost what changed, not the machine: %s under %s"):format(shape, name), function()
        local small, why = cost(name, 4, shape)
        local large = cost(name, 40, shape)
        assert.is_nil(why)
        assert.is_true(large.callbacks <= small.callbacks + 4, ("%d calls, then %d"):format(small.callbacks, large.callbacks))
        assert.is_true(large.visited <= small.visited + 12, ("%d visits, then %d"):format(small.visited, large.visited))
        assert.is_true(large.visited < 120, large.visited .. " visits")
      end)
    end
  end

  -- {body of the policy's file, the reason}
  local CALLED = {
    { "local n = 0 return { evaluate = function() n = n + 1 return n end }", "it changes its variable 'n'" },
    { "local t = {} return { evaluate = function(v) t[v] = true return 1 end }", "it changes its variable 't'" },
    { "return { evaluate = function(v) return v:available() end }", "it reads v:available()" },
    { "return { evaluate = function(v) return #v:jobs() end }", "it reads v:jobs()" },
    { "return { evaluate = function(v) return #v:uses() end }", "it reads v:uses()" },
    { "return { state = {n = 0}, placed = function() end, evaluate = function(_, r) return r.state.n end }",
      "it reads the state of the policy, which changes with each job" },
    { "return { evaluate = function() return math.random() end }", "it reads math.random()" },
    { "return { evaluate = function(_, r) return rawget(r, 'count') end }", "it reads the request as a whole" },
    { "return { evaluate = function(_, r) r.mine = 1 return 1 end }", "it reads the request as a whole" },
  }
  for _, case in ipairs(CALLED) do
    it("are not kept, with the reason: " .. case[2], function()
      local g = weir.synthetic "cluster:1 rack:2 node:3 core:2"
      local policy = assert(core.policy_source(case[1], "called"))
      local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
      for _ = 1, 4 do engine:release(assert(engine:match "slot=1/node")) end
      assert.equal(case[2], policy.uncached)
      assert.equal(6, engine:stats().callbacks)
    end)
  end

  it("have a part that siblings share, computed once a parent", function()
    local TEXT = [[return { order = "id", evaluate = function(v) return v.id %% 2 end, evaluate_siblings = function(v)
      local _, free = v:parent():below "node" return %s end }]]
    local g = weir.synthetic "cluster:1 rack:5 node:60 core:2"
    local policy = assert(core.policy_source(TEXT:format "-free", "shared"))
    local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
    local racks = {}
    for i = 1, 4 do
      racks[i] = assert(engine:match "slot=1/node"):vertices()[1].vertex.path
      if i > 2 then assert.equal(1, engine:stats().callbacks) end
    end
    assert.same({ "/cluster0/rack0/node1", "/cluster0/rack0/node3", "/cluster0/rack0/node5", "/cluster0/rack0/node7" }, racks)
    assert.is_nil(policy.uncached)
    policy = assert(core.policy_source(TEXT:format "v.id", "unequal"))
    engine = assert(weir.engine { resources = g, policy = policy, scores = "check" })
    local why
    for _ = 1, 3 do why = select(2, engine:match "slot=1/node") or why end
    assert.matches("siblings have different results of evaluate_siblings", why)
    local refused = select(2, core.policy_source("return { evaluate_siblings = function() return 1 end }", "alone"))
    assert.matches("evaluate is needed, too", refused)
  end)

  it("have no such part where evaluate_siblings changes a variable, as the reason says", function()
    local g = weir.synthetic "cluster:1 rack:2 node:3 core:2"
    local policy = assert(core.policy_source([[local n = 0
      return { evaluate = function() return 1 end, evaluate_siblings = function() n = n + 1 return n end }]], "called"))
    local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
    for _ = 1, 3 do engine:release(assert(engine:match "slot=1/node")) end
    assert.equal("it changes its variable 'n'", policy.uncached)
  end)

  it("are summed in chains and sums of policies", function()
    local text = [[return { evaluate = function(v) return -(v.id or 0) end, evaluate_siblings = function(v)
      return 100 * ((v:parent() or v).id or 0) end }]]
    local path = os.tmpname() .. ".lua"
    local file <close> = assert(io.open(path, "w"))
    file:write(text)
    file:flush()
    for _, policy in ipairs { path, weir.policy.chain { path, "low" }, weir.policy.weighted { { path, 2 } } } do
      local e = assert(weir.engine { resources = "cluster:1 rack:3 node:4 core:2", policy = policy })
      assert.equal("/cluster0/rack2/node8", assert(e:match "slot=1/node"):vertices()[1].vertex.path)
    end
    os.remove(path)
  end)

  it("refuse a mode that does not exist", function()
    local g = weir.synthetic "node:1"
    assert.error_matches(function() weir.engine { resources = g, scores = "guess" } end, "remember, check or call")
  end)
end)
