-- A replay from a time on: each later start is as in the whole replay, where the recorded starts are that replay's.
local dice = require "spec.support.dice"
local replay = require "weir.replay"

local path

after_each(function()
  if path then os.remove(path) end
  path = nil
end)

-- Writes jobs as a CSV with recorded starts. Returns the path.
local function write(jobs)
  path = os.tmpname()
  local f <close> = assert(io.open(path, "w"))
  f:write "job_id,submit,runtime,estimate,procs,recorded_start\n"
  for _, job in ipairs(jobs) do
    f:write(("%d,%d,%d,%d,%d,%s\n"):format(job.id, job.submit, job.runtime, job.estimate, job.procs, job.start or ""))
  end
  return path
end

local function run(opts)
  local starts = {}
  opts.format, opts.jobs_kept = "csv", true
  local result = assert(replay.run(opts))
  for _, job in ipairs(result.kept) do starts[job.id] = job.start end
  return starts, result
end

-- Jobs with a fixed seed: many are longer than estimated, so that both ways of treating these are met.
local function made_up(seed, n)
  local throw = dice(seed)
  local function roll(least, most) return least + throw(most - least + 1) - 1 end
  local jobs, t = {}, 0
  for i = 1, n do
    t = t + roll(0, 40)
    local runtime = roll(1, 200)
    jobs[i] = { id = i, submit = t, runtime = runtime, estimate = math.max(1, runtime + roll(-30, 100)), procs = roll(1, 8) }
  end
  return jobs
end

local MACHINE = "cluster:1 core:12"

describe("--from", function()
  for _, queue in ipairs { "fcfs", "easy", "sjbf" } do
    for _, overrun in ipairs { "kill", "run" } do
      it(("has each later start as in the whole replay: %s, %s"):format(queue, overrun), function()
        for seed = 1, 3 do
          local jobs = made_up(seed, 120)
          local whole = run { resources = MACHINE, trace = write(jobs), queue = queue, overrun = overrun }
          for _, job in ipairs(jobs) do job.start = whole[job.id] end
          for _, from in ipairs { jobs[40].submit, jobs[60].submit + 7, jobs[90].start } do
            local later, result = run { resources = MACHINE, trace = write(jobs), queue = queue, overrun = overrun, from = from }
            local n = 0
            for id, start in pairs(later) do
              assert.equal(whole[id], start, ("seed %d, from %d, job %d"):format(seed, from, id))
              n = n + 1
            end
            assert.equal(#jobs, n + result.began.ended)
            assert.equal(0, result.began.crowded)
          end
        end
      end)
    end
  end

  it("counts jobs without a recorded start, and jobs for which the machine has no room", function()
    local trace = write { { id = 1, submit = 0, runtime = 100, estimate = 100, procs = 12, start = 0 },
      { id = 2, submit = 0, runtime = 100, estimate = 100, procs = 1, start = 0 },
      { id = 3, submit = 1, runtime = 1, estimate = 1, procs = 1 },
      { id = 4, submit = 60, runtime = 10, estimate = 10, procs = 1 } }
    local starts, result = run { resources = MACHINE, trace = trace, from = 50 }
    assert.same({ [1] = 0, [4] = 100 }, starts)
    assert.same({ 1, 0, 0, 1, 1 },
      { result.began.running, result.began.waiting, result.began.ended, result.began.unknown, result.began.crowded })
  end)
end)
