--- queues.lua - the queue policies of a scheduler: one for each queue of Flux with a policy of its own, and one for all
-- remaining queues. Each policy runs in a sandbox with the jobs of its queue, called a line; all place on one engine.
--
-- Invariant: during a pass (a policy interrupted in the middle, to continue later) no policy is told anything; events
-- are deferred until the pass is over.
--
-- A policy that fails never keeps jobs from starting: the policy of the line that last finished a pass takes its place,
-- or FALLBACK. A whole pass has one budget of instructions, however many slices it takes, so a loop without end is a
-- failure, too.
--
-- Fields of a line: queue (a name, "" for the remaining queues), sandbox, name, given (what was asked for, with
-- options), texts, passed (a pass has ended well), good (the line whose policy replaces a failing one), failed (why the
-- policy asked for is not in use), dead (FALLBACK has failed: nothing is called any more), running (its running jobs),
-- idle (it starts nothing, see instance.lua).

local queue_policy = require "weir.sim.queue_policy"
local tables = require "weir.tables"

local M = {}
M.__index = M

--- The limits of a pass in instructions and bytes, and of a slice in seconds.
M.BUDGET = { seconds = 30, instructions = 2000000000, memory = 1 << 30 }

local FALLBACK = "fcfs" -- replaces a policy that fails where no policy worked before

local function by_id(a, b) return a.id < b.id end

--- Opens a policy for a queue ("" for queues without a policy of their own). Returns a line; or nil, message, code.
local function open(self, queue, x, texts)
  local sandbox, name, code = queue_policy.open(x, function(...) return self.bridge(...) end, M.BUDGET, texts)
  if not sandbox then return nil, name, code end
  return { queue = queue, sandbox = sandbox, name = name, given = x, texts = texts, running = 0 }
end

-- Tells a line of an event. A policy that fails is replaced.
local function tell(self, line, ...)
  if line.dead then return end
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

-- Opens the policy that replaces a failed one: the last that has worked, else FALLBACK. nil: FALLBACK has failed.
local function substitute(self, line)
  local good = line.good
  line.good = nil
  return good and open(self, line.queue, good.given, good.texts) or line.given ~= FALLBACK and open(self, line.queue, FALLBACK) or nil
end

--- Replaces a failed policy, so that jobs of the queue still start.
function M:replace(line, why)
  local other, about = substitute(self, line), line.queue ~= "" and " (queue " .. line.queue .. ")" or ""
  local what = why:find(line.name .. ":", 1, true) == 1 and why or ("%s: %s"):format(line.name, why)
  line.amid, line.renewed, line.idle = nil, true, nil
  line.failed = what
  if not other then
    line.dead = true
    self.log("err", ("queue policy %s%s; no job of it starts until another policy is put in use"):format(what, about))
    return
  end
  self.log("err", ("queue policy %s%s; %s takes its place"):format(what, about, other.name))
  line.sandbox, line.name, line.given, line.texts, line.passed = other.sandbox, other.name, other.given, other.texts, nil
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
  if line.dead then return true end
  line.sandbox:slice(seconds, line.amid)
  local ok, done
  if line.amid then
    ok, done = line.sandbox:call "go"
  else
    ok, done = line.sandbox:call("begin", self.passing.now, self.free())
  end
  line.sandbox:slice()
  line.amid = ok and not done or nil
  if not ok then line.broken = done else line.passed = line.passed or done end
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

--- Returns the ids of the first n waiting jobs of each line.
function M:heads(n)
  local ids = {}
  for _, line in ipairs(self.order) do
    for _, id in ipairs { select(2, line.sandbox:call("heads", n)) } do ids[#ids + 1] = id end
  end
  return ids
end

--- Returns the ids of all waiting jobs of a line, in the order of its policy.
function M.waiting(_, line)
  local ids = table.pack(line.sandbox:call("heads", math.maxinteger))
  return ids[1] and table.move(ids, 2, ids.n, 1, {}) or {}
end

--- Returns {queue =, policy =, failed = why or nil, dead =, idle =} for each line.
function M:about()
  local list = {}
  for i, line in ipairs(self.order) do
    list[i] = { queue = line.queue, policy = line.name, failed = line.failed, dead = line.dead, idle = line.idle }
  end
  return list
end

-- ---- construction ---------------------------------------------------------------------------------------------------

-- Opens FALLBACK for a policy that does not open, and says so.
local function spared(self, name, why)
  local line = assert(open(self, name, FALLBACK))
  self.log("err", ("%s%s; %s takes its place"):format(why, name ~= "" and " (queues." .. name .. ")" or "", FALLBACK))
  line.failed = why
  return line
end

--- Opens new policies, for use(): `default`, and by queue; texts: sources of policies by path, for paths not readable
--- here. Or nil, message, code if any fails to open; the old policies stay in use. spares(queue): whether FALLBACK is
--- taken for a policy that does not open; nil: never.
function M:open(default, queues, texts, spares)
  local by_queue, order, names = {}, {}, tables.keys(queues)
  table.insert(names, 1, "")
  for i, name in ipairs(names) do
    local line, why, code = open(self, name, queues[name] or default, texts)
    if not line and not (spares and spares(name)) then return nil, why, code end
    line = line or spared(self, name, why)
    by_queue[name], order[i] = line, line
  end
  return { by_queue = by_queue, order = order }
end

-- Notes for each new line the line whose policy has worked for its jobs, and the number of its running jobs.
local function inherit(self, opened)
  for _, line in ipairs(opened.order) do
    local old = self:of(line.queue)
    line.good = old and (old.passed and not old.failed and old or old.good)
    if line.good then line.good = { given = line.good.given, texts = line.good.texts } end
  end
end

--- Replaces the policies by the result of open(), also amid a pass: the pass is given up, and the new policies get all
--- jobs.
function M:use(opened)
  inherit(self, opened)
  self.by_queue, self.order, self.deferred, self.passing = opened.by_queue, opened.order, {}, nil
  for _, job in pairs(self.jobs()) do
    job.line = self:of(job.queue)
    if job.state == "running" then job.line.running = job.line.running + 1 end
  end
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
