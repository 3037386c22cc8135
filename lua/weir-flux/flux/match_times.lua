--- match_times.lua - how long the matches of a scheduler take, counted and reported as Fluxion's resource module does: those that
-- found resources and those that found none, in all and since the counts were cleared last. The variance is summed up by
-- Welford's method, match by match.

-- Field: last, the seconds of the last match, 0 before the first.

local M = {}
M.__index = M

local function fresh(all) return { all = all, n = 0, mean = 0.0, squares = 0.0, least = math.huge, most = 0.0, job = -1, tries = 0 } end

--- Makes counts; clock(): seconds from some time on.
function M.new(clock)
  return setmetatable({ clock = clock, found = fresh(0), failed = fresh(0), last = 0.0, from = clock(), cleared = clock() }, M)
end

--- Notes that the machine is there, since now; reading it took so many seconds.
function M:loaded(seconds) self.load, self.from = seconds, self.clock() end

--- Clears the counts, but for those of all matches.
function M:clear()
  self.found, self.failed, self.cleared = fresh(self.found.all), fresh(self.failed.all), self.clock()
end

-- Notes a match: whether resources were found, the seconds it took, the job, and the number of trials.
local function note(self, found, seconds, job, tries)
  local counts = found and self.found or self.failed
  local before = seconds - counts.mean
  counts.all, counts.n, self.last = counts.all + 1, counts.n + 1, seconds
  counts.mean = counts.mean + before / counts.n
  counts.squares = counts.squares + before * (seconds - counts.mean)
  counts.least = math.min(counts.least, seconds)
  if seconds > counts.most or counts.n == 1 then counts.most, counts.job, counts.tries = seconds, job, tries end
end

-- Calls f(...), and notes the time where tried(), the number of trials that the call has made, is above 0. Returns its results.
local function timed(self, job, tried, f, ...)
  local began = self.clock()
  local result, why, code = f(...)
  local n = tried()
  if n > 0 then note(self, result, self.clock() - began, job, n) end
  return result, why, code
end

local function one() return 1 end

--- Calls f(...), a match for a job, which returns something true where it finds resources, and notes the time. Returns the results.
function M:match(job, f, ...) return timed(self, job, one, f, ...) end

--- The same for a call that makes any number of matches, which host.matches counts. A call that makes none is not noted.
function M:matches(job, host, f, ...)
  local before = host.matches
  return timed(self, job, function() return host.matches - before end, f, ...)
end

local function summary(counts)
  local n = counts.n
  return { njobs = counts.all, ["njobs-reset"] = n, ["max-match-jobid"] = counts.job, ["max-match-iters"] = counts.tries,
    stats = { min = n > 0 and counts.least or 0.0, max = counts.most, avg = counts.mean, variance = n > 0 and counts.squares / n or 0.0 } }
end

--- Returns the counts in Fluxion's words.
function M:report()
  local now = self.clock()
  return { ["load-time"] = self.load or 0.0, ["graph-uptime"] = math.floor(now - self.from),
    ["time-since-reset"] = math.floor(now - self.cleared), match = { succeeded = summary(self.found), failed = summary(self.failed) } }
end

return M
