-- decide.lua - the cost of asking what would be: a forecast of waiting jobs under other policies (weir try), and a search for
-- options under which a trace waits least (weir tune). Processor seconds. A tenth of nodes and jobs unless SCALE=full.
package.path = "./?.lua;" .. package.path
local core = require "weir.core"
local bench = require "spec.bench.measure"
local forecast = require "weir.forecast"
local lublin = require "weir.trace.lublin"
local tune = require "weir.tune"
local weir = require "weir"

local FULL = os.getenv "SCALE" == "full"
local NODES, WAITING, JOBS = FULL and 10000 or 1000, FULL and 10000 or 1000, FULL and 50000 or 5000
local SECONDS = 10 -- of a forecast at most, as the service has

-- A machine on which jobs of one node each run, and jobs that wait.
local function busy()
  local graph = weir.synthetic(("cluster:1 node:%d core:4"):format(NODES))
  local engine, node, running, waiting = weir.engine { resources = graph }, core.request "slot=1/node", {}, {}
  for i = 1, NODES do
    local due = 100 + i * 7919 % 3600
    assert(engine:match(node, { job = i, duration = due }))
    running[i] = { id = i, request = node, start = 0, due = due }
  end
  for i = 1, WAITING do
    waiting[i] = { id = NODES + i, request = core.request(("slot=%d/node"):format(1 + i * 31 % 64)), estimate = 60 + i * 104729 % 7200 }
  end
  return graph, running, waiting
end

print(("%-64s %8s"):format("try", "s"))
for _, queue in ipairs { "fcfs", "easy" } do
  local graph, running, waiting = busy()
  local before = bench.processor()
  local told = assert(forecast.run { graph = graph, now = 0, queue = queue, running = running, waiting = waiting, seconds = SECONDS })
  local known = 0
  for _, job in ipairs(told.jobs) do known = known + (job.start and 1 or 0) end
  local seconds = bench.processor() - before
  print(("%-64s %8.2f"):format(("%d nodes, %d waiting, %s: starts of %d told%s"):format(NODES, WAITING, queue, known,
    told.incomplete and ", then stopped" or ""), seconds))
end

print(("%-64s %8s"):format("tune", "s"))
for _, queue in ipairs { "hybrid", "priority" } do
  local jobs = assert(lublin.new { jobs = JOBS, units = 128, load = 0.9, seed = 4 })
  jobs.format = "lublin"
  local before = bench.processor()
  local report = assert(tune.run { resources = "cluster:1 core:128", trace = jobs, queue = queue, policy = "low", budget = 3, workers = 1,
    objectives = assert(tune.objectives "mean_wait") })
  print(("%-64s %8.2f"):format(("%d jobs, %s, budget 3: mean wait %.0f s, now %.0f s"):format(JOBS, queue, report.found[1].first[1],
    report.now.first[1]), bench.processor() - before))
end
