-- reserve.lua - point 6: a queue of jobs of 1 to 512 nodes with different durations, each at its earliest start, then
-- all released in random order. In a process of its own: weir run spec/bench/reserve.lua RACKS JOBS. Prints JSON. The
-- second round reuses the memory of the first. The clock is the processor's: the row is a mean, on which load by
-- further processes would show.
package.path = "./?.lua;" .. package.path
local weir = require "weir"
local core = require "weir.core"
local grug = require "spec.support.grug"
local bench = require "spec.bench.measure"

local RACKS, JOBS = tonumber(arg[1]), tonumber(arg[2])
local g = assert(core.parse(grug(RACKS), { format = "grug" }))
local engine = assert(weir.engine { resources = g, policy = { name = "low", order = "id" } })
local LARGEST = math.min(512, RACKS * 18)

local state = 42
local function random(n) -- a generator that is equal in all versions of Lua
  state = (state * 6364136223846793005 + 1442695040888963407)
  return (state >> 33) % n + 1
end

local function request(shape)
  local jobspec = weir.json.decode(core.request(shape):format())
  jobspec.attributes.system.duration = random(100000)
  return core.request(jobspec)
end

local function mean(list, from, to)
  local sum = 0
  for i = from, to do sum = sum + list[i] end
  return sum / (to - from + 1)
end

local function round(name, shape, jobs)
  local requests, ids, visited, most = {}, {}, 0, 0
  for i = 1, jobs do requests[i] = request(shape:format(random(LARGEST))) end
  local times = {}
  for i = 1, jobs do
    local t = bench.processor()
    local a = assert(engine:match(requests[i], { mode = "reserve" }))
    times[i] = (bench.processor() - t) * 1e6
    ids[i] = a.id
    local n = engine:stats().visited
    visited, most = visited + n, math.max(most, n)
  end
  local tenth = jobs // 10
  local first, last, all = mean(times, 1, tenth), mean(times, jobs - tenth + 1, jobs), mean(times, 1, jobs)
  for i = jobs, 2, -1 do
    local k = random(i)
    ids[i], ids[k] = ids[k], ids[i]
  end
  local released = {}
  for i = 1, jobs do
    local t = bench.processor()
    assert(engine:release(ids[i]))
    released[i] = (bench.processor() - t) * 1e6
  end
  bench.row(6, name, "us", times, { mean = all, mean_first_tenth = first, mean_last_tenth = last, mean_visited = visited / jobs,
    most_visited = most })
  bench.row(6, name .. ", released in any order", "us", released, { mean = mean(released, 1, #released) })
end

local NAME = ("%d jobs of 1 to %d nodes"):format(JOBS, LARGEST)
round(NAME, "slot=%d/node", JOBS)
round(NAME .. ", once more", "slot=%d/node", JOBS)
round(("%d jobs, their 40 cores spelled out"):format(JOBS // 10), "slot=%d/node/core=40", JOBS // 10)
bench.print()
