--- jobs.lua - the jobs of a trace, kept for many replays: a column a field, 16 bytes a value. The table of a job, which
--- takes five times as much, is made when a replay needs it, so that one of several replays has the tables of the jobs
--- that wait and run, and no process that looks at its memory writes to what it shares with others.

local M = {}
M.__index = M

--- Returns an empty store. Fields: n, the number of jobs; columns, by field a list of the values by job, false where a job
--- lacks the field.
function M.new() return setmetatable({ n = 0, columns = {} }, M) end

--- Adds a job. Its table is not kept.
function M:add(job)
  local n, columns = self.n + 1, self.columns
  for field in pairs(job) do
    if not columns[field] then
      columns[field] = {}
      for i = 1, n - 1 do columns[field][i] = false end
    end
  end
  for field, column in pairs(columns) do column[n] = job[field] or false end
  self.n = n
end

--- Returns the i-th job, a new table.
function M:get(i)
  local job = {}
  for field, column in pairs(self.columns) do job[field] = column[i] or nil end
  return job
end

--- Keeps the jobs with a value in a list by job, and forgets the others.
function M:keep(list)
  local n = 0
  for i = 1, self.n do
    if list[i] then
      n = n + 1
      for _, column in pairs(self.columns) do column[n] = column[i] end
    end
  end
  for _, column in pairs(self.columns) do
    for i = n + 1, self.n do column[i] = nil end
  end
  self.n = n
end

return M
