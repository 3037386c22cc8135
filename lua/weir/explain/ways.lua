--- ways.lua - the obstacles to be removed for a request to fit. First by kinds: the smallest sets of kinds that suffice if
--- all obstacles of the kinds are relaxed. Then singly: a placement among the fewest obstacles shows which obstacles may
--- matter, and every unnecessary obstacle is restored.
--
-- Invariant: each way has been tried by a match, and every obstacle of a way without `cut` is necessary. The functions of
-- this module leave all obstacles restored.

local tables = require "weir.tables"
local trials = require "weir.explain.trial"

local M = {}

local SINGLES = 128 -- most obstacles of a kind to be tried singly
local FEW = 4       -- most obstacles to be reduced without a placement

-- A choice is a list of obstacles in the order of trial.list, all relaxed at first, to be reduced; with `cut` where a match
-- was not made or did not decide. It serves where the request fits now or, with `before`, where it starts before that time.

-- Whether a choice serves. An undecided match counts as no.
local function fits(trial, choice)
  local fit
  if not trial:exhausted() then
    if choice.before then fit = trial:starts_before(choice.before) else fit = trial:fits() end
  end
  if fit == nil then choice.cut = true end
  return fit
end

local function relax_range(trial, choice, first, last, on)
  for i = first, last do trial:relax(choice[i], on) end
end

local minimize

-- Lifts again the necessary ones of the obstacles from number `first` to `last`. All of them must be restored, and the
-- request must not fit then.
local function split(trial, choice, first, last)
  local middle = first + (last - first + 1) // 2
  relax_range(trial, choice, middle, last, true)
  if first == last then return end
  if fits(trial, choice) then -- the first half is unnecessary, so the request does not fit without the second
    relax_range(trial, choice, middle, last, false)
    split(trial, choice, middle, last)
  elseif choice.cut then
    relax_range(trial, choice, first, middle - 1, true)
  else
    split(trial, choice, first, middle - 1)
    minimize(trial, choice, middle, last)
  end
end

-- Restores every unnecessary obstacle from number `first` to `last`, by bisection. All of them must be relaxed.
function minimize(trial, choice, first, last)
  if first > last or choice.cut then return end
  relax_range(trial, choice, first, last, false)
  if fits(trial, choice) then return end
  if choice.cut then
    relax_range(trial, choice, first, last, true)
  else
    split(trial, choice, first, last)
  end
end

-- ---- obstacles near a placement ------------------------------------------------------------------------------

-- Returns the vertices of the picks, all vertices above and the picks, and the jobs with something at, above or below a
-- pick, as sets.
local function surroundings(trial, picks)
  local picked, above, near = {}, {}, {}
  for _, pick in ipairs(picks) do
    picked[pick.vertex] = true
    for _, job in ipairs(trial.graph:twin(pick.vertex):jobs()) do near[job] = true end -- the duplicate has detached its jobs
    trial:upward(pick.vertex, function(v)
      if above[v] then return not trial.hierarchy end -- what is above a tree's vertex is known with it
      above[v] = true
      for _, use in ipairs(v ~= pick.vertex and trial.graph:twin(v):uses() or {}) do near[use.job or 0] = true end
    end)
  end
  return picked, above, near
end

local function is_below(trial, v, picked)
  return trial:upward(v, function(u) return picked[u] end) ~= nil
end

-- Restores the obstacles far from the picks, and returns the choice of the obstacles left. Returns the whole choice, all
-- relaxed again, where the request does not fit then.
local function keep_near(trial, choice, picks)
  local picked, above, near = surroundings(trial, picks)
  local kept = { before = choice.before }
  for _, ob in ipairs(choice) do
    local close = ob.stage or ob.kind ~= "job" and ob.kind ~= "state" or near[ob.job] or above[ob.vertex]
      or ob.vertex and is_below(trial, ob.vertex, picked)
    if close then kept[#kept + 1] = ob else trial:relax(ob, false) end
  end
  if fits(trial, choice) then
    kept.cut = choice.cut
    return kept
  end
  relax_range(trial, choice, 1, #choice, true)
  return choice
end

-- Restores every unnecessary obstacle of a choice, and returns the choice of the others. The request must fit.
local function reduce(trial, choice)
  if #choice > FEW then
    local a = trial:fits "minimum"
    if a then choice = keep_near(trial, choice, a:vertices()) end
  end
  minimize(trial, choice, 1, #choice)
  local left = { cut = choice.cut }
  for _, ob in ipairs(choice) do
    if ob.relaxed then left[#left + 1] = ob end
  end
  return left
end

-- ---- ways ----------------------------------------------------------------------------------------------------

local function plain(trial, ob)
  return {
    kind = ob.kind, part = ob.part, constraint = ob.constraint, state = ob.state, job = not ob.stage and ob.job or nil,
    stage = ob.stage, start = ob.start, ["end"] = ob["end"], vertex = ob.vertex and trial.graph:twin(ob.vertex),
  }
end

-- A way of a choice, for the report: obstacles early in the list, which were restored first, come last.
local function way_of(trial, choice)
  local way = { cut = choice.cut }
  for i = #choice, 1, -1 do way[#way + 1] = plain(trial, choice[i]) end
  return way
end

-- Looks for a single sufficient obstacle. Returns the choice of that obstacle, or nil.
local function find_single(trial, all)
  local choice = {}
  for i = #all, 1, -1 do
    trial:relax(all[i], true)
    if fits(trial, choice) then return { all[i], cut = choice.cut } end
    trial:relax(all[i], false)
  end
end

-- The way for a set of kinds, which must be relaxed, and with which the request must fit.
local function find_way(trial, kinds)
  local all = tables.filter(trial.list, function(ob) return kinds[ob.kind] end)
  local choice = reduce(trial, table.move(all, 1, #all, 1, {}))
  if #choice > 1 and #all <= SINGLES then
    trial:relax_kinds {}
    choice = find_single(trial, all) or choice
  end
  return way_of(trial, choice)
end

-- Returns the sets of kinds of obstacles that occur; smaller sets precede the larger sets that contain them.
local function sets_of_kinds(trial)
  local sets = {}
  for bits = 1, (1 << #trials.KINDS) - 1 do
    local set, there = {}, true
    for i, kind in ipairs(trials.KINDS) do
      if bits >> (i - 1) & 1 == 1 then
        set[kind] = true
        there = there and #trial.by[kind] > 0
      end
    end
    if there then sets[#sets + 1] = set end
  end
  return sets
end

local function contains(set, part)
  for kind in pairs(part) do
    if not set[kind] then return false end
  end
  return true
end

-- Whether the request fits with all obstacles of some kinds relaxed.
local function fits_without(trial, kinds)
  trial:relax_kinds(kinds)
  return fits(trial, {})
end

--- Returns the ways for a request that does not fit.
function M.find(trial)
  local ways, known, sets = {}, {}, sets_of_kinds(trial)
  if sets[1] and fits_without(trial, sets[#sets]) then
    for _, set in ipairs(sets) do
      local covered = tables.any(known, function(part) return contains(set, part) end)
    if not covered and fits_without(trial, set) then
        known[#known + 1] = set
        ways[#ways + 1] = find_way(trial, set)
      end
    end
  end
  trial:relax_kinds {}
  return ways
end

-- The choice of the jobs among trial.by.job for which pick(end) is true, relaxed; nil where it does not serve.
local function choice_of_jobs(trial, start, pick)
  local choice = { before = start }
  for _, ob in ipairs(trial.by.job) do
    if pick(ob["end"]) then choice[#choice + 1] = ob end
  end
  relax_range(trial, choice, 1, #choice, true)
  if fits(trial, choice) then return choice end
  trial:relax_kinds {}
end

--- Returns the jobs that a start waits for, of the jobs that end at the start: without them the request would start
--- earlier, without all but one of them it would not. picks: the vertices of the start. An empty list where no job delays the start.
function M.after(trial, start, picks)
  local choice = choice_of_jobs(trial, start, function(t) return t == start end)
    or choice_of_jobs(trial, start, function(t) return t <= trial.copy:now() end) -- jobs that run beyond their end
  if not choice then return {} end
  choice = keep_near(trial, choice, picks)
  minimize(trial, choice, 1, #choice)
  local left = tables.filter(choice, function(ob) return ob.relaxed end)
  left.cut = choice.cut
  trial:relax_kinds {}
  return way_of(trial, left)
end

return M
