--- client.lua - asks a service, and waits for what it says.
--
--   local client <close> = assert(require("weir.serve.client").connect "unix:/run/weir.sock")
--   local result, why, code = client:ask("match", { request = "slot=1/node" })
--   local stream = client:send("events")                 -- the id of the call; client:next(stream) waits for its answers

local addresses = require "weir.serve.addresses"
local core = require "weir.core"
local tokens = require "weir.serve.tokens"
local uv = require "luv"
local wire = require "weir.serve.wire"

local M = {}

local Client = {}
Client.__index = Client

--- The path of "unix:PATH" or PATH: of what can be nothing else.
function M.path(address)
  if address:find "^%w+://" or address:find "^tcp:" then return nil, address .. ": unix:PATH is wanted" end
  return (address:gsub("^unix:", ""))
end

--- Calls f once, after so many seconds.
function M.timer(seconds, f)
  local timer = uv.new_timer()
  timer:start(math.floor(seconds * 1000), 0, function()
    f()
    uv.stop() -- a round in which a timer fired would otherwise still wait for an event
  end)
  return timer
end

--- Waits.
function M.wait(seconds)
  local over = false
  local timer = M.timer(seconds, function() over = true end)
  while not over do uv.run "once" end
  timer:close()
end

--- Ends the program on an interrupt, also while it waits.
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

-- ---- connecting -------------------------------------------------------------------------------------------------------------------

-- A stream to an address, connected; or nil, message, code.
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
  return nil, ("%s: no service answers there (%s)"):format(address.path or addresses.text(address), tostring(done)), "io"
end

-- Text of the service, which on TLS has to be made of what came.
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

-- Waits for the handshake: true; or nil, message, code.
local function shake_hands(self, host, ca)
  local context, why, code = core.tls_client(ca)
  if not context then return nil, why, code end
  self.tls, why, code = context:session(host)
  if not self.tls then return nil, why, code end
  assert(self.tls:start())
  self.pipe:write(self.tls:take())
  while not self.tls:ready() and not self.lost do uv.run "once" end
  if self.lost then return nil, ("%s: %s"):format(host, self.lost), "io" end
  return true
end

-- Says who this is: true; or nil, message, code.
local function log_in(self, path)
  local token, why, code = tokens.first(path)
  if not token then return nil, why, code end
  local done
  done, why, code = self:ask("login", { token = token })
  if done then return true end
  return nil, why, code
end

local function enter(self, address, access)
  local ok, why, code = true, nil, nil
  if address.kind == "tls" then ok, why, code = shake_hands(self, address.host, access.ca) end
  if ok and access.token_file and address.kind ~= "unix" then ok, why, code = log_in(self, access.token_file) end
  return ok, why, code
end

--- Connects to an address (see addresses.lua): a client; or nil, message, code. access: token_file, ca, for TCP.
function M.connect(text, access)
  local address, why, code = addresses.parse(text)
  if not address then return nil, why, code end
  local stream
  stream, why, code = dial(address)
  if not stream then return nil, why, code end
  local self = setmetatable({ pipe = stream, lines = wire.lines(1 << 30), answers = {}, last = 0 }, Client)
  listen(self)
  local ok
  ok, why, code = enter(self, address, access or {})
  if ok then return self end
  self:close()
  return nil, why, code
end

-- ---- asking -----------------------------------------------------------------------------------------------------------------------

--- Writes to a connection {pipe =, tls =}.
function M.write(self, text)
  if self.tls then
    assert(self.tls:send(text))
    text = self.tls:take()
  end
  self.pipe:write(text)
end

--- Sends a request; the id by which `next` knows it.
function Client:send(method, params)
  self.last = self.last + 1
  local id = self.last
  self.answers[id] = {}
  if not self.lost then
    M.write(self, core.json_line { id = id, method = method, params = params and next(params) and params or nil })
  end
  return id
end

--- Waits for an answer: result, whether more are to come; or nil, message, code. seconds: at most so long; then nil, nil, "time".
function Client:next(id, seconds)
  local late = false
  local timer = seconds and M.timer(seconds, function() late = true end)
  while not self.answers[id][1] and not self.lost and not late do uv.run "once" end
  if timer then timer:close() end
  local answer = table.remove(self.answers[id], 1)
  if not answer then return nil, not late and self.lost or nil, late and "time" or "io" end
  if answer.error then return nil, answer.error, answer.code end
  return answer.result, answer.more == true
end

-- What comes in pages is put together.
local function join(all, page)
  for key, value in pairs(page) do
    if type(value) == "table" and type(all[key]) == "table" then table.move(value, 1, #value, #all[key] + 1, all[key]) end
  end
  return all
end

-- The next answer. slice: seconds after which a wait returns to Lua for a moment, where a hook can run.
local function await(self, id, slice)
  while true do
    local result, more, code = self:next(id, slice)
    if code ~= "time" then return result, more, code end
  end
end

--- Asks and waits for all of the answer: the result; or nil, message, code. slice: a REPL looks for Ctrl-C so often, in seconds.
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

--- A handle that is not closed to its end when the state goes would be used after it.
function Client:close()
  if not self.pipe:is_closing() then self.pipe:close() end
  uv.run "nowait"
end

Client.__close = Client.close

return M
