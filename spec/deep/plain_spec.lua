-- Replays of 10,000 random traces by the simulator of plain jobs, compared with the general simulator in every start and
-- every unit; spec/weir-sim/replay/plain_spec.lua has a few.
local cases = require "spec.support.plain_cases"
local shell = require "spec.support.shell"

teardown(shell.clean)

describe("plain replays of random jobs, many", function()
  for seed = 101, 120 do
    it(("[K4] equal those of the general simulator, seed %d"):format(seed), function() cases.random(seed, 500) end)
    it(("[K4] equal those of the general simulator where accountings give whole nodes, seed %d"):format(seed), function()
      cases.accountings(seed, 20)
    end)
    it(("[K4] equal those of the general simulator under policies that are more than an order, seed %d"):format(seed), function()
      cases.random(seed, 100, true)
    end)
  end
end)
