--- assignments.lua - whether a request fits, decided by going through all assignments: each vertex may stay unused, be
-- passed through, shared or held whole, or give each number of its units. The model knows no order, no flow and no
-- shortcut, so it is slow and only for small machines. Machine, schedules and the shape of requests are those of
-- reference.lua. Constraints are not modelled.

local Reference = require "spec.support.reference_schedule"

local is_up, is_below = Reference.is_up, Reference.is_below

local STEPS = 300000 -- beyond STEPS the answer is "unknown"

local Search = {}
Search.__index = Search

local function least(count)
  if type(count) == "number" then return count end
  return type(count) == "table" and count.min or math.tointeger(count:match "%d+")
end

-- Resources with the use that their position gives: whether they are granted to the job.
local function read(list, in_slot)
  local out = {}
  for i, r in ipairs(list) do
    local slot = r.type == "slot"
    local given = not slot and (r.exclusive or (in_slot and r.exclusive == nil)) or false
    out[i] = { type = r.type, slot = slot, n = least(r.count), unit = r.unit or "", exclusive = r.exclusive, given = given,
      in_slot = in_slot, with = r.with and read(r.with, in_slot or slot) }
  end
  return out
end

-- ---- the use that a vertex allows ---------------------------------------------------------------------------------

function Search:touched(v, exclusively)
  return self.schedules and self.ref:touched(v, self.t0, self.t1, exclusively) or false
end

-- Whether a job beside the request uses something of v or below v.
function Search:in_use(v)
  for i = v.index, v.last do
    if self:touched(self.ref.list[i], false) then return true end
  end
  return false
end

function Search:reaches(v)
  if not self.ideal and not is_up(v) then return false end
  while v do
    if self.whole[v] or self:touched(v, true) or (v.exclusive and self:in_use(v)) then return false end
    v = v.parent
  end
  return true
end

function Search:may_take_whole(v)
  if not self:reaches(v) or self:in_use(v) then return false end
  for i = v.index, v.last do
    local w = self.ref.list[i]
    if self.whole[w] or self.shared[w] or self.units[w] then return false end
  end
  return true
end

-- Whether v may give `units` in all; a shared vertex never gives all of its units.
function Search:may_have(v, units)
  local used = self.schedules and self.ref:used(v, self.t0, self.t1) or 0
  if units > v.size - used then return false end
  return units < v.size or not (self.shared[v] or self:touched(v, false))
end

function Search:may_share(v) return self:reaches(v) and (self.units[v] or 0) < v.size end

-- ---- all assignments ---------------------------------------------------------------------------------------------

local place

function Search:holds(v, list)
  if not list then return true end
  local inside = setmetatable({ ref = self.ref, ideal = self.ideal, budget = self.budget, whole = {}, shared = {}, units = {} }, Search)
  return place(inside, list, 1, v, 1, function() return true end)
end

-- With t[v] being x while the rest is tried.
local function with(t, v, x, rest)
  local old = t[v]
  t[v] = x
  local ok = rest()
  t[v] = old
  return ok
end

local function is_leaf(v) return #v.kids == 0 end

-- All ways in which v may serve r, with `need` units of r still missing; rest(units) continues.
local function serve(self, v, r, need, rest)
  local function go_on() return rest(v.size) end
  if v.exclusive or r.exclusive or (r.given and (not is_leaf(v) or r.with)) then
    return self:may_take_whole(v) and self:holds(v, r.with) and with(self.whole, v, true, go_on)
  end
  if is_leaf(v) and not r.with and (r.given or (r.exclusive == nil and not r.in_slot)) then
    for n = 1, self:reaches(v) and math.min(need, v.size) or 0 do
      local all = (self.units[v] or 0) + n
      if self:may_have(v, all) and with(self.units, v, all, function() return rest(n) end) then return true end
    end
    return false
  end
  if r.with then return self:reaches(v) and place(self, r.with, 1, v, 1, go_on) end
  return self:may_share(v) and with(self.shared, v, true, go_on)
end

local function serves(v, r, under)
  return v.type == r.type and is_below(v, under) and (v.unit == "" or r.unit == "" or v.unit == r.unit)
end

-- `need` units of r, from the i-th vertex of the machine on.
local function gather(self, r, under, i, need, rest)
  self.budget.left = self.budget.left - 1
  if self.budget.left < 0 then error(self.budget, 0) end
  if need <= 0 then return rest() end
  local v = self.ref.list[i]
  if not v then return false end
  if serves(v, r, under) and
    serve(self, v, r, need, function(units) return gather(self, r, under, i + 1, need - units, rest) end) then return true end
  return gather(self, r, under, i + 1, need, rest)
end

local function inside_node(ref, type)
  for _, v in ipairs(ref.list) do
    local up = v.type == type and v.parent
    while up do
      if up.type == "node" then return true end
      up = up.parent
    end
  end
  return false
end

-- Whether each of the slots lies in one node.
local function is_hosted(self, slot, under)
  local first = slot.with[1]
  if #slot.with == 1 and first.n == 1 and first.single then return false end
  for _, r in ipairs(slot.with) do
    if not inside_node(self.ref, r.type) then return false end
  end
  while under do
    if under.type == "node" then return false end
    under = under.parent
  end
  return true
end

-- `left` slots in the nodes from the i-th vertex on.
local function spread(self, slot, under, i, left, rest)
  if left == 0 then return rest() end
  local v = self.ref.list[i]
  if not v then return false end
  for n = left, v.type == "node" and is_below(v, under) and 1 or left + 1, -1 do
    local function go_on() return spread(self, slot, under, i + 1, left - n, rest) end
    if place(self, slot.with, 1, v, n, go_on) then return true end
  end
  return spread(self, slot, under, i + 1, left, rest)
end

--- The resources of a list from the k-th on, `times` times each, below `under`; rest() goes on.
function place(self, list, k, under, times, rest)
  local r = list[k]
  if not r then return rest() end
  local function go_on() return place(self, list, k + 1, under, times, rest) end
  if not r.slot then return gather(self, r, under, 1, r.n * times, go_on) end
  if is_hosted(self, r, under) then return spread(self, r, under, 1, r.n * times, go_on) end
  return place(self, r.with, 1, under, r.n * times, go_on)
end

local function note_single(list, written)
  for i, r in ipairs(list) do
    r.single = written[i].count == 1
    if r.with then note_single(r.with, written[i].with) end
  end
  return list
end

--- Whether the minimum of a request fits: `when` is {t0, t1}, or nil for the machine as if all were up and idle.
-- Returns nil where the search takes more than STEPS.
local function fits(ref, jobspec, when)
  local self = setmetatable({ ref = ref, budget = { left = STEPS }, whole = {}, shared = {}, units = {} }, Search)
  if when then self.schedules, self.t0, self.t1 = true, when[1], when[2] else self.ideal = true end
  local list = note_single(read(jobspec.resources, false), jobspec.resources)
  local ok, answer = pcall(place, self, list, 1, nil, 1, function() return true end)
  if ok then return answer end
  if answer ~= self.budget then error(answer, 0) end
  return nil
end

return { fits = fits }
