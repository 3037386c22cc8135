--- nested.lua - instances within this one: what a job has is the machine of a child service, which acquires it, gives parts of it back
-- and may get more.
--
-- Each job that a child has opened has a provider of its own, whose targets are what the job has in the books. `update` brings it up to
-- date with them; what differs is what the child is told. The group of the protocol is called "job.N".
--
-- Invariant: what a child has, or is to give back ("leaving"), stays the job's, in the books or, where it was taken away from here,
-- noted as such by the follower. It goes by the child's release or with the job, and by nothing else: a child that is gone for a
-- while loses nothing, and is told when it returns what it is to give back.

local core = require "weir.core"
local inventory = require "weir.serve.inventory"
local keep = require "weir.serve.keep"
local providers = require "weir.acquire.provider"

local M = {}

local Nested = {}
Nested.__index = Nested

local ALL = { group = "default" }

-- ---- what a job has ------------------------------------------------------------------------------------------------------------

local function above_ranks(v) return v.rank == nil end

-- The targets of what a job was given; where that is around targets, such as a rack, those in it.
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

-- Targets that a job has in the books, and those that were taken away while it was on them.
local function targets_of(self, job)
  local a, ids = self.service.engine:job(job), {}
  local has = a and a.state == "allocated" and ranks_of(a) or core.idset()
  for target, users in pairs(self.service.follower:owing()) do
    if users[job] then ids[#ids + 1] = target end
  end
  return has, core.idset(ids) - has
end

-- Those on which jobs could be placed here, if nobody had them.
local function usable(self, set)
  local follower = self.service.follower
  return inventory.up(follower.targets, set & follower.consumer:online())
end

-- ---- children ------------------------------------------------------------------------------------------------------------------

local function make(self, job, leaving, passing)
  local has, owed = targets_of(self, job)
  local child = { job = job, leaving = (leaving & has) | owed, passing = passing }
  local targets = has - child.leaving
  child.provider = providers.new {
    targets = targets, up = usable(self, targets),
    resources = function(set) return keep.strip(self.service.engine:job(job):rset():on_ranks(set):table "rv1") end,
    send = function(call, response) call.more(response) end,
  }
  self.children[job] = child
  return child
end

--- The child of a job, if one has opened it.
function Nested:of(job) return self.children[job] end

--- The child whose group this is, or nil.
function Nested:of_group(group)
  local job = type(group) == "string" and group:match "^job%.(%d+)$"
  return job and self.children[math.tointeger(tonumber(job))]
end

--- Opens what a job has to a child; again, where it is open already: the child; or nil, message, code.
function Nested:open(job)
  if self.children[job] then return self.children[job] end
  local has, owed = targets_of(self, job)
  if has:empty() and owed:empty() then return nil, ("job %d: there is no such job that has targets now"):format(job), "unknown" end
  self.service:keeps()
  return make(self, job, core.idset(), core.idset())
end

--- What a child is told about itself, as plain data.
function M.describe(child)
  return {
    job = child.job, group = ("job.%d"):format(child.job), targets = tostring(child.provider.targets), leaving = tostring(child.leaving),
    acquired = next(child.provider.streams) ~= nil,
  }
end

--- All of them.
function Nested:list()
  local list = core.array {}
  for _, child in pairs(self.children) do list[#list + 1] = M.describe(child) end
  table.sort(list, function(a, b) return a.job < b.job end)
  return list
end

--- resource.acquire of a child: true; or nil, message, code. What it was to give back before it went, it still is.
function M.acquire(child, call) return child.provider:acquire(call, ALL, child.leaving) end

-- ---- following the books -------------------------------------------------------------------------------------------------------

local function over(self, child, why)
  self.children[child.job] = nil
  self.service:keeps()
  for call in pairs(child.provider.streams) do call.fail(why, "over") end
end

-- Everything that has changed about the targets of a child goes to it.
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
end

--- Something about a job has changed, or about all (nil).
function Nested:touch(job)
  if next(self.children) then self.touched[job or "all"] = true end
end

--- Tells children what has changed since the last time.
function Nested:update()
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

-- ---- back and forth ------------------------------------------------------------------------------------------------------------

--- Asks a child to give targets back: true; or nil, message, code. pass: when they are free here, on to the parent of this service.
function Nested:ask_back(child, what, pass)
  local ok, set = pcall(core.idset, what)
  if not ok or not set or set:empty() then return nil, 'ranks: an idset such as "0-3,7" is wanted', "invalid" end
  local has = targets_of(self, child.job)
  if not has:contains(set) then return nil, ("job %d has no target %s"):format(child.job, tostring(set - has)), "unknown" end
  child.leaving = child.leaving | set
  if pass then child.passing = child.passing | set end
  self.service:keeps()
  self:touch(child.job)
  self:update()
  return true
end

--- resource.release of a child: an empty payload; or nil, message, code.
function Nested:release(child, mine, targets)
  local done, why, code = child.provider:release(mine, { group = ALL.group, targets = targets })
  if not done then return nil, why, code end
  local set = core.idset(targets)
  local passing = child.passing & set
  child.leaving, child.passing = child.leaving - set, child.passing - set
  self.service.follower:free(child.job, tostring(set)) -- nothing, where the job was shrunk by others meanwhile
  self.service:keeps()
  self:touch(child.job)
  if not passing:empty() and self.service.parent then self.service.parent:give(passing) end
  return done
end

--- A request for more, on targets that the job does not have yet: what a target has is handed to a child as a whole.
function Nested:elsewhere(child, request)
  local has, owed = targets_of(self, child.job)
  local spec = core.json_decode(request:format "json")
  local attributes = spec.attributes or {}
  local system = attributes.system or {}
  local other = { ["not"] = { { ranks = { tostring(has | owed) } } } }
  system.constraints = system.constraints and { ["and"] = { system.constraints, other } } or other
  attributes.system, spec.attributes = system, attributes
  return assert(core.request(core.json_encode(spec), "request"))
end

-- Whether a target is there or below.
local function has_targets(v)
  for below in v:graph():walk { start = v, prune = above_ranks } do
    if below.rank then return true end
  end
  return false
end

--- Whether what a request would get can be handed to a child: targets, and nothing that is on none of them, such as storage of a rack,
--- of which it may have a part already. Or nil, message, code; why it finds nothing is the match's to say.
function Nested:fits(request)
  local a = self.service.engine:match(request, { mode = "preview" })
  for _, pick in ipairs(a and a:vertices() or {}) do
    local v = pick.vertex
    if not v.rank and not has_targets(v) then
      return nil, ("%s is on no target: a job gets that at its beginning, but a child gets only targets later"):format(v.path), "invalid"
    end
  end
  return true
end

--- A connection, or (call) one stream, is gone.
function Nested:leave(client, call)
  for _, child in pairs(self.children) do
    for key in pairs(child.provider.streams) do
      if key == call or client and key.client == client then child.provider:disconnect(key) end
    end
  end
end

--- All streams end with an error.
function Nested:close(why, code)
  for _, child in pairs(self.children) do
    for call in pairs(child.provider.streams) do call.fail(why, code) end
  end
end

--- What has to outlive the process, as plain data.
function Nested:save()
  local data = {}
  for job, child in pairs(self.children) do
    data[tostring(job)] = { leaving = tostring(child.leaving), passing = tostring(child.passing) }
  end
  return data
end

--- Children of a service; known: what `save` gave. Those of jobs that are gone are forgotten.
function M.new(service, known)
  local self = setmetatable({ service = service, children = {}, touched = {} }, Nested)
  for job, entry in pairs(known or {}) do
    local id = math.tointeger(tonumber(job))
    local has, owed = targets_of(self, id)
    if not (has:empty() and owed:empty()) then make(self, id, core.idset(entry.leaving), core.idset(entry.passing)) end
  end
  return self
end

return M
