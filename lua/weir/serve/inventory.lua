--- inventory.lua - the R of any targets of a service: of those in its graph, and of those that it has not acquired.

local core = require "weir.core"
local keep = require "weir.serve.keep"
local rset = require "weir.rset"

local M = {}

local function extract(targets, set)
  local list = {}
  for v in targets:each(set) do list[#list + 1] = v end
  return assert(targets.graph:extract(list))
end

--- Keeps the descriptions of targets that are about to leave the graph.
function M.stash(targets, set)
  for target in (set & targets.all):ids() do
    local one = core.idset { target }
    local part <close> = extract(targets, one)
    keep.stash(targets.graph, target, keep.strip_text(assert(assert(part:rset { scheduling = true }):on_ranks(one):format "rv1")))
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

-- What is kept of targets that are not in the graph, as one graph; on top of `machine`, where one is given.
local function stashed(targets, set, machine)
  for target in set:ids() do
    local one = assert(assert(rset.new(assert(keep.stashed(targets.graph, target)), "stash")):graph())
    if machine then
      assert(machine:merge(one))
      one:close()
    else
      machine = one
    end
  end
  return machine
end

--- The R of targets, as a table, with their graph.
function M.resources(targets, set)
  local here = set & targets.all
  local machine <close> = stashed(targets, set - here, not here:empty() and extract(targets, here) or nil)
  return assert(machine:rset { scheduling = true }):on_ranks(set):table "rv1"
end

--- The same for one who has the graph of those that are in it: their graph is left out.
function M.brief(targets, set)
  local here = set & targets.all
  local light = targets.graph:rset { scheduling = false }:on_ranks(here)
  if here == set then return light:table "rv1" end
  local machine <close> = stashed(targets, set - here)
  return (light | assert(machine:rset { scheduling = true }):on_ranks(set - here)):table "rv1"
end

local function usable(v)
  while v do
    if v.state ~= "up" and v.state ~= "degraded" then return false end
    v = v:parent()
  end
  return true
end

--- The targets in the graph that are up, and all above them; of a set where one is given.
function M.up(targets, set)
  local ids = {}
  for target in (set and set & targets.all or targets.all):ids() do
    local up = true
    for _, v in ipairs(targets:of(target)) do up = up and usable(v) end
    if up then ids[#ids + 1] = target end
  end
  return core.idset(ids)
end

return M
