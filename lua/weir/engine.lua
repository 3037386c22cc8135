--- engine.lua - engines as scripts see them: policies by name, several to choose from, files that are watched. Adds to the
--- compiled engine what is best written in Lua.

local core = require "weir.core"
local part = require "weir.rset.job_part"
local policy = require "weir.policy"

local M = {}

local engine = core.methods "engine"
local use, match, grow, shrink = engine.use, engine.match, engine.grow, engine.shrink
local check = engine.policy -- raises where it is no engine, or a dead one

-- What is known of an engine besides: {allowed = {name = policy}, budget =, watch = {path, stamp, words, error}}.
local known = setmetatable({}, { __mode = "k" })

-- ---- making one ---------------------------------------------------------------------------------------------

local OPTIONS = { resources = true, policy = true, policies = true, budget = true, overrun = true }

local function check_options(opts)
  if type(opts) ~= "table" then error("weir.engine: a table expected, {resources=..., policy=...}", 3) end
  for key in pairs(opts) do
    if not OPTIONS[key] then error(("weir.engine: there is no option '%s' here"):format(tostring(key)), 3) end
  end
end

-- The policies that jobs may choose, by name.
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

--- An engine. opts.resources: a graph; .policy: what policy.load takes; .policies: a list of such, from which a job
--- chooses by attributes.system.policy; .budget: what a match may cost, {instructions =, memory =, seconds =}.
--- .overrun: what happens at the end of a job that nobody releases. "hold" (if nothing else was said): it keeps what it has, and a
--- reservation that needs some of that is held back until it is released; "expire": it is released at its end.
function M.new(opts, graph)
  check_options(opts)
  local chosen, why, code = policy.load(opts.policy or policy.default, opts.budget)
  if not chosen then return nil, why, code end
  local allowed
  allowed, why, code = load_allowed(opts.policies, opts.budget)
  if why then return nil, why, code end
  local self
  self, why, code = core.engine { resources = graph, policy = chosen, overrun = opts.overrun }
  if not self then return nil, why, code end
  known[self] = { allowed = allowed, budget = opts.budget }
  return self
end

-- ---- policies -----------------------------------------------------------------------------------------------

local function names_of(allowed)
  local names = {}
  for name in pairs(allowed or {}) do names[#names + 1] = name end
  table.sort(names)
  return #names > 0 and table.concat(names, ", ") or "none"
end

-- The options of one match with the policy that the job asks for.
local function with_choice(self, request, opts)
  local allowed = known[self] and known[self].allowed
  local name = opts and opts.policy or allowed and request:attribute "policy"
  if type(name) ~= "string" then return opts end
  if not (allowed and allowed[name]) then
    return nil, ('policy "%s" is not one that jobs may choose (%s)'):format(name:sub(1, 64), names_of(allowed)), "rejected"
  end
  local own = {}
  for key, value in pairs(opts or {}) do own[key] = value end
  own.policy = allowed[name]
  return own
end

--- @method use(policy: any, options: table?): boolean?, string?, string? --
--- Replaces the policy, by name, path, table or policy; the old one stays when the new one does not load. With
--- opts.watch a policy from a file is replaced whenever the file changes: before a match, as a whole; an edit that
--- does not load leaves the last good one in place (see e:watched). opts.failed(message) is called then.
function engine.use(self, x, opts)
  check(self)
  local own = known[self] or {}
  local chosen, why, code = policy.load(x, own.budget)
  if not chosen then return nil, why, code end
  if opts and opts.watch and not (type(chosen) == "userdata" and chosen.path) then
    error("e:use: only a policy from a file can be watched", 2)
  end
  local done
  done, why, code = use(self, chosen)
  if not done then return nil, why, code end
  own.watch = opts and opts.watch
    and { from = x, path = chosen.path, stamp = core.policy_stamp(chosen.path), failed = opts.failed } or nil
  known[self] = own
  return true
end

--- @method watched(): table? --
--- What is watched: {path =, error = why the file as it is now was not taken, or nil}; nil when nothing is.
function engine.watched(self)
  check(self)
  local watch = known[self] and known[self].watch
  return watch and { path = watch.path, error = watch.error }
end

--- @method reload(): boolean?, string?, string? --
--- Takes a watched file that changed: true when the policy was replaced, false when the file is as it was; or nil,
--- message, code when it does not load. Every match does this first.
function engine.reload(self)
  check(self)
  local own = known[self]
  local watch = own and own.watch
  if not watch then return false end
  local stamp = core.policy_stamp(watch.path)
  if not stamp or stamp == watch.stamp then return false end
  watch.stamp = stamp
  local chosen, why, code = policy.load(watch.from, own.budget)
  if chosen then chosen, why, code = use(self, chosen) end
  watch.error = why
  if chosen then return true end
  if watch.failed then watch.failed(why) end
  return nil, why, code
end

-- ---- matching -----------------------------------------------------------------------------------------------

-- A request from what weir.request takes.
local read_request = function() end

--- Told by the library, which stands on this file: how texts become requests.
function M.reads(f) read_request = f end

-- Calls f(request, ...) with a text turned into a request.
local function with_request(request, f, ...)
  if type(request) ~= "string" then return f(request, ...) end
  local read, why, code = read_request(request)
  if not read then return nil, why, code end
  return f(read, ...)
end

--- For explanations, which stand on this file.
M.with_request, M.with_choice = with_request, with_choice

local function choose_and_match(self, request, opts)
  if type(request) == "table" then
    local read, why, code = core.request(request)
    if not read then return nil, why, code end
    request = read
  end
  local own, why, code = with_choice(self, request, opts)
  if why then return nil, why, code end
  return match(self, request, own)
end

--- Matches what weir.request takes.
function engine.match(self, request, opts)
  local own = known[self]
  if own and own.watch then engine.reload(self) end
  if not (own and own.allowed) and not (opts and opts.policy) then
    if type(request) ~= "string" then return match(self, request, opts) end
    return with_request(request, function(r) return match(self, r, opts) end)
  end
  return with_request(request, function(r) return choose_and_match(self, r, opts) end)
end

--- Gives a job more: what a request finds.
function engine.grow(self, job, request)
  return with_request(request, function(r) return grow(self, job, r) end)
end

--- Takes a part away from a job: a vertex, a list of vertices, {ranks = "0-3"}, an R (text or table), or some units of
--- one pool, {vertex = v, amount = n}. Returns the job as it is then, or true when nothing is left of it.
function engine.shrink(self, job, what)
  return part.shrink(self, job, what, shrink)
end

return M
