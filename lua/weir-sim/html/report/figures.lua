--- figures.lua - pictures of a page of findings, as SVG in the page: points, bars, steps over time. They are drawn here, so
--- that a page shows them without a script; colours are those of the page (findings.css).

local markup = require "weir.html.picture.markup"
local times = require "weir.html.picture.times"

local M = {}

local escape = markup.escape

local WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 300, 74, 40, 12, 16

local function open(height, label)
  return ('<svg class="figure" viewBox="0 0 %d %d" role="img" aria-label="%s">'):format(WIDTH, height, escape(label))
end

local function text(x, y, class, s) return ('<text x="%.1f" y="%.1f" class="%s">%s</text>'):format(x, y, class, escape(s)) end

-- An axis over the numbers given: {from, to, step}. `zero`: it begins at 0.
local function axis_of(numbers, zero)
  local lo, hi = math.huge, -math.huge
  for _, x in ipairs(numbers) do lo, hi = math.min(lo, x), math.max(hi, x) end
  if lo > hi then lo, hi = 0, 1 end
  if zero then lo = math.min(lo, 0) end
  if hi - lo < 1e-9 * math.max(1, math.abs(hi)) then hi = lo + math.max(1, math.abs(lo)) * 0.1 end
  local step = times.round_up((hi - lo) / 5)
  return { from = math.floor(lo / step + 1e-9) * step, to = math.ceil(hi / step - 1e-9) * step, step = step }
end

local function number_text(x)
  if math.abs(x) >= 1e6 then return ("%.3gM"):format(x / 1e6) end
  if math.abs(x) >= 1e4 then return ("%.4gk"):format(x / 1e3) end
  return ("%.4g"):format(math.abs(x) < 1e-12 and 0 or x)
end

-- The frame of a chart: lines of the grid, numbers and names of both axes. Returns the parts and functions to places.
local function frame(x, y, names, time)
  local parts = {}
  local function across(v) return LEFT + (v - x.from) / (x.to - x.from) * (WIDTH - LEFT - RIGHT) end
  local function up(v) return HEIGHT - BOTTOM - (v - y.from) / (y.to - y.from) * (HEIGHT - BOTTOM - TOP) end
  local last = math.floor((x.to - x.from) / x.step + 0.5)
  for i = 0, last do
    local v = x.from + i * x.step
    parts[#parts + 1] = ('<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" class="grid"/>'):format(across(v), across(v), TOP, HEIGHT - BOTTOM)
    local said, at = (time or number_text)(v), across(v)
    if i == last and #said > 4 then -- a long text centred at the edge would be cut off there
      parts[#parts + 1] = text(math.min(at + RIGHT, WIDTH) - 1, HEIGHT - BOTTOM + 14, "tick end", said)
    else
      parts[#parts + 1] = text(at, HEIGHT - BOTTOM + 14, "tick middle", said)
    end
  end
  for i = 0, math.floor((y.to - y.from) / y.step + 0.5) do
    local v = y.from + i * y.step
    parts[#parts + 1] = ('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" class="grid"/>'):format(LEFT, WIDTH - RIGHT, up(v), up(v))
    parts[#parts + 1] = text(LEFT - 6, up(v) + 4, "tick end", number_text(v))
  end
  parts[#parts + 1] = text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "name middle", names.x)
  parts[#parts + 1] = ('<text class="name middle" transform="translate(14 %d) rotate(-90)">%s</text>'):format((TOP + HEIGHT - BOTTOM) // 2,
    escape(names.y))
  return parts, across, up
end

--- Points in a plane. points: {x, y, title =, class = "now", "found" or nil}; names: {x =, y =} with the units.
function M.points(points, names)
  local xs, ys = {}, {}
  for i, p in ipairs(points) do xs[i], ys[i] = p[1], p[2] end
  local parts, across, up = frame(axis_of(xs), axis_of(ys), names)
  for pass = 1, 2 do -- the marked points are drawn on top
    for _, p in ipairs(points) do
      if (p.class ~= nil) == (pass == 2) then
        parts[#parts + 1] = ('<circle cx="%.1f" cy="%.1f" r="%d" class="%s"><title>%s</title></circle>'):format(across(p[1]), up(p[2]),
          p.class and 6 or 3, p.class or "point", escape(p.title or ""))
      end
    end
  end
  return open(HEIGHT, names.x .. " and " .. names.y) .. table.concat(parts) .. "</svg>"
end

--- Bars from 0 to 1. rows: {name, share, text}.
function M.bars(rows, label)
  local line, name_width, parts = 24, 190, {}
  for i, row in ipairs(rows) do
    local y, width = (i - 1) * line, row[2] * (WIDTH - name_width - 190)
    parts[#parts + 1] = text(name_width - 8, y + 16, "label end", row[1])
    parts[#parts + 1] = ('<rect x="%d" y="%d" width="%.1f" height="%d" class="bar-of"/>'):format(name_width, y + 4, math.max(1, width),
      line - 8)
    parts[#parts + 1] = text(name_width + math.max(1, width) + 6, y + 16, "tick", row[3])
  end
  return open(math.max(1, #rows) * line, label) .. table.concat(parts) .. "</svg>"
end

--- Steps over time. lines: {name =, class = "now" or "found", points = {t, y, t, y, ...}}; names: {x =, y =, low = true
--- for the names of the lines at the right below, where distributions are not}; time(t) is the text of a time.
function M.steps(lines, names, time)
  local xs, ys = {}, {}
  for _, line in ipairs(lines) do
    for i = 1, #line.points, 2 do xs[#xs + 1], ys[#ys + 1] = line.points[i], line.points[i + 1] end
  end
  local parts, across, up = frame(axis_of(xs), axis_of(ys, true), names, time)
  for k, line in ipairs(lines) do
    local path = {}
    for i = 1, #line.points, 2 do
      local x, y = across(line.points[i]), up(line.points[i + 1])
      path[#path + 1] = #path == 0 and ("M%.1f %.1f"):format(x, y) or ("H%.1fV%.1f"):format(x, y)
    end
    parts[#parts + 1] = ('<path d="%s" class="line %s"><title>%s</title></path>'):format(table.concat(path), line.class, escape(line.name))
    local x = names.low and LEFT + (WIDTH - LEFT - RIGHT) * 0.6 + (k - 1) * 120 or LEFT + 8 + (k - 1) * 200
    parts[#parts + 1] = text(x, names.low and HEIGHT - BOTTOM - 8 or TOP + 12, "legend " .. line.class, line.name)
  end
  return open(HEIGHT, names.y) .. table.concat(parts) .. "</svg>"
end

return M
