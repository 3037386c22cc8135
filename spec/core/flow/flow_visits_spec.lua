-- The visits of matches with units of a network: those of the answer, not of the nodes that have cores but no power.
local weir = require "weir"
local networks = require "spec.support.networks"

-- Machine, shape, most visits on 1,000 and on 10,000 nodes whose power units are used up but for those of the last rack.
local CASES = {
  { "single", "slot=1/[core=4;power=5]", 40 },
  { "single", "slot=4/node/power=5", 40 },
  { "single", "node=4/slot=1/[core=2;power=5]", 60 },
  { "dual", "slot=1/[core=4;power=5]", 40 },
  { "dual", "slot=4/node/power=5", 60 },
  { "dual", "node=4/slot=1/[core=2;power=5]", 60 },
  { "triple", "slot=4/node/power=5", 60 },
}

-- Takes all units of the power units but those of the last rack. Returns the first power unit that is taken.
local function use_up(g)
  local pdus, racks, job = g:find "type=pdu", #g:find "type=rack", 1 << 40
  for _, v in ipairs(pdus) do
    if v.id // 3 < racks - 1 then
      assert(v:allocate { job = job, amount = v.size })
      job = job + 1
    end
  end
  return pdus[1]
end

describe("the visits of a match with power [G8]", function()
  for _, case in ipairs(CASES) do
    it(("are those of the answer: %s on %s"):format(case[2], case[1]), function()
      for _, nodes in ipairs { 1000, 10000 } do
        local g <close> = networks[case[1]](nodes)
        local engine <close> = weir.engine { resources = g }
        use_up(g)
        local a = assert(engine:match(case[2]))
        local visits = engine:stats().visited
        assert.is_true(visits <= case[3], ("%d visits on %d nodes, at most %d"):format(visits, nodes, case[3]))
        for _, pick in ipairs(a:vertices()) do
          local rack = pick.vertex.path:match "/rack(%d+)/"
          assert.equal(tostring(nodes // 20 - 1), rack or tostring(nodes // 20 - 1))
        end
        assert(g:check())
      end
    end)
  end

  it("follow power that is given back, in the unit itself and above it", function()
    local g <close> = networks.single(1000)
    local engine <close> = weir.engine { resources = g }
    local first = use_up(g)
    local function rack_of() -- of the node that a job gets
      local a = assert(engine:match "slot=1/[core=4;power=5]")
      local path = a:vertices()[1].vertex.path
      engine:release(a.id)
      return path:match "/rack(%d+)/"
    end
    assert.equal("49", rack_of())
    assert(first:release(1 << 40))
    assert.equal("0", rack_of())
    first.state = "down"
    assert.equal("49", rack_of())
    first.state = "up"
    assert.equal("0", rack_of())
    assert(g:check())
  end)
end)
