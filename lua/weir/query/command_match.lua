--- command_match.lua - match, multi-match and update: what places jobs.

local errno = require "weir.query.errno"
local files = require "weir.files"
local jobspec = require "weir.query.jobspec"
local report = require "weir.query.report"
local schedule = require "weir.query.schedule"

local M = {}

local OPERATIONS = {
  allocate = true, allocate_orelse_reserve = true, allocate_with_satisfiability = true, satisfiability = true,
  without_allocating = true, without_allocating_future = true,
}

local function books(op)
  return op ~= "satisfiability" and op ~= "without_allocating" and op ~= "without_allocating_future"
end

-- ---- match --------------------------------------------------------------------------------------------------

local function read_job(shell, text)
  local session = shell.session
  local job, why = jobspec.parse(text, session.graph.types)
  if job then return job end
  errno.code = "EINVAL"
  shell:complain(("match_allocate: ERROR: Jobspec error for %d: %s\n"):format(session.counter, why))
end

-- What went wrong; whether it was more than that nothing was found.
local function explain(shell, code)
  local t, expected = shell.session.traverser, code == "EBUSY" or code == "ENODEV"
  if t.message ~= "" then
    shell:complain("match_allocate: ERROR: ", t.message, "\n")
    t.message = ""
  elseif not expected then
    shell:complain("match_allocate: ERROR: traverser: ", errno.text(code), "\n")
  end
  return not expected
end

-- Has a job placed: whether it was, when, and what was written about it.
local function place(shell, job, op, number, started)
  local session = shell.session
  local ok, at = schedule.run(session.traverser, job, op, number, 0, session.writer)
  local code = errno.code
  if not ok and explain(shell, code) then return false end
  local text = session.writer:text()
  if not text then
    shell:complain("match_allocate: ERROR: match writer emit: ", errno.text(), "\n")
    return false
  end
  if ok and books(op) then session:remember(number, at, "", os.clock() - started) end
  if books(op) then session.counter = session.counter + 1 end
  if not ok then errno.code = code end
  return ok, at, text
end

local function run(shell, op, path)
  local session, number, started = shell.session, shell.session.counter, os.clock()
  local spec = files.read(path)
  if not spec then
    shell:complain("ERROR: can't open ", path, "\n")
    return true
  end
  local job, ok, at, text = read_job(shell, spec), false, 0, ""
  if job then ok, at, text = place(shell, job, op, number, started) end
  local satisfiable = ok or (errno.code ~= "ENODEV" and errno.code ~= "ENOENT")
  local elapsed = os.clock() - started
  shell:put(text or "")
  if op == "satisfiability" then
    report.satisfiability(shell, satisfiable, elapsed)
    return ok
  end
  report.match(shell, { job = number, matched = ok, booked = books(op), at = at, satisfiable = satisfiable,
    elapsed = elapsed })
  if ok and books(op) then
    session:remember(number, at, path, elapsed)
    session:sync(number)
  end
  return ok
end

function M.match(shell, words)
  if #words ~= 3 then return shell:complain "ERROR: malformed command\n" end
  if not OPERATIONS[words[2]] then return shell:complain("ERROR: unknown subcmd ", words[2], "\n") end
  run(shell, words[2], words[3])
end

M["multi-match"] = function(shell, words)
  if #words <= 3 then return shell:complain "ERROR: malformed command\n" end
  if not OPERATIONS[words[2]] then return shell:complain("ERROR: unknown subcmd ", words[2], "\n") end
  for i = 3, #words do
    if not run(shell, words[2], words[i]) then break end
  end
end

-- ---- update -------------------------------------------------------------------------------------------------

local READERS = { jgf = true, rv1exec = true, jgf_shorthand = true }

-- The integer that a word starts with; 0: none.
local function integer(word)
  return math.tointeger(tonumber(word:match "^%s*([+-]?%d+)")) or 0
end
M.integer = integer

-- {job, at, duration, text}; nil: complained about.
local function read_update(shell, words)
  local session = shell.session
  if words[2] ~= "allocate" and words[2] ~= "reserve" then
    return shell:complain("ERROR: unknown subcmd ", words[2], "\n")
  end
  if not READERS[words[3]] then return shell:complain("ERROR: unsupported reader ", words[3], "\n") end
  local text = files.read(words[4])
  if not text then return shell:complain("ERROR: can't open ", words[4], "\n") end
  local job, at, duration = integer(words[5]), integer(words[6]), integer(words[7])
  if session.allocations[job] or session.reservations[job] then return shell:complain "ERROR: existing Jobid \n" end
  if at < 0 or duration == 0 then
    return shell:complain(("ERROR: invalid time (%d, %d)\n"):format(at, duration))
  end
  return { job = job, at = at, duration = duration, text = text }
end

local function finish_update(shell, words, what, ok, elapsed)
  local session = shell.session
  session.least, session.most = math.min(session.least, elapsed), math.max(session.most, elapsed)
  session.sum = session.sum + elapsed
  report.match(shell, { job = what.job, matched = ok, booked = true, at = what.at, satisfiable = true,
    elapsed = elapsed })
  if ok then
    session:remember(what.job, what.at, words[4], elapsed)
    session:sync(what.job)
  end
  session.counter = what.job + 1
end

function M.update(shell, words)
  if #words ~= 7 then return shell:complain "ERROR: malformed command\n" end
  local what = read_update(shell, words)
  if not what then return end
  local session, started = shell.session, os.clock()
  local meta = { job = what.job, at = what.at, now = -1, duration = what.duration, kind = "allocate" }
  local ok = session:update(session.reader(words[3]), what.text, meta)
  if not ok then
    shell:complain "ERROR: traverser run () returned error \n"
    if session.traverser.message ~= "" then shell:complain("ERROR: ", session.traverser.message) end
  end
  shell:put(session.writer:text() or "")
  finish_update(shell, words, what, ok, os.clock() - started)
end

return M
