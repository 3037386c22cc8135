--- weir serve: an engine as a service on sockets.

local core = require "weir.core"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {
  name = "serve",
  doc = "Keep a machine and its jobs behind a Unix socket, for many clients at once.",
  usage = "-r RESOURCES | --parent ADDRESS [OPTION...]",
  max = 0,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help .. '; where the state is there already, it counts' },
    { "l", "listen", "ADDRESS", "unix:PATH, tcp:HOST:PORT on this machine, or tls:HOST:PORT; can be given several times; "
      .. "unix:weir.sock if not given", many = true },
    { nil, "state", "ADDRESS", "FILE or sqlite:FILE, an SQLite database, or etcd:http://HOST:PORT[,http://...][/PREFIX]: what is answered "
      .. "is in it, and it is where the service, or with etcd another one, takes up" },
    { nil, "lease", "SECONDS", "with etcd: when the service that leads is gone, another one takes over within so many seconds; 10 if not "
      .. "given, at least 2", kind = "count" },
    { nil, "parent", "ADDRESS", "unix:PATH#JOB: what this job of the service at PATH has is the machine, in place of -r; or "
      .. "unix:PATH#GROUP, a group of its targets; also tls:HOST:PORT#..." },
    { nil, "parent-token-file", "FILE", "for a parent over TCP: whose first token is shown; $WEIR_TOKEN_FILE if not given" },
    { nil, "parent-ca", "FILE", "for a parent over TLS: certificates that are trusted, PEM; $WEIR_CA, or those of the system, if "
      .. "not given" },
    { "p", "policy", "POLICY", "what to prefer: a name (see weir policy list) or a file; low if not given" },
    inputs.granularity_option,
    { "a", "acquire", "GROUPS", "what this service schedules itself, separated by commas; default if not given. none: nothing, it is "
      .. "for other schedulers to acquire" },
    { "g", "group", "NAME=TARGETS", "targets that are in a group, such as exclude=0-3; can be given several times", many = true },
    { nil, "clock", "KIND", "wall (if not given), or manual: times are what the method advance says", choices = { "wall", "manual" } },
    { nil, "overrun", "RULE", "what happens at the end of a job that nobody releases: hold (if not given): it keeps what it has, and a "
      .. "reservation that needs some of that is held back until it is released; expire: it is released at its end",
      choices = { "hold", "expire" } },
    { nil, "clock-jump", "SECONDS", "with the wall's clock: where it is set by more than this, the service does not follow, but "
      .. "for SIGHUP or a restart; 3600 if not given", kind = "count" },
    { nil, "limit", "NAME=N", "what clients may cost; can be given several times. Of a client: line (bytes of a request; 1048576), "
      .. "calls (in flight; 128), streams (of these; 32), lists (of these, in pages; 8), stages (64), "
      .. "lease (seconds of a stage; 3600), high (bytes that it has not read, from "
      .. "which on it waits; 262144), most (... is dropped; 8388608). Of a user, who is a uid, a token or, before the login, an "
      .. "address: user (clients; 128), idle (seconds without a request after which a client makes room for another one of the "
      .. "user; 60), input (bytes of requests that wait; 16777216), output (bytes that were not read, from which on nothing more "
      .. "is served; 16777216), filters (milliseconds of a second; 250), copies (of the "
      .. "service that work for the user; 2), waits (requests that wait for a copy; 32), address "
      .. "(clients of one address that have not shown a token; 16). Of all: "
      .. "clients (1024), reserve (more, for administrators; 16), strangers (that have not shown a token; 64), "
      .. "buffers (bytes of requests and answers that wait; 268435456), allcopies (copies that work; 8). Of a request: copyms "
      .. "(milliseconds of a copy; 10000), filterms (with a filter; 1000), tryms (of a look, before a copy works on it; 5), changems "
      .. "(of a search that changes something; 10000), copymb (MB of a copy, besides twice what the machine takes; 256), "
      .. "answermb (MB that it answers; 64), add (vertices that resource.add brings; 1000000)", many = true },
    { nil, "allow", "ROLE=WHO", "who may do what over a Unix socket, besides who runs the service and root, who are administrators: "
      .. "reader (looks), owner (and has jobs of its own) or administrator, of users, @GROUPs or *, separated by commas; can be given "
      .. "several times. It takes a --mode that lets them in", many = true },
    { nil, "mode", "OCTAL", "the permissions of Unix sockets; 600 if not given" },
    { nil, "token-file", "FILE", "who may come in over TCP, a line each: TOKEN ROLE NAME. Made with one token where it is not there" },
    { nil, "tls-cert", "FILE", "the certificate and its chain, PEM, for tls:HOST:PORT" },
    { nil, "tls-key", "FILE", "its private key, PEM" },
    { nil, "log", "FORMAT", "how events are told on stderr; text if not given", choices = { "text", "json" } },
    { nil, "log-level", "LEVEL", "the least that is told; info if not given", choices = { "debug", "info", "warn", "error" } },
    { nil, "metrics-file", "FILE", "where metrics are written to every 15 seconds, in the text format of Prometheus" },
    { nil, "config", "FILE", "these options from a file, JSON or Lua: see below. What stands on the command line counts more" },
    { nil, "record", "FILE", "what this service acquires, and loses, as JSON lines, for scenarios" },
    { nil, "filter-ms", "MS", "what a filter that a client sends may take; 10 if not given", kind = "count" },
  },
  notes = [[
A request is a JSON object on a line, {"id": 1, "method": "match", "params": {"request": "slot=2/node"}}; an answer is
{"id": 1, "result": ...}, with "more": true where others follow, or {"id": 1, "error": "why", "code": "busy"}. Several
requests may be in flight. The method "methods" lists what can be asked.

With --state every change is in the database, in one transaction with those of the same moment, before its answer leaves:
what was answered is there after kill -9. SIGTERM and SIGINT end the service when what it owes is written.

With --state etcd:... several services can be started on one etcd (3.4 or later), with the same options. One leads, by a lease that
it renews; the others stand by, answer every call with code "standby" and where the leader is, and one of them takes over, with all
that was acknowledged, within --lease seconds after the leader is gone, or at once when it was ended by a signal. A leader that
cannot renew its lease ends, with status 1, before it is over, and writes of one that returns too late are refused by etcd. A lease
has to be longer than the longest call and the time to load the state. Below the prefix (/weir if not given) everybody may read and
watch, and nobody else may write:
  meta                    changes with each commit
  jobs/JOB/R              what a job has, as an R (RFC 20)
  children/JOB/R          the same of a job that is a child instance, with its graph: -r etcd:http://HOST:PORT/PREFIX/children/JOB/R
  leader                  who leads, where
  block/ data/ edges/ kinds/ jobs/JOB/0   the machine and the books
  etcdctl watch --prefix /weir/children/

Files for TLS are taken from ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY. etcd keeps old values until it is told not to: run it
with --auto-compaction-retention.

With --parent the service is a child: it acquires what a job of another service has, schedules within it, asks for more
(parent.grow) and gives back (parent.shrink); what the parent takes away leaves it, and jobs there get a fatal exception. When
the connection breaks it goes on with what it has and connects again; what the job has stays the child's, also while the child
is not there, until the job is released. When that happens the child ends, with status 1. Of a group in place of a job the
parent may give to others what nobody has acquired, so nothing new is placed there without a connection.

  weir serve -r cluster.json -l unix:/run/weir.sock --state /var/lib/weir.sqlite
  weir -s /run/weir.sock match slot=2/node
  weir serve --parent unix:/run/weir.sock#1 -l unix:/run/child.sock --state /var/lib/child.sqlite
  weir serve -r cluster.json -l unix:/run/weir.sock --state etcd:http://10.0.0.1:2379,http://10.0.0.2:2379/cluster
  weir top -s /run/weir.sock

Over TCP a client shows a token first: {"id": 1, "method": "login", "params": {"token": "..."}}; weir -s takes it from a file:

  weir serve -r cluster.json -l tls:0.0.0.0:4747 --tls-cert c.pem --tls-key k.pem --token-file /etc/weir/tokens
  weir -s tls:head.example.org:4747 --token-file my.token --ca ca.pem jobs

A file of options (--config) is a JSON object, or Lua that returns a table, with their long names: {"resources": "cluster.json",
"listen": ["unix:/run/weir.sock"], "limit": {"clients": 200}}.

SIGHUP reads the policy, --token-file, --tls-cert and --tls-key again, and makes the service follow a wall clock that was set by more
than --clock-jump. Connections whose token has left the file, or has another role or name there, are told so and closed; a file that
cannot be read, or is wrong, changes nothing, and the log says so. Started by systemd the service says when it is ready, and takes
the sockets that are handed over.

Time that ran ahead of the wall clock, as that was wrong while there were jobs, is set back, and the times of the jobs with it, by
weir -s SOCKET call clock.follow.

A client may close its writing half and wait. All that it has asked for is answered, and then the connection is closed; streams
(events, resource.acquire and others) end at once, with {"ended": true}, and what they have acquired is given back:

  printf '{"id": 1, "method": "explain", "params": {"request": "slot=9/node"}}\n' | nc -N -U /run/weir.sock

Exit status: 0 ended by a signal, 1 what was changed could not be saved, or the parent has ended it, 2 wrong use or unreadable input.]],
}

-- The log of the service, open once the options are read.
local log

local function open_log(opts)
  local write = opts.log == "json" and function(line) io.stderr:write(line, "\n") end or out.warn
  return require("weir.serve.log").new {
    format = opts.log or "text", level = opts["log-level"] or "info", write = write, now = require("weir.serve.server").now,
  }
end

-- ---- arguments of options ----------------------------------------------------------------------------------

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
  local list = tables.collect((text or "default"):gmatch "[^,]+")
  if #list == 0 then out.fail(2, "serve: --acquire: names of groups, or none, are wanted") end
  return list
end

local function limits_of(words)
  local limits = tables.copy(require("weir.serve.server").LIMITS)
  for _, word in ipairs(words or {}) do
    local name, text = word:match "^(%w+)=(%d+)$"
    local n = math.tointeger(tonumber(text))
    if not n or n < 1 then out.fail(2, "serve: --limit NAME=N is wanted, such as calls=64, not %s", word) end
    if not limits[name] then
      local known = tables.keys(limits)
      out.fail(2, 'serve: --limit NAME=N: there is no "%s"%s; there are %s', name, suggest.hint(name, known), table.concat(known, ", "))
    end
    limits[name] = n
  end
  return limits
end

-- Returns the access rules of the options: tokens, TLS, permissions.
local function access_of(opts)
  local rules, why = require("weir.serve.roles").rules(opts.allow)
  if not rules then out.fail(2, "serve: --allow: %s", why) end
  local mode = tonumber(opts.mode or "600", 8)
  if not mode or mode % 1 ~= 0 or mode < 0 or mode > 511 then
    out.fail(2, "serve: --mode: an octal number up to 777 is wanted, such as 660")
  end
  local certificate, key = opts["tls-cert"], opts["tls-key"]
  if (certificate == nil) ~= (key == nil) then out.fail(2, "serve: --tls-cert and --tls-key belong together") end
  local tokens = opts["token-file"] and out.check(require("weir.serve.tokens").open(opts["token-file"])) or nil
  if tokens and tokens.made then out.warn(("%s: is new, and has the token of an administrator"):format(opts["token-file"])) end
  return {
    rules = rules, mode = mode // 1 | 0, tokens = tokens,
    tls = certificate and out.check(require("weir.serve.certificate").open(certificate, key)), metrics_file = opts["metrics-file"],
  }
end

local function addresses_of(opts)
  local addresses, list = require "weir.serve.addresses", {}
  for i, text in ipairs(opts.listen or {}) do
    local address, why = addresses.parse(text)
    if not address then out.fail(2, "serve: %s", why) end
    list[i] = address
  end
  return list
end

-- ---- the graph ---------------------------------------------------------------------------------------------

local PATIENCE, MORE_PATIENCE = 5, 120 -- seconds: to reach a parent, then for the resources

-- Starts to connect to the parent service; nil without --parent. Errors go to the server as soon as `within` has a
-- server.
local function parent_of(opts, within)
  if not opts.parent then return nil end
  if opts.resources then out.fail(2, "serve: -r and --parent exclude each other") end
  local links, parents = require "weir.serve.peer_connection", require "weir.serve.parent"
  local address = out.check(parents.address(opts.parent))
  local access = {
    token_file = opts["parent-token-file"] or os.getenv "WEIR_TOKEN_FILE", ca = opts["parent-ca"] or os.getenv "WEIR_CA",
  }
  local function guard(f, ...)
    if within.server then return within.server:guard(f, ...) end
    return f(...)
  end
  local parent = parents.new(address, function(on) return out.check(links.new(address.socket, on, guard, access)) end)
  parent.link:start()
  return parent
end

-- Returns the graph, and whether the graph is from the state: loaded from the store if the store has a state, else
-- from the parent or from -r. late: the event loop runs already, as in a takeover.
local function graph_of(opts, store, parent, late)
  local graph, why
  if store then graph, why = store:load() end
  if graph then return graph, true end
  if why then out.fail(2, "%s", why) end
  if parent and late then out.fail(2, "serve: the service that led had not stored anything yet") end
  if parent then
    local function answered() return parent.first or parent.over or parent.absent end
    parent.link:wait(PATIENCE, answered)
    if parent.reached and not parent.problem then parent.link:wait(MORE_PATIENCE, answered) end
    graph, why = parent:graph()
    return graph or out.fail(2, "serve: --parent %s: %s", opts.parent, why), false
  end
  if not opts.resources then out.fail(2, "serve: -r RESOURCES is missing (or --parent ADDRESS)") end
  return inputs.resources(opts), false
end

-- Returns a recorder of acquired and released resources, with the file truncated; nil without a path.
local function recorder_of(path)
  if not path then return nil end
  local file, why = core.open_own(path)
  if not file then out.fail(2, "serve: --record: %s", why) end
  file:setvbuf "line"
  return require("weir.acquire.recording").writer(function(text)
    local ok, wrong = file:write(text)
    if not ok then log(("the recording is not complete: %s"):format(wrong)) end
  end, require("weir.serve.server").now)
end

local function options_of(opts, store, loaded, graph)
  return {
    policy = opts.policy, acquire = acquires_of(opts.acquire), groups = groups_of(opts.group), store = store, state_loaded = loaded,
    clock = opts.clock or "wall", overrun = opts.overrun or "hold", filter_seconds = (opts["filter-ms"] or 10) / 1000, log = log,
    record = recorder_of(opts.record), granularity = inputs.granularity(opts, graph),
  }
end

-- Returns a service; fails if the options are wrong.
local function make(opts, store, parent, late)
  local services = require "weir.serve.service"
  local graph, loaded = graph_of(opts, store, parent, late)
  local settings = options_of(opts, store, loaded, graph)
  local ok, service, why = pcall(services.new, graph, settings)
  if not ok then out.fail(2, "serve: %s", (tostring(service):gsub("^[^:]*:%d+: ", ""))) end
  return out.check(service, why)
end

-- ---- running -----------------------------------------------------------------------------------------------

local function announce(service, server)
  local where = service.opts.store and ", state in " .. service.opts.store.address or ""
  out.line(("listening on %s: %d vertices, %d jobs%s"):format(table.concat(server:addresses(), ", "), service.graph:count(),
    #service.engine:jobs(), where))
  out.flush()
end

-- Returns the description of the service for other services: {address, host}.
local function about(address)
  local file <close> = io.open "/proc/sys/kernel/hostname"
  local text, here = require("weir.serve.addresses").text(address), os.getenv "PWD"
  if here and address.kind == "unix" and address.path:sub(1, 1) ~= "/" then text = ("unix:%s/%s"):format(here, address.path) end
  return { address = text, host = file and file:read "l" or "?" }
end

-- Returns the store of --state, or nil; and whether another service leads on the store.
local function store_of(opts, address)
  if opts.lease and not (opts.state or ""):find "^etcd:" then out.fail(2, "serve: --lease goes with --state etcd:...") end
  if not opts.state then return nil, false end
  local store = out.check(require("weir.serve.store").open(opts.state, { lease = opts.lease, about = about(address), log = log }))
  if not store.lead then return store, false end
  local leads, why = store:lead()
  if leads == nil then
    store:close()
    out.fail(2, "%s", why)
  end
  return store, not leads
end

-- Returns a leading service, with the initial state saved. late: the event loop runs already, as in a takeover.
local function begin(opts, store, within, late)
  local parent = parent_of(opts, within)
  within.link = parent and parent.link
  local service = make(opts, store, parent, late)
  if parent then parent:attach(service, function(why) within.server:finish(why) end) end
  service:begin(require("weir.serve.clock").wall())
  local saved, why = service:commit()
  if not saved then out.fail(2, "%s", why) end
  service.opts.period = store and store.period and store:period()
  return service
end

-- Returns a standby, ready to take over when the leading service ends.
local function stand_by(opts, store, within)
  local function lead()
    local ok, service = pcall(begin, opts, store, within, true)
    if not ok then
      local failed = out.failure(service)
      return within.server:finish("cannot take over: " .. tostring(failed and failed.text or service))
    end
    within.server:use(service)
    announce(service, within.server)
  end
  return require("weir.serve.hot_standby").new { store = store, lead = lead, log = log, period = store:period() }
end

-- Listens on inherited sockets, or else on the sockets of --listen.
local function listen(server, list, opts)
  if not opts.listen and out.check(server:inherit()) > 0 then return end
  for _, address in ipairs(list) do out.check(server:listen(address)) end
end

local function check_options(opts)
  if opts.config then
    local ok, why = require("weir.serve.config").apply(M, opts.config, opts)
    if not ok then out.fail(2, "serve: %s", why) end
  end
  if opts["filter-ms"] == 0 then out.fail(2, "serve: --filter-ms: at least 1 is wanted") end
end

function M.run(opts)
  check_options(opts)
  local servers = require "weir.serve.server"
  log = open_log(opts)
  local list, access = addresses_of(opts), access_of(opts)
  if #list == 0 then list = { { kind = "unix", path = "weir.sock" } } end
  local within = setmetatable({}, { __close = function(within)
    if within.link then within.link:finish() end
  end })
  access.limits, access.log = out.check(servers.fitting(limits_of(opts.limit), log)), log
  access.clock = require("weir.serve.clock").new { jump = opts["clock-jump"], log = log }
  local store <close>, waits = store_of(opts, list[1])
  local open <close> = within -- luacheck: ignore
  local service = waits and stand_by(opts, store, within) or begin(opts, store, within)
  local server = servers.new(service, access)
  within.server = server
  listen(server, list, opts)
  if waits then
    out.line(("standing by on %s: %s leads, state in %s"):format(table.concat(server:addresses(), ", "),
      store:elsewhere() or "another one", store.address))
    out.flush()
  else
    announce(service, server)
  end
  local ok, why = server:run()
  if not ok then out.fail(1, "%s", why) end
end

return M
