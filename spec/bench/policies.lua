-- policies.lua - what a match costs under each bundled policy, as a multiple of low: a node, 64 nodes, four cores of a
-- node, on a machine of 10,080 nodes of 40 cores that is empty, half full, 90 % and 99 % full, in a stream of matches
-- and releases; each policy has a machine of its own. Beside the ratio stand the calls of Lua and the visits of a match.
-- Run: weir run spec/bench/policies.lua [NODES OF A RACK [POLICY or FILL...]]; the clock is noisy, calls and visits are
-- exact. `weir policy bench -r MACHINE` prints such a table for any machine.
local core = require "weir.core"
local weir = require "weir"
local costs = require "weir.policy.costs"

local RACKS, PER_RACK = 56, tonumber(arg and arg[1]) or 180

local function names()
  local list, fills = {}, {}
  for i = 2, arg and #arg or 0 do table.insert(tonumber(arg[i]) and fills or list, tonumber(arg[i]) or arg[i]) end
  for _, entry in ipairs(#list == 0 and require("weir.policy").list() or {}) do list[#list + 1] = entry.name end
  return list, #fills > 0 and fills or nil
end

local g = weir.synthetic(("cluster:1 rack:%d node:%d socket:2 core:20"):format(RACKS, PER_RACK))
local fill

local function show(rows, why)
  if rows[1].fill ~= fill then
    fill = rows[1].fill
    print(("%d %% of %d nodes full; ratio to low, Lua calls and visits of a match"):format(fill, RACKS * PER_RACK))
    local head = { ("%-16s"):format "" }
    for _, row in ipairs(rows) do head[#head + 1] = ("%26s"):format(row.request) end
    print(table.concat(head))
  end
  local line = { ("%-16s"):format(rows[1].policy) }
  for _, row in ipairs(rows) do
    line[#line + 1] = row.ratio and ("%9.1f %7.0f %8.0f"):format(row.ratio, row.calls, row.visits)
      or ("%9s %7s %8s"):format("-", "", "")
  end
  print(table.concat(line) .. (why and "  " .. why or ""))
end

local list, fills = names()
local rows = costs.table(g, list, { fewest = 5, longest = 0.04, fills = fills }, show)
if arg and arg.json then print(core.json_encode(rows)) end
