-- Simulators that give whole racks (RFC 4, granularity): a replay on racks of 4 cores starts each job when a replay on as
-- many cores does, whose jobs ask for one core where these ask for up to 4.
local dice = require "spec.support.dice"
local replay = require "weir.replay"
local scenario = require "weir.scenario"
local service = require "spec.support.service"
local shell = require "spec.support.shell"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1

-- The same jobs, counted in cores and in racks of 4 cores.
local function traces(roll, racks)
  local fine, coarse, t = {}, {}, 0
  for i = 1, 40 do
    t = t + roll(30)
    local procs, runtime = roll(4 * racks), 10 * roll(20)
    local job = { submit = t, runtime = runtime, estimate = runtime + 10 * roll(3), number = i, user = "u" }
    fine[i], coarse[i] = { procs = procs }, { procs = (procs + 3) // 4 }
    for key, value in pairs(job) do fine[i][key], coarse[i][key] = value, value end
  end
  return fine, coarse
end

local function starts(jobs, opts)
  local i, list = 0, {}
  opts.trace = { next = function()
    i = i + 1
    return jobs[i]
  end }
  function opts.each(job) list[job.number] = job.start end
  assert(replay.run(opts))
  return list
end

describe("simulators with a granularity [G10][RFC4a:87]", function()
  for _, queue in ipairs { "fcfs", "easy", "conservative", "hybrid", "priority", "sjbf" } do
    it("start jobs when whole racks are free: " .. queue, function()
      for seed = 1, math.max(2, math.floor(8 * SCALE)) do
        local roll = dice(seed)
        local racks = 2 + roll(4)
        local fine, coarse = traces(roll, racks)
        assert.same(starts(coarse, { resources = ("cluster:1 core:%d"):format(racks), queue = queue }),
          starts(fine, { resources = ("cluster:1 rack:%d core:4"):format(racks), queue = queue, granularity = "containment:rack" }),
          "seed " .. seed)
      end
    end)
  end

  it("are scenarios, which take a type", function()
    local s = scenario { machine = "cluster:1 rack:2 node:2 core:2", granularity = "rack", queue = "fcfs" }
    local jobs = {}
    for i = 1, 3 do jobs[i] = s:submit { "slot=1/core", lasts = 10 } end
    s:advance(5)
    assert.equal("running running pending", ("%s %s %s"):format(jobs[1].state, jobs[2].state, jobs[3].state))
    assert.equal(0, #s:faults())
  end)

  for _, row in ipairs {
    { "rak", "scenario: granularity: there is no type and no hierarchy 'rak' %(did you mean \"rack\"%?%)" },
    { "containment:rak", "there is no type 'rak'" }, { "power:rack", "there is no hierarchy 'power'" },
    { 7, "granularity: expected a type such as rack, got number" },
  } do
    it("refuse a granularity: " .. row[1], function()
      local ok, why = pcall(scenario, { machine = "cluster:1 rack:2 node:2", granularity = row[1] })
      assert.is_false(ok)
      assert.matches(row[2], why)
    end)
  end

  describe("of the command line", function()
    local file
    before_each(function()
      file = shell.path(shell.directory(), "trace.csv")
      local f = assert(io.open(file, "w"))
      f:write "submit,runtime,procs\n"
      for i = 1, 3 do f:write(i, ",10,1\n") end
      f:close()
    end)

    it("are replays", function()
      local result = shell.weir { "replay", "-r", "cluster:1 rack:2 node:2 core:2", "--granularity", "rack", "-q", "fcfs", "--quiet",
        "--jobs", "-", file }
      assert.equal(0, result.status, result.err)
      local begun = {}
      for start in result.out:gmatch "\n%d+,%d+,(%d+)," do begun[#begun + 1] = start end
      assert.equal("1 2 11", table.concat(begun, " "))
    end)

    it("are tests of scenarios", function()
      local path = shell.path(shell.directory(), "racks.lua")
      local f = assert(io.open(path, "w"))
      f:write [[
local scenario = require "weir.scenario"
it("gives racks", function()
  local s = scenario {}
  local one, two = s:submit { "slot=1/core", lasts = 10 }, s:submit { "slot=1/core", lasts = 10 }
  assert.running(one)
  assert.pending(two)
end)]]
      f:close()
      local result = shell.weir { "test", "-r", "rack:1 node:2 core:2", "--granularity", "rack", path }
      assert.equal(0, result.status, result.out .. result.err)
    end)

    it("are random scenarios", function()
      local result = shell.weir { "test", "-r", "rack:3 node:2 core:2", "--granularity", "rack", "--random", "5" }
      assert.equal(0, result.status, result.out .. result.err)
    end)

    for _, command in ipairs { "replay", "tune" } do
      it("refuse what is neither a type nor a hierarchy: " .. command, function()
        local result = shell.weir { command, "-r", "rack:2 core:2", "--granularity", "rak", "--quiet", file }
        assert.equal(2, result.status)
        assert.matches("%-%-granularity: there is no type and no hierarchy 'rak'", result.err)
      end)
    end
  end)

  describe("of a service", function()
    after_each(service.clean)

    it("give whole racks where the service does", function()
      local options = { "-r", "cluster:1 rack:1 node:2 core:2", "--granularity", "rack", "--clock", "manual" }
      local c = service.start(shell.directory(), options):connect()
      assert(c:ask("match", { request = "slot=1/core", duration = 100 }))
      assert(c:ask("match", { request = "slot=1/core", duration = 10, mode = "reserve" }))
      local told = assert(c:ask("try", { queue = "easy" }))
      assert.equal(100, told.jobs[1].start)
    end)
  end)
end)
