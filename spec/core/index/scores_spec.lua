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
    for seed = 1, math.max(30, 200 * SCALE) // 1 do
      local text = scores.policy_text(dice(seed * 31))
      local fine, why = pcall(scores.play, seed, function() return assert(core.policy_source(text, "made-up")) end, 40)
      assert(fine, tostring(why) .. "\n" .. text)
      answers = answers + why
    end
    assert.is_true(answers > 100)
  end)

  it("are as answers of prune what a fresh call gives, for made-up functions", function()
    local answers = 0
    for seed = 1, math.max(30, 100 * SCALE) // 1 do
      local text = scores.prune_text(dice(seed * 47))
      local fine, why = pcall(scores.play, seed, function() return assert(core.policy_source(text, "made-up")) end, 40)
      assert(fine, tostring(why) .. "\n" .. text)
      answers = answers + why
    end
    assert.is_true(answers > 100)
  end)

  -- The calls and visits of matches of a stream under a prune, on `racks` racks of 30 nodes.
  local function pruned(body, racks, shape, change)
    local g = weir.synthetic(("cluster:1 rack:%d node:30 core:4 gpu:1"):format(racks))
    for v in g:walk { type = "node" } do
      if v.index % 7 > 0 then v.tags.old = "1" end
    end
    local policy = assert(core.policy_source(("return { order = 'id', prune = function(v, r) %s end }"):format(body), "pruned"))
    local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
    for _ = 1, 3 do engine:release(assert(engine:match(shape))) end
    if change then change(g) end
    local a = assert(engine:match(shape))
    local stats, name = engine:stats(), a:vertices()[1].vertex.name
    assert(g:check())
    g:close()
    return stats, policy.uncached_prune, name
  end

  local OLD = "return not (v.type == 'node' and v.tags.old)"
  for _, shape in ipairs { "slot=1/node", "slot=20/node", "slot=3/core=2", "core=5" } do
    it("are kept for prune: what it refused stays refused, and costs nothing, for " .. shape, function()
      local small, why = pruned(OLD, 20, shape)
      local large = pruned(OLD, 80, shape)
      assert.is_nil(why)
      assert.equal(0, small.callbacks)
      assert.equal(0, large.callbacks)
      assert.is_true(large.visited <= small.visited + 12, ("%d visits, then %d"):format(small.visited, large.visited))
      assert.is_true(large.visited < 150, large.visited .. " visits")
    end)
  end

  it("of prune hold until something that prune read has changed", function()
    local _, _, before = pruned(OLD, 20, "slot=1/node")
    local first
    local stats, _, after = pruned(OLD, 20, "slot=1/node", function(g)
      first = g:find("type=node")[1]
      first.tags.old = nil
      first = first.name
    end)
    assert.not_equal(first, before)
    assert.equal(first, after)
    assert.equal(1, stats.callbacks)
  end)

  -- {body of prune, the reason}
  for _, case in ipairs {
    { "return #v:jobs() == 0", "it reads v:jobs()" }, { "count = count + 1 return true", "it changes its variable 'count'" },
    { "return math.random() >= 0", "it reads math.random()" },
  } do
    it("of prune are not kept, with the reason: " .. case[2], function()
      local g = weir.synthetic "cluster:1 rack:2 node:3 core:2"
      local policy = assert(core.policy_source("local count = 0 return { prune = function(v) " .. case[1] .. " end }", "called"))
      local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
      for _ = 1, 4 do engine:release(assert(engine:match "slot=1/node")) end
      assert.equal(case[2], policy.uncached_prune)
      assert.is_true(engine:stats().callbacks > 0)
    end)
  end

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

  for _, entry in ipairs(require("weir.policy").list()) do
    local name = entry.name
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
    { "return { evaluate = function(_, r) for _ in pairs(r) do end return 1 end }", "it reads the request as a whole" },
    { "local a, n = 1, 0 return { evaluate = function() local _ = a n = n + 1 return n end }", "it changes its variable 'n'" },
    { "local t = {} for i = 1, 2100 do t[i] = i end return { evaluate = function() return #t end }",
      "its variable 't' holds more than 2000 values outside of the function" },
    { "local t = {} for i = 1, 600 do t[i] = {} end return { evaluate = function() return #t end }",
      "its variable 't' holds too many tables and functions outside of the function" },
    { "return { evaluate = function(_, r) local _ = r.type, r.unit, r.label, r.index, r.count, r.min, r.max, r.exclusive, r.below, r.slot, "
      .. "r.job.id, r.job.name, r.job.user, r.job.bank, r.job.queue, r.job.qos, r.job.urgency, r.job.submit return 1 end }",
      "it reads many fields of the request" },
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

  -- What a function may hold outside of itself, and its scores are kept: {body of the policy's file}
  for _, text in ipairs {
    "local g return { init = function(graph) g = graph end, evaluate = function() return g and 1 or 0 end }",
    "local w return { init = function(graph) w = graph:walk {} end, evaluate = function() return w and 1 or 0 end }",
    "local key, t = {}, {} t[key], t[print], t[1.5], t[true] = 1, 2, 3, 4 return { evaluate = function() return t[key] end }",
    "local f, n = ('x'):gmatch 'x', pairs { 1, a = 2 } return { evaluate = function() return f and n and 1 end }",
  } do
    it("are kept for " .. text, function()
      local g = weir.synthetic "cluster:1 rack:2 node:3 core:2"
      local policy = assert(core.policy_source(text, "kept"))
      local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
      for _ = 1, 4 do engine:release(assert(engine:match "slot=1/node")) end
      assert.same({ calls = 0 }, { why = policy.uncached, calls = engine:stats().callbacks })
    end)
  end

  -- The field that comes last of those read is written behind texts that are longer than a key may be.
  for length = 900, 1100, 20 do
    it("are not kept for texts of a job that are too long to be compared: " .. length, function()
      local g = weir.synthetic "cluster:1 rack:2 node:3 core:2"
      local policy = assert(core.policy_source([[return { evaluate = function(_, r)
        return #r.job.name - #r.job.user + #r.job.bank + #r.job.queue end }]], "long"))
      local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
      local about = { name = ("n"):rep(length), user = ("u"):rep(3000), bank = "b", queue = ("q"):rep(length) }
      for _ = 1, 3 do engine:release(assert(engine:match("slot=1/node", { about = about }))) end
      assert.same({ calls = 6 }, { why = policy.uncached, calls = engine:stats().callbacks })
      about = { name = "n", user = "u", bank = "b", queue = "q" }
      for _ = 1, 3 do engine:release(assert(engine:match("slot=1/node", { about = about }))) end
      assert.same({ calls = 0 }, { why = policy.uncached, calls = engine:stats().callbacks })
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
    policy = assert(core.policy_source([[local t = {} for i = 1, 600 do t[i] = {} end
      return { evaluate = function() return 1 end, evaluate_siblings = function() return #t end }]], "large"))
    engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
    for _ = 1, 3 do engine:release(assert(engine:match "slot=1/node")) end
    assert.equal("its variable 't' holds too many tables and functions outside of the function", policy.uncached)
  end)

  it("are not kept where an attribute of the job has too many values to be compared", function()
    local g = weir.synthetic "cluster:1 rack:2 node:3 core:2"
    local policy = assert(core.policy_source("return { evaluate = function(_, r) return #r.job.attributes.list end }", "listed"))
    local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
    local attributes = '{"list":[' .. ("1,"):rep(2100) .. "1]}"
    for _ = 1, 3 do engine:release(assert(engine:match("slot=1/node", { about = { attributes = attributes } }))) end
    assert.equal("it reads the field 'job.attributes' of the request", policy.uncached)
  end)

  it("of siblings are no longer one where evaluate says so no more", function()
    local TEXT = [[return { order = "id", evaluate = function(v)
      local own = v:parent().tags.own
      return own and v.id % 7 or 3, not own end }]]
    local picks = {}
    for _, mode in ipairs { "call", "check", "remember" } do
      local g = weir.synthetic "cluster:1 rack:3 node:20 core:2"
      local policy = assert(core.policy_source(TEXT, "alike"))
      local e = assert(weir.engine { resources = g, policy = policy, scores = mode })
      local list = {}
      local function match() list[#list + 1] = assert(e:match "slot=1/node"):vertices()[1].vertex.path end
      for _ = 1, 3 do match() end
      g("/cluster0/rack1").tags.own = "1"
      for _ = 1, 9 do match() end
      g("/cluster0/rack1").tags.own = nil
      for _ = 1, 3 do match() end
      assert.is_nil(policy.uncached)
      assert(g:check())
      g:close()
      picks[mode] = list
    end
    assert.equal("/cluster0/rack1/node20", picks.call[4]) -- 20 % 7 is 6
    assert.same(picks.call, picks.check)
    assert.same(picks.call, picks.remember)
  end)

  it("are asked for anew after an edge was added or removed", function()
    local g = weir.synthetic "cluster:1 rack:3 node:20 core:2"
    local pdu = assert(g:add(nil, { type = "pdu", size = 4 }))
    assert(g:add_edge(pdu, g "/cluster0/rack2", { subsystem = "power", type = "supplies" }))
    local policy = assert(core.policy_source(
      [[return { order = "id", evaluate = function(v) return v:parent "power" and 1 or 0 end }]], "powered"))
    local e = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
    local function first()
      local a = assert(e:match "slot=1/node")
      assert(e:release(a.id))
      return a:vertices()[1].vertex.name
    end
    for _ = 1, 3 do assert.equal("node0", first()) end
    local node = g "/cluster0/rack2/node45"
    assert(g:add_edge(pdu, node, { subsystem = "power", type = "supplies" }))
    for _ = 1, 3 do assert.equal("node45", first()) end
    assert(g:remove_edge(pdu, node, { subsystem = "power" }))
    for _ = 1, 3 do assert.equal("node0", first()) end
    assert.is_nil(policy.uncached)
    g:close()
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

  -- The picks and the calls of Lua of matches with these durations; each job is released at once.
  local function stream(policy, g, durations)
    local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
    local picks, calls = {}, {}
    for i, duration in ipairs(durations) do
      local jobspec = weir.json.decode(assert(weir.request "slot=1/node"):format "jobspec")
      jobspec.attributes = { system = { duration = duration } }
      local a = assert(engine:match(jobspec))
      picks[i], calls[i] = a:vertices()[1].vertex.name, engine:stats().callbacks
      engine:release(a)
    end
    return picks, calls
  end

  it("depend on a limit of the duration, and not on the duration", function()
    for _, nodes in ipairs { 120, 600 } do
      local g = weir.synthetic(("cluster:1 rack:2 node:%d core:2"):format(nodes // 2))
      for v in g:walk { type = "node" } do
        if v.index % 2 == 0 then v.tags.drain = "1000" end
      end
      local policy = assert(weir.policy "drain_first")
      local durations = { 500, 500, 500, 5000, 5000, 5000 }
      for i = 1, 30 do durations[#durations + 1] = 100 + i * 60 end
      local picks, calls = stream(policy, g, durations)
      for i, duration in ipairs(durations) do
        local drained = g:find("name=" .. picks[i])[1].tags.drain ~= nil
        assert.equal(duration <= 1000, drained)
        if i > 6 then assert.equal(0, calls[i]) end
      end
      assert.is_nil(policy.uncached)
      g:close()
    end
  end)

  it("hold for many limits, too, and exactly at each", function()
    local g = weir.synthetic "cluster:1 node:300 core:2"
    for v in g:walk { type = "node" } do v.tags.drain = tostring(100 + v.id % 10) end
    local policy = assert(core.policy_source([[return { order = "-id", evaluate = function(v, r)
      return r:ends_within(tonumber(v.tags.drain)) and -v.id or -1000 - v.id end }]], "limits"))
    local durations = { 103, 103, 103, 105, 105, 105 }
    for i = 0, 20 do durations[#durations + 1] = 100 + i / 2 end
    local picks = stream(policy, g, durations)
    for i, duration in ipairs(durations) do
      assert.equal("node" .. (duration > 109 and 0 or math.ceil(duration) - 100), picks[i])
    end
    assert.is_nil(policy.uncached)
  end)

  for what, code in pairs { ["nan"] = "0/0", ["number expected"] = "{}", ["no field 'ends_witin' (did you mean"] = false } do
    it("refuse a limit that is none: " .. what, function()
      local call = code and "r:ends_within(" .. code .. ")" or "r:ends_witin(1)"
      local policy = assert(core.policy_source("return { evaluate = function(v, r) return " .. call .. " and 1 or 0 end }", "wrong"))
      local engine = assert(weir.engine { resources = "node:2", policy = policy })
      assert.matches(what, select(2, engine:match "slot=1/node"), 1, true)
    end)
  end

  -- Fields of the vertex and of the machine that a job of the machine's history changes and changes back.
  for what, read in pairs {
    ["free units below"] = "(select(2, v:below 'core'))", ["free units"] = "v.free", ["what jobs have"] = "v.allocated",
    ["the state"] = "(v.state == 'up' and 1 or 0)", ["units below and a state"] = "((select(2, v:below 'core')) + #v:parent().state)",
  } do
    it("hold again where the numbers are as they were: " .. what, function()
      local g = weir.synthetic "cluster:1 rack:2 node:200 core:4"
      local policy = assert(core.policy_source(("return { order = 'id', evaluate = function(v) return -%s end }"):format(read), "numbers"))
      local engine = assert(weir.engine { resources = g, policy = policy, scores = "remember" })
      local calls = {}
      for i = 1, 12 do
        local a = assert(engine:match(i % 3 == 0 and "slot=1/core=2" or "slot=2/node"))
        calls[i] = engine:stats().callbacks
        engine:release(a)
        local v = g:find("type=node")[i % 2 + 1]
        v.state = "down"
        v.state = "up"
      end
      assert.is_true(calls[1] > 100)
      assert.same({ 0, 0, 0 }, { calls[10], calls[11], calls[12] })
      assert.is_nil(policy.uncached)
      assert(g:check())
    end)
  end

  it("do not hold where one of several numbers is another, though sums and products are equal", function()
    local g = weir.synthetic "cluster:1 rack:2 node:150 core:8 gpu:8"
    local policy = assert(core.policy_source([[return { order = "id", evaluate = function(v)
      local _, cores = v:below "core"
      local _, gpus = v:below "gpu"
      return 10 * gpus - cores end }]], "two"))
    local engine = assert(weir.engine { resources = g, policy = policy, scores = "check" })
    for _, shape in ipairs { "slot=1/[core=1;gpu=3]", "slot=1/[core=3;gpu=1]", "slot=1/[core=2;gpu=2]", "slot=1/[core=6;gpu=2]",
      "slot=1/[core=2;gpu=6]", "slot=1/[core=4;gpu=4]", "slot=1/[core=1;gpu=3]" } do
      for _ = 1, 3 do
        local a = assert(engine:match(shape))
        assert(engine:match("slot=1/node", { mode = "preview" }))
        engine:release(a)
      end
    end
    assert.is_nil(policy.uncached)
  end)

  it("refuse a mode that does not exist", function()
    local g = weir.synthetic "node:1"
    assert.error_matches(function() weir.engine { resources = g, scores = "guess" } end, "remember, check or call")
  end)
end)
