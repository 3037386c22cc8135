--- why.lua - why a job waits in a Flux instance: the missing resources, the jobs before it in the queue, the reservations in the
-- way, and the expected start. M.text changes the scheduler passed, so callers run M.text in a forked copy.
--
-- The expected start is found by playing the future in the copy (future.lua).

local about = require "weir.about"
local broker = require "weir.sim.broker"
local explain_text = require "weir.explain.text"
local future = require "weir.flux.future"
local jobid = require "weir.flux.jobid"
local policies = require "weir.flux.policies"
local texts = require "weir.texts"

require "weir.explain" -- a copy opens no files: what a copy may use is read before

local M = {}

--- The seconds of work for a forecast.
M.SECONDS = 5

local FEW = 3       -- jobs listed by name


local function plural(n, word) return ("%d %s%s"):format(n, word, n == 1 and "" or "s") end

-- Returns the first few jobs of a list by id: "ƒA, ƒB and 7 more".
local function names(list, prefix)
  local words = {}
  for i = 1, math.min(#list, FEW) do words[i] = jobid.f58(list[i].id, prefix) end
  local text = table.concat(words, ", ")
  return #list > FEW and ("%s and %d more"):format(text, #list - FEW) or text
end

-- ---- the queue -------------------------------------------------------------------------------------------------------

-- Returns the waiting jobs before a job, in the order of its queue policy.
local function ahead(self, job)
  local list = {}
  for _, id in ipairs(self.queues:waiting(job.group)) do
    local other = self.jobs[id]
    if id == job.id then return list end
    if other and other.state == "pending" then list[#list + 1] = other end
  end
  return nil -- the policy does not know the job yet
end

local function place_in_queue(self, job, prefix)
  local list = ahead(self, job)
  local queue = ("the queue%s (%s)"):format(job.queue and " " .. job.queue or "", job.group.name)
  if not list then return ("It has just come to %s."):format(queue) end
  if #list == 0 then return ("It is the first in %s."):format(queue) end
  return ("%s %s ahead of it in %s: %s."):format(plural(#list, "job"), #list == 1 and "is" or "are", queue, names(list, prefix))
end

-- ---- what is missing -------------------------------------------------------------------------------------------------

-- Returns the report on a job next to the jobs that run and the reservations of others.
local function explained(self, job)
  local own = job.reserved and assert(self.engine:detach(job.id))
  local report, why, code = self.engine:explain(job.request, { about = about.of(job) })
  if own then assert(self.engine:attach(own)) end
  return report, why, code
end

-- Returns a report as text, with job ids and times in the usual form. The start is of the job next to the reservations as they
-- are now, for any queue.
local function in_words(self, report, prefix)
  local text = jobid.with_ids(explain_text.with_ranks(explain_text.text, report, 100), self.jobs, prefix)
  text = text:gsub("Earliest start: ", "Room for it, next to running and reserved jobs: ")
  return (text:gsub("(%d[%d,]*%d)%.?%d* s%f[%W]", function(digits)
    local t = tonumber((digits:gsub(",", "")))
    return t >= texts.WALL and texts.date(t) or nil
  end))
end

-- ---- the future ------------------------------------------------------------------------------------------------------

--- Returns the time at which a waiting job starts; math.huge: no start is in sight; nil: it would take too long to find out.
--- The scheduler is a copy, and of no use afterwards.
function M.forecast(self, job)
  local ended = future.play(self, function() return job.state ~= "pending" end, M.SECONDS)
  return ended == "done" and job.start or ended == "never" and math.huge or nil
end

local function start_in_words(t, now)
  if not t then return "When it starts would take too long to find out." end
  if t == math.huge then return "No start is in sight: what it waits for has no end, or the queue policy does not start it." end
  if t <= now then return "It starts next." end
  return ("It starts at %s, if all jobs run as long as they may and no other comes."):format(texts.date(t))
end

--- Returns the text why a job waits. prefix: of job ids, see jobid.lua. Or nil, message, code.
function M.text(self, job, prefix)
  local first = ("%s waits"):format(jobid.f58(job.id, prefix))
  if job.reserved then first = first .. "; resources are reserved for it from " .. texts.date(job.reserved) .. " on" end
  local lines = { first, place_in_queue(self, job, prefix) }
  local report, why, code = explained(self, job)
  if not report then return nil, why, code end
  broker.drop_reservations(self)
  if report.fits then
    lines[#lines + 1] = "It would fit now: it is not its turn."
  else
    local text, short = in_words(self, report, prefix):gsub("\n$", ""), self.annotations:short(job.request)
    if short and not text:find(short, 1, true) then lines[#lines + 1] = short end
    lines[#lines + 1] = text
  end
  local remark = policies.remark(self, job):sub(2)
  if remark ~= "" then lines[#lines + 1] = remark end
  local now = self.now
  lines[#lines + 1] = start_in_words(M.forecast(self, job), now)
  return table.concat(lines, "\n") .. "\n"
end

return M
