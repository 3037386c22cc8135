-- Scores that are remembered: equal to fresh ones, and equal answers, on random machines and histories; what makes a
-- score stale; and what a match costs then.
local weir = require "weir"
local core = require "weir.core"
local dice = require "spec.support.dice"
local scores = require "spec.support.scores"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1

describe("remembered scores", function()
  for _, name in ipairs(scores.bundled()) do
    it("are the scores of a fresh call under " .. name, function()
      local answers = 0
      for seed = 1, math.max(2, 12 * SCALE) // 1 do
        answers = answers + scores.play(seed * 7919, function() return assert(weir.policy(name)) end, 60)
      end
      assert.is_true(answers > 10)
    end)
  end

  it("are the scores of a fresh call for made-up functions", function()
    local answers = 0
    for seed = 1, math.max(30, 300 * SCALE) // 1 do
      local text = scores.policy_text(dice(seed * 31))
      local fine, why = pcall(scores.play, seed, function() return assert(core.policy_source(text, "made-up")) end, 40)
      assert(fine, tostring(why) .. "\n" .. text)
      answers = answers + why
    end
    assert.is_true(answers > 100)
  end)
end)
