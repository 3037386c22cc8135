--- report.lua - the report of the shell about a match: the lines that start with INFO.

local M = {}

local RULE = "INFO: =============================\n"

local ERRNO = {
  EINVAL = "Invalid argument", ENOENT = "No such file or directory", ENODEV = "No such device", EEXIST = "File exists",
  ENOTSUP = "Operation not supported",
}

--- Returns the text of strerror() for the name of an errno.
function M.errno(name) return ERRNO[name] or "Success" end

-- Prints times and counts of visits, always to standard output. The counts are of weir's search, where a vertex
-- counts once, on the way down; both printed numbers are therefore equal.
local function put_visits(shell, elapsed)
  if not shell.session.options.elapsed then return end
  local visited = shell.session.engine:stats().visited
  if elapsed then shell:print(("INFO: ELAPSE=%f\n"):format(elapsed)) end
  shell:print(("INFO: PREORDER VISIT COUNT=%d\n"):format(visited))
  shell:print(("INFO: POSTORDER VISIT COUNT=%d\n"):format(visited))
end

--- Reports whether a request can be satisfied with all resources free.
function M.satisfiability(shell, satisfiable, elapsed)
  shell:put(RULE, "INFO: ", satisfiable and "Satisfiable" or "Unsatisfiable", " request\n", RULE)
  put_visits(shell, elapsed)
end

local function when(at) return at == 0 and "Now" or ("%d"):format(math.ceil(at)) end

--- Reports a match. result: {job, matched, booked, at, satisfiable, elapsed}.
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

--- Reports how many vertices a cancellation visited, and how many of the visited vertices the job held.
function M.counts(shell, what, looked, held)
  shell:put(RULE, ('INFO: %sCANCEL PREORDER COUNT="%d"\n'):format(what, looked))
  shell:put(('INFO: %sCANCEL POSTORDER COUNT="%d"\n'):format(what, held), RULE)
end

function M.expression(shell, text) shell:put(RULE, 'INFO: EXPRESSION="', text, '"\n', RULE) end

return M
