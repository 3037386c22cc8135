--- session.lua - a session: the machine, the engine, the environment of the input, and the output of values.

local commands = require "weir.repl.commands"
local core = require "weir.core"
local files = require "weir.files"
local journal = require "weir.repl.journal"
local meant = require "weir.repl.meant"
local modes = require "weir.repl.modes"
local out = require "weir.cli.output"
local read = require "weir.repl.read"
local record = require "weir.repl.recording"
local results = require "weir.repl.results"
local shorthand = require "weir.repl.shorthand"
local weir = require "weir"

local M = {}
M.__index = M

-- Returns the library coroutine with a check for Ctrl-C in each coroutine, since hooks are per coroutine.
local function watched_coroutines()
  local t = setmetatable({}, { __index = coroutine })
  function t.create(f)
    local co = coroutine.create(f)
    core.watch(co)
    return co
  end
  function t.wrap(f)
    local co = t.create(f)
    return function(...)
      local returned = table.pack(coroutine.resume(co, ...))
      if not returned[1] then error(returned[2], 0) end
      return table.unpack(returned, 2, returned.n)
    end
  end
  return t
end

local function environment(self, locals)
  results.watch()
  local env = setmetatable({}, { __index = _G })
  env._G, env.weir, env.coroutine = env, weir, watched_coroutines()
  if self.remote then self.remote.commands.fill(env, self) else shorthand.fill(env, self) end
  for name, value in pairs(locals or {}) do env[name] = value end
  return env
end

local function make(opts, name, policy)
  return setmetatable({
    name = name, policy = policy, mode = opts.mode or "table", width = opts.width or 80, settings = { trace = false },
    remote = opts.remote,
  }, M)
end

-- Returns a session with a service. The session calls the service for all values, and has no journal for undo.
local function new_remote(opts)
  local self = make(opts, opts.remote.address, (opts.remote.engine:policy()))
  self.env = environment(self, opts.locals)
  self:take(opts.remote.graph, opts.remote.engine)
  return self
end

--- Returns a session. opts: resources (a graph, or a name of resources; default: the local machine), policy, locals,
--- mode, name; or remote, a service (a table as weir.repl.remote makes it, with `commands`).
function M.new(opts)
  if opts.remote then return new_remote(opts) end
  local graph, why, code = weir.resources(opts.resources or "local")
  if not graph then return nil, why, code end
  local self = make(opts, type(opts.resources) == "string" and opts.resources or "local", opts.policy or "low")
  self.env = environment(self, opts.locals)
  local ok
  ok, why, code = self:take(graph, opts.engine)
  if not ok then return nil, why, code end
  self.journal = journal.open(self)
  return self
end

--- Switches to a different machine.
function M:take(graph, engine)
  local why, code
  if not engine then
    engine, why, code = weir.engine { resources = graph, policy = self.policy }
    if not engine then return nil, why, code end
  end
  self.graph, self.engine = graph, engine
  self.env.g, self.env.e = graph, engine
  return true
end

function M:close()
  if self.journal then self.journal:close() end
  if self.remote then self.remote.close() end
  if self.recording then record.close(self.recording) end
end

-- ---- running ------------------------------------------------------------------------------------------------

--- Calls f so that Ctrl-C ends the call, like core.guarded.
function M:guarded(f, ...)
  if not self.remote then return core.guarded(f, ...) end
  return self.remote.guarded(f, ...)
end

-- Returns an error without the places in the typed input's first line and in weir's own files.
local function without_place(text)
  local own = files.own(text)
  if own then text = own:gsub("^[%w_/]+%.lua:%d+: ", "", 1) end
  return (text:gsub("^input:1: ", ""):gsub("^input:", "line "))
end

-- Prints an error. Failures of commands, such as a failed write of output, are raised again and end the session; so does
-- a signal in a script (self.scripted).
local function tell_error(self, raised, trace)
  if out.failure(raised) or raised == "interrupted" and self.scripted then error(raised, 0) end
  self.trace = trace and (trace:match "^(.-)\n[^\n]*weir%.core%.guarded" or trace) -- the levels of the typed input
  local text = without_place(tostring(raised))
  out.flush()
  out.warn(text == "interrupted" and text or text:match "^[^\n]*" .. meant.call(self.env, text))
end

-- Prints the results of an input; for people an empty list says what was not found, and an iterator how it is used.
local function print_values(self, values)
  if values.n == 0 or values[1] == shorthand.quiet then return end
  self.env._ = values[1]
  local words = self.mode ~= "json" and self.mode ~= "csv" and results.words(self, values)
  if words then return out.line(words) end
  modes.print(self.mode, values)
end

--- Adds an input to the recording, if there is one.
function M:record(text, failed)
  if not self.recording then return end
  local why
  self.recording, why = record.note(self.recording, text, self.engine, failed)
  if not self.recording then out.warn("the recording ends here: " .. why) end
end

-- Runs a chunk of Lua. Returns whether the chunk succeeded.
local function run_chunk(self, text)
  local chunk, why, expression = read.chunk(text, self.env)
  if not chunk then
    out.warn(why == "incomplete" and "the input ends in the middle" or why .. meant.quotes(self.env, text))
    return false
  end
  local began = core.clock()
  if self.journal then self.journal:begin() end
  local returned = table.pack(self:guarded(chunk))
  if self.settings.time then out.line(("%.3f ms"):format((core.clock() - began) * 1e3)) end
  self:record(expression and "_ = " .. text or text, not returned[1])
  if not returned[1] then
    tell_error(self, returned[2], returned[3])
    return false
  end
  local values = { n = returned.n - 1, table.unpack(returned, 2, returned.n) }
  local shown, raised, trace = self:guarded(print_values, self, values)
  if not shown then tell_error(self, raised, trace) end
  return shown and not (values.n > 1 and values[1] == nil and type(values[2]) == "string")
end

--- Prints a value as the result of an input.
function M:print(value) print_values(self, { n = 1, value }) end

--- Runs a complete input, a command or Lua. Returns whether the input succeeded. Sets `self.done` if the session is
--- to end.
function M:run(text)
  if text:match "^%s*$" or text:match "^%s*%-%-[^\n]*$" then return true end
  text = read.translated(text, self.env)
  if text:match "^%s*:" then return commands.run(self, text) end
  return run_chunk(self, text)
end

--- Runs the inputs of a text, each of a line or more. Stops at the first failure unless `go_on`. Returns whether all
--- inputs succeeded; where not all were run, also the number of the line at which the failed input ended.
function M:run_text(text, go_on)
  local well, pending, at = true, nil, 0
  for line, after in (text .. "\n"):gmatch "(.-)\n()" do
    pending, at = pending and pending .. "\n" .. line or line, at + 1
    if read.is_complete(pending) then
      local ok = self:run(pending)
      pending, well = nil, well and ok
      if self.done then return well end
      if not ok and not go_on then return false, text:find("%S", after) and at or nil end
    end
  end
  if pending then return self:run(pending) and well end
  return well
end

function M:command_names() return commands.names(self) end

function M:command_words(name) return commands.words(self, name) end

return M
