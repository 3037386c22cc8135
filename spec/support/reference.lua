--- reference.lua - a slow, obvious matcher, to prove the engine by.
--
-- The matcher reads a machine through the public API once, into plain tables, and from then on keeps schedules of its
-- own: jobs, pools, amounts and times. Nothing is indexed, nothing is summed up in advance; every question is
-- answered by looking at all vertices. Requests are the jobspec tables that the engine gets.
--
-- Two searches: `place` takes the best vertices in the policy's order that fit, one resource after the other;
-- `possible` tries every choice. Where sibling resources compete for the same vertices, only `possible` tells whether
-- a request fits, and the chosen vertices are left open.

local Reference = require "spec.support.reference_schedule"
local requested = require "spec.support.reference_count"
local satisfies = require "spec.support.reference_constraint"

local allowed, largest = requested.allowed, requested.largest
local is_up, is_below = Reference.is_up, Reference.is_below

local FOREVER = math.huge
local TRIES = 60000 -- choices tried by `possible`

-- ---- views: the vertices that count as present and as free while a request is placed ---------------------------

-- `ideal`: state and use do not count (feasibility). `top`: only vertices below `top`, used by nobody. `given`: the
-- picks of a job, as the whole machine. `held`: picks of the match in progress.
local View = {}
View.__index = View

local function new_view(self, fields)
  fields.machine, fields.held, fields.tries = self, {}, fields.tries or { left = TRIES }
  return setmetatable(fields, View)
end

function View:inner(top)
  return new_view(self.machine, {
    top = top, request = self.request, ideal = self.ideal, tries = self.tries,
  })
end

function View:books_count() return not (self.ideal or self.top or self.given) end

function View:held_on(v, exclusively)
  for _, h in ipairs(self.held) do
    if h.vertex == v and (h.exclusive or not exclusively) then return true end
  end
  return false
end

function View:used_on(v, exclusively)
  if self:held_on(v, exclusively) then return true end
  return self:books_count() and self.machine:touched(v, self.t0, self.t1, exclusively)
end

local function node_fits(view, v)
  local constraint = view.request.constraints
  return not constraint or v.type ~= "node" or satisfies(v, constraint)
end

--- Whether v is only ever given as a whole: then a pick below v takes all of v.
local function only_whole(self, v)
  local types = type(self.policy) == "table" and self.policy.exclusive or {}
  return v.exclusive or types[v.type] or false
end

local function others_below(view, v)
  for i = v.index, v.last do
    if view.machine:touched(view.machine.list[i], view.t0, view.t1, false) then return true end
  end
  return false
end

--- Whether v can be used at all: v and its ancestors are up, not held as a whole, and allowed by the constraint.
function View:reaches(v)
  local at = v
  while at do
    if self:used_on(at, true) or not node_fits(self, at) then return false end
    if self:books_count() and only_whole(self.machine, at) and others_below(self, at) then return false end
    at = at.parent
  end
  return self.ideal or is_up(v)
end

--- Picks as the job holds them: a pick below a vertex that is only given as a whole becomes that whole vertex.
local function widened(self, picks)
  local list, seen = {}, {}
  for _, pick in ipairs(picks) do
    local whole, at = nil, pick.vertex
    while at do
      if only_whole(self, at) then whole = at end
      at = at.parent
    end
    local wide = whole and { vertex = whole, amount = whole.size, exclusive = true } or pick
    if not whole or not seen[whole] then list[#list + 1] = wide end
    if whole then seen[whole] = true end
  end
  return list
end

function View:unused(v)
  for i = v.index, v.last do
    if self:used_on(self.machine.list[i], false) then return false end
  end
  return true
end

local function given_amount(view, v, exclusively)
  local sum
  for _, p in ipairs(view.given) do
    if p.vertex == v and (p.exclusive or not exclusively) then sum = (sum or 0) + p.amount end
    if p.vertex ~= v and p.exclusive and only_whole(view.machine, p.vertex) and is_below(v, p.vertex) then return v.size end
  end
  return sum
end

local function is_shared(view, v)
  for _, h in ipairs(view.held) do
    if h.vertex == v and h.amount == 0 then return true end
  end
  if not view:books_count() then return false end
  for _, s in ipairs(v.spans) do
    if s.amount == 0 and view.machine:overlaps(s, view.t0, view.t1) then return true end
  end
  return false
end

-- Units of v already held by the growing job.
local function had_before(view, v)
  local span = view.job and view:books_count() and Reference.span_of(v, view.job)
  return span and span.amount or 0
end

--- Units of a leaf still free for the match.
function View:free(v)
  if not self:reaches(v) then return 0 end
  local held, most = 0, v.size
  for _, h in ipairs(self.held) do
    if h.vertex == v then held = held + h.amount end
  end
  if self.given then most = given_amount(self, v) or 0 end
  local used = self:books_count() and self.machine:used(v, self.t0, self.t1) or 0
  if is_shared(self, v) then most = math.min(most, v.size - 1 - had_before(self, v)) end
  return math.max(0, math.min(v.size - used, most) - held)
end

-- A vertex held as a whole gives its nodes to the job, so the constraint must allow each node.
local function nodes_fit(view, v)
  for i = v.index, v.last do
    if not node_fits(view, view.machine.list[i]) then return false end
  end
  return true
end

function View:can_take_whole(v)
  if self.given and not given_amount(self, v, true) then return false end
  return self:reaches(v) and self:unused(v) and nodes_fit(self, v)
end

function View:can_share(v)
  if self.given and not given_amount(self, v) then return false end
  return self:reaches(v)
end

function View:hold(v, amount, exclusive)
  self.held[#self.held + 1] = { vertex = v, amount = amount, exclusive = exclusive }
end

function View:forget(mark)
  for i = #self.held, mark + 1, -1 do self.held[i] = nil end
end

-- ---- requests -----------------------------------------------------------------------------------------------

local function compile_resource(r, in_slot)
  local slot = r.type == "slot"
  local out = {
    type = r.type, slot = slot, unit = r.unit or "", exclusive = r.exclusive, counts = allowed(r.count, r.unit),
    in_slot = in_slot, takes = not slot and (r.exclusive or (in_slot and r.exclusive == nil)) or false,
  }
  if r.with then
    out.with = {}
    for i, child in ipairs(r.with) do out.with[i] = compile_resource(child, in_slot or slot) end
  end
  return out
end

-- Whether all pools of memory are in GB.
local function in_gigabytes(self)
  local some = false
  for _, v in ipairs(self.list) do
    if v.type == "memory" and v.unit ~= "GB" then return false end
    some = some or v.type == "memory"
  end
  return some
end

-- Converts MB of pools in GB, rounded up. No other units occur here.
local function convert_units(self, list)
  for _, r in ipairs(list) do
    if r.unit == "MB" and in_gigabytes(self) then
      local counts = {}
      for _, n in ipairs(r.counts) do
        local units = (n + 999) // 1000
        if counts[#counts] ~= units then counts[#counts + 1] = units end
      end
      r.unit, r.counts = "GB", counts
    end
    if r.with then convert_units(self, r.with) end
  end
end

local function compile(self, jobspec)
  local list, system = {}, (jobspec.attributes or {}).system or {}
  for i, r in ipairs(jobspec.resources) do list[i] = compile_resource(r, false) end
  convert_units(self, list)
  local duration = system.duration
  if not duration or duration == 0 then duration = FOREVER end
  return { list = list, duration = duration, constraints = system.constraints }
end

--- How v serves r: "whole", "units", "shared" or "within".
local function use_of(self, v, r)
  local leaf = #v.kids == 0
  if only_whole(self, v) or r.exclusive or (r.takes and not leaf) then return "whole" end
  if leaf and (r.takes or (not r.in_slot and r.exclusive == nil)) then return "units" end
  return (leaf or not r.with) and "shared" or "within"
end

-- The node at or above v; nil: none.
local function node_of(v)
  while v and v.type ~= "node" do v = v.parent end
  return v
end

-- "high" goes by ids; "low" by the nodes first, and vertices outside of nodes come last. Ties go by the tree.
local function before(self, a, b)
  local order = type(self.policy) == "table" and self.policy.order or self.policy
  local x, y = node_of(a), node_of(b)
  if order == "high" then
    a, b = b, a
  elseif x ~= y then
    if not x or not y then return x ~= nil end
    a, b = x, y
  end
  if a.id ~= b.id then return a.id < b.id end
  return a.index < b.index
end

--- The vertices for r below `under`, best first.
local function candidates(self, under, r)
  local list = {}
  for _, v in ipairs(self.list) do
    local unit_fits = v.unit == "" or r.unit == "" or v.unit == r.unit
    if v.type == r.type and is_below(v, under) and unit_fits then list[#list + 1] = v end
  end
  table.sort(list, function(a, b) return before(self, a, b) end)
  return list
end

-- Appends the sibling resources after the slots are opened.
local function open_slots(list, out)
  for _, r in ipairs(list) do
    if r.slot then open_slots(r.with, out) else out[#out + 1] = r end
  end
  return out
end

local function type_is_above(self, outer, inner)
  for _, v in ipairs(self.list) do
    if v.type == inner then
      local up = v.parent
      while up do
        if up.type == outer then return true end
        up = up.parent
      end
    end
  end
  return false
end

local function compete(self, a, b)
  return a.type == b.type or type_is_above(self, a.type, b.type) or type_is_above(self, b.type, a.type)
end

--- Whether sibling resources, anywhere in the list, compete for vertices.
local function competes(self, list)
  local flat = open_slots(list, {})
  for i, a in ipairs(flat) do
    for j = i + 1, #flat do
      if compete(self, a, flat[j]) then return true end
    end
    if a.with and competes(self, a.with) then return true end
  end
  return false
end

-- ---- placing in the policy's order --------------------------------------------------------------------------

local place, possible

local function contents_fit(view, v, r)
  if not r.with then return true end
  local inner = view:inner(v)
  if competes(view.machine, r.with) then return possible(inner, v, r.with) end
  return place(inner, v, r.with, 1)
end

local TAKE = {
  whole = function(view, v, r)
    if not view:can_take_whole(v) or not contents_fit(view, v, r) then return 0 end
    view:hold(v, v.size, true)
    return v.size
  end,
  units = function(view, v, r, want)
    local n = r.with and 0 or math.min(view:free(v), want)
    if n > 0 then view:hold(v, n, n == v.size) end
    return n
  end,
  shared = function(view, v, r)
    if r.with or not view:can_share(v) then return 0 end
    view:hold(v, 0, false)
    return v.size
  end,
  within = function(view, v, r)
    return view:reaches(v) and place(view, v, r.with, 1) and v.size or 0
  end,
}

local function gather(view, under, r, want)
  local got = 0
  for _, v in ipairs(candidates(view.machine, under, r)) do
    if got >= want then break end
    got = got + TAKE[use_of(view.machine, v, r)](view, v, r, want - got)
  end
  return got
end

local function place_resource(view, under, r, times)
  local mark = #view.held
  local got = gather(view, under, r, r.counts[#r.counts] * times)
  local count = largest(r.counts, got // times)
  if count and count * times < got then
    view:forget(mark)
    gather(view, under, r, count * times)
  end
  return count ~= nil
end

local function units_of_type(self, type)
  local sum = 0
  for _, v in ipairs(self.list) do
    if v.type == type then sum = sum + v.size end
  end
  return sum
end

-- ---- slots: the resources inside nodes of a slot come from one node -----

-- Whether slots have to be put into nodes singly. Whole nodes, or resources in a node, are only multiplied.
local function is_hosted(self, under, slot)
  local only = slot.with[1]
  if #slot.with == 1 and #only.counts == 1 and only.counts[1] == 1 then return false end
  for _, r in ipairs(slot.with) do
    if not type_is_above(self, "node", r.type) then return false end
  end
  while under do
    if under.type == "node" then return false end
    under = under.parent
  end
  return true
end

-- The part of a slot that lies inside nodes and the part that lies beside nodes, as slots; nothing where the slot has no such
-- parts, or holds nodes.
local function parts_of(self, under, slot)
  local inside, beside = {}, {}
  for _, r in ipairs(slot.with) do
    if r.type == "node" or type_is_above(self, r.type, "node") then return nil end
    local list = type_is_above(self, "node", r.type) and inside or beside
    list[#list + 1] = r
  end
  if #inside == 0 or #beside == 0 then return nil end
  local hosted = setmetatable({ with = inside }, { __index = slot })
  if is_hosted(self, under, hosted) then return hosted, beside end
end

local function nodes_below(self, under)
  local list = {}
  for _, v in ipairs(self.list) do
    if v.type == "node" and is_below(v, under) then list[#list + 1] = v end
  end
  return list
end

-- The contents of a slot, with the least count of each.
local function least(slot)
  local list = {}
  for i, r in ipairs(slot.with) do list[i] = setmetatable({ counts = { r.counts[1] } }, { __index = r }) end
  return list
end

-- How many slots fit into a node, at most `most`.
local function room(view, node, list, most)
  local mark = #view.held
  for n = 1, most do
    local fits = place(view, node, list, n)
    view:forget(mark)
    if not fits then return n - 1 end
  end
  return most
end

-- The first vertex for the first resource of each of n slots in a node.
local function first_vertices(view, node, r, n)
  local mark, keys, got, want = #view.held, {}, 0, n * r.counts[1]
  for _, v in ipairs(candidates(view.machine, node, r)) do
    if got >= want then break end
    local units = TAKE[use_of(view.machine, v, r)](view, v, r, want - got)
    while #keys < n and #keys * r.counts[1] < got + units do keys[#keys + 1] = v end
    got = got + units
  end
  view:forget(mark)
  return keys
end

-- Deals slots to nodes, each to where its first resource stands first in the order. Returns the nodes, slot by slot.
local function deal(view, under, slot, want)
  local hosts, list, order = {}, least(slot), {}
  for _, node in ipairs(nodes_below(view.machine, under)) do
    local n = room(view, node, list, want)
    for _, v in ipairs(first_vertices(view, node, list[1], n)) do hosts[#hosts + 1] = { node = node, key = v } end
  end
  for i, host in ipairs(hosts) do host.position = i end
  table.sort(hosts, function(a, b)
    if a.key == b.key then return a.position < b.position end
    return before(view.machine, a.key, b.key)
  end)
  for i = 1, math.min(want, #hosts) do order[i] = hosts[i].node end
  return order
end

local function place_hosted(view, under, slot, most)
  local dealt, given = deal(view, under, slot, most), {}
  local count = largest(slot.counts, #dealt)
  if not count then return false end
  for i = 1, count do given[dealt[i]] = (given[dealt[i]] or 0) + 1 end
  for _, node in ipairs(nodes_below(view.machine, under)) do
    if given[node] and not place(view, node, slot.with, given[node]) then return false end
  end
  return true
end

local function place_slot(view, under, r, times)
  local first = open_slots(r.with, {})[1]
  local most = units_of_type(view.machine, first.type) // (first.counts[1] * times)
  if is_hosted(view.machine, under, r) then return place_hosted(view, under, r, math.min(most, r.counts[#r.counts])) end
  local hosted, beside = parts_of(view.machine, under, r)
  for i = #r.counts, 1, -1 do
    local n, mark = r.counts[i], #view.held
    if n <= most and not hosted and place(view, under, r.with, n * times) then return true end
    local exact = hosted and setmetatable({ counts = { n } }, { __index = hosted })
    if n <= most and hosted and place_hosted(view, under, exact, n) and place(view, under, beside, n) then return true end
    view:forget(mark)
  end
  return false
end

--- Places `times` times each of a list of resources below `under`; on false nothing is held.
function place(view, under, list, times)
  local mark = #view.held
  for _, r in ipairs(list) do
    if not (r.slot and place_slot or place_resource)(view, under, r, times) then
      view:forget(mark)
      return false
    end
  end
  return true
end

-- ---- trying everything --------------------------------------------------------------------------------------

-- Demands for units are put off until all else is chosen; whether the units can be had then is a question of flow:
-- each demand draws from its own leaves, and each leaf gives its free units.

local function augment(demand, leaves, seen)
  for _, leaf in ipairs(demand.leaves) do
    if not seen[leaf] then
      seen[leaf] = true
      local l = leaves[leaf]
      if l.used < l.free then
        l.used = l.used + 1
        l.by[demand] = (l.by[demand] or 0) + 1
        return true
      end
      for other, n in pairs(l.by) do
        if n > 0 and other ~= demand and augment(other, leaves, seen) then
          l.by[other] = n - 1
          l.by[demand] = (l.by[demand] or 0) + 1
          return true
        end
      end
    end
  end
  return false
end

local function units_suffice(view, demands)
  local leaves = {}
  for _, d in ipairs(demands) do
    for _, leaf in ipairs(d.leaves) do leaves[leaf] = { free = view:free(leaf), used = 0, by = {} } end
  end
  for _, d in ipairs(demands) do
    for _ = 1, d.need do
      if not augment(d, leaves, {}) then return false end
    end
  end
  return true
end

local function spend(view)
  view.tries.left = view.tries.left - 1
  if view.tries.left < 0 then error({ too_many_tries = true }, 0) end
end

local function split(self, under, r)
  local pools, leaves = {}, {}
  for _, v in ipairs(candidates(self, under, r)) do
    local units = use_of(self, v, r) == "units"
    if not units then pools[#pools + 1] = v elseif not r.with then leaves[#leaves + 1] = v end
  end
  return pools, leaves
end

local choose, continue

-- Puts `left` slots into nodes[i], nodes[i + 1], ... in every way.
local function choose_hosts(view, chain, nodes, i, left)
  spend(view)
  if left == 0 then return continue(view, chain.rest) end
  if not nodes[i] then return false end
  for n = left, 0, -1 do
    local rest = { go = function() return choose_hosts(view, chain, nodes, i + 1, left - n) end }
    for k = #chain.r.with, 1, -1 do
      if n > 0 then rest = { r = chain.r.with[k], under = nodes[i], times = n, rest = rest } end
    end
    if continue(view, rest) then return true end
  end
  return false
end

local function open_list(view, chain)
  local rest = chain.rest
  for i = #chain.r.list, 1, -1 do rest = { r = chain.r.list[i], under = chain.under, times = 1, rest = rest } end
  return continue(view, rest)
end

local function open_slot(view, chain)
  local r, rest = chain.r, chain.rest
  if is_hosted(view.machine, chain.under, r) then
    return choose_hosts(view, chain, nodes_below(view.machine, chain.under), 1, chain.times * r.counts[1])
  end
  local hosted, beside = parts_of(view.machine, chain.under, r)
  for i = #(beside or r.with), 1, -1 do
    rest = { r = (beside or r.with)[i], under = chain.under, times = chain.times * r.counts[1], rest = rest }
  end
  if not hosted then return continue(view, rest) end
  local own = { r = hosted, under = chain.under, times = chain.times, rest = rest }
  return choose_hosts(view, own, nodes_below(view.machine, chain.under), 1, chain.times * r.counts[1])
end

-- Goes through the chain of resources still to be placed: {r=, under=, times=, rest=}. Units are in view.demands. A
-- link with `go` is a choice to continue with.
function continue(view, chain)
  spend(view)
  if not chain then return units_suffice(view, view.demands) end
  if chain.go then return chain.go() end
  local r, rest = chain.r, chain.rest
  if r.list then return open_list(view, chain) end
  if r.slot then return open_slot(view, chain) end
  local pools, leaves = split(view.machine, chain.under, r)
  return choose(view, { pools = pools, leaves = leaves, r = r, rest = rest }, 1, r.counts[1] * chain.times)
end

local function put_off(view, wanted, need)
  if need > 0 and #wanted.leaves == 0 then return false end
  local demands = view.demands
  if need > 0 then demands[#demands + 1] = { leaves = wanted.leaves, need = need } end
  local ok = units_suffice(view, demands) and continue(view, wanted.rest)
  if need > 0 then demands[#demands] = nil end
  return ok
end

local function with_hold(view, v, amount, exclusive, go)
  local mark = #view.held
  view:hold(v, amount, exclusive)
  local ok = go()
  view:forget(mark)
  return ok
end

-- The ways to continue after taking a pool; `go` continues with the next pool.
local TRY = {
  whole = function(view, v, wanted, go)
    return view:can_take_whole(v) and contents_fit(view, v, wanted.r) and with_hold(view, v, v.size, true, go)
  end,
  shared = function(view, v, wanted, go)
    return not wanted.r.with and view:can_share(v) and with_hold(view, v, 0, false, go)
  end,
  within = function(view, v, wanted, go)
    if not view:reaches(v) then return false end
    return continue(view, { r = { list = wanted.r.with }, under = v, rest = { go = go } })
  end,
}

local function units_from(pools, i)
  local sum = 0
  for k = i, #pools do sum = sum + pools[k].size end
  return sum
end

function choose(view, wanted, i, need)
  spend(view)
  if need <= 0 or i > #wanted.pools then return put_off(view, wanted, need) end
  if #wanted.leaves == 0 and units_from(wanted.pools, i) < need then return false end
  local v = wanted.pools[i]
  local try = TRY[use_of(view.machine, v, wanted.r)]
  if try(view, v, wanted, function() return choose(view, wanted, i + 1, need - v.size) end) then return true end
  return choose(view, wanted, i + 1, need)
end

--- Whether the minimum of a list of resources can be placed below `under` in any way at all.
function possible(view, under, list)
  local demands = view.demands
  view.demands = {}
  local ok = continue(view, { r = { list = list }, under = under })
  view.demands = demands
  return ok
end

-- ---- matching -----------------------------------------------------------------------------------------------

local function try_everything(view, list)
  local ok, answer = pcall(possible, view, nil, list)
  if ok then return answer end
  if type(answer) == "table" and answer.too_many_tries then return nil end
  error(answer, 0)
end

-- An answer: {fits = true|false|nil, picks = where the choice is certain, competing = }; fits is nil where trying
-- everything takes too long.
local function attempt(self, request, fields)
  fields.request = request
  local view, competing = new_view(self, fields), competes(self, request.list)
  if competing then return { fits = try_everything(view, request.list), competing = true } end
  local fits = place(view, nil, request.list, 1)
  return { fits = fits, picks = fits and widened(self, view.held), competing = false }
end

-- The resources whose counts vary, in the order of the request.
local function varying(list, out)
  for _, r in ipairs(list) do
    if #r.counts > 1 then out[#out + 1] = r end
    if r.with then varying(r.with, out) end
  end
  return out
end

-- An answer for a request that fits: each count in turn is fixed to the largest with which the request still fits.
local function with_largest_counts(self, request, fields)
  local answer
  for _, r in ipairs(varying(request.list, {})) do
    local counts, most = r.counts, units_of_type(self, r.slot and open_slots(r.with, {})[1].type or r.type)
    for i = #counts, 1, -1 do
      r.counts = { counts[i] }
      answer = (counts[i] <= most or i == 1) and attempt(self, request, fields) or { fits = false }
      if answer.fits then break end
    end
  end
  return answer
end

-- As attempt, with the counts that a job gets. Where resources compete, the choice is open in any case.
local function served(self, request, fields)
  local answer = attempt(self, request, fields)
  if not answer.fits or answer.competing then return answer end
  return with_largest_counts(self, request, fields) or answer
end

--- A time as stored by the engine, in whole microseconds.
function Reference.microseconds(t)
  if t == FOREVER then return t end
  local rounded = math.floor(t * 1e6 + 0.5) / 1e6
  return math.tointeger(rounded) or rounded
end

local function at_time(self, request, t)
  local finish = Reference.microseconds(t + request.duration)
  local answer = served(self, request, { t0 = t, t1 = finish })
  answer.start, answer.finish = t, finish
  return answer
end

-- Times at which more may be free than before: the ends of jobs. Jobs past their ends delay no later start, even a
-- start one microsecond later.
local function starts(self, from)
  local list = { from }
  for _, job in pairs(self.jobs) do
    if job.finish <= self.clock and from == self.clock then list[#list + 1] = Reference.microseconds(from + 1e-6) end
    if job.finish > from and job.finish < FOREVER then list[#list + 1] = job.finish end
  end
  table.sort(list)
  return list
end

local function earliest(self, request, from)
  local competing
  for _, t in ipairs(starts(self, from)) do
    local answer = at_time(self, request, t)
    if answer.fits ~= false then return answer end
    competing = answer.competing
  end
  return { fits = false, competing = competing }
end

-- Feasibility is not for the policy to decide.
local function feasible(self, request)
  local policy = self.policy
  self.policy = type(policy) == "table" and policy.order or policy
  local answer = attempt(self, request, { ideal = true })
  self.policy = policy
  return answer
end

--- The answer that the engine must give to a match: an answer as above, with `start` and `finish` where the request
-- fits, or with `code`.
function Reference:match(jobspec, opts)
  local request = compile(self, jobspec)
  local mode = opts.mode or "now"
  local ever = feasible(self, request)
  if mode == "feasible" or ever.fits == false then
    ever.code = ever.fits == false and "infeasible" or nil
    return ever
  end
  local from = math.max(opts.at or self.clock, self.clock)
  local answer = mode == "reserve" and earliest(self, request, from) or at_time(self, request, from)
  if answer.fits == false then
    if ever.fits == nil then return ever end
    answer.code = "busy"
  end
  return answer
end

--- The answer due from the engine when an existing job asks for more: from now, or the job's start, to the job's end.
function Reference:grow(id, jobspec)
  local job, request = self.jobs[id], compile(self, jobspec)
  if job.finish <= self.clock then return { fits = false, code = "invalid" } end
  local ever = feasible(self, request)
  local t0 = math.max(job.start, self.clock)
  local answer = served(self, request, { t0 = t0, t1 = job.finish, job = id })
  if answer.fits == false then answer.code = ever.fits == false and "infeasible" or "busy" end
  if answer.fits == false and ever.fits == nil then return ever end
  answer.start, answer.finish = t0, job.finish
  return answer
end

--- Whether trying everything agrees with placing in order, for a request without competition: a check of this file.
function Reference:agrees(jobspec)
  local request = compile(self, jobspec)
  local fields = { t0 = self.clock, t1 = self.clock + request.duration }
  local answer = attempt(self, request, fields)
  if answer.competing then return true end
  local view = new_view(self, { t0 = fields.t0, t1 = fields.t1, request = request })
  local all = try_everything(view, request.list)
  return all == nil or all == answer.fits
end

-- ---- judging the choice of the engine --------------------------------------------------------------------------

local function describe(pick)
  return ("%s:%d%s"):format(pick.vertex.path, pick.amount, pick.exclusive and "x" or "")
end

--- Picks as a line, in the order of the vertices.
function Reference.show(picks)
  local sorted, lines = table.move(picks, 1, #picks, 1, {}), {}
  table.sort(sorted, function(a, b)
    if a.vertex ~= b.vertex then return a.vertex.index < b.vertex.index end
    return a.amount < b.amount
  end)
  for i, pick in ipairs(sorted) do lines[i] = describe(pick) end
  return table.concat(lines, " ")
end

local function pick_fault(view, pick)
  local v = pick.vertex
  if not view:reaches(v) then return "cannot be used" end
  if pick.exclusive then
    if not view:unused(v) then return "is in use" end
    if pick.amount ~= v.size then return "is held as a whole, but not all of its units" end
  elseif pick.amount > view:free(v) then
    return "has not that much"
  elseif pick.amount == v.size then
    return "is given away whole, but not exclusively"
  end
end

--- Why a job cannot have the picks from `start` on; nil where it can, and the picks satisfy the request. `finish` is
-- given where it does not follow from the request, `more` lists further vertices that serve the request.
function Reference:fault(jobspec, picks, start, finish, more)
  local request = compile(self, jobspec)
  finish = finish or Reference.microseconds(start + request.duration)
  local view = new_view(self, { t0 = start, t1 = finish, request = request })
  for _, pick in ipairs(picks) do
    local why = pick_fault(view, pick)
    if why then return ("%s %s"):format(describe(pick), why) end
    view:hold(pick.vertex, pick.amount, pick.exclusive)
  end
  local given = table.move(more or {}, 1, #(more or {}), #picks + 1, table.move(picks, 1, #picks, 1, {}))
  local fits = try_everything(new_view(self, { given = given, request = request }), request.list)
  if fits == false then -- with a count fixed to 1, a slot may be a single vertex, which need not be in a node
    for _, r in ipairs(varying(request.list, {})) do r.counts = { r.counts[1] } end
    fits = try_everything(new_view(self, { given = given, request = request }), request.list)
  end
  if fits == false then return "the request does not fit into what it got" end
end

return Reference
