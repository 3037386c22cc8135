--- cases.lua - random machines, requests and histories, played on the engine and on the reference side by side.
--
-- A case is plain data, {machine = recipe, policy = "low", steps = {...}}, that can be printed, shrunk and replayed:
-- a failing case is cut down as long as it still fails.

local weir = require "weir"
local Reference = require "spec.support.reference"
require "spec.support.reference_change"
require "spec.support.reference_clock"

local M = {}

local show

-- ---- random numbers, the same on every machine -----------------------------------------------------------------

local Random = {}
Random.__index = Random

function M.random(seed) return setmetatable({ state = seed * 2654435761 + 12345 }, Random) end

--- Calls f(random numbers, seed) for `times` seeds: as often as WEIR_SPEC_SCALE says, or for WEIR_SPEC_SEED alone.
function M.each_seed(times, f)
  local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
  local only = math.tointeger(tonumber(os.getenv "WEIR_SPEC_SEED" or ""))
  for seed = only or 1, only or math.ceil(times * scale) do f(M.random(seed), seed) end
end

--- Declares `groups` tests of seeds, `times` seeds in all, likewise; play(seed) returns an error text, or nil. `title` has a
--- %d for the first seed.
function M.seeds_in_groups(times, groups, it, title, play)
  local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
  local only = math.tointeger(tonumber(os.getenv "WEIR_SPEC_SEED" or ""))
  local each = math.max(1, math.floor(times / groups * scale))
  for group = 1, only and 1 or groups do
    local first = only or (group - 1) * each + 1
    it(title:format(first), function()
      for seed = first, only or first + each - 1 do
        local why = play(seed)
        if why then error(why, 0) end
      end
    end)
  end
end

--- An integer from `low` to `high`.
function Random:between(low, high)
  self.state = self.state * 6364136223846793005 + 1442695040888963407
  return low + (self.state >> 33) % (high - low + 1)
end

function Random:chance(percent) return self:between(1, 100) <= percent end

function Random:pick(list) return list[self:between(1, #list)] end

function Random:shuffled(n)
  local list = {}
  for i = 1, n do list[i] = i - 1 end
  for i = n, 2, -1 do
    local k = self:between(1, i)
    list[i], list[k] = list[k], list[i]
  end
  return list
end

-- ---- machines -----------------------------------------------------------------------------------------------

local INTERIOR, LEAVES = { "rack", "node", "socket" }, { "core", "gpu", "memory" }

local function leaf(rnd, type, id, count)
  local spec = { type = type, id = id, scope = "local" }
  if count > 1 then spec.count = count end
  if type == "memory" then
    spec.size = rnd:pick { 4, 8, 16, 6 }
    spec.unit = rnd:chance(50) and "GB" or nil
  end
  spec.exclusive = rnd:chance(3) or nil
  return spec
end

local function add_leaves(rnd, spec, type, most)
  local n = rnd:between(1, type == "core" and most or 2)
  if rnd:chance(60) then
    spec[#spec + 1] = leaf(rnd, type, rnd:pick { 0, 0, 3 }, n)
    return
  end
  for _, id in ipairs(rnd:shuffled(n)) do spec[#spec + 1] = leaf(rnd, type, id * rnd:pick { 1, 1, 7 }, 1) end
end

local function node_properties(rnd)
  local list = {}
  for _, name in ipairs { "a", "b" } do
    if rnd:chance(45) then list[#list + 1] = name end
  end
  return list
end

local grow

local function add_interior(rnd, spec, levels, at)
  local n = rnd:between(1, at == 1 and 4 or 3)
  local order, shift = rnd:shuffled(n), rnd:pick { 0, 0, 5 }
  for i = 1, n do spec[#spec + 1] = grow(rnd, levels, at, order[i] + shift) end
end

-- Memory and gpus lie at the bottom or, now and then, further up.
local function add_content(rnd, spec, levels, at)
  local bottom = at == #levels
  if not bottom then add_interior(rnd, spec, levels, at + 1) end
  if bottom and rnd:chance(94) then add_leaves(rnd, spec, "core", 4) end
  if rnd:chance(bottom and 55 or 10) then add_leaves(rnd, spec, "gpu", 2) end
  if rnd:chance(bottom and 60 or 15) then add_leaves(rnd, spec, "memory", 2) end
end

function grow(rnd, levels, at, id)
  local spec = { type = levels[at] or "cluster", id = id, scope = "local" }
  spec.exclusive = at > 0 and rnd:chance(4) or nil
  if spec.type == "node" then spec.properties = node_properties(rnd) end
  add_content(rnd, spec, levels, at)
  return spec
end

-- How many vertices a recipe makes; adds their types to `types`.
local function survey(spec, types)
  local n = spec.count or 1
  types[spec.type] = true
  for i = 1, #spec do n = n + survey(spec[i], types) end
  return n
end

local function leaf_types(types)
  local list = {}
  for _, type in ipairs(LEAVES) do
    if types[type] then list[#list + 1] = type end
  end
  return list
end

--- Returns a recipe of 2 to 4 levels and at most 40 vertices, its types (outermost first), and the types of leaves in
-- `leaves`.
function M.machine(rnd)
  while true do
    local levels, types = {}, {}
    for _, type in ipairs(INTERIOR) do
      if rnd:chance(type == "node" and 85 or 45) then levels[#levels + 1] = type end
    end
    local spec = grow(rnd, levels, 0, 0)
    local small = survey(spec, types) <= 40
    levels.leaves = leaf_types(types)
    if #levels > 0 and small then return spec, levels end
  end
end

-- ---- requests -----------------------------------------------------------------------------------------------

local function flexible(rnd, low)
  local kind = rnd:between(1, 5)
  if kind == 1 then return { min = low, max = low + rnd:between(0, 4), operator = "+", operand = rnd:between(1, 2) } end
  if kind == 2 then return { min = low } end
  if kind == 3 then return { min = low, max = low * 8, operator = "*", operand = 2 } end
  if kind == 4 then return { min = math.max(2, low), max = 20, operator = "^", operand = 2 } end
  return ("%d,%d"):format(low, low + rnd:between(1, 4))
end

local function count(rnd, type)
  local n = type == "memory" and rnd:between(1, 7) or rnd:pick { 1, 1, 1, 1, 1, 1, 2, 2, 3 }
  return rnd:chance(15) and flexible(rnd, n) or n
end

local resources

local function leaf_request(rnd, type)
  local r = { type = type, count = count(rnd, type) }
  if type == "memory" and rnd:chance(12) then r.unit = rnd:pick { "GB", "GB", "MB" } end
  local n = rnd:between(1, 100)
  if n <= 4 then r.exclusive = true elseif n <= 10 then r.exclusive = false end
  return r
end

local function interior_request(rnd, levels, at, in_slot)
  local r = { type = levels[at], count = count(rnd, levels[at]) }
  local n = rnd:between(1, 100)
  if n <= 7 then r.exclusive = true elseif n <= 20 then r.exclusive = false end
  if rnd:chance(65) then r.with = resources(rnd, levels, at + 1, in_slot) end
  return r
end

local function resource(rnd, levels, at, in_slot, leaves)
  if at <= #levels and rnd:chance(60) then
    return interior_request(rnd, levels, rnd:between(at, #levels), in_slot)
  end
  if #leaves == 0 or rnd:chance(2) then return leaf_request(rnd, rnd:pick(LEAVES)) end
  return leaf_request(rnd, table.remove(leaves, rnd:between(1, #leaves)))
end

local function leaves_of(rnd, levels)
  local list = table.move(levels.leaves, 1, #levels.leaves, 1, {})
  if rnd:chance(7) then list[#list + 1] = "core" end
  return list
end

-- A list of one to three resources, at times with a part in a slot.
function resources(rnd, levels, at, in_slot)
  local list, leaves = {}, leaves_of(rnd, levels)
  local slotted = not in_slot and rnd:chance(45)
  for i = 1, rnd:pick { 1, 1, 1, 1, 1, 2, 2, 3 } do
    if i > 1 and #leaves == 0 then break end
    list[i] = resource(rnd, i > 1 and rnd:chance(70) and { leaves = leaves } or levels, at, in_slot or slotted, leaves)
  end
  if not slotted then return list end
  return { { type = "slot", count = count(rnd, "slot"), with = list } }
end

local function constraint(rnd, depth)
  local kind = rnd:between(1, depth > 1 and 6 or 9)
  if kind <= 3 then return { properties = { rnd:pick { "a", "b", "^a", "^b" } } } end
  if kind == 4 then return { properties = { "a", "^b" } } end
  if kind == 5 then return { ranks = { rnd:pick { "0", "0-1", "1-3,5" } } } end
  if kind == 6 then return { hostlist = { rnd:pick { "node0", "node[0-1]", "node[1,3,5-7]" } } } end
  local list = { constraint(rnd, depth + 1), constraint(rnd, depth + 1) }
  if kind == 7 then return { ["and"] = list } end
  if kind == 8 then return { ["or"] = list } end
  return { ["not"] = { list[1] } }
end

--- Numbers the labels of slots, from n + 1 on; returns the last number.
function M.label_slots(list, n)
  for _, r in ipairs(list) do
    if r.type == "slot" then
      n = n + 1
      r.label = "s" .. n
    end
    n = M.label_slots(r.with or {}, n)
  end
  return n
end

--- A jobspec for machines of the given levels.
function M.request(rnd, levels)
  local system = {}
  if rnd:chance(80) then system.duration = rnd:between(1, 20) end
  if rnd:chance(12) then system.constraints = constraint(rnd, 1) end
  local jobspec = { resources = resources(rnd, levels, 1, false), attributes = { system = system } }
  M.label_slots(jobspec.resources, 0)
  return jobspec
end

-- ---- histories ----------------------------------------------------------------------------------------------

local MODES = { "now", "now", "now", "reserve", "reserve", "feasible", "preview" }
local STATES = { "down", "down", "up", "up", "up", "degraded", "draining", "failing" }

local function match_step(rnd, levels, jobs)
  local step = { op = "match", mode = rnd:pick(MODES), job = jobs + 1, request = M.request(rnd, levels) }
  if step.mode == "reserve" and rnd:chance(25) then step.after = rnd:between(1, 15) end
  return step
end

-- Without a match: allocates units of a single pool for a new or existing job, or frees some.
local function pool_step(rnd, jobs)
  if jobs > 0 and rnd:chance(40) then
    return { op = "free", job = rnd:between(1, jobs), nth = rnd:between(1, 6), amount = rnd:pick { 1, 2, 5, nil } }
  end
  local step = { op = "allocate", job = jobs + 1, at = rnd:between(1, 40), amount = rnd:pick { 1, 1, 1, 2, 3, 4, 6, 8 } }
  if jobs > 0 and rnd:chance(50) then
    step.job = rnd:between(1, jobs)
    return step
  end
  step.after, step.duration = rnd:pick { 0, 0, 0, 3, 7 }, rnd:pick { 2, 5, 20, nil }
  return step
end

--- Something else than a match.
function M.other_step(rnd, jobs)
  local n = rnd:between(1, 100)
  if n > 90 then return pool_step(rnd, jobs) end
  if n <= 40 and jobs > 0 then return { op = "release", job = rnd:between(1, jobs) } end
  if n <= 70 then return { op = "state", at = rnd:between(1, 40), state = rnd:pick(STATES) } end
  return { op = "advance", by = rnd:between(1, 9) }
end

--- A machine and `steps` (default ten) random operations on it.
function M.case(seed, steps)
  local rnd, case, jobs = M.random(seed), { seed = seed, steps = {} }, 0
  local levels
  case.machine, levels = M.machine(rnd)
  case.policy = rnd:pick { "low", "high" }
  case.whole = rnd:chance(12) and rnd:pick(levels) or nil
  for i = 1, steps or 10 do
    local matches = i == 1 or rnd:chance(60)
    case.steps[i] = matches and match_step(rnd, levels, jobs) or M.other_step(rnd, jobs)
    jobs = math.max(jobs, case.steps[i].job or 0)
  end
  return case
end

-- ---- playing ------------------------------------------------------------------------------------------------

local ORDERS = { low = { "node.id", "node.index", "id" }, high = { "-id", "-index" } }

--- The policy of an order, with types that are only given as a whole: for the engine, and for the reference.
function M.policies(order, whole)
  if not whole then return order, order end
  local engine = { name = order .. "x", order = ORDERS[order], exclusive = whole }
  return engine, { order = order, exclusive = { [whole] = true } }
end

--- Records an operation on the engine as a line of a script; tables among the values become Lua.
function M.say(world, fmt, ...)
  local values = table.pack(...)
  for i = 1, values.n do
    if type(values[i]) == "table" then values[i] = show(values[i]) end
  end
  world.script[#world.script + 1] = fmt:format(table.unpack(values, 1, values.n))
end

local say = M.say

function M.engine_picks(ref, allocation)
  local picks = {}
  for i, p in ipairs(allocation:vertices()) do
    picks[i] = { vertex = ref.of[p.vertex], amount = p.amount, exclusive = p.exclusive }
  end
  return picks
end

function M.fail(kind, fmt, ...) error({ kind = kind, fault = fmt:format(...) }, 0) end

local fail = M.fail

-- Compares a match with the reference: with backtracking only whether the picks are right, else also which vertices
-- were picked.
local function judge(ref, step, answer, allocation)
  local picks = M.engine_picks(ref, allocation)
  local why = ref:fault(step.request, picks, allocation.at)
  if why then fail("fault", "the engine gave %s, but %s", Reference.show(picks), why) end
  if answer.start and (allocation.at < answer.start or answer.fits and allocation.at > answer.start) then
    fail("start", "starts at %s, but %s at %s", allocation.at, answer.fits and "can" or "cannot before it may", answer.start)
  end
  if answer.picks and Reference.show(picks) ~= Reference.show(answer.picks) then
    fail("choice", "took    %s\nwanted  %s", Reference.show(picks), Reference.show(answer.picks))
  end
  return picks
end

function M.judge_refusal(ref, step, answer, why, code)
  if answer.competing and code == "limit" then return "limit" end
  if answer.fits == nil then return "unknown" end
  if answer.code ~= code then
    local wanted = answer.code or "a match, such as " .. Reference.show(answer.picks or {})
    fail(code .. " for " .. (answer.code or "match"), "gives %s (%s), wanted %s", code, why, wanted)
  end
  if not ref:agrees(step.request) then fail("reference", "the reference does not agree with itself") end
  return code
end

-- Checks that the lower bound of starts is not above the first possible start.
local function check_soonest(world, step, at, answer)
  local bound, why = world.engine:soonest(step.request, 0, at, step.request.attributes.system.duration or math.huge)
  if not bound then fail("soonest", "soonest: %s", why) end
  if answer.fits and bound > answer.start then fail("soonest", "none before %s, but at %s", bound, answer.start) end
end

--- How each kind of step is played.
M.PLAY = {}

local PLAY = M.PLAY

function PLAY.match(world, step)
  local ref, at = world.ref, step.after and world.ref.clock + step.after
  local answer, opts = ref:match(step.request, { mode = step.mode, at = at }), { mode = step.mode, at = at, job = step.job }
  say(world, "show(e:match(%s, %s))", step.request, opts)
  if step.mode == "reserve" then check_soonest(world, step, at or ref.clock, answer) end
  local a, why, code = world.engine:match(step.request, opts)
  if not a then return M.judge_refusal(ref, step, answer, why, code) end
  if answer.code then fail("match for " .. answer.code, "fits, but must be %s", answer.code) end
  if step.mode == "feasible" then return "fits" end
  local picks = judge(ref, step, answer, a)
  if step.mode ~= "preview" then
    local finish = Reference.microseconds(a.at + (step.request.attributes.system.duration or math.huge))
    ref:commit(step.job, a.at, finish, picks)
  end
  return answer.competing and "competing" or "fits"
end

function PLAY.release(world, step)
  local known = world.ref:release(step.job)
  say(world, "show(e:release(%d))", step.job)
  local done, _, code = world.engine:release(step.job)
  if known and not done then fail("release", "release of job %d: %s", step.job, code) end
  if not known and code ~= "unknown" then fail("release", "release of no job %d: %s", step.job, code) end
end

-- A step for an existing job uses the interval of the job.
local function times_of(ref, step)
  local job = ref.jobs[step.job]
  if job then return math.max(job.start, ref.clock), job.finish end
  local start = ref.clock + (step.after or 0)
  return start, start + (step.duration or math.huge)
end

function PLAY.allocate(world, step)
  local ref, v = world.ref, world.ref.list[step.at]
  local start, finish = times_of(ref, step)
  local had = v and Reference.span_of(v, step.job)
  if not v or start >= finish or (had and had.amount == 0) then return end
  local may = ref:may_allocate(v, step.job, step.amount, start, finish)
  local what = { job = step.job, amount = step.amount, start = start, duration = finish - start }
  say(world, "show(g(%q):allocate%s)", v.path, what)
  local done, why = v.handle:allocate(what)
  if may ~= (done ~= nil) then
    fail("allocate", "%d of %s for job %d: %s, wanted %s", step.amount, v.path, step.job, why or "done", may)
  end
  if may then ref:allocate(v, step.job, step.amount, start, finish) end
end

-- The nth pool of which a job holds something.
local function pool_of(ref, id, nth)
  local list = {}
  for _, v in ipairs(ref.list) do
    if Reference.span_of(v, id) then list[#list + 1] = v end
  end
  return list[1 + nth % math.max(1, #list)]
end

function PLAY.free(world, step)
  local v = pool_of(world.ref, step.job, step.nth)
  if not v then return end
  local may = world.ref:free(v, step.job, step.amount)
  say(world, "show(g(%q):release(%d, %s))", v.path, step.job, step.amount)
  local done, why = v.handle:release(step.job, step.amount)
  if may ~= (done ~= nil) then fail("freeing", "%s of job %d: %s, wanted %s", v.path, step.job, why or "done", may) end
end

function PLAY.state(world, step)
  local v = world.ref.list[step.at]
  if not v then return end
  v.state = step.state
  say(world, "g(%q).state = %q", v.path, step.state)
  v.handle.state = step.state
end

function PLAY.advance(world, step)
  local late = world.ref:advance(world.ref.clock + step.by)
  say(world, "e:advance(%d)", world.ref.clock)
  local ok, why = world.engine:advance(world.ref.clock)
  if not ok then fail("advance", "%s", why) end
  return late > 0 and "held" or nil
end

local function show_spans(spans, finish)
  local lines = {}
  for i, s in ipairs(spans) do
    lines[i] = ("job %d: %s to %s, %d%s"):format(s.job, s.start, s[finish], s.amount, s.exclusive and "x" or "")
  end
  table.sort(lines)
  return table.concat(lines, "; ")
end

local function compare_books(world, v)
  local ref, now = world.ref, world.ref.clock
  local have, wanted = show_spans(v.handle:uses(), "end"), show_spans(v.spans, "finish")
  if have ~= wanted then fail("uses", "%s is used by [%s], wanted [%s]", v.path, have, wanted) end
  local free = ref:available(v, now, now + 1e-6)
  if v.handle.free ~= free then fail("free", "%s has %d free, wanted %d", v.path, v.handle.free, free) end
  for _, w in ipairs(world.windows) do
    local t0, t1 = now + w[1], now + w[1] + w[2]
    have, wanted = v.handle:available(t0, t1), ref:available(v, t0, t1)
    if have ~= wanted then fail("available", "%s has %d available from %s to %s, wanted %d", v.path, have, t0, t1, wanted) end
  end
end

-- M9 by its definition: the vertices below the root, counted by type.
local function compare_aggregate(world)
  local wanted = {}
  for i = 2, #world.ref.list do
    local v = world.ref.list[i]
    local now = world.ref.clock
    wanted[v.type] = (wanted[v.type] or 0) + world.ref:available(v, now, now + 1e-6)
  end
  local have = world.ref.list[1].handle:aggregate()
  for type, free in pairs(wanted) do
    local row = have[type] or { free = 0 }
    if row.free ~= free then fail("aggregate", "%d %s free in all, wanted %d", row.free, type, free) end
  end
end

local function check_jobs(world)
  local ref, seen = world.ref, 0
  for _, a in ipairs(world.engine:jobs()) do
    local job = ref.jobs[a.id]
    if not job then fail("jobs", "job %d is not there", a.id) end
    local state = job.start > ref.clock and "reserved" or "allocated"
    if a.at ~= job.start or a.end_ ~= job.finish or a.state ~= state then
      fail("jobs", "job %d is %s, %s to %s, wanted %s, %s to %s", a.id, a.state, a.at, a.end_, state, job.start, job.finish)
    end
    seen = seen + 1
  end
  if seen ~= #ref:ids() then fail("jobs", "%d jobs, wanted %d", seen, #ref:ids()) end
end

--- Compares all schedules with the reference.
function M.check_world(world)
  local ok, why = world.graph:check()
  if not ok then fail("check", "check: %s", why) end
  for _, v in ipairs(world.ref.list) do compare_books(world, v) end
  compare_aggregate(world)
  check_jobs(world)
  why = Reference.differs(world.ref:whole(), world.graph:root())
  if why then fail("machine", "%s", why) end
end

local function start(case)
  local graph = assert(weir.recipe(case.machine))
  local engine_policy, ref_policy = M.policies(case.policy, case.whole)
  return {
    graph = graph, engine = assert(weir.engine { resources = graph, policy = engine_policy }), policy = engine_policy,
    ref = Reference.read(graph, ref_policy), script = {}, files = {}, vertices = graph:count(),
    windows = { { 0, 4 }, { 0, math.huge }, { 3, 5 }, { 11, 60 } },
  }
end

local function close(world)
  world.engine:close()
  world.graph:close()
  for _, path in ipairs(world.files) do os.remove(path) end
end

--- Plays a case. Returns nil, or the number of the step at which engine and reference differ, the difference, a word
-- for the kind of difference, and the lines of a script that repeats the case.
function M.play(case, tally)
  local world = start(case)
  for i, step in ipairs(case.steps) do
    local ok, result = pcall(function()
      local outcome = PLAY[step.op](world, step)
      M.check_world(world)
      return outcome
    end)
    if not ok then
      close(world)
      if type(result) ~= "table" then result = { fault = tostring(result), kind = "error" } end
      return i, result.fault, result.kind, world.script
    end
    if tally and result then tally[result] = (tally[result] or 0) + 1 end
  end
  close(world)
  if tally then tally.operations = (tally.operations or 0) + #world.script end
  return nil, nil, nil, world.script
end

-- ---- making a failing case small ----------------------------------------------------------------------------

-- Appends each part that can be left out: a table and a key in the table.
local function parts_of(list, out)
  for i = #list, 1, -1 do
    out[#out + 1] = { list, i }
    local r = list[i]
    for _, key in ipairs { "exclusive", "unit", "size", "properties" } do
      if r[key] ~= nil then out[#out + 1] = { r, key } end
    end
    if type(r.count) == "number" and r.count > 1 then out[#out + 1] = { r, "count", 1 } end
    if r.with then out[#out + 1] = { r, "with" } end
    parts_of(r.with or r, out)
  end
  return out
end

local function parts(case)
  local out = { { case, "whole" } }
  for i = #case.steps, 1, -1 do
    local step = case.steps[i]
    out[#out + 1] = { case.steps, i }
    if step.request then
      local system = step.request.attributes.system
      parts_of(step.request.resources, out)
      out[#out + 1] = { system, "constraints" }
      out[#out + 1] = { system, "duration" }
    end
  end
  return parts_of(case.machine, out)
end

-- Leaves a part out and returns a function that puts the part back.
local function leave_out(part)
  local t, key, instead = part[1], part[2], part[3]
  local old = t[key]
  if math.type(key) == "integer" then
    table.remove(t, key)
    return function() table.insert(t, key, old) end
  end
  t[key] = instead
  return function() t[key] = old end
end

local function still_fails(case, kind)
  local ok, _, _, now = pcall(M.play, case)
  return ok and now == kind
end

local function shrink_once(case, kind)
  local smaller = false
  for _, part in ipairs(parts(case)) do
    if part[1][part[2]] ~= part[3] then
      local put_back = leave_out(part)
      if still_fails(case, kind) then smaller = true else put_back() end
    end
  end
  return smaller
end

--- Leaves out all parts that a failure of this kind does not need.
function M.shrink(case, kind)
  local rounds = 0
  repeat
    rounds = rounds + 1
  until not shrink_once(case, kind) or rounds == 6
  return case
end

-- ---- printing -----------------------------------------------------------------------------------------------

local function show_key(key)
  return key:match "^[%a_][%w_]*$" and key ~= "and" and key ~= "or" and key ~= "not" and key or ("[%q]"):format(key)
end

local function show_table(t)
  local keys, out = {}, {}
  for key in pairs(t) do
    if type(key) == "string" then keys[#keys + 1] = key end
  end
  table.sort(keys)
  for _, key in ipairs(keys) do out[#out + 1] = ("%s=%s"):format(show_key(key), show(t[key])) end
  for _, value in ipairs(t) do out[#out + 1] = show(value) end
  return "{" .. table.concat(out, ", ") .. "}"
end

function show(value)
  if type(value) == "table" then return show_table(value) end
  if value == math.huge then return "math.huge" end
  return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

--- A case as Lua source: cases.play(...) of the source shows the failure again.
function M.show(case)
  local lines = { ("{ seed = %d, policy = %q, whole = %s,"):format(case.seed, case.policy, show(case.whole)) }
  lines[2] = "  machine = " .. show(case.machine) .. ","
  lines[3] = "  steps = {"
  for _, step in ipairs(case.steps) do lines[#lines + 1] = "    " .. show(step) .. "," end
  lines[#lines + 1] = "  } }"
  return table.concat(lines, "\n")
end

local SCRIPT = [[
local weir = require "weir"
local g = assert(weir.recipe(%s))
local e = assert(weir.engine { resources = g, policy = %s })
local function show(a, why)
  local is_job, text = pcall(function() return ("from %%s on\n%%s"):format(a.at, a:format "tree") end)
  print(is_job and text or a, why or "")
  assert(g:check())
end
%s
-- %s
]]

--- The operations of a case up to a fault, as a script for weir run.
function M.script(case, lines, why)
  local policy = M.policies(case.policy, case.whole)
  return SCRIPT:format(show(case.machine), show(policy), table.concat(lines, "\n"), (why:gsub("\n", "\n-- ")))
end

--- Plays the case of a seed, made by M.case or `make`; on failure returns a text with the shrunk case and its script.
function M.try(seed, tally, steps, make)
  local case = (make or M.case)(seed, steps)
  local step, why, kind = M.play(case, tally)
  if not step then return nil end
  M.shrink(case, kind)
  local last, short, _, lines = M.play(case)
  local text = "seed %d, step %d: %s\nsmallest: step %s: %s\n%s\nas a script:\n%s"
  return text:format(seed, step, why, last, short, M.show(case), M.script(case, lines, short)), kind
end

return M
