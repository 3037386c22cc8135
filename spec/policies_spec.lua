-- A policy chooses among what fits; what fits is the engine's to say.
local weir = require "weir"

local BUNDLED = { "first", "low", "high", "lonode", "hinode", "locality", "best_fit", "spread" }
-- Hooks that choose badly, a few candidates at a time.
local NARROW = { name = "narrow", candidates = 1, select = function(list, _, min)
  return min > 1 and { #list } or { list[#list] }
end }
local SHAPES = { "slot=1/node", "slot=3/node", "slot=2/node/[core=3;gpu]", "slot=4/[core=2;gpu]", "slot=6/core=2", "slot=3/socket/core=2",
  "rack/slot=3/node", "node=2/slot=2/core", "slot=1/[node;core=3]", "slot=2/memory=20" }

-- Numbers that are the same on every run.
local function dice(seed)
  return function(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % n + 1
  end
end

local function answer(engine, shape)
  local a, _, code = engine:match(shape, { mode = "preview" })
  return a and "fits" or code
end

describe("policies", function()
  for seed = 1, 12 do
    it("agree on what fits, on machine " .. seed, function()
      local roll = dice(seed)
      local g <close> = assert(weir.synthetic(("cluster:1 rack:%d node:3 socket:2 core:3 gpu:1 memory:1(size=8)"):format(1 + roll(3))))
      local e = weir.engine { resources = g, policy = "first" }
      local nodes = g:find "type=node"
      for _ = 1, roll(8) do e:match(SHAPES[roll(#SHAPES)]) end
      nodes[roll(#nodes)].state = "down"
      for _, shape in ipairs(SHAPES) do
        assert(e:use "first")
        local wanted = answer(e, shape)
        for _, name in ipairs(BUNDLED) do
          assert(e:use(name))
          assert.equal(wanted, answer(e, shape), name .. " " .. shape)
        end
        assert(e:use(NARROW))
        assert.equal(wanted, answer(e, shape), "narrow " .. shape)
      end
      assert(g:check())
    end)
  end

  it("that select too few get the rest added", function()
    local e = weir.engine { resources = "cluster:1 node:4 core:2",
      policy = { name = "miser", select = function(list) return { list[3] } end } }
    local a = assert(e:match "slot=3/node")
    assert.equal("node2", a:vertices()[1].vertex.name)
    assert.equal(3, #a:vertices())
  end)

  it("are given candidates in rounds, the first in the order, until these suffice", function()
    local rounds = {}
    local policy = { order = "-id", candidates = 3, select = function(list, _, min, max)
      rounds[#rounds + 1] = ("%d of %d:"):format(max, #list)
      for _, v in ipairs(list) do rounds[#rounds] = rounds[#rounds] .. " " .. v.id end
      return min == max and { #list } or nil
    end }
    local e = weir.engine { resources = "cluster:1 node:8 core:2", policy = policy }
    assert.equal("node5", assert(e:match "slot=1/node"):vertices()[1].vertex.name)
    assert.equal(2, #assert(e:match "slot=2/node"):vertices())
    assert.same({ "1 of 3: 7 6 5", "2 of 4: 7 6 4 3" }, rounds)
    assert.equal("busy", select(3, e:match "slot=6/node"))
  end)

  it("that choose less than they may of a first round are not asked for more", function()
    local asked = 0
    local e = weir.engine { resources = "cluster:1 node:8 core:2", policy = { candidates = 1, select = function()
      asked = asked + 1
      return { 2 }
    end } }
    local a = assert(e:match "node=1-2/slot=1/core")
    assert.same({ "node1", 1 }, { a:vertices()[1].vertex:parent().name, #a:vertices() })
    assert.is_true(asked <= 3, asked .. " calls")
  end)

  it("are asked once for siblings of which they said that they score alike", function()
    local asked = {}
    local e = weir.engine { resources = "cluster:1 rack:3 node:4", policy = { evaluate = function(v)
      asked[#asked + 1] = v.id
      if v:parent().id == 1 then return nil, true end
      return v:parent().id, v:parent().id ~= 2
    end } }
    assert.equal("node8", assert(e:match "slot=1/node"):vertices()[1].vertex.name)
    assert.same({ 0, 4, 8, 9, 10, 11 }, asked)
    assert.equal(6, e:stats().callbacks)
    assert(e:match "slot=7/node")
    assert.equal("busy", select(3, e:match "slot=1/node"))
  end)

  for _, wrong in ipairs { 0, 1.5, "many", -1 } do
    it("refuse candidates = " .. wrong, function()
      local e, why = weir.engine { resources = "node:2", policy = { candidates = wrong } }
      assert.is_nil(e)
      assert.matches("field 'candidates': a count from 1 to 1000000000 expected", why, 1, true)
    end)
  end

  it("that select what is no candidate fail that match, and no other", function()
    local e = weir.engine { resources = "cluster:1 node:4 core:2",
      policy = { name = "liar", select = function(list) return { list[1], list[1] } end } }
    assert.equal("policy", select(3, e:match "slot=2/node"))
    assert(e:use "low")
    assert(e:match "slot=4/node")
  end)
end)
