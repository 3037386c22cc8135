--- difference.lua - two runs of the same jobs against each other, job by job: who started earlier, who later, and by how
--- much. Jobs are the same where their ids are.

local tables = require "weir.tables"

local M = {}

local SHOWN = 10

local function by_id(jobs)
  local map = {}
  for _, job in ipairs(jobs) do
    if job.start then map[tostring(job.id)] = job end
  end
  return map
end

local function row_of(base, job, moved)
  return { id = job.id, user = job.user and tostring(job.user), size = job.size, submit = job.submit, before = base.start - base.submit,
    after = job.start - job.submit, moved = moved }
end

-- The first SHOWN rows of a list in an order of `moved`: sign 1 the least first, -1 the most first.
local function first_rows(list, sign)
  tables.sort(list, function(row) return row.moved * sign end, function(row) return tostring(row.id) end)
  return tables.first(list, SHOWN)
end

--- Compares the jobs of a run with those of the run `base` (lists of jobs as a report takes them). Returns {jobs, earlier,
--- later, same: numbers of jobs; moved: the sum of the changes of the waits in seconds; better, worse: the ten jobs that
--- gained and that lost most, as {id, user, size, submit, before, after, moved}}. Time is n log n.
function M.of(base, jobs)
  local known, better, worse, same, sum = by_id(base), {}, {}, 0, 0
  for _, job in ipairs(jobs) do
    local first = job.start and known[tostring(job.id)]
    if first then
      local moved = (job.start - job.submit) - (first.start - first.submit)
      sum = sum + moved
      if moved == 0 then
        same = same + 1
      else
        local list = moved < 0 and better or worse
        list[#list + 1] = row_of(first, job, moved)
      end
    end
  end
  return { jobs = #better + #worse + same, earlier = #better, later = #worse, same = same, moved = sum, better = first_rows(better, 1),
    worse = first_rows(worse, -1) }
end

return M
