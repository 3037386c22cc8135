--- boxes.lua - chooses the boxes of a picture of limited detail. All boxes of a level are opened, level by level, while
--- the next level stays small enough; if too few cells result, the next level is drawn as groups of siblings.
---
--- A box is {p =, q = range of numbers, kind =, shape =, members = number of siblings, parent =, name =, path =, last =
--- name of the last sibling, kids = boxes inside or nil, fine = inside of a node, holder =, next = jobs that have all
--- of the box, now and reserved, state =, heat = whether a cell of several nodes}. A box without kids is a cell. Boxes
--- come after their parents, in the order of containment.

local M = {}

local MOST = 8000 -- boxes
local FINE = 1500 -- boxes, if a level inside of nodes is drawn
local FEW_CELLS, FEW_NODES = 400, 32 -- with fewer cells, a level that is too large is drawn in groups
local GROUPS = 2000

--- The number of boxes to begin with.
M.MOST = MOST

-- ---- opening ----------------------------------------------------------------------------------------------------

-- Returns a box for a vertex in the box `parent`.
local function box_of(m, parent, v)
  local name = m:name_of(v)
  return { p = v.p, q = v.q, kind = v.kind, shape = v.shape, members = 1, parent = parent, name = name,
    id = not m.names[v.p] and v.run.id + v.i * v.run.step or nil, path = parent.path .. "/" .. name, state = parent.state,
    fine = parent.fine or v.kind.type == "node" }
end

-- Finds the state and the holders of the box of a single vertex.
local function describe(m, box)
  local parent = box.parent
  box.holder, box.next = parent.holder, parent.next
  if box.members > 1 then return end
  box.holder, box.next = m:holders(box, parent.holder, parent.next)
  box.state = m:state_at(box.p)
end

-- Makes the boxes inside of a box, each of `members` siblings.
local function open(m, boxes, box, members)
  local kids = {}
  m:each_group(box.shape and box or nil, members, function(v, last, count)
    local kid = box_of(m, box, v)
    if count > 1 then kid.q, kid.members, kid.last = last.q, count, m:name_of(last) end
    describe(m, kid)
    kids[#kids + 1], boxes[#boxes + 1] = kid, kid
  end)
  box.kids = #kids > 0 and kids or nil
end

-- ---- levels -----------------------------------------------------------------------------------------------------

-- Returns the next number of the form 1, 2 or 5 times a power of ten, not below n.
local function round_up(n)
  local unit = 1
  while true do
    for _, k in ipairs { 1, 2, 5 } do
      if unit * k >= n then return unit * k end
    end
    unit = unit * 10
  end
end

local function count_cells(boxes)
  local cells = 0
  for i = 2, #boxes do cells = cells + (boxes[i].kids and 0 or 1) end
  return cells
end

-- Opens the next level, boxes first to last, if not too large. Returns the next level; nil: the boxes are complete.
local function step(m, boxes, first, last, limit)
  local kids, fine, all = 0, 0, #boxes
  for i = first, last do
    local n = (boxes[i].shape or m.top).count
    kids, fine = kids + n, fine + (boxes[i].fine and n or 0)
  end
  local fine_limit = math.min(limit, FINE)
  local members, inside = 1, true
  if kids == 0 then return nil end
  local goes_on = kids + all <= (fine > 0 and fine_limit or limit)
  if not goes_on and fine < kids and kids - fine + all <= limit then
    goes_on, inside = true, false
  elseif not goes_on then
    local most, cells = fine > 0 and fine_limit // 2 or math.min(GROUPS, limit // 2), count_cells(boxes)
    if cells >= (fine > 0 and FEW_NODES or FEW_CELLS) or cells >= limit // 4 then return nil end
    members = round_up((kids + most - 1) // most)
  end
  for i = first, last do
    if inside or not boxes[i].fine then open(m, boxes, boxes[i], members) end
  end
  return goes_on and all + 1 or nil
end

-- Marks the cells of several nodes, and, outside of nodes, those of several vertices of any type.
local function mark_heat(boxes)
  for i = 2, #boxes do
    local box = boxes[i]
    if not box.kids and box.members > 1 then box.heat = not box.fine or box.kind.type == "node"
    elseif not box.kids then box.heat = box.shape.totals.node ~= nil end
    boxes.heat = boxes.heat or box.heat
  end
end

-- Finds the most frequent type of cells inside of nodes, which are drawn as small squares.
local function primary_type(boxes)
  local counts, most, found = {}, 0, nil
  for i = 2, #boxes do
    local type = boxes[i].kind.type
    if not boxes[i].kids and boxes[i].fine then
      counts[type] = (counts[type] or 0) + 1
      if counts[type] > most then most, found = counts[type], type end
    end
  end
  return found
end

--- Returns the boxes of a model, at most `limit`; the first is the page, or the only root in place of the page. The list
--- has heat, whether some cell has, and primary, the most frequent type of cells inside of nodes.
function M.choose(m, limit)
  local page = { p = 0, q = m.count, members = 1, path = m.prefix, state = m.state, holder = m.holder, next = m.later }
  if m.top.count == 1 and m.top.runs[1].shape.count > 0 then
    page = box_of(m, page, m:vertex_at(0))
    describe(m, page)
  end
  local boxes = { page }
  local first, last = 1, 1
  while first do
    first = step(m, boxes, first, last, limit)
    last = #boxes
  end
  mark_heat(boxes)
  boxes.primary = primary_type(boxes)
  return boxes
end

return M
