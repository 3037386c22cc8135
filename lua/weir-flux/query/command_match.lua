--- command_match.lua - the commands that allocate: match, multi-match and update.

local files = require "weir.files"
local matching = require "weir.query.matching"
local quirks = require "weir.query.quirks"
local report = require "weir.query.report"
local session_of = require "weir.query.session"
local update = require "weir.query.update"

local M = {}

-- ---- match --------------------------------------------------------------------------------------------------

local EXPECTED = { busy = true, infeasible = true }
local UNREADABLE = { invalid = true, parse = true, limit = true, unknown = true }

local function complain(shell, why, code)
  if EXPECTED[code] then return end
  local what = UNREADABLE[code] and ("Jobspec error for %d: "):format(shell.session.counter) or ""
  shell:complain("match_allocate: ERROR: ", what, why or "", "\n")
end

-- Returns the text of an allocation in the format of -F; nil after an error message if the format cannot express the
-- allocation.
local function text_of(shell, found)
  local about = { start = math.ceil(found.at or 0), queue = found.queue }
  about.stop = session_of.stop(about.start, found.duration or 0)
  local text, errno = shell.session:text(found.parts or {}, about)
  if not text then shell:complain("match_allocate: ERROR: match writer emit: ", report.errno(errno), "\n") end
  return text
end

local function remember(session, number, found, path, elapsed)
  session:remember {
    job = number, at = found.at, stop = session_of.stop(found.at, found.duration), source = path, elapsed = elapsed,
    kind = found.at == 0 and "allocate" or "reserve", parts = found.parts, uncounted = not found.counted,
  }
end

-- Records the outcome of a match in the session and prints a report.
local function finish(shell, name, path, found, text, code, elapsed)
  local session, books = shell.session, matching.books(name)
  local number = session.counter
  shell:put(text or "")
  if name == "satisfiability" then return report.satisfiability(shell, found ~= nil, elapsed) end
  report.match(shell, { job = number, matched = found ~= nil and text ~= nil, booked = books, elapsed = elapsed,
    at = found and found.at, satisfiable = code ~= "infeasible" or text == nil })
  if books and found then remember(session, number, found, path, elapsed) elseif found then session:seen(found) end
  if books and quirks.uses_number(found, text, code) then session.counter = number + 1 end
end

-- Runs an operation on the jobspec at a path. Returns whether multi-match continues with the next jobspec.
local function run(shell, name, path)
  local session, started = shell.session, os.clock()
  local spec = files.read(path, "jobspec")
  if not spec then
    shell:complain("ERROR: can't open ", path, "\n")
    return true
  end
  local found, why, code = matching.run(session, spec, name)
  if not found then complain(shell, why, code) end
  local text = text_of(shell, found or {})
  finish(shell, name, path, found, text, code, os.clock() - started)
  return found ~= nil
end

function M.match(shell, words)
  if #words ~= 3 then return shell:complain "ERROR: malformed command\n" end
  if not matching.known(words[2]) then return shell:complain("ERROR: unknown subcmd ", words[2], "\n") end
  run(shell, words[2], words[3])
end

M["multi-match"] = function(shell, words)
  if #words <= 3 then return shell:complain "ERROR: malformed command\n" end
  if not matching.known(words[2]) then return shell:complain("ERROR: unknown subcmd ", words[2], "\n") end
  for i = 3, #words do
    if not run(shell, words[2], words[i]) then break end
  end
end

-- ---- update -------------------------------------------------------------------------------------------------

local READERS = { jgf = true, rv1exec = true, jgf_shorthand = true }

-- Returns {job, at, duration, text} from the words of the command; nil after an error message if a word is wrong.
local function read_update(shell, words)
  if words[2] ~= "allocate" and words[2] ~= "reserve" then
    return shell:complain("ERROR: unknown subcmd ", words[2], "\n")
  end
  if not READERS[words[3]] then return shell:complain("ERROR: unsupported reader ", words[3], "\n") end
  local text = files.read(words[4], "R")
  if not text then return shell:complain("ERROR: can't open ", words[4], "\n") end
  local job, at, duration = quirks.integer(words[5]), quirks.integer(words[6]), quirks.integer(words[7])
  if shell.session:holder(job) then return shell:complain "ERROR: existing Jobid \n" end
  if at < 0 or duration == 0 then
    return shell:complain(("ERROR: invalid time (%d, %d)\n"):format(at, duration))
  end
  return { job = job, at = at, duration = duration, text = text, reader = words[3] }
end

local function finish_update(shell, what, parts, path, elapsed)
  local session = shell.session
  session:count_time(elapsed)
  report.match(shell, { job = what.job, matched = parts ~= nil, booked = true, at = what.at, satisfiable = true,
    elapsed = elapsed })
  if parts then
    session:remember {
      job = what.job, at = what.at, stop = what.at + what.duration, source = path, elapsed = elapsed, kind = "allocate",
      parts = parts,
    }
  end
  session.counter = what.job + 1
end

function M.update(shell, words)
  if #words ~= 7 then return shell:complain "ERROR: malformed command\n" end
  local what = read_update(shell, words)
  if not what then return end
  local started = os.clock()
  local parts, why = update.run(shell.session, what)
  if not parts then
    shell:complain("ERROR: traverser run () returned error \n", "ERROR: ", why or "", "\n")
  end
  shell:put(shell.session:text(parts or {}, { start = what.at, stop = what.at + what.duration }) or "")
  finish_update(shell, what, parts, words[4], os.clock() - started)
end

return M
