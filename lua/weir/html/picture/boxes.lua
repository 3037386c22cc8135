--- boxes.lua - the boxes of an SVG picture, in whole pixels: what a page with the same layout shows on its first screen, as far
--- as the number of boxes stays small. Where too few cells result, the children of closed boxes are drawn as groups of
--- siblings.
---
--- A box is {p =, q = range of numbers, kind =, shape =, layout =, members = number of siblings, parent =, name =, path =,
--- last = name of the last sibling, kids = boxes inside or nil, fine = inside of a node, holder =, next = jobs that have all
--- of the box, now and reserved, state =, heat = whether a cell of several nodes; x =, y =, w =, h =, over = the cell above in
--- the grid, note = a line to write in a cell}. A box without kids is a cell. Boxes come after their parents, in the order of
--- containment.

local layouts = require "weir.html.picture.layout"
local times = require "weir.html.picture.times"

local M = {}

--- The number of boxes to begin with.
M.MOST = 8000

--- Pixels of the smallest side of what is in a box that is opened; where the box is wider than LARGE pixels.
M.OPEN, M.OPEN_LARGE, M.LARGE = 3.2, 1.6, 300
--- Pixels of the height and the width of a block that has a line with its name.
M.HEAD, M.HEAD_WIDTH = 8, 22

local FEW_CELLS, GROUPS = 400, 2000 -- with fewer cells, what is in closed boxes is drawn as so many groups

-- ---- opening ----------------------------------------------------------------------------------------------------

-- Returns how coarse a picture may be for a layout to be opened, where `w` is the width of a box of the layout.
local function openness(page, layout, w)
  return layout.smallest * page.scale / (w * page.scale > M.LARGE and M.OPEN_LARGE or M.OPEN)
end

local function is_open(page, layout, w) return openness(page, layout, w) >= page.coarse end

-- Returns the number of boxes and of cells in a layout. known: those of layouts seen before.
local function count(page, layout, known)
  if known[layout] then return known[layout].boxes, known[layout].cells end
  local boxes, cells = 0, 0
  for _, grid in ipairs(layout.grids) do
    boxes = boxes + grid.count
    if grid.layout and is_open(page, grid.layout, grid.w) then
      local inner, inside = count(page, grid.layout, known)
      boxes, cells = boxes + grid.count * inner, cells + grid.count * inside
    else
      cells = cells + grid.count
    end
  end
  known[layout] = { boxes = boxes, cells = cells }
  return boxes, cells
end

-- Returns the number of vertices right below closed boxes.
local function below_closed(page, layout)
  local n = 0
  for _, grid in ipairs(layout.grids) do
    if grid.layout and is_open(page, grid.layout, grid.w) then n = n + grid.count * below_closed(page, grid.layout)
    elseif grid.layout then
      for _, inner in ipairs(grid.layout.grids) do n = n + grid.count * inner.count end
    end
  end
  return n
end

-- Returns in ascending order how coarse a page can be for each of its layouts to be opened.
local function coarsenesses(page)
  local list = {}
  local function note(layout)
    for _, grid in ipairs(layout.grids) do
      if grid.layout then list[#list + 1] = openness(page, grid.layout, grid.w) end
    end
  end
  for _, layout in ipairs(page.plan.list) do note(layout) end
  note(page.plan.page)
  table.sort(list)
  return list
end

-- Chooses how coarse a page is: the layouts with the smallest content are closed, as few as lead to at most `limit` boxes.
local function choose_coarseness(page, limit)
  page.coarse = 1
  if count(page, page.plan.page, {}) <= limit then return end
  local list = coarsenesses(page)
  local lo, hi = 1, #list
  while lo < hi do
    local mid = (lo + hi) // 2
    page.coarse = list[mid] * (1 + 1e-9)
    if count(page, page.plan.page, {}) <= limit then hi = mid else lo = mid + 1 end
  end
  page.coarse = math.max(1, (list[lo] or 1) * (1 + 1e-9))
end

-- Chooses how coarse a page is, and the number of siblings in a group, if boxes are drawn so.
local function limit_detail(page, limit)
  choose_coarseness(page, limit)
  local _, cells = count(page, page.plan.page, {})
  local at_top = 0
  for _, grid in ipairs(page.plan.page.grids) do at_top = at_top + grid.count end
  page.members, page.top_members = nil, 1
  local most = math.max(1, math.min(GROUPS, limit // 2))
  if at_top > limit then page.top_members = math.tointeger(times.round_up((at_top + most - 1) // most))
  elseif cells < FEW_CELLS and page.coarse > 1 and cells < limit // 4 then
    page.members = math.tointeger(times.round_up((below_closed(page, page.plan.page) + most - 1) // most))
  end
end

-- ---- boxes ------------------------------------------------------------------------------------------------------

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

local function round(x) return math.floor(x + 0.5) end

-- Places a box on the page, its edges on whole pixels.
local function place(page, box, x, y, w, h)
  box.fx, box.fy = x, y
  box.x, box.y = round(x), round(y)
  box.w, box.h = math.max(1, round(x + w) - box.x), math.max(1, round(y + h) - box.y)
  box.layout, box.wide = page.plan.of_shape[box.shape], w / page.scale
end

-- Makes the boxes of the vertices a to b of a grid, in the rectangle of columns and rows that they take.
local function add_box(page, boxes, parent, grid, a, b)
  local m, v = page.model, parent.shape and parent or nil
  local box = box_of(m, parent, m:child(v, grid.first + a))
  if b > a then
    local last = m:child(v, grid.first + b)
    box.q, box.members, box.last = last.q, b - a + 1, m:name_of(last)
  end
  describe(m, box)
  local k, cols = page.scale, math.min(grid.cols, b - a + 1)
  local rows, right, down = b // grid.cols - a // grid.cols + 1, grid.w + grid.gap, grid.h + grid.gap
  local layout = parent.layout or page.plan.page
  place(page, box, parent.fx + k * (layout.pad + grid.x + a % grid.cols * right),
    parent.fy + k * (layout.head + grid.y + a // grid.cols * down), k * (cols * right - grid.gap), k * (rows * down - grid.gap))
  box.note = b == a and grid.note or nil
  parent.kids[#parent.kids + 1], boxes[#boxes + 1] = box, box
  return box
end

-- Makes the boxes of a grid, each of `members` siblings: of whole rows, or of neighbours in a row.
local function add_grid(page, boxes, parent, grid, members)
  local rows = members >= grid.cols and members // grid.cols or 1
  local across = members >= grid.cols and grid.cols or members
  local above = {}
  for top = 0, (grid.count - 1) // grid.cols, rows do
    for left = 0, grid.cols - 1, across do
      local a = top * grid.cols + left
      local b = math.min(grid.count, rows > 1 and (top + rows) * grid.cols or top * grid.cols + math.min(left + across, grid.cols)) - 1
      if a <= b then
        local box = add_box(page, boxes, parent, grid, a, b)
        box.over, above[left] = above[left], box
      end
    end
  end
end

local function open(page, boxes, parent, members)
  local layout = parent.layout or page.plan.page
  parent.kids = {}
  for _, grid in ipairs(layout.grids) do add_grid(page, boxes, parent, grid, members) end
  if #parent.kids == 0 then parent.kids = nil end
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

--- Returns the boxes of a model in a layout (see layout.lua), at most `limit`, on a sheet `width` pixels wide. The first is
--- the sheet, or the only root in place of the sheet. The list has model, plan, scale = pixels of a unit, width and
--- height, and heat, whether some cell is of several nodes.
function M.choose(m, plan, limit, width)
  local sheet = plan.page
  local page = { model = m, plan = plan, scale = math.min(layouts.CELL_MOST, width / math.max(sheet.w, 1e-9)) }
  limit_detail(page, math.max(1, limit))
  local root = { p = 0, q = m.count, members = 1, path = m.prefix, state = m.state, holder = m.holder, next = m.later }
  if plan.single then
    root = box_of(m, root, m:vertex_at(0))
    describe(m, root)
  end
  root.fx, root.fy = 0, 0
  page[1] = root
  open(page, page, root, page.top_members)
  local at = 2
  while page[at] do
    local box = page[at]
    if box.members == 1 and box.layout and is_open(page, box.layout, box.wide) then open(page, page, box, 1)
    elseif box.members == 1 and box.layout and page.members then open(page, page, box, page.members) end
    at = at + 1
  end
  page.width, page.height = round(page.scale * sheet.w), round(page.scale * sheet.h)
  mark_heat(page)
  return page
end

return M
