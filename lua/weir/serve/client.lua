--- client.lua - asks a service, and waits for what it says.
--
--   local client <close> = assert(require("weir.serve.client").connect "unix:/run/weir.sock")
--   local result, why, code = client:ask("match", { request = "slot=1/node" })
--   local stream = client:send("events")                 -- the id of the call; client:next(stream) waits for its answers

local core = require "weir.core"
local uv = require "luv"
local wire = require "weir.serve.wire"

local M = {}

local Client = {}
Client.__index = Client

--- The path of "unix:PATH" or PATH.
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

--- Connects: a client; or nil, message, code.
function M.connect(address)
  local path, wrong = M.path(address)
  if not path then return nil, wrong, "invalid" end
  local self = setmetatable({ pipe = uv.new_pipe(false), lines = wire.lines(1 << 30), answers = {}, last = 0 }, Client)
  local done
  local ok, raised = pcall(self.pipe.connect, self.pipe, path, function(err) done = err or true end)
  if not ok then done = raised end
  while done == nil do uv.run "once" end
  if done ~= true then
    self:close()
    return nil, ("%s: no service answers there (%s)"):format(path, tostring(done)), "io"
  end
  self.pipe:read_start(function(err, piece)
    if err or not piece then
      self.lost = self.lost or err or "the service has closed the connection"
    else
      self.lines:put(piece)
      receive(self)
    end
  end)
  return self
end

--- Sends a request; the id by which `next` knows it.
function Client:send(method, params)
  self.last = self.last + 1
  local id = self.last
  self.answers[id] = {}
  if not self.lost then
    self.pipe:write(core.json_encode { id = id, method = method, params = params and next(params) and params or nil } .. "\n")
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

--- Asks and waits for all of the answer: the result; or nil, message, code.
function Client:ask(method, params)
  local id, all = self:send(method, params), nil
  while true do
    local result, more, code = self:next(id)
    if result == nil then return nil, more, code end
    all = all and join(all, result) or result
    if not more then
      self.answers[id] = nil
      return all
    end
  end
end

--- A handle that is not closed to its end when the state goes would be used after it.
function Client:close()
  if not self.pipe:is_closing() then self.pipe:close() end
  uv.run "nowait"
end

Client.__close = Client.close

return M
