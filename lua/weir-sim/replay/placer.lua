--- placer.lua - units for the jobs of a plain replay, chosen by the engine. The simulator in C decides the times of starts and
--- reservations, as times depend on the number of free units alone; a placement policy with more than an order decides
--- the units. The engine is called once for each start and each reservation, in the same turn as by the general simulator,
--- so both get equal answers.

local broker = require "weir.sim.broker"
local failure = require "weir.failure"

local M = {}

-- Returns the units of a job in the form of the simulator: first unit, number of units, and so on. `numbers`: the number of
-- each unit by the index of its vertex.
local function runs_of(allocation, numbers)
  local list, runs, n = {}, {}, 0
  for _, pick in ipairs(allocation:vertices()) do
    list[#list + 1] = numbers[pick.vertex.index]
  end
  table.sort(list)
  for i = 1, #list do
    if i > 1 and list[i] == list[i - 1] + 1 then
      runs[n] = runs[n] + 1
    else
      runs[n + 1], runs[n + 2], n = list[i], 1, n + 2
    end
  end
  return runs
end

local function fail(why, job) failure.raise(("%s (job %s)"):format(why, job.number), "failed") end

--- Returns the functions called by the simulator, see struct placer in bindings/weir/replay/flat.h. engine; numbers: the number
--- of each unit by the index of its vertex; jobs: by the order of submission, each with id, request and estimate; forget:
--- whether jobs that have ended are removed from the list.
function M.new(engine, numbers, jobs, forget)
  local host = { engine = engine, reservations = {}, nreserved = 0, promises = 0, matches = 0, now = engine:now(),
    placement_failed = function(_, why, job) fail(why, job) end }

  local functions = {}

  function functions.book(made, at)
    local job = jobs[made]
    if not broker.book(host, job, at) then fail(job.why, job) end
    broker.forget(host, job)
    if at > host.now then broker.note(host, job, at) end
  end

  function functions.begin(made)
    local job = jobs[made]
    broker.forget(host, job)
    local ok, why = engine:placed(made, job.request, job)
    if not ok then fail(why, job) end
    return runs_of(engine:job(made), numbers)
  end

  function functions.finish(made)
    broker.release(host, jobs[made])
    if forget then jobs[made] = nil end
  end

  function functions.drop(made)
    local job = jobs[made]
    if job.reserved then broker.unreserve(host, job) else broker.release(host, job) end -- else it was preempted
  end

  function functions.extend(made, due) assert(engine:attach(assert(engine:detach(made)), due)) end

  function functions.advance(_, now)
    host.now = now
    engine:advance(now)
  end

  return functions
end

return M
