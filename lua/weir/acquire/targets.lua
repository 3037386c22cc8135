--- targets.lua - execution targets as they stand in a graph: which vertices a rank is, what jobs have there.

local core = require "weir.core"

local M = {}

local Targets = {}
Targets.__index = Targets

-- Where a rank begins, nothing below is looked at.
local function above_ranks(v) return v.rank == nil end

-- A vertex more of a target. The usual one vertex stands for itself: ten thousand lists would be ten thousand objects for the
-- collector to visit.
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

--- Looks again: after the graph was changed by others.
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

--- The topmost vertices of a target: its node, as a rule.
function Targets:of(target)
  local known = self.vertices[target]
  return type(known) == "table" and known or { known }
end

--- Each vertex of a set of targets, with its target.
function Targets:each(set)
  return coroutine.wrap(function()
    for target in set:ids() do
      for _, v in ipairs(self:of(target)) do coroutine.yield(v, target) end
    end
  end)
end

--- Job -> true for all that have, or will have, something of a target.
function Targets:jobs(target)
  local found = {}
  for _, v in ipairs(self:of(target)) do
    for _, job in ipairs(v:jobs()) do found[job] = true end
  end
  return found
end

--- Takes a target out of the graph, from jobs too.
function Targets:unlink(target)
  for _, v in ipairs(self:of(target)) do assert(self.graph:unlink(v, { force = true })) end
  self.vertices[target] = nil
  self.all = self.all - core.idset { target }
end

--- The targets of a graph.
function M.of(graph)
  local self = setmetatable({ graph = graph }, Targets)
  self:scan()
  return self
end

--- Gives each node a rank, from 0 on, where no vertex of the graph has one; without nodes the roots are targets.
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
