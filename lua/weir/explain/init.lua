--- explain/init.lua - why a request does not fit: e:explain(request, options) gives a report, M.text its text.
--
-- A report is a table. Everything reported has been tried on a duplicate of the graph and its schedules:
--   verdict    "fits"; "busy": fits once some jobs have ended; "blocked": prevented by a state, or by filters of the
--              policy that exclude vertices in state up; "infeasible": never fits on this machine under this policy,
--              as a match says; "rejected": the policy does not admit the request, `why` says why
--   fits       whether the request fits now
--   validity   {start =, stop =}: the time in which the resources are valid, where they have bounds; `why` says so where
--              the bounds are in the way: the verdict is "busy" before the start, "infeasible" for what would end later
--   at         the time that the report is about, where that is later than the clock: the option `at`, or the start of the validity
--   start      the earliest start in seconds, with `vertices`, the picks at that time; nil: no start found
--   after      the jobs that `start` waits for, which end then: a list of obstacles. Without them the request would start
--              earlier, and without all but one of them it would not
--   ways       lists of obstacles. Without all obstacles of a list the request fits, and every obstacle of a list is
--              needed (with "cut": perhaps not every obstacle, as the minimization was given up). An obstacle is
--              {kind = "job", job =, start = of a reservation, ["end"] =}, for a stage with the field stage in place of job,
--              {kind = "state", vertex =, state =},
--              {kind = "constraint", constraint =, text =} or {kind = "policy", part =}
--   shortage   need against have, where the request falls short: see shortage.lua
--   missing    properties that the constraint names and no vertex has: {name =, near = the one meant, perhaps, known =
--              all names}
--   alternatives  true for a request with or_slots: the report then has no shortage
--   alternative  of a request with xor_slots the alternative that the report is about: {number =, of =, text =}, the first
--              of those that could start earliest, else that could ever start, else of all
--   levels     the fate of all vertices of each type requested: {type =, need =, visited =, left =,
--              causes = {{by =, type =, of =, count =}...}}, sorted by count, the largest first
--   stats      of the match;  tries: number of matches made for the report;  cut: true where a limit ended
--              the search early
--   assumed    the assumptions, as texts (options down, up, release, without, constraint, policy)
--   where      the vertex examined: `asked`, the vertex of the question, or the nearest ancestor of a type requested
--   one_of     {type =, count =}: the request has several resources of the type of `where`, and the report is about one

local core = require "weir.core"
local failure = require "weir.failure"
local engines = require "weir.engine"
local finite = require "weir.plain".finite
local policy = require "weir.policy"
local shortage = require "weir.explain.shortage"
local trials = require "weir.explain.trial"
local ways = require "weir.explain.ways"
local tables = require "weir.tables"
local vertex_names = require "weir.machine.vertex_names"
local wording = require "weir.explain.text"
local suggest = require "weir.suggest"

local vertex = core.members().vertex -- methods, which check their receiver
local must = failure.must

local M = { text = wording.text, headline = wording.headline }

local OPTIONS = tables.update(tables.set(trials.STRICT), { about = true, at = true, vertex = true, down = true, up = true, release = true,
  without = true, constraint = true, policy = true, subsystem = true })

local function check_options(opts)
  if type(opts) ~= "table" then error(("bad argument #2 to 'explain' (table expected, got %s)"):format(type(opts))) end
  suggest.check_options("e:explain: ", opts, OPTIONS, 1)
end

-- A value or a list of values, as a list.
local function each(value)
  if value == nil then return {} end
  return type(value) == "table" and value or { value }
end

-- ---- what is assumed -----------------------------------------------------------------------------------------

-- Checks that x is a vertex or a text, and returns the URI of the vertex, or the text.
local function name_of(x, field)
  local name = type(x) == "userdata" and x.path and vertex.uri(x) or x
  if type(name) ~= "string" then error(("field '%s': a vertex or its path or name expected, got %s"):format(field, type(x))) end
  return name
end

-- The vertices of a graph that a path, names such as "node[3-5]" or an expression select.
local function vertices_in(graph, x, field)
  local name = name_of(x, field)
  if not name:find "^[^/:=]*:?/" then return vertex_names.find(graph, name) end
  local v, why, code = graph:vertex(name)
  return v and { v }, why, code
end

local function assume_states(copy, list, state, said)
  for _, x in ipairs(each(list)) do
    local found, why, code = vertices_in(copy, x, state)
    if not found then return nil, why, code or "unknown" end
    if #found == 0 then return nil, ("field '%s': no vertex of the machine is meant by %s"):format(state, x), "unknown" end
    for _, v in ipairs(found) do
      v.state = state
      said[#said + 1] = ("%s is %s"):format(v.path, state)
    end
  end
  return true
end

local function assume_released(copy, list, said)
  local engine = core.engine { resources = copy }
  for _, job in ipairs(each(list)) do
    local done, why, code = engine:release(job)
    if not done then return nil, why, code end
    said[#said + 1] = ("job %d has ended"):format(type(job) == "number" and job or job.id)
  end
  engine:close()
  return true
end

-- Removes from a constraint all values for which the function is true, and adds the number of removals to
-- count[1]. Returns true when nothing is left of the constraint.
local function strip(constraint, wanted, count)
  for operator, list in pairs(constraint) do
    local kept = core.array {}
    for _, value in ipairs(list) do
      local gone
      if operator == "and" then gone = strip(value, wanted, count) else gone = wanted(operator, value) end
      if gone and operator ~= "and" then count[1] = count[1] + 1 end
      if not gone then kept[#kept + 1] = value end
    end
    constraint[operator] = #kept > 0 and kept or nil
  end
  return next(constraint) == nil
end

local KEYS = { property = "properties", properties = "properties", host = "hostlist", hostlist = "hostlist", rank = "ranks",
  ranks = "ranks", ["or"] = "or", ["not"] = "not" }

-- Parses "constraint", "property=bigmem", "hostlist" or "ranks=0-3" into a predicate of operator and value; nil where
-- invalid.
local function matcher(text)
  if type(text) ~= "string" then error(("field 'without': a text or a list of texts expected, got %s"):format(type(text))) end
  if text == "constraint" then return function() return true end end
  local key, value = text:match "^(%w+)=(.*)$"
  local operator = KEYS[key or text]
  if not operator then return nil end
  return function(op, v) return op == operator and (value == nil or v == value) end
end

local function drop_constraint(system, text)
  local wanted, count = matcher(text), { 0 }
  if not wanted then
    return nil, ('without: "%s" is no part of a constraint: constraint, property=NAME, hostlist, ranks, or, not'):format(text), "invalid"
  end
  if system.constraints and strip(system.constraints, wanted, count) then system.constraints = nil end
  if count[1] == 0 then return nil, ('without: the request has no constraint "%s"'):format(text), "invalid" end
  return true
end

local function system_of(jobspec)
  jobspec.attributes = jobspec.attributes or {}
  jobspec.attributes.system = jobspec.attributes.system or {}
  return jobspec.attributes.system
end

-- The request with the constraint replaced or reduced as the options say.
local function assume_constraint(request, opts, said)
  if opts.without == nil and opts.constraint == nil then return request end
  local jobspec = core.json_decode(request:format "json")
  local system = system_of(jobspec)
  if opts.constraint then
    system.constraints = opts.constraint
    said[#said + 1] = "the constraint is " .. core.json_encode(opts.constraint, { sort = true })
  end
  for _, text in ipairs(each(opts.without)) do
    local done, why, code = drop_constraint(system, text)
    if not done then return nil, why, code end
    said[#said + 1] = text == "constraint" and "there is no constraint" or "without " .. text
  end
  local changed, why, code = core.request(jobspec)
  if not changed then return nil, (why:gsub("^<table>: ", opts.constraint and "constraint: " or "")), code end
  return changed
end

local function assume_policy(self, request, opts, said)
  if opts.policy == nil then
    local _, own = self:policy()
    local choice, refusal, word = engines.with_choice(self, request, {})
    if not choice then return nil, refusal, word end
    return choice.policy or own
  end
  local x = opts.policy
  if type(x) ~= "string" and type(x) ~= "table" and not (type(x) == "userdata" and type(x.name) == "string") then
    error(("field 'policy': a name, a table or a policy expected, got %s"):format(type(x)))
  end
  local chosen, why, code = policy.load(x)
  if not chosen then return nil, why, code end
  if type(chosen) == "table" then chosen, why, code = core.policy_table(chosen) end
  if chosen then said[#said + 1] = "the policy is " .. chosen.name end
  return chosen, why, code
end

-- Applies the options down, up and release to the copy.
local function assume(copy, opts, said)
  local done, why, code = assume_states(copy, opts.down, "down", said)
  if done then done, why, code = assume_states(copy, opts.up, "up", said) end
  if done and opts.release ~= nil then done, why, code = assume_released(copy, opts.release, said) end
  return done, why, code
end

-- ---- asking --------------------------------------------------------------------------------------------------

local MANY = 1 << 31 -- instances, of which no more are counted
local SHARE = 500 -- matches reserved for the shortage, and as many for the earliest start

-- The number of instances of the resource at a place in the whole request, at least.
local function instances(place)
  local n = 1
  while place and n < MANY do
    n, place = n * shortage.minimum(place.value.count), place.parent
  end
  return n
end

-- One instance of the first resource of a type, as a list, inside a slot if the resource is in a slot, and the number of
-- instances requested; nil: the request has no such resource.
local function only_resource(resources, type)
  for _, place in ipairs(shortage.places(resources)) do
    if place.value.type == type then
      local one, parent, n = tables.clone(place.value), place.parent, instances(place)
      one.count = 1
      while parent and parent.value.type ~= "slot" and parent.value.type ~= "or_slot" do parent = parent.parent end
      return { parent and { type = "slot", label = "there", count = 1, with = { one } } or one }, n
    end
  end
end

-- Narrows the question to a vertex: to the resource of the vertex's type, or of the nearest ancestor's type that the
-- request names. Returns the type and the number of instances requested, where there are several.
local function narrow(trial)
  local v = trial.within
  while v do
    local one, n = only_resource(trial.resources, v.type)
    if one then
      trial:ask_for(one)
      trial:look_within(v)
      return n > 1 and { type = v.type, count = n } or nil
    end
    v = trial.hierarchy and v:parent(trial.hierarchy) or v:parent()
  end
end

-- Fills start and vertices of a report. Returns the picks, of the duplicate.
local function set_picks(report, trial, a)
  local picks, list = a:vertices(), {}
  for i, pick in ipairs(picks) do
    list[i] = { vertex = trial.graph:twin(pick.vertex), amount = pick.amount, exclusive = pick.exclusive }
  end
  report.start, report.vertices = a.at, list
  return picks
end

-- Whether some way consists of jobs alone: the request fits once running jobs end.
local function jobs_suffice(report)
  return tables.any(report.ways, function(way)
    return #way > 0 and tables.all(way, function(ob) return ob.kind == "job" end)
  end)
end

local function find_verdict(report, trial)
  local fits, why, code = trial:match "feasible"
  if code == "infeasible" then return "infeasible" end
  if not fits then failure.raise(why, code) end
  return jobs_suffice(report) and "busy" or "blocked"
end

local function find_start(report, trial)
  local a = trial:match("reserve", "keep")
  if not a then return end
  local picks = set_picks(report, trial, a)
  assert(trial.engine:release(a))
  report.after = ways.after(trial, report.start, picks)
end

-- Fills the report on a request that does not fit.
local function find_causes(report, trial)
  local unit_by_type = {}
  trial:collect()
  for _, level in ipairs(report.levels) do unit_by_type[level.type] = level.unit end
  trial.limit = trials.TRIES - 2 * SHARE
  report.ways = ways.find(trial)
  report.verdict = find_verdict(report, trial)
  trial.limit = trial.limit + SHARE
  report.shortage = shortage.find(trial, report.verdict == "infeasible", unit_by_type)
  trial.limit = trial.limit + SHARE
  if report.verdict == "busy" then find_start(report, trial) end
end

-- Adds to a shortage the facts of the levels: vertices reserved too soon, and the types there are where the type is none.
local function complete_shortage(report, graph)
  local s = report.shortage
  if not s or not s.type then return end
  for _, level in ipairs(report.levels) do
    for _, c in ipairs(level.type == s.type and not s.ideal and level.causes or {}) do
      if c.by == "time" and c.count > 0 then s.reserved = c.count end
    end
  end
  if s.total > 0 or s.have > 0 then return end
  local types, hierarchies = graph:types(), graph:subsystems() -- a resource may name a subsystem: power=2
  if tables.has(types, s.type) or tables.has(hierarchies, s.type) then return end
  s.known, s.hierarchies = types, table.move(hierarchies, 2, #hierarchies, 1, {}) -- the first is containment
  s.near = suggest.nearest(s.type, tables.append(tables.copy(types), s.hierarchies))
  if #s.hierarchies == 0 then s.hierarchies = nil end
end

-- Returns the properties that a constraint names and no vertex has.
local function missing_properties(trial)
  local list = {}
  for _, ob in ipairs(trial.by.constraint) do
    local name = ob.constraint.properties and ob.constraint.properties[1]
    if name and not name:find "^%^" and #trial.copy:find("property=" .. core.json_encode(name)) == 0 then list[#list + 1] = name end
  end
  return list
end

-- Returns the names of all properties of a graph.
local function properties_of(graph)
  local seen = {}
  for v in graph:walk() do
    for name in pairs(v.properties) do seen[name] = true end
  end
  return tables.keys(seen)
end

-- Lists in a report the properties that no vertex has, each with the one meant, perhaps.
local function find_missing(report, trial)
  local names = missing_properties(trial)
  local known = #names > 0 and properties_of(trial.copy)
  for i, name in ipairs(names) do names[i] = { name = name, near = suggest.nearest(name, known), known = known } end
  report.missing = #names > 0 and names or nil
end

-- Returns the report on {graph =, copy =, policy =, request = after admit, settings = see trial.lua}.
local function examine(what)
  local trial = trials.new(what)
  local several = trial.within and narrow(trial)
  local report = { ways = {}, one_of = several or nil, where = trial.within and what.graph:twin(trial.within) }
  report.alternatives = shortage.has_alternatives(what.request:resources()) or nil
  local fits, why, code = trial:fits "keep"
  if fits == nil then failure.raise(why, code) end
  report.stats = trial.engine:stats()
  report.stats.starts = nil -- of a reservation only
  report.levels = trial:levels()
  if fits then
    report.verdict = "fits"
    set_picks(report, trial, fits)
  else
    find_causes(report, trial)
    complete_shortage(report, what.graph)
    find_missing(report, trial)
  end
  report.tries, report.cut = trial.tries, trial.cut
  return report
end
-- Returns the earliest start of a request; math.huge where the machine could serve the request but no start is found; nil where
-- the machine never could.
local function earliest(what)
  local trial = trials.new(what)
  local a = trial:match("reserve", "keep")
  if a then
    local start = a.at
    assert(trial.engine:release(a))
    return start
  end
  return trial:match "feasible" and math.huge or nil
end

-- Replaces the request by the alternative that could start first, the first of several. Returns {number =, of =, text =}, or
-- nil where the request has no alternatives.
local function choose_alternative(what)
  local list, best, first = assert(what.request:alternatives()), 1, nil
  what.request = list[1]
  if #list == 1 then return nil end
  for i, request in ipairs(list) do
    what.request = request
    local start = earliest(what)
    if start and (not first or start < first) then best, first = i, start end
  end
  what.request = list[best]
  return { number = best, of = #list, text = list[best]:format "resources" }
end

local function examine_alternative(what)
  local alternative = choose_alternative(what)
  local report = examine(what)
  report.alternative = alternative
  return report
end

local function finish(report, said)
  report.fits = report.verdict == "fits"
  report.assumed = said
  for _, way in ipairs(report.ways or {}) do
    for _, ob in ipairs(way) do
      if ob.constraint then ob.text = wording.constraint(ob.constraint) end
    end
  end
  return report
end

-- Lifts the bounds of the validity of the resources from the copy, so that everything else is explained as usual.
-- Returns {start =, stop =, lasts = duration of the request, from = the first time at which it may start, text = why the
-- bounds are in the way; nil: they are not}, or nil without bounds.
local function relax_validity(what, at)
  local start, stop = what.copy:validity()
  if not start and not stop then return nil end
  local from, lasts = math.max(at or what.copy:now(), what.copy:now()), what.request:duration()
  local first = math.max(from, start or 0)
  local times = { start = start, stop = stop, lasts = lasts, from = first }
  assert(what.copy:set_validity())
  if stop and (first >= stop or lasts < math.huge and first + lasts > stop) then
    times.over = true
    times.text = ("the resources are valid until %.15g s: a job%s cannot start at %.15g s"):format(stop,
      lasts < math.huge and (" of %.15g s"):format(lasts) or "", first)
  elseif from < first then
    times.text = ("the resources are valid from %.15g s on"):format(first)
  end
  return times
end

-- Puts into a report what the validity of the resources changes.
local function judge_times(report, times)
  if not times then return end
  report.validity = { start = times.start, stop = times.stop }
  local from = report.verdict == "busy" and times.stop and report.start
  if from and (from >= times.stop or times.lasts < math.huge and from + times.lasts > times.stop) and not times.over then
    report.why = ("the resources are valid until %.15g s: a job that starts at %.15g s would not end in time"):format(times.stop, from)
    report.start, report.vertices, report.after = nil, nil, nil
  end
  if not times.text or report.verdict == "infeasible" then return end
  report.why = times.text
  if times.over then
    report.verdict, report.start, report.vertices, report.after = "infeasible", nil, nil, nil
  elseif report.verdict == "fits" then
    report.verdict, report.start = "busy", times.from
  end
end

-- Returns the report for {graph =, copy =, policy =, request =, where = vertex of the graph, said =}. Raises a failure if there is
-- none.
local function ask(what, opts)
  local settings = {
    about = opts.about, at = opts.at, within = what.where and what.copy:twin(what.where), subsystem = what.search,
  }
  for _, name in ipairs(trials.STRICT) do settings[name] = opts[name] end
  what.settings = settings
  what.engine = must(core.engine { resources = what.copy, policy = what.policy, granularity = what.search })
  local report, why, code
  what.request, why, code = what.engine:admitted(what.request, opts.about)
  local times = what.request and relax_validity(what, opts.at)
  if times and not times.over then settings.at = times.from end
  if what.request then report, why, code = failure.caught(nil, examine_alternative, what) end
  if not report and code ~= "rejected" then failure.raise(why, code) end
  if report then judge_times(report, times) end
  report = report or { verdict = code, why = why, levels = {} }
  report.asked = what.where
  report.at = settings.at and settings.at > what.graph:now() and settings.at or nil
  report.policy = what.policy and what.policy.name or nil
  return finish(report, what.said)
end

-- Finds out where matches search: what.search, as for a match, and what.hierarchy, nil for containment.
local function find_hierarchy(self, opts, what)
  what.search = opts.subsystem or self:hierarchy(what.policy)
  local name = what.search and what.search:match "^[^:]*"
  if not name or name == "containment" then return end
  what.hierarchy = name
  must(what.copy:aggregate(nil, { subsystem = name })) -- fails where the hierarchy cannot be searched
end

local function on_copy(self, request, opts, what)
  must(assume(what.copy, opts, what.said))
  local why, code
  what.policy, why, code = assume_policy(self, request, opts, what.said)
  if code == "rejected" then return finish({ verdict = code, why = why, levels = {} }, what.said) end
  if why then failure.raise(why, code) end
  find_hierarchy(self, opts, what)
  what.request = must(assume_constraint(request, opts, what.said))
  if opts.vertex ~= nil then what.where = must(what.graph:vertex(name_of(opts.vertex, "vertex"))) end
  return ask(what, opts)
end

-- Makes the copy be closed with the settings, also on an error.
local function closing(what)
  return setmetatable(what, { __close = function() what.copy:close() end })
end

local engine = core.methods "engine"

--- @method explain(request: string | table | parsed_request, options: table?): table?, string?, string? --
--- Explains why a request does not fit now, or where the request fits: returns a report, see weir.explain;
--- weir.explain.text makes text of a report. Nothing is allocated. Options: {about = what is known of the job, as for
--- match, at = seconds, vertex = a vertex or path to which the question is limited}, and assumptions made on a
--- duplicate of the graph: {down =, up = vertices or paths, release = jobs, without = "property=bigmem", constraint =
--- table, policy =, subsystem = the hierarchy to search in, as for match}; follow, strict_levels, strict_pools,
--- strict_slots as for match.
function M.of(self, request, opts)
  engine.visits(self) -- raises for no engine, a closed engine, and while a match runs
  local graph = engine.resources(self)
  opts = opts or {}
  check_options(opts)
  return engines.with_request(request, function(r)
    local why, code
    if type(r) == "table" then
      r, why, code = core.request(r)
      if not r then return nil, why, code end
    end
    local copy
    copy, why, code = graph:dup()
    if not copy then return nil, why, code end
    local what <close> = closing { graph = graph, copy = copy, said = {} }
    return engines.judged(self, failure.caught(nil, on_copy, self, r, opts, what))
  end)
end

-- ---- for programs --------------------------------------------------------------------------------------------

local function plain_way(way)
  return core.array(tables.map(way, function(ob)
    local finish_at = ob["end"]
    return {
      kind = ob.kind, job = ob.job, stage = ob.stage, vertex = ob.vertex and ob.vertex.path, state = ob.state, constraint = ob.constraint,
      part = ob.part, start = ob.start, ["end"] = finish_at and finite(finish_at),
    }
  end))
end

local function plain_ways(list_of_ways)
  return core.array(tables.map(list_of_ways or {}, function(way) return { obstacles = plain_way(way), cut = way.cut or false } end))
end

local function plain_picks(picks)
  if not picks then return nil end
  return core.array(tables.map(picks, function(pick)
    return { path = pick.vertex.path, amount = pick.amount, exclusive = pick.exclusive }
  end))
end

local function plain_levels(levels)
  return core.array(tables.map(levels, function(level)
    return {
      type = level.type, resource = level.resource, need = level.need, visited = level.visited, left = level.left,
      causes = core.array(level.causes),
    }
  end))
end

local function plain_shortage(s)
  if not s then return nil end
  local plain = tables.copy(s)
  plain.best = s.best and s.best.path
  return plain
end

--- A report without userdata, as written by weir explain --json.
function M.plain(report)
  return {
    verdict = report.verdict, fits = report.fits, why = report.why, validity = report.validity, at = report.at,
    start = report.start, policy = report.policy,
    where = report.where and report.where.path, asked = report.asked and report.asked.path, one_of = report.one_of,
    vertices = plain_picks(report.vertices), ways = plain_ways(report.ways),
    after = report.after and plain_way(report.after) or nil, shortage = plain_shortage(report.shortage),
    missing = report.missing and core.array(report.missing), alternatives = report.alternatives,
    alternative = report.alternative,
    levels = plain_levels(report.levels), stats = report.stats, tries = report.tries, cut = report.cut,
    assumed = core.array(report.assumed or {}),
  }
end

return M
