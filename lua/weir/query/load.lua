--- load.lua - the machine of a session: a graph made by weir's own readers, and what resource-query's output tells of a
-- vertex besides: its number ("uniq_id") and, where that is not weir's, its rank.
--
-- A reader takes a text and options; it returns a graph and a function that makes {number (by vertex), rank (function of a
-- vertex)}; or nil and why.

local grug = require "weir.query.load_grug"
local hwloc = require "weir.query.load_hwloc"
local jgf = require "weir.query.load_jgf"
local rv1 = require "weir.query.load_rv1"

local M = {}

local READ = {
  grug = grug.read, hwloc = hwloc.read, jgf = jgf.read, jgf_shorthand = jgf.read, rv1exec = rv1.read, rv1exec_force = rv1.read,
}

--- The formats that -f takes.
function M.known(format) return READ[format] ~= nil end

-- A recipe of a few lines can ask for any number, and each pool costs the shell a hundred bytes.
local POOLS = 1 << 22

--- A machine from a text, {graph, number, rank}; or nil and why. options: format, source, allowlist (hwloc: types between
-- commas).
function M.read(text, options)
  local graph, mark = READ[options.format](text, options)
  if not graph then return nil, mark end
  local count = graph:count()
  if count == 0 then return nil, "there is nothing in it" end
  if count > POOLS then return nil, ("%d pools; more than %d are not taken"):format(count, POOLS) end
  local machine, why = mark()
  if not machine then return nil, why end
  machine.graph = graph
  return machine
end

return M
