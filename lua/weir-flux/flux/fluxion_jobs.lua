--- fluxion_jobs.lua - resources taken outside of Flux's jobs: the requests match, update, cancel, partial-cancel and info to
-- sched-fluxion-resource. What match allocate or update takes is booked in the engine under the number that was given, like the
-- resources of a job, and no job of Flux gets it until it is cancelled. Nothing of it outlives the module, as with Fluxion.
--
-- Jobs of Flux are left alone: their resources are given and taken back by the job manager only.

local core = require "weir.core"
local jobid = require "weir.flux.jobid"
local jobspec = require "weir.flux.jobspec"
local recover = require "weir.acquire.recover"
local rset = require "weir.rset"

local M = {}

local encode = core.json_encode
local LARGEST = (1 << 53) - 1 -- numbers that all readers of JSON distinguish

-- The number in the engine, where no job is 0, of resources with the number 0; and back.
local ZERO = LARGEST + 1
local function inner(id) return id == 0 and ZERO or id end
local function outer(id) return id == ZERO and 0 or id end

local function job_of(self, id) return math.type(id) == "integer" and self.engine:job(inner(id)) or nil end

-- Returns the job of the engine with a number that is not one of Flux; or nil, message, code.
local function beside(self, id)
  local a = job_of(self, id)
  if not a then return nil, "the scheduler has no resources for this job", "unknown" end
  if self.jobs[id] then
    return nil, ("%s is a job of Flux: flux cancel ends it, and gives its resources back"):format(jobid.f58(id)), "rejected"
  end
  return a
end

-- Notifies the queue policies that resources have become free, or that a reservation was made or dropped.
local function changed(self)
  self.releases, self.promises, self.dirty = self.releases + 1, self.promises + 1, true
  self.queues:tell_all("change", true)
end

-- Returns a number for new resources: the given one; or nil, message, code.
local function number_of(self, id)
  if math.type(id) ~= "integer" or id < 0 then return nil, "jobid: expected a number", "invalid" end
  if self.jobs[id] or job_of(self, id) then return nil, ("there is a job %d already"):format(id), "invalid" end
  return id
end

local function format_of(self)
  local format = self.settings["R-format"]
  return format == "rv1" and "rv1" or "rv1_nosched"
end

-- Returns the answer for resources, whose times are in whole seconds, as scripts compute with them.
local function answer(self, id, status, a)
  local R = self:written(a, format_of(self))
  for _, key in ipairs { "starttime", "expiration" } do R = R:gsub(('("%s":%%d+)%%.%%d+'):format(key), "%1", 1) end
  return encode { jobid = id, status = status, overhead = self.times.last, R = R, at = math.floor(a.at) }
end

-- Returns whether a start is the expected end of a job past its time: such an end is a guess, repeated while the job runs.
local function is_guess(self, t)
  for _, job in pairs(self.jobs) do
    if job.state == "running" and job.first_due and job.due == t then return true end
  end
  return false
end

local MODES = { allocate = "now", allocate_with_satisfiability = "now", allocate_orelse_reserve = "reserve",
  without_allocating = "preview", without_allocating_future = "reserve", satisfiability = "feasible" }
local CODE = { busy = "taken", infeasible = "unsatisfiable" } -- EBUSY and ENODEV, which scripts distinguish
local STATUS = { allocated = "ALLOCATED", reserved = "RESERVED" }

-- Returns a type of a list of resources that no vertex has, or nil.
local function unknown_among(graph, resources)
  for _, r in ipairs(resources) do
    local known = r.type == "slot" or r.type == "or_slot"
    for _, name in ipairs(known and {} or graph:types()) do known = known or name == r.type end
    local below = known and unknown_among(graph, r.with or {})
    if not known or below then return below or r.type end
  end
end

-- Returns a type of a request that no vertex has, or nil: to Fluxion that is a mistake of the jobspec. Of several
-- alternatives each must have such a type.
local function unknown_type(graph, request)
  local first
  for _, one in ipairs(request:alternatives()) do
    local unknown = unknown_among(graph, one:resources())
    if not unknown then return nil end
    first = first or unknown
  end
  return first
end

-- Matches a request. Returns an allocation, true for satisfiability; or nil, message, code.
local function match(self, given, mode, id)
  local request, wrong = jobspec.request(tostring(given.jobspec), self.settings.traverser == "flexible")
  if not request then return nil, wrong, "invalid" end
  self:tick()
  self.engine:advance(self.now)
  local options = { mode = mode, job = inner(id), stats = false }
  local a, why, code = self.times:match(id or -1, self.engine.match, self.engine, request, options)
  local unknown = code == "infeasible" and unknown_type(self.graph, request)
  if unknown then return nil, ("jobspec: nothing here is of the type %s"):format(unknown), "invalid" end
  if not a then return nil, why, CODE[code] or code end
  if mode == "reserve" and a.at > self.now and is_guess(self, a.at) then
    assert(self.engine:release(a.id))
    return nil, "it waits for a job that is past its time, whose end is unknown", "taken"
  end
  return a
end

-- Answers what a job would get; nothing stays booked.
local function question(self, given, mode)
  local a, why, code = match(self, given, mode)
  if not a then return nil, why, code end
  local known = given.jobid or -1
  if a == true then return encode { jobid = known, status = "MATCHED", overhead = self.times.last, R = "", at = math.floor(self.now) } end
  local text = answer(self, known, "MATCHED", a)
  if mode == "reserve" then assert(self.engine:release(a.id)) end
  return text
end

local function take(self, given, mode)
  local id, wrong, code_of = number_of(self, given.jobid)
  if not id then return nil, wrong, code_of end
  local a, why, code = match(self, given, mode, id)
  if not a then return nil, why, code end
  changed(self)
  return answer(self, id, STATUS[a.state], a)
end

--- Answers {cmd =, jobid =, jobspec = text} with {"jobid", "status", "overhead", "R", "at"}. The commands allocate,
--- allocate_with_satisfiability and allocate_orelse_reserve take resources; without_allocating, without_allocating_future and
--- satisfiability return what a job would get.
function M.match(self, given)
  local mode = MODES[given.cmd]
  if not mode then return nil, ("match: there is no command %s"):format(tostring(given.cmd)), "invalid" end
  local asks = given.cmd == "satisfiability" or given.cmd:find "^without"
  return (asks and question or take)(self, given, mode)
end

-- Returns a text of JSON without blanks between its tokens.
local function compact(text)
  if text:find("\\", 1, true) then return text end
  local parts = {}
  for between, quoted in (text .. '""'):gmatch '([^"]*)("[^"]*")' do parts[#parts + 1] = between:gsub("%s+", "") .. quoted end
  return (table.concat(parts):sub(1, -3))
end

local function updated(self, id, R)
  return encode { jobid = id, status = "ALLOCATED", overhead = 0.0, R = R, at = math.floor(job_of(self, id).at) }
end

--- Answers {jobid =, R = text}: takes the resources of an R, from now until its expiration. A repeated request changes nothing.
function M.update(self, given)
  if type(given.R) ~= "string" then return nil, "R: expected a text", "invalid" end
  local taken = self.taken or {}
  local R = compact(given.R)
  if taken[given.jobid] == R and job_of(self, given.jobid) then return updated(self, given.jobid, R) end
  local id, why, code = number_of(self, given.jobid)
  if not id then return nil, why, code end
  self:tick()
  self.engine:advance(self.now)
  local here
  here, why = recover.book(self.follow.targets, inner(id), given.R)
  if not here then return nil, why, "invalid" end
  if here:empty() then return nil, "R: none of its ranks is here", "invalid" end
  changed(self)
  self.taken, taken[id] = taken, R
  return updated(self, id, R)
end

--- Answers {jobid =}: gives resources back that match or update has taken.
function M.cancel(self, given)
  local a, why, code = beside(self, given.jobid)
  if not a then return nil, why, code end
  self:tick()
  if self.taken then self.taken[outer(a.id)] = nil end
  self.follow:free(a.id)
  changed(self)
  return "{}"
end

--- Answers {jobid =, R = text}: gives back what is on the ranks of R. {"full-removal"}: 1 where nothing is left, else 0.
M["partial-cancel"] = function(self, given)
  local a, why, code = beside(self, given.jobid)
  if not a then return nil, why, code end
  local set
  set, why = rset.new(given.R, "R")
  if not set then return nil, why, "invalid" end
  self:tick()
  if self.taken then self.taken[outer(a.id)] = nil end
  local ok
  ok, why, code = self.follow:free(a.id, core.idset(set:ranks()))
  if not ok then return nil, why, code end
  changed(self)
  return encode { ["full-removal"] = job_of(self, given.jobid) and 0 or 1 }
end

--- Answers {jobid =} with {"jobid", "status", "at", "overhead"}: of a job of Flux, too.
function M.info(self, given)
  local a = job_of(self, given.jobid)
  if not a then return nil, "the scheduler has no resources for this job", "unknown" end
  return encode { jobid = given.jobid, status = STATUS[a.state], at = math.floor(a.at), overhead = 0.0 }
end

--- Answers with {"jobid"}: an unused number, one above the largest number of resources taken outside of Flux's jobs; the first is 0.
function M.next_jobid(self)
  local last = -1
  for _, a in ipairs(self.engine:jobs()) do
    if not self.jobs[a.id] then last = math.max(last, outer(a.id)) end
  end
  repeat last = last < LARGEST and last + 1 or 0 until not job_of(self, last)
  return encode { jobid = last }
end

--- Drops the reservations that requests have made. Returns how many there were.
function M.drop_reservations(self)
  local n = 0
  for _, a in ipairs(self.engine:jobs()) do
    if a.state == "reserved" and not self.jobs[a.id] then
      self.log("warning", ("the reservation %d, made by match allocate_orelse_reserve, is lost: a job needs its resources for longer")
        :format(outer(a.id)))
      assert(self.engine:release(a.id))
      n = n + 1
    end
  end
  return n
end

return M
