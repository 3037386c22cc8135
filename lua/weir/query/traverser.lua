--- traverser.lua - resource-query's way of finding what a jobspec asks for: one depth-first visit of the dominant
-- subsystem, up-walks in the others, candidates scored on the way back. This is a dialect: weir's own matcher reads
-- requests more freely and does not visit what cannot matter; here each visit counts, as its number is printed.
--
-- Main invariant: an edge whose `sequence` is that of the traverser is part of the last match.

local counts = require "weir.query.counts"
local errno = require "weir.query.errno"
local multi = require "weir.query.multi"
local scores = require "weir.query.scores"
local store = require "weir.query.store"

local M = {}
M.__index = M

local available, unused = store.available, store.unused

function M.new(graph, matcher, policy)
  return setmetatable({
    graph = graph, matcher = matcher, policy = policy, dominant = matcher.dominant, subsystems = matcher.subsystems,
    sequence = 0, epoch = 0, level = 0, preorder = 0, postorder = 0, message = "",
  }, M)
end

function M:say(...) self.message = self.message .. table.concat { ... } end

--- Forgets which vertices were visited.
function M:reset() self.epoch = self.epoch + 1 end

function M:tick()
  self.sequence = self.sequence + 1
  self:reset()
end

-- Where a vertex keeps the epoch of its last visit in a subsystem.
local function visit_key(subsystem) return "visited:" .. subsystem end
M.visit_key = visit_key

function M:prefix() return "      " .. ("---"):rep(self.level) end

-- ---- priming ------------------------------------------------------------------------------------------------

function M:accumulate(subsystem, kind, n, into)
  if self.matcher:is_tracked(subsystem, kind) then into[kind] = (into[kind] or 0) + n end
end

-- A leaf counts for the root though nobody asked for its type.
local function prime_leaf(self, subsystem, v, above)
  if not self.matcher:is_tracked(subsystem, v.type) then
    self.matcher:track(subsystem, "cluster", v.type)
    self:accumulate(subsystem, v.type, v.size, above)
  end
end

local function set_subplan(self, subsystem, v, below)
  local kinds, totals = self.matcher:tracked_by(subsystem, v.type), {}
  if #kinds == 0 then return end
  for i, kind in ipairs(kinds) do totals[i] = below[kind] or 0 end
  if v.subplans[subsystem] then
    v.subplans[subsystem]:update(kinds, totals)
  else
    store.own(v, "subplans")[subsystem] = multi.new(kinds, totals)
  end
end

--- Counts what is below v in a subsystem, sets up its planners, and adds all to `above`.
function M:prime(subsystem, v, above)
  local key, below = visit_key(subsystem), {}
  v[key] = self.epoch
  self:accumulate(subsystem, v.type, v.size, above)
  if #v.out == 0 then return prime_leaf(self, subsystem, v, above) end
  for _, edge in ipairs(v.out) do
    if edge.subsystem == subsystem and edge.target[key] ~= self.epoch then self:prime(subsystem, edge.target, below) end
  end
  for kind, n in pairs(below) do self:accumulate(subsystem, kind, n, above) end
  set_subplan(self, subsystem, v, below)
end

--- Primes all subsystems; false: one has no root.
function M:initialize()
  self.message = ""
  self:reset()
  for _, subsystem in ipairs(self.subsystems) do
    local root = self.graph.roots[subsystem]
    if not root then
      errno.code = "ENOTSUP"
      return false
    end
    self:prime(subsystem, root, {})
  end
  return true
end

--- Sums up what one of each resource wants below it, by tracked type, and adds all to `above`.
function M:prime_request(resources, above)
  for _, r in ipairs(resources) do
    if r.exclusive then self.matcher.exclusive[r.type] = true end
    self:accumulate(self.dominant, r.type, r.count.min, above)
    r.needs = {}
    self:prime_request(r.with, r.needs)
    self:prime_inside(r, above)
  end
end

function M:prime_inside(r, above)
  for kind, n in pairs(r.needs) do self:accumulate(self.dominant, kind, r.count.min * n, above) end
end

-- ---- pruning ------------------------------------------------------------------------------------------------

local function busy()
  errno.code = "EBUSY"
  return false
end

-- Whether v may be given to one job alone. A quirk: what is asked for now must also be free of jobs that are over.
local function by_exclusivity(self, meta, v, exclusive, r)
  if exclusive and r.exclusive == false then
    errno.code = "EINVAL"
    self:say("by_excl: exclusivity conflicts at jobspec=", r.label or "", " : vertex=", v.name)
    return false
  end
  if not exclusive and not r.exclusive then return true end
  if meta.at == meta.now and (meta.kind == "allocate" or meta.kind == "none") and next(v.allocations) then
    return busy()
  end
  return unused(v, meta.at, meta.duration) or busy()
end

-- Whether the units below v suffice for one r.
local function by_subplan(meta, subsystem, v, r)
  local plan = v.subplans[subsystem]
  if not plan or next(r.needs) == nil then return true end
  return plan:fits(meta.at, meta.duration, plan:amounts(r.needs)) or false
end

function M:prune_resources(meta, exclusive, subsystem, v, resources)
  for _, r in ipairs(resources) do
    if r.type == v.type and not by_exclusivity(self, meta, v, exclusive, r) then return false end
    if (r.type == v.type or r.type == "slot") and not by_subplan(meta, subsystem, v, r) then return false end
  end
  return true
end

local function by_constraint(meta, v)
  return not meta.constraint or (v.type ~= "node" and v.type ~= "storage_node") or meta.constraint(v)
end

-- Whether v is worth a visit.
local function may_enter(self, meta, exclusive, subsystem, v, resources)
  if v.down and meta.kind ~= "satisfiability" then return busy() end
  if not by_constraint(meta, v) then return busy() end
  local left = available(v, meta.at, meta.duration)
  if left == 0 then return busy() end
  if not left then self:say("by_avail: planner_avail_resources_during returned -1.\n", errno.text(), ".\n") end
  if left and self:prune_resources(meta, exclusive, subsystem, v, resources) then return true end
  if errno.code == "ERANGE" then errno.code = "EBUSY" end
  return false
end

-- ---- which part of the request a vertex is about -------------------------------------------------------------

local function has_child(v, kind)
  for _, edge in ipairs(v.out) do
    if edge.target.type == kind then return true end
  end
  return false
end

-- Whether all that a slot holds is right below v.
local function holds_slot(v, slot)
  for _, r in ipairs(slot.with) do
    if not has_child(v, r.type) then return false end
  end
  return #slot.with > 0
end
M.holds_slot = holds_slot

-- The resource of v's type, and the slot that is asked for in it or beside it; nil, nil, true: two of one kind.
local function relevant(v, resources)
  local matched, slot, n
  for _, r in ipairs(resources) do
    if r.type == v.type or r.type == "slot" then
      if n then return nil, nil, true end
      n = true
    end
    if r.type == v.type then
      matched = r
      for _, inner in ipairs(r.with) do slot = inner.type == "slot" and inner or slot end
    elseif r.type == "slot" then
      slot = r
    end
  end
  return matched, slot
end

function M:ambiguous(v)
  self:say("test: siblings in jobspec request same resource type : ", v.type, ".\n")
end

--- What is asked for below v: "slot", "resource", "pass" (nothing of the request was met yet) or nil, and the resources.
function M:test(v, resources, pristine)
  local matched, slot, twice = relevant(v, resources)
  if twice then
    self:ambiguous(v)
    return nil
  end
  if slot and holds_slot(v, slot) then return "slot", slot.with, counts.most(slot) end
  if matched then return "resource", matched.with end
  return pristine and "pass" or nil, resources
end

-- ---- exploring ----------------------------------------------------------------------------------------------

-- Visits what an edge leads to; false: it is no candidate.
local function step(self, meta, edge, subsystem, resources, pristine, exclusive, found, upward)
  local v = edge.target
  local ok, x
  if upward then
    ok, x = self:ascend(meta, v, subsystem, resources, pristine, exclusive, found), exclusive
  else
    ok, x = self:descend(meta, v, resources, pristine, exclusive, found)
  end
  if ok then
    found:add(subsystem, v.type, { score = found.score, count = found.avail, x = x, edge = edge })
  end
  return ok
end

local function explore_all(self, meta, v, subsystem, resources, pristine, exclusive, found, upward)
  local key, any = visit_key(subsystem), false
  for _, edge in ipairs(v.out) do
    if edge.subsystem == subsystem and edge.target[key] ~= self.epoch then
      any = step(self, meta, edge, subsystem, resources, pristine, exclusive, found, upward) or any
    end
  end
  return any
end

-- How far the search for `times` shares of each type has got. A share is made of whole candidates.
local function new_tallies(resources)
  local tallies = {}
  for _, r in ipairs(resources) do tallies[r.type] = { share = counts.most(r), before = 0, sum = 0, shares = 0 } end
  return tallies
end

local function tally(t, n)
  t.sum = t.sum + n
  if t.share > 0 and t.sum >= t.share then
    t.shares = t.shares + 1
    t.sum = 0
  end
end

local function satisfied(t, times) return t.share == 0 or t.shares >= times end

local function tally_found(subsystem, found, tallies)
  for kind, t in pairs(tallies) do
    local total = found:total(subsystem, kind)
    if total > t.before then
      tally(t, total - t.before)
      t.before = total
    end
  end
end

local function all_satisfied(tallies, times)
  for _, t in pairs(tallies) do
    if not satisfied(t, times) then return false end
  end
  return true
end

local function explore_some(self, meta, v, subsystem, resources, pristine, exclusive, found, upward, times)
  local key, any, tallies = visit_key(subsystem), false, new_tallies(resources)
  for _, edge in ipairs(store.ranked(v)) do
    local t = tallies[edge.target.type]
    local wanted = edge.subsystem == subsystem and edge.target[key] ~= self.epoch
    if wanted and not (t and t.seen)
      and step(self, meta, edge, subsystem, resources, pristine, exclusive, found, upward) then
      any = true
      tally_found(subsystem, found, tallies)
      for _, one in pairs(tallies) do one.seen = one.seen or satisfied(one, times) end
      if all_satisfied(tallies, times) then break end
    end
  end
  return any
end

function M:explore(meta, v, subsystem, resources, pristine, exclusive, found, upward, times)
  if self.policy.stop then
    return explore_some(self, meta, v, subsystem, resources, pristine, exclusive, found, upward, times or 1)
  end
  return explore_all(self, meta, v, subsystem, resources, pristine, exclusive, found, upward)
end

-- A quirk: the up-walks of all subsystems stop at the root of the one that was walked first.
local function walk_root(self, subsystem)
  self.walk_top = self.walk_top or self.graph.roots[subsystem] or false
  return self.walk_top
end

--- The visit of v in a subsystem other than the dominant one.
function M:ascend(meta, v, subsystem, resources, pristine, exclusive, above)
  local top, found = walk_root(self, subsystem), scores.new()
  if not top or not may_enter(self, meta, exclusive, subsystem, v, resources) then return false end
  if v ~= top then self:explore(meta, v, subsystem, resources, pristine, exclusive, found, true) end
  local left = available(v, meta.at, meta.duration)
  if not left then self:say("aux_upv: planner_avail_resources_during returned -1. ", errno.text(), ".\n") end
  if not left or left == 0 then return false end
  self:resolve(found, above)
  return true
end

-- ---- slots --------------------------------------------------------------------------------------------------

-- How many slots the candidates make when each takes whole ones.
local function count_slots(self, shape, found)
  local slots = math.huge
  for _, r in ipairs(shape) do
    local count = counts.allowed(r, found:count(self.dominant, r.type))
    local t = { share = count, sum = 0, shares = 0 }
    if count > 0 then
      for candidate in function() return found:next(self.dominant, r.type) end do tally(t, candidate.count) end
    end
    found:rewind(self.dominant, r.type)
    slots = math.min(slots, t.shares)
  end
  return slots
end

--- Takes candidates for one slot; nil: they do not suffice.
function M:fill_slot(shape, found)
  local slot = { score = 1, count = 1, x = true, edges = {} }
  for _, r in ipairs(shape) do
    local count = counts.allowed(r, found:count(self.dominant, r.type))
    local have = 0
    while have < count do
      local candidate = found:next(self.dominant, r.type)
      if not candidate then
        self:say "dom_slot: not enough slots.\n"
        return nil
      end
      slot.score = slot.score + candidate.score
      slot.edges[#slot.edges + 1] = { count = candidate.count, x = true, edge = candidate.edge }
      have = have + candidate.count
    end
  end
  return slot
end

--- Visits what a slot below v is made of, and makes as many slots as can be.
function M:make_slots(meta, v, shape, most, found)
  local inside, slots = scores.new(), {}
  if not self:explore(meta, v, self.dominant, shape, false, true, inside, false, most) then return end
  self.policy:finish_slot(inside)
  for i = 1, count_slots(self, shape, inside) do
    slots[i] = self:fill_slot(shape, inside)
    if not slots[i] then return end
  end
  for _, slot in ipairs(slots) do found:add(self.dominant, "slot", slot) end
end

-- ---- the visit ----------------------------------------------------------------------------------------------

local function wants_exclusive(v, resources)
  for _, r in ipairs(resources) do
    if r.type == v.type and r.exclusive then return true end
  end
  return false
end
M.wants_exclusive = wants_exclusive

-- Notes the label of what v was visited for, for writers that tell. A quirk: a second visit for a label fails.
local function set_label(self, v, resources)
  for _, r in ipairs(resources) do
    if r.type == v.type and r.label and r.label ~= "" then
      if (v.label_sequence or 0) < self.sequence then v.label = nil end
      v.label_sequence = self.sequence
      if v.label then
        errno.code = "EEXIST"
        self:say("dom_dfv: inserting label into ephemeral failed.\n", errno.text(), ".\n")
        return false
      end
      v.label = r.label
    end
  end
  return true
end

local function explore_below(self, meta, v, resources, pristine, exclusive, found)
  for i, subsystem in ipairs(self.subsystems) do
    self:explore(meta, v, subsystem, resources, pristine, exclusive, found, i > 1)
  end
end

local function finish(self, meta, v, resources, found, above)
  local left = available(v, meta.at, meta.duration)
  if left == 0 then return busy() end
  if not left then
    self:say("dom_dfv: planner_avail_resources_during returned -1.\n", errno.text(), ".\n")
    return false
  end
  if not self.policy:finish(v, resources, found) then return false end
  self:resolve(found, above)
  above.avail, above.score = left, found.score
  if not set_label(self, v, resources) then return false end
  self.postorder = self.postorder + 1
  return true
end

--- The visit of v in the dominant subsystem: whether it is a candidate, and whether it would be exclusive.
function M:descend(meta, v, resources, pristine, exclusive, above)
  local x = exclusive or wants_exclusive(v, resources)
  local kind, inner, most = self:test(v, resources, pristine)
  self.preorder = self.preorder + 1
  if not kind then return busy(), x end
  if not may_enter(self, meta, x, self.dominant, v, resources) or not self.policy:discover(v) then return false, x end
  local found = scores.new()
  v[visit_key(self.dominant)] = self.epoch
  if kind == "slot" then
    self:make_slots(meta, v, inner, most, found)
  else
    explore_below(self, meta, v, inner, kind == "pass", x, found)
  end
  return finish(self, meta, v, resources, found, above), x
end

-- ---- the result ---------------------------------------------------------------------------------------------

local function mark(self, part)
  local edge = part.edge
  edge.needs, edge.exclusive, edge.sequence = part.count, part.x, self.sequence
end

-- Makes the ways from a chosen vertex up to the root part of the match, through types that nobody asked for.
local function mark_above(self, edge, found)
  local above, seen = store.edge_above(edge.source, self.dominant), {}
  while above and above.sequence ~= self.sequence and not seen[above] do
    seen[above] = true
    local kind = found:kinds(self.dominant)[above.target.type]
    if kind and kind.taken == 0 then
      above.needs, above.exclusive, above.sequence = above.target.size, false, self.sequence
    end
    above = store.edge_above(above.source, self.dominant)
  end
end

local function mark_candidate(self, candidate, found, upward)
  for _, part in ipairs(candidate.edges or { candidate }) do
    mark(self, part)
    if upward then mark_above(self, part.edge, found) end
  end
end

-- Makes what was chosen part of the match.
local function enforce(self, subsystem, found, upward)
  local kinds = found:kinds(subsystem)
  for _, kind in ipairs(self.matcher.types:sorted(kinds)) do
    for i = 1, kinds[kind].taken > 0 and kinds[kind].best or 0 do
      local candidate = kinds[kind].list[i]
      if candidate.edge or candidate.edges then
        mark_candidate(self, candidate, found, upward and subsystem == self.dominant)
      end
    end
  end
end

--- Settles what a visit found: what was chosen is part of the match, otherwise it is for the vertex above to choose.
function M:resolve(found, above)
  if found.score <= 0 then return end
  if found.chosen then
    for _, subsystem in ipairs(self.subsystems) do enforce(self, subsystem, found, false) end
  else
    above:merge(found, self.subsystems)
  end
end

local function nothing_left(self, found)
  for _, subsystem in ipairs(self.subsystems) do
    for _, kind in pairs(found:kinds(subsystem)) do
      if kind.count == 0 then return true end
    end
  end
  return false
end

-- How many of the root; 0: too few.
local function root_needs(root, resources, found)
  local needs = 1
  for _, r in ipairs(resources) do
    if r.type == root.type then
      needs = counts.allowed(r, found.avail)
      if needs == 0 then return 0 end
    end
  end
  return needs
end

local function resolve_graph(self, root, resources, found)
  if not self.policy:finish_graph(resources, found) then return false, 0 end
  local needs = root_needs(root, resources, found)
  if needs == 0 or nothing_left(self, found) then return false, needs end
  for _, subsystem in ipairs(self.subsystems) do enforce(self, subsystem, found, true) end
  return true, needs
end

--- Looks for resources at meta.at; whether there are.
function M:select(job, root, meta, exclusive)
  local found = scores.new()
  self:tick()
  self.preorder, self.postorder = 0, 0
  local ok, x = self:descend(meta, root, job.resources, true, exclusive, found)
  if not ok then return false end
  found:add(self.dominant, root.type, { score = found.score, count = found.avail, x = exclusive })
  local needs
  ok, needs = resolve_graph(self, root, job.resources, found)
  if not ok then errno.code = "ENODEV" end
  local top = self.graph.root_edges[self.dominant]
  top.needs, top.exclusive, top.sequence = needs, x, self.sequence
  return ok
end

return M
