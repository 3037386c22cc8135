-- Cost follows the answer, not the machine: visits of a match on 10,080 nodes (554,961 vertices), whatever is in use.
local weir = require "weir"
local core = require "weir.core"
local grug = require "spec.support.grug"

local RACKS = os.getenv("WEIR_SPEC_SCALE") and 56 or 560 -- smaller under slow sanitizers

describe("the visits of a match", function()
  local graph
  setup(function() graph = assert(core.parse(grug(RACKS), { format = "grug" })) end)
  teardown(function() graph:close() end)

  local function visits(engine, shape, mode)
    local a, _, code = engine:match(shape, { mode = mode })
    local visited = engine:stats().visited
    if a and a ~= true and a.state ~= "matched" then engine:release(a.id) end
    return visited, code
  end

  local CASES = {
    -- name, shape, most visits where the shape fits, most where it is refused for now
    { "one node", "slot/node", 8, 12 },
    { "one node of 40 cores", "slot/node/core=40", 8, 12 },
    { "one core", "slot/core", 10, 14 },
    { "4 cores and a gpu of one socket", "socket/slot/[core=4;gpu]", 16, 20 },
    { "64 nodes", "slot=64/node", 90, 90 },
    { "2 slots of as many cores as fit", "slot=2/core=1-40", 1200, 60 },
    { "16 nodes of one rack", "rack/slot=16/node", 50, 50 },
  }

  for _, policy in ipairs { "first", "low", "high" } do
    describe("under " .. policy, function()
      local engine
      local taken = 0
      setup(function() engine = weir.engine { resources = graph, policy = policy } end)
      teardown(function() for _, a in ipairs(engine:jobs()) do engine:release(a.id) end end)

      for _, fill in ipairs { 0, 0.5, 0.999, 1 } do
        it(("are few with %.1f %% of the nodes in use"):format(fill * 100), function()
          while taken < math.floor(RACKS * 18 * fill) do
            assert(engine:match("slot=1/node"))
            taken = taken + 1
          end
          for _, case in ipairs(CASES) do
            local visited, code = visits(engine, case[2])
            local bound = code and case[4] or case[3]
            assert.is_true(visited <= bound, ("%s: %d visits, at most %d%s"):format(case[1], visited, bound,
              code and " to say " .. code or ""))
          end
        end)
      end
    end)
  end

  describe("for a later start", function()
    local engine
    setup(function() engine = weir.engine { resources = graph, policy = "low" } end)
    teardown(function() for _, a in ipairs(engine:jobs()) do engine:release(a.id) end end)

    local function reserve(nodes, duration)
      local jobspec = weir.json.decode(weir.request(("slot=%d/node"):format(nodes)):format())
      jobspec.attributes.system.duration = duration
      local a = assert(engine:match(jobspec, { mode = "reserve" }))
      return engine:stats(), a
    end

    it("are those of its vertices, however many reservations there are", function()
      for i = 1, 300 do
        local nodes = 1 + i * 7919 % 512
        local stats = reserve(nodes, 1 + i * 104729 % 5000)
        assert.is_true(stats.visited <= nodes + nodes // 4 + 16, ("%d for %d nodes"):format(stats.visited, nodes))
        assert.is_true(stats.starts <= 1, stats.starts .. " starts tried")
      end
    end)

    it("stay so after releases in any order", function()
      local jobs = engine:jobs()
      for i = 1, #jobs, 3 do engine:release(jobs[i].id) end
      local stats = reserve(100, 1000)
      assert.is_true(stats.visited <= 141, stats.visited .. " visits")
    end)

    it("are those of the answer for single cores, too, where all nodes are in use", function()
      for i = 1, RACKS * 18 do engine:match("slot=1/node", { duration = 100 + i % 5000 }) end
      local jobspec = weir.json.decode(weir.request("slot=8/core"):format())
      jobspec.attributes.system.duration = 300
      for _ = 1, 20 do
        assert(engine:match(jobspec, { mode = "reserve" }))
        assert.is_true(engine:stats().visited <= 40, engine:stats().visited .. " visits")
        assert.is_true(engine:stats().starts <= 1, engine:stats().starts .. " starts tried")
      end
    end)

    it("are none but those of the refusal where there is no such start", function()
      local a, _, code = engine:match("slot=20000/node", { mode = "reserve" })
      assert.same({ nil, "infeasible" }, { a, code })
      assert.is_true(engine:stats().visited <= 10, engine:stats().visited .. " visits")
    end)
  end)

  describe("for a later start on nodes that jobs share", function()
    local racks, machine = math.max(RACKS // 30, 4), nil
    setup(function() machine = assert(weir.synthetic(("cluster:1 rack:%d node:18 core:40 gpu:2"):format(racks))) end)
    teardown(function() machine:close() end)

    -- Name, shape with the cores of a slot, most visits and starts tried in the mean: twenty cores are looked at for a few reasons.
    local SHARED = {
      { "cores of one node", "slot/core=%d", 200, 1.1 },
      { "cores of a node that is passed through", "node/slot/core=%d", 70, 1.1 },
      { "cores and a gpu", "slot/[core=%d;gpu]", 220, 1.1 },
      { "eight slots", "slot=8/core=%d", 1000, 1.1 },
      { "eight slots of two things", "slot=8/[core=%d;gpu]", 1100, 1.1 },
      { "eight nodes that are passed through", "node=8/slot/core=%d", 500, 1.1 },
      { "eight slots of one rack", "rack/slot=8/core=%d", 2500, 2 },
      { "two nodes in each of two racks", "rack=2/node=2/slot/core=%d", 400, 1.1 },
      { "four whole nodes of one rack", "rack/slot=4/node", 40, 1.1 },
    }
    for _, case in ipairs(SHARED) do
      it("are those of the answer, however long the queue is: " .. case[1], function()
        local engine = weir.engine { resources = machine, policy = "low" }
        local all, starts, n = 0, 0, racks * 18 * 2
        for i = 1, 2 * n do
          local jobspec = weir.json.decode(weir.request(case[2]:format(1 + i * 7919 % 40)):format())
          jobspec.attributes.system.duration = 1 + i * 104729 % 5000
          assert(engine:match(jobspec, { mode = "reserve" }))
          if i > n then
            all, starts = all + engine:stats().visited, starts + engine:stats().starts
          end
        end
        assert.is_true(all / n <= case[3], all / n .. " visits in the mean")
        assert.is_true(starts / n <= case[4], starts / n .. " starts tried in the mean")
        for _, a in ipairs(engine:jobs()) do engine:release(a.id) end
      end)
    end

    it("are those of the answer for sockets that are passed through", function()
      local small <close> = assert(weir.synthetic(("cluster:1 rack:%d node:18 socket:2 core:20 gpu:2"):format(RACKS // 30)))
      local engine = weir.engine { resources = small, policy = "low" }
      local all, starts, n = 0, 0, racks * 18 * 2
      for i = 1, 2 * n do
        local jobspec = weir.json.decode(weir.request(("socket=4/slot/[core=%d;gpu]"):format(1 + i * 7919 % 20)):format())
        jobspec.attributes.system.duration = 1 + i * 104729 % 5000
        assert(engine:match(jobspec, { mode = "reserve" }))
        if i > n then
          all, starts = all + engine:stats().visited, starts + engine:stats().starts
        end
      end
      assert.is_true(all / n <= 200, all / n .. " visits in the mean")
      assert.is_true(starts / n <= 1.1, starts / n .. " starts tried in the mean")
    end)

    it("are those of the answer for whole nodes, too", function()
      local engine = weir.engine { resources = machine, policy = "low" }
      local all, starts, n = 0, 0, racks * 18 * 2
      for i = 1, 2 * n do
        local jobspec = weir.json.decode(weir.request(i % 2 == 0 and "slot=4/node" or "slot=1/core=7"):format())
        jobspec.attributes.system.duration = 1 + i * 104729 % 5000
        assert(engine:match(jobspec, { mode = "reserve" }))
        if i > n and i % 2 == 0 then
          all, starts = all + engine:stats().visited, starts + engine:stats().starts
        end
      end
      assert.is_true(all / n * 2 <= 8, all / n * 2 .. " visits in the mean")
      assert.is_true(starts / n * 2 <= 1.05, starts / n * 2 .. " starts tried in the mean")
      for _, a in ipairs(engine:jobs()) do engine:release(a.id) end
    end)
  end)

  it("are few after the machine has grown and shrunk", function()
    local engine = weir.engine { resources = graph, policy = "high" }
    assert.is_true(visits(engine, "slot/node") <= 8)
    local rack = graph:add(graph:root(), { type = "rack", id = RACKS })
    graph:add(rack, { type = "node", id = RACKS * 18 }, 18)
    local a = assert(engine:match "slot/node")
    assert.is_true(engine:stats().visited <= 8, engine:stats().visited .. " visits")
    assert.equal(RACKS * 18 + 17, a:vertices()[1].vertex.id)
    engine:release(a.id)
    assert(graph:unlink(rack))
    assert.is_true(visits(engine, "slot/node") <= 8)
  end)

  -- Adds a rack of 18 nodes with a socket each.
  local function add_rack()
    local rack = graph:add(graph:root(), { type = "rack", id = RACKS })
    for n = 0, 17 do
      local node = graph:add(rack, { type = "node", id = RACKS * 18 + n })
      local socket = graph:add(node, { type = "socket", id = 0 })
      graph:add(socket, { type = "core", id = 0 }, 20)
      graph:add(socket, { type = "gpu", id = 0 }, 2)
    end
    return rack
  end

  describe("with a constraint", function()
    local engine
    setup(function() engine = weir.engine { resources = graph, policy = "low" } end)

    local function constrained(constraint)
      local jobspec = weir.json.decode(weir.request("slot=1/node"):format())
      jobspec.attributes.system.constraints = constraint
      return jobspec
    end

    it("are few where one node satisfies it", function()
      graph:find("type=node")[RACKS * 9].properties.special = "yes"
      assert.is_true(visits(engine, constrained { properties = { "special" } }) <= 100, engine:stats().visited .. " visits")
    end)

    it("are few after a rack was added, and after it went", function()
      local rack = add_rack()
      for _, node in ipairs { "special", ("node%d"):format(RACKS * 18 + 7) } do
        assert.is_true(visits(engine, constrained { properties = { node } }) <= 100, engine:stats().visited .. " visits for " .. node)
      end
      assert(graph:unlink(rack))
      assert.is_true(visits(engine, constrained { properties = { "special" } }) <= 100, engine:stats().visited .. " visits")
    end)
  end)

  describe("for things that are there, but not together", function()
    local engine, gpus
    setup(function()
      engine = weir.engine { resources = graph, policy = "low" }
      local by_id = { order = "id" } -- one of the two gpus of each socket
      gpus = assert(weir.engine { resources = graph, policy = by_id }:match(("slot=%d/gpu"):format(RACKS * 36)))
      assert(weir.engine { resources = graph, policy = "high" }:match(("slot=%d/core"):format(RACKS * 18 * 20)))
    end)
    teardown(function() for _, a in ipairs(engine:jobs()) do engine:release(a.id) end end)

    for _, shape in ipairs { "socket/slot/[core;gpu]", "node/socket/slot/[core;gpu]", "rack/node/socket/slot/[core=2;gpu]" } do
      it("are few once " .. shape .. " was refused, and where something has changed since", function()
        local first = visits(engine, shape) -- two sockets a node, nodes twice where requested, racks; no more
        assert.is_true(first > RACKS * 18 and first <= RACKS * (18 * 4 + 4) + 20, first .. " visits")
        assert.is_true(visits(engine, shape) <= 16, engine:stats().visited .. " visits")
        local node = graph:find("type=node")[RACKS * 9]
        for _, state in ipairs { "down", "up" } do
          node.state = state
          assert.is_true(visits(engine, shape) <= 100, engine:stats().visited .. " visits after a change")
        end
      end)

      it("are few for " .. shape .. " after a rack was added, and after it went", function()
        local rack = add_rack()
        local a = assert(engine:match(shape))
        assert.is_true(engine:stats().visited <= 100, engine:stats().visited .. " visits")
        engine:release(a.id)
        assert(graph:unlink(rack))
        assert.is_true(visits(engine, shape) <= 100, engine:stats().visited .. " visits after it went")
      end)
    end

    it("are few where all that comes first in the order does not do", function()
      engine:release(gpus.id)
      gpus = assert(weir.engine { resources = graph, policy = "high" }:match(("slot=%d/gpu"):format(RACKS * 36)))
      assert(visits(engine, "socket/slot/[core;gpu]"))
      assert.is_true(visits(engine, "socket/slot/[core;gpu]") <= 16, engine:stats().visited .. " visits")
    end)
  end)

  -- Policies whose hooks see candidates: {policy, shape, most visits, most calls of hooks}.
  local HOOKED = {
    { "locality", "slot=1/core", 10, 0 },
    { "locality", "slot=1/node", 8, 0 },
    { "locality", "slot=64/node", 170, 0 },
    { "locality", "socket/slot/[core=4;gpu]", 40, 0 },
    { "best_fit", "slot=1/node", RACKS * 20 + 10, RACKS + 1 },
    { "worst_fit", "slot=1/node", RACKS * 20 + 10, RACKS + 1 },
    { "spread", "slot=1/node", RACKS * 20 + 10, RACKS + 2 },
  }
  for _, case in ipairs(HOOKED) do
    it(("and the calls of hooks are bounded under %s for %s"):format(case[1], case[2]), function()
      local engine = weir.engine { resources = graph, policy = case[1] }
      assert(engine:match(case[2], { mode = "preview" }))
      local stats = engine:stats()
      assert.is_true(stats.visited <= case[3], stats.visited .. " visits")
      assert.is_true(stats.callbacks <= case[4], stats.callbacks .. " calls")
    end)
  end

  it("and the calls of hooks are three a node where cores are scored", function()
    local small <close> = assert(weir.synthetic "cluster:1 rack:3 node:12 core:64")
    local engine = weir.engine { resources = small, policy = "best_fit" }
    assert(engine:match("slot=1/core=4", { mode = "preview" }))
    assert.is_true(engine:stats().callbacks <= 3 * 36, engine:stats().callbacks .. " calls")
  end)

  local INFEASIBLE = {
    { "more nodes than there are", "slot=20000/node" },
    { "more cores than a node has", "slot/node/core=41" },
    { "more gpus than a socket has", "slot/socket/[core=1;gpu=3]" },
    { "a type that is not there", "slot/fpga" },
  }
  for _, case in ipairs(INFEASIBLE) do
    it("are at most 10 to refuse " .. case[1], function()
      local engine = weir.engine { resources = graph, policy = "low" }
      local visited, code = visits(engine, case[2])
      assert.equal("infeasible", code)
      assert.is_true(visited <= 10, visited .. " visits")
    end)
  end
end)

describe("the calls of a policy's order", function()
  local NODES, CORES = 100, 4
  local WHOLE, PARTS = "slot=1/node", "node=1/slot=1/core=1"
  local graph, engine, calls

  before_each(function()
    graph = assert(weir.synthetic(("cluster:1 node:%d core:%d"):format(NODES, CORES)))
    calls = 0
    engine = weir.engine { resources = graph, policy = { name = "own", order = function(v)
      calls = calls + 1
      return -(tonumber(v.properties.speed) or 0), v.id
    end } }
  end)
  after_each(function()
    assert(graph:check())
    graph:close()
  end)

  -- Every kind of index: of idle, free and all nodes, and of free and all cores.
  local function ask_all()
    for _, shape in ipairs { WHOLE, PARTS } do
      assert(engine:match(shape, { mode = "preview" }))
      local all = assert(engine:match(("slot=%d/node"):format(#graph:find "type=node"), { job = 99, duration = 10 }))
      assert(engine:release(assert(engine:match(shape, { mode = "reserve", job = 98, duration = 10 })).id))
      assert(engine:release(all.id))
    end
  end

  it("are one for each vertex of a type, whatever is asked about it", function()
    ask_all()
    assert.equal(NODES + NODES * CORES, calls)
    ask_all()
    assert.equal(NODES + NODES * CORES, calls)
  end)

  for what, row in pairs {
    ["whose property changes"] = { function(node) node.properties.speed = "7" end, 1 + CORES },
    ["that is new, with its cores"] = { function(node)
      local new = assert(graph:add(node:parent(), { type = "node", id = NODES, properties = { speed = "7" } }))
      for id = 0, CORES - 1 do assert(graph:add(new, { type = "core", id = id })) end
    end, 1 + CORES },
    ["that goes"] = { function(node) assert(graph:unlink(node)) end, 0 },
  } do
    it("are one more for a node " .. what .. ", and for each core of it", function()
      ask_all()
      calls = 0
      row[1](graph:vertex "/cluster0/node50")
      ask_all()
      assert.equal(row[2], calls)
      if row[2] > 0 then
        local chosen = assert(engine:match(WHOLE, { mode = "preview" })):vertices()[1].vertex
        assert.equal("7", chosen.properties.speed)
      end
    end)
  end

  it("fill memory that the graph counts, once for each type", function()
    local function grown(shape, mode)
      local before = graph:bytes()
      assert(engine:match(shape, { mode = mode, duration = 10 }))
      return graph:bytes() - before
    end
    local keys = 4 * 8 * graph:count()
    assert.is_true(grown(WHOLE, "preview") >= keys)
    local more = grown(PARTS, "preview") -- cores have keys of their own, and so have nodes
    assert.is_true(more >= keys and more < 2 * keys, more .. " bytes")
  end)
end)
