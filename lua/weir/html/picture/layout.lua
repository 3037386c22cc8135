--- layout.lua - sizes and positions of the boxes of a picture, in whole pixels. In a block, the boxes of each type form a
--- grid, row by row in the order of containment; the grids lie below each other. Cells are as large as possible while
--- the page is not too high.
---
--- Sets x, y, w and h of each box, label = width of the name, and over = the cell above in the grid. Boxes of a type in
--- a block have equal sizes, and each box lies inside of its parent.

local texts = require "weir.html.picture.svg_text"

local M = {}

local UNIT_MAX, UNIT_MIN = 96, 3 -- sides of a cell
local RUNS_MAX = 12 -- grids of a block; with more types a single grid has all boxes
local LABEL_MAX = 150 -- limit for widening a block to its name

local function gap_of(page, cells)
  local gap = page.unit >= 14 and 3 or page.unit >= 7 and 2 or 1
  return cells and gap or gap + (page.unit >= 9 and 5 or 2)
end

--- Returns the padding inside of a block.
function M.pad(page, box)
  if box == page[1] then return 0 end
  return page.unit >= 14 and 6 or page.unit >= 7 and 4 or 2
end

local function has_cells_only(box)
  if box.flat == nil then
    box.flat = true
    for _, kid in ipairs(box.kids) do box.flat = box.flat and not kid.kids end
  end
  return box.flat
end

--- Returns the height of the line with the name of a block; 0: the block shows no name.
function M.head(page, box)
  if box == page[1] or not box.kids then return 0 end
  if page.unit >= 16 then return 16 end
  if not has_cells_only(box) then return 14 end
  return page.unit >= 8 and 12 or 0
end

-- ---- grids ------------------------------------------------------------------------------------------------------

local function size_cell(page, box)
  local wide = box.heat or box.fine and box.kind.type ~= page.primary
  box.w, box.h = wide and 2 * page.unit + gap_of(page, true) or page.unit, page.unit
end

-- Returns the grids of a block: lists of boxes of a type.
local function grids_of(block)
  if block.grids then return block.grids end
  local grids, known = {}, {}
  for _, box in ipairs(block.kids) do
    local grid = known[box.kind.type]
    if not grid then
      grid = {}
      known[box.kind.type], grids[#grids + 1] = grid, grid
    end
    grid[#grid + 1] = box
  end
  block.grids = #grids <= RUNS_MAX and grids or { table.move(block.kids, 1, #block.kids, 1, {}) }
  return block.grids
end

local function measure(grid)
  grid.w, grid.h = 0, 0
  for _, box in ipairs(grid) do grid.w, grid.h = math.max(grid.w, box.w), math.max(grid.h, box.h) end
end

local function span(n, each, gap) return n * (each + gap) - gap end

-- Returns the distance of a grid from a good shape: wide, but not too wide, and without an empty corner.
local function ugliness(grid, columns, gap, aspect)
  local rows = (#grid + columns - 1) // columns
  local shape = span(columns, grid.w, gap) / span(rows, grid.h, gap)
  return math.abs(math.log(shape / aspect)) + 8.0 * (rows * columns - #grid) / #grid
end

local function best_columns(grid, gap, aspect)
  local best, most = 1, #grid
  if most > 300 then most = math.floor(6 * math.sqrt(most)) + 8 end
  local least = ugliness(grid, 1, gap, aspect)
  for columns = 2, most do
    local ugly = ugliness(grid, columns, gap, aspect)
    if ugly < least then best, least = columns, ugly end
  end
  return best
end

-- Returns how many columns fit into a width, reduced to the number needed for the rows.
local function fitting_columns(grid, width, gap)
  local columns = math.max(1, (width + gap) // (grid.w + gap))
  if columns >= #grid then return #grid end
  local rows = (#grid + columns - 1) // columns
  return (#grid + rows - 1) // rows
end

-- Places the boxes of a grid below `top`. Returns the lower end.
local function place(grid, columns, left, top, gap)
  for i, box in ipairs(grid) do
    box.x = left + (i - 1) % columns * (grid.w + gap)
    box.y = top + (i - 1) // columns * (grid.h + gap)
    box.w, box.h, box.over = grid.w, grid.h, grid[i - columns]
  end
  return top + span((#grid + columns - 1) // columns, grid.h, gap)
end

-- Returns the common width for the grids of a block: the width of the largest grid in the best shape.
local function inner_width(page, block, gap)
  local grids, width, largest = grids_of(block), 0, nil
  for _, grid in ipairs(grids) do
    measure(grid)
    width = math.max(width, grid.w)
    if not largest or #grid * grid.w * grid.h > #largest * largest.w * largest.h then largest = grid end
  end
  if block == page[1] then return math.max(page.room, width) end
  local best = span(best_columns(largest, gap, page.aspect), largest.w, gap)
  return math.max(M.head(page, block) > 0 and block.label or 0, best, width)
end

-- Places the boxes of a block relative to the block, in a width. Returns the height of the block and the width in use.
local function fill(page, block, width)
  local pad, gap, used = M.pad(page, block), gap_of(page, has_cells_only(block)), 0
  local head = M.head(page, block)
  local top = head > 0 and head or pad
  width = width or inner_width(page, block, gap)
  for _, grid in ipairs(grids_of(block)) do
    measure(grid)
    local columns = fitting_columns(grid, width, gap)
    top = place(grid, columns, pad, top, gap) + gap
    used = math.max(used, span(columns, grid.w, gap))
  end
  return top - gap + pad, used
end

-- Gives a block the size needed for its boxes.
local function arrange(page, block)
  local used
  block.h, used = fill(page, block)
  block.w = math.max(used, M.head(page, block) > 0 and block.label or 0) + 2 * M.pad(page, block)
end

-- ---- the page ---------------------------------------------------------------------------------------------------

-- Computes sizes from the inside out, then positions from the outside in: a block widened to the size of its siblings
-- uses the full width.
local function place_all(page)
  for i = #page, 1, -1 do
    if page[i].kids then arrange(page, page[i]) elseif i > 1 then size_cell(page, page[i]) end
  end
  page.width, page.height = page[1].w or 0, page[1].h or 0
  page[1].x, page[1].y = 0, 0
  for i = 2, #page do
    local box = page[i]
    if box.kids then fill(page, box, box.w - 2 * M.pad(page, box)) end
    box.x, box.y = box.x + box.parent.x, box.y + box.parent.y
  end
end

-- The higher the cells, the lower the limit for the page, so that small cells are not made smaller still.
local function is_good(page, width)
  local most = page.unit >= 12 and width * 3 // 4 or page.unit >= 7 and width * 5 // 4 or width * 3
  return page.height <= most and page.width <= width
end

-- Places the boxes with the largest unit at which the page is not too high.
local function fit(page, width)
  page.unit = UNIT_MAX
  place_all(page)
  while not is_good(page, width) and page.unit > UNIT_MIN do
    page.unit = page.unit - (page.unit > 20 and 2 or 1)
    place_all(page)
  end
end

-- Shapes of blocks that are tried, width to height, until the page is filled to a part of its width.
local ASPECTS, FILLED = { 1.5, 2.5, 4 }, 0.85

--- Places the boxes (see boxes.lua) on a page of a width; sets unit, the side of a small cell, width and height.
function M.place(page, width)
  for i = 2, #page do page[i].label = math.min(LABEL_MAX, texts.width(page[i].name, 11)) end
  page.room = width
  local best
  for _, aspect in ipairs(ASPECTS) do
    page.aspect = aspect
    fit(page, width)
    if page.width >= FILLED * width then return end
    if not best or page.width > best.width then best = { width = page.width, aspect = aspect } end
  end
  page.aspect = best.aspect
  fit(page, width)
end

return M
