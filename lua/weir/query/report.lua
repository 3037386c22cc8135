--- report.lua - what the shell says about a match: the lines that start with INFO.

local M = {}

local RULE = "INFO: =============================\n"

local ERRNO = {
  EINVAL = "Invalid argument", ENOENT = "No such file or directory", ENODEV = "No such device", EEXIST = "File exists",
  ENOTSUP = "Operation not supported",
}

--- What strerror() says.
function M.errno(name) return ERRNO[name] or "Success" end

-- Times and counts of visits, which go to standard output wherever the rest goes. The visits are those of weir's search: it
-- counts a vertex once, on the way down, so that both numbers are the same.
local function put_visits(shell, elapsed)
  if not shell.session.options.elapsed then return end
  local visited = shell.session.engine:stats().visited
  if elapsed then shell:print(("INFO: ELAPSE=%f\n"):format(elapsed)) end
  shell:print(("INFO: PREORDER VISIT COUNT=%d\n"):format(visited))
  shell:print(("INFO: POSTORDER VISIT COUNT=%d\n"):format(visited))
end

--- Whether a request could ever be met.
function M.satisfiability(shell, satisfiable, elapsed)
  shell:put(RULE, "INFO: ", satisfiable and "Satisfiable" or "Unsatisfiable", " request\n", RULE)
  put_visits(shell, elapsed)
end

local function when(at) return at == 0 and "Now" or ("%d"):format(math.ceil(at)) end

--- result: {job, matched, booked, at, satisfiable, elapsed}.
function M.match(shell, result)
  if not result.matched then return M.no_match(shell, result) end
  local mode = not result.booked and "MATCHED" or result.at == 0 and "ALLOCATED" or "RESERVED"
  shell:put(RULE, "INFO: JOBID=", result.job, "\n", "INFO: RESOURCES=", mode, "\n")
  shell:put("INFO: SCHEDULED AT=", when(result.at), "\n")
  put_visits(shell, result.elapsed)
  shell:put(RULE)
end

function M.no_match(shell, result)
  shell:put(RULE, "INFO: No matching resources found\n")
  if not result.satisfiable then shell:put "INFO: Unsatisfiable request\n" end
  shell:put("INFO: JOBID=", result.job, "\n")
  if shell.session.options.elapsed then shell:put(("INFO: ELAPSE=%f\n"):format(result.elapsed)) end
  put_visits(shell, nil)
  shell:put(RULE)
end

--- How many vertices a cancellation looked at, and how many of them the job had.
function M.counts(shell, what, looked, held)
  shell:put(RULE, ('INFO: %sCANCEL PREORDER COUNT="%d"\n'):format(what, looked))
  shell:put(('INFO: %sCANCEL POSTORDER COUNT="%d"\n'):format(what, held), RULE)
end

function M.expression(shell, text) shell:put(RULE, 'INFO: EXPRESSION="', text, '"\n', RULE) end

return M
