--- trial.lua - one question answered many times: does a request fit on a duplicate of a graph, with some obstacles relaxed?
--
-- An obstacle is a part of the policy, a conjunct of the constraint, a vertex that is not up, or a job. A relaxed obstacle
-- is out of effect: the part or the conjunct is dropped, the vertex is up, the job is detached. Obstacles, a table:
--   {kind = "policy", part =}, {kind = "constraint", constraint =}, {kind = "state", vertex =, state =},
--   {kind = "job", job = id, stage = the number of the stage that the job represents or nil, start = of a reservation,
--   ["end"] =}; the field `relaxed` says whether the obstacle is relaxed
-- Everything here is about vertices of the duplicate; trial.graph is the original.

local core = require "weir.core"
local failure = require "weir.failure"
local tables = require "weir.tables"

local Trial = {}
Trial.__index = Trial

local M = {
  KINDS = { "policy", "constraint", "state", "job" },
  STRICT = { "follow", "strict_levels", "strict_pools", "strict_slots" },
  TRIES = 4000, -- the most matches for an explanation; fewer where the constraint is large
}

local VALUES = 256 -- values of a constraint that cost as much as a match

local must = failure.must

-- ---- obstacles -----------------------------------------------------------------------------------------------

-- Appends the conjuncts of a constraint to a list.
local function split(constraint, list)
  for key, values in tables.sorted(constraint) do
    for _, value in ipairs((key == "and" or key == "properties") and values or {}) do
      if key == "and" then split(value, list) else list[#list + 1] = { properties = { value } } end
    end
    if key ~= "and" and key ~= "properties" then list[#list + 1] = { [key] = values } end
  end
  return list
end

-- The number of values in a JSON value.
local function size_of(value)
  local n = 1
  for _, x in pairs(type(value) == "table" and value or {}) do n = n + size_of(x) end
  return n
end

-- Jobs that end last come first, because obstacles early in a list are restored first.
local function by_end(a, b)
  if a["end"] ~= b["end"] then return a["end"] > b["end"] end
  return a.job > b.job
end

local function policy_parts(self)
  local parts = tables.filter(self.policy and self.policy.parts or {}, function(part) return part ~= "admit" end)
  local list = tables.map(parts, function(part) return { kind = "policy", part = part, relaxed = false } end)
  return list
end

local function conjuncts(self)
  local list = split(self.system.constraints or {}, {})
  for i, constraint in ipairs(list) do
    list[i] = { kind = "constraint", constraint = constraint, size = size_of(constraint), relaxed = false }
  end
  return list
end

-- Sets self.obstacles, the obstacles counted by vertex.
local function states(self)
  local list
  self.obstacles, list = core.obstacles(self.copy, self.hierarchy)
  for i, v in ipairs(list) do list[i] = { kind = "state", vertex = v, state = v.state, relaxed = false } end
  return list
end

-- Makes jobs of the stages of the duplicate, so that a stage that locks resources is an obstacle like a job, which ends
-- when the stage expires. Returns the numbers of the stages by job.
local function stages_as_jobs(self)
  local stage_of = {}
  for _, stage in ipairs(self.engine:stages()) do
    local job = stage.state ~= "claimed" and self.engine:commit(stage.stage)
    if job then
      stage_of[job.id] = stage.stage
      if job.at < stage.expires and stage.expires < job.end_ then
        must(self.engine:attach(must(self.engine:detach(job)), stage.expires))
      end
    end
  end
  return stage_of
end

local function jobs(self)
  local stage_of = stages_as_jobs(self)
  local list = self.engine:jobs()
  for i, a in ipairs(list) do
    list[i] = { kind = "job", job = a.id, stage = stage_of[a.id], start = a.state == "reserved" and a.at or nil, ["end"] = a.end_,
      relaxed = false }
  end
  table.sort(list, by_end)
  return list
end

--- Collects the obstacles that are jobs and states, and fills self.list, all obstacles in the order of the kinds.
function Trial:collect()
  self.by.state, self.by.job, self.list = states(self), jobs(self), {}
  for _, kind in ipairs(M.KINDS) do table.move(self.by[kind], 1, #self.by[kind], #self.list + 1, self.list) end
end

local RELAX = {}

function RELAX.policy(self) self.without = nil end

function RELAX.constraint(self) self.request = nil end

function RELAX.state(_, ob, on) ob.vertex.state = on and "up" or ob.state end

function RELAX.job(self, ob, on)
  if on then
    ob.detached = must(self.engine:detach(ob.job))
  else
    must(self.engine:attach(ob.detached))
    ob.detached = nil
  end
end

--- Lifts an obstacle (`on`), or restores the obstacle.
function Trial:relax(ob, on)
  if ob.relaxed == on then return end
  local kind, relaxed = ob.kind, self.relaxed
  RELAX[kind](self, ob, on)
  ob.relaxed = on
  relaxed[kind] = relaxed[kind] + (on and 1 or -1)
end

--- Lifts all obstacles of the kinds in a set, and restores all others.
function Trial:relax_kinds(kinds)
  for kind, list in pairs(self.by) do
    local on = kinds[kind] or false
    for i = 1, self.relaxed[kind] ~= (on and #list or 0) and #list or 0 do self:relax(list[i], on) end
  end
end

-- ---- matches -------------------------------------------------------------------------------------------------

--- A trial of {graph =, copy = a duplicate of the graph, engine = of the duplicate, policy =, request = after admit,
--- hierarchy = where the match searches, nil for containment, settings = {about =, at =, within = vertex to which the
--- question is limited, and the readings of requests}}.
function M.new(what)
  local asked = core.json_decode(must(what.request:format_for(what.copy)))
  local self = setmetatable({
    graph = what.graph, copy = what.copy, engine = what.engine, policy = what.policy, within = what.settings.within,
    hierarchy = what.hierarchy, options = what.settings, resources = asked.resources, system = asked.attributes.system,
    tries = 0, spent = 0, limit = 0, size = 0,
  }, Trial)
  self.by = { policy = policy_parts(self), constraint = conjuncts(self) }
  self.relaxed = { policy = 0, constraint = 0, state = 0, job = 0 } -- numbers, by kind
  return self
end

-- ---- the hierarchy -------------------------------------------------------------------------------------------

-- The vertices directly above: several, where edges of the hierarchy lead to the vertex from several.
local function directly_above(self, v)
  local list = { v:parent() }
  for _, e in ipairs(v:edges(self.hierarchy)) do
    if e.target == v then list[#list + 1] = e.source end
  end
  return list
end

--- The nearest of a vertex and all above for which f(vertex) is true; nil: none.
function Trial:upward(v, f)
  while v and not self.hierarchy do
    if f(v) then return v end
    v = v:parent()
  end
  local list, met = { v }, {}
  for _, u in ipairs(list) do -- the list grows
    if f(u) then return u end
    for _, up in ipairs(directly_above(self, u)) do
      if not met[up] then
        met[up] = true
        list[#list + 1] = up
      end
    end
  end
end

--- Whether a vertex is `top` or below `top`.
function Trial:is_below(v, top)
  if not self.hierarchy then return v:within(top) end
  return self:upward(v, function(u) return u == top end) ~= nil
end

-- Whether v is a pool outside of containment, such as a power unit: what a question about a vertex leaves open.
local function stands_alone(v) return not v:parent() and v:nchildren() == 0 end

-- Units of a type below v and, for the vertex in question, outside of containment: in all, free.
local function units_below(self, v, type)
  local total, free = v:below(type)
  for _, pool in ipairs(v == self.within and not stands_alone(v) and self:of_type(type) or {}) do
    if stands_alone(pool) then total, free = total + pool.size, free + pool.free end
  end
  return total, free
end

--- Units of a type below a vertex, or in all without a vertex: in all, free.
function Trial:units(v, type)
  if v and not self.hierarchy then return units_below(self, v, type) end
  local sums = must(self.copy:aggregate(v, { all = true, subsystem = self.hierarchy }))[type]
  if not sums then return 0, 0 end
  return sums.total, sums.free
end

--- All vertices of a type.
function Trial:of_type(type)
  self.types = self.types or {}
  self.types[type] = self.types[type]
    or must(self.copy:find(('type="%s"'):format(type:gsub('[\\"]', "\\%0")), { subsystem = self.hierarchy }))
  return self.types[type]
end

--- Requests other resources from now on.
function Trial:ask_for(resources)
  self.resources, self.request = resources, nil
end

--- Limits matches to vertices at, above or below a vertex.
function Trial:look_within(v)
  self.within, self.options.within = v, v
end

-- attributes.system with the conjuncts that are not relaxed. Sets self.size, the number of values of the constraint.
local function system_now(self)
  local system, rest = tables.copy(self.system), core.array {}
  self.size = 0
  for _, ob in ipairs(self.by.constraint) do
    if not ob.relaxed then
      rest[#rest + 1] = ob.constraint
      self.size = self.size + ob.size
    end
  end
  system.constraints = #rest > 0 and { ["and"] = rest } or nil
  return system
end

-- The request as now: without the relaxed conjuncts. nil, why, code where the resources make no request.
local function current(self)
  if self.request then return self.request end
  local why, code
  self.request, why, code = core.request { resources = self.resources, attributes = { system = system_now(self) } }
  return self.request, why, code
end

-- The names of the relaxed parts of the policy, and of admit, which has been called.
local function without(self)
  local list = { "admit" }
  for _, ob in ipairs(self.by.policy) do
    if ob.relaxed then list[#list + 1] = ob.part end
  end
  return list
end

-- The options of a match as now.
local function options(self, mode, how)
  self.without = self.without or without(self)
  local o = self.options
  o.mode, o.without, o.brief, o.fewest = mode, self.without, not how, how == "minimum" and self.obstacles or nil
  return o
end

--- Makes one match in a mode. Returns the result; or nil, why, code. Fails for all codes but busy, infeasible, limit, and
--- invalid, parse: the resources make no request.
function Trial:match(mode, how)
  local request, why, code = current(self)
  local a
  if request then a, why, code = core.match_once(self.engine, request, options(self, mode, how)) end
  self.tries = self.tries + 1
  self.spent = self.spent + 1 + self.size // VALUES
  if a then return a end
  if code ~= "busy" and code ~= "infeasible" and code ~= "limit" and code ~= "invalid" and code ~= "parse" then failure.raise(why, code) end
  return nil, why, code
end

--- Whether the request fits: true; false; or nil, why, code for a match that did not decide. `how` "keep": the allocation
--- instead of true; "minimum": vertices with few obstacles are preferred to the policy's choice.
function Trial:fits(how)
  local a, why, code = self:match("preview", how)
  if a then return a end
  if code == "busy" or code == "infeasible" then return false end
  return nil, why, code
end

--- Whether the request starts before t: true; false; or nil for a match that did not decide.
function Trial:starts_before(t)
  local a, _, code = self:match("reserve", "keep")
  if not a then
    if code == "busy" or code == "infeasible" then return false end
    return nil
  end
  local start = a.at
  must(self.engine:release(a))
  return start < t
end

--- The causes that exclude vertices, by level; see e:levels.
function Trial:levels()
  local o = { about = self.options.about, at = self.options.at, within = self.within, without = { "admit" } }
  for _, name in ipairs(M.STRICT) do o[name] = self.options[name] end
  return must(self.engine:levels(must(current(self)), o))
end

--- Whether the matches of the current stage are used up; the explanation is marked as cut then.
function Trial:exhausted()
  if self.spent < self.limit then return false end
  self.cut = true
  return true
end

return M
