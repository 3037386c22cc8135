--- weir serve: an engine as a service on sockets.

local core = require "weir.core"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {
  name = "serve",
  doc = "Run a service that keeps a machine and its jobs for many clients.",
  usage = "-r RESOURCES | --parent ADDRESS [OPTION...]",
  max = 0,
  machine = true,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help .. '; ignored if the state exists' },
    { "l", "listen", "ADDRESS", "unix:PATH, tcp:HOST:PORT on this machine, or tls:HOST:PORT; can be given several times; "
      .. "unix:weir.sock if not given", many = true },
    { nil, "state", "ADDRESS", "FILE or sqlite:FILE, an SQLite database, or etcd:http://HOST:PORT[,http://...][/PREFIX]: it holds "
      .. "every acknowledged change, and the service, or with etcd another one, continues from it" },
    { nil, "lease", "SECONDS", "with etcd: the time within which another service takes over when the leader is gone; 10 if not "
      .. "given, at least 2", kind = "count" },
    { nil, "parent", "ADDRESS", "unix:PATH#JOB: the machine is what this job of the service at PATH has, in place of -r; or "
      .. "unix:PATH#GROUP, a group of its targets; also tls:HOST:PORT#..." },
    { nil, "parent-token-file", "FILE", "for a parent over TCP: a file whose first token is used; $WEIR_TOKEN_FILE if not given" },
    { nil, "parent-ca", "FILE", "for a parent over TLS: the trusted certificates, PEM; $WEIR_CA, or those of the system, if "
      .. "not given" },
    { "p", "policy", "POLICY", "the placement policy: a name (see weir policy list) or a file; low if not given" },
    inputs.granularity_option,
    { "a", "acquire", "GROUPS", "the groups that this service schedules itself, separated by commas; default if not given. none: "
      .. "other schedulers acquire everything" },
    { "g", "group", "NAME=TARGETS", "puts targets into a group, such as exclude=0-3; can be given several times", many = true },
    { nil, "clock", "KIND", "wall (if not given), or manual: the method advance sets the time", choices = { "wall", "manual" } },
    { nil, "overrun", "RULE", "what happens at the end of a job that is not released: hold (if not given): it keeps its resources, and "
      .. "reservations that need them are postponed; expire: it is released at its end",
      choices = { "hold", "expire" } },
    { nil, "clock-jump", "SECONDS", "with the wall clock: jumps by more than this are not followed until SIGHUP or a "
      .. "restart; 3600 if not given", kind = "count" },
    { nil, "limit", "NAME=N", "a limit on clients; can be given several times. Per client: line (bytes of a request; 1048576), "
      .. "calls (in flight; 128), streams (32), lists in pages (lists; 8), stages (64), "
      .. "lease (seconds of a stage; 3600), high (unread bytes at "
      .. "which requests are delayed; 262144), most (at which it is dropped; 8388608). Per user, who is a uid, a token or, before the "
      .. "login, an address: user (clients; 128), idle (seconds without a request after which a client may be closed for another one "
      .. "of the user; 60), input (bytes of waiting requests; 16777216), output (unread bytes at which requests are "
      .. "delayed; 16777216), filters (processor milliseconds per second; 250), copies (of the "
      .. "service at work; 2), waits (requests that wait for a copy; 32), address "
      .. "(clients of one address before login; 16). In total: "
      .. "clients (1024), reserve (additional, for administrators; 16), strangers (before login; 64), "
      .. "buffers (bytes of waiting requests and answers; 268435456), allcopies (copies at work; 8). Per request: copyms "
      .. "(milliseconds of a copy; 10000), filterms (with a filter; 1000), tryms (of a query, before a copy; 5), changems "
      .. "(of a search that changes something; 10000), copymb (MB of a copy, in addition to twice the machine; 256), "
      .. "answermb (MB of its answer; 64), add (vertices of one resource.add; 1000000)", many = true },
    { nil, "allow", "ROLE=WHO", "roles over a Unix socket: reader (queries), owner (also has jobs of its own) or administrator, of users, "
      .. "@GROUPs or *, separated by commas; can be given several times. The user who runs the service and root are administrators. Needs "
      .. "a --mode that lets others connect", many = true },
    { nil, "mode", "OCTAL", "the permissions of Unix sockets; 600 if not given" },
    { nil, "token-file", "FILE", "the tokens for TCP, one per line: TOKEN ROLE NAME. Created with one token if it does not exist" },
    { nil, "tls-cert", "FILE", "the certificate and its chain, PEM, for tls:HOST:PORT" },
    { nil, "tls-key", "FILE", "its private key, PEM" },
    { nil, "log", "FORMAT", "the format of the log on stderr; text if not given", choices = { "text", "json" } },
    { nil, "log-level", "LEVEL", "the lowest level of the log; info if not given", choices = { "debug", "info", "warn", "error" } },
    { nil, "metrics-file", "FILE", "write metrics to this file every 15 seconds, in the text format of Prometheus" },
    { nil, "config", "FILE", "read these options from a file, JSON or Lua, see below; the command line takes precedence" },
    { nil, "record", "FILE", "write what this service acquires and loses as JSON lines, for scenarios" },
    { nil, "filter-ms", "MS", "the time limit of a client's filter; 10 if not given", kind = "count" },
  },
  notes = [[
A request is a JSON object on a line, {"id": 1, "method": "match", "params": {"request": "slot=2/node"}}; an answer is
{"id": 1, "result": ...}, with "more": true if others follow, or {"id": 1, "error": "why", "code": "busy"}. Several
requests may be in flight. The method "methods" lists all methods; weir-protocol(7) describes them.

With --state every change is in the database, in one transaction with those of the same moment, before its answer is sent:
acknowledged changes survive kill -9. SIGTERM and SIGINT end the service after pending answers are written.

With --state etcd:... several services can be started on one etcd (3.4 or later), with the same options. One is the leader, by a lease that
it renews; the others answer every call with the code "standby" and the address of the leader. One of them takes over, with
everything that was acknowledged, within --lease seconds after the leader is gone, or at once if a signal ended it. A leader that
cannot renew its lease ends, with status 1, before the lease does, and etcd refuses late writes. A lease must be longer than the
longest call and the time to load the state. Other programs may read and watch below the prefix (/weir if not given), but not write:
  meta                    changes with each commit
  jobs/JOB/R              the R (RFC 20) of a job
  children/JOB/R          the same for a child instance, with its graph: -r etcd:http://HOST:PORT/PREFIX/children/JOB/R
  leader                  the leader and its address
  block/ data/ edges/ kinds/ jobs/JOB/0   the machine and its jobs
  etcdctl watch --prefix /weir/children/

Files for TLS are taken from ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY. etcd keeps old values by default: run it
with --auto-compaction-retention.

With --parent the service is a child: it acquires the resources of a job of another service, schedules within them, requests more
(parent.grow) and returns some (parent.shrink). Resources that the parent takes away leave it, and jobs there get a fatal
exception. If the connection breaks, the child continues and reconnects; the resources of the job remain the child's, also while the
child does not run, until the job is released. Then the child ends, with status 1. With a group in place of a job, the parent may
give unacquired resources to others, so nothing new is placed there without a connection.

  weir serve -r cluster.json -l unix:/run/weir.sock --state /var/lib/weir.sqlite
  weir -s /run/weir.sock match slot=2/node
  weir serve --parent unix:/run/weir.sock#1 -l unix:/run/child.sock --state /var/lib/child.sqlite
  weir serve -r cluster.json -l unix:/run/weir.sock --state etcd:http://10.0.0.1:2379,http://10.0.0.2:2379/cluster
  weir top -s /run/weir.sock

Over TCP a client logs in with a token first: {"id": 1, "method": "login", "params": {"token": "..."}}; weir -s reads it from a file:

  weir serve -r cluster.json -l tls:0.0.0.0:4747 --tls-cert c.pem --tls-key k.pem --token-file /etc/weir/tokens
  weir -s tls:head.example.org:4747 --token-file my.token --ca ca.pem jobs

A file of options (--config) is a JSON object, or Lua that returns a table, with the long names of options: {"resources": "cluster.json",
"listen": ["unix:/run/weir.sock"], "limit": {"clients": 200}}.

SIGHUP reads the policy, --token-file, --tls-cert and --tls-key again, and makes the service follow a wall clock that was set by more
than --clock-jump. Connections whose token was removed, or changed its role or name, are notified and closed; a file that cannot be
read or is invalid changes nothing, and the log reports it. Under systemd the service reports when it is ready, and uses the sockets
that systemd passes.

If the wall clock was wrong while there were jobs, weir -s SOCKET call clock.follow sets the time of the service back, and the times
of the jobs with it.

A client may close its writing half and wait. All its requests are answered, and then the connection is closed; streams (events,
resource.acquire and others) end at once, with {"ended": true}, and what they have acquired is returned:

  printf '{"id": 1, "method": "explain", "params": {"request": "slot=9/node"}}\n' | nc -N -U /run/weir.sock

Exit status: 0 ended by a signal, 1 changes could not be saved, or the parent ended it, 2 wrong usage or unreadable input.]],
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
    if not name or not ok or not set then out.fail(2, "serve: expected --group NAME=TARGETS, such as exclude=0-3, not %s", word) end
    groups[name] = set
  end
  return groups
end

local function acquires_of(text)
  if text == "none" then return {} end
  local list = tables.collect((text or "default"):gmatch "[^,]+")
  if #list == 0 then out.fail(2, "serve: --acquire: expected names of groups, or none") end
  return list
end

local function limits_of(words)
  local limits = tables.copy(require("weir.serve.server").LIMITS)
  for _, word in ipairs(words or {}) do
    local name, text = word:match "^(%w+)=(%d+)$"
    local n = math.tointeger(tonumber(text))
    if not n or n < 1 then out.fail(2, "serve: expected --limit NAME=N, such as calls=64, not %s", word) end
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
    out.fail(2, "serve: --mode: expected an octal number up to 777, such as 660")
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
  return require("weir.acquire.recording").writer(function(text)
    local ok, wrong = file:write(text)
    if ok then
      ok, wrong = file:flush() -- of a buffer that is flushed at each line the C library reports no failure
    end
    if not ok then log(("the recording is not complete: %s"):format(wrong), { often = "record" }) end
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
  if opts.lease and not (opts.state or ""):find "^etcd:" then out.fail(2, "serve: --lease needs --state etcd:...") end
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
  service:begin(within.clock)
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
  if opts["filter-ms"] == 0 then out.fail(2, "serve: --filter-ms: expected at least 1") end
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
  within.clock = access.clock
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
