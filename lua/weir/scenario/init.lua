--- scenario - tests of scheduling, written as programs: a machine in a line, policies, jobs, a clock that jumps, and
--- assertions. No wall clock and no randomness: an equal text gives an equal history everywhere.
---
---   local scenario = require "weir.scenario"
---
---   it("keeps the promise made to the first job in the queue", function()
---     local s = scenario { machine = "rack:2 node:4 core:8", policy = "low", queue = "easy" }
---     local long  = s:submit { "slot=6/node", lasts = 100 }
---     local first = s:submit { "slot=8/node", lasts = 50 }
---     local short = s:submit { "slot=2/node", lasts = 100 }
---     assert.running(long, short)
---     assert.pending(first, "busy")
---     s:advance(100)
---     assert.starts_at(first, 100)
---   end)
---
--- Jobs submitted at equal times reach the queue policy together: the policy is called when the clock moves, before any
--- further action, and before an assertion or a look at a job. For assertions see weir.scenario.assertions.

require "weir.lua_version"

local about = require "weir.about"
local broker = require "weir.sim.broker"
local engines = require "weir.engine"
local blame = require "weir.scenario.error_location"
local files = require "weir.files"
local graft = require "weir.scenario.attach"
local instant = require "weir.sim.instant"
local job = require "weir.scenario.job"
local ledger = require "weir.scenario.alloc_log"
local packages = require "weir.packages"
local picture = require "weir.scenario.picture"
local random = require "weir.random"
local reason = require "weir.scenario.expect_explain"
local sim = require "weir.sim"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local weir = require "weir"
local where = require "weir.machine.vertex_names"

local M = {
  --- Defaults of machine, policy, queue and granularity, which has none.
  defaults = { machine = "cluster:1 node:4 core:8", policy = "low", queue = "easy" },
}

local S = {}
local UNSET = { ended = true, source = true, unplanned = true } -- fields of a scenario that may be nil

S.__index = function(_, name)
  local method = S[name]
  if method == nil and not UNSET[name] then
    blame.fail("a scenario has no method '%s'%s", tostring(name), suggest.hint(tostring(name), tables.keys(S)))
  end
  return method
end

local FAR = 9e12          -- seconds; later events never happen
local MOST_EVENTS = 1000000 -- between two looks at a scenario; s.most_events overrides

-- ---- reading options ----------------------------------------------------------------------------------------

local fail = blame.fail

local function check_keys(given, known, what)
  local names = tables.filter(tables.collect(pairs(known)), function(name) return type(name) == "string" end)
  table.sort(names)
  for key in pairs(given) do
    if not known[key] then fail("%s: there is no '%s'%s", what, tostring(key), suggest.among(tostring(key), names)) end
  end
end

-- Returns the path of a file next to the scenario, if the current directory has no such file.
local function beside(x, source)
  if type(x) ~= "string" or not x:find "%.%w+$" or x:find "\n" or files.exists(x) then return x end
  local near = (source:match "^@(.*/)" or "") .. x:gsub("^%./", "")
  return files.exists(near) and near or x
end

local OPTIONS = { machine = true, granularity = true, policy = true, policies = true, queue = true, rule = true, overrun = true,
  start = true, type = true, seed = true, jobs = true, name = true, stream = true }

-- Returns a graph for a scenario. A given graph is copied, so that scenarios do not affect each other.
local function machine_of(x, source)
  if type(x) == "function" then x = x() end
  if type(x) == "userdata" and x.dup then return x:dup() end
  local graph, why = weir.resources(beside(x, source))
  return graph or fail("scenario: machine: %s", why)
end

-- Returns the granularity of a scenario, as weir.engine takes it; nil for none.
local function granularity_of(s, opts)
  local text = opts.granularity or M.defaults.granularity
  if text == nil then return nil end
  if type(text) ~= "string" then fail("scenario: granularity: expected a type such as rack, got %s", type(text)) end
  local found, why = engines.granularity(s.graph, text)
  return found or fail("scenario: granularity: %s", why)
end

local function open_sim(s, opts, source)
  local simulator, why = sim.new {
    resources = s.graph, granularity = granularity_of(s, opts),
    policy = beside(opts.policy or M.defaults.policy, source), policies = opts.policies,
    queue = beside(opts.queue or M.defaults.queue, source), rule = opts.rule, overrun = opts.overrun, start = opts.start, type = opts.type,
    keep_going = true, -- the reason is that of the job, for assertions
    on = function(event, ...)
      s.ledger:note(event, ...)
      if event == "finish" and s.ended then s.ended() end
    end,
  }
  return simulator or fail("scenario: %s", why)
end

local follow

local function new(opts)
  if type(opts) ~= "table" then fail "scenario: expected a table, { machine = ..., policy = ..., queue = ... }" end
  check_keys(opts, OPTIONS, "scenario")
  local source = blame.source()
  local s = setmetatable({ requests = setmetatable({}, { __mode = "k" }), random = random.new(opts.seed or 1), source = source,
    acting = false, most_events = MOST_EVENTS }, S)
  local stream = opts.stream and (packages.module("scenario", "stream") or fail "scenario: stream: no installed package reads recordings")
  local recorded = stream and stream.read(beside(opts.stream, source))
  if recorded and opts.machine then fail "scenario: stream: the machine is the one of the recording" end
  s.graph = recorded and recorded.graph or machine_of(opts.machine or M.defaults.machine, source)
  s.ledger = ledger.new(s.graph, opts.start or 0, job.title)
  s.sim = open_sim(s, opts, source)
  s.engine = s.sim.engine
  if recorded then follow(s, stream, recorded) end
  for _, spec in ipairs(opts.jobs or {}) do s:submit(spec) end
  M.current = s
  return s
end

function M.is(x) return getmetatable(x) == S end

-- ---- the clock ----------------------------------------------------------------------------------------------

--- @method settle() -- Handles all events up to now. Assertions and handles of jobs do so before each look.
function S:settle()
  local later = self.unplanned
  if later then
    self.unplanned = nil
    fail("s:at(%.14g)%s: expected an action, such as s:at(%.14g):down \"node3\"; s:to moves the clock", later.time,
      rawget(later, "place"), later.time)
  end
  if not self.acting then self.sim:settle() end
end

--- @method now(): number -- Returns the time, in seconds.
function S:now() return self.sim.now end

local function check_time(t, what)
  if type(t) ~= "number" or t ~= t then fail("%s: expected a number of seconds", what) end
  if t > FAR then fail("%s: %g seconds: the clock ends at %g seconds", what, t, FAR) end
end

-- Handles all events up to a time.
local function happen(s, limit)
  local n, most = 0, s.most_events
  while s.sim:step(limit) do
    n = n + 1
    if n > most then fail("after %d events, at %.14g s, the queue still does not come to rest", n, s.sim.now) end
  end
end

--- @method to(time: number): scenario -- Moves the clock to a time.
function S:to(time)
  check_time(time, "s:to")
  time = instant.of(time)
  if time < self.sim.now then fail("s:to: it is %.14g s already", self.sim.now) end
  self:settle()
  happen(self, time)
  self.sim:run(time)
  self:settle()
  return self
end

--- @method advance(seconds: number): scenario -- Moves the clock by some seconds.
function S:advance(seconds)
  check_time(seconds, "s:advance")
  if seconds < 0 then fail("s:advance: time does not run backwards") end
  return self:to(instant.after(self.sim.now, seconds))
end

--- @method run(): scenario -- Runs until no event is left. Jobs without an end go on.
function S:run()
  happen(self, FAR)
  self:settle()
  return self
end

-- Runs an external action at once.
local function act(s, f, ...)
  s:settle()
  local was = s.acting
  s.acting = true
  local results = table.pack(pcall(f, ...))
  s.acting = was
  if not results[1] then error(results[2], 0) end
  s:settle()
  return table.unpack(results, 2, results.n)
end

local Later = {}

function Later.__index(later, name)
  local action = S.__index(later, name)
  if later.s.unplanned == later then later.s.unplanned = nil end
  return function(_, ...)
    local arguments = table.pack(...)
    return later.s:at(later.time, function(s) action(s, table.unpack(arguments, 1, arguments.n)) end)
  end
end

--- @method at(time: number, action: fun(s: scenario) | nil): scenario -- Schedules an action, which must be scheduled
---   before the clock moves: s:at(50, function(s) ... end), or s:at(50):down "node3".
function S:at(time, f)
  check_time(time, "s:at")
  if not f then
    self.unplanned = setmetatable({ s = self, time = time, place = blame.place() }, Later)
    return self.unplanned
  end
  self.sim:at(time, function()
    local was = self.acting
    self.acting = true
    local ok, why = pcall(f, self)
    self.acting = was
    if not ok then error(why, 0) end
  end)
  return self
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

local JOB = { request = true, lasts = true, estimate = true, at = true, user = true, bank = true, project = true, queue = true,
  qos = true, urgency = true, priority = true, preemptible = true, name = true, after = true, afterany = true, afterok = true,
  afternotok = true, singleton = true, array = true, limit = true, requeue = true, [1] = true }

-- Converts handles to jobs of the simulator.
local function jobs_of(x, what)
  if x == nil then return nil end
  local handles = job.list(x)
  if not handles then fail("%s: expected a job or a list of jobs", what) end
  for i, handle in ipairs(handles) do handles[i] = job.of(handle) end
  return handles
end

local function read_job(s, spec)
  if type(spec) == "string" or type(spec) == "table" and spec.resources then spec = { spec } end
  if type(spec) ~= "table" then fail("s:submit: expected a shape or a table, { \"slot=1/node\", lasts = 100 }") end
  check_keys(spec, JOB, "s:submit")
  local ok, wrong = about.check(about.of(spec))
  if not ok then fail("s:submit: %s", wrong) end
  local text = spec.request or spec[1]
  if not text then fail("s:submit: what does it ask for? { \"slot=1/node\", ... }") end
  local request, why = text, nil
  if type(text) ~= "userdata" then request, why = weir.request(beside(text, s.source)) end
  if not request then fail("s:submit: %s", why) end
  local lasts = spec.lasts or spec.estimate or request:duration()
  return text, {
    request = request, runtime = lasts, estimate = spec.estimate or lasts, at = spec.at, user = spec.user, bank = spec.bank,
    project = spec.project, queue = spec.queue, qos = spec.qos, urgency = spec.urgency, priority = spec.priority,
    preemptible = spec.preemptible, name = spec.name, after = jobs_of(spec.after, "after"), afterany = jobs_of(spec.afterany, "afterany"),
    afterok = jobs_of(spec.afterok, "afterok"), afternotok = jobs_of(spec.afternotok, "afternotok"), singleton = spec.singleton,
    requeue = spec.requeue,
  }
end

local function submit_one(s, text, spec)
  local made, why = s.sim:submit(spec)
  if not made then fail("s:submit: %s", why) end
  s.requests[made] = text
  return job.new(s, made)
end

local function submit_array(s, text, spec, count, limit)
  local name, handles = spec.name or "array", {}
  spec.group = limit and { limit = limit, active = 0, held = {} }
  for i = 1, count do
    spec.name = ("%s[%d]"):format(name, i - 1)
    handles[i] = submit_one(s, text, spec)
  end
  return job.array(name, handles)
end

--- @method submit(job: string | table | parsed_request): scenario_job | scenario_job[] -- Submits a job: a shape, a
---   jobspec as a table, or { request (shape, jobspec, table, file), lasts = seconds, estimate =, at =, user =, bank =,
---   project =, queue =, qos =, urgency =, priority =, preemptible =, name =, after =, afterany =, afterok =,
---   afternotok = jobs, singleton = true, array = count, limit = number of elements that may run at a time, requeue =
---   true: starts again instead of failing with its resources }. By default a job is submitted now, and lasts as long
---   as its request or its estimate says, or for ever. A jobspec may have dependencies (RFC 26) on jobs by name or
---   number. Returns the job; or for an array a list of jobs.
function S:submit(spec)
  local text, read = read_job(self, spec)
  local count, limit = type(spec) == "table" and spec.array, type(spec) == "table" and spec.limit or nil
  if read.singleton and not read.name then fail("s:submit: a singleton needs a name") end
  if limit and not count then fail("s:submit: limit: only an array has one") end
  if not count then return submit_one(self, text, read) end
  if math.type(count) ~= "integer" or count < 1 then fail("s:submit: array: expected a count from 1 on") end
  if limit and (math.type(limit) ~= "integer" or limit < 1) then fail("s:submit: limit: expected a count from 1 on") end
  return submit_array(self, text, read, count, limit)
end

--- @method jobs(): scenario_job[] -- Returns all jobs, in the order of submission.
function S:jobs()
  return tables.map(self.sim.list, function(one) return job.new(self, one) end)
end

--- @method job(name: string): scenario_job? -- Returns the job with a name, or nil.
function S:job(name)
  for _, one in ipairs(self.sim.list) do
    if one.name == name then return job.new(self, one) end
  end
end

-- Calls f(job of the simulator) for each job given; a false result is an error in the scenario.
local function for_jobs(s, x, what, f)
  local list = jobs_of(x, "s:" .. what)
  act(s, function()
    for _, one in ipairs(list) do
      local ok, why = f(one)
      if not ok then
        fail("s:%s: %s %s", what, job.title(one), why and ": " .. why or picture.tell(s, one))
      end
    end
  end)
  return s
end

--- @method cancel(jobs: scenario_job | scenario_job[]): scenario -- Cancels waiting or running jobs.
function S.cancel(s, jobs)
  return for_jobs(s, jobs, "cancel", function(one) return s.sim:cancel(one) end)
end

--- @method fail(jobs: scenario_job | scenario_job[]): scenario -- Ends running jobs as failed.
function S.fail(s, jobs)
  return for_jobs(s, jobs, "fail", function(one) return s.sim:fail(one) end)
end

--- @method requeue(jobs: scenario_job | scenario_job[]): scenario -- Puts running jobs back into the queue, to start
---   again.
function S.requeue(s, jobs)
  return for_jobs(s, jobs, "requeue", function(one) return s.sim:requeue(one) end)
end

--- @method priority(jobs: scenario_job | scenario_job[], value: number): scenario -- Changes the priority of jobs.
function S.priority(s, jobs, value)
  return for_jobs(s, jobs, "priority", function(one)
    s.sim:prioritise(one, value)
    return true
  end)
end

--- @method grow(job: scenario_job, request: string | table | parsed_request): boolean, string?, string? -- Adds to a
---   running job the resources found by a request. Returns true if the job got them.
function S.grow(s, handle, request)
  local one = jobs_of(handle, "s:grow")[1]
  return act(s, function()
    local a, why, code = s.sim:grow(one, request)
    if not a and code ~= "busy" and code ~= "infeasible" then fail("s:grow: %s: %s", job.title(one), why) end
    return a ~= nil, why, code
  end)
end

--- @method shrink(job: scenario_job, part: string | vertex | table): scenario -- Takes named resources from a running
---   job.
function S.shrink(s, handle, part)
  local one = jobs_of(handle, "s:shrink")[1]
  local list = s:find(part)
  return act(s, function()
    local a, why = s.sim:shrink(one, list)
    if not a then fail("s:shrink: %s: %s", job.title(one), why) end
    return s
  end)
end

-- ---- the machine --------------------------------------------------------------------------------------------

--- @method find(names: string | vertex | table): vertex[] -- Returns the vertices named by a text; see
---   weir.machine.vertex_names.
function S:find(x)
  local list, why = where.find(self.graph, x)
  return list or fail("%s", why)
end

-- Ends jobs running on a vertex, or puts them back into the queue.
local function end_jobs_on(s, v, ending)
  for _, id in ipairs(v:jobs()) do
    local one = s.sim.jobs[id]
    if one and one.state == "running" then
      if ending == "requeue" or one.requeue then s.sim:requeue(one) else s.sim:fail(one) end
    end
  end
end

local ENDINGS = { fail = true, requeue = true }

local function check_ending(ending, what)
  if ending ~= nil and not ENDINGS[ending] then
    fail('s:%s: the jobs there run on, or "fail" (but for those with requeue = true), or "requeue"; not "%s"', what, tostring(ending))
  end
end

-- Handles a change of the machine.
local function changed(s)
  s.ledger:void_promises(s.sim.now)
  s.ledger:measure(s.sim.now)
  s.sim:changed()
end

function follow(s, stream, recorded)
  s.ended = stream.follow(s, recorded, function(v) end_jobs_on(s, v, "fail") end, function() changed(s) end)
end

local function setter(what, state)
  return function(s, x, ending)
    check_ending(ending, what)
    local list = s:find(x)
    act(s, function()
      for _, v in ipairs(list) do v.state = state end
      s.ledger:note_machine(s.sim.now, what, list)
      for _, v in ipairs(ending and list or {}) do end_jobs_on(s, v, ending) end
      changed(s)
    end)
    return s
  end
end

--- @method down(names: string | vertex | table, jobs: "fail" | "requeue" | nil): scenario -- Takes resources down;
---   running jobs go on. With s:down("node3", "fail") jobs there fail, except jobs submitted with requeue; with
---   s:down("node3", "requeue") all jobs there wait again.
S.down = setter("down", "down")
--- @method drain(names: string | vertex | table, jobs: "fail" | "requeue" | nil): scenario -- Drains resources: no new
---   job starts there.
S.drain = setter("drain", "draining")
--- @method up(names: string | vertex | table): scenario -- Brings resources up again.
S.up = setter("up", "up")

local function marker(map)
  return function(s, x, values)
    local list = s:find(x)
    act(s, function()
      for _, v in ipairs(list) do
        for key, value in pairs(values) do v[map][key] = value ~= false and value or nil end
      end
      changed(s)
    end)
    return s
  end
end

--- @method property(names: string | vertex | table, values: { [string]: string | number | boolean }): scenario -- Sets
---   properties of resources: s:property("rack0", { cooling = "water" }). The value false removes a key.
S.property = marker "properties"
--- @method tag(names: string | vertex | table, values: { [string]: string | number | boolean }): scenario -- Sets tags
---   of resources, like property.
S.tag = marker "tags"

--- @method add(parent: string | vertex | table, machine: string | table): scenario -- Adds a machine, or the contents
---   of a cluster: s:add("rack0", "node:2 core:8"). Ids of new pools continue the ids present.
function S.add(s, parent, machine)
  local top = s:find(parent)[1]
  local other, why = weir.resources(beside(machine, s.source))
  if not other then fail("s:add: %s", why) end
  act(s, function()
    graft(s.graph, top, other)
    changed(s)
  end)
  return s
end

--- @method remove(names: string | vertex | table, jobs: "fail" | "requeue" | nil): scenario -- Removes unused
---   resources; or with an end for the jobs there, as in s:down: s:remove("node3", "fail").
function S.remove(s, x, ending)
  check_ending(ending, "remove")
  local list = s:find(x)
  act(s, function()
    broker.drop_reservations(s.sim)
    for _, v in ipairs(list) do
      if ending then end_jobs_on(s, v, ending) end
      local ok, why = s.graph:unlink(v)
      if not ok then fail("s:remove: %s", why) end
    end
    changed(s)
  end)
  return s
end

-- Puts a policy in use by a method of the simulator.
local function use(s, what, x)
  act(s, function()
    local ok, why = s.sim["use_" .. what](s.sim, beside(x, s.source))
    if not ok then fail("s:%s: %s", what, why) end
    changed(s)
  end)
  return s
end

--- @method policy(policy: string | table | loaded_policy): scenario -- Sets a new placement policy, for starts from now
---   on.
function S.policy(s, x) return use(s, "policy", x) end

--- @method queue(policy: string | table): scenario -- Sets a new queue policy.
function S.queue(s, x) return use(s, "queue", x) end

-- ---- looking ------------------------------------------------------------------------------------------------

--- @method state(which: "policy" | "queue" | nil): table? -- Returns the `state` of the placement policy, or with
---   "queue" the state of the queue policy; nil for a policy without a state.
function S:state(which)
  if which ~= nil and which ~= "queue" and which ~= "policy" then
    fail('s:state: expected "policy" or "queue", not "%s"', tostring(which))
  end
  self:settle()
  if which == "queue" then return self.sim:queue_state() end
  return self.engine:state()
end

--- @method free(type: string?): integer, integer -- Returns the free units of a type; by default of the type jobs are
---   counted in.
function S:free(type)
  self:settle()
  return self.engine:free(type or self.sim.type)
end

--- @method utilisation(type: string?, from: number?, to: number?): number -- Returns the share of the units of a type
---   (by default the type jobs are counted in) allocated to jobs between two times (by default from the start to now).
function S:utilisation(type, from, to)
  self:settle()
  return self.ledger:utilisation(type or self.sim.type, from or self.ledger.began, to or self.sim.now)
end

local WHOSE = { user = true, qos = true, job = true, within = true }

local function filter_of(s, whose)
  check_keys(whose, WHOSE, "filter")
  local jobs, paths = whose.job and jobs_of(whose.job, "job"), nil
  if whose.within then
    paths = {}
    for i, v in ipairs(s:find(whose.within)) do paths[i] = v.path end
  end
  local set = tables.set(jobs or {})
  return {
    paths = paths,
    job = function(one)
      return (not jobs or set[one]) and (not whose.user or one.user == whose.user) and (not whose.qos or one.qos == whose.qos)
    end,
  }
end

--- @method peak(type: string?, whose: table?): number, number? -- Returns the most units of a type (or "job": jobs) in
---   use at a time, and the time. whose: { user =, qos =, job =, within = "rack0" }.
function S:peak(type, whose)
  self:settle()
  return self.ledger:peak(type or self.sim.type, filter_of(self, whose or {}))
end

--- @method reason(job: scenario_job): string?, string? -- Returns why a job does not run: a word and a sentence, see
---   weir.scenario.expect_explain.
function S:reason(handle)
  self:settle()
  return reason.of(self.sim, (job.of(handle)))
end

--- @method history(): string -- Returns the history, a line an event: "10 start a (job 1) node[0-3]", "20 down node3",
---   and "20 void b (job 2) 100" for a reservation made before the machine changed.
function S:history() return table.concat(self.ledger.lines, "\n") end

--- @method picture(): string -- Returns the machine and the queue now, as text.
function S:picture()
  self:settle()
  return picture.draw(self)
end

S.__tostring = S.picture

--- @method faults(): string[] -- Returns a list of faults in the schedules; empty if sound.
function S:faults()
  self:settle()
  return self.ledger:check(self.sim)
end

--- @method stranded(): scenario_job[] -- Returns the jobs waiting although no job runs, no event is left, and each
---   would fit, or would fit if the placement policy did not fail. A job behind a blocked job is not stranded, as it
---   may have to wait.
function S:stranded()
  self:settle()
  local t = self.sim:next_time()
  local list = {}
  if t and t < FAR or self.sim.nrunning > 0 then return list end
  for _, one in ipairs(self.sim.list) do
    local word = one.state == "pending" and reason.of(self.sim, one)
    if word == "queue" or word == "policy" then list[#list + 1] = job.new(self, one) elseif word and word ~= "dependency" then return {} end
  end
  return list
end

-- ---- several at once ----------------------------------------------------------------------------------------

local function is_list(x)
  if type(x) ~= "table" or #x == 0 then return false end
  for key in pairs(x) do
    if math.type(key) ~= "integer" then return false end
  end
  return true
end

local VARIED = { "machine", "granularity", "policy", "queue", "rule", "overrun", "seed" }

local function combine(cases, name, values)
  local all = {}
  for _, case in ipairs(cases) do
    for _, value in ipairs(values) do
      local opts = tables.copy(case.opts)
      opts[name] = value
      local word = type(value) == "table" and (value.name or value[1]) or value
      all[#all + 1] = { words = (case.words and case.words .. ", " or "") .. tostring(word), opts = opts }
    end
  end
  return all
end

--- Iterates over all combinations of options given as lists: for name, opts in scenario.each { queue = { "fcfs", "easy"
--- }, ... } do it("... under " .. name, function() local s = scenario(opts) ... end) end
function M.each(opts)
  check_keys(opts, OPTIONS, "scenario.each")
  local plain = tables.copy(opts)
  local cases = { { opts = plain } }
  for _, name in ipairs(VARIED) do
    if is_list(opts[name]) then cases = combine(cases, name, opts[name]) end
  end
  local i = 0
  return function()
    i = i + 1
    if cases[i] then return cases[i].words or "", cases[i].opts end
  end
end

local function names(list) return tables.column(list, "name") end

--- Return the names of all placement policies, and of all queue policies.
function M.policies() return names(weir.policy.list()) end
function M.queues() return names(require("weir.sim.queue_policy").list()) end

require "weir.scenario.assertions".register(M)

return setmetatable(M, { __call = function(_, opts) return new(opts) end })
