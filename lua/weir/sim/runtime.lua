-- runtime.lua - what a queue policy stands on. Runs inside the sandbox of the policy, before it: ... is the bridge to the
-- simulator. A queue policy returns
--
--   { name =, doc =, options = {k = 4, ...},
--     order = function(job, now, options) return number, number, ... end,   who comes first: smaller numbers; else submission
--     schedule = function(queue, options) ... end }                         called when something changed
--
-- queue: queue.now; queue:pending() the jobs that wait, in order; queue:fresh() those of them that came since the last call;
--   queue:freed() whether resources became free since, or a node came back; queue:start(job) true when it starts now;
--   queue:reserve(job) books its earliest start and returns it (a job has at most one reservation); queue:unreserve(job);
--   queue:earliest(job) when it could start, without booking; queue:fits(job) false when there are too few units free now;
--   queue:running() the jobs that run; queue:preempt(job) stops one of those, which waits again.
-- job: id, submit, estimate (seconds), units (of what jobs are counted in), user, qos, priority, reserved (its start, or nil),
--   start (of a running job), preemptible (seconds after which it may be preempted, or nil).

local bridge = ...

local START, RESERVE, UNRESERVE, EARLIEST, FREE, PREEMPT = 1, 2, 3, 4, 5, 6

local policy, options
local jobs, pending, running, fresh = {}, {}, {}, {}
local nrunning, sorted, freed = 0, true, true
local free -- units, asked once until something changes

local queue = { now = 0 }

local function compact(list, keep)
  local n = 0
  for i = 1, #list do
    local job = list[i]
    if keep(job) then
      n = n + 1
      list[n] = job
    end
  end
  for i = #list, n + 1, -1 do list[i] = nil end
end

local function waits(job) return job.state == "pending" end

-- ---- order --------------------------------------------------------------------------------------------------

local function less(a, b)
  local x, y = a.key, b.key
  for i = 1, #x do
    if x[i] ~= y[i] then return x[i] < y[i] end
  end
  if a.submit ~= b.submit then return a.submit < b.submit end
  return a.number < b.number
end

local function arrange()
  if not policy.order then return end
  for i = 1, #pending do pending[i].key = { policy.order(pending[i], queue.now, options) } end
  table.sort(pending, less)
end

-- ---- what a policy can do -----------------------------------------------------------------------------------

function queue.pending() return pending end
function queue.fresh() return fresh end
function queue.freed() return freed end

local function check_job(job, state)
  if type(job) ~= "table" or jobs[job.id] ~= job then error("a job of the queue is expected", 3) end
  return job.state == state
end

function queue.start(_, job)
  if not check_job(job, "pending") then return false end
  local started, reserved = bridge(START, job.id)
  if not started then
    job.reserved = reserved or nil
    return false
  end
  job.state, job.start, job.reserved, free = "running", queue.now, nil, nil
  nrunning = nrunning + 1
  running[nrunning], job.at = job, nrunning
  return true
end

function queue.reserve(self, job)
  if not check_job(job, "pending") then return nil end
  if job.reserved then return job.reserved end
  local t = bridge(RESERVE, job.id)
  free = nil
  if t == self.now then
    job.state, job.start = "running", t
    nrunning = nrunning + 1
    running[nrunning], job.at = job, nrunning
    return t
  end
  job.reserved = t
  return t
end

function queue.unreserve(_, job)
  if check_job(job, "pending") and job.reserved then
    bridge(UNRESERVE, job.id)
    job.reserved = nil
  end
end

function queue.earliest(_, job)
  if check_job(job, "pending") then return bridge(EARLIEST, job.id) end
end

function queue.free()
  free = free or bridge(FREE)
  return free
end

function queue.fits(self, job) return job.units <= (free or self.free()) end

function queue.running() return table.move(running, 1, nrunning, 1, {}) end

local function ended(job)
  local last = running[nrunning]
  running[job.at], last.at = last, job.at
  running[nrunning], nrunning = nil, nrunning - 1
end

function queue.preempt(_, job)
  if not check_job(job, "running") or not bridge(PREEMPT, job.id) then return false end
  ended(job)
  job.state, job.start, free, sorted = "pending", nil, nil, false
  table.insert(pending, job)
  return true
end

-- ---- what the simulator tells -------------------------------------------------------------------------------

local host = {}

function host.submit(id, number, submit, estimate, units, user, qos, priority, preemptible)
  local job = { id = id, number = number, submit = submit, estimate = estimate, units = units, user = user, qos = qos,
    priority = priority, preemptible = preemptible, state = "pending" }
  jobs[id] = job
  pending[#pending + 1], fresh[#fresh + 1] = job, job
end

function host.finish(id)
  local job = jobs[id]
  if job.state == "running" then ended(job) end
  job.state, jobs[id], freed, free = "done", nil, true, nil
end

-- A reservation whose time came, or that was lost (t is nil).
function host.reserved(id, started)
  local job = jobs[id]
  job.reserved = nil
  if not started then return end
  job.state, job.start, free = "running", queue.now, nil
  nrunning = nrunning + 1
  running[nrunning], job.at = job, nrunning
end

function host.change() freed, free = true, nil end

function host.priority(id, value) jobs[id].priority, sorted = value, false end

function host.clock(now) queue.now = now end

function host.schedule(now)
  queue.now, free = now, nil
  compact(pending, waits)
  if not sorted and not policy.order then
    table.sort(pending, function(a, b)
      if a.submit ~= b.submit then return a.submit < b.submit end
      return a.number < b.number
    end)
    sorted = true
  end
  arrange()
  policy.schedule(queue, options)
  compact(pending, waits)
  fresh, freed = {}, false
  return #pending
end

function host.about() return policy.name, policy.doc end

-- ---- options ------------------------------------------------------------------------------------------------

local function value_of(name, declared, text)
  local default = declared
  if type(declared) == "table" then default = declared.default end
  if text == nil then return default end
  local value = text
  if math.type(default) == "integer" then value = math.tointeger(tonumber(text)) elseif type(default) == "number" then
    value = tonumber(text)
  elseif type(default) == "boolean" then
    value = ({ ["true"] = true, ["false"] = false })[tostring(text)]
  end
  if value == nil then error(("option '%s': %s expected, got '%s'"):format(name, math.type(default) or type(default), text), 0) end
  for _, choice in ipairs(type(declared) == "table" and declared.choices or {}) do
    if choice == value then return value end
  end
  if type(declared) == "table" and declared.choices then
    error(("option '%s': '%s' is none of %s"):format(name, tostring(value), table.concat(declared.choices, ", ")), 0)
  end
  return value
end

-- name=value pairs, separated by line ends.
function host.options(text)
  local given, known = {}, {}
  for name, value in (text or ""):gmatch "([^=\n]+)=([^\n]*)" do given[name] = value end
  options = {}
  for name, declared in pairs(policy.options or {}) do
    options[name] = value_of(name, declared, given[name])
    known[#known + 1], given[name] = name, nil
  end
  local wrong = next(given)
  table.sort(known)
  if wrong then
    error(("there is no option '%s'; it has %s"):format(wrong, #known > 0 and table.concat(known, " ") or "none"), 0)
  end
end

local FIELDS = { name = "string", doc = "string", version = "string", options = "table", order = "function", schedule = "function" }

return function(returned)
  if type(returned) ~= "table" then error("a queue policy returns a table", 0) end
  for key, value in pairs(returned) do
    if not FIELDS[key] then error(("there is no field '%s'; a queue policy has name, doc, version, options, order, schedule")
      :format(tostring(key)), 0) end
    if type(value) ~= FIELDS[key] then error(("field '%s': %s expected, got %s"):format(key, FIELDS[key], type(value)), 0) end
  end
  if not returned.schedule then error("field 'schedule' is missing", 0) end
  policy = returned
  return host
end
