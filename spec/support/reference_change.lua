--- reference_change.lua - changes to the machine and the jobs of the reference: vertices are added and removed, jobs
-- shrink, are detached and attached; and the parts of the machine that copies have. Extends reference_schedule.lua.

local Reference = require "spec.support.reference_schedule"

local span_of, is_below = Reference.span_of, Reference.is_below

-- ---- the tree -----------------------------------------------------------------------------------------------

local function number_below(v, list)
  list[#list + 1] = v
  v.index = #list
  for _, kid in ipairs(v.kids) do number_below(kid, list) end
  v.last = #list
end

local function renumber(self)
  local list = {}
  number_below(self.list[1], list)
  self.list = list
end

--- Sets the handle of a vertex; a copied or loaded graph has different handles.
function Reference:bind(v, handle)
  if v.handle then self.of[v.handle] = nil end
  v.handle, v.number = handle, handle.index
  self.of[handle] = v
end

--- Adds a vertex below `parent`, after its children; the vertex has no handle yet.
function Reference:add(parent, desc)
  local name = desc.type .. desc.id
  local v = {
    parent = parent, kids = {}, spans = {}, properties = {}, type = desc.type, id = desc.id, name = name,
    path = parent.path .. "/" .. name, size = desc.size or 1, unit = desc.unit or "", state = "up",
    rank = desc.rank or parent.rank, exclusive = desc.exclusive or false,
  }
  table.insert(parent.kids, v)
  renumber(self)
  return v
end

--- Whether `parent` accepts children: a leaf of which a job has something does not.
function Reference.may_add(parent) return #parent.kids > 0 or #parent.spans == 0 end

function Reference:remove(v)
  for i = v.index, v.last do self.of[self.list[i].handle] = nil end
  for i, kid in ipairs(v.parent.kids) do
    if kid == v then table.remove(v.parent.kids, i) break end
  end
  renumber(self)
end

--- The jobs that have something at or below v, or an ancestor of v as a whole; ascending.
function Reference:users(v)
  local seen, ids = {}, {}
  for _, w in ipairs(self.list) do
    for _, s in ipairs(w.spans) do
      local touches = w == v or is_below(w, v) or (s.exclusive and is_below(v, w))
      if touches and not seen[s.job] then ids[#ids + 1] = s.job end
      seen[s.job] = seen[s.job] or touches
    end
  end
  table.sort(ids)
  return ids
end

-- ---- holdings of jobs ------------------------------------------------------------------------------------------

--- Jobs by ascending id.
function Reference:ids()
  local ids = {}
  for id in pairs(self.jobs) do ids[#ids + 1] = id end
  table.sort(ids)
  return ids
end

--- The holdings of a job, in the order of the machine: {vertex=, span=} each.
function Reference:holdings(id)
  local list = {}
  for _, v in ipairs(self.list) do
    local span = span_of(v, id)
    if span then list[#list + 1] = { vertex = v, span = span } end
  end
  return list
end

local function drop_span(v, id)
  local span, i = span_of(v, id)
  if span then table.remove(v.spans, i) end
  return span
end

-- Replaces the hold on `top` as a whole by holds on everything beside the path from `top` down to v.
local function split(top, id, v)
  local held = drop_span(top, id)
  while v ~= top do
    for _, kid in ipairs(v.parent.kids) do
      if kid ~= v and kid.size > 0 then
        kid.spans[#kid.spans + 1] =
          { job = id, start = held.start, finish = held.finish, amount = kid.size, exclusive = true }
      end
    end
    v = v.parent
  end
end

local function give_back(self, id, v)
  local had = false
  for i = v.index, v.last do had = drop_span(self.list[i], id) ~= nil or had end
  if had then return true end
  local up = v.parent
  while up do
    local span = span_of(up, id)
    if span and span.exclusive then
      split(up, id, v)
      return true
    end
    up = up.parent
  end
  return false
end

local function restore(self, id, holdings)
  for _, v in ipairs(self.list) do drop_span(v, id) end
  for _, h in ipairs(holdings) do h.vertex.spans[#h.vertex.spans + 1] = h.span end
end

--- Frees the holdings of a job at and below the vertices of a list, all or nothing (A9); a job without holdings is
-- removed.
function Reference:shrink(id, list)
  local before = self:holdings(id)
  for _, v in ipairs(list) do
    if not give_back(self, id, v) then
      restore(self, id, before)
      return false
    end
  end
  if #self:holdings(id) == 0 then self.jobs[id] = nil end
  return true
end

local function lies_below_any(v, list)
  for _, other in ipairs(list) do
    if is_below(v, other) then return true end
  end
  return false
end

--- The topmost holdings of a job on a rank: picks inside the rank, or the vertices of the rank inside a vertex held as
-- a whole.
function Reference:on_rank(id, rank)
  local list = {}
  for _, h in ipairs(self:holdings(id)) do
    local v = h.vertex
    if v.rank == rank and not lies_below_any(v, list) then list[#list + 1] = v end
    for i = v.index + 1, not v.rank and h.span.exclusive and v.last or v.index do
      local w = self.list[i]
      if w.rank == rank and w.parent.rank ~= rank then list[#list + 1] = w end
    end
  end
  return list
end

--- More for a job, of picks {vertex=, amount=, exclusive=}.
function Reference:extend(id, picks)
  for _, pick in ipairs(picks) do
    local span, v = span_of(pick.vertex, id), pick.vertex
    local job = self.jobs[id]
    if not span then
      span = { job = id, start = job.start, finish = job.finish, amount = 0 }
      v.spans[#v.spans + 1] = span
    end
    span.amount = span.amount + pick.amount
    span.exclusive = span.exclusive or pick.exclusive or span.amount == v.size
  end
end

-- ---- detaching ------------------------------------------------------------------------------------------------

--- Detaches a job from the schedules.
function Reference:detach(id)
  local detached = { job = self.jobs[id], holdings = self:holdings(id) }
  self:release(id)
  return detached
end

local function may_have(self, v, span, t0, t1)
  local up = v.parent
  while up do
    if self:touched(up, t0, t1, true) then return false end
    up = up.parent
  end
  if span.amount > v.size - self:used(v, t0, t1) or self:touched(v, t0, t1, true) then return false end
  for i = v.index, span.exclusive and v.last or v.index - 1 do
    if self:touched(self.list[i], t0, t1, false) then return false end
  end
  return true
end

--- Attaches a job again with a new end (nil: unchanged); false: something the job held is in use.
function Reference:attach(detached, finish)
  local job = detached.job
  local t0, t1 = math.max(job.start, self.clock), finish or job.finish
  for _, h in ipairs(detached.holdings) do
    if not may_have(self, h.vertex, h.span, t0, math.max(t1, t0 + 1e-6)) then return false end -- past its end: for now
  end
  job.finish = t1
  self.jobs[job.id] = job
  for _, h in ipairs(detached.holdings) do
    h.span.finish = t1
    h.vertex.spans[#h.vertex.spans + 1] = h.span
  end
  return true
end

-- ---- parts of the machine -----------------------------------------------------------------------------------

-- A part is {vertex=, size=, parts...}: the expected content of a graph.

local function with_way(v, part)
  local up = v.parent
  while up do
    part = { vertex = up, size = up.size, part }
    up = up.parent
  end
  return part
end

local function all_of(v)
  local part = { vertex = v, size = v.size }
  for i, kid in ipairs(v.kids) do part[i] = all_of(kid) end
  return part
end

--- All of the machine.
function Reference:whole() return all_of(self.list[1]) end

--- v, its descendants, and the path to v (M12).
function Reference.extract(v) return with_way(v, all_of(v)) end

local function free_of(self, v)
  local size = self:available(v, self.clock, self.clock + 1e-6)
  if size == 0 then return nil end
  local part = { vertex = v, size = size }
  for _, kid in ipairs(v.kids) do part[#part + 1] = free_of(self, kid) end
  return part
end

--- The free units of v and its descendants, and the path to v (M2).
function Reference:copy(v) return with_way(v, free_of(self, v)) end

local FIELDS = { "type", "name", "id", "unit", "rank", "state", "exclusive", "path" }

--- The first vertex at which a graph differs from a part; nil: none.
function Reference.differs(part, handle)
  local v = part.vertex
  for _, field in ipairs(FIELDS) do
    if handle[field] ~= v[field] then return ("%s: %s is %s, wanted %s"):format(v.path, field, handle[field], v[field]) end
  end
  if handle.size ~= part.size then return ("%s: the size is %d, wanted %d"):format(v.path, handle.size, part.size) end
  if handle:nchildren() ~= #part then return ("%s: %d children, wanted %d"):format(v.path, handle:nchildren(), #part) end
  for key in pairs(v.properties) do
    if handle.properties[key] == nil then return ("%s: without property %s"):format(v.path, key) end
  end
  if #handle.properties ~= #Reference.keys(v.properties) then return v.path .. ": another property" end
  for i, inner in ipairs(part) do
    local why = Reference.differs(inner, handle:child(i))
    if why then return why end
  end
end

function Reference.keys(t)
  local list = {}
  for key in pairs(t) do list[#list + 1] = key end
  table.sort(list)
  return list
end

return Reference
