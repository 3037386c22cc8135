--- provider.lua - the resource owner's side of the acquisition protocol (RFC 28): the group of each target, its holder,
-- and whether the target is up. A target is available if it is up, not drained, and not blocked by the state of a vertex
-- above it, such as a rack.
--
-- A state machine without I/O. Responses go out by opts.send(stream, response). A refused request or command returns
-- nil, message, code and has changed nothing.
--
-- Invariant: a target is held by at most one stream. A stream holds targets of its group, and targets the stream was
-- instructed to return ("leaving"); a leaving target is given to no stream before its release.
--
-- Streams use two wordings. "typed" sends {group = NAME} and gets {type = "grow" | "shrink" | "online" |
-- "offline", ...}; "keyed" (the newer text) sends an empty payload and gets {resources =, up =}, then {up =, down
-- =, shrink =, ["property-add"] =, ["property-remove"] =, expiration =}. Keyed has no grow and no release: added
-- targets wait for the next acquire, and removed targets are free at once. "typed" has no word for a new end of the
-- resources: a stream that sends {group = NAME, expiration = true} also gets {type = "expiration", expiration = T}.

local core = require "weir.core"
local failure = require "weir.failure"
local tables = require "weir.tables"

local M = {}

local Provider = {}
Provider.__index = Provider

local EXCLUDE, DEFAULT = "exclude", "default"

-- ---- small things -------------------------------------------------------------------------------------------

local function none() return core.idset() end

local function text(set) return tostring(set) end

local function refuse(code, ...) failure.raise(string.format(...), code) end

-- Returns the idset in a text of a request; `wanted` is the error message.
local function read_set(what, place, wanted)
  local ok, set, why = pcall(core.idset, what)
  if not ok or not set then refuse("invalid", "%s: %s", place, ok and why or wanted) end
  return set
end

-- Returns the targets of a command as an idset, all known.
local function read_targets(self, what)
  local set = read_set(what, "targets", 'expected an idset such as "0-3,7"')
  if set:empty() then refuse("invalid", "targets: expected at least one") end
  if not self.targets:contains(set) then refuse("unknown", "there is no target %s here", text(set - self.targets)) end
  return set
end

-- Returns true for a valid name of a group. "job.N" is reserved for child instances.
local function is_name(name)
  return type(name) == "string" and name:find "^[%w_.-]+$" ~= nil and #name <= 64 and not name:find "^job%.%d+$"
end

-- ---- derived sets --------------------------------------------------------------------------------------------

--- Returns the targets of a group, nil for an unknown group; "default" has all targets outside of any group.
function Provider:members(group)
  if group ~= DEFAULT then return self.groups[group] end
  local rest = self.targets
  for _, set in pairs(self.groups) do rest = rest - set end
  return rest
end

--- Returns the targets available for jobs: up, not drained and not blocked.
function Provider:available() return self.up - self.drained - self.blocked end

--- Returns all targets of all streams, leaving ones included.
function Provider:taken()
  local all = none()
  for _, stream in pairs(self.streams) do all = all | stream.held | stream.leaving end
  return all
end

-- ---- sending -------------------------------------------------------------------------------------------------

local function send(self, stream, response) self.send(stream.key, response) end

local function send_grow(self, stream, targets)
  local online = targets & self:available()
  local R = self.resources(targets)
  if stream.style == "keyed" then return send(self, stream, { resources = R, up = text(online) }) end
  send(self, stream, { type = "grow", resources = R, online = text(online), offline = text(targets - online) })
end

local function send_shrink(self, stream, targets)
  if stream.style == "keyed" then return send(self, stream, { shrink = text(targets), down = text(targets) }) end
  send(self, stream, { type = "shrink", targets = text(targets) })
end

local function send_change(self, stream, ups, downs)
  if stream.style == "keyed" then
    if ups:empty() and downs:empty() then return end
    local function given(set) return not set:empty() and text(set) or nil end
    return send(self, stream, { up = given(ups), down = given(downs) })
  end
  if not ups:empty() then send(self, stream, { type = "online", targets = text(ups) }) end
  if not downs:empty() then send(self, stream, { type = "offline", targets = text(downs) }) end
end

-- Returns the streams in order of acquisition, so that runs are reproducible.
local function each_stream(self)
  local list = {}
  for _, stream in pairs(self.streams) do list[#list + 1] = stream end
  return tables.sort(list, "number")
end

-- Gives every stream the free targets of its group.
local function settle(self)
  local busy = self:taken()
  for _, stream in ipairs(each_stream(self)) do
    local more = self:members(stream.group) - busy
    if stream.style == "typed" and not more:empty() then
      stream.held, busy = stream.held | more, busy | more
      send_grow(self, stream, more)
    end
  end
end

-- Takes from every stream the targets no longer in its group.
local function withdraw(self)
  for _, stream in ipairs(each_stream(self)) do
    local gone = stream.held - (self:members(stream.group) & self.targets)
    if not gone:empty() then
      stream.held = stream.held - gone
      if stream.style == "typed" then stream.leaving = stream.leaving | gone end
      send_shrink(self, stream, gone)
    end
  end
end

-- Runs f, then informs each stream how f changed the availability of its targets.
local function changing(self, f)
  local before = self:available()
  f()
  local after = self:available()
  for _, stream in ipairs(each_stream(self)) do
    send_change(self, stream, (after - before) & stream.held, (before - after) & stream.held)
  end
  return true
end

-- ---- requests of schedulers ------------------------------------------------------------------------------------

-- Returns the group and the wording of a request.
local function read_acquire(self, payload)
  if payload == nil or next(payload) == nil then return DEFAULT, "keyed" end
  local group = payload.group
  if type(group) ~= "string" then refuse("invalid", "resource.acquire: expected group, a string") end
  if not self:members(group) then refuse("unknown", "resource.acquire: there is no group \"%s\"", group:sub(1, 64)) end
  return group, "typed"
end

--- Serves resource.acquire for a stream named `key` by the caller, and sends the first response. Returns true; or nil,
--- message, code. `leaving`: targets named by a shrink on an earlier stream and not yet released; a stream may begin
--- with these alone.
function Provider:acquire(key, payload, leaving)
  local group, style = read_acquire(self, payload)
  if self.streams[key] then refuse("invalid", "resource.acquire: this stream has acquired something already") end
  for _, stream in pairs(self.streams) do
    if stream.group == group then refuse("busy", "resource.acquire: group \"%s\" is already acquired", group) end
  end
  local free, owed = self:members(group) - self:taken(), leaving or none()
  if free:empty() and owed:empty() then refuse("unavailable", "resource.acquire: there is nothing in group \"%s\"", group) end
  self.number = self.number + 1
  local stream = { key = key, group = group, style = style, held = free, leaving = owed, number = self.number,
    expiring = style == "typed" and payload.expiration == true }
  self.streams[key] = stream
  if not free:empty() then send_grow(self, stream, free) end
  return true
end

--- Serves resource.release. `mine`: the key of a stream, or a predicate for the keys of the caller. `called`: the name
--- of the group in messages, the group itself by default. Returns an empty payload; or nil, message, code.
function Provider:release(mine, payload, called)
  local group, targets = payload and payload.group, payload and payload.targets
  if type(group) ~= "string" then refuse("invalid", "resource.release: expected group, a string") end
  local wanted = 'expected an idset such as "1-3,5"'
  local set = read_set(targets, "resource.release: targets", wanted)
  if set:empty() then refuse("invalid", "resource.release: targets: %s", wanted) end
  for _, stream in pairs(self.streams) do
    local own = mine == stream.key or type(mine) == "function" and mine(stream.key)
    if own and stream.group == group and stream.style == "typed" then
      if not stream.leaving:contains(set) then
        refuse("protocol", "resource.release: target %s was not in a shrink, or is released already", text(set - stream.leaving))
      end
      stream.leaving = stream.leaving - set
      settle(self)
      return {}
    end
  end
  refuse("unknown", "resource.release: you have not acquired group \"%s\"", (called or group):sub(1, 64))
end

--- Ends a stream; its targets can be acquired again. Returns false if the stream is unknown.
function Provider:disconnect(key)
  if not self.streams[key] then return false end
  self.streams[key] = nil
  settle(self)
  return true
end

-- ---- commands of administrators ---------------------------------------------------------------------------------

--- Takes targets out of service until undrain; running jobs go on. Without a reason, a drained target keeps the reason
--- it has.
function Provider:drain(what, reason)
  local set = read_targets(self, what)
  if reason ~= nil and type(reason) ~= "string" then refuse("invalid", "drain: expected reason, a string") end
  return changing(self, function()
    self.drained = self.drained | set
    for target in set:ids() do self.reasons[target] = reason or self.reasons[target] end
  end)
end

function Provider:undrain(what)
  local set = read_targets(self, what)
  if not self.drained:contains(set) then refuse("invalid", "undrain: target %s is not drained", text(set - self.drained)) end
  return changing(self, function()
    self.drained = self.drained - set
    for target in set:ids() do self.reasons[target] = nil end
  end)
end

--- Marks targets as up or down, as reported by a monitor.
function Provider:online(what)
  local set = read_targets(self, what)
  return changing(self, function() self.up = self.up | set end)
end

function Provider:offline(what)
  local set = read_targets(self, what)
  return changing(self, function() self.up = self.up - set end)
end

--- Sets the targets that cannot be used because of the state of a vertex above them.
function Provider:block(set)
  if set == self.blocked then return true end
  return changing(self, function() self.blocked = set end)
end

--- Returns the targets as an idset if they can be put into a group; or nil, message, code.
function Provider:may_move(what, group)
  local set = read_targets(self, what)
  if not is_name(group) then refuse("invalid", "group: expected a name of letters, digits, '.', '_' and '-', not job.N") end
  return set
end

--- Moves targets into a group; "default" removes from any group. An empty group lasts as long as a stream has acquired
-- it.
function Provider:move(what, group)
  local set = failure.must(self:may_move(what, group))
  for name, members in pairs(self.groups) do self.groups[name] = members - set end
  if group ~= DEFAULT then self.groups[group] = (self.groups[group] or none()) | set end
  withdraw(self)
  settle(self)
  return true
end

function Provider:exclude(what) return self:move(what, EXCLUDE) end

function Provider:include(what) return self:move(what, DEFAULT) end

--- Adds new targets. opts.resources must know the targets already; all are up, unless opts has {up = idset}.
function Provider:add(what, opts)
  local set = read_set(what, "add: targets", "expected an idset")
  if set:empty() then refuse("invalid", "add: targets: expected an idset") end
  local known = self.targets | self:taken()
  if set:overlaps(known) then refuse("exists", "add: target %s is there already", text(set & known)) end
  self.targets = self.targets | set
  self.up = self.up | (opts and opts.up and core.idset(opts.up) & set or set)
  settle(self)
  return true
end

--- Removes targets from the machine.
function Provider:remove(what)
  local set = read_targets(self, what)
  for name, members in pairs(self.groups) do self.groups[name] = members - set end
  self.targets = self.targets - set
  withdraw(self)
  self.up, self.drained = self.up - set, self.drained - set
  for target in set:ids() do self.reasons[target] = nil end
  return true
end

-- Sends a message of the newer wording to the holders of targets.
local function tell_property(self, key, name, what)
  if type(name) ~= "string" or name == "" or name:find "[!&'\"^`|()]" then
    refuse("invalid", "property: expected a name without any of ! & ' \" ^ ` | ( )")
  end
  local set = read_targets(self, what)
  for _, stream in ipairs(each_stream(self)) do
    local mine = set & stream.held
    if stream.style == "keyed" and not mine:empty() then send(self, stream, { [key] = { [name] = text(mine) } }) end
  end
  return true
end

--- Notifies the holders of targets that a property was added or removed; opts.resources must know already.
function Provider:property_add(name, what) return tell_property(self, "property-add", name, what) end

function Provider:property_remove(name, what) return tell_property(self, "property-remove", name, what) end

--- Notifies all holders of a new time at which the resources end, in seconds since 1970; 0: without an end.
function Provider:expire(time)
  if type(time) ~= "number" or time < 0 then refuse("invalid", "expiration: expected seconds since 1970") end
  for _, stream in ipairs(each_stream(self)) do
    if stream.style == "keyed" then send(self, stream, { expiration = time + 0.0 }) end
    if stream.expiring then send(self, stream, { type = "expiration", expiration = time + 0.0 }) end
  end
  return true
end

failure.returning(Provider, { "acquire", "release", "drain", "undrain", "online", "offline", "may_move", "move", "add", "remove",
  "property_add", "property_remove", "expire" })

-- ---- looking, keeping ---------------------------------------------------------------------------------------------

--- Returns plain data: for every group its targets, online and offline, and its holder; drained targets with reasons.
function Provider:status()
  local holders, list = {}, {}
  for _, stream in pairs(self.streams) do holders[stream.group] = stream end
  local names = { DEFAULT }
  for name in pairs(self.groups) do names[#names + 1] = name end
  table.sort(names, function(a, b) return (a == DEFAULT and "" or a) < (b == DEFAULT and "" or b) end)
  for i, name in ipairs(names) do
    local all, stream = self:members(name), holders[name]
    list[i] = {
      group = name, targets = text(all), online = text(all & self:available()), offline = text(all - self:available()),
      acquired = stream ~= nil, leaving = stream and text(stream.leaving) or "",
    }
  end
  local drained = core.array {}
  for target in self.drained:ids() do drained[#drained + 1] = { target = target, reason = self.reasons[target] } end
  return { targets = text(self.targets), groups = list, drained = drained }
end

--- Returns the groups, states and reasons as plain data for M.new; streams are not saved.
function Provider:save()
  local groups, reasons = {}, {}
  for name, set in pairs(self.groups) do
    if not set:empty() then groups[name] = text(set) end
  end
  for target, reason in pairs(self.reasons) do reasons[tostring(target)] = reason end
  return { targets = text(self.targets), up = text(self.up), drained = text(self.drained), groups = groups, reasons = reasons }
end

local function check_groups(self, groups)
  local seen = none()
  for name, what in pairs(groups or {}) do
    local set = core.idset(what)
    if not is_name(name) or name == DEFAULT then error(("provider: '%s' is no name for a group"):format(tostring(name)), 3) end
    if seen:overlaps(set) then error(("provider: target %s is in two groups"):format(text(seen & set)), 3) end
    local unknown = set - self.targets
    if not unknown:empty() then error(("provider: group %s: there is no target %s"):format(name, text(unknown)), 3) end
    seen = seen | set
    self.groups[name] = set
  end
end

--- Makes a provider. opts: targets (idset); resources(targets), returning the R of targets as a table; send(stream,
--- response); groups {name = idset}, up (idset; all by default), drained, reasons: from `save`.
function M.new(opts)
  local self = setmetatable({
    targets = core.idset(opts.targets), resources = opts.resources, send = opts.send, groups = {}, streams = {}, number = 0,
    reasons = {},
  }, Provider)
  self.up = opts.up and core.idset(opts.up) or self.targets
  self.drained = opts.drained and core.idset(opts.drained) or none()
  self.blocked = opts.blocked or none()
  for target, reason in pairs(opts.reasons or {}) do self.reasons[math.tointeger(tonumber(target))] = reason end
  check_groups(self, opts.groups)
  return self
end

return M
