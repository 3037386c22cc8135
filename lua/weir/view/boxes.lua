--- boxes.lua - the boxes of a Graphviz picture of a machine.
---
--- Alike siblings share a box. Leaves are alike if type, size, state, use and subsystems are equal, and no leaf has a
--- name of its own. If the boxes are too many, vertices with children are alike, too, if their subtrees are alike,
--- apart from names and from jobs; if the boxes are still too many, the deepest levels are cut.
---
--- A fold is {top =, start =, shapes = subtrees share boxes}. A box has the fields
---   members  the vertices of the box, siblings; the first vertex is drawn
---   kids     the boxes below, in the order of the first members
---   by_sign  the boxes below by sign
---   sign     equal for alike siblings
---   use      "free", "part" or "used"
---   out      the state of the vertex, or of the nearest ancestor, that keeps jobs away, or nil
---   cut      whether the children are not in the picture
---   loose    whether a box above has several members: ids differ by member, and are left out

local view = require "weir.view"

local M = {}

M.MOST = 400 -- limit for the boxes of a picture, as far as folding and cutting can reach the limit
local DEPTH_TRIED = 16 -- deeper pictures with too many boxes are cut to DEPTH_TRIED levels first

-- ---- one vertex -------------------------------------------------------------------------------------------------

--- Returns the uses of a vertex by running jobs: their number, the units in use, whether a job has the vertex as a
--- whole, the job if there is a single job, and whether any job, running or to come, uses the vertex.
function M.uses_of(v)
  local uses, n, units, held, job = v:uses(), 0, 0, false, nil
  for _, use in ipairs(uses) do
    if use.active then n, units, held, job = n + 1, units + use.amount, held or use.exclusive, use.job end
  end
  return n, units, held, n == 1 and job or nil, #uses > 0
end

--- Returns whether the name of a vertex is basename and id.
function M.has_usual_name(v) return v.name == v.basename .. (v.id or "") end

-- Returns bits for the subsystems of the edges of each vertex, apart from containment. Numbers of subsystems are taken
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

-- Returns the vertices without a parent, with those in other subsystems only, which are no roots of containment.
local function tops_of(g)
  if not g:edges()() then return g:roots() end
  local tops = {}
  for _, v in ipairs(g:find "size>=0") do
    if not v:parent() then tops[#tops + 1] = v end
  end
  return tops
end

-- ---- signs ------------------------------------------------------------------------------------------------------

-- Replaces a text by a short number, so that signs do not grow with the size of subtrees.
local function intern(f, text)
  local n = f.known[text]
  if n then return n end
  f.nknown = f.nknown + 1
  f.known[text] = f.nknown
  return f.nknown
end

local scan

-- Scans the children of a vertex. Returns the runs of signs as text, or nil without children; whether a job uses a
-- vertex below; whether units below are free.
local function scan_children(f, v, held, out)
  local words, busy, free, run, last = {}, false, false, 0, nil
  for child in v:children() do
    local child_busy, child_free = scan(f, child, held, out)
    local sign = f.shape[child]
    busy, free = busy or child_busy, free or child_free
    if run > 0 and sign ~= last then words[#words + 1], run = last .. "*" .. run, 0 end
    run, last = run + 1, sign
  end
  if run == 0 then return nil, false, false end
  words[#words + 1] = last .. "*" .. run
  return table.concat(words, " "), busy, free
end

local function use_of(busy, held, full)
  if held then return "used" end
  return not busy and "free" or full and "used" or "part"
end

-- Enters use, state and signs of a vertex and of all vertices below; `held` and `out` are inherited. Returns whether a
-- job uses a vertex of the subtree, and whether units of the subtree are free.
function scan(f, v, held, out)
  local n, units, whole, job, touched = M.uses_of(v)
  local state, size = v.state, v.size
  local available = view.is_available(state)
  held = held or whole
  if not available then out = state end
  local kids, busy, free = scan_children(f, v, held, out)
  local use = use_of(busy or n > 0, held, kids and not free or not kids and units >= size)
  local base = ("%s\0%s\0%s\0%d\0%s\0%s\0%s\0%x"):format(v.type, v.basename, v.unit, size, state, out or "", use, f.bits[v] or 0)
  f.use[v], f.out[v], f.shape[v] = use, out, intern(f, kids and base .. "\0" .. kids or base)
  local name = M.has_usual_name(v) and "" or v.name
  f.exact[v] = kids and v or touched and intern(f, ("%s\1%s\0%s\0%d"):format(base, name, job or "", units))
    or intern(f, base .. "\1" .. name)
  return busy or n > 0, available and not whole and (units < size or free)
end

-- Returns the use and the state inherited by the start of the picture.
local function above_of(start)
  local held, out, v = false, nil, start and start:parent()
  while v do
    held = held or select(3, M.uses_of(v))
    out = out or not view.is_available(v.state) and v.state or nil
    v = v:parent()
  end
  return held, out
end

-- ---- boxes ------------------------------------------------------------------------------------------------------

local function new_box(f, v, sign, parent)
  return { members = { v }, kids = {}, by_sign = {}, sign = sign, use = f.use[v], out = f.out[v], parent = parent,
    loose = parent.loose or #parent.members > 1 }
end

-- Makes the boxes of the children of a box, and of `depth` further levels. Returns false where the boxes are more than
-- `limit`.
local function add_boxes(f, box, children, depth)
  for v in children do
    local sign = f.sign_of(v)
    local known = box.by_sign[sign]
    if known then
      known.members[#known.members + 1] = v
    elseif f.n == f.limit then
      return false
    else
      f.n, known = f.n + 1, new_box(f, v, sign, box)
      box.by_sign[sign], box.kids[#box.kids + 1] = known, known
    end
  end
  for _, kid in ipairs(box.kids) do
    local v = kid.members[1]
    kid.cut = depth == 0 and v:nchildren() > 0
    if depth > 0 and not add_boxes(f, kid, v:children(), depth - 1) then return false end
  end
  return true
end

-- Makes all boxes down to a depth, with the signs of vertices as sign_of() tells. Returns whether `limit` boxes were
-- enough.
local function make_boxes(f, sign_of, depth, limit)
  local i = 0
  f.n, f.limit, f.sign_of = 0, limit, sign_of
  f.top = { members = {}, kids = {}, by_sign = {} }
  return add_boxes(f, f.top, function()
    i = i + 1
    return f.tops[i]
  end, depth)
end

local function itself(v) return v end

--- Returns the fold of a graph, or of a vertex and everything below, with as much detail as M.MOST boxes can show; with
--- `all`, each vertex has a box. Time is linear in the vertices.
function M.fold(g, start, all)
  local f = { start = start, tops = start and { start } or tops_of(g), bits = edge_bits(g), known = {},
    nknown = 0, use = {}, out = {}, exact = {}, shape = {}, found = {} }
  local held, out = above_of(start)
  for _, v in ipairs(f.tops) do scan(f, v, held, out) end
  if all then
    make_boxes(f, itself, math.huge, math.huge)
  elseif not make_boxes(f, function(v) return f.exact[v] end, math.huge, M.MOST) then
    local depth = math.huge
    f.shapes = true
    while not make_boxes(f, function(v) return f.shape[v] end, depth, depth > 0 and M.MOST or math.huge) do
      depth = depth > DEPTH_TRIED and DEPTH_TRIED or depth - 1
    end
  end
  return f
end

-- Finds the box of a vertex in the picture, or of the nearest ancestor with a box.
local function find_box(f, v)
  local parent = v ~= f.start and v:parent() or nil
  if not parent then return f.top.by_sign[f.sign_of(v)] end
  local above = M.box_of(f, parent)
  if above.sign ~= f.sign_of(parent) then return above end -- the parent has no box
  return above.by_sign[f.sign_of(v)] or above
end

--- Returns the box of a vertex, or of the nearest ancestor with a box, or nil outside of the picture.
function M.box_of(f, v)
  if not f.use[v] then return nil end
  f.found[v] = f.found[v] or find_box(f, v)
  return f.found[v]
end

return M
