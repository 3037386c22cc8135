--- distribution.lua - how waits and slowdowns are spread over the jobs of a run: by length, by size of the jobs, by user,
--- over time, and the jobs that waited longest. Jobs are added one by one; memory is bounded by the number of users.
---
---   local spread = distribution.new(10)
---   spread:add(id, user, size, submit, start, finish)
---   local result = spread:result()

local tables = require "weir.tables"

local M = {}
M.__index = M

--- Upper limits of the classes of waits (seconds) and of bounded slowdowns. The last class has no limit.
M.WAITS = { 1, 10, 60, 600, 3600, 4 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 30 * 86400, math.huge }
M.SLOWDOWNS = { 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, math.huge }

local WORST, USERS, STEPS = 10, 10, 512

--- Returns an empty collector. tau: the run time in seconds below which a run time counts as tau in slowdowns (10).
function M.new(tau)
  return setmetatable({ tau = tau or 10, jobs = 0, area = 0, waits = {}, slowdowns = {}, sizes = {}, users = {}, worst = {},
    width = 60, sums = {}, counts = {} }, M)
end

-- Counts x in the first class whose limit is not below x.
local function count(classes, limits, x)
  local k = 1
  while x > limits[k] do k = k + 1 end
  classes[k] = (classes[k] or 0) + 1
end

local function note(map, key, wait, slowdown, area)
  local row = map[key]
  if not row then
    row = { jobs = 0, wait = 0, slowdown = 0, area = 0, waits = {}, slowdowns = {} }
    map[key] = row
  end
  row.jobs, row.wait, row.slowdown, row.area = row.jobs + 1, row.wait + wait, row.slowdown + slowdown, row.area + area
  count(row.waits, M.WAITS, wait)
  count(row.slowdowns, M.SLOWDOWNS, slowdown)
end

-- The number k of the class of sizes above 2^(k-1) and up to 2^k.
local function size_class(size)
  local k = 0
  while 1 << k < size do k = k + 1 end
  return k
end

-- Inserts a job into the list of those that waited longest. Of equal waits the first job that ended is first.
local function rank(list, job)
  local n = #list
  if n == WORST and list[n].wait >= job.wait then return end
  local i = math.min(n + 1, WORST)
  while i > 1 and list[i - 1].wait < job.wait do
    list[i] = list[i - 1]
    i = i - 1
  end
  list[i] = job
end

-- Halves the number of steps of time: each step becomes twice as long.
local function merge_steps(self)
  local sums, counts = {}, {}
  for i, n in pairs(self.counts) do
    local k = i // 2
    sums[k], counts[k] = (sums[k] or 0) + self.sums[i], (counts[k] or 0) + n
  end
  self.sums, self.counts, self.width = sums, counts, self.width * 2
end

-- Adds a wait to the step of the submission. Steps are numbered from the clock's 0 on, so that jobs may come in any order.
local function add_step(self, submit, wait)
  self.first = math.min(self.first or submit, submit)
  self.last = math.max(self.last or submit, submit)
  while self.last // self.width - self.first // self.width >= STEPS do merge_steps(self) end
  local i = submit // self.width
  self.sums[i], self.counts[i] = (self.sums[i] or 0) + wait, (self.counts[i] or 0) + 1
end

--- Adds a job that ended. Times are in seconds; user may be nil.
function M:add(id, user, size, submit, start, finish)
  local wait, run = start - submit, finish - start
  local slowdown = math.max(1, (wait + run) / math.max(run, self.tau))
  self.jobs, self.area = self.jobs + 1, self.area + run * size
  count(self.waits, M.WAITS, wait)
  count(self.slowdowns, M.SLOWDOWNS, slowdown)
  note(self.sizes, size_class(size), wait, slowdown, run * size)
  if user ~= nil then note(self.users, tostring(user), wait, slowdown, run * size) end
  add_step(self, submit, wait)
  local worst = self.worst
  if wait > 0 and (#worst < WORST or wait > worst[WORST].wait) then
    rank(worst, { id = id, user = user and tostring(user), size = size, submit = submit, start = start, finish = finish, wait = wait,
      slowdown = slowdown })
  end
end

local function filled(classes, limits)
  local list = {}
  for k = 1, #limits do list[k] = classes[k] or 0 end
  return list
end

-- Adds to `more` the figures for the jobs of a size or of a user.
local function figures(row, more)
  more.jobs, more.wait, more.slowdown, more.area = row.jobs, row.wait / row.jobs, row.slowdown / row.jobs, row.area
  more.waits, more.slowdowns = filled(row.waits, M.WAITS), filled(row.slowdowns, M.SLOWDOWNS)
  return more
end

local function sizes_of(self)
  local list = {}
  for k, row in pairs(self.sizes) do
    list[#list + 1] = figures(row, { from = k == 0 and 1 or (1 << k - 1) + 1, to = 1 << k })
  end
  return tables.sort(list, "to")
end

local function users_of(self)
  local list, n = {}, 0
  for user, row in pairs(self.users) do
    n = n + 1
    list[n] = figures(row, { user = user })
  end
  return tables.first(tables.sort(list, "-area", "user"), USERS), n
end

-- The mean waits of the jobs submitted in each step, as a step function {t, wait, t, wait, ...}. Steps without jobs have
-- the wait 0.
local function waits_over_time(self)
  local points, n = {}, 0
  if not self.first then return points end
  for i = self.first // self.width, self.last // self.width do
    local jobs = self.counts[i]
    points[n + 1], points[n + 2] = i * self.width, jobs and self.sums[i] / jobs or 0
    n = n + 2
  end
  points[n + 1], points[n + 2] = (self.last // self.width + 1) * self.width, 0
  return points
end

--- Returns a table: jobs; area, units times seconds; waits and slowdowns, the number of jobs in each class of WAITS and
--- SLOWDOWNS; sizes, a list of {from, to, jobs, wait, slowdown, area, waits, slowdowns}, the smallest first; users, the ten
--- with the most area, as {user, jobs, wait, slowdown, area, waits, slowdowns}; nusers; worst, the ten jobs that waited
--- longest, as {id, user, size, submit, start, finish, wait, slowdown}; over_time, mean waits by time of submission as a step
--- function. wait and slowdown of sizes and users are means.
function M:result()
  local users, nusers = users_of(self)
  return { tau = self.tau, jobs = self.jobs, area = self.area, waits = filled(self.waits, M.WAITS),
    slowdowns = filled(self.slowdowns, M.SLOWDOWNS), sizes = sizes_of(self), users = users, nusers = nusers, worst = self.worst,
    over_time = waits_over_time(self) }
end

--- Returns the result for a list of jobs of a report; jobs that did not start or end are left out.
function M.of(jobs, tau)
  local spread = M.new(tau)
  for _, job in ipairs(jobs) do
    if job.start and job.finish then spread:add(job.id, job.user, job.size or 1, job.submit, job.start, job.finish) end
  end
  return spread:result()
end

return M
