--- try.lua - the starts of the waiting jobs of a Flux instance under other policies, next to the starts under the policies in
--- force. M.text changes the given scheduler, so M.text is called in a forked copy, which forks once more for the policies in
--- force.

local core = require "weir.core"
local future = require "weir.flux.future"
local jobid = require "weir.flux.jobid"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

local SECONDS = 10 -- of work, for each side
local SHOWN = 20   -- jobs in the table


-- ---- the two sides --------------------------------------------------------------------------------------------------

-- The waiting jobs, in the order of their ids.
local function waiting(scheduler)
  local list = {}
  for _, job in pairs(scheduler.jobs) do
    if job.state == "pending" then list[#list + 1] = job end
  end
  return tables.sort(list, "id")
end

-- Returns the starts of jobs, -1 for an unknown start; and whether the time was too short for all jobs.
local function starts_of(scheduler, jobs)
  local starts = core.array {}
  local began = {}
  local ended = future.play(scheduler, function()
    local left = false
    for i, job in ipairs(jobs) do
      if job.state == "pending" then left = true elseif not began[i] then began[i] = job.start end
    end
    return not left
  end, SECONDS)
  for i = 1, #jobs do starts[i] = began[i] or -1 end
  return { starts = starts, incomplete = ended == nil }
end

-- Calls starts_of in a copy of the process.
local function starts_in_copy(scheduler, jobs)
  local child <close> = assert(core.worker(function(write) write(core.json_encode(starts_of(scheduler, jobs))) end))
  local parts = tables.collect(function() return child:read() end)
  return core.json_decode(table.concat(parts)) or { starts = {}, incomplete = true }
end

-- ---- in words -------------------------------------------------------------------------------------------------------

local span = texts.span

local function moved(a, b)
  if a < 0 or b < 0 then return a == b and "" or b < 0 and "no start is in sight" or "a start is in sight" end
  if math.abs(a - b) < 0.5 then return "" end
  return (b < a and "-" or "+") .. span(math.abs(b - a))
end

-- Counts the jobs by the change of their starts.
local function count(was, would, now)
  local n = { now = 0, earlier = 0, later = 0, same = 0, unknown = 0, was = 0, would = 0, known = 0 }
  for i, b in ipairs(would) do
    local a = was[i] or -1
    if b >= 0 and b <= now then n.now = n.now + 1 end
    if a < 0 or b < 0 then
      n.unknown = n.unknown + 1
    else
      local word = b < a - 0.5 and "earlier" or b > a + 0.5 and "later" or "same"
      n[word], n.was, n.would, n.known = n[word] + 1, n.was + a - now, n.would + b - now, n.known + 1
    end
  end
  return n
end

local function summary(n, jobs, words)
  local lines = { ("%d jobs wait. With %s, %d would start now; %d earlier than now planned, %d later, %d at the same time%s."):format(
    #jobs, words, n.now, n.earlier, n.later, n.same, n.unknown > 0 and (", of %d a start is not known"):format(n.unknown) or "") }
  if n.known > 0 then
    lines[2] = ("On average a job waits %s from now on, and %s under the policies in force."):format(span(n.would / n.known),
      span(n.was / n.known))
  end
  return lines
end

-- Appends the rows of the jobs with another start.
local function add_rows(lines, jobs, was, would, prefix)
  local rows, left = {}, 0
  for i, job in ipairs(jobs) do
    local text = moved(was[i] or -1, would[i])
    if text ~= "" and #rows < SHOWN then
      local function cell(t) return t >= 0 and texts.date(t) or "-" end
      rows[#rows + 1] = ("%-16s %-20s %-20s %s"):format(jobid.f58(job.id, prefix), cell(was[i] or -1), cell(would[i]), text)
    elseif text ~= "" then
      left = left + 1
    end
  end
  if #rows == 0 then return end
  lines[#lines + 1] = ("%-16s %-20s %-20s %s"):format("job", "in force", "tried", "moved")
  table.move(rows, 1, #rows, #lines + 1, lines)
  if left > 0 then lines[#lines + 1] = ("and %d more"):format(left) end
end

--- Returns the text. change(): puts the other policies in use in the scheduler: true; or nil, message, code. words: how they are
--- named. prefix: of job ids, see jobid.lua. Or nil, message, code.
function M.text(scheduler, change, words, prefix)
  local jobs, now = waiting(scheduler), scheduler.now
  local was = starts_in_copy(scheduler, jobs)
  local ok, why, code = change()
  if not ok then return nil, why, code end
  local would = starts_of(scheduler, jobs)
  local lines = summary(count(was.starts, would.starts, now), jobs, words)
  if was.incomplete or would.incomplete then
    lines[#lines + 1] = ("It is not complete: after %d seconds of work later starts are not known."):format(SECONDS)
  end
  add_rows(lines, jobs, was.starts, would.starts, prefix)
  return table.concat(lines, "\n") .. "\n"
end

return M
