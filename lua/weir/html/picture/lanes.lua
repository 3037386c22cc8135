--- lanes.lua - the rows of a timeline: which share of a vertex each job has, and when.
---
--- A lane is {vertex = (nil: all of a type), label =, n = number of vertices, shares = {{booking =, fraction =}, ...}},
--- sorted by job; a fraction is from 0 to 1. A booking is {job =, start =, stop = (math.huge: no end), reserved
--- =}, a job's interval.

local tables = require "weir.tables"

local M = {}

-- ---- collecting ---------------------------------------------------------------------------------------------------

local function booking_of(c, use)
  local key = ("%d %.17g %.17g %s"):format(use.job, use.start, use["end"], use.active)
  local b = c.known[key]
  if not b then
    b = { job = use.job, start = use.start, stop = use["end"], reserved = not use.active }
    c.known[key], c.bookings[#c.bookings + 1] = b, b
  end
  return b
end

local function add(units, booking, type, amount)
  local row = units[booking]
  if not row then
    row = {}
    units[booking] = row
  end
  tables.add(row, type, amount)
end

-- Adds the amounts of all spans of v to `units`; an exclusive span counts for everything below v.
local function note(c, units, v, uses)
  for _, use in ipairs(uses) do
    local b = booking_of(c, use)
    add(units, b, v.type, use.amount)
    if use.exclusive and v:nchildren() > 0 then
      for type, row in pairs(v:aggregate { all = true }) do add(units, b, type, row.total) end
    end
  end
end

-- Prepends the exclusive spans of a vertex to the linked list `above` of exclusive spans of the ancestors.
local function wholes(c, above, uses)
  for _, use in ipairs(uses) do
    if use.exclusive then above = { booking = booking_of(c, use), rest = above } end
  end
  return above
end

-- Returns the list of the shares of jobs. A job's share of a vertex is the largest share over all types.
local function shares_of(units, totals)
  local list = {}
  for booking, row in pairs(units) do
    local fraction = 0
    for type, amount in pairs(row) do
      if (totals[type] or 0) > 0 then fraction = math.max(fraction, amount / totals[type]) end
    end
    list[#list + 1] = { booking = booking, fraction = math.min(1, fraction) }
  end
  return tables.sort(list, function(x) return x.booking.job end, function(x) return x.booking.start end)
end

local function totals_of(v)
  local totals = { [v.type] = v.size }
  for type, row in pairs(v:aggregate { all = true }) do tables.add(totals, type, row.total) end
  return totals
end

local function collect_below(c, v, units)
  note(c, units, v, v:uses())
  if #v:jobs() == 0 then return end
  for child in v:children() do collect_below(c, child, units) end
end

local function add_lane(c, v, above)
  local units, type = {}, v.type
  while above do
    add(units, above.booking, type, v.size)
    above = above.rest
  end
  collect_below(c, v, units)
  local node, name, id, basename = v:ancestor "node", v.name, v.id, v.basename
  local usual = id and name == basename .. id
  if node and node ~= v then name, basename = node.name .. "/" .. name, node.name .. "/" .. basename end
  c.lanes[#c.lanes + 1] = { vertex = v, label = name, base = usual and basename or nil, first = id, n = 1,
    shares = next(units) and shares_of(units, totals_of(v)) or {} }
end

local function collect_type(c, v, type, above)
  if v.type == type then return add_lane(c, v, above) end
  if v:below(type) == 0 then return end
  above = wholes(c, above, v:uses())
  for child in v:children() do collect_type(c, child, type, above) end
end

-- The exclusive spans of all ancestors of `start`, as a linked list; nil for the whole graph.
local function held_above(c, start)
  local above, up = nil, start and start:parent()
  while up do
    above, up = wholes(c, above, up:uses()), up:parent()
  end
  return above
end

--- Returns a lane for each vertex of a type, in preorder, and a list of all bookings.
function M.by_vertex(g, type, start)
  local c = { now = g:now(), known = {}, bookings = {}, lanes = {} }
  local above = held_above(c, start)
  for _, v in ipairs(start and { start } or g:roots()) do collect_type(c, v, type, above) end
  return c.lanes, c.bookings
end

--- Returns a lane for each type with units in use, and a list of all bookings.
function M.by_type(g, start)
  local c, units, totals = { now = g:now(), known = {}, bookings = {} }, {}, {}
  local above = held_above(c, start)
  for _, v in ipairs(start and { start } or g:roots()) do
    for type, n in pairs(totals_of(v)) do tables.add(totals, type, n) end
    collect_below(c, v, units)
  end
  local lanes = {}
  while above do
    for type, n in pairs(totals) do add(units, above.booking, type, n) end
    above = above.rest
  end
  for _, type in ipairs(g:types()) do
    local own = {}
    for booking, row in pairs(units) do
      if row[type] then own[booking] = { [type] = row[type] } end
    end
    if next(own) and (totals[type] or 0) > 0 then
      lanes[#lanes + 1] = { label = type, total = totals[type], n = 1, shares = shares_of(own, totals) }
    end
  end
  return lanes, c.bookings
end

-- ---- fewer of them ------------------------------------------------------------------------------------------------

local function same(a, b)
  if #a.shares ~= #b.shares then return false end
  for i, x in ipairs(a.shares) do
    if x.booking ~= b.shares[i].booking or x.fraction ~= b.shares[i].fraction then return false end
  end
  return true
end

local function label_of(first, last, n)
  if n == 1 then return first.label end
  if first.base and first.base == last.base and last.first - first.first == n - 1 then
    return ("%s[%d-%d]"):format(first.base, first.first, last.first)
  end
  return first.label .. " \u{2013} " .. last.label
end

--- Merges neighbouring lanes with equal shares.
function M.fold(lanes)
  local out, i = {}, 1
  while i <= #lanes do
    local k = i
    while lanes[k + 1] and same(lanes[i], lanes[k + 1]) do k = k + 1 end
    out[#out + 1] = { label = label_of(lanes[i], lanes[k], k - i + 1), n = k - i + 1, shares = lanes[i].shares, total = lanes[i].total }
    i = k + 1
  end
  return out
end

--- Merges each `size` neighbouring lanes; shares are means over the merged lanes.
function M.bundle(lanes, size)
  local out = {}
  for i = 1, #lanes, size do
    local last, sums, order = math.min(i + size - 1, #lanes), {}, {}
    for k = i, last do
      for _, x in ipairs(lanes[k].shares) do
        if not sums[x.booking] then order[#order + 1] = x.booking end
        sums[x.booking] = (sums[x.booking] or 0) + x.fraction / (last - i + 1)
      end
    end
    local shares = {}
    for k, booking in ipairs(order) do shares[k] = { booking = booking, fraction = sums[booking] } end
    out[#out + 1] = { label = label_of(lanes[i], lanes[last], last - i + 1), n = last - i + 1, shares = shares }
  end
  return out
end

return M
