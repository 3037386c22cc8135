-- A policy chooses among fitting candidates; the engine alone decides whether a candidate fits.
local dice = require "spec.support.dice"
local weir = require "weir"

local BUNDLED = { "first", "low", "high", "locality", "best_fit", "spread" }
-- Hooks with bad choices, among a few candidates at a time.
local NARROW = { name = "narrow", candidates = 1, select = function(list, _, min)
  return min > 1 and { #list } or { list[#list] }
end }
local SHAPES = { "slot=1/node", "slot=3/node", "slot=2/node/[core=3;gpu]", "slot=4/[core=2;gpu]", "slot=6/core=2", "slot=3/socket/core=2",
  "rack/slot=3/node", "node=2/slot=2/core", "slot=1/[node;core=3]", "slot=2/memory=20" }

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

  -- select = "runs", written in Lua.
  local function longest_runs(candidates, _, _, max)
    local list, runs, out = {}, {}, {}
    for i, v in ipairs(candidates) do list[i] = { at = i, id = v.id or 0, parent = v:parent() and v:parent().index or -1 } end
    table.sort(list, function(a, b) return a.parent < b.parent or a.parent == b.parent and a.id < b.id end)
    for i, c in ipairs(list) do
      local last = list[i - 1]
      if not last or last.parent ~= c.parent or last.id + 1 ~= c.id then runs[#runs + 1] = {} end
      table.insert(runs[#runs], c)
    end
    table.sort(runs, function(a, b) return #a > #b or #a == #b and a[1].at < b[1].at end)
    for _, run in ipairs(runs) do
      for _, c in ipairs(run) do out[#out + 1] = #out < max and c.at or nil end
    end
    return max > 1 and out or nil
  end

  for seed = 1, 12 do
    it("of neighbours choose what the same in Lua does, on machine " .. seed, function()
      local roll = dice(seed)
      local g <close> = assert(weir.synthetic(("cluster:1 rack:%d node:7 socket:2 core:5 gpu:2"):format(1 + roll(3))))
      local own = { order = ({ { "node.id", "id" }, { "-id", "-index" }, "size" })[roll(3)],
        candidates = ({ false, 2, 16 })[roll(3)] or nil }
      local function chosen(select)
        local e = weir.engine { resources = g, policy = { order = own.order, candidates = own.candidates, select = select } }
        local out = {}
        for _, shape in ipairs { "slot=5/node", "slot=7/core", "slot=2/[core=3;gpu]", "socket/slot/[core=4;gpu]",
          "socket=3/slot/core=2", "rack/slot=3/node", "slot=2-4/core=2", "node=2/slot=3/core" } do
          local a, _, code = e:match(shape, { mode = "preview" })
          out[#out + 1] = a and weir.json.encode(a:format("jgf")) or code
        end
        return out
      end
      for _, v in ipairs(g:find "type=core") do
        if roll(3) == 1 then assert(v:allocate { job = 100 + v.index }) end
      end
      for _, v in ipairs(g:find "type=node and idle") do
        if roll(4) == 1 then v.state = "down" end
      end
      local wanted = chosen(longest_runs)
      assert.same(wanted, chosen "runs")
      own.candidates = nil
      local e = weir.engine { resources = g, policy = assert(weir.policy.chain { "locality", "first" }) }
      local a = e:match("slot=7/core", { mode = "preview" })
      own.order = { "node.id", "id" }
      local plain = weir.engine { resources = g, policy = { order = own.order, select = longest_runs } }
      local b = plain:match("slot=7/core", { mode = "preview" })
      assert.equal(b and b:format("rlite"), a and a:format("rlite"))
    end)
  end

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
