-- Matching: readable examples, one rule each; then random machines, where engine and reference must agree.

local weir = require "weir"
local cases = require "spec.support.cases"

-- Small words for requests.
local function R(type, count, with, more)
  local r = { type = type, count = count, with = with }
  for k, v in pairs(more or {}) do r[k] = v end
  return r
end

local function slot(count, with) return R("slot", count, with, { label = "s" }) end

-- slot(1, {...}) around units or vertices granted to the job.
local function take(...) return { slot(1, { ... }) } end

local function jobspec(resources, system)
  if resources.resources then return resources end
  return { resources = resources, attributes = { system = system or {} } }
end

local function lasting(duration, resources) return jobspec(resources, { duration = duration }) end

local function constrained(constraint, resources) return jobspec(resources, { constraints = constraint }) end

local shared = { exclusive = false }

-- "node0:1x memory0:4": the vertices in the order of the machine, below the root, with amounts; x: exclusively.
local function show(allocation)
  local list = {}
  for i, p in ipairs(allocation:vertices()) do
    local path = p.vertex.path:gsub("^/[^/]*/", "")
    list[i] = { p.vertex.index, ("%s:%d%s"):format(path, p.amount, p.exclusive and "x" or "") }
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  for i, entry in ipairs(list) do list[i] = entry[2] end
  return table.concat(list, " ")
end

-- The outcome of a match: the vertices (with the start, if later than now), "yes" for feasible, or the code.
local function outcome(engine, request, opts)
  local a, _, code = engine:match(jobspec(request), opts)
  if not a then return code end
  if a == true then return "yes" end
  return show(a) .. (a.at > engine:now() and (" at %g"):format(a.at) or "")
end

local function machine(text, prepare, policy)
  local graph = type(text) == "table" and assert(weir.recipe(text)) or assert(weir.synthetic(text))
  if prepare then prepare(graph) end
  return weir.engine { resources = graph, policy = policy or "low" }, graph
end

local function set(state, ...)
  local paths = { ... }
  return function(graph)
    for _, path in ipairs(paths) do assert(graph:vertex(path)).state = state end
  end
end

-- {name, machine, {request, picks in any order[, options]}...[, policy=][, prepare=]}
local EXAMPLES = {
  { "[A1] never gives more units than a pool has", "cluster:1 memory:1(size=16)",
    { take(R("memory", 10)), "memory0:10" }, { take(R("memory", 10)), "busy" }, { take(R("memory", 6)), "memory0:6" } },
  { "[A1] takes units from several pools", "cluster:1 memory:2(size=16)",
    { take(R("memory", 20)), "memory0:16x memory1:4" } },
  { "[A1] says that more than there is can never be had", "cluster:1 memory:2(size=16)",
    { take(R("memory", 33)), "infeasible" } },
  { "[P10] compares units where both sides name one", "cluster:1 memory:1(size=16,unit=GB)",
    { take(R("memory", 1, nil, { unit = "bars" })), "infeasible" },
    { take(R("memory", 1, nil, { unit = "GB" })), "memory0:1" }, { take(R("memory", 1)), "memory0:1" } },
  { "[A2] holds a pool exclusively when one job has all its units", "cluster:1 memory:1(size=4)",
    { take(R("memory", 4)), "memory0:4x" }, { { R("memory", 1, nil, shared) }, "busy" } },
  { "[A2] leaves a unit of a pool that others share", "cluster:1 memory:1(size=4)",
    { { R("memory", 1, nil, shared) }, "memory0:0" }, { take(R("memory", 4)), "busy" },
    { take(R("memory", { min = 1 })), "memory0:3" } },
  { "[A3] gives a node without records for its cores", "cluster:1 node:2 core:4",
    { take(R("node", 1)), "node0:1x" }, { take(R("core", 4)), "node1/core0:1x node1/core1:1x node1/core2:1x node1/core3:1x" },
    { take(R("core", 1)), "busy" } },
  { "[A3] looks for what a whole node must hold", "cluster:1[node:1[core:2] node:1[core:4]]",
    { take(R("node", 1, { R("core", 3) })), "node1:1x" }, { take(R("node", 1, { R("core", 3) })), "busy" },
    { take(R("node", 1, { R("core", 5) })), "infeasible" } },
  { "[A3] counts only what is up in a whole node", "cluster:1 node:2 core:2", prepare = set("down", "/cluster0/node0/core1"),
    { take(R("node", 1, { R("core", 2) })), "node1:1x" }, { take(R("node", 1, { R("core", 1) })), "node0:1x" } },
  { "[A4] does not give a node whole in which a job has something", "cluster:1 node:2 core:2",
    { take(R("core", 1)), "node0/core0:1x" }, { take(R("node", 1)), "node1:1x" }, { take(R("node", 1)), "busy" } },
  { "[A4] does not give a rack whole in which a job shares something", "cluster:1 rack:1 node:2 core:1",
    { { R("node", 1, nil, shared) }, "rack0/node0:0" }, { take(R("rack", 1)), "busy" }, { take(R("node", 1)), "rack0/node1:1x" } },
  { "[A5] gives a pool that demands it as a whole", "cluster:1 memory:1(size=16,exclusive)",
    { take(R("memory", 4)), "memory0:16x" } },
  { "[A5] gives a vertex whole that demands it, also outside of slots", "cluster:1 node:2(exclusive) core:2",
    { { R("node", 1, take(R("core", 1))) }, "node0:1x" } },
  { "[A5] gives vertices whole when the request demands it", "cluster:1 node:2 core:2",
    { { R("node", 1, take(R("core", 1)), { exclusive = true }) }, "node0:1x" } },
  { "[A5] gives types whole when the policy demands it", "cluster:1 node:2 core:2",
    policy = { order = { "id" }, exclusive = "node" },
    { { R("node", 1, take(R("core", 1))) }, "node0:1x" } },
  { "[A6] drops what was staged when the rest does not fit", "cluster:1 node:2 core:2 gpu:1",
    { { R("core", 4), R("gpu", 3) }, "infeasible" }, { { R("gpu", 1) }, "node0/gpu0:1x" },
    { { R("core", 4), R("gpu", 2) }, "busy" },
    { { R("core", 4) }, "node0/core0:1x node0/core1:1x node1/core0:1x node1/core1:1x" } },
  { "[A6] takes nothing for a preview", "cluster:1 core:1",
    { take(R("core", 1)), "core0:1x", { mode = "preview" } }, { take(R("core", 1)), "core0:1x" } },
  { "[A7] reserves the earliest start", "cluster:1 core:2",
    { lasting(10, take(R("core", 1))), "core0:1x" }, { lasting(20, take(R("core", 1))), "core1:1x" },
    { lasting(5, take(R("core", 1))), "core0:1x at 10", { mode = "reserve" } },
    { lasting(5, take(R("core", 2))), "core0:1x core1:1x at 20", { mode = "reserve" } } },
  { "[A7] reserves now what fits now", "cluster:1 core:1", { take(R("core", 1)), "core0:1x", { mode = "reserve" } } },
  { "[A7] reserves not before the time asked for", "cluster:1 core:1",
    { take(R("core", 1)), "core0:1x at 7", { mode = "reserve", at = 7 } } },
  { "[A7] reserves amounts", "cluster:1 memory:1(size=8)",
    { lasting(10, take(R("memory", 5))), "memory0:5" },
    { lasting(10, take(R("memory", 4))), "memory0:4 at 10", { mode = "reserve" } },
    { lasting(10, take(R("memory", 3))), "memory0:3" } },
  { "[A7] waits for shared use to end", "cluster:1 core:1",
    { lasting(10, { R("core", 1, nil, shared) }), "core0:0" },
    { take(R("core", 1)), "core0:1x at 10", { mode = "reserve" } } },
  { "[A8] judges conflicts over the whole interval", "cluster:1 core:1",
    { take(R("core", 1)), "core0:1x at 10", { mode = "reserve", at = 10 } },
    { lasting(11, take(R("core", 1))), "busy" }, { lasting(10, take(R("core", 1))), "core0:1x" } },
  { "[A8] lets a job without a duration keep what it has", "cluster:1 core:1",
    { take(R("core", 1)), "core0:1x" }, { take(R("core", 1)), "busy", { mode = "reserve" } } },
  { "[A13] lets several jobs share a pool", "cluster:1 node:1 core:2",
    { { R("node", 1, nil, shared) }, "node0:0" }, { { R("node", 1, nil, shared) }, "node0:0" },
    { take(R("node", 1)), "busy" } },
  { "[A13] shares no pool that a job has exclusively", "cluster:1 node:1 core:2",
    { take(R("node", 1)), "node0:1x" }, { { R("node", 1, nil, shared) }, "busy" },
    { { R("core", 1, nil, shared) }, "busy" } },
  { "[A13] shares a pool whose units several jobs have", "cluster:1 memory:1(size=4)",
    { take(R("memory", 1)), "memory0:1" }, { take(R("memory", 3)), "memory0:3" },
    { { R("memory", 1, nil, shared) }, "memory0:0" } },
  { "[P11] gives nothing that is down, nor what is below", "cluster:1 rack:2 node:1 core:1",
    prepare = set("down", "/cluster0/rack0"),
    { take(R("core", 1)), "rack1/node1/core0:1x" }, { take(R("core", 1)), "busy" } },
  { "[P11] gives what is degraded", "cluster:1 core:1", prepare = set("degraded", "/cluster0/core0"),
    { take(R("core", 1)), "core0:1x" } },
  { "[P11] gives nothing that drains, fails, or is unknown", "cluster:1 core:3",
    prepare = function(graph)
      for i, state in ipairs { "draining", "failing", "unknown" } do graph:vertex("/cluster0/core" .. i - 1).state = state end
    end, { take(R("core", 1)), "busy" } },
  { "[G7] searches through the levels that a request leaves out", "cluster:1 rack:2 node:2 socket:1 core:2",
    { { R("cluster", 1, { slot(5, { R("core", 1) }) }) },
      "rack0/node0/socket0/core0:1x rack0/node0/socket0/core1:1x rack0/node1/socket0/core0:1x "
      .. "rack0/node1/socket0/core1:1x rack1/node2/socket0/core0:1x" } },
  { "multiplies what is in a slot by the number of slots", "cluster:1 node:2 core:2",
    { { slot(3, { R("core", 1) }) }, "node0/core0:1x node0/core1:1x node1/core0:1x" } },
  { "takes what a slot holds from one node", "cluster:1 node:3 core:3",
    { { slot(2, { R("core", 2) }) }, "node0/core0:1x node0/core1:1x node1/core0:1x node1/core1:1x" },
    { take(R("core", 3)), "node2/core0:1x node2/core1:1x node2/core2:1x" }, { take(R("core", 2)), "busy" } },
  { "takes from one node also what may vary", "cluster:1 node:2 core:2",
    { take(R("core", "1,4")), "node0/core0:1x" } },
  { "puts slots where their first resource stands first", "cluster:1 node:2 core:4",
    { { slot(3, { R("core", 2) }) }, "node0/core0:1x node0/core1:1x node1/core0:1x node1/core1:1x node0/core2:1x node0/core3:1x" } },
  { "finds what rivals in a slot can use together", { type = "cluster", { type = "node",
      { type = "socket", { type = "gpu" } }, { type = "socket", { type = "core" } } } },
    { take(R("socket", 1), R("gpu", 1)), "node0/socket1:1x node0/socket0/gpu0:1x" } },
  { "puts nested resources together", "cluster:1[node:1[core:1] node:1[core:3]]",
    { { R("node", 1, take(R("core", 2))) }, "node1/core0:1x node1/core1:1x" } },
  { "finds room in each of several nodes", "cluster:1 node:3 core:2",
    { { R("node", 2, take(R("core", 1))) }, "node0/core0:1x node1/core0:1x" },
    { { R("node", 3, take(R("core", 1))) }, "node0/core1:1x node1/core1:1x node2/core0:1x" } },
  { "says infeasible when the type is not there", "cluster:1 core:1", { take(R("gpu", 1)), "infeasible" } },
  { "feasible ignores who uses what and what is down", "cluster:1 core:2", prepare = set("down", "/cluster0/core0"),
    { take(R("core", 1)), "core1:1x" }, { take(R("core", 2)), "yes", { mode = "feasible" } },
    { take(R("core", 3)), "infeasible", { mode = "feasible" } } },
  { "takes as many as fit up to the maximum", "cluster:1 core:4",
    { take(R("core", { min = 1, max = 3 })), "core0:1x core1:1x core2:1x" },
    { take(R("core", { min = 1, max = 3 })), "core3:1x" }, { take(R("core", { min = 1, max = 3 })), "busy" } },
  { "takes only counts that are allowed", "cluster:1 core:7",
    { take(R("core", { min = 1, max = 100, operator = "*", operand = 2 })), "core0:1x core1:1x core2:1x core3:1x" },
    { take(R("core", "2,5")), "core4:1x core5:1x" } },
  { "takes an allowed number of units of a pool", "cluster:1 memory:1(size=6)",
    { take(R("memory", { min = 4, max = 20, operator = "^", operand = 2 })), "memory0:4" } },
  { "takes as many slots as fit", "cluster:1 node:3 core:2",
    { { slot({ min = 1, max = 9 }, { R("node", 1) }) }, "node0:1x node1:1x node2:1x" } },
  { "[C1] keeps to the constraint", { type = "cluster", { type = "node", { type = "core" } },
      { type = "node", properties = { "fast" }, { type = "core" } } },
    { constrained({ properties = { "fast" } }, take(R("core", 1))), "node1/core0:1x" },
    { constrained({ properties = { "fast" } }, take(R("core", 1))), "busy" },
    { constrained({ properties = { "^fast" } }, take(R("node", 1))), "node0:1x" },
    { constrained({ properties = { "faster" } }, take(R("node", 1))), "infeasible" } },
  { "[C1] keeps to the constraint inside of what is taken whole", { type = "cluster", { type = "rack",
      { type = "node", properties = { "old" }, { type = "core" } } }, { type = "rack", { type = "node", { type = "core" } } } },
    { constrained({ properties = { "^old" } }, take(R("rack", 1, { R("core", 1) }))), "rack1:1x" } },
  { "low takes low ids, ties in the order of the machine", { type = "cluster", { type = "node", id = 7, scope = "local" },
      { type = "rack", { type = "node", id = 2, scope = "local" } }, { type = "node", id = 2, scope = "local" } },
    { take(R("node", 1)), "rack0/node2:1x" }, { take(R("node", 1)), "node2:1x" }, { take(R("node", 1)), "node7:1x" } },
  { "high takes high ids, ties from the end of the machine", { type = "cluster", { type = "node", id = 7, scope = "local" },
      { type = "rack", { type = "node", id = 7, scope = "local" } }, { type = "node", id = 2, scope = "local" } },
    policy = "high",
    { take(R("node", 1)), "rack0/node7:1x" }, { take(R("node", 1)), "node7:1x" }, { take(R("node", 1)), "node2:1x" } },
  { "gives rivals what each can use", "cluster:1[node:1[core:4] node:1[core:2]]",
    { take(R("node", 1, { R("core", 1) }), R("node", 1, { R("core", 3) })), "node0:1x node1:1x" } },
  { "counts what rivals take from each other", "cluster:1 node:2 core:2",
    { take(R("node", 1), R("core", 3)), "infeasible" }, { take(R("node", 1), R("core", 2)), "node0:1x node1/core0:1x node1/core1:1x" } },
  { "leaves enough to a rival that has a fixed count", "cluster:1 node:1 core:4",
    { { R("core", 3), R("node", 1, { R("core", { min = 1 }) }) }, "node0/core0:1x node0/core1:1x node0/core2:1x node0/core3:1x" } },
}

local function sorted_words(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word end
  table.sort(words)
  return table.concat(words, " ")
end

describe("matching", function()
  for _, example in ipairs(EXAMPLES) do
    it(example[1], function()
      local engine, graph = machine(example[2], example.prepare, example.policy)
      for i = 3, #example do
        local request, wanted, opts = table.unpack(example[i])
        local have = outcome(engine, request, opts)
        assert.equal(sorted_words(wanted), sorted_words(have), ("match %d"):format(i - 2))
        assert(graph:check())
      end
    end)
  end

  it("gives jobs the ids 1, 2, 3 or the one that is asked for", function()
    local engine = machine "cluster:1 core:9"
    assert.equal(1, engine:match(jobspec(take(R("core", 1)))).id)
    assert.equal(7, engine:match(jobspec(take(R("core", 1))), { job = 7 }).id)
    local a, why, code = engine:match(jobspec(take(R("core", 1))), { job = 7 })
    assert.is_nil(a)
    assert.equal("exists", code)
    assert.is_truthy(why:find "7")
  end)

  it("calls allocations, reservations and previews what they are", function()
    local engine = machine "cluster:1 core:1"
    assert.equal("matched", engine:match(jobspec(take(R("core", 1))), { mode = "preview" }).state)
    assert.equal("allocated", engine:match(lasting(5, take(R("core", 1)))).state)
    assert.equal("reserved", engine:match(lasting(5, take(R("core", 1))), { mode = "reserve" }).state)
  end)

  it("finds what fits where a pool that is only given as a whole is the wrong one to begin with", function()
    local memory = { { exclusive = true, id = 1, size = 16, type = "memory" }, { id = 0, type = "memory" } }
    local node = { type = "node", id = 0, scope = "local", memory[1], memory[2] }
    local graph = assert(weir.recipe { type = "cluster", id = 0, scope = "local", node })
    local engine = assert(weir.engine { resources = graph, policy = "high" })
    local request = { resources = { { count = 1, type = "node", with = { { count = 1, type = "memory" } } }, R("memory", 7) } }
    assert(engine:match(request))
    assert.is_true(graph:check())
  end)

  it("does not let a job grow to all of a pool that another one shares", function()
    local engine = machine "cluster:1 node:1 memory:1(size=4)"
    assert(engine:match { resources = { { type = "memory", count = 1, exclusive = false } } })
    local job = assert(engine:match(jobspec(take(R("memory", 1)))))
    local more, _, code = engine:grow(job.id, jobspec(take(R("memory", 3))))
    assert.is_nil(more)
    assert.equal("busy", code)
    assert.is_true(engine:resources():check())
    assert(engine:grow(job.id, jobspec(take(R("memory", 2)))))
  end)

  it("reserves no node for a part of it, taken as a whole by the policy, before those are gone who have it as a whole", function()
    local core, gpu = { type = "core" }, { type = "gpu" }
    local g <close> = assert(weir.recipe { type = "cluster", { type = "node", id = 6, core, gpu, { type = "memory" } },
      { type = "node", id = 7, core, gpu, { type = "memory", size = 16 } }, { type = "node", id = 5, { type = "memory" } } })
    local e = weir.engine { resources = g, policy = { name = "whole", exclusive = "node", order = { "id" } } }
    local function reserve(shape, duration) return assert(e:match(shape, { mode = "reserve", duration = duration })) end
    local first, all = reserve("slot=1/node", 17), reserve("slot=3/node", 4)
    e:release(first.id)
    reserve("slot=1/node", 14)
    reserve("slot=1-4/core", 14)
    local some = reserve("slot=1-4/node", 12)
    assert.equal(33, reserve("slot=1/node").at) -- for ever, on node5
    reserve("slot=1-4/node", 12)
    e:release(some.id)
    reserve("core=1", 6)
    reserve("slot=1-4/gpu", 13)
    e:release(all.id)
    reserve("slot=1-4/memory", 15)
    assert.equal("node6:1x node7:1x", show(reserve("node=2/slot/memory", 11)))
    assert(g:check())
  end)

  it("gives the same answer to the same question", function()
    local answers = {}
    for i = 1, 2 do
      local engine = machine "cluster:1 rack:3 node:4 socket:2 core:4 memory:1(size=8)"
      local words = {}
      for k = 1, 12 do words[k] = outcome(engine, { slot(k % 3 + 1, { R("core", k), R("memory", k) }) }) end
      answers[i] = table.concat(words, "\n")
    end
    assert.equal(answers[1], answers[2])
  end)
end)

-- ---- random machines ----------------------------------------------------------------------------------------

-- WEIR_SPEC_SEED plays one seed, WEIR_SPEC_SCALE makes the run longer or shorter.
local MACHINES, GROUPS = 3000, 10
local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local only = math.tointeger(tonumber(os.getenv "WEIR_SPEC_SEED" or ""))

describe("the engine and a slow, obvious matcher agree", function()
  local tally = {}

  cases.seeds_in_groups(MACHINES, GROUPS, it, "[A1][A2][A3][A6][A8][A13] on the random machines from %d on",
    function(seed) return cases.try(seed, tally) end)

  it("on requests of all kinds", function()
    if only or scale < 0.1 then return end
    for _, kind in ipairs { "fits", "busy", "infeasible", "competing" } do
      assert.is_true((tally[kind] or 0) > 100 * scale, kind)
    end
  end)
end)
