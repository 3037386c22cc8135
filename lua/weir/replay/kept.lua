--- kept.lua - the jobs of a replay for a report: up to a number of jobs, chosen by the largest areas (units times run
--- time), in the order of their ends.

local M = {}
M.__index = M

--- Returns an empty store of at most `most` jobs.
function M.new(most) return setmetatable({ most = most, jobs = {}, areas = {}, n = 0, least = -1, left = 0 }, M) end

-- Drops the smallest jobs until `most` remain; of equal areas the first to end remain.
local function trim(self)
  if self.n <= self.most then return end
  local sorted = table.move(self.areas, 1, self.n, 1, {})
  table.sort(sorted, function(a, b) return a > b end)
  local least, larger = sorted[self.most], 0
  while larger < self.most and sorted[larger + 1] > least do larger = larger + 1 end
  local jobs, areas, equal, n = {}, {}, self.most - larger, 0
  for i = 1, self.n do
    local area = self.areas[i]
    if area == least then equal = equal - 1 end
    if area > least or area == least and equal >= 0 then
      n = n + 1
      jobs[n], areas[n] = self.jobs[i], area
    end
  end
  self.left = self.left + self.n - n
  self.jobs, self.areas, self.n, self.least = jobs, areas, n, least
end

--- Adds an ended job of the simulator. Memory: one and a half times the largest number of jobs.
function M:add(job)
  local area = (job.finish - job.start) * job.units
  if area <= self.least then
    self.left = self.left + 1
    return
  end
  local n = self.n + 1
  self.n, self.areas[n] = n, area
  self.jobs[n] = { id = job.number, user = job.user, submit = job.submit, start = job.start, ["end"] = job.finish,
    units = job.units, resources = job.resources, backfilled = job.backfilled, killed = job.killed }
  if 2 * n >= 3 * self.most then trim(self) end
end

--- Returns the list of jobs as {id, user, submit, start, end, units, resources, backfilled, killed}; self.left is then the
--- number of jobs left out.
function M:list()
  trim(self)
  return self.jobs
end

return M
