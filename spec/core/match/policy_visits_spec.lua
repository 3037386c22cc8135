-- Cost follows the answer under every policy: on ten times as many nodes a match visits as many vertices.
local weir = require "weir"

local RACKS = { 50, 500 } -- of 20 nodes
local MOST = 160 -- visits of any match below

-- Policies as users write them, each a file.
local USERS = {
  ["fullest first"] = "evaluate = function(v) local _, free = v:below 'core' return -(free or 0) end",
  ["low racks, high nodes"] = "order = { 'parent.id', '-id' }",
  ["only even nodes"] = "prune = function(v) return v.type ~= 'node' or v.id % 2 == 0 end",
  ["one node of each rack"] = "select = { 'each', group = 'rack' }",
  ["the emptiest rack, high nodes"] = "order = { '-id' }, select = { 'each', group = 'rack', emptiest = true }",
}

-- What is in use before the match that is counted; the first match makes what policies remember.
local STATES = {
  { "an empty machine", function() end },
  { "a node in use in half of the racks", function(g, job)
    for i = 0, g:aggregate(nil, { all = true }).rack.total // 2 - 1 do
      assert(g(("/cluster0/rack%d/node%d"):format(i, i * 20)):allocate { job = job + i })
    end
  end },
  { "nodes in use here and there", function(g, job)
    for i = 1, g:aggregate(nil, { all = true }).node.total // 3 do
      local n = i * 7919 % g:aggregate(nil, { all = true }).node.total
      local v = g(("/cluster0/rack%d/node%d"):format(n // 20, n))
      if #v:uses() == 0 then assert(v:allocate { job = job + i }) end
    end
  end },
}
local SHAPES = { "slot=1/node", "slot=64/node", "slot=1/core=4", "slot=4/core", "slot=4/[core=2;gpu]" }

local function visits(engine, shape)
  for _ = 1, 2 do
    local a = assert(engine:match(shape))
    engine:release(a.id)
  end
  return engine:stats().visited
end

describe("the visits of a match do not grow with the machine", function()
  local policies = {}
  for _, entry in ipairs(require("weir.policy").list()) do policies[#policies + 1] = { entry.name, entry.name } end
  for name, fields in pairs(USERS) do
    policies[#policies + 1] = { name, (os.tmpname():gsub("$", ".lua", 1)), ("return { name = %q, %s }"):format(name, fields) }
  end
  table.sort(policies, function(a, b) return a[1] < b[1] end)

  setup(function()
    for _, policy in ipairs(policies) do
      if policy[3] then
        local file <close> = assert(io.open(policy[2], "w"))
        file:write(policy[3])
      end
    end
  end)
  teardown(function()
    for _, policy in ipairs(policies) do
      if policy[3] then os.remove(policy[2]) end
    end
  end)

  for _, state in ipairs(STATES) do
    describe("on " .. state[1], function()
      local machines
      setup(function()
        machines = {}
        for i, racks in ipairs(RACKS) do
          machines[i] = assert(weir.synthetic(("cluster:1 rack:%d node:20 core:8 gpu:1"):format(racks)))
          state[2](machines[i], 1 << 40)
        end
      end)
      teardown(function() for _, g in ipairs(machines) do g:close() end end)

      for _, policy in ipairs(policies) do
        it("under " .. policy[1], function()
          local counts = {}
          for i, g in ipairs(machines) do
            local engine = assert(weir.engine { resources = g, policy = policy[2] })
            for k, shape in ipairs(SHAPES) do
              counts[k] = counts[k] or {}
              counts[k][i] = visits(engine, shape)
            end
          end
          for k, shape in ipairs(SHAPES) do
            local few, many = counts[k][1], counts[k][2]
            assert.is_true(many <= MOST and many <= few + few // 5 + 4,
              ("%s: %d visits on %d nodes, %d on %d"):format(shape, few, RACKS[1] * 20, many, RACKS[2] * 20))
          end
        end)
      end
    end)
  end
end)
