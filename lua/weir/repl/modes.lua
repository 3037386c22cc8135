--- modes.lua - the output modes of values: table (for people), tree, json, csv.

local json = require "weir.repl.json"
local out = require "weir.cli.output"
local rows = require "weir.repl.rows"
local show = require "weir.repl.show"
local kinds = require "weir.repl.kinds"

local M = {}

local MODES = {
  table = show.value,
  json = function(x) out.json(json.plain(x)) end,
  csv = rows.csv,
}

-- Prints vertices as trees, and all further values as in mode table.
function MODES.tree(x)
  if kinds.of(x) == "vertex" and not rows.is_view(x) then return show.tree(x) end
  if kinds.of(x) == "table" and kinds.of_list(x) == "vertex" then
    for i = 1, math.min(#x, show.lines) do show.tree(x[i]) end
    return
  end
  show.value(x)
end

M.names = { "table", "tree", "json", "csv" }

--- Prints the results of an input; nil and a message are printed as an error.
function M.print(mode, values)
  if values.n >= 2 and values[1] == nil and type(values[2]) == "string" and mode ~= "json" then
    local code = type(values[3]) == "string" and "  (" .. values[3] .. ")" or ""
    return out.line("no: " .. values[2] .. code)
  end
  local n = values.n
  while n > 1 and values[n] == nil do n = n - 1 end
  for i = 1, n do MODES[mode](values[i]) end
end

return M
