--- shadow.lua - a shadow (weir.shadow) of a service, in a process of its own: of low priority, with bounded memory and a bounded
-- queue of what it is told.
--
-- The process begins as a copy of the service. It reads a line of JSON for each thing told, and writes a line for each status
-- asked for. It knows no socket and no store of the service, and ends with it.

local core = require "weir.core"
local shadow = require "weir.shadow"
local trial = require "weir.serve.trial"
local uv = require "luv"
local wire = require "weir.serve.wire"

local M = {}

local Shadow = {}
Shadow.__index = Shadow

local MB = 1 << 20
local REAPED = 100 -- milliseconds between looks whether a killed process is gone
-- Priority; bytes of memory besides twice the machine, of what is not read yet, of an answer.
local NICE, MEMORY, QUEUE, LINE = 19, 512 * MB, 64 * MB, 64 * MB

-- ---- in the process -------------------------------------------------------------------------------------------------

local TOLD = {}

function TOLD.submit(own, x)
  local spec = x.about or {}
  spec.id, spec.at, spec.request, spec.estimate, spec.promise = x.id, x.at, x.request, x.estimate, x.promise
  own:submit(spec)
end

function TOLD.start(own, x) own:start(x.id, x.at) end
function TOLD.stop(own, x) own:stop(x.id, x.at) end
function TOLD.machine(own) own:machine_changed() end

-- Answers a question.
function TOLD.status(own, x, write)
  own:advance(x.at)
  write(core.json_encode { n = x.n, status = own:status() } .. "\n")
end

-- Runs a shadow until its input ends.
local function run(service, made, write)
  local now, running, waiting, promised = service.engine:now(), trial.jobs_of(service)
  for _, spec in ipairs(waiting) do
    spec.promise = promised[spec.id]
    assert(service.engine:release(spec.id))
  end
  local own, why = shadow.new { graph = service.graph, now = now, running = running, waiting = waiting, policy = made.policy,
    queue = made.queue, texts = made.texts }
  write(core.json_encode { began = own ~= nil, failed = why } .. "\n")
  if not own then return end
  local pipe = io.stdin -- of the service
  for line in pipe:lines() do
    local x = core.json_decode(line)
    TOLD[x.what](own, x, write)
  end
end

-- ---- in the service -------------------------------------------------------------------------------------------------

-- Ends the process, and fails the calls that wait for an answer.
local function finish(self, why)
  if self.ended then return end
  self.ended = why
  for _, handle in ipairs { self.input, self.output } do
    if not handle:is_closing() then handle:close() end
  end
  self.child:kill()
  local child, timer = self.child, self.timer
  timer:start(REAPED, REAPED, function()
    if child:reap() and not timer:is_closing() then timer:close() end
  end)
  for _, call in pairs(self.calls) do
    if not call.over then call.fail("the shadow has ended: " .. why, "internal") end
  end
  self.calls = {}
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

--- Makes a shadow of a service. made: as trial.prepare returns it; names: {policy =, queue =} for people. Returns the shadow; or
-- nil, message, code.
function M.start(service, made, names)
  local guard = service.opts.copies and service.opts.copies.guard or function(f) return f end
  local child, why, code = core.worker(function(write) run(service, made, write) end,
    { input = true, nice = NICE, memory = MEMORY + 2 * service.graph:bytes() })
  if not child then return nil, why, code end
  local self = setmetatable({
    service = service, child = child, names = names, since = service.engine:now(), calls = {}, asked = 0, told = 0,
    input = uv.new_pipe(false), output = uv.new_pipe(false), timer = uv.new_timer(), lines = wire.lines(LINE),
  }, Shadow)
  self.input:open(child:input())
  self.output:open(child:take())
  self.output:read_start(guard(function(err, piece)
    if err or not piece then return finish(self, "its process is gone: it failed, was killed, or took more memory than it may") end
    self.lines:put(piece)
    for line in function() return self.lines:next() or nil end do hear(self, line) end
  end))
  return self
end

--- Tells what happened, or asks; without waiting. A shadow that does not read what it is told ends.
function Shadow:tell(x)
  if self.ended then return end
  if self.input:get_write_queue_size() > QUEUE then
    return finish(self, ("it fell behind by more than %d MB of what it was told"):format(QUEUE // MB))
  end
  self.told = self.told + 1
  self.input:write(core.json_encode(x) .. "\n")
end

--- Returns what a status tells, with what is known here.
function Shadow:about(status)
  return { running = not self.ended, ended = self.ended, policy = self.names.policy, queue = self.names.queue,
    in_force = self.service.policy.name, since = self.since, told = self.told,
    unread = self.ended and 0 or self.input:get_write_queue_size(), status = status }
end

--- Answers a call with the status.
function Shadow:ask(call)
  if self.ended then return call.answer(self:about()) end
  self.asked = self.asked + 1
  self.calls[self.asked] = call
  self:tell { what = "status", n = self.asked, at = self.service.engine:now() }
end

--- Ends the shadow; why: the reason, for its status.
function Shadow:stop(why) finish(self, why or "it was stopped") end

-- Closes the handles of a shadow that nobody has stopped: where the program ends without the loop, luv would free them before
-- the loop. The shadow is finalized before them, as it is made later. A shadow that was stopped is left alone: its collection
-- may happen anywhere, and must not run the loop there.
function Shadow.__gc(self)
  local left = false
  for _, handle in ipairs { self.input, self.output, self.timer } do
    if not handle:is_closing() then
      handle:close()
      left = true
    end
  end
  if left and not uv.loop_mode() then uv.run "nowait" end
end

return M
