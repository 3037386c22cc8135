--- reference_schedule.lua - the machine and the schedules of the reference matcher: jobs, pools, amounts and times.
--
-- A vertex is a plain table, read once; `list` has all vertices in preorder, so that the vertices below v are v.index
-- + 1 to v.last; `number` is the engine's, and breaks ties. The spans of a vertex are {job=, start=, finish=,
-- amount=, exclusive=}; every question is answered from the spans.

local Reference = {}
Reference.__index = Reference

-- ---- the machine --------------------------------------------------------------------------------------------

local function read_vertex(handle, parent, list)
  local v = {
    handle = handle, parent = parent, index = #list + 1, number = handle.index, kids = {}, spans = {}, properties = {},
    type = handle.type, name = handle.name, id = handle.id, size = handle.size, unit = handle.unit or "",
    rank = handle.rank, state = handle.state, exclusive = handle.exclusive, path = handle.path,
  }
  for key in pairs(handle.properties) do v.properties[key] = true end
  list[v.index] = v
  for child in handle:children() do v.kids[#v.kids + 1] = read_vertex(child, v, list) end
  v.last = #list
  return v
end

--- Reads a graph without jobs. `policy` is "low", "high", or {order=, exclusive={TYPE=true}}.
function Reference.read(graph, policy)
  local self = setmetatable({ list = {}, of = {}, jobs = {}, clock = graph:now(), policy = policy }, Reference)
  for _, root in ipairs(graph:roots()) do read_vertex(root, nil, self.list) end
  for _, v in ipairs(self.list) do self.of[v.handle] = v end
  return self
end

--- Whether v lies below `under` (nil: below nothing in particular).
function Reference.is_below(v, under)
  return not under or (v.index > under.index and v.index <= under.last)
end

--- Whether v and all its ancestors are up.
function Reference.is_up(v)
  while v do
    if v.state ~= "up" and v.state ~= "degraded" then return false end
    v = v.parent
  end
  return true
end

-- ---- schedules -------------------------------------------------------------------------------------------------

-- Whether a job has begun by t0. A job that has begun holds its vertices until released, at the clock's time; an
-- interval that starts later goes by the agreed times.
local function has_begun(self, span, t0)
  return t0 <= self.clock and span.start <= self.clock
end

--- Whether a span is in the way of [t0, t1).
function Reference:overlaps(span, t0, t1)
  return has_begun(self, span, t0) or (span.start < t1 and t0 < span.finish)
end

local function used_at(self, v, t, t0)
  local sum = 0
  for _, s in ipairs(v.spans) do
    if (t == t0 and has_begun(self, s, t0)) or (s.start <= t and t < s.finish) then sum = sum + s.amount end
  end
  return sum
end

--- The greatest number of units of v in use at any time of [t0, t1).
function Reference:used(v, t0, t1)
  local most = used_at(self, v, t0, t0)
  for _, s in ipairs(v.spans) do
    if s.start > t0 and s.start < t1 then most = math.max(most, used_at(self, v, s.start, t0)) end
  end
  return most
end

function Reference:touched(v, t0, t1, exclusively)
  for _, s in ipairs(v.spans) do
    if self:overlaps(s, t0, t1) and (s.exclusive or not exclusively) then return true end
  end
  return false
end

--- Units of v that are free over all of [t0, t1): none below a vertex that is down or held as a whole.
function Reference:available(v, t0, t1)
  if not Reference.is_up(v) then return 0 end
  local up = v.parent
  while up do
    if self:touched(up, t0, t1, true) then return 0 end
    up = up.parent
  end
  return math.max(0, v.size - self:used(v, t0, t1))
end

local function add_span(v, job, pick)
  for _, s in ipairs(v.spans) do
    if s.job == job.id then
      s.amount = s.amount + pick.amount
      s.exclusive = s.exclusive or pick.exclusive or s.amount == v.size
      return
    end
  end
  v.spans[#v.spans + 1] = {
    job = job.id, start = job.start, finish = job.finish, amount = pick.amount, exclusive = pick.exclusive,
  }
end

--- Adds picks {vertex=, amount=, exclusive=} to the schedules for a job.
function Reference:commit(id, start, finish, picks)
  local job = { id = id, start = start, finish = finish }
  self.jobs[id] = job
  for _, pick in ipairs(picks) do add_span(pick.vertex, job, pick) end
end

--- Releases a job; false: no such job exists.
function Reference:release(id)
  if not self.jobs[id] then return false end
  self.jobs[id] = nil
  for _, v in ipairs(self.list) do
    for i = #v.spans, 1, -1 do
      if v.spans[i].job == id then table.remove(v.spans, i) end
    end
  end
  return true
end

-- The span of a job in the schedule of v itself, or nil.
local function span_of(v, id)
  for i, s in ipairs(v.spans) do
    if s.job == id then return s, i end
  end
end

Reference.span_of = span_of

local function is_free_of_others(self, v, id, t0, t1)
  for _, s in ipairs(v.spans) do
    if s.job ~= id and self:overlaps(s, t0, t1) then return false end
  end
  for i = v.index + 1, v.last do
    if self:touched(self.list[i], t0, t1, false) then return false end
  end
  return true
end

-- Whether no job but `id` has anything of v, or below v.
local function is_left_to(self, v, id, t0, t1)
  for i = v.index, v.last do
    for _, s in ipairs(self.list[i].spans) do
      if s.job ~= id and self:overlaps(s, t0, t1) then return false end
    end
  end
  return true
end

--- Whether a job may have `amount` more units of v over [t0, t1) (M14), whatever the state of v.
function Reference:may_allocate(v, id, amount, t0, t1)
  local had, up = span_of(v, id), v.parent
  local whole = (had and had.amount or 0) + amount == v.size
  while up do
    if self:touched(up, t0, t1, true) then return false end
    up = up.parent
  end
  if v.exclusive and not whole or amount > v.size - self:used(v, t0, t1) then return false end
  if whole and not is_free_of_others(self, v, id, t0, t1) then return false end
  up = v.parent
  while up do
    if up.exclusive and not is_left_to(self, up, id, t0, t1) then return false end
    up = up.parent
  end
  return true
end

--- Adds a pick to a job, and makes the job if it is new.
function Reference:allocate(v, id, amount, t0, t1)
  local job = self.jobs[id] or { id = id, start = t0, finish = t1 }
  self.jobs[id] = job
  add_span(v, job, { amount = amount, exclusive = amount == v.size })
end

local function has_nothing(self, id)
  for _, v in ipairs(self.list) do
    if span_of(v, id) then return false end
  end
  return true
end

--- Frees `amount` units (nil: all) that a job has of v (M15); a job without picks is removed.
function Reference:free(v, id, amount)
  local span, i = span_of(v, id)
  if not span or (amount or 0) > span.amount then return false end
  span.amount = span.amount - (amount or span.amount)
  span.exclusive = false
  if span.amount == 0 then table.remove(v.spans, i) end
  if has_nothing(self, id) then self.jobs[id] = nil end
  return true
end

return Reference
