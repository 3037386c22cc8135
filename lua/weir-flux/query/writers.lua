--- writers.lua - the formats of -F. A writer formats a tree (tree.lua): write(machine, tree, about), where about is
-- {start, stop, queue}. A writer returns a text; or nil and the name of an errno.

local jgf = require "weir.query.write_jgf"
local quirks = require "weir.query.quirks"
local r = require "weir.query.write_r"
local text = require "weir.query.write_text"

local M = {}

local WRITE = {
  simple = text.simple, pretty_simple = text.pretty_simple, jgf = jgf.jgf, jgf_shorthand = jgf.jgf_shorthand,
  rlite = r.rlite, rv1 = r.rv1, rv1_nosched = r.rv1_nosched, rv1_shorthand = r.rv1_shorthand,
}

function M.known(name) return WRITE[name] ~= nil end

--- Formats a tree; nil means an empty allocation. Returns a text; or nil and the name of an errno.
function M.write(name, machine, tree, about)
  if not tree then return quirks.text_of_nothing(name) end
  return WRITE[name](machine, tree, about)
end

return M
