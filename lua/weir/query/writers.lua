--- writers.lua - writers by the names that -F takes.

local jgf = require "weir.query.write_jgf"
local r = require "weir.query.write_r"
local text = require "weir.query.write_text"

local M = {}

local NEW = {
  simple = text.simple, pretty_simple = text.pretty,
  jgf = function() return jgf.new(false) end, jgf_shorthand = function() return jgf.new(true) end,
}
for _, kind in ipairs { "rlite", "rv1", "rv1_nosched", "rv1_shorthand" } do
  NEW[kind] = function() return r.new(kind) end
end

function M.known(name) return NEW[name] ~= nil end

--- A writer for a graph.
function M.new(name, graph)
  local writer = NEW[name]()
  return writer.attach and writer:attach(graph) or writer
end

return M
