-- Requests that users and tools send to Fluxion's modules, answered by the scheduler of a Flux instance.
local flux = require "spec.support.flux"
local weir = require "weir"

local encode, decode = weir.json.encode, weir.json.decode
local submit, settle = flux.submit, flux.settle

-- Four nodes of four cores: job 1 has nodes 0 and 1, job 2 has nodes 2 and 3 reserved with a third.
local function busy()
  local s = flux.started { "queue=easy" }
  submit(s, 1, 2, { duration = 100 })
  submit(s, 2, 3, { duration = 100 })
  settle(s)
  return s
end

local function ask(s, name, given)
  local service = name:find(".", 1, true) and "sched-fluxion-" or "sched-fluxion-resource."
  local text, why, code = s.service:fluxion(given and encode(given), service .. name)
  return text and decode(text), why, code
end

local JOBSPEC = encode(flux.spec_of(1, { duration = 10 }))

local function ranks(found)
  if found.R == weir.null then return nil end
  local list = {}
  for i, row in ipairs(found.R.execution.R_lite) do list[i] = row.rank end
  return table.concat(list, ",")
end

describe("a request to Fluxion", function()
  for criteria, expected in pairs {
    ["status=up"] = "0-3", ["status=down"] = false, ["sched-now=allocated"] = "0-1", ["sched-now=free"] = "2-3",
    ["sched-future=reserved"] = "0-2", ["jobid-alloc=1"] = "0-1", ["status=up and sched-now=free"] = "2-3",
    ["jobid-reserved=2"] = "0-2", ["(status=down or sched-now=free)"] = "2-3", ["jobid-alloc=7"] = false,
  } do
    it("finds " .. criteria, function() assert.equal(expected or nil, ranks(assert(ask(busy(), "find", { criteria = criteria })))) end)
  end

  for format, expected in pairs {
    simple = "string", pretty_simple = "string", jgf = "table", rlite = "table", rv1 = "table",
    rv1_nosched = "table",
  } do
    it("finds in the format " .. format, function()
      assert.equal(expected, type(assert(ask(busy(), "find", { criteria = "status=up", format = format })).R))
    end)
  end

  local WRONG = {
    { "find", { criteria = "nonsense" }, "invalid criteria", "invalid" },
    { "find", { criteria = "jobid-alloc=18446744073709551616" }, "Invalid argument", "invalid" },
    { "find", {}, "criteria: expected a text", "invalid" },
    { "find", { criteria = "status=up", format = "x" }, 'no format "x"', "invalid" },
    { "info", { jobid = 7 }, "no resources", "unknown" }, { "info", { jobid = "x" }, "no resources", "unknown" },
    { "ns-info", { rank = 0, ["type-name"] = "core", id = 9 }, "there is no core9 on rank 0", "invalid" },
    { "get_property", { gp_resource_path = "/x", gp_key = "a" }, "Couldn't find '/x'", "unknown" },
    { "get_property", { gp_resource_path = "/cluster0/n0", gp_key = "a" }, "Property 'a' was not found", "unknown" },
    { "set_property", { sp_resource_path = "/cluster0/n0", sp_keyval = "a" }, "Incorrect format", "invalid" },
    { "set_property", { sp_resource_path = { "/cluster0/n0", "/x" }, sp_keyval = "a=b" }, "Couldn't find '/x'", "unknown" },
    { "set_property", { sp_resource_path = {}, sp_keyval = "a=b" }, "a path or a list", "invalid" },
    { "remove_property", { resource_path = "/x", key = "a" }, "Couldn't find", "unknown" },
    { "set_status", { resource_path = "/x", status = "down" }, "could not find path", "invalid" },
    { "set_status", { resource_path = "/cluster0/n0", status = "foo" }, "unrecognized status", "invalid" },
    { "match", { cmd = "nonsense", jobspec = JOBSPEC }, "no command nonsense", "invalid" },
    { "match", { cmd = "without_allocating", jobspec = (JOBSPEC:gsub('"core"', '"gizmo"')) }, "of the type gizmo", "invalid" },
    { "match", { cmd = "allocate", jobspec = JOBSPEC }, "jobid: expected a number", "invalid" },
    { "match", { cmd = "allocate", jobid = 1, jobspec = JOBSPEC }, "there is a job 1 already", "invalid" },
    { "match", { cmd = "without_allocating", jobspec = "{" }, "", "invalid" },
    { "cancel", { jobid = 1 }, "flux cancel", "rejected" }, { "cancel", { jobid = 7 }, "no resources", "unknown" },
    { "cancel", {}, "no resources", "unknown" }, { "update", { R = "{}" }, "jobid: expected a number", "invalid" },
    { "update", { jobid = 1, R = "{}" }, "there is a job 1", "invalid" }, { "update", { jobid = 7 }, "R: expected a text", "invalid" },
    { "update", { jobid = 7, R = "{" }, "R", "invalid" }, { "partial-cancel", { jobid = 2, R = "{}" }, "flux cancel", "rejected" },
    { "add_subgraph", {}, "subgraph", "invalid" }, { "add_subgraph", { subgraph = "{}" }, "", "invalid" },
    { "remove_subgraph", { subgraph_path = "" }, "Couldn't find ''", "unknown" },
    { "remove_subgraph", { subgraph_path = "/cluster0" }, "is the root", "invalid" },
    { "remove_subgraph", { subgraph_path = "/cluster0/n1" }, "/cluster0/n1: ƒ2 has resources there", "taken" },
    { "match_multi", { cmd = "allocate", jobs = {} }, "does not serve", "unsupported" },
    { "qmanager.nonsense", {}, "does not serve", "unsupported" },
  }
  for _, row in ipairs(WRONG) do
    local name, given, expected, code = table.unpack(row)
    it(("is refused with a word: %s %s"):format(name, encode(given, { sort = true }):sub(1, 60)), function()
      local found, why, what = ask(busy(), name, given)
      assert.is_nil(found)
      assert.matches(expected, why, 1, true)
      assert.equal(code, what)
    end)
  end

  it("without a payload that it needs is refused", function()
    local _, why = busy().service:fluxion(nil, "sched-fluxion-resource.get_property")
    assert.matches("could not unpack payload", why, 1, true)
  end)

  it("that is no object is refused", function()
    assert.same({ nil, "expected an object", "invalid" }, { busy().service:fluxion("7", "sched-fluxion-resource.find") })
  end)

  it("tells the status as three sets", function()
    local found = assert(ask(busy(), "status"))
    assert.same({ "0-3", "0-1" }, { found.all.execution.R_lite[1].rank, found.allocated.execution.R_lite[1].rank })
    assert.equal(weir.null, found.down)
  end)

  it("tells what job has resources, and which only a reservation", function()
    local s = busy()
    assert.same({ "ALLOCATED", flux.T0 }, { ask(s, "info", { jobid = 1 }).status, ask(s, "info", { jobid = 1 }).at })
    assert.same({ "RESERVED", flux.T0 + 100 }, { ask(s, "info", { jobid = 2 }).status, ask(s, "info", { jobid = 2 }).at })
  end)

  it("sets, finds, tells and removes properties", function()
    local s = busy()
    assert(ask(s, "set_property", { sp_resource_path = { "/cluster0/n2", "/cluster0/n3" }, sp_keyval = "class=one" }))
    assert.same({ "one" }, ask(s, "get_property", { gp_resource_path = "/cluster0/n3", gp_key = "class" }).values)
    local function found() return ask(s, "find", { criteria = "property=class", format = "simple" }).R end
    assert.matches("n2%[1:x%].*n3%[1:x%]", found())
    assert(ask(s, "remove_property", { resource_path = "/cluster0/n3", key = "class" }))
    assert.is_nil(found():find "n3")
  end)

  it("sets vertices down, where nothing starts then, and up again", function()
    local s = flux.started()
    for n = 0, 3 do assert(ask(s, "set_status", { resource_path = "/cluster0/n" .. n, status = "down" })) end
    assert.equal("0-3", ranks(ask(s, "find", { criteria = "status=down" })))
    submit(s, 1, 1)
    settle(s)
    assert.equal("", flux.ids(s, "alloc"))
    assert(ask(s, "set_status", { resource_path = "/cluster0/n2", status = "up" }))
    settle(s)
    assert.equal("2", flux.ranks_of(s, 1))
  end)

  it("keeps the ids of resources", function()
    assert.equal(3, ask(busy(), "ns-info", { rank = 2, ["type-name"] = "core", id = 3 }).id)
  end)

  for cmd, at in pairs { without_allocating = flux.T0, without_allocating_future = flux.T0, satisfiability = flux.T0 } do
    it("tells what a job would get, and books nothing: " .. cmd, function()
      local s = busy()
      local before = s.service:stats()
      local found = assert(ask(s, "match", { cmd = cmd, jobid = 5, jobspec = JOBSPEC }))
      assert.same({ 5, at }, { found.jobid, found.at })
      assert.same(decode(before).running, flux.stats(s).running)
      assert.equal("0-1", ranks(ask(s, "find", { criteria = "sched-now=allocated" })))
      flux.apart(s)
    end)
  end

  -- A graph of a node with a core below the root of the machine.
  local function node_graph(root, name, rank)
    local function vertex(id, type, path, of)
      local name_of = path:match "[^/]*$"
      return { id = id, metadata = { type = type, basename = type, name = name_of, id = of, rank = rank, paths = { containment = path } } }
    end
    return encode { graph = { nodes = { vertex("0", "cluster", root, 0), vertex("70", "node", root .. "/" .. name, 9),
      vertex("71", "core", root .. "/" .. name .. "/core0", 0) },
      edges = { { source = "0", target = "70" }, { source = "70", target = "71" } } } }
  end

  it("adds vertices, which are told and given to jobs, and removes them", function()
    local s = flux.started()
    assert(ask(s, "add_subgraph", { subgraph = node_graph("/cluster0", "extra", 9) }))
    assert.equal(23, ask(s, "stats-get").V)
    local found = ask(s, "find", { criteria = "status=up", format = "jgf" }).R.graph.nodes
    local numbers = {}
    for _, node in ipairs(found) do numbers[node.metadata.paths.containment] = { node.id, node.metadata.rank } end
    assert.same({ { "70", 9 }, { "71", 9 } }, { numbers["/cluster0/extra"], numbers["/cluster0/extra/core0"] })
    submit(s, 1, 5, { shared = true })
    settle(s)
    assert.equal("1", flux.ids(s, "alloc"))
    assert.equal("taken", select(3, ask(s, "remove_subgraph", { subgraph_path = "/cluster0/extra" })))
    flux.free(s, 1)
    assert(ask(s, "remove_subgraph", { subgraph_path = "/cluster0/extra" }))
    assert.equal(21, ask(s, "stats-get").V)
    assert(ask(s, "remove_subgraph", { subgraph_path = "/cluster0/n0" }))
    assert(s.service:acquire(encode { down = "0" }))
    assert(s.service:acquire(encode { up = "0" }))
    assert.equal("1-3", ranks(ask(s, "find", { criteria = "status=up" })))
    flux.apart(s)
  end)

  it("adds no vertices below another root, nor a rank twice", function()
    local s = flux.started()
    local _, why = ask(s, "add_subgraph", { subgraph = node_graph("/other0", "extra", 9) })
    assert.matches("root", why, 1, true)
    _, why = ask(s, "add_subgraph", { subgraph = node_graph("/cluster0", "extra", 3) })
    assert.matches("/cluster0/extra: rank 3 is that of another node", why, 1, true)
    assert.equal(21, ask(s, "stats-get").V)
  end)

  it("denies the jobs that cannot start without what is removed", function()
    local s = busy()
    submit(s, 3, 4)
    local asked = { subgraph_path = "/cluster0/n3" }
    assert.equal("taken", select(3, ask(busy(), "remove_subgraph", { subgraph_path = "/cluster0/n0" })))
    assert(ask(s, "remove_subgraph", asked))
    assert.equal("3", flux.ids(s, "deny"))
  end)

  -- What is taken beside Flux: nodes 2 and 3 of busy(), as far as reservations let it.
  local function taken()
    local s = flux.started()
    submit(s, 1, 2, { duration = 100 })
    settle(s)
    local found = assert(ask(s, "match", { cmd = "allocate", jobid = 7, jobspec = JOBSPEC }))
    assert.same({ 7, "ALLOCATED", flux.T0 }, { found.jobid, found.status, found.at })
    assert.equal(flux.T0, decode(found.R).execution.starttime)
    return s, decode(found.R).execution.R_lite[1].rank
  end

  it("takes resources beside Flux, which no job gets until they are given back", function()
    local s, rank = taken()
    assert.equal("0-1," .. rank, (ranks(ask(s, "find", { criteria = "sched-now=allocated" })):gsub("0%-2", "0-1,2")))
    assert.equal("ALLOCATED", ask(s, "info", { jobid = 7 }).status)
    submit(s, 2, 2, { duration = 100 })
    settle(s)
    assert.equal("1", flux.ids(s, "alloc"))
    assert(ask(s, "cancel", { jobid = 7 }))
    settle(s)
    assert.equal("1 2", flux.ids(s, "alloc"))
    assert.is_nil((ask(s, "info", { jobid = 7 })))
    flux.apart(s)
  end)

  it("takes resources under a number that no job has", function()
    local s = taken()
    assert.equal(8, ask(s, "next_jobid").jobid)
    submit(s, 8, 1)
    settle(s)
    assert.equal(9, ask(s, "next_jobid").jobid)
    assert(ask(s, "cancel", { jobid = 7 }))
    assert.equal(0, ask(s, "next_jobid").jobid)
  end)

  it("takes and gives back resources under the number 0", function()
    local s = flux.started({}, 1)
    assert.equal(0, assert(ask(s, "match", { cmd = "allocate", jobid = 0, jobspec = JOBSPEC })).jobid)
    assert.same({ 0, "ALLOCATED" }, { ask(s, "info", { jobid = 0 }).jobid, ask(s, "info", { jobid = 0 }).status })
    assert.equal(1, ask(s, "next_jobid").jobid)
    assert.equal("invalid", select(3, ask(s, "match", { cmd = "allocate", jobid = 0, jobspec = JOBSPEC })))
    assert(ask(s, "cancel", { jobid = 0 }))
    assert.is_nil((ask(s, "info", { jobid = 0 })))
    assert(ask(s, "match", { cmd = "allocate", jobid = 0, jobspec = JOBSPEC }))
  end)

  it("has no job of Flux mixed with what has its number", function()
    local s = taken()
    submit(s, 7, 1)
    settle(s)
    assert.equal("7", flux.ids(s, "deny"))
    assert.equal("ALLOCATED", ask(s, "info", { jobid = 7 }).status)
  end)

  it("reserves where nothing is free, and the reservation gives way to a job past its time", function()
    local s = taken()
    local all = encode(flux.spec_of(4, { duration = 10 }))
    local found = assert(ask(s, "match", { cmd = "allocate_orelse_reserve", jobid = 9, jobspec = all }))
    assert.same({ "RESERVED", flux.T0 + 100 }, { found.status, found.at })
    s.now, s.ticks = flux.T0 + 100, 100
    settle(s)
    assert.matches("the reservation 9, made by match", table.concat(s.logged), 1, true)
    assert.is_nil((ask(s, "info", { jobid = 9 })))
    assert.equal(1, flux.stats(s).running)
  end)

  it("does not guess when a job ends that is past its time", function()
    local s = flux.started({}, 1)
    submit(s, 1, 1, { duration = 100 })
    settle(s)
    local asked = { cmd = "without_allocating_future", jobspec = JOBSPEC }
    assert.equal(flux.T0 + 100, ask(s, "match", asked).at)
    s.now, s.ticks = flux.T0 + 101, 101
    settle(s)
    local _, why, code = ask(s, "match", asked)
    assert.matches("past its time", why, 1, true)
    assert.equal("taken", code)
  end)

  it("takes the resources of an R, and gives them back rank by rank", function()
    local s = flux.started()
    local function R(list)
      return encode { version = 1, execution = { R_lite = { { rank = list, children = { core = "0-3" } } },
        nodelist = { ("n[%s]"):format(list) },
        starttime = 0, expiration = 0 } }
    end
    assert.equal("ALLOCATED", assert(ask(s, "update", { jobid = 5, R = R "1-2" })).status)
    assert.equal("1-2", ranks(ask(s, "find", { criteria = "jobid-alloc=5" })))
    assert.equal("ALLOCATED", assert(ask(s, "update", { jobid = 5, R = R "1-2" })).status) -- the same again
    assert.equal("invalid", select(3, ask(s, "update", { jobid = 5, R = R "1" })))
    assert.equal(0, ask(s, "partial-cancel", { jobid = 5, R = R "1" })["full-removal"])
    assert.equal("2", ranks(ask(s, "find", { criteria = "jobid-alloc=5" })))
    assert.equal(1, ask(s, "partial-cancel", { jobid = 5, R = R "2" })["full-removal"])
    assert.is_nil(ranks(ask(s, "find", { criteria = "sched-now=allocated" })))
  end)

  it("is refused for what does not fit now, with the code of it", function()
    local big = encode(flux.spec_of(4, { duration = 10 }))
    local larger = encode(flux.spec_of(5, { duration = 10 }))
    assert.equal("taken", select(3, ask(busy(), "match", { cmd = "without_allocating", jobspec = big })))
    assert.equal("unsatisfiable", select(3, ask(busy(), "match", { cmd = "satisfiability", jobspec = larger })))
    assert.equal(flux.T0 + 200, ask(busy(), "match", { cmd = "without_allocating_future", jobspec = big }).at)
  end)

  -- A jobspec with slots beside each other: three cores, or nine, which no node has.
  local function beside(kind)
    local function slot(label, type, count) return { type = kind, label = label, count = 1, with = { { type = type, count = count } } } end
    return encode { resources = { slot("a", "core", 3), slot("a", "core", 9) } }
  end

  -- {title, arguments, type of the slots, ranks or code}
  local ALTERNATIVES = {
    { "all, as RFC 14 says, with labels of their own", {}, "slot", "invalid" },
    { "any, for the traverser flexible", { "traverser=flexible" }, "slot", "0" },
    { "any", {}, "or_slot", "0" },
    { "one alone", { "traverser=flexible" }, "xor_slot", "0" },
  }
  for _, case in ipairs(ALTERNATIVES) do
    it("takes slots beside each other: " .. case[1], function()
      local found, _, code = ask(flux.started(case[2]), "match", { cmd = "allocate", jobid = 7, jobspec = beside(case[3]) })
      assert.equal(case[4], found and ranks { R = decode(found.R) } or code)
    end)
  end

  it("takes alternatives of a job of Flux", function()
    local s = flux.started { "traverser=flexible" }
    local spec = flux.spec_of(1, { duration = 10 })
    spec.resources = { { type = "xor_slot", label = "task", count = 9, with = { { type = "node", count = 1 } } },
      { type = "xor_slot", label = "task", count = 2, with = { { type = "node", count = 1 } } } }
    s.service:alloc(encode { id = 1, priority = 16, userid = 1000, t_submit = flux.T0, jobspec = spec })
    settle(s)
    assert.equal("0-1", flux.ranks_of(s, 1))
    assert.equal("flexible", ask(s, "params").params.traverser)
  end)

  it("tells the parameters in its words", function()
    local s = flux.started { "queue=hybrid:k=4", "policy=high", "queue-depth=7" }
    local own, queue = ask(s, "params").params, ask(s, "qmanager.params").params
    assert.same({ "high", "rv1_nosched" }, { own.policy, own["match-format"] })
    local expected = { ["queue-policy"] = "hybrid", ["policy-params"] = "reservation-depth=4", ["queue-params"] = "queue-depth=7" }
    assert.same(expected, queue)
  end)

  it("tells the parameters as Fluxion's own tables say them", function()
    local config = { queues = { debug = {}, batch = {} }, ["sched-fluxion-resource"] = { ["prune-filters"] = "ALL:core,ALL:gpu",
      ["reserve-vtx-vec"] = 200000, ["load-allowlist"] = "node,core", ["match-policy"] = "lonodex" },
      ["sched-fluxion-qmanager"] = { ["queue-policy"] = "easy", ["queue-policy-per-queue"] = "debug:fcfs",
        ["queue-params-per-queue"] = "debug:queue-depth=16", ["policy-params"] = { foo = 1, ["reservation-depth"] = 64 },
        ["queue-params"] = { ["queue-depth"] = 8192, ["max-queue-depth"] = 1000000 } } }
    local s = flux.started({}, 4, 4, config)
    local own, queue = ask(s, "params").params, ask(s, "qmanager.params").params
    assert.same({ "lonodex", 200000, "node,core", "ALL:core,ALL:gpu" },
      { own.policy, own["reserve-vtx-vec"], own["load-allowlist"], own["prune-filters"] })
    local depths = "max-queue-depth=1000000,queue-depth=8192"
    assert.same({ "easy", depths, "reservation-depth=64,foo=1" },
      { queue["queue-policy"], queue["queue-params"], queue["policy-params"] })
    assert.same({ "fcfs", "queue-depth=16" }, { queue.debug["queue-policy"], queue.debug["queue-params"] })
    assert.same({ "easy", depths }, { queue.batch["queue-policy"], queue.batch["queue-params"] })
  end)

  it("tells the parameters of each queue", function()
    local config = { queues = { a = {}, b = {}, v = { parent = "b" } },
      ["sched-weir"] = { queue = "easy", queues = { b = { queue = "fcfs" } } } }
    local own = ask(flux.started({}, 4, 4, config), "qmanager.params").params
    assert.same({ "easy", "easy", "fcfs" }, { own["queue-policy"], own.a["queue-policy"], own.b["queue-policy"] })
    assert.is_nil(own.v, "a virtual queue has none")
  end)

  it("tells counts", function()
    local s = busy()
    assert.same({ 21, 20 }, { ask(s, "stats-get").V, ask(s, "stats-get").E })
    assert.same({ ["0-3"] = 5 }, ask(s, "stats-get").by_rank)
    local queue = ask(s, "qmanager.stats-get").queues.default
    assert.same({ 1, 1, 1 }, { queue.action_counts.pending, queue.action_counts.running, queue.action_counts.reserved })
    assert.same({ { "f3" }, { "f2" } }, { queue.pending_queues.pending, queue.scheduled_queues.running })
  end)

  -- {configuration, arguments, queue, queue_depth, max_queue_depth, queue_parameters}
  local DEPTHS = {
    unlimited = { {}, {}, "default", 1000000, 1000000, {} },
    ["by an argument"] = { {}, { "queue-depth=10000" }, "default", 10000, 10000, { ["queue-depth"] = "10000" } },
    ["by [sched-weir]"] = { { ["sched-weir"] = { ["queue-depth"] = 8 } }, {}, "default", 8, 8, { ["queue-depth"] = "8" } },
    ["by Fluxion's table"] = { { ["sched-fluxion-qmanager"] = { ["queue-params"] = { ["queue-depth"] = 16, ["max-queue-depth"] = 100 } } },
      {}, "default", 16, 100, { ["queue-depth"] = "16", ["max-queue-depth"] = "100" } },
    ["by Fluxion's table, for a queue"] = { { queues = { a = { requires = { "p" } } }, ["sched-fluxion-qmanager"] = {
      ["queue-params"] = { ["queue-depth"] = 16 }, ["queue-params-per-queue"] = "a:queue-depth=4" } }, {}, "a", 4, 1000000,
      { ["queue-depth"] = "4" } },
  }
  for what, row in pairs(DEPTHS) do
    it("tells the depth of a queue: " .. what, function()
      local s = flux.started(row[2], 4, 4, row[1], { properties = { p = "0-3" } })
      local queue = ask(s, "qmanager.stats-get").queues[row[3]]
      assert.same({ row[4], row[5], row[6] }, { queue.queue_depth, queue.max_queue_depth, queue.queue_parameters })
    end)
  end

  it("lists the jobs of a virtual queue in the queue of its parent", function()
    local config = { queues = { batch = { requires = { "p" } }, expedite = { parent = "batch" } } }
    local s = flux.started({}, 4, 4, config, { properties = { p = "0-3" } })
    for id = 1, 3 do submit(s, id, 4, { queue = id == 2 and "batch" or "expedite" }) end
    settle(s)
    local queues = ask(s, "qmanager.stats-get").queues
    assert.same({ { "f3", "f4" }, { "f2" } }, { queues.batch.pending_queues.pending, queues.batch.scheduled_queues.running })
    assert.is_nil(queues.expedite)
  end)

  it("treats all nodes of one name alike", function()
    local s = flux.started({}, 4, 4, nil, { nodelist = { "a,a,b,b" } })
    local function down() return ranks { R = ask(s, "status").down } end
    assert(ask(s, "set_status", { resource_path = "/cluster0/b", status = "down" }))
    assert.equal("2-3", down())
    assert(ask(s, "set_status", { resource_path = "/cluster0/a/core1", status = "down" }))
    submit(s, 1, 1, { shared = true, cores = 4 })
    submit(s, 2, 2, { shared = true, cores = 3, priority = 17 })
    settle(s)
    assert.equal("2", flux.ids(s, "alloc"), "each node a has a core that is down")
    assert(ask(s, "set_status", { resource_path = "/cluster0/a/core1", status = "up" }))
    assert(ask(s, "set_status", { resource_path = "/cluster0/b", status = "up" }))
    assert.is_nil(down())
    local path = "/cluster0/a"
    assert(ask(s, "set_property", { sp_resource_path = path, sp_keyval = "class=one" }))
    assert.same({ "one", "one" }, ask(s, "get_property", { gp_resource_path = path, gp_key = "class" }).values)
    assert(ask(s, "remove_property", { resource_path = path, key = "class" }))
    assert.is_nil((ask(s, "get_property", { gp_resource_path = path, gp_key = "class" })))
  end)

  it("that reveals a mistake does not end the scheduler", function()
    local s = busy()
    s.service.scheduler.queues.by_queue = nil
    local found, why = ask(s, "qmanager.stats-get")
    assert.is_nil(found)
    assert.matches("a mistake in sched-weir", why, 1, true)
    assert.matches("stack traceback", table.concat(s.logged), 1, true)
  end)
end)
