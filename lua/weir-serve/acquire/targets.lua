--- targets.lua - the execution targets of a graph: the vertices of each rank, and the jobs on them.

local core = require "weir.core"

local M = {}

local Targets = {}
Targets.__index = Targets

-- Returns false where a rank begins, to end a walk there.
local function above_ranks(v) return v.rank == nil end

-- Returns true if the state of a vertex lets jobs in.
local function usable(v) return v.state == "up" or v.state == "degraded" end

-- Adds a vertex to a target. A target with a single vertex, the usual case, has no list: ten thousand lists would
-- burden the garbage collector.
local function add(vertices, rank, v)
  local known = vertices[rank]
  if known == nil then
    vertices[rank] = v
  elseif type(known) == "table" then
    known[#known + 1] = v
  else
    vertices[rank] = { known, v }
  end
end

--- Finds all targets again, after the graph was changed by others.
function Targets:scan()
  self.vertices = {}
  local ids = {}
  for v in self.graph:walk { prune = above_ranks } do
    local rank = v.rank
    if rank then
      if not self.vertices[rank] then ids[#ids + 1] = rank end
      add(self.vertices, rank, v)
    end
  end
  self.all = core.idset(ids)
end

--- Returns a list of the topmost vertices of a target: usually a single node.
function Targets:of(target)
  local known = self.vertices[target]
  return type(known) == "table" and known or { known }
end

--- Returns the targets whose own vertices are up.
function Targets:up()
  local down = {}
  for v, target in self:each(self.all) do
    if not usable(v) then down[#down + 1] = target end
  end
  return self.all - core.idset(down)
end

--- Returns the targets that no job may use because of a vertex above them: a rack that is down, for example.
function Targets:blocked()
  local ids = {}
  for v, target in self:each(self.all) do
    local up = v:parent()
    while up and usable(up) do up = up:parent() end
    if up then ids[#ids + 1] = target end
  end
  return core.idset(ids)
end

--- Iterates over the vertices of a set of targets: vertex, target.
function Targets:each(set)
  return coroutine.wrap(function()
    for target in set:ids() do
      for _, v in ipairs(self:of(target)) do coroutine.yield(v, target) end
    end
  end)
end

--- Returns job -> true for all jobs with an allocation or reservation on a target.
function Targets:jobs(target)
  local found = {}
  for _, v in ipairs(self:of(target)) do
    for _, job in ipairs(v:jobs()) do found[job] = true end
  end
  return found
end

--- Removes a target from the graph, with the spans of jobs on it.
function Targets:unlink(target)
  for _, v in ipairs(self:of(target)) do assert(self.graph:unlink(v, { force = true })) end
  self.vertices[target] = nil
  self.all = self.all - core.idset { target }
end

--- Sets the vertices above the targets up, in a graph made of acquired resources: whether a target can be used is reported
--- by online and offline, for the target as a whole.
function M.unblock(graph)
  for v in graph:walk { prune = above_ranks } do
    local up = v.rank and v:parent()
    while up do
      if not usable(up) then up.state = "up" end
      up = up:parent()
    end
  end
  return graph
end

--- Makes the targets of a graph.
function M.of(graph)
  local self = setmetatable({ graph = graph }, Targets)
  self:scan()
  return self
end

--- Numbers the nodes of a graph without any rank, from 0 on; in a graph without nodes the roots become targets.
function M.number(graph)
  for v in graph:walk {} do
    if v.rank then return end
  end
  local rank = 0
  for v in graph:walk { type = "node" } do
    v.rank, rank = rank, rank + 1
  end
  if rank > 0 then return end
  for _, v in ipairs(graph:roots()) do
    v.rank, rank = rank, rank + 1
  end
end

return M
