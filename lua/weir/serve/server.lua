--- server.lua - a service on its sockets, in one libuv loop.
--
-- In a turn of the loop the users that have sent something are served in turn, one request at a time, until nobody has any, or for
-- SLICE seconds; then all that has changed is saved at once, and only then the answers go out (group commit).

local clocks = require "weir.serve.clock"
local core = require "weir.core"
local clients = require "weir.serve.connection"
local copies = require "weir.serve.copies"
local listen = require "weir.serve.listen"
local metrics = require "weir.serve.metrics"
local notify = require "weir.serve.notify"
local roles = require "weir.serve.roles"
local users = require "weir.serve.users"
local uv = require "luv"

local M = {}

--- What a client may cost, unless told otherwise; doc/service-limits.md has a row for each.
M.LIMITS = {
  line = 1 << 20,     -- bytes of a request
  calls = 128,        -- requests in flight, streams included
  high = 1 << 18,     -- bytes that wait to be read by a client, from which on it is not served
  most = 8 << 20,     -- ... from which on it is dropped
  streams = 32,       -- in flight, of these calls
  lists = 8,          -- lists that come in pages, of these calls
  filters = 250,      -- milliseconds of each second for the filters of one user
  copies = 2,         -- copies of the service that work for one user
  allcopies = 8,      -- ... for all users that are no administrators
  waits = 32,         -- requests of one user that wait for a copy
  copyms = 10000,     -- milliseconds that a copy may take,
  filterms = 1000,    -- ... with a filter,
  tryms = 5,          -- ... and that a look may take in the service before it begins again in a copy
  changems = 10000,   -- milliseconds that the search of a request may take that changes something
  copymb = 256,       -- MB that a copy may use, besides twice what the machine takes
  answermb = 64,      -- MB that it may answer
  clients = 1024,
  reserve = 16,       -- clients beyond these, for administrators
  user = 128,         -- clients of one user, administrators excepted
  idle = 60,          -- seconds without a request after which a client makes room for another one of its user
  strangers = 64,     -- clients that have not shown a token yet, besides
  address = 16,       -- strangers of one address
  input = 16 << 20,   -- bytes of requests of one user that wait
  output = 16 << 20,  -- bytes of answers that a user has not read, from which on none of the user's clients is served
  buffers = 256 << 20, -- bytes of both, of all
  add = 1000000,      -- vertices that one resource.add may bring
}

local SLICE = 0.005 -- seconds that requests are served for before what they changed is saved
local LOGIN = 10    -- seconds for a client to show its token
local TRIES = 3     -- tokens that it may try
local METRICS = 15  -- seconds between two versions of the file of metrics
local PEAK = 16 << 20 -- bytes that were kept for clients, after which memory is given back
local FILES = 64    -- descriptors for what is no client
local GRACE = 2000  -- milliseconds for clients to take their last answers when the service ends

local Server = {}
Server.__index = Server

-- libuv calls back without a frame around: what fails in here is the service's end.
local function guarded(self, f)
  return function(...)
    local ok, raised = xpcall(f, debug.traceback, ...)
    if not ok then
      self.fatal = "internal error: " .. tostring(raised)
      uv.stop()
    end
  end
end

local accept

-- ---- connections --------------------------------------------------------------------------------------------------------------

local function wake(self, client)
  if not client.waking and not client.gone then
    client.waking = true
    self.users:put(client)
  end
end

-- It is looked at before the turn ends: it has something to be written, or to be sent on, or has ended.
local function touch(self, client)
  if not client.touched and not client.gone then
    client.touched = true
    self.touched[#self.touched + 1] = client
  end
end

-- The other end of a TLS stream is to know that this is its end.
local function hang_up(client)
  client.tls:finish()
  local bytes = client.tls:take()
  if bytes and not client.pipe:is_closing() then client.pipe:try_write(bytes) end
end

local function drop(self, client)
  if client.gone then return end
  client.gone = true
  self.clients[client], self.nclients = nil, self.nclients - 1
  self.users:leave(client)
  self.service:leave(client)
  if client.tls then hang_up(client) end
  if not client.pipe:is_closing() then client.pipe:close() end
end

local function note(self, client) self.users:note(client, client.lines:waiting(), client:waiting()) end

-- Tells why, where that can be told at once, and closes.
local function refuse(pipe, why, code, tls)
  local text = core.json_line { id = core.null, error = why, code = code }
  if tls then text = tls:ready() and tls:send(text) and tls:take() end
  if text then pipe:try_write(text) end
end

-- A connection that is there goes, in favour of others.
local function evict(self, client, why)
  self.users:refuse(client.user)
  self.log("a client was dropped: " .. why, { level = "info", client = client.name, often = "dropped" })
  if not client.pipe:is_closing() then refuse(client.pipe, why, "limit", client.tls) end
  drop(self, client)
end

-- Closes once what is owed is written.
local function part(self, client)
  client.parting = true
  client.pipe:read_stop()
  touch(self, client)
end

local function hold(client)
  if client.held or client.parting then return end
  client.held = true
  client.pipe:read_stop()
end

local function resume(client)
  if not client.held or client.parting or client.gone then return end
  client.held = false
  client.pipe:read_start(client.on_read)
end

-- What a client on TLS has sent, in the clear. What the handshake has to say goes out by itself.
local function decrypted(self, client, piece)
  local text, ended = client.tls:receive(piece)
  local bytes = client.tls:take()
  if bytes then client.pipe:write(bytes) end
  if client:waiting() > self.limits.most then text, ended = nil, "nothing that it is sent is read" end
  if text then return text, ended end
  self.log(("%s: %s"):format(client.name, ended), { level = "info", often = true })
  return nil
end

-- No more is kept for a user, and for all, than may be. Who sends whole lines is read on from once they are served.
local function bound(self, client)
  local surplus, why = self.users:surplus(client.user)
  if why and client.lines:is_whole() then hold(client) end
  if surplus then evict(self, surplus, why) end
end

local function read(self, client, err, piece)
  local ended = not piece
  if not err and piece and client.tls then
    piece, ended = decrypted(self, client, piece)
    err = not piece
  end
  if err then return drop(self, client) end
  client.ended, client.heard = ended, uv.now()
  if piece then client.lines:put(piece) end
  if client.lines:waiting() > self.limits.line then hold(client) end
  wake(self, client)
  note(self, client)
  bound(self, client)
end

-- Something was written: there may be room for more.
local function written(self, client, err)
  if err or client.gone then return drop(self, client) end
  note(self, client)
  touch(self, client)
end

-- Role, name and user of who has connected; without a role: why not.
local function who(self, listener, pipe)
  if listener.kind ~= "unix" then
    local peer = pipe:getpeername()
    return "anyone", peer and ("%s:%d"):format(peer.ip, peer.port) or "?", users.of_address(peer and peer.ip or "?")
  end
  local peer, why = core.peer(pipe:fileno())
  if not peer then return nil, why end
  local role, name = roles.of(self.rules, peer)
  if role then return role, name, users.of_uid(peer.uid, role) end
  return nil, ("the user %s may not use this service; its administrator can start it with --allow reader=%s, for one"):format(name, name)
end

-- Makes room for one more connection of somebody: true; or nil and why there is none.
local function make_room(self, somebody)
  local ok, other = self.users:room(somebody, uv.now())
  if ok and other then evict(self, other, ("%s makes room for another connection"):format(other.user.key)) end
  if ok then return true end
  self.users:refuse(somebody)
  self.log("a connection was refused: " .. other, { level = "warn", often = "refused" })
  return nil, other
end

-- Somebody else from now on, if there is room: true; or nil and why there is none.
local function identify(self, client, role, name)
  local somebody = users.of_token(name, role)
  local ok, why = make_room(self, somebody)
  if not ok then return nil, why end
  self.users:leave(client)
  self.users:enter(client, somebody)
  return true
end

local function new_client(self, pipe, role, name)
  local client
  client = clients.new {
    role = role, name = name, limits = self.limits, array = core.array, touch = function(it) touch(self, it) end,
    queued = function() return pipe:is_closing() and 0 or pipe:get_write_queue_size() end,
    failed = function(code) self.failures[code] = (self.failures[code] or 0) + 1 end,
    identify = function(...) return identify(self, client, ...) end,
  }
  client.pipe, client.since = pipe, uv.now()
  client.on_read = guarded(self, function(err, piece) read(self, client, err, piece) end)
  client.on_written = guarded(self, function(err) written(self, client, err) end)
  return client
end

local function turn_away(pipe, why, code)
  refuse(pipe, why, code)
  pipe:close()
end

function accept(self, listener)
  local net = listener.kind ~= "unix"
  local pipe = net and uv.new_tcp() or uv.new_pipe(false)
  listener.handle:accept(pipe)
  if self.closing then return pipe:close() end
  local role, name, somebody = who(self, listener, pipe)
  if not role then
    self.log("a connection was refused: " .. name, { level = "info", often = "forbidden" })
    return turn_away(pipe, name, "forbidden")
  end
  local ok, why = make_room(self, somebody)
  if not ok then return turn_away(pipe, why, "limit") end
  if net then pipe:nodelay(true) end
  local client = new_client(self, pipe, role, name)
  client.tls = listener.tls and listener.tls:session() or nil
  self.clients[client], self.nclients, self.connections = true, self.nclients + 1, self.connections + 1
  self.users:enter(client, somebody)
  self.log("connected", { level = "debug", client = name, role = role })
  pipe:read_start(client.on_read)
end

-- Who does not say who they are, go.
local function show_out(self)
  local late = {}
  for client in pairs(self.clients) do
    if client.role == "anyone" and uv.now() - client.since > LOGIN * 1000 then late[#late + 1] = client end
  end
  for _, client in ipairs(late) do evict(self, client, ("no token was shown in %d s"):format(LOGIN)) end
end

-- ---- turns --------------------------------------------------------------------------------------------------------------------

-- What the socket takes at once costs no callback; the rest does. False: on TLS there is no sending any more.
local function send(client, text)
  if client.tls then
    if not client.tls:send(text) then return false end
    text = client.tls:take()
  end
  local n = client.pipe:try_write(text) or 0
  if n < #text then client.pipe:write(n > 0 and text:sub(n + 1) or text, client.on_written) end
  return true
end

local function write(self, client)
  local text = client:flush()
  if not text or client.pipe:is_closing() then return end
  if not send(client, text) then return drop(self, client) end
  if client:waiting() > self.limits.most + client.largest then
    self.dropped = self.dropped + 1
    return evict(self, client, ("%d bytes wait to be read, which is more than may be"):format(client:waiting()))
  end
  note(self, client)
  bound(self, client)
end

-- One request of a client. Whether it may have more.
local function step(self, client)
  if client.gone or client.parting then return false end
  if (client.refused or 0) >= TRIES then
    part(self, client)
    return false
  end
  client.full = client:waiting() >= self.limits.high or self.users:is_full(client.user)
  if client.full then return false end
  local what = client:step(self.handle)
  if not client.gone then note(self, client) end
  if what == "done" then return true end
  if what == "bad" then part(self, client) end
  if what == "none" and client.held and client.lines:waiting() <= self.limits.line then resume(client) end
  if what == "none" and client.ended then
    client.served = true
    touch(self, client)
  end
  return false
end

local function serve(self)
  local stop = core.clock() + SLICE
  repeat
    local client = self.users:take()
    if not client then return end
    client.waking = step(self, client)
    if client.waking then self.users:put(client) end
  until core.clock() > stop
end

-- Nothing of this turn was saved: it is undone, and whoever asked is told. Without a way back the service ends.
local function revoke(self, why, code)
  local fenced = code == "fenced" -- what was asked for may have been done; and there is nothing to go back to
  self.service.opts.log(fenced and why or "not saved: " .. why, { often = "saving" })
  self.copies:abandon(why, code)
  for client in pairs(self.clients) do client:revoke(fenced and why or "not done, as it could not be saved: " .. why, code) end
  local ok, worse
  if code ~= "exists" and not fenced then ok, worse = self.service:restore() end
  if not ok then
    self.fatal = fenced and why or ("the state cannot be saved: %s%s"):format(why, worse and "; nor read again: " .. worse or "")
    self.closing = true
    uv.stop()
  end
end

-- Whether all that it is owed is on its way.
local function over(client)
  return (client.parting or client.served and not client.paging[1]) and client:waiting() == 0
end

-- There is room again: for requests that wait, of any client of the user, and for pages.
local function go_on(self, client)
  if not self.users:is_full(client.user) then
    for other in pairs(client.user.clients) do
      if other.full and other:waiting() < self.limits.high then wake(self, other) end
    end
  end
  if client.paging[1] and client:waiting() < self.limits.high then touch(self, client) end
end

-- Answers leave; who is through with the service goes.
local function flush(self)
  local round = self.touched
  self.touched = {}
  for _, client in ipairs(round) do
    client.touched = false
    if not client.gone then write(self, client) end
    if not client.gone then
      if over(client) then drop(self, client) else go_on(self, client) end
    end
  end
end

-- Saves what has changed; how long that took is noted where there was something.
local function commit(self)
  local service, begin = self.service, core.clock()
  local before = service.counts and service.counts.commits
  local ok, why, code = service:commit()
  if service.counts and service.counts.commits ~= before then self.saves:add(core.clock() - begin) end
  return ok, why, code
end

local function turn(self)
  local begin, work = core.clock(), self.users.waiting > 0
  self.service:tick(self.clock:now())
  serve(self)
  for _, client in ipairs(self.touched) do
    if client.paging[1] then client:continue() end
  end
  local ok, why, code = commit(self)
  if ok then self.copies:turn() else revoke(self, why, code) end
  flush(self)
  self.copies:flow()
  if ok then self.service:flush() end
  if work then self.turns:add(core.clock() - begin) end
  if self.users.waiting > 0 or self.touched[1] then self.idle:start(function() end) else self.idle:stop() end
end

--- Seconds since 1970.
M.now = clocks.wall

-- ---- the end -------------------------------------------------------------------------------------------------------------------

-- Answers what has arrived, and waits for a moment until that is read.
local function shut_down(self)
  if self.closing then return uv.stop() end
  self.closing = true
  notify.tell "STOPPING=1"
  self.copies:close()
  for _, listener in ipairs(self.listeners) do
    if not listener.handle:is_closing() then listener.handle:close() end
  end
  for client in pairs(self.clients) do client.pipe:read_stop() end
  self.ending = uv.new_timer()
  local stop = uv.now() + GRACE
  self.ending:start(0, 10, guarded(self, function()
    local owed = self.users.waiting > 0 or self.touched[1] ~= nil
    for client in pairs(self.clients) do owed = owed or client:waiting() > 0 end
    if not owed or uv.now() > stop then uv.stop() end
  end))
end

--- Ends the service for a reason of its own, once everybody was told.
function Server:finish(why)
  self.reason = why
  shut_down(self)
end

--- Calls f within the loop: what fails is the service's end.
function Server:guard(f, ...) return guarded(self, f)(...) end

local function on_signal(self, name, f)
  local handle = uv.new_signal()
  handle:start(name, guarded(self, function() f(self) end))
end

-- The policy and the wall clock as they are now; a policy that does not load leaves the old one.
local function reload(self)
  self.clock:follow()
  if not self.service.reload then return end
  notify.tell "RELOADING=1"
  local policy, why = self.service:reload()
  notify.tell "READY=1"
  self.log(policy and "the policy was loaded again: " .. policy.label or "the policy was not loaded again: " .. why,
    { level = policy and "info" or "error" })
end

-- ---- sockets ------------------------------------------------------------------------------------------------------------------

local function start(self, listener)
  local ok, why, code = listen.start(listener, guarded(self, function(err)
    if not err then accept(self, listener) end
  end))
  if not ok then return nil, why, code end
  self.listeners[#self.listeners + 1] = listener
  return true
end

--- Listens at an address (see addresses.lua): true; or nil, message, code.
function Server:listen(address)
  local listener, why, code = listen.open(address, self)
  if not listener then return nil, why, code end
  return start(self, listener)
end

--- Listens at what the service manager has handed over: how many sockets that is; or nil, message, code.
function Server:inherit()
  local list, why, code = listen.inherited(self)
  if not list then return nil, why, code end
  for _, listener in ipairs(list) do
    local ok
    ok, why, code = start(self, listener)
    if not ok then return nil, why, code end
  end
  return #list
end

--- Where it listens, as texts.
function Server:addresses()
  local list = {}
  for i, listener in ipairs(self.listeners) do list[i] = listener.address end
  return list
end

-- ---- running -------------------------------------------------------------------------------------------------------------------

local function close_all(self)
  for _, listener in ipairs(self.listeners) do
    if listener.path then uv.fs_unlink(listener.path) end
  end
  uv.walk(function(handle)
    if not handle:is_closing() then handle:close() end
  end)
  uv.run "nowait"
end

-- What clients had sent and was kept is garbage, and what was garbage is the system's again.
local function give_back()
  collectgarbage()
  core.release_memory()
end

-- What is to be done every second, whoever asks or not.
local function look_after(self)
  if self.service.lost then
    local ok, why = self.service:retry()
    if not ok then
      self.fatal = "the state cannot be read again: " .. why
      return uv.stop()
    end
  end
  local now = uv.now()
  show_out(self)
  if self.users:has_shrunk(PEAK) then give_back() end
  if self.watchdog and now - self.barked >= self.watchdog * 1000 then
    self.barked = now
    notify.tell "WATCHDOG=1"
  end
  if self.metrics_file and now - self.written >= METRICS * 1000 then
    self.written = now
    local ok, why = core.write_file(self.metrics_file, self:metrics(), { links = false })
    if not ok and why ~= self.unwritten then self.log("the metrics could not be written: " .. why) end
    self.unwritten = why -- what is wrong is told once
  end
end

--- Serves until a signal ends it: true; or nil and a message.
function Server:run()
  core.keep_memory()
  collectgarbage "generational" -- most of what a request needs is garbage after it: shorter pauses than going through all there is
  self.idle, self.check, self.timer = uv.new_idle(), uv.new_check(), uv.new_timer()
  self.check:start(guarded(self, function() turn(self) end))
  notify.tell("READY=1", "STATUS=listening on " .. table.concat(self:addresses(), ", "))
  local period = self.service.opts.period or 1000
  self.timer:start(0, period, guarded(self, function() look_after(self) end)) -- after which the clock of the engine goes on
  uv.run()
  if not self.fatal then
    local ok, why = self.service:commit()
    if not ok then self.fatal = why end
  end
  close_all(self)
  if self.fatal or self.reason then return nil, self.fatal or self.reason end
  return true
end

--- Serves by this service from here on.
function Server:use(service)
  self.service = service
  service.opts.limits, service.opts.tokens = self.limits, self.tokens
  service.opts.copies, self.copies.service = self.copies, service
  service.opts.metrics = function() return self:metrics() end
  service.opts.server_stats = function(detailed)
    local waiting, calls = 0, 0
    for client in pairs(self.clients) do waiting, calls = waiting + client:waiting(), calls + client.ncalls end
    return { clients = self.nclients, connections = self.connections, waiting_bytes = waiting, calls = calls, ready = self.users.waiting,
      refused = self.users.refused, buffered_bytes = self.users.bytes, users = detailed and core.array(self.users:list()) or nil }
  end
end

local function descriptors()
  local n, dir = 0, uv.fs_scandir "/proc/self/fd"
  while dir and uv.fs_scandir_next(dir) do n = n + 1 end
  return n
end

local function seconds(t) return t.sec + t.usec / 1e6 end

--- The page of metrics.
function Server:metrics()
  local stats, usage = self.service.opts.server_stats(), uv.getrusage()
  stats.failures, stats.dropped, stats.turns, stats.saves, stats.began = self.failures, self.dropped, self.turns, self.saves, self.began
  stats.resident, stats.descriptors, stats.cpu = uv.resident_set_memory(), descriptors(), seconds(usage.utime) + seconds(usage.stime)
  return metrics.text(self.service, stats)
end

-- Limits that fit with the files that the process may have open.
local function fitting(limits, log)
  local others = limits.reserve + limits.strangers + FILES
  local files = core.open_files(limits.clients + others)
  if not files or files >= limits.clients + others then return limits end
  local fit = {}
  for name, n in pairs(limits) do fit[name] = n end
  fit.clients = math.max(1, files - others)
  log(("%d files may be open: there is room for %d clients"):format(files, fit.clients))
  return fit
end

--- A server. opts: log(text, fields); clock, as of clock.lua, which there is if not given; limits, as LIMITS; rules, as of roles.lua, for
--- who connects to Unix sockets, whose permissions are `mode`;
--- tokens and tls, for the net (see tokens.lua, listen.lua); metrics_file, where the page of metrics is written to.
function M.new(service, opts)
  local self = setmetatable({
    log = opts.log, clock = opts.clock or clocks.new { log = opts.log }, limits = fitting(opts.limits or M.LIMITS, opts.log),
    rules = opts.rules or {}, mode = opts.mode,
    tokens = opts.tokens, tls = opts.tls,
    metrics_file = opts.metrics_file, listeners = {}, clients = {}, nclients = 0, connections = 0, dropped = 0, failures = {},
    touched = {}, turns = metrics.histogram(), saves = metrics.histogram(), began = M.now(), barked = 0, written = -1e9,
    watchdog = notify.watchdog(uv.os_getpid()),
  }, Server)
  self.users = users.new(self.limits)
  self.handle = function(call) self.service:handle(call) end
  on_signal(self, "sigterm", shut_down)
  on_signal(self, "sigint", shut_down)
  on_signal(self, "sighup", reload)
  self.copies = copies.new { limits = self.limits, log = self.log, guard = function(f) return guarded(self, f) end }
  on_signal(self, "sigchld", function() self.copies:child_ended() end)
  self:use(service)
  return self
end

return M
