--- commit.lua - books the last match, and has it written: what was chosen, in the order in which a depth-first walk ends
-- its visits.
--
-- meta: {job, at, duration, now, kind}; kind is "allocate", "reserve", "satisfiability" or "none" (nothing is booked).

local errno = require "weir.query.errno"
local store = require "weir.query.store"
local traverser = require "weir.query.traverser"

local M = {}

local own, visit_key = store.own, traverser.visit_key

-- ---- one vertex ---------------------------------------------------------------------------------------------

-- What v itself gives: only what is exclusive is planned. nil: it cannot be booked.
local function book_plan(t, v, needs, meta)
  local span = store.plan(v):add(meta.at, meta.duration, needs)
  if not span then
    t:say("upd_plan: planner_add_span returned -1.\n", errno.text(), "\n")
    return nil
  end
  if meta.kind == "allocate" then own(v, "allocations")[meta.job] = span end
  if meta.kind == "reserve" then own(v, "reservations")[meta.job] = span end
  return true
end

-- Notes that the job has something at or below v.
local function book_use(t, v, meta)
  own(v, "tags")[meta.job] = true
  local span = store.exclusive_plan(v):add(meta.at, meta.duration, 1)
  if not span then
    t:say("upd_txfilter: planner_add_span returned -1.\n", errno.text(), "\n")
    return nil
  end
  own(v, "x_spans")[meta.job] = span
  return true
end

-- Counts what the job has below v.
local function book_below(t, v, subsystem, meta, below)
  local plan = v.subplans[subsystem]
  if not plan or next(below) == nil then return true end
  local span = plan:add(meta.at, meta.duration, plan:amounts(below))
  if not span then
    t:say("upd_agfilter: planner_multi_add_span returned -1.\n", errno.text(), "\n")
    return nil
  end
  own(v, "job2span")[meta.job] = span
  return true
end

local function count_for_parent(t, v, subsystem, needs, exclusive, below, above)
  t:accumulate(subsystem, v.type, exclusive and v.size or v.size - needs, above)
  for kind, n in pairs(below) do t:accumulate(subsystem, kind, n, above) end
end

-- Books v and has it written; returns how many exclusive vertices there are at and below it.
local function book(t, out, v, visit, meta, n, below, above)
  if visit.exclusive then
    n = n + 1
    if meta.kind ~= "none" and visit.full and not book_plan(t, v, visit.needs, meta) then return n end
  end
  if meta.kind ~= "none" and n > 0 then
    if not book_use(t, v, meta) or not book_below(t, v, t.dominant, meta, below) then return n end
    count_for_parent(t, v, t.dominant, visit.needs, visit.exclusive, below, above)
  end
  if n > 0 then out:vertex(t:prefix(), v, visit.needs, visit.exclusive, visit.exclusive_parent) end
  t.level = t.level - 1
  return n
end

-- The weight of an edge is what is left below its target now, of the type that is scarcest.
local function reweigh(edge, subsystem, meta)
  local plan = edge.target.subplans[subsystem]
  if not plan then return end
  local left = plan.list[#plan.list].plan:at(meta.now)
  if left == 0 and plan:idle() then return end
  store.reweigh(edge, left or 0)
end

-- ---- the walk -----------------------------------------------------------------------------------------------

local walk

-- Whether an edge belongs to what is booked; `whole`: all below the vertex is.
local function wanted(t, edge, subsystem, whole)
  return edge.subsystem == subsystem and edge.target[visit_key(subsystem)] ~= t.epoch
    and (whole or edge.sequence == t.sequence)
end

local function walk_edge(t, out, edge, subsystem, visit, whole, meta, below)
  local target, n = edge.target, 0
  if subsystem == t.dominant then
    local inner = {
      needs = whole and target.size or edge.needs, exclusive = whole or edge.exclusive or false, full = visit.full,
      exclusive_parent = visit.exclusive,
    }
    n = walk(t, out, target, inner, meta, below, whole)
  end
  if n > 0 then
    if t.policy.stop then reweigh(edge, subsystem, meta) end
    out:edge(t:prefix(), edge, visit.exclusive)
  end
  return n
end

function walk(t, out, v, visit, meta, above, whole)
  local n, below = 0, {}
  whole = whole or t.matcher.exclusive[v.type] or false
  visit.exclusive = visit.exclusive or whole
  t.level = t.level + 1
  v[visit_key(t.dominant)] = t.epoch
  for _, subsystem in ipairs(t.subsystems) do
    for _, edge in ipairs(v.out) do
      if wanted(t, edge, subsystem, whole) then
        n = n + walk_edge(t, out, edge, subsystem, visit, whole, meta, below)
      end
    end
  end
  return book(t, out, v, visit, meta, n, below, above)
end

--- Books what is marked from the root on; true when there is any. Without `full` the vertices are planned already.
function M.run(t, root, out, meta, full)
  local top = t.graph.root_edges[t.dominant]
  local visit = { needs = top.needs, exclusive = top.exclusive or false, full = full, exclusive_parent = false }
  t:reset()
  if walk(t, out, root, visit, meta, {}, t.matcher.exclusive[root.type] or false) == 0 then return false end
  out:times(meta.at, meta.at + meta.duration)
  if meta.queue then out:attribute("queue", meta.queue) end
  return true
end

return M
