--- write_text.lua - the formats "simple" and "pretty_simple": a line for each vertex, after or before the
--- descendants.

local tree = require "weir.query.tree"

local M = {}

local function lines_of(root, words)
  local lines = {}
  tree.visit(root, function(n, depth)
    lines[#lines + 1] = ("      %s%s[%d:%s]\n"):format(("---"):rep(depth), n.vertex.name, n.amount, words[n.exclusive])
  end, function() end)
  return lines
end

function M.simple(_, root)
  return table.concat(lines_of(root, { [true] = "x", [false] = "s" }))
end

function M.pretty_simple(_, root)
  local lines, turned = lines_of(root, { [true] = "exclusive", [false] = "shared" }), {}
  for i = #lines, 1, -1 do turned[#turned + 1] = lines[i] end
  return table.concat(turned)
end

return M
