-- The hook `finished` of placement policies: called once for each job that has ended, it changes the state as `placed` does.
local core = require "weir.core"
local shell = require "spec.support.shell"
local sim = require "weir.sim"
local weir = require "weir"

teardown(shell.clean)

-- Keeps the job of each node, and notes what the hooks saw, in order.
local OWNERS = [[return { name = "owners", state = { owner = {}, seen = {} },
  placed = function(job, state, vertices)
    for _, v in ipairs(vertices) do
      assert(state.owner[v.name] == nil, v.name)
      state.owner[v.name] = job.id
    end
    state.seen[#state.seen + 1] = "+" .. job.id .. (job.user or "")
  end,
  finished = function(job, state, vertices)
    for _, v in ipairs(vertices) do
      assert(state.owner[v.name] == job.id, v.name)
      state.owner[v.name] = nil
    end
    state.seen[#state.seen + 1] = "-" .. job.id .. (job.user or "") .. (job.wants.node or "")
  end }]]

local function owners() return assert(core.policy_source(OWNERS, "owners")) end

-- Returns an engine on three nodes, with the names of the nodes that have an owner, and what the hooks saw.
local function engine(opts)
  local e = assert(weir.engine { resources = "node:3", policy = owners(), overrun = opts and opts.overrun })
  return e, function()
    local names = {}
    for name in pairs(e:state().owner) do names[#names + 1] = name end
    table.sort(names)
    return { table.concat(names, " "), table.concat(e:state().seen, " ") }
  end
end

local function match(e, n, job, opts)
  opts = opts or {}
  opts.job = job
  return assert(e:match(("slot=%d/node"):format(n), opts))
end

describe("the hook finished", function()
  it("is called by release, with what the host knows of the job", function()
    local e, now = engine()
    match(e, 2, 7, { about = { user = "ada" } })
    assert.same({ "node0 node1", "+7ada" }, now())
    assert.is_true(e:release(7, "slot=2/node", { user = "ada" }))
    assert.same({ "", "+7ada -7ada2" }, now())
    match(e, 1, 8)
    assert.is_true(e:release(8))
    assert.same({ "", "+7ada -7ada2 +8 -8" }, now())
  end)

  it("is called by a shrink that leaves nothing, and by no other", function()
    local e, now = engine()
    match(e, 2, 1)
    assert(e:shrink(1, e:resources():vertex "node0"))
    assert.same("+1", now()[2])
    assert.is_true(e:shrink(1, e:resources():vertex "node1"))
    assert.same("+1 -1", now()[2]:sub(1, 5))
  end)

  it("is called for a job that expires", function()
    local e, now = engine { overrun = "expire" }
    match(e, 1, 1, { duration = 5 })
    match(e, 1, 2, { duration = 50 })
    e:advance(10)
    assert.same({ "node1", "+1 +2 -1" }, now())
  end)

  it("is called for a reservation that is released, and for none that is dropped under a queue", function()
    local e, now = engine()
    match(e, 1, 1, { mode = "reserve", duration = 5, at = 9 })
    assert.is_true(e:release(1))
    assert.same("+1 -1", now()[2])
    assert.equal(9, e:place(weir.request "slot=1/node", 2, 9, 5))
    assert.is_true(e:release(2, false))
    assert.same("+1 -1", now()[2])
  end)

  it("that fails leaves the state and the job as they were", function()
    for what, case in pairs {
      ["oops"] = { "error 'oops'", "policy p: finished: p:2: oops" },
      ["a state too large"] = { "s.text = ('x'):rep(20000)", "at most 16384" },
      ["a field not declared"] = { "s.other = 1", "the state has no field 'other'" },
    } do
      local source = "return { name = 'p', state = { n = 0, text = '' }, placed = function(_, s) s.n = s.n + 1 end,\n"
        .. "finished = function(_, s) s.n = s.n - 1 " .. case[1] .. " end }"
      local e = assert(weir.engine { resources = "node:1", policy = assert(core.policy_source(source, "p")) })
      match(e, 1, 1)
      local done, why, code = e:release(1)
      assert.same({ nil, "policy" }, { done, code }, what)
      assert.is_truthy(why:find(case[2], 1, true), why)
      assert.same({ 1, 1 }, { e:state().n, #e:jobs() })
      done, why, code = e:shrink(1, e:resources():vertex "node0")
      assert.same({ true, "policy" }, { done, code }, what)
      assert.is_truthy(why:find(case[2], 1, true), why)
      assert.same({ 1, 0 }, { e:state().n, #e:jobs() })
    end
  end)

  it("belongs to a state", function()
    local policy, why = core.policy_source("return { finished = function() end }", "p")
    assert.is_nil(policy)
    assert.is_truthy(why:find("the field 'finished' goes with 'state' and 'placed'", 1, true), why)
  end)

  it("is called for the parts of a chain", function()
    local path = shell.path(shell.directory(), "owners.lua", OWNERS)
    local e = assert(weir.engine { resources = "node:3", policy = weir.policy.chain { "low", path } })
    match(e, 1, 1)
    e:release(1)
    local _, part = next(e:state())
    assert.same({ "+1", "-1" }, { part.seen[1], part.seen[2]:sub(1, 2) })
  end)
end)

describe("in a simulation the hook finished", function()
  -- Runs jobs {nodes, at, estimate, runtime, preemptible}. Returns what the hooks saw.
  local function run(jobs, opts)
    local s = assert(sim.new { resources = "node:3", policy = owners(), queue = opts.queue, overrun = opts.overrun, rule = opts.rule })
    local list = {}
    for i, j in ipairs(jobs) do
      list[i] = s:submit { request = ("slot=%d/node"):format(j[1]), at = j[2], estimate = j[3], runtime = j[4], preemptible = j[5] }
    end
    if opts.act then opts.act(s, list) end
    s:run()
    assert.same({}, s.engine:state().owner)
    local text = table.concat(s.engine:state().seen, " ")
    return (text:gsub("(%-%d)%d", "%1")) -- without the number of nodes
  end

  for _, rule in ipairs { "per-event", "per-timestamp" } do
    for what, case in pairs {
      ["at the end, before the next start"] = { { { 3, 0, 5, 5 }, { 2, 0, 5, 3 }, { 2, 0, 5, 5 } }, { queue = "easy" },
        "+1 -1 +2 -2 +3 -3" },
      ["for reservations only when they have begun"] = { { { 3, 0, 5, 4 }, { 2, 0, 5, 3 }, { 1, 0, 9, 9 } },
        { queue = "conservative" }, "+1 -1 +2 +3 -2 -3" },
      ["for jobs that overrun"] = { { { 3, 0, 5, 9 }, { 1, 0, 5, 3 } }, { queue = "easy", overrun = "run" }, "+1 -1 +2 -2" },
      ["for preempted jobs, before the start of the other"] = { { { 2, 0, 50, 50, 0 }, { 1, 0, 50, 50, 0 }, { 3, 5, 5, 5 } },
        { queue = "preempt" }, "+1 +2 -2 -1 +3 -3 +2 +1 -1 -2" },
      ["for jobs that are cancelled, fail and are requeued"] = { { { 1, 0, 50, 50 }, { 1, 0, 50, 50 }, { 1, 0, 50, 50 } }, { queue = "easy",
        act = function(s, list)
          s:at(1, function() s:cancel(list[1]) end)
          s:at(2, function() s:fail(list[2]) end)
          s:at(3, function() s:requeue(list[3]) end)
        end }, "+1 +2 +3 -1 -2 -3 +3 -3" },
    } do
      it("is called " .. what .. ", " .. rule, function()
        case[2].rule = rule
        assert.equal(case[3], run(case[1], case[2]))
      end)
    end
  end

  it("ends it where it fails", function()
    local source = "return { state = { n = 0 }, placed = function() end,\nfinished = function() error 'oops' end }"
    local s = assert(sim.new { resources = "node:3", policy = assert(core.policy_source(source, "p")), queue = "easy" })
    s:submit { request = "slot=1/node", estimate = 5, runtime = 3 }
    local ok, why = pcall(s.run, s)
    assert.same({ false, "policy p: finished: p:2: oops (job 1, at time 3, after the start of 1 job)" }, { ok, why })
  end)
end)
