--- sample.lua - pieces of a trace for cheap trials of settings: the pieces with the longest waits.
---
--- The jobs are cut into pieces of about equal numbers, at moments when few jobs wait. A piece is replayed on its own: at
--- the beginning, running jobs run on for their remaining time and waiting jobs wait, as under the policies in force. Jobs
--- outside of the pieces count with their waits under the policies in force: so the figures of a sample are on the scale of
--- the whole trace.
---
--- Pieces are long, as jobs held back for weeks by a setting start at the end of a short piece, where no further jobs
--- come: with pieces of 700 jobs the figures of a sample were the opposite of the whole trace (correlation -0.3
--- over 16 settings on KTH), with 1,780 jobs they were right (0.89).

local tables = require "weir.tables"

local M = {}

local PIECES, MIN_SIZE, MIN_PIECES = 40, 1500, 4 -- pieces of a trace at most, jobs of a piece at least; pieces worth a sample
local SOON = 1e-6             -- seconds between running jobs, waiting jobs and new jobs at the beginning of a piece

-- ---- cutting ------------------------------------------------------------------------------------------------

-- Returns a function from a time to the number of starts up to then.
local function starts_until(was)
  local starts = table.move(was.start, 1, #was.start, 1, {})
  table.sort(starts)
  return function(t)
    local lo, hi = 1, #starts + 1
    while lo < hi do
      local mid = (lo + hi) // 2
      if starts[mid] <= t then lo = mid + 1 else hi = mid end
    end
    return lo - 1
  end
end

-- Returns the job, of n jobs near `target`, with the fewest waiting jobs at its submission.
local function cut_near(submits, n, started, target, reach)
  local best, fewest
  for i = math.max(2, target - reach), math.min(n, target + reach) do
    local waiting = i - 1 - started(submits[i])
    if submits[i] > submits[i - 1] and (not fewest or waiting < fewest) then best, fewest = i, waiting end
  end
  return best
end

--- Cuts the first njobs jobs of a store (jobs.lua) into pieces {first =, last =, weight =}, where the weight is the share
--- of the jobs of the piece in all waits and slowdowns. was: {start =, finish =, wait =, bsld =}, lists, of the replay under
--- the policies in force. Returns nil for too few jobs.
function M.pieces(jobs, njobs, was)
  local n = math.min(PIECES, njobs // MIN_SIZE)
  if n < MIN_PIECES then return nil end
  local started, list, first, step = starts_until(was), {}, 1, njobs // n
  for k = 1, n do
    local cut = k < n and cut_near(jobs.columns.submit, njobs, started, k * step, step // 4) or njobs + 1
    if cut > first then
      list[#list + 1] = { first = first, last = cut - 1 }
      first = cut
    end
  end
  local waits, slowdowns = 1e-9, 1e-9
  for i = 1, njobs do waits, slowdowns = waits + was.wait[i], slowdowns + was.bsld[i] - 1 end
  for _, piece in ipairs(list) do
    piece.weight = 0
    for i = piece.first, piece.last do piece.weight = piece.weight + was.wait[i] / waits + (was.bsld[i] - 1) / slowdowns end
  end
  return list
end

--- Returns the heaviest pieces, with about a share of the jobs in all, in the order of time.
function M.heaviest(pieces, share, njobs)
  local order, list, n = table.move(pieces, 1, #pieces, 1, {}), {}, 0
  for _, piece in ipairs(tables.sort(order, "-weight", "first")) do
    if #list > 0 and n >= share * njobs then break end
    list[#list + 1], n = piece, n + piece.last - piece.first + 1
  end
  return tables.sort(list, "first")
end

-- ---- a piece as a trace -------------------------------------------------------------------------------------

--- Returns an iterator over the jobs of a prepared piece, in the order of submission, for a replay of the piece; counted jobs
--- have their index.
function M.source(jobs, first, last)
  local i = first - 1
  return function()
    i = i + 1
    if i > last then return nil end
    local job = jobs:get(i)
    job.index = i
    return job
  end
end

--- Adds to a piece the numbers of the jobs that ran and waited at its beginning. Returns the number of jobs in a replay of
--- the piece.
function M.prepare(piece, jobs, was)
  local submits = jobs.columns.submit
  local at, running, waiting = submits[piece.first], {}, {}
  for i = 1, piece.first - 1 do
    if was.start[i] >= at then
      waiting[#waiting + 1] = i
    elseif was.finish[i] > at then
      running[#running + 1] = i
    end
  end
  piece.at, piece.running, piece.waiting = at, running, waiting
  return #running + #waiting + piece.last - piece.first + 1
end

-- Returns a running job, with its remaining time.
local function rest_of(job, at, start, finish)
  job.submit, job.runtime = at - 2 * SOON, finish - at
  job.estimate = math.max(start + job.estimate - at, job.runtime, SOON)
  return job
end

--- Returns an iterator over the jobs of a prepared piece, in the order of submission, for a replay of the piece; jobs that
--- count have their index.
function M.source_of(piece, jobs, was)
  local i, running, waiting, rest = 0, piece.running, piece.waiting, M.source(jobs, piece.first, piece.last)
  return function()
    i = i + 1
    if i <= #running then
      local k = running[i]
      return rest_of(jobs:get(k), piece.at, was.start[k], was.finish[k])
    end
    local k = waiting[i - #running]
    if not k then return rest() end
    local job = jobs:get(k)
    job.submit = piece.at - SOON
    return job
  end
end

return M
