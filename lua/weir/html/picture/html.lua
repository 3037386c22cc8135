--- html.lua - a machine as a self-contained page: tooltips, zoom, search, and a slider for time.

local markup = require "weir.html.picture.markup"
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

local function has_colour(data)
  local known = { use = true, state = true, type = true }
  for _, map in ipairs(data.properties) do known[map.word] = true end
  return known[data.colour]
end

--- Returns the page of a graph; or nil, message, "unknown" where no vertex has the property to colour by. opts: start
--- (a vertex: only the vertex and everything below), colour ("use", "state", "type", "property:KEY", "tag:KEY"),
--- title. Time is linear in the vertices; the size of the page is less, as alike subtrees are written once.
function M.machine(g, opts)
  opts = opts or {}
  local data = M.colours(scene.of(g, opts.start))
  data.title, data.colour = opts.title or title_of(g, opts.start), opts.colour or "use"
  if not has_colour(data) then return nil, ("no vertex has the %s"):format((data.colour:gsub(":", " ", 1))), "unknown" end
  return markup.page { title = data.title, data = data,
    css = { "weir.html.picture.common", "weir.html.picture.machine" },
    js = { "weir.html.picture.common", "weir.html.picture.machine_model", "weir.html.picture.machine_layout",
      "weir.html.picture.machine_draw", "weir.html.picture.machine" } }
end

return M
