--- users.lua - the users of a service: how many connections each has, how many bytes are kept for them, who is served next, and whether
-- there is room for one more.
--
-- A user is a uid behind Unix sockets, the name of a token over TCP, and an address before the login. Administrators have a reserve.
-- Invariant: each connection belongs to one user; the sums of a user are those of the user's connections as they were noted last.

local M = {}

local PIECE = 65536 -- bytes that libuv hands over at once

local Users = {}
Users.__index = Users

local KEYS = 1000 -- users that are known before those without a connection are forgotten

-- ---- who it is -----------------------------------------------------------------------------------------------------------------

-- The first 64 bits of an IPv6 address: one machine has all that begin so. Addresses of IPv4 stay as they are.
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

--- Who connects over a Unix socket, shows a token, or has connected over TCP only.
function M.of_uid(uid, role) return { key = "uid " .. uid, privileged = role == "administrator" } end

function M.of_token(name, role) return { key = "token " .. name, privileged = role == "administrator" } end

function M.of_address(ip) return { key = "address " .. network(ip), stranger = true } end

-- ---- users ---------------------------------------------------------------------------------------------------------------------

-- Forgets users without a connection, so that who connects from many addresses leaves nothing.
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

--- A connection is its user's from now on.
function Users:enter(client, who)
  local user = find(self, who)
  client.user, client.input, client.output = user, 0, 0
  user.clients[client] = true
  count(self, user, 1)
end

--- A connection is over, or about to be somebody else's.
function Users:leave(client)
  local user = client.user
  user.clients[client] = nil
  user.input, user.output = user.input - client.input, user.output - client.output
  self.bytes = self.bytes - client.input - client.output
  client.input, client.output = 0, 0
  count(self, user, -1)
end

-- ---- room for connections --------------------------------------------------------------------------------------------------------

-- The connection of a user that has asked nothing for longest, of those with nothing under way.
local function quietest(user, before)
  local found, since = nil, before
  for client in pairs(user.clients) do
    local heard = client.heard or client.since
    if heard <= since and client:is_idle() then found, since = client, heard end
  end
  return found
end

-- The oldest stranger at an address; a connection on which nothing was said at all comes first.
local function oldest(user)
  local found
  for client in pairs(user.clients) do
    local silent, other = not client.heard, found and not found.heard
    if not found or silent and not other or silent == other and client.since < found.since then found = client end
  end
  return found
end

-- The user with the most connections, of strangers or of others. Administrators keep what they have.
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

-- Strangers make room for strangers, so that who comes to log in always can try.
local function stranger_room(self, user)
  if user.n >= self.limits.address then return true, oldest(user) end
  if self.strangers < self.limits.strangers then return true end
  local most = largest(self, true)
  return true, most and oldest(most)
end

-- Once all places are taken, who has most gives one to who has less.
local function shared_room(self, user)
  local most = largest(self, false)
  local client = most and most.n > user.n + 1 and quietest(most, math.huge)
  if client then return true, client end
  return nil, ("the service has no room for more connections: %d are open, which is as many as may be"):format(self.known)
end

--- Whether there is room for one more connection of somebody: true, and the connection that has to go for that; or nil and why not.
--- now: milliseconds.
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

--- Somebody was refused something, or lost a connection.
function Users:refuse(who)
  local user = find(self, who)
  user.refused, self.refused = user.refused + 1, self.refused + 1
end

-- ---- bytes ---------------------------------------------------------------------------------------------------------------------

--- Notes what is kept for a connection: bytes of requests and of answers.
function Users:note(client, input, output)
  local user = client.user
  user.input, user.output = user.input + input - client.input, user.output + output - client.output
  self.bytes = self.bytes + input + output - client.input - client.output
  client.input, client.output = input, output
  if self.bytes > self.peak then self.peak = self.bytes end
end

--- Whether the answers that a user has not read are too many for more of the user's requests to be served.
function Users:is_full(user) return user.output >= self.limits.output end

local function heaviest(list, weight)
  local found, most = nil, 0
  for client in pairs(list) do
    local n = weight(client)
    if n > most then found, most = client, n end
  end
  return found
end

-- Of a line that goes on. Whole lines are served, and go.
local function unfinished(client) return client.lines:is_whole() and 0 or client.input end

local function all_of(client) return client.input + client.output end

--- The connection that has to go because too much is kept for a user, or for all; and why. nil: none has to.
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

--- {user = true, ...} of all that are known.
function Users:users()
  local set = {}
  for _, user in pairs(self.by) do set[user] = true end
  return set
end

--- Whether much less is kept now than before: once for each peak.
function Users:has_shrunk(least)
  if self.peak < least or self.bytes > self.peak // 2 then return false end
  self.peak = self.bytes
  return true
end

-- ---- turns ---------------------------------------------------------------------------------------------------------------------

-- Invariant: a user is in `turns` exactly once while connections wait in the user's queue.

--- A connection has something to be served: users take turns, and of each user the connections do.
function Users:put(client)
  local user = client.user
  user.last = user.last + 1
  user.queue[user.last] = client
  self.waiting = self.waiting + 1
  if user.last > user.first then return end
  self.last = self.last + 1
  self.turns[self.last] = user
end

--- The connection that is served next, or nil.
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

-- ---- what there is ---------------------------------------------------------------------------------------------------------------

--- A list of what each user has, for administrators.
function Users:list()
  local list = {}
  for _, user in pairs(self.by) do
    list[#list + 1] = {
      user = user.key, connections = user.n, input_bytes = user.input, output_bytes = user.output, refused = user.refused,
    }
  end
  table.sort(list, function(a, b) return a.user < b.user end)
  return list
end

--- No users yet. limits: as of server.lua.
function M.new(limits)
  return setmetatable({
    limits = limits, input_most = math.max(limits.input, limits.line + PIECE), by = {}, known = 0, strangers = 0,
    keys = 0, many = KEYS, bytes = 0, peak = 0, refused = 0, turns = {}, first = 1, last = 0,
    waiting = 0,
  }, Users)
end

return M
