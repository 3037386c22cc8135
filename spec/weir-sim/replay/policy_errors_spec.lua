-- Errors of policies end what is simulated with them: the message has the file, the line, the job and how far it came.
local core = require "weir.core"
local forecast = require "weir.forecast"
local lublin = require "weir.trace.lublin"
local replay = require "weir.replay"
local shadow = require "weir.shadow"
local shell = require "spec.support.shell"
local weir = require "weir"

local MACHINE = "cluster:1 node:16 core:8"
local dir

setup(function() dir = shell.directory() end)
teardown(shell.clean)

local function file(name, text) return shell.path(dir, name, text) end

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("%q in %q"):format(part, text)) end

-- {what, option, policy, line, first job that it fails for, started before}
local FAULTS = {
  { "evaluate", "-p", "return {\nevaluate = function(v, request) if request.duration > 1000 then error 'no' end return 1 end }",
    2, "job 6", "5 jobs" },
  { "placed", "-p", "return { state = { n = 0 },\n\nplaced = function(job, s) s.n = s.n + 1 if s.n > 7 then error 'no' end end }", 3,
    "job 8", "7 jobs" },
  { "admit", "-p", "return {\nadmit = function(request) error 'no' end }", 2, "job 1", "0 jobs" },
  { "prune", "-p", "return {\nprune = function(v, request) error 'no' end }", 2, "job 1", "0 jobs" },
  { "schedule", "-q", "return { schedule = function(queue)\nfor job in queue:pending() do\nif job.estimate > 1000 then error 'no' end "
    .. "queue:start(job) end end }", 3, "at time", "5 jobs" },
  { "finished", "-q", "return { schedule = function(queue)\nfor job in queue:pending() do queue:start(job) end end,\n"
    .. "finished = function(job) if job.estimate > 1000 then error 'no' end end }", 3, "job 6", "" },
}

describe("an error of a policy", function()
  it("suggests the queue policy with a similar name", function()
    local r = shell.weir { "replay", "-r", "core:2", "-q", "esay", "--generate", "3" }
    assert.same({ 2, "" }, { r.status, r.out })
    has(r.err, 'did you mean "easy"')
  end)

  local function generated(...)
    return shell.weir { "replay", "-r", MACHINE, "--map", "node", "--generate", "60", "--seed", "1", ... }
  end

  for i, fault in ipairs(FAULTS) do
    local what, option, source, line, job, started = table.unpack(fault)
    it("in " .. what .. " ends a replay", function()
      local path = file(("fault%d.lua"):format(i), source)
      local r = generated(option, path)
      assert.same({ 1, "" }, { r.status, r.out })
      for _, part in ipairs { ("%s:%d: no"):format(path, line), job, "after the start of " .. started } do has(r.err, part) end
    end)

    it("in " .. what .. " ends a comparison, which names the run", function()
      local path = file(("fault%d.lua"):format(i), source)
      local r = option == "-q" and generated("--compare", "fcfs", "--compare", path) or generated("-p", "low " .. path, "--compare", "fcfs")
      assert.same({ 1, "" }, { r.status, r.out })
      has(r.err, option == "-q" and path .. ": " or "fcfs@" .. path .. ": ")
      has(r.err, ("%s:%d: no"):format(path, line))
    end)

    it("in " .. what .. " ends a search of weir tune, which names the settings", function()
      local path = file(("fault%d.lua"):format(i), source)
      local t, lines = lublin.new { jobs = 60, units = 16, seed = 1 }, { "submit,runtime,procs,estimate" }
      for one in t.next do lines[#lines + 1] = ("%d,%d,%d,%d"):format(one.submit, one.runtime, one.procs, one.estimate) end
      local log = file("log.csv", table.concat(lines, "\n") .. "\n")
      local r = shell.weir { "tune", "-r", MACHINE, "--map", "node", "--budget", "2", option, path,
        option == "-p" and "-q" or "-p", option == "-p" and "hybrid" or "weighted", log }
      assert.same({ 1, "" }, { r.status, r.out })
      has(r.err, ("%s:%d: no"):format(path, line))
    end)
  end

  it("is a state that outgrows its 16 KB, and the limit is named", function()
    local path = file("state.lua", "return { state = { owner = {} }, placed = function(job, state)\n"
      .. "state.owner[tostring(job.id)] = ('x'):rep(1000) end }")
    local r = generated("-p", path)
    assert.equal(1, r.status)
    has(r.err, "at most 16384")
    has(r.err, "after the start of 16 jobs")
  end)

  it("of placement is counted with --keep-going, and the first one is printed", function()
    local path = file("fault1.lua", FAULTS[1][3])
    local r = generated("-p", path, "--keep-going", "--json")
    assert.equal(0, r.status)
    local unfinished = core.json_decode(r.out).metrics.unfinished
    assert.is_true(unfinished > 1)
    has(r.err, ("the placement policy failed for %d jobs; first job 6: policy fault1: evaluate: %s:2: no"):format(unfinished, path))
  end)

  it("has a code of its own, unlike a policy that does not load", function()
    local function code(source)
      local log = { format = "csv", next = lublin.new({ jobs = 60, units = 16, seed = 1 }).next }
      return select(3, replay.run { resources = MACHINE, map = "node", trace = log, policy = file("code.lua", source) })
    end
    assert.same({ "failed", "policy" }, { code(FAULTS[1][3]), code "return {" })
  end)

  local ENDS = {
    { "forecast", function(policy)
      return forecast.run { graph = weir.synthetic "node:2", now = 0, queue = "easy", policy = policy, running = {},
        waiting = { { id = 1, request = weir.request "slot=1/node", estimate = 2000 } } }
    end },
    { "shadow", function(policy)
      local own = assert(shadow.new { graph = weir.synthetic "node:2", now = 0, queue = "easy", policy = policy })
      own:submit { id = 1, at = 0, request = "slot=1/node", estimate = 2000 }
      own:advance(20)
      return nil, own:status().failure
    end },
  }
  for _, row in ipairs(ENDS) do
    it("ends a " .. row[1], function()
      local path = file("fault1.lua", FAULTS[1][3])
      local result, why = row[2](path)
      assert.is_nil(result)
      has(why, path .. ":2: no (job 1, at time 0, after the start of 0 jobs)")
    end)
  end
end)
