--- service.lua - methods about the service itself: hello, methods, stats, events, advance, cancel.

local core = require "weir.core"
local params = require "weir.serve.params"

local M = {}

--- {"id":1,"method":"hello"}
function M.hello(self, call, p)
  params.only(p, "")
  call.answer { weir = core.version, limits = self.opts.limits, clock = self.opts.clock, durable = self.opts.state ~= nil }
end

--- {"id":2,"method":"methods"}: their names
function M.methods(_, call, p)
  params.only(p, "")
  local list = core.array {}
  for name in pairs(require("weir.serve.service").methods) do list[#list + 1] = name end
  table.sort(list)
  call.answer { methods = list }
end

--- {"id":3,"method":"stats"}
function M.stats(self, call, p)
  params.only(p, "")
  local reserved, allocated = 0, 0
  for _, job in ipairs(self.engine:jobs()) do
    if job.state == "reserved" then reserved = reserved + 1 else allocated = allocated + 1 end
  end
  local totals = {}
  for type, row in pairs(self.graph:aggregate()) do
    if row.total > 0 then totals[type] = row end
  end
  local t = {
    now = self.engine:now(), policy = (self.engine:policy()), vertices = self.graph:count(), allocated = allocated, reserved = reserved,
    totals = totals, counts = self.counts, last_match = self.engine:stats(), bytes = { graph = self.graph:bytes(), lua =
    math.floor(collectgarbage "count" * 1024) },
  }
  if self.opts.server_stats then t.server = self.opts.server_stats() end
  call.answer(t)
end

--- {"id":4,"method":"events"}: a stream of what happens to jobs: exception, requeue
function M.events(self, call, p)
  params.only(p, "")
  call.stream()
  self.listeners[call] = true
  call.more { event = "listening" }
end

--- {"id":5,"method":"advance","params":{"to":3600}}: only where the clock is a manual one
function M.advance(self, call, p)
  params.only(p, "to")
  if self.opts.clock ~= "manual" then params.fail("invalid", "the clock is the wall's; start the service with --clock manual") end
  params.check(self.engine:advance(params.need(p, "to", "number")))
  self:changed()
  call.answer { now = self.engine:now() }
end

--- {"id":6,"method":"cancel","params":{"id":4}}: ends a stream of this client
function M.cancel(self, call, p)
  params.only(p, "id")
  local stream = call.client:find(p.id)
  if not stream then params.fail("unknown", "there is no stream with this id") end
  self:cancel(stream)
  stream.finish()
  call.answer { id = p.id }
end

return M
