--- multi.lua - several planners as one: the units of each tracked type below a vertex, over time.
--
-- A span is kept as the list of the numbers that the planners gave, by position, -1 where a planner has it no more.

local errno = require "weir.query.errno"
local planner = require "weir.query.planner"

local M = {}
M.__index = M

function M.new(types, totals)
  local self = setmetatable({ list = {}, spans = {}, count = 0 }, M)
  for i, kind in ipairs(types) do self.list[i] = { type = kind, total = totals[i], plan = planner.new(totals[i]) } end
  return self
end

local function position(self, kind)
  for i, entry in ipairs(self.list) do
    if entry.type == kind then return i end
  end
end

--- Brings types, their order and their totals up to date.
function M:update(types, totals)
  local keep = {}
  for i, kind in ipairs(types) do
    local at = position(self, kind)
    local entry = at and table.remove(self.list, at) or { type = kind, plan = planner.new(totals[i]) }
    entry.total = totals[i]
    entry.plan:set_total(totals[i])
    table.insert(self.list, math.min(i, #self.list + 1), entry)
    keep[kind] = true
  end
  for i = #self.list, 1, -1 do
    if not keep[self.list[i].type] then table.remove(self.list, i) end
  end
end

--- The amounts of a table by type, in the order of the planners.
function M:amounts(by_type)
  local amounts = {}
  for i, entry in ipairs(self.list) do amounts[i] = by_type[entry.type] or 0 end
  return amounts
end

function M:fits(at, duration, amounts)
  for i, entry in ipairs(self.list) do
    if not entry.plan:fits(at, duration, amounts[i]) then return nil end
  end
  return true
end

-- Whether all but the first planner have room at a time.
local function others_fit(self, at)
  for i = 2, #self.list do
    if not self.list[i].plan:fits(at, self.wanted.duration, self.wanted.amounts[i]) then return false end
  end
  return true
end

--- The first time, not before `from`, at which amounts fit; the first planner says which times are tried.
function M:first(from, duration, amounts)
  self.wanted = { duration = duration, amounts = amounts }
  local at = self.list[1].plan:first(from, duration, amounts[1])
  while at and not others_fit(self, at) do at = self.list[1].plan:next() end
  return at
end

function M:next()
  local at
  repeat at = self.list[1].plan:next() until not at or others_fit(self, at)
  return at
end

function M:add(start, duration, amounts)
  local number, list = self.count, {}
  self.count = number + 1
  for i, entry in ipairs(self.list) do
    list[i] = entry.plan:add(start, duration, amounts[i])
    if not list[i] then return nil end
  end
  self.spans[number] = list
  return number
end

function M:remove(number)
  local list = self.spans[number]
  if not list then
    errno.code = "ENOENT"
    return nil
  end
  for i, part in ipairs(list) do
    if part ~= -1 and not (self.list[i] and self.list[i].plan:remove(part)) then return nil end
  end
  self.spans[number] = nil
  return true
end

local function reduce_part(self, list, i, amount)
  local plan = self.list[i].plan
  local ok, gone = plan:reduce(list[i] or -1, amount)
  if not ok and plan.spans[list[i]] then
    errno.code = "EINVAL"
    return nil
  end
  if gone then list[i] = -1 end
  return true
end

-- Takes amounts by type from a span, and nothing from the planners of other types: a part of nothing goes that way.
local function reduce_parts(self, list, by_type)
  local seen = {}
  for kind, amount in pairs(by_type) do
    local i = position(self, kind)
    if i then
      seen[i] = true
      if not reduce_part(self, list, i, amount) then return nil end
    end
  end
  for i = 1, #self.list do
    if not seen[i] and not reduce_part(self, list, i, 0) then return nil end
  end
  return true
end

--- Takes less: returns true and whether nothing of the span is left.
function M:reduce(number, by_type)
  local list = self.spans[number]
  if not list then
    errno.code = "ENOENT"
    return nil
  end
  if not reduce_parts(self, list, by_type) then return nil end
  for _, part in ipairs(list) do
    if part ~= -1 then return true, false end
  end
  self.spans[number] = nil
  return true, true
end

--- What the i-th planner has of a span.
function M:planned(number, i)
  local part = self.spans[number] and self.spans[number][i]
  if not part then
    errno.code = "ENOENT"
    return nil
  end
  return part == -1 and 0 or self.list[i].plan:amount(part)
end

function M:idle() return next(self.spans) == nil end

--- Forgets what was taken. A quirk: the lists of spans stay.
function M:reset()
  for _, entry in ipairs(self.list) do entry.plan = planner.new(entry.total) end
end

return M
