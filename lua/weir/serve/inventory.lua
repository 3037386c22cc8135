--- inventory.lua - the R of any targets of a service: of those in its graph, and of those that it has not acquired.

local core = require "weir.core"
local keep = require "weir.serve.keep"
local rset = require "weir.rset"

local M = {}

-- The exact description of targets in the graph.
local function described(targets, set)
  local list = {}
  for v in targets:each(set) do list[#list + 1] = v end
  local part <close> = assert(targets.graph:extract(list))
  return assert(part:rset { scheduling = true }):on_ranks(set)
end

--- Keeps the descriptions of targets that are about to leave the graph.
function M.stash(targets, set)
  for target in (set & targets.all):ids() do
    local one = core.idset { target }
    keep.stash(targets.graph, target, assert(described(targets, one):format "rv1"))
  end
end

--- Forgets those that are in the graph again.
function M.tidy(targets, set)
  for target in (set & targets.all):ids() do
    if keep.stashed(targets.graph, target) then keep.forget(targets.graph, target) end
  end
end

--- Forgets those that are gone from the machine.
function M.drop(targets, set)
  for target in set:ids() do keep.forget(targets.graph, target) end
end

local function add(all, part) return all and (all | part) or part end

--- The R of targets, as a table. `brief`: those in the graph without their graph, for one who has it.
function M.resources(targets, set, brief)
  local here, all = set & targets.all, nil
  if not here:empty() then
    all = brief and targets.graph:rset { scheduling = false }:on_ranks(here) or described(targets, here)
  end
  for target in (set - here):ids() do
    all = add(all, assert(rset.new(assert(keep.stashed(targets.graph, target)), "stash")))
  end
  return all:table "rv1"
end

local function usable(v)
  while v do
    if v.state ~= "up" and v.state ~= "degraded" then return false end
    v = v:parent()
  end
  return true
end

--- The targets in the graph that are up, and all above them.
function M.up(targets)
  local ids = {}
  for target in targets.all:ids() do
    local up = true
    for _, v in ipairs(targets:of(target)) do up = up and usable(v) end
    if up then ids[#ids + 1] = target end
  end
  return core.idset(ids)
end

return M
