-- The engine's promises to policies, and the values it takes from policies: options, init, admit, the order as an
-- index, identity, reload, combinations, traces and profiles.
local core = require "weir.core"
local weir = require "weir"

local function source(text, settings) return core.policy_source(text, "p", settings) end

local function engine(policy, machine)
  return assert(weir.engine { resources = machine or "cluster:1 rack:2 node:3 core:4", policy = policy })
end

local function node_of(a) return a:vertices()[1].vertex.name end

local function preview(e, opts)
  opts = opts or {}
  opts.mode = "preview"
  return node_of(assert(e:match("slot=1/node", opts)))
end

describe("options of a policy", function()
  local TEXT = [[return { options = {
    k = 4, on = false, share = { default = 0.5, min = 0, max = 1 }, name = { type = "string" },
    mode = { default = "strict", choices = { "strict", "loose" } }, list = { default = { 1, 2 } } } }]]

  local function values(settings)
    local p = assert(source(TEXT, settings))
    local t = {}
    for name, option in pairs(p.options) do t[name] = option.value end
    return t
  end

  it("have their defaults", function()
    assert.same({ k = 4, on = false, share = 0.5, mode = "strict", list = { 1, 2 } }, values())
  end)

  it("take what is given", function()
    assert.same({ k = 7, on = true, share = 1, mode = "loose", name = "x", list = { 3 } },
      values { options = { k = 7, on = true, share = 1, mode = "loose", name = "x", list = { 3 } } })
  end)

  it("are read from text, as the command line has it", function()
    assert.same({ k = 7, on = true, share = 0.25, mode = "loose", list = { 3, 4 } },
      values { options = { k = "7", on = "yes", share = "0.25", mode = "loose", list = "[3,4]" } })
  end)

  local wrong = {
    { { k = "x" }, "option 'k': integer expected, got x" }, { { k = 2.5 }, "option 'k': integer expected" },
    { { on = 3 }, "option 'on': boolean expected" }, { { share = 2 }, "option 'share': .* above" },
    { { share = -1 }, "option 'share': .* below" }, { { mode = "lax" }, "option 'mode': expected is one of strict loose" },
    { { kk = 1 }, "there is no option 'kk'; it has" }, { { list = "x" }, "option 'list': table expected" },
    { { share = 0 / 0 }, "." },
  }
  for _, case in ipairs(wrong) do
    it("are refused by name: " .. case[2], function()
      local ok, p, why = pcall(source, TEXT, { options = case[1] })
      assert.is_true(not ok or p == nil)
      assert.is_truthy(tostring(ok and why or p):find(case[2]), tostring(why))
    end)
  end

  local bad = {
    "options = 3", "options = { 3 }", "options = { k = { typ = 1 } }", "options = { k = {} }", "options = { k = { type = 'int' } }",
    "options = { k = { default = 9, max = 3 } }", "options = { k = math.max }",
  }
  for _, text in ipairs(bad) do
    it("are declared rightly or the policy is not loaded: " .. text, function()
      local p, why, code = source("return { " .. text .. " }")
      assert.is_nil(p)
      assert.equal("policy", code)
      assert.is_truthy(why:find "option", why)
    end)
  end

  it("reach every hook", function()
    local e = engine(assert(source([[return { options = { last = 0 },
      order = function(v, options) return v.id == options.last and 0 or 1, v.id end,
      evaluate = function(v, request) return request.options.last end }]], { options = { last = 5 } })))
    local trace = {}
    assert.equal("node5", (preview(e, { trace = trace })))
    for _, event in ipairs(trace) do assert.is_true(event.event ~= "scored" or event.score == 5) end
  end)

  it("are given in Lua and on the command line", function()
    for _, x in ipairs { "weighted:low=-1,pack=0", { "weighted", low = -1, pack = 0 } } do
      assert.equal("node5", preview(engine(x)))
    end
    local e = engine { { options = { last = 2 }, order = function(v, o) return math.abs(v.id - o.last) end }, last = 4 }
    assert.equal("node4", preview(e))
  end)
end)

describe("init", function()
  it("sees the graph and the options once, before the first match, and again when the structure changed", function()
    local calls, count = 0, nil
    local e = engine { init = function(g, options) calls, count = calls + 1, g:count() + (next(options) and 1 or 0) end,
      order = function(v) return v.id end }
    assert.equal(1, calls)
    assert.equal(33, count)
    assert(e:match "slot=1/node")
    assert(e:match "slot=1/node")
    assert.equal(1, calls)
    e:resources():add(e:resources():vertex "/cluster0/rack0", { type = "node", id = 99 })
    assert(e:match "slot=1/node")
    assert.equal(2, calls)
    assert.equal(34, count)
  end)

  it("that fails keeps the policy that was there", function()
    local e = engine "high"
    local done, why, code = e:use(assert(source "return { init = function() error 'no room' end }"))
    assert.is_nil(done)
    assert.equal("policy", code)
    assert.is_truthy(why:find "no room")
    assert.equal("high", (e:policy()))
    assert.equal("node5", preview(e))
  end)

  it("may only read the graph", function()
    local e = engine "high"
    local done, why = e:use { init = function(g) g:root().tags.x = "1" end }
    assert.is_nil(done)
    assert.is_truthy(why:find "cannot be changed")
  end)
end)

describe("admit", function()
  local e = engine(assert(source [[return { admit = function(job)
    local r = job.resources[1]
    if r.count == 6 then return false, "six is too many" end
    if r.count == 5 then r.count = 1 return job end
    if r.count == 4 then return { version = 1 } end
    if r.count == 3 then return 7 end
    if r.count == 2 then return true end
  end }]]))

  it("refuses a job with a reason", function()
    local a, why, code = e:match "slot=6/node"
    assert.is_nil(a)
    assert.equal("rejected", code)
    assert.equal("policy p rejects the job: six is too many", why)
  end)

  it("amends a job", function() assert.equal(1, #assert(e:match("slot=5/node", { mode = "preview" })):vertices()) end)

  -- Sixteen cores for a job with a request for 64: by the totals of the unshrunk request there is no start.
  for what, ask in pairs {
    place = function(x, r) return x:place(r, 1, 5, 10, false, false) end,
    ["place after the sums"] = function(x, r) return x:place(r, 1, 5, 10, true, true) end,
    soonest = function(x, r) return x:soonest(r, 1, 5, 10) end,
    reserve = function(x, r) return assert(x:match(r, { mode = "reserve", at = 5 })).at end,
    preview = function(x, r) return assert(x:match(r, { mode = "preview", at = 5 })).at end,
    feasible = function(x, r) return x:match(r, { mode = "feasible" }) and 5 end,
    grow = function(x, r) return #assert(x:grow(assert(x:match "slot=1/core").id, r)):vertices() end,
    explain = function(x, r) return x:explain(r, { at = 5 }).start end,
    admitted = function(x, r) return assert(x:admitted(r)):resources()[1].count.min + 1 end,
  } do
    it("amends what is asked about by " .. what, function()
      local x = assert(weir.engine { resources = "cluster:1 node:4 core:4", policy = { admit = function(job)
        if job.resources[1].count == 64 then job.resources[1].count = 4 end
        return job
      end } })
      assert.equal(5, ask(x, weir.request "slot=64/core=1"))
      assert(x:resources():check())
    end)
  end

  it("refuses what is asked about by sums", function()
    for _, name in ipairs { "soonest", "place", "admitted" } do
      local t, why, code = e[name](e, weir.request "slot=6/node", 1, 0, 10)
      assert.same({ nil, "policy p rejects the job: six is too many", "rejected" }, { t, why, code })
    end
  end)

  it("has an explanation tell of the alternatives that it put into the request", function()
    local report = assert(e:explain("slot=1/core", { policy = { admit = function(job)
      job.resources = { { type = "or_slot", count = 1, label = "a", with = { { type = "core", count = 3 } } },
        { type = "or_slot", count = 1, label = "b", with = { { type = "core", count = 1 } } } }
      job.tasks = { { command = { "x" }, slot = "a", count = { per_slot = 1 } } }
      return job
    end } }))
    assert.is_true(report.alternatives)
  end)

  it("lets others pass", function()
    for n = 1, 2 do assert.equal(n, #assert(e:match(("slot=%d/node"):format(n), { mode = "preview" })):vertices()) end
  end)

  for n, says in pairs { [4] = "the jobspec that it wants instead", [3] = "it must return nothing, false" } do
    it("that gives back nonsense fails that match: " .. says, function()
      local a, why, code = e:match(("slot=%d/node"):format(n))
      assert.is_nil(a)
      assert.equal("policy", code)
      assert.is_truthy(why:find(says), why)
    end)
  end
end)

describe("the order", function()
  local ORDERS = {
    field = 'return { order = "properties.class" }',
    ["function"] = "return { order = function(v) return tonumber(v.properties.class) or math.huge end }",
    ["tag"] = "return { order = function(v) return tonumber(v.tags.class) or math.huge end }",
    ["field of an ancestor"] = 'return { order = { "rack.properties.class", "id" } }',
    ["function of an ancestor"] = [[return { order = function(v)
      local rack = v:ancestor "rack" return rack and tonumber(rack.properties.class) or math.huge, v.id end }]],
  }
  for what, text in pairs(ORDERS) do
    it("by a " .. what .. " follows when that changes, without a new index", function()
      local e = engine(assert(source(text)), "cluster:1 rack:20 node:10 core:1")
      local g = e:resources()
      local map = what == "tag" and "tags" or "properties"
      assert.equal("node0", preview(e))
      for _, name in ipairs { "rack7", "rack3", "rack11" } do
        local top = g:find("name=" .. name)[1]
        local v = what:find "ancestor" and top or g:find("type=node and id=" .. top.id * 10 + 4)[1]
        v[map].class = name == "rack11" and "1" or "2"
      end
      local wanted = what:find "ancestor" and "node110" or "node114"
      assert.equal(wanted, preview(e))
      assert.is_true(e:stats().visited < 20)
      assert.is_true(g:check())
      for v in g:walk {} do v[map].class = nil end
      assert.equal("node0", preview(e))
      assert.is_true(g:check())
    end)
  end

  it("is computed anew only where something changed", function()
    local e = engine({ order = function(v) return tonumber(v.properties.class) or v.id end }, "cluster:1 rack:20 node:10 core:1")
    local p = select(2, e:policy())
    p:profile(true)
    preview(e)
    assert.equal(200, p:profile().hooks.order.calls)
    e:resources():find("name=node77")[1].properties.class = "-1"
    assert.equal("node77", preview(e))
    assert.equal(201, p:profile().hooks.order.calls)
  end)

  it("costs no call for each match", function()
    local e = engine({ order = function(v) return -v.id end }, "cluster:1 node:50 core:1")
    preview(e)
    local p = select(2, e:policy())
    p:profile(true)
    for _ = 1, 10 do preview(e) end
    assert.equal(0, p:profile().hooks.order.calls)
    assert.equal(0, e:stats().callbacks)
  end)
end)

describe("the policy in use", function()
  it("tells its name, version, hash, source, options and budget", function()
    local text = 'return { name = "n", version = "2.1", doc = "d", options = { k = 1 }, order = "id" }'
    local p = assert(source(text, { instructions = 1000000, memory = 1 << 20, seconds = 2 }))
    assert.equal("n", p.name)
    assert.equal("2.1", p.version)
    assert.equal(text, p.source)
    assert.is_truthy(p.hash:find "^%x+$")
    assert.equal("n@" .. p.hash, p.label)
    assert.same({ instructions = 1000000, memory = 1 << 20, seconds = 2 }, p.budget)
    assert.same({ "order" }, p.hooks)
    assert.is_not.equal(p.hash, assert(source(text .. " ")).hash)
  end)

  it("is kept with each allocation", function()
    local e = engine "high"
    local a = assert(e:match "slot=1/node")
    local _, high = e:policy()
    assert.equal(high.label, a.policy)
    assert(e:use "low")
    assert.equal(select(2, e:policy()).label, assert(e:match "slot=1/node").policy)
    assert.equal(high.label, e:job(a.id).policy)
    local copy = assert(weir.engine { resources = e:resources():dup() })
    assert.equal(high.label, copy:job(a.id).policy)
  end)
end)

describe("reload", function()
  local path

  before_each(function() path = os.tmpname() end)
  after_each(function() os.remove(path) end)

  local function write(text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
  end

  it("[K1] takes a changed file before the next match, while jobs run", function()
    write 'return { order = "id" }'
    local e = engine "low"
    local running = assert(e:match "slot=1/node")
    assert(e:use(path, { watch = true }))
    assert.equal("node1", preview(e))
    write 'return { order = { "-id" } }'
    assert.equal("node5", preview(e))
    assert.equal(running.id, e:job(running.id).id)
    assert.same({ path = path }, e:watched())
  end)

  it("keeps the last good one when an edit is broken, and says why, with file and line", function()
    write 'return { order = "id" }'
    local e, told = engine "high", nil
    assert(e:use(path, { watch = true, failed = function(why) told = why end }))
    write 'return {\n  order = "id",\n  evaluate = }'
    assert.equal("node0", preview(e))
    assert.is_truthy(told:find(path .. ":3:", 1, true), told)
    assert.equal(told, e:watched().error)
    write "return { init = function() error 'not here' end }   "
    assert.equal("node0", preview(e))
    assert.is_truthy(e:watched().error:find "not here")
    os.remove(path)
    assert.equal("node0", preview(e))
    write 'return { order = { "-id" } } -- mended'
    assert.equal("node5", preview(e))
    assert.is_nil(e:watched().error)
  end)

  it("is of files only", function()
    assert.has_error(function() engine("low"):use({ order = "id" }, { watch = true }) end)
  end)
end)

describe("policies that jobs may choose", function()
  local function job(policy)
    local jobspec = weir.json.decode(assert(weir.request "slot=1/node"):format "json")
    jobspec.attributes = { system = { duration = 0, policy = policy } }
    return jobspec
  end
  local e

  before_each(function()
    e = assert(weir.engine { resources = "cluster:1 node:6 core:2", policy = "low", policies = { "high", "weighted:pack=0,low=-1" } })
  end)

  it("are taken from a list, by attributes.system.policy", function()
    assert.equal("node0", node_of(assert(e:match(job(nil)))))
    assert.equal("node5", node_of(assert(e:match(job "high"))))
    assert.equal("node4", node_of(assert(e:match(weir.json.encode(job "weighted")))))
    assert.equal("node1", node_of(assert(e:match "slot=1/node")))
  end)

  it("do not include others", function()
    local a, why, code = e:match(job "spread")
    assert.is_nil(a)
    assert.equal("rejected", code)
    assert.equal('policy "spread" is not one that jobs may choose (high, weighted)', why)
  end)

  it("are chosen by the caller too", function()
    assert.equal("node5", node_of(assert(e:match("slot=1/node", { policy = "high" }))))
    assert.equal("rejected", select(3, e:match("slot=1/node", { policy = "spread" })))
  end)

  it("do not matter where there is no list", function()
    local plain = engine("low", "cluster:1 node:2")
    assert.equal("node0", node_of(assert(plain:match(job "high"))))
  end)
end)

describe("several policies in one", function()
  local MACHINE = "cluster:1 rack:3 node:4 core:4"

  it("chain: the second decides where the first sees no difference", function()
    local e = engine(assert(weir.policy.chain { "best_fit", "high" }), MACHINE)
    assert.equal("node11", preview(e))
    e:resources():find("name=node4")[1]:allocate { job = 9, amount = 1 }
    assert.equal("node7", preview(e))
  end)

  it("weighted: the sum of opinions, orders included", function()
    local e = engine(assert(weir.policy.weighted { best_fit = 0.01, low = 1 }), MACHINE)
    assert.equal("node0", preview(e))
    e:use(assert(weir.policy.weighted { { "high", 1 }, { { "weighted", pack = 0, low = 1 }, 0.5 } }))
    assert.equal("node11", preview(e))
  end)

  it("take tables too, and every prune and admit counts", function()
    local p = assert(weir.policy.chain {
      { prune = function(v) return v.id ~= 0 or v.type ~= "node" end },
      { fields = { "id" }, evaluate = function(_, _, id) return id == 2 and 1 or 0 end,
        admit = function(j) if j.resources[1].count == 3 then return false, "no threes" end end },
      { order = { "-id" } },
    })
    local e = engine(p, MACHINE)
    assert.equal("node2", preview(e))
    assert.equal("rejected", select(3, e:match "slot=3/node"))
    assert.equal("infeasible", select(3, e:match("slot=12/node", { mode = "now" })))
  end)

  it("are refused when one of them is", function()
    local p, why, code = weir.policy.chain { "low", "no_such_policy" }
    assert.is_nil(p)
    assert.equal("unknown", code)
    assert.is_truthy(why:find "no_such_policy")
    assert.has_error(function() weir.policy.chain {} end)
    assert.has_error(function() weir.policy.weighted { low = "much" } end)
    assert.has_error(function() weir.policy.chain { "low", { order = "id" } } end)
  end)
end)

describe("a trace", function()
  local function count(trace, event)
    local n = 0
    for _, entry in ipairs(trace) do n = n + (entry.event == event and 1 or 0) end
    return n
  end

  it("tells what a match looked at, as often as the statistics say", function()
    local e = engine({ prune = function(v) return v.id ~= 3 end, evaluate = function(v) return v.id end },
      "cluster:1 rack:4 node:3 core:4")
    local g = e:resources()
    g:find("name=node1")[1].state = "down"
    g:find("name=node2")[1]:allocate { job = 9, amount = 1 }
    local trace = {}
    local a = assert(e:match("slot=2/node", { trace = trace }))
    local stats = e:stats()
    for _, event in ipairs { "visited", "pruned", "state", "constraint", "busy", "policy" } do
      assert.equal(stats[event], count(trace, event), event)
    end
    assert.is_true(count(trace, "policy") > 0 and count(trace, "visited") > 5)
    assert.equal(#a:vertices(), count(trace, "chosen"))
    assert.equal("scored", trace[#trace - 2].event)
    assert.equal(0, trace.lost)
  end)

  it("tells need against have", function()
    local e, trace = engine("low", "cluster:1 node:2 core:4"), {}
    assert.is_nil((e:match("slot=3/node", { trace = trace })))
    local entry
    for _, t in ipairs(trace) do entry = entry or t.event == "pruned" and t end
    assert.same({ "node", 3, 2 }, { entry.type, entry.need, entry.have })
  end)
end)

describe("a profile", function()
  it("counts calls, time and lines, and what is read of vertices", function()
    local p = assert(source [[return { evaluate = function(v)
      local s = 0
      for i = 1, 500 do s = s + i end
      return v.id + #v.tags + s
    end }]])
    p:profile(true)
    local e = engine(p)
    preview(e)
    local profile = p:profile()
    assert.equal(6, profile.hooks.evaluate.calls)
    assert.is_true(profile.hooks.evaluate.seconds > 0)
    assert.is_true((profile.lines[3] or 0) > 0.8 * profile.samples)
    assert.same({ id = 6, tags = 6 }, profile.reads)
    p:profile(false)
    assert.is_nil(p:profile())
  end)
end)

describe("a budget", function()
  it("is set by the engine, and is one match's", function()
    local text = "return { evaluate = function() for i = 1, 20000 do end return 1 end }"
    local path = os.tmpname()
    local file <close> = assert(io.open(path, "w"))
    file:write(text)
    file:flush()
    local e = assert(weir.engine { resources = "cluster:1 node:30", policy = path, budget = { instructions = 100000 } })
    local _, why, code = e:match "slot=1/node"
    assert.equal("policy", code)
    assert.is_truthy(why:find "100000 instructions", why)
    e = assert(weir.engine { resources = "cluster:1 node:3", policy = path, budget = { instructions = 100000 } })
    for _ = 1, 20 do assert(e:match("slot=1/node", { mode = "preview" })) end
    os.remove(path)
    assert.has_error(function() weir.engine { resources = "node:1", policy = path, budget = { minutes = 1 } } end)
  end)
end)
