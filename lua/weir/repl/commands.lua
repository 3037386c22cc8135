--- commands.lua - the commands of the REPL, each after a colon.

local failure = require "weir.failure"
local modes = require "weir.repl.modes"
local out = require "weir.cli.output"
local files = require "weir.files"
local help = require "weir.repl.help"
local record = require "weir.repl.recording"
local show = require "weir.repl.show"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

local LIST = {}

-- Registers a command: name, arguments, description, and completion words for the argument.
local function command(name, arguments, doc, words, run)
  LIST[#LIST + 1] = { name = name, arguments = arguments, doc = doc, words = words, run = run }
end

local fail = failure.fail

-- ---- help ---------------------------------------------------------------------------------------------------

local INTRO = [[
g is the machine, e the engine. Type Lua; an expression prints its value, _ is the last one.
  e:match "slot=4/node/core=8"        matches a job          find "type=node and state=up"   vertices
  e:release(1)                        gives it back          tree()  tree(v)                 a picture in text
  g "/cluster0/node0"                 a vertex               top()                           who uses what
  why "slot=9/node"                   why it does not fit    undo()                          takes back the last input's changes
  save "x.db"  load "x.db"            the machine and its books
Commands:
]]

-- Returns the commands of a session; a session with a service has different commands.
local function all_of(session)
  if not session.remote then return LIST end
  local own = session.remote.commands
  return tables.append(tables.filter(LIST, function(c) return not own.LOCAL[c.name] end), own.list)
end

local function named(session, name)
  for _, c in ipairs(all_of(session)) do
    if c.name == name then return c end
  end
end

local function intro(session)
  local lines = { session.remote and session.remote.commands.INTRO or INTRO }
  lines[1] = lines[1]:gsub("\n$", "")
  for _, c in ipairs(all_of(session)) do lines[#lines + 1] = ("  %-26s %s"):format(":" .. c.name .. " " .. c.arguments, c.doc) end
  lines[#lines + 1] = ":help TOPIC: a class (vertex, graph, engine, allocation, policy, request, weir), a grammar (shapes,\n"
    .. "machines, expressions), a command or a name; NAME? for one thing"
  return lines
end

-- Prints the help of a class, a grammar or a command. Returns false for an unknown name.
local function explained(session, topic)
  local class = help.class(topic)
  local c = not class and named(session, (topic:gsub("^:", "")))
  if class then help.page(class) elseif c then out.line((":%s %s\n  %s"):format(c.name, c.arguments, c.doc)) end
  return class ~= nil or c ~= nil
end

command("help", "[TOPIC]", "this, or about a class, a command or a name", { "vertex", "graph", "engine", "allocation", "policy", "request",
  "weir", "shapes", "machines", "expressions" }, function(session, topic)
  if topic == "" then return help.page(intro(session)) end
  if not explained(session, topic) then M.documented(session, topic) end
end)

--- Prints the documentation of a name, such as "e:match", "v.free" or "match"; of a class or a command that is no such name.
function M.documented(session, name)
  local lines, why = help.name(name, session.env)
  if lines then return help.page(lines) end
  if not explained(session, name) then fail("%s", why) end
end

command("doc", "NAME", "what a field or method is, such as :doc e:match, or e:match?", "name", function(session, name)
  if name == "" then fail "expected a name, such as :doc e:match" end
  M.documented(session, name)
end)

-- ---- settings -----------------------------------------------------------------------------------------------

local function on_or_off(name, word, was)
  if word == "on" or word == "off" then return word == "on" end
  if word == "" then return not was end
  fail(":%s: expected on or off, not %s", name, word)
end

command("time", "on|off", "how long each input takes", { "on", "off" }, function(session, word)
  session.settings.time = on_or_off("time", word, session.settings.time)
end)

command("mode", "table|tree|json|csv", "how values are printed", modes.names, function(session, word)
  if word == "" then return out.line(session.mode) end
  for _, name in ipairs(modes.names) do
    if name == word then
      session.mode = word
      return
    end
  end
  fail(":mode: %s is none of %s", word, table.concat(modes.names, ", "))
end)

local SETTINGS = { lines = 10, width = 20 }

command("set", "[lines|width N]", "the size of what is printed", { "lines", "width" }, function(session, words)
  local name, value = words:match "^(%a+)%s+(%d+)$"
  if words == "" then return out.line(("lines %d, width %d"):format(show.lines, show.width)) end
  value = math.tointeger(tonumber(value))
  if not SETTINGS[name] or not value or value < SETTINGS[name] or value > 100000 then
    fail ":set: expected lines N (10 or more) or width N (20 or more)"
  end
  show[name] = value
  session.width = show.width
end)

command("trace", "", "the way to the last error, and to the last of the policy", nil, function(session)
  local own = not session.remote and select(2, session.env.e:policy())
  if own and own.traceback then out.line(("policy %s\n%s"):format(own.name, own.traceback)) end
  if session.trace or not (own and own.traceback) then out.line(session.trace or "there was no error") end
end)

-- ---- policies -----------------------------------------------------------------------------------------------

local function policy_of(session)
  local name, p = session.engine:policy()
  return p or { name = name, label = name }
end

local function use_policy(session, name)
  local ok, why = session.engine:use(name, { watch = false })
  if not ok then fail("%s", why) end
  session.policy = name
  session:record(("assert(e:use(%q, { watch = false }))"):format(name))
  out.line("policy " .. policy_of(session).label)
end

local function edit_policy(session)
  local path = policy_of(session).path
  if not path then fail ":policy edit: the policy is from no file" end
  os.execute(("%s '%s'"):format(os.getenv "VISUAL" or os.getenv "EDITOR" or "vi", (path:gsub("'", "'\\''"))))
  use_policy(session, path)
end

command("policy", "[NAME|reload|edit]", "which policy places the jobs", "policy", function(session, word)
  if word == "edit" then return edit_policy(session) end
  if word == "reload" and session.remote then
    local ok, why = session.engine:reload()
    return ok and out.line("policy " .. policy_of(session).label) or fail("%s", why)
  end
  if word == "reload" then return use_policy(session, session.policy) end
  if word ~= "" then return use_policy(session, word) end
  local p = policy_of(session)
  out.line(("%s  %s"):format(p.label, p.doc or ""))
end)

command("profile", "on|off|show", "what the hooks of the policy cost", { "on", "off", "show" }, function(session, word)
  local p = policy_of(session)
  if not p.profile then fail ":profile: there is no policy" end
  if word == "on" or word == "off" then return p:profile(word == "on") end
  for name, hook in pairs(p:profile().hooks or {}) do
    out.line(("%-10s %8d calls  %10.3f ms"):format(name, hook.calls, hook.seconds * 1e3))
  end
end)

-- ---- files --------------------------------------------------------------------------------------------------

-- Fails if a file to be written is the session's machine or policy.
local function check_output(session, path)
  for _, input in ipairs { session.name, session.policy } do
    if type(input) == "string" and files.same(path, input) then fail("%s is read by this session, and is not replaced", path) end
  end
end

command("record", "FILE|off", "writes what follows as a script that checks itself", "file", function(session, path)
  if session.recording and path == "" then return out.line(("recording in %s; :record off ends it"):format(session.recording.path)) end
  if session.recording then
    record.close(session.recording)
    out.line("recorded in " .. session.recording.path)
    session.recording = nil
    if path == "off" then return end
  end
  if path == "" or path == "off" then fail ":record: expected a file" end
  check_output(session, path)
  local recording, why = record.open { path = path, resources = session.name, policy = session.policy,
    engine = session.engine }
  if not recording then fail("%s", why) end
  session.recording = recording
end)

command("source", "FILE", "runs the inputs of a file, or of a recording", "file", function(session, path)
  local text, why = files.read(path, "input")
  if not text then fail("%s", why) end
  local inputs, before = record.inputs(text)
  local recorded_on = inputs and record.machine(text)
  if inputs then
    session.env.record = record
    text = inputs
  end
  local well, at = session:run_text(text)
  local other = recorded_on and recorded_on ~= session.name
    and ("; it was recorded on %s, and this machine is %s"):format(recorded_on, session.name) or ""
  if at then fail(":source: %s: line %d has failed, so what follows was not run%s", path, at + (before or 0), other) end
  if not well then fail(":source: %s: the last input has failed%s", path, other) end
end)

-- Writes a picture to a file; fails with `why` if the text is nil.
local function drawn(session, path, text, why)
  local ok = text
  check_output(session, path)
  if ok then ok, why = files.write(path, text) end
  if not ok then fail("%s", why) end
  out.line("drawn in " .. path)
end

-- Parses "FILE.svg WORD". Returns the file, the extension in lower case, and the word.
local function picture_file(name, words, endings)
  local path, word = words:match "^(%S+)%s*(.-)$"
  local ending = path and (path:match "%.(%a+)$" or ""):lower()
  if not path or not endings[ending] then fail(":%s: expected a file, such as :%s machine.svg", name, name) end
  return path, ending, word ~= "" and word or nil
end

command("show", "FILE.svg|FILE.html [COLOUR]", "draws the machine as it is now; coloured by use, state, type, property:KEY", "file",
  function(session, words)
    local picture = require "weir.html.picture"
    local path, ending, colour = picture_file("show", words, { svg = true, html = true, htm = true })
    local make = ending == "svg" and picture.svg or picture.html
    drawn(session, path, make(session.graph, { colour = colour }))
  end)

command("timeline", "FILE.svg [TYPE]", "draws what is allocated and reserved over time, a lane for each node or TYPE", "file",
  function(session, words)
    local path, _, by = picture_file("timeline", words, { svg = true })
    drawn(session, path, require("weir.html.picture").timeline(session.graph, { by = by }))
  end)

command("quit", "", "leaves; so does Ctrl-D", nil, function(session) session.done = true end)

-- ---- all of them ----------------------------------------------------------------------------------------------

function M.names(session) return tables.column(all_of(session), "name") end

function M.words(session, name)
  local c = named(session, name)
  return c and c.words
end

-- Returns the command of a name or of an unambiguous abbreviation.
local function lookup(session, name)
  local found = named(session, name)
  if found then return found end
  for _, c in ipairs(all_of(session)) do
    if c.name:sub(1, #name) == name then
      if found then return nil end
      found = c
    end
  end
  return found
end

--- Runs ":name arguments". Returns whether the command succeeded.
function M.run(session, text)
  local name, arguments = text:match "^%s*:%s*(%S*)%s*(.-)%s*$"
  local c = name ~= "" and lookup(session, name)
  local instead = not c and session.remote and session.remote.commands.LOCAL[name]
  if instead then
    out.warn((":%s is not there with a service: %s"):format(name, instead))
    return false
  end
  if not c then
    out.warn(("there is no command :%s%s; :help lists them"):format(name, suggest.hint(name, M.names(session), ":")))
    return false
  end
  local ok, raised, trace = session:guarded(c.run, session, arguments)
  if ok then return true end
  session.trace = trace
  out.warn(type(raised) == "table" and raised.text or tostring(raised))
  return false
end

return M
