-- g:fold(list): alike subtrees told once, and the vertices that stand out.

local weir = require "weir"

local MAX = math.maxinteger

local function fold(g, ...) return g:fold { ... } end

-- The runs of a flat list, as texts "KIND ID+STEP xCOUNT SHAPE RANK".
local function runs_of(flat)
  local list = {}
  for i = 1, #flat, 6 do
    list[#list + 1] = ("%d %d+%d x%d %d %d"):format(table.unpack(flat, i, i + 5))
  end
  return table.concat(list, ", ")
end

local function shapes_of(f)
  local list = {}
  for i, flat in ipairs(f.shapes) do list[i] = runs_of(flat) end
  return list
end

-- A cluster with nodes of the given ids.
local function with_ids(...)
  local g = weir.new()
  local top = assert(g:add(nil, { type = "cluster", id = 0 }))
  for _, id in ipairs { ... } do assert(g:add(top, { type = "node", id = id })) end
  return g
end

describe("a fold", function()
  -- {machine, vertices, runs of the roots, shapes}
  for _, case in ipairs {
    { "core:3", 4, "0 0+0 x1 1 -1", { "", "1 0+1 x3 0 -1" } },
    { "cluster:1 core:1000", 1001, "0 0+0 x1 1 -1", { "", "1 0+1 x1000 0 -1" } },
    { "node:3 core:2", 10, "0 0+0 x1 2 -1", { "", "2 0+1 x2 0 -1", "1 0+1 x3 1 0" } },
    { "cluster:1[shelf:2[disk:1] switch:1]", 6, "0 0+0 x1 3 -1",
      { "", "2 0+0 x1 0 -1", "2 1+0 x1 0 -1", "1 0+0 x1 1 -1, 1 1+0 x1 2 -1, 3 0+0 x1 0 -1" } },
  } do
    it("of " .. case[1], function()
      local g <close> = weir.synthetic(case[1])
      local f = fold(g, table.unpack(g:roots()))
      assert.same({ case[2], case[3], case[4], {} }, { f.count, runs_of(f.roots), shapes_of(f), f.own })
    end)
  end

  for _, case in ipairs {
    { { 0, 2, 4, 5 }, "1 0+2 x3 0 -1, 1 5+0 x1 0 -1" }, { { 3, 2, 1 }, "1 3+-1 x3 0 -1" },
    { { 0, MAX }, "1 0+" .. MAX .. " x2 0 -1" }, { { MAX - 1, MAX, 0 }, "1 " .. MAX - 1 .. "+1 x2 0 -1, 1 0+0 x1 0 -1" },
    { { 0, MAX // 2 + 1, 1 }, "1 0+" .. MAX // 2 + 1 .. " x2 0 -1, 1 1+0 x1 0 -1" },
  } do
    it("has runs of ids with equal steps: " .. case[2], function()
      local g <close> = with_ids(table.unpack(case[1]))
      assert.equal(case[2], runs_of(fold(g, g:root()).shapes[2]))
    end)
  end

  it("keeps ranks that ascend in a run, and no others", function()
    local g <close> = with_ids(0, 1, 2, 3)
    for i, v in ipairs(g:find "type=node") do v.rank = ({ 5, 6, 8, 9 })[i] end
    assert.equal("1 0+1 x2 0 5, 1 2+1 x2 0 8", runs_of(fold(g, g:root()).shapes[2]))
    g:root().rank = 5
    assert.equal("1 0+0 x1 0 -1, 1 1+0 x1 0 6, 1 2+1 x2 0 8", runs_of(fold(g, g:root()).shapes[2]))
    assert.equal("0 0+0 x1 0 -1", runs_of(fold(g, g "/cluster0/node0").roots))
  end)

  -- {what, a change of a vertex, whether the vertex stands out}
  for _, case in ipairs {
    { "a state", function(v) v.state = "down" end, true }, { "a property", function(v) v.properties.p = "" end, true },
    { "a tag", function(v) v.tags.t = 1 end, true }, { "a job", function(v) assert(v:allocate { job = 1 }) end, true },
    { "a later job", function(v) assert(v:allocate { job = 1, start = 5, duration = 1 }) end, true },
    { "an edge", function(v) assert(v:graph():add_edge(v, v:graph():root(), { subsystem = "net", type = "x" })) end, true },
    { "an edge from above", function(v) assert(v:graph():add_edge(v:graph():root(), v, { subsystem = "net", type = "x" })) end, true },
    { "a rank", function(v) v.rank = 7 end, false }, { "data", function(v) v.data.x = { 1 } end, false },
  } do
    it(("tells %s by %s"):format(case[3] and "a vertex that stands out" or "no vertex apart", case[1]), function()
      local g <close> = weir.synthetic "cluster:1 rack:2 node:2 core:4"
      local v = g "/cluster0/rack1"
      case[2](v)
      assert.same(case[3] and { 0, 23, 4, g:root(), 12, 23, 3, v } or {}, fold(g, g:root()).own)
    end)
  end

  for _, case in ipairs {
    { "a name", { type = "core", name = "login" } }, { "no id", { type = "core", basename = "core" } },
    { "a negative id", { type = "core", id = -1 } }, { "a long basename", { type = "core", basename = ("x"):rep(300), id = 1 } },
  } do
    it("tells a vertex that has " .. case[1], function()
      local g <close> = with_ids(0)
      local v = assert(g:add(g "/cluster0/node0", case[2]))
      assert.same({ 0, 3, 2, g:root(), 1, 3, 1, g "/cluster0/node0", 2, 3, 0, v }, fold(g, g:root()).own)
    end)
  end

  it("gives shapes to vertices whose jobs and names differ", function()
    local g <close> = weir.new()
    local top = assert(g:add(nil, { type = "cluster", id = 0 }))
    for i = 0, 3 do assert(g:add(assert(g:add(top, { type = "node", id = i })), { type = "core", id = 0 })) end
    assert(g "/cluster0/node2/core0":allocate { job = 1 })
    assert.same({ "", "2 0+0 x1 0 -1", "1 0+1 x4 1 -1" }, shapes_of(fold(g, top)))
  end)

  it("ends at a level, and tells the vertices whose children are left out", function()
    local g <close> = weir.synthetic "cluster:1 rack:2 node:2 core:4"
    local top = g:root()
    for levels, count in ipairs { 1, 3, 7, 23 } do assert.equal(count, g:fold({ top }, levels).count) end
    assert.same({ 0, 3, 1, top, 1, 2, 0, g "/cluster0/rack0", 2, 3, 0, g "/cluster0/rack1" }, g:fold({ top }, 2).own)
    assert.same({}, g:fold({ top }, 4).own)
    for _, levels in ipairs { 0, -1, 300, 1.5, "x" } do
      assert.has_error(function() g:fold({ top }, levels) end)
    end
  end)

  it("takes vertices of the graph only", function()
    local g <close> = with_ids(0)
    local other <close> = with_ids(0)
    assert.has_error(function() g:fold() end)
    assert.has_error(function() g:fold { 1 } end)
    assert.has_error(function() g:fold { other:root() } end)
    assert.same({ 0, {}, {} }, { fold(g).count, fold(g).own, fold(g).kinds })
  end)
end)
