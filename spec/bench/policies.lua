-- policies.lua - what a match costs under each bundled policy, as a multiple of low: a node, 64 nodes, four cores of a
-- node, on a machine of 10,080 nodes of 40 cores that is empty, half full, 90 % and 99 % full, in a stream of matches
-- and releases. Beside the ratio stand the calls of Lua and the visits of a match. Run: weir run spec/bench/policies.lua
-- [NODES OF A RACK [POLICY...]]; the clock is noisy, calls and visits are exact.
local core = require "weir.core"
local weir = require "weir"

local RACKS, PER_RACK = 56, tonumber(arg and arg[1]) or 180
local REQUESTS = { { "one node", "slot=1/node" }, { "64 nodes", "slot=64/node" }, { "four cores", "slot=1/core=4" } }
local FILLS = { 0, 50, 90, 99 }
local FEWEST, LONGEST = 5, 0.04 -- matches of a cell at least; seconds after which no more are made

-- Numbers from 0 to n - 1 in an order without pattern, alike in each run.
local function shuffled(n)
  local list, seed = {}, 12345
  for i = 1, n do list[i] = i - 1 end
  for i = n, 2, -1 do
    seed = (seed * 1103515245 + 12345) % 2147483648
    local k = seed // 65536 % i + 1
    list[i], list[k] = list[k], list[i]
  end
  return list
end

-- The machine with `percent` of the nodes taken, no matter where.
local function machine(percent)
  local g = weir.synthetic(("cluster:1 rack:%d node:%d socket:2 core:20"):format(RACKS, PER_RACK))
  local nodes = {}
  for v in g:walk { type = "node" } do nodes[#nodes + 1] = v end
  local list, job = shuffled(#nodes), 1000000
  for i = 1, #nodes * percent // 100 do
    job = job + 1
    assert(nodes[list[i] + 1]:allocate { job = job })
  end
  return g
end

local function names()
  local list = {}
  for i = 2, arg and #arg or 0 do list[#list + 1] = arg[i] end
  if #list > 0 then return list end
  local pipe <close> = assert(io.popen "ls policies/*.lua")
  for path in pipe:lines() do
    local name = path:match "([%w_]+)%.lua$"
    if name ~= "low" then list[#list + 1] = name end
  end
  return list
end

-- Microseconds (median), calls and visits of a match; the job before the last is released after each match.
local function cost(g, policy, shape)
  local engine, request = assert(core.engine { resources = g, policy = policy }), weir.request(shape)
  local times, jobs, all, first = {}, {}, 0, nil
  local calls, visits = 0, 0
  for i = -2, math.huge do
    if i > FEWEST and all > LONGEST then break end
    local begin = core.clock()
    local job, why = engine:match(request)
    local took = core.clock() - begin
    if not job then return nil, why end
    jobs[#jobs + 1] = job
    if i == -2 then first = took end
    if i > 0 then
      times[i] = took * 1e6
      all = all + took
      local stats = engine:stats()
      calls, visits = calls + stats.callbacks, visits + stats.visited
    end
    if #jobs == 3 then assert(engine:release(table.remove(jobs, 1).id)) end
  end
  for _, job in ipairs(jobs) do assert(engine:release(job.id)) end
  table.sort(times)
  return { us = times[(#times + 1) // 2], calls = calls / #times, visits = visits / #times, first = first * 1e6 }
end

local function cell(c, low)
  if not c then return ("%9s %7s %8s"):format("-", "", "") end
  return ("%9.1f %7.0f %8.0f"):format(c.us / low.us, c.calls, c.visits)
end

local load = require "weir.policy".load
local rows = {}
local list = names()
table.insert(list, 1, "low")
for _, percent in ipairs(FILLS) do
  local g = machine(percent)
  print(("%d %% of %d nodes full; ratio to low, Lua calls and visits of a match"):format(percent, RACKS * PER_RACK))
  local head = { ("%-16s"):format "" }
  for _, r in ipairs(REQUESTS) do head[#head + 1] = ("%26s"):format(r[1]) end
  print(table.concat(head))
  local low = {}
  for _, name in ipairs(list) do
    if name == "low" then low = {} end
    local line = { ("%-16s"):format(name) }
    for i, r in ipairs(REQUESTS) do
      local c = cost(g, assert(load("policies/" .. name .. ".lua")), r[2])
      if name == "low" then low[i] = c end
      line[#line + 1] = cell(c, low[i])
      rows[#rows + 1] = { policy = name, fill = percent, request = r[1], us = c and c.us, calls = c and c.calls,
        visits = c and c.visits, first = c and c.first, ratio = c and c.us / low[i].us }
    end
    print(table.concat(line))
  end
end
if arg and arg.json then print(core.json_encode(rows)) end
