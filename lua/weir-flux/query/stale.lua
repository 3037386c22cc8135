--- stale.lua - a quirk of resource-query: vertices attached while jobs are planned do not count for reservations that
-- would begin at a start or end of a planned job, until a later job is planned over the begin. Reservations of whole nodes,
-- which count nodes alone, are not held up.

local M = {}
M.__index = M

function M.new() return setmetatable({ points = {}, added = {} }, M) end

-- Returns the times at which jobs begin and end, ascending.
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

--- Records that vertices were attached while `jobs` were planned.
function M:attach(vertices, jobs)
  for _, v in ipairs(vertices) do self.added[v] = true end
  for _, at in ipairs(times_of(jobs)) do self.points[at] = true end
end

--- Forgets each attached vertex with is_gone(vertex) true.
function M:gone(is_gone)
  for v in pairs(self.added) do
    if is_gone(v) then self.added[v] = nil end
  end
end

--- Records that a job was planned or cancelled over [from, to).
function M:planned(from, to)
  for at in pairs(self.points) do
    if from <= at and at < to then self.points[at] = nil end
  end
end

--- Returns whether the quirk can have an effect.
function M:minds() return next(self.points) ~= nil and next(self.added) ~= nil end

-- Returns f(), called while the attached vertices are down.
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

--- Tries the times at which jobs begin or end, ascending, until allocate(at) succeeds. Where the quirk applies,
--- preview(at), if given, must succeed first with the attached vertices down. Returns the result of allocate(at); or nil and the
--- reason and code of the last attempt.
function M:reserve(jobs, allocate, preview)
  local why, code = nil, "busy"
  for _, at in ipairs(times_of(jobs)) do
    if not preview or not self.points[at] or without(self, function() return preview(at) end) then
      local found
      found, why, code = allocate(at)
      if found then return found end
    end
  end
  return nil, why, code
end

return M
