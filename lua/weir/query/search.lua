--- search.lua - `find`: the vertices that an expression holds for, and all above them.

local errno = require "weir.query.errno"
local expression = require "weir.query.expression"
local traverser = require "weir.query.traverser"

local M = {}

local visit_key = traverser.visit_key

local function used_in_all(plan)
  local usage = {}
  local now = os.time()
  for _, entry in ipairs(plan.list) do
    local free = entry.plan:at(now)
    if free == entry.total then free = entry.plan:at(0) end
    usage[entry.type] = ("used:%d, total:%d"):format(entry.total - free, entry.total)
  end
  return usage
end

local function used_by(t, v, plan, job)
  local usage, span = {}, v.job2span[job]
  if not span then
    errno.code = "ENOENT"
    t:say("dom_find_dfv: span missing in job2span  for vertex: ", v.name, "\n")
    return nil
  end
  for i, entry in ipairs(plan.list) do
    local used = plan:planned(span, i)
    if not used then
      t:say("dom_find_dfv: error from planner_multi_span_planned_at:  for vertex: ", v.name, "\n")
      return nil
    end
    usage[entry.type] = ("used:%d, total:%d"):format(used, entry.total)
  end
  return usage
end

local walk

-- What is found below v; nil: an error.
local function walk_below(t, out, v, wanted, above)
  local n, key = 0, visit_key(t.dominant)
  for _, edge in ipairs(v.out) do
    if edge.subsystem == t.dominant and edge.target[key] ~= t.epoch then
      local found = walk(t, out, edge.target, wanted, above)
      if not found then return nil end
      if found > 0 then out:edge(t:prefix(), edge, false) end
      n = n + found
    end
  end
  return n
end

-- Has v written; returns how many are found at and below it. A quirk: where what is in use is asked for and not known, that
-- is none.
local function emit(t, out, v, wanted, below)
  local usage
  if wanted.usage then
    local plan = v.subplans[t.dominant]
    if not plan then return 0 end
    if wanted.job == 0 then usage = used_in_all(plan) else usage = used_by(t, v, plan, wanted.job) end
    if not usage then return 0 end
  end
  if (v.label_sequence or 0) < t.sequence then v.label = nil end
  out:vertex(t:prefix(), v, v.size, true, false, usage)
  v.label = nil
  return below + 1
end

function walk(t, out, v, wanted, above)
  local here = {
    down = above.down or v.down, allocated = above.allocated or next(v.allocations) ~= nil,
    reserved = above.reserved or next(v.reservations) ~= nil,
  }
  t.level = t.level + 1
  v[visit_key(t.dominant)] = t.epoch
  local n = walk_below(t, out, v, wanted, here)
  if n and (n > 0 or expression.holds(wanted, v, here)) then n = emit(t, out, v, wanted, n) end
  t.level = t.level - 1
  return n
end

--- Has all vertices written that an expression holds for; false: malformed, t.message says so.
function M.run(t, out, text)
  t.message = ""
  local wanted = expression.parse(text)
  if not wanted then
    errno.code = "EINVAL"
    t:say("find: invalid criteria: ", text, ".\n")
    return false
  end
  t:tick()
  if not walk(t, out, t.graph.roots[t.dominant], wanted, {}) then return false end
  out:times(0, 0)
  return true
end

return M
