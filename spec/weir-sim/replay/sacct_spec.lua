-- The accounting of Slurm as a trace: sacct -P with the fields that are there. spec/data/slurm/sacct.txt is what a
-- slurmdbd 22.05.8 told of 516 jobs that ran on the cluster of spec/data/slurm/slurm.conf.
local needs = require "weir.trace.needs"
local replay = require "weir.replay"
local shell = require "spec.support.shell"
local times = require "weir.trace.times"
local trace = require "weir.trace"
local weir = require "weir"

local DATA = "spec/data/slurm/"
local HEAD = "JobID|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|NCPUS|ReqTRES|AllocTRES|Partition|QOS|Account|User|State|Reason\n"

local files = {}

local function file_of(text)
  local path = os.tmpname()
  local f <close> = assert(io.open(path, "w"))
  f:write(text)
  files[#files + 1] = path
  return path
end

after_each(function()
  for _, path in ipairs(files) do os.remove(path) end
  files = {}
end)

-- Returns all jobs of a text, and the trace.
local function read(text)
  local t = assert(trace.open(file_of(text)))
  local jobs = {}
  while true do
    local job, why = t.next()
    if why then return nil, why end
    if not job then return jobs, t end
    jobs[#jobs + 1] = job
  end
end

-- A line of the accounting: changes are fields by name.
local function line(changes)
  local values = { JobID = "7", Submit = "2024-03-01T12:00:00", Eligible = "2024-03-01T12:00:00", Start = "2024-03-01T12:10:00",
    End = "2024-03-01T13:10:00", Elapsed = "01:00:00", Timelimit = "02:00:00", NNodes = "2", NCPUS = "32", ReqTRES = "cpu=32,mem=1G,node=2",
    AllocTRES = "cpu=32,mem=1G,node=2", Partition = "batch", QOS = "normal", Account = "phys", User = "ada", State = "COMPLETED",
    Reason = "None" }
  for name, value in pairs(changes) do values[name] = value end
  local cells = {}
  for name in HEAD:gmatch "[^|\n]+" do cells[#cells + 1] = values[name] end
  return table.concat(cells, "|") .. "\n"
end

local TIMES = {
  { "1970-01-01T00:00:00", 0 }, { "2024-03-01T12:00:00", 1709294400 }, { "2024-02-29T00:00:00Z", 1709164800 },
  { "2024-03-01T12:00:00+0100", 1709290800 }, { "2024-03-01T12:00:00-05:30", 1709314200 }, { "1709294400", 1709294400 },
  { "2000-03-01 00:00:00", 951868800 },
}
local NO_TIMES = { "yesterday", "2024-13-01T00:00:00", "2024-03-32T00:00:00", "2024-03-01T25:00:00", "2024-03-01T12:00:00 CET",
  "2024-03-01" }

-- A change of the line, and what the job has then.
local JOBS = {
  { "nodes, processors and memory", {}, { nodes = 2, procs = 32, megabytes = 1024, runtime = 3600, estimate = 7200 } },
  { "the queue, the user and the account", {}, { queue = "batch", user = "ada", bank = "phys", qos = "normal" } },
  { "its recorded start", {}, { submit = 1709294400, recorded = 1709295000 } },
  { "its arrival when it became eligible", { Eligible = "2024-03-01T12:05:00" }, { submit = 1709294700 } },
  { "its arrival when submitted, without Eligible", { Eligible = "Unknown" }, { submit = 1709294400 } },
  { "a limit in days", { Timelimit = "1-12:00:00" }, { estimate = 129600 } },
  { "a limit of minutes and seconds", { Timelimit = "30:00" }, { estimate = 1800 } },
  { "gpus", { AllocTRES = "cpu=8,gres/gpu=4,gres/gpu:a100=4,node=1" }, { gres = { gpu = 4, ["gpu:a100"] = 4 }, nodes = 1, procs = 8 } },
  { "what was asked for, where nothing is told of what it got", { AllocTRES = "", NNodes = "", NCPUS = "" }, { procs = 32, nodes = 2 } },
  { "an open number of nodes", { ReqTRES = "cpu=32,node=1" }, { spread = true, nodes = 2 } },
  { "an array", { JobID = "16_2" }, { number = "16_2" } },
  { "Elapsed, where the clock was set back for the winter", { End = "2024-03-01T12:10:00" }, { runtime = 3600 } },
  { "the state of a job that was cancelled while it ran", { State = "CANCELLED by 1000" }, { state = "CANCELLED", runtime = 3600 } },
  { "the state of a job whose node failed", { State = "NODE_FAIL" }, { state = "NODE_FAIL" } },
}

-- A change of the line, and why the job is left out.
local LEFT = {
  { { State = "PENDING", Start = "Unknown", End = "Unknown" }, "still waiting" },
  { { State = "PENDING", JobID = "16_[3-9]", Start = "Unknown", End = "Unknown" }, "still waiting" },
  { { State = "RUNNING", End = "Unknown" }, "still running: how long they run is not known" },
  { { State = "CANCELLED by 0", Start = "None", End = "2024-03-01T12:01:00" }, "cancelled before they started" },
  { { State = "DEADLINE", Start = "Unknown" }, "past their deadline before they started" },
}

-- A line, and what is wrong with it.
local WRONG = {
  { "a state that is none", line { State = "COMPLETD" }, 'State: "COMPLETD" is no state of a job %(did you mean "COMPLETED"%?%)' },
  { "a time that is none", line { Start = "noon" }, 'Start: "noon" is no time' },
  { "an end before the start", line { End = "2024-03-01T11:00:00", Elapsed = "" }, "it ends 4200 s before it starts: a clock went back" },
  { "a line that is cut off", "7|2024-03-01T12:00:00|2024\n", "expected 17 fields, found 3: the line is cut off" },
  { "a bar in a name", line { User = "a|b" }, 'expected 17 fields, found 18: a name with "|" in it%?' },
}

describe("times", function()
  it("are seconds since 1970", function()
    for _, case in ipairs(TIMES) do assert.equal(case[2], times.parse(case[1]), case[1]) end
  end)

  it("are refused where they are none", function()
    for _, text in ipairs(NO_TIMES) do
      local t, why = times.parse(text)
      assert.is_nil(t)
      assert.truthy(why, text)
    end
  end)
end)

describe("sacct", function()
  for _, case in ipairs(JOBS) do
    it("tells of a job " .. case[1], function()
      local jobs = assert(read(HEAD .. line(case[2])))
      for field, value in pairs(case[3]) do assert.same(value, jobs[1][field], field) end
    end)
  end

  it("counts what is left out, by reason and with the first line", function()
    for _, case in ipairs(LEFT) do
      local jobs, t = read(HEAD .. line {} .. line(case[1]) .. line(case[1]))
      assert.equal(1, #jobs)
      assert.equal(2, t.left_out)
      assert.same({ { text = case[2], count = 2, line = 3 } }, { t.reasons[1] })
    end
  end)

  for _, case in ipairs(WRONG) do
    it("tells the line of " .. case[1], function()
      local _, t = read(HEAD .. line {} .. case[2])
      assert.equal(1, t.malformed)
      assert.equal(3, t.problems[1].line)
      assert.matches(case[3], t.problems[1].text)
    end)
  end

  -- {the fields of which some are free texts, a line with "|" in these, why it cannot be read or nil}
  local CORE = { JobID = "7", Submit = "2024-03-01T12:00:00", Start = "2024-03-01T12:10:00", End = "2024-03-01T13:10:00", NCPUS = "32",
    User = "ada", State = "COMPLETED" }
  for _, case in ipairs {
    { "JobID JobName Submit Start End NCPUS User State", { JobName = "a|b" } },
    { "JobName JobID Submit Start End NCPUS User State", { JobName = "1.2|x.y|" } },
    { "JobID Submit Start End NCPUS User State SubmitLine", { SubmitLine = "sbatch --wrap 'a | b | c'" } },
    { "JobID Submit Start End NCPUS User State SubmitLine", { SubmitLine = "sbatch --wrap 'a |" } },
    { "JobID Comment JobName SubmitLine Submit Start End NCPUS User State", { Comment = "|", JobName = "x|y", SubmitLine = "a|b||c" } },
    { "JobID JobName WCKey Comment Submit Start End NCPUS User State", { JobName = "", WCKey = "k", Comment = "a|b" } },
    { "JobID JobName User Submit Start End NCPUS State Comment", { JobName = "a", Comment = "b|c" },
      "expected 9 fields, found 10: which of JobName and Comment contains the \"|\" is not known, and User is between them" },
    { "JobID Submit Start End NCPUS User State WCKey", { WCKey = "a|b" }, "expected 8 fields, found 9: a name with \"|\" in it?" },
  } do
    for _, ending in ipairs { "", "|" } do
      it(("counts fields from both ends, with %q behind: %s"):format(ending, case[1]), function()
        local names = {}
        for name in case[1]:gmatch "%S+" do names[#names + 1] = name end
        local function row(changes)
          local cells = {}
          for i, name in ipairs(names) do cells[i] = changes[name] or case[2][name] or CORE[name] end
          return table.concat(cells, "|") .. ending .. "\n"
        end
        local jobs, t = read(table.concat(names, "|") .. ending .. "\n" .. row {} .. row { JobID = "7.batch", User = "" })
        if case[3] then
          assert.is_nil(jobs)
          assert.matches(case[3], t, 1, true)
        else
          assert.same({ 1, 1, 0 }, { #jobs, t.steps, t.malformed })
          assert.same({ "7", "ada", 32, 3600, 600 }, { jobs[1].number, jobs[1].user, jobs[1].procs, jobs[1].runtime,
            jobs[1].recorded - jobs[1].submit })
        end
      end)
    end
  end

  it("passes over steps", function()
    local jobs, t = read(HEAD .. line {} .. line { JobID = "7.batch" } .. line { JobID = "7.0" })
    assert.equal(1, #jobs)
    assert.equal(2, t.steps)
  end)

  it("lets a job arrive at its start where a clock has it submitted later", function()
    local jobs, t = read(HEAD .. line { Submit = "2024-03-01T12:20:00" })
    assert.equal(jobs[1].recorded, jobs[1].submit)
    assert.matches("started before they were submitted", t.remarks[1].text)
  end)

  it("takes features that are names joined by &, and says where they are more", function()
    local head = HEAD:gsub("Reason", "Constraints")
    local jobs, t = read(head .. line { Reason = "haswell&ib" } .. line { Reason = "haswell*2" })
    assert.equal("haswell&ib", jobs[1].features)
    assert.is_nil(jobs[2].features)
    assert.equal(1, t.remarks[1].count)
    assert.matches("features in a way that is not read", t.remarks[1].text)
  end)

  it("says which fields are missing", function()
    local t, why = trace.open(file_of "JobID|State|Elapsed\n1|COMPLETED|00:00:01\n")
    if t then why = select(2, t.next()) end
    assert.matches(":1: there is no field Submit; sacct %-a %-P %-o JobID,Submit", why)
  end)

  it("reads other fields for the same: raw numbers, what was asked for, memory of a node or a processor", function()
    local jobs = assert(read [[
JobIDRaw|JobID|Submit|Start|ElapsedRaw|TimelimitRaw|ReqNodes|ReqCPUS|ReqMem|State|
1|1|1709294400|1709294500|60|10|2|8|500Mc|COMPLETED|
2|2|1709294400|1709294500|60|10|2|8|4Gn|TIMEOUT|
]])
    assert.equal(4000, jobs[1].megabytes)
    assert.equal(8192, jobs[2].megabytes)
    assert.equal(600, jobs[1].estimate)
    assert.equal(60, jobs[1].runtime)
  end)
end)

-- Jobs, the machine of one node kind that they are for, and the request.
local CONF = [[
SelectType=select/cons_tres
SelectTypeParameters=%s
NodeName=n[1-4] Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=64000 Gres=gpu:4
PartitionName=batch Nodes=n[1-4] Default=YES
PartitionName=whole Nodes=n[1-2] OverSubscribe=EXCLUSIVE
]]

local REQUESTS = {
  { "two threads are a core", "CR_Core", { procs = 32, nodes = 2 }, "node=2/slot=1/core=8" },
  { "memory counts where the machine says so", "CR_Core_Memory", { procs = 4, nodes = 1, megabytes = 1000 },
    "node=1/slot=1/[core=2;memory=1000]" },
  { "memory counts not elsewhere", "CR_Core", { procs = 4, nodes = 1, megabytes = 1000 }, "node=1/slot=1/core=2" },
  { "gpus are dealt to the nodes", "CR_Core", { procs = 8, nodes = 2, gres = { gpu = 4 } }, "node=2/slot=1/[core=2;gpu=2]" },
  { "an open number of nodes", "CR_Core", { procs = 32, nodes = 2, spread = true }, "slot=16/core=1" },
  { "a partition of whole nodes", "CR_Core", { procs = 2, nodes = 2, queue = "whole" }, "slot=2/node=1" },
}

describe("the request of a job", function()
  for _, case in ipairs(REQUESTS) do
    it("is as the machine counts: " .. case[1], function()
      local g <close> = assert(weir.parse(CONF:format(case[2]), { format = "slurm", source = "slurm.conf" }))
      case[3].queue = case[3].queue or "batch"
      local request = assert(needs.new(g)(case[3]))
      assert.equal(assert(weir.request(case[4])):format "resources", (request:format "resources":gsub("{task}", "")))
    end)
  end

  it("is refused for a queue that the machine lacks", function()
    local g <close> = assert(weir.parse(CONF:format "CR_Core", { format = "slurm", source = "slurm.conf" }))
    local request, why = needs.new(g) { procs = 1, nodes = 1, queue = "bacth" }
    assert.is_nil(request)
    assert.equal('the machine has no queue "bacth" (did you mean "batch"?); it has batch, whole', why)
  end)
end)

describe("a replay of the accounting of a real cluster", function()
  local function run(opts)
    opts.resources, opts.trace = assert(weir.load(DATA .. "slurm.conf")), DATA .. "sacct.txt"
    opts.queue, opts.jobs_kept, opts.against = opts.queue or "easy", true, true
    return assert(replay.run(opts))
  end

  it("takes every job that ran, and no job leaves its partition", function()
    local result = run {}
    assert.equal(512, result.metrics.jobs)
    assert.equal(0, result.metrics.rejected)
    assert.equal(0, result.trace.malformed)
    local reasons = {}
    for _, reason in ipairs(result.trace.reasons) do reasons[reason.text] = reason.count end
    assert.same({ ["cancelled before they started"] = 2, ["still running: how long they run is not known"] = 1 }, reasons)
    assert.equal(512, result.against.jobs)
  end)

  it("has each job on nodes of its partition", function()
    local graph = assert(weir.load(DATA .. "slurm.conf"))
    local of_job, queues = {}, graph:root().data.queues
    local t = assert(trace.open(DATA .. "sacct.txt"))
    for job in t.next do of_job[job.number] = job.queue end
    local by_rank = {}
    for v in graph:walk { type = "node" } do by_rank[v.rank] = v end
    for _, job in ipairs(run {}.kept) do
      local ranks = weir.idset(job.resources:match "rank%[?([%d,-]+)%]?")
      local property = queues[of_job[job.id]].requires[1]
      for rank in ranks:ids() do assert.truthy(by_rank[rank].properties[property], job.id) end
    end
  end)

  it("tells the line and the size of a job that is larger than the machine", function()
    local log = file_of(HEAD .. line { Partition = "gpu", AllocTRES = "cpu=900,node=9" })
    local said = shell.weir { "replay", "-r", DATA .. "slurm.conf", log }
    assert.matches(":2: job 7, 900 processors on 9 nodes of gpu: .*; refused", said.err)
  end)

  for _, case in ipairs {
    { "MaxTime=30", { Timelimit = "31:00" }, "it requests more than MaxTime 1800 s" }, { "MaxTime=31", { Timelimit = "31:00" } },
    { "MaxNodes=1", {}, "more nodes than MaxNodes 1" }, { "MinNodes=3", {}, "fewer nodes than MinNodes 3" },
    { "MinNodes=2 MaxNodes=2", {} }, { "AllowAccounts=phys,chem", { Account = "bio" }, "AllowAccounts lacks bio" },
    { "AllowAccounts=phys,chem", { Account = "chem" } }, { "DenyAccounts=bio", { Account = "bio" }, "DenyAccounts has bio" },
    { "AllowAccounts=bio DenyAccounts=bio", { Account = "bio" } }, { "AllowQos=high", { QOS = "low" }, "AllowQos lacks low" },
    { "AllowQos=ALL", { QOS = "low" } },
  } do
    it("holds the limits of partitions: " .. case[1] .. (case[3] and ", left out" or ", taken"), function()
      local conf = file_of("NodeName=n[1-4] CPUs=8\nPartitionName=p Nodes=n[1-4] " .. case[1] .. "\n")
      local own = { Partition = "p", NNodes = "2", NCPUS = "16", ReqTRES = "", AllocTRES = "", Timelimit = "10:00" }
      for key, value in pairs(case[2]) do own[key] = value end
      local result = assert(replay.run { resources = conf, trace = file_of(HEAD .. line(own)) })
      local reason = result.trace.reasons[1]
      assert.equal(case[3] and "partition p does not take it: " .. case[3], reason and reason.text)
      assert.equal(case[3] and 0 or 1, result.metrics.jobs)
    end)
  end

  it("tells a partition that the machine lacks", function()
    local log = file_of(HEAD .. line { Partition = "thin" } .. line { Partition = "fat" })
    local said = shell.weir { "replay", "-r", DATA .. "slurm.conf", log }
    assert.matches(':2: 1 job left out, the first one here: the machine has no queue "thin"', said.err)
  end)

  it("starts a job of a higher tier first", function()
    local conf = file_of [[
NodeName=n1 CPUs=1
PartitionName=low Nodes=n1 PriorityTier=1
PartitionName=high Nodes=n1 PriorityTier=2
]]
    local function job(id, minute, queue)
      return line { JobID = id, Submit = "2024-03-01T12:0" .. minute .. ":00", Eligible = "Unknown", Start = "2024-03-01T14:00:00",
        End = "2024-03-01T15:00:00", NNodes = "1", NCPUS = "1", ReqTRES = "", AllocTRES = "", Partition = queue }
    end
    local log = file_of(HEAD .. job("1", 0, "low") .. job("2", 1, "low") .. job("3", 2, "high"))
    local result = assert(replay.run { resources = conf, trace = log, queue = "fcfs", jobs_kept = true })
    local order = {}
    for i, one in ipairs(result.kept) do order[i] = one.id end
    assert.equal("1 3 2", table.concat(order, " "))
  end)

  it("has a page of the starts against the recorded ones", function()
    local dir = shell.path(shell.directory(), "out")
    local said = shell.weir { "replay", "-r", DATA .. "slurm.conf", DATA .. "sacct.txt", "--quiet", "--against-actual", "--report", dir }
    assert.equal(0, said.status)
    local page = shell.slurp(shell.path(dir, "against.html"))
    for _, part in ipairs { "Half of the simulated starts are within", "Waits: recorded in violet", "by partition", "by size" } do
      assert.truthy(page:find(part, 1, true), part)
    end
    shell.clean()
  end)

  it("is told in words by weir replay --against-actual", function()
    local said = shell.weir { "replay", "-r", DATA .. "slurm.conf", DATA .. "sacct.txt", "--against-actual" }
    assert.matches("Half of the simulated starts are within %d+ s of the recorded ones", said.out)
    assert.matches("sacct.txt:%d+: 2 jobs left out, the first one here: cancelled before they started", said.err)
  end)
end)

describe("a comparison with recorded starts", function()
  local against = require "weir.replay.against"

  it("tells the typical difference, the shares, and rows by queue and size", function()
    local a = against.new()
    for i, case in ipairs { { 0, 0 }, { 10, 0 }, { 100, 200 }, { 1000, 5000 } } do
      a:add { submit = 50, start = 50 + case[2], recorded = 50 + case[1], nodes = i, queue = i < 3 and "a" or "b" }
    end
    a:add { submit = 0, start = 0 }
    local r = a:result()
    assert.same({ 4, 1, 10, 4000, 277.5, 1300, 0.25, 0.5 },
      { r.jobs, r.without, r.typical, r.p90, r.recorded, r.simulated, r.earlier, r.later })
    assert.same({ minute = 0.5, ten_minutes = 0.75, hour = 0.75 }, r.within)
    assert.same({ "a", "b", "1 node", "2 nodes", "3-4 nodes" },
      { r.by_queue[1].name, r.by_queue[2].name, r.by_size[1].name, r.by_size[2].name, r.by_size[3].name })
    assert.same({ jobs = 2, median = 0, p90 = 10 }, r.at_once)
  end)

  it("is none where no start is recorded", function() assert.is_nil(against.new():result()) end)
end)
