--- books.lua - keeps weir's own graph and its books in step with what the dialect decides: what a job holds as a whole is
-- allocated there, the topmost vertices of it.
--
-- Main invariant: for each job, the vertices in held[job] are allocated to it in weir's graph over its time.

local core = require "weir.core"

local M = {}
M.__index = M

local SUBSYSTEM = "containment"
-- The clock of weir ends a little after this many seconds.
local END = 9 * 10 ^ 12 // 1

-- ---- the graph ----------------------------------------------------------------------------------------------

local function describe(v)
  return {
    type = v.type, basename = v.basename, name = v.name ~= v.basename .. v.id and v.name or nil,
    id = v.id >= 0 and v.id or nil, size = v.size, unit = v.unit ~= "" and v.unit or nil,
    rank = v.rank >= 0 and v.rank or nil,
  }
end

local function add_tree(g, v, parent)
  v.pool = g:add(parent and parent.pool, describe(v))
  if not v.pool then return end
  for _, edge in ipairs(v.out) do
    if edge.subsystem == SUBSYSTEM and not edge.target.pool then add_tree(g, edge.target, v) end
  end
end

local function has_parent(v)
  for _, edge in ipairs(v.into) do
    if edge.subsystem == SUBSYSTEM then return true end
  end
  return false
end

local function add_links(g, v)
  for _, edge in ipairs(v.out) do
    if edge.subsystem ~= SUBSYSTEM and v.pool and edge.target.pool then
      g:add_edge(v.pool, edge.target.pool, { subsystem = edge.subsystem })
    end
  end
end

--- A copy of a graph in weir, without books.
function M.new(graph)
  local g = core.new()
  g:begin()
  for _, v in ipairs(graph.vertices) do
    if not v.pool and not has_parent(v) then add_tree(g, v, nil) end
  end
  for _, v in ipairs(graph.vertices) do add_links(g, v) end
  assert(g:finish())
  return setmetatable({ graph = g, store = graph, held = {} }, M)
end

--- Adds what was attached.
function M:attach()
  for _, v in ipairs(self.store.vertices) do
    if not v.pool and not v.removed then
      local parent
      for _, edge in ipairs(v.into) do parent = parent or edge.subsystem == SUBSYSTEM and edge.source or nil end
      if not parent or parent.pool then add_tree(self.graph, v, parent) end
    end
  end
end

-- Forgets the pools at and below one that goes away.
local function forget_below(vertices, pool)
  for _, v in ipairs(vertices) do
    if v.pool and v.pool:within(pool) then v.pool = nil end
  end
end

--- Takes away what stood on top of what was removed, with what jobs had there.
function M:detach(roots)
  for _, v in ipairs(roots) do
    local pool = v.pool
    if pool then
      forget_below(self.store.vertices, pool)
      self.graph:unlink(pool, { force = true })
    end
  end
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

-- What a job holds as a whole at and below v: {vertex, span}.
local function collect(v, job, list)
  if list[v] then return list end
  list[v] = true
  local span = v.allocations[job] or v.reservations[job]
  if span and v.pool then
    list[#list + 1] = { vertex = v, span = v.plan.spans[span] }
    return list
  end
  for _, edge in ipairs(v.out) do
    if edge.target.tags[job] or edge.target.allocations[job] then collect(edge.target, job, list) end
  end
  return list
end

function M:release(job)
  for _, v in ipairs(self.held[job] or {}) do
    if v.pool then v.pool:release(job) end
  end
  self.held[job] = nil
end

--- Brings the books of a job up to date. Returns the first thing that weir refused, which is none as long as the dialect
--- gives nothing twice.
function M:sync(job, root)
  local refused
  self:release(job)
  if job <= 0 then return nil end
  self.held[job] = {}
  for _, part in ipairs(collect(root, job, {})) do
    local span, v = part.span, part.vertex
    local start, stop = math.min(span.start, END - 1), math.min(span.stop, END)
    local ok, why = v.pool:allocate { job = job, amount = v.size, start = start, duration = stop - start }
    if ok then
      table.insert(self.held[job], v)
    else
      refused = refused or why
    end
  end
  return refused
end

return M
