-- The whole engine against the reference: histories in which everything may change, each answer judged, everything compared
-- after each step. A failure is made small and printed as a script for weir run.

local cases = require "spec.support.cases_change"

-- WEIR_SPEC_SEED plays one seed, WEIR_SPEC_SCALE makes the run longer or shorter, WEIR_SPEC_FROM starts at a later
-- seed.
local HISTORIES, STEPS, GROUPS = 130, 80, 5
local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local only = math.tointeger(tonumber(os.getenv "WEIR_SPEC_SEED" or ""))
local from = math.tointeger(tonumber(os.getenv "WEIR_SPEC_FROM" or "")) or 1

local OUTCOMES = {
  "fits", "busy", "infeasible", "competing", "grown", "shrunk", "detached", "added", "not added", "removed", "not removed",
  "set", "replaced", "duplicated", "sqlite", "pieces", "jgf", "document", "copied", "merged", "held", "hold", "expire",
}

describe("the engine and a slow, obvious model agree", function()
  local tally, each = {}, math.max(1, math.floor(HISTORIES / GROUPS * scale))

  for group = 1, only and 1 or GROUPS do
    local first = only or from + (group - 1) * each
    it(("[A9][A10][M2][M3][M4][M5][M12][L6][L7][P11] over the histories of group %d"):format(group), function()
      for seed = first, only or first + each - 1 do
        local why = cases.try(seed, tally, STEPS)
        if why then error(why, 0) end
      end
    end)
  end

  it("and what was done runs as a script", function()
    for seed = 1, 10 do
      local case = cases.case(seed, 60)
      local _, _, _, lines = cases.play(case)
      local text = cases.script(case, lines, "as a test")
      assert(load(text, "=script", "t", setmetatable({ print = function() end }, { __index = _G })))()
    end
  end)

  it("on steps of all kinds", function()
    if only or scale < 1 then return end
    for _, outcome in ipairs(OUTCOMES) do assert.is_true((tally[outcome] or 0) > 15 * scale, outcome) end
  end)

  teardown(function()
    if scale <= 1 or only then return end
    print(("\n%d operations in the histories from %d to %d"):format(tally.operations or 0, from, from + GROUPS * each - 1))
  end)
end)
