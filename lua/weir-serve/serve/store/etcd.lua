--- store/etcd.lua - the state of a service in etcd, ready to be taken over by a standby.
--
-- Keys below the prefix:
--   meta           of the last commit: the clock, the id of the next job, a stamp; changes with each commit, and last
--   kinds/ block/ data/ edges/ jobs/   the machine and the jobs, in pieces (see weir_graph_pieces in weir.h)
--   jobs/ID/R      the allocation of a job, as an R (RFC 20)
--   children/NAME/R   the allocation of a child instance
--   leader         the leader, with a lease
--   redo, log/     a commit too large for one transaction, until all of it is in place
--
-- Invariant: every transaction with writes compares `leader` with the key made by this service, and each commit
-- compares `meta` with its last commit as well. So a commit sent twice is done once, and a commit of a deposed leader
-- is not done at all. A large commit is written to log/ first, and counts as done when `meta` and `redo` are written,
-- in one transaction. The leader, whichever service that is, then puts the log in place; repeating the step changes
-- nothing.

local core = require "weir.core"
local failure = require "weir.failure"
local kvs = require "weir.serve.store.kv"
local leaders = require "weir.serve.store.leader"
local tables = require "weir.tables"

local M = { LEASE = 10, MIN_LEASE = 2 } -- seconds

local Store = {}
Store.__index = Store

local must = failure.must

-- operations side by side in a group, and in a transaction: 60 groups of 60; etcd takes 128 side by side
local EACH, OPS = 60, 3600
local BYTES = 1000000      -- bytes of texts in a transaction by default; etcd takes requests of 1.5 MB
local SECTIONS = { kinds = true, block = true, data = true, edges = true, jobs = true }
local ELSE = { leader = true, redo = true, log = true, children = true, meta = true }

-- ---- transactions ---------------------------------------------------------------------------------------------------

-- Raises the failure with which a service that does not lead any more ends.
local function fenced(self, why)
  self.over = ("%s; it knows whether the last request was done"):format(why)
  failure.raise(self.over, "fenced")
end

local function led_by_other(self)
  local other = self.leader:look()
  fenced(self, ("this service does not lead any more: %s does"):format(other and other.address or "another one"))
end

local function late(self, why)
  why = why and (" (%s)"):format(why) or ""
  fenced(self, ("this service could not renew its lease in time%s, and another one may lead"):format(why))
end

-- Repeats a transaction until etcd has answered or the lease is over. Returns the answer.
local function transact(self, body)
  local function meanwhile() self.leader:tick() end
  local why, code, answer
  repeat
    local left = self.leader:left()
    if left <= 0 then late(self, why) end
    answer, why, code = self.kv:ask("kv/txn", body, math.max(0.05, math.min(left, self.leader.length / 3)), meanwhile)
    if code == "io" then self.kv:step(0.02) end
  until answer or code ~= "io"
  return must(answer, why, code)
end

-- Writes in a transaction that only the leader can make.
local function write(self, ops)
  local answer = transact(self, { compare = { self.leader:still() }, success = kvs.group(ops, EACH) })
  if not answer.succeeded then led_by_other(self) end
end

-- Makes a commit by a transaction with `ops` and the new `meta`.
local function finish(self, ops, meta)
  local key = self.prefix .. "meta"
  ops[#ops + 1] = kvs.put(key, meta)
  local answer = transact(self, {
    compare = { self.leader:still(), kvs.modified(key, self.revision) }, success = kvs.group(ops, EACH), failure = { kvs.get(key) },
  })
  if answer.succeeded then
    self.revision = math.tointeger(tonumber(answer.header.revision))
    return
  end
  local found = answer.responses[1].response_range.kvs
  found = found and kvs.entry(found[1])
  if not found or found.text ~= meta then led_by_other(self) end
  self.revision = found.modified -- an earlier attempt has done the commit
end

-- Calls take(list, bytes) for changes, in batches that fit a transaction. A change is {key, text}, or {key} for a
-- removal.
local function batches(self, changes, take)
  local list, bytes = {}, 0
  for i, change in ipairs(changes) do
    local size = #change[1] + #(change[2] or "") + 16
    if #list > 0 and (#list == OPS or bytes + size > self.bytes) then
      take(list, bytes)
      list, bytes = {}, 0
    end
    list[#list + 1], bytes = change, bytes + size
    if i == #changes then take(list, bytes) end
  end
end

local function ops_of(self, list)
  return tables.map(list, function(change)
    local key = self.prefix .. change[1]
    return change[2] and kvs.put(key, change[2]) or kvs.delete(key)
  end)
end

-- ---- large commits --------------------------------------------------------------------------------------------------

-- Puts logged changes in place, then deletes the log.
local function apply(self, changes)
  batches(self, changes, function(list) write(self, ops_of(self, list)) end)
  write(self, { kvs.delete(self.prefix .. "redo"), kvs.delete_below(self.prefix .. "log/") })
end

local function commit_large(self, changes, meta, stamp)
  local parts = 0
  batches(self, changes, function(list)
    parts = parts + 1
    write(self, { kvs.put(("%slog/%s/%d"):format(self.prefix, stamp, parts), core.json_encode(core.array(list))) })
  end)
  finish(self, { kvs.put(self.prefix .. "redo", core.json_encode { log = stamp, parts = parts }) }, meta)
  local _, why, code = failure.caught(nil, apply, self, changes)
  if code == "fenced" then failure.raise(why, code) end
  if why then fenced(self, why) end -- the commit is done all the same: the next leader finds the log
end

local function decode(text)
  local ok, value = pcall(core.json_decode, text)
  return ok and type(value) == "table" and value or {}
end

-- Returns the changes of a log.
local function read_log(self, redo)
  local changes, found = {}, 0
  if type(redo.log) ~= "string" or type(redo.parts) ~= "number" then failure.raise("redo: expected {log, parts}", "parse") end
  must(self.kv:each(("%slog/%s/"):format(self.prefix, redo.log), function(entry)
    changes[math.tointeger(tonumber(entry.key:match "(%d+)$")) or 0] = decode(entry.text)
    found = found + 1
  end))
  if found ~= redo.parts or #changes ~= found then failure.raise("the log of a commit is not complete", "parse") end
  local all = {}
  for _, list in ipairs(changes) do tables.append(all, list) end
  return all
end

-- ---- commits --------------------------------------------------------------------------------------------------------

-- Names of the stored texts by object: "jobs/17/" -> "0 R". A commit renews the entries of the objects in its pieces.
local function split(key) return key:match "^(.*/)([^/]*)$" end

-- Adds removals for objects of completely rewritten sections that are gone.
local function drop_sections(self, sections, names, changes)
  for object, old in pairs(self.known) do
    if sections[object:match "^%w+/"] and names[object] == nil then
      names[object] = ""
      for name in old:gmatch "%S+" do changes[#changes + 1] = { object .. name } end
    end
  end
end

-- Returns the changes of pieces, {{key, text} or {key}, ...}; meta; and the new names by object. Unchanged extended
-- data is left out.
local function changes_of(self, pieces)
  local changes, names, sections, meta = {}, {}, {}, nil
  local i, key, text = 1, pieces:at(1)
  while key do
    local object, name = split(key)
    if not object then
      meta = text
    elseif text then
      names[object] = (names[object] or "") .. name .. " "
      if self.data[key] ~= text then changes[#changes + 1] = { key, text } end
    elseif object:find "/.*/" then
      names[object] = names[object] or ""
    else
      sections[object] = true
    end
    i = i + 1
    key, text = pieces:at(i)
  end
  for object, now in pairs(names) do
    for name in (self.known[object] or ""):gmatch "%S+" do
      if not (" " .. now):find(" " .. name .. " ", 1, true) then changes[#changes + 1] = { object .. name } end
    end
  end
  drop_sections(self, sections, names, changes)
  return changes, meta, names
end

local function note(self, changes, names)
  for object, now in pairs(names) do self.known[object] = now ~= "" and now or nil end
  for _, change in ipairs(changes) do
    if change[1]:sub(1, 5) == "data/" then self.data[change[1]] = change[2] end
  end
end

local function size(changes)
  local bytes = 0
  for _, change in ipairs(changes) do bytes = bytes + #change[1] + #(change[2] or "") + 16 end
  return bytes
end

--- Puts a text under a key (nil removes the key) with the next commit, for readers: children/NAME/R.
function Store:publish(key, text) self.public[#self.public + 1] = { key, text } end

--- Returns {key = true} for the published keys found when the state was loaded.
function Store:published() return self.there end

local function commit(self, graph)
  local pieces <close> = must(graph:pieces(self.stamp))
  local changes, meta, names = changes_of(self, pieces)
  tables.append(changes, self.public)
  self.public = {}
  if #changes < OPS and size(changes) < self.bytes then
    finish(self, ops_of(self, changes), meta)
  else
    commit_large(self, changes, meta, pieces:stamp())
  end
  note(self, changes, names)
  self.stamp = pieces:stamp()
  -- the commit is in etcd; where the graph cannot take note of that, the service loads the state again
  local _, why = pieces:stored(graph)
  if why then failure.raise(why, "unsure") end
  return true
end

function Store:commit(graph)
  if self.over then return nil, self.over, "fenced" end
  return failure.caught(nil, commit, self, graph)
end

-- ---- loading --------------------------------------------------------------------------------------------------------

local function stamp_of(meta)
  for _, row in ipairs(core.json_decode(meta)) do
    if row[1] == "meta" and row[2] == "stamp" then return row[3] end
  end
end

-- Reads all keys into pieces. Returns the entry of meta, or nil, and a key unknown to the format, if any.
local function read(self, pieces)
  local meta, stranger, bad, code
  self.known, self.data, self.there = {}, {}, {}
  must(self.kv:each(self.prefix, function(entry)
    local key = entry.key:sub(#self.prefix + 1)
    local section = key:match "^%w*"
    if key == "meta" then meta = entry elseif not ELSE[section] and not SECTIONS[section] then stranger = stranger or key end
    if section == "children" then self.there[key] = true end
    if key ~= "meta" and not SECTIONS[section] or bad then return end
    local put, not_put, how = pieces:put(key, entry.text)
    if not put then bad, code = not_put, how end
    local object, name = split(key)
    if object then self.known[object] = (self.known[object] or "") .. name .. " " end
    if section == "data" then self.data[key] = entry.text end
  end, function() self.leader:tick() end))
  if bad then failure.raise(bad, code) end
  return meta, stranger
end

-- Returns a message with the address of the store in front.
local function located(self, why) return ("%s: %s"):format(self.address, why) end

local function load(self)
  local redo = must(self.kv:get(self.prefix .. "redo")) -- a large commit that is to be completed; logs of others are deleted
  if redo then apply(self, read_log(self, decode(redo.text))) else write(self, { kvs.delete_below(self.prefix .. "log/") }) end
  local pieces <close> = core.pieces()
  local meta, stranger = read(self, pieces)
  if stranger then
    failure.raise(("there are keys of something else below %s, such as %s"):format(self.prefix, stranger), "exists")
  end
  self.revision, self.stamp = meta and meta.modified or 0, nil
  if not meta then
    if next(self.known) then failure.raise(("%smeta is missing: what is there is not whole"):format(self.prefix), "parse") end
    return nil
  end
  local graph = must(pieces:graph())
  self.stamp = stamp_of(meta.text)
  return graph
end

function Store:load()
  local graph, why, code = failure.caught(nil, load, self)
  return graph, why and located(self, why), code
end

-- ---- leading --------------------------------------------------------------------------------------------------------

--- Tries to lead. Returns true; false if a different service leads; or nil, message, code.
function Store:lead()
  local ok, why, code = self.leader:claim()
  if ok == nil then return nil, located(self, why), code end
  return ok
end

local function stop_watching(self)
  if self.watch then self.watch:close() end
  self.watch = nil
end

-- Tries to lead, or else watches the leader's key. Looks again after the time of a lease even if the watch is silent.
local function try(self)
  local ok = self.leader:claim(self.leader:patience())
  self.look_at = core.clock() + (ok == nil and 0.2 or self.leader.ttl)
  stop_watching(self)
  if ok == false then self.watch = self.kv:watch(self.prefix .. "leader", { from = self.leader.seen + 1 }) end
  return ok or false
end

--- For a standby, in each turn: tries to lead once the leader is gone. Returns true if the service leads now.
function Store:stand()
  local events = self.watch and self.watch:events() or {}
  local last = events[#events]
  if last and not last.gone then self.leader:look() end
  if last and last.gone or core.clock() >= (self.look_at or 0) then return try(self) end
  return false
end

--- Returns the address of the leader, or nil if unknown.
function Store:elsewhere()
  local other = self.leader.other
  return other.address and other.address .. (other.host ~= self.leader.host and " on " .. other.host or "")
end

--- Does the work of a turn. Returns true; or nil, message, "fenced".
function Store:tick()
  if self.over then return nil, self.over, "fenced" end
  self.leader:tick()
  if self.leader:left() > 0 then return true end
  return failure.caught(nil, late, self)
end

--- Returns the longest time between two ticks, in milliseconds.
function Store:period() return math.max(10, math.min(500, self.leader.ttl * 50)) end

function Store:close()
  stop_watching(self)
  if self.leader.revision and not self.over then self.leader:resign() end
  self.kv:close()
end

Store.__close = Store.close

--- Opens the state below a prefix of an etcd. opts: lease (seconds within which a standby takes over); about {address
--- =, ...}, reported to standbys and clients; bytes (of texts in a transaction).
function M.open(address, opts)
  local kv, prefix, code = kvs.open(address)
  if not kv then return nil, prefix, code end
  prefix = prefix .. "/"
  local lease = opts and opts.lease or M.LEASE
  if lease < M.MIN_LEASE then return nil, ("a lease has at least %d seconds"):format(M.MIN_LEASE), "invalid" end
  -- etcd notices the end of a lease half a second late, and loading the state takes time.
  local leader = leaders.new { kv = kv, key = prefix .. "leader", ttl = lease - 1, about = opts and opts.about or {} }
  return setmetatable({
    kv = kv, prefix = prefix, leader = leader, address = "etcd:" .. address, known = {}, data = {}, there = {}, public = {},
    revision = 0, bytes = opts and opts.bytes or BYTES,
  }, Store)
end

--- Returns the text under a key, "http://HOST:PORT/KEY"; or nil, message, code.
function M.read(address)
  local kv <close>, key, failed = kvs.open(address)
  if not kv then return nil, key, failed end
  local entry, why, code = kv:get(key)
  if entry then return entry.text end
  return nil, ("etcd:%s: %s"):format(address, why or "there is no such key"), code or "unknown"
end

--- Puts a text under a key. Returns true; or nil, message, code.
function M.write(address, text)
  local kv <close>, key, failed = kvs.open(address)
  if not kv then return nil, key, failed end
  local answer, why, code = kv:try("kv/txn", { success = { kvs.put(key, text) } })
  if answer then return true end
  return nil, ("etcd:%s: %s"):format(address, why), code
end

return M
