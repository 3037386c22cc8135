--- load.lua - the machine of a session: a graph made by weir's own readers, and what resource-query's output tells of a
-- vertex besides: its number ("uniq_id") and, where that is not weir's, its rank.
--
-- A machine: {graph, number (by vertex), rank (function of a vertex)}.

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

--- A machine from a text; or nil and why. options: format, source, allowlist (hwloc: types between commas).
function M.read(text, options)
  local machine, why = READ[options.format](text, options)
  if not machine then return nil, why end
  if machine.graph:count() == 0 then return nil, "there is nothing in it" end
  return machine
end

return M
