--- scene.lua - a machine and the spans of its jobs as data for a page, compact for hundreds of thousands of vertices.
---
--- Vertices are numbered in preorder, from 0. A shape describes everything below a vertex as runs of children.
--- Vertices with equal content share a shape, so most of a machine is written once:
---   kinds   list of {type, basename, size, unit}
---   shapes  by number, 0 = no children; a flat list of runs of six numbers: kind, id of the first (-1: no id), step
---           from id to id, count, shape of each, rank of the first (-1: no rank of its own; otherwise ranks are
---           consecutive)
---   roots   runs of the roots, as in a shape
--- Sparse data are listed by vertex number: names (other than basename and id), states, values of properties and tags.
---   bookings  list of {job, start, end (-1: no end), 1 for a reservation}
---   spans     flat, seven numbers: the first vertex, count of neighbours from the first on, booking, amount of each,
---             1 for exclusive, kind, shape

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

M.STATES = { "up", "down", "degraded", "failing", "unknown", "null", "draining" }
M.VALUES_MAX = 300000 -- values of properties and tags in all; values of later vertices are left out

local STATE = {}
for i, name in ipairs(M.STATES) do STATE[name] = i - 1 end

-- Returns the number, from 0, of `value` in the list; appends a new value. `key` identifies the value in `known`.
local function intern(known, list, key, value)
  local n = known[key]
  if n then return n end
  n = #list
  known[key], list[n + 1] = n, value
  return n
end

local function kind_key(type, basename, size, unit) return ("%s\0%s\0%s\0%d"):format(type, basename, unit, size) end

-- ---- what few vertices have -------------------------------------------------------------------------------------

-- Adds vertex p to a flat list of {first, count, values...}, by extending the run at `last` where possible. Returns
-- the index of the run.
local function extend(list, last, width, p, ...)
  if last and list[last] + list[last + 1] == p then
    local same = true
    for i = 1, width do same = same and list[last + 1 + i] == select(i, ...) end
    if same then
      list[last + 1] = list[last + 1] + 1
      return last
    end
  end
  last = #list + 1
  list[last], list[last + 1] = p, 1
  for i = 1, width do list[last + 1 + i] = (select(i, ...)) end
  return last
end

local function note_value(s, p, key, value)
  if s.nvalues >= M.VALUES_MAX then
    s.cut = true
    return
  end
  local map = s.properties[key]
  if not map then
    map = { values = {}, runs = {}, known = {} }
    s.properties[key] = map
  end
  local before = #map.runs
  map.last = extend(map.runs, map.last, 1, p, intern(map.known, map.values, value, value))
  s.nvalues = s.nvalues + (#map.runs > before and 1 or 0)
end

local function note_data(s, v, p)
  local state = v.state
  if state ~= "up" then s.last_state = extend(s.states, s.last_state, 1, p, STATE[state]) end
  for key, value in pairs(v.properties) do note_value(s, p, "property:" .. key, value) end
  for key, value in pairs(v.tags) do note_value(s, p, "tag:" .. key, value) end
end

local function booking_of(s, use)
  local key = ("%d %.17g %.17g %s"):format(use.job, use.start, use["end"], use.active)
  local stop = use["end"] < math.huge and use["end"] or -1
  return intern(s.known_bookings, s.bookings, key, { use.job, use.start, stop, use.active and 0 or 1 })
end

-- Appends the spans of a vertex, before the spans of any vertex below, with shape 0 until the shape is known. Returns
-- the length of the list afterwards.
local function note_uses(s, p, kind, leaf, uses)
  for _, use in ipairs(uses) do
    local b = booking_of(s, use)
    local last = extend(s.spans, leaf and s.last_span[b] or nil, 5, p, b, use.amount, use.exclusive and 1 or 0, kind, 0)
    s.last_span[b] = leaf and last or nil
  end
  return #s.spans
end

-- Sets the shape of the spans of an inner vertex, at `first` in the flat list. Where no vertex below has spans, a span
-- adjacent to the last span of an equal booking, `each` numbers before, is merged with the last span.
local function join_spans(s, first, behind, shape, each)
  local spans, kept = s.spans, first
  for i = first, behind - 7, 7 do
    spans[i + 7] = shape
    local old, joined = s.last_block[spans[i + 3]], false
    if old and behind == #spans and spans[old] + spans[old + 1] * each == spans[i + 1] then
      joined = true
      for k = 3, 6 do joined = joined and spans[old + k] == spans[i + k + 1] end
    end
    if joined then
      spans[old + 1] = spans[old + 1] + 1
    else
      table.move(spans, i + 1, i + 7, kept + 1)
      s.last_block[spans[i + 3]] = kept + 1
      kept = kept + 7
    end
  end
  for i = behind, kept + 1, -1 do spans[i] = nil end
end

-- ---- the prominent vertices ----------------------------------------------------------------------------------------

-- Adds a vertex's own data to the scene. `each`: the number of the vertex and of all vertices below.
local function note_vertex(s, v, p, each, shape, open)
  local id, name = v.id, v.name
  note_data(s, v, p)
  if not id or id < 0 or name ~= v.basename .. id then s.names[#s.names + 1], s.names[#s.names + 2] = p, name end
  local uses = v:uses()
  if #uses == 0 then return end
  local behind = note_uses(s, p, s.kind_numbers[kind_key(v.type, v.basename, v.size, v.unit)], each == 1, uses)
  if each > 1 then open[#open + 1] = { p = p, each = each, shape = shape, first = behind - 7 * #uses, behind = behind } end
end

-- Adds all prominent vertices of a flat list (see fold.c). Spans of an inner vertex are joined with spans before as
-- soon as all vertices below are there.
local function note_all(s, own)
  local open = {} -- inner vertices with spans, with vertices below still to come
  local function close(p)
    while #open > 0 and open[#open].p + open[#open].each <= p do
      local v = table.remove(open)
      join_spans(s, v.first, v.behind, v.shape, v.each)
    end
  end
  for i = 1, #own, 4 do
    local p = own[i]
    close(p)
    note_vertex(s, own[i + 3], p, own[i + 1] - p, own[i + 2], open)
  end
  close(math.huge)
end

local function sorted_properties(s)
  local list = core.array {}
  for word, map in pairs(s.properties) do list[#list + 1] = { word = word, values = map.values, runs = map.runs } end
  return tables.sort(list, "word")
end

--- Returns the data of a graph, or of a vertex and everything below. Time is linear in the vertices, for a few
--- nanoseconds each; a prominent vertex takes a microsecond and more.
function M.of(g, start)
  local array, above = core.array, start and start:parent()
  local fold = g:fold(start and { start } or g:roots())
  local s = { kinds = fold.kinds, kind_numbers = {}, names = array {}, states = array {}, properties = {}, nvalues = 0,
    bookings = array {}, known_bookings = {}, spans = array {}, last_span = {}, last_block = {} }
  for i, k in ipairs(fold.kinds) do s.kind_numbers[kind_key(k[1], k[2], k[3], k[4])] = i - 1 end
  note_all(s, fold.own)
  fold.shapes[1] = array {}
  return {
    count = fold.count, now = g:now(), kinds = array(fold.kinds), shapes = fold.shapes, roots = array(fold.roots), names = s.names,
    states = s.states, properties = sorted_properties(s), cut = s.cut, bookings = s.bookings, spans = s.spans,
    prefix = above and above.path or "", state_names = M.STATES,
  }
end

return M
