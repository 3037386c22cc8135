-- Vertices with several parents in a hierarchy that bring several units each (nodes with cores, on two power units):
-- matches against all ways of dealing them out, tried one by one; and starts behind many others.
local weir = require "weir"
local dice = require "spec.support.dice"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1

-- 3 power units and 3 to 5 nodes with 1 to 4 cores, each node on one or two of the units.
local function machine(roll)
  local parts, units, on, cores = {}, {}, {}, {}
  for n = 1, 2 + roll(3) do
    cores[n] = roll(4)
    parts[n] = ("node:1[core:%d]"):format(cores[n])
  end
  local g = weir.synthetic(("cluster:1[%s]"):format(table.concat(parts, " ")))
  for i = 1, 3 do units[i] = assert(g:add(nil, { type = "unit", id = i })) end
  for n, node in ipairs(g:find "type=node") do
    on[n] = {}
    for i in pairs { [roll(3)] = true, [roll(3)] = true } do on[n][#on[n] + 1] = i end
    table.sort(on[n])
    for _, i in ipairs(on[n]) do assert(g:add_edge(units[i], node, { subsystem = "power", type = "supplies" })) end
  end
  return g, on, cores
end

-- Whether the nodes from n on can be dealt to the units chosen such that each gets the slots that need[unit] tells.
local function deal(on, cores, need, each, n)
  local done = true
  for _, missing in pairs(need) do done = done and missing <= 0 end
  if done then return true end
  if n > #on then return false end
  for _, i in ipairs(on[n]) do
    if need[i] then
      need[i] = need[i] - cores[n] // each
      local served = deal(on, cores, need, each, n + 1)
      need[i] = need[i] + cores[n] // each
      if served then return true end
    end
  end
  return deal(on, cores, need, each, n + 1)
end

local function possible(on, cores, groups, slots, each)
  for set = 1, 7 do
    local need, n = {}, 0
    for i = 1, 3 do
      if set >> (i - 1) & 1 == 1 then need[i], n = slots, n + 1 end
    end
    if n == groups and deal(on, cores, need, each, 1) then return true end
  end
  return false
end

describe("vertices with several parents that bring several units [G6]", function()
  it("are dealt out wherever some way serves a request", function()
    local answers = { [true] = 0, [false] = 0 }
    for seed = 1, math.max(1, math.floor(1000 * SCALE)) do
      local roll = dice(seed)
      local g, on, cores = machine(roll)
      local e = weir.engine { resources = g }
      local groups, slots, each = roll(3), roll(4), roll(2)
      local shape = ("unit=%d/slot=%d/core=%d"):format(groups, slots, each)
      local expected = possible(on, cores, groups, slots, each)
      local a, why, code = e:match(shape, { subsystem = "power" })
      local told = ("seed %d, %s: %s"):format(seed, shape, why)
      assert.same({ expected, not expected and "infeasible" or nil }, { a ~= nil, code }, told)
      assert.equal(expected, (e:match(shape, { subsystem = "power", mode = "feasible" })) ~= nil, told)
      assert(g:check())
      answers[expected] = answers[expected] + 1
      e:close()
      g:close()
    end
    assert.is_true(SCALE < 1 or answers[true] > 100 and answers[false] > 100, answers[true])
  end)

  it("start as early as some deal allows, however many jobs end before", function()
    local g = weir.synthetic "cluster:1 node:104 core:1"
    local units, nodes = {}, g:find "type=node"
    for i = 1, 2 do units[i] = assert(g:add(nil, { type = "unit", id = i })) end
    for n, node in ipairs(nodes) do
      for i = 1, n <= 4 and 2 or 1 do assert(g:add_edge(units[i], node, { subsystem = "power", type = "supplies" })) end
    end
    local e = weir.engine { resources = g }
    for n, node in ipairs(nodes) do
      assert(node:allocate { job = n, duration = n <= 4 and 90 or 200 + n })
    end
    for n = 1, 89 do -- further ends before: shares of cores outside of the nodes asked for
      local pool = assert(g:add(nil, { type = "licence", id = n, size = 2 }))
      assert(pool:allocate { job = 1000 + n, amount = 1, duration = n })
      assert(g:add_edge(units[1], pool, { subsystem = "power", type = "supplies" }))
    end
    local a = assert(e:match("unit=2/slot=2/node", { subsystem = "power", mode = "reserve", duration = 10 }))
    assert.equal(90, a.at)
    g:close()
  end)
end)
