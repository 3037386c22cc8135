-- Made-up jobs resemble those of large and of small logs. The few hundred that are added to the sample of SDSC are a small
-- sample themselves, so only the whole is measured there.
local resemblance = require "spec.support.resemblance"

local LOGS = { { "HPC2N", 0.05, 0.05 }, { "SDSC", 0.08, 1 } }

describe("made-up jobs", function()
  for _, case in ipairs(LOGS) do
    it("resemble those of " .. case[1], function()
      local path = resemblance.path(case[1])
      if not path then return pending("no log of " .. case[1]) end
      assert.same({}, resemblance.of(path, case[2], case[3]))
    end)
  end
end)
