--- suggest.lua - suggests a known word for a mistyped word; see bindings/handle/suggest.c.

local core = require "weir.core"

local M = {}

--- Returns the entry of `words` nearest to `word`, or nil if no entry is near.
M.nearest = core.nearest

--- Returns ` (did you mean "x"?)`, or "" if no entry of `words` is near.
function M.hint(word, words, prefix)
  local near = M.nearest(word, words)
  return near and (' (did you mean "%s%s"?)'):format(prefix or "", near) or ""
end

return M
