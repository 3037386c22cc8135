--- engine.lua - engines as seen by scripts: policies by name, a choice of policies, watched files. Adds to the compiled
--- engine the parts written in Lua.

local coarse = require "weir.machine.coarsen"
local core = require "weir.core"
local method_errors = require "weir.method_errors"
local part = require "weir.rset.job_part"
local policy = require "weir.policy"
local requests = require "weir.request"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

local engine = core.methods "engine"
local use, grow, shrink = engine.use, engine.grow, engine.shrink
local match = core.match_once
local through -- what e:match calls for a match that is not plain; below
local check = engine.policy -- raises for no engine or a closed engine

-- The state of an engine in Lua: {allowed = {name = policy}, follow = a function that brings the graph up to date, or nil,
-- budget =, watch = {path, stamp, words, error}, good = the policy in use before, retired = see engine.retired}.
local known = setmetatable({}, { __mode = "k" })

-- Makes the matches of an engine plain, one call of the compiled engine, where no file is watched, jobs choose no
-- policy, and the policy has no functions, so that the policy cannot take too long. Returns the state, which is noted.
local function note_plain(self, own)
  local _, chosen = check(self)
  core.plain(self, not own.watch and not own.allowed and not own.follow and (not chosen or chosen.static))
  known[self] = own
  return own
end

-- ---- making one ---------------------------------------------------------------------------------------------

local OPTIONS = { resources = true, policy = true, policies = true, budget = true, overrun = true, scores = true,
  granularity = true }

--- Raises, with the place of the caller's caller, for options that weir.engine does not take.
function M.check_options(opts)
  if type(opts) ~= "table" then error("weir.engine: a table expected, {resources=..., policy=...}", 3) end
  suggest.check_options("weir.engine: ", opts, OPTIONS, 3)
  if opts.resources == nil then
    error("weir.engine: field 'resources': expected a graph, a file or a description such as \"node:4 core:8\"", 3)
  end
end

-- Loads the policies from which jobs may choose. Returns the policies by name.
local function load_allowed(list, budget)
  if list == nil then return nil end
  local allowed = {}
  for _, x in ipairs(list) do
    local p, why, code = policy.load(x, budget)
    if not p then return nil, why, code end
    if type(p) == "table" then p = assert(core.policy_table(p)) end
    allowed[p.name] = p
  end
  return allowed
end


-- Whether a graph has the hierarchy and the type of a granularity; or false and the reason.
local function check_granularity(graph, text)
  local hierarchy, kind = text:match "^([^:]+):?([^:]*)$"
  if not hierarchy or text:find ":$" then return true end -- core.engine raises
  local there = graph:subsystems()
  if not tables.has(there, hierarchy) then
    return false, ("there is no hierarchy '%s' here%s"):format(hierarchy, suggest.among(hierarchy, there))
  end
  local types = graph:types()
  if kind == "" or tables.has(types, kind) then return true end
  return false, ("hierarchy '%s': there is no type '%s' here%s"):format(text, kind, suggest.hint(kind, types))
end

--- Returns the granularity that a text means on a graph: HIERARCHY, HIERARCHY:TYPE, or a TYPE of containment, unless a
--- hierarchy has that name; or nil, message, code.
function M.granularity(graph, text)
  if text:find ":" or tables.has(graph:subsystems(), text) then return text end
  if tables.has(graph:types(), text) then return "containment:" .. text end
  return nil, ("there is no type and no hierarchy '%s'%s"):format(text, suggest.hint(text, graph:types())), "unknown"
end

--- Makes an engine. opts.resources: a graph; .policy: an argument of policy.load; .policies: a list of policies, from
--- which a job chooses by attributes.system.policy; .budget: limits of a match, {instructions =, memory =, seconds =}.
--- .overrun: the treatment of a job not released at its end. "hold" (the default): the job keeps all resources, and a
--- reservation in need of the resources is held back until the job is released; "expire": the job is released at its
--- end. .scores: "remember" (the default) the scores of a policy's evaluate until something that evaluate read changes;
--- "check" each remembered score against a fresh one, as a test of weir; "call" evaluate for each candidate of each match.
--- .granularity: where matches search that do not say so, nor their policy: a hierarchy, such as "power", or a hierarchy and
--- a type, such as "containment:rack": a job gets whole racks then, even if it requests a part of one. An unknown hierarchy or type
--- is an error; .growing = true accepts one, for a graph that has yet to get its vertices.
function M.new(opts, graph)
  if type(opts.granularity) == "string" and not opts.growing then
    local there, strange = check_granularity(graph, opts.granularity)
    if not there then return nil, strange, "unknown" end
  end
  local chosen, why, code = policy.load(opts.policy or policy.default, opts.budget)
  if not chosen then return nil, why, code end
  local allowed
  allowed, why, code = load_allowed(opts.policies, opts.budget)
  if why then return nil, why, code end
  local self
  self, why, code = core.engine { resources = graph, policy = chosen, overrun = opts.overrun, scores = opts.scores,
    granularity = opts.granularity, match = through }
  if not self then return nil, why, code end
  note_plain(self, { allowed = allowed, budget = opts.budget, follow = coarse.following(graph) })
  return self
end

-- ---- policies -----------------------------------------------------------------------------------------------

local function names_of(allowed)
  return next(allowed or {}) and table.concat(tables.keys(allowed), ", ") or "none"
end

-- The options of a match, with the policy chosen by the job.
local function with_choice(self, request, opts)
  local allowed = known[self] and known[self].allowed
  local name = opts and opts.policy or allowed and request:attribute "policy"
  if type(name) ~= "string" then return opts end
  if not (allowed and allowed[name]) then
    return nil, ('policy "%s" is not one that jobs may choose (%s)'):format(name:sub(1, 64), names_of(allowed)), "rejected"
  end
  local own = tables.copy(opts)
  own.policy = allowed[name]
  return own
end

-- Puts a policy in use. The previous policy is kept as the last good policy, unless the previous policy overran.
local function put_in_use(self, own, chosen)
  local _, before = check(self)
  local done, why, code = use(self, chosen)
  if not done then return nil, why, code end
  if before and not before.overran then own.good = before end
  note_plain(self, own)
  return true
end

--- @method use(policy: string | table | loaded_policy, options: table?): boolean?, string?, string? --
--- Replaces the policy, by name, path, table or policy; the old policy stays when the new policy does not load. With
--- opts.watch a policy from a file is replaced whenever the file changes: before a match, as a whole; an edit that
--- does not load leaves the last good policy in place (see e:watched). opts.failed(message) is called then.
function engine.use(self, x, opts)
  check(self)
  if opts ~= nil and type(opts) ~= "table" then
    error(("bad argument #2 to 'use' (table expected, got %s)"):format(type(opts)))
  end
  local own = known[self] or {}
  local chosen, why, code = policy.load(x, own.budget)
  if not chosen then return nil, why, code end
  if opts and opts.watch and not (type(chosen) == "userdata" and chosen.path) then
    error("e:use: only a policy from a file can be watched")
  end
  local done
  done, why, code = put_in_use(self, own, chosen)
  if not done then return nil, why, code end
  own.retired = nil
  own.watch = opts and opts.watch
    and { from = x, path = chosen.path, stamp = core.policy_stamp(chosen.path), failed = opts.failed } or nil
  note_plain(self, own)
  return true
end

--- @method watched(): table? --
--- The watched file: {path =, error = why the present contents of the file did not load, or nil}; nil when no file is
--- watched.
function engine.watched(self)
  check(self)
  local watch = known[self] and known[self].watch
  return watch and { path = watch.path, error = watch.error }
end

--- @method reload(): boolean?, string?, string? --
--- Loads a watched file again after a change: true when the policy was replaced, false when the file has not changed;
--- or nil, message, code when the file does not load. Every match does so first.
function engine.reload(self)
  check(self)
  local own = known[self]
  local watch = own and own.watch
  if not watch then return false end
  local stamp = core.policy_stamp(watch.path)
  if not stamp or stamp == watch.stamp then return false end
  watch.stamp = stamp
  local chosen, why, code = policy.load(watch.from, own.budget)
  if chosen then chosen, why, code = put_in_use(self, own, chosen) end
  watch.error = why
  if chosen then
    own.retired = nil
    return true
  end
  if watch.failed then watch.failed(why) end
  return nil, why, code
end

--- @method retire(failure: string?): table? --
--- Replaces a policy in use that took more than twice its seconds in the last match, or that has failed as `failure`
--- says, by the policy in use before, if any. Returns the result of e:retired() then; nil when the policy in use did not
--- overrun and no failure is given. Matches, grow and explanations call retire by themselves, without a failure.
function engine.retire(self, failure)
  local name, bad = check(self)
  local took = bad and bad.overran
  if not took and not failure then return nil end
  local own = known[self] or {}
  local good = own.good
  local instead = good and use(self, good) and good.name or nil
  note_plain(self, own)
  own.good = not instead and good or nil
  local cause = took and ("it took %.3g seconds of the %.3g that it may"):format(took, bad.budget.seconds) or tostring(failure)
  local why = ("policy %s: %s; %s"):format(name, cause,
    instead and ("policy %s takes its place"):format(instead) or "no policy was in use before, so it stays")
  own.retired = { policy = name, label = bad and bad.label, seconds = took, instead = instead, why = why }
  if own.watch then own.watch.error = why end
  if own.watch and own.watch.failed then own.watch.failed(why) end
  return own.retired
end

--- @method retired(): table? --
--- The policy last taken out of service for taking more than twice its seconds, or for a failure that e:retire was
--- given: {policy =, label =, seconds = nil for a failure, why =,
--- instead = the successor; nil: no policy was in use before, and the policy stays}; nil when no policy was retired,
--- or a further policy has been put in use since.
function engine.retired(self)
  check(self)
  return known[self] and known[self].retired
end

-- Passes on the results of a match: without varargs, which cost each match a thousand instructions. When the policy in
-- use overran, retires the policy and says so in the message.
local function judged(self, result, why, code)
  if result ~= nil then return result end
  local retired = code == "policy" and engine.retire(self)
  return nil, retired and ("%s (%s)"):format(why, retired.why) or why, code
end

-- ---- matching -----------------------------------------------------------------------------------------------

-- Calls f(request, ...), with a text turned into a request.
local function with_request(request, f, ...)
  if type(request) ~= "string" then return f(request, ...) end
  local read, why, code = requests.read(request)
  if not read then return nil, why, code end
  return f(read, ...)
end

--- For explanations, which are built on this file.
M.with_request, M.with_choice, M.judged = with_request, with_choice, judged

local function choose_and_match(self, request, opts)
  if type(request) == "table" then
    local read, why, code = core.request(request)
    if not read then return nil, why, code end
    request = read
  end
  local own, why, code = with_choice(self, request, opts)
  if why then return nil, why, code end
  if own and own.policy then return match(self, request, own) end
  return judged(self, match(self, request, own))
end

-- Matches a request, given as an argument of weir.request: every match that is not plain.
through = method_errors.below("match", function(self, request, opts)
  if opts ~= nil and type(opts) ~= "table" then
    error(("bad argument #2 to 'match' (table expected, got %s)"):format(type(opts)))
  end
  local own = known[self] or note_plain(self, {})
  if own.watch then engine.reload(self) end
  if own.follow then
    local done, why, code = own.follow()
    if not done then return nil, why, code end
  end
  if own.allowed or opts and opts.policy then
    return with_request(request, function(r) return choose_and_match(self, r, opts) end)
  end
  return with_request(request, function(r) return judged(self, match(self, r, opts)) end)
end)

--- Adds to a job the resources found for a request. opts.about as for a match.
function engine.grow(self, job, request, opts)
  return with_request(request, function(r) return judged(self, grow(self, job, r, opts)) end)
end

--- Takes a part away from a job: a vertex, a list of vertices, {ranks = "0-3"}, an R (text or table), or units of a
--- pool, {vertex = v, amount = n}. Returns the job as it is then, or true when nothing is left of the job.
function engine.shrink(self, job, what)
  return part.shrink(self, job, what, shrink)
end

return M
