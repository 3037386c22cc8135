--- stale.lua - a quirk of resource-query: what is attached while jobs are planned does not count for reservations that would
-- begin when one of these jobs begins or ends, until something else is planned over that time.

local M = {}
M.__index = M

function M.new() return setmetatable({ points = {}, added = {} }, M) end

-- The times at which jobs begin and end, ascending.
local function times_of(jobs)
  local seen, times = {}, {}
  for _, job in ipairs(jobs) do
    for _, at in ipairs(job.held and { job.at, job.stop } or {}) do
      if at > 0 and not seen[at] then times[#times + 1] = at end
      seen[at] = true
    end
  end
  table.sort(times)
  return times
end

--- Notes that vertices were attached.
function M:attach(vertices, jobs)
  for _, v in ipairs(vertices) do self.added[v] = true end
  for _, at in ipairs(times_of(jobs)) do self.points[at] = true end
end

--- Notes that vertices are gone.
function M:gone(is_gone)
  for v in pairs(self.added) do
    if is_gone(v) then self.added[v] = nil end
  end
end

--- Notes that something was planned, or is planned no more, from one time to another.
function M:planned(from, to)
  for at in pairs(self.points) do
    if from <= at and at < to then self.points[at] = nil end
  end
end

--- Whether there is anything to mind.
function M:minds() return next(self.points) ~= nil and next(self.added) ~= nil end

-- f() while what was attached counts as down.
local function without(self, f)
  local up = {}
  for v in pairs(self.added) do
    if v.state == "up" then up[#up + 1] = v end
  end
  for _, v in ipairs(up) do v.state = "down" end
  local found = f()
  for _, v in ipairs(up) do v.state = "up" end
  return found
end

--- The first result of allocate(at) at a time at which a job begins or ends; preview(at) tells whether it would be one. nil, and
--- the rest of what the last try gave.
function M:reserve(jobs, allocate, preview)
  local why, code = nil, "busy"
  for _, at in ipairs(times_of(jobs)) do
    if not self.points[at] or without(self, function() return preview(at) end) then
      local found
      found, why, code = allocate(at)
      if found then return found end
    end
  end
  return nil, why, code
end

return M
