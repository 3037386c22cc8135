--- target_r.lua - the R of targets of a service: of targets in the graph, and of targets not acquired, from their kept
-- descriptions.

local core = require "weir.core"
local service_state = require "weir.serve.service_state"
local rset = require "weir.rset"
local tables = require "weir.tables"

local M = {}

local function extract(targets, set)
  return assert(targets.graph:extract(tables.collect(targets:each(set))))
end

--- Keeps descriptions of targets of `set` about to leave the graph.
function M.stash(targets, set)
  for target in (set & targets.all):ids() do
    local one = core.idset { target }
    local part <close> = extract(targets, one)
    assert(part:set_validity()) -- of the machine, which may change until the target is back
    service_state.stash(targets.graph, target,
      service_state.strip_text(assert(assert(part:rset { scheduling = true }):on_ranks(one):format "rv1")))
  end
end

-- Returns the paths of a description that stay in the graph without the target: the paths of the vertices above.
local function paths_above(targets, target)
  local paths = {}
  for path in service_state.stashed(targets.graph, target):gmatch '"containment":"(/[^"]*)"' do
    if targets.graph:vertex(path) then paths[#paths + 1] = path end
  end
  return paths
end

--- Returns the targets blocked by the state of a vertex above them; `kept`: the targets outside of the graph.
function M.blocked(targets, kept)
  local ids, state = {}, {}
  for target in kept:ids() do
    for _, path in ipairs(paths_above(targets, target)) do
      if state[path] == nil then state[path] = targets.graph:vertex(path).state end
      if state[path] ~= "up" and state[path] ~= "degraded" then ids[target] = target end
    end
  end
  return targets:blocked() | core.idset(tables.keys(ids))
end

--- Forgets descriptions of targets back in the graph.
function M.tidy(targets, set)
  for target in (set & targets.all):ids() do
    if service_state.stashed(targets.graph, target) then service_state.forget(targets.graph, target) end
  end
end

--- Forgets descriptions of targets removed from the machine.
function M.drop(targets, set)
  for target in set:ids() do service_state.forget(targets.graph, target) end
end

-- Returns a graph of targets missing in the graph of the service, from their descriptions, merged into `machine`
-- if given.
local function stashed(targets, set, machine)
  for target in set:ids() do
    local one = assert(assert(rset.new(assert(service_state.stashed(targets.graph, target)), "stash")):graph())
    if machine then
      assert(machine:merge(one))
      one:close()
    else
      machine = one
    end
  end
  return machine
end

--- Returns the R of targets as a table, graph included.
function M.resources(targets, set)
  local here = set & targets.all
  local machine <close> = stashed(targets, set - here, not here:empty() and extract(targets, here) or nil)
  assert(machine:set_validity(targets.graph:validity()))
  return assert(machine:rset { scheduling = true }):on_ranks(set):table "rv1"
end

--- Returns the R of targets as a table, without a graph for targets that are in the graph already.
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

--- Returns the targets of `set` in the graph that are up, all vertices above included.
function M.up(targets, set)
  local ids = {}
  for target in (set & targets.all):ids() do
    local up = true
    for _, v in ipairs(targets:of(target)) do up = up and usable(v) end
    if up then ids[#ids + 1] = target end
  end
  return core.idset(ids)
end

return M
