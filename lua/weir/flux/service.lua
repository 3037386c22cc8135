--- service.lua - the functions called by the broker module: a scheduler made from arguments and configuration, and the
-- queries of `flux weir`.

local about = require "weir.about"
local core = require "weir.core"
local explain_text = require "weir.explain.text"
local instance = require "weir.flux.instance"
local jobid = require "weir.flux.jobid"
local policy = require "weir.policy"
local recording = require "weir.flux.recording"
local queue_policy = require "weir.sim.queue_policy"
local settings = require "weir.flux.settings"
local tables = require "weir.tables"

local M = {}
M.__index = M

for _, name in ipairs { "acquire", "hello", "alloc", "free", "cancel", "prioritize", "expiration", "spared", "feasible", "status",
  "describe" } do
  M[name] = function(self, ...)
    if self.record then self.record(name, ...) end
    return instance[name](self.scheduler, ...)
  end
end

-- fraction of a slice for new work; the rest is for finishing begun work
local WORK = 0.9

--- Works for a slice. Returns in how many seconds the next slice is due, or nil.
function M:work()
  if self.record then self.record "work" end
  return self.scheduler:schedule(self.settings.slice * WORK)
end

--- Returns how many requests the job manager may send at a time.
function M:depth() return self.settings["queue-depth"] end

-- Logs the notes of settings that were not logged yet.
local function tell_notes(self)
  for _, note in ipairs(self.settings.notes) do
    if not self.noted[note.text] then self.scheduler.log(note.level, note.text) end
    self.noted[note.text] = true
  end
end

--- Takes a changed configuration. Returns true; or nil, message.
function M:configure(config)
  local read, why = settings.read(self.arguments, core.json_decode(config), self.texts)
  if not read then return nil, why end
  local ok
  ok, why = self.scheduler:reconfigure(read)
  if not ok then return nil, why end
  self.settings, self.config = read, config
  tell_notes(self)
  return true
end

-- ---- flux weir ------------------------------------------------------------------------------------------------------

local function when(t) return os.date("%Y-%m-%d %H:%M:%S", math.floor(t)) end

-- Returns a report as text, with job ids and times in the usual form.
local function in_words(self, report, prefix)
  if report.fits then return "It would fit now: it is not its turn.\n" end
  local text = jobid.with_ids(explain_text.text(report, 100), self.scheduler.jobs, prefix)
  return (text:gsub("(%d[%d,]*%d%d%d%d)%.?%d* s%f[%W]", function(digits)
    local t = tonumber((digits:gsub(",", "")))
    return t > 1000000000 and when(t) or nil
  end))
end

-- Returns the payload of a request as a table.
local function payload(text)
  local value = core.json_decode(text or "")
  return type(value) == "table" and value or {}
end

--- Returns the text why a job waits, for {id =, f58 = prefix of ids}; or nil, message, code. `user`: the user asking,
-- nil for the owner of the instance.
function M:why(text, user)
  local s, asked = self.scheduler, payload(text)
  local id, prefix = asked.id, asked.f58 == "f" and "f" or nil
  local job = s.jobs[id]
  if not job or user and job.user ~= tonumber(user) then return nil, "the scheduler does not know this job", "unknown" end
  if job.state == "running" then return ("%s has its resources since %s.\n"):format(jobid.f58(id, prefix), when(job.start)) end
  local reserved = job.reserved
  if reserved then s.engine:release(id) end -- runs in a copy of the scheduler
  local report, why, code = s.engine:explain(job.request, { about = about.of(job) })
  if not report then return nil, why, code end
  local first = ("%s waits"):format(jobid.f58(id, prefix))
  if reserved then first = first .. "; resources are reserved for it from " .. when(reserved) .. " on" end
  return first .. "\n" .. in_words(self, report, prefix)
end

--- Returns the text for reason_pending; to be called in a copy of the scheduler.
function M:reason(text) return self.scheduler.notes:reason(payload(text).id) end
--- copied notes the seconds needed for a copy; told takes the text found by a copy.
function M:copied(seconds) self.scheduler.notes:copied(tonumber(seconds)) end
function M:told(text, reason) self.scheduler.notes:told(payload(text).id, reason) end

-- Returns the jobs of the engine with times and R_lite, as JSON text.
local function books(s)
  local list = {}
  for _, a in ipairs(s.engine:jobs()) do
    list[#list + 1] = {
      id = a.id, state = a.state, starttime = a.at, expiration = a.duration < math.huge and a.at + a.duration or nil,
      R_lite = core.json_decode(assert(a:format "rlite")),
    }
  end
  table.sort(list, function(a, b) return a.id < b.id end)
  return core.json_encode(core.array(list))
end

--- Returns the machine as JGF, and the jobs, as JSON text.
function M:dump()
  local s = self.scheduler
  local graph = assert(s.graph:format "jgf")
  return (graph:gsub("}%s*$", "")) .. ',"books":' .. books(s) .. "}\n"
end

-- ---- policies -------------------------------------------------------------------------------------------------------

local ACTIONS = {}

function ACTIONS.list(self)
  local lines = { "placement:" }
  local function add(entry, used) lines[#lines + 1] = ("%s %-18s %s"):format(used and "*" or " ", entry.name, entry.path) end
  for _, entry in ipairs(policy.list()) do add(entry, entry.name == self.settings.policy:match "^[^:]+") end
  lines[#lines + 1] = "queue:"
  local used = {}
  for _, line in ipairs(self.scheduler.lines:about()) do used[line.policy] = true end
  for _, entry in ipairs(queue_policy.list()) do add(entry, used[entry.name]) end
  return table.concat(lines, "\n") .. "\n"
end

function ACTIONS.show(self)
  local lines = { "policy " .. self.settings.policy }
  for _, line in ipairs(self.scheduler.lines:about()) do
    lines[#lines + 1] = ("queue %s%s%s"):format(line.policy, line.queue ~= "" and " for " .. line.queue or "",
      line.failed and "; it replaces one that failed: " .. line.failed or "")
  end
  return table.concat(lines, "\n") .. "\n"
end

local LONGEST = core.limits.policy -- bytes of the text of a policy

-- Merges the texts given before and now.
local function with_texts(old, given)
  local all = tables.copy(old)
  for path, text in pairs(type(given) == "table" and given or {}) do
    if type(text) ~= "string" or #text > LONGEST then return nil, ("%s: a text of at most %d bytes is expected"):format(path, LONGEST) end
    all[path] = text
  end
  return all
end

-- Sets policy=NAME and queue=NAME as arguments from now on.
function ACTIONS.use(self, words, given)
  local own, config = table.move(self.arguments, 1, #self.arguments, 1, {}), self.config
  local texts, problem = with_texts(self.texts, given)
  if not texts then return nil, problem, "invalid" end
  for _, word in ipairs(words) do
    if not word:find "^policy=" and not word:find "^queue=" then return nil, "policy=NAME or queue=NAME is expected", "invalid" end
    own[#own + 1] = word
  end
  local read, why = settings.read(own, core.json_decode(config), texts)
  local ok = read
  if read then ok, why = self.scheduler:reconfigure(read) end
  if not ok then return nil, why, "invalid" end
  self.arguments, self.settings, self.texts = own, read, texts
  return ACTIONS.show(self)
end

--- Serves {words = {"list"} | {"show"} | {"use", "policy=NAME", "queue=NAME"}, texts = {path = text of a policy}};
--- returns text. A path in `texts` is not read here: the client's file system may be a different one.
function M:policy(text)
  local asked = payload(text)
  local words = asked.words or {}
  local action = ACTIONS[words[1] or "show"]
  if not action then return nil, ('policy %s: list, show or use is expected'):format(tostring(words[1])), "invalid" end
  return action(self, table.move(words, 2, #words, 1, {}), asked.texts)
end

--- Returns statistics as JSON text.
function M:stats() return core.json_encode(self.scheduler:stats()) end

local LEVELS = { err = 1, warning = 2, info = 3, debug = 4 }

local function logger(read, log)
  return function(level, text)
    if LEVELS[level] <= LEVELS[read["log-level"]] then log(level, text) end
  end
end

--- Opens a scheduler. arguments: a list; config: JSON text of the tables sched-weir, queues and those of Fluxion; port: functions alloc,
--- annotate, deny, raise, explain, log, clock; f58, the prefix of job ids. Or nil, message.
function M.open(arguments, config, port)
  local read, why = settings.read(arguments, core.json_decode(config))
  if not read then return nil, why end
  local record
  if read.record then
    record, why = recording.start(read.record, port)
    if not record then return nil, why end
  end
  jobid.prefix = port.f58 or jobid.prefix
  local scheduler
  scheduler, why = instance.new { settings = read, answer = port, log = logger(read, port.log),
    clock = port.clock, ticks = port.ticks }
  if not scheduler then return nil, why end
  local self = setmetatable({ settings = read, scheduler = scheduler, arguments = arguments, config = config, record = record,
    texts = {}, noted = {} }, M)
  tell_notes(self)
  return self
end

return M
