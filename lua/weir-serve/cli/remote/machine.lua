--- weir -s SOCKET find, show: queries of vertices and trees.

local out = require "weir.cli.output"
local remote = require "weir.cli.remote"
local show = require "weir.cli.show"
local tables = require "weir.tables"
local weir = require "weir"

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

-- The options of weir show that choose another machine, or jobs to be matched first.
local OTHER = tables.set { "resources", "job", "policy", "reserve" }

M.show = {
  name = "-s SOCKET show", doc = show.doc, usage = "[OPTION...] [URI]", operand = "URI", max = 1,
  options = tables.filter(show.options, function(option) return not OTHER[option[2]] end),
  notes = [[
A URI is that of weir show. All but a plain tree is drawn here, from the state that the service sends.

  weir -s SOCKET show --html -o now.html
  weir -s SOCKET show --timeline --by rack -o racks.svg]],
}

-- Whether the service draws the tree itself: it then need not send the state of each vertex.
local function is_plain(opts)
  for name in pairs(opts) do
    if name ~= 1 and name ~= "tree" and name ~= "depth" and name ~= "all" then return false end
  end
  return opts.depth ~= 0
end

function M.show.run(client, opts)
  if is_plain(opts) then
    for _, tree in ipairs(remote.ask(client, "show", { uri = opts[1], as = "tree", depth = opts.depth, all = opts.all }).trees) do
      out.tree(tree)
    end
    return
  end
  show.show(opts, function()
    return out.check(weir.parse(remote.ask(client, "save", { format = "document" }).text, { format = "document" }))
  end)
end

return M
