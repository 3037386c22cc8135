--- job_size.lua - how much of a machine a request is, in units of the type that jobs are counted in (cores, say).
---
--- What it asks for of that type counts. Where it gets something as a whole that has such units in it, as nodes have cores, these
--- count too: as many as there are in one of them, in the mean. What has to do with neither, such as gpus beside cores, counts as the
--- share of the machine that it is: half of the gpus are as much as half of the cores.

local M = {}

-- Units of a type within one vertex of another type, in the mean of those that have any; 0: it is not within it.
local function within(graph, type, main, known)
  if known[type] then return known[type] end
  local sum, n = 0, 0
  for v in graph:walk { type = type } do
    local row = v:nchildren() > 0 and v:aggregate()[main]
    if row and row.total > 0 then sum, n = sum + row.total, n + 1 end
  end
  known[type] = n > 0 and sum / n or 0
  return known[type]
end

local function least_of(r) return type(r.count) == "table" and r.count.min or r.count or 1 end

-- Sums over a list of resources: units in all, units that are asked for, and the largest share of the machine.
local function sum(list, times, in_slot, look)
  local units, asked, share = 0, 0, 0
  for _, r in ipairs(list) do
    local n, is_slot = least_of(r) * times, r.type == "slot" or r.type == "or_slot"
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

--- The units of a type that a request is, and those that it asks for, which it gets at least. known: a table that belongs to the
--- graph as it is. Without a graph only what it asks for counts.
function M.of(request, main, graph, known)
  if not graph then return (select(2, sum(request:resources(), 1, false, { main = main, within = nothing, share = nothing }))) end
  local totals = graph:aggregate()
  local all = totals[main] and totals[main].total or 0
  local units, asked, share = sum(request:resources(), 1, false, {
    main = main,
    within = function(type) return within(graph, type, main, known) end,
    share = function(type) return totals[type] and totals[type].total > 0 and all / totals[type].total or 0 end,
  })
  if units == 0 then units = share end
  return math.ceil(units - 1e-9), asked
end

return M
