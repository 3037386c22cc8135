-- Explanations on random machines: all statements of a report are tried out, and its sums are counted by a slow matcher
-- of the spec. WEIR_SPEC_SEED=N plays one machine.

local cases = require "spec.support.cases"
local Reference = require "spec.support.reference"
local weir = require "weir"

local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local only = math.tointeger(tonumber(os.getenv "WEIR_SPEC_SEED" or ""))

local FILTERS = {
  function() return "low" end, function() return "low" end, function() return "high" end,
  function() return { name = "odd", order = { "id" }, prune = function(v) return v.type ~= "node" or v.id % 2 == 0 end } end,
  function() return { name = "fussy", evaluate = function(v) return v.id ~= 0 and 1 or nil end } end,
  function() return { name = "whole", order = { "id" }, exclusive = "node" } end,
  function() return { name = "local", order = { "id" }, locality = { "socket" } } end,
}

local STATES = { "down", "down", "draining", "failing" }

local function all_vertices(graph)
  local list = {}
  for v in graph:walk {} do list[#list + 1] = v end
  return list
end

-- A machine with some jobs and some vertices down; a request and its policy.
local function world_of(seed)
  local rnd = cases.random(seed)
  local recipe, levels = cases.machine(rnd)
  local graph = assert(weir.recipe(recipe))
  local engine = assert(weir.engine { resources = graph, policy = "low" })
  local vertices = all_vertices(graph)
  for _ = 1, rnd:between(0, 6) do engine:match(cases.request(rnd, levels), { mode = rnd:pick { "now", "now", "reserve" } }) end
  if rnd:chance(30) then engine:advance(rnd:between(1, 9)) end
  for _ = 1, rnd:pick { 0, 0, 1, 2, 3 } do rnd:pick(vertices).state = rnd:pick(STATES) end
  local policy = rnd:pick(FILTERS)()
  assert(engine:use(policy))
  return { graph = graph, engine = engine, policy = policy, request = cases.request(rnd, levels), seed = seed }
end

-- Appends all atoms that have to hold for a constraint.
local function atoms(constraint, list)
  for operator, values in pairs(constraint or {}) do
    for _, value in ipairs(values) do
      if operator == "and" then atoms(value, list)
      elseif operator == "properties" then list[#list + 1] = { properties = { value } } end
    end
    if operator ~= "and" and operator ~= "properties" then list[#list + 1] = { [operator] = values } end
  end
  return list
end

local function text_of(x) return weir.json.encode(x, { sort = true }) end

-- The request without the atoms of some obstacles, each removed once.
local function loosened(request, obstacles)
  local copy, gone = weir.json.decode(text_of(request)), {}
  for _, ob in ipairs(obstacles) do
    if ob.kind == "constraint" then gone[text_of(ob.constraint)] = (gone[text_of(ob.constraint)] or 0) + 1 end
  end
  if next(gone) == nil then return copy end
  local kept = weir.array {}
  for _, atom in ipairs(atoms(request.attributes.system.constraints, {})) do
    local n = gone[text_of(atom)] or 0
    if n > 0 then gone[text_of(atom)] = n - 1 else kept[#kept + 1] = atom end
  end
  copy.attributes.system.constraints = #kept > 0 and { ["and"] = kept } or nil
  return copy
end

local function relaxed(policy, obstacles)
  if type(policy) ~= "table" then return policy end
  local copy = {}
  for key, value in pairs(policy) do copy[key] = value end
  for _, ob in ipairs(obstacles) do
    if ob.kind == "policy" then copy[ob.part] = nil end
  end
  return copy
end

-- Whether the request fits once some obstacles are gone.
local function fits_without(world, obstacles, opts)
  local graph <close> = assert(world.graph:dup())
  local engine = assert(weir.engine { resources = graph, policy = relaxed(world.policy, obstacles) })
  for _, ob in ipairs(obstacles) do
    if ob.kind == "job" then assert(engine:release(ob.job)) end
    if ob.kind == "state" then graph:vertex(ob.vertex.path).state = "up" end
  end
  opts = opts or { mode = "preview" }
  local a, _, code = engine:match(loosened(opts.request or world.request, obstacles), { mode = opts.mode })
  return a ~= nil, code, a
end

local function all_but(list, i)
  local rest = table.move(list, 1, #list, 1, {})
  table.remove(rest, i)
  return rest
end

local function show(world, report)
  return ("seed %d: %s\n%s"):format(world.seed, text_of(world.request), text_of(weir.explain.plain(report)))
end

-- Removing all obstacles of a way helps; leaving any out does not.
local function check_way(world, report, way)
  assert(fits_without(world, way), "does not fit without all that is named; " .. show(world, report))
  for i = 1, way.cut and 0 or #way do
    assert(not fits_without(world, all_but(way, i)), "obstacle " .. i .. " is not needed; " .. show(world, report))
  end
end

-- All obstacles but constraint and policy.
local function books_and_states(world)
  local list = {}
  for _, job in ipairs(world.engine:jobs()) do list[#list + 1] = { kind = "job", job = job.id } end
  for v in world.graph:walk {} do
    if v.state ~= "up" and v.state ~= "degraded" then list[#list + 1] = { kind = "state", vertex = v } end
  end
  return list
end

-- The obstacles that do not count for a shortage.
local function ignored(world, s)
  local list = s.ideal and books_and_states(world) or {}
  if not s.constrained then
    for _, atom in ipairs(atoms(world.request.attributes.system.constraints, {})) do
      list[#list + 1] = { kind = "constraint", constraint = atom }
    end
  end
  for _, part in ipairs(s.policy and {} or { "prune", "evaluate", "exclusive", "locality" }) do
    list[#list + 1] = { kind = "policy", part = part }
  end
  return list
end

-- The counted resource of a part: the first with a count above one, else the last.
local function counted(list)
  local last
  for _, r in ipairs(list) do
    last = r
    if r.count > 1 then return r, true end
    if r.with then
      local below, sure = counted(r.with)
      if sure then return below, true end
      last = below
    end
  end
  return last, false
end

local function part_request(world, s, n)
  local request = { resources = weir.json.decode(text_of(s.part)), attributes = world.request.attributes }
  if n then counted(request.resources).count = n end
  return request
end

-- The most units of a type available below any one vertex of a level, or anywhere, counted one by one.
local function brute_sum(world, s, list)
  local graph <close> = assert(world.graph:dup())
  local engine, best = assert(weir.engine { resources = graph }), 0
  for _, ob in ipairs(list) do
    if ob.kind == "job" then assert(engine:release(ob.job)) end
    if ob.kind == "state" then graph:vertex(ob.vertex.path).state = "up" end
  end
  for top in graph:walk {} do
    if s.level and top.type == s.level or not s.level and not top:parent() then
      local sum = 0
      for v in graph:walk { start = top } do
        if v.type == s.type and v ~= top then sum = sum + v.free end
      end
      best = math.max(best, sum)
    end
  end
  return best
end

local function check_shortage(world, report, tally)
  local s = report.shortage
  local list = ignored(world, s)
  local function fits(n) return fits_without(world, list, { mode = "preview", request = part_request(world, s, n) }) end
  assert(not fits(), "the part fits; " .. show(world, report))
  if not s.type then return end
  local have = s.slots and s.fits or s.have
  assert(have == 0 or fits(have), "what is had does not fit; " .. show(world, report))
  assert(not fits(have + 1), "more is had; " .. show(world, report))
  if s.slots then
    tally.sums = tally.sums + 1
    assert(s.have == brute_sum(world, s, list), "the sum is wrong; " .. show(world, report))
    assert(s.have < s.need, "there is enough; " .. show(world, report))
  end
end

-- Checks the number of a part that fits against the slow matcher.
local function check_by_reference(world, report, tally)
  local s = report.shortage
  if not s.type or type(world.policy) ~= "string" then return end
  local ref = Reference.read(world.graph, world.policy)
  if s.ideal then
    for _, v in ipairs(ref.list) do v.state = "up" end
  else
    for _, job in ipairs(world.engine:jobs()) do
      local picks = {}
      for i, p in ipairs(job:vertices()) do
        picks[i] = { vertex = ref.of[p.vertex], amount = p.amount, exclusive = p.exclusive }
      end
      ref:commit(job.id, job.at, Reference.microseconds(job.at + job.duration), picks)
    end
  end
  local have = s.slots and s.fits or s.have
  for n = have, have + 1 do
    local request = part_request(world, s, n)
    if not s.constrained then request.attributes = { system = { duration = world.request.attributes.system.duration } } end
    local answer = n > 0 and ref:match(request, { mode = "now" }) or {}
    if answer.fits ~= nil then
      tally.counted = tally.counted + 1
      assert(answer.fits == (n == have), ("%d are %sthere; "):format(n, answer.fits and "" or "not ") .. show(world, report))
    end
  end
end

-- ---- the states of the vertices, derived a second time ----

local function satisfies(world, v)
  local constraint = world.request.attributes.system.constraints
  constraint = constraint and assert(weir.constraint(constraint))
  while v do
    if constraint and v.type == "node" and not constraint:match(v) then return false end
    v = v:parent()
  end
  return true
end

local function check_levels(world, report)
  for _, level in ipairs(report.levels) do
    local visited, outside, sum, told = 0, 0, level.left, 0
    for v in world.graph:walk { type = level.type } do
      visited = visited + 1
      if not satisfies(world, v) then outside = outside + 1 end
    end
    for i, c in ipairs(level.causes) do
      sum = sum + c.count
      if c.by == "constraint" then told = c.count end
      assert(i == 1 or level.causes[i - 1].count >= c.count, "largest first; " .. show(world, report))
    end
    assert(visited == level.visited and sum == visited, "vertices are missing; " .. show(world, report))
    assert(outside == told, "outside the constraint; " .. show(world, report))
  end
end

local function check_start(world, report)
  if not report.start then return end
  local function start_without(jobs)
    local _, _, a = fits_without(world, jobs, { mode = "reserve" })
    return a and a.at
  end
  assert(start_without {} == report.start, "starts at another time; " .. show(world, report))
  local after = report.after
  assert(#after > 0 and start_without(after) < report.start, "does not wait for all that is named; " .. show(world, report))
  for i, ob in ipairs(after) do
    local overdue = ob["end"] <= world.graph:now()
    assert(overdue or ob["end"] == report.start, "a job does not end then; " .. show(world, report))
    assert(start_without(all_but(after, i)) == report.start, "a job is not needed; " .. show(world, report))
  end
end

local function check_world(world, tally)
  local before = world.graph:format "csv"
  local report, why, code = world.engine:explain(world.request)
  if code == "limit" then return end
  assert(report, why)
  assert(before == world.graph:format "csv", "the graph has changed; " .. show(world, report))
  tally[report.verdict] = tally[report.verdict] + 1
  local fits = fits_without(world, {})
  local feasible = fits_without(world, {}, { mode = "feasible" })
  assert(report.fits == fits, "fits; " .. show(world, report))
  assert((report.verdict == "infeasible") == not feasible, "feasible; " .. show(world, report))
  check_levels(world, report)
  if fits then return end
  for _, way in ipairs(report.ways) do check_way(world, report, way) end
  if report.shortage then
    tally.short = tally.short + 1
    check_shortage(world, report, tally)
    check_by_reference(world, report, tally)
  end
  if report.verdict == "busy" then check_start(world, report) end
end

local WORLDS, GROUPS = 1500, 5

describe("on random machines an explanation", function()
  local tally = { fits = 0, busy = 0, blocked = 0, infeasible = 0, sums = 0, counted = 0, short = 0 }
  local each = math.max(1, math.floor(WORLDS / GROUPS * scale))

  for group = 1, only and 1 or GROUPS do
    local first = only or (group - 1) * (WORLDS // GROUPS) + 1
    it(("names what has to go, all of it and no more, and counts right; from %d on"):format(first), function()
      for seed = first, only or first + each - 1 do
        local world = world_of(seed)
        check_world(world, tally)
        world.engine:close()
        world.graph:close()
      end
    end)
  end

  it("is asked for in all cases", function()
    if only or scale < 0.5 then return end
    for kind, n in pairs(tally) do assert.is_true(n >= 10 * scale, kind .. " " .. n) end
  end)
end)

describe("why not there", function()
  it("is told as exactly, for one vertex", function()
    for seed = 1, math.floor(200 * scale) do
      local world = world_of(seed)
      local rnd = cases.random(seed + 7)
      local where = rnd:pick(all_vertices(world.graph))
      local report, _, code = world.engine:explain(world.request, { vertex = where })
      if code ~= "limit" then
        for _, way in ipairs(report.ways) do
          local assumed = { vertex = where, down = nil, up = {}, release = {}, policy = relaxed(world.policy, way) }
          local engine = weir.engine { resources = world.graph, policy = assumed.policy }
          for _, ob in ipairs(way) do
            if ob.kind == "state" then table.insert(assumed.up, ob.vertex) end
            if ob.kind == "job" then table.insert(assumed.release, ob.job) end
          end
          local then_ = assert(engine:explain(loosened(world.request, way), assumed))
          assert.is_true(then_.fits, show(world, report))
        end
        for _, pick in ipairs(report.fits and report.vertices or {}) do
          local at, near = pick.vertex, false
          while at do
            near = near or at == report.where
            at = at:parent()
          end
          at = report.where
          while at do
            near = near or at == pick.vertex
            at = at:parent()
          end
          assert.is_true(near or #pick.vertex.path == 0, show(world, report))
        end
      end
      world.graph:close()
    end
  end)
end)

describe("feasibility never depends on the policy:", function()
  for _, entry in ipairs(weir.policy.list()) do
    it(entry.name, function()
      for seed = 1, math.max(5, math.floor(150 * scale)) do
        local rnd = cases.random(seed)
        local recipe, levels = cases.machine(rnd)
        local graph = assert(weir.recipe(recipe))
        local request = cases.request(rnd, levels)
        local plain = assert(weir.engine { resources = graph, policy = {} })
        local engine = assert(weir.engine { resources = graph, policy = entry.path })
        local want, _, wanted = plain:match(request, { mode = "feasible" })
        local have, why, code = engine:match(request, { mode = "feasible" })
        if code ~= "rejected" and code ~= "limit" and wanted ~= "limit" then
          assert(want == have, ("seed %d: %s, but %s (%s): %s"):format(seed, wanted or "feasible", code or "feasible",
            why or "", text_of(request)))
        end
        graph:close()
      end
    end)
  end
end)
