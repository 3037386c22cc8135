-- machine.lua - points 1 to 5, 8, 10 and 11 on a machine, in a process by itself: weir run spec/bench/machine.lua RACKS.
-- Prints JSON.
package.path = "./?.lua;" .. package.path
local weir = require "weir"
local core = require "weir.core"
local grug = require "spec.support.grug"
local bench = require "spec.bench.measure"

local RACKS = tonumber(arg[1])
local NODES = RACKS * 18
local REPEATS, FEW = 500, 100

-- ---- 1, 2: memory and load ----

local before = bench.kilobytes("/proc/self/status", "VmHWM")
local text = grug(RACKS)
local load_times = {}
local begin = bench.clock()
local g = assert(core.parse(text, { format = "grug" }))
load_times[1] = (bench.clock() - begin) * 1e3
local peak = bench.kilobytes("/proc/self/status", "VmHWM")
bench.row(1, "bytes a vertex, GRUG, the peak of the process", "bytes", { (peak - before) * 1024 / g:count() })
bench.row(1, "the whole process", "MB", { peak / 1024 })
for i = 2, 5 do
  begin = bench.clock()
  local again = assert(core.parse(text, { format = "grug" }))
  load_times[i] = (bench.clock() - begin) * 1e3
  again:close()
end
bench.row(2, "load, GRUG", "ms", load_times)
bench.row(1, "bytes a vertex, as the graph counts its memory", "bytes", { g:bytes() / g:count() })

-- ---- matches ----

-- Matches and releases a request again and again.
local function measure(point, name, engine, shape, repeats)
  local request, fits = core.request(shape), nil
  local times = bench.times(repeats or REPEATS, function() return engine:match(request) end, function(a)
    fits = a ~= nil
    if a then engine:release(a.id) end
  end)
  bench.row(point, name .. (fits and "" or " (refused)"), "us", times, { visited = engine:stats().visited })
end

local SMALL = { { "one node", "slot/node" }, { "one core", "slot/core" }, { "4 cores and a gpu of a socket", "socket/slot/[core=4;gpu]" } }
local FILLS = { { "empty", 0 }, { "50 %", 0.5 }, { "90 %", 0.9 }, { "99.9 %", 0.999 }, { "full", 1 } }

local function release_all(engine)
  for _, a in ipairs(engine:jobs()) do engine:release(a.id) end
end

-- ---- 3 to 5: by policy, and how full the machine is ----

-- The policies of the table. "low" orders by id alone, as the default policy did when the table began; the default
-- of today has a row of its own.
local POLICIES = { low = { name = "low", order = "id" }, ["lowest node"] = "low" }
-- The seconds of a policy are of the wall: under callgrind, with other load, ten are too few for the keys of all cores.
local function engine_of(policy)
  return assert(weir.engine { resources = g, policy = POLICIES[policy] or policy, budget = { seconds = 3600 } })
end

local low = engine_of "low"
local taken, node = 0, core.request "slot/node"
for _, fill in ipairs(FILLS) do
  while taken < math.floor(NODES * fill[2]) do
    assert(low:match(node))
    taken = taken + 1
  end
  for _, case in ipairs(SMALL) do measure(3, ("%s, low, %s"):format(case[1], fill[1]), low, case[2]) end
  if fill[1] == "90 %" then
    for _, policy in ipairs { "high", "locality", "variation" } do
      local engine = engine_of(policy)
      for _, case in ipairs(SMALL) do measure(3, ("%s, %s, 90 %%"):format(case[1], policy), engine, case[2]) end
    end
  end
  if fill[1] == "empty" or fill[1] == "50 %" then
    for _, policy in ipairs { "low", "high" } do
      measure(4, ("64 nodes, %s, %s"):format(policy, fill[1]), engine_of(policy), "slot=64/node", FEW)
    end
  end
end
release_all(low)

for _, case in ipairs { { "more nodes than there are", "slot=2000000/node" }, { "more cores than a node has", "slot/node/core=41" },
  { "more gpus than a socket has, with cores", "slot/socket/[core=1;gpu=3]" }, { "a type that is not there", "slot/fpga" } } do
  measure(5, case[1], low, case[2])
end

-- ---- 8: changes ----

local function add_rack(root, id)
  local rack = g:add(root, { type = "rack", id = id })
  for n = 0, 17 do
    local host = g:add(rack, { type = "node", id = id * 18 + n })
    for s = 0, 1 do
      local socket = g:add(host, { type = "socket", id = s })
      g:add(socket, { type = "core", id = s * 20 }, 20)
      g:add(socket, { type = "gpu", id = s * 2 }, 2)
      g:add(socket, { type = "memory", id = s * 4, size = 16, unit = "GB" }, 4)
    end
  end
  return rack
end

local function match_once()
  local a = assert(low:match(node))
  low:release(a.id)
end

do
  local root = g:root()
  match_once()
  local added, matched, removed, again = {}, {}, {}, {}
  for i = 0, FEW do
    local t = bench.clock()
    local rack = add_rack(root, RACKS)
    local t1 = bench.clock()
    match_once()
    local t2 = bench.clock()
    g:unlink(rack)
    local t3 = bench.clock()
    match_once()
    added[i], matched[i], removed[i], again[i] = (t1 - t) * 1e6, (t2 - t1) * 1e6, (t3 - t2) * 1e6, (bench.clock() - t3) * 1e6
  end
  added[0], matched[0], removed[0], again[0] = nil, nil, nil, nil
  bench.row(8, "add a rack of 18 nodes (991 vertices)", "us", added)
  bench.row(8, "a match and release after that", "us", matched)
  bench.row(8, "remove it", "us", removed)
  bench.row(8, "a match and release after that too", "us", again)
  local host = g:find("type=node")[NODES // 2]
  bench.row(8, "a node down, or up", "us", bench.times(REPEATS, function(i) host.state = i % 2 == 0 and "down" or "up" end, match_once))
  host.state = "up"
end

-- ---- 10: expensive requests ------

do
  local odd = {}
  for v in g:walk { type = "node" } do
    if v.id % 2 == 1 then odd[#odd + 1] = v end
  end
  for i, v in ipairs(odd) do assert(v:allocate { job = 1000000 + i, amount = 1 }) end
  measure(10, "a whole rack, every second node in use", low, "slot/rack", FEW)
  measure(10, "18 nodes of a rack, every second one in use", low, "rack/slot=18/node", 10)
  measure(10, "three levels with ranges, every second node in use", low, "rack/node=2-4/socket=1-2/slot/core=4-10", FEW)
  for i = 1, #odd do low:release(1000000 + i) end
end
do
  local one = g:find("type=node")[NODES - 1]
  one.properties.special = "yes"
  local jobspec = weir.json.decode(core.request("slot/node"):format())
  jobspec.attributes.system.constraints = { properties = { "special" } }
  measure(10, "a constraint that one node satisfies", low, jobspec, FEW)
  local root, rack = g:root(), nil
  local times = bench.times(FEW, function() low:release(assert(low:match(jobspec)).id) end, function()
    if rack then g:unlink(rack) end
    rack = add_rack(root, RACKS)
  end)
  bench.row(8, "one node with a constraint after a rack was added", "us", times, { visited = low:stats().visited })
  g:unlink(rack)
end
do
  local scored = weir.engine { resources = g, policy = { fields = { "id" }, evaluate = function(_, _, id) return id % 7 end } }
  measure(10, "a score in Lua for every node", scored, "slot/node", RACKS > 1000 and 5 or 20)
end
do
  local gpus, high = assert(low:match(("slot=%d/gpu"):format(NODES * 2))), weir.engine { resources = g, policy = "high" }
  local cores = assert(high:match(("slot=%d/core"):format(NODES * 20)))
  local apart, odd = core.request "socket/slot/[core;gpu]", g:find("type=node")[NODES // 2]
  local start = bench.clock()
  assert(not low:match(apart))
  bench.row(10, "a core and a gpu of a socket, none has both: at first", "us", { (bench.clock() - start) * 1e6 },
    { visited = low:stats().visited })
  measure(10, "... asked for again", low, "socket/slot/[core;gpu]", FEW)
  local times = bench.times(FEW, function() return low:match(apart) end,
    function(_, i) odd.state = i % 2 == 0 and "down" or "up" end)
  bench.row(10, "... after a change of a node (refused)", "us", times, { visited = low:stats().visited })
  odd.state = "up"
  local strict, levels = core.request "node/slot/core", { strict_levels = true }
  assert(not low:match(strict, levels)) -- cores lie in sockets
  bench.row(10, "a core right below a node, strict levels, asked for again (refused)", "us",
    bench.times(FEW, function() return low:match(strict, levels) end), { visited = low:stats().visited })
  low:release(gpus.id)
  high:release(cores.id)
end

-- ---- 11: jobs that grow, explanations ----

do
  local times = {}
  for i, case in ipairs { "slot/node", "slot=64/node", "slot/core" } do
    local job, request = assert(low:match(node)).id, core.request(case)
    times[i] = bench.times(FEW, function() assert(low:grow(job, request)) end, function()
      assert(low:release(job))
      job = assert(low:match(node)).id
    end)
    bench.row(11, ("a job of a node grows by %s"):format(case), "us", times[i])
    assert(low:release(job))
  end
  local function explained(name, shape)
    local request = core.request(shape)
    bench.row(11, "explain " .. name, "us", bench.times(2, function() assert(low:explain(request)) end))
  end
  explained("one node, which fits", "slot/node")
  explained("more cores than a node has", "slot/node/core=41")
  local most = assert(low:match(("slot=%d/node"):format(NODES - 2)))
  explained("four nodes, two are free", "slot=4/node")
  explained("nine times four cores and a gpu of a socket, four are free", "slot=9/socket/[core=4;gpu]")
  low:release(most.id)
  bench.row(11, "find, a name", "us", bench.times(2, function() assert(#g:find "name=node7" > 0) end))
  bench.row(11, "find, a type and a state", "us", bench.times(10, function() assert(#g:find "type=node and state=up" > 0) end))
end
-- Last, as one more order costs each row after it.
for _, case in ipairs(SMALL) do measure(3, case[1] .. ", lowest node, empty", engine_of "lowest node", case[2]) end
low:close()
g:close()

-- ---- 4: nodes under one switch ----

g = assert(weir.synthetic(("cluster:1 switch:%d node:72 socket:2 core:20 gpu:2 memory:4(size=16,unit=GB)"):format(NODES // 72)))
for _, policy in ipairs { "low", "high" } do
  local engine = engine_of(policy)
  measure(4, ("64 nodes under one switch, %s, empty"):format(policy), engine, "switch/slot=64/node", FEW)
  for _ = 1, NODES // 2 do assert(engine:match(node)) end
  measure(4, ("64 nodes under one switch, %s, 50 %%"):format(policy), engine, "switch/slot=64/node", FEW)
  release_all(engine)
end
bench.print()
