--- cases_backtrack.lua - random cases of a single family: requests with sibling resources that compete for vertices, on
-- small machines, empty and partly used. Pools of 1 to 6; vertices shared, held whole or passed through; slots;
-- units.

local cases = require "spec.support.cases"
local assignments = require "spec.support.assignments"

local M = {}

local LEVELS = { { "node" }, { "node", "socket" }, { "rack", "node" }, { "rack", "node", "socket" } }
local LEAVES = { "core", "memory", "gpu" }

local function pool(rnd, id)
  local type = rnd:pick { "core", "core", "memory", "memory", "memory", "gpu" }
  local spec = { type = type, id = id, scope = "local" }
  if type == "memory" then
    spec.size = rnd:between(1, 6)
    spec.unit = rnd:chance(40) and "bars" or nil
  elseif rnd:chance(25) then
    spec.size = rnd:between(1, 4)
  end
  spec.exclusive = rnd:chance(2) or nil
  return spec
end

local function grow(rnd, levels, at, id)
  local spec = { type = levels[at] or "cluster", id = id, scope = "local" }
  local inner = at < #levels and rnd:between(1, at == 0 and 4 or 2) or 0
  for i = 1, inner do spec[i] = grow(rnd, levels, at + 1, i - 1) end
  local n = at == #levels and rnd:between(2, 4) or rnd:chance(15) and 1 or 0
  for i = 1, n do spec[#spec + 1] = pool(rnd, i - 1) end
  spec.exclusive = at > 0 and rnd:chance(2) or nil
  return spec
end

local function maybe(rnd)
  local n = rnd:between(1, 10)
  if n <= 1 then return true end
  if n <= 6 then return false end
end

local function count(rnd, most)
  local n = rnd:between(1, most)
  if rnd:chance(10) then return { min = n, max = n + rnd:between(1, 3) } end
  return n
end

local siblings

local function part(rnd, levels, at, in_slot)
  if at <= #levels and rnd:chance(55) then
    local level = rnd:between(at, #levels)
    local r = { type = levels[level], count = count(rnd, rnd:pick { 1, 1, 2 }), exclusive = maybe(rnd) }
    if rnd:chance(70) then r.with = siblings(rnd, levels, level + 1, in_slot, rnd:pick { 1, 1, 1, 2 }) end
    return r
  end
  local type = rnd:pick { "memory", "memory", "core", rnd:pick(LEAVES) }
  local r = { type = type, count = count(rnd, rnd:pick { 1, 2, type == "memory" and 6 or 1 }) }
  if rnd:chance(30) then r.exclusive = maybe(rnd) end
  if type == "memory" and rnd:chance(15) then r.unit = rnd:pick { "bars", "chips" } end
  return r
end

function siblings(rnd, levels, at, in_slot, n)
  local list, slotted = {}, not in_slot and rnd:chance(45)
  for i = 1, n do list[i] = part(rnd, levels, at, in_slot or slotted) end
  if not slotted then return list end
  if n > 1 and rnd:chance(30) then
    local last = table.remove(list)
    return { { type = "slot", count = count(rnd, 2), label = "s", with = list }, last }
  end
  return { { type = "slot", count = count(rnd, rnd:pick { 1, 1, 2, 3 }), label = "s", with = list } }
end

local MODES = { "now", "now", "now", "feasible", "preview", "reserve" }

--- A machine and a few steps: matches, with changes before and between.
function M.case(seed, steps)
  local rnd, jobs = cases.random(seed), 0
  local levels = rnd:pick(LEVELS)
  local case = { seed = seed, steps = {}, machine = grow(rnd, levels, 0, 0), policy = rnd:pick { "low", "high" } }
  for i = 1, steps or 5 do
    if (i < 3 and rnd:chance(60)) or (i > 1 and rnd:chance(20)) then
      case.steps[i] = cases.other_step(rnd, jobs)
    else
      local list = siblings(rnd, levels, 1, false, rnd:pick { 2, 2, 3 })
      cases.label_slots(list, 0)
      jobs = jobs + 1
      case.steps[i] = { op = "compete", mode = rnd:pick(MODES), job = jobs,
        request = { resources = list, attributes = { system = { duration = rnd:chance(70) and rnd:between(1, 20) or nil } } } }
    end
    jobs = math.max(jobs, case.steps[i].job or 0)
  end
  return case
end

-- ---- playing ------------------------------------------------------------------------------------------------

-- The right answer of a match according to all assignments; nil with too many assignments, or where the answer
-- depends on later starts.
local function answer(ref, step)
  local finish = ref.clock + (step.request.attributes.system.duration or math.huge)
  local ever = assignments.fits(ref, step.request)
  if not ever then return ever == false and "infeasible" or nil end
  if step.mode == "feasible" then return "fits" end
  local now = assignments.fits(ref, step.request, { ref.clock, finish })
  if now then return "fits" end
  return now == false and step.mode ~= "reserve" and "busy" or nil
end

--- A match; the answer is compared with both models.
function cases.PLAY.compete(world, step)
  local wanted = answer(world.ref, step)
  local outcome = cases.PLAY.match(world, step)
  local got = outcome == "competing" and "fits" or outcome
  if wanted and got ~= wanted then cases.fail("assignments", "gives %s, by all assignments it is %s", got, wanted) end
  return wanted and outcome or "unknown"
end

return M
