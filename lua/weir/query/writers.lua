--- writers.lua - the formats that -F takes. A writer makes the text of a tree (tree.lua): write(machine, tree, about); about:
-- {start, stop, queue}. nil and the name of an errno: it cannot be written.

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

--- The text of a tree, which may be nil: there is nothing.
function M.write(name, machine, tree, about)
  if not tree then return quirks.text_of_nothing(name) end
  return WRITE[name](machine, tree, about)
end

return M
