-- Explanations where vertices have several parents in a hierarchy: verdicts, starts, ways, levels and places against all
-- ways of dealing the vertices out, tried one by one.
local weir = require "weir"
local dice = require "spec.support.dice"
local shared = require "spec.support.shared_parents"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1
local SEEDS = math.max(5, math.floor(40 * SCALE))

-- A machine of which some nodes have jobs or are down, and a request that may fit.
local function scene(seed)
  local roll = dice(seed)
  local s = { roll = roll, busy = {}, down = {} }
  s.g, s.on = shared.machine(roll)
  s.e = weir.engine { resources = s.g, granularity = "power" }
  s.nodes, s.units = s.g:find "type=node", s.g:find "type=unit"
  for n, node in ipairs(s.nodes) do
    local fate = roll(4)
    if fate == 1 then
      assert(node:allocate { job = 900 + n, duration = 10 * roll(3) })
      s.busy[n] = node:uses()[1]["end"]
    elseif fate == 2 then
      node.state, s.down[n] = "down", true
    end
  end
  if roll(6) == 1 then
    s.dark = roll(4)
    s.units[s.dark].state = "down"
  end
  s.groups, s.each = roll(3), roll(3)
  s.shape = ("unit=%d/slot=%d/node"):format(s.groups, s.each)
  s.told = ("seed %d, %s"):format(seed, s.shape)
  return s
end

local function lit(s) return function(i) return i ~= s.dark end end
local function free_at(s, t) return function(n) return not s.down[n] and (s.busy[n] or 0) <= t end end
local function possible(s, free) return shared.possible(s.on, free, s.groups, s.each, lit(s)) end

local function each_scene(f)
  local counts = {}
  for seed = 1, SEEDS do
    local s = scene(seed)
    local verdict = f(s)
    counts[verdict or 1] = (counts[verdict or 1] or 0) + 1
    s.g:close()
  end
  return counts
end

-- Whether the request fits once some obstacles are gone.
local function fits_without(s, way, but)
  local g <close> = assert(s.g:dup())
  local e = weir.engine { resources = g, granularity = "power" }
  for i, ob in ipairs(way) do
    if i ~= but then
      if ob.kind == "job" then assert(e:release(ob.job)) else g:twin(ob.vertex).state = "up" end
    end
  end
  return e:match(s.shape, { mode = "preview", duration = 1 }) ~= nil
end

describe("explanations with several parents in a hierarchy [X1][G3]", function()
  it("give the verdict, and the earliest start", function()
    local counts = each_scene(function(s)
      local report = assert(s.e:explain(s.shape))
      local ever = shared.possible(s.on, function() return true end, s.groups, s.each)
      local start
      for t = 0, 30, 10 do start = start or possible(s, free_at(s, t)) and t or nil end
      local expected = start == 0 and "fits" or start and "busy" or ever and "blocked" or "infeasible"
      assert.equal(expected, report.verdict, s.told)
      if start then assert.equal(start, report.start, s.told) end
      return report.verdict
    end)
    for _, verdict in ipairs { "fits", "busy", "blocked", "infeasible" } do assert.is_true((counts[verdict] or 0) > 0, verdict) end
  end)

  it("name obstacles that are all needed, and with which gone the request fits", function()
    local ways = 0
    each_scene(function(s)
      for _, way in ipairs(assert(s.e:explain(s.shape)).ways) do
        ways = ways + 1
        assert.is_true(fits_without(s, way), s.told)
        for i = 1, way.cut and 0 or #way do assert.is_false(fits_without(s, way, i), s.told) end
      end
    end)
    assert.is_true(ways > SEEDS / 4, ways)
  end)

  it("count how many units there could be", function()
    each_scene(function(s)
      local report = assert(s.e:explain(("unit=%d/slot=%d/node"):format(4, s.each)))
      local most = 0
      local count = report.verdict == "infeasible" and function() return true end or free_at(s, 0)
      local wanted = report.verdict ~= "infeasible" and lit(s) or nil
      for groups = 1, 4 do most = shared.possible(s.on, count, groups, s.each, wanted) and groups or most end
      local short = report.shortage
      if short and short.type == "unit" and short.part[1].with then assert.equal(most, short.have, s.told) end
    end)
  end)

  it("leave at the level of the nodes those that some unit serves, and tell why the others do not", function()
    each_scene(function(s)
      local level
      for _, x in ipairs(assert(s.e:explain(s.shape)).levels) do level = x.type == "node" and x or level end
      local left = 0
      for n in ipairs(s.nodes) do
        local served = false
        for _, i in ipairs(s.on[n]) do served = served or i ~= s.dark end
        if free_at(s, 0)(n) and served then left = left + 1 end
      end
      assert.equal(left, level.left, s.told)
      local sum = level.left
      for _, cause in ipairs(level.causes) do sum = sum + cause.count end
      assert.equal(#s.nodes, sum, s.told)
    end)
  end)

  it("leave at the level of the units those that could have as many nodes", function()
    each_scene(function(s)
      local level = assert(s.e:explain(s.shape)).levels[1]
      local left = 0
      for i = 1, 4 do
        if i ~= s.dark and shared.possible(s.on, free_at(s, 0), 1, s.each, function(k) return k == i end) then left = left + 1 end
      end
      assert.equal(left, level.left, s.told)
    end)
  end)

  it("say whether one unit serves, for a question about that unit", function()
    each_scene(function(s)
      for i, unit in ipairs(s.units) do
        local report = assert(s.e:explain(s.shape, { vertex = unit }))
        local fits = i ~= s.dark and shared.possible(s.on, free_at(s, 0), 1, s.each, function(k) return k == i end)
        assert.equal(fits, report.fits, s.told .. " at unit " .. i)
        assert.equal(unit, report.where)
      end
    end)
  end)

  it("say whether a node serves, for a question about that node, whichever unit has it first", function()
    each_scene(function(s)
      for n, node in ipairs(s.nodes) do
        local served = false
        for _, i in ipairs(s.on[n]) do served = served or i ~= s.dark end
        assert.equal(free_at(s, 0)(n) and served, assert(s.e:explain(s.shape, { vertex = node })).fits, s.told .. " at node " .. n)
      end
    end)
  end)

  it("assume that a unit is down", function()
    each_scene(function(s)
      for i, unit in ipairs(s.units) do
        local fits = shared.possible(s.on, free_at(s, 0), s.groups, s.each, function(k) return k ~= i and k ~= s.dark end)
        assert.equal(fits, assert(s.e:explain(s.shape, { down = unit })).fits, s.told .. " without unit " .. i)
      end
    end)
  end)

  it("change nothing", function()
    each_scene(function(s)
      local before = assert(s.g:dup())
      assert(s.e:explain(s.shape))
      assert(before:compare(s.g, true))
      assert(s.g:check())
      before:close()
    end)
  end)
end)
