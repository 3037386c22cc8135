-- Point 7: walks with filters in Lua over the machine, against empty calls from C. In a process of its own:
-- weir run spec/bench/walk.lua RACKS. Prints JSON.
package.path = "./?.lua;" .. package.path
local core = require "weir.core"
local grug = require "spec.support.grug"
local bench = require "spec.bench.measure"

local g = assert(core.parse(grug(tonumber(arg[1])), { format = "grug" }))
local COUNT, ROUNDS = g:count(), 7

local function each(call, calls)
  local list = {}
  for i = 1, ROUNDS do
    local begin = core.clock()
    call()
    list[i] = (core.clock() - begin) * 1e9 / calls
  end
  return list
end

local empty = bench.row(7, "an empty function, called from C", "ns", each(function() core.calls(function() end, COUNT) end, COUNT))
local function prune(v) return v.type ~= "none" and v.id >= -1 and v.free >= 0 end
local function evaluate(v)
  if v.type == "none" then return v.id + v.free end
end
local function walk() g:walk { prune = prune, evaluate = evaluate, best = 1 } end

local function passed()
  g:walk { fields = { "type", "id", "free" }, best = 1,
    prune = function(_, kind, id, free) return kind ~= "none" and id >= -1 and free >= 0 end,
    evaluate = function(_, kind, id, free)
      if kind == "none" then return id + free end
    end }
end

local row = bench.row(7, "a pruning and an evaluating filter, a call", "ns", each(walk, 2 * COUNT))
row.times_empty = row.median / empty.median
row = bench.row(7, "the same, fields passed", "ns", each(passed, 2 * COUNT))
row.times_empty = row.median / empty.median
collectgarbage "collect"
collectgarbage "stop"
local before = collectgarbage "count"
walk()
passed()
bench.row(7, "garbage of both walks", "bytes", { (collectgarbage "count" - before) * 1024 })
collectgarbage "restart"
bench.row(7, "find, an expression, a vertex", "ns", each(function() g:find "type=core and id=77" end, COUNT))
bench.print()
