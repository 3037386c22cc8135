--- json.lua - any value as JSON; handles as in the --json output of commands.

local allocations = require "weir.plain"
local core = require "weir.core"
local kinds = require "weir.repl.kinds"
local pool = require "weir.cli.vertex_report"
local rows = require "weir.repl.rows"
local tables = require "weir.tables"

local M = {}

local plain

local PLAIN = {
  vertex = function(v) return rows.is_view(v) and tables.copy(v) or pool.base(v) end,
  graph = function(g) return { vertices = g:count(), below = g:aggregate(nil, { all = true }) } end,
  allocation = allocations.allocation,
  number = function(n) return allocations.is_finite(n) and n or tostring(n) end,
  string = function(s) return utf8.len(s) and s or ("%q"):format(s) end,
  boolean = function(b) return b end,
  ["nil"] = function() return core.null end,
}

function PLAIN.table(t, depth)
  if depth > 50 then return "..." end
  local list = #t > 0 and next(t, #t) == nil
  local made = (list or next(t) == nil) and core.array {} or {}
  for key, value in pairs(t) do made[list and key or tostring(key)] = plain(value, depth + 1) end
  return made
end

function plain(x, depth)
  if x == kinds.null then return x end
  local f = PLAIN[kinds.of(x)]
  if f then return f(x, depth) end
  return tostring(x)
end

--- Returns a value as plain data for json_encode.
function M.plain(x) return plain(x, 0) end

return M
