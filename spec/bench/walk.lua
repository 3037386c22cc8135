-- walk.lua - point 7: walks with filters in Lua over the machine, against empty calls from C. In a process by itself:
-- weir run spec/bench/walk.lua RACKS. Prints JSON. Each round measures all rows in turn, and compares with the times
-- of an empty call of the round, so the ratios hold on a loaded machine too.
package.path = "./?.lua;" .. package.path
local core = require "weir.core"
local grug = require "spec.support.grug"
local bench = require "spec.bench.measure"

local g = assert(core.parse(grug(tonumber(arg[1])), { format = "grug" }))
local COUNT, ROUNDS = g:count(), bench.counts and 3 or 15

local function asked_prune(v) return v.type ~= "none" and v.id >= -1 and v.free >= 0 end
local function asked_evaluate(v)
  if v.type == "none" then return v.id + v.free end
end
local function passed_prune(_, kind, id, free) return kind ~= "none" and id >= -1 and free >= 0 end
local function passed_evaluate(_, kind, id, free)
  if kind == "none" then return id + free end
end

local function scored_evaluate(_, kind, id, free)
  if kind ~= "none" then return id + free end
end

local function asked() g:walk { prune = asked_prune, evaluate = asked_evaluate, best = 1 } end
local function passed()
  g:walk { fields = { "type", "id", "free" }, prune = passed_prune, evaluate = passed_evaluate, best = 1 }
end
local function scored()
  g:walk { fields = { "type", "id", "free" }, prune = passed_prune, evaluate = scored_evaluate, best = 1 }
end
local function alone()
  core.calls(passed_prune, COUNT, g:root(), "core", 1, 1)
  core.calls(passed_evaluate, COUNT, g:root(), "core", 1, 1)
end

-- {title, function, number of calls in the function}. The first two rows are the measure of the rest.
local ROWS = {
  { "an empty function, called from C", function() core.calls(function() end, 2 * COUNT) end, 2 * COUNT },
  { "an empty function, given what filters get", function() core.calls(function() end, 2 * COUNT, g:root(), "core", 1, 1) end, 2 * COUNT },
  { "a pruning and an evaluating filter, a call", asked, 2 * COUNT },
  { "the same, fields passed", passed, 2 * COUNT },
  { "the same, and each vertex gets a score", scored, 2 * COUNT },
  { "the two functions alone, called from C", alone, 2 * COUNT },
  { "find, an expression, a vertex", function() g:find "type=core and id=77" end, COUNT },
}

local times, ratios, given = {}, {}, {}
for i = 1, #ROWS do times[i], ratios[i], given[i] = {}, {}, {} end
for round = 1, ROUNDS do
  for i, row in ipairs(ROWS) do
    local begin = bench.clock()
    row[2]()
    times[i][round] = (bench.clock() - begin) * 1e9 / row[3]
    ratios[i][round] = times[i][round] / times[1][round]
    given[i][round] = i > 1 and times[i][round] / times[2][round] or nil
  end
end
for i, row in ipairs(ROWS) do
  bench.row(7, row[1], "ns", times[i], i > 1 and i < #ROWS
    and { times_empty = bench.spread(ratios[i]).median, times_given = bench.spread(given[i]).median } or nil)
end

collectgarbage "collect"
collectgarbage "stop"
local before = collectgarbage "count"
asked()
passed()
scored()
bench.row(7, "garbage of these walks", "bytes", { (collectgarbage "count" - before) * 1024 })
collectgarbage "restart"
bench.print()
