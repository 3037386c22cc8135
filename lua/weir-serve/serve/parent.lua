--- parent.lua - a service's client for its parent: the service acquires its machine from the parent by
-- resource.acquire.
--
-- Responses of the parent's stream go to the provider of the service, and from the provider, by the protocol of RFC
-- 28, to all schedulers. A target taken away by a shrink is released as soon as no stream of the provider and no job
-- holds the target. No I/O here: see peer_connection.lua, which also reconnects. After a reconnect the sets of both
-- sides are compared: targets no longer given leave, new targets come, and targets that were to be given back still
-- are.
--
-- While disconnected, a service with the allocation of a job continues scheduling, since the allocation stays with the
-- job. The targets of a group could meanwhile be acquired by another scheduler, so no new job is placed on the targets
-- of a group.

local consumers = require "weir.acquire.consumer"
local core = require "weir.core"
local rset = require "weir.rset"
local targets = require "weir.acquire.targets"

local M = {}

local Parent = {}
Parent.__index = Parent

-- LATER: codes of errors after which a retry makes sense.
local LATER = { busy = true, unavailable = true, io = true, internal = true, limit = true }

--- Parses "unix:PATH", "unix:PATH#JOB" or "unix:PATH#GROUP". Returns {socket =, job = or group =}; or nil, message,
-- code.
function M.address(text)
  local socket, fragment = text:match "^([^#]+)#?(.*)$"
  if not socket then return nil, "--parent: expected unix:PATH#JOB or unix:PATH#GROUP", "invalid" end
  local job = fragment:find "^%d+$" and math.tointeger(tonumber(fragment))
  if job == 0 then return nil, "--parent: jobs have numbers from 1 on", "invalid" end
  return { socket = socket, job = job or nil, group = not job and (fragment ~= "" and fragment or "default") or nil }
end

-- ---- responses of the parent ----------------------------------------------------------------------------------------

local function tell(self)
  local status = self:status()
  status.event = "parent"
  self.service:event(status)
end

-- Adds new targets to the service. A target still leaving from an earlier acquisition waits until the target is
-- released.
local function adopt(self, R, ids)
  local busy = self.service.provider:taken()
  local now = ids - busy
  if not (ids & busy):empty() then table.insert(self.later, { ids = ids & busy, R = R }) end
  if not now:empty() then self.service:adopt(R, now, now & self.consumer:online()) end
end

local function adopt_late(self)
  local waiting = self.later
  self.later = {}
  for _, entry in ipairs(waiting) do adopt(self, entry.R, entry.ids & self.consumer:acquired()) end
end

local function withdraw(self, set)
  set = set & self.service.provider.targets
  if not set:empty() then self.service:withdraw(set) end
end

-- Marks as online the targets of `online` known to the provider, and as offline the rest of `all`.
local function set_online(self, all, online)
  local provider = self.service.provider
  local on, off = (online & provider.targets) - provider.up, (all - online) & provider.up
  if not on:empty() then assert(provider:online(on)) end
  if not off:empty() then assert(provider:offline(off)) end
  self.service:settle()
end

-- Gives the service the time in which the resources of the parent are valid.
local function set_validity(self)
  if self.times then self.service:set_validity(self.times.start, self.times.stop) end
end

-- Compares the first response after a connect with the targets here, and brings the service up to date.
local function reconcile(self)
  local first, here = self.first, self.service.provider.targets
  self.first, self.same, self.connected, self.problem = nil, true, true, nil
  set_validity(self)
  withdraw(self, here - first.ids)
  set_online(self, first.ids & here, first.online)
  adopt(self, first.R, first.ids - here)
  self.consumer:owe(self.name, self.owed)
  self.service:settle()
  tell(self)
end

local On = {}

function On.ranks(self, R)
  local why
  self.read, why = rset.new(R, "resources")
  if not self.read then return nil, why end
  return core.idset(self.read:ranks())
end

function On.grow(self, _, ids, online)
  local set = self.read -- the parent's set as read when the stream began
  self.read = nil
  self.times = { start = set:starttime(), stop = set:expiration() }
  if self.same then
    set_validity(self)
    adopt(self, set, ids)
    return tell(self)
  end
  self.first = { R = set, ids = ids, online = online }
  if self.service then reconcile(self) end
end

function On.shrink(self, set)
  withdraw(self, set)
  self.service:settle()
  tell(self)
end

function On.online(self, set)
  set_online(self, core.idset(), set)
  tell(self)
end

function On.offline(self, set)
  set_online(self, set, core.idset())
  tell(self)
end

function On.expiration(self, time)
  self.times = { start = self.times and self.times.start, stop = time > 0 and time or nil }
  if self.service then set_validity(self) end
end

-- Ends the service's use of the parent: the allocation is over and all jobs on it end, or parent and service do not
-- understand each other.
function On.exit(self, why)
  why = why:gsub("^group %S+: ", "")
  self.over = why
  self.link:close()
  if not self.service then return end
  self.service.opts.log(("the parent has ended this service: %s"):format(why))
  withdraw(self, self.service.provider.targets)
  self.service.child_instances:update()
  self.service.child_instances:close("the instance around this one has ended: " .. why, "over")
  self.service:event { event = "exit", note = why }
  self.stop(why)
end

-- ---- the connection -------------------------------------------------------------------------------------------------

-- Handles an error answer: a retry later, or the end.
local function refused(self, why, code)
  if LATER[code] then return self.link:again(why) end
  self.consumer:error(self.name, why)
end

local function on_response(self, result, why, code)
  if self.over then return end
  if result == nil then return refused(self, why, code) end
  self.consumer:receive(self.name, result)
end

-- Opens the allocation of the job, then acquires it.
local function on_open(self)
  self.reached = true
  if not self.job then return self.consumer:start() end
  self.link:send("child.open", { job = self.job }, function(result, why, code)
    if not result then return refused(self, why, code) end
    self.owed = core.idset(result.leaving)
    self.consumer:start()
    if result.targets ~= "" then return end -- nothing comes but targets to be given back
    self.first = { R = rset.new(), ids = core.idset(), online = core.idset() }
    if self.service then reconcile(self) end
  end)
end

local function on_closed(self, why)
  self.absent = not self.reached -- no parent answered at the start
  local was = self.connected
  self.connected, self.same, self.first, self.later, self.problem = false, false, nil, {}, why
  self.consumer:disconnected()
  self.owed = core.idset()
  if not self.service then return end
  if self.group then set_online(self, self.service.provider.targets, core.idset()) end
  if not was then return end
  self.service.opts.log("the parent is gone: " .. why)
  tell(self)
end

-- ---- requests to the parent -----------------------------------------------------------------------------------------

local function unreachable(self)
  return not self.connected and "the parent is not there: " .. (self.problem or "it does not answer") or nil
end

--- Requests more resources from the parent. Calls done(result) or done(nil, message, code), later or at once.
function Parent:grow(request, done)
  if unreachable(self) then return done(nil, unreachable(self), "unavailable") end
  if not self.job then return done(nil, "a group grows by what its administrators move into it; only a job can ask for more", "invalid") end
  self.link:send("grow", { job = self.job, request = request:format "json", format = "none", pass = true }, done)
end

-- Returns why targets of `set` are in use, or nil: jobs of the service's own count, and all targets acquired by other
-- schedulers.
local function used(self, set)
  local service = self.service
  for target in set:ids() do
    local job = next(service.follower.targets:jobs(target))
    if job then return ("job %d is on target %d"):format(job, target) end
  end
  local others = set & (service.provider.targets - service.follower.consumer:acquired())
  if others:empty() then return nil end
  return ("target %s is not scheduled by this service itself, so it may be in use"):format(tostring(others))
end

--- Gives targets back to the parent. Returns true, and calls done(result) or done(nil, message, code) later; or nil,
-- message, code. opts: force, pass.
function Parent:shrink(what, opts, done)
  local ok, set = pcall(core.idset, what)
  if not ok or not set or set:empty() then return nil, 'targets: expected an idset such as "4-5"', "invalid" end
  if unreachable(self) then return nil, unreachable(self), "unavailable" end
  if not self.job then return nil, "what is in a group of the parent's is given back by its administrators", "invalid" end
  local strange = set - self.consumer:acquired()
  if not strange:empty() then return nil, ("target %s was not acquired from the parent"):format(tostring(strange)), "unknown" end
  local why = not opts.force and used(self, set)
  if why then return nil, why .. '; with "force" it gets a fatal exception', "busy" end
  set_online(self, set, core.idset()) -- no job is placed on the targets while the parent answers
  self.link:send("shrink", { job = self.job, ranks = tostring(set), pass = opts.pass }, function(result, message, code)
    if not result then set_online(self, core.idset(), set & self.consumer:online()) end
    done(result, message, code)
  end)
  return true
end

--- Gives back the targets of `set`, released by a child, as far as they were acquired from the parent.
function Parent:give(set)
  local mine = set & self.consumer:acquired()
  if mine:empty() then return end
  self:shrink(tostring(mine), { pass = true }, function(_, why)
    if why then self.service.opts.log(("target %s was not given back: %s"):format(tostring(mine), why)) end
  end)
end

--- Releases leaving targets no longer in use, and adds targets that waited for a release. To be called after each
-- change.
function Parent:settle()
  if self.later[1] then adopt_late(self) end
  local leaving = self.consumer:leaving()
  if leaving:empty() then return end
  local busy = self.service.provider:taken()
  for target in pairs(self.service.follower:owing()) do busy = busy | core.idset { target } end
  if not (leaving - busy):empty() then self.consumer:freed(leaving - busy) end
end

--- Returns the state of the connection and the targets as plain data.
function Parent:status()
  local provider = self.service.provider
  return {
    parent = self.socket, job = self.job, group = self.group, connected = self.connected, problem = self.problem,
    acquired = tostring(provider.targets), online = tostring(provider.up), leaving = tostring(self.consumer:leaving()),
  }
end

--- Reconnects, after the service was restored from its store.
function Parent:reconnect(why) self.link:again(why) end

--- Sends pending requests. To be called after the state they rely on was saved.
function Parent:flush() self.link:flush() end

-- ---- construction ---------------------------------------------------------------------------------------------------

--- Returns the graph of the parent's first response, for a service without a graph of its own; or nil and a message if
-- no response came.
function Parent:graph()
  if not self.first then return nil, self.over or self.problem or "it does not answer" end
  return M.prepare(targets.unblock(assert(self.first.R:graph())))
end

--- Adds a root next to the targets. Data of the service is kept on a root, and targets could leave.
function M.prepare(graph)
  for _, root in ipairs(graph:roots()) do
    if not root.rank then return graph end
  end
  assert(graph:add(nil, { type = "instance" }))
  return graph
end

--- Makes the parent the inventory of a service. stop(why) ends the service.
function Parent:attach(service, stop)
  self.service, self.stop, service.parent = service, stop, self
  if self.first then return reconcile(self) end
  if self.group then set_online(self, service.provider.targets, core.idset()) end
end

--- Makes the client of a parent. `address`: result of M.address; make_link(events) makes the connection (see
-- peer_connection.lua).
function M.new(address, make_link)
  local self = setmetatable({
    socket = address.socket, job = address.job, group = address.group, connected = false, same = false, later = {}, owed = core.idset(),
    name = address.job and ("job.%d"):format(address.job) or address.group,
  }, Parent)
  local on = {}
  for name, f in pairs(On) do
    on[name] = function(...) return f(self, ...) end
  end
  self.consumer = consumers.new {
    groups = { self.name }, on = on, expiration = true,
    send = function(method, payload)
      local streams = method == "resource.acquire"
      self.link:send(method, payload, function(result, why, code)
        if streams or not result then on_response(self, result, why, code) end
      end)
    end,
  }
  self.link = make_link {
    open = function() on_open(self) end, closed = function(why) on_closed(self, why) end,
  }
  return self
end

return M
