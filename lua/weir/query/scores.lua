--- scores.lua - the candidates that a visit of a vertex found, by subsystem and type, and which of them are the best.
--
-- A candidate is one edge: {score, count, x (exclusive), edge}; the root is one without an edge; a slot is a group of
-- them: {score, count = 1, x, edges}. Of one type `count` is the units of all candidates, and those up to `best` were
-- chosen by the last call of choose().

local errno = require "weir.query.errno"
local sort = require "weir.query.sort"

local M = {}
M.__index = M

local EMPTY = {}

function M.new() return setmetatable({ score = -1, avail = 0, chosen = false }, M) end

local function of(self, subsystem, kind)
  local by_type = self[subsystem]
  if not by_type then
    by_type = {}
    self[subsystem] = by_type
  end
  local found = by_type[kind]
  if not found then
    found = { list = {}, count = 0, total = 0, best = 0, taken = 0, at = 0 }
    by_type[kind] = found
  end
  return found
end

function M:add(subsystem, kind, candidate)
  local found = of(self, subsystem, kind)
  found.total = found.total + candidate.count
  if candidate.score > 0 then found.count = found.count + candidate.count end
  found.list[#found.list + 1] = candidate
end

--- Takes over what another has.
function M:merge(other, subsystems)
  for _, subsystem in ipairs(subsystems) do
    for kind, theirs in pairs(other[subsystem] or EMPTY) do
      local mine = of(self, subsystem, kind)
      mine.count, mine.total = mine.count + theirs.count, mine.total + theirs.total
      table.move(theirs.list, 1, #theirs.list, #mine.list + 1, mine.list)
    end
  end
end

--- Units that qualify. Asking makes the type known.
function M:count(subsystem, kind) return of(self, subsystem, kind).count end

function M:total(subsystem, kind) return of(self, subsystem, kind).total end

function M:kinds(subsystem) return self[subsystem] or EMPTY end

--- Chooses the first candidates, in an order, that have `k` units together.
function M:choose(subsystem, kind, k, before)
  local found = of(self, subsystem, kind)
  if k == 0 or k > found.count then
    errno.code = "EINVAL"
    return
  end
  sort(found.list, before)
  local left, i = k, 0
  while left > 0 do
    i = i + 1
    left = left - found.list[i].count
  end
  found.taken, found.best = k, i
  self.chosen = true
end

--- The next candidate of a type, each time another; nil at the end.
function M:next(subsystem, kind)
  local found = of(self, subsystem, kind)
  found.at = found.at + 1
  return found.list[found.at]
end

function M:rewind(subsystem, kind) of(self, subsystem, kind).at = 0 end

return M
