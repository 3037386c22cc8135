--- queues.lua - the queue policies of a scheduler: one for each queue of Flux that has its own, and one for all others. Each is a
--- sandbox with the jobs of its queue in it; all of them place on one engine.
--
-- Invariant: while a pass is under way (a policy stopped amid its work, to go on later), no policy is told anything: what
-- happens meanwhile is put off until the pass is over.

local queue_policy = require "weir.sim.queue_policy"

local M = {}
M.__index = M

local BUDGET = { seconds = 30, instructions = 2000000000, memory = 1 << 30 }
local FALLBACK = "fcfs" -- takes the place of a policy that fails

local function by_id(a, b) return a.id < b.id end

--- Opens a policy for a queue ("" for all that have none of their own): a line; or nil, message, code.
local function open(self, queue, x, texts)
  local line = { queue = queue }
  local sandbox, name, code = queue_policy.open(x, function(...) return self.bridge(...) end, BUDGET, texts)
  if not sandbox then return nil, name, code end
  line.sandbox, line.name, line.given = sandbox, name, x
  return line
end

-- Tells a line. A policy that fails is replaced.
local function tell(self, line, ...)
  local ok, why = line.sandbox:call(...)
  if not ok then self:replace(line, why) end
end

-- Gives a line all jobs that are its.
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

--- A policy failed: its queue goes on in order, so that jobs still start.
function M:replace(line, why)
  if line.failed then error(why, 0) end
  self.log("err", ("queue policy %s: %s; %s takes its place"):format(line.name, why, FALLBACK))
  local other = assert(open(self, line.queue, FALLBACK))
  line.sandbox, line.name, line.failed, line.amid, line.renewed = other.sandbox, other.name, why, nil, true
  fill(self, line)
  self.replaced()
end

--- The line of a queue.
function M:of(queue) return self.by_queue[queue or ""] or self.by_queue[""] end

--- Tells the line of a job something about it, or after the pass.
function M:tell(job, what, ...)
  if self.passing then
    self.deferred[#self.deferred + 1] = table.pack(job.line, what, job.id, ...)
  else
    tell(self, job.line, what, job.id, ...)
  end
end

--- Tells all lines.
function M:tell_all(...)
  for _, line in ipairs(self.order) do
    if self.passing then self.deferred[#self.deferred + 1] = table.pack(line, ...) else tell(self, line, ...) end
  end
end

-- A job comes, or is told of again.
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
    job.preemptible, job.least)
  job.known = true
  if job.state == "running" then tell(self, job.line, "started", job.id, job.start) end
end

-- ---- passes -------------------------------------------------------------------------------------------------------------

-- What was put off is told, in its order; but to who was given all jobs as they are now.
local function flush(self)
  local list = self.deferred
  self.deferred = {}
  for _, entry in ipairs(list) do
    if entry[1].renewed then goto continue end
    if entry[2] == "submit" then self:submit(entry[4]) else tell(self, table.unpack(entry, 1, entry.n)) end
    ::continue::
  end
end

-- The pass is over: what has failed is replaced, what was put off is told.
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

--- Begins a pass: each line is asked what is to be done at `now`.
function M:begin(now)
  self.passing, self.at = { now = now }, 1
end

-- A line's part of a pass, as far as it comes. Returns whether it is done.
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

--- Goes on with the pass for so many seconds. Returns whether it is over.
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

--- The first n jobs that wait in each line.
function M:heads(n)
  local ids = {}
  for _, line in ipairs(self.order) do
    for _, id in ipairs { select(2, line.sandbox:call("heads", n)) } do ids[#ids + 1] = id end
  end
  return ids
end

--- What is in use: {queue =, policy =, failed = why or nil} of each line.
function M:about()
  local list = {}
  for i, line in ipairs(self.order) do list[i] = { queue = line.queue, policy = line.name, failed = line.failed } end
  return list
end

-- ---- making them --------------------------------------------------------------------------------------------------------

--- Opens other policies, for use(): `default`, and by queue; texts: of files that are not here, by path. Or nil, message, code where
--- one of them does not open. The old ones go on.
function M:open(default, queues, texts)
  local by_queue, order, names = {}, {}, { "" }
  for name in pairs(queues) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    local line, why, code = open(self, name, queues[name] or default, texts)
    if not line then return nil, why, code end
    by_queue[name], order[i] = line, line
  end
  return { by_queue = by_queue, order = order }
end

--- Policies that open() gave take the place of the old ones.
function M:use(opened)
  self.by_queue, self.order, self.deferred, self.passing = opened.by_queue, opened.order, {}, nil
  for _, job in pairs(self.jobs()) do job.line = self:of(job.queue) end
  for _, line in ipairs(opened.order) do fill(self, line) end
end

--- Lines. host: bridge(...), what policies ask; jobs(), units(), free(), log(level, text); replaced(): a policy was.
function M.new(host)
  return setmetatable({
    bridge = host.bridge, jobs = host.jobs, units = host.units, free = host.free, log = host.log,
    replaced = host.replaced,
    by_queue = {}, order = {}, deferred = {},
  }, M)
end

return M
