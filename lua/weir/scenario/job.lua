--- job.lua - handles of jobs of a scenario. All events up to now are handled before a field is read.
--
-- @class scenario_job A job of a scenario, as s:submit returns it. Times are in seconds.
-- @field id: integer -- The number of the job.
-- @field name: string? -- The name.
-- @field state: string -- submitted, pending, running, done, failed, cancelled or rejected.
-- @field submit: number -- The time of submission.
-- @field start: number? -- The start.
-- @field finish: number? -- The end.
-- @field reserved: number? -- The start of the reservation.
-- @field promised: number? -- The start of the first reservation.
-- @field wait: number -- The time from the submission to the start, or to now.
-- @field estimate: number? -- The estimated run time.
-- @field runtime: number? -- The run time, unless the estimate ends the job before.
-- @field place: string? -- The vertices that the job has, or had last: "node[0-3]".
-- @field units: integer? -- The units, of the type that jobs are counted in.
-- @field preempted: integer? -- The number of preemptions.
-- @field requeued: integer? -- The number of times the job was put back into the queue.
-- @field killed: boolean? -- Whether the job ended at its estimate.
-- @field why: string? -- Why the last start failed, or the job was rejected.
-- @field code: string? -- The reason as a word: busy, infeasible, rejected, policy, dependency, ...
-- @field user: string | integer | nil -- The user.
-- @field bank: string | integer | nil -- The bank.
-- @field project: string | integer | nil -- The project.
-- @field queue: string | integer | nil -- The queue.
-- @field qos: string | number | nil -- The QOS.
-- @field urgency: number? -- The urgency.
-- @field priority: number? -- The priority.

local blame = require "weir.scenario.error_location"
local instant = require "weir.sim.instant"
local ledger = require "weir.scenario.alloc_log"
local reason = require "weir.scenario.expect_explain"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

-- The scenario and the simulator's job of each handle.
local scenario_of, job_of = setmetatable({}, { __mode = "k" }), setmetatable({}, { __mode = "k" })

local FIELDS = { "state", "start", "finish", "submit", "reserved", "preempted", "requeued", "killed",
  "code", "user", "bank", "project", "queue", "qos", "urgency", "priority", "name",
  "id", "estimate", "runtime", "units" }
for _, name in ipairs(FIELDS) do FIELDS[name] = function(_, job) return job[name] end end

function FIELDS.why(s, job) return reason.why(s.sim, job) end

function FIELDS.promised(s, job) return s.ledger.promised[job] end

function FIELDS.wait(s, job) return instant.of((job.start or s.sim.now) - job.submit) end

function FIELDS.place(s, job)
  for i = #s.ledger.records, 1, -1 do
    local record = s.ledger.records[i]
    if record.job == job then return ledger.place(record) end
  end
end

local Job = {}

function Job.__index(handle, key)
  local field = FIELDS[key]
  if not field then
    local known = table.concat(FIELDS, ", ") .. ", why, promised, wait, place"
    local words = tables.collect(known:gmatch "%w+")
    blame.fail("a job has no '%s'%s; it has %s", tostring(key), suggest.hint(tostring(key), words), known)
  end
  local s = scenario_of[handle]
  s:settle()
  return field(s, job_of[handle])
end

function Job.__newindex() blame.fail "a job of a scenario can only be looked at; s:priority(job, n) and the like change it" end

function Job.__tostring(handle) return M.title(job_of[handle]) end

--- Returns the name of a job of the simulator, for messages.
function M.title(job) return job.name and ("%s (job %d)"):format(job.name, job.id) or ("job %d"):format(job.id) end

--- Makes a handle.
function M.new(s, job)
  local handle = setmetatable({}, Job)
  scenario_of[handle], job_of[handle] = s, job
  return handle
end

function M.is(x) return getmetatable(x) == Job end

--- Returns the simulator's job and the scenario of a handle.
function M.of(handle) return job_of[handle], scenario_of[handle] end

-- ---- arrays -------------------------------------------------------------------------------------------------

local function array_text(array) return ("%s[0-%d]"):format(array.name, #array - 1) end

--- Makes the array of some jobs: a list with a name.
function M.array(name, handles) return setmetatable(handles, { __index = { name = name }, __tostring = array_text }) end

--- Returns the handles in a handle, an array, or nested lists as a single list; nil for any different value.
function M.list(x, list)
  list = list or {}
  if M.is(x) then
    list[#list + 1] = x
    return list
  end
  if type(x) ~= "table" then return nil end
  for _, inner in ipairs(x) do
    if not M.list(inner, list) then return nil end
  end
  return list
end

return M
