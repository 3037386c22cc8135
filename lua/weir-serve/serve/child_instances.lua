--- child_instances.lua - child services. The allocation of a job is the machine of a child service. The child acquires
-- the targets of the job from here, gives targets back, and may ask for more.
--
-- Each job opened by a child has a provider of its own. The targets of the provider are the targets of the job in the
-- schedules; `update` brings the provider up to date and sends the child the differences. The group of the protocol is
-- called "job.N".
--
-- Invariant: a target that a child holds, or is requested to return ("leaving"), stays with the job: in the schedules,
-- or, after the target was taken away from here, as owed in the scheduler client. Only a release by the child or the
-- end of the job frees the target. A child may be gone for a while without losing anything; after its return the child
-- is requested again to return targets still leaving.

local core = require "weir.core"
local tables = require "weir.tables"
local target_r = require "weir.serve.target_r"
local service_state = require "weir.serve.service_state"
local providers = require "weir.acquire.provider"

local M = {}

local ChildInstances = {}
ChildInstances.__index = ChildInstances

local GROUP = "default" -- of all targets of a child

-- ---- targets of a job -----------------------------------------------------------------------------------------------

local function above_ranks(v) return v.rank == nil end

-- Returns the ids of the targets of allocation `a`. A pick above targets, such as a rack, means all targets
-- below.
local function ranks_of(a)
  local ids, seen = {}, {}
  local function note(rank)
    if rank and not seen[rank] then
      seen[rank] = true
      ids[#ids + 1] = rank
    end
  end
  for _, pick in ipairs(a:vertices()) do
    local v = pick.vertex
    note(v.rank)
    if not v.rank and pick.exclusive and v:nchildren() > 0 then
      for below in v:graph():walk { start = v, prune = above_ranks } do note(below.rank) end
    end
  end
  return core.idset(ids)
end

-- Returns two idsets: the targets of a job in the schedules, and targets taken away under the running job.
local function targets_of(self, job)
  local a, ids = self.service.engine:job(job), {}
  local has = a and a.state == "allocated" and ranks_of(a) or core.idset()
  for target, users in pairs(self.service.follower:owing()) do
    if users[job] then ids[#ids + 1] = target end
  end
  return has, core.idset(ids) - has
end

-- Returns the targets of `set` usable for jobs, once free: up and online.
local function usable(self, set)
  local follower = self.service.follower
  return target_r.up(follower.targets, set & follower.consumer:online())
end

-- ---- children -------------------------------------------------------------------------------------------------------

-- Returns the end of a job, 0 without an end.
local function end_of(self, job)
  local a = self.service.engine:job(job)
  return a and a.duration < math.huge and a.at + a.duration or 0
end

local function make(self, job, leaving, passing)
  local has, owed = targets_of(self, job)
  local child = { job = job, leaving = (leaving & has) | owed, passing = passing, stop = end_of(self, job) }
  local targets = has - child.leaving
  child.provider = providers.new {
    targets = targets, up = usable(self, targets),
    resources = function(set) return service_state.strip(self.service.engine:job(job):rset():on_ranks(set):table "rv1") end,
    send = function(call, response) call.more(response) end,
  }
  self.children[job] = child
  return child
end

--- Returns the child of a job, or nil if no child has opened the job.
function ChildInstances:of(job) return self.children[job] end

--- Returns the child with a group ("job.N") of the protocol, or nil.
function ChildInstances:of_group(group)
  local job = type(group) == "string" and group:match "^job%.(%d+)$"
  return job and self.children[math.tointeger(tonumber(job))]
end

--- Opens the allocation of a job to a child; an open job stays as before. Returns the child; or nil, message, code.
function ChildInstances:open(job)
  if self.children[job] then return self.children[job] end
  local has, owed = targets_of(self, job)
  if has:empty() and owed:empty() then return nil, ("job %d: there is no such job that has targets now"):format(job), "unknown" end
  self.service:keeps()
  return make(self, job, core.idset(), core.idset())
end

--- Returns the description of a child (job, group, targets, leaving, acquired) as plain data.
function M.describe(child)
  return {
    job = child.job, group = ("job.%d"):format(child.job), targets = tostring(child.provider.targets), leaving = tostring(child.leaving),
    acquired = next(child.provider.streams) ~= nil,
  }
end

--- Returns the descriptions of all children, by ascending job.
function ChildInstances:list()
  local list = core.array {}
  for _, child in pairs(self.children) do list[#list + 1] = M.describe(child) end
  return tables.sort(list, "job")
end

--- Serves resource.acquire of a child: true; or nil, message, code. Targets still leaving when the child went are still
-- leaving.
function M.acquire(child, call, payload)
  return child.provider:acquire(call, { group = GROUP, expiration = payload.expiration }, child.leaving)
end

-- ---- following the books --------------------------------------------------------------------------------------------

local function over(self, child, why)
  self.children[child.job] = nil
  self.service:keeps()
  for call in pairs(child.provider.streams) do call.fail(why, "over") end
end

-- Sends a child all changes of the targets of its job; ends the child if the job has no target
-- left.
local function follow(self, child)
  local has, owed = targets_of(self, child.job)
  if has:empty() and owed:empty() then return over(self, child, ("job %d is over"):format(child.job)) end
  local leaving, provider = (child.leaving & has) | owed, child.provider
  if leaving ~= child.leaving then self.service:keeps() end
  child.leaving = leaving
  local wanted = has - leaving
  local gone = provider.targets - wanted
  if not gone:empty() then assert(provider:remove(gone)) end
  local new = wanted - provider.targets - provider:taken()
  if not new:empty() then assert(provider:add(new, { up = usable(self, new) })) end
  local up = usable(self, provider.targets)
  local on, off = up - provider.up, provider.up - up
  if not on:empty() then assert(provider:online(on)) end
  if not off:empty() then assert(provider:offline(off)) end
  local stop = end_of(self, child.job)
  if stop ~= child.stop then assert(provider:expire(stop)) end
  child.stop = stop
end

--- Notes a change of the targets of `job`, or of any job if nil, for the next update.
function ChildInstances:touch(job)
  if next(self.children) then self.touched[job or "all"] = true end
end

--- Notifies the children of all changes noted since the last update. Costs nothing if none was noted.
function ChildInstances:update()
  local touched = self.touched
  if not next(touched) then return end
  self.touched = {}
  local jobs = {}
  for job in pairs(self.children) do
    if touched.all or touched[job] then jobs[#jobs + 1] = job end
  end
  table.sort(jobs)
  for _, job in ipairs(jobs) do follow(self, self.children[job]) end
end

-- ---- back and forth -------------------------------------------------------------------------------------------------

--- Requests targets back from a child. Returns true; or nil, message, code. With `pass`, targets go on to the parent of
-- the service as soon as they are released.
function ChildInstances:ask_back(child, what, pass)
  local ok, set = pcall(core.idset, what)
  if not ok or not set or set:empty() then return nil, 'ranks: expected an idset such as "0-3,7"', "invalid" end
  local has = targets_of(self, child.job)
  if not has:contains(set) then return nil, ("job %d has no target %s"):format(child.job, tostring(set - has)), "unknown" end
  child.leaving = child.leaving | set
  if pass then child.passing = child.passing | set end
  self.service:keeps()
  self:touch(child.job)
  self:update()
  return true
end

--- Serves resource.release of a child. Returns an empty payload; or nil, message, code.
function ChildInstances:release(child, mine, targets)
  local payload = { group = GROUP, targets = targets }
  local done, why, code = child.provider:release(mine, payload, ("job.%d"):format(child.job))
  if not done then return nil, why, code end
  local set = core.idset(targets)
  local passing = child.passing & set
  child.leaving, child.passing = child.leaving - set, child.passing - set
  self.service.follower:free(child.job, tostring(set)) -- frees nothing if the job was shrunk meanwhile
  self.service:keeps()
  self:touch(child.job)
  if not passing:empty() and self.service.parent then self.service.parent:give(passing) end
  return done
end

--- Returns a copy of `request` with a constraint against the targets that the job has already: a child gets each target
-- once, as shrink and release (RFC 28) name targets and no parts, so a part of a target of the job cannot be added.
function ChildInstances:on_other_targets(child, request)
  local has, owed = targets_of(self, child.job)
  local spec = core.json_decode(request:format "json")
  local attributes = spec.attributes or {}
  local system = attributes.system or {}
  local other = { ["not"] = { { ranks = { tostring(has | owed) } } } }
  system.constraints = system.constraints and { ["and"] = { system.constraints, other } } or other
  attributes.system, spec.attributes = system, attributes
  return assert(core.request(core.json_encode(spec)))
end

--- Returns why a request of a child's job was refused, and the code: where the request fits but for the targets that the job
-- has, that is the reason. options: of a match; why, code: what the engine says.
function ChildInstances:refusal(child, request, options, why, code)
  options.mode = "preview"
  if not self.service.engine:match(request, options) then return why, code end
  local has, owed = targets_of(self, child.job)
  return ("job %d has a part of what would fit, on targets %s: a child gets a target once, and more of it only after it has given "
    .. "that back (RFC 28, lines 50 and 290)"):format(child.job, tostring(has | owed)), "busy"
end

-- Returns true if `v` or a vertex below is part of a target.
local function has_targets(v)
  for below in v:graph():walk { start = v, prune = above_ranks } do
    if below.rank then return true end
  end
  return false
end

--- Returns true if the match of `request` can be given to a child: all picks are targets, or contain targets. Storage
--- of a rack, for example, is on no target, and the job may hold a part of the storage already. Otherwise nil, message,
--- code. A request without a match passes: explaining the failure is left to the match.
function ChildInstances:fits(request)
  local a = self.service.engine:match(request, { mode = "preview" })
  for _, pick in ipairs(a and a:vertices() or {}) do
    local v = pick.vertex
    if not v.rank and not has_targets(v) then
      return nil, ("%s is on no target: a job gets that at its beginning, but a child gets only targets later"):format(v.path), "invalid"
    end
  end
  return true
end

--- Ends the streams of a connection, or the stream `call`.
function ChildInstances:leave(client, call)
  for _, child in pairs(self.children) do
    for key in pairs(child.provider.streams) do
      if key == call or client and key.client == client then child.provider:disconnect(key) end
    end
  end
end

--- Ends all streams with an error.
function ChildInstances:close(why, code)
  for _, child in pairs(self.children) do
    for call in pairs(child.provider.streams) do call.fail(why, code) end
  end
end

--- Returns as plain data the idsets of all children for M.new; must outlive the process.
function ChildInstances:save()
  local data = {}
  for job, child in pairs(self.children) do
    data[tostring(job)] = { leaving = tostring(child.leaving), passing = tostring(child.passing) }
  end
  return data
end

--- Makes the children of a service. `known`: result of an earlier `save`, or nil; entries of ended jobs are dropped.
function M.new(service, known)
  local self = setmetatable({ service = service, children = {}, touched = {} }, ChildInstances)
  for job, entry in pairs(known or {}) do
    local id = math.tointeger(tonumber(job))
    local has, owed = targets_of(self, id)
    if not (has:empty() and owed:empty()) then make(self, id, core.idset(entry.leaving), core.idset(entry.passing)) end
  end
  return self
end

return M
