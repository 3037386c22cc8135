--- policies.lua - the policies of the scheduler of a Flux instance: put in use, tried, replaced where they fail, read
--- again where their files change. The functions take the scheduler (instance.lua).
--
-- Nothing that is said about policies ends the scheduler, or keeps jobs waiting in silence. A policy that cannot be used
-- is refused where it was named: by an argument of a load, by `flux weir policy use`, by a reload of the configuration.
-- Where a refusal would end the instance (its start, a configuration read at the start) and where a policy in use fails,
-- the last policy that worked takes its place, else FALLBACK: with a line in the log, a mark in `flux weir policy`, and
-- a remark in the annotations of waiting jobs.
--
-- Fields of the scheduler: placement = {failed = why the requested policy is not in use, or nil, instead = the name of
-- the policy in use then}, files = {path = stamp} under watch, stale = {path = why the file's contents are not in use},
-- looked = time of the last look at the files.

local broker = require "weir.sim.broker"
local core = require "weir.core"
local queue_policy = require "weir.sim.queue_policy"
local tables = require "weir.tables"
local weir = require "weir"
local weir_policy = require "weir.policy"

local M = {}

--- The limits of a match by a placement policy, as weir.policy takes them; nil: the usual ones.
M.BUDGET = nil

local FALLBACK = "first"
local LOOK = 2 -- seconds between two looks at watched files

-- Returns the placement policy of settings, loaded: a policy by name, or one whose text came with a request. Or nil,
-- message, code.
local function placement(settings)
  local name, options = weir_policy.parse(settings.policy)
  if not name then return nil, options, "parse" end
  local text = settings.texts[name]
  if not text then return weir.policy(settings.policy, M.BUDGET) end
  return weir_policy.of_file(name, text, tables.update({ options = options }, M.BUDGET))
end

-- ---- trying and using ------------------------------------------------------------------------------------------------

local CORE = '{"type":"slot","count":1,"label":"a","with":[{"type":"core","count":1}]}'
local TRIALS = { CORE, ('{"type":"node","count":1,"with":[%s]}'):format(CORE),
  ('{"type":"node","count":1,"exclusive":true,"with":[%s]}'):format(CORE) }

-- Every field that a policy may read of a job is there, as of jobs of users.
local ABOUT = { user = 1000, bank = "default", project = "default", queue = "default", qos = "normal", name = "trial",
  urgency = 16, priority = 16, submit = 0, attributes = '{"system":{"job":{"name":"trial"}},"user":{}}' }

-- Makes a few matches in advance, so that the first real match finds all indices built. Returns true; or nil, message
-- where the policy fails.
local function try(self)
  for _, resource in ipairs(TRIALS) do
    local ok, why, code = self.engine:match(('{"resources":[%s]}'):format(resource), { mode = "preview", stats = false, about = ABOUT })
    if not ok and code == "policy" then return nil, why end
  end
  return true
end

-- Puts a policy in use that passes a trial; otherwise the policy before stays in use, and the result is nil, message.
local function put(self, policy)
  local ok, why, code = self.engine:use(policy)
  if not ok then return nil, why, code end
  local _, mine = self.engine:policy()
  ok, why = try(self)
  if ok then return true end
  local _, now = self.engine:policy()
  if now == mine then self.engine:retire(why) end
  return nil, why, "policy"
end

-- Forgets what was found out under the policy before.
local function renew(self)
  self:measure_all()
  self.dirty, self.releases = true, self.releases + 1
end

local function named(settings) return (weir_policy.parse(settings.policy)) or settings.policy end

-- Marks a policy as not in use, with the reason, and names the policy in use instead.
local function mark(self, name, why)
  local instead = self.engine and self.engine:policy() or FALLBACK
  self.placement = { failed = why:find(name, 1, true) and why or ("%s (%s)"):format(name, why), instead = instead }
  self.log("err", ("%s; the placement policy %s takes its place"):format(why, instead))
end

--- Opens the policies of the settings before the machine is known. spares(what, queue): whether a policy that cannot be
--- used is replaced (true) or refused; what: "policy" or "queue". Returns true; or nil, message, code.
function M.open(self, spares)
  self.placement, self.files, self.stale, self.looked = {}, {}, {}, -math.huge
  local policy, why, code = placement(self.settings)
  if not policy and not spares "policy" then return nil, why, code end
  if not policy then mark(self, named(self.settings), why) end
  local opened
  opened, why, code = self.queues:open(self.settings, function(queue) return spares("queue", queue) end)
  if not opened then return nil, why, code end
  self.chosen = { policy = policy, queues = opened }
  return true
end

--- Puts the opened policies in use on the machine, known by now. A placement policy that fails on the machine is replaced.
function M.begin(self)
  local chosen = self.chosen
  self.chosen = nil
  local ok, why
  if chosen.policy then ok, why = put(self, chosen.policy) else ok = try(self) end
  if not ok then mark(self, named(self.settings), why) end
  self.queues:use(chosen.queues)
  M.watch(self)
end

--- Replaces the settings, also amid a pass, which is given up. Before the machine is known, the policies are opened only, to be
--- put in use by begin(). Returns true; or nil, message, code, with nothing changed.
function M.reconfigure(self, settings)
  local policy, opened, ok, why, code
  policy, why, code = placement(settings)
  if policy then opened, why, code = self.queues:open(settings) end
  if opened and not self.engine then
    self.settings, self.placement, self.annotations.on = settings, {}, settings.annotate == "true"
    self.chosen = { policy = policy, queues = opened }
    return true
  end
  if opened then ok, why, code = put(self, policy) end
  if not ok then return nil, why, code end
  broker.drop_reservations(self)
  self.settings, self.placement, self.annotations.on = settings, {}, settings.annotate == "true"
  renew(self)
  self.queues:use(opened)
  M.watch(self)
  return true
end

-- ---- failures ------------------------------------------------------------------------------------------------------

--- Handles a failure of the placement policy in use. Returns true if the policy was replaced: the failed match is to be made
--- again.
function M.failed(self, why)
  if why:find("interrupted", 1, true) then return false end
  local name = self.engine:policy()
  local retired = self.engine:retired()
  if not retired or retired == self.retired then retired = name ~= FALLBACK and self.engine:retire(why) or nil end
  if not retired or retired == self.retired then return false end
  self.retired = retired
  if not retired.instead and not self.engine:use(FALLBACK) then return false end
  mark(self, retired.policy, why)
  renew(self)
  return true
end

-- ---- watched files ---------------------------------------------------------------------------------------------------

-- Returns the files of the policies named by settings, without those that came as texts.
local function files_of(settings)
  local files = {}
  local function add(path)
    if path and not settings.texts[path] then files[path] = core.policy_stamp(path) or nil end
  end
  add((weir_policy.find(named(settings))))
  add((queue_policy.find(settings.queue:match "^[^:]*")))
  for _, x in pairs(settings.queues) do add((queue_policy.find(x:match "^[^:]*"))) end
  return files
end

--- Notes the files of the policies in use, if the setting `watch` is on.
function M.watch(self)
  self.files = self.settings.watch == "true" and files_of(self.settings) or {}
  self.stale = {}
end

--- Reads the policies again where a file has changed. What cannot be used is reported in the log and by `flux weir policy`, and the
--- policies in use stay.
function M.look(self)
  if not next(self.files) or self.ticks() < self.looked + LOOK then return end
  self.looked = self.ticks()
  local changed
  for path, stamp in pairs(self.files) do
    local now = core.policy_stamp(path)
    if now and now ~= stamp then self.files[path], changed = now, path end
  end
  if not changed then return end
  local files = self.files
  local ok, why = M.reconfigure(self, self.settings)
  if ok then
    self.log("info", ("%s has changed: it is in use from now on"):format(changed))
  else
    self.files, self.stale[changed] = files, why
    self.log("err", ("%s has changed, and is not used: %s"):format(changed, why))
  end
end

--- Returns the seconds until the next look at the files; nil: none are watched.
function M.wait(self) return next(self.files) and math.max(self.looked + LOOK - self.ticks(), 0.001) or nil end

-- ---- what is in use --------------------------------------------------------------------------------------------------

--- Returns a remark for a waiting job where a requested policy is not in use, or starts nothing; or "".
function M.remark(self, job)
  local group = job.group
  if group and group.dead then return (" The queue policy has failed: %s."):format(group.failed) end
  if group and group.failed then return (" The requested queue policy has failed; %s decides."):format(group.name) end
  if group and group.idle then return (" The queue policy %s starts nothing, though nothing runs."):format(group.name) end
  if self.placement.failed then return (" The requested placement policy has failed; %s decides."):format(self.placement.instead) end
  return ""
end

--- Returns the policies in use as lines of text, each with a mark where it is not the one requested, or without effect.
function M.lines(self)
  local placed = self.placement
  local list = { "policy " .. (placed.failed and placed.instead or self.settings.policy)
    .. (placed.failed and "; it replaces one that failed: " .. placed.failed or "") }
  for _, group in ipairs(self.queues:about()) do
    list[#list + 1] = ("queue %s%s%s%s%s"):format(group.policy, group.queue ~= "" and " for " .. group.queue or "",
      group.failed and (group.dead and "; it has failed: " or "; it replaces one that failed: ") .. group.failed or "",
      group.dead and "; no job of it starts" or "", group.idle and "; it starts nothing, though jobs wait and nothing runs" or "")
  end
  for path, why in pairs(self.stale) do list[#list + 1] = ("file %s has changed, and is not used: %s"):format(path, why) end
  return list
end

return M
