--- store/leader.lua - the election of a leader among the services on an etcd. The leader is the service that made the
-- key "leader". The key has a lease, renewed by the leader; every transaction of the leader compares the key's
-- revision.
--
-- Invariant: until `deadline` no different service can lead, since `deadline` counts from before the lease was
-- requested. After `deadline`, less a margin for clocks that differ, the leader answers no request. Writes are safe
-- without clocks.

local core = require "weir.core"
local kvs = require "weir.serve.store.kv"

local M = {}

local Leader = {}
Leader.__index = Leader

local MARGIN = 0.05 -- fraction of the lease

-- ---- election -------------------------------------------------------------------------------------------------------

-- Returns the entry of a leader as data.
local function read(entry)
  local ok, about = pcall(core.json_decode, entry.text)
  return ok and type(about) == "table" and about or {}
end

-- Requests a lease. Returns its id; or nil, message, code. Sets the length and the deadline.
local function grant(self, seconds)
  local begin = core.clock()
  local answer, why, code = self.kv:try("lease/grant", { TTL = tostring(self.ttl) }, seconds)
  if not answer then return nil, why, code end
  self.lease, self.length = answer.ID, tonumber(answer.TTL)
  self.deadline, self.renew_at = begin + self.length, begin + self.length / 3
  return answer.ID
end

--- Tries to lead. Returns true; false if a different service leads, see `other`; or nil, message, code. Waits at most
-- `seconds` for an answer.
function Leader:claim(seconds)
  local lease, why, code = grant(self, seconds)
  if not lease then return nil, why, code end
  local answer
  answer, why, code = self.kv:ask("kv/txn", {
    compare = { kvs.created(self.key, 0) }, success = { kvs.put(self.key, self.about, lease) }, failure = { kvs.get(self.key) },
  }, seconds)
  if not answer then
    self:resign()
    return nil, why, code
  end
  if answer.succeeded then
    self.revision = answer.header.revision
    return true
  end
  self:resign()
  self.seen = math.tointeger(tonumber(answer.header.revision))
  local kv = answer.responses[1].response_range.kvs
  self.other = kv and read(kvs.entry(kv[1])) or {}
  return false
end

--- Returns how many seconds a service with clients may wait for etcd.
function Leader:patience() return math.min(kvs.TRY, math.max(0.5, self.ttl / 3)) end

--- Reads the leader's entry. Returns {address =, host =, pid =}, as far as known; false if there is no leader; or nil,
-- message, code.
function Leader:look()
  local entry, why, code = self.kv:get(self.key, self:patience())
  if entry == nil then return nil, why, code end
  self.other = entry and read(entry) or {}
  return entry and self.other or false
end

--- Gives back the lease, and the lead with it. A lease not given back ends by itself.
function Leader:resign()
  if self.lease then self.kv:ask("lease/revoke", { ID = self.lease }, 1) end
  self.lease, self.revision, self.renewal = nil, nil, nil
end

-- ---- renewal --------------------------------------------------------------------------------------------------------

local function renewed(self, now)
  local answer, _, code = self.kv:result(self.renewal)
  if answer == false then return end
  self.renewal:close()
  self.renewal = nil
  local ttl = answer and tonumber(answer.TTL) or 0
  if ttl > 0 then
    self.deadline, self.renew_at = self.asked + ttl, self.asked + ttl / 3
  elseif answer or code == "unknown" then
    self.deadline = 0 -- the lease does not exist any more
  else
    if code == "io" then self.kv:turn() end
    self.renew_at = now + self.length / 20
  end
end

--- Returns the seconds for which no different service can lead.
function Leader:left() return self.deadline - MARGIN * self.length - core.clock() end

--- Renews the lease in time, without waiting.
function Leader:tick()
  local now = core.clock()
  if self.renewal then
    self.kv:step()
    renewed(self, now)
  elseif now >= self.renew_at and self.deadline > 0 then
    self.renewal, self.asked = self.kv:begin("lease/keepalive", { ID = self.lease }, self.length / 3), now
  end
end

--- Returns the comparison for every transaction of the leader.
function Leader:still() return kvs.created(self.key, self.revision) end

--- Makes a candidate. opts: kv, key, ttl (seconds), about (a table reported to standbys and clients).
function M.new(opts)
  return setmetatable({
    kv = opts.kv, key = opts.key, host = opts.about.host, ttl = opts.ttl, other = {}, deadline = 0,
    about = core.json_encode(opts.about, { sort = true }),
  }, Leader)
end

return M
