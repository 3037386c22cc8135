--- shortage.lua - need against have, at the level where a request falls short: the shortage of a report.
--
-- First the request is reduced to the smallest part that does not fit by itself; then the largest count of the part that
-- does fit is found by matches. A shortage, a table:
--   part         the resources of the part, as in a jobspec
--   type, unit   in short supply; without `type`: no single type, but no vertex has all of the part
--   need         units of `type`, or the number of slots
--   have         the most that fits; or (units of slots) the units free below the best vertex of `level`
--   total        units of `type` below `best`, free or not; in the whole graph without `level`
--   slots, fits  slots of the part that are needed and that fit, where need and have are the sums of their units
--   level        need and have are about one vertex of this type; nil: about the whole graph
--   best         the vertex of `level` that has most
--   ideal        have counts all vertices, down or in use (infeasible); otherwise vertices that are up and free
--   constrained  the constraint is a part of the shortage: only admitted nodes count
--   policy       the filters of the policy are a part of the shortage
--   reserved     vertices of `type` that are free now and reserved too soon
--   flow         where units of a subsystem are short: {subsystem =, cut = {{path =, name =, left =, size =}...}, only =
--                true where the part fits but for them}
--   known        where no vertex is of `type`: the types there are; hierarchies: the subsystems other than containment, if any;
--                near: the one meant, perhaps

local tables = require "weir.tables"

local M = {}

local STEPS_MAX = 300       -- simplified requests tried
local COUNT_MAX = 1 << 53   -- the largest count of a request

-- ---- resources -----------------------------------------------------------------------------------------------

local function is_slot(resource) return resource.type == "slot" or resource.type == "or_slot" end

--- The minimum of a count in canonical form: an integer, {min = n}, or "2,4".
function M.minimum(count)
  if count == nil then return 1 end
  if type(count) == "table" then return count.min end
  return math.tointeger(count) or math.tointeger(tonumber(count:match "^%d+"))
end
local minimum = M.minimum

--- Iterates over resources in preorder: {value =, holder = the list, at = the position in the list, parent = the place of
--- the resource around, or nil}.
function M.places(list)
  local places = {}
  local function add(holder, parent)
    for i, value in ipairs(holder) do
      local place = { value = value, holder = holder, at = i, parent = parent }
      places[#places + 1] = place
      add(value.with or {}, place)
    end
  end
  add(list)
  return places
end

local function has_alternatives(list)
  return tables.any(M.places(list), function(place) return place.value.type == "or_slot" end)
end
M.has_alternatives = has_alternatives

-- Whether a type has vertices in containment. Roots without children do not count: the source of a subsystem may have the
-- type that the subsystem is named by.
local function is_contained(graph, type)
  return tables.any(graph:roots(), function(root) return root:nchildren() > 0 and (root.type == type or root:below(type) > 0) end)
end

-- Whether a name means units of a subsystem.
local function is_flow(trial, name)
  if not trial.flows then
    trial.flows = {}
    for _, subsystem in ipairs(trial.copy:subsystems()) do
      trial.flows[subsystem] = subsystem ~= "containment" and not is_contained(trial.copy, subsystem)
    end
  end
  return trial.flows[name] or false
end

-- ---- the smallest part ---------------------------------------------------------------------------------------

-- Each step simplifies the request at a place, to ask for less. Returns whether there was anything to do.

-- A range becomes its minimum.
local function step_least(place)
  local count = place.value.count
  if count == nil or math.type(count) == "integer" then return false end
  place.value.count = minimum(count)
  return true
end

local function step_remove(place)
  local parent = place.parent and place.parent.value
  if #place.holder > 1 then
    table.remove(place.holder, place.at)
  elseif not parent or is_slot(parent) then
    return false
  else
    parent.with = nil
  end
  return true
end

-- Whether resources form a chain: a single resource with a count of 1 on each level.
local function is_single(list)
  return #list == 1 and minimum(list[1].count) == 1 and (not list[1].with or is_single(list[1].with))
end

-- A single instance of a resource that contains several resources. A resource that contains one resource keeps its count: of 3
-- nodes 0 are there, rather than 0 of 1.
local function step_one(place)
  if minimum(place.value.count) <= 1 or is_single(place.value.with or { {} }) then return false end
  place.value.count = 1
  return true
end

-- A level is replaced by its content, as many times as there are instances of the level.
local function step_unwrap(place, trial)
  local r = place.value
  local times = minimum(r.count)
  if not r.with or is_slot(r) or times < 1 or r.exclusive ~= nil then return false end
  for _, kid in ipairs(r.with) do -- units of a subsystem are for the vertex around
    if minimum(kid.count) > COUNT_MAX // times or is_flow(trial, kid.type) then return false end
  end
  table.remove(place.holder, place.at)
  for i, kid in ipairs(r.with) do
    kid.count = minimum(kid.count) * times
    table.insert(place.holder, place.at + i - 1, kid)
  end
  return true
end

-- In order of preference. step_one comes after all removals, because a single resource keeps its count; step_unwrap
-- comes last, because "a node" says more than "a core somewhere".
local STEPS = { step_least, step_remove, step_one, step_unwrap }

-- Whether the resources do not fit. An undecided match counts as fitting.
local function is_short(trial) return not trial:exhausted() and trial:fits() == false end

-- Tries a step at resource number n. Returns whether the rest does not fit; nil: there is no resource n.
local function try_step(trial, n, step)
  local before, simpler = trial.resources, tables.clone(trial.resources)
  local place = M.places(simpler)[n]
  if not place then return nil end
  if not step(place, trial) then return false end
  trial:ask_for(simpler)
  if is_short(trial) then return true end
  trial:ask_for(before)
  return false
end

-- Tries the first `nsteps` steps at every resource. Returns whether some step succeeded. budget[1] counts down the tries.
local function reduce_round(trial, nsteps, budget)
  local changed, n = false, 1
  while budget[1] > 0 do
    local done = false
    for s = 1, nsteps do
      if done == false and budget[1] > 0 then
        done = try_step(trial, n, STEPS[s])
        budget[1] = budget[1] - 1
      end
    end
    if done == nil then break end
    changed = changed or done
    if not done then n = n + 1 end -- else a new resource has number n
  end
  return changed
end

-- Reduces the resources of a trial to the smallest part that does not fit. Returns false where the resources fit.
local function reduce(trial)
  if not is_short(trial) then return false end
  local budget = { STEPS_MAX }
  for nsteps = #STEPS - 2, #STEPS do
    while reduce_round(trial, nsteps, budget) and budget[1] > 0 do end
  end
  return true
end

-- ---- the subject of the numbers ------------------------------------------------------------------------------

-- Whether some vertex of type `outer` has vertices of type `inner` below.
local function is_above(trial, outer, inner)
  return tables.any(trial:of_type(outer), function(v) return trial:units(v, inner) > 0 end)
end

-- Whether a slot must be within one node.
local function is_hosted(trial, slot)
  for _, r in ipairs(slot.with) do
    if not is_above(trial, "node", r.type) then return false end
  end
  return true
end

-- The type of the nearest level around a place; nil: none.
local function level_of(trial, place)
  local outer, hosted = place.parent, false
  while outer and is_slot(outer.value) do
    hosted = hosted or is_hosted(trial, outer.value)
    outer = outer.parent
  end
  local level = outer and outer.value.type
  if hosted and level ~= "node" and not (level and is_above(trial, "node", level)) then return "node" end
  return level
end

-- Whether some resources of a list are siblings.
local function branches(list)
  return tables.any(M.places(list), function(place) return #place.holder > 1 end)
end

-- The subject: {counted = the outermost resource with a count above 1, else the last in preorder; unit = the resource
-- itself, or the first in a slot; each = units of `unit` in one instance of `counted`; level = as in a shortage; several =
-- slots hold several resources, so that only the number of slots is meaningful}.
local function subject(trial)
  local chosen
  for _, place in ipairs(M.places(trial.resources)) do
    chosen = place
    if minimum(place.value.count) > 1 then break end
  end
  local f = { counted = chosen.value, unit = chosen.value, each = 1, level = level_of(trial, chosen), several = false }
  while is_slot(f.unit) do
    f.several = f.several or #f.unit.with ~= 1
    f.unit = f.unit.with[1]
    f.each = f.each * minimum(f.unit.count)
  end
  f.several = f.several or f.unit.with ~= nil
  return f
end

-- ---- how many fit --------------------------------------------------------------------------------------------

-- Whether a count of n fits; see Trial:fits.
local function fits(trial, f, n, how)
  f.counted.count = n
  trial:ask_for(trial.resources)
  return not trial:exhausted() and trial:fits(how) or false
end

-- The largest count below `need` that fits, by bisection, and the allocation; false for none.
local function most_that_fit(trial, f, need)
  local low, high = 0, need - 1
  while low < high do
    local middle = low + (high - low + 1) // 2
    if fits(trial, f, middle) then low = middle else high = middle - 1 end
  end
  local a = low > 0 and fits(trial, f, low, "keep")
  f.counted.count = need
  trial:ask_for(trial.resources)
  return low, a
end

-- ---- sums ----------------------------------------------------------------------------------------------------

-- The vertex of type `level` with most units of a type free below.
local function best_below(trial, level, type)
  local best, most = nil, -1
  for _, v in ipairs(trial:of_type(level)) do
    local within = trial.within
    if not within or trial:is_below(v, within) or trial:is_below(within, v) then
      local _, free = trial:units(v, type)
      if free > most then best, most = v, free end
    end
  end
  return best
end

-- The vertex of a level that contains some pick of an allocation.
local function level_of_picks(trial, a, level)
  for _, pick in ipairs(a and a:vertices() or {}) do
    local v = trial:upward(pick.vertex, function(u) return u.type == level end)
    if v then return v end
  end
end

-- ---- the shortage --------------------------------------------------------------------------------------------

-- The unit of a resource: as requested, or the unit of all pools of the type; nil: none.
local function unit_of(resource, unit_by_type)
  local unit = resource.unit or unit_by_type[resource.type]
  return unit ~= "" and unit or nil
end

-- Switches a shortage from slots to units where the best vertex has fewer free units than all slots together need.
local function sum_up(trial, f, s)
  local best = f.level and best_below(trial, f.level, f.unit.type) or trial.within
  local total, have = 0, 0
  if best or not f.level then total, have = trial:units(best, f.unit.type) end
  if f.several or s.constrained or s.policy or have >= s.need * f.each then return false end
  s.slots, s.fits, s.need, s.have, s.total, s.best = s.need, s.have, s.need * f.each, have, total, best
  return true
end

-- Fills type, unit, level, best and total of a shortage. `a`: the allocation of the most that fit, or false.
local function describe(trial, f, s, a, unit_by_type)
  local alone = s.need <= 1 and branches(trial.resources)
  local slot = is_slot(f.counted) and (f.several or f.each ~= 1)
  s.level = f.level
  s.best = trial.within
  if f.level then s.best = level_of_picks(trial, a, f.level) or best_below(trial, f.level, f.unit.type) end
  s.total = (s.best or not f.level) and trial:units(s.best, f.unit.type) or 0
  if trial.within and trial.within.type == f.unit.type and not f.level then s.total = trial.within.size end
  if slot and not alone and sum_up(trial, f, s) then slot = false end
  s.type = not alone and (slot and f.counted or f.unit).type or nil
  s.unit = not slot and unit_of(f.unit, unit_by_type) or nil
end

-- ---- flows ---------------------------------------------------------------------------------------------------

local SINGLE_MAX = 200 -- vertices for each of which the flow is computed

-- The flow to as many vertices as serve the units of a place, where that is too small: {amount =, cut =}.
local function short_flow(trial, place)
  local each, times, outer = minimum(place.value.count), 1, place.parent
  local host
  while outer do
    if not is_slot(outer.value) then host = host or outer.value.type end
    times, outer = times * minimum(outer.value.count), outer.parent
  end
  local to = host and trial:of_type(host) or {}
  local options = { subsystem = place.value.type, to = to, units = each, at = trial.options.at, duration = trial.system.duration }
  local flow = #to > 0 and each > 0 and trial.copy:flow(options) or nil
  if not flow or flow.amount < times * each then return flow end
  local best
  for i = 1, times == 1 and math.min(#to, SINGLE_MAX) or 0 do
    options.to = to[i]
    local alone = trial.copy:flow(options)
    if alone.all then return nil end
    if not best or alone.amount > best.amount then best = alone end
  end
  return best
end

-- Whether a list of resources fits without the units of subsystems.
local function fits_without_flows(trial, list)
  local before, rest = trial.resources, tables.clone(list)
  for _, place in ipairs(M.places(rest)) do
    for i = #(place.value.with or {}), 1, -1 do
      if is_flow(trial, place.value.with[i].type) then table.remove(place.value.with, i) end
    end
    if place.value.with and #place.value.with == 0 and not is_slot(place.value) then place.value.with = nil end
  end
  trial:ask_for(rest)
  local does = not trial:exhausted() and trial:fits() and true or nil
  trial:ask_for(before)
  return does
end

-- Where units of a subsystem are short: the minimum cut.
local function describe_flow(trial, s)
  for _, place in ipairs(M.places(s.part)) do
    local flow = is_flow(trial, place.value.type) and short_flow(trial, place)
    if flow then
      s.flow = { subsystem = place.value.type, cut = {}, only = fits_without_flows(trial, s.whole) }
      for i, limit in ipairs(flow.cut) do
        s.flow.cut[i] = { path = limit.unit.path, name = limit.unit.name, left = limit.left, size = limit.size }
      end
      return
    end
  end
end

-- Whether a kind of obstacles matters: relaxes all obstacles of the kind, and leaves them relaxed where the request still
-- does not fit.
local function matters(trial, kind)
  local list = trial.by[kind]
  if #list == 0 then return false end
  for _, ob in ipairs(list) do trial:relax(ob, true) end
  if trial:fits() == false then return false end
  for _, ob in ipairs(list) do trial:relax(ob, false) end
  return true
end

local function shortage(trial, ideal, unit_by_type)
  local s = { ideal = ideal }
  local whole = tables.clone(trial.resources)
  s.constrained = matters(trial, "constraint")
  s.policy = matters(trial, "policy")
  if not reduce(trial) then return nil end
  local f = subject(trial)
  local a
  s.need = minimum(f.counted.count)
  s.have, a = most_that_fit(trial, f, s.need)
  if trial.cut and trial:exhausted() then return nil end -- the bisection ended early
  for _, place in ipairs(M.places(trial.resources)) do place.value.unit = unit_of(place.value, unit_by_type) end
  s.part = trial.resources
  describe(trial, f, s, a, unit_by_type)
  s.best = s.best and trial.graph:twin(s.best)
  s.whole = whole
  describe_flow(trial, s)
  s.whole = nil
  return s
end

--- Returns the shortage of a request that does not fit; nil where no part is short by itself, and for a request with
--- or_slots. `unit_by_type`: the units of pools.
function M.find(trial, infeasible, unit_by_type)
  local whole = trial.resources
  if has_alternatives(whole) then return nil end
  trial:ask_for(tables.clone(whole))
  trial:relax_kinds(infeasible and { job = true, state = true } or {})
  local s = shortage(trial, infeasible, unit_by_type)
  trial:ask_for(whole)
  trial:relax_kinds {}
  return s
end

return M
