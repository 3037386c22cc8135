--- minimise.lua - minimises a failing plan to a small plan with an equal failure.

local plans = require "weir.scenario.plan"
local tables = require "weir.tables"

local M = {}

local MOST = 3000 -- plays

local function without(plan, first, last)
  local smaller = tables.clone(plan)
  smaller.steps = {}
  for i, step in ipairs(plan.steps) do
    if i < first or i > last then table.insert(smaller.steps, tables.clone(step)) end
  end
  return smaller
end

-- Plays a plan; keeps the plan as the best one if the plan fails in the same way. Returns true if kept.
local function try(self, plan)
  if self.plays >= MOST then return false end
  self.plays = self.plays + 1
  local failure = plans.play(plan, self.scenario)
  if not failure or failure.kind ~= self.failure.kind then return false end
  self.plan, self.failure, self.better = plan, failure, true
  return true
end

-- Removes ranges of steps, long ranges first.
local function fewer_steps(self)
  local length = #self.plan.steps // 2
  while length >= 1 do
    local i = 1
    while i <= #self.plan.steps do
      if not try(self, without(self.plan, i, math.min(i + length - 1, #self.plan.steps))) then i = i + length end
    end
    length = length // 2
  end
end

-- SMALLER: smaller values for each field, the smallest first; `none`: the field may be removed.
local SMALLER = {
  { "after", none = true }, { "user", none = true }, { "preemptible", none = true }, { "priority", none = true, to = { 0, 1 } },
  { "estimate", none = true, to = { 1, 10 } },
  { "count", to = { 1, 2 }, less = true }, { "lasts", to = { 1, 10 } }, { "seconds", to = { 1, 10 } },
}

local function values_below(entry, value)
  local list = {}
  for _, smaller in ipairs(entry.to or {}) do
    if smaller < value then list[#list + 1] = smaller end
  end
  if entry.less and value > 3 then list[#list + 1] = value // 2 end
  if entry.less and value > 1 then list[#list + 1] = value - 1 end
  return list
end

local function try_value(self, i, name, value)
  local smaller = tables.clone(self.plan)
  smaller.steps[i][name] = value
  return try(self, smaller)
end

local function simpler_steps(self)
  for i = 1, #self.plan.steps do
    for _, entry in ipairs(SMALLER) do
      local name = entry[1]
      local value = self.plan.steps[i][name]
      local is_value = self.plan.steps[i][1] == "priority" and name == "priority"
      local gone = value ~= nil and entry.none and not is_value and try_value(self, i, name, nil)
      for _, smaller in ipairs(value ~= nil and not gone and values_below(entry, value) or {}) do
        if try_value(self, i, name, smaller) then break end
      end
    end
  end
end

local function smaller_machine(self)
  if type(self.plan.machine) ~= "table" or not self.plan.machine.racks then return end
  for _, name in ipairs { "racks", "cores", "nodes" } do
    for n = 1, self.plan.machine[name] - 1 do
      local smaller = tables.clone(self.plan)
      smaller.machine[name] = n
      if try(self, smaller) then break end
    end
  end
end

local function without_overrun(self)
  local smaller = tables.clone(self.plan)
  smaller.overrun = nil
  if self.plan.overrun then try(self, smaller) end
end

local function no_skipped(plan)
  local smaller = tables.clone(plan)
  smaller.steps = {}
  for _, step in ipairs(plan.steps) do
    if not step.skipped then table.insert(smaller.steps, tables.clone(step)) end
  end
  return smaller
end

--- Returns the smallest plan found, and its failure. scenario: the module.
function M.run(plan, failure, scenario)
  local self = { plan = plan, failure = failure, scenario = scenario, plays = 0 }
  try(self, no_skipped(plan))
  repeat
    self.better = false
    fewer_steps(self)
    smaller_machine(self)
    without_overrun(self)
    simpler_steps(self)
  until not self.better
  return self.plan, self.failure
end

return M
