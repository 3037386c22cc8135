-- A thousand made-up functions, on random machines and histories: remembered scores are equal to fresh ones, and the
-- answers to those of a policy that is called for each candidate.
local core = require "weir.core"
local dice = require "spec.support.dice"
local scores = require "spec.support.scores"

local FUNCTIONS = math.max(50, 1000 * (tonumber(os.getenv "WEIR_SPEC_SCALE") or 1)) // 1

it("a thousand made-up functions have the scores of a fresh call", function()
  local remembered, answers = 0, 0
  for seed = 1, FUNCTIONS do
    local text, policy = scores.policy_text(dice(seed * 104729)), nil
    local fine, why = pcall(scores.play, seed * 17, function()
      policy = policy or assert(core.policy_source(text, "made-up"))
      return policy
    end, 40)
    assert(fine, tostring(why) .. "\n" .. text)
    answers = answers + why
    remembered = remembered + (policy.uncached and 0 or 1)
  end
  assert.is_true(remembered > FUNCTIONS // 2, remembered .. " functions were remembered")
  assert.is_true(answers > 3 * FUNCTIONS)
end)
