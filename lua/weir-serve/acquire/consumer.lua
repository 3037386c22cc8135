--- consumer.lua - the scheduler's side of the acquisition protocol (RFC 28): the targets acquired, the targets online,
-- and the targets to be given back.
--
-- A state machine without I/O and without an engine: responses go into `receive`, their effects are calls of opts.on,
-- and requests go out by opts.send(method, payload, group). See scheduler_client.lua for the engine.
--
-- Invariant: online is a subset of acquired; acquired and leaving are disjoint, and so are any two groups. A response
-- that would break the invariant is a protocol error, and ends everything as an error response does.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

local Consumer = {}
Consumer.__index = Consumer

local function none() return core.idset() end

local Broken = {}

-- Ends the reading of a response; caught in `receive`.
local function broken(...) error(setmetatable({ text = string.format(...) }, Broken), 0) end

local function read_set(value, what)
  local ok, set = pcall(core.idset, value)
  if type(value) ~= "string" or not ok or not set then broken("%s: expected an idset", what) end
  return set
end

-- Returns an idset of a response; all its targets must be acquired in the group.
local function read_held(group, value, what)
  local set = read_set(value, what)
  if not group.acquired:contains(set) then
    broken("%s: target %s is not acquired in group %s", what, tostring(set - group.acquired), group.name)
  end
  return set
end

-- ---- responses -----------------------------------------------------------------------------------------------------

local function grow(self, group, R, online, offline)
  if type(R) ~= "table" then broken "grow: expected resources, an R" end
  local all, wrong = self.on.ranks(R)
  if not all then broken("grow: resources is no R that can be read: %s", wrong or "it has no ranks") end
  if offline and (online:overlaps(offline) or (online | offline) ~= all) then
    broken("grow: online and offline are not, together, the targets %s", tostring(all))
  end
  if not all:contains(online) then broken("up: target %s is not in resources", tostring(online - all)) end
  if all:overlaps(self:held()) then broken("grow: target %s is acquired already", tostring(all & self:held())) end
  group.acquired, group.online = group.acquired | all, group.online | online
  group.ready = true
  local ok, why = self.on.grow(R, all, online, group.name)
  if ok == false then broken("grow: resources: %s", why) end
end

local function shrink(self, group, set)
  group.acquired, group.online = group.acquired - set, group.online - set
  if group.style == "typed" then group.leaving = group.leaving | set end
  self.on.shrink(set, group.style == "typed")
end

local function online(self, group, set)
  group.online = group.online | set
  self.on.online(set)
end

local function offline(self, group, set)
  group.online = group.online - set
  self.on.offline(set)
end

local TYPED = {}

function TYPED.grow(self, group, message)
  grow(self, group, message.resources, read_set(message.online, "grow: online"), read_set(message.offline, "grow: offline"))
end

function TYPED.shrink(self, group, message) shrink(self, group, read_held(group, message.targets, "shrink")) end

function TYPED.online(self, group, message) online(self, group, read_held(group, message.targets, "online")) end

function TYPED.offline(self, group, message) offline(self, group, read_held(group, message.targets, "offline")) end

-- Comes only from providers of which it was requested, see provider.lua: the text has no such type.
function TYPED.expiration(self, group, message)
  local time = message.expiration
  if not self.expiration or type(time) ~= "number" or time < 0 then broken "expiration: expected seconds since 1970" end
  self.on.expiration(time, group.name)
end

local function typed(self, group, message)
  local act = TYPED[message.type]
  if not act then broken("type: expected grow, shrink, online or offline, not \"%s\"", tostring(message.type)) end
  if not group.ready and message.type ~= "grow" then broken("%s before the first grow", message.type) end
  act(self, group, message)
end

local function properties(group, message, key, call)
  for name, targets in pairs(message[key] or {}) do call(name, read_set(targets, key) & group.acquired) end
end

-- Handles a response in the newer wording: down before up, and shrink before the down that comes with a shrink.
local function keyed(self, group, message)
  if not group.ready then return grow(self, group, message.resources, read_set(message.up, "up")) end
  local gone = message.shrink and read_held(group, message.shrink, "shrink") or none()
  local down = message.down and read_held(group, message.down, "down") or none()
  local up = message.up and read_held(group, message.up, "up") or none()
  if not gone:empty() then shrink(self, group, gone) end
  if not (down - gone):empty() then offline(self, group, down - gone) end
  if not (up - gone - down):empty() then online(self, group, up - gone - down) end
  properties(group, message, "property-add", self.on.property_add)
  properties(group, message, "property-remove", self.on.property_remove)
  if type(message.expiration) == "number" then self.on.expiration(message.expiration, group.name) end
end

-- ---- coming in ------------------------------------------------------------------------------------------------------

local function finish(self, why)
  self.failed = why
  self.on.exit(why)
  return nil, why, "protocol"
end

--- Handles a response to the acquire of a group. Returns true; or nil, message, "protocol" for a response that may not
-- come, after which the consumer is finished.
function Consumer:receive(name, message)
  local group = self.groups[name]
  if self.failed or not group then return nil, self.failed or "there is no such group", "protocol" end
  local ok, raised = pcall(group.style == "keyed" and keyed or typed, self, group, message)
  if ok then return true end
  if getmetatable(raised) ~= Broken then error(raised, 0) end
  return finish(self, ("group %s: %s"):format(name, raised.text))
end

--- Handles an error response to any request: the consumer is finished.
function Consumer:error(name, why) return finish(self, ("group %s: %s"):format(name, why)) end

-- ---- going out ------------------------------------------------------------------------------------------------------

--- Requests all groups.
function Consumer:start()
  for _, group in ipairs(self.order) do
    self.send("resource.acquire", group.style == "typed" and { group = group.name, expiration = self.expiration } or {}, group.name)
  end
end

--- Releases targets no longer used, as far as a shrink has named them; each is released once.
function Consumer:freed(set)
  for _, group in ipairs(self.order) do
    local mine = set & group.leaving
    if not mine:empty() and not self.failed then
      group.leaving = group.leaving - mine
      self.send("resource.release", { group = group.name, targets = tostring(mine) }, group.name)
    end
  end
end

--- Sets the targets named by a shrink before the connection broke, and still to be released.
function Consumer:owe(name, set) self.groups[name].leaving = set - self.groups[name].acquired end

--- Handles the loss of the provider and all streams: no target is acquired or leaving. `start` begins again.
function Consumer:disconnected()
  for _, group in ipairs(self.order) do
    group.acquired, group.online, group.leaving, group.ready = none(), none(), none(), false
  end
end

-- ---- looking --------------------------------------------------------------------------------------------------------

local function gather(self, key)
  local all = none()
  for _, group in ipairs(self.order) do all = all | group[key] end
  return all
end

function Consumer:acquired() return gather(self, "acquired") end
function Consumer:online() return gather(self, "online") end
function Consumer:leaving() return gather(self, "leaving") end
function Consumer:held() return self:acquired() | self:leaving() end

--- Returns true if every group has had its first response; before, nothing can be said about feasibility.
function Consumer:ready()
  return tables.all(self.order, function(group) return group.ready end)
end

--- Makes a consumer. opts.groups: names ({"default"} by default); opts.style: "typed" (default), or "keyed", the newer
--- wording, for the default group only; opts.expiration: true requests new ends of the resources in the "typed" wording,
--- too (see provider.lua); opts.send; opts.on: ranks(R); grow(R, targets, online, group), which returns false and
--- a message if R does not fit the graph; shrink(targets, fatal); online(targets); offline(targets); property_add(name,
--- targets); property_remove(name, targets); expiration(seconds, group); exit(why).
function M.new(opts)
  local self = setmetatable({ groups = {}, order = {}, send = opts.send, on = opts.on, expiration = opts.expiration }, Consumer)
  for i, name in ipairs(opts.groups or { "default" }) do
    local group = { name = name, style = opts.style or "typed", acquired = none(), online = none(), leaving = none(), ready = false }
    self.groups[name], self.order[i] = group, group
  end
  return self
end

return M
