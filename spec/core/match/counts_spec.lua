-- Counts that vary: what a job gets is what it would get with the largest fixed counts that fit, the first count first.
local weir = require "weir"
local dice = require "spec.support.dice"

-- The picks of a match that allocates nothing; nil where nothing fits.
local function picks(e, shape)
  local a = e:match(shape, { mode = "preview" })
  if not a then return nil end
  local list = {}
  for i, pick in ipairs(a:vertices()) do
    list[i] = ("%s %d%s"):format(pick.vertex.path, pick.amount, pick.exclusive and "x" or "")
  end
  table.sort(list)
  return table.concat(list, ", ")
end

describe("a varying count", function()
  -- {machine, request, the picks}
  for _, case in ipairs {
    { "node:2 core:2", "slot=2/core=1-2", { "node0/core0", "node0/core1", "node1/core0", "node1/core1" } },
    { "[node:1[core:1] node:2[core:2]]", "slot=2/core=1-2", { "node1/core0", "node1/core1", "node2/core0", "node2/core1" } },
    { "[node:1[core:4] node:1[core:2]]", "node=2/slot=1/core=1+",
      { "node0/core0", "node0/core1", "node1/core0", "node1/core1" } },
    { "[rack:1[node:1[core:1]] rack:1[node:2[core:1]]]", "rack=1/node=1-2/slot=1/core=1", { "rack1/node1/core0", "rack1/node2/core0" } },
    { "[node:2[core:3] node:1[core:8]]", "slot=1/core=1-16:2:*", { "node2/core0", "node2/core1", "node2/core2", "node2/core3",
      "node2/core4", "node2/core5", "node2/core6", "node2/core7" } },
    { "node:1[core:5]", "slot=2/core=1,2,4", { "node0/core0", "node0/core1", "node0/core2", "node0/core3" } },
    { "node:1[core:4]", "slot=1-4/core=1-4", { "node0/core0", "node0/core1", "node0/core2", "node0/core3" } },
  } do
    it("is the same in all instances, and the largest that fits: " .. case[2] .. " on " .. case[1], function()
      local g <close> = assert(weir.synthetic("cluster:1 " .. case[1]))
      local expected = {}
      for i, path in ipairs(case[3]) do expected[i] = "/cluster0/" .. path .. " 1x" end
      table.sort(expected)
      assert.equal(table.concat(expected, ", "), (picks(weir.engine { resources = g, policy = "low" }, case[2])))
    end)
  end

  it("is the same for a reservation, a job that grows, and a stage", function()
    local g <close> = assert(weir.synthetic "cluster:1 [node:1[core:4] node:1[core:2]]")
    local e = weir.engine { resources = g, policy = "low" }
    local first = assert(e:match("slot=1/node", { duration = 60 }))
    local later = assert(e:match("slot=2/core=1-4", { mode = "reserve", duration = 60 }))
    assert.same({ 0, 2 }, { later.at, #later:vertices() }) -- on node1, as soon as one each fits
    local reserved = assert(e:match("slot=2/core=2-4", { mode = "reserve", duration = 60 }))
    assert.same({ 60, 8 - 2 - 2 }, { reserved.at, #reserved:vertices() })
    assert(e:release(first.id))
    assert(e:grow(later.id, "slot=2/core=1-2"))
    assert.equal(6, #e:job(later.id):vertices())
    assert(g:check())
  end)

  local NODES = { "core:1", "core:2", "core:3", "core:5", "core:4 gpu:1", "core:2 gpu:2", "socket:2[core:2 gpu:1]" }
  local COUNTS = { { 1, 2 }, { 1, 2, 3, 4 }, { 2, 4 }, { 1, 3 }, { 1, 2, 4, 8 } }
  local REQUESTS = { "slot=2/core=%s", "slot=3/node/core=%s", "node=2/slot=1/core=%s", "slot=%s/core=%s", "node=%s/slot=%s/core=1",
    "rack=1/slot=%s/[core=%s;gpu=1]", "rack=2/node=%s/slot=1/core=%s", "[slot=2/core=%s;gpu=%s{x}]", "slot=%s/node/[core=%s;gpu=%s]" }

  local function machine(roll)
    local racks = {}
    for i = 1, roll(3) do
      local nodes = {}
      for k = 1, roll(3) do nodes[k] = ("node:1[%s]"):format(NODES[roll(#NODES)]) end
      racks[i] = ("rack:1[%s]"):format(table.concat(nodes, " "))
    end
    return assert(weir.synthetic(("cluster:1 [%s]"):format(table.concat(racks, " "))))
  end

  -- Calls f for each choice of one number from each list, the largest first, until f returns true.
  local function each_choice(lists, f, chosen)
    chosen = chosen or {}
    local list = lists[#chosen + 1]
    if not list then return f(chosen) end
    for i = #list, 1, -1 do
      chosen[#chosen + 1] = list[i]
      if each_choice(lists, f, chosen) then return true end
      chosen[#chosen] = nil
    end
    return false
  end

  local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
  for seed = 1, 12 do
    it("gives what trying all counts gives, on random machines from " .. seed, function()
      local roll, several = dice(seed), 0
      for _ = 1, math.ceil(20 * scale) do
        local g <close> = machine(roll)
        local e = weir.engine { resources = g, policy = ({ "first", "low", "high", "spread", "best_fit" })[roll(5)] }
        for _ = 1, 6 do
          local lists, words = {}, {}
          local form = REQUESTS[roll(#REQUESTS)]
          for i = 1, select(2, form:gsub("%%s", "")) do
            lists[i] = COUNTS[roll(#COUNTS)]
            words[i] = table.concat(lists[i], ",")
          end
          local shape = form:format(table.unpack(words))
          local expected, best
          each_choice(lists, function(chosen)
            best = form:format(table.unpack(chosen))
            expected = picks(e, best)
            return expected
          end)
          local got = picks(e, shape)
          assert.equal(expected or "nothing fits", got or "nothing fits", ("seed %d: %s, by trying %s"):format(seed, shape, best))
          several = several + (got and 1 or 0)
          e:match("slot=1/core=1", { duration = 60 })
        end
        assert(g:check())
      end
      assert(several > 20 * scale)
    end)
  end
end)
