-- Policies that lose jobs at random are named by every command that reports figures of replays, and never called better. Which jobs are
-- missing is known from the file of --jobs.
local core = require "weir.core"
local lossy = require "spec.support.lossy"
local lublin = require "weir.trace.lublin"
local shell = require "spec.support.shell"

local MACHINE, JOBS = "cluster:1 core:32", 120
local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local SEED = tonumber(os.getenv "WEIR_SPEC_SEED" or "")
local dir

setup(function() dir = shell.directory() end)
teardown(shell.clean)

-- A log in Standard Workload Format, with recorded waits of 60 s; no two jobs are submitted at the same time.
local function log_file(seed)
  local t, lines, n, last = lublin.new { jobs = JOBS, units = 32, seed = seed, load = 1.2 }, {}, 0, -1
  for job in t.next do
    n, last = n + 1, math.max(job.submit // 1, last + 1)
    lines[n] = ("%d %d 60 %d %d -1 -1 %d %d -1 1 1 -1 -1 1 -1 -1 -1"):format(n, last, job.runtime, job.procs, job.procs, job.estimate)
  end
  return shell.path(dir, ("log%d.swf"):format(seed), table.concat(lines, "\n") .. "\n")
end

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("%q in %q"):format(part, text)) end

-- The jobs that a text says are missing, the first clause of its kind: "3 of 120 jobs have not ended, 1 of 120 jobs has failed".
local function missing_in(text)
  local n = 0
  for part in text:gmatch(("(%%d+) of %d jobs? ha"):format(JOBS)) do n = n + tonumber(part) end
  return n
end

local function lines_of(path)
  local _, n = shell.slurp(path):gsub("\n", "")
  return n
end

-- Time figures that no delay improves, where jobs start in the order of submission.
local TIMES = { "makespan", "wait, mean", "wait, median", "wait, 95th percentile", "wait, longest", "flow time, mean",
  "bounded slowdown, mean", "queue length, mean" }

for seed = SEED or 1, SEED or math.max(1, math.floor(2 * SCALE)) do
  describe(("jobs are lost (WEIR_SPEC_SEED=%d) by"):format(seed), function()
    local log
    setup(function() log = log_file(seed) end)

    for _, policy in ipairs(lossy.policies(seed)) do
      local kind, option = policy.kind, policy.option
      local path, missing

      local function replay(...) return shell.weir { "replay", "-r", MACHINE, "--quiet", "--keep-going", ... } end

      -- Fails unless a policy that fails ends a command with its file and line.
      local function assert_failed(r)
        assert.same({ 1, "" }, { r.status, r.out })
        has(r.err, path .. ":")
      end

      describe(kind, function()
        setup(function()
          path = shell.path(dir, ("%s%d.lua"):format(kind, seed), policy.source)
          local csv = shell.path(dir, "jobs.csv")
          local r = replay(option, path, "--jobs", csv, log)
          missing = r.status == 0 and JOBS - (lines_of(csv) - 1)
        end)

        it("in a replay", function()
          for _, more in ipairs { {}, { "--until", "9000" } } do
            local csv = shell.path(dir, "until.csv")
            local lost = replay(option, path, "--jobs", csv, log, table.unpack(more))
            local r = replay(option, path, log, table.unpack(more))
            if lost.status ~= 0 then return assert_failed(r) end
            local came = core.json_decode(replay(option, path, "--json", log, table.unpack(more)).out).outcome.jobs
            local said, n = r.out:match "^[^\n]*", 0
            for part in said:gmatch("(%d+) of " .. came .. " jobs? ha") do n = n + tonumber(part) end
            assert.equal(came - (lines_of(csv) - 1), n, r.out)
          end
        end)

        for _, first in ipairs { true, false } do
          it("in a comparison, as the " .. (first and "first" or "second") .. " run", function()
            local own = option == "-q" and path or "fcfs@" .. path
            local words = first and own .. " fcfs" or "fcfs " .. own
            local out = shell.path(dir, "report")
            local r = replay("--compare", words, "--report", out, log)
            if r.status ~= 0 then return assert_failed(r) end
            local list = core.json_decode(replay("--compare", words, "--json", log).out)
            local lost = list[first and 1 or 2]
            local page = shell.slurp(shell.path(out, "index.html"))
            if kind == "late" and not first then
              for _, name in ipairs(TIMES) do
                local line = r.out:match("\n" .. name .. "[^\n]*")
                assert.not_matches(" better", line)
              end
            end
            if missing == 0 and not lost.incomparable then return end
            has(r.out:match "^[^\n]*", "Not comparable: " .. own .. " (")
            assert.not_matches(" better", r.out)
            assert.not_matches(" worse", r.out)
            assert.is_nil(lost.metrics.wait)
            has(page, '"sentences":["Not comparable: ')
            has(page, '"differences":[null,null]')
          end)
        end

        it("against recorded starts", function()
          local out = shell.path(dir, "against")
          local r = replay(option, path, "--against-actual", "--report", out, log)
          if r.status ~= 0 then return assert_failed(r) end
          local page = shell.slurp(shell.path(out, "against.html"))
          if missing == 0 then return assert.not_matches("Not comparable", r.out .. page) end
          assert.equal(missing, missing_in(r.out:match "Not comparable[^\n]*"))
          for _, text in ipairs { r.out, page } do assert.not_matches("Half of the simulated starts", text) end
          has(page, "Not comparable")
        end)

        it("in a search, where they are in force", function()
          local other = option == "-q" and { "-p", "weighted" } or { "-q", "hybrid" }
          local r = shell.weir { "tune", "-r", MACHINE, "--quiet", "--budget", "2", option, path, log, table.unpack(other) }
          if missing == 0 then return assert.equal(0, r.status, r.err) end
          assert.not_equal(0, r.status)
          assert.equal("", r.out)
          assert.is_true(missing_in(r.err) == missing or r.err:find(path .. ":", 1, true) ~= nil, r.err)
        end)
      end)
    end
  end)
end

it("jobs that depend on a refused job are cancelled, and counted", function()
  local function job(submit, id)
    return ('{"submit":%d,"runtime":10,"jobspec":{"version":1,"resources":[{"type":"slot","count":1,"label":"t","with":[{"type":"core",'
      .. '"count":1}]}],"tasks":[{"command":["x"],"slot":"t","count":{"per_slot":1}}],'
      .. '"attributes":{"system":{"duration":20%s}}}}\n'):format(submit,
      id and (',"dependencies":[{"scheme":"afterok","value":"%d"}]'):format(id) or "")
  end
  local log = shell.path(dir, "chain.jsonl", job(0) .. job(3, 1) .. job(4, 2) .. job(5))
  local path = shell.path(dir, "first.lua", "return { admit = function(_, _, job) return job.submit > 0 end }")
  local r = shell.weir { "replay", "-r", "core:4", "-p", path, log }
  assert.matches("^1 of 4 jobs has been refused, 2 of 4 jobs have been cancelled: ", r.out)
  has(r.err, "1 job can never run on this machine under these policies, and was refused")
  r = shell.weir { "replay", "-r", "core:4", "--compare", "easy easy@" .. path, log }
  has(r.out, "(1 of 4 jobs has been refused, 2 of 4 jobs have been cancelled)")
  assert.not_matches(" better", r.out)
end)
