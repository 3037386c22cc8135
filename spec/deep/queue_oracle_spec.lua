-- Starts of 10,000 random traces, compared with a counter of processors; spec/weir/sim/queue_oracle_spec.lua has a few.
local compare = require "spec.support.flat_queue_cases"

describe("random jobs on a flat machine, many", function()
  for queue, n in pairs { fcfs = 1000, easy = 2000, conservative = 2000 } do
    for _, rule in ipairs { "per-event", "per-timestamp" } do
      it(("[K4] start under %s, %s, when a counter of processors starts them"):format(queue, rule), function() compare(queue, rule, n) end)
    end
  end
end)
