--- service.lua - services for specs, as processes in a temporary directory, and their clients. Nothing sleeps: every
-- wait is for a line, an answer, an exit or a state, and has an end.

local client = require "weir.serve.client"
local json = require("weir").json
local shell = require "spec.support.shell"
local uv = require "luv"
local wire = require "weir.serve.wire"

local M = { scale = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1 }

local PATIENCE = 120000 -- milliseconds, for a busy machine under sanitizers

local TICK = 20          -- milliseconds between two looks at a condition that no event of the loop tells

--- Runs the loop until f() is true. f is asked after each event, and `tick` milliseconds later at most: its truth may
-- depend on the clock of a service, or on other processes.
function M.wait(what, f, tick)
  local timer, rounds = uv.new_timer(), PATIENCE // (tick or TICK)
  timer:start(tick or TICK, tick or TICK, function()
    rounds = rounds - 1
    uv.stop() -- after a round in which a timer fired, libuv would otherwise still wait for an event
  end)
  local done = f()
  while not done and rounds > 0 do
    uv.run "once"
    done = f()
  end
  timer:close()
  if not done then error("waited in vain for " .. what, 2) end
end

--- Like `wait`, for states of other processes that last a few milliseconds only.
function M.poll(what, f) M.wait(what, f, 1) end

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
  -- An option that is given again counts: filters have as long as a busy machine may need, unless a spec says otherwise.
  local words = { "serve", "-l", "unix:" .. path, "--filter-ms", "60000", table.unpack(more) }
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

--- ENDLESS is a filter of hours, and of few instructions: it ends by a limit of time, not by its number of instructions.
M.ENDLESS = [[local z = ("\0"):rep(100000) local a, b = z .. "a", z .. "b"
  return {evaluate = function() while true do local _ = a < b end end}]]

-- The state of a process in /proc: "R", "S", "T" when stopped, "Z" for one that is over, or gone.
local function state_of(pid)
  local file = io.open(("/proc/%d/stat"):format(pid))
  if not file then return "Z" end
  local text = file:read "a"
  file:close()
  return text and text:match "^%d+ %b() (%a)" or "Z"
end

--- Returns true for a process that is over.
function M.is_over(pid) return state_of(pid) == "Z" end

--- Waits for a forked copy and stops the copy, so that only the service can end the copy. Returns its process id; or nil
-- where is_over(), if given, says that the work was over before, or where the copy itself was.
function Service:stopped_copy(is_over)
  local copy
  M.poll("a copy", function()
    copy = self:copies()[1]
    return copy or is_over and is_over()
  end)
  if not copy then return nil end
  uv.kill(copy, "sigstop")
  local state
  M.poll("the copy to stop", function()
    state = state_of(copy)
    return state == "T" or state == "Z"
  end)
  return state == "T" and copy or nil
end

--- Plays a scene with a copy that is to be stopped at work and to end by itself later: scene(filter) gives the copy a
-- filter that returns the id of a vertex after a while, and returns nil where the copy was over before it could be
-- stopped. Then the scene is played again from its beginning, with a filter that takes twice as long. Returns what scene
-- returns.
function M.with_copy_at_work(scene)
  for i = 0, 9 do
    local result = table.pack(scene(("return {evaluate = function(v) for i = 1, %d do end return v.id end}"):format(1000000 << i)))
    if result[1] then return table.unpack(result, 1, result.n) end
    M.clean()
  end
  error("no copy could be stopped at work", 2)
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
