-- --anonymize: a trace and its machine without names, of which a replay is the replay of the originals.
local replay = require "weir.replay"
local shell = require "spec.support.shell"
local weir = require "weir"

local DATA = "spec/data/slurm/"

-- Names of the cluster that must not be told.
local NAMES = { "thin", "fat", "haswell", "bigmem", "a100", "batch", "debug", "phys", "chem", "daemon", "lab", "2026", "s1" }

local function waits(opts)
  opts.queue, opts.jobs_kept = "easy", true
  local list = {}
  for i, job in ipairs(assert(replay.run(opts)).kept) do list[i] = ("%.3f %.3f"):format(job.start - job.submit, job["end"] - job.start) end
  table.sort(list)
  return table.concat(list, "\n")
end

describe("--anonymize", function()
  local dir = os.tmpname()
  local said

  setup(function()
    os.remove(dir)
    said = shell.weir { "replay", "-r", DATA .. "slurm.conf", DATA .. "sacct.txt", "--anonymize", dir }
  end)

  teardown(function()
    os.remove(dir .. "/trace.csv")
    os.remove(dir .. "/machine.json")
    os.remove(dir)
  end)

  it("writes trace and machine, and says what is left out", function()
    assert.equal(0, said.status)
    assert.matches("/trace.csv: 512 jobs; .*/machine.json", said.out)
    assert.matches("2 jobs left out, the first one here: cancelled before they started", said.err)
  end)

  it("tells no name", function()
    for _, file in ipairs { "/trace.csv", "/machine.json" } do
      local text = shell.slurp(dir .. file)
      for _, name in ipairs(NAMES) do
        local at = text:find("%f[%w]" .. name)
        if name == "s1" and file == "/trace.csv" then at = nil end -- the first QOS
        assert.is_nil(at, ("%s in %s: %s"):format(name, file, at and text:sub(at - 20, at + 20)))
      end
    end
  end)

  it("keeps what a replay needs", function()
    local machine = assert(weir.load(dir .. "/machine.json"))
    assert.equal(60, #machine:find "type=node")
    assert.equal(waits { resources = assert(weir.load(DATA .. "slurm.conf")), trace = DATA .. "sacct.txt" },
      waits { resources = machine, trace = dir .. "/trace.csv" })
  end)

  it("keeps hours and weekdays", function()
    local first = shell.slurp(dir .. "/trace.csv"):match "\n1,(%d+),"
    assert.equal(1795425340 % 604800, tonumber(first) % 604800)
  end)

  -- Writes jobs with requests without names. Returns the result of the command, and the text.
  local function of_jobs(words, text)
    local path, to = os.tmpname(), dir .. "2"
    local f <close> = assert(io.open(path, "w"))
    f:write(text)
    f:flush()
    local result = shell.weir { "replay", "-r", words, path, "--format", "jsonl", "--anonymize", to }
    local written = shell.slurp(to .. "/trace.jsonl")
    os.remove(path)
    for _, name in ipairs { "/trace.jsonl", "/machine.json", "" } do os.remove(to .. name) end
    return result, written
  end

  local function with_constraint(constraint)
    return ('{"submit":0,"runtime":1,"jobspec":{"version":1,"resources":[{"type":"slot","count":1,"label":"secret","with":[{"type":"core",'
      .. '"count":1}]}],"tasks":[{"command":["a.out","--key"],"slot":"secret","count":{"per_slot":1}}],"attributes":{"system":{'
      .. '"duration":5,"cwd":"/home/ada","job":{"name":"secret"},"constraints":%s}}}}\n'):format(constraint)
  end

  for _, case in ipairs {
    { '{"properties":["haswell","^fat"]}', '{"properties":["p1","^p2"]}' },
    { '{"and":[{"properties":["fat"]},{"not":[{"properties":["gpu"]}]}]}',
      '{"and":[{"properties":["p1"]},{"not":[{"properties":["p2"]}]}]}' },
    { '{"ranks":["0-3"]}', '{"ranks":["0-3"]}' },
  } do
    it("takes jobspecs, with properties numbered through: " .. case[1], function()
      local result, text = of_jobs("node:1 core:1", with_constraint(case[1]))
      assert.equal(0, result.status)
      for _, word in ipairs { "secret", "a.out", "ada", "haswell", "fat" } do assert.is_nil(text:find(word, 1, true)) end
      assert.truthy(text:find('"constraints":' .. case[2], 1, true), text)
      assert.truthy(text:find('"label":"slot1"', 1, true))
    end)
  end

  it("leaves out a jobspec that names nodes, and counts it", function()
    local result, text = of_jobs("node:1 core:1", with_constraint '{"hostlist":["fat1"]}' .. with_constraint '{"ranks":["0"]}')
    assert.matches('1 job left out, the first one here: its constraint names nodes %("hostlist"%)', result.err)
    assert.equal(1, select(2, text:gsub("\n", "")))
  end)

  it("keeps what a replay of eventlogs of Flux needs", function()
    local log, to = "spec/data/flux_jobs/", dir .. "3"
    assert.equal(0, shell.weir { "replay", "-r", log .. "R.json", log .. "events.txt", "--quiet", "--anonymize", to }.status)
    local there = waits { resources = assert(weir.load(to .. "/machine.json")), trace = to .. "/trace.jsonl" }
    assert.equal(waits { resources = assert(weir.load(log .. "R.json")), trace = log .. "events.txt" }, there)
    for _, name in ipairs { "/trace.jsonl", "/machine.json", "" } do os.remove(to .. name) end
  end)
end)
