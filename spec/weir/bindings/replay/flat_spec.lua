-- The simulator of plain jobs by itself: times at the end of the clock, and levels whose vertices differ. That replays
-- by it equal those of the general simulator is proved in spec/weir-sim/replay/plain_spec.lua.
local core = require "weir.core"
local queue_policy = require "weir.sim.queue_policy"

local function policy(name) return (assert(queue_policy.open(name, function() end))) end

describe("the simulator of plain jobs", function()
  for _, number in ipairs { 7, 7.5, "seven" } do
    it("tells of a job that ends behind the end of the clock, whatever is asked then: " .. number, function()
      local s = core.flat { units = 2, queue = policy "easy" }
      assert.is_true(s:submit(number, 6, 9e12, 9e12, 1, 1))
      local said = { nil, math.type(number) == "float" and "7.5" or number, 6, 9000000000000, 9000000000000 }
      assert.same(said, { s:run() })
      assert.same(said, { s:run() })
      assert.same(said, { s:submit(8, 7, 1, 1, 1, 1) })
      assert.same(said, { s:resume(9, 7, 1, 1, 1, 1, 0, nil, 3) })
    end)
  end

  it("tells of such a job when a later one is submitted", function()
    local s = core.flat { units = 2, queue = policy "fcfs" }
    assert.is_true(s:submit(1, 6, 9e12, 9e12, 1, 1))
    assert.same({ nil, 1, 6, 9000000000000, 9000000000000 }, { s:submit(2, 8, 1, 1, 1, 1) })
  end)

  -- {submitted, runs for, end}
  for _, row in ipairs { { 3999999999.25, 0.5, 3999999999.75 }, { 3999999999.25, 1.5, 4000000001 }, { 4000000000.25, 1, 4000000001 },
    { 4000000000.5, 1, 4000000002 }, { 8e12, 3, 8000000000003 } } do
    it(("has whole seconds from 4e9 on: %.2f and %.1f"):format(row[1], row[2]), function()
      local s = core.flat { units = 1, queue = policy "fcfs" }
      assert.is_true(s:submit(1, row[1], row[2], row[2], 1, 1))
      assert.is_false(s:run())
      assert.equal(row[3], s:figures().last_end)
    end)
  end

  it("counts the vertices in use, of levels whose vertices differ", function()
    for _, firsts in ipairs { { 0, 3, 4, 6 }, { 0, 1, 5 }, { 0, 2, 4, 6 }, { 0 } } do
      -- The units are 0 to 6; a job takes the lowest that are free.
      local s = core.flat { units = 7, queue = policy "fcfs", levels = { firsts }, node = 1, per_node = 1 }
      local expected = 0
      for i, n in ipairs { 2, 1, 4 } do assert.is_true(s:submit(i, 0, 10 * i, 10 * i, n, 1)) end
      for _, used in ipairs { 0, 2, 3 } do -- the first unit in use, for ten seconds each
        for i in ipairs(firsts) do expected = expected + ((firsts[i + 1] or 7) > used and 10 or 0) end
      end
      assert.is_false(s:run())
      local figures = s:figures()
      assert.same({ 3, { expected } }, { figures.jobs, figures.touched })
    end
  end)
end)
