--- fold.lua - a machine in which identical subtrees are described once: the source of trees, Graphviz, SVG and pages.
---
--- A vertex with everything below has the numbers [p, q), in preorder from 0; siblings with everything below have a
--- range, too. A vertex is {p =, q =, kind =, shape =, run =, i = place in the run, handle =}. A kind is {type =,
--- basename =, size =, unit =}. A shape is {runs = of children, count = children, size = vertices below, totals = units
--- below by type}, shared by all vertices with identical subtrees. A vertex without a handle has no name, state, jobs or
--- edges of its own, nor has a vertex below.

local tables = require "weir.tables"

local M = {}

local add = tables.add
M.__index = M

-- ---- shapes -----------------------------------------------------------------------------------------------------

-- Reads a flat list of runs (see fold.c).
local function shape_of(f, flat)
  local shape = { runs = {}, size = 0, totals = {}, count = 0 }
  for i = 1, #flat, 6 do
    local kind, inner = f.kinds[flat[i] + 1], f.shapes[flat[i + 4] + 1]
    local run = { kind = kind, id = flat[i + 1], step = flat[i + 2], count = flat[i + 3], shape = inner,
      first = shape.size, each = 1 + inner.size, before = shape.count }
    shape.runs[#shape.runs + 1] = run
    shape.size, shape.count = shape.size + run.each * run.count, shape.count + run.count
    add(shape.totals, kind.type, kind.size * run.count)
    for type, units in pairs(inner.totals) do add(shape.totals, type, units * run.count) end
    if inner.count > 0 then f.inner[kind.type] = true end
  end
  return shape
end

local function same(text) return text end

--- Reads the kinds, shapes and roots that g:fold returned. `text` converts the texts of kinds; nil leaves the texts.
function M.read(raw, text)
  local f = setmetatable({ count = raw.count, kinds = {}, shapes = {}, inner = {}, handles = {}, listed = {} }, M)
  text = text or same
  for i, k in ipairs(raw.kinds) do
    f.kinds[i] = { type = text(k[1]), basename = text(k[2]), size = k[3], unit = text(k[4]) }
  end
  for i, flat in ipairs(raw.shapes) do f.shapes[i] = shape_of(f, flat) end
  f.top = shape_of(f, raw.roots)
  return f
end

--- Returns the fold of a list of vertices of a graph, none of them below another, and of everything below, or of the
--- levels given. Vertices whose children are left out have handles.
function M.of(g, tops, levels)
  local raw = g:fold(tops, levels)
  local f = M.read(raw)
  for i = 1, #raw.own, 4 do
    f.listed[#f.listed + 1], f.handles[raw.own[i]] = raw.own[i], raw.own[i + 3]
  end
  return f
end

-- ---- vertices ---------------------------------------------------------------------------------------------------

--- Returns the place of the first number in a sorted list that is above x, or, without `after`, not below x.
function M.place(list, x, after)
  local lo, hi = 1, #list + 1
  while lo < hi do
    local mid = (lo + hi) // 2
    if list[mid] < x or after and list[mid] == x then lo = mid + 1 else hi = mid end
  end
  return lo
end

-- Returns vertex i of a run, in a shape whose vertices begin at number `base`.
local function vertex_of(f, run, i, base)
  local p = base + run.first + i * run.each
  return { p = p, q = p + run.each, kind = run.kind, shape = run.shape, run = run, i = i, handle = f.handles[p] }
end

--- Calls f(first, last, count) for each group of `members` children of a vertex, or of roots; the last group may be
--- smaller. Costs do not grow with `members`.
function M:each_group(v, members, f)
  local base, shape = v and v.p + 1 or 0, v and v.shape or self.top
  local at = 1
  local function child(n)
    while shape.runs[at].before + shape.runs[at].count <= n do at = at + 1 end
    return vertex_of(self, shape.runs[at], n - shape.runs[at].before, base)
  end
  for n = 0, shape.count - 1, members do
    local first, count = child(n), math.min(members, shape.count - n)
    f(first, count > 1 and child(n + count - 1) or first, count)
  end
end

--- Returns child number n of a vertex, or root number n, n from 0.
function M:child(v, n)
  local runs = (v and v.shape or self.top).runs
  local lo, hi = 1, #runs
  while lo < hi do
    local mid = (lo + hi + 1) // 2
    if runs[mid].before <= n then lo = mid else hi = mid - 1 end
  end
  return vertex_of(self, runs[lo], n - runs[lo].before, v and v.p + 1 or 0)
end

--- Calls f(vertex) for each child of a vertex, or for each root.
function M:each_child(v, f) self:each_group(v, 1, f) end

--- Calls f(vertex, count) for the children of a vertex, or for the roots: for each with a handle alone, and for `count`
--- identical neighbours without handles together.
function M:each_alike(v, f)
  local base = v and v.p + 1 or 0
  for _, run in ipairs((v and v.shape or self.top).runs) do
    local i = 0
    while i < run.count do
      local child, n = vertex_of(self, run, i, base), 1
      if not child.handle then
        local next_listed = self.listed[M.place(self.listed, child.p)]
        n = math.min(run.count - i, next_listed and (next_listed - child.p) // run.each or run.count)
      end
      f(child, n)
      i = i + n
    end
  end
end

--- Returns the vertex `n` places behind a vertex in the run of the vertex.
function M:neighbour(v, n) return vertex_of(self, v.run, v.i + n, v.p - v.run.first - v.i * v.run.each) end

--- Returns the vertex of a number.
function M:vertex_at(p)
  local runs, base = self.top.runs, 0
  while true do
    local lo, hi = 1, #runs
    while lo < hi do
      local mid = (lo + hi + 1) // 2
      if base + runs[mid].first <= p then lo = mid else hi = mid - 1 end
    end
    local run = runs[lo]
    local v = vertex_of(self, run, (p - base - run.first) // run.each, base)
    if v.p == p then return v end
    runs, base = v.shape.runs, v.p + 1
  end
end

return M
