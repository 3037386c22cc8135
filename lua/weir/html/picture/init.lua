--- picture - a machine as a picture: what it is and who has what, as SVG; the same as a page with a slider for time; what is
--- allocated and reserved over time.
---
---   local picture = require "weir.html.picture"
---   picture.svg(g, { colour = "state" })     picture.html(g)     picture.timeline(g, { by = "rack" })
---
--- Each returns the text; or nil, message, code. opts.start, a vertex: only what is at and below it.

local html = require "weir.html.picture.html"
local timeline = require "weir.html.picture.timeline"

local M = {}

local PLAIN = { use = "job", job = "job", state = "state", type = "type" }

--- What colours stand for, as the picture writer of the core has it: "use" (who has it), "state", "type", "property:KEY",
--- "tag:KEY". Or nil, message, "invalid".
function M.colour(word)
  if word == nil then return "job" end
  local map, key = word:match "^(%a+)[:.](.+)$"
  if map == "property" or map == "tag" then return map .. "." .. key end
  if PLAIN[word] then return PLAIN[word] end
  return nil, ('colours by "%s": one of use, state, type, property:KEY, tag:KEY is wanted'):format(word), "invalid"
end

--- The machine as nested rectangles. opts: start, colour, width (320 to 8000 pixels).
function M.svg(g, opts)
  opts = opts or {}
  local by, why, code = M.colour(opts.colour)
  if not by then return nil, why, code end
  return g:format("svg", { start = opts.start, by = by, width = opts.width })
end

--- The machine as a page with tooltips, zoom, search and a slider for time. opts: start, colour, title.
function M.html(g, opts)
  opts = opts or {}
  local by, why, code = M.colour(opts.colour)
  if not by then return nil, why, code end
  return html.machine(g, { start = opts.start, title = opts.title, colour = by == "job" and "use" or by:gsub("%.", ":", 1) })
end

--- What is allocated and reserved over time. opts: start, by (a type with a lane for each of its vertices; "node" if not
--- given; "type": a lane for each type), width.
M.timeline = timeline.svg

return M
