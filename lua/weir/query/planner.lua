--- planner.lua - a quantity over time: spans take amounts of a total over [start, start + duration).
--
-- Main invariant: times[i] ascend from 0, left[i] is what is left from times[i] to times[i + 1], and each time but the
-- first is the start or the end of as many spans as refs[i] says. Times are seconds from 0 to math.maxinteger.
--
-- A quirk: the search for a time goes by seen[i], what was left when the point last changed or was looked at; another
-- total alone does not change it.

local errno = require "weir.query.errno"

local M = {}
M.__index = M

local FOREVER = math.maxinteger

function M.new(total)
  return setmetatable({ total = total, times = { 0 }, left = { total }, seen = { total }, refs = { 1 }, spans = {},
    count = 0 }, M)
end

local function fail(code)
  errno.code = code
  return nil
end

-- The last point that is not after a time.
local function floor(times, at)
  local low, high = 1, #times
  if at < (times[2] or FOREVER) then return 1 end
  while low < high do
    local mid = (low + high + 1) // 2
    if times[mid] <= at then low = mid else high = mid - 1 end
  end
  return low
end

--- What is left over all of [at, at + duration).
function M:during(at, duration)
  if duration < 1 then return fail "EINVAL" end
  if at > FOREVER - duration then return fail "ERANGE" end
  local times, left, stop = self.times, self.left, at + duration
  local i = floor(times, at)
  local least = left[i]
  i = i + 1
  while times[i] and times[i] < stop do
    if left[i] < least then least = left[i] end
    i = i + 1
  end
  return least
end

--- Whether an amount is left over all of [at, at + duration).
function M:fits(at, duration, amount)
  if duration < 1 then return fail "EINVAL" end
  if amount > self.total then return fail "ERANGE" end
  local left = self:during(at, duration)
  if not left then return nil end
  if left < amount then return fail "EBUSY" end
  return true
end

--- What is left at a time.
function M:at(at)
  if at < 0 then return fail "ERANGE" end
  return self.left[floor(self.times, at)]
end

--- Changes the total.
function M:set_total(total)
  local more = total - self.total
  self.total = total
  for i, left in ipairs(self.left) do self.left[i] = math.max(left + more, 0) end
end

-- The end of a search: what it looked at is seen as it is now.
local function end_search(self)
  local it = self.iterator
  for i = 1, it and it.next - 1 or 0 do
    if self.seen[i] >= it.amount then self.seen[i] = self.left[i] end
  end
  self.iterator = nil
end

-- The point at a time, made if there is none.
local function point(self, at)
  local i = floor(self.times, at)
  if self.times[i] ~= at then
    local left = self.left[i]
    i = i + 1
    table.insert(self.times, i, at)
    table.insert(self.left, i, left)
    table.insert(self.seen, i, left)
    table.insert(self.refs, i, 0)
  end
  self.refs[i] = self.refs[i] + 1
  return i
end

local function release(self, at)
  local i = floor(self.times, at)
  self.refs[i] = self.refs[i] - 1
  if self.refs[i] > 0 then return end
  for _, list in ipairs { self.times, self.left, self.seen, self.refs } do table.remove(list, i) end
end

local function take(self, span, amount)
  local times, left = self.times, self.left
  local i = floor(times, span.start)
  while times[i] and times[i] < span.stop do
    left[i] = left[i] - amount
    self.seen[i] = left[i]
    i = i + 1
  end
end

--- Takes an amount over a span; returns the span's number.
function M:add(start, duration, amount)
  local left = self:during(start, duration)
  if not left or left < amount then return fail "EINVAL" end
  if start < 0 or duration < 1 or start > FOREVER - duration then return fail "EINVAL" end
  if amount > self.total or amount < 0 then return fail "ERANGE" end
  local span = { start = start, stop = start + duration, amount = amount }
  end_search(self)
  self.count = self.count + 1
  self.spans[self.count] = span
  point(self, span.start)
  point(self, span.stop)
  take(self, span, amount)
  return self.count
end

function M:remove(number)
  local span = self.spans[number]
  if not span then return fail "EINVAL" end
  end_search(self)
  take(self, span, -span.amount)
  release(self, span.stop)
  release(self, span.start)
  self.spans[number] = nil
  return true
end

--- Takes less: returns true and whether nothing of the span is left.
function M:reduce(number, amount)
  local span = self.spans[number]
  if not span or amount > span.amount or amount < 0 then return fail "EINVAL" end
  if amount == span.amount then return self:remove(number), true end
  span.amount = span.amount - amount
  end_search(self)
  take(self, span, -amount)
  return true, false
end

function M:amount(number)
  local span = self.spans[number]
  return span and span.amount or fail "EINVAL"
end

--- Whether nothing was ever taken, or all was given back.
function M:idle() return next(self.spans) == nil end

-- The first point from the i-th on, not before the time asked for, at which the request of the search fits.
local function search(self, i)
  local it, at = self.iterator, nil
  while self.times[i] and not at do
    if self.times[i] >= it.from and self.seen[i] >= it.amount then
      if self.times[i] > FOREVER - it.duration then break end
      at = self:during(self.times[i], it.duration) >= it.amount and self.times[i] or nil
    end
    i = i + 1
  end
  it.next = i
  return at or fail "ENOENT"
end

--- The first point in time, not before `from`, at which an amount fits for a duration.
function M:first(from, duration, amount)
  if from < 0 or from >= FOREVER or duration < 1 then return fail "EINVAL" end
  if amount > self.total then return fail "ERANGE" end
  end_search(self)
  self.iterator = { from = from, duration = duration, amount = amount }
  return search(self, 1)
end

--- The one after the last that was returned.
function M:next()
  if not self.iterator then return fail "EINVAL" end
  return search(self, self.iterator.next)
end

return M
