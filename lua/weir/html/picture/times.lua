--- times.lua - times as text, and round steps for axes.

local texts = require "weir.texts"

local M = {}

--- A time as text: "90 s" for extents below an hour, otherwise "01:30:00" or "2 d 03:00", as exact as `step` (in
--- seconds) needs; the date and time where the clock is that of the wall. extent: the largest time shown in the picture.
function M.text(t, step, extent)
  if t >= texts.WALL then return texts.date(t) end
  if t < 0 then return "-" .. M.text(-t, step, extent) end
  local s = math.floor(t)
  local days = s // 86400
  if (extent or t) < 3600 then return (("%.6f"):format(t):gsub("%.?0+$", "")) .. " s" end
  if (step or 0) >= 86400 then return ("%d d"):format(days) end
  local clock = ("%02d:%02d"):format(s % 86400 // 3600, s % 3600 // 60)
  if (step or 0) < 60 then clock = ("%s:%02d"):format(clock, s % 60) end
  return days > 0 and ("%d d %s"):format(days, clock) or clock
end

--- Returns the ticks of an axis: a list of {t, text} with round steps of `step` seconds. On an axis of the wall's clock, a tick has the
--- time of the day, and at midnight the date.
function M.ticks(first, last, step)
  local list, wall = {}, last >= texts.WALL
  local east = wall and os.time(os.date("*t", last // 1 | 0)) - os.time(os.date("!*t", last // 1 | 0)) or 0
  for i = math.ceil((first + east) / step), math.floor((last + east) / step) do
    local t = i * step - east
    local day, clock = texts.date(wall and t or 0):match "(%S+) (%d+:%d+:%d+)"
    local text = clock == "00:00:00" and day or step < 60 and clock or clock:sub(1, 5)
    list[#list + 1] = { t, wall and text or M.text(t, step, last) }
  end
  return list
end

local STEPS = { 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400 }

--- The smallest of 1, 2 or 5 times a power of ten not below x, up to rounding errors.
function M.round_up(x)
  local unit = 10.0 ^ math.floor(math.log(x, 10))
  for _, k in ipairs { 1, 2, 5, 10 } do
    if unit * k >= x * 0.999999 then return unit * k end
  end
end

--- A round step in seconds that divides `span` seconds into at most `count` parts.
function M.step(span, count)
  local minimum = span / math.max(1, count)
  if minimum < 1 then return M.round_up(minimum) end
  for _, step in ipairs(STEPS) do
    if step >= minimum then return step end
  end
  return 86400 * M.round_up(minimum / 86400)
end

return M
