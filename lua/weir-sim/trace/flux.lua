--- trace/flux.lua - the jobs of a Flux instance, in either of two forms, as JSON:
---
---   flux jobs -a -A -c 0 --json                 one document, or a job a line as jq -c '.jobs[]' makes of it
---   flux job info ID eventlog, jobspec, R       the lines of several jobs one after the other; "submit" begins a job
---
--- A job arrives when it was submitted, starts when its resources were allocated and ends when they were free. The first
--- form has nodes and cores; of the second the jobspec is taken as it is.

local core = require "weir.core"

local M = {}

local EVENTS = { submit = true, alloc = true, free = true, clean = true, finish = true, release = true, exception = true }

local function number(x) return type(x) == "number" and x or nil end

local function text(x) return type(x) == "string" and x ~= "" and x or nil end

-- Sets why a job is left out, where it has no start or no end.
local function complete(job, stop)
  if not job.recorded then
    job.left = job.over and "cancelled before they started" or "still waiting"
  elseif not stop then
    job.left = "still running: how long they run is not known"
  else
    job.runtime = stop - job.recorded
    if job.runtime < 0 then return nil, ("it ends %g s before it starts: a clock went back"):format(-job.runtime) end
  end
  return job
end

-- ---- flux jobs ------------------------------------------------------------------------------------------------

local function read_listed(value)
  local submit, estimate = number(value.t_submit), number(value.duration)
  if not submit then return nil, "t_submit: expected a number" end
  local id = value.id
  if value.ncores ~= nil and not math.tointeger(value.ncores) then return nil, "ncores: expected a whole number" end
  local job = { number = math.tointeger(id) or text(id), submit = submit, recorded = number(value.t_run), queue = text(value.queue),
    procs = math.tointeger(value.ncores), nodes = math.tointeger(value.nnodes), user = text(value.username) or math.tointeger(value.userid),
    bank = text(value.bank), project = text(value.project), urgency = number(value.urgency), state = text(value.result),
    over = value.state == "INACTIVE", estimate = estimate and estimate > 0 and estimate or nil, unlimited = estimate == 0 or nil }
  if not job.procs and job.nodes then job.procs, job.exclusive = job.nodes, true end
  return complete(job, number(value.t_cleanup) or number(value.t_inactive))
end

-- ---- eventlogs ------------------------------------------------------------------------------------------------

-- Returns the part of a jobspec that a scheduler reads, as text: equal requests of jobs are equal texts.
local function request_of(jobspec)
  local system = type(jobspec.attributes) == "table" and type(jobspec.attributes.system) == "table" and jobspec.attributes.system or {}
  local kept = { version = jobspec.version, resources = jobspec.resources, tasks = jobspec.tasks,
    attributes = { system = { duration = system.duration or 0, constraints = system.constraints } } }
  for _, task in ipairs(type(kept.tasks) == "table" and kept.tasks or {}) do
    if type(task) == "table" then task.command = core.array { "app" } end
  end
  return core.json_encode(kept, { sort = true }), system
end

local function take_event(run, event)
  local name, t = event.name, event.timestamp
  local context = type(event.context) == "table" and event.context or {}
  if name == "submit" then
    run.submit, run.user, run.urgency = t, context.userid, number(context.urgency)
  elseif name == "alloc" then
    run.alloc = t
  elseif name == "free" or (name == "release" or name == "finish") and not run.stop then
    run.stop = t
  elseif name == "clean" then
    run.over = true
  end
end

-- Takes nodes and cores from an R, for a job whose jobspec is not there.
local function take_set(run, value)
  local execution = value.execution
  if type(execution) ~= "table" or type(execution.R_lite) ~= "table" then return end
  run.nodes, run.procs = 0, 0
  for _, entry in ipairs(execution.R_lite) do
    local ranks = core.idset(tostring(entry.rank))
    local cores = type(entry.children) == "table" and entry.children.core and core.idset(tostring(entry.children.core))
    if ranks then
      run.nodes = run.nodes + ranks:count()
      run.procs = run.procs + ranks:count() * (cores and cores:count() or 1)
    end
  end
end

local function finished(run)
  local job = { number = run.number, submit = run.submit, recorded = run.alloc, user = math.tointeger(run.user), urgency = run.urgency,
    over = run.over, procs = run.procs, nodes = run.nodes }
  if run.jobspec then
    local system
    job.request, system = request_of(run.jobspec)
    job.queue, job.bank, job.project = text(system.queue), text(system.bank), text(system.project)
    local lasts = number(system.duration)
    job.estimate, job.unlimited = lasts and lasts > 0 and lasts or nil, lasts == 0 or nil
  end
  return complete(job, run.stop)
end

-- ---- lines ----------------------------------------------------------------------------------------------------

-- Returns a source of JSON values with their lines: one a line, or the document that all lines make together.
local function values(lines)
  local first = true
  return function()
    local line, n = lines()
    while line and not line:find "%S" do line, n = lines() end
    if not line then return nil end
    local value, why = core.json_decode(line)
    if type(value) == "table" or not first then
      first = false
      return value, n, why
    end
    first = false
    local parts = { line }
    for more in lines do parts[#parts + 1] = more end
    value, why = core.json_decode(table.concat(parts, "\n"))
    return value, n, why
  end
end

-- Returns the jobs of a document one by one.
local function listed(list, n)
  local i = 0
  return function()
    i = i + 1
    if list[i] == nil then return nil end
    if type(list[i]) ~= "table" then return nil, n, "expected an object" end
    local job, wrong = read_listed(list[i])
    return job, n, wrong
  end
end

-- Handles a value. Returns whether it makes a job, then the job, line and message as a source does.
local function take(self, value, n, why)
  local run = self.run
  if type(value) ~= "table" then return true, nil, n, why or "expected an object" end
  if value.t_submit ~= nil then
    local job, wrong = read_listed(value)
    return true, job, n, wrong
  end
  if type(value.name) == "string" and number(value.timestamp) then
    local before = run
    if value.name == "submit" then
      self.made = self.made + 1
      self.run = { number = self.made, line = n }
    elseif not run and EVENTS[value.name] then
      return true, nil, n, ('an event "%s" without a job: "submit" begins one'):format(value.name)
    end
    if self.run then take_event(self.run, value) end
    if value.name ~= "submit" or not before then return false end
    local job, wrong = finished(before)
    return true, job, before.line, wrong
  end
  if run and value.execution then
    take_set(run, value)
  elseif run and value.resources then
    run.jobspec = value
  else
    return true, nil, n, "neither a job of flux jobs --json, nor an event, a jobspec or an R"
  end
  return false
end

--- Whether the first line of a file is one of these forms.
function M.is(line)
  return line:find "^%s*{%s*$" ~= nil or line:find '"t_submit"' ~= nil or line:find '^%s*{%s*"jobs"%s*:' ~= nil
    or line:find '"timestamp"%s*:' ~= nil and line:find '"name"%s*:%s*"submit"' ~= nil
end

--- Returns a source of jobs, as swf.reader does.
function M.reader(_, lines)
  local self, next_value, list = { made = 0 }, values(lines), nil
  return function()
    while true do
      if list then
        local job, n, wrong = list()
        if n then return job, n, wrong end
        list = nil
      end
      local value, n, why = next_value()
      if not n then
        local run = self.run
        self.run = nil
        if not run then return nil end
        local job, wrong = finished(run)
        return job, run.line, wrong
      end
      if type(value) == "table" and type(value.jobs) == "table" then
        list = listed(value.jobs, n)
      else
        local made, job, line, wrong = take(self, value, n, why)
        if made then return job, line, wrong end
      end
    end
  end
end

return M
