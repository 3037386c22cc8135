--- picture - pictures of a machine and of the resources of jobs: as SVG, as a page with a slider for time, and as a
--- timeline of allocations and reservations.
---
---   local picture = require "weir.html.picture"
---   picture.svg(g, { colour = "state" })     picture.html(g)     picture.timeline(g, { by = "rack" })
---
--- Each function returns the text; or nil, message, code. opts.start, a vertex, limits the picture to the vertex and
--- everything below.

local html = require "weir.html.picture.html"
local timeline = require "weir.html.picture.timeline"

local M = {}

local PLAIN = { use = "job", job = "job", state = "state", type = "type" }

--- Translates the meaning of colours into the word of the format "svg": "use" (jobs), "state", "type",
--- "property:KEY", "tag:KEY". Returns nil, message, "invalid" for any further word.
function M.colour(word)
  if word == nil then return "job" end
  local map, key = word:match "^(%a+)[:.](.+)$"
  if map == "property" or map == "tag" then return map .. "." .. key end
  if PLAIN[word] then return PLAIN[word] end
  return nil, ('colours by "%s": expected one of use, state, type, property:KEY, tag:KEY'):format(word), "invalid"
end

--- Draws the machine as nested rectangles. opts: start, colour, width (320 to 8000 pixels), all (up
--- to a million boxes in place of 8,000).
function M.svg(g, opts)
  opts = opts or {}
  local by, why, code = M.colour(opts.colour)
  if not by then return nil, why, code end
  return g:format("svg", { start = opts.start, by = by, width = opts.width, all = opts.all })
end

--- Makes a page of the machine with tooltips, zoom, search and a slider for time. opts: start, colour, title.
function M.html(g, opts)
  opts = opts or {}
  local by, why, code = M.colour(opts.colour)
  if not by then return nil, why, code end
  return html.machine(g, { start = opts.start, title = opts.title, colour = by == "job" and "use" or by:gsub("%.", ":", 1) })
end

--- Draws allocations and reservations over time. opts: start, width, by: a type with a lane for each vertex (default
--- "node"), or "type", a lane for each type.
M.timeline = timeline.svg

return M
