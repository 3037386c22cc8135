--- weir -s SOCKET policy, stats, resource, call.

local core = require "weir.core"
local files = require "weir.files"
local out = require "weir.cli.output"
local groups = require "weir.cli.remote.groups"
local remote = require "weir.cli.remote"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

M.policy = {
  name = "-s SOCKET policy", doc = "Show the policy in use, or load another one.",
  usage = "[list | load NAME-OR-FILE | reload]",
  max = 2, options = {},
}

-- Returns the parameters to load a policy: a local file is sent as source; any other word is a name known to the
-- service.
local function load_params(word)
  if word:find("/", 1, true) or word:find "%.lua$" then return { source = out.check(files.read(word, "policy")), file = word } end
  return { name = word }
end

function M.policy.run(client, opts)
  local what = opts[1]
  local about
  if what == "list" then
    return out.line(table.concat(remote.ask(client, "policy.list").policies, "\n"))
  elseif what == nil then
    about = remote.ask(client, "policy")
  elseif what == "load" and opts[2] then
    about = remote.ask(client, "policy.load", load_params(opts[2]))
  elseif what == "reload" and not opts[2] then
    about = remote.ask(client, "policy.reload")
  else
    out.fail(2, "policy: expected list, load NAME-OR-FILE or reload")
  end
  out.line(("%s  %s"):format(out.style().bold(about.label), about.doc or ""))
end

M.stats = { name = "-s SOCKET stats", doc = "Show statistics of the service, as JSON.", usage = "", max = 0, options = {} }

function M.stats.run(client) out.json(remote.ask(client, "stats")) end

M.metrics = {
  name = "-s SOCKET metrics", doc = "Show metrics in the text format of Prometheus.", usage = "", max = 0,
  options = {},
}

function M.metrics.run(client) out.write(remote.ask(client, "metrics").text) end

M.resource = {
  name = "-s SOCKET resource", doc = "Show groups of targets and their owners; drain, undrain, exclude, include, move, add, remove.",
  usage = "[status | drain TARGETS [REASON] | undrain TARGETS | exclude TARGETS | include TARGETS | move TARGETS GROUP | add R-FILE | "
    .. "remove TARGETS]",
  max = 3, options = { { nil, "json", nil, "as one line of JSON" } },
  notes = [[
TARGETS are ranks, 0-3,7, or names of nodes, node[0-3,7]. drain: no new jobs are placed there, running jobs continue; exclude:
the targets are moved from their owners into the group "exclude". add: the resources of an R (RFC 20) are added to the machine, up;
remove: targets are removed. Jobs on removed targets get a fatal exception, and the targets are released when the jobs are gone.]],
}

local THIRD = { drain = "reason", move = "group" }
local TAKES = { drain = true, undrain = true, exclude = true, include = true, move = true, remove = true, online = true, offline = true }

-- Returns the R in a file, as a table.
local function resources_in(path)
  local R, why = core.json_decode(out.check(files.read(path, "R")))
  if type(R) ~= "table" then out.fail(2, "%s: expected an R%s", path, why and ": " .. tostring(why) or "") end
  return R
end

-- Returns targets as an idset; a text with letters names nodes, as in node[0-3,7], of which the ranks are the targets.
local function targets_of(client, text)
  if not text:find "%a" then return text end
  local list = core.hostlist(text)
  if not list then return text end -- the service reports what is wrong
  local ranks, known = core.idset(), {}
  for _, v in ipairs(remote.ask(client, "find", { expression = "name=" .. text, fields = "base" }).vertices) do
    if not v.rank then out.fail(1, "resource: %s is no target: it has no rank", v.path) end
    ranks:add(v.rank)
    known[v.name] = true
  end
  for name in list:names() do
    if not known[name] then out.fail(1, 'resource: there is no vertex "%s" here', name) end
  end
  return ranks:format()
end

function M.resource.run(client, opts)
  local what = opts[1] or "status"
  if what ~= "status" and what ~= "add" and not TAKES[what] then
    out.fail(2, 'resource: there is no "%s"%s', what, suggest.among(what, tables.append(tables.keys(TAKES), { "status", "add" })))
  end
  if TAKES[what] and not opts[2] then out.fail(2, "resource: %s TARGETS: expected ranks, 0-3,7, or names, node[0-3]", what) end
  if what == "add" and not opts[2] then out.fail(2, "resource: add R-FILE: expected an R") end
  if opts[3] and not THIRD[what] then out.fail(2, 'resource: "%s" is one word too many', opts[3]) end
  local params = what == "add" and { R = resources_in(opts[2]) } or TAKES[what] and { targets = targets_of(client, opts[2]) } or nil
  if opts[3] then params[THIRD[what]] = opts[3] end
  local status = remote.ask(client, "resource." .. what, params)
  if opts.json then out.json(status) else groups.show(status) end
end

M.call = {
  name = "-s SOCKET call", doc = "Call a method and print its answers, one JSON document per line.", usage = "METHOD [PARAMS]",
  operand = "METHOD", min = 1, max = 2, options = {},
  notes = [[
PARAMS is a JSON object. A stream continues until it is interrupted.

  weir -s SOCKET call methods
  weir -s SOCKET call walk '{"type": "rack", "best": 3, "filter": "return {evaluate = function(v) return v.free end}"}'
  weir -s SOCKET call events]],
}

function M.call.run(client, opts)
  local params = opts[2] and core.json_decode(opts[2])
  if opts[2] and type(params) ~= "table" then out.fail(2, "call: PARAMS is a JSON object") end
  local id = client:send(opts[1], params)
  while true do
    local result, more, code = client:next(id)
    if result == nil then out.fail(code == "io" and 2 or 1, "%s", more) end
    out.json(result)
    out.flush()
    if not more then return 0 end
  end
end

return M
