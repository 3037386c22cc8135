--- job_size.lua - the size of a request, in units of the type jobs are counted in (cores, for example).
---
--- Units requested directly count. A vertex requested as a whole, such as a node, counts with the units inside, the
--- mean over all such vertices. Resources unrelated to the type, such as gpus next to cores, count by their share of the
--- machine: half of the gpus count as much as half of the cores.

local M = {}

-- Returns the units of type `main` within a vertex of `type`, the mean over all vertices with any; 0 if no vertex
-- contains units.
local function within(graph, type, main, known)
  if known[type] then return known[type] end
  local sum, n = 0, 0
  for v in graph:walk { type = type } do
    local row = v:nchildren() > 0 and v:aggregate { all = true }[main]
    if row and row.total > 0 then sum, n = sum + row.total, n + 1 end
  end
  known[type] = n > 0 and sum / n or 0
  return known[type]
end

local function minimum_of(r) return type(r.count) == "table" and r.count.min or r.count or 1 end

-- Returns three sums over a list of resources: units in all, units requested directly, and the largest share of the
-- machine.
local function sum(list, times, in_slot, look)
  local units, asked, share = 0, 0, 0
  for _, r in ipairs(list) do
    local n, is_slot = minimum_of(r) * times, r.type == "slot" or r.type == "or_slot"
    local own = r.type == look.main and n or 0
    local u, a, s = sum(r.with or {}, n, in_slot or is_slot, look)
    if not is_slot and (r.exclusive or in_slot and r.exclusive ~= false) then
      if own == 0 then own = n * look.within(r.type) end
      s = math.max(s, n * look.share(r.type))
    end
    units, asked, share = units + math.max(own, u), asked + (r.type == look.main and n or 0) + a, math.max(share, s)
  end
  return units, asked, share
end

local function nothing() return 0 end

--- Returns the size of a request in units of type `main`, and the units requested directly, a lower bound of the
--- allocation; of several alternatives (xor_slot) the smallest of both. `known`: a cache, valid while the graph is
--- unchanged. Without a graph only units requested directly count.
function M.of(request, main, graph, known)
  local look = { main = main, within = nothing, share = nothing }
  if graph then
    local totals = graph:aggregate(nil, { all = true })
    local all = totals[main] and totals[main].total or 0
    look.within = function(type) return within(graph, type, main, known) end
    look.share = function(type) return totals[type] and totals[type].total > 0 and all / totals[type].total or 0 end
  end
  local least, direct = math.huge, math.huge
  for _, one in ipairs(request:alternatives()) do
    local units, asked, share = sum(one:resources(), 1, false, look)
    if not graph then units = asked elseif units == 0 then units = share end
    least, direct = math.min(least, math.ceil(units - 1e-9)), math.min(direct, asked)
  end
  return least, direct
end

local function is_fixed(r) return type(r.count) ~= "table" or r.count.min == r.count.max end

--- Whether a request is for a number of units of type `main`, wherever they are, and for nothing else.
function M.is_plain(request, main)
  if #request:alternatives() > 1 then return false end
  local list = request:resources()
  local slot = list[1]
  local unit = #list == 1 and slot.type == "slot" and slot.with and #slot.with == 1 and slot.with[1]
  return unit and unit.type == main and not unit.with and is_fixed(slot) and is_fixed(unit) or false
end

return M
