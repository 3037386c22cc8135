--- stage.lua - methods about stages and listed resources: stage, commit, drop, stages, allocate.

local core = require "weir.core"
local job_calls = require "weir.serve.job_calls"
local params = require "weir.serve.params"
local plain = require "weir.plain"
local tables = require "weir.tables"
local needs = require("weir.serve.roles").needs

local M = {}

local FORMATS = job_calls.FORMATS
local LEASE = 60 -- seconds

needs.owner("stage", "commit", "drop")
needs.reader("stages")

params.takes("stage", "stages", {
  request = "request!", name = "text", mode = { "now", "reserve" }, at = "seconds", duration = "seconds", lease = "seconds",
  lock = "flag", keep = "flag", about = "about", format = FORMATS,
  subsystem = "text",
})
params.takes("commit", "stages jobs ids owners", { stage = "stage!", job = "new_job", format = FORMATS })
params.takes("drop", "stages", { stage = "stage!" })
params.takes("stages", "", {})
params.takes("allocate", "jobs ids owners", {
  vertices = "picks", R = "table", job = "new_job", start = "seconds", duration = "seconds", format = FORMATS,
})

-- ---- stages of connections ------------------------------------------------------------------------------------------

-- Returns the stage of a call; ends the call where the stage is that of a further user.
local function own_stage(self, call, p)
  local client = self.stages[p.stage]
  if client and client.client ~= call.client and call.client.role ~= "administrator" and client.name ~= call.client.name then
    params.fail("forbidden", "stage %d is that of a further user", p.stage)
  end
  return p.stage
end

-- The stages of a connection, and those that the user keeps beyond a connection.
local function count(self, client)
  local n = 0
  for _, a in ipairs(self.engine:stages()) do
    local x = self.stages[a.stage]
    if x and (x.client == client or not x.client and x.by == client.name) then n = n + 1 end
  end
  return n
end

local function described(self, a)
  local t = plain.times(a)
  t.job, t.stage, t.expires = nil, a.stage, plain.finite(a.expires)
  t.owner = self.stages[a.stage] and self.stages[a.stage].name or nil
  return t
end

--- {"id":8,"method":"stage","params":{"request":"slot=2/node","lease":30}}: locks resources without a job, until commit,
--- drop, the end of the lease (60 seconds if not given) or, without "keep": true, the end of the connection; with
--- "lock": false nothing is locked, and of several stages of a resource the first commit wins
function M.stage(self, call, p)
  local limits = self.opts.limits or {}
  local most, longest = limits.stages or math.huge, limits.lease or math.huge
  if count(self, call.client) >= most then
    params.fail("limit", "%d stages of this connection are there, which is as many as may be", most)
  end
  local lease = p.lease or math.min(LEASE, longest)
  if lease > longest then params.fail("limit", "field 'lease': %d seconds are the most that may be", longest) end
  if lease == 0 then params.fail("invalid", "field 'lease': expected seconds above 0") end
  local asked, about = job_calls.request(p), job_calls.about(call, p)
  if p.at and p.at < self.engine:now() then params.fail("invalid", "field 'at': %g is over; it is %g", p.at, self.engine:now()) end
  self.counts.matches = self.counts.matches + 1
  local a, why, code = self:within(self.follower.stage, self.follower, asked,
    { mode = p.mode, at = p.at, duration = p.duration, lease = lease, lock = p.lock, about = about,
      subsystem = job_calls.hierarchy(p) })
  if not a then
    self.counts.refused = self.counts.refused + 1
    return call.fail(why, code)
  end
  local client = call.client
  self.stages[a.stage] = { client = not p.keep and client or nil, by = client.name, name = client.role == "owner" and client.name or nil }
  self:tells(a.count)
  local t = described(self, a)
  t.vertices, t.resources = plain.vertices(a), job_calls.document(a, p.format, about)
  call.answer(t)
end

-- The losses as plain data.
local function losses(lost)
  return core.array(tables.map(lost, function(x)
    return { path = x.path, why = x.why, job = x.job, stage = x.stage, at = x.at, start = x.start,
      ["end"] = x["end"] and plain.finite(x["end"]), amount = x.amount, exclusive = x.exclusive }
  end))
end

local function refuse(call, why, code, lost) return call.fail(why, code, lost and { lost = losses(lost) } or nil) end

--- {"id":9,"method":"commit","params":{"stage":3}}: makes a job of a stage. The error "busy" has "lost", all resources
--- that cannot be had, and who has them; the stage remains then
function M.commit(self, call, p)
  local stage = own_stage(self, call, p)
  if p.job then self.child_instances:update() end
  local a, why, code, lost = self.follower:commit(stage, p.job)
  if not a then return refuse(call, why, code, lost) end
  self.stages[stage] = nil
  self:matched(a.id, call.client)
  call.answer(job_calls.full(self, a, p.format))
end

--- {"id":10,"method":"drop","params":{"stage":3}}: gives back the resources of a stage
function M.drop(self, call, p)
  local stage = own_stage(self, call, p)
  params.check(self.engine:drop(stage))
  self.stages[stage] = nil
  call.answer { stage = stage }
end

--- {"id":11,"method":"stages"}: pages of a list of all stages
function M.stages(self, call)
  local list = tables.sort(self.engine:stages(), "stage")
  call.pages("stages", #list, function(i)
    local t = described(self, list[i])
    t.vertices = plain.vertices(list[i])
    return t
  end)
end

-- ---- listed resources -----------------------------------------------------------------------------------------------

-- Returns the argument of engine:allocate, from paths, {path, amount} or an R.
local function listed(self, p)
  if (p.vertices == nil) == (p.R == nil) then params.fail("invalid", "expected one of vertices and R") end
  if p.R then return p.R, "R" end
  local list = {}
  for i, x in ipairs(p.vertices) do
    local path = type(x) == "table" and x.path or x
    list[i] = { vertex = params.check_field("vertices", self.graph:vertex(path)), amount = type(x) == "table" and x.amount or nil }
  end
  return list, "vertices"
end

--- {"id":12,"method":"allocate","params":{"vertices":["/cluster0/node0",{"path":"/cluster0/node1/core0","amount":1}]}}:
--- gives listed resources, or those of an "R", to a new job, all or none, without a match. A start in the future requires
--- a duration. The error "busy" has "lost", as with commit
function M.allocate(self, call, p)
  local what, field = listed(self, p)
  if p.start and p.start < self.engine:now() then params.fail("invalid", "field 'start': %g is over", p.start) end
  if p.start and p.start > self.engine:now() and not p.duration then
    params.fail("invalid", "field 'duration': a start in the future requires a duration")
  end
  if p.duration == 0 then params.fail("invalid", "field 'duration': expected seconds above 0") end
  if p.job then self.child_instances:update() end
  local a, why, code, lost = self.follower:allocate(what, { job = p.job, start = p.start, duration = p.duration })
  if not a and code ~= "busy" and code ~= "exists" then params.fail(code, "field '%s': %s", field, why) end
  if not a then return refuse(call, why, code, lost) end
  self:matched(a.id, call.client)
  call.answer(job_calls.full(self, a, p.format))
end

return M
