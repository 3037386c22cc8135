-- Starts of random jobs, compared with a counter of processors; and the times of the simulator.
local compare = require "spec.support.flat_queue_cases"
local instant = require "weir.sim.instant"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1

describe("random jobs on a flat machine", function()
  for _, queue in ipairs { "fcfs", "easy", "conservative" } do
    for _, rule in ipairs { "per-event", "per-timestamp" } do
      it(("[K4] start under %s, %s, when a counter of processors starts them, in each unit of time"):format(queue, rule),
        function() compare(queue, rule, math.ceil(150 * SCALE)) end)
    end
  end
end)

describe("instants", function()
  it("are whole microseconds, and equal where their microseconds are", function()
    assert.equal(0.3, instant.of(0.1 + 0.2))
    assert.equal(0.3, instant.after(0.1, 0.2))
    assert.equal(1, instant.of(0.7 + 0.2 + 0.1))
    assert.equal(math.huge, instant.after(5, math.huge))
    assert.equal(4000000001, instant.of(4000000000.6))
    for _ = 1, 1000 do
      local a, b = math.random(0, 1 << 49), math.random(0, 1 << 49)
      assert.equal((a + b) / 1e6, instant.after(instant.of(a / 1e6), instant.of(b / 1e6)))
      assert.equal(a, math.floor(instant.of(a / 1e6) * 1e6 + 0.5))
    end
  end)
end)
