--- shadow.lua - a shadow (weir.shadow) of a service, in a process of its own: of low priority, with bounded memory and a bounded
-- queue of input.
--
-- The process begins as a copy of the service. It knows no socket and no store of the service, and ends with it. What the service sends
-- costs it little: the line of a match as it came from the client, with a few numbers that say what came of it, kept for up to a tenth
-- of a second and written together. The process reads the request again, and does all the rest.
--
-- A record begins with a letter; numbers are those of string.pack, times are whole microseconds:
--   m  id, now, estimate (-1: without an end), start promised (-1: it has started), role and name of the client, line   MATCH
--   b  id, time: a job that waited has started                                                                          EVENT
--   s  id, time: a job has ended                                                                                        EVENT
--   {  JSON: states of the machine, or a question                                                                       TEXT
--
-- Where the machine grows, or is changed in its structure, the shadow restarts on a copy of it; what was found until then is kept.

local core = require "weir.core"
local job_calls = require "weir.serve.job_calls"
local params = require "weir.serve.params"
local shadow = require "weir.shadow"
local tables = require "weir.tables"
local forecast_input = require "weir.serve.forecast_input"
local uv = require "luv"
local wire = require "weir.serve.wire"

local pack = string.pack

local M = {}

local Shadow = {}
Shadow.__index = Shadow

local MB = 1 << 20
local REAPED = 100 -- milliseconds between looks whether a killed process is gone
-- Priority; bytes of memory in addition to twice the machine, of what is not read yet, of an answer.
local NICE, MEMORY, QUEUE, LINE = 19, 512 * MB, 64 * MB, 64 * MB
local KEPT, LATEST = 1 * MB, 100 -- bytes of messages that are written together, at most so many milliseconds after the first
local ENDLESS = 8e12             -- seconds that a job without an end is said to last
local PERIODS = 20               -- periods before the present one that are reported

local MATCH, EVENT, TEXT = "<c1i8i8i8i8s2s2s4", "<c1i8i8", "<c1s4"

-- ---- in the process -------------------------------------------------------------------------------------------------

-- Returns the numbers of a record, so many after the letter.
local function numbers(n) return string.unpack("<" .. ("i8"):rep(n), io.read(8 * n)) end

-- Returns a text of a record, whose length has so many bytes.
local function text_of(bytes)
  local n = string.unpack("<I" .. bytes, io.read(bytes))
  return n > 0 and io.read(n) or ""
end

-- Takes a job that was matched.
local function on_match(own)
  local id, now, estimate, promise = numbers(4)
  local role, name, line = text_of(2), text_of(2), text_of(4)
  local p = params.read("match", core.json_decode(line).params)
  local spec = job_calls.about({ client = { role = role, name = name } }, p) or {}
  spec.id, spec.at, spec.request, spec.promise = id, now / 1e6, job_calls.request(p), promise >= 0 and promise / 1e6 or nil
  spec.estimate = estimate >= 0 and estimate / 1e6 or ENDLESS
  own:submit(spec)
  if promise < 0 then own:start(id, spec.at) end
end

-- Takes the states of the machine: x.states, by path, the states other than up; x.gone, removed targets.
local function on_states(service, own, x)
  own:change(x.at, function(player)
    local graph = service.graph
    for _, v in ipairs(graph:find "not state=up") do
      if not x.states[v.path] then v.state = "up" end
    end
    for path, state in pairs(x.states) do
      local v = graph:vertex(path)
      if v and v.state ~= state then v.state = state end
    end
    for v in service.follower.targets:each(core.idset(x.gone) & service.follower.targets.all) do v.state = "down" end
    player:changed(true)
  end, true)
end

local TOLD = {}

TOLD.states = on_states

-- Answers a question.
function TOLD.status(_, own, x, write)
  own:advance(x.at)
  write(core.json_encode { n = x.n, status = own:status() } .. "\n")
end

-- Runs a shadow until its input ends.
local function run(service, made, write)
  local now, running, waiting, promised = service.engine:now(), forecast_input.jobs_of(service)
  for _, spec in ipairs(waiting) do
    spec.promise = promised[spec.id]
    assert(service.engine:release(spec.id))
  end
  local own, why = shadow.new { graph = service.graph, now = now, running = running, waiting = waiting, policy = made.policy,
    granularity = service.opts.granularity, queue = made.queue, texts = made.texts }
  write(core.json_encode { began = own ~= nil, failed = why } .. "\n")
  if not own then return end
  for kind in function() return io.read(1) end do -- from the service
    if kind == "m" then
      on_match(own)
    elseif kind == "{" then
      local x = core.json_decode(text_of(4))
      TOLD[x.what](service, own, x, write)
    else
      local id, at = numbers(2)
      own[kind == "b" and "start" or "stop"](own, id, at / 1e6)
    end
  end
end

-- ---- in the service -------------------------------------------------------------------------------------------------

-- Kills the process, and closes its pipes.
local function drop(self)
  for _, handle in ipairs { self.input, self.output, self.later } do
    if not handle:is_closing() then handle:close() end
  end
  self.child:kill()
  local dying, timer = self.dying, self.timer
  dying[#dying + 1] = self.child
  timer:start(REAPED, REAPED, function()
    while dying[1] and dying[1]:reap() do table.remove(dying, 1) end
    if dying[1] then return end
    if self.ended and not timer:is_closing() then timer:close() else timer:stop() end
  end)
end

-- Fails the calls that wait for an answer.
local function fail_calls(self, why)
  for _, call in pairs(self.calls) do
    if not call.over then call.fail(why, "internal") end
  end
  self.calls = {}
end

-- Ends the shadow.
local function finish(self, why)
  if self.ended then return end
  self.ended = why
  drop(self)
  fail_calls(self, "the shadow has ended: " .. why)
end

-- Handles a line of the process.
local function hear(self, line)
  local x = core.json_decode(line) or {}
  if x.failed then return finish(self, x.failed) end
  local call = x.n and self.calls[x.n]
  if not call then return end
  self.calls[x.n] = nil
  if not call.over then call.answer(self:about(x.status)) end
end

-- Starts the process of a shadow, and listens to it. Returns true; or nil, message, code.
local function begin(self)
  local service, made = self.service, self.made
  local guard = service.opts.copies and service.opts.copies.guard or function(f) return f end
  local child, why, code = core.worker(function(write) run(service, made, write) end,
    { input = true, nice = NICE, memory = MEMORY + 2 * service.graph:bytes() })
  if not child then return nil, why, code end
  self.child, self.since, self.targets = child, service.engine:now(), service.follower.targets.all
  self.input, self.output, self.lines = uv.new_pipe(false), uv.new_pipe(false), wire.lines(LINE)
  self.later, self.buffer, self.nbuffer, self.bytes = uv.new_timer(), {}, 0, 0
  self.flush = guard(function() self:write() end)
  self.input:open(child:input())
  self.output:open(child:take())
  local output = self.output
  output:read_start(guard(function(err, piece)
    if output ~= self.output then return end
    if err or not piece then return finish(self, "its process is gone: it failed, was killed, or took more memory than it may") end
    self.lines:put(piece)
    for line in function() return self.lines:next() or nil end do hear(self, line) end
  end))
  return true
end

--- Makes a shadow of a service. made: as forecast_input.prepare returns it; names: {policy =, queue =} for people. Returns the shadow; or
-- nil, message, code.
function M.start(service, made, names)
  local self = setmetatable({ service = service, made = made, names = names, calls = {}, asked = 0, messages = 0, periods = core.array {},
    timer = uv.new_timer(), dying = {} }, Shadow)
  local ok, why, code = begin(self)
  if not ok then return nil, why, code end
  return self
end

-- ---- messages to the shadow ---------------------------------------------------------------------------------------------------

--- Writes the records kept so far. A shadow that does not read in time is ended.
function Shadow:write()
  if self.ended or self.nbuffer == 0 then return end
  if self.input:get_write_queue_size() > QUEUE then
    return finish(self, ("it fell behind by more than %d MB of messages"):format(QUEUE // MB))
  end
  self.input:write(table.concat(self.buffer, "", 1, self.nbuffer))
  self.buffer, self.nbuffer, self.bytes = {}, 0, 0
end

-- Keeps a text, to be written with others.
local function keep(self, text)
  local n = self.nbuffer + 1
  self.buffer[n], self.nbuffer, self.messages, self.bytes = text, n, self.messages + 1, self.bytes + #text
  if n == 1 then self.later:start(LATEST, 0, self.flush) end
  if self.bytes > KEPT then self:write() end
end

local function micro(t) return (t * 1e6 + 0.5) // 1 | 0 end

--- Tells the shadow of a job matched by a call, at a time; lasts: the requested duration in seconds; promise: the start, or nil.
function Shadow:matched(id, now, lasts, promise, call)
  if self.ended then return end
  local client = call.client
  keep(self, pack(MATCH, "m", id, micro(now), lasts < ENDLESS and micro(lasts) or -1, promise and micro(promise) or -1,
    client.role, client.role ~= "administrator" and client.name or "", call.line or core.json_line { params = call.params }))
end

--- Tells that a job that waited has started at a time; that a job has ended.
function Shadow:started(id, at)
  if not self.ended then keep(self, pack(EVENT, "b", id, micro(at))) end
end

function Shadow:stopped(id, at)
  if not self.ended then keep(self, pack(EVENT, "s", id, micro(at))) end
end

-- Tells a table, at once.
local function tell(self, x)
  keep(self, pack(TEXT, "{", core.json_encode(x)))
  self:write()
end

-- Begins anew on the machine as it is; what was found until now is kept.
local function begin_anew(self)
  drop(self)
  self.anew = nil
  local ok, why = begin(self)
  if not ok then self.ended = why end
  local calls = self.calls
  self.calls = {}
  for _, n in ipairs(tables.keys(calls)) do self:ask(calls[n]) end
end

-- Begins anew when the shadow has reported what it has found.
local function ask_and_begin_anew(self)
  if self.anew then return end
  local at = self.service.engine:now()
  self.anew = { over = false, fail = function() end, answer = function(report)
    local s = report.status
    if not s or self.ended then return end
    table.insert(self.periods, { since = s.since, last_message = at, jobs = s.jobs, compared = s.compared, wait = s.wait })
    if #self.periods > PERIODS then table.remove(self.periods, 1) end
    begin_anew(self)
  end }
  self:ask(self.anew)
end

--- Looks at the machine after a change: states are sent; where targets have come, or lost is true, the shadow begins anew.
function Shadow:look(lost)
  if self.ended then return end
  local service, states = self.service, {}
  local targets = service.follower.targets.all
  if lost or not self.targets:contains(targets) then return ask_and_begin_anew(self) end
  for _, v in ipairs(service.graph:find "not state=up") do states[v.path] = v.state end
  tell(self, { what = "states", at = service.engine:now(), states = states, gone = tostring(self.targets - targets) })
end

-- ---- what is asked --------------------------------------------------------------------------------------------------

--- Returns what a status tells, with what is known here.
function Shadow:about(status)
  return { running = not self.ended, ended = self.ended, policy = self.names.policy, queue = self.names.queue,
    in_force = self.service.policy.name, since = self.since, messages = self.messages,
    unread = self.ended and 0 or self.input:get_write_queue_size() + self.bytes, periods = self.periods[1] and self.periods or nil,
    status = status }
end

--- Answers a call with the status.
function Shadow:ask(call)
  if self.ended then return call.answer(self:about()) end
  self.asked = self.asked + 1
  self.calls[self.asked] = call
  tell(self, { what = "status", n = self.asked, at = self.service.engine:now() })
end

--- Ends the shadow; why: the reason, for its status.
function Shadow:stop(why) finish(self, why or "it was stopped") end

-- Closes the handles of a shadow that nobody has stopped: where the program ends without the loop, luv would free them before
-- the loop. The shadow is finalized before them, as it is made later. A shadow that was stopped is left alone: its collection
-- may happen anywhere, and must not run the loop there.
function Shadow.__gc(self)
  local left = false
  for _, handle in ipairs { self.input, self.output, self.later, self.timer } do
    if not handle:is_closing() then
      handle:close()
      left = true
    end
  end
  if left and not uv.loop_mode() then uv.run "nowait" end
end

return M
