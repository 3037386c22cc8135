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
  for i, job in ipairs(assert(replay.run(opts)).kept) do list[i] = ("%d %d"):format(job.start - job.submit, job["end"] - job.start) end
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

  it("refuses jobspecs, which may tell names", function()
    local path = os.tmpname()
    local f <close> = assert(io.open(path, "w"))
    f:write '{"submit":0,"runtime":1,"request":"slot=1/core=1"}\n'
    f:flush()
    local refused = shell.weir { "replay", "-r", "node:1 core:1", path, "--format", "jsonl", "--anonymize", dir .. "2" }
    os.remove(path)
    assert.equal(2, refused.status)
    assert.matches("has a jobspec of its own", refused.err)
    assert.is_false(shell.exists(dir .. "2"))
  end)
end)
