-- Documents and differences of 1,000 random machines; WEIR_SPEC_SCALE=10 makes 10,000.
local dice = require "spec.support.dice"
local documents = require "spec.support.documents"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1

local function document(g) return assert(g:format "document") end

describe("random machines", function()
  it("[A161][M1] are loaded from their documents as they were saved, and made of each other by differences", function()
    local last, text
    for seed = 5001, 5000 + math.ceil(1000 * SCALE) do
      local w = documents.machine(seed, 1 + dice(seed)(40))
      local here = document(w.g)
      local again <close> = assert(weir.parse(here, { source = "seed " .. seed }))
      assert.is_true(here == document(again), "seed " .. seed)
      if last then
        local made <close> = assert(last:apply(assert(last:diff(w.g))))
        assert.is_true(document(made) == here, "from seed " .. seed - 1 .. " to " .. seed)
        local back <close> = assert(w.g:apply(assert(w.g:diff(last))))
        assert.is_true(document(back) == text, "from seed " .. seed .. " to " .. seed - 1)
        last:close()
      end
      last, text = w.g, here
    end
  end)
end)
