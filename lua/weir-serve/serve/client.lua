--- client.lua - a blocking client of a service.
--
--   local client <close> = assert(require("weir.serve.client").connect "unix:/run/weir.sock")
--   local result, why, code = client:ask("match", { request = "slot=1/node" })
--   local stream = client:send("events")          -- the id of the call; client:next(stream) waits for its answers

local addresses = require "weir.serve.addresses"
local core = require "weir.core"
local net = require "weir.serve.net"
local failure = require "weir.failure"
local tokens = require "weir.serve.tokens"
local uv = require "luv"
local wire = require "weir.serve.wire"

local M = {}

local must = failure.must

--- The open clients, as a set: they are no garbage.
M.open = {}

local Client = {}
Client.__index = Client

--- Returns the path of "unix:PATH" or PATH; or nil and a message for an address of a different kind.
function M.path(address)
  if address:find "^%w+://" or address:find "^tcp:" then return nil, address .. ": expected unix:PATH" end
  return (address:gsub("^unix:", ""))
end

local function start_timer(timer, seconds, f)
  timer:start(math.floor(seconds * 1000), 0, function()
    f()
    uv.stop() -- a round of the loop in which a timer fired would otherwise still wait for an event
  end)
end

--- Calls f once after `seconds`, from the loop. Returns the timer; the caller closes the timer.
function M.timer(seconds, f)
  local timer = uv.new_timer()
  start_timer(timer, seconds, f)
  return timer
end

--- Runs the loop for `seconds`.
function M.wait(seconds)
  local over = false
  local timer = M.timer(seconds, function() over = true end)
  while not over do uv.run "once" end
  timer:close()
end

--- Ends the program on SIGINT or SIGTERM, also during a wait.
function M.interruptible()
  for _, name in ipairs { "sigint", "sigterm" } do
    uv.new_signal():start(name, function() os.exit(name == "sigint" and 130 or 143) end)
  end
end

local function receive(self)
  local line = self.lines:next()
  while line do
    local answer = core.json_decode(line)
    if type(answer) == "table" and answer.id ~= nil and self.answers[answer.id] then
      table.insert(self.answers[answer.id], answer)
    elseif type(answer) == "table" and answer.error then
      self.lost = answer.error
    end
    line = self.lines:next()
  end
end

-- ---- connecting -----------------------------------------------------------------------------------------------------

-- Connects to an address. Returns the stream; or nil, message, code.
local function dial(address)
  local stream, done
  local function on_connect(err) done = err or true end
  local ok, raised
  if address.kind == "unix" then
    stream = uv.new_pipe(false)
    ok, raised = pcall(stream.connect, stream, address.path, on_connect)
  else
    local found, why = uv.getaddrinfo(address.host, nil, { socktype = "stream" })
    if not found or not found[1] then return nil, ("%s: %s"):format(address.host, tostring(why or "not known")), "io" end
    stream = uv.new_tcp()
    ok, raised = pcall(stream.connect, stream, found[1].addr, address.port, on_connect)
  end
  if not ok then done = raised end
  while done == nil do uv.run "once" end
  if done == true then return stream end
  stream:close()
  uv.run "nowait"
  local name = address.path or addresses.text(address)
  local hint = address.path and name:find "^[%w.-]+:%d+$" and "; over the net it is tls:%s, or tcp:%s on this machine" or ""
  return nil, ("%s: no service answers there (%s)%s"):format(name, tostring(done), hint:format(name, name)), "io"
end

-- Returns why no connection came about, and what was meant, perhaps.
local function with_hint(why, address)
  if why:find("the certificate is not trusted", 1, true) then return why .. "; --ca FILE has the certificates that are" end
  if address.kind == "tcp" and why:find("closed the connection", 1, true) then
    return ("%s; one that speaks TLS is tls:%s:%d"):format(why, address.host, address.port)
  end
  return why
end

-- Takes bytes from the service; on TLS the bytes are decrypted first.
local function take(self, piece)
  if self.tls then
    local text, ended = self.tls:receive(piece)
    local bytes = self.tls:take()
    if bytes and not self.pipe:is_closing() then self.pipe:write(bytes) end
    if not text then self.lost = self.lost or ended end
    piece = text or ""
  end
  self.lines:put(piece)
  receive(self)
end

local function listen(self)
  self.pipe:read_start(function(err, piece)
    if err or not piece then
      self.lost = self.lost or err or "the service has closed the connection"
    else
      take(self, piece)
    end
  end)
end

-- Waits for the TLS handshake.
local function shake_hands(self, host, ca)
  self.tls = must(must(net.tls_client(ca)):session(host))
  assert(self.tls:start())
  self.pipe:write(self.tls:take())
  while not self.tls:ready() and not self.lost do uv.run "once" end
  if self.lost then failure.raise(("%s: %s"):format(host, self.lost), "io") end
end

-- Does the TLS handshake, and logs in with the first token of the file of tokens. Returns true.
local function enter(self, address, access)
  if address.kind == "tls" then shake_hands(self, address.host, access.ca) end
  if access.token_file and address.kind ~= "unix" then
    must(self:ask("login", { token = must(tokens.first(access.token_file)) }))
  end
  return true
end

--- Connects to an address (see addresses.lua). Returns a client; or nil, message, code. `access`, for TCP: token_file,
-- ca.
function M.connect(text, access)
  local address, why, code = addresses.parse(text)
  if not address then return nil, why, code end
  local stream
  stream, why, code = dial(address)
  if not stream then return nil, why, code end
  local self = setmetatable({ pipe = stream, timer = uv.new_timer(), lines = wire.lines(1 << 30), answers = {}, last = 0 }, Client)
  M.open[self] = true
  listen(self)
  local ok
  ok, why, code = failure.caught(nil, enter, self, address, access or {})
  if ok then return self end
  self:close()
  return nil, with_hint(why, address), code
end

-- ---- asking ---------------------------------------------------------------------------------------------------------

--- Writes text to a connection {pipe =, tls =}, encrypted where tls is set.
function M.write(self, text)
  if self.tls then
    assert(self.tls:send(text))
    text = self.tls:take()
  end
  self.pipe:write(text)
end

--- Sends a request. Returns the id of the call, for `next`.
function Client:send(method, params)
  self.last = self.last + 1
  local id = self.last
  self.answers[id] = {}
  if not self.lost then
    M.write(self, core.json_line { id = id, method = method, params = params and next(params) and params or nil })
  end
  return id
end

--- Waits for an answer of call `id`. Returns the result and whether more answers follow; or nil, message, code. After
-- `seconds` without an answer: nil, nil, "time".
function Client:next(id, seconds)
  local late = false
  if seconds then start_timer(self.timer, seconds, function() late = true end) end
  while not self.answers[id][1] and not self.lost and not late do uv.run "once" end
  self.timer:stop()
  local answer = table.remove(self.answers[id], 1)
  if not answer then return nil, not late and self.lost or nil, late and "time" or "io" end
  if answer.error then return nil, answer.error, answer.code end
  return answer.result, answer.more == true
end

-- Appends the lists of a page to the lists of the same names in `all`.
local function join(all, page)
  for key, value in pairs(page) do
    if type(value) == "table" and type(all[key]) == "table" then table.move(value, 1, #value, #all[key] + 1, all[key]) end
  end
  return all
end

-- Waits for the next answer. Every `slice` seconds the wait returns to Lua for a moment, so that a debug hook can run.
local function await(self, id, slice)
  while true do
    local result, more, code = self:next(id, slice)
    if code ~= "time" then return result, more, code end
  end
end

--- Sends a request and waits for the whole answer, all pages joined. Returns the result; or nil, message, code.
-- `slice`: see `await`; a REPL looks for Ctrl-C in between.
function Client:ask(method, params, slice)
  local id, all = self:send(method, params), nil
  repeat
    local result, more, code = await(self, id, slice)
    if result == nil then return nil, more, code end
    all = all and join(all, result) or result
  until not more
  self.answers[id] = nil
  return all
end

--- Closes the connection. The loop runs once more, since libuv may use a handle until its close callback was called.
function Client:close()
  M.open[self] = nil
  if not self.pipe:is_closing() then
    self.pipe:close()
    self.timer:close()
  end
  uv.run "nowait"
end

Client.__close = Client.close

-- A script may end without closing its client. luv then frees stream and timer before the loop, which crashes in its last turn;
-- the client is finalized before them, as it is made later. Until then an open client is no garbage, and the finalizer of a
-- closed client does nothing: a collection may happen anywhere, and a loop that runs there takes the event that another caller is
-- about to wait for, or calls a reader in the midst of a line.
function Client.__gc(self)
  if M.open[self] then self:close() end
end

return M
