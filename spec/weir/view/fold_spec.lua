-- What trees, Graphviz, SVG and pages cost: alike subtrees are looked at once, however large.

local fold = require "weir.view.fold"
local picture = require "weir.html.picture"
local weir = require "weir"

local STEP = 100

-- The instructions of Lua that a call takes, in hundreds.
local function instructions(f)
  local n = 0
  f()
  debug.sethook(function() n = n + 1 end, "", STEP)
  f()
  debug.sethook()
  return n
end

local WRITERS = {
  tree = function(g) return g:format "tree" end, dot = function(g) return g:format "dot" end,
  svg = function(g) return g:format("svg", { by = "state" }) end, html = picture.html,
}

-- Returns the count for a machine of so many cores in each of 200 nodes, and with a busy core.
local function cost(write, cores, busy)
  local g <close> = weir.synthetic(("cluster:1 rack:4 node:50 core:%d"):format(cores))
  if busy then assert(g(("/cluster0/rack2/node100/core%d"):format(cores // 2)):allocate { job = 1 }) end
  return instructions(function() return write(g) end)
end

describe("a fold", function()
  for name, write in pairs(WRITERS) do
    for _, busy in ipairs { false, true } do
      it(("lets %s look at few of 360,000 vertices more, %s"):format(name, busy and "with a job" or "without jobs"), function()
        local more = STEP * (cost(write, 2000, busy) - cost(write, 200, busy))
        assert.is_true(more < 360000 / 4, more)
      end)
    end
  end

  -- A cluster with `n` children of each type, each with a child of the type `below`.
  local function machine(rows)
    local g = weir.new()
    local top = assert(g:add(nil, { type = "cluster", id = 0 }))
    for _, row in ipairs(rows) do
      for id = 0, row[2] - 1 do
        local v = assert(g:add(top, { type = row[1], id = id }))
        if row[3] then assert(g:add(v, { type = row[3], id = 0 })) end
      end
    end
    return g
  end

  -- The children of a vertex: names where there are handles, counts of alike vertices elsewhere.
  local function groups_of(f, v)
    local list = {}
    f:each_alike(v, function(child, n) list[#list + 1] = child.handle and child.handle.name or n end)
    return list
  end

  it("parts alike siblings where a vertex stands out, or has such a vertex below", function()
    local g <close> = machine { { "rack", 9, "core" } }
    g "/cluster0/rack2".state = "down"
    g "/cluster0/rack5/core0".tags.x = 1
    local f = fold.of(g, g:roots())
    local top = f:vertex_at(0)
    assert.same({ 2, "rack2", 2, "rack5", 3 }, groups_of(f, top))
    assert.same({ "core0" }, groups_of(f, f:vertex_at(11)))
  end)

  it("gives groups of siblings, also across runs", function()
    local g <close> = machine { { "rack", 3 }, { "shelf", 4 }, { "switch", 2 } }
    local f, list = fold.of(g, g:roots()), {}
    f:each_group(f:vertex_at(0), 4, function(first, last, n) list[#list + 1] = ("%d-%d:%d"):format(first.p, last.p, n) end)
    assert.same({ "1-4:4", "5-8:4", "9-9:1" }, list)
    assert.equal(3, f:neighbour(f:vertex_at(1), 2).p)
  end)
end)
