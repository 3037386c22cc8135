--- queues.lua - the queue policies of a scheduler: one for each queue of Flux with a policy of its own, and one for all
-- remaining queues. Each policy runs in a sandbox with the jobs of its queue, called a line; all place on one engine.
--
-- Invariant: during a pass (a policy interrupted in the middle, to continue later) no policy is told anything; events
-- are deferred until the pass is over.

local queue_policy = require "weir.sim.queue_policy"
local tables = require "weir.tables"

local M = {}
M.__index = M

local BUDGET = { seconds = 30, instructions = 2000000000, memory = 1 << 30 }
local FALLBACK = "fcfs" -- replaces a policy that fails

local function by_id(a, b) return a.id < b.id end

--- Opens a policy for a queue ("" for queues without a policy of their own). Returns a line; or nil, message, code.
local function open(self, queue, x, texts)
  local line = { queue = queue }
  local sandbox, name, code = queue_policy.open(x, function(...) return self.bridge(...) end, BUDGET, texts)
  if not sandbox then return nil, name, code end
  line.sandbox, line.name, line.given = sandbox, name, x
  return line
end

-- Tells a line of an event. A policy that fails is replaced.
local function tell(self, line, ...)
  local ok, why = line.sandbox:call(...)
  if not ok then self:replace(line, why) end
end

-- Submits to a line all its jobs.
local function fill(self, line)
  local list = {}
  for _, job in pairs(self.jobs()) do
    if job.line == line then list[#list + 1] = job end
  end
  table.sort(list, by_id)
  tell(self, line, "ranked")
  tell(self, line, "units", self.units())
  for _, job in ipairs(list) do self:add(job, line) end
end

--- Replaces a failed policy, so that jobs of the queue still start, in order.
function M:replace(line, why)
  if line.failed then error(why, 0) end
  self.log("err", ("queue policy %s: %s; %s takes its place"):format(line.name, why, FALLBACK))
  local other = assert(open(self, line.queue, FALLBACK))
  line.sandbox, line.name, line.failed, line.amid, line.renewed = other.sandbox, other.name, why, nil, true
  fill(self, line)
  self.replaced()
end

--- Returns the line of a queue.
function M:of(queue) return self.by_queue[queue or ""] or self.by_queue[""] end

--- Tells the line of a job of an event, at once or after the pass.
function M:tell(job, what, ...)
  if self.passing then
    self.deferred[#self.deferred + 1] = table.pack(job.line, what, job.id, ...)
  else
    tell(self, job.line, what, job.id, ...)
  end
end

--- Tells all lines of an event, at once or after the pass.
function M:tell_all(...)
  for _, line in ipairs(self.order) do
    if self.passing then self.deferred[#self.deferred + 1] = table.pack(line, ...) else tell(self, line, ...) end
  end
end

-- Submits a job to a line, for the first time or again.
function M:add(job, line)
  line = line or self:of(job.queue)
  job.line, job.known = line, false
  if self.passing then
    self.deferred[#self.deferred + 1] = table.pack(line, "submit", job.id, job)
  else
    self:submit(job)
  end
end

function M:submit(job)
  tell(self, job.line, "submit", job.id, job.number, job.submit, job.estimate, job.units, job.user, job.qos, job.priority,
    job.preemptible, job.least, job.name, job.bank, job.project, job.queue)
  job.known = true
  if job.state == "running" then tell(self, job.line, "started", job.id, job.start) end
end

-- ---- passes ---------------------------------------------------------------------------------------------------------

-- Delivers deferred events in order, except to lines filled anew meanwhile.
local function flush(self)
  local list = self.deferred
  self.deferred = {}
  for _, entry in ipairs(list) do
    if entry[1].renewed then goto continue end
    if entry[2] == "submit" then self:submit(entry[4]) else tell(self, table.unpack(entry, 1, entry.n)) end
    ::continue::
  end
end

-- Ends a pass: replaces failed policies, delivers deferred events.
local function finish(self)
  self.passing = nil
  for _, line in ipairs(self.order) do line.renewed = nil end
  for _, line in ipairs(self.order) do
    local why = line.broken
    line.broken = nil
    if why then self:replace(line, why) end
  end
  flush(self)
end

--- Begins a pass at time `now` over all lines.
function M:begin(now)
  self.passing, self.at = { now = now }, 1
end

-- Continues a line's part of the pass. Returns true if the part is done.
local function go(self, line, seconds)
  line.sandbox:slice(seconds)
  local ok, done
  if line.amid then
    ok, done = line.sandbox:call "go"
  else
    ok, done = line.sandbox:call("begin", self.passing.now, self.free())
  end
  line.sandbox:slice()
  line.amid = ok and not done or nil
  if ok then return done end
  line.broken = done
  return true
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

--- Returns the ids of the first n waiting jobs of each line.
function M:heads(n)
  local ids = {}
  for _, line in ipairs(self.order) do
    for _, id in ipairs { select(2, line.sandbox:call("heads", n)) } do ids[#ids + 1] = id end
  end
  return ids
end

--- Returns {queue =, policy =, failed = why or nil} for each line.
function M:about()
  local list = {}
  for i, line in ipairs(self.order) do list[i] = { queue = line.queue, policy = line.name, failed = line.failed } end
  return list
end

-- ---- construction ---------------------------------------------------------------------------------------------------

--- Opens new policies, for use(): `default`, and by queue; texts: sources of policies by path, for paths not readable
--- here. Or nil, message, code if any fails to open; the old policies stay in use.
function M:open(default, queues, texts)
  local by_queue, order, names = {}, {}, tables.keys(queues)
  table.insert(names, 1, "")
  for i, name in ipairs(names) do
    local line, why, code = open(self, name, queues[name] or default, texts)
    if not line then return nil, why, code end
    by_queue[name], order[i] = line, line
  end
  return { by_queue = by_queue, order = order }
end

--- Replaces the policies by the result of open().
function M:use(opened)
  self.by_queue, self.order, self.deferred, self.passing = opened.by_queue, opened.order, {}, nil
  for _, job in pairs(self.jobs()) do job.line = self:of(job.queue) end
  for _, line in ipairs(opened.order) do fill(self, line) end
end

--- Makes the lines. host: bridge(...), which answers policies; jobs(), units(), free(), log(level, text); replaced(),
-- called after a failed policy was replaced.
function M.new(host)
  return setmetatable({
    bridge = host.bridge, jobs = host.jobs, units = host.units, free = host.free, log = host.log,
    replaced = host.replaced,
    by_queue = {}, order = {}, deferred = {},
  }, M)
end

return M
