--- report.lua - what the shell says about a match: the lines that start with INFO.

local M = {}

local RULE = "INFO: =============================\n"

-- Times and counts of visits, which go to standard output wherever the rest goes.
local function put_visits(shell, elapsed)
  local t = shell.session.traverser
  if not shell.session.options.elapsed then return end
  if elapsed then shell:print(("INFO: ELAPSE=%f\n"):format(elapsed)) end
  shell:print(("INFO: PREORDER VISIT COUNT=%d\n"):format(t.total_preorder or 0))
  shell:print(("INFO: POSTORDER VISIT COUNT=%d\n"):format(t.total_postorder or 0))
end

--- Whether a request could ever be met.
function M.satisfiability(shell, satisfiable, elapsed)
  shell:put(RULE, "INFO: ", satisfiable and "Satisfiable" or "Unsatisfiable", " request\n", RULE)
  put_visits(shell, elapsed)
end

--- result: {job, matched, booked, at, satisfiable, elapsed}.
function M.match(shell, result)
  if not result.matched then return M.no_match(shell, result) end
  local mode = not result.booked and "MATCHED" or result.at == 0 and "ALLOCATED" or "RESERVED"
  shell:put(RULE, "INFO: JOBID=", result.job, "\n", "INFO: RESOURCES=", mode, "\n")
  shell:put("INFO: SCHEDULED AT=", result.at == 0 and "Now" or result.at, "\n")
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

function M.counts(shell, what)
  local t = shell.session.traverser
  shell:put(RULE, ('INFO: %sCANCEL PREORDER COUNT="%d"\n'):format(what, t.total_preorder or 0))
  shell:put(('INFO: %sCANCEL POSTORDER COUNT="%d"\n'):format(what, t.total_postorder or 0), RULE)
end

function M.expression(shell, text) shell:put(RULE, 'INFO: EXPRESSION="', text, '"\n', RULE) end

return M
