--- text.lua - the results of a shadow, in words and tables: for the terminal and for the page.

local figures = require "weir.html.report.figures"
local texts = require "weir.texts"

local M = {}

local WAITS = { { "wait, mean", "mean" }, { "wait, median", "median" }, { "wait, 95th percentile", "p95" }, { "wait, longest", "max" } }

local seconds, moved = texts.span, texts.moved

local function share(x) return ("%.1f %%"):format(x * 100) end

-- The reason why the shadow is behind, or nil.
local function trouble(report)
  local s = report.status
  if report.ended then return ("It has ended: %s."):format(report.ended) end
  if s.failure then return ("It has stopped at a failure: %s."):format(s.failure) end
  if s.changes > 0 then
    return ("%d changes of the machine were not followed: compare with care, or start it again."):format(s.changes)
  end
end

-- Whether the shadow is up to date.
local function progress(report)
  local s = report.status
  if (report.unread or 0) > 0 then
    return ("It is behind: %d messages are not processed yet."):format(report.unread)
  end
  if s.behind > 0 then
    return ("It has come to %s before now: jobs that it started earlier must end in truth first."):format(seconds(s.behind))
  end
  return "It is up to date."
end

-- A sentence with further facts; or nil.
local function remarks(report)
  local s, list = report.status, {}
  if s.followed > 0 then list[1] = ("Followed: %s of the machine or its queues."):format(texts.counted(s.followed, "change")) end
  if (report.lost or 0) > 0 then list[#list + 1] = ("%d jobs that ran before it could not be placed."):format(report.lost) end
  for _, period in ipairs(report.periods or {}) do
    list[#list + 1] = ("Before it restarted on a changed machine, %d jobs had started on both sides in %s: they waited %s on average, "
      .. "and would have waited %s."):format(period.compared, seconds(period.last_message - period.since), seconds(period.wait.truth.mean),
      seconds(period.wait.shadow.mean))
  end
  for _, name in ipairs(report.stopped or {}) do
    list[#list + 1] = ("The queue%s is stopped: its jobs wait here, too."):format(name ~= "" and " " .. name or "")
  end
  if report.remark then list[#list + 1] = ("It says: %s."):format(report.remark) end
  return list[1] and table.concat(list, " ") or nil
end

--- Returns sentences on a shadow: the policies compared, the results, and the progress.
function M.sentences(report)
  local s = report.status
  local names = ("%s and %s"):format(report.policy, report.queue)
  if not s then return { ("The shadow of %s has ended: %s."):format(names, report.ended or "it is not known why") } end
  local truth, would = s.wait.truth.mean, s.wait.shadow.mean
  local list = { ("For %s, %s ran alongside the policy in force (%s): %d jobs came, %d have started on both sides."):format(
    seconds(s.last_message - s.since), names, report.in_force, s.jobs, s.compared) }
  if s.compared == 0 then
    list[2] = "There is nothing to compare yet."
  else
    list[2] = ("A job waited %s on the mean, and would have waited %s (%s): %d would have started earlier, %d later, %d at the same time.")
      :format(seconds(truth), seconds(would), truth == would and "the same" or moved(truth, would) ~= "" and moved(truth, would) or "more",
        s.earlier, s.later, s.same)
  end
  list[3] = trouble(report) or progress(report)
  list[4] = remarks(report)
  return list
end

--- Returns the rows of a table, head first.
function M.rows(report)
  local s, rows = report.status, { { "", "in force", "shadow", "moved" } }
  for _, row in ipairs(WAITS) do
    local a, b = s.wait.truth[row[2]], s.wait.shadow[row[2]]
    rows[#rows + 1] = { row[1], seconds(a), seconds(b), moved(a, b) }
  end
  rows[#rows + 1] = { "utilisation, " .. s.type, share(s.utilisation.truth), share(s.utilisation.shadow),
    moved(s.utilisation.truth, s.utilisation.shadow) }
  for _, row in ipairs { { "starts promised", s.promises }, { "started later than promised", s.late } } do
    local truth, would = row[2].truth, row[2].shadow
    rows[#rows + 1] = { row[1], truth and ("%d"):format(truth) or "-", ("%d"):format(would), truth and moved(truth, would) or "" }
  end
  rows[#rows + 1] = { "refused", "-", ("%d"):format(s.refused), "" }
  return rows
end

--- Returns sentences and table as text, for a program without tables of its own.
function M.plain(report)
  local lines = M.sentences(report)
  if not report.status or report.status.compared == 0 then return table.concat(lines, "\n") .. "\n" end
  for _, row in ipairs(M.rows(report)) do
    lines[#lines + 1] = (("%-28s %10s %10s %10s"):format(table.unpack(row)):gsub(" +$", ""))
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Steps of a series from the beginning, in a unit of seconds.
local function steps(series, name, scale, unit)
  local list = {}
  for i, x in ipairs(series[name]) do
    list[2 * i - 1], list[2 * i] = (i - 1) * series.step / unit, x * scale
  end
  return list
end

local function picture(s, name, scale, what)
  local truth, shadow = s.series.truth, s.series.shadow
  local unit = texts.unit_of_time(math.max(#truth[name] * truth.step, #shadow[name] * shadow.step))
  return figures.steps({ { name = "in force", class = "now", points = steps(truth, name, scale, unit[1]) },
    { name = "shadow", class = "found", points = steps(shadow, name, scale, unit[1]) } },
    { x = unit[2] .. " from the beginning", y = what })
end

--- Returns the page of a shadow, for weir.html.report.findings.
function M.page(report)
  local s = report.status
  local said = M.sentences(report)
  local page = { title = ("weir shadow: %s and %s"):format(report.policy, report.queue),
    sentences = table.move(said, 1, math.min(3, #said), 1, {}) }
  if not s then return page end
  local rows = M.rows(report)
  page.figures = { { title = "Jobs that wait: in force in violet, the shadow in green", svg = picture(s, "queued", 1, "jobs") },
    { title = "Utilisation", svg = picture(s, "used", 100 / math.max(1, s.total), "per cent of " .. s.type) } }
  page.tables = { { title = "Side by side", head = rows[1], rows = table.move(rows, 2, #rows, 1, {}) } }
  page.notes = table.move(said, 4, #said, 2, { ("Waits are those of the %d jobs that have started on both sides. A job lasts in the "
    .. "shadow as long as in truth. Utilisation is up to the time that the shadow has come to."):format(s.compared) })
  return page
end

return M
