--- idset.lua - sets of ids as text (RFC 22), from and to lists.

local core = require "weir.core"

local M = {}

local MOST = 1 << 22 -- ids of one list

--- The ids of a set in ascending order; nil when the text is none.
function M.decode(text)
  local set, ids = core.idset(text), {}
  if not set or #set > MOST then return nil end
  for id in set:ids() do ids[#ids + 1] = id end
  return ids
end

--- The text of ascending ids; nil when one is negative.
function M.encode(ids)
  if ids[1] and ids[1] < 0 then return nil end
  return tostring(core.idset(ids))
end

return M
