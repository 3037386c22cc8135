-- Reads from standard input lines "BEGIN END R", when a job had the resources of R, and "look BEGIN END N", when N nodes were told to be
-- allocated. Fails where two jobs had a rank at the same time, or where a look tells another number than jobs had all the while.
local weir = require "weir"

local MARGIN = 0.3 -- seconds between what the scheduler knows and the event that tells it

local spans, looks, of_rank = {}, {}, {}

local function take(line)
  local from, to, n = line:match "^look (%S+) (%S+) (%d+)$"
  if from then
    looks[#looks + 1] = { from = tonumber(from), to = tonumber(to), nodes = tonumber(n) }
    return
  end
  local R
  from, to, R = line:match "^(%S+) (%S+) (.*)$"
  local ranks = weir.idset(assert(weir.rset(R, "R")):ranks())
  local span = { from = tonumber(from), to = tonumber(to), nodes = #ranks, job = #spans + 1 }
  spans[span.job] = span
  for rank in ranks:ids() do
    of_rank[rank] = of_rank[rank] or {}
    table.insert(of_rank[rank], span)
  end
end

local function fail(...)
  io.stderr:write((...):format(select(2, ...)), "\n")
  os.exit(1)
end

-- Returns the nodes that jobs had from `from` to `to`; nil where that changed.
local function nodes_of(from, to)
  local n = 0
  for _, span in ipairs(spans) do
    local begins, ends = span.from >= from and span.from <= to, span.to >= from and span.to <= to
    if begins or ends then return nil end
    if span.from < from and span.to > to then n = n + span.nodes end
  end
  return n
end

for line in io.lines() do take(line) end
for rank, list in pairs(of_rank) do
  table.sort(list, function(a, b) return a.from < b.from end)
  for i = 2, #list do
    if list[i].from < list[i - 1].to then fail("jobs %d and %d had rank %d at the same time", list[i - 1].job, list[i].job, rank) end
  end
end
local amid = 0
for _, look in ipairs(looks) do
  local n = nodes_of(look.from - MARGIN, look.to + MARGIN)
  if not n then
    amid = amid + 1
  elseif n ~= look.nodes then
    fail("at %.3f %d nodes were told, and jobs had %d", look.from, look.nodes, n)
  end
end
print(("%d jobs had resources; %d looks were right, %d fell into a change"):format(#spans, #looks - amid, amid))
