-- --scale: more or fewer jobs, made up after a trace, and more or fewer nodes.
local machine = require "weir.machine.scale"
local replay = require "weir.replay"
local resemblance = require "spec.support.resemblance"
local scale = require "weir.replay.scale"
local trace_scale = require "weir.trace.scale"
local weir = require "weir"

local added = resemblance.added

describe("made-up jobs", function()
  it("resemble those of KTH", function()
    local path = resemblance.path "KTH"
    if not path then return pending "no log of KTH" end
    local far = resemblance.of(path, 0.05, 0.05)
    assert.same({}, far)
  end)

  local function week(n)
    local list = {}
    for i = 1, n do
      list[i] = { number = i, submit = i * 5000, runtime = i % 7 * 100, estimate = 1000, procs = i % 5 + 1, user = "u" .. i % 9 }
    end
    return list
  end

  it("are the same for a seed, and others for another", function()
    local function text(seed)
      local words = {}
      for i, job in ipairs(trace_scale.jobs(week(1000), 1300, seed)) do words[i] = job.submit .. ":" .. job.procs end
      return table.concat(words, " ")
    end
    assert.equal(text(1), text(1))
    assert.not_equal(text(1), text(2))
  end)

  it("keep weekday and hour, stay within the trace, and come in order", function()
    local jobs = week(1000)
    local all = trace_scale.jobs(jobs, 2500, 3)
    assert.equal(2500, #all)
    for i = 2, #all do assert.is_true(all[i - 1].submit <= all[i].submit) end
    assert.is_true(all[#all].submit <= jobs[#jobs].submit + 86400)
    for _, job in ipairs(added(all, jobs)) do assert.is_nil(job.recorded) end
  end)

  it("are left out as sessions for fewer", function()
    local jobs = week(1000)
    local few = trace_scale.jobs(jobs, 700, 3)
    assert.equal(700, #few)
    assert.equal(0, #added(few, jobs))
  end)
end)

describe("more nodes", function()
  it("are as those that are there, in their proportions, also in other hierarchies", function()
    local g <close> = assert(weir.load "spec/data/slurm/slurm.conf")
    local before = g:aggregate(nil, { all = true })
    assert(machine.change(g, "node", 60))
    assert.equal(120, #g:find "type=node")
    local after = g:aggregate(nil, { all = true })
    for _, type in ipairs { "core", "gpu", "memory", "socket" } do assert.equal(2 * before[type].total, after[type].total, type) end
    local new = g:vertex "/lab/thin80"
    assert.truthy(new.properties.batch)
    assert.equal("s2", new:edges "network"[1].source.name)
    assert.is_true((g:check()))
  end)

  it("are fewer where a number is taken away", function()
    local g <close> = weir.synthetic "cluster:1 rack:4 node:5 core:2"
    assert(machine.change(g, "node", -8))
    assert.equal(12, #g:find "type=node")
    for rack in g:walk { type = "rack" } do assert.equal(3, rack:nchildren()) end
    local ok, why = machine.change(g, "node", -12)
    assert.is_nil(ok)
    assert.equal("the machine has 12 of node, and one of them must stay", why)
  end)
end)

describe("--scale", function()
  local WRONG = { "jobs", "jobs=", "jobs=x", "jobs=0", "nodes=+1.5", "jobs=1.2;nodes=3", "" }
  for _, text in ipairs(WRONG) do
    it(("refuses %q"):format(text), function()
      local read_text, why = scale.parse(text)
      assert.is_nil(read_text)
      assert.matches("expected jobs=1.2, nodes=%+100 or cores=%-16", why)
    end)
  end

  it("tells a type that the machine lacks", function()
    local result, why = replay.run { resources = "node:2 core:2", trace = "spec/data/slurm/sacct.txt", scale = "ndoes=+1" }
    assert.is_nil(result)
    assert.equal('the machine has no ndoes (did you mean "node"?)', why)
  end)

  it("changes jobs and machine of a replay", function()
    local result = assert(replay.run { resources = assert(weir.load "spec/data/slurm/slurm.conf"), trace = "spec/data/slurm/sacct.txt",
      scale = "jobs=1.5,nodes=+10", queue = "easy" })
    assert.equal(768, result.metrics.jobs)
    assert.equal(256, result.trace.added)
    assert.equal(70, #result.sim.graph:find "type=node")
  end)
end)
