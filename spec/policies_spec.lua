-- A policy chooses among what fits; what fits is the engine's to say.
local weir = require "weir"

local BUNDLED = { "first", "low", "high", "lonode", "hinode", "locality", "best_fit", "spread" }
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

  it("that select what is no candidate fail that match, and no other", function()
    local e = weir.engine { resources = "cluster:1 node:4 core:2",
      policy = { name = "liar", select = function(list) return { list[1], list[1] } end } }
    assert.equal("policy", select(3, e:match "slot=2/node"))
    assert(e:use "low")
    assert(e:match "slot=4/node")
  end)
end)
