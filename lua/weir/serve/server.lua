--- server.lua - a service on a Unix socket, in one libuv loop.
--
-- In a turn of the loop every client that has sent something is served in its turn, one request at a time, until nobody has any, or
-- for SLICE seconds; then all that has changed is saved at once, and only then the answers go out (group commit).

local core = require "weir.core"
local clients = require "weir.serve.connection"
local uv = require "luv"

local M = {}

--- What a client may cost, unless told otherwise.
M.LIMITS = {
  line = 1 << 20,     -- bytes of a request
  calls = 128,        -- requests in flight, streams included
  high = 1 << 18,     -- bytes that wait to be read by a client, from which on it is not served
  most = 8 << 20,     -- ... from which on it is dropped
  clients = 1024,
}

local SLICE = 0.005 -- seconds that requests are served for before what they changed is saved
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

-- ---- connections --------------------------------------------------------------------------------------------------------------

local function wake(self, client)
  if not client.waking and not client.gone then
    client.waking = true
    self.ready[#self.ready + 1] = client
  end
end

local function drop(self, client)
  if client.gone then return end
  client.gone = true
  self.clients[client], self.nclients = nil, self.nclients - 1
  self.service:leave(client)
  if not client.pipe:is_closing() then client.pipe:close() end
end

-- Closes once what is owed is written.
local function part(self, client)
  client.parting = true
  client.pipe:read_stop()
  if client:waiting() == 0 then drop(self, client) end
end

local function hold(client)
  if client.held or client.parting then return end
  client.held = true
  client.pipe:read_stop()
end

local read

local function resume(self, client)
  if not client.held or client.parting or client.gone then return end
  client.held = false
  client.pipe:read_start(read(self, client))
end

function read(self, client)
  return guarded(self, function(err, piece)
    if err or not piece then
      client.ended = true
      if err or client.lines:waiting() == 0 then drop(self, client) else wake(self, client) end
      return
    end
    client.lines:put(piece)
    if client.lines:waiting() > self.limits.line then hold(client) end
    wake(self, client)
  end)
end

local function accept(self)
  local pipe = uv.new_pipe(false)
  self.listener:accept(pipe)
  if self.nclients >= self.limits.clients or self.closing then return pipe:close() end
  local client = clients.new(self.limits, function() return pipe:is_closing() and 0 or pipe:get_write_queue_size() end, core.array)
  client.pipe = pipe
  self.clients[client], self.nclients, self.connections = true, self.nclients + 1, self.connections + 1
  pipe:read_start(read(self, client))
end

-- ---- turns --------------------------------------------------------------------------------------------------------------------

local function write(self, client)
  local texts = client:flush()
  if not texts or client.pipe:is_closing() then return end
  client.pipe:write(texts, guarded(self, function(err)
    if err then return drop(self, client) end
    if client.parting and client:waiting() == 0 then return drop(self, client) end
    if client:waiting() < self.limits.high then
      resume(self, client)
      wake(self, client)
    end
  end))
  if client:waiting() > self.limits.most then
    self.service.opts.log(("a client was dropped: %d bytes wait for it to be read"):format(client:waiting()))
    drop(self, client)
  end
end

-- One request of a client. Whether it may have more.
local function step(self, client)
  if client.gone or client.parting or client:waiting() >= self.limits.high then return false end
  local what = client:step(self.handle)
  if what == "done" then return true end
  if what == "bad" then part(self, client) end
  if what == "none" and client.lines:waiting() <= self.limits.line then resume(self, client) end
  return false
end

local function serve(self)
  local stop = core.clock() + SLICE
  local round = self.ready
  self.ready = {}
  repeat
    local again = {}
    for i, client in ipairs(round) do
      if core.clock() > stop then
        table.move(round, i, #round, #again + 1, again)
        break
      end
      if step(self, client) then again[#again + 1] = client else client.waking = false end
    end
    round = again
  until #round == 0 or core.clock() > stop
  table.move(round, 1, #round, #self.ready + 1, self.ready)
end

-- Nothing of this turn was saved: it is undone, and whoever asked is told. Without a way back the service ends.
local function revoke(self, why, code)
  self.service.opts.log("not saved: " .. why)
  for client in pairs(self.clients) do client:revoke("not done, as it could not be saved: " .. why, code) end
  local ok, worse
  if code ~= "exists" then ok, worse = self.service:restore(self.reload) end
  if not ok then
    self.fatal = ("the state cannot be saved: %s%s"):format(why, worse and "; nor read again: " .. worse or "")
    self.closing = true
    uv.stop()
  end
end

local function turn(self)
  self.service:tick(M.now())
  serve(self)
  for client in pairs(self.clients) do client:continue() end
  local ok, why, code = self.service:commit()
  if not ok then revoke(self, why, code) end
  local leaving = {}
  for client in pairs(self.clients) do
    write(self, client)
    if client.ended and client.lines:waiting() == 0 and not client.waking and client:waiting() == 0 then leaving[#leaving + 1] = client end
  end
  for _, client in ipairs(leaving) do drop(self, client) end
  if self.ready[1] then self.idle:start(function() end) else self.idle:stop() end
end

--- Seconds since 1970.
function M.now()
  local seconds, micro = uv.gettimeofday()
  return seconds + micro / 1e6
end

-- ---- the end -------------------------------------------------------------------------------------------------------------------

-- Answers what has arrived, and waits for a moment until that is read.
local function shut_down(self)
  if self.closing then return uv.stop() end
  self.closing = true
  if not self.listener:is_closing() then self.listener:close() end
  for client in pairs(self.clients) do client.pipe:read_stop() end
  self.ending = uv.new_timer()
  local stop = uv.now() + GRACE
  self.ending:start(0, 10, guarded(self, function()
    local owed = self.ready[1] ~= nil
    for client in pairs(self.clients) do owed = owed or client:waiting() > 0 end
    if not owed or uv.now() > stop then uv.stop() end
  end))
end

local function on_signal(self, name)
  local handle = uv.new_signal()
  handle:start(name, guarded(self, function() shut_down(self) end))
end

-- ---- the socket ---------------------------------------------------------------------------------------------------------------

-- Whether somebody answers at a path.
local function answers(path)
  local pipe, result = uv.new_pipe(false), nil
  pipe:connect(path, function(err)
    result = not err
    pipe:close()
  end)
  while result == nil do uv.run "once" end
  uv.run "nowait"
  return result
end

local function is_socket(path)
  local stat = uv.fs_lstat(path)
  return stat and stat.type == "socket"
end

-- A socket that a killed service has left is in the way, and taken away; one that is served is not.
local function bind(pipe, path)
  local ok, why, name = pipe:bind(path)
  if not ok and name == "EADDRINUSE" and is_socket(path) then
    if answers(path) then return nil, path .. ": another service listens there", "exists" end
    uv.fs_unlink(path)
    ok, why = pipe:bind(path)
  end
  if not ok then return nil, ("%s: %s"):format(path, why), "io" end
  return true
end

--- Listens: true; or nil, message, code. Only the user who runs it may connect.
function Server:listen(path)
  if #path > 100 then return nil, path .. ": the path of a socket has at most 100 bytes", "limit" end
  self.listener = uv.new_pipe(false)
  local ok, why, code = bind(self.listener, path)
  if not ok then
    self.listener:close()
    uv.run "nowait"
    return nil, why, code
  end
  self.path = path
  uv.fs_chmod(path, 384) -- 0600; nobody can connect before the next line
  ok, why = self.listener:listen(128, guarded(self, function(err)
    if not err then accept(self) end
  end))
  if not ok then return nil, ("%s: %s"):format(path, why), "io" end
  on_signal(self, "sigterm")
  on_signal(self, "sigint")
  return true
end

-- ---- running -------------------------------------------------------------------------------------------------------------------

local function close_all(self)
  if self.path then uv.fs_unlink(self.path) end
  uv.walk(function(handle)
    if not handle:is_closing() then handle:close() end
  end)
  uv.run "nowait"
end

--- Serves until a signal ends it: true; or nil and a message.
function Server:run()
  self.idle, self.check, self.timer = uv.new_idle(), uv.new_check(), uv.new_timer()
  self.check:start(guarded(self, function() turn(self) end))
  self.timer:start(1000, 1000, function() end) -- the clock of the engine goes on, whoever asks or not
  uv.run()
  if not self.fatal then
    local ok, why = self.service:commit()
    if not ok then self.fatal = why end
  end
  close_all(self)
  if self.fatal then return nil, self.fatal end
  return true
end

--- A server. opts.limits: as LIMITS; opts.reload(): the graph as it was saved last, for when a save fails.
function M.new(service, opts)
  local self = setmetatable({
    service = service, limits = opts.limits or M.LIMITS, clients = {}, nclients = 0, connections = 0, ready = {}, reload = opts.reload,
  }, Server)
  self.handle = function(call) service:handle(call) end
  service.opts.limits = self.limits
  service.opts.server_stats = function()
    local waiting, calls = 0, 0
    for client in pairs(self.clients) do waiting, calls = waiting + client:waiting(), calls + client.ncalls end
    return { clients = self.nclients, connections = self.connections, waiting_bytes = waiting, calls = calls, ready = #self.ready }
  end
  return self
end

return M
