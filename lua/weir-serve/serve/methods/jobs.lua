--- jobs.lua - methods about jobs: match, release, grow, shrink, explain, job, jobs.

local core = require "weir.core"
local filter = require "weir.serve.filter"
local job_calls = require "weir.serve.job_calls"
local needs = require("weir.serve.roles").needs
local params = require "weir.serve.params"
local tables = require "weir.tables"
local weir = require "weir"

local M = {}

local FORMATS = job_calls.FORMATS
local MODES = { "now", "reserve", "feasible", "preview" }

needs.by("match", function(p) return (p.mode == "preview" or p.mode == "feasible") and "reader" or "owner" end)
needs.own("release", "grow", "shrink")
needs.reader("job", "jobs", "explain")

params.takes("match", "jobs ids owners children", {
  request = "request!", name = "text", mode = MODES, at = "seconds", duration = "seconds", job = "new_job", filter = "source",
  format = FORMATS, about = "about", subsystem = "text",
})
params.takes("release", "jobs owners machine targets children", { job = "job!", targets = "targets" })
params.takes("grow", "jobs children parent machine targets", {
  job = "job!", request = "request!", name = "text", format = FORMATS, pass = "flag", about = "about",
  subsystem = "text",
})
params.takes("shrink", "jobs owners children", {
  job = "job!", path = "path", amount = "positive", ranks = "targets", R = "table", format = FORMATS, pass = "flag",
})
params.takes("job", "", { job = "job!", format = FORMATS })
params.takes("jobs", "", { vertices = "flag", leaving = "flag" })
params.takes("explain", "", {
  request = "request!", name = "text", at = "seconds", vertex = "path", down = "paths", up = "paths", release = "jobs",
  without = "texts", constraint = "table", columns = "count", about = "about",
  subsystem = "text",
})

-- ---- match ----------------------------------------------------------------------------------------------------------

-- Checks the parameters of a match; the parameters of a match by a copy were checked in the copy.
local function check_match(self, p, opts)
  if p.filter then opts.policy = params.check_field("filter", filter.load(p.filter, self.opts.filter_seconds)) end
  if p.at and p.at < self.engine:now() then params.fail("invalid", "field 'at': %g is over; it is %g", p.at, self.engine:now()) end
  self.counts.matches = self.counts.matches + 1
end

-- Returns the allocation of a match, or true for a feasible match; or nil, message, code. A filter replaces the hooks
-- of the policy in use except `admit`: `admit` is called in the copy, and again before the service books the choice of
-- the copy, as the policy may have changed meanwhile.
local function search(self, call, p, asked, opts)
  local a, why, code = asked, nil, nil
  if p.filter then a, why, code = self:within(self.engine.admitted, self.engine, asked, opts.about) end
  if not a then return nil, why, code end
  if call.record then return self.follower:book(call.record, opts.job, a, opts.about) end
  a, why, code = self:within(self.follower.match, self.follower, a, opts)
  return a, opts.policy and why and filter.said(why, self.opts.filter_seconds) or why, code
end

--- {"id":1,"method":"match","params":{"request":"slot=2/node","mode":"reserve"}}
function M.match(self, call, p)
  local asked = job_calls.request(p)
  local opts = { mode = p.mode, at = p.at, duration = p.duration, job = p.job, about = job_calls.about(call, p), stats = true,
    subsystem = job_calls.hierarchy(p) }
  if not call.record then check_match(self, p, opts) end
  -- the child of an earlier job with an equal id must end before the id is given again
  if opts.job then self.child_instances:update() end
  local a, why, code = search(self, call, p, asked, opts)
  if not a then
    self.counts.refused = self.counts.refused + 1
    return call.fail(why, code)
  end
  if a == true then return call.answer { feasible = true } end
  local state = a.state
  if state ~= "matched" and call.choose then return call.choose(params.check(self.engine:record(a.id))) end
  if state ~= "matched" then
    local id, now = a.id, self.engine:now()
    self:matched(id, call.client)
    self.requests[id] = { request = asked, about = opts.about, submit = now }
    if self.shadow then self.shadow:matched(id, now, a.duration, state == "reserved" and a.at or nil, call) end
  end
  call.answer(job_calls.full(self, a, p.format, opts.about))
end

-- ---- changing jobs --------------------------------------------------------------------------------------------------

--- {"id":2,"method":"release","params":{"job":1}}; with "targets": only resources on these targets
function M.release(self, call, p)
  local job, set = p.job, p.targets
  if set and self.child_instances:of(job) then
    params.fail("busy", "job %d is an instance of its own: shrink it, and it gives them back", job)
  end
  local owes = self.follower:owes(job)
  local known = self.requests[job] or {}
  params.check(self.follower:free(job, set, known.request, known.about))
  self:changed()
  self.child_instances:touch(job)
  if owes then self:settle() end
  self:ended(job)
  call.answer { job = job }
end

local NOT_HERE = { busy = true, infeasible = true }

--- {"id":3,"method":"grow","params":{"job":1,"request":"slot=1/core=2"}}; "pass": true requests resources from the parent
-- missing here
function M.grow(self, call, p)
  local job, asked, about = p.job, job_calls.request(p), job_calls.about(call, p)
  local child, plain = self.child_instances:of(job), asked
  if child then asked = self.child_instances:on_other_targets(child, asked) end
  local function try()
    if child then
      local fits, strange, kind = self.child_instances:fits(asked)
      if not fits then return nil, strange, kind end
    end
    local a, why, code = self:within(self.engine.grow, self.engine, job, asked, { about = about, subsystem = job_calls.hierarchy(p) })
    if not a then return nil, why, code end
    self:changed()
    self.child_instances:touch(job)
    self.child_instances:update() -- a child learns of its new targets before the answer
    call.answer(job_calls.full(self, a, p.format))
    return true
  end
  local done, why, code = try()
  if done then return end
  if child and NOT_HERE[code] then
    why, code = self.child_instances:refusal(child, plain, { about = about, subsystem = job_calls.hierarchy(p) }, why, code)
  end
  if not (p.pass and self.parent and NOT_HERE[code]) then params.fail(code, "%s", why) end
  self.parent:grow(asked, function(result, message, kind)
    if result then result, message, kind = try() end
    if not result then call.fail(message, kind) end
  end)
end

-- Returns the part of a job named by a call and the name of the field: units of a pool, ranks, or an R.
local function part(self, p)
  local path, ranks, R = p.path, p.ranks, p.R
  if (path and 1 or 0) + (ranks and 1 or 0) + (R and 1 or 0) ~= 1 then params.fail("invalid", "expected one of path, ranks and R") end
  if ranks then return { ranks = ranks }, "ranks" end
  if R then return R, "R" end
  local v = params.check_field("path", self.graph:vertex(path))
  return p.amount and { vertex = v, amount = p.amount } or v, p.amount and "amount" or "path"
end

-- Requests targets back from a child. A child releases whole targets only, as soon as no job of the child uses them.
local function ask_back(self, call, p, child)
  if not p.ranks then params.fail("busy", "job %d is an instance of its own and returns targets: expected ranks", child.job) end
  params.check(self.child_instances:ask_back(child, p.ranks, p.pass))
  self:changed()
  call.answer { job = child.job, leaving = tostring(child.leaving) }
end

--- {"id":4,"method":"shrink","params":{"job":1,"ranks":"0-1"}}; or "path", with "amount" for some units; or "R". The
--- child of an opened job is requested to return the ranks; with "pass": true the ranks are passed on to the parent of the
--- service
function M.shrink(self, call, p)
  local child = self.child_instances:of(p.job)
  if child then return ask_back(self, call, p, child) end
  local what, name = part(self, p)
  params.check(self.engine:job(p.job))
  local a = params.check_field(name, self.engine:shrink(p.job, what))
  self:changed()
  if a == true then
    self:ended(p.job)
    return call.answer { job = p.job, released = true }
  end
  call.answer(job_calls.full(self, a, p.format))
end

-- Ends the call unless each vertex named by a field exists.
local function check_vertices(self, p, name)
  for _, path in ipairs(type(p[name]) == "table" and p[name] or { p[name] }) do params.check_field(name, self.graph:vertex(path)) end
end

-- ---- asking ---------------------------------------------------------------------------------------------------------

--- {"id":5,"method":"job","params":{"job":1,"format":"rv1"}}
function M.job(self, call, p)
  call.answer(job_calls.full(self, params.check(self.engine:job(p.job)), p.format))
end

local function in_order(a, b) return a.id < b.id end

-- Returns the targets taken away from jobs that still run there: job -> idset as text.
local function owed_by_job(self)
  local lists = {}
  for target, users in pairs(self.follower:owing()) do
    for job in pairs(users) do
      tables.push(lists, job, target)
    end
  end
  for job, list in pairs(lists) do lists[job] = tostring(core.idset(list)) end
  return lists
end

--- {"id":6,"method":"jobs"}: pages of a list; "vertices": true adds the vertices of each job, "leaving": true the jobs, in
--- state "leaving", of which all targets were taken away and which have not been released yet. "taken": targets that a job
--- is still on though they were taken away
function M.jobs(self, call, p)
  local jobs, with, owed = self.engine:jobs(), p.vertices, owed_by_job(self)
  table.sort(jobs, in_order)
  for job in tables.sorted(p.leaving and owed or {}) do
    if not self.engine:job(job) then jobs[#jobs + 1] = { gone = job } end
  end
  call.pages("jobs", #jobs, function(i)
    local a = jobs[i]
    if type(a) == "table" then return { job = a.gone, state = "leaving", taken = owed[a.gone], owner = self.owners:of(a.gone) } end
    local t = with and job_calls.full(self, a, "none") or job_calls.brief(self, a)
    t.taken = owed[a.id]
    return t
  end)
end

--- {"id":7,"method":"explain","params":{"request":"slot=9/node"}}; with "columns" also as text of that width
function M.explain(self, call, p)
  local opts = {
    about = job_calls.about(call, p), at = p.at, vertex = p.vertex, constraint = p.constraint, down = p.down, up = p.up,
    release = p.release, without = p.without, subsystem = job_calls.hierarchy(p),
  }
  if p.at and p.at < self.engine:now() then params.fail("invalid", "field 'at': %g is over; it is %g", p.at, self.engine:now()) end
  for _, name in ipairs { "vertex", "down", "up" } do check_vertices(self, p, name) end
  local report, columns = params.check(self.engine:explain(job_calls.request(p), opts)), p.columns
  local plain = weir.explain.plain(report)
  plain.text = columns and weir.explain.text(report, math.max(40, math.min(columns, 200))) or nil
  call.answer(plain)
end

return M
