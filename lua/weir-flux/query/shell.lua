--- shell.lua - reads commands, a line each, and runs them. No error of a command ends the session; only quit does.

local dump = require "weir.query.dump"
local files = require "weir.files"
local jobs = require "weir.query.command_jobs"
local machine = require "weir.query.command_machine"
local matching = require "weir.query.command_match"

local M = {}
M.__index = M

-- Commands: {name, short name, help}. If two commands share a short name, the first has precedence.
local COMMANDS = {
  { "match", "m", "Match a jobspec: match OPERATION JOBSPEC (allocate | allocate_with_satisfiability | "
    .. "allocate_orelse_reserve | satisfiability | without_allocating | without_allocating_future)" },
  { "multi-match", "M", "Match several jobspecs: multi-match OPERATION JOBSPEC JOBSPEC..." },
  { "update", "u", "Book what a file says that a job has: update (allocate | reserve) (jgf | jgf_shorthand | rv1exec) "
    .. "FILE JOBID START DURATION" },
  { "attach", "j", "Add the part of a machine that a JGF file has: attach FILE" },
  { "remove", "j", "Take a part of the machine away: remove PATH true, or remove RANKS false" },
  { "find", "f", "Find what conditions hold for: find CONDITION [and | or CONDITION]... (status={up|down} "
    .. "sched-now={allocated|free} sched-future={reserved|free} agfilter={true|false} names=HOSTLIST jobid-alloc=ID "
    .. "jobid-span=ID jobid-tag=ID jobid-reserved=ID property=NAME)" },
  { "cancel", "c", "Give back all that a job has: cancel JOBID [stats]" },
  { "partial-cancel", "pc", "Give back a part of what a job has: partial-cancel JOBID (jgf | rv1exec) FILE [stats]" },
  { "set-property", "p", "Give what is at a path a property: set-property PATH PROPERTY=VALUE" },
  { "get-property", "g", "Print the properties of what is at a path: get-property PATH" },
  { "set-status", "t", "Mark what is at a path: set-status PATH (up | down)" },
  { "get-status", "e", "Print the status of what is at a path: get-status PATH" },
  { "list", "l", "List all jobs: list" },
  { "info", "i", "Print what is known of a job: info JOBID" },
  { "stat", "s", "Print how long matches took: stat" },
  { "cat", "a", "Print a file: cat FILE" },
  { "why", "w", "Say why a jobspec does not fit now, or not there: why JOBSPEC [PATH] (weir's own)" },
  { "help", "h", "Print this: help [COMMAND]" },
  { "quit", "q", "End the session: quit" },
}

local RUN = {}
for _, module in ipairs { matching, jobs, machine } do
  for name, run in pairs(module) do RUN[name] = run end
end

function RUN.help(shell, words)
  local wanted, found = #words == 2 and words[2] or nil, false
  for _, c in ipairs(COMMANDS) do
    if not wanted or wanted == c[1] or wanted == c[2] then
      shell:print(("INFO: %s (%s) -- %s\n"):format(c[1], c[2], c[3]))
      found = true
    end
  end
  if not found then shell:print("ERROR: unknown command: ", wanted, "\n") end
end

function RUN.quit(shell) shell.over = true end

-- ---- output -------------------------------------------------------------------------------------------------

--- Writes to standard output.
function M:print(...) self.screen:write(...) end

--- Writes to the file of -t, or to standard output.
function M:put(...) self.out:write(...) end

--- Writes to standard error.
function M:complain(...)
  self.screen:flush()
  self.out:flush()
  self.errors:write(...)
end

-- ---- the loop -----------------------------------------------------------------------------------------------

local function command(word)
  for _, c in ipairs(COMMANDS) do
    if word == c[1] or word == c[2] then return RUN[c[1]] end
  end
end

local function split(line)
  local words = {}
  for word in line:gmatch "%S+" do words[#words + 1] = word end
  return words
end

local function with_trace(raised) return raised == "interrupted" and raised or debug.traceback(raised) end

--- Runs a line. Prints errors raised inside weir and continues; an interrupt (Ctrl-C) is raised again.
function M:run(line)
  local words = split(line)
  local run = words[1] and command(words[1])
  if not run then return end
  local ok, why = xpcall(run, with_trace, self, words)
  if why == "interrupted" then error(why, 0) end
  if not ok then self:complain("ERROR: ", words[1], " failed inside of weir: ", tostring(why), "\n") end
end

local function prompt(shell)
  if not shell.prompted then return end
  shell.screen:write "resource-query> "
  shell.screen:flush()
end

--- Runs lines until quit or the end of input, then writes the graph if -o is given. next_line() returns the next
--- line; nil at the end; or nil and a message.
function M:loop(next_line)
  prompt(self)
  local line, why = next_line()
  while line do
    self:run(line)
    if self.over then break end
    prompt(self)
    line, why = next_line()
  end
  self.out:flush()
  if why then return nil, "<stdin>: " .. why end
  local o = self.session.options
  if not o.graph_output then return true end
  local path = o.graph_output .. "." .. o.graph_format
  if files.same(path, "-") then return nil, path .. ": is standard input, and is not replaced" end
  if o.load_file and files.same(path, o.load_file) then return nil, path .. ": is the file of --load-file, and is not replaced" end
  return files.write(path, dump[o.graph_format](self.session.machine))
end

--- Returns a shell for a session. streams: {out (for allocations), screen, errors}; the defaults are standard output
--- and standard error. `prompted`: whether a person types the commands.
function M.new(session, streams, prompted)
  local screen = streams.screen or io.stdout
  return setmetatable({
    session = session, out = streams.out or screen, screen = screen, errors = streams.errors or io.stderr,
    prompted = prompted, over = false,
  }, M)
end

return M
