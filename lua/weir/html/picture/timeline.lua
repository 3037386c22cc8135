--- timeline.lua - the resources of jobs over time as SVG: a lane for each node (or vertex of another type), time from
--- left to right.

local lanes_of = require "weir.html.picture.lanes"
local markup = require "weir.html.picture.markup"
local palette = require "weir.html.picture.palette"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local texts = require "weir.texts"
local times = require "weir.html.picture.times"

local M = {}

M.LANES_MAX = 400 -- more lanes are bundled, and drawn by the share of each bundle in use
M.RECTS_MAX = 60000
local MARGIN, AXIS, LABEL, LISTED, HEIGHT, TICK = 24, 26, 200, 30, 900, 110

-- Width of a text in pixels, estimated generously: most letters are narrower.
local function wide(text, size) return (utf8.len(text) or #text) * size * 0.62 end

local function cut(text, size, max_width)
  local n = utf8.len(text)
  if not n or wide(text, size) <= max_width then return text end
  local keep = math.max(1, math.floor(max_width / (size * 0.62)) - 1)
  return text:sub(1, utf8.offset(text, keep + 1) - 1) .. "\u{2026}"
end

-- ---- steps of one lane ----------------------------------------------------------------------------------------------

-- The times at which a booking of a lane begins or ends, sorted.
local function changes(shares, horizon)
  local seen, list = {}, {}
  for _, x in ipairs(shares) do
    for _, t in ipairs { x.booking.start, math.min(x.booking.stop, horizon) } do
      if not seen[t] then
        seen[t] = true
        list[#list + 1] = t
      end
    end
  end
  table.sort(list)
  return list
end

local function active(shares, t)
  local list, sum = {}, 0
  for _, x in ipairs(shares) do
    if x.booking.start <= t and t < x.booking.stop and x.fraction > 0 then
      list[#list + 1] = x
      sum = sum + x.fraction
    end
  end
  return list, sum
end

--- Calls f(booking, t0, t1, low, high) for each rectangle of a lane; simultaneous jobs are stacked.
local function each_rect(shares, horizon, f)
  local open, list = {}, changes(shares, horizon)
  for i, t in ipairs(list) do
    local now, sum = active(shares, t)
    local low, still = 0, {}
    for _, x in ipairs(i < #list and now or {}) do
      local high = low + x.fraction / math.max(1, sum)
      local o = open[x.booking]
      if not o or o.low ~= low or o.high ~= high then
        if o then f(x.booking, o.t, t, o.low, o.high) end
        o = { t = t, low = low, high = high }
      end
      still[x.booking], low = o, high
    end
    for _, x in ipairs(shares) do
      local o = open[x.booking]
      if o and not still[x.booking] then f(x.booking, o.t, t, o.low, o.high) end
    end
    open = still
  end
end

--- Calls f(level, t0, t1) for each interval in which a lane is in use, with the share in use as a level from 1 to 10.
local function each_level(shares, horizon, f)
  local steps = {}
  for _, x in ipairs(shares) do
    steps[#steps + 1] = { x.booking.start, x.fraction }
    steps[#steps + 1] = { math.min(x.booking.stop, horizon), -x.fraction }
  end
  tables.sort(steps, 1)
  local sum, level, since = 0, 0, nil
  for i, step in ipairs(steps) do
    sum = sum + step[2]
    if not steps[i + 1] or steps[i + 1][1] > step[1] then
      local new = sum < 1e-9 and 0 or math.max(1, math.min(10, math.floor(sum * 10 + 0.5)))
      if new ~= level then
        if level > 0 then f(level, since, step[1]) end
        level, since = new, step[1]
      end
    end
  end
end

-- ---- where things are -----------------------------------------------------------------------------------------------

local function span_of(bookings, now)
  local first, last, endless = now, now, false
  for _, b in ipairs(bookings) do
    first = math.min(first, b.start)
    last = math.max(last, b.start, b.stop < math.huge and b.stop or b.start)
    endless = endless or b.stop == math.huge
  end
  if last == first then last = first + 1 end
  return first, last, endless
end

-- Sets the offset and height of each lane. A lane of many vertices is higher.
local function place(p)
  local weights, sum = {}, 1e-9
  for i, lane in ipairs(p.lanes) do
    weights[i] = p.heat and 1 or math.min(3, 1 + math.log(lane.n, 2) / 2)
    sum = sum + weights[i]
  end
  local unit = p.total and 90 or math.max(2, math.min(44, HEIGHT / 2 / sum), math.min(20, HEIGHT / sum))
  local y = 0
  for i, lane in ipairs(p.lanes) do
    lane.y, lane.h = y, math.max(2, math.floor(unit * weights[i]))
    y = y + lane.h + (p.total and 14 or lane.h >= 8 and 2 or 0)
  end
  p.height = y
end

local function x_of(p, t) return p.left + (math.min(t, p.last) - p.first) / (p.last - p.first) * p.inner end

-- ---- drawing --------------------------------------------------------------------------------------------------------

local function number(x) return (("%.1f"):format(x):gsub("%.0$", "")) end

local function box(x, y, w, h) return ("M%s %sh%sv%sh-%sz"):format(number(x), number(y), number(w), number(h), number(w)) end

-- Returns by booking {words = rectangles of an SVG path, x, y, w, h of the largest rectangle, for a label}; nil where
-- more than RECTS_MAX rectangles are needed.
local function job_paths(p)
  local paths, count = {}, 0
  for _, lane in ipairs(p.lanes) do
    each_rect(lane.shares, p.horizon, function(b, t0, t1, low, high)
      local path = paths[b] or { words = {}, area = 0 }
      local x0, x1 = x_of(p, t0), t1 >= p.horizon and (b.stop == math.huge and p.right or x_of(p, b.stop)) or x_of(p, t1)
      local h, y = (high - low) * lane.h, p.top + lane.y + (1 - high) * lane.h
      local w = math.max(0.8, x1 - x0 - (x1 - x0 > 4 and 1 or 0))
      path.words[#path.words + 1], count = box(x0, y, w, math.max(0.5, h)), count + 1
      if w * h > path.area then path.area, path.x, path.y, path.w, path.h = w * h, x0, y, w, h end
      paths[b] = path
    end)
    if count > M.RECTS_MAX then return nil end
  end
  return paths
end

local function heat_paths(p)
  local paths = {}
  for i = 1, 10 do paths[i] = {} end
  for _, lane in ipairs(p.lanes) do
    each_level(lane.shares, p.horizon, function(level, t0, t1)
      local x0, x1 = x_of(p, t0), t1 >= p.horizon and p.right or x_of(p, t1)
      paths[level][#paths[level] + 1] = box(x0, p.top + lane.y, math.max(0.5, x1 - x0), lane.h)
    end)
  end
  return paths
end

local function say(p, ...) p.out[#p.out + 1] = string.format(...) end

local function text(p, class, x, y, size, words)
  say(p, '<text class="%s" x="%s" y="%s" font-size="%d">%s</text>\n', class, number(x), number(y), size, markup.escape(words))
end

local function booking_text(p, b)
  return ("%s%s: %s to %s"):format(texts.holder(b.job), b.reserved and ", reserved" or "", times.text(b.start, 1, p.last),
    b.stop < math.huge and times.text(b.stop, 1, p.last) or "no end")
end

local function draw_jobs(p, paths)
  for _, b in ipairs(p.bookings) do
    local path = paths[b]
    if path then
      local colour = palette.job(b.job)
      say(p, '<path class="%s" fill="%s"%s d="%s"><title>%s</title></path>\n', b.reserved and "job r" or "job", colour,
        b.reserved and #p.lanes <= 40 and path.h >= 6 and (' stroke="%s"'):format(colour) or "", table.concat(path.words),
        markup.escape(booking_text(p, b)))
      local name = texts.holder(b.job)
      if path.h >= 11 and path.w >= wide(name, 11) + 8 then
        text(p, b.reserved and "t" or palette.is_dark(colour) and "w" or "k", path.x + 5, path.y + path.h / 2 + 4, 11, name)
      end
    end
  end
end

local function draw_heat(p)
  for level, words in ipairs(heat_paths(p)) do
    if #words > 0 then say(p, '<path class="h%d" d="%s"/>\n', level, table.concat(words)) end
  end
end

local function draw_labels(p)
  local free = -math.huge
  for _, lane in ipairs(p.lanes) do
    local y = p.top + lane.y + lane.h / 2
    say(p, '<rect class="f" x="%s" y="%s" width="%s" height="%s"/>\n', number(p.left), number(p.top + lane.y), number(p.inner + p.extra),
      number(lane.h))
    if y - free >= 13 then
      text(p, "t e", p.left - 8, y + 4, 11, cut(lane.label, 11, LABEL - 20))
      if lane.total then text(p, "m e", p.left - 8, y + 18, 11, ("%d in all"):format(lane.total)) end
      free = y
    end
  end
end

local function draw_axis(p)
  local step = times.step(p.last - p.first, math.max(1, p.inner // TICK))
  for _, tick in ipairs(times.ticks(p.first, p.last, step)) do
    local x = x_of(p, tick[1])
    say(p, '<path class="g" d="M%s %sv%s"/>\n', number(x), number(p.top - 4), number(p.height + 8))
    text(p, "m c", x, p.top - 10, 11, tick[2])
  end
end

local function draw_now(p, now)
  if now <= p.first then return end
  local x = x_of(p, now)
  say(p, '<path class="n" d="M%s %sv%s"/>\n', number(x), number(p.top - 6), number(p.height + 10))
  text(p, "n c", x, p.top + p.height + 16, 11, "now")
end

local function entries_of(p)
  local list = { { "f", nil, "free" } }
  if p.heat then return list end
  local n = 0
  for i, b in ipairs(p.bookings) do
    if i <= LISTED then list[#list + 1] = { b.reserved and "job r" or "job", palette.job(b.job), booking_text(p, b) } end
    n = i
  end
  if n > LISTED then list[#list + 1] = { nil, nil, ("and %d more"):format(n - LISTED) } end
  return list
end

local function draw_scale(p, y)
  text(p, "t", MARGIN, y + 11, 12, "in use: 1 %")
  for i = 1, 10 do say(p, '<rect class="h%d" x="%d" y="%d" width="22" height="14"/>\n', i, MARGIN + 60 + 22 * i, y) end
  text(p, "t", MARGIN + 60 + 22 * 11 + 8, y + 11, 12, "all")
  return y + 22
end

-- Draws the legend at y. Returns the y below.
local function draw_legend(p, y)
  if p.heat then y = draw_scale(p, y) end
  local list, widest = entries_of(p), 0
  for _, entry in ipairs(list) do widest = math.max(widest, wide(entry[3], 12) + 40) end
  local columns = math.max(1, (p.width - 2 * MARGIN) // widest)
  for i, entry in ipairs(list) do
    local x, top = MARGIN + (i - 1) % columns * widest, y + (i - 1) // columns * 20
    if entry[1] then
      say(p, '<rect class="%s" x="%s" y="%d" width="14" height="14"%s/>\n', entry[1], number(x), top,
        entry[2] and (' fill="%s" stroke="%s"'):format(entry[2], entry[1] == "job r" and entry[2] or "none") or "")
    end
    text(p, "t", x + 22, top + 11, 12, entry[3])
  end
  return y + (#list + columns - 1) // columns * 20
end

-- ---- the page -------------------------------------------------------------------------------------------------------

local FIXED = [[text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}.s{font-weight:600}]]
  .. [[.e{text-anchor:end}.c{text-anchor:middle}.r{fill-opacity:.45;stroke-dasharray:3 2}.job:hover{opacity:.7}]]
local RULES = ".bg{fill:$page}.t{fill:$text}.m{fill:$soft}.w{fill:#fff}.k{fill:#1f2328}.f{fill:$free}.g{stroke:$edge;fill:none}"
  .. ".n{stroke:$mark;fill:none}text.n{fill:$mark;stroke:none}"

local function style()
  local rules = { RULES }
  for i = 1, 10 do rules[#rules + 1] = (".h%d{fill:$heat%d}"):format(i, i) end
  return FIXED .. palette.rules(table.concat(rules))
end

local function subtitle(p, by, nlanes)
  if #p.bookings == 0 then return "no job has anything, now or later" end
  local reserved = 0
  for _, b in ipairs(p.bookings) do reserved = reserved + (b.reserved and 1 or 0) end
  local words = { by ~= "type" and ("%s %s"):format(texts.number(nlanes), by) or "units in use by type",
    texts.counted(#p.bookings - reserved, "allocation"), texts.counted(reserved, "reservation"),
    ("%s to %s"):format(times.text(p.first, 1, p.last), times.text(p.last, 1, p.last)) }
  if p.endless then words[#words + 1] = "what reaches the right edge has no end" end
  if p.bundled then words[#words + 1] = ("%d to a lane"):format(p.bundled) end
  return table.concat(words, " \u{B7} ")
end

local function title_of(g, start)
  if start then return start.path end
  local root = g:root()
  return root and root.name or "nothing"
end

-- Chooses the lanes: folded; or bundles of neighbours, where lanes or rectangles are too many. Returns the paths of
-- jobs; nil for bundles.
local function prepare(p, lanes)
  p.lanes = p.total and lanes or lanes_of.fold(lanes)
  place(p)
  local paths = #p.lanes <= M.LANES_MAX and job_paths(p)
  if paths then return paths end
  p.heat, p.bundled = true, math.max(2, math.ceil(#lanes / M.LANES_MAX))
  p.lanes = lanes_of.bundle(lanes, p.bundled)
  place(p)
end

local function draw(p, g, by, lanes, start)
  local paths = prepare(p, lanes)
  text(p, "t s", MARGIN, MARGIN + 16, 20, cut(title_of(g, start), 20, p.width - 2 * MARGIN))
  text(p, "m", MARGIN, MARGIN + 40, 12, subtitle(p, by, #lanes))
  draw_labels(p)
  draw_axis(p)
  if paths then draw_jobs(p, paths) else draw_heat(p) end
  draw_now(p, g:now())
  return draw_legend(p, p.top + p.height + AXIS + 6) + MARGIN - 6
end

--- Draws the spans of a graph over time. Returns SVG; or nil, message, "unknown" or "invalid". opts: by, a type whose
--- vertices are the lanes (default "node", where the graph has nodes) or "type" for a lane per type; start, a vertex:
--- only the vertex and everything below; width, in pixels.
function M.svg(g, opts)
  opts = opts or {}
  if opts.width and (opts.width < 320 or opts.width > 8000) then
    return nil, ("a width of %d: expected 320 to 8000"):format(opts.width), "invalid"
  end
  local types = g:types()
  local by = opts.by or (tables.has(types, "node") and "node" or "type")
  if by ~= "type" and not tables.has(types, by) then
    return nil, ('there is no type "%s" here%s; there is %s, or "type" for a lane each'):format(by, suggest.hint(by, types),
      table.concat(types, ", ")), "unknown"
  end
  local lanes, bookings
  if by == "type" then lanes, bookings = lanes_of.by_type(g, opts.start) else lanes, bookings = lanes_of.by_vertex(g, by, opts.start) end
  local p = { out = {}, bookings = bookings, width = opts.width or 1200, left = MARGIN + LABEL, top = MARGIN + 52 + AXIS,
    total = by == "type" }
  tables.sort(bookings, "job", "start")
  p.first, p.last, p.endless = span_of(bookings, g:now())
  p.extra = p.endless and 24 or 0
  p.inner = math.max(80, p.width - p.left - MARGIN - p.extra)
  p.right, p.horizon = p.left + p.inner + p.extra, p.last + 1
  local height = draw(p, g, by, lanes, opts.start)
  return ('<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
    .. 'role="img">\n<title>%s</title>\n<style>%s</style>\n<rect class="bg" x="0" y="0" width="%d" height="%d"/>\n%s</svg>\n'):format(
    p.width, height, p.width, height, markup.escape(title_of(g, opts.start)), style(), p.width, height, table.concat(p.out))
end

return M
