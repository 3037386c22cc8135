--- schedule.lua - when a job can run: now, at the first time at which it fits, or never.

local commit = require "weir.query.commit"
local errno = require "weir.query.errno"
local store = require "weir.query.store"

local M = {}

local FOREVER = math.maxinteger
-- The graph lasts a hundred years.
local GRAPH_END = 3153600000

local NOW = { allocate = true, without_allocating = true }
local CHECKS = { allocate_with_satisfiability = true, satisfiability = true }

-- {job, at, now, duration, kind, constraint, queue}; nil: the duration makes no sense.
local function describe(job, op, number, at)
  if job.duration < 0 or job.duration ~= job.duration or job.duration > GRAPH_END then
    errno.code = "EINVAL"
    return nil
  end
  local bookless = op == "without_allocating" or op == "without_allocating_future"
  return {
    job = number, at = at, now = at, kind = bookless and "none" or "allocate", constraint = job.constraint,
    duration = job.duration == 0 and GRAPH_END or math.tointeger(math.ceil(job.duration)),
    queue = job.queue ~= "" and job.queue or nil,
  }
end

-- ---- a first look -------------------------------------------------------------------------------------------

local function refuse(op)
  errno.code = CHECKS[op] and "ENODEV" or "EBUSY"
  return false
end

local function is_candidate(v, op, meta, at)
  return (not meta.constraint or meta.constraint(v)) and (CHECKS[op] or not v.down)
    and store.available(v, at, meta.duration) == 1
end

-- Whether there are as many nodes as are wanted, without looking at what is in them.
local function enough_nodes(graph, op, meta, wanted)
  if not meta.constraint and wanted <= graph.nodes_up then return true end
  if wanted > graph.nodes_up then return refuse(op) end
  if not graph.by_type.node then return true end
  local at, n = NOW[op] and meta.at or GRAPH_END - 1, 0
  for _, v in ipairs(graph.by_type.node) do
    if is_candidate(v, op, meta, at) then n = n + 1 end
    if n >= wanted then return true end
  end
  return n >= wanted or refuse(op)
end

-- ---- could it ever ------------------------------------------------------------------------------------------

-- Looks as far in the future as can be. What is not there then never is.
local function ever(run)
  local t, meta = run.traverser, run.meta
  meta.kind = "satisfiability"
  meta.at = FOREVER - meta.duration - 1
  if t:select(run.job, run.root, meta, run.exclusive) then return true end
  if errno.code == "EBUSY" or errno.code == "ERANGE" then errno.code = "ENODEV" end
  t:reset()
  return false
end

local function count_visits(t, add)
  t.total_preorder = t.preorder + (add and t.total_preorder or 0)
  t.total_postorder = t.postorder + (add and t.total_postorder or 0)
end

-- ---- when ---------------------------------------------------------------------------------------------------

local AFTER = {}

function AFTER.allocate()
  errno.code = "EBUSY"
  return false
end

AFTER.without_allocating = AFTER.allocate

function AFTER.allocate_with_satisfiability(run)
  errno.code = "EBUSY"
  ever(run)
  count_visits(run.traverser, true)
  return false
end

-- Tries the times at which something becomes free, as the root counts it.
local function try_times(run)
  local t, meta = run.traverser, run.meta
  local plan = run.root.subplans[t.dominant]
  local at = plan:first(meta.at + 1, meta.duration, plan:amounts(run.needs))
  while at do
    meta.at = at
    local ok = t:select(run.job, run.root, meta, run.exclusive)
    count_visits(t, true)
    if ok then return true end
    at = plan:next()
  end
  return false
end

function AFTER.without_allocating_future(run)
  if try_times(run) then return true end
  if errno.code == "ENOENT" or errno.code == "ERANGE" then
    errno.code = "EBUSY"
    ever(run)
  else
    count_visits(run.traverser, true)
  end
  return false
end

function AFTER.allocate_orelse_reserve(run)
  run.meta.kind = "reserve"
  return AFTER.without_allocating_future(run)
end

local function find_time(run, op)
  if not enough_nodes(run.traverser.graph, op, run.meta, run.needs.node or 0) then return false end
  if run.traverser:select(run.job, run.root, run.meta, run.exclusive) then
    count_visits(run.traverser)
    return true
  end
  return AFTER[op](run)
end

-- ---- all of it ----------------------------------------------------------------------------------------------

local function match(run, op, out)
  local t, meta = run.traverser, run.meta
  if op == "satisfiability" then
    local ok = ever(run)
    count_visits(t)
    if ok then t:reset() end
    return ok
  end
  if not find_time(run, op) then return false end
  if meta.at >= GRAPH_END then
    errno.code = meta.at == GRAPH_END and "EBUSY" or "EINVAL"
    return false
  end
  meta.duration = math.min(meta.duration, GRAPH_END - meta.at)
  return commit.run(t, run.root, out, meta, true), meta.at
end

local function copy(set)
  local same = {}
  for key, value in pairs(set) do same[key] = value end
  return same
end

--- Matches a job from `at` on: whether it did, and when it starts. errno.code says why not.
function M.run(t, job, op, number, at, out)
  t.message = ""
  local root = t.graph.roots[t.dominant]
  if not root or #job.resources == 0 then
    errno.code = "EINVAL"
    return false
  end
  local run = { traverser = t, job = job, root = root, needs = {}, exclusive = t.wants_exclusive(root, job.resources) }
  local exclusive = copy(t.matcher.exclusive)
  t:prime_request(job.resources, run.needs)
  run.meta = describe(job, op, number, at)
  if not run.meta then return false end
  local ok, start = match(run, op, out)
  t.matcher.exclusive = exclusive
  return ok, start
end

return M
