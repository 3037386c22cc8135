-- The jobs of a Flux instance as a trace: what `flux jobs -a --json` prints, and eventlogs with jobspecs. The data are of
-- 51 jobs that a flux-core 0.88 ran or did not run; see spec/weir/machine/flux_spec.lua.
local replay = require "weir.replay"
local trace = require "weir.trace"
local weir = require "weir"

local DATA = "spec/data/flux_jobs/"

local path

after_each(function()
  if path then os.remove(path) end
  path = nil
end)

local function open(text)
  path = os.tmpname()
  local f <close> = assert(io.open(path, "w"))
  f:write(text)
  f:close()
  return assert(trace.open(path))
end

local function all_of(t)
  local jobs = {}
  for job in t.next do jobs[#jobs + 1] = job end
  return jobs
end

local JOB = '{"id":7,"t_submit":100.5,"t_run":103,"t_cleanup":110,"duration":60.0,"nnodes":2,"ncores":8,"queue":"batch","userid":5,'
  .. '"username":"ada","state":"INACTIVE","result":"COMPLETED"}'

describe("flux jobs --json", function()
  local FORMS = { { "a job a line", JOB .. "\n" .. JOB .. "\n" }, { "one document", '{"jobs":[' .. JOB .. "," .. JOB .. "]}" },
    { "a document of many lines", '{\n"jobs": [\n' .. JOB .. ",\n" .. JOB .. "\n]\n}\n" } }
  for _, form in ipairs(FORMS) do
    it("is read as " .. form[1], function()
      local jobs = all_of(open(form[2]))
      assert.equal(2, #jobs)
      local job = jobs[2]
      assert.same({ 7, 100.5, 103, 7, 60.0, 2, 8, "batch", "ada" },
        { job.number, job.submit, job.recorded, job.runtime, job.estimate, job.nodes, job.procs, job.queue, job.user })
    end)
  end

  it("counts what did not run", function()
    local t = open(JOB .. '\n{"id":8,"t_submit":1,"state":"SCHED"}\n{"id":9,"t_submit":2,"state":"INACTIVE","result":"CANCELED"}\n'
      .. '{"id":10,"t_submit":2,"t_run":3,"state":"RUN"}\n{"id":11,"t_submit":"x"}\n')
    assert.equal(1, #all_of(t))
    local said = {}
    for i, reason in ipairs(t.reasons) do said[i] = ("%d:%d %s"):format(reason.line, reason.count, reason.text) end
    assert.same({ "2:1 still waiting", "3:1 cancelled before they started", "4:1 still running: how long they run is not known" }, said)
    assert.same({ line = 5, text = "t_submit: expected a number", malformed = true }, t.problems[1])
  end)
end)

describe("eventlogs of Flux", function()
  local EVENTS = [[
{"timestamp":10,"name":"submit","context":{"userid":5,"urgency":16,"flags":0,"version":1}}
{"timestamp":11.5,"name":"alloc"}
{"timestamp":12,"name":"start"}
{"timestamp":20,"name":"finish","context":{"status":0}}
{"timestamp":20.5,"name":"free"}
{"timestamp":20.5,"name":"clean"}
]]
  local JOBSPEC = '{"version":1,"resources":[{"type":"slot","count":2,"label":"task","with":[{"type":"core","count":3}]}],'
    .. '"tasks":[{"command":["a"],"slot":"task","count":{"per_slot":1}}],"attributes":{"system":{"duration":60,"queue":"batch"}}}\n'

  it("take the request from the jobspec", function()
    local jobs = all_of(open(EVENTS .. JOBSPEC .. EVENTS .. JOBSPEC))
    assert.equal(2, #jobs)
    assert.same({ 10, 11.5, 9, 60, "batch" }, { jobs[1].submit, jobs[1].recorded, jobs[1].runtime, jobs[1].estimate, jobs[1].queue })
    assert.equal("slot=2{task}/core=3", weir.request(jobs[1].request, "job"):format "resources")
    assert.equal(jobs[1].request, jobs[2].request)
  end)

  it("take nodes and cores from an R without a jobspec", function()
    local jobs = all_of(open(EVENTS .. '{"version":1,"execution":{"R_lite":[{"rank":"2-3","children":{"core":"4-7"}}]}}\n'))
    assert.same({ 2, 8 }, { jobs[1].nodes, jobs[1].procs })
  end)

  it("tell the line of what belongs to no job", function()
    local t = open(EVENTS .. JOBSPEC .. '{"foo":1}\n')
    assert.equal(1, #all_of(t))
    assert.equal(8, t.problems[1].line)
    assert.matches("neither a job of flux jobs %-%-json, nor an event, a jobspec or an R", t.problems[1].text)
  end)
end)

describe("a replay of the jobs of a real instance", function()
  for _, case in ipairs { { "jobs.json", "flux jobs" }, { "events.txt", "the eventlogs" } } do
    it("has every job of " .. case[2] .. " that ran", function()
      local result = assert(replay.run { resources = assert(weir.load(DATA .. "config.json")), trace = DATA .. case[1], queue = "easy",
        against = true })
      assert.equal(48, result.metrics.jobs)
      assert.equal(0, result.metrics.rejected)
      assert.equal(3, result.trace.left_out)
      assert.equal(48, result.against.jobs)
      assert.is_true(result.against.typical < 1)
    end)
  end
end)
