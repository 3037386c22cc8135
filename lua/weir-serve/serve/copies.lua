--- copies.lua - requests run in forked copies of the service: requests with code of their own, and requests without
-- effects that may take long.
--
-- A copy has the state of the service as of its start, cannot change the state, and ends by itself or is killed at its
-- time limit. So no failure of a copy concerns the service, which continues meanwhile. A copy is started after a commit:
-- everything in its answer was saved.
--
-- A copy writes frames, a line each, named by the first letter: "a" an answer with more to follow, "z" the last
-- answer, "e" an error, its code first, "b" the picks of a match, to be booked by the service, "l" a line for the log.
--
-- Invariant: a run is in `queue` or in `runs`, never in both, and in neither once its call is over.

local connection = require "weir.serve.connection"
local core = require "weir.core"
local tables = require "weir.tables"
local uv = require "luv"
local wire = require "weir.serve.wire"

-- A copy opens no files: what a copy may use is read before.
require "weir.explain"
require "weir.machine.recipe_write"
require "weir.policy.chain"

local M = {}

local Copies = {}
Copies.__index = Copies

local MB = 1 << 20
local HELD = 60 -- seconds for which a copy may wait for its client to read, at a time

-- ---- in the copy ----------------------------------------------------------------------------------------------------

local function put(own, letter, text)
  if own.over then return end
  own.over = letter ~= "a"
  own.write(letter .. text .. (text:sub(-1) == "\n" and "" or "\n"))
end

-- Returns a call for a method in a copy, with the functions of a call of connection.lua.
local function call_in_copy(call, write)
  local own = { client = call.client, id = call.id, method = call.method, params = call.params, over = false, write = write,
    prepared = call.prepared }
  function own.answer(result) put(own, "z", wire.answer(own.id, result)) end
  function own.more(result) put(own, "a", wire.answer(own.id, result, true)) end
  function own.fail(why, code) put(own, "e", ("%s %s"):format(code or "error", why:gsub("\n", "\r"))) end
  function own.choose(record) put(own, "b", record) end
  function own.pages(name, n, make)
    local page, last = { name = name, n = n, at = 0, make = make }, false
    while not last do
      local result
      result, last = connection.page(page)
      put(own, last and "z" or "a", wire.answer(own.id, result, not last))
    end
  end
  return own
end

local function answer_in_copy(service, call, write)
  service.opts.log = function(text) write(("l%s\n"):format(text:gsub("\n", "\r"))) end
  service:run_in_copy(call_in_copy(call, write))
end

-- ---- end of a copy --------------------------------------------------------------------------------------------------

-- Removes a run; a queued run may start in its place.
local function leave(self, run)
  if not self.runs[run] then return end
  self.runs[run] = nil
  self.nruns[run.privileged] = self.nruns[run.privileged] - 1
  self.running[run.user] = self.running[run.user] > 1 and self.running[run.user] - 1 or nil
  self.due = true
  for _, handle in ipairs { run.pipe, run.timer } do
    if not handle:is_closing() then handle:close() end
  end
  run.child:kill()
  self.leaving[run] = true
end

-- Returns how the child of a run has ended, or nil while it runs. Reports the CPU time once.
local function reaped(run)
  local how, cpu = run.child:reap()
  if how and run.spent then run.spent(cpu) end
  if how then run.spent, run.cpu = nil, cpu end
  return how
end

local function reap(self)
  for run in pairs(self.leaving) do
    if reaped(run) then self.leaving[run] = nil end
  end
end

local function fail(self, run, why, code)
  leave(self, run)
  if not run.call.over then run.call.fail(why, code) end
end

local function over_time(self, run)
  if run.held then return fail(self, run, ("%s: what it is sent is not read"):format(run.call.method), "limit") end
  local what = run.filter and "its filter" or "looking"
  fail(self, run, ("%s: %s ran longer than %d ms, which is as long as may be"):format(run.call.method, what, run.ms), "limit")
end

local function why_ended(self, run, how)
  local limits = self.limits
  if how == "answer" then return ("the answer has more than %d MB, which is as much as may be"):format(limits.answermb), "limit" end
  if how == "memory" then return ("it used more than %d MB, which is as much as may be"):format(limits.copymb), "limit" end
  if how == "killed" and run.cpu and run.cpu >= run.ms / 1000 then
    return ("it ran longer than %d ms, which is as long as may be"):format(run.ms), "limit"
  end
  return "the copy of the service that worked on it has ended without an answer", "internal"
end

-- Handles the end of the pipe: the child has ended, or is about to end.
local function ended(self, run)
  local how = reaped(run)
  run.ending = not how -- SIGCHLD follows
  if not how then return end
  local why, code = why_ended(self, run, how)
  if code == "internal" and not run.call.over then
    self.log(("%s: a copy of the service ended (%s) after %.3f s"):format(run.call.method, how, run.cpu), { level = "error", often = true })
  end
  fail(self, run, ("%s: %s"):format(run.call.method, why), code)
end

-- ---- frames of a copy -----------------------------------------------------------------------------------------------

local FRAMES = {}

function FRAMES.a(_, run, text) run.call.pass(text .. "\n", false) end

function FRAMES.z(self, run, text)
  leave(self, run)
  run.call.pass(text .. "\n", true)
end

function FRAMES.e(self, run, text)
  local code, why = text:gsub("\r", "\n"):match "^(%S+) (.*)$"
  leave(self, run)
  if code == "nomem" then why, code = why_ended(self, run, "memory") end
  if run.failed then run.failed() end
  run.call.fail(why, code)
end

function FRAMES.b(self, run, text)
  leave(self, run)
  self.service:book(run.call, text)
end

function FRAMES.l(self, _, text) self.log(text:gsub("\r", "\n"), { level = "error" }) end

local function take(self, run, piece)
  run.lines:put(piece)
  for line in function() return run.lines:next() or nil end do
    local frame = FRAMES[line:sub(1, 1)]
    if frame and not run.call.over then frame(self, run, line:sub(2)) end
    if not self.runs[run] then return end
  end
end

-- ---- start of a copy ------------------------------------------------------------------------------------------------

local function watch(self, run)
  run.timer:start(math.max(1, math.ceil(run.left)), 0, self.guard(function() over_time(self, run) end))
  run.since = uv.now()
end

-- Pauses a copy while its client does not read; the time limit is suspended meanwhile.
local function hold(self, run)
  local full = run.call.client:waiting() >= self.limits.high
  if full == run.held then return end
  run.held = full
  if full then
    run.pipe:read_stop()
    run.left = run.left - (uv.now() - run.since)
    run.timer:start(HELD * 1000, 0, self.guard(function() over_time(self, run) end))
  else
    run.pipe:read_start(run.on_read)
    watch(self, run)
  end
end

local function start(self, run)
  local service, call = self.service, run.call
  uv.update_time()
  local child, why, code = core.snapshot(function(write) answer_in_copy(service, call, write) end, {
    seconds = run.ms / 1000, memory = self.limits.copymb * MB + 2 * service.graph:bytes(), answer = self.limits.answermb * MB,
  })
  if not child then return call.fail(("%s: %s; again later"):format(call.method, why), code) end
  run.child, run.pipe, run.timer, run.left, run.held = child, uv.new_pipe(false), uv.new_timer(), run.ms, false
  run.lines = wire.lines(self.limits.answermb * MB + 1)
  run.pipe:open(child:take())
  run.on_read = self.guard(function(err, piece)
    if piece and not err then return take(self, run, piece) end
    run.pipe:read_stop()
    ended(self, run)
  end)
  run.pipe:read_start(run.on_read)
  self.runs[run], self.nruns[run.privileged] = true, self.nruns[run.privileged] + 1
  self.running[run.user] = (self.running[run.user] or 0) + 1
  watch(self, run)
end

local function is_gone(run) return run.call.over or run.call.client.gone end

local function may_start(self, run)
  return (self.running[run.user] or 0) < self.limits.copies and self.nruns[run.privileged] < self.limits.allcopies
end

-- Starts queued runs in order, as far as the limits allow.
local function start_some(self)
  local rest = {}
  self.due = false
  for _, run in ipairs(self.queue) do
    local begins = not is_gone(run) and may_start(self, run)
    if begins or is_gone(run) then
      self.waiting[run.user] = self.waiting[run.user] > 1 and self.waiting[run.user] - 1 or nil
    else
      rest[#rest + 1] = run
    end
    if begins then start(self, run) end
  end
  self.queue = rest
end

-- ---- for the server -------------------------------------------------------------------------------------------------

--- Returns the key of a client's user (users.lua), for limits.
function Copies.user(client) return client.user.key end

--- Runs a call in a copy, as soon as the limits allow. opts: ms, the time limit; filter, true if the call has a filter;
--- spent(seconds), called with the CPU time of the copy; failed(), called before an error answer.
function Copies:add(call, opts)
  local user, most = self.user(call.client), self.limits.waits
  if self.closed then return call.fail(call.method .. ": the service ends", "busy") end
  if (self.waiting[user] or 0) >= most then
    local text = "%s: %d requests of %s wait already for a copy of the service that works on them; again later"
    return call.fail(text:format(call.method, most, user), "busy")
  end
  self.waiting[user] = (self.waiting[user] or 0) + 1
  self.queue[#self.queue + 1] = {
    call = call, user = user, ms = opts.ms, filter = opts.filter, spent = opts.spent, failed = opts.failed,
    privileged = call.client.role == "administrator",
  }
  self.due = true
end

--- Ends copies whose call is over, and starts queued runs. To be called after each commit.
function Copies:turn()
  for run in pairs(self.runs) do
    if is_gone(run) then leave(self, run) end
  end
  reap(self)
  if self.due then start_some(self) end
end

--- Pauses and resumes copies, by how much their clients have read. To be called after each write.
function Copies:flow()
  for run in pairs(self.runs) do
    if not is_gone(run) then hold(self, run) end
  end
end

--- Handles SIGCHLD: a copy has ended.
function Copies:child_ended()
  reap(self)
  for run in pairs(self.runs) do
    if run.ending then ended(self, run) end
  end
end

--- Ends all running and queued calls with an error, as the state seen by the copies is no longer valid.
function Copies:abandon(why, code)
  local list = self.queue
  for run in pairs(self.runs) do list[#list + 1] = run end
  self.queue, self.waiting = {}, {}
  for _, run in ipairs(list) do fail(self, run, why, code) end
end

--- Ends all calls, and accepts no further call.
function Copies:close()
  self.closed = true
  self:abandon("the service ends", "busy")
end

--- Returns the number of running copies, and of queued requests.
function Copies:count() return tables.size(self.runs), #self.queue end

--- Makes the copies of a server. opts: limits (see server.lua); log(text, fields); guard(f), which wraps f as a
-- callback of libuv.
function M.new(opts)
  return setmetatable({
    limits = opts.limits, log = opts.log, guard = opts.guard, queue = {}, runs = {}, nruns = { [true] = 0, [false] = 0 }, running = {},
    waiting = {}, leaving = {}, due = false, closed = false,
  }, Copies)
end

return M
