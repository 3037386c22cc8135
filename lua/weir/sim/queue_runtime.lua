-- queue_runtime.lua - the library of queue policies. Runs inside the sandbox of a policy, before the policy; ... is
-- the bridge to the simulator.
--
-- @class queue_policy The table returned by a file in policies/queue, or given to `weir replay -q`, `weir test -q`,
--   scenarios and schedulers: it says when jobs start, a placement policy says where.
-- @field name: string? -- The name.
-- @field doc: string? -- A line for weir policy list --queue.
-- @field version: string? -- For readers.
-- @field options: table<string, option>? -- Values that users may set, by -q NAME:k=4: a default, or {default =, type =,
--   min =, max =, choices =, doc =}, as placement policies declare them. Types: boolean, integer, number, string; that of the
--   default if not given.
-- @field schedule: function -- fun(queue: queue, options: table, state: table?). Called after each change: a job came or ended, or
--   resources came or went. Starts and reserves jobs by the methods of the queue.
-- @field order: function? -- fun(job: queue_job, now: number, options: table, state: table?): number?, number?, number?, number?.
--   The order of the queue: up to four numbers, smaller first, then by submission. Called for all waiting jobs after each
--   change.
-- @field started: function? -- fun(job: queue_job, now: number, options: table, state: table?). Called when a job has started, at
--   once or as its reservation began, before the next job is started.
-- @field finished: function? -- fun(job: queue_job, now: number, options: table, state: table?). Called when a job running since
--   job.start has ended or was preempted.
-- @field state: table? -- What the policy keeps: names with first values, such as {turn = 0, users = {}}; booleans, numbers, texts
--   and tables of these, at most 128 KB as JSON (users may be numbers: state.users[tostring(job.user)]). started and finished
--   change it, schedule and order can read it. The state belongs to the machine and the policy, as that of a placement policy
--   does: a reload keeps the fields that are still declared with the same type, and the machine is saved with it, in
--   root.data["weir.policy.queue:NAME"], with a hash of the path for a file of the user's own. Forecasts (try, shadow, trials)
--   begin with the state and leave it as it was.
--
-- @class queue The waiting and running jobs, as schedule gets them.
-- @field now: number -- The time, in seconds.
-- @field units: integer -- The units of the machine, of the type that jobs are counted in.
-- @method pending(): fun(): queue_job? -- Iterates over the waiting jobs, in order.
-- @method news(): fun(): queue_job? -- Iterates over the waiting jobs not examined by the last call, or possible to start since:
--   all jobs after resources became free or the order changed, otherwise only new jobs.
-- @method candidates(): fun(): queue_job? -- Iterates over the news without a reservation for which enough units are free.
-- @method first(): queue_job? -- The first waiting job.
-- @method running(): queue_job[] -- The running jobs.
-- @method freed(): boolean -- Whether resources became free since the last call.
-- @method start(job: queue_job, victims: queue_job[]?): boolean -- Starts the job now, if it can. A job starts on free resources without
--   delaying any reservation: a reservation may move to different resources, but never to a different time. With a list of
--   running jobs, the job may replace as few of them as needed, the first ones first; replaced jobs wait again. On failure
--   nothing has changed.
-- @method reserve(job: queue_job): boolean -- Starts the job now (true), or reserves its earliest start as job.reserved, nil where
--   no start is in sight. A job with a reservation keeps it, or gets an earlier one, also when another job comes before it in the
--   order: a reservation is a promise, until the policy drops it with unreserve.
-- @method unreserve(job: queue_job) -- Drops a reservation.
-- @method earliest(job: queue_job): number? -- A possible start.
-- @method fits(job: queue_job): boolean -- false if too few units are free now.
-- @method preempt(job: queue_job): boolean -- Stops a running job, to wait again.
-- @method again(time: number) -- Requests a call at a time (seconds, up to 9e12), with or without changes.
-- @method time(seconds: number): number -- The time nearest to a sum of seconds: times are whole microseconds, so that
--   equal times are equal numbers, and 0.1 + 0.2 is none. queue:time(job.start + 0.2) <= queue.now
--
-- @class queue_job A job of a queue, with the fields of a job as placement policies know them.
-- @field id: integer -- The number in the queue.
-- @field number: integer -- The number of the trace or scenario.
-- @field name: string? -- The name.
-- @field submit: number -- The time of submission.
-- @field duration: number -- The estimated run time, in seconds.
-- @field estimate: number -- A second name of duration.
-- @field units: integer -- The units, as far as known before the start.
-- @field least: integer -- The least units that the job takes.
-- @field machine: integer -- The units of the machine.
-- @field user: string | integer | nil -- The user.
-- @field bank: string | integer | nil -- The bank.
-- @field project: string? -- The project.
-- @field queue: string | integer | nil -- The queue. Name, bank, project, queue and QOS come from the host, else from the jobspec.
-- @field wants: table<string, integer> -- The least number of each type that the job wants in all: {slot = 2, core = 8} of
--   slot=2/core=4.
-- @field attributes: table<string, any> -- The attributes of the jobspec: {system = {...}, user = {...}}.
-- @field urgency: number? -- The urgency.
-- @field qos: string | number | nil -- The QOS: a name or a number.
-- @field priority: number? -- The priority; higher is more urgent.
-- @field reserved: number? -- The start of the reservation.
-- @field start: number? -- The start of a running job.
-- @field waits: boolean -- Whether the job waits.
-- @field preemptible: number? -- Seconds after which the job may be preempted.
-- @field preempted: integer? -- The number of preemptions.

local bridge, coroutines, place, nearest, encode, decode, lock = ...

local START, RESERVE, UNRESERVE, EARLIEST, FREE, PREEMPT, AGAIN, ABOUT = 1, 2, 3, 4, 5, 6, 7, 8
local LAST = 9e12 -- seconds; the last time to ask for

local policy, options
local doing -- the hook that runs
local jobs, running, nrunning = {}, {}, 0
local HOLE = { waits = false }                  -- replaces a job that no longer waits
local pending, first, last, holes = {}, 1, 0, 0 -- pending[first..last]: jobs in order, each with its place
-- the least units of each job, parallel to `pending`, so that few jobs are examined; infinite for holes
local needs = {}
local newest                                    -- the job added last
local front = 1                                 -- no job waits in front of this place
local fresh = 1                                 -- jobs from this place on came since the last call
local sorted, freed, early = true, true, true   -- early: an earlier start may exist for a reservation
-- whether a reservation was given up for an earlier start when the reservations were looked at last: jobs looked at
-- before may fit into the hole, and are looked at again at the next end
local moved = false
local free = 0                                  -- free units, or an upper bound
local ranked = false                            -- by priority
-- Of jobs that could not start for lack of units: units and estimates, parallel. A job of as many units and as long an
-- estimate cannot start either, until units come back or a reservation changes.
local short_units, short_times, nshort = {}, {}, 0
local counts, smallest = {}, math.huge          -- number of waiting jobs by least units; the smallest least
local state, shown                              -- of the policy, and as schedule and order read it; nil: none
local moved_state = false                       -- whether a hook was given the state to change since it was last saved

local queue = { now = 0, units = 0 }

-- Returns ` (did you mean "x"?)`, or "" where no word is near.
local function hint(word, words)
  local near = nearest(word, words)
  return near and (' (did you mean "%s"?)'):format(near) or ""
end

setmetatable(queue, { __index = function(_, key)
  local known = {}
  for name in pairs(queue) do known[#known + 1] = name end
  error(("a queue has no field or method '%s'%s"):format(tostring(key), hint(tostring(key), known)), 2)
end })

-- Returns the instant nearest to a number of seconds (instant.lua, which sandboxes cannot read).
local function instant(seconds)
  if math.floor(seconds) == seconds then return seconds end
  if seconds < 4e9 then return math.floor(seconds * 1e6 + 0.5) / 1e6 end
  return math.floor(seconds + 0.5)
end

-- ---- the state ----------------------------------------------------------------------------------------------

local function refuse_change() error("a state can be changed by the hooks 'started' and 'finished' only", 2) end

-- Returns a table through which a table of the state can be read, as it is at the time.
local function show(x)
  local inner, shown_inner = {}, {} -- tables inside by key, and the tables through which they are read
  local function look(key, value)
    if type(value) ~= "table" then return value end
    if inner[key] ~= value then inner[key], shown_inner[key] = value, show(value) end
    return shown_inner[key]
  end
  return lock(setmetatable({}, {
    __index = function(_, key) return look(key, x[key]) end,
    __newindex = refuse_change,
    __len = function() return #x end,
    __pairs = function()
      local f, t, start = pairs(x)
      return function(_, key)
        local k, value = f(t, key)
        return k, look(k, value)
      end, t, start
    end,
  }))
end

-- Calls a hook that may change the state.
local function tell_policy(hook, job)
  local before = doing
  doing = hook
  policy[hook](job, queue.now, options, state)
  doing, moved_state = before, state ~= nil
end

-- ---- fields of a job ----------------------------------------------------------------------------------------

local ASKED = { name = true, bank = true, project = true, queue = true, qos = true, wants = true, attributes = true }
local FIELDS_OF_JOB = {
  "id", "number", "name", "submit", "duration", "estimate", "units", "least", "machine", "user", "bank", "project", "queue", "urgency",
  "qos", "priority", "reserved", "start", "waits", "preemptible", "preempted", "wants", "attributes",
}
local known_fields, answers = {}, {} -- answers: by id of the job
local strange = {} -- names that were read of a job and are no fields of jobs
for _, name in ipairs(FIELDS_OF_JOB) do known_fields[name] = true end

-- The host's value of a field of a job, requested once.
local function asked(job, key)
  local own = answers[job.id]
  if not own then
    own = {}
    answers[job.id] = own
  end
  if own[key] == nil then
    local answer = bridge(ABOUT, job.id, key)
    if key == "wants" or key == "attributes" then answer = decode(answer or "") end
    own[key] = answer == nil and "" or answer
  end
  if own[key] ~= "" then return own[key] end
end

-- Whether two words differ by a single slip: a letter too many, too few or wrong, or two letters swapped.
local function is_slip(a, b)
  local same = 0
  while same < #a and a:byte(same + 1) == b:byte(same + 1) do same = same + 1 end
  local x, y = a:sub(same + 1), b:sub(same + 1)
  return x:sub(2) == y or x == y:sub(2) or x:sub(2) == y:sub(2) or x:sub(2, 2) .. x:sub(1, 1) .. x:sub(3) == y
end

-- Reading an absent field costs a call. A policy may add fields to jobs, and read a field before setting it, so only words of
-- five letters and more that are one slip away from a field of jobs are errors.
local function missing(_, key)
  if known_fields[key] or type(key) ~= "string" then return nil end
  local near = #key > 4 and nearest(key, FIELDS_OF_JOB)
  if near and is_slip(key, near) then error(("a job has no field '%s' (did you mean \"%s\"?)"):format(key, near), 3) end
  known_fields[key], strange[#strange + 1] = true, key -- one of the policy's own
end

local JOB = { __index = function(job, key)
  if ASKED[key] then return asked(job, key) end
  local value = missing(job, key) -- a call of its own: errors name the line of the policy
  return value
end }

-- ---- waiting jobs -------------------------------------------------------------------------------------------

local function count(job)
  local n = job.least
  job.waits = true
  counts[n] = (counts[n] or 0) + 1
  if n < smallest then smallest = n end
end

local function add(job)
  last = last + 1
  pending[last], needs[last], job.place, newest = job, job.least, last, job
  count(job)
end

local function vacate(job) pending[job.place], needs[job.place], holes = HOLE, math.huge, holes + 1 end

local function gone(job)
  local n = job.least
  local left = counts[n] - 1
  job.waits, job.reserved = false, nil
  vacate(job)
  counts[n] = left > 0 and left or nil
  if left > 0 or n > smallest then return end
  smallest = math.huge
  for other in pairs(counts) do
    if other < smallest then smallest = other end
  end
end

local function squeeze()
  local n, start = 0, nil
  for i = first, last do
    local job = pending[i]
    if i >= fresh then start = start or n + 1 end
    pending[i], needs[i] = nil, nil
    if job.waits then
      n = n + 1
      pending[n], needs[n], job.place = job, job.least, n
    end
  end
  first, last, holes, fresh, front = 1, n, 0, start or n + 1, 1
end

-- Returns whether a job's number comes before another's: numbers come before texts.
local function number_before(x, y)
  if type(x) ~= type(y) then return type(x) == "number" end
  return x < y
end

local function less(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  if a[2] ~= b[2] then return a[2] < b[2] end
  if a[3] ~= b[3] then return a[3] < b[3] end
  if a[4] ~= b[4] then return a[4] < b[4] end
  if a.submit ~= b.submit then return a.submit < b.submit end
  return number_before(a.number, b.number)
end

local function wrong_keys(what) error(("%sorder: it must return up to 4 numbers, not %s"):format(place(policy.order), what), 0) end

-- Returns a key given by the policy's order, 0 for an absent key.
local function key_of(x)
  if not x then return 0 end
  if type(x) ~= "number" then wrong_keys("a " .. type(x)) end
  if x ~= x then wrong_keys "nan" end
  return x
end

local function keys(a, b, c, d, ...)
  if select("#", ...) > 0 then wrong_keys "more" end
  return key_of(a), b and key_of(b) or 0, c and key_of(c) or 0, d and key_of(d) or 0
end

-- Returns the rank of a job without an order of the policy: by priority, if the host says so.
local function rank(job) return ranked and -(job.priority or 0) or 0 end

-- Returns true if a comes after b, without an order of the policy.
local function behind(a, b)
  local x, y = rank(a), rank(b)
  if x ~= y then return x > y end
  if a.submit ~= b.submit then return a.submit > b.submit end
  return number_before(b.number, a.number)
end

-- Returns the place for a job among the ordered waiting jobs.
local function place_of(job)
  local low, high = first, last + 1
  while low < high do
    local middle = (low + high) // 2
    local at = middle
    while at < high and pending[at] == HOLE do at = at + 1 end
    if at == high or behind(pending[at], job) then high = middle else low = at + 1 end
  end
  return low
end

-- Moves jobs from a place on by one, up to the next hole.
local function move_up(low)
  local hole = low
  while hole <= last and pending[hole] ~= HOLE do hole = hole + 1 end
  if hole > last then last = hole else holes = holes - 1 end
  table.move(pending, low, hole - 1, low + 1)
  table.move(needs, low, hole - 1, low + 1)
  for i = low + 1, hole do pending[i].place = i end
  if low < fresh and fresh <= hole then fresh = fresh + 1 end
end

-- Inserts a job at its place. Mostly a hole is in front of the place, left by an earlier job that has started.
local function insert(job)
  local low = place_of(job)
  if low == first and first > 1 then
    low, first = low - 1, low - 1
  elseif low > first and pending[low - 1] == HOLE then
    low, holes = low - 1, holes - 1
  else
    move_up(low)
  end
  pending[low], needs[low], job.place, front = job, job.least, low, math.min(front, low)
  while pending[last] == HOLE do
    pending[last], needs[last], last, holes = nil, nil, last - 1, holes - 1
  end
  newest = pending[last]
end

local function arrange()
  if not policy.order and sorted then return end
  squeeze()
  doing = "order"
  for i = 1, last do
    local job = pending[i]
    if policy.order then
      job[1], job[2], job[3], job[4] = keys(policy.order(job, queue.now, options, shown))
    else
      job[1], job[2], job[3], job[4] = rank(job), 0, 0, 0
    end
  end
  table.sort(pending, less)
  for i = 1, last do
    local job = pending[i]
    needs[i], job.place = job.least, i
  end
  newest, sorted = pending[last], true
end

local function from(i)
  i = i - 1
  return function()
    local job
    repeat
      i = i + 1
      job = pending[i]
    until job == nil or job.waits
    return job
  end
end

-- ---- methods for policies -----------------------------------------------------------------------------------

function queue.pending() return from(first) end
function queue.news() return from((freed or policy.order) and first or fresh) end
function queue.freed() return freed end

function queue.candidates()
  local at = ((freed or policy.order) and first or fresh) - 1
  return function()
    local list, left, i = needs, free, at
    if left < smallest then return nil end
    local n
    repeat
      i = i + 1
      n = list[i]
    until n == nil or n <= left and not rawget(pending[i], "reserved")
    at = i
    return pending[i]
  end
end

function queue.first()
  for i = math.max(first, front), last do
    front = i
    if pending[i].waits then return pending[i] end
  end
end

local function check_job(job)
  if type(job) ~= "table" or not rawequal(jobs[job.id], job) then error("a job of the queue is expected", 3) end
end

local function runs(job)
  gone(job)
  job.start, free = queue.now, free - job.least
  nrunning = nrunning + 1
  running[nrunning], job.at = job, nrunning
  return true
end

-- A waiting job has started.
local function begins(job)
  runs(job)
  if policy.started then tell_policy("started", job) end
  return true
end

local function ended(job)
  local other = running[nrunning]
  running[job.at], other.at = other, job.at
  running[nrunning], nrunning = nil, nrunning - 1
  if policy.finished then tell_policy("finished", job) end
end

-- Puts a running job back among the waiting jobs.
local function back(job)
  ended(job)
  job.start = nil
  add(job)
  sorted, freed, early, nshort = false, true, true, 0
end

local function preempted(job)
  back(job)
  job.preempted = (job.preempted or 0) + 1
end

local function numbers(victims)
  local ids, seen = {}, {}
  for i, job in ipairs(victims) do
    check_job(job)
    if job.waits or seen[job] then error("a list of running jobs is expected, each once", 3) end
    ids[i], seen[job] = job.id, true
  end
  return ids
end

-- Starts a job in place of victims; the simulator answers the number of preempted victims.
local function start_over(job, victims)
  local n = bridge(START, job.id, table.unpack(numbers(victims)))
  if not n then return false end
  for i = 1, n do preempted(victims[i]) end
  free = n > 0 and bridge(FREE) + job.least or free
  return begins(job)
end

-- Whether a smaller or equal job, not longer, could not start for lack of units.
local function is_short(job)
  local units, time = job.least, job.estimate
  for i = 1, nshort do
    if short_units[i] <= units and short_times[i] <= time then return true end
  end
  return false
end

-- Notes a job that could not start for lack of units, in place of larger and longer ones.
local function note_short(job)
  local units, time, n = job.least, job.estimate, 0
  for i = 1, nshort do
    if short_units[i] < units or short_times[i] < time then
      n = n + 1
      short_units[n], short_times[n] = short_units[i], short_times[i]
    end
  end
  nshort = n + 1
  short_units[nshort], short_times[nshort] = units, time
end

function queue.start(_, job, victims)
  check_job(job)
  if not job.waits then return false end
  if victims ~= nil and type(victims) ~= "table" then error("a list of running jobs is expected", 2) end
  if victims and #victims > 0 then return start_over(job, victims) end
  if job.least > free or job.reserved and not early or not job.reserved and is_short(job) then return false end
  local started, short = bridge(START, job.id)
  if not started then
    if short then note_short(job) end
    return false
  end
  if job.reserved then moved, nshort = true, 0 end
  return begins(job)
end

function queue.reserve(_, job)
  check_job(job)
  if not job.waits or job.reserved and not early then return false end
  local t = bridge(RESERVE, job.id)
  if job.reserved and job.reserved ~= t then moved, nshort = true, 0 end
  if t == queue.now then return begins(job) end
  job.reserved = t
  return false
end

function queue.unreserve(_, job)
  check_job(job)
  if job.waits and job.reserved then
    bridge(UNRESERVE, job.id)
    job.reserved, early, freed, nshort = nil, true, true, 0
  end
end

function queue.earliest(_, job)
  check_job(job)
  if job.waits then return job.reserved and not early and job.reserved or bridge(EARLIEST, job.id) end
end

function queue.fits(_, job) return job.least <= free end
function queue.running() return table.move(running, 1, nrunning, 1, {}) end

function queue.preempt(_, job)
  check_job(job)
  if job.waits or not bridge(PREEMPT, job.id) then return false end
  preempted(job)
  free = bridge(FREE)
  return true
end

local function ask_again(time) bridge(AGAIN, time) end -- replaced by that of a queue in C
local sort -- of a queue in C

function queue.again(self, time)
  if type(time) ~= "number" or time ~= time or time > LAST then
    error(("a time of up to %g seconds is expected, not %s"):format(LAST, type(time) == "number" and time or "a " .. type(time)), 2)
  end
  time = instant(time)
  if time > self.now then ask_again(time) end
end

function queue.time(_, seconds)
  if type(seconds) ~= "number" or seconds ~= seconds then error("a number of seconds is expected", 2) end
  return instant(seconds)
end

-- ---- calls of the simulator ---------------------------------------------------------------------------------

local host = {}

function host.units(n) queue.units, nshort = n, 0 end

-- Forgets which jobs could not start: another user may have changed what is in use.
function host.unsure() nshort = 0 end

-- Orders jobs by priority from now on, where the policy has no order.
function host.ranked() ranked = true end

-- Adds a job. least: the least units the job takes; `units` by default.
function host.submit(id, number, submit, estimate, units, user, qos, priority, preemptible, least, name, bank, project, queue_name,
  urgency)
  local job = { id = id, number = number, submit = submit, estimate = estimate, duration = estimate, units = units, name = name,
    user = user, bank = bank, project = project, queue = queue_name, qos = qos, urgency = urgency, priority = priority,
    preemptible = preemptible, machine = queue.units, least = least or units, waits = true, reserved = nil }
  jobs[id] = setmetatable(job, JOB)
  if not newest or not behind(newest, job) then return add(job) end
  freed, sorted = true, sorted and not policy.order
  if not sorted then return add(job) end
  count(job)
  insert(job)
end

-- Ends a job. sooner: before its expected end.
function host.finish(id, sooner, now)
  local job = jobs[id]
  queue.now = now
  jobs[id] = nil
  if job.waits then
    early, answers[id], nshort = early or job.reserved ~= nil, nil, job.reserved and 0 or nshort
    return gone(job)
  end
  ended(job)
  answers[id] = nil
  freed, early, nshort = true, early or sooner or moved, 0
end

-- Notes that the reservation of a job has begun.
function host.started(id, start)
  queue.now = math.max(queue.now, start)
  begins(jobs[id])
end

-- Notes a job that was running before the policy was opened.
function host.runs(id, start)
  queue.now = math.max(queue.now, start)
  runs(jobs[id])
  jobs[id].start = start
end

-- Notes that a running job has lost its resources and waits again.
function host.back(id, now)
  queue.now = now
  back(jobs[id])
end

-- Notes the loss of a reservation.
function host.lost(id) jobs[id].reserved, freed, early, nshort = nil, true, true, 0 end

-- Notes that resources became free. sooner: earlier than expected.
function host.change(sooner) freed, early, nshort = true, early or sooner, 0 end

function host.priority(id, value)
  local job = jobs[id]
  job.priority = value
  if not job.waits then return end
  freed, sorted = true, sorted and not policy.order
  if not sorted then return end
  vacate(job)
  insert(job)
end

function host.schedule(now, units)
  queue.now, free = now, units
  arrange()
  doing, moved = "schedule", moved and not early
  policy.schedule(queue, options, shown)
  doing, freed, early = nil, false, false
  while first <= last and not pending[first].waits do
    pending[first], needs[first], first, holes = nil, nil, first + 1, holes - 1
  end
  fresh = last + 1
  local n = last - first + 1
  if first + holes > 32 and (holes > n // 2 or first > n) then squeeze() end -- lists beginning at 1 are faster
end

-- ---- a queue in C -------------------------------------------------------------------------------------------

-- What a queue in C calls (bindings/weir/queue/contract.c).
function host.calls()
  local calls = { order = policy.order ~= nil, missing = missing, wrong_keys = wrong_keys }
  for _, hook in ipairs { "started", "finished" } do
    calls[hook] = policy[hook] and function(job, now)
      queue.now = now
      tell_policy(hook, job)
    end
  end
  function calls.pass(now)
    queue.now = now
    if policy.order then
      doing = "order"
      sort(policy.order, now, options, shown)
    end
    doing = "schedule"
    policy.schedule(queue, options, shown)
    doing = nil
  end
  return calls
end

-- Puts a queue in C in the place of the one in this file: its methods by name; again(time); sort(order, now, options, state),
-- which orders the waiting jobs; the units of the machine.
function host.attach(methods, again, sort_jobs, units)
  for name, f in pairs(methods) do queue[name] = f end
  ask_again, sort, queue.units = again, sort_jobs, units
end

-- Runs a pass in parts: `begin`, then `go` as long as it returns false. No further function may be called in between.
local pass

function host.go(...)
  local ok, why = coroutines.resume(pass, ...)
  if not ok then error(why, 0) end
  return coroutines.status(pass) == "dead"
end

function host.begin(now, units)
  pass = coroutines.create(host.schedule)
  return host.go(now, units)
end

-- Returns the ids of the first n waiting jobs.
function host.heads(n)
  local ids = {}
  for i = first, last do
    if #ids == n then break end
    if pending[i].waits then ids[#ids + 1] = pending[i].id end
  end
  return table.unpack(ids)
end

-- Returns the place of the hook that runs, or ran when an error was raised, for errors without a place.
function host.place() return policy[doing] and place(policy[doing]) or "" end

function host.about() return policy.name, policy.doc, policy.state ~= nil end

-- Returns the text of a state. Raises an error that says what is wrong, without a place.
local function text_of(x)
  local ok, text = pcall(encode, x, policy.state)
  if not ok then error((tostring(text):gsub("^prelude:%d+: ", "")), 0) end
  return text
end

-- Gives the policy its state: the fields that are declared, from a saved text where they have the declared type.
function host.restore(text)
  local saved = decode(text or "")
  state = decode(text_of(policy.state))
  for name, value in pairs(state) do
    if type(saved[name]) == type(value) then state[name] = saved[name] end
  end
  shown, moved_state = show(state), false
end

-- Returns the state as a text where a hook may have changed it since the last call.
function host.state()
  if not moved_state then return nil end
  moved_state = false
  return text_of(state)
end

-- ---- options ------------------------------------------------------------------------------------------------

local DECLARED = { type = true, default = true, min = true, max = true, choices = true, doc = true }
local TYPES = { boolean = true, integer = true, number = true, string = true }

-- Returns the declaration of an option as a table with a type.
local function declaration(name, declared)
  local about = type(declared) == "table" and declared or { default = declared }
  for key in pairs(about) do
    if not DECLARED[key] then
      error(("option '%s': there is no '%s'; an option has type, default, min, max, choices, doc"):format(name, tostring(key)), 0)
    end
  end
  local kind = about.type or about.choices and "string" or math.type(about.default) or type(about.default)
  if kind == "float" then kind = "number" end
  if not TYPES[kind] then error(("option '%s': expected a type or a default"):format(name), 0) end
  return about, kind
end

local READ = {
  integer = function(text) return math.tointeger(tonumber(text)) end,
  number = function(text)
    local x = tonumber(text)
    return x and x == x and math.abs(x) < math.huge and x or nil
  end,
  boolean = function(text) return ({ ["true"] = true, ["false"] = false })[tostring(text)] end,
  string = function(text) return text end,
}

-- Raises an error for a number outside of the range of an option.
local function check_range(name, about, value)
  if type(value) ~= "number" then return end
  if about.min and value < about.min then error(("option '%s': %s is below %s, the least"):format(name, value, about.min), 0) end
  if about.max and value > about.max then error(("option '%s': %s is above %s, the most"):format(name, value, about.max), 0) end
end

local function value_of(name, declared, text)
  local about, kind = declaration(name, declared)
  local value = about.default
  if text ~= nil then
    value = READ[kind](text)
    if value == nil then error(("option '%s': %s expected, got '%s'"):format(name, kind, text), 0) end
  end
  check_range(name, about, value)
  if text == nil or not about.choices then return value end
  for _, choice in ipairs(about.choices) do
    if choice == value then return value end
  end
  error(("option '%s': '%s' is none of %s"):format(name, tostring(value), table.concat(about.choices, ", ")), 0)
end

-- The names, a line each, that the policy has read of a job when no job had them, and the fields of jobs.
function host.strange() return table.concat(strange, "\n"), table.concat(FIELDS_OF_JOB, "\n") end

-- Sets the options from lines of name=value.
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
    error(("there is no option '%s'%s; it has %s"):format(wrong, hint(wrong, known), #known > 0 and table.concat(known, " ") or "none"), 0)
  end
end

-- Declared options as lines of name, type, default, min, max, choices and description, with tabs in between; empty where
-- not declared.
function host.declared()
  local lines = {}
  local function text(x) return x == nil and "" or tostring(x) end
  for name, declared in pairs(policy.options or {}) do
    local about, kind = declaration(name, declared)
    lines[#lines + 1] = table.concat({ name, kind, text(about.default), text(about.min), text(about.max),
      table.concat(about.choices or {}, ","), (text(about.doc):gsub("%s+", " ")) }, "\t")
  end
  return table.concat(lines, "\n")
end

local PLACEMENT = { prune = true, evaluate = true, select = true, admit = true, descend = true, exclusive = true }
local FIELDS = { name = "string", doc = "string", version = "string", options = "table", order = "function", schedule = "function",
  started = "function", finished = "function", state = "table" }

return function(returned)
  if type(returned) ~= "table" then error("a queue policy returns a table", 0) end
  for key, value in pairs(returned) do
    if not FIELDS[key] then
      local known = {}
      for name in pairs(FIELDS) do known[#known + 1] = name end
      if PLACEMENT[key] then
        error(("there is no field '%s' here: this is a placement policy, which says where jobs start"):format(key), 0)
      end
      error(("there is no field '%s'%s; a queue policy has name, doc, version, options, order, schedule, started, finished, state")
        :format(tostring(key), hint(tostring(key), known)), 0)
    end
    if type(value) ~= FIELDS[key] then error(("field '%s': %s expected, got %s"):format(key, FIELDS[key], type(value)), 0) end
  end
  if not returned.schedule then error("field 'schedule' is missing", 0) end
  if returned.state and not (returned.started or returned.finished) then
    error("field 'state': the hooks that change it are started and finished; there is neither", 0)
  end
  policy = returned
  if policy.state then
    local ok, why = pcall(host.restore)
    if not ok then error("field 'state': " .. why, 0) end
  end
  return host
end
