--- weir -s SOCKET find, show: queries of vertices and trees.

local out = require "weir.cli.output"
local remote = require "weir.cli.remote"
local tables = require "weir.tables"

local M = {}

M.find = {
  name = "-s SOCKET find", doc = "List the vertices that match an expression.", usage = "[OPTION...] EXPRESSION",
  operand = "EXPRESSION", min = 1,
  options = {
    { "F", "format", "FORMAT", "paths (the default), JSON or a count", choices = { "paths", "json", "count" } },
    { "s", "start", "URI", "search only at and below this vertex" },
  },
  notes = "Expressions are those of weir find. Exit status: 0 something was found, 1 nothing was, 2 wrong usage.",
}

function M.find.run(client, opts)
  local format = opts.format or "paths"
  local found = remote.ask(client, "find", {
    expression = table.concat(opts, " "), start = opts.start, fields = format ~= "json" and "path" or nil,
  }).vertices
  if format == "json" then
    out.json(found)
  elseif format == "count" then
    out.line(tostring(#found))
  else
    for _, path in ipairs(found) do out.line(path) end
  end
  return #found > 0 and 0 or 1
end

M.show = {
  name = "-s SOCKET show", doc = "Show the machine, a part of it below one vertex, or one pool in detail.", usage = "[OPTION...] [URI]",
  operand = "URI", max = 1,
  options = {
    { "d", "depth", "N", "the number of levels of the tree", kind = "count" },
    { "a", "all", nil, "do not shorten long lists of siblings" },
    { "t", "totals", nil, "a table by type: total, free, idle" },
    { "f", "full", nil, "one pool: its data, edges and jobs, as JSON" },
    { nil, "json", nil, "the totals as JSON" },
  },
}

local function show_totals(totals, json)
  if json then return out.json(totals) end
  local rows = { { "type", "total", "free", "idle" } }
  for type, row in tables.sorted(totals) do
    rows[#rows + 1] = { type, tostring(row.total), tostring(row.free), tostring(row.idle) }
  end
  out.table(rows, { false, true, true, true })
end

function M.show.run(client, opts)
  if opts.depth == 0 then out.fail(2, "show: --depth: there is always one level") end
  local as = opts.totals and "totals" or opts.full and "pool" or "tree"
  local result = remote.ask(client, "show", { uri = opts[1], as = as, depth = opts.depth, all = opts.all })
  if as == "totals" then
    show_totals(result.totals, opts.json)
  elseif as == "pool" then
    out.json(result)
  else
    for _, tree in ipairs(result.trees) do out.tree(tree) end
  end
end

return M
