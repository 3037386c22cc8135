--- server.lua - a service on its sockets, in a single libuv loop.
--
-- A turn of the loop serves the users with waiting requests in rotation, a request at a time, until no request waits
-- or SLICE seconds have passed. Then all changes of the turn are saved at once, and only then the answers are sent
-- (group commit).

local clocks = require "weir.serve.clock"
local core = require "weir.core"
local clients = require "weir.serve.connection"
local copies = require "weir.serve.copies"
local listen = require "weir.serve.listen"
local metrics = require "weir.serve.metrics"
local notify = require "weir.serve.notify"
local roles = require "weir.serve.roles"
local tables = require "weir.tables"
local users = require "weir.serve.users"
local uv = require "luv"

local M = {}

--- LIMITS are the defaults of the limits on clients; doc/reference/limits.md has a row for each.
M.LIMITS = {
  line = 1 << 20,     -- bytes of a request
  calls = 128,        -- requests in flight, streams included
  high = 1 << 18,     -- bytes waiting to be read by a client, beyond which the client is not served
  most = 8 << 20,     -- bytes waiting, beyond which the client is dropped
  streams = 32,       -- streams in flight, counted in `calls`
  stages = 64,        -- stages of a connection
  lease = 3600,       -- seconds of a stage
  lists = 8,          -- lists being sent in pages, counted in `calls`
  filters = 250,      -- milliseconds of each second for the filters of a user
  copies = 2,         -- copies of the service working for a user
  allcopies = 8,      -- copies working for all users but administrators
  waits = 32,         -- requests of a user waiting for a copy
  copyms = 10000,     -- milliseconds for a copy
  filterms = 1000,    -- milliseconds for a copy with a filter
  tryms = 5,          -- milliseconds for a call without effects in the service, before it begins again in a copy
  changems = 10000,   -- milliseconds for the search of a call with effects
  copymb = 256,       -- MB of memory of a copy, in addition to twice the memory of the machine
  answermb = 64,      -- MB in the answer of a copy
  clients = 1024,
  reserve = 16,       -- clients beyond `clients`, for administrators
  user = 128,         -- clients of a user, administrators excepted
  idle = 60,          -- seconds without a request, after which a client gives way to a new client of its user
  strangers = 64,     -- clients before the login, beyond `clients`
  address = 16,       -- strangers of an address
  input = 16 << 20,   -- bytes of waiting requests of a user
  output = 16 << 20,  -- bytes of unread answers of a user, beyond which no client of the user is served
  buffers = 256 << 20, -- bytes of requests and answers of all users
  add = 1000000,      -- vertices that one resource.add may bring
}

local SLICE = 0.005 -- seconds of serving requests before the changes are saved
local LOGIN = 10    -- seconds for a client to log in
local TRIES = 3     -- tokens that a client may try
local METRICS = 15  -- seconds between two versions of the file of metrics
local GARBAGE = 8 << 20 -- bytes that were buffered for clients, after which memory is given back to the system
local FILES = 32    -- descriptors not used for clients and copies
local GRACE = 2000  -- milliseconds for clients to read the last answers when the service ends

local Server = {}
Server.__index = Server

-- Wraps a callback of libuv: a callback has no Lua frame around, so an error ends the service.
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

-- ---- connections ----------------------------------------------------------------------------------------------------

local function wake(self, client)
  if not client.waking and not client.gone then
    client.waking = true
    self.users:put(client)
  end
end

-- Marks a client to be looked at before the turn ends: the client has output, further pages, or has ended.
local function touch(self, client)
  if not client.touched and not client.gone then
    client.touched = true
    self.touched[#self.touched + 1] = client
  end
end

-- Sends the close of a TLS stream, by which a client distinguishes a complete stream from a cut one.
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

-- Sends an error line, as far as the socket takes the line at once.
local function refuse(pipe, why, code, tls)
  local text = core.json_line { id = core.null, error = why, code = code }
  if tls then text = tls:ready() and tls:send(text) and tls:take() end
  if text then pipe:try_write(text) end
end

-- Drops a client, and sends the client the reason.
local function dismiss(self, client, why, code)
  self.log("a client was dropped: " .. why, { level = "info", client = client.name, often = "dropped" })
  if not client.pipe:is_closing() then refuse(client.pipe, why, code, client.tls) end
  drop(self, client)
end

-- Drops a client in favour of clients that need its place.
local function evict(self, client, why)
  self.users:refuse(client.user)
  dismiss(self, client, why, "limit")
end

-- Closes a connection as soon as all output is written.
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

-- Returns decrypted input of a client on TLS; output of the handshake is sent at once.
local function decrypted(self, client, piece)
  local text, ended = client.tls:receive(piece)
  local bytes = client.tls:take()
  if bytes then client.pipe:write(bytes) end
  if client:waiting() > self.limits.most then text, ended = nil, "nothing that it is sent is read" end
  if text then return text, ended end
  self.log(("%s: %s"):format(client.name, ended), { level = "info", often = true })
  return nil
end

-- Enforces the limits on buffered bytes, of the user and in all. A client that has sent whole lines is only paused
-- until the lines are served.
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

-- Handles a completed write: the client may have room for further output.
local function written(self, client, err)
  if err or client.gone then return drop(self, client) end
  note(self, client)
  touch(self, client)
end

-- Returns role, name and user of a new connection; or nil and why the connection is refused.
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

-- Makes room for a further connection of the user. Returns true; or nil and why no room can be made.
local function make_room(self, somebody)
  local ok, other = self.users:room(somebody, uv.now())
  if ok and other then evict(self, other, ("%s makes room for another connection"):format(other.user.key)) end
  if ok then return true end
  self.users:refuse(somebody)
  self.log("a connection was refused: " .. other, { level = "warn", often = "refused" })
  return nil, other
end

-- Gives a client a new role and name, if the new user has room. Returns true; or nil and why not.
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

-- Drops clients that have not logged in within LOGIN seconds, and clients that are gone and only have calls in flight.
local function show_out(self)
  local late, gone = {}, {}
  for client in pairs(self.clients) do
    if client.role == "anyone" and uv.now() - client.since > LOGIN * 1000 then late[#late + 1] = client end
    if client.served and not client.pipe:is_closing() and core.hung_up(client.pipe:fileno()) then gone[#gone + 1] = client end
  end
  for _, client in ipairs(gone) do drop(self, client) end
  for _, client in ipairs(late) do evict(self, client, ("no token was shown in %d s"):format(LOGIN)) end
end

-- ---- turns ----------------------------------------------------------------------------------------------------------

-- Sends text to a client. A write of as much as the socket takes at once needs no callback; only the rest does.
-- Returns false if the TLS session cannot send any more.
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

-- Handles the end of a client's requests, all of which were served: streams end, and further calls in flight are
-- answered before the connection is closed (`over`).
local function end_of_requests(self, client)
  client.served = true
  for _, stream in ipairs((client:in_flight())) do
    self.service:cancel(stream)
    stream.finish()
  end
  touch(self, client)
end

-- Serves a request of a client. Returns true if the client may be served again in the turn.
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
  if what == "none" and client.ended and not client.served then end_of_requests(self, client) end
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

local NOT_DONE = "not done, as it could not be saved: "
local UNSURE = "whether this was done is not known, as the state could not be saved (%s): ask again"

-- Returns to the stored state after a turn whose save failed, and answers all requests of the turn with an error: none
-- of them was done, or with the code "unsure" or "fenced" all of them or none. Ends the service if the stored state
-- cannot be restored.
local function revoke(self, why, code)
  local fenced = code == "fenced" -- no state is left to go back to
  self.service.opts.log(fenced and why or "not saved: " .. why, { often = "saving" })
  local reply = fenced and why or code == "unsure" and UNSURE:format(why) or NOT_DONE .. why
  for client in pairs(self.clients) do client:revoke(reply, code) end
  self.copies:abandon(fenced and why or NOT_DONE .. why, code == "unsure" and "io" or code) -- copies have changed nothing
  local ok, worse
  if code ~= "exists" and not fenced then ok, worse = self.service:restore() end
  if not ok then
    self.fatal = fenced and why or ("the state cannot be saved: %s%s"):format(why, worse and "; nor read again: " .. worse or "")
    self.closing = true
    uv.stop()
  end
end

-- Returns true if all answers owed to a client have been sent.
local function over(client)
  return (client.parting or client.served and client.ncalls == 0) and client:waiting() == 0
end

-- Serves again after output was read: waiting requests of any client of the user, and pages.
local function go_on(self, client)
  if not self.users:is_full(client.user) then
    for other in pairs(client.user.clients) do
      if other.full and other:waiting() < self.limits.high then wake(self, other) end
    end
  end
  if client.paging[1] and client:waiting() < self.limits.high then touch(self, client) end
end

-- Sends the answers of a turn; closes clients with nothing left to do.
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

-- Saves the changes of a turn, and records the time needed if anything was saved.
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

--- Returns the wall clock, in seconds since 1970.
M.now = clocks.wall

-- ---- the end --------------------------------------------------------------------------------------------------------

-- Ends the service: answers requests received so far, and waits at most GRACE for clients to read.
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

--- Ends the service with a reason, after all clients were notified.
function Server:finish(why)
  self.reason = why
  shut_down(self)
end

--- Calls f within the loop; an error of f ends the service.
function Server:guard(f, ...) return guarded(self, f)(...) end

local function on_signal(self, name, f)
  local handle = uv.new_signal()
  handle:start(name, guarded(self, function() f(self) end))
end

-- Reads a file again: object:reload() returns a true value; or nil and a message, and what was read before stays.
local function read_again(self, what, object)
  if not object then return nil end
  local ok, why = object:reload()
  self.log(ok and what .. " read again" or ("%s not read again, so nothing changes there: %s"):format(what, why),
    { level = ok and "info" or "error" })
  return ok
end

-- Drops the clients whose token has left the file of tokens, or has another role or name there.
local function withdraw(self)
  local without = {}
  for client in pairs(self.clients) do
    if client.token and not self.tokens:has(client.token) then without[#without + 1] = client end
  end
  for _, client in ipairs(without) do
    dismiss(self, client, ("the token of %s is not valid any more"):format(client.name), "forbidden")
  end
end

-- Follows the wall clock, and reads tokens, certificate and policy again (SIGHUP). A file that cannot be read, or has an
-- error, changes nothing.
local function reload(self)
  notify.tell "RELOADING=1"
  self.clock:follow()
  if read_again(self, "the tokens were", self.tokens) then withdraw(self) end
  read_again(self, "the certificate was", self.tls)
  if self.service.reload then
    self.service:tell_ahead(self.clock:now())
    local policy, why = self.service:reload()
    self.log(policy and "the policy was loaded again: " .. policy.label or "the policy was not loaded again: " .. why,
      { level = policy and "info" or "error" })
  end
  notify.tell "READY=1"
end

-- ---- sockets --------------------------------------------------------------------------------------------------------

local function start(self, listener)
  local ok, why, code = listen.start(listener, guarded(self, function(err)
    if not err then accept(self, listener) end
  end))
  if not ok then return nil, why, code end
  self.listeners[#self.listeners + 1] = listener
  return true
end

--- Listens at an address (see addresses.lua). Returns true; or nil, message, code.
function Server:listen(address)
  local listener, why, code = listen.open(address, self)
  if not listener then return nil, why, code end
  return start(self, listener)
end

--- Listens at the sockets inherited from the service manager. Returns the number of sockets; or nil, message, code.
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

--- Returns the addresses listened at, as texts.
function Server:addresses() return tables.column(self.listeners, "address") end

-- ---- running --------------------------------------------------------------------------------------------------------

local function close_all(self)
  for _, listener in ipairs(self.listeners) do
    if listener.path then uv.fs_unlink(listener.path) end
  end
  uv.walk(function(handle)
    if not handle:is_closing() then handle:close() end
  end)
  uv.run "nowait"
end

-- After a peak of buffers, or many that were dropped, collects the garbage and gives the memory back to the system; and
-- once more a second later, as connections that are being closed still hold their buffers the first time.
local function give_back(self)
  if self.users:has_shrunk(GARBAGE) then self.shrinking = 2 end
  if self.shrinking == 0 then return end
  self.shrinking = self.shrinking - 1
  collectgarbage()
  core.release_memory()
end

-- Does the work of each second, with or without requests.
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
  give_back(self)
  if self.watchdog and now - self.barked >= self.watchdog * 1000 then
    self.barked = now
    notify.tell "WATCHDOG=1"
  end
  if self.metrics_file and now - self.written >= METRICS * 1000 then
    self.written = now
    local ok, why = core.write_file(self.metrics_file, self:metrics(), { links = false })
    if not ok and why ~= self.unwritten then self.log("the metrics could not be written: " .. why) end
    self.unwritten = why -- an error of writing is logged once
  end
end

--- Serves until a signal ends the service. Returns true; or nil and a message.
function Server:run()
  core.keep_memory()
  -- most objects of a request are garbage after the request: pauses are shorter than with a full cycle
  collectgarbage "generational"
  self.idle, self.check, self.timer = uv.new_idle(), uv.new_check(), uv.new_timer()
  self.check:start(guarded(self, function() turn(self) end))
  notify.tell("READY=1", "STATUS=listening on " .. table.concat(self:addresses(), ", "))
  local period = self.service.opts.period or 1000
  -- the clock of the engine advances with each period
  self.timer:start(0, period, guarded(self, function() look_after(self) end))
  uv.run()
  if not self.fatal then
    local ok, why = self.service:commit()
    if not ok then self.fatal = why end
  end
  close_all(self)
  if self.fatal or self.reason then return nil, self.fatal or self.reason end
  return true
end

--- Serves requests by `service` from now on.
function Server:use(service)
  self.service = service
  service.opts.limits, service.opts.tokens = self.limits, self.tokens
  service.opts.copies, self.copies.service = self.copies, service
  service.opts.wall = function()
    self.clock:follow()
    return self.clock:now()
  end
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

--- Returns the page of metrics.
function Server:metrics()
  local stats, usage = self.service.opts.server_stats(), uv.getrusage()
  stats.failures, stats.dropped, stats.turns, stats.saves, stats.began = self.failures, self.dropped, self.turns, self.saves, self.began
  stats.resident, stats.descriptors, stats.cpu = uv.resident_set_memory(), descriptors(), seconds(usage.utime) + seconds(usage.stime)
  return metrics.text(self.service, stats)
end

-- Limits on the users of descriptors: `takes` descriptors each, the share of all descriptors where they are scarce, and the
-- minimum without which a service does not start. A copy has a pipe, and administrators may have as
-- many copies as all other users. Clients get what is left.
local SCARCE = {
  { "reserve", takes = 1, share = 1 / 8, min = 2 }, { "strangers", takes = 1, share = 1 / 8, min = 2 },
  { "allcopies", takes = 2, share = 1 / 8, min = 1 }, { "clients", takes = 1, share = 1, min = 4 },
}

--- Returns limits that fit the number of descriptors the process may open; or nil, message, code.
function M.fitting(limits, log)
  local wanted, needed, fit = FILES, FILES, {}
  for _, x in ipairs(SCARCE) do wanted, needed = wanted + x.takes * limits[x[1]], needed + x.takes * x.min end
  local files = core.open_files(wanted)
  if not files or files >= wanted then return limits end
  if files < needed then
    return nil, ("%d files may be open, and a service takes at least %d, or %d for all that the limits allow: see ulimit -n, or "
      .. "LimitNOFILE= of systemd"):format(files, needed, wanted), "limit"
  end
  for name, n in pairs(limits) do fit[name] = n end
  local all, left, text = files - FILES, files - FILES, {}
  for i, x in ipairs(SCARCE) do
    fit[x[1]] = math.min(limits[x[1]], math.max(x.min, math.floor(math.min(left, all * x.share) / x.takes)))
    left = left - x.takes * fit[x[1]]
    text[i] = ("%s=%d"):format(x[1], fit[x[1]])
  end
  log(("%d files may be open, which is not enough for all that the limits allow: they are %s"):format(files, table.concat(text, ", ")))
  return fit
end

--- Makes a server. opts: log(text, fields); clock (see clock.lua; made by default); limits, as LIMITS; rules (see
--- roles.lua) for clients on Unix sockets, and `mode`, the permissions of the sockets; tokens and tls, for TCP (see
--- tokens.lua, certificate.lua); metrics_file, the path to which the page of metrics is written.
function M.new(service, opts)
  local self = setmetatable({
    log = opts.log, clock = opts.clock or clocks.new { log = opts.log }, limits = opts.limits or M.LIMITS, rules = opts.rules or {},
    mode = opts.mode, tokens = opts.tokens, tls = opts.tls, metrics_file = opts.metrics_file, listeners = {}, clients = {}, nclients = 0,
    connections = 0, dropped = 0, shrinking = 0, failures = {},
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
