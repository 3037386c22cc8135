-- The placement policies that come with weir-flux, under the names that sites of Flux use.

local policy = require "weir.policy"
local tables = require "weir.tables"
local weir = require "weir"

-- {policy, jobs matched in turn on three nodes of two cores, paths of the last job}
local CASES = {
  { "lonode", { "slot=3/core" }, "node0/core0 node0/core1 node1/core0", "fills the first node first" },
  { "hinode", { "slot=3/core" }, "node1/core1 node2/core0 node2/core1", "fills the last node first" },
  { "lonodex", { "slot=1/core", "slot=1/core" }, "node1", "gives nodes whole, the lowest first" },
  { "hinodex", { "slot=1/core", "slot=1/core" }, "node1", "gives nodes whole, the highest first" },
  { "firstnodex", { "slot=1/core", "slot=1/core" }, "node1", "gives nodes whole" },
  { "emptiestx", { "node/slot=1/core", "node/slot=1/core" }, "node1", "gives the next unused node whole" },
}

describe("the placement policy", function()
  for _, case in ipairs(CASES) do
    local name, jobs, expected, what = table.unpack(case)
    it(("%s %s"):format(name, what), function()
      local engine = weir.engine { resources = "cluster:1 node:3 core:2", policy = name }
      local last
      for _, job in ipairs(jobs) do last = assert(engine:match(job)) end
      local paths = tables.map(last:vertices(), function(pick) return (pick.vertex.path:gsub("/cluster0/", "")) end)
      table.sort(paths)
      assert.equal(expected, table.concat(paths, " "))
    end)
  end

  it("is in the list of policies, after those of weir", function()
    local names = tables.column(policy.list(), "name")
    for _, case in ipairs(CASES) do assert.is_true(tables.has(names, case[1]), case[1]) end
    assert.is_true(#policy.path() >= 2 and policy.path()[#policy.path()]:find "/flux/policies$" ~= nil)
  end)
end)
