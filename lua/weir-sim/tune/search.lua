--- search.lua - where settings are looked for: successive halving, then steps around the best; or at random.
---
--- A budget counts replays of the whole trace: a trial on a sample counts as the share of the work that it takes. Every
--- choice depends on the seed and on earlier values only, never on the number of trials that run at once.
---
--- Probe: settings all over the ranges are tried on the whole trace and on the samples, with a third of the budget. A sample under
--- which they come in another order than on the whole trace is useless, and is left out from then on; so where no sample is
--- right the search continues with steps on the whole trace, as it does with a budget too small for a probe. Halving: many
--- settings, one in each layer of each option (a Latin
--- hypercube), are tried on the smallest sample; the best of them on the larger one; the best of those on the whole trace. Steps:
--- the best so far are varied, crossed, and now and then replaced by a new random setting; these take the same way from the smallest
--- sample to the whole trace. A fifth of the budget is for each stage of the halving, what is left to the steps.

local random = require "weir.random"
local rank = require "weir.tune.rank"
local tables = require "weir.tables"

local M = {}
M.__index = M

-- Settings of a round of steps by stage, the smallest sample first, and of a round within a budget below SMALL.
local ROUND, SMALL_ROUND, SMALL = { 12, 5, 2 }, { 6, 3, 1 }, 30
local PROBE, RIGHT = 1 / 3, 0.5        -- share of the budget for the probe; agreement of the orders from which a sample is right
local MIN_BUDGET = 12                       -- the smallest budget with which samples are used: below it the probe would take all of it
local PARENTS = 4                      -- settings varied
local WIDEST, NARROWEST = 0.25, 0.02   -- the reach of a step, as a share of the range

--- Makes a search. opts: space; seed; budget; costs, the shares of the work of the samples, ascending; try(list), which
--- tries a list of {values =, sample = number, or 0 for the whole trace} and returns a list of values of objectives, math.huge
--- for what failed.
function M.new(opts)
  local self = setmetatable({ space = opts.space, budget = opts.budget, try = opts.try, costs = opts.costs, spent = 0, steps = 0,
    random = random.fractions(opts.seed), stages = {}, known = {} }, M)
  for k = 1, #opts.costs do self.stages[k] = k end
  self.stages[#self.stages + 1] = 0
  for k = 0, #opts.costs do self.known[k] = { list = {}, by_key = {} } end
  return self
end

function M:cost(sample) return sample == 0 and 1 or self.costs[sample] end

-- ---- points -------------------------------------------------------------------------------------------------

local function setting(self, point) return { point = point, values = self.space:values(point) } end

-- A list of n settings with one in each n-th of the range of each option.
local function layered(self, n)
  local list = {}
  for i = 1, n do list[i] = { point = {} } end
  for k = 1, #self.space do
    local places = {}
    for i = 1, n do places[i] = i end
    for i = n, 2, -1 do
      local other = math.floor(self.random() * i) + 1
      places[i], places[other] = places[other], places[i]
    end
    for i = 1, n do list[i].point[k] = (places[i] - 1 + self.random()) / n end
  end
  for i, one in ipairs(list) do list[i] = setting(self, one.point) end
  return list
end

local function drawn(self)
  local point = {}
  for k = 1, #self.space do point[k] = self.random() end
  return setting(self, point)
end

-- A number about 0 with a deviation of 1.
local function bell(self) return self.random() + self.random() + self.random() + self.random() - 2 end

-- A setting near a parent: some options moved by `reach`, at times some taken from a second parent.
local function varied(self, parent, other, reach)
  local point, n = table.move(parent.point, 1, #parent.point, 1, {}), #self.space
  local crossed, share, moved = self.random() < 0.25, math.max(1 / n, 0.3), false
  for k = 1, n do
    if crossed and self.random() < 0.5 then point[k] = other.point[k] end
    if self.random() < share then
      local step = self.space[k].choices and self.random() or point[k] + bell(self) * 1.7 * reach
      point[k], moved = math.max(0, math.min(0.999999, step)), true
    end
  end
  if not moved then
    local k = math.floor(self.random() * n) + 1
    point[k] = self.random()
  end
  return setting(self, point)
end

-- ---- trials -------------------------------------------------------------------------------------------------

-- Tries those of a list that are new, within the budget. Returns whether all of them were tried.
local function try_all(self, list, sample)
  local known, cost, new, whole = self.known[sample], self:cost(sample), {}, true
  for _, one in ipairs(list) do
    local key = self.space.key(one.values)
    if not known.by_key[key] then
      if self.spent + cost > self.budget + 1e-9 then
        whole = false
        break
      end
      known.by_key[key], self.spent = one, self.spent + cost
      new[#new + 1] = { values = one.values, point = one.point, sample = sample }
    end
  end
  local results = self.try(new)
  for i, one in ipairs(new) do
    one.result = results[i]
    known.by_key[self.space.key(one.values)] = one
    known.list[#known.list + 1] = one
  end
  return whole
end

-- The best n of a list of settings, by what a sample says of them.
local function best_of(self, list, sample, n)
  local known, tried, results = self.known[sample].by_key, {}, {}
  local met = {}
  for _, one in ipairs(list) do
    local key = self.space.key(one.values)
    local found = known[key]
    if found and found.result and not met[key] then tried[#tried + 1], results[#results + 1], met[key] = found, found.result, true end
  end
  local best = {}
  for _, place in ipairs(rank.order(results)) do
    if #best == n then break end
    best[#best + 1] = tried[place]
  end
  return best
end

--- Returns the settings tried on the whole trace, the best first: a list of {values, point, result}.
function M:found()
  local list = self.known[0].list
  return best_of(self, list, 0, #list)
end

-- Takes a list through the stages, the best counts[k] of each stage to the next. Returns whether the budget sufficed.
local function through(self, list, counts)
  for k, sample in ipairs(self.stages) do
    if k > 1 then list = best_of(self, list, self.stages[k - 1], counts[k]) end
    if not try_all(self, list, sample) then return false end
  end
  return true
end

-- ---- the probe ----------------------------------------------------------------------------------------------

-- Returns how far two orders of the same settings agree: 1, the same; 0, no more than by chance (rank correlation).
local function agreement(a, b)
  local n, place, sum = #a, {}, 0
  for i, at in ipairs(a) do place[at] = i end
  for i, at in ipairs(b) do sum = sum + (place[at] - i) ^ 2 end
  return 1 - 6 * sum / (n * (n * n - 1))
end

-- Tries settings all over the ranges on the whole trace and on the samples, and leaves out the samples that order them otherwise.
local function probe(self)
  local cost = 1
  for k = 1, #self.costs do cost = cost + self.costs[k] end
  local n = math.max(2, math.floor(PROBE * self.budget / cost))
  local list = layered(self, n)
  if not try_all(self, list, 0) then return end
  local tried = self.known[0].list
  local whole = rank.order(tables.column(tried, "result"))
  for k = #self.stages - 1, 1, -1 do
    local sample = self.stages[k]
    if not try_all(self, tried, sample) then return end
    local found = tables.map(tried, function(one) return self.known[sample].by_key[self.space.key(one.values)].result end)
    if #tried < 3 or agreement(whole, rank.order(found)) < RIGHT then table.remove(self.stages, k) end
  end
end

-- ---- the ways -----------------------------------------------------------------------------------------------

-- The settings of the halving by stage: a fifth of the budget each.
local function halving_counts(self)
  local counts = tables.map(self.stages, function(sample) return math.max(2, math.floor(0.2 * self.budget / self:cost(sample))) end)
  for k = #counts - 1, 1, -1 do counts[k] = math.max(counts[k], 2 * counts[k + 1]) end
  return counts
end

-- The settings of a round of steps, around the best known.
local function round(self, parents, reach, n)
  local list = {}
  for i = 1, n do
    self.steps = self.steps + 1
    if self.steps % (self.stages[2] and 8 or 4) == 0 then
      list[i] = drawn(self)
    else
      local a = parents[math.floor(self.random() ^ 1.5 * #parents) + 1]
      list[i] = varied(self, a, parents[math.floor(self.random() * #parents) + 1], reach)
    end
  end
  return list
end

local function round_counts(self)
  local counts = self.budget < SMALL and SMALL_ROUND or ROUND
  local skip = #counts - #self.stages
  return table.move(counts, skip + 1, #counts, 1, {})
end

-- Notes the defaults as tried on the whole trace.
local function begin(self, defaults, result)
  local present = setting(self, defaults)
  present.values, present.result = self.space:present(), result
  self.known[0].by_key[self.space.key(present.values)], self.known[0].list[1], self.spent = present, present, self.spent + 1
end

--- Looks around the defaults and by halving, then by steps, until the budget is spent. The defaults are tried first, whose
--- values on the whole trace are given.
function M:halve(defaults, result)
  begin(self, defaults, result)
  if self.budget < MIN_BUDGET then self.stages = { 0 } end
  if self.stages[2] then probe(self) end
  local counts = halving_counts(self)
  through(self, layered(self, counts[1]), counts)
  local reach, stale, still = WIDEST, 0, round_counts(self)
  while stale < 20 do
    local parents, before = table.move(self:found(), 1, PARENTS, 1, {}), self.spent
    local first = self.space.key(parents[1].values)
    if not through(self, round(self, parents, reach, still[1]), still) then return end
    if self.space.key(self:found()[1].values) == first then reach = math.max(NARROWEST, reach * 0.8) end
    stale = self.spent == before and stale + 1 or 0 -- where few settings are left to try
  end
end

--- Tries settings drawn at random on the whole trace, until the budget is spent.
function M:draw(defaults, result)
  begin(self, defaults, result)
  local stale = 0
  while stale < 20 do
    local list, before = {}, self.spent
    for i = 1, 16 do list[i] = drawn(self) end
    if not try_all(self, list, 0) then return end
    stale = self.spent == before and stale + 1 or 0
  end
end

return M
