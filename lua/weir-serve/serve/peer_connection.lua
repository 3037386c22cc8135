--- peer_connection.lua - a connection to a further service from within the event loop, kept up: requests with
-- callbacks, and reconnects at growing intervals.
--
-- Only `flush` sends, so the caller can save the state that requests rely on first. Requests not answered when the
-- connection breaks are answered with an error.

local addresses = require "weir.serve.addresses"
local clients = require "weir.serve.client"
local core = require "weir.core"
local net = require "weir.serve.net"
local tokens = require "weir.serve.tokens"
local uv = require "luv"
local wire = require "weir.serve.wire"

local M = {}

local PeerConnection = {}
PeerConnection.__index = PeerConnection

local FIRST, LAST = 20, 2000 -- milliseconds between attempts to connect: the first interval, and the longest

-- Wraps a callback of libuv: a callback has no Lua frame around, so `guard` of the owner handles errors.
local function guarded(self, f)
  return function(...) return self.guard(f, ...) end
end

local connect

local function wait(self)
  if self.timer or self.over then return end
  self.timer = uv.new_timer()
  self.timer:start(self.pause, 0, guarded(self, function()
    self.timer:close()
    self.timer = nil
    connect(self)
  end))
  self.pause = math.min(self.pause * 2, LAST)
end

local function hang_up(self)
  local pipe = self.pipe
  self.pipe = nil
  if pipe and not pipe:is_closing() then pipe:close() end
end

-- Ends the calls of a broken connection, and reconnects after a pause.
local function lost(self, pipe, why)
  if pipe ~= self.pipe then return end -- an older connection
  hang_up(self)
  local calls = self.calls
  self.calls, self.out, self.open = {}, {}, false
  self.on.closed(why)
  for _, f in pairs(calls) do f(nil, "the connection is gone: " .. why, "io") end
  wait(self)
end

local function receive(self, line)
  local answer = core.json_decode(line)
  local f = type(answer) == "table" and answer.id ~= nil and self.calls[answer.id]
  if not f then return end
  if not answer.more then self.calls[answer.id] = nil end
  if answer.error then return f(nil, answer.error, answer.code) end
  self.pause = FIRST
  f(answer.result)
end

-- ---- the stream -----------------------------------------------------------------------------------------------

-- Reports the connection as usable, after the login if a login was needed.
local function opened(self)
  self.open = true
  self.on.open()
end

-- Logs in with a token before any request, over TCP.
local function log_in(self, pipe)
  if self.address.kind == "unix" or not self.access.token_file then return opened(self) end
  local token, why = tokens.first(self.access.token_file)
  if not token then return lost(self, pipe, why) end
  self:send("login", { token = token }, function(done, refused)
    if not done then return lost(self, pipe, refused) end
    opened(self)
  end)
  clients.write(self, table.concat(self.out))
  self.out = {}
end

-- Decrypts bytes received on TLS; nil: the connection is lost.
local function clear(self, pipe, piece)
  if not self.tls then return piece end
  local text, ended = self.tls:receive(piece)
  local bytes = self.tls:take()
  if bytes then pipe:write(bytes) end
  if not text then return lost(self, pipe, ended) end
  if not self.secure and self.tls:ready() then
    self.secure = true
    log_in(self, pipe)
  end
  return text
end

local function read(self, pipe, err, piece)
  if pipe ~= self.pipe then return end
  if err or not piece then return lost(self, pipe, err or "the service has closed the connection") end
  local text = clear(self, pipe, piece)
  if not text or pipe ~= self.pipe then return end
  self.lines:put(text)
  local line = self.lines:next()
  while line and pipe == self.pipe do
    receive(self, line)
    line = self.lines:next()
  end
end

-- Starts a connected stream: with TLS the handshake comes first, then the login.
local function greet(self, pipe)
  pipe:read_start(guarded(self, function(...) read(self, pipe, ...) end))
  if self.address.kind ~= "tls" then return log_in(self, pipe) end
  local context, why = net.tls_client(self.access.ca)
  local session = context
  if context then session, why = context:session(self.address.host) end
  if not session then return lost(self, pipe, why) end
  self.tls, self.secure = session, false
  assert(session:start())
  pipe:write(session:take())
end

local function on_connect(self, pipe)
  return guarded(self, function(err)
    if pipe ~= self.pipe then return end
    if not err then return greet(self, pipe) end
    lost(self, pipe, ("%s: no service answers there (%s)"):format(addresses.text(self.address):gsub("^unix:", ""), err))
  end)
end

local function connect_tcp(self, tcp)
  uv.getaddrinfo(self.address.host, nil, { socktype = "stream" }, guarded(self, function(err, found)
    if tcp ~= self.pipe then return end
    if err or not found[1] then return lost(self, tcp, ("%s: %s"):format(self.address.host, err or "not known")) end
    tcp:connect(found[1].addr, self.address.port, on_connect(self, tcp))
  end))
end

function connect(self)
  local unix = self.address.kind == "unix"
  local stream = unix and uv.new_pipe(false) or uv.new_tcp()
  self.pipe, self.lines, self.tls = stream, wire.lines(1 << 30), nil
  if not unix then return connect_tcp(self, stream) end
  local ok, raised = pcall(stream.connect, stream, self.address.path, on_connect(self, stream))
  if not ok then lost(self, stream, tostring(raised)) end
end

-- ---- from outside -----------------------------------------------------------------------------------------------

--- Begins to connect.
function PeerConnection:start() connect(self) end

--- Queues a request for the next flush. Calls f(result), for streams several times, or f(nil, message, code).
function PeerConnection:send(method, params, f)
  self.last = self.last + 1
  self.calls[self.last] = f
  self.out[#self.out + 1] = core.json_encode { id = self.last, method = method, params = params } .. "\n"
end

--- Sends the queued requests, if connected.
function PeerConnection:flush()
  if not self.out[1] or not self.open then return end
  clients.write(self, table.concat(self.out))
  self.out = {}
end

--- Breaks the connection; a reconnect follows after a pause.
function PeerConnection:again(why)
  if self.pipe then lost(self, self.pipe, why) end
end

--- Runs the loop until done() is true, at most for `seconds`. For use before a server runs the loop.
function PeerConnection:wait(seconds, done)
  local late = false
  local timer = clients.timer(seconds, function() late = true end)
  while not done() and not late do
    self:flush()
    uv.run "once"
  end
  timer:close()
end

--- Closes the connection without reconnecting.
function PeerConnection:close()
  self.over = true
  hang_up(self)
  if self.timer and not self.timer:is_closing() then self.timer:close() end
  self.timer, self.calls, self.out, self.open = nil, {}, {}, false
end

--- Closes the connection outside of the loop, and runs the loop until the handles are closed, as the Lua state may be
-- closed next.
function PeerConnection:finish()
  self:close()
  uv.run "nowait"
end

--- Makes a connection to an address (see addresses.lua); or nil, message, code. on: open(), closed(why). guard(f, ...)
--- calls f and handles errors. `access`, for TCP: token_file, ca.
function M.new(text, on, guard, access)
  local address, why, code = addresses.parse(text)
  if not address then return nil, why, code end
  return setmetatable({
    address = address, access = access or {}, on = on, guard = guard, calls = {}, out = {}, last = 0, pause = FIRST, open = false,
  }, PeerConnection)
end

return M
