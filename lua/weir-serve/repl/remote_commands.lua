--- remote_commands.lua - the commands of the REPL in a session with a service, in addition to or in place of the usual
--- commands.

local core = require "weir.core"
local failure = require "weir.failure"
local groups = require "weir.cli.remote.groups"
local out = require "weir.cli.output"
local results = require "weir.repl.results"
local shorthand = require "weir.repl.shorthand"

local M = {}

local fail, check = failure.fail, failure.must

M.INTRO = [[
g is the machine of the service, e its engine. Type Lua, which runs here; an expression prints its value, _ is the last one.

  e:match "slot=4/node/core=8"        matches a job          find "type=node and state=up"   vertices
  e:release(1)                        gives it back          tree()  tree(v)                 a picture in text
  g "/cluster0/node0"                 a vertex               top()                           who uses what
  v.state = "down"  v.tags.key = "x"  changes a vertex       why "slot=9/node"               why it does not fit
  call("stats")                       any method

Commands:
]]

--- Commands that need the machine in the process, with the alternative for a service.
M.LOCAL = {
  profile = "the hooks of its policy run there", record = "it has its own state; weir -s SOCKET call jobs lists it",
  show = "the picture is made of a machine in this process; tree() draws it as text", timeline = "as for :show",
}

-- ---- commands -----------------------------------------------------------------------------------------------

local LIST = {}

local function command(name, arguments, doc, words, run)
  LIST[#LIST + 1] = { name = name, arguments = arguments, doc = doc, words = words, run = run }
end

local function job_of(word) return math.tointeger(tonumber(word)) or fail("expected the id of a job, not '%s'", word) end

command("jobs", "", "the jobs", nil, function(session) session:print(check(session.engine:jobs())) end)

command("job", "ID", "what one job has", "jobs", function(session, word) session:print(check(session.engine:job(job_of(word)))) end)

command("match", "REQUEST", "places a job", "shape", function(session, text)
  if text == "" then fail ":match: expected a shape or the file of a jobspec, such as :match slot=1/node" end
  session:print(check(session.engine:match(text)))
end)

command("release", "ID...", "gives back what jobs have", "jobs", function(session, words)
  if words == "" then fail ":release: expected the id of a job" end
  for word in words:gmatch "%S+" do check(session.engine:release(job_of(word))) end
end)

command("explain", "REQUEST", "why it does not fit", "shape", function(session, text)
  if text == "" then fail ":explain: expected a shape or the file of a jobspec, such as :explain slot=9/node" end
  out.write(check(session.engine:explain(text, { columns = session.width })).text)
end)

command("state", "PATH STATE", "changes the state of a vertex: up, down, ...", "path", function(session, words)
  local path, state = words:match "^(%S+)%s+(%S+)$"
  if not path then fail ":state: expected a path and a state, such as :state /cluster0/node3 down" end
  local v = check(session.graph:vertex(path))
  v.state = state
end)

command("resource", "", "the groups of targets, and who has them", nil, function(session)
  groups.show(check(session.remote.ask "resource.status"))
end)

command("drain", "TARGETS [REASON]", "places no more jobs there", nil, function(session, words)
  local targets, reason = words:match "^(%S+)%s*(.-)$"
  if not targets then fail ":drain: expected targets, such as :drain 3-4 disk" end
  groups.show(check(session.remote.ask("resource.drain", { targets = targets, reason = reason ~= "" and reason or nil })))
end)

command("undrain", "TARGETS", "places jobs there again", nil, function(session, targets)
  if targets == "" then fail ":undrain: expected targets, such as :undrain 3-4" end
  groups.show(check(session.remote.ask("resource.undrain", { targets = targets })))
end)

command("stats", "", "what the service has done and holds", nil, function(session) session:print(check(session.remote.ask "stats")) end)

command("call", "METHOD [PARAMS]", "calls any method, with a JSON object", "methods", function(session, words)
  local method, text = words:match "^(%S+)%s*(.-)$"
  local params = text and text ~= "" and core.json_decode(text) or nil
  if not method or text ~= "" and type(params) ~= "table" then fail ':call: expected METHOD and a JSON object' end
  session:print(check(session.remote.ask(method, params)))
end)

--- All commands of a session with a service.
M.list = LIST

-- ---- shorthand ------------------------------------------------------------------------------------------------

-- Returns rows of units by job, from the service's answers about jobs.
local function top(session)
  local list = core.array {}
  for i, job in ipairs(check(session.remote.ask("jobs", { vertices = true })).jobs) do
    local row = { job = job.job, state = job.state, at = job.start }
    for _, pick in ipairs(job.vertices) do row[pick.type] = (row[pick.type] or 0) + pick.amount end
    list[i] = row
  end
  return results.note(list, true)
end

local function absent(name, what)
  return function() error(("%s is not there with a service: %s"):format(name, what), 0) end
end

--- Adds the shorthand functions to an environment.
function M.fill(env, session)
  shorthand.fill_common(env, session)
  env.top = function() return top(session) end
  env.why = function(request, opts)
    local report, message, code = session.engine:explain(request, opts)
    if not report then return nil, message, code end
    return report.text
  end
  env.call = function(method, params) return session.remote.ask(method, params) end
  env.undo = absent("undo", "others may have built on the change; release or match what is to be otherwise")
  env.save = absent("save", "it keeps its state itself (weir serve --state)")
  env.load = function(x)
    if type(x) == "function" or type(x) == "string" and x:find "[\n=(]" then return load(x) end
    error("load is not there with a service: begin another one, or weir repl -r, with that machine", 0)
  end
end

return M
