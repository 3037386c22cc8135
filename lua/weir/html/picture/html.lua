--- html.lua - a machine as a self-contained page: tooltips, zoom, search, and a slider for time.

local boxes = require "weir.html.picture.boxes"
local core = require "weir.core"
local layout = require "weir.html.picture.layout"
local markup = require "weir.html.picture.markup"
local model = require "weir.html.picture.model"
local palette = require "weir.html.picture.palette"
local scene = require "weir.html.picture.scene"

local M = {}

local function title_of(g, start)
  if start then return start.path end
  local names = {}
  for i, v in ipairs(g:roots()) do
    if i > 4 then
      names[5] = "..."
      break
    end
    names[i] = v.name
  end
  return #names > 0 and table.concat(names, ", ") or "nothing"
end

--- Adds the colours common to all pages to `data`. Returns `data`.
function M.colours(data)
  data.hues, data.states_colours, data.frees = palette.hues, palette.states, palette.frees
  data.themes = { light = palette.light, dark = palette.dark }
  return data
end

-- Returns numbers with as many digits as a picture needs.
local function short(...)
  local list = { ... }
  for i, x in ipairs(list) do list[i] = math.tointeger(x) or tonumber(("%.5g"):format(x)) end
  return table.unpack(list)
end

-- Returns a layout as flat lists: {w, h, head, pad, smallest, grids, frames, notes}.
local function plan_of(layouts, l)
  local grids, frames, notes = core.array {}, core.array {}, core.array {}
  for i, r in ipairs(l.grids) do
    grids[i] = { r.first, r.count, r.cols, r.layout and layouts[r.layout] or -1, r.note or "", short(r.x, r.y, r.w, r.h, r.gap) }
  end
  for i, r in ipairs(l.frames) do frames[i] = { r.text or "", short(r.x, r.y, r.w, r.h) } end
  for i, r in ipairs(l.notes) do notes[i] = { short(r.x, r.y, r.w, r.h) } end
  local w, h, head, pad, smallest = short(l.w, l.h, l.head, l.pad, math.min(l.smallest, 1e9))
  return { w, h, head, pad, smallest, grids, frames, notes }
end

-- Returns the layout of a scene for the page: {page, list of layouts, the layout of each shape, whether the only root is the
-- sheet, and what is opened}.
local function layout_of(s, start)
  local m = model.of(s, start)
  local plan, numbers, list, shapes = layout.of(m), {}, core.array {}, core.array {}
  for i, l in ipairs(plan.list) do numbers[l] = i - 1 end
  for i, l in ipairs(plan.list) do list[i] = plan_of(numbers, l) end
  for i, shape in ipairs(m.shapes) do shapes[i] = plan.of_shape[shape] and numbers[plan.of_shape[shape]] or -1 end
  return { page = plan_of(numbers, plan.page), list = list, shapes = shapes, single = plan.single, most = layout.CELL_MOST,
    open = boxes.OPEN, open_large = boxes.OPEN_LARGE, large = boxes.LARGE, head = boxes.HEAD, head_width = boxes.HEAD_WIDTH }
end

local function has_colour(data)
  local known = { use = true, state = true, type = true }
  for _, map in ipairs(data.properties) do known[map.word] = true end
  return known[data.colour]
end

--- Returns the page of a graph; or nil, message, "unknown" where no vertex has the property to colour by. opts: start
--- (a vertex: only the vertex and everything below), colour ("use", "state", "type", "property:KEY", "tag:KEY"),
--- title. Time is linear in the vertices; the size of the page is less, as identical subtrees are written once.
function M.machine(g, opts)
  opts = opts or {}
  local data = M.colours(scene.of(g, opts.start))
  data.layout, data.degraded = layout_of(data, opts.start), palette.degraded
  data.title, data.colour = opts.title or title_of(g, opts.start), opts.colour or "use"
  if not has_colour(data) then return nil, ("no vertex has the %s"):format((data.colour:gsub(":", " ", 1))), "unknown" end
  return markup.page { title = data.title, data = data,
    css = { "weir.html.picture.common", "weir.html.picture.machine" },
    js = { "weir.html.picture.common", "weir.html.picture.machine_model", "weir.html.picture.machine_layout",
      "weir.html.picture.machine_draw", "weir.html.picture.machine" } }
end

return M
