--- service.lua - the functions called by the broker module: a scheduler made from arguments and configuration, and the
-- queries of `flux weir`.

local core = require "weir.core"
local fluxion = require "weir.flux.fluxion"
local instance = require "weir.flux.instance"
local jobid = require "weir.flux.jobid"
local policies = require "weir.flux.policies"
local policy = require "weir.policy"
local policy_states = require "weir.flux.policy_states"
local recording = require "weir.flux.recording"
local queue_policy = require "weir.sim.queue_policy"
local settings = require "weir.flux.settings"
local tables = require "weir.tables"
local texts = require "weir.texts"
local try_text = require "weir.flux.try"
local why_text = require "weir.flux.why"

local M = {}
M.__index = M

-- Calls f(...), which changes nothing before it is sure to succeed. Where it raises, which is a mistake of weir's, the scheduler runs
-- on: nil, message, and the place in the log.
local function guarded(self, what, f, ...)
  local results = table.pack(xpcall(f, debug.traceback, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  self.log("err", ("%s: %s"):format(what, results[2]))
  return nil, ("%s: a mistake in sched-weir: %s"):format(what, tostring(results[2]):match "^[^\n]*"), "invalid"
end

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

-- Returns the arguments without those that a change of the configuration replaces: of policy and queue, what was said last
-- counts.
local function not_replaced(self, config)
  local before, after = settings.read({}, core.json_decode(self.config), self.texts, function() return true end),
    settings.read({}, core.json_decode(config), self.texts, function() return true end)
  local left, gone = {}, {}
  for _, word in ipairs(self.arguments) do
    local name = word:match "^([^=]+)="
    local replaced = (name == "policy" or name == "queue") and before[name] ~= after[name]
    table.insert(replaced and gone or left, word)
  end
  return left, gone
end

local function configure(self, config)
  local arguments, replaced = not_replaced(self, config)
  local read, why = settings.read(arguments, core.json_decode(config), self.texts)
  if not read then return nil, why end
  local ok
  ok, why = self.scheduler:reconfigure(read)
  if not ok then return nil, why end
  self.settings, self.config, self.arguments = read, config, arguments
  tell_notes(self)
  for _, word in ipairs(replaced) do self.log("info", ("%s, given before, is replaced by the configuration"):format(word)) end
  return true
end

--- Takes a changed configuration. Returns true; or nil, message, with nothing changed.
function M:configure(config) return guarded(self, "configuration", configure, self, config) end

-- ---- flux weir ------------------------------------------------------------------------------------------------------


-- Returns the payload of a request as a table.
local function payload(text)
  local value = core.json_decode(text or "")
  return type(value) == "table" and value or {}
end

--- Returns the text why a job waits, for {id =, f58 = prefix of ids}; or nil, message, code. `user`: the user asking,
--- nil for the owner of the instance. To be called in a copy of the scheduler.
function M:why(text, user)
  local s, asked = self.scheduler, payload(text)
  local id, prefix = asked.id, asked.f58 == "f" and "f" or nil
  local job = s.jobs[id]
  if not job or user and job.user ~= tonumber(user) then return nil, "the scheduler does not know this job", "unknown" end
  if job.state == "running" then return ("%s has its resources since %s.\n"):format(jobid.f58(id, prefix), texts.date(job.start)) end
  return why_text.text(s, job, prefix)
end

--- Returns the text for reason_pending; to be called in a copy of the scheduler.
function M:reason(text) return self.scheduler.annotations:reason(payload(text).id) end
--- copied notes the seconds needed for a copy; set_reason takes the text found by a copy.
function M:copied(seconds) self.scheduler.annotations:copied(tonumber(seconds)) end
function M:set_reason(text, reason) self.scheduler.annotations:set_reason(payload(text).id, reason) end

-- Returns the jobs of the engine with times and R_lite, as JSON text.
local function books(s)
  local list = {}
  for _, a in ipairs(s.engine:jobs()) do
    list[#list + 1] = {
      id = a.id, state = a.state, starttime = a.at, expiration = a.duration < math.huge and a.at + a.duration or nil,
      R_lite = core.json_decode(assert(a:format "rlite")),
    }
  end
  return core.json_encode(core.array(tables.sort(list, "id")))
end

--- Returns the machine as JGF, and the jobs, as JSON text.
function M:dump()
  local s = self.scheduler
  local graph = assert(s.graph:format "jgf")
  return (graph:gsub("}%s*$", "")) .. ',"books":' .. books(s) .. "}\n"
end

--- Answers a request that was meant for a module of Fluxion, see fluxion.lua. Returns JSON text; or nil, message, code.
function M:fluxion(text, topic) return guarded(self, topic, fluxion.answer, self.scheduler, topic, text) end

-- ---- policies -------------------------------------------------------------------------------------------------------

local ACTIONS = {}

-- Returns the description of a placement policy, or why the policy cannot be read.
local function doc_of(path)
  local loaded, why = core.policy_load(path)
  return loaded and (loaded.doc or "") or "cannot be read: " .. why
end

-- Returns the description of a queue policy, or why the policy cannot be read.
local function queue_doc_of(path)
  local sandbox, why = queue_policy.open(path, function() end)
  if not sandbox then return "cannot be read: " .. why end
  local _, _, doc = sandbox:call "about"
  sandbox:close()
  return doc or ""
end

-- Adds the lines of a kind of policies: first policies in use that are files, then policies found by name. used: {name = true}.
local function add_list(lines, head, entries, used, doc)
  lines[#lines + 1] = head
  local known = tables.set(tables.column(entries, "name"))
  for _, name in ipairs(tables.keys(used)) do
    if not known[name] then lines[#lines + 1] = ("* %s"):format(name) end
  end
  for _, entry in ipairs(entries) do
    lines[#lines + 1] = ("%s %-18s %s"):format(used[entry.name] and "*" or " ", entry.name, doc(entry.path))
  end
end

function ACTIONS.list(self)
  local lines, used, s = {}, {}, self.scheduler
  for _, group in ipairs(s.queues:about()) do used[group.policy] = true end
  add_list(lines, "placement:", policy.list(), { [s.placement.instead or (policy.parse(self.settings.policy))] = true }, doc_of)
  add_list(lines, "queue:", queue_policy.list(), used, queue_doc_of)
  return table.concat(lines, "\n") .. "\n"
end

function ACTIONS.show(self) return table.concat(policies.lines(self.scheduler), "\n") .. "\n" end

local LONGEST = core.limits.policy -- bytes of the text of a policy

-- Merges the texts given before and now.
local function with_texts(old, given)
  local all = tables.copy(old)
  for path, text in pairs(type(given) == "table" and given or {}) do
    if type(text) ~= "string" or #text > LONGEST then return nil, ("%s: expected a text of at most %d bytes"):format(path, LONGEST) end
    all[path] = text
  end
  return all
end

-- Sets policy=NAME and queue=NAME as arguments from now on. Returns true; or nil, message, code, with nothing changed.
local function use(self, words, given)
  local own, config = table.move(self.arguments, 1, #self.arguments, 1, {}), self.config
  local all, problem = with_texts(self.texts, given)
  if not all then return nil, problem, "invalid" end
  for _, word in ipairs(words) do
    if type(word) ~= "string" or not word:find "^policy=" and not word:find "^queue=" then
      return nil, "expected policy=NAME or queue=NAME", "invalid"
    end
    own[#own + 1] = word
  end
  local read, why = settings.read(own, core.json_decode(config), all)
  local ok = read
  if read then ok, why = self.scheduler:reconfigure(read) end
  if not ok then return nil, why, "invalid" end
  self.arguments, self.settings, self.texts = own, read, all
  return true
end

function ACTIONS.use(self, words, given)
  local ok, why, code = use(self, words, given)
  if not ok then return nil, why, code end
  return ACTIONS.show(self)
end

--- Serves {words = {"policy=NAME", "queue=NAME"}, texts = as for policy, f58 = prefix of ids}: returns the text of what the
--- waiting jobs would do under these policies; or nil, message, code. To be called in a copy of the scheduler.
function M:try(text)
  local asked = payload(text)
  local words = type(asked.words) == "table" and asked.words or {}
  if #words == 0 then return nil, "expected policy=NAME or queue=NAME", "invalid" end
  return try_text.text(self.scheduler, function() return use(self, words, asked.texts) end, table.concat(words, " "),
    asked.f58 == "f" and "f" or nil)
end

--- Serves {words = {"list"} | {"show"} | {"use", "policy=NAME", "queue=NAME"}, texts = {path = text of a policy}};
--- returns text. A path in `texts` is not read here: the client's file system may be a different one.
function M:policy(text)
  local asked = payload(text)
  local words = asked.words or {}
  local action = ACTIONS[words[1] or "show"]
  if not action then return nil, ('policy %s: expected list, show or use'):format(tostring(words[1])), "invalid" end
  return guarded(self, "policy", action, self, table.move(words, 2, #words, 1, {}), asked.texts)
end

--- Returns the states of all policies as text, to be given to the next scheduler as port.states; nil where none has one.
function M:states() return self.scheduler.engine and policy_states.text(self.scheduler.graph) end

--- Returns statistics as JSON text.
function M:stats() return core.json_encode(self.scheduler:stats()) end

local LEVELS = { err = 1, warning = 2, info = 3, debug = 4 }

local function logger(read, log)
  return function(level, text)
    if LEVELS[level] <= LEVELS[read["log-level"]] then log(level, text) end
  end
end

--- Opens a scheduler. arguments: a list; config: JSON text of the tables sched-weir, queues and those of Fluxion; port: functions alloc,
--- annotate, deny, raise, explain, log, clock, keep, which saves the states of policies; states, those saved before, or nil; f58, the
--- prefix of job ids; starting: the instance is starting, so that a refusal would end it. Or nil, message: only for an argument, and
--- not while the instance starts, or for what as-fluxion refuses.
function M.open(arguments, config, port)
  local function spare(why, argued)
    if argued and not port.starting then return false end
    port.log("err", why .. "; it is left out")
    return true
  end
  local read, why = settings.read(arguments, core.json_decode(config), nil, spare)
  if not read then return nil, why end
  local record
  if read.record then
    record, why = recording.start(read.record, port)
    if not record and not spare(why, read.argued.record) then return nil, why end
  end
  jobid.prefix = port.f58 or jobid.prefix
  local scheduler
  scheduler, why = instance.new { settings = read, answer = port, log = logger(read, port.log),
    clock = port.clock, ticks = port.ticks, states = port.states,
    spares = function(what, queue) return port.starting or not read.argued[what] or (queue or "") ~= "" and read.queues[queue] ~= nil end }
  if not scheduler then return nil, why end
  local self = setmetatable({ settings = read, scheduler = scheduler, arguments = arguments, config = config, record = record,
    texts = {}, noted = {}, log = logger(read, port.log) }, M)
  tell_notes(self)
  return self
end

return M
