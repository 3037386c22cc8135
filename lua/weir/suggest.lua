--- suggest.lua - suggests a known word for a mistyped word; see bindings/weir/handle/suggest.c.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

--- Returns the entry of `words` nearest to `word`, or nil if no entry is near.
M.nearest = core.nearest

--- Returns ` (did you mean "x"?)`, or "" if no entry of `words` is near.
function M.hint(word, words, prefix)
  local near = M.nearest(word, words)
  return near and (' (did you mean "%s%s"?)'):format(prefix or "", near) or ""
end

--- Returns the hint, and what there is: ` (did you mean "x"?); there is a, b, c`.
function M.among(word, words) return ("%s; there is %s"):format(M.hint(word, words), table.concat(words, ", ")) end

--- Raises an error for a key of a table of options that is none of `known`, a table by name. `owner`: who takes the options, at the
--- beginning of the message; level: as of error, from the caller on.
function M.check_options(owner, opts, known, level)
  for key in pairs(opts) do
    if not known[key] then
      local hint = M.hint(tostring(key), tables.keys(known))
      error(("%sthere is no option '%s' here%s"):format(owner, tostring(key):sub(1, 100), hint), level == 0 and 0 or level + 1)
    end
  end
end

return M
