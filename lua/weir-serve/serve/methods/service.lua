--- service.lua - methods about the service itself: hello, methods, stats, events, advance, cancel.

local core = require "weir.core"
local examples = require "weir.serve.examples"
local params = require "weir.serve.params"
local roles = require "weir.serve.roles"
local tables = require "weir.tables"
local wire = require "weir.serve.wire"

local M = {}

local needs = roles.needs

needs.anyone("hello", "methods", "login", "cancel")
needs.reader("stats", "metrics", "events")

params.takes("hello", "", {})
params.takes("login", "client", { token = "text!" })
params.takes("methods", "", { name = "name" })
params.takes("stats", "", {})
params.takes("metrics", "", {})
params.takes("events", "streams", {})
params.takes("advance", "clock jobs owners children machine targets stages", { to = "seconds!" })
params.takes("clock.follow", "clock jobs owners children machine targets stages", {})
params.takes("cancel", "streams targets jobs owners machine", { id = "call!" })

--- {"id":1,"method":"hello"}
function M.hello(self, call)
  call.answer { weir = core.version, protocol = wire.PROTOCOL, limits = self.opts.limits, clock = self.opts.clock,
    overrun = self.opts.overrun, durable = self.opts.store ~= nil, role = call.client.role, name = call.client.name }
end

--- {"id":7,"method":"login","params":{"token":"3f9a..."}}: gives a TCP connection the role and name of a token. A few
--- wrong tokens end the connection
function M.login(self, call, p)
  local client, known = call.client, self.opts.tokens and self.opts.tokens:find(p.token)
  if not known then
    client.refused = (client.refused or 0) + 1
    self.opts.log("a token was refused", { client = client.name, often = true })
    params.fail("forbidden", "field 'token': this token is not known here")
  end
  local ok, why = client:login(known)
  if not ok then params.fail("limit", "login: %s", why) end
  call.answer { role = client.role, name = client.name }
end

-- Returns the description of a method: example request, parameters, effects and the role needed.
local function about(name, services)
  local found = examples.of(name, services.modules)
  if not found then params.fail("unknown", 'there is no method "%s"', name:sub(1, 64)) end
  local row, fields = params.row(name), {}
  for field, spec in pairs(row.fields) do fields[field] = params.expected(spec) .. (spec.needed and "; needed" or "") end
  return { method = name, example = found.example, about = found.about, changes = core.array(row.changes), params = fields,
    needs = roles.needed(name, core.json_decode(found.example).params) }
end

--- {"id":2,"method":"methods","params":{"name":"child.open"}}: an example request, a description and the role needed;
--- without a name, the names of all methods
function M.methods(_, call, p)
  local name, services = p.name, require "weir.serve.service"
  if name then return call.answer(about(name, services)) end
  call.answer { methods = core.array(tables.keys(services.methods)) }
end

--- {"id":3,"method":"stats"}
function M.stats(self, call)
  local reserved, allocated = 0, 0
  for _, job in ipairs(self.engine:jobs()) do
    if job.state == "reserved" then reserved = reserved + 1 else allocated = allocated + 1 end
  end
  local totals = {}
  for type, row in pairs(self.graph:aggregate(nil, { all = true })) do
    if row.total > 0 then totals[type] = row end
  end
  local t = {
    now = self.engine:now(), policy = (self.engine:policy()), retired = self.engine:retired(),
    vertices = self.graph:count(), allocated = allocated, reserved = reserved, stages = #self.engine:stages(),
    totals = totals, counts = self.counts, last_match = self.engine:stats(), bytes = { graph = self.graph:bytes(), lua =
    math.floor(collectgarbage "count" * 1024) },
  }
  if self.opts.server_stats then t.server = self.opts.server_stats(call.client.role == "administrator") end
  call.answer(t)
end

--- {"id":8,"method":"metrics"}: counters and measurements, in the text format of Prometheus
function M.metrics(self, call)
  call.answer { text = self.opts.metrics() }
end

--- {"id":4,"method":"events"}: a stream of events of jobs: exception; requeue; shrink, a request to a job opened to a
--- child; start of a reservation; hold, when a reservation is put off for the first time because a job past its end has
--- its resources; expire, when a job is released at its end; cut, when a job ends earlier because the resources do;
--- each with the job and "at", its start or end. Further events: unstage, when a
--- stage has expired; validity, a new "starttime" or "expiration" of the
--- resources; clock, when the time is set back from "was" to "now", and the times of the jobs with it; policy, when a
--- policy has used more than twice its seconds and is replaced by its predecessor; and between the service and its
--- parent: parent, exit
function M.events(self, call)
  call.stream()
  self.listeners[call] = true
  call.more { event = "listening" }
end

--- {"id":5,"method":"advance","params":{"to":3600}}: only with a manual clock
function M.advance(self, call, p)
  if self.opts.clock ~= "manual" then params.fail("invalid", "the clock is the wall's; start the service with --clock manual") end
  params.check_field("to", self:advance(p.to))
  self:changed()
  call.answer { now = self.engine:now() }
end

--- {"id":9,"method":"clock.follow"}: takes the time from the wall clock of the system, however far away. Where that is
--- before the time of the service, the jobs move along: what is left until the start or the end of a job stays, and
--- jobs that began before keep their start
M["clock.follow"] = function(self, call)
  if self.opts.clock ~= "wall" then params.fail("invalid", "the clock is not the wall's; use advance") end
  local was = self.engine:now()
  params.check(self:follow(self.opts.wall()))
  call.answer { now = self.engine:now(), was = was, jobs = #self.engine:jobs() }
end

--- {"id":6,"method":"cancel","params":{"id":4}}: ends a stream of the client
function M.cancel(self, call, p)
  local stream = call.client:find(p.id)
  if not stream then params.fail("unknown", "field 'id': there is no stream with this id") end
  self:cancel(stream)
  stream.finish()
  call.answer { id = p.id }
end

return M
