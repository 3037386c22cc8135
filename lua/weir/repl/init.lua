--- repl/init.lua - the REPL: on a terminal with line editing, from a pipe as a filter.

local complete = require "weir.repl.complete"
local core = require "weir.core"
local files = require "weir.files"
local out = require "weir.cli.output"
local read = require "weir.repl.read"
local recording = require "weir.repl.recording"
local sessions = require "weir.repl.session"
local show = require "weir.repl.show"

local M = {}

-- ---- where the history is ---------------------------------------------------------------------------------------

-- Returns the path of the history in the state directory of XDG; nil if the directory cannot be created.
local function history_file()
  local home = os.getenv "HOME"
  local dir = os.getenv "XDG_STATE_HOME"
  if not dir or dir == "" then dir = home and home .. "/.local/state" end
  if not dir then return nil end
  dir = dir .. "/weir"
  return files.make_directory(dir) and dir .. "/history" or nil
end

-- Measures the terminal: lines and columns.
local function measure(session)
  local pipe = io.popen "stty size 2>/dev/null </dev/tty"
  local lines, columns = pipe:read("a"):match "(%d+) (%d+)"
  pipe:close()
  show.lines = math.max(20, tonumber(lines) or 0)
  show.width = math.max(40, tonumber(columns) or 80)
  session.width = show.width
end

-- ---- on a terminal ------------------------------------------------------------------------------------------

-- Reads a complete input, over several lines if needed; or returns nil and "end" or "interrupted".
local function read_input(editor)
  local text, why = editor:read "weir> "
  while text and not read.is_complete(text) do
    local line
    line, why = editor:read "  ... "
    if not line then return nil, why == "end" and "interrupted" or why end
    text = text .. "\n" .. line
  end
  return text, why
end

local function greet(session)
  local g = session.graph
  out.line(("weir %s  %s: %d vertices  policy %s  :help"):format(core.version, session.name, g:count(), session.policy))
end

-- Returns a function that adds an input to the history. A failure is reported only once.
local function rememberer(editor)
  local warned
  return function(text)
    local kept, why = editor:remember(text)
    if not kept and not warned then out.warn("the history is not kept: " .. why) end
    warned = not kept
  end
end

local function converse(session)
  local editor <close> = core.editor {
    history = history_file(), size = 2000, complete = function(line, at) return complete.tab(session, line, at) end,
  }
  local remember = rememberer(editor)
  out.paint_error = out.error_painter()
  measure(session)
  greet(session)
  while not session.done do
    out.flush()
    local text, why = read_input(editor)
    if text then
      if text:find "%S" then remember(text) end
      session:run(text)
    elseif why == "end" then
      out.line ""
      break
    end
  end
  return 0
end

-- Runs a text. Returns the exit status.
local function run_input(session, opts)
  local well, at = session:run_text(opts.input, opts.go_on)
  if at then out.warn(("line %d has failed, so the lines after it were not run; --keep-going runs them"):format(at)) end
  return well and 0 or 1
end

-- ---- ways in ------------------------------------------------------------------------------------------------

--- Runs a session on typed input or on a text. opts: see session.new, and .input (a text), .go_on (continue after
--- errors). Returns the exit status and the session, or nil and a reason if no session can begin.
function M.run(opts)
  local session, why, code = sessions.new(opts)
  if not session then return nil, why, code end
  session.scripted = opts.input ~= nil
  local ok, result = xpcall(function()
    if not opts.input then return converse(session) end
    return run_input(session, opts)
  end, function(raised) return raised == "interrupted" and raised or debug.traceback(raised) end)
  session:close()
  if not ok then error(result, 0) end
  return result, session
end

-- Returns the values and the indices of the calling function's locals, by name.
local function locals_of(level)
  local values, places = {}, {}
  for i = 1, 250 do
    local name, value = debug.getlocal(level + 1, i)
    if not name then break end
    if not name:find "^%(" then values[name], places[name] = value, i end
  end
  return values, places
end

--- weir.repl(opts), for any script. The caller's locals are globals of the session, and keep assigned values after
--- the session. Where standard input is no terminal, its lines are run, as by weir repl. depth:
--- the number of functions between the caller and M.here.
function M.here(opts, depth)
  opts = opts or {}
  local level = 2 + (depth or 0)
  local values, places = locals_of(level)
  local engine = opts.engine or not opts.resources and values.e or nil
  local input = opts.input
  if not input and not core.is_terminal(0) then
    local why, code
    input, why, code = files.read("-", "input")
    if not input then return nil, why, code end
  end
  local status, session = M.run {
    resources = opts.resources or engine and engine:resources() or values.g, engine = engine, policy = opts.policy,
    locals = values, input = input, mode = opts.mode,
  }
  if not status then return nil, session end
  for name, place in pairs(places) do debug.setlocal(level, place, session.env[name]) end
  return status
end

--- Returns the environment of a new session, for recorded scripts.
function M.environment(opts)
  local session = assert(sessions.new(opts))
  recording.belongs(session.env, session)
  return session.env
end

return M
