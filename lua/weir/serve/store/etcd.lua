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
local kvs = require "weir.serve.store.kv"
local leaders = require "weir.serve.store.leader"

local M = { LEASE = 10, MIN_LEASE = 2 } -- seconds

local Store = {}
Store.__index = Store

-- operations side by side in a group, and in a transaction: 60 groups of 60; etcd takes 128 side by side
local EACH, OPS = 60, 3600
local BYTES = 1000000      -- bytes of texts in a transaction by default; etcd takes requests of 1.5 MB
local SECTIONS = { kinds = true, block = true, data = true, edges = true, jobs = true }
local ELSE = { leader = true, redo = true, log = true, children = true, meta = true }

-- ---- transactions ---------------------------------------------------------------------------------------------------

local function fenced(self, why)
  self.over = ("%s; whether what was asked last was done, it knows"):format(why)
  return nil, self.over, "fenced"
end

local function led_by_other(self)
  local other = self.leader:look()
  return fenced(self, ("this service does not lead any more: %s does"):format(other and other.address or "another one"))
end

local function late(self, why)
  why = why and (" (%s)"):format(why) or ""
  return fenced(self, ("this service could not renew its lease in time%s, and another one may lead"):format(why))
end

-- Repeats a transaction until etcd has answered or the lease is over. Returns the answer; or nil, message, code.
local function transact(self, body)
  local function meanwhile() self.leader:tick() end
  local why, code, answer
  repeat
    local left = self.leader:left()
    if left <= 0 then return late(self, why) end
    answer, why, code = self.kv:ask("kv/txn", body, math.max(0.05, math.min(left, self.leader.length / 3)), meanwhile)
    if code == "io" then self.kv:step(0.02) end
  until answer or code ~= "io"
  return answer, why, code
end

-- Writes in a transaction that only the leader can make. Returns true; or nil, message, code.
local function write(self, ops)
  local answer, why, code = transact(self, { compare = { self.leader:still() }, success = kvs.group(ops, EACH) })
  if not answer then return nil, why, code end
  if not answer.succeeded then return led_by_other(self) end
  return true
end

-- Makes a commit by a transaction with `ops` and the new `meta`.
local function finish(self, ops, meta)
  local key = self.prefix .. "meta"
  ops[#ops + 1] = kvs.put(key, meta)
  local answer, why, code = transact(self, {
    compare = { self.leader:still(), kvs.modified(key, self.revision) }, success = kvs.group(ops, EACH), failure = { kvs.get(key) },
  })
  if not answer then return nil, why, code end
  if answer.succeeded then
    self.revision = math.tointeger(tonumber(answer.header.revision))
    return true
  end
  local found = answer.responses[1].response_range.kvs
  found = found and kvs.entry(found[1])
  if not found or found.text ~= meta then return led_by_other(self) end
  self.revision = found.modified -- an earlier attempt has done the commit
  return true
end

-- Calls take(list, bytes) for changes, in batches that fit a transaction. A change is {key, text}, or {key} for a
-- removal.
local function batches(self, changes, take)
  local list, bytes = {}, 0
  for i, change in ipairs(changes) do
    local size = #change[1] + #(change[2] or "") + 16
    if #list > 0 and (#list == OPS or bytes + size > self.bytes) then
      local ok, why, code = take(list, bytes)
      if not ok then return nil, why, code end
      list, bytes = {}, 0
    end
    list[#list + 1], bytes = change, bytes + size
    if i == #changes then return take(list, bytes) end
  end
  return true
end

local function ops_of(self, list)
  local ops = {}
  for i, change in ipairs(list) do
    local key = self.prefix .. change[1]
    ops[i] = change[2] and kvs.put(key, change[2]) or kvs.delete(key)
  end
  return ops
end

-- ---- large commits --------------------------------------------------------------------------------------------------

-- Puts logged changes in place, then deletes the log.
local function apply(self, changes)
  local ok, why, code = batches(self, changes, function(list) return write(self, ops_of(self, list)) end)
  if not ok then return nil, why, code end
  return write(self, { kvs.delete(self.prefix .. "redo"), kvs.delete_below(self.prefix .. "log/") })
end

local function commit_large(self, changes, meta, stamp)
  local parts = 0
  local ok, why, code = batches(self, changes, function(list)
    parts = parts + 1
    return write(self, { kvs.put(("%slog/%s/%d"):format(self.prefix, stamp, parts), core.json_encode(core.array(list))) })
  end)
  if not ok then return nil, why, code end
  ok, why, code = finish(self, { kvs.put(self.prefix .. "redo", core.json_encode { log = stamp, parts = parts }) }, meta)
  if not ok then return nil, why, code end
  ok, why, code = apply(self, changes)
  if ok or code == "fenced" then return ok, why, code end
  return fenced(self, why) -- the commit is done all the same: the next leader finds the log
end

local function decode(text)
  local ok, value = pcall(core.json_decode, text)
  return ok and type(value) == "table" and value or {}
end

-- Returns the changes of a log; or nil, message, code.
local function read_log(self, redo)
  local changes, found = {}, 0
  if type(redo.log) ~= "string" or type(redo.parts) ~= "number" then return nil, "redo: {log, parts} is wanted", "parse" end
  local ok, why, code = self.kv:each(("%slog/%s/"):format(self.prefix, redo.log), function(entry)
    changes[math.tointeger(tonumber(entry.key:match "(%d+)$")) or 0] = decode(entry.text)
    found = found + 1
  end)
  if not ok then return nil, why, code end
  if found ~= redo.parts or #changes ~= found then return nil, "the log of a commit is not complete", "parse" end
  local all = {}
  for _, list in ipairs(changes) do table.move(list, 1, #list, #all + 1, all) end
  return all
end

-- Completes a large commit found in the log. Logs of commits never made are deleted.
local function recover(self)
  local entry, why, code = self.kv:get(self.prefix .. "redo")
  if entry == nil then return nil, why, code end
  if not entry then return write(self, { kvs.delete_below(self.prefix .. "log/") }) end
  local changes
  changes, why, code = read_log(self, decode(entry.text))
  if not changes then return nil, why, code end
  return apply(self, changes)
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

function Store:commit(graph)
  if self.over then return nil, self.over, "fenced" end
  local pieces <close>, why, code = graph:pieces(self.stamp)
  if not pieces then return nil, why, code end
  local changes, meta, names = changes_of(self, pieces)
  local published = #self.public
  table.move(self.public, 1, published, #changes + 1, changes)
  local ok
  if #changes < OPS and size(changes) < self.bytes then
    ok, why, code = finish(self, ops_of(self, changes), meta)
  else
    ok, why, code = commit_large(self, changes, meta, pieces:stamp())
  end
  self.public = {}
  if not ok then return nil, why, code end
  note(self, changes, names)
  self.stamp = pieces:stamp()
  return pieces:stored(graph)
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
  local ok, why, failed = self.kv:each(self.prefix, function(entry)
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
  end, function() self.leader:tick() end)
  if not ok or bad then return nil, bad or why, code or failed end
  return true, meta, stranger
end

-- Returns a message with the address of the store in front.
local function located(self, why) return ("%s: %s"):format(self.address, why) end

function Store:load()
  local ok, meta, stranger, code
  ok, meta, code = recover(self)
  if not ok then return nil, located(self, meta), code end
  local pieces <close> = core.pieces()
  ok, meta, stranger = read(self, pieces)
  if not ok then return nil, located(self, meta), stranger end
  if stranger then
    return nil, located(self, ("there are keys of something else below %s, such as %s"):format(self.prefix, stranger)), "exists"
  end
  self.revision, self.stamp = meta and meta.modified or 0, nil
  if not meta then
    if next(self.known) then return nil, located(self, ("%smeta is missing: what is there is not whole"):format(self.prefix)), "parse" end
    return nil
  end
  local graph, why
  graph, why, code = pieces:graph()
  if not graph then return nil, located(self, why), code end
  self.stamp = stamp_of(meta.text)
  return graph
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
  return late(self)
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
--- =, ...}, told to standbys and clients; bytes (of texts in a transaction).
function M.open(address, opts)
  local endpoints, prefix, code = kvs.address(address)
  if not endpoints then return nil, prefix, code end
  local kv, why
  kv, why, code = kvs.open(endpoints)
  if not kv then return nil, why, code end
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
  local endpoints, key, code = kvs.address(address)
  if not endpoints then return nil, key, code end
  local kv <close>, why, failed = kvs.open(endpoints)
  if not kv then return nil, why, failed end
  local entry
  entry, why, code = kv:get(key)
  if entry then return entry.text end
  return nil, ("etcd:%s: %s"):format(address, why or "there is no such key"), code or "unknown"
end

--- Puts a text under a key. Returns true; or nil, message, code.
function M.write(address, text)
  local endpoints, key, code = kvs.address(address)
  if not endpoints then return nil, key, code end
  local kv <close>, why, failed = kvs.open(endpoints)
  if not kv then return nil, why, failed end
  local answer
  answer, why, code = kv:try("kv/txn", { success = { kvs.put(key, text) } })
  if answer then return true end
  return nil, ("etcd:%s: %s"):format(address, why), code
end

return M
