--- model.lua - the scene of a machine (see scene.lua) for pictures made in Lua: vertices by number, and the units, the
--- states and the values in a range of numbers.
---
--- Numbers of vertices, kinds and shapes are those of weir.view.fold, whose methods a model has, too. Ranges of marks,
--- {p =, q =, value =}, are disjoint and in order.

local fold = require "weir.view.fold"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = setmetatable({}, fold)
M.__index = M

local add, place = tables.add, fold.place

--- Returns the name of a vertex.
function M:name_of(v) return self.names[v.p] or v.kind.basename .. v.run.id + v.i * v.run.step end

-- ---- spans of jobs ----------------------------------------------------------------------------------------------

-- Reads the spans whose bookings are reserved, or not. reach[i] is the end of the first i spans.
local function spans_of(m, s, reserved)
  local out, far = { firsts = {}, reach = {} }, 0
  for i = 1, #s.spans, 7 do
    local booking, shape = s.bookings[s.spans[i + 2] + 1], m.shapes[s.spans[i + 6] + 1]
    if booking[4] == reserved then
      local span = { p = s.spans[i], n = s.spans[i + 1], job = booking[1], start = booking[2], amount = s.spans[i + 3],
        exclusive = s.spans[i + 4] == 1, kind = m.kinds[s.spans[i + 5] + 1], shape = shape, each = 1 + shape.size }
      far = math.max(far, span.p + (span.n - 1) * span.each + 1)
      out[#out + 1], out.firsts[#out + 1], out.reach[#out + 1] = span, span.p, far
    end
  end
  return out
end

-- Calls f(span, number of vertices) for each span with a vertex in [a, b).
local function each_span(spans, a, b, f)
  for i = place(spans.reach, a, true), place(spans.firsts, b) - 1 do
    local s = spans[i]
    local n = math.min(s.n, (b - s.p + s.each - 1) // s.each) - math.max(0, (a - s.p + s.each - 1) // s.each)
    if n > 0 then f(s, n) end
  end
end

--- Returns the jobs that have a vertex as a whole, now and first reserved; `now` and `later` if no job has.
function M:holders(v, now, later)
  local start = later and -math.huge or math.huge
  each_span(self.active, v.p, v.p + 1, function(s) now = s.exclusive and s.job or now end)
  each_span(self.reserved, v.p, v.p + 1, function(s)
    if s.exclusive and s.start < start then later, start = s.job, s.start end
  end)
  return now, later
end

--- Returns the units in use in [a, b): a list of {job =, units = by type}; with `lumped`, a single entry for all jobs.
function M:units(a, b, lumped)
  local list, known = {}, {}
  each_span(self.active, a, b, function(s, n)
    local key = lumped or s.job
    local entry = known[key]
    if not entry then
      entry = { job = not lumped and s.job or nil, units = {} }
      known[key], list[#list + 1] = entry, entry
    end
    add(entry.units, s.kind.type, s.amount * n)
    if s.exclusive then
      for type, units in pairs(s.shape.totals) do add(entry.units, type, units * n) end
    end
  end)
  return list
end

--- Returns the job of the first reservation in [a, b).
function M:next_job(a, b)
  local job, start = nil, math.huge
  each_span(self.reserved, a, b, function(s)
    if s.start < start then job, start = s.job, s.start end
  end)
  return job
end

--- Returns the units that a job has, by type in the order of the machine: a list of {type =, units =}, with the field
--- reserved, whether all are reserved.
function M:picks(job)
  if not self.by_job then
    self.by_job = {}
    for i, spans in ipairs { self.active, self.reserved } do
      for _, s in ipairs(spans) do
        local list = self.by_job[s.job] or { known = {}, reserved = i == 2 }
        local entry = list.known[s.kind.type]
        if not entry then
          entry = { type = s.kind.type, units = 0 }
          list.known[s.kind.type], list[#list + 1] = entry, entry
        end
        entry.units, self.by_job[s.job] = entry.units + s.amount * s.n, list
      end
    end
  end
  return self.by_job[job] or {}
end

-- ---- states and values ------------------------------------------------------------------------------------------

-- Appends a mark, unless empty; extends the last mark where the value is equal.
local function emit(out, p, q, value)
  local last = out[#out]
  if p >= q then return end
  if last and last.q == p and last.value == value then last.q = q else out[#out + 1] = { p = p, q = q, value = value } end
end

-- Returns marks for the innermost values of vertices. `list`: {p =, q =, value =} of vertices, in order, nested.
local function innermost(list)
  local out, stack, at = {}, {}, 0
  local function close(p)
    while #stack > 0 and stack[#stack].q <= p do
      local top = table.remove(stack)
      emit(out, at, top.q, top.value)
      at = math.max(at, top.q)
    end
  end
  for _, mark in ipairs(list) do
    close(mark.p)
    if #stack > 0 then emit(out, at, mark.p, stack[#stack].value) end
    stack[#stack + 1], at = mark, mark.p
  end
  close(math.huge)
  return out
end

local function outermost(list)
  local out, stop = {}, 0
  for _, mark in ipairs(list) do
    if mark.p >= stop then out[#out + 1], stop = mark, mark.q end
  end
  return out
end

-- Reads a flat list of {first number, count, value}: {p =, q =, value =} of each vertex.
local function read_marks(m, flat, values)
  local list = {}
  for i = 1, #flat, 3 do
    local value = values[flat[i + 2] + 1]
    if value == true then value = "" end -- a property without a value
    for p = flat[i], flat[i] + flat[i + 1] - 1 do
      list[#list + 1] = { p = p, q = m:vertex_at(p).q, value = value }
    end
  end
  return list
end

-- Calls f(first number, end, value) for each mark in [a, b).
local function each_mark(marks, a, b, f)
  local lo, hi = 1, #marks + 1
  while lo < hi do
    local mid = (lo + hi) // 2
    if marks[mid].q <= a then lo = mid + 1 else hi = mid end
  end
  while marks[lo] and marks[lo].p < b do
    f(math.max(a, marks[lo].p), math.min(b, marks[lo].q), marks[lo].value)
    lo = lo + 1
  end
end

--- Returns the state of a vertex: of its own, unless "up", else of the nearest vertex above with another state.
function M:state_at(p)
  local state = "up"
  each_mark(self.states_in, p, p + 1, function(_, _, x) state = x end)
  return state
end

--- Returns the fractions of the vertices in [a, b) in each state, by name; a fraction of 0 is left out.
function M:states(a, b)
  local fractions, up = {}, b - a
  each_mark(self.states_in, a, b, function(p, q, state)
    add(fractions, state, (q - p) / (b - a))
    up = up - (q - p)
  end)
  fractions.up = up > 0 and up / (b - a) or nil
  return fractions
end

--- Returns the number of nodes (of vertices, in a machine without nodes) in each state other than "up".
function M:count_states()
  local counts, stack = {}, {}
  for _, mark in ipairs(self.state_marks) do
    while #stack > 0 and stack[#stack].q <= mark.p do table.remove(stack) end
    local n = self:count_nodes(mark.p, mark.q)
    add(counts, mark.value, n)
    if #stack > 0 then add(counts, stack[#stack].value, -n) end
    stack[#stack + 1] = mark
  end
  return counts
end

-- Returns the number of nodes in the range of a vertex, or of the whole machine.
function M:count_nodes(p, q)
  if not self.top.totals.node then return q - p end
  if p == 0 and q == self.count then return self.top.totals.node end
  local v = self:vertex_at(p)
  return (v.kind.type == "node" and 1 or 0) + (v.shape.totals.node or 0)
end

--- The value of a range whose vertices have different values, or some of them none.
M.SEVERAL = {}

-- Returns whether there is a leaf in [a, b). A number that begins a range leads to a leaf in a few steps.
local function has_leaf(m, a, b)
  for p = a, b - 1 do
    if m:vertex_at(p).q == p + 1 then return true end
  end
  return false
end

--- Returns the common value of a property in [a, b), the range of a vertex or of siblings: the value of the nearest
--- vertex above, or of all leaves; M.SEVERAL if the leaves differ; nil without a value.
function M:value(property, a, b)
  local value, at
  each_mark(property.inner, a, a + 1, function(_, _, x) value = x end)
  if value == nil then value = property.above end
  if value ~= nil and b <= self:vertex_at(a).q then return value end
  value, at = nil, a
  each_mark(property.outer, a, b, function(p, q, x)
    if value ~= nil and x ~= value or has_leaf(self, at, p) then value = M.SEVERAL end
    value, at = value == nil and x or value, q
  end)
  if value ~= nil and has_leaf(self, at, b) then return M.SEVERAL end
  return value
end

--- Returns the common type of siblings in [a, b), or M.SEVERAL.
function M:common_type(a, b)
  local type = self:vertex_at(a).kind.type
  while a < b do
    local v = self:vertex_at(a)
    if v.kind.type ~= type then return M.SEVERAL end
    a = a + (v.run.count - v.i) * v.run.each
  end
  return type
end

-- Returns the value of a property of the nearest vertex above `start`.
local function value_above(start, word)
  local map, key = word:match "^(%a+):(.+)$"
  local up = start and start:parent()
  while up do
    local value = (map == "tag" and up.tags or up.properties)[key]
    if value ~= nil then return value == true and "" or value end
    up = up:parent()
  end
end

--- Returns the marks of a property, named as in a scene, such as "property:class"; a property of no vertex has none.
function M:property(word)
  local list = {}
  for _, map in ipairs(self.scene.properties) do
    if map.word == word then list = read_marks(self, map.runs, map.values) end
  end
  return { inner = innermost(list), outer = outermost(list), above = value_above(self.start, word) }
end

-- ---- making one -------------------------------------------------------------------------------------------------

-- Returns the state of `start` as far as vertices above decide, and the jobs that have a vertex above as a whole.
local function above_of(start)
  local state, holder, later, up = "up", nil, nil, start and start:parent()
  while up do
    if state == "up" then state = up.state end
    local uses = up:uses()
    for i = #uses, 1, -1 do
      local use = uses[i]
      if use.exclusive and use.active then holder = holder or use.job end
      if use.exclusive and not use.active then later = use.job end
    end
    up = up:parent()
  end
  return state, holder, later
end

--- Returns the model of a scene of a graph, or of a vertex and everything below.
function M.of(s, start)
  local m = setmetatable(fold.read(s, texts.utf8), M)
  m.scene, m.start, m.names = s, start, {}
  for i = 1, #s.names, 2 do m.names[s.names[i]] = texts.utf8(s.names[i + 1]) end
  m.prefix = texts.utf8(s.prefix)
  m.active, m.reserved = spans_of(m, s, 0), spans_of(m, s, 1)
  m.state, m.holder, m.later = above_of(start)
  m.state_marks = read_marks(m, s.states, s.state_names)
  if m.state ~= "up" then table.insert(m.state_marks, 1, { p = 0, q = s.count, value = m.state }) end
  m.states_in = innermost(m.state_marks)
  return m
end

return M
