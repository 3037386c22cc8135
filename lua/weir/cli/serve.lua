--- weir serve: an engine behind a socket.

local core = require "weir.core"
local files = require "weir.files"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"

local M = {
  name = "serve",
  doc = "Keep a machine and its jobs behind a Unix socket, for many clients at once.",
  usage = "-r RESOURCES [OPTION...]",
  max = 0,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help .. '; where the state is there already, it counts' },
    { "l", "listen", "ADDRESS", "unix:PATH; unix:weir.sock if not given. Only who runs the service may connect" },
    { nil, "state", "FILE", "an SQLite database: what is answered is in it, and it is where the service takes up" },
    { "p", "policy", "POLICY", "what to prefer: a name (see weir policy list) or a file; low if not given" },
    { "a", "acquire", "GROUPS", "what this service schedules itself, separated by commas; default if not given. none: nothing, it is "
      .. "for other schedulers to acquire" },
    { "g", "group", "NAME=TARGETS", "targets that are in a group, such as exclude=0-3; can be given several times", many = true },
    { nil, "clock", "KIND", "wall (if not given), or manual: times are what the method advance says", choices = { "wall", "manual" } },
    { nil, "limit", "NAME=N", "what a client may cost; can be given several times: line (bytes of a request; 1048576), calls (in "
      .. "flight; 128), high (bytes that it has not read, from which on it waits; 262144), most (... is dropped; 8388608), clients "
      .. "(1024)", many = true },
    { nil, "filter-ms", "MS", "what a filter that a client sends may take; 10 if not given", kind = "count" },
  },
  notes = [[
A request is a JSON object on a line, {"id": 1, "method": "match", "params": {"request": "slot=2/node"}}; an answer is
{"id": 1, "result": ...}, with "more": true where others follow, or {"id": 1, "error": "why", "code": "busy"}. Several
requests may be in flight. The method "methods" lists what can be asked.

With --state every change is in the database, in one transaction with those of the same moment, before its answer leaves:
what was answered is there after kill -9. SIGTERM and SIGINT end the service when what it owes is written.

  weir serve -r cluster.json -l unix:/run/weir.sock --state /var/lib/weir.sqlite
  weir -s /run/weir.sock match slot=2/node
  weir top -s /run/weir.sock

Exit status: 0 ended by a signal, 1 what was changed could not be saved, 2 wrong use or unreadable input.]],
}

local function log(text) out.warn(text) end

-- ---- what the words of the command line say ----------------------------------------------------------------------------------

local function groups_of(words)
  local groups = {}
  for _, word in ipairs(words or {}) do
    local name, targets = word:match "^([%w_.-]+)=(.+)$"
    local ok, set = pcall(core.idset, targets)
    if not name or not ok or not set then out.fail(2, "serve: --group NAME=TARGETS is wanted, such as exclude=0-3, not %s", word) end
    groups[name] = set
  end
  return groups
end

local function acquires_of(text)
  if text == "none" then return {} end
  local list = {}
  for name in (text or "default"):gmatch "[^,]+" do list[#list + 1] = name end
  if #list == 0 then out.fail(2, "serve: --acquire: names of groups, or none, are wanted") end
  return list
end

local function limits_of(words)
  local limits = {}
  for name, n in pairs(require("weir.serve.server").LIMITS) do limits[name] = n end
  for _, word in ipairs(words or {}) do
    local name, text = word:match "^(%w+)=(%d+)$"
    local n = math.tointeger(tonumber(text))
    if not limits[name] or not n or n < 1 then out.fail(2, "serve: --limit NAME=N is wanted, such as calls=64, not %s", word) end
    limits[name] = n
  end
  return limits
end

-- ---- the graph -----------------------------------------------------------------------------------------------------------------

local function load_state(path)
  local weir = require "weir"
  return weir.load(path, { format = "sqlite" })
end

-- From the state where there is one, else from -r; and whether it was the state.
local function graph_of(opts)
  if opts.state and files.exists(opts.state) then return out.check(load_state(opts.state)), true end
  if not opts.resources then out.fail(2, "serve: -r RESOURCES is missing") end
  return inputs.resources(opts), false
end

local function options_of(opts, loaded)
  return {
    policy = opts.policy, acquire = acquires_of(opts.acquire), groups = groups_of(opts.group), state = opts.state, state_loaded = loaded,
    clock = opts.clock or "wall", filter_seconds = (opts["filter-ms"] or 10) / 1000, log = log,
  }
end

-- A service, or what was wrong with the options.
local function make(opts)
  local services = require "weir.serve.service"
  local graph, loaded = graph_of(opts)
  local settings = options_of(opts, loaded)
  local ok, service, why = pcall(services.new, graph, settings)
  if not ok then out.fail(2, "serve: %s", (tostring(service):gsub("^[^:]*:%d+: ", ""))) end
  return out.check(service, why)
end

-- ---- running -------------------------------------------------------------------------------------------------------------------

local function announce(service, path, opts)
  local where = opts.state and ", state in " .. opts.state or ""
  out.line(("listening on unix:%s: %d vertices, %d jobs%s"):format(path, service.graph:count(), #service.engine:jobs(), where))
  out.flush()
end

function M.run(opts)
  if opts["filter-ms"] == 0 then out.fail(2, "serve: --filter-ms: at least 1 is wanted") end
  local servers, clients = require "weir.serve.server", require "weir.serve.client"
  local path, wrong = clients.path(opts.listen or "unix:weir.sock")
  if not path then out.fail(2, "serve: %s", wrong) end
  local limits = limits_of(opts.limit)
  local service = make(opts)
  local server = servers.new(service, { limits = limits, reload = function() return load_state(opts.state) end })
  service:tick(servers.now())
  local saved, why = service:commit()
  if not saved then out.fail(2, "%s", why) end
  out.check(server:listen(path))
  announce(service, path, opts)
  local ok
  ok, why = server:run()
  if not ok then out.fail(1, "%s", why) end
  return 0
end

return M
