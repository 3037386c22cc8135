--- boxes.lua - the boxes of a Graphviz picture of a machine.
---
--- Identical siblings share a box. Leaves are identical if type, size, state, use and subsystems are equal, and no leaf has a
--- name of its own. If the boxes are too many, vertices with children are identical, too, if their subtrees are,
--- except for names and jobs; if the boxes are still too many, the deepest levels are cut.
---
--- A picture is {top =, start =, shapes = subtrees share boxes}. A box has the fields
---   v, look  the first vertex of the box, as in weir.view.fold, and its look
---   members  list of {vertex, number of identical neighbours}, all siblings;  n: the number of vertices
---   kids     the boxes below, in the order of the first members;  by_sign: the boxes below by sign
---   sign     equal for identical siblings
---   parent   the box above
---   cut      whether the children are not in the picture
---   loose    whether a box above has several members: ids differ by member, and are left out
--- A look has of a vertex:
---   n, units, job   number of running jobs, units in use, the job if there is a single job
---   state, use      the state; "free", "part" or "used"
---   out, held       the state of the vertex, or of the nearest ancestor, that keeps jobs away, or nil; whether a job
---                   has the vertex or an ancestor as a whole
---   exact, shape    signs of a leaf, and of a subtree

local fold = require "weir.view.fold"
local plain = require "weir.plain"
local tables = require "weir.tables"
local view = require "weir.view"

local M = {}

M.MOST = 400 -- limit for the boxes of a picture, as far as folding and cutting can reach the limit
local DEPTH_TRIED = 16 -- deeper pictures with too many boxes are cut to DEPTH_TRIED levels first

-- ---- one vertex -------------------------------------------------------------------------------------------------

-- Returns the uses of a vertex by running jobs: number, units in use, whether a job has the vertex as a whole, the job if
-- there is a single job, and whether any job, running or to come, uses the vertex.
local function uses_of(v)
  local uses, n, units, held, job = v:uses(), 0, 0, false, nil
  for _, use in ipairs(uses) do
    if use.active then n, units, held, job = n + 1, units + use.amount, held or use.exclusive, use.job end
  end
  return n, units, held, n == 1 and job or nil, #uses > 0
end

-- Returns bits for the subsystems of the edges of each vertex, except containment. Numbers of subsystems are taken
-- modulo 32.
local function edge_bits(g)
  local bits, number = {}, {}
  for i, name in ipairs(g:subsystems()) do number[name] = i % 32 end
  for e in g:edges() do
    bits[e.target] = (bits[e.target] or 0) | 1 << number[e.subsystem]
    bits[e.source] = (bits[e.source] or 0) | 1 << 32 + number[e.subsystem]
  end
  return bits
end

-- Returns the vertices without a parent: roots of containment, and roots of further subsystems only.
local function tops_of(g)
  if not g:edges()() then return g:roots() end
  return tables.filter(g:find "size>=0", function(v) return not v:parent() end)
end

-- ---- looks ------------------------------------------------------------------------------------------------------

-- Replaces a text by a short number, so that signs do not grow with the size of subtrees.
local function intern(f, text)
  local n = f.known[text]
  if n then return n end
  f.nknown = f.nknown + 1
  f.known[text] = f.nknown
  return f.nknown
end

local look_at

-- Looks at the children of a vertex. Returns the runs of signs as text, or nil without children; whether a job uses a
-- vertex below; whether units below are free.
local function look_below(f, v, above)
  local words, busy, free, run, last = {}, false, false, 0, nil
  f.fold:each_alike(v, function(child, n)
    local look = look_at(f, child, above)
    busy, free = busy or look.busy, free or look.free
    if run > 0 and look.shape ~= last then words[#words + 1], run = last .. "*" .. run, 0 end
    run, last = run + n, look.shape
  end)
  if run == 0 then return nil, false, false end
  words[#words + 1] = last .. "*" .. run
  return table.concat(words, " "), busy, free
end

local function use_of(busy, held, full)
  if held then return "used" end
  return not busy and "free" or full and "used" or "part"
end

-- Makes the look of a vertex, with the looks of listed vertices below. `above`: the look of the parent.
local function make_look(f, v, above)
  local handle, kind, name, touched, whole = v.handle, v.kind, "", false, false
  local look = { n = 0, units = 0, state = "up" }
  if handle then
    look.n, look.units, whole, look.job, touched = uses_of(handle)
    look.state, name, look.parent = handle.state, plain.own_name(handle) or "", above.p
    look.p, f.looks[v.p], f.numbers[handle] = v.p, look, v.p
  end
  local available = view.is_available(look.state)
  look.held, look.out = above.held or whole, not available and look.state or above.out
  local kids, busy, free = look_below(f, v, look)
  local full = kids and not free or not kids and look.units >= kind.size
  look.busy, look.free = busy or look.n > 0, available and not whole and (look.units < kind.size or free)
  look.use = use_of(look.busy, look.held, full)
  local base = ("%s\0%s\0%s\0%d\0%s\0%s\0%s\0%x"):format(kind.type, kind.basename, kind.unit, kind.size, look.state,
    look.out or "", look.use, handle and f.bits[handle] or 0)
  look.shape = intern(f, kids and base .. "\0" .. kids or base)
  look.exact = not kids and (touched and intern(f, ("%s\1%s\0%s\0%d"):format(base, name, look.job or "", look.units))
    or intern(f, base .. "\1" .. name))
  return look
end

-- Returns the look of a vertex. Identical vertices below identical vertices share a look.
function look_at(f, v, above)
  if v.handle then return f.looks[v.p] or make_look(f, v, above) end
  local key = ("%s %s"):format(above.held, above.out)
  local alike = f.alike[key] or {}
  local looks = alike[v.kind] or {}
  f.alike[key], alike[v.kind] = alike, looks
  looks[v.shape] = looks[v.shape] or make_look(f, v, above)
  return looks[v.shape]
end

-- Returns a look with what the start of the picture inherits.
local function look_above(start)
  local look, v = { n = 0, held = false }, start and start:parent()
  while v do
    local n, _, whole, job = uses_of(v)
    if look.n == 0 then look.n, look.job = n, job end
    look.held = look.held or whole
    look.out = look.out or not view.is_available(v.state) and v.state or nil
    v = v:parent()
  end
  return look
end

-- ---- boxes ------------------------------------------------------------------------------------------------------

-- Returns the sign of a vertex: of the vertex alone, or of identical siblings.
local function sign_of(f, p, look)
  if f.shapes then return look.shape end
  return not f.all and look.exact or -1 - p
end

-- Adds `n` identical vertices to the boxes of a box. Returns false where the boxes would be more than f.limit.
local function add_member(f, box, v, n, look)
  local sign = sign_of(f, v.p, look)
  local known = box.by_sign[sign]
  if not known then
    if f.n == f.limit then return false end
    f.n, known = f.n + 1, { v = v, look = look, n = 0, members = {}, kids = {}, by_sign = {}, sign = sign, parent = box,
      loose = box.loose or box.n > 1 }
    box.by_sign[sign], box.kids[#box.kids + 1] = known, known
  end
  known.n, known.members[#known.members + 1] = known.n + n, { v, n }
  return true
end

-- Makes the boxes inside of a box, down to `depth` further levels. Returns false where the boxes would be more than
-- f.limit.
local function add_boxes(f, box, depth)
  local fits = true
  f.fold:each_alike(box.v, function(v, n)
    local look = look_at(f, v, box.look)
    if sign_of(f, v.p, look) >= 0 then
      fits = fits and add_member(f, box, v, n, look)
    else
      for k = 0, n - 1 do fits = fits and add_member(f, box, f.fold:neighbour(v, k), 1, look) end
    end
  end)
  for _, kid in ipairs(fits and box.kids or {}) do
    kid.cut = depth == 0 and kid.v.shape.count > 0
    if depth > 0 and not add_boxes(f, kid, depth - 1) then return false end
  end
  return fits
end

-- Makes all boxes down to a depth. Returns whether `limit` boxes were enough.
local function make_boxes(f, depth, limit)
  f.n, f.limit = 0, limit
  f.top = { n = 0, look = f.above, kids = {}, by_sign = {} }
  return add_boxes(f, f.top, depth)
end

--- Returns the boxes of a graph, or of a vertex and everything below, with as much detail as M.MOST boxes can show;
--- with `all`, each vertex has a box.
function M.of(g, start, all)
  local f = { fold = fold.of(g, start and { start } or tops_of(g)), bits = edge_bits(g), known = {}, nknown = 0,
    looks = {}, numbers = {}, alike = {}, found = {}, above = look_above(start), all = all, shapes = false }
  look_below(f, nil, f.above)
  if all then
    make_boxes(f, math.huge, math.huge)
  elseif not make_boxes(f, math.huge, M.MOST) then
    local depth = math.huge
    f.shapes = true
    while not make_boxes(f, depth, depth > 0 and M.MOST or math.huge) do
      depth = depth > DEPTH_TRIED and DEPTH_TRIED or depth - 1
    end
  end
  return f
end

-- ---- finding ----------------------------------------------------------------------------------------------------

local box_at

local function find_box(f, p)
  local look = f.looks[p]
  if not look.parent then return f.top.by_sign[sign_of(f, p, look)] end
  local above = box_at(f, look.parent)
  if above.sign ~= sign_of(f, look.parent, f.looks[look.parent]) then return above end -- the parent has no box
  return above.by_sign[sign_of(f, p, look)] or above
end

-- Returns the box of a listed vertex by number, or of the nearest ancestor with a box.
function box_at(f, p)
  f.found[p] = f.found[p] or find_box(f, p)
  return f.found[p]
end

--- Returns the box of a vertex with edges, or of the nearest ancestor with a box, or nil outside of the picture.
function M.box_of(f, v)
  local p = f.numbers[v]
  return p and box_at(f, p)
end

return M
