--- cancel.lua - gives back what jobs have: all of one job, a part of it, or all that is below some ranks.

local errno = require "weir.query.errno"
local store = require "weir.query.store"
local traverser = require "weir.query.traverser"

local M = {}

local visit_key = traverser.visit_key

-- ---- one vertex ---------------------------------------------------------------------------------------------

-- The use of a vertex by a job. `must`: it has to be there.
local function drop_use(t, v, job, must)
  local span = v.x_spans[job]
  if not span then
    if must then t:say "rem_exclusive_filter: jobid isn't found in x_spans table.\n " end
    return not must
  end
  v.x_spans[job] = nil
  return v.x:remove(span) == true
end

-- What a job has below v as a whole.
local function drop_below(t, v, job)
  local plan, span = v.subplans[t.dominant], v.job2span[job]
  if not plan or not span then return true end
  if not plan:remove(span) then
    t:say("mod_agfilter: planner_multi_rem_span returned -1.\n", v.name, " ", errno.text(), ".\n")
    return false
  end
  v.job2span[job] = nil
  return true
end

-- Takes units by type from what a job has below v. A quirk: what the job has of v itself counts as given back.
local function reduce_below(t, v, job, by_type)
  local plan, span = v.subplans[t.dominant], v.job2span[job]
  if not plan or not span or not v.tags[job] then return true end
  if next(by_type) == nil then
    t:say("mod_agfilter: type_to_count empty.\n", v.name, " ", errno.text(), ".\n")
    return false
  end
  local ok, gone = plan:reduce(span, by_type)
  if not ok then
    t:say("mod_agfilter: planner_multi_reduce_span returned -1.\n", v.name, " ", errno.text(), ".\n")
    return false
  end
  if gone then v.job2span[job], v.tags[job] = nil, nil end
  return drop_use(t, v, job, false)
end

local function take_span(v, job)
  local span = v.allocations[job] or v.reservations[job]
  v.allocations[job] = nil
  if span then v.reservations[job] = nil end
  return span
end

-- What a job has of v itself; `freed` (by rank and type) counts it.
local function drop_plan(v, job, freed)
  local span = take_span(v, job)
  if not span then return true end
  if freed then
    local by_type = freed[v.rank] or {}
    freed[v.rank] = by_type
    by_type[v.type] = (by_type[v.type] or 0) + v.plan:amount(span)
  end
  return v.plan:remove(span) == true
end

-- ---- a whole job --------------------------------------------------------------------------------------------

local function drop_tree(t, v, job)
  local ok, key = true, visit_key(t.dominant)
  t.preorder = t.preorder + 1
  v[key] = t.epoch
  if not v.tags[job] then return true end
  v.tags[job] = nil
  if not drop_use(t, v, job, false) or not drop_below(t, v, job) or not drop_plan(v, job) then return false end
  for _, edge in ipairs(v.out) do
    if edge.subsystem == t.dominant and edge.target[key] ~= t.epoch then ok = drop_tree(t, edge.target, job) and ok end
  end
  t.postorder = t.postorder + 1
  return ok
end

-- For a job that another traverser placed, which left no traces on the way. A quirk: it works, and reports failure.
local function drop_everywhere(t, job)
  for _, v in ipairs(t.graph.vertices) do
    local span = take_span(v, job)
    if span then
      v.plan:remove(span)
      t:say("mod_exv: planner_rem_span returned -1.\nname=", v.name, "uniq_id=", v.uniq_id, ".\n", errno.text(), ".\n")
    end
  end
  return false
end

local function count_visits(t) t.total_preorder, t.total_postorder = t.preorder, t.postorder end

--- Gives back all that a job has.
function M.job(t, job)
  local root = t.graph.roots[t.dominant]
  t.message, t.preorder, t.postorder = "", 0, 0
  t:reset()
  local ok
  if root.tags[job] then ok = drop_tree(t, root, job) else ok = drop_everywhere(t, job) end
  count_visits(t)
  return ok
end

-- ---- parts of a job -----------------------------------------------------------------------------------------

-- Calls f(ancestor) for each vertex above v.
local function each_above(t, v, f)
  local edge, seen = store.edge_above(v, t.dominant), {}
  while edge and not seen[edge] do
    seen[edge] = true
    f(edge.source)
    edge = store.edge_above(edge.source, t.dominant)
  end
end

local function add_counts(sums, v, by_type)
  sums[v] = sums[v] or {}
  for kind, n in pairs(by_type) do sums[v][kind] = (sums[v][kind] or 0) + n end
end

-- The units by type that were freed below each vertex above the roots of the ranks; nil: a rank without counts.
local function sum_above(t, who, roots, freed)
  local sums, order = {}, {}
  for rank, root in pairs(roots) do
    if not freed[rank] then
      t:say(who, ": ", rank, " not found in rank_to_counts.\n")
      return nil
    end
    each_above(t, root, function(v)
      if not sums[v] then order[#order + 1] = v end
      add_counts(sums, v, freed[rank])
    end)
  end
  table.sort(order, function(a, b) return a.index > b.index end)
  return sums, order
end

local function shorter(v, than, subsystem) return not than or #v.paths[subsystem] < #than.paths[subsystem] end

local function cancel_vertex(t, v, job, freed)
  if not v.tags[job] then return true end
  v.tags[job] = nil
  if not drop_use(t, v, job, true) or not drop_below(t, v, job) or not drop_plan(v, job, freed) then
    errno.code = "EINVAL"
    return false
  end
  return true
end

-- Cancels all that a job has on some ranks; the topmost vertex of each rank, or nil.
local function cancel_ranks(t, job, ranks, freed)
  local roots = {}
  for _, rank in ipairs(ranks) do
    local list = t.graph.by_rank[rank]
    if not list then
      t:say("remove", rank, " not found in by_rank map.\n")
      return nil
    end
    for _, v in ipairs(list) do
      if not cancel_vertex(t, v, job, freed) then
        t:say("remove: cancel_vertex failed\n.", v.name, ".\n")
        return nil
      end
      if shorter(v, roots[rank], t.dominant) then roots[rank] = v end
    end
  end
  return roots
end

local function reduce_above(t, job, sums, order)
  for _, v in ipairs(order) do
    if not reduce_below(t, v, job, sums[v]) then
      errno.code = "EINVAL"
      t:say("remove: cancel_vertex failed\n.", v.name, ".\n")
      return false
    end
  end
  return true
end

local function part(t, job, change)
  local freed = change.freed or {}
  local roots = change.roots or cancel_ranks(t, job, change.ranks, freed)
  if not roots then return false end
  if next(roots) == nil then
    t:say "remove: rank_to_root is empty.\n"
    return false
  end
  local sums, order = sum_above(t, "remove", roots, freed)
  if not sums then return false end
  local root = t.graph.roots[t.dominant]
  if not root.tags[job] then return drop_everywhere(t, job) end
  if not reduce_above(t, job, sums, order) then return false end
  return true, not root.tags[job]
end

--- Gives back a part of what a job has, as `reader` finds it in a text; whether it did, and whether nothing is left.
function M.part(t, job, reader, text)
  t.message, t.preorder, t.postorder = "", 0, 0
  t:tick()
  local change, why = reader.cancel(t, text, job)
  local ok, all = false, false
  if change then
    ok, all = part(t, job, change)
  else
    t:say(why or "", "remove: partial_cancel returned error.\n")
  end
  count_visits(t)
  return ok, all
end

-- ---- ranks --------------------------------------------------------------------------------------------------

local function clear_vertex(t, v, freed)
  local sum = 0
  for _, span in pairs(v.allocations) do sum = sum + (v.plan:amount(span) or 0) end
  local by_type = freed[v.rank] or {}
  freed[v.rank] = by_type
  by_type[v.type] = (by_type[v.type] or 0) + sum
  v.plan = nil
  local plan = v.subplans[t.dominant]
  if plan then plan:reset() end
  store.forget_jobs(v)
end

-- Clears the vertices of a rank; the topmost one, or nil. Jobs that were there are added to `jobs`.
local function clear_rank(t, rank, freed, jobs)
  local root
  if not t.graph.by_rank[rank] then
    t:say("remove: ", rank, " not found in by_rank map.\n")
    return nil
  end
  for _, v in ipairs(t.graph.by_rank[rank]) do
    for job in pairs(v.tags) do jobs[job] = true end
    clear_vertex(t, v, freed)
    if shorter(v, root, t.dominant) then root = v end
  end
  return root
end

local function reduce_jobs(t, jobs, sums, order)
  for _, v in ipairs(order) do
    for job in pairs(jobs) do
      if not reduce_below(t, v, job, sums[v]) then
        errno.code = "EINVAL"
        t:say("remove: ", v.name, ": cancel_vertex failed.\n")
        return false
      end
    end
  end
  return true
end

--- Gives back what all jobs have on some ranks. A quirk: each of the jobs counts as having had it all.
function M.ranks(t, ranks)
  local roots, freed, jobs = {}, {}, {}
  t.message, t.preorder, t.postorder = "", 0, 0
  for _, rank in ipairs(ranks) do
    roots[rank] = clear_rank(t, rank, freed, jobs)
    if not roots[rank] then return false end
  end
  if next(jobs) == nil then return true end
  local sums, order = sum_above(t, "remove", roots, freed)
  return sums ~= nil and reduce_jobs(t, jobs, sums, order)
end

return M
