--- command_jobs.lua - the commands cancel and partial-cancel, and the commands that show jobs.

local files = require "weir.files"
local partial_cancel = require "weir.query.partial_cancel"
local quirks = require "weir.query.quirks"
local report = require "weir.query.report"
local tree = require "weir.query.tree"

local M = {}

function M.cancel(shell, words)
  if #words < 2 or #words > 3 then return shell:complain "ERROR: malformed command\n" end
  local session, number = shell.session, quirks.integer(words[2])
  local job = session:holder(number)
  if not job then return shell:complain("cancel: ERROR: nonexistent job ", ("%u"):format(number), "\n") end
  local root, tags = tree.of(session.machine:root(), job.parts), job.tags or {}
  session.engine:release(session:id_of(number))
  session:forget(job)
  if words[3] == "stats" then report.counts(shell, "", tree.count(root, tags)) end
end

-- Returns the job of a number if the job has an allocation; nil after an error message for reservations and unknown
-- numbers, as partial cancellation needs a running job.
local function find_job(shell, number)
  local job = shell.session:holder(number)
  if not job then return shell:complain(("ERROR: nonexistent job %d\n"):format(number)) end
  if job.held == "allocations" then return job end
  return shell:complain "ERROR: reservations not currently supported by partial cancel\n"
end

M["partial-cancel"] = function(shell, words)
  if #words < 4 or #words > 5 then return shell:complain "ERROR: malformed command\n" end
  local number, reader = quirks.integer(words[2]), words[3]
  if reader ~= "jgf" and reader ~= "rv1exec" then return shell:complain("ERROR: unsupported reader ", reader, "\n") end
  local text = files.read(words[4], "jobspec")
  if not text then return shell:complain("ERROR: can't open ", words[4], "\n") end
  local job = find_job(shell, number)
  if not job then return end
  local ok, why = partial_cancel.run(shell.session, job, reader, text)
  if not ok then
    shell:print(why, "\n")
    shell:complain(("ERROR: error encountered while removing job %d\n"):format(number))
  end
  if words[5] == "stats" then report.counts(shell, "PARTIAL ", 0, 0) end
end

-- ---- looking ------------------------------------------------------------------------------------------------

local function put_job(shell, job)
  shell:print(("INFO: %d, %s, %.0f, %s, %g\n"):format(job.job, job.state, job.at, job.source, job.elapsed))
end

function M.list(shell)
  for _, job in ipairs(shell.session:list()) do put_job(shell, job) end
end

function M.info(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  local number = quirks.integer(words[2])
  local job = shell.session.jobs[number]
  if not job then return shell:complain(("info: ERROR: nonexistent job %d\n"):format(number)) end
  put_job(shell, job)
end

function M.stat(shell, words)
  if #words ~= 1 then return shell:complain "ERROR: malformed command\n" end
  local session = shell.session
  local n = #session:list()
  shell:print(("INFO: Num. of Jobs Matched: %d\n"):format(n))
  shell:print(("INFO: Min. Match Time: %g\n"):format(session.min < math.huge and session.min or 0))
  shell:print(("INFO: Max. Match Time: %g\n"):format(session.max))
  shell:print(("INFO: Avg. Match Time: %g\n"):format(n > 0 and session.sum / n or 0))
end

function M.cat(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  local text = files.read(words[2], "jobspec")
  if text then shell:print(text, text:match "[^\n]$" and "\n" or "") end
  shell:print("INFO: Jobspec in ", words[2], "\n")
end

return M
