--- shadow.lua - other policies alongside the scheduler of a Flux instance, on the same jobs, as long as one likes: what the process that
-- `flux weir shadow start` leaves behind computes, without I/O.
--
-- It listens to what Flux publishes: the journal of jobs (job-manager.events-journal), the status of resources, the configuration.
-- So the scheduler in force, which may be Fluxion, sends nothing and knows nothing of it, and may be loaded again meanwhile.
--
--   local s = shadow.open(given, port)      given: JSON text of {words = {"queue=easy"}, texts = {path = source}, force = {"policy=low"},
--                                           in_force = "low and fcfs", config = table, R = object}; port: clock = seconds since 1970,
--                                           f58 = prefix of ids
--   s:hear("job", text)  s:hear("resource", text)  s:hear("config", text)  s:hear("queue", text)    keep the messages, to be processed
--   s:work(seconds)      processes the messages; returns 0 while more is left, else the seconds until the next call
--   s:status()           JSON text of {text =, page =, report =}
--
-- A job is submitted to the shadow when it gets a priority above 0, as it is sent to the scheduler then; it is taken back at a priority
-- of 0, when its jobspec changes, and while its queue is stopped. That a queue was stopped or started is not published by Flux: the process
-- queries it every few seconds.

local core = require "weir.core"
local findings = require "weir.html.report.findings"
local instant = require "weir.sim.instant"
local player = require "weir.flux.player"
local rset = require "weir.rset"
local settings = require "weir.flux.settings"
local shadow = require "weir.shadow"
local shadow_text = require "weir.shadow.text"
local tables = require "weir.tables"

local M = {}
M.__index = M

local ANY = -1       -- the id in the journal's mark between what was and what is
local MOST = 64 << 20 -- bytes of messages kept that are not processed
local QUIET = 2      -- seconds after which no earlier message is expected
local SAME = 0.5     -- seconds that a start may differ by, as the scheduler in force takes its time
local REST = 1       -- seconds between two calls without messages

local function decode(text)
  local value = core.json_decode(text or "")
  return type(value) == "table" and value or {}
end

-- ---- the machine ----------------------------------------------------------------------------------------------------

local function set_of(text) return core.idset(type(text) == "string" and text or "") or core.idset() end

-- Returns the ranks of an R.
local function ranks_of(R)
  local ids = core.idset()
  for _, row in ipairs(R and R.execution and R.execution.R_lite or {}) do ids = ids | core.idset(tostring(row.rank)) end
  return ids
end

-- Returns the ranks that jobs may use now, by an answer to resource.status.
local function up_of(status)
  local up = set_of(status.online) - set_of(status.exclude) - set_of(status.torpid)
  for ranks in pairs(status.drain or {}) do up = up - set_of(ranks) end
  return up
end

-- Returns the first response to resource.acquire that a scheduler would have now, as text.
local function first_response(self, R, status)
  local excluded = set_of(status.exclude)
  self.ranks = ranks_of(R) - excluded
  self.up = up_of(status) & self.ranks
  if not excluded:empty() then R = decode(assert(rset.new(core.json_encode(R), "R")):on_ranks(self.ranks):format "rv1") end
  return core.json_encode { resources = R, up = tostring(self.up) }
end

-- Ends the shadow; why: what its status says from now on.
local function finish(self, why) self.ended = self.ended or why end

-- Informs the shadow what has come up, gone down, or left.
local function on_resource(self, status)
  if not self.shadow then
    self.machine = status
    return
  end
  local ranks = ranks_of(status.R) - set_of(status.exclude)
  if not self.ranks:contains(ranks) then return finish(self, "the instance was given more resources: start it again") end
  local gone, up = self.ranks - ranks, up_of(status) & ranks
  local message = { up = tostring(up - self.up), down = tostring(self.up - up - gone), shrink = not gone:empty() and tostring(gone) or nil,
    expiration = status.R and status.R.execution and status.R.execution.expiration }
  if message.expiration == self.expiration then message.expiration = nil else self.expiration = message.expiration end
  if message.up == "" and message.down == "" and gone:empty() and not message.expiration then return end
  self.ranks, self.up = ranks, up
  if message.up == "" then message.up = nil end
  if message.down == "" then message.down = nil end
  local text = core.json_encode(message)
  self.shadow:change(status.t, function(own) own:acquire(text) end, true)
end

-- ---- jobs -----------------------------------------------------------------------------------------------------------

-- The message about a job to the scheduler.
local function message_of(id, job)
  return { id = id, priority = job.priority or 0, userid = job.userid, t_submit = job.t_submit, jobspec = job.jobspec }
end

-- The name of the queue of a job, "" for none.
local function queue_of(job)
  local attributes = type(job.jobspec) == "table" and job.jobspec.attributes or {}
  local system = type(attributes) == "table" and type(attributes.system) == "table" and attributes.system or {}
  return type(system.queue) == "string" and system.queue or ""
end

-- Submits a job that waits, from a time on. A job of a queue that is stopped is held until it starts.
local function enter(self, id, job, t)
  job.held = not job.began and self.stopped[queue_of(job)] or nil
  if job.held then return end
  job.waits, job.since = true, t
  if self.shadow then self.shadow:submit { id = id, at = t, request = "", estimate = 0, message = message_of(id, job) } end
end

-- Takes a job back that waits.
local function withdraw(self, id, job, t)
  job.held = nil
  if not job.waits then return end
  job.waits = nil
  if self.shadow then self.shadow:stop(id, t) end
end

-- Sets a value by its path, such as "attributes.system.duration".
local function set_path(spec, path, value)
  local at, last = spec, path:match "[^.]+$"
  for key in path:sub(1, -#last - 1):gmatch "[^.]+" do
    if type(at[key]) ~= "table" then at[key] = {} end
    at = at[key]
  end
  at[last] = value
end

-- Handlers of the events of a job, by the names of RFC 21: f(self, id, job, context, time, message).
local EVENTS = {}

function EVENTS.submit(_, _, job, context, t, x) job.t_submit, job.userid, job.jobspec = t, context.userid, x.jobspec end

function EVENTS.priority(self, id, job, context, t)
  job.priority = context.priority or 0
  if job.began then return end
  if job.priority <= 0 then return withdraw(self, id, job, t) end
  if not job.waits then return enter(self, id, job, t) end
  local pair = core.array { id, job.priority }
  if self.shadow then self.shadow:change(t, function(own) own:prioritize { pair } end) end
end

EVENTS["jobspec-update"] = function(self, id, job, context, t)
  for path, value in pairs(context) do set_path(job.jobspec, path, value) end
  withdraw(self, id, job, t)
end

function EVENTS.alloc(self, id, job, _, t, x)
  local set = rset.new(core.json_encode(x.R or {}), "R")
  job.began, job.R = t, x.R
  if not self.shadow then return end
  if not job.waits then enter(self, id, job, t) end
  self.shadow:start(id, t, set and set:count(self.type) or 0)
end

EVENTS["resource-update"] = function(self, id, job, context, t)
  if job.R and job.R.execution then job.R.execution.expiration = context.expiration end
  if self.shadow then self.shadow:change(t, function(own) own:expire(id, context.expiration) end) end
end

function EVENTS.free(self, id, job, _, t)
  if job.began and not job.freed and self.shadow then self.shadow:stop(id, t) end
  job.freed = true
end

function EVENTS.clean(self, id, job, _, t)
  if job.began then EVENTS.free(self, id, job, nil, t) else withdraw(self, id, job, t) end
  self.jobs[id] = nil
end

-- Takes a piece of the journal.
local function on_job(self, x)
  if x.id == ANY then return self:begin(x.t) end
  local job = self.jobs[x.id] or {}
  self.jobs[x.id] = job
  for _, event in ipairs(x.events or {}) do
    local f = EVENTS[event.name]
    if f and (job.jobspec or event.name == "submit") then f(self, x.id, job, type(event.context) == "table" and event.context or {},
      event.timestamp, x) end
  end
end

-- ---- queues -----------------------------------------------------------------------------------------------------------

-- Takes a message on a queue: {name, "" for the only one, start = whether it is started}.
local function on_queue(self, x)
  if x.start ~= (self.stopped[x.name] or false) then return end -- as before
  self.stopped[x.name] = not x.start or nil
  local list = {}
  for id, job in pairs(self.jobs) do
    if not job.began and queue_of(job) == x.name and (job.waits or job.held) then list[#list + 1] = { id = id, job = job } end
  end
  for _, entry in ipairs(tables.sort(list, "id")) do
    if x.start then
      enter(self, entry.id, entry.job, x.t)
    else
      withdraw(self, entry.id, entry.job, x.t)
      entry.job.held = true
    end
  end
end

-- ---- the configuration ----------------------------------------------------------------------------------------------

-- Returns the settings that the shadow plays by: those of the configuration and of the policies in force, with the words of the user last.
local function settings_of(self, config)
  local words = core.array {}
  for _, list in ipairs { self.force, self.words } do
    for _, word in ipairs(list) do
      if type(word) ~= "string" or not word:find "^policy=" and not word:find "^queue=" then
        return nil, ("%s: expected policy=NAME or queue=NAME"):format(tostring(word))
      end
      words[#words + 1] = word
    end
  end
  words[#words + 1] = "annotate=false"
  return settings.read(words, config, self.texts, function(_, argued) return not argued end)
end

-- Follows a changed configuration.
local function on_config(self, config)
  local text = core.json_encode({ config["sched-weir"] or core.null, config.queues or core.null }, { sort = true })
  if text == self.configured then return end
  self.configured = text
  if not self.shadow then return end
  local read, why = settings_of(self, config)
  local function refuse(reason) self.remark = "a change of the configuration is not followed: " .. reason end
  if not read then return refuse(why) end
  self.shadow:change(config.t, function(own)
    local ok, reason = own:reconfigure(read)
    if not ok then refuse(reason) end
  end, true)
end

-- ---- the beginning --------------------------------------------------------------------------------------------------

-- Returns the running and the waiting jobs, by the journal.
local function jobs_of(self)
  local running, waiting = {}, {}
  for id, job in pairs(self.jobs) do
    local message = message_of(id, job)
    if job.began and not job.freed then
      running[#running + 1] = { id = id, start = job.began, due = 8e12, submit = job.t_submit, message = message,
        R = core.json_encode(job.R or {}), jobspec = core.json_encode(job.jobspec) }
    elseif job.waits then
      waiting[#waiting + 1] = { id = id, submit = job.since, request = "", estimate = 0, message = message }
    end
  end
  return running, tables.sort(waiting, "id")
end

--- Begins to play at a time, when the journal has sent the past.
function M:begin(now)
  if self.shadow or self.ended then return end
  local running, waiting = jobs_of(self)
  local acquired = first_response(self, self.R, self.machine)
  self.expiration = self.R.execution and self.R.execution.expiration
  local made, why = shadow.new { now = now, running = running, waiting = waiting, promises = false, tolerance = SAME, player = function(on)
    return player.new { settings = self.settings, acquire = acquired, now = instant.of(now), on = on,
      log = function(level, text) if level == "err" then self.remark = text end end }
  end }
  if not made then return finish(self, why) end
  self.shadow, self.type = made, made.sim.type
  self.jobs_before = { running = #running, waiting = #waiting }
end

-- ---- input and queries ----------------------------------------------------------------------------------------------

local TOLD = { job = on_job, resource = on_resource, config = on_config, queue = on_queue }

--- Keeps a message. kind: "job", a message of the journal; "resource", an answer to resource.status; "config", one to config.get;
--- "queue", {name, start}, by one to job-manager.queue-status.
function M:hear(kind, text)
  if self.ended then return true end
  local list = self.unread
  list.last = list.last + 1
  list[list.last] = { TOLD[kind], text, self.clock() }
  self.bytes = self.bytes + #text
  if self.bytes > MOST then finish(self, ("it fell behind by more than %d MB of messages"):format(MOST >> 20)) end
  return true
end

-- Processes the first message.
local function work_on(self)
  local list = self.unread
  local entry = list[list.first]
  list[list.first], list.first, self.bytes = nil, list.first + 1, self.bytes - #entry[2]
  local value = decode(entry[2])
  value.t = entry[3]
  entry[1](self, value)
end

--- Works for so many seconds. Returns 0 while something is left, else the seconds after which to call again; nil where it has ended.
function M:work(seconds)
  local stop = core.clock() + (tonumber(seconds) or 0.05)
  while self.unread.first <= self.unread.last and not self.ended do
    local ok, why = xpcall(work_on, debug.traceback, self)
    if not ok then finish(self, "a mistake of weir's: " .. tostring(why)) end
    if core.clock() > stop then return 0 end
  end
  if self.ended then return nil end
  if self.shadow then self.shadow:advance(self.clock() - QUIET) end
  return REST
end

--- Ends the shadow; why: the reason, for its status.
function M:stop(why)
  finish(self, why)
  return true
end

local function about(self)
  local s, own = self.settings, self.shadow
  local stopped = next(self.stopped) and core.array(tables.keys(self.stopped)) or nil
  return { running = not self.ended, ended = self.ended, policy = s.policy, queue = s.queue, in_force = self.in_force, since = self.since,
    unread = self.unread.last - self.unread.first + 1, remark = self.remark, stopped = stopped, lost = own and own.sim.lost,
    status = own and own:status() or nil }
end

--- Returns the status: JSON text of {report =, text = for people, page = HTML}.
function M:status()
  local report = about(self)
  return core.json_encode { report = report, text = shadow_text.plain(report), page = findings.html(shadow_text.page(report)) }
end

--- Opens a shadow; see the head of the file. Returns it; or nil, message.
function M.open(asked, port)
  asked = decode(asked)
  local self = setmetatable({ words = asked.words or {}, force = asked.force or {},
    texts = type(asked.texts) == "table" and asked.texts or {}, in_force = asked.in_force or "the scheduler", R = asked.R or {},
    machine = asked.machine or {}, clock = port.clock, since = port.clock(), jobs = {}, stopped = {},
    unread = { first = 1, last = 0 }, bytes = 0 }, M)
  local why
  self.settings, why = settings_of(self, asked.config or {})
  if not self.settings then return nil, why end
  on_config(self, asked.config or {})
  local made
  made, why = player.new { settings = self.settings, acquire = first_response(self, self.R, self.machine), now = self.since }
  if not made then return nil, why end
  return self
end

return M
