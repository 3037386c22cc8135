--- largest_jobs.lua - the jobs of a replay that a report shows: those with the largest areas (units times run time), as many as a
--- page can show, in the order of their ends.

local M = {}
M.__index = M

--- Returns an empty store of at most `most` jobs, whose resources are at most `bytes` of text together (default: any).
function M.new(most, bytes)
  return setmetatable({ most = most, bytes = bytes or math.huge, jobs = {}, areas = {}, n = 0, held = 0, smallest = -1, left = 0 }, M)
end

local function size_of(job) return #(job.resources or "") end

-- Returns the largest jobs within the limits, as a set of positions; of jobs with equal areas the jobs that ended first.
local function largest(self)
  local places, chosen, n, held, areas = {}, {}, 0, 0, self.areas
  for i = 1, self.n do places[i] = i end
  table.sort(places, function(a, b)
    if areas[a] ~= areas[b] then return areas[a] > areas[b] end
    return a < b
  end)
  for _, i in ipairs(places) do
    held = held + size_of(self.jobs[i])
    if n == self.most or held > self.bytes and n > 0 then break end
    n, chosen[i] = n + 1, true
  end
  return chosen
end

-- Drops the smallest jobs, until the rest is within the limits.
local function trim(self)
  if self.n <= self.most and self.held <= self.bytes then return end
  local chosen, jobs, areas, n, held, smallest = largest(self), {}, {}, 0, 0, math.huge
  for i = 1, self.n do
    if chosen[i] then
      n = n + 1
      jobs[n], areas[n], held, smallest = self.jobs[i], self.areas[i], held + size_of(self.jobs[i]), math.min(smallest, self.areas[i])
    end
  end
  self.left = self.left + self.n - n
  self.jobs, self.areas, self.n, self.held, self.smallest = jobs, areas, n, held, smallest
end

--- Adds a job of the simulator that has ended. Memory is that of one and a half times the largest number of jobs, and of text.
function M:add(job)
  local area = (job.finish - job.start) * job.units
  if area <= self.smallest then
    self.left = self.left + 1
    return
  end
  local n = self.n + 1
  self.n, self.areas[n], self.held = n, area, self.held + size_of(job)
  self.jobs[n] = { id = job.number, user = job.user, submit = job.submit, start = job.start, ["end"] = job.finish,
    units = job.units, resources = job.resources, backfilled = job.backfilled, killed = job.killed }
  if 2 * n >= 3 * self.most or 2 * self.held >= 3 * self.bytes then trim(self) end
end

--- Returns the list of jobs as {id, user, submit, start, end, units, resources, backfilled, killed}; self.left is then the
--- number of jobs left out.
function M:list()
  trim(self)
  return self.jobs
end

return M
