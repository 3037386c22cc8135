--- service.lua - services for specs, as processes in a temporary directory, and their clients. Nothing sleeps: every
-- wait is for a line, an answer or an exit, and has an end.

local client = require "weir.serve.client"
local json = require("weir").json
local shell = require "spec.support.shell"
local uv = require "luv"
local wire = require "weir.serve.wire"

local M = { scale = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1 }

local PATIENCE = 120000 -- milliseconds, for a busy machine under sanitizers

--- Runs the loop until f() is true.
function M.wait(what, f)
  local timer, late = uv.new_timer(), false
  timer:start(PATIENCE, 0, function()
    late = true
    uv.stop() -- after a round in which a timer fired, libuv would otherwise still wait for an event
  end)
  while not f() and not late do uv.run "once" end
  timer:close()
  if late then error("waited in vain for " .. what, 2) end
end

--- The path of a private copy of a key: a service refuses keys that others can read.
function M.key(path)
  local copy = shell.path(shell.directory(), "key.pem", shell.slurp(path))
  assert(uv.fs_chmod(copy, 384))
  return copy
end

local Service = {}
Service.__index = Service

local running = {}

local function reader(into)
  local pipe = uv.new_pipe(false)
  return pipe, function()
    pipe:read_start(function(_, piece)
      if piece then into.text = into.text .. piece else pipe:close() end
    end)
  end
end

--- Starts weir with words; returns at once. within: words of an enclosing program, such as ip netns exec NAME.
function M.spawn(words, within)
  local self = setmetatable({ out = { text = "" }, err = { text = "" } }, Service)
  local out, read_out = reader(self.out)
  local err, read_err = reader(self.err)
  local input = uv.new_pipe(false)
  local all = table.move(words, 1, #words, #(within or {}) + 2, { table.unpack(within or {}) })
  all[#(within or {}) + 1] = shell.bin
  local process, pid = uv.spawn(table.remove(all, 1), { args = all, stdio = { input, out, err } }, function(code, signal)
    self.code, self.signal = code, signal
    self.process:close()
    input:close()
    running[self] = nil
  end)
  self.process = assert(process, pid)
  running[self] = true
  read_out()
  read_err()
  return self
end

--- Starts a service on a socket in `dir` and waits until the service listens. `more`: further words.
function M.start(dir, more)
  local path = shell.path(dir, "s")
  local words = { "serve", "-l", "unix:" .. path, table.unpack(more) }
  local self = M.spawn(words)
  self.path = path
  M.wait("the service to listen", function() return self.out.text:find "\n" or self.code end)
  if self.code then error("the service ended: " .. self.err.text, 2) end
  return self
end

function Service:exit()
  M.wait("the service to end", function() return self.code end)
  return self.signal == 0 and self.code or -self.signal
end

--- Ends the service as an administrator does; returns the exit status.
function Service:stop()
  if not self.code then self.process:kill "sigterm" end
  return self:exit()
end

--- Kills the service as a crash does.
function Service:kill()
  if not self.code then self.process:kill "sigkill" end
  return self:exit()
end

--- The child processes that the service has forked.
function Service:copies()
  local pid, list = self.process:get_pid(), {}
  for child in shell.slurp(("/proc/%d/task/%d/children"):format(pid, pid)):gmatch "%d+" do list[#list + 1] = math.tointeger(child) end
  return list
end

--- Runs the loop until f() is true, for events of the system that the loop cannot see.
function M.poll(what, f)
  local timer <close> = setmetatable({ handle = uv.new_timer() }, { __close = function(t) t.handle:close() end })
  timer.handle:start(1, 1, function() end)
  M.wait(what, f)
end

--- Waits for a forked copy and stops the copy, so that only the service can end the copy. Returns its process id.
function Service:stopped_copy()
  M.poll("a copy", function() return self:copies()[1] end)
  local copy = self:copies()[1]
  uv.kill(copy, "sigstop")
  return copy
end

--- A client that waits for its answers.
function Service:connect() return assert(client.connect(self.path)) end

--- Whatever still runs is killed: for `after_each`.
function M.clean()
  for service in pairs(running) do service:kill() end
  uv.walk(function(handle)
    if not handle:is_closing() then handle:close() end
  end)
  uv.run()
  shell.clean()
end

--- A client that does not wait, for malformed input and for many requests at once: raw.send(text), raw.lines are the
--- answers, raw.closed; raw.shutdown() closes the writing half.
function Service:raw(on_line)
  local raw = { lines = {}, closed = false }
  local pipe, connected = uv.new_pipe(false), nil
  pipe:connect(self.path, function(err) connected = err or true end)
  M.wait("a connection", function() return connected end)
  assert(connected == true, connected)
  local pieces = wire.lines(1 << 30)
  local function take(piece)
    pieces:put(piece)
    for text in function() return pieces:next() end do
      local answer = json.decode(text)
      raw.lines[#raw.lines + 1] = answer
      if on_line then on_line(answer) end
    end
  end
  local function read(err, piece)
    if piece and not err then return take(piece) end
    raw.closed = true
    if not pipe:is_closing() then pipe:close() end
  end
  function raw.send(text)
    if not pipe:is_closing() then pipe:write(text) end
  end
  function raw.shutdown() pipe:shutdown() end
  function raw.pause() pipe:read_stop() end
  function raw.resume() pipe:read_start(read) end
  function raw.close()
    if not pipe:is_closing() then pipe:close() end
    raw.closed = true
  end
  raw.resume()
  return raw
end

--- A TCP connection without a request: raw.send(text), raw.text is all input so far, raw.closed.
function Service:knock()
  local tcp, raw, connected = uv.new_tcp(), { text = "" }, nil
  tcp:connect("127.0.0.1", tonumber(self.tcp:match "%d+$"), function(err) connected = err or true end)
  M.wait("a connection", function() return connected end)
  assert(connected == true, connected)
  tcp:read_start(function(err, piece)
    raw.closed = raw.closed or err ~= nil or piece == nil
    raw.text = raw.text .. (piece or "")
  end)
  function raw.send(text) tcp:write(text) end
  return raw
end

return M
