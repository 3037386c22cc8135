-- Many whole nodes are allocated at once, without a search for each (core/match/allocate_bulk.c), and nodes of equal
-- jobs share one schedule. A traced match searches: on a copy of the machine the search has to pick equal nodes.
local dice = require "spec.support.dice"
local weir = require "weir"

local MACHINES = { "cluster:1 node:150 core:2", "cluster:1 rack:9 node:18 core:2 gpu:1", "cluster:2 node:70",
  "cluster:1 rack:3 node:40 socket:2 core:1" }
local SHAPES = { "slot=%d/node", "node=%d/slot/core", "slot=1/node=%d", "slot=%d/node/core=2", "slot=%d/core", "slot=%d/node{x}",
  "rack/slot=%d/node" }
local MODES = { "now", "reserve", "preview", "feasible" }

local function told(a, _, code)
  if not a or a == true then return a or code end
  local list = {}
  for i, pick in ipairs(a:vertices()) do list[i] = ("%s=%d"):format(pick.vertex.path, pick.amount) end
  table.sort(list)
  return ("%s at %g for %g: %s"):format(a.state, a.at, a.duration, table.concat(list, " "))
end

-- The picks of a match, and the picks of a search on a copy.
local function both(e, g, policy, request, opts)
  local copy <close> = g:dup()
  local other = weir.engine { resources = copy, policy = policy }
  opts.trace = {}
  local searched = told(other:match(request, opts))
  opts.trace = nil
  return searched, told(e:match(request, opts))
end

local function change(e, g, roll)
  local nodes, jobs = g:find "type=node", e:jobs()
  local kind = roll(6)
  if kind == 1 then nodes[roll(#nodes)].state = roll(2) == 1 and "down" or "up" end
  if kind == 2 and #jobs > 0 then assert(e:release(jobs[roll(#jobs)].id)) end
  if kind == 3 then assert(e:advance(e:now() + roll(20))) end
  if kind == 4 then e:match("slot=1/core", { duration = roll(50) }) end
  if kind == 5 and #jobs > 0 then
    local picks = jobs[roll(#jobs)]:vertices()
    e:shrink(jobs[1].id, { picks[1].vertex })
  end
end

describe("many whole nodes of one rack", function()
  it("are reserved where and when no job has them", function()
    local g <close> = assert(weir.synthetic "cluster:1 rack:2 node:18 core:2")
    local e = weir.engine { resources = g, policy = "low" }
    for i = 1, 36 do assert(e:match("slot=1/node", { duration = 100 + i * 37 % 50 })) end
    for _ = 1, 6 do
      local searched, got = both(e, g, "low", "rack/slot=16/node", { mode = "reserve", duration = 10 })
      assert.equal(searched, got)
      assert(g:check())
    end
  end)
end)

describe("many whole nodes", function()
  for seed = 1, 24 do
    local roll = dice(seed * 7919)
    local text, policy = MACHINES[roll(#MACHINES)], ({ "first", "low", "high" })[roll(3)]
    it(("are those that a search finds, with %s, history %d"):format(policy, seed), function()
      local g <close> = assert(weir.synthetic(text))
      local e = weir.engine { resources = g, policy = policy }
      for step = 1, 40 do
        change(e, g, roll)
        local shape = SHAPES[roll(#SHAPES)]:format(10 + roll(roll(4) == 1 and 150 or 50))
        local opts = { mode = MODES[roll(#MODES)], duration = roll(60) }
        local searched, got = both(e, g, policy, shape, opts)
        assert.equal(searched, got, ("step %d, %s %s"):format(step, opts.mode, shape))
        assert(g:check())
      end
    end)
  end
end)
