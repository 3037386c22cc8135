--- load.lua - loads the machine of a session with weir's own readers, and adds two attributes of vertices for the
-- output of resource-query: the number ("uniq_id"), and the rank where resource-query's differs from weir's.
--
-- A reader takes a text and options. A reader returns a graph and a function with the result {number (by vertex),
-- rank (a function of a vertex), paths (by vertex, as of machine:paths(); or nil where the graph has them)}; or nil and a
-- reason.

local grug = require "weir.query.load_grug"
local hwloc = require "weir.query.load_hwloc"
local jgf = require "weir.query.load_jgf"
local rv1 = require "weir.query.load_rv1"

local M = {}

local READ = {
  grug = grug.read, hwloc = hwloc.read, jgf = jgf.read, jgf_shorthand = jgf.read, rv1exec = rv1.read, rv1exec_force = rv1.read,
}

--- Returns whether -f accepts a format.
function M.known(format) return READ[format] ~= nil end

-- Limit of pools in a recipe: a few lines can ask for any number of pools, at a hundred bytes of memory a pool.
local POOLS = 1 << 22

--- Reads a machine from a text. options: format, source, allowlist (hwloc only: types separated by commas). Returns
-- {graph, number, rank}; or nil and a reason.
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
