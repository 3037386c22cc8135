--- layout.lua - the place of everything of a machine in a picture: the one layout of SVG pictures and of pages.
---
--- Lengths are in units of the smallest cells. Identical parts are laid out once, as a layout: the children of a vertex in
--- rows, grids of identical siblings one after the other. A grid is {first =, count = children by ordinal, from 0; cols =, x =,
--- y =, w =, h = of each, gap =, layout = of each, nil for cells, note = a line for each cell}. A layout is
--- {grids =, frames = {x =, y =, w =, h =, text =} around the cells that share a cache, notes = {x =, y =, w =, h =} of the
--- adapters in the property "nics", w =, h =, head = height of the line with the name, pad =, smallest = smallest side of a
--- cell}. Vertices of unlike ids may have one layout.
---
--- Each vertex is laid out for several proportions, from the leaves upward; then from the top downward each takes the
--- proportions with which the whole machine is largest on a sheet.

local palette = require "weir.html.picture.palette"

local M = {}

local SHEET, ASPECT = 1100, 1.4 -- width in pixels for which lines of names are planned, and width : height
local FLAT, FEW = 2.6, 24 -- the same of machines with few leaves
local HEAD, HEAD_PIXELS = 0.21, 15 -- of the smaller side, and at most
local GAP, GAP_PIXELS, CELL_GAP_PIXELS = 0.07, 9, 3
local PAD, PAD_PIXELS = 0.03, 6
local TARGETS = { 0.4, 0.7, 1.05, 1.5, 2.2, 3.5, 6 } -- proportions that are tried
local LONG = 0.08 -- how much more sheet may be taken for what is inside to be less long
local FINER, COARSER, MANY = 1.07, 1.25, 300 -- steps of widths; from so many rows of items on, coarser

--- The names of the properties that a layout knows.
M.CACHES, M.NICS = "property:caches", "property:nics"

--- The largest side of a smallest cell in a picture, in pixels.
M.CELL_MOST = 150

-- ---- what is laid out -------------------------------------------------------------------------------------------

-- Reads the text of caches, such as "8 L3 of 16 MB, 24 L2 of 512 KB", for n cores: the number of groups of cores that share
-- a cache, with the text of the cache, and the text of the largest cache of one core. Any of them may be nil.
local function caches_of(text, n)
  local groups, shared, own
  for count, name, size in (text or ""):gmatch "(%d+) (L%w+) of ([%d.]+ %a+)" do
    count = tonumber(count)
    local words = name .. " " .. size
    if count == n then own = own or words
    elseif count < n and n % count == 0 and (not groups or groups == count) then
      groups, shared = count, shared and shared .. ", " .. words or words
    end
  end
  return groups, shared, own
end

--- Returns whether leaves of a kind are twice as wide as high, as they have more text than a name.
local function is_wide(kind) return kind.size > 1 or palette.frees[kind.type] ~= nil end

-- Returns the items of a shape: identical neighbours {type =, count =, first =, layout =, w =, h =}, and a text that is equal for
-- identical shapes.
local function items_of(c, shape, hint)
  local items, words, ordinal = {}, {}, 0
  for _, run in ipairs(shape.runs) do
    local layout, type = c.of_shape[run.shape], run.kind.type
    local wide, last = not layout and is_wide(run.kind), items[#items]
    if last and last.type == type and last.layout == layout and (layout or last.wide == wide) then
      last.count = last.count + run.count
    else
      items[#items + 1] = { type = type, count = run.count, first = ordinal, layout = layout, wide = wide, w = wide and 2 or 1, h = 1 }
    end
    ordinal = ordinal + run.count
  end
  for i, item in ipairs(items) do
    if hint and item.type == "core" and not item.layout and item.count == shape.totals.core then -- else caches are others', too
      item.groups, item.shared, item.note = caches_of(hint.caches, item.count)
    end
    words[i] = ("%s\0%d\0%s\0%s\0%s\0%s"):format(item.type, item.count, item.layout and item.layout.number or item.w, item.groups,
      item.shared, item.note)
  end
  words[#words + 1] = hint and hint.nics or 0
  items.notes = hint and hint.nics or 0
  return items, table.concat(words, "\1")
end

-- ---- rows -------------------------------------------------------------------------------------------------------

local function gap_of(c, item, w, h)
  return math.min(GAP * math.min(w, h), (item.layout and GAP_PIXELS or CELL_GAP_PIXELS) / c.scale)
end

local function new_row(f)
  f.y = f.y + f.row
  f.x, f.row = 0, 0
end

local function put(f, grid, high)
  f.right = math.max(f.right, f.x + grid.cols * (grid.w + grid.gap) - grid.gap)
  f.row = math.max(f.row, high)
  f.grids[#f.grids + 1] = grid
end

-- Places the cells that share caches in frames, as many side by side as there is room for.
local function put_groups(c, f, item, gap)
  local each, pad, head = item.count // item.groups, 2 * gap, math.min(0.3, HEAD_PIXELS / c.scale)
  local cols = math.min(each, math.max(1, math.floor((f.width - 2 * pad + gap + 1e-9) / (1 + gap))))
  local rows = (each + cols - 1) // cols
  cols = (each + rows - 1) // rows
  local w, h = cols * (1 + gap) - gap + 2 * pad, rows * (1 + gap) - gap + head + pad
  for i = 0, item.groups - 1 do
    if f.x > 0 and f.x + w > f.width + 1e-9 then new_row(f) end
    f.frames[#f.frames + 1] = { x = f.x, y = f.y, w = w, h = h, text = item.shared }
    f.grids[#f.grids + 1] = { first = item.first + i * each, count = each, cols = cols, x = f.x + pad, y = f.y + head, w = 1, h = 1,
      gap = gap, note = item.note }
    f.right, f.row = math.max(f.right, f.x + w), math.max(f.row, h + 2 * gap)
    f.x = f.x + w + 2 * gap
  end
  f.last = 2 * gap
end

-- Places identical siblings in grids: the rest of the row, whole rows, and what is left.
local function put_grids(f, item, w, h, gap)
  local cols, left = math.max(1, math.floor((f.width + gap + 1e-9) / (w + gap))), item.count
  while left > 0 do
    if f.x > 0 and f.x + w > f.width + 1e-9 then new_row(f) end
    local whole = f.x == 0 and left >= cols
    local n = whole and left - left % cols or math.min(left, math.max(1, math.floor((f.width - f.x + gap + 1e-9) / (w + gap))))
    local across = whole and cols or n
    put(f, { first = item.first + item.count - left, count = n, cols = across, x = f.x, y = f.y, w = w, h = h, gap = gap,
      layout = item.layout, note = item.note }, (n + across - 1) // across * (h + gap))
    f.x = f.x + across * (w + gap)
    if whole then new_row(f) end
    left = left - n
  end
  f.last = gap
end

-- Places items in rows of at most `width`. Types begin a row each, but devices, which share rows. size(item) returns width
-- and height.
local function flow(c, items, width, size)
  local f = { grids = {}, frames = {}, notes = {}, x = 0, y = 0, row = 0, right = 0, last = 0, width = width }
  local before
  for _, item in ipairs(items) do
    local w, h = size(item)
    local gap = gap_of(c, item, w, h)
    if f.x > 0 and not (before and before.type == item.type or before and before.wide and item.wide) then new_row(f) end
    if item.groups then put_groups(c, f, item, gap) else put_grids(f, item, w, h, gap) end
    before = item
  end
  if items.notes > 0 then
    local item = { first = 0, count = items.notes }
    if f.x > 0 and not (before and before.wide) then new_row(f) end
    local behind = #f.grids
    put_grids(f, item, 2, 1, gap_of(c, item, 2, 1))
    for i = behind + 1, #f.grids do
      local grid = f.grids[i]
      f.grids[i] = nil
      for n = 0, grid.count - 1 do
        f.notes[#f.notes + 1] = { x = grid.x + n % grid.cols * (2 + grid.gap), y = grid.y + n // grid.cols * (1 + grid.gap), w = 2, h = 1 }
      end
    end
  end
  new_row(f)
  f.w, f.h = f.right, math.max(0, f.y - f.last)
  return f
end

-- Calls visit(width) for the widths that are worth a try.
local function each_width(c, items, size, visit)
  local area, widest = 0, 0
  for _, item in ipairs(items) do
    local w, h = size(item)
    local gap = gap_of(c, item, w, h)
    area, widest = area + item.count * (w + gap) * (h + gap) * (item.groups and 1.3 or 1), math.max(widest, w)
  end
  area = area + 2 * items.notes
  if area <= 0 then return visit(0) end
  local ratio = #items > MANY and COARSER or FINER
  local width, most = math.max(widest, math.sqrt(area * TARGETS[1] * 0.8)), math.sqrt(area * TARGETS[#TARGETS] * 1.4)
  repeat
    visit(width)
    width = width * ratio
  until width > most
end

-- Returns the area of a sheet of the proportions `aspect` on which w x h fit.
local function sheet_of(w, h, aspect) return math.max(w, h * aspect) ^ 2 / aspect end

-- Returns width, height, height of the line with the name, and padding of a block around w x h.
local function framed(c, w, h)
  local side = math.min(w, h)
  local head = math.min(HEAD * side, HEAD_PIXELS / c.scale)
  local pad = math.min(PAD * side, PAD_PIXELS / c.scale, head / 2)
  return w + 2 * pad, h + head + pad, head, pad
end

-- ---- proportions ------------------------------------------------------------------------------------------------

-- Returns a function with the size of an item whose layouts have their best sizes for the proportions number t.
local function tried(t)
  return function(item)
    if not item.layout then return item.w, item.h end
    local best = item.layout.best[t]
    return best.w, best.h
  end
end

local function settled(item)
  if not item.layout then return item.w, item.h end
  return item.layout.w, item.layout.h
end

-- Finds the best size of a layout for each of the proportions: best[t] = {w =, h =, inner = proportions of what is inside}.
local function try(c, layout)
  local best, inner = {}, 1
  for _, item in ipairs(layout.items) do inner = item.layout and #TARGETS or inner end
  for i = 1, inner do
    local size, long = tried(i), inner > 1 and 1 + LONG * math.abs(math.log(TARGETS[i] / ASPECT)) or 1
    each_width(c, layout.items, size, function(width)
      local f = flow(c, layout.items, width, size)
      local w, h = framed(c, f.w, f.h)
      for t, aspect in ipairs(TARGETS) do
        local area = long * sheet_of(w, h, aspect)
        if not best[t] or area < best[t].area then best[t] = { area = area, w = w, h = h, inner = i } end
      end
    end)
  end
  layout.best = best
end

-- Lays out the items with what is inside as settled, for the proportions `aspect`.
local function settle(c, layout, aspect, is_page)
  local best, smallest = nil, math.huge
  each_width(c, layout.items, settled, function(width)
    local f = flow(c, layout.items, width, settled)
    local w, h = f.w, f.h
    if not is_page then w, h = framed(c, w, h) end
    if sheet_of(w, h, aspect) < smallest - 1e-9 then best, smallest = f, sheet_of(w, h, aspect) end
  end)
  layout.grids, layout.frames, layout.notes = best.grids, best.frames, best.notes
  layout.w, layout.h, layout.head, layout.pad = best.w, best.h, 0, 0
  if not is_page then layout.w, layout.h, layout.head, layout.pad = framed(c, best.w, best.h) end
  layout.smallest = math.huge
  for _, grid in ipairs(best.grids) do layout.smallest = math.min(layout.smallest, grid.w, grid.h) end
end

-- Gives the layouts inside of a layout the proportions that are best for it, unless others were quicker.
local function hand_down(layout, t)
  for _, item in ipairs(layout.items) do
    if item.layout then item.layout.target = item.layout.target or layout.best[t].inner end
  end
end

-- Returns the number of the proportions that are nearest.
local function nearest(aspect)
  local found, smallest = 1, math.huge
  for t, x in ipairs(TARGETS) do
    local off = math.abs(math.log(x / aspect))
    if off < smallest then found, smallest = t, off end
  end
  return found
end

-- ---- the machine ------------------------------------------------------------------------------------------------

-- Returns the layouts of all shapes, those inside before those around: c.list, c.of_shape.
local function gather(c, m, hints)
  local known = {}
  for _, shape in ipairs(m.shapes) do
    if shape.count > 0 then
      local items, key = items_of(c, shape, hints[shape])
      if not known[key] then
        known[key] = { items = items, number = #c.list + 1 }
        c.list[#c.list + 1] = known[key]
      end
      c.of_shape[shape] = known[key]
    end
  end
end

-- Returns what the properties of a machine say of its shapes: by shape, {caches = text, nics = number}.
local function hints_of(m)
  local hints = {}
  local function note(word, set)
    local property = m:property(word)
    for _, mark in ipairs(property.outer) do
      local v = m:vertex_at(mark.p)
      if v.shape.count > 0 and type(mark.value) == "string" then
        hints[v.shape] = hints[v.shape] or {}
        set(hints[v.shape], mark.value)
      end
    end
  end
  note(M.CACHES, function(hint, text) hint.caches = hint.caches or text end)
  note(M.NICS, function(hint, text) hint.nics = math.max(hint.nics or 0, #M.nics(text)) end)
  return hints
end

--- Returns the adapters in a text such as "eth0 0000:81:00.0; ib0 mlx5_0 0000:04:00.0": a list of texts.
function M.nics(text)
  local list = {}
  for word in text:gmatch "[^;]+" do list[#list + 1] = word:match "^%s*(.-)%s*$" end
  return list
end

local function leaves_of(shape)
  shape.leaves = shape.leaves or 0
  if shape.leaves > 0 then return shape.leaves end
  for _, run in ipairs(shape.runs) do
    shape.leaves = shape.leaves + run.count * (run.shape.count > 0 and leaves_of(run.shape) or 1)
  end
  return shape.leaves
end

--- Returns the layout of a model: {page = the layout of the sheet, list = all layouts, of_shape = by shape, single =
--- whether the only root is the sheet}. width: of the sheet in pixels, which decides where there is room for names; 1100 if not
--- given. Time is linear in the different looks of vertices, at most a few hundred trials
--- for each.
function M.of(m, width)
  local hints = hints_of(m)
  local single = m.top.count == 1 and m.top.runs[1].shape.count > 0
  local top = single and m.top.runs[1].shape or m.top
  local leaves = math.max(1, leaves_of(top))
  local aspect = leaves < FEW and FLAT or ASPECT
  width = width or SHEET
  local scale = width / math.sqrt(leaves * 1.4 * aspect)
  local c, page
  for _ = 1, 3 do
    c = { scale = scale, list = {}, of_shape = {} }
    gather(c, m, hints)
    page = { items = items_of(c, top, hints[top]) }
    for _, layout in ipairs(c.list) do try(c, layout) end
    try(c, page)
    hand_down(page, nearest(aspect))
    for i = #c.list, 1, -1 do hand_down(c.list[i], c.list[i].target or nearest(aspect)) end
    for _, layout in ipairs(c.list) do settle(c, layout, TARGETS[layout.target or nearest(aspect)]) end
    settle(c, page, aspect, true)
    scale = width / math.max(page.w, page.h * aspect, 1e-9)
  end
  return { page = page, list = c.list, of_shape = c.of_shape, single = single }
end

return M
