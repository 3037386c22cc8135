--- search.lua - the command `find`: the vertices satisfying an expression, and all ancestors, as a tree (tree.lua).

local expression = require "weir.query.expression"
local tables = require "weir.tables"
local tree = require "weir.query.tree"

local M = {}

-- ---- uses of vertices by jobs -------------------------------------------------------------------------------

local NOTHING = { alloc = {}, reserve = {}, span = {}, tag = {} }

local function entry(uses, v)
  uses[v] = uses[v] or { alloc = {}, reserve = {}, span = {}, tag = {} }
  return uses[v]
end

local function add_amount(into, job, kind, amount)
  into.below = into.below or {}
  into.below[job] = into.below[job] or {}
  into.below[job][kind] = (into.below[job][kind] or 0) + amount
end

-- Records the resources that a job holds at and below n. Returns the units by type.
local function note(uses, job, n)
  local here, below = entry(uses, n.vertex), {}
  here.tag[job.job] = true
  if n.exclusive then here[job.kind == "reserve" and "reserve" or "alloc"][job.job] = true end
  for _, child in ipairs(n.children) do
    here.span[job.job] = true
    for kind, amount in pairs(note(uses, job, child)) do below[kind] = (below[kind] or 0) + amount end
  end
  for kind, amount in pairs(below) do add_amount(here, job.job, kind, amount) end
  if n.exclusive then below[n.vertex.type] = (below[n.vertex.type] or 0) + n.amount end
  return below
end

-- Returns the use of each vertex: {alloc, reserve, span, tag (sets of jobs), below (units by job and type)}.
local function uses_of(session)
  local uses = {}
  for _, job in ipairs(session:list()) do
    local root = tree.of(session.machine:root(), job.parts)
    if root then note(uses, job, root) end
    for v in pairs(job.tags or {}) do entry(uses, v).tag[job.job] = true end
  end
  return uses
end

-- ---- usage --------------------------------------------------------------------------------------------------

-- Returns the types that -p counts at a vertex.
local function counted_types(session, v)
  return session.machine.filters:types(v.type, session.machine:leaf_types())
end

--- Returns a function of a vertex: whether the job holds units below the vertex, of a type counted by -p at the
--- vertex.
function M.counted(session, job)
  local uses, root = {}, tree.of(session.machine:root(), job.parts)
  if root then note(uses, job, root) end
  return function(v)
    local below = uses[v] and uses[v].below and uses[v].below[job.job] or {}
    return tables.any(counted_types(session, v), function(kind) return (below[kind] or 0) > 0 end)
  end
end

local function is_on(session, number)
  local job = session.jobs[number]
  return job and job.at <= 0 and job.stop > 0
end

-- Returns the units of a type held below a vertex by a job, or by all running jobs together.
local function used(search, use, kind)
  local sum = 0
  for job, below in pairs(use.below or {}) do
    if job == search.wanted.job or not search.wanted.job and is_on(search.session, job) then sum = sum + (below[kind] or 0) end
  end
  return sum
end

-- Returns "used:1, total:4" by type; nil if -p counts nothing at the vertex, or the requested job uses nothing below.
local function usage(search, v, use)
  if v:nchildren() == 0 then return nil end
  local counted = {}
  for _, kind in ipairs(counted_types(search.session, v)) do
    counted[kind] = ("used:%d, total:%d"):format(used(search, use, kind), (v:below(kind)))
  end
  if next(counted) == nil or search.wanted.job and not use.span[search.wanted.job] then return nil end
  return counted
end

-- ---- the walk -----------------------------------------------------------------------------------------------

local function describe(search, v, above)
  local use = search.uses[v] or NOTHING
  return {
    vertex = v, jobs = use, down = above.down or v.state == "down", allocated = above.allocated or next(use.alloc) ~= nil,
    reserved = above.reserved or next(use.reserve) ~= nil,
  }
end

local walk

local function children_of(search, v, here)
  local children = {}
  for child in v:children() do children[#children + 1] = walk(search, child, here) end
  return children
end

-- Whether one of the nodes is shown.
local function any_shown(nodes)
  for _, n in ipairs(nodes) do
    if not n.hidden then return true end
  end
  return false
end

-- A node that is not shown, though nodes below are; nil without such nodes.
local function hidden(v, children) return #children > 0 and { vertex = v, hidden = true, children = children } or nil end

-- Returns the node of v with the matching descendants. Quirk: if the expression tests usage, vertices without counted
-- types are not shown, nor are vertices above that do not match themselves.
function walk(search, v, above)
  local here = describe(search, v, above)
  local children = children_of(search, v, here)
  if not any_shown(children) and not expression.holds(search.wanted, here) then return hidden(v, children) end
  local counted
  if search.wanted.usage then
    counted = usage(search, v, here.jobs)
    if not counted then return hidden(v, children) end
  end
  return { vertex = v, amount = v.size, exclusive = true, children = children, usage = counted }
end

--- Returns the tree of the vertices found, nil if none; false if the expression is malformed.
function M.run(session, text)
  local wanted = expression.parse(text)
  if not wanted then return false end
  local search = { session = session, wanted = wanted, uses = uses_of(session) }
  return walk(search, session.machine:root(), { down = false, allocated = false, reserved = false })
end

return M
