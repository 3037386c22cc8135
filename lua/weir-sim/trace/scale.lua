--- scale.lua - a load made up after a trace, with more jobs or fewer: "and with 20 % more jobs?".
---
--- The unit is a session: what one user submitted on one day, as the jobs of a session are similar and come in bursts. More
--- jobs are sessions drawn at random and repeated on the same weekday of another week, at the same times of the day, as a
--- whole; the trace itself stays, so that two replays differ by what was added. Fewer jobs are sessions left out. Sizes,
--- run times, limits, users, hours and weekdays are so distributed as in the trace. Without users, an hour of the trace is
--- a session.
---
--- Memory: the jobs of the whole trace, some 600 bytes each.

local random = require "weir.random"
local tables = require "weir.tables"

local M = {}

local HOUR, DAY, WEEK = 3600, 86400, 604800

-- Returns the sessions of a list of jobs: lists of places, in the order of their first jobs.
local function sessions_of(jobs)
  local sessions, known = {}, {}
  for i, job in ipairs(jobs) do
    local key = job.user ~= nil and ("%s\0%d"):format(job.user, job.submit // DAY) or "\0" .. job.submit // HOUR
    if not known[key] then
      known[key] = {}
      sessions[#sessions + 1] = known[key]
    end
    known[key][#known[key] + 1] = i
  end
  return sessions
end

-- Shuffles a list in place.
local function shuffle(list, fraction)
  for i = #list, 2, -1 do
    local k = math.floor(fraction() * i) + 1
    list[i], list[k] = list[k], list[i]
  end
end

-- Calls f(session, part) for sessions drawn at random until the number of jobs is reached; `part` is how many of the session
-- are to be taken, all but for the last.
local function draw(sessions, wanted, fraction, f)
  local order, at = {}, 0
  while wanted > 0 and #sessions > 0 do
    if at == #order then
      order, at = table.move(sessions, 1, #sessions, 1, {}), 0
      shuffle(order, fraction)
    end
    at = at + 1
    local n = math.min(#order[at], wanted)
    f(order[at], n)
    wanted = wanted - n
  end
end

local function copy_of(job, shift)
  local copy = tables.copy(job)
  copy.submit, copy.recorded, copy.line = job.submit + shift, nil, nil
  return copy
end

-- Returns a number of seconds by which a session can move to the same weekday of another week within the trace.
local function shift_of(job, first, last, fraction)
  local before, after = math.floor((job.submit - first) // WEEK), math.floor((last - job.submit) // WEEK)
  local weeks = before + after
  if weeks == 0 then return 0 end
  local k = math.floor(fraction() * weeks) -- one of the other weeks
  local week = k < before and k - before or k - before + 1
  return week * WEEK
end

local function add(jobs, sessions, wanted, fraction)
  local out, first, last = table.move(jobs, 1, #jobs, 1, {}), jobs[1].submit, jobs[#jobs].submit
  draw(sessions, wanted, fraction, function(session, n)
    local shift = shift_of(jobs[session[1]], first, last, fraction)
    for k = 1, n do out[#out + 1] = copy_of(jobs[session[k]], shift) end
  end)
  return out
end

local function thin(jobs, sessions, wanted, fraction)
  local gone, out = {}, {}
  draw(sessions, wanted, fraction, function(session, n)
    for k = 1, n do gone[session[k]] = true end
  end)
  for i, job in ipairs(jobs) do
    if not gone[i] then out[#out + 1] = job end
  end
  return out
end

-- Sorts by submission; jobs of a time stay in order.
local function sort(jobs)
  local place = {}
  for i, job in ipairs(jobs) do place[job] = i end
  tables.sort(jobs, "submit", function(job) return place[job] end)
end

-- Numbers what was added behind the jobs of a list: above the largest number, or as a text where a number is one.
local function number(jobs, out)
  local last = 0
  for _, job in ipairs(jobs) do
    if math.type(job.number) ~= "integer" then last = nil break end
    last = math.max(last, job.number)
  end
  for i = #jobs + 1, #out do out[i].number = last and last + i - #jobs or "added-" .. i - #jobs end
end

--- Returns a list of `count` jobs in the order of submission, made of the list of jobs given; added jobs have numbers of
--- their own and no recorded start. Equal seeds give equal lists.
function M.jobs(jobs, count, seed)
  local wanted = math.max(count, 0) - #jobs
  if wanted == 0 or #jobs == 0 then return jobs end
  local sessions, fraction = sessions_of(jobs), random.fractions(seed or 1)
  local out = wanted > 0 and add(jobs, sessions, wanted, fraction) or thin(jobs, sessions, -wanted, fraction)
  if wanted > 0 then number(jobs, out) end
  sort(out)
  return out
end

--- Returns a trace with as many jobs as change(count) says for the jobs of a trace; the trace's data about itself stay.
--- Reads the whole trace. Or nil, message, code.
function M.trace(trace, change, seed)
  local jobs = {}
  while true do
    local job, why, code = trace.next()
    if why then return nil, why, code end
    if not job then break end
    jobs[#jobs + 1] = job
  end
  local made, i = M.jobs(jobs, change(#jobs), seed), 0
  trace.added, trace.spare = #made - #jobs, nil
  trace.next = function()
    i = i + 1
    return made[i]
  end
  return trace
end

return M
