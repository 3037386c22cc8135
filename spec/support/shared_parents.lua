--- Machines on which vertices have several parents in a hierarchy, and all ways of dealing them out, tried one by one
--- (the condition of Gale).
local weir = require "weir"

local M = {}

--- Makes 4 units and 7 nodes with a core each; every node is on one, two or three of the units. Returns the graph and, by
--- node, the numbers of its units.
function M.machine(roll)
  local g = weir.synthetic "cluster:1 node:7 core:1"
  local units, on = {}, {}
  for i = 1, 4 do units[i] = assert(g:add(nil, { type = "unit", id = i })) end
  for n, node in ipairs(g:find "type=node") do
    on[n] = {}
    for i in pairs { [roll(4)] = true, [roll(4)] = true, [roll(4)] = true } do on[n][#on[n] + 1] = i end
    table.sort(on[n])
    for _, i in ipairs(on[n]) do assert(g:add_edge(units[i], node, { subsystem = "power", type = "supplies" })) end
  end
  return g, on
end

-- Whether `missing` more free nodes can be dealt to units, of which `need` tells what is still needed of each; tries all
-- units for each node.
local function deal(on, free, need, missing, node)
  if missing == 0 then return true end
  if node > #on then return false end
  if free(node) then
    for _, i in ipairs(on[node]) do
      if need[i] and need[i] > 0 then
        need[i] = need[i] - 1
        local done = deal(on, free, need, missing - 1, node + 1)
        need[i] = need[i] + 1
        if done then return true end
      end
    end
  end
  return deal(on, free, need, missing, node + 1)
end

--- Whether `groups` units can have `each` nodes for which free(number) holds. wanted(number): the units that may be
--- chosen; nil: all.
function M.possible(on, free, groups, each, wanted)
  for set = 0, 15 do
    local need, n, fine = {}, 0, true
    for i = 1, 4 do
      if set >> (i - 1) & 1 == 1 then
        need[i], n = each, n + 1
        fine = fine and (not wanted or wanted(i))
      end
    end
    if fine and n == groups and deal(on, free, need, groups * each, 1) then return true end
  end
  return false
end

return M
