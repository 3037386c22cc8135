--- users.lua - the users of a service: connections and buffered bytes of each, the order of service, and room for new
-- connections.
--
-- A user is a uid behind Unix sockets, the name of a token over TCP, or an address before the login. Administrators
-- have a reserve.
-- Invariant: each connection belongs to exactly one user; the sums of a user equal the sums of its connections as
-- noted last.

local tables = require "weir.tables"

local M = {}

local PIECE = 65536 -- bytes passed by libuv at a time

local Users = {}
Users.__index = Users

local KEYS = 1000 -- users known before users without a connection are forgotten

-- ---- identity -------------------------------------------------------------------------------------------------------

-- Returns the network of an address: the first 64 bits of an IPv6 address, as a single machine can use all addresses
-- below; an IPv4 address as a whole.
local function network(ip)
  local v4 = ip:match "^::[fF]+:(%d+%.%d+%.%d+%.%d+)$"
  if v4 or not ip:find(":", 1, true) then return v4 or ip end
  local head, tail = ip:match "^(.-)::(.*)$"
  local groups, after = {}, 0
  for group in (head or ip):gmatch "%x+" do groups[#groups + 1] = group end
  for _ in (tail or ""):gmatch "[%x.]+" do after = after + 1 end
  while #groups + after < 8 and #groups < 4 do groups[#groups + 1] = "0" end
  return table.concat(groups, ":", 1, math.min(4, #groups)) .. "::/64"
end

--- Users behind a Unix socket, with a token, and over TCP before the login.
function M.of_uid(uid, role) return { key = "uid " .. uid, privileged = role == "administrator" } end

function M.of_token(name, role) return { key = "token " .. name, privileged = role == "administrator" } end

function M.of_address(ip) return { key = "address " .. network(ip), stranger = true } end

-- ---- users ----------------------------------------------------------------------------------------------------------

-- Forgets users without a connection, so that connections from many addresses leave nothing behind.
local function forget_gone(self)
  self.keys = 0
  for key, user in pairs(self.by) do
    if user.n == 0 then self.by[key] = nil else self.keys = self.keys + 1 end
  end
  self.many = math.max(KEYS, 2 * self.keys)
end

local function find(self, who)
  local user = self.by[who.key]
  if user then return user end
  if self.keys >= self.many then forget_gone(self) end
  user = { key = who.key, privileged = who.privileged, stranger = who.stranger, clients = {}, n = 0, input = 0, output = 0, refused = 0,
    first = 1, last = 0, queue = {} }
  self.by[who.key], self.keys = user, self.keys + 1
  return user
end

local function count(self, user, n)
  user.n = user.n + n
  if user.stranger then self.strangers = self.strangers + n else self.known = self.known + n end
end

--- Adds a connection to a user.
function Users:enter(client, who)
  local user = find(self, who)
  client.user, client.input, client.output = user, 0, 0
  user.clients[client] = true
  count(self, user, 1)
end

--- Removes a connection from its user, at its end or before a login as a different user.
function Users:leave(client)
  local user = client.user
  user.clients[client] = nil
  user.input, user.output = user.input - client.input, user.output - client.output
  self.bytes = self.bytes - client.input - client.output
  self.left = self.left + client.input + client.output
  client.input, client.output = 0, 0
  count(self, user, -1)
end

-- ---- room for connections -------------------------------------------------------------------------------------------

-- Returns the idle connection of a user that has been silent for longest, and since before `before`; or nil.
local function quietest(user, before)
  local found, since = nil, before
  for client in pairs(user.clients) do
    local heard = client.heard or client.since
    if heard <= since and client:is_idle() then found, since = client, heard end
  end
  return found
end

-- Returns the oldest stranger at an address; a connection without any input comes first.
local function oldest(user)
  local found
  for client in pairs(user.clients) do
    local silent, other = not client.heard, found and not found.heard
    if not found or silent and not other or silent == other and client.since < found.since then found = client end
  end
  return found
end

-- Returns the user with the most connections, among strangers or among known users. Administrators are left out.
local function largest(self, strangers)
  local found
  for _, user in pairs(self.by) do
    local counts = (user.stranger or false) == strangers and not user.privileged and user.n > 0
    if counts and (not found or user.n > found.n) then found = user end
  end
  return found
end

local function full_for(user, n)
  return nil, ("the service has no room for more connections of %s: %d are open, which is as many as may be"):format(user.key, n)
end

-- Makes room for a stranger at the expense of strangers, so that a login can always be tried.
local function stranger_room(self, user)
  if user.n >= self.limits.address then return true, oldest(user) end
  if self.strangers < self.limits.strangers then return true end
  local most = largest(self, true)
  return true, most and oldest(most)
end

-- Makes room in a full service: the user with the most connections gives a connection to a user with less.
local function shared_room(self, user)
  local most = largest(self, false)
  local client = most and most.n > user.n + 1 and quietest(most, math.huge)
  if client then return true, client end
  return nil, ("the service has no room for more connections: %d are open, which is as many as may be"):format(self.known)
end

--- Makes room for a further connection of `who`. Returns true, and the connection to be dropped if any; or nil and why
--- not. `now`: milliseconds.
function Users:room(who, now)
  local user, limits = find(self, who), self.limits
  if who.stranger then return stranger_room(self, user) end
  if who.privileged then
    if self.known < limits.clients + limits.reserve then return true end
    return shared_room(self, user)
  end
  if user.n >= limits.user then
    local idle = quietest(user, now - limits.idle * 1000)
    if idle then return true, idle end
    return full_for(user, user.n)
  end
  if self.known < limits.clients then return true end
  return shared_room(self, user)
end

--- Counts a refused request or a dropped connection of a user.
function Users:refuse(who)
  local user = find(self, who)
  user.refused, self.refused = user.refused + 1, self.refused + 1
end

-- ---- bytes ----------------------------------------------------------------------------------------------------------

--- Notes the bytes buffered for a connection: of requests and of answers.
function Users:note(client, input, output)
  local user = client.user
  user.input, user.output = user.input + input - client.input, user.output + output - client.output
  self.bytes = self.bytes + input + output - client.input - client.output
  client.input, client.output = input, output
  if self.bytes > self.peak then self.peak = self.bytes end
end

--- Returns true if the unread answers of a user are too many for a further request to be served.
function Users:is_full(user) return user.output >= self.limits.output end

local function heaviest(list, weight)
  local found, most = nil, 0
  for client in pairs(list) do
    local n = weight(client)
    if n > most then found, most = client, n end
  end
  return found
end

-- Returns the bytes of an unfinished line. Whole lines do not count, as they are about to be served.
local function unfinished(client) return client.lines:is_whole() and 0 or client.input end

local function all_of(client) return client.input + client.output end

--- Returns the connection to be dropped because too many bytes are buffered for its user or in all, and why; nil if
-- none.
function Users:surplus(user)
  if user.input > self.input_most then
    return heaviest(user.clients, unfinished), ("%d bytes of requests of %s wait, more than the %d that may"):format(user.input, user.key,
      self.input_most)
  end
  if self.bytes <= self.limits.buffers then return nil end
  local most = heaviest(self:users(), all_of)
  return most and heaviest(most.clients, all_of), ("%d bytes wait for clients, more than the %d that may, and most of them for %s"):format(
    self.bytes, self.limits.buffers, most.key)
end

--- Returns the set of all known users, {user = true, ...}.
function Users:users()
  local set = {}
  for _, user in pairs(self.by) do set[user] = true end
  return set
end

--- Returns true when `min` buffered bytes or more are garbage: once after a peak of which at most half is left, and
-- once after connections that held so many bytes together have ended, however few bytes were buffered at any one time.
function Users:has_shrunk(min)
  if self.left < min and (self.peak < min or self.bytes > self.peak // 2) then return false end
  self.peak, self.left = self.bytes, 0
  return true
end

-- ---- turns ----------------------------------------------------------------------------------------------------------

-- Invariant: a user is in `turns` exactly once while connections wait in the queue of the user.

--- Queues a connection to be served: users take turns, and the connections of a user take turns among each other.
function Users:put(client)
  local user = client.user
  user.last = user.last + 1
  user.queue[user.last] = client
  self.waiting = self.waiting + 1
  if user.last > user.first then return end
  self.last = self.last + 1
  self.turns[self.last] = user
end

--- Returns the connection to be served next, or nil.
function Users:take()
  local user = self.turns[self.first]
  if not user then return nil end
  self.turns[self.first] = nil
  self.first = self.first + 1
  local client = user.queue[user.first]
  user.queue[user.first] = nil
  user.first, self.waiting = user.first + 1, self.waiting - 1
  if user.first <= user.last then
    self.last = self.last + 1
    self.turns[self.last] = user
  end
  return client
end

-- ---- listing --------------------------------------------------------------------------------------------------------

--- Returns a list of the connections and bytes of each user, for administrators.
function Users:list()
  local list = {}
  for _, user in pairs(self.by) do
    list[#list + 1] = {
      user = user.key, connections = user.n, input_bytes = user.input, output_bytes = user.output, refused = user.refused,
    }
  end
  return tables.sort(list, "user")
end

--- Makes an empty set of users. `limits`: see server.lua.
function M.new(limits)
  return setmetatable({
    limits = limits, input_most = math.max(limits.input, limits.line + PIECE), by = {}, known = 0, strangers = 0,
    keys = 0, many = KEYS, bytes = 0, peak = 0, left = 0, refused = 0, turns = {}, first = 1, last = 0,
    waiting = 0,
  }, Users)
end

return M
