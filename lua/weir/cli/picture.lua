--- picture.lua - weir show --svg, --html, --timeline, --dot, --csv: a machine as a picture or a table, on standard
--- output or in a file.

local files = require "weir.files"
local out = require "weir.cli.output"
local tables = require "weir.tables"

local M = {}

--- The options of weir show for pictures and tables.
M.options = {
  { nil, "dot", nil, "the graph for Graphviz: identical siblings share a box; with --all, each pool has one" },
  { nil, "svg", nil, "a picture of what each job has: cells in the colours of jobs, with a legend; with --all, each pool of a "
    .. "large machine is drawn" },
  { nil, "html", nil, "the same as a page, with details, zoom, search and a slider for time" },
  { nil, "timeline", nil, "a picture of allocations and reservations over time" },
  { nil, "csv", nil, "a table for spreadsheets and databases, one row per pool" },
  { nil, "colour", "WHAT", "--svg, --html: the meaning of colours: use (the default), state, type, property:KEY, tag:KEY" },
  { nil, "by", "TYPE", "--timeline: a lane for each vertex of that type (node if not given); type: a lane for each type" },
  { nil, "width", "PIXELS", "--svg, --timeline: the maximum width, 320 to 8000; 1200 if not given", kind = "count" },
  { "o", "output", "FILE", "pictures and tables: write to this file" },
}

M.formats = { "dot", "svg", "html", "timeline", "csv" }

--- Returns the requested format, or nil.
function M.format(opts)
  for _, name in ipairs(M.formats) do
    if opts[name] then return name end
  end
end

-- Options that apply only to some formats, with these formats.
local ONLY = {
  { "colour", { "svg", "html" } }, { "by", { "timeline" } }, { "width", { "svg", "timeline" } }, { "output", M.formats },
}

local function list_of(formats)
  local words = tables.map(formats, function(name) return "--" .. name end)
  local last = table.remove(words)
  return #words > 0 and table.concat(words, ", ") .. " and " .. last or last
end

--- Fails if an option does not apply to the requested format.
function M.check(opts)
  local format = M.format(opts)
  for _, row in ipairs(ONLY) do
    if opts[row[1]] and not tables.has(row[2], format) then out.fail(2, "show: --%s is for %s", row[1], list_of(row[2])) end
  end
  if format and opts.json then out.fail(2, "show: --json is for trees, totals and pools, not for --%s", format) end
  if format and opts.depth then out.fail(2, "show: --depth is for trees, not for --%s", format) end
end

local MADE = { svg = true, html = true, timeline = true }

-- Formats written piece by piece to the output.
local function stream(g, format, what)
  local written, why, code = g:write(io.stdout, format, what)
  if not written then out.fail(2, code ~= "io" and why or nil) end
end

--- Writes the graph, or the vertex opts[1] with all descendants.
function M.show(g, opts)
  local format, file = M.format(opts), opts.output ~= "-" and opts.output or nil
  local start = opts[1] and out.check(g:vertex(opts[1])) or nil
  local text
  if MADE[format] then
    text = out.check(require("weir.html.picture")[format](g, { start = start, colour = opts.colour, by = opts.by, width = opts.width,
      all = format == "svg" and opts.all or nil }))
  else
    local what = { start = start, all = format == "dot" and opts.all or nil }
    if not file then return stream(g, format, what) end
    text = out.check(g:format(format, what))
  end
  if not file then return out.write(text) end
  out.check(files.write(file, text))
end

return M
