--- picture.lua - weir show --dot, --svg, --csv: a machine as a picture or a table, on standard output or in a file.

local files = require "weir.files"
local out = require "weir.cli.output"

local M = {}

--- Options of weir show.
M.options = {
  { nil, "dot", nil, "the graph for Graphviz: siblings that are alike are one box; with --all, each pool is" },
  { nil, "svg", nil, "a picture of who has what: cells in the colours of jobs, with a legend" },
  { nil, "csv", nil, "a table for spreadsheets and databases, a row a pool" },
  { nil, "by", "WHAT", "--svg: what colours stand for: job (the default), state, type, property.KEY, tag.KEY" },
  { nil, "width", "PIXELS", "--svg: how wide it may be, 320 to 8000; 1200 if not given", kind = "count" },
  { "o", "output", "FILE", "--dot, --svg, --csv: into that file" },
}

local FORMATS = { "dot", "svg", "csv" }

--- The format that is asked for, or nil.
function M.format(opts)
  for _, name in ipairs(FORMATS) do
    if opts[name] then return name end
  end
end

-- Options, and the formats that have them.
local ONLY = { { "by", svg = true }, { "width", svg = true }, { "output", dot = true, svg = true, csv = true } }

--- Fails where an option is given to what cannot have it.
function M.check(opts)
  local format = M.format(opts)
  for _, row in ipairs(ONLY) do
    if opts[row[1]] and not row[format] then
      out.fail(2, "show: --%s is for %s", row[1], row.csv and "--dot, --svg and --csv" or "--svg")
    end
  end
  if format and opts.json then out.fail(2, "show: --json is for trees, totals and pools, not for --%s", format) end
  if format and opts.depth then out.fail(2, "show: --depth is for trees, not for --%s", format) end
end

local function save(g, path, format, what)
  local text, why = g:format(format, what)
  local saved = text
  if text then saved, why = files.write(path, text) end
  if not saved then out.fail(2, why) end
end

--- Writes the graph, or what is at and below the vertex opts[1].
function M.show(g, opts)
  local format = M.format(opts)
  local what = { start = opts[1] and out.check(g:vertex(opts[1])) or nil, by = opts.by, width = opts.width,
    all = format == "dot" and opts.all or nil }
  if opts.output and opts.output ~= "-" then return save(g, opts.output, format, what) end
  local written, why, code = g:write(io.stdout, format, what)
  if not written then out.fail(2, code ~= "io" and why or nil) end
end

return M
