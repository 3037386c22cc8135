-- Explanations on machines with partitions, shared nodes, vertices that are down, many reservations and a power network:
-- every job, number and name of a report is checked by brute force. WEIR_SPEC_SEED=N plays one machine.

local cases = require "spec.support.cases"
local weir = require "weir"

local PARTITIONS, STATES = { "batch", "debug" }, { "down", "draining" }

-- ---- machines -----------------------------------------------------------------------------------------------

-- Nodes of one or two partitions; with `fed`, below power units whose capacity is too small for all at once.
local function machine_of(rnd, fed)
  local n = rnd:between(3, 6)
  local graph = assert(weir.synthetic(("cluster:1 node:%d [core:%d gpu:1]"):format(n, rnd:between(2, 4))))
  for i = 0, n - 1 do
    for _, name in ipairs(PARTITIONS) do
      if rnd:chance(70) then graph(("/cluster0/node%d"):format(i)).properties[name] = "" end
    end
  end
  local pdus = {}
  for i = 0, fed and n - 1 or -1 do
    pdus[i % 2] = pdus[i % 2] or assert(graph:add(nil, { type = "pdu", name = "pdu" .. i % 2, size = rnd:between(3, 9) }))
    assert(graph:add_edge(pdus[i % 2], graph(("/cluster0/node%d"):format(i)), { subsystem = "power", type = "line" }))
  end
  return graph, n
end

local SHAPES = {
  function(rnd, n) return ("slot=%d/node"):format(rnd:between(1, n)) end,
  function(rnd, n) return ("slot=%d/node"):format(rnd:between(1, n)) end,
  function(rnd, n) return ("node=%d/slot=1/core=%d"):format(rnd:between(1, n), rnd:between(1, 4)) end,
  function(rnd) return ("slot=%d/core=%d"):format(rnd:between(1, 6), rnd:between(1, 3)) end,
  function(rnd) return ("slot=%d/[core=%d;gpu=1]"):format(rnd:between(1, 4), rnd:between(1, 2)) end,
}
local FED = function(rnd, n) return ("slot=%d/node/[core=1;power=%d]"):format(rnd:between(1, n), rnd:between(1, 4)) end

local function request_of(rnd, n, fed)
  local shape = (fed and rnd:chance(60) and FED or rnd:pick(SHAPES))(rnd, n)
  local request = weir.json.decode(assert(weir.request(shape)):format "json")
  local system = { duration = rnd:between(1, 9) * 10 }
  if rnd:chance(40) then system.constraints = { properties = { rnd:pick(PARTITIONS) } } end
  request.attributes = { system = system }
  return request
end

local function world_of(seed, fed)
  local rnd = cases.random(seed)
  local graph, n = machine_of(rnd, fed)
  local engine = assert(weir.engine { resources = graph, policy = "low" })
  for _ = 1, rnd:between(1, 8) do engine:match(request_of(rnd, n, fed), { mode = rnd:pick { "now", "reserve", "reserve" } }) end
  for _ = 1, rnd:pick { 0, 0, 1, 2 } do graph(("/cluster0/node%d"):format(rnd:between(0, n - 1))).state = rnd:pick(STATES) end
  local bounded = rnd:chance(20)
  if bounded then assert(graph:set_validity(rnd:pick { 0, 20, 50 }, rnd:pick { 100, 300 })) end
  return { graph = graph, engine = engine, request = request_of(rnd, n, fed), seed = seed, bounded = bounded }
end

-- ---- brute force --------------------------------------------------------------------------------------------

local function without_constraint(request)
  local copy = weir.json.decode(weir.json.encode(request))
  copy.attributes.system.constraints = nil
  return copy
end

-- Matches the request without some obstacles, on a duplicate.
local function match_without(world, obstacles, mode, request)
  local graph <close> = assert(world.graph:dup())
  local engine = assert(weir.engine { resources = graph, policy = "low" })
  request = request or world.request
  for _, ob in ipairs(obstacles) do
    if ob.kind == "job" then assert(engine:release(ob.job))
    elseif ob.kind == "state" then graph:vertex(ob.vertex.path).state = "up"
    else request = without_constraint(request) end
  end
  local a, _, code = engine:match(request, { mode = mode })
  local start = a and mode ~= "feasible" and a.at or nil
  engine:close()
  return a and start or a, code
end

local function all_but(list, i)
  local rest = table.move(list, 1, #list, 1, {})
  table.remove(rest, i)
  return rest
end

local function show(world, report, what)
  local jobs = {}
  for i, a in ipairs(world.engine:jobs()) do jobs[i] = ("job %d: %g to %g\n%s"):format(a.id, a.at, a.end_, a:format "tree") end
  return ("seed %d: %s\n%s\n%s\n%s"):format(world.seed, what, weir.json.encode(world.request, { sort = true }),
    weir.explain.text(report), table.concat(jobs, "\n"))
end

local function check_ways(world, report)
  for _, way in ipairs(report.ways) do
    assert(match_without(world, way, "preview"), show(world, report, "does not fit without all that a way names"))
    for i = 1, #way do
      assert(not match_without(world, all_but(way, i), "preview"), show(world, report, "an obstacle of a way is not needed"))
    end
  end
end

-- The jobs named end at the start; without them it would start earlier, and with any of them it would not.
local function check_start(world, report, tally)
  local start = match_without(world, {}, "reserve")
  assert(start == report.start, show(world, report, "the start is " .. tostring(start)))
  if not start then return end
  assert(#report.after > 0, show(world, report, "the start waits for no job"))
  for i, ob in ipairs(report.after) do
    local job = world.engine:job(ob.job)
    assert(job.end_ == start and ob["end"] == start, show(world, report, ("job %d ends at %g"):format(ob.job, job.end_)))
    if job.state == "reserved" then tally.reserved = tally.reserved + 1 end
    assert(match_without(world, all_but(report.after, i), "reserve") == start, show(world, report, "a job is not needed"))
  end
  assert(match_without(world, report.after, "reserve") < start, show(world, report, "the jobs do not delay the start"))
  for _, pick in ipairs(report.vertices) do
    local free = pick.vertex:available(start, start + world.request.attributes.system.duration)
    assert(free >= pick.amount, show(world, report, pick.vertex.path .. " is not free at the start"))
  end
end

-- ---- the table of types, counted a second time ----

local function overlaps(v, from, to, whole)
  for _, use in ipairs(v:uses()) do
    if use.start < to and use["end"] > from and (use.exclusive or not whole) then return true end
  end
  return false
end

local function anything_below(world, v, from, to)
  for u in world.graph:walk { start = v } do
    if overlaps(u, from, to) then return true end
  end
  return false
end

local function some_above(v, f)
  while v and not f(v) do v = v:parent() end
  return v ~= nil
end

-- {type =, takes =, needs = {[type] = units in one}} of the resources, in preorder, without slots and power.
local function resources_of(list, in_slot, out)
  for _, r in ipairs(list) do
    local one = r.type ~= "slot" and r.type ~= "power" and { type = r.type, takes = in_slot, needs = {} }
    out[#out + 1] = one or nil
    resources_of(r.with or {}, in_slot or r.type == "slot", out)
    local function add(inner, times)
      for _, k in ipairs(inner or {}) do
        if k.type ~= "slot" and k.type ~= "power" then one.needs[k.type] = (one.needs[k.type] or 0) + times * k.count end
        add(k.with, times * k.count)
      end
    end
    if one then add(r.with, 1) end
  end
  return out
end

local function units_below(world, v, type, field)
  local n = 0
  for u in world.graph:walk { start = v } do
    if u.type == type and u ~= v then n = n + u[field] end
  end
  return n
end

local function too_few(world, v, r, field)
  for type, n in pairs(r.needs) do
    if units_below(world, v, type, field) < n then return true end
  end
  return false
end

-- Whether jobs' use in [0, to) excludes v for a resource.
local function in_use(world, v, r, to)
  if some_above(v, function(u) return overlaps(u, 0, to, true) end) then return true end
  if r.takes and r.type == "node" then return anything_below(world, v, 0, to) end
  return r.takes and v.type == r.type and v:nchildren() == 0 and v:available(0, to) <= 0
end

local function cause_of(world, v, r)
  local system = world.request.attributes.system
  local wanted = system.constraints and assert(weir.constraint(system.constraints))
  if wanted and some_above(v, function(u) return u.type == "node" and not wanted:match(u) end) then return "constraint" end
  if too_few(world, v, r, "size") then return "small" end
  if some_above(v, function(u) return u.state ~= "up" end) then return "state" end
  if in_use(world, v, r, 1e-6) then return "exclusivity" end
  if in_use(world, v, r, system.duration) then return "time" end
  return too_few(world, v, r, "free") and "aggregate" or "left"
end

local function check_levels(world, report)
  for i, r in ipairs(resources_of(world.request.resources, false, {})) do
    local counted, stated = {}, { left = report.levels[i].left > 0 and report.levels[i].left or nil }
    for v in world.graph:walk { type = r.type } do
      local cause = cause_of(world, v, r)
      counted[cause] = (counted[cause] or 0) + 1
    end
    for _, c in ipairs(report.levels[i].causes) do
      local cause = c.of == "total" and "small" or c.by
      stated[cause] = (stated[cause] or 0) + c.count
    end
    local a, b = weir.json.encode(counted, { sort = true }), weir.json.encode(stated, { sort = true })
    assert(a == b, show(world, report, ("of %s, %s are counted, %s stated"):format(r.type, a, b)))
  end
end

-- ---- the shortage ----

-- Without type the part is short as a whole; else `have` (slots: `fits`) of it fit, and one more does not.
local function check_shortage(world, report)
  local s = report.shortage
  if not s then return end
  local ignored = s.constrained and {} or { { kind = "constraint" } }
  for _, job in ipairs(s.ideal and world.engine:jobs() or {}) do ignored[#ignored + 1] = { kind = "job", job = job.id } end
  for v in world.graph:walk { type = "node" } do
    if s.ideal and v.state ~= "up" then ignored[#ignored + 1] = { kind = "state", vertex = v } end
  end
  local function fits(n)
    local request = { resources = weir.json.decode(weir.json.encode(s.part)), attributes = world.request.attributes }
    local function set(list)
      for _, r in ipairs(list) do
        if r.count > 1 or not r.with and #list == 1 then
          r.count = n
          return true
        end
        if set(r.with or {}) then return true end
      end
    end
    if n and not set(request.resources) then return nil end
    return match_without(world, ignored, "preview", request) ~= nil
  end
  assert(not fits(), show(world, report, "the part fits"))
  local have = s.type and (s.slots and s.fits or s.have)
  if have and have > 0 then assert(fits(have) ~= false, show(world, report, ("%d do not fit"):format(have))) end
  if have then assert(fits(have + 1) ~= true, show(world, report, ("%d fit"):format(have + 1))) end
  for _, limit in ipairs(s.flow and s.flow.cut or {}) do
    local unit = world.graph:find("name=" .. limit.name)[1]
    local left = s.ideal and unit.size or unit:available(0, world.request.attributes.system.duration)
    assert(unit.size == limit.size and left == limit.left, show(world, report, limit.name .. " has " .. left))
  end
end

-- Where the validity of the resources has bounds, the start is checked alone: everything else is about the time from the first on.
local function check_bounded(world, report)
  local start = match_without(world, {}, "reserve")
  local stated = report.fits and 0 or report.start
  assert(start == stated, show(world, report, ("starts at %s, %s stated"):format(start, stated)))
  if not start and report.verdict ~= "infeasible" then return end
  assert((report.verdict == "infeasible") == (start == nil), show(world, report, "feasible"))
end

local function check_world(world, tally)
  local report, why, code = world.engine:explain(world.request)
  if code == "limit" then return end
  assert(report, why)
  if world.bounded then return check_bounded(world, report) end
  tally[report.verdict] = tally[report.verdict] + 1
  assert(report.fits == (match_without(world, {}, "preview") ~= nil), show(world, report, "fits"))
  assert((report.verdict == "infeasible") == not match_without(world, {}, "feasible"), show(world, report, "feasible"))
  check_levels(world, report)
  if report.fits then return end
  check_ways(world, report)
  check_shortage(world, report)
  if report.verdict == "busy" then check_start(world, report, tally) end
end

for _, kind in ipairs { { "with partitions, shared nodes and reservations", false }, { "with a power network", true } } do
  describe("on machines " .. kind[1] .. ", an explanation", function()
    local tally = { fits = 0, busy = 0, blocked = 0, infeasible = 0, reserved = 0 }

    cases.seeds_in_groups(600, 3, it, "names what is in the way, all of it and nothing else; from %d on", function(seed)
      local world = world_of(seed, kind[2])
      check_world(world, tally)
      world.engine:close()
      world.graph:close()
    end)

    it("of every verdict, and of starts that wait for reservations, was checked", function()
      if (tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1) < 0.3 or os.getenv "WEIR_SPEC_SEED" then return end
      for word, n in pairs(tally) do assert.is_true(n >= 5, word .. " " .. n) end
    end)
  end)
end
