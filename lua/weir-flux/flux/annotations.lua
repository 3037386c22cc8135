--- annotations.lua - annotations of pending and starting jobs (RFC 27): t_estimate, reason_pending, resource_summary, and as
--- Fluxion writes it selection_type: "reserved" for a job with a reservation, at its start "backfill" for one that starts
--- next to reservations of others, else "immediate".
--- Only a few are written at a time, and only changed ones.

local about = require "weir.about"
local core = require "weir.core"
local explain_text = require "weir.explain.text"
local jobid = require "weir.flux.jobid"
local policies = require "weir.flux.policies"
local preempt = require "weir.flux.preempt"
local tables = require "weir.tables"

local M = {}
M.__index = M

local MOST = 20           -- estimates written after a pass
local FIRST = 4           -- jobs of each queue for which reason_pending is written
local EVERY = 0.5         -- seconds between two writes
local VERTICES = 1000     -- size of a machine up to which infeasible requests are explained in detail

--- Notes that a job got or lost a reservation.
function M:reserved(job)
  job.promised = job.reserved ~= nil
  if self.on then self.changed[job] = true end
end

function M:forget(job) self.changed[job] = nil end

-- Returns null for each annotation written before, to delete them.
local function cleared(job)
  local sched = {}
  for key in pairs(job.noted or {}) do sched[key] = core.null end
  return sched
end

--- Returns the annotations of a starting job, as JSON text.
function M:start(job, allocation)
  self.changed[job] = nil
  local sched = cleared(job)
  sched.selection_type = job.promised and "reserved" or self.host.nreserved > 0 and "backfill" or "immediate"
  sched.resource_summary = assert(allocation:rset { scheduling = false }):format "rlist"
  return core.json_encode { sched = sched }
end

local function write(self, job, key, value)
  job.noted = job.noted or {}
  if job.noted[key] == value then return end
  job.noted[key] = value
  self.host.answer.annotate(job.id, core.json_encode { sched = { [key] = value == nil and core.null or value } })
end

-- Writes when a job is to start, or that no start is planned any more.
local function write_estimate(self, job, t)
  job.noted = job.noted or {}
  job.noted.t_estimate, job.noted.selection_type = t, t and "reserved" or nil
  self.host.answer.annotate(job.id, core.json_encode { sched = { t_estimate = t or core.null,
    selection_type = t and "reserved" or core.null } })
end

local function estimates(self)
  local n = 0
  for job in pairs(self.changed) do
    if n >= MOST then return end
    self.changed[job] = nil
    local before = job.noted and job.noted.t_estimate
    local now = job.reserved
    if job.state == "pending" and (before or now) and not (before and now and math.abs(before - now) < 1) then
      write_estimate(self, job, now)
      n = n + 1
    end
  end
end

-- ---- why a job waits, or never runs ---------------------------------------------------------------------------------

-- Adds to `needs` the units of each type requested, and whether whole vertices are requested.
local function add_needs(needs, resources, times)
  for _, r in ipairs(resources) do
    local count = type(r.count) == "table" and r.count.min or r.count or 1
    local n = (math.tointeger(tonumber(count)) or 1) * times
    local need = needs[r.type] or { n = 0 }
    need.n, need.whole = need.n + n, need.whole or r.exclusive == true
    if r.type ~= "slot" and r.type ~= "or_slot" then needs[r.type] = need end
    add_needs(needs, r.with or {}, n)
  end
  return needs
end

local NONE = { total = 0, free = 0, idle = 0 }

-- Returns a sentence about the first type with too few units: in all, or (now) up and free.
local function too_little(self, request, now)
  if #request:alternatives() > 1 then return nil end
  local rows = self.host.graph:aggregate(nil, { all = true })
  local needs = add_needs({}, request:resources(), 1)
  local types = tables.keys(needs)
  table.sort(types, function(x, y) return x > y end) -- nodes before cores
  for _, type in ipairs(types) do
    local row, need = rows[type] or NONE, needs[type]
    local have = not now and row.total or need.whole and row.idle or row.free
    if need.n > have then
      return explain_text.shortage {
        part = { { type = type, count = need.n } }, type = type, need = need.n, have = have, total = row.total, ideal = not now,
      }
    end
  end
end

--- Returns a sentence about the first type of which too little is up and free now, or nil.
function M:short(request) return too_little(self, request, true) end

-- Returns what the constraint of a request names that does not exist, or the constraint: " (constraint: property=a)".
local function about_constraint(report, request)
  local names = tables.map(report.missing or {}, function(property) return ('"%s"'):format(property.name) end)
  if #names > 0 then return (" Nothing has the property %s."):format(table.concat(names, ", ")) end
  if not (report.shortage and report.shortage.constrained) then return "" end
  local constraint = core.json_decode(request:format "json").attributes.system.constraints
  return (" The constraint is %s."):format(explain_text.constraint(constraint))
end

-- Returns the explanation of a request in one sentence or two. Takes as long as an explanation does. `known`: see about.lua.
local function explained(self, request, known)
  local report = self.host.engine:explain(request, { about = known })
  if not report then return nil end
  if report.fits then return "it would fit; it is not its turn" end
  local text = report.shortage and explain_text.with_ranks(explain_text.shortage, report.shortage) or explain_text.headline(report)
  return jobid.with_ids(text .. about_constraint(report, request), self.host.jobs)
end

--- Returns why a request can never be met. `known`: what is known of the job, see about.lua.
function M:never(request, known)
  local detail = too_little(self, request)
  if not detail and self.host.graph:count() <= VERTICES then detail = explained(self, request, known) end
  return "unsatisfiable request: " .. (detail or "it can never be met on these resources")
end

--- Returns why a job waits, by a full explanation; to be called in a copy of the scheduler.
function M:reason(id)
  local job = self.host.jobs[id]
  return job and explained(self, job.request, about.of(job)) or nil
end

--- Notes the time needed to copy the scheduler. Unrequested copies use at most 1 % of the time.
function M:copied(seconds) self.next = math.max(self.next, self.host.ticks() + 100 * seconds) end

--- Writes the reason found by a copy of the scheduler.
function M:set_reason(id, text)
  local job = self.host.jobs[id]
  if job and job.state == "pending" then write(self, job, "reason_pending", text .. policies.remark(self.host, job)) end
end

-- Says so where a queue policy starts nothing: no job of the queue runs, no start is planned, and the first job fits.
local function look_for_idle(self, job)
  local host, group = self.host, job.group
  if group.running > 0 or group.idle or group.dead or job.reserved or host.again or host.dirty then return end
  if host.queues:waiting(group)[1] ~= job.id or not preempt.fits(host, job) then return end
  group.idle = true
  host.log("warning", ("queue policy %s: it starts nothing, though jobs wait, nothing runs, and job %s fits")
    :format(group.name, jobid.f58(job.id)))
end

-- Writes why the first jobs of each queue wait, for jobs without a reason since resources became free last. Reasons
-- that need a full explanation are requested from a copy, one at a time, if copies are possible.
local function reasons(self)
  local asked = false
  self.late = next(self.changed) ~= nil
  for _, id in ipairs(self.host.queues:heads(FIRST)) do
    local job = self.host.jobs[id]
    if job and job.state == "pending" and job.reasoned ~= self.host.releases then
      local quick = too_little(self, job.request, true)
      if not quick then look_for_idle(self, job) end
      if quick then write(self, job, "reason_pending", quick .. policies.remark(self.host, job)) end
      if not quick and not asked then self.host.answer.explain(id) end
      if quick or not asked then job.reasoned = self.host.releases else self.late = true end
      asked = asked or not quick
    end
  end
end

--- Writes annotations after a pass, and when deferred ones are due.
function M:write()
  if not self.on then return end
  if next(self.changed) then estimates(self) end
  local now = self.host.ticks()
  self.late = self.host.settings["as-fluxion"] == "false" -- Fluxion gives no reasons
  if now < self.next or not self.late then return end
  reasons(self)
  local took = self.host.ticks() - now
  self.next = math.max(self.next, now + math.max(EVERY, 20 * took))
end

--- Returns the seconds until deferred annotations are due, or nil.
function M:wait() return self.on and self.late and math.max(self.next - self.host.ticks(), 0.001) or nil end

--- Makes the annotations of a scheduler.
function M.new(host)
  return setmetatable({ host = host, changed = {}, next = 0, late = false, on = host.settings.annotate == "true" }, M)
end

return M
