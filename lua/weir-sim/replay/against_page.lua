--- against_page.lua - the page of simulated starts against recorded ones (against.lua): distributions, partitions, sizes.

local against = require "weir.replay.against"
local figures = require "weir.html.report.figures"

local M = {}

local seconds = against.seconds

-- A time on an axis of powers of ten.
local function power(t)
  local span = 10.0 ^ t - 1
  return span < 10 and ("%.2g s"):format(span) or seconds(math.floor(span + 0.5))
end

-- A distribution as steps over an axis of powers of ten.
local function steps(points)
  local list = {}
  for i = 1, #points, 2 do list[i], list[i + 1] = math.log(points[i] + 1, 10), points[i + 1] * 100 end
  return list
end

-- Bars of the mean waits then and here, two for each row.
local function bars(rows)
  local most, list = 1e-9, {}
  for _, row in ipairs(rows) do most = math.max(most, row.recorded, row.simulated) end
  for _, row in ipairs(rows) do
    list[#list + 1] = { row.name, math.max(0, row.recorded) / most, "then " .. seconds(row.recorded) }
    list[#list + 1] = { "", math.max(0, row.simulated) / most, "here " .. seconds(row.simulated) }
  end
  return list
end

--- Returns the page of a comparison, for weir.html.report.findings. trace: as for sentences(); names: of the policies.
function M.page(result, trace, names)
  local said, rows = against.sentences(result, trace), against.rows(result)
  local page = { title = "weir replay: how true is it?", sentences = table.move(said, 1, math.min(3, #said), 1, {}),
    notes = table.move(said, 4, #said, 1, { "Replayed with " .. names .. "." }) }
  page.figures = {
    { title = "Waits: recorded in violet, here in green", svg = figures.steps({
      { name = "recorded", class = "now", points = steps(result.waits.recorded) },
      { name = "here", class = "found", points = steps(result.waits.simulated) } },
      { x = "waited no longer than", y = "per cent of jobs", low = true }, power) } }
  if result.apart then
    page.figures[2] = { title = "How far starts are from the recorded ones", svg = figures.steps({
      { name = "difference", class = "found", points = steps(result.apart) } },
      { x = "no further than", y = "per cent of jobs", low = true }, power) }
  end
  if result.by_queue[1] then
    page.figures[#page.figures + 1] = { title = "Mean wait by partition",
      svg = figures.bars(bars(result.by_queue), "mean wait by partition") }
  end
  page.figures[#page.figures + 1] = { title = "Mean wait by size", svg = figures.bars(bars(result.by_size), "mean wait by size") }
  page.tables = { { title = "All jobs, by partition, by size", head = rows[1], rows = table.move(rows, 2, #rows, 1, {}) } }
  return page
end

return M
