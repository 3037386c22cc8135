--- service.lua - what the broker module calls: a scheduler made from arguments and configuration, and what `flux weir` asks it.

local core = require "weir.core"
local explain_text = require "weir.explain.text"
local instance = require "weir.flux.instance"
local jobid = require "weir.flux.jobid"
local policy = require "weir.policy"
local recording = require "weir.flux.recording"
local queue_policy = require "weir.sim.queue_policy"
local settings = require "weir.flux.settings"

local M = {}
M.__index = M

for _, name in ipairs { "acquire", "hello", "alloc", "free", "cancel", "prioritize", "expiration", "spared", "feasible", "status",
  "describe" } do
  M[name] = function(self, ...)
    if self.record then self.record(name, ...) end
    return instance[name](self.scheduler, ...)
  end
end

-- The last tenth of a slice is for what is begun and has to be finished.
local WORK = 0.9

--- One slice of work: in how many seconds the next one is due, or nil.
function M:work()
  if self.record then self.record "work" end
  return self.scheduler:schedule(self.settings.slice * WORK)
end

--- How many requests may come at a time.
function M:depth() return self.settings["queue-depth"] end

--- The configuration was read again.
function M:configure(config)
  local read, why = settings.read(self.arguments, core.json_decode(config), self.texts)
  if not read then return nil, why end
  local ok
  ok, why = self.scheduler:reconfigure(read)
  if not ok then return nil, why end
  self.settings, self.config = read, config
  return true
end

-- ---- flux weir ----------------------------------------------------------------------------------------------------------

local function when(t) return os.date("%Y-%m-%d %H:%M:%S", math.floor(t)) end

-- A report as text, with jobs and times as people know them.
local function in_words(self, report, prefix)
  if report.fits then return "It would fit now: it is not its turn.\n" end
  local text = jobid.with_ids(explain_text.text(report, 100), self.scheduler.jobs, prefix)
  return (text:gsub("(%d[%d,]*%d%d%d%d)%.?%d* s%f[%W]", function(digits)
    local t = tonumber((digits:gsub(",", "")))
    return t > 1000000000 and when(t) or nil
  end))
end

-- The object that a request carries.
local function payload(text)
  local value = core.json_decode(text or "")
  return type(value) == "table" and value or {}
end

--- Why a job waits: {id =, f58 = what ids begin with} -> text. user: who asks; nil: the owner of the instance.
function M:why(text, user)
  local s, asked = self.scheduler, payload(text)
  local id, prefix = asked.id, asked.f58 == "f" and "f" or nil
  local job = s.jobs[id]
  if not job or user and job.user ~= tonumber(user) then return nil, "the scheduler does not know this job", "unknown" end
  if job.state == "running" then return ("%s has its resources since %s.\n"):format(jobid.f58(id, prefix), when(job.start)) end
  local reserved = job.reserved
  if reserved then s.engine:release(id) end -- this is a copy of the scheduler
  local report, why, code = s.engine:explain(job.request)
  if not report then return nil, why, code end
  local first = ("%s waits"):format(jobid.f58(id, prefix))
  if reserved then first = first .. "; resources are reserved for it from " .. when(reserved) .. " on" end
  return first .. "\n" .. in_words(self, report, prefix)
end

--- For reason_pending: asked of a copy of the scheduler, and what that gave.
function M:reason(text) return self.scheduler.notes:reason(payload(text).id) end
--- A copy was made, in so many seconds.
function M:copied(seconds) self.scheduler.notes:copied(tonumber(seconds)) end
function M:told(text, reason) self.scheduler.notes:told(payload(text).id, reason) end

-- What is in the books: who has what, when.
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

--- The engine: its machine as a JSON graph, and the books.
function M:dump()
  local s = self.scheduler
  local graph = assert(s.graph:format "jgf")
  return (graph:gsub("}%s*$", "")) .. ',"books":' .. books(s) .. "}\n"
end

-- ---- policies -----------------------------------------------------------------------------------------------------------

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

-- What was given before, and now.
local function with_texts(old, given)
  local all = {}
  for path, text in pairs(old) do all[path] = text end
  for path, text in pairs(type(given) == "table" and given or {}) do
    if type(text) ~= "string" or #text > LONGEST then return nil, ("%s: a text of at most %d bytes is expected"):format(path, LONGEST) end
    all[path] = text
  end
  return all
end

-- policy=NAME and queue=NAME, as arguments that count from now on.
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

--- {words = {"list"} | {"show"} | {"use", "policy=NAME", "queue=NAME"}, texts = {path = the text of a policy}} -> text. A path that
--- has a text is not read here: who asks may stand elsewhere.
function M:policy(text)
  local asked = payload(text)
  local words = asked.words or {}
  local action = ACTIONS[words[1] or "show"]
  if not action then return nil, ('policy %s: list, show or use is expected'):format(tostring(words[1])), "invalid" end
  return action(self, table.move(words, 2, #words, 1, {}), asked.texts)
end

--- Numbers as JSON text.
function M:stats() return core.json_encode(self.scheduler:stats()) end

local LEVELS = { err = 1, warning = 2, info = 3, debug = 4 }

local function logger(read, log)
  return function(level, text)
    if LEVELS[level] <= LEVELS[read["log-level"]] then log(level, text) end
  end
end

--- A scheduler. arguments: a list; config: JSON text of the tables sched-weir and queues; port: alloc, annotate, deny, raise,
--- explain, log, clock, functions; f58, what ids of jobs begin with. Or nil, message.
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
  return setmetatable({ settings = read, scheduler = scheduler, arguments = arguments, config = config, record = record,
    texts = {} }, M)
end

return M
