-- Runs with missing jobs are named and never called better: a queue policy that never starts some jobs, chosen at random, is tried with
-- the commands that report figures of replays.
local core = require "weir.core"
local lublin = require "weir.trace.lublin"
local outcome = require "weir.sim.outcome"
local shell = require "spec.support.shell"

local MACHINE = "cluster:1 core:32"
local SEED = tonumber(os.getenv "WEIR_SPEC_SEED" or "") or 1
local dir

setup(function() dir = shell.directory() end)
teardown(shell.clean)

-- A queue policy that never starts the jobs of one remainder of k when k is above 4.
local DROPPING = [[return { options = { k = { default = 1, min = 1, max = 9 } }, schedule = function(queue, options)
  for job in queue:pending() do
    if options.k <= 4 or (job.number * 7919 + %d) %% options.k > 0 then queue:start(job) end
  end
end }]]

-- A log in Standard Workload Format, with recorded waits of 60 s.
local function log_file(seed)
  local t, lines, n = lublin.new { jobs = 120, units = 32, seed = seed, load = 1.2 }, {}, 0
  for job in t.next do
    n = n + 1
    lines[n] = ("%d %d 60 %d %d -1 -1 %d %d -1 1 1 -1 -1 1 -1 -1 -1"):format(n, job.submit, job.runtime, job.procs, job.procs, job.estimate)
  end
  return shell.path(dir, ("log%d.swf"):format(seed), table.concat(lines, "\n") .. "\n")
end

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("%q in %q"):format(part, text)) end

for seed = SEED, SEED + 3 do
  describe(("a policy that drops jobs (WEIR_SPEC_SEED=%d)"):format(seed), function()
    local log, policy
    setup(function()
      log, policy = log_file(seed), shell.path(dir, ("drop%d.lua"):format(seed), DROPPING:format(seed * 31))
    end)

    for _, first in ipairs { true, false } do
      it("is named by --compare, and nothing is judged, as the " .. (first and "first" or "second") .. " run", function()
        local words = first and policy .. ":k=6 fcfs" or "fcfs " .. policy .. ":k=6"
        local r = shell.weir { "replay", "-r", MACHINE, "--compare", words, "--quiet", log }
        assert.equal(0, r.status, r.err)
        assert.matches("^Not comparable: %S+:k=6 %(%d+ of 120 jobs have not ended%)", r.out)
        assert.not_matches(" better", r.out)
        assert.not_matches(" worse", r.out)
        local list = core.json_decode(shell.weir { "replay", "-r", MACHINE, "--compare", words, "--quiet", "--json", log }.out)
        local own = list[first and 1 or 2]
        has(own.incomparable, "have not ended")
        assert.is_nil(own.metrics.wait)
        assert.is_nil(own.metrics.bounded_slowdown)
      end)
    end

    it("is named first in the report, which has no verdict on it", function()
      local out = shell.path(dir, ("report%d"):format(seed))
      local r = shell.weir { "replay", "-r", MACHINE, "--compare", "fcfs " .. policy .. ":k=6", "--report", out, "--quiet", log }
      assert.equal(0, r.status, r.err)
      local page = shell.slurp(shell.path(out, "index.html"))
      has(page, '"sentences":["Not comparable: ')
      has(page, '"differences":[null,null]')
    end)

    it("never wins in weir tune, and is named first", function()
      local r = shell.weir { "tune", "-r", MACHINE, "-q", policy, "--budget", "14", "--quiet", "--json", log }
      assert.equal(0, r.status, r.err)
      local report = core.json_decode(r.out)
      assert.is_true(report.failed > 0)
      has(report.failure, "have not ended")
      for _, one in ipairs(report.found) do assert.is_true(one.values[1] <= 4, one.queue) end
      has(shell.weir({ "tune", "-r", MACHINE, "-q", policy, "--budget", "14", log }).out:sub(1, 20), "Not comparable: ")
    end)

    it("is not said to be close to the recorded starts", function()
      local r = shell.weir { "replay", "-r", MACHINE, "-q", policy .. ":k=6", "--against-actual", "--quiet", log }
      assert.equal(0, r.status, r.err)
      assert.matches("^%d+ of 120 jobs have not ended", r.out)
      assert.not_matches("Half of the simulated starts", r.out)
      has(r.out, "Not comparable: ")
    end)

    it("has no wait in weir policy bench", function()
      local r = shell.weir { "policy", "bench", policy .. ":k=6", "--json" }
      assert.equal(1, r.status)
      has(r.err, "jobs have not ended: its wait is not comparable")
      assert.is_nil(core.json_decode(r.out)[1].queue.wait)
    end)
  end)
end

describe("outcomes", function()
  for _, row in ipairs {
    { "that are complete", { {}, {} }, { false, false } },
    { "with equal refusals", { { refused = "1-3" }, { refused = "1-3" } }, { false, false } },
    { "of which one refused more", { { refused = "1" }, { refused = "1,4", jobs = 9 } }, { false, "1 of 9 jobs has been refused" } },
    { "with unfinished and failed jobs", { { jobs = 9, unfinished = 2, failed = 1 }, {} },
      { "2 of 9 jobs have not ended, 1 of 9 jobs has failed", false } },
  } do
    it(row[1] .. " are judged", function() assert.same(row[3], outcome.judge(row[2])) end)
  end
end)
