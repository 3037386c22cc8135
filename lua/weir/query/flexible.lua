--- flexible.lua - the traverser of -T flexible: slots side by side are alternatives ("or": any mix of them), and so are
-- xor_slots (one of them for all).
--
-- The mix is chosen once, by counts of the types right below the vertex where the slots are made.

local counts = require "weir.query.counts"
local errno = require "weir.query.errno"
local scores = require "weir.query.scores"
local traverser = require "weir.query.traverser"

local M = setmetatable({}, { __index = traverser })
M.__index = M

local VARIANTS = 1000

function M.new(...) return setmetatable(traverser.new(...), M) end

-- ---- priming and pruning ------------------------------------------------------------------------------------

-- Alternatives want the least of each type, and nothing of a type that one of them can do without.
function M:prime_inside(r, above)
  if r.type ~= "slot" and r.type ~= "xor_slot" then return traverser.prime_inside(self, r, above) end
  local least = {}
  for kind, n in pairs(r.needs) do
    if self.matcher:is_tracked(self.dominant, kind) then least[kind] = r.count.min * n end
  end
  for kind, n in pairs(least) do above[kind] = math.min(above[kind] or n, n) end
  for kind, n in pairs(above) do
    if r.needs[kind] == nil and self.matcher:is_tracked(self.dominant, kind) then above[kind] = math.min(n, 0) end
  end
end

-- A quirk: a slot that does not fit prunes only when it is the last resource.
function M:prune_resources(meta, exclusive, subsystem, v, resources)
  local ok = true
  for _, r in ipairs(resources) do
    if r.type == v.type or r.type == "slot" then
      ok = traverser.prune_resources(self, meta, exclusive, subsystem, v, { r })
      if not ok and r.type ~= "slot" then return false end
    end
  end
  return ok
end

-- ---- which part of the request a vertex is about -------------------------------------------------------------

local function last_slot(resources)
  local slot
  for _, r in ipairs(resources) do slot = r.type == "slot" and r or slot end
  return slot
end

-- The resource of v's type, the list that has the slots, the last of them; nil, nil, nil, true: two of one kind.
local function relevant(v, resources)
  local matched, beside
  for _, r in ipairs(resources) do
    if r.type == v.type then
      if matched or beside then return nil, nil, nil, true end
      matched = r
    elseif r.type == "slot" then
      if matched then return nil, nil, nil, true end
      beside = r
    end
  end
  if beside then return nil, resources, last_slot(resources) end
  local inner = matched and last_slot(matched.with)
  return matched, inner and matched.with, inner
end

function M:test(v, resources, pristine)
  local matched, slots, last, twice = relevant(v, resources)
  if twice then
    self:ambiguous(v)
    return nil
  end
  for _, slot in ipairs(slots or {}) do
    if traverser.holds_slot(v, slot) then return "slot", slots, counts.most(last) end
  end
  if slots then return pristine and "pass" or nil, resources end
  if matched then return "resource", matched.with end
  return pristine and "pass" or nil, resources
end

-- ---- slots --------------------------------------------------------------------------------------------------

-- Of each type that some slot holds, the resource that wants most.
local function union(self, slots)
  local by_type, list = {}, {}
  for _, slot in ipairs(slots) do
    for _, r in ipairs(slot.with) do
      local known = by_type[r.type]
      if not known or known.count.min < r.count.min then by_type[r.type] = r end
    end
  end
  for _, kind in ipairs(self.matcher.types:sorted(by_type)) do list[#list + 1] = by_type[kind] end
  return list
end

local function key_of(kinds, left)
  local parts = {}
  for i, kind in ipairs(kinds) do parts[i] = left[kind] end
  return table.concat(parts, ",")
end

local function allowed(r, n) return n < 0 and 0 or counts.allowed(r, n) end

-- How many of a single kind of slot there can be.
local function most_of(slot, left, most)
  for _, r in ipairs(slot.with) do
    local count = allowed(r, left[r.type])
    if count == 0 or left[r.type] < count then return 0 end
    most = math.min(most, left[r.type] // count)
  end
  return most
end

-- What is left when a slot was taken; nil: it does not fit.
local function take(slot, left)
  local rest = {}
  for kind, n in pairs(left) do rest[kind] = n end
  for _, r in ipairs(slot.with) do
    local count = allowed(r, left[r.type])
    if count == 0 then return nil end
    rest[r.type] = rest[r.type] - count
  end
  return rest
end

-- The best mix for what is left: {slots in all, which slot to take next, the key of what is left then}.
local function best_mix(plan, left)
  local key = key_of(plan.kinds, left)
  if plan.known[key] then return plan.known[key] end
  if #plan.slots == 1 then
    plan.known[key] = { count = most_of(plan.slots[1], left, plan.most), slot = 1, rest = key }
    return plan.known[key]
  end
  local best = { count = 0 }
  for i, slot in ipairs(plan.slots) do
    local rest = take(slot, left)
    if rest then
      local n = best_mix(plan, rest).count + 1
      if best.count < n then best = { count = n, slot = i, rest = key_of(plan.kinds, rest) } end
    end
  end
  plan.known[key] = best
  return best
end

local function new_plan(self, slots, shape, most, inside)
  local plan, left = { slots = slots, kinds = {}, known = {}, most = most }, {}
  for i, r in ipairs(shape) do
    plan.kinds[i] = r.type
    left[r.type] = inside:count(self.dominant, r.type)
  end
  return plan, best_mix(plan, left)
end

function M:make_slots(meta, v, slots, most, found)
  local inside, made, shape = scores.new(), {}, union(self, slots)
  if not self:explore(meta, v, self.dominant, shape, false, true, inside, false, most) then return end
  self.policy:finish_slot(inside)
  local plan, mix = new_plan(self, slots, shape, most, inside)
  for i = 1, mix.count do
    made[i] = self:fill_slot(slots[mix.slot].with, inside)
    if not made[i] then return end
    mix = plan.known[mix.rest]
  end
  for _, slot in ipairs(made) do found:add(self.dominant, "slot", slot) end
end

-- ---- xor_slots ----------------------------------------------------------------------------------------------

local function with(r, kind, inner)
  local copy = {}
  for key, value in pairs(r) do copy[key] = value end
  copy.type, copy.with = kind, inner
  return copy
end

local function appended(list, x)
  local copy = table.move(list, 1, #list, 1, {})
  copy[#copy + 1] = x
  return copy
end

-- All lists of `lists` with one of `choices` behind; nil: more than VARIANTS.
local function product(lists, choices)
  local out = {}
  if #lists * #choices > VARIANTS then return nil end
  for _, list in ipairs(lists) do
    for _, x in ipairs(choices) do out[#out + 1] = appended(list, x) end
  end
  return out
end

-- The requests without xor_slots that a request stands for; nil: more than VARIANTS.
local function variants(resources)
  local lists, choices = { {} }, {}
  for _, r in ipairs(resources) do
    local inner, copies = variants(r.with), {}
    if not inner then return nil end
    for i, list in ipairs(inner) do copies[i] = with(r, r.type == "xor_slot" and "slot" or r.type, list) end
    if r.type == "xor_slot" then
      table.move(copies, 1, #copies, #choices + 1, choices)
      if #choices > VARIANTS then return nil end
    else
      lists = product(lists, copies)
      if not lists then return nil end
    end
  end
  if #choices == 0 then return lists end
  return product(lists, choices)
end

function M:select(job, root, meta, exclusive)
  local all = variants(job.resources)
  if not all then
    errno.code = "EOVERFLOW"
    self:say("select: split_xor_slots failed.\n", errno.text(), "\n")
    return false
  end
  for _, resources in ipairs(all) do
    if traverser.select(self, { resources = resources }, root, meta, exclusive) then
      job.resources = resources
      return true
    end
  end
  return false
end

return M
