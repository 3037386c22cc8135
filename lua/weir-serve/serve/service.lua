--- service.lua - an engine with its provider, and the calls of clients. No sockets: a call comes in as a table, answers
-- go out through the call.
--
-- The service offers the machine as a provider of the acquisition protocol (RFC 28), and its own scheduler acquires
-- from the provider by the protocol: all of group "default", or the groups of opts.acquire. Targets acquired by
-- foreign schedulers are never used for jobs here.
--
-- A call is {client =, id =, method =, params =, answer(result), more(result), fail(why, code), pages(next)}; see
-- connection.lua.
--
-- Invariant: everything reported in an answer is in `graph`; with opts.store an answer is sent only after `commit` has
-- saved the graph.

local core = require "weir.core"
local effort = require "weir.serve.effort"
local engines = require "weir.engine"
local failure = require "weir.failure"
local scheduler_client = require "weir.acquire.scheduler_client"
local tables = require "weir.tables"
local target_r = require "weir.serve.target_r"
local service_state = require "weir.serve.service_state"
local child_instances = require "weir.serve.child_instances"
local owners = require "weir.serve.owners"
local params = require "weir.serve.params"
local policies = require "weir.policy"
local providers = require "weir.acquire.provider"
local roles = require "weir.serve.roles"
local rset = require "weir.rset"
local targets = require "weir.acquire.targets"
local forecast_input = require "weir.serve.forecast_input"
local suggest = require "weir.suggest"

local M = {}

local Service = {}
Service.__index = Service

local SELF = "self" -- name of a stream of the service's own scheduler: SELF, a dot, the group
local RETRIED = { io = true, busy = true, nomem = true } -- codes of a store after which reading may succeed later
local STILL = { hello = true, methods = true, login = true, cancel = true } -- methods answered without a state
local IDS = 1000    -- job ids are reserved in blocks, so that most matches save no id

-- ---- messages between provider and scheduler ------------------------------------------------------------------------

local function own_group(key) return type(key) == "string" and key:match("^" .. SELF .. "%.(.*)$") end

-- Queues a response of the provider for one of its streams.
local function to_stream(self, key, response)
  local group = own_group(key)
  if group then
    self.queue[#self.queue + 1] = function() self.follower:receive(group, response) end
  else
    key.more(response)
  end
end

-- Queues a request of the service's own scheduler for the provider.
local function to_provider(self, method, payload, group)
  self.queue[#self.queue + 1] = function()
    local ok, why
    if method == "resource.acquire" then
      ok, why = self.provider:acquire(SELF .. "." .. group, payload)
    else
      ok, why = self.provider:release(SELF .. "." .. group, payload)
    end
    if not ok then self.follower:error(group, why) end
  end
end

-- Acquires for the own scheduler, as soon as none of its groups is empty any more.
local function acquire_late(self)
  for _, group in ipairs(self.acquires) do
    if (self.provider:members(group) - self.provider:taken()):empty() then return end
  end
  self.late = false
  self.follower:start()
end

--- Delivers all messages queued between the provider and the own scheduler. Forgets descriptions of targets that are in
-- the graph again.
function Service:settle()
  if self.late then acquire_late(self) end
  while self.queue[1] do table.remove(self.queue, 1)() end
  local back = self.stashed & self.follower.targets.all
  if not back:empty() then
    target_r.tidy(self.follower.targets, back)
    self.stashed = self.stashed - back
  end
  self.child_instances:touch()
  if self.parent then self.parent:settle() end
  self:keeps()
end

--- Keeps descriptions of targets that may leave the graph.
function Service:stash(set)
  target_r.stash(self.follower.targets, set)
  self.stashed = self.stashed | (set & self.follower.targets.all)
end

-- ---- events ---------------------------------------------------------------------------------------------------------

--- Sends an event to all listeners.
function Service:event(event)
  for call in pairs(self.listeners) do
    if call.over then self.listeners[call] = nil else call.more(event) end
  end
end

-- Reports an exception of a job. A job with a child need not end, as the child can do with less: the event requests the
-- child to shrink.
local function on_exception(self, x)
  if self.child_instances:of(x.job) then return self:event { event = "shrink", job = x.job, targets = x.targets } end
  self:event { event = "exception", job = x.job, severity = x.severity, type = x.type, note = x.note, targets = x.targets }
end

local function events_of(self)
  return {
    exception = function(x) on_exception(self, x) end,
    requeue = function(job)
      self:ended(job)
      self:event { event = "requeue", job = job }
    end,
    cut = function(job, stop)
      self.child_instances:touch(job)
      self:event { event = "cut", job = job, at = stop }
    end,
    unsatisfiable = function(name) self:event { event = "unsatisfiable", request = name } end,
    policy = function(why) self.opts.log(why, { level = "error", often = "policy" }) end,
    exit = function(why) self:event { event = "exit", note = why } end,
  }
end

-- ---- construction ---------------------------------------------------------------------------------------------------

--- Returns the R of targets, as a table.
function Service:describe(set)
  local new = self.arriving
  if new and new.ids:contains(set) then return (new.ids == set and new.R or new.R:on_ranks(set)):table "rv1" end
  return service_state.strip(target_r[self.brief and "brief" or "resources"](self.follower.targets, set))
end

--- Adds new targets, of which `up` are up. `R` describes the targets, and perhaps more.
function Service:adopt(R, ids, up)
  self.arriving = { ids = ids, R = R:on_ranks(ids) }
  assert(self.provider:add(ids, { up = up }))
  self:settle()
  self.arriving = nil
  for target in (ids - self.follower.targets.all):ids() do
    service_state.stash(self.graph, target, assert(R:on_ranks(core.idset { target }):format "rv1"))
    self.stashed = self.stashed | core.idset { target }
  end
  self:block()
end

--- Informs schedulers and children which targets cannot be used because of the state of a vertex above them.
function Service:block()
  self.provider:block(target_r.blocked(self.follower.targets, self.stashed))
  self:settle()
end

--- Sets the time in which jobs may use the resources, in seconds since 1970; nil: without a bound. Schedulers and
-- children are notified.
function Service:set_validity(start, stop)
  local was_start, was_stop = self.graph:validity()
  if was_start == start and was_stop == stop then return end
  self.follower:set_validity(start, stop)
  assert(self.provider:expire(stop or 0))
  self:changed()
  self:event { event = "validity", starttime = start, expiration = stop }
  self:settle()
end

--- Removes targets from the machine.
function Service:withdraw(set)
  assert(self.provider:remove(set))
  self:settle()
  -- a target not scheduled here is not removed from the graph by the own scheduler
  for target in ((set & self.follower.targets.all) - self.follower.consumer:held()):ids() do
    self.follower.targets:unlink(target)
  end
  target_r.drop(self.follower.targets, set & self.stashed)
  self.stashed = self.stashed - set
end

-- Makes the provider. Targets excluded or grouped on the command line apply only to a new state: saved groups win.
local function open_provider(self, known, found)
  local saved = known and known.provider
  self.provider = providers.new {
    targets = saved and saved.targets or found.all, up = saved and saved.up or found:up(), blocked = target_r.blocked(found, self.stashed),
    drained = saved and saved.drained, reasons = saved and saved.reasons, groups = saved and saved.groups or self.opts.groups,
    resources = function(set) return self:describe(set) end,
    send = function(key, response) to_stream(self, key, response) end,
  }
end

-- Converts {[target] = {job, ...}}, as in JSON, to {[target] = {job = true}}.
local function users_of(known)
  local users = {}
  for target, jobs in pairs(known and known.users or {}) do
    users[math.tointeger(tonumber(target))] = tables.set(jobs)
  end
  return users
end

local function users_as_data(users)
  local data = {}
  for target, jobs in pairs(users) do
    data[tostring(target)] = core.array(tables.keys(jobs))
  end
  return data
end

-- Acquires the targets to be scheduled here. The first responses report which targets of the graph are acquired.
local function acquire(self)
  if #self.acquires == 0 then return end
  local held = core.idset()
  for _, group in ipairs(self.acquires) do
    local members = self.provider:members(group)
    held = held | (members or held)
    self.late = self.late or members and members:empty()
  end
  self:stash(self.follower.targets.all - held)
  self.follower.again = true
  if self.late then return end
  self.brief = true
  self.follower:start()
  self:settle()
  self.brief = false
end

-- Returns a function that records the messages between the provider and the own scheduler. A recording includes the R
-- of resources, left out of the messages themselves.
local function recorder(self)
  if not self.opts.record then return nil end
  return function(entry)
    local R = entry.response and entry.response.resources
    if R and self.brief then
      local all = core.idset(rset.new(R, "resources"):ranks())
      local r = entry.response
      entry.response = {
        type = r.type, online = r.online, offline = r.offline,
        resources = service_state.strip(target_r.resources(self.follower.targets, all)),
      }
    end
    self.opts.record(entry)
  end
end

-- Returns the last id that may have been given; 0 if unknown, as after a saved number beyond the largest id.
local function ids_of(known)
  local ids = known and known.ids or 0
  return ids > 0 and ids <= scheduler_client.IDS_MOST and ids or 0
end

-- Builds everything that depends on the graph: at the start, and after going back to the saved state.
local function open(self, graph)
  if not self.opts.state_loaded then targets.number(graph) end
  local known, strange = service_state.get(graph)
  if strange then return nil, strange, "parse" end
  local found = targets.of(graph)
  self.graph, self.queue, self.ids, self.stashed = graph, {}, ids_of(known), service_state.stashes(graph)
  -- published: job of a child -> R; fresh: the texts in the store are not known yet
  self.published, self.fresh = {}, true
  self.shadow_before = known and type(known.shadow) == "table" and known.shadow or nil
  self.late = false -- acquire as soon as none of the groups is empty
  open_provider(self, known, found)
  self.requests = {} -- job -> {request, about, submit} of its match, for forecasts
  self.stages = {} -- number -> {client = nil for a stage that outlives the connection, by = name, name = the owner}
  self.follower = scheduler_client.new {
    graph = graph, groups = self.acquires, policy = self.policy, overrun = self.opts.overrun,
    granularity = self.opts.granularity, users = users_of(known),
    last = self.ids > 0 and self.ids or nil, on = events_of(self), record = recorder(self),
    send = function(...) to_provider(self, ...) end,
  }
  self.engine = self.follower.engine
  self.owners = owners.new(function(job) return self:there(job) end, known and known.owners)
  self.child_instances = child_instances.new(self)
  acquire(self)
  if self.follower.consumer.failed then return nil, self.follower.consumer.failed, "invalid" end
  self.child_instances = child_instances.new(self, known and known.children)
  return true
end

-- ---- state ----------------------------------------------------------------------------------------------------------

--- Notes a change to be saved.
function Service:changed() self.dirty = true end

--- Notes a new job of a client. Jobs of administrators have no owner.
function Service:matched(job, client)
  self.dirty = true
  if self.owners:set(job, client.role == "owner" and client.name or nil) then self:keeps() end
end

--- Returns true if anything is left of a job: in the schedules, or on targets taken away.
function Service:there(job) return self.engine:job(job) ~= nil or self.follower:owes(job) end

--- Notes a release by a job, perhaps of its last resources; at a time, or now.
function Service:ended(job, at)
  if not self:there(job) then
    self.requests[job] = nil
    if self.shadow then self.shadow:stopped(job, at or self.engine:now()) end
  end
  if self.owners:forget(job) then self:keeps() end
end

--- Notes a change of data kept in addition to the graph and its schedules.
function Service:keeps() self.dirty, self.kept = true, false end

local function keep_rest(self)
  local last = self.follower.last
  if last >= self.ids then self.ids, self.kept = math.min(last + IDS, scheduler_client.IDS_MOST), false end
  if self.kept then return end
  service_state.put(self.graph, { provider = self.provider:save(), users = users_as_data(self.follower:owing()), ids = self.ids,
    children = self.child_instances:save(), owners = self.owners:save(),
    shadow = self.shadow and not self.shadow.ended and self.shadow.names or nil })
  self.kept = true
end

-- Publishes the R of each child for readers of the store.
local function publish(self)
  local children = self.child_instances.children
  for key in pairs(self.fresh and self.opts.store:published() or {}) do
    local job = key:match "^children/(%d+)/R$"
    if job then self.published[math.tointeger(tonumber(job))] = "" end
  end
  for job in pairs(children) do
    local a = self.engine:job(job)
    local text = a and a:format "rv1"
    text = text and service_state.strip_text(text)
    if self.published[job] ~= text then self.opts.store:publish(("children/%d/R"):format(job), text) end
    self.published[job] = text
  end
  for job in pairs(self.published) do
    if not children[job] then
      self.opts.store:publish(("children/%d/R"):format(job), nil)
      self.published[job] = nil
    end
  end
end

--- Saves all changes since the last commit in a single transaction. Returns true; or nil, message, code, after which
-- the service must `restore`.
function Service:commit()
  if self.lost then return true end -- already reported
  local store, touched = self.opts.store, next(self.child_instances.touched) ~= nil or self.fresh or not self.kept
  self.child_instances:update()
  if not self.dirty and store then return store:tick() end
  self.dirty = false
  if not store then return true end
  keep_rest(self)
  if touched then publish(self) end
  self.fresh = false
  self.counts.commits = self.counts.commits + 1
  return store:commit(self.graph)
end

-- Suspends the service: a save failed, and the last state cannot be read. No request is answered until a read
-- succeeds.
local function lose(self, why)
  if why ~= self.lost then self.opts.log("the state cannot be read again: " .. why, { level = "error", often = "state" }) end
  self.lost = why
  return true
end

--- Returns to the state saved last; all streams end. Returns true, also if reading has to be tried again (`retry`);
--- or nil, message, code.
function Service:restore()
  local graph, why, code = self.opts.store:load()
  if not graph and RETRIED[code] then return lose(self, why) end
  if not graph then return nil, why or "nothing is there any more", code end
  self.lost = nil
  if self.shadow then self.shadow:stop "the service had to go back to its last state" end
  for key in pairs(self.provider.streams) do
    if not own_group(key) then key.fail("the service had to go back to its last state; acquire again", "io") end
  end
  self.child_instances:close("the service had to go back to its last state; acquire again", "io")
  if self.parent then self.parent:reconnect "the service had to go back to its last state" end
  self.engine:close()
  self.graph:close()
  self.opts.state_loaded = true
  local ok
  ok, why, code = open(self, graph)
  -- changes of going back are saved with the next change, so that readers are answered even if nothing can be saved
  self.dirty = false
  return ok, why, code
end

--- Tries again to restore a suspended service. Returns true; or nil, message, code.
function Service:retry()
  if not self.lost then return true end
  local ok, why, code = self:restore()
  if ok and not self.lost then self.opts.log("the state was read again: what was saved last is what there is", { level = "info" }) end
  return ok, why, code
end

-- ---- time -----------------------------------------------------------------------------------------------------------

--- Sends the requests of the service to its parent. To be called after `commit`.
function Service:flush()
  if self.parent and not self.lost then self.parent:flush() end
end

--- Advances the clock of the engine. Returns true; or nil, message, code. Listeners are notified of starts, holds and ends
-- of jobs.
function Service:advance(to)
  local events, why, code = self.follower:advance(to)
  if not events then return nil, why, code end
  for _, x in ipairs(events) do
    self:event { event = x.event, job = x.job, stage = x.stage, at = x.time }
    if x.stage then
      self.stages[x.stage] = nil
    else
      self.child_instances:touch(x.job)
      if x.event == "start" and self.shadow then self.shadow:started(x.job, x.time) end
      self:ended(x.job, x.time)
      self:changed()
    end
  end
  if self.queue[1] then self:settle() end
  return true
end

--- Sets the clock of a loaded state before first use, by the clock of the service (clock.lua). A state later than the wall
--- clock is set back if no job depends on the time.
function Service:begin(clock)
  if self.opts.clock ~= "wall" then return end
  clock:knows(self.engine:now())
  local now = clock:now()
  local ahead = self.engine:now() - now
  if ahead <= 0 then return self:tick(now) end
  if #self.engine:jobs() == 0 and self.graph:rewind(now) then
    return self.opts.log(("the time of the state was %.0f s ahead of the wall clock: without a job, it is the wall's again"):format(ahead))
  end
  self:tell_ahead(now)
end

--- Logs by how much the time of the service is later than the wall clock, if a second or more.
function Service:tell_ahead(now)
  local ahead = self.opts.clock == "wall" and self.engine:now() - now or 0
  if ahead < 1 then return end
  self.opts.log(("the time of the state is %.0f s ahead of the wall clock, and there are jobs: it stands still until then; "
    .. "the method clock.follow sets it back, and the times of the jobs with it"):format(ahead))
end

--- Sets the time to `now`, the wall clock, also back; jobs move along (graph:rewind). Returns true; or nil, message, code.
function Service:follow(now)
  local was = self.engine:now()
  if now >= was then return self:advance(now) end
  local ok, why, code = self.graph:rewind(now)
  if not ok then return nil, why, code end
  self:changed()
  self.opts.log(("the clock was set back by %.0f s, with %d jobs"):format(was - now, #self.engine:jobs()))
  self:event { event = "clock", was = was, now = now }
  return true
end

--- Advances the engine to the wall clock, never back. A manual clock moves by `advance` only.
function Service:tick(now)
  if self.lost or self.opts.clock ~= "wall" or now <= self.engine:now() then return end
  local ok, why = self:advance(now)
  if not ok then self.opts.log("the clock: " .. why, { level = "error", often = "clock" }) end
end

-- ---- calls ----------------------------------------------------------------------------------------------------------

local methods = {}
local MODULES = { "child", "forecast", "jobs", "machine", "parent", "policy", "pools", "resource", "service", "stage" }
for _, name in ipairs(MODULES) do
  for method, f in pairs(require("weir.serve.methods." .. name)) do methods[method] = f end
end
for method in pairs(methods) do assert(params.row(method), method) end
M.methods, M.modules = methods, MODULES

local function internal(raised)
  if type(raised) == "table" then return raised end
  return { text = tostring(raised), trace = debug.traceback("", 2) }
end

local function checked(self, method, call) return method(self, call, params.read(call.method, call.params)) end

-- Reports, once, a policy taken out of service by the engine for using too much time.
local function tell_retired(self)
  local retired = self.engine:retired()
  if not retired or retired == self.retired then return end
  self.retired = retired
  if retired.instead then
    local _, policy = self.engine:policy()
    self.policy, self.policy_name = policy, self.policy_names[policy]
  end
  self.opts.log(retired.why, { level = "error" })
  self:event { event = "policy", policy = retired.policy, seconds = retired.seconds, instead = retired.instead, note = retired.why }
end

-- Runs a method. An error raised by params.lua is the caller's fault; any different error is internal, answered and
-- logged. Returns true if the call takes more than is done in the service.
local function run(self, method, call)
  local ok, raised = xpcall(checked, internal, self, method, call)
  tell_retired(self)
  if ok then return end
  if raised.over then return true end
  local misuse, code = failure.read(raised)
  if misuse then return call.fail(misuse, code or "invalid") end
  self.opts.log(("%s: %s%s"):format(call.method, raised.text or "?", raised.trace or ""), { level = "error" })
  call.fail("internal error: " .. (raised.text or "?"), "internal")
end

-- Returns true if the filters of the user have not used up their share of the service's time; otherwise the call fails.
local function has_share(self, call)
  local share, now, user = self.opts.limits.filters / 1000, core.clock(), self.opts.copies.user(call.client)
  local used = self.filtered[user] or { spent = 0, at = now }
  used.spent, used.at = math.max(0, used.spent - (now - used.at) * share), now
  self.filtered[user] = used.spent > 0 and used or nil
  if used.spent <= share then return true end
  call.fail(("filters of one user may take %g s of a second; again later"):format(share), "limit")
  return false
end

local function spend(self, user, seconds)
  local used = self.filtered[user] or { spent = 0, at = core.clock() }
  used.spent = used.spent + seconds
  self.filtered[user] = used
end

-- Runs a call in a copy of the service.
local function copy(self, call)
  local limits, filter, user, ms = self.opts.limits, effort.has_filter(call), self.opts.copies.user(call.client), nil
  if filter and not has_share(self, call) then return end
  if call.method == "try" then call.prepared, ms = forecast_input.prepare(self, call.params), forecast_input.ms(call.params) end
  if filter then ms = math.max(limits.filterms, math.ceil(2000 * (self.opts.filter_seconds or 0))) end
  self.opts.copies:add(call, {
    ms = ms or limits.copyms, filter = filter,
    spent = filter and function(seconds) spend(self, user, seconds) end or nil,
    failed = call.method == "match" and function() self.counts.refused = self.counts.refused + 1 end or nil,
  })
end

local OVER = { over = true } -- raised by a call that takes more than is done in the service

--- Calls f(...), a search, within the time limit of the call, and returns the results. Beyond the limit, a call without
--- effects begins again in a copy; a call with effects has changed nothing: nil, message, "limit".
function Service:within(f, ...)
  if not self.opts.copies then return f(...) end
  local ms, begin = self.trying and self.opts.limits.tryms or self.opts.limits.changems, core.clock()
  local a, why, code, more = core.limited(ms / 1000, f, ...)
  if a or code ~= "interrupted" and core.clock() - begin < ms / 1000 then return a, why, code, more end
  if self.trying then error(OVER, 0) end
  return nil, ("the search took longer than %d ms, which is as long as may be; nothing has changed"):format(ms), "limit"
end

--- Announces an answer of n parts; a call with many parts and without effects begins again in a copy.
function Service:tells(n)
  if self.trying and n > effort.MANY then error(OVER, 0) end
end

--- Answers a call in a forked copy of the service.
function Service:run_in_copy(call)
  self.opts.copies = nil
  run(self, methods[call.method], call)
end

--- Books the picks chosen by a copy for a match; the match fails if a pick is no longer free.
function Service:book(call, record)
  call.record = record
  run(self, methods.match, call)
end

-- Returns whether a method may have changed states or targets of the machine, at which a shadow looks; and whether its
-- structure, or what is kept with vertices, so that a shadow knows its machine no more: methods that change nothing else do.
local function changes_machine(name)
  local changes = params.row(name).changes
  if name == "resource.expiration" or #changes == 1 and changes[1] == "machine" then return true, true end
  local tells = name == "state" or name:find "^resource%." or name:find "^parent%."
  return tells and table.concat(changes, " "):find("machine", 1, true) ~= nil, false
end

local run_way

-- Runs a call, and lets the shadow look at what it has done to the machine.
local function run_beside_shadow(self, call, way)
  local shadow = self.shadow
  run_way(self, call, way)
  if not shadow or shadow ~= self.shadow then return end
  local changed, lost = changes_machine(call.method)
  if changed then shadow:look(lost) end
end

function run_way(self, call, way)
  if way == "copy" then
    if call.method == "match" then self.counts.matches = self.counts.matches + 1 end
    return copy(self, call)
  end
  self.trying = way == "try"
  local over = run(self, methods[call.method], call)
  self.trying = false
  if over then copy(self, call) end
end

--- Answers a call, at once or as a stream.
function Service:handle(call)
  local method = methods[call.method]
  if not method then
    local name = tostring(call.method):sub(1, 64)
    return call.fail(('there is no method "%s"%s; see "methods"'):format(name, suggest.hint(name, tables.keys(methods))), "unknown")
  end
  local name = call.method
  self.counts.requests = self.counts.requests + 1
  self.asked[name] = (self.asked[name] or 0) + 1
  local why = roles.refusal(self, call)
  if why then return call.fail(why, "forbidden") end
  if self.lost and not STILL[name] then
    return call.fail("the state can neither be saved nor read now, and is tried again every second: " .. self.lost, "io")
  end
  run_beside_shadow(self, call, self.opts.copies and effort.of(self, call) or "here")
end

--- Sets the policy. Returns the policy; or nil, message, code.
function Service:use(policy, name)
  local ok, why, code = self.engine:use(policy)
  if not ok then return nil, why, code end
  self.policy, self.policy_name, self.policy_names[policy] = policy, name, name
  return policy
end

--- Loads the policy in use again from its file. Returns the policy; or nil, message, code.
function Service:reload()
  if not self.policy_name then return nil, "the policy came as source: load it again", "invalid" end
  local policy, why, code = policies.load(self.policy_name)
  if not policy then return nil, why, code end
  return self:use(policy, self.policy_name)
end

--- Handles the end of a connection: ends its streams, drops its stages, and gives back its targets.
function Service:leave(client)
  for stage, x in pairs(self.stages) do
    if x.client == client then
      self.engine:drop(stage)
      self.stages[stage] = nil
    end
  end
  for call in pairs(self.listeners) do
    if call.client == client then self.listeners[call] = nil end
  end
  local mine = {}
  for key in pairs(self.provider.streams) do
    if not own_group(key) and key.client == client then mine[#mine + 1] = key end
  end
  self.child_instances:leave(client)
  for _, key in ipairs(mine) do self.provider:disconnect(key) end
  if mine[1] then self:settle() end
end

--- Ends a stream.
function Service:cancel(call)
  self.listeners[call] = nil
  self.child_instances:leave(nil, call)
  if self.provider:disconnect(call) then self:settle() end
end

--- Makes a service. `graph`: the machine; opts: policy (a name or path), acquire (a list of groups; {"default"} by
--- default), groups {name = idset}, store (see store/init.lua), state_loaded (true if `graph` comes from the store),
--- clock ("wall" or "manual"), overrun ("hold" or "expire"), granularity (as
--- for weir.engine), filter_seconds, log(text).
function M.new(graph, opts)
  local policy, why, code = policies.load(opts.policy or policies.default)
  if not policy then return nil, why, code end
  local self = setmetatable({
    opts = opts, policy = policy, policy_name = opts.policy or policies.default,
    policy_names = setmetatable({ [policy] = opts.policy or policies.default }, { __mode = "k" }), acquires = opts.acquire or { "default" },
    listeners = {}, asked = {}, filtered = {}, trying = false, dirty = true, kept = false,
    counts = { requests = 0, commits = 0, matches = 0, refused = 0 },
  }, Service)
  local ok
  ok, why, code = open(self, graph)
  if not ok then return nil, why, code end
  return self
end

--- for use by methods
M.policies, M.engines = policies, engines

return M
