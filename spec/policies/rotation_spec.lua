-- Policies whose order begins at a place kept in the state (rotate), against round_robin as it was written with evaluate.
local core = require "weir.core"
local scores = require "spec.support.scores"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1
local OLD = "spec/support/old_policies/round_robin.lua"

describe("a policy that rotates", function()
  it("chooses what an evaluate over all candidates chooses, on random machines and histories", function()
    local answers = 0
    for seed = 1, math.max(4, 30 * SCALE) // 1 do
      answers = answers + scores.play(seed * 104729, function() return assert(weir.policy "round_robin") end, 60,
        function() return assert(core.policy_load(OLD)) end, { "rack", "cluster" })
    end
    assert.is_true(answers > 40, answers .. " answers")
  end)

  it("takes all from the turn on, then all before, as parts of chains and sums too", function()
    for _, policy in ipairs { "round_robin", weir.policy.chain { "round_robin", "high" },
      weir.policy.weighted { { "round_robin", 2 } } } do
      local e = assert(weir.engine { resources = "cluster:1 rack:2 node:4 core:2", policy = policy })
      local got = {}
      for _ = 1, 5 do
        local a = assert(e:match "slot=3/node")
        local ids = {}
        for i, pick in ipairs(a:vertices()) do ids[i] = pick.vertex.id end
        table.sort(ids)
        got[#got + 1] = table.concat(ids, ",")
        assert(e:release(a.id))
      end
      assert.equal("0,1,2 3,4,5 0,6,7 1,2,3 4,5,6", table.concat(got, " "))
    end
  end)

  it("costs its answer, whatever the machine's size and wherever the turn is", function()
    for _, shape in ipairs { "slot=1/node", "slot=20/node", "slot=1/core=2" } do
      local worst = {}
      for i, racks in ipairs { 4, 40 } do
        local e = assert(weir.engine { resources = ("cluster:1 rack:%d node:30 core:4"):format(racks), policy = "round_robin" })
        local request = weir.request(shape)
        worst[i] = 0
        for _ = 1, 150 do
          e:release(assert(e:match(request)))
          local stats = e:stats()
          assert.equal(0, stats.callbacks)
          worst[i] = math.max(worst[i], stats.visited)
        end
      end
      assert.is_true(worst[2] <= worst[1] + 16 and worst[2] < 140, ("%s: %d visits, then %d"):format(shape, worst[1], worst[2]))
    end
  end)

  -- {fields of the policy, part of the message}
  local GOOD = { state = { next = 0 }, placed = function() end, order = "id", rotate = "next" }
  for _, case in ipairs {
    { { rotate = "nxt" }, "field 'rotate': the name of a number in the state expected" },
    { { state = { next = "0" } }, "field 'rotate': the name of a number in the state expected" },
    { { rotate = 3 }, "field 'rotate': string expected, got number" },
    { { select = "runs" }, "field 'rotate': a policy that rotates has no select" },
    { { evaluate = function() return 1 end }, "field 'rotate': a policy that rotates has no evaluate" },
    { { descend = "core" }, "field 'rotate': a policy that rotates has no descend" },
    { { order = false }, "field 'rotate': an order of fields is needed" },
    { { order = function(v) return v.id end }, "field 'rotate': an order of fields is needed" },
    { { order = "-id" }, "a turn needs an order of fields that begins with id, index, TYPE.id or TYPE.index" },
    { { order = "properties.id" }, "a turn needs an order of fields" },
  } do
    it("is refused: " .. case[2], function()
      local policy = {}
      for name, value in pairs(GOOD) do policy[name] = value end
      for name, value in pairs(case[1]) do policy[name] = value or nil end
      local e, why = weir.engine { resources = "node:2", policy = policy }
      if e then why = select(2, e:match "slot=1/node") end
      assert.is_truthy(why and why:find(case[2], 1, true), why)
    end)
  end
end)
