--- queues.lua - the queue policies of a scheduler: one for each queue of Flux with a policy of its own, one for the queues that
-- require the same properties, and one for all remaining queues. So jobs that compete for the same resources are in one
-- order, and a backlog in a queue with resources of its own keeps no other queue waiting. The jobs of a virtual queue (RFC 33)
-- are in the order of its parent. Each policy runs in a sandbox
-- with the jobs of its queues, called a group; all policies place on one engine.
--
-- Invariant: during a pass (a policy interrupted in the middle, to continue later) no policy is notified; events
-- are deferred until the pass is over.
--
-- A policy that fails never keeps jobs from starting: the last policy of the group that finished a pass takes its place,
-- or FALLBACK. A whole pass has one budget of instructions, however many slices it takes, so a loop without end is a
-- failure, too.
--
-- Fields of a group: queue (names of queues, "" for the remaining ones), member (the first of them), sandbox, name, given
-- (what was requested, with options), keeps (saves the state of the policy; nil for none), texts, passed (a pass has ended
-- well), good (the group whose policy replaces a failing one), failed (why the requested policy is not in use), dead (FALLBACK
-- has failed: nothing is called any more),
-- running (its running jobs), complete, cancelled (jobs that have left running or waiting), idle (it starts nothing, see annotations.lua).

local queue_policy = require "weir.sim.queue_policy"
local tables = require "weir.tables"

local M = {}
M.__index = M

--- The limits of a pass in instructions and bytes, and of a slice in seconds.
M.BUDGET = { seconds = 30, instructions = 2000000000, memory = 1 << 30 }

local FALLBACK = "fcfs" -- replaces a policy that fails where no policy worked before

local function by_id(a, b) return a.id < b.id end

--- Opens a policy for queues ("": for those without a group of their own). Returns a group; or nil, message, code.
local function open(self, queue, x, texts)
  local sandbox, name, code = queue_policy.open(x, function(...) return self.bridge(...) end, M.BUDGET, texts)
  if not sandbox then return nil, name, code end
  return { queue = queue, member = queue:match "^[^,]*", sandbox = sandbox, name = name, given = x, texts = texts, running = 0 }
end

-- Notifies a group of an event. A policy that fails is replaced.
local function tell(self, group, ...)
  if group.dead then return end
  local ok, why = group.sandbox:call(...)
  if not ok then self:replace(group, why) end
end

-- Submits to a group all its jobs.
local function fill(self, group)
  local list = {}
  group.keeps = queue_policy.keep(group.sandbox, group.given, self.graph(), #self.order > 1 and group.queue or nil)
  for _, job in pairs(self.jobs()) do
    if job.group == group then list[#list + 1] = job end
  end
  table.sort(list, by_id)
  tell(self, group, "ranked")
  tell(self, group, "units", self.units())
  for _, job in ipairs(list) do self:add(job, group) end
end

-- Opens the replacement of a failed policy: the last policy of the group that worked, else FALLBACK. nil: FALLBACK has failed.
local function substitute(self, group)
  local good = group.good
  group.good = nil
  return good and open(self, group.queue, good.given, good.texts) or group.given ~= FALLBACK and open(self, group.queue, FALLBACK) or nil
end

--- Replaces a failed policy, so that jobs of the queue still start.
function M:replace(group, why)
  local other, about = substitute(self, group), group.queue ~= "" and " (queue " .. group.queue .. ")" or ""
  local what = why:find(group.name .. ":", 1, true) == 1 and why or ("%s: %s"):format(group.name, why)
  group.amid, group.renewed, group.idle = nil, true, nil
  group.failed = what
  if not other then
    group.dead = true
    self.log("err", ("queue policy %s%s; no job of it starts until another policy is put in use"):format(what, about))
    return
  end
  self.log("err", ("queue policy %s%s; %s takes its place"):format(what, about, other.name))
  group.sandbox, group.name, group.given, group.texts, group.passed = other.sandbox, other.name, other.given, other.texts, nil
  fill(self, group)
  self.replaced()
end

--- Returns the group of a queue.
function M:of(queue) return self.by_queue[self.parents[queue] or queue or ""] or self.by_queue[""] end

--- Notifies the group of a job of an event, at once or after the pass.
function M:tell(job, what, ...)
  if self.passing then
    self.deferred[#self.deferred + 1] = table.pack(job.group, what, job.id, ...)
  else
    tell(self, job.group, what, job.id, ...)
  end
end

--- Notifies all groups of an event, at once or after the pass.
function M:tell_all(...)
  for _, group in ipairs(self.order) do
    if self.passing then self.deferred[#self.deferred + 1] = table.pack(group, ...) else tell(self, group, ...) end
  end
end

-- Submits a job to a group, for the first time or again.
function M:add(job, group)
  group = group or self:of(job.queue)
  job.group, job.known = group, false
  if self.passing then
    self.deferred[#self.deferred + 1] = table.pack(group, "submit", job.id, job)
  else
    self:submit(job)
  end
end

function M:submit(job)
  tell(self, job.group, "submit", job.id, job.number, job.submit, job.estimate, job.units, job.user, job.qos, job.priority,
    job.preemptible, job.least, job.name, job.bank, job.project, job.queue)
  job.known = true
  if job.state == "running" then tell(self, job.group, "runs", job.id, job.start) end
end

-- ---- passes ---------------------------------------------------------------------------------------------------------

-- Delivers deferred events in order, except to groups refilled meanwhile.
local function flush(self)
  local list = self.deferred
  self.deferred = {}
  for _, entry in ipairs(list) do
    if entry[1].renewed then goto continue end
    if entry[2] == "submit" then self:submit(entry[4]) else tell(self, table.unpack(entry, 1, entry.n)) end
    ::continue::
  end
end

-- Saves the states of the policies with the machine. A policy whose state cannot be saved is replaced.
local function keep_states(self)
  for _, group in ipairs(self.order) do
    local ok, why = true, nil
    if group.keeps and not group.dead then ok, why = group.keeps() end
    if not ok then self:replace(group, "the state: " .. why) end
  end
end

-- Ends a pass: replaces failed policies, delivers deferred events, saves states.
local function finish(self)
  self.passing = nil
  for _, group in ipairs(self.order) do group.renewed = nil end
  for _, group in ipairs(self.order) do
    local why = group.broken
    group.broken = nil
    if why then self:replace(group, why) end
  end
  flush(self)
  keep_states(self)
end

--- Begins a pass at time `now` over all groups.
function M:begin(now)
  self.passing, self.at = { now = now }, 1
end

-- Continues a group's part of the pass. Returns true if the part is done.
local function go(self, group, seconds)
  if group.dead then return true end
  group.sandbox:slice(seconds, group.amid)
  local ok, done
  if group.amid then
    ok, done = group.sandbox:call "go"
  else
    ok, done = group.sandbox:call("begin", self.passing.now, self.free())
  end
  group.sandbox:slice()
  group.amid = ok and not done or nil
  if not ok then group.broken = done else group.passed = group.passed or done end
  return not ok or done
end

--- Continues the pass for `seconds`. Returns true if the pass is over.
function M:go(seconds, clock)
  local ends = clock() + seconds
  while self.at <= #self.order do
    local left = ends - clock()
    if left <= 0 or not go(self, self.order[self.at], left) then return false end
    self.at = self.at + 1
  end
  finish(self)
  return true
end

--- Returns the ids of the first n waiting jobs of each group.
function M:heads(n)
  local ids = {}
  for _, group in ipairs(self.order) do
    for _, id in ipairs { select(2, group.sandbox:call("heads", n)) } do ids[#ids + 1] = id end
  end
  return ids
end

--- Returns the ids of all waiting jobs of a group, in the order of its policy.
function M.waiting(_, group)
  local ids = table.pack(group.sandbox:call("heads", math.maxinteger))
  return ids[1] and table.move(ids, 2, ids.n, 1, {}) or {}
end

--- Returns {queue =, policy =, failed = why or nil, dead =, idle =} for each group.
function M:about()
  return tables.map(self.order, function(group)
    return { queue = group.queue, policy = group.name, failed = group.failed, dead = group.dead, idle = group.idle }
  end)
end

-- ---- construction ---------------------------------------------------------------------------------------------------

-- Opens FALLBACK for a policy that does not open, and says so.
local function spared(self, name, why)
  local group = assert(open(self, name, FALLBACK))
  self.log("err", ("%s%s; %s takes its place"):format(why, name ~= "" and " (queues." .. name .. ")" or "", FALLBACK))
  group.failed = why
  return group
end

-- Returns a text that is equal for equal sets of required properties; "" for none.
local function needs_of(requires)
  local words = tables.map(type(requires) == "table" and requires or {}, tostring)
  table.sort(words)
  return table.concat(words, ",")
end

-- Returns the groups of queues, as lists of names: {""}, the groups of queues with equal required properties, then each queue
-- with a policy of its own. Virtual queues are in none: of() finds the group of the parent.
local function groups(settings)
  local list, by_needs = { { "" } }, {}
  for _, name in ipairs(tables.keys(settings.requires)) do
    local needs = needs_of(settings.requires[name])
    if needs ~= "" and not settings.queues[name] and not settings.parents[name] then
      tables.push(by_needs, needs, name)
    end
  end
  for _, needs in ipairs(tables.keys(by_needs)) do list[#list + 1] = by_needs[needs] end
  for _, name in ipairs(tables.keys(settings.queues)) do list[#list + 1] = { name } end
  return list
end

--- Opens new policies for settings (see settings.lua: queue, queues, requires, parents, texts), for use(). Or nil, message, code if
--- any fails to open; the old policies stay in use. spares(queue): whether FALLBACK is taken for a policy that does not
--- open; nil: never.
function M:open(settings, spares)
  local by_queue, order = {}, {}
  for i, names in ipairs(groups(settings)) do
    local queue = table.concat(names, ",")
    local group, why, code = open(self, queue, settings.queues[queue] or settings.queue, settings.texts)
    if not group and not (spares and spares(queue)) then return nil, why, code end
    group = group or spared(self, queue, why)
    order[i] = group
    for _, name in ipairs(names) do by_queue[name] = group end
  end
  return { by_queue = by_queue, order = order, parents = settings.parents }
end

-- Records for each new group the policy that has worked for its jobs so far, as a replacement.
local function inherit(self, opened)
  for _, group in ipairs(opened.order) do
    local old = self:of(group.member)
    group.good = old and (old.passed and not old.failed and old or old.good)
    if group.good then group.good = { given = group.good.given, texts = group.good.texts } end
  end
end

--- Replaces the policies by the result of open(), also amid a pass: the pass is given up, and the new policies get all
--- jobs.
function M:use(opened)
  inherit(self, opened)
  self.by_queue, self.order, self.parents, self.deferred, self.passing = opened.by_queue, opened.order, opened.parents, {}, nil
  for _, job in pairs(self.jobs()) do
    job.group = self:of(job.queue)
    if job.state == "running" then job.group.running = job.group.running + 1 end
  end
  for _, group in ipairs(opened.order) do fill(self, group) end
end

--- Makes the groups. host: bridge(...), which answers policies; jobs(), units(), free(), graph(), log(level, text); replaced(),
-- called after a failed policy was replaced.
function M.new(host)
  return setmetatable({
    bridge = host.bridge, jobs = host.jobs, units = host.units, free = host.free, graph = host.graph, log = host.log,
    replaced = host.replaced,
    by_queue = {}, order = {}, parents = {}, deferred = {},
  }, M)
end

return M
