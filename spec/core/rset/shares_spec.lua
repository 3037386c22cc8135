-- Units of switches and of other pools beside the nodes in sets with a graph: parts, differences and unions have the units
-- that the jobs of the set have. The books of the engine are the reference.
local cases = require "spec.support.cases"
local dice = require "spec.support.dice"
local weir = require "weir"

-- A machine of nodes below switches that are in no containment, at random, with licenses for all.
local function machine(roll)
  local g = assert(weir.synthetic("cluster:1 node:" .. 3 + roll(4) .. " core:2"))
  assert(g:add(g "/cluster0", { type = "license", size = 40 }))
  local nodes, units = g:find "type=node", {}
  units[1] = assert(g:add(nil, { type = "switch", name = "s0", size = 60 }))
  for i = 1, 1 + roll(3) do
    units[i + 1] = assert(g:add(nil, { type = "switch", name = "s" .. i, size = 4 + roll(20) }))
    assert(g:add_edge(units[1], units[i + 1], { subsystem = "net", type = "link" }))
  end
  for _, node in ipairs(nodes) do
    local first = 1 + roll(#units - 1)
    assert(g:add_edge(units[first], node, { subsystem = "net", type = "link" }))
    local second = 1 + roll(#units - 1)
    if second ~= first then assert(g:add_edge(units[second], node, { subsystem = "net", type = "link" })) end
  end
  return g
end

-- The units of each switch in the graph of a set.
local function units_in(r, type)
  local out = {}
  if #r == 0 then return out end
  local g <close> = assert(r:graph())
  for _, v in ipairs(g:find("type=" .. type)) do out[v.name] = v.size end
  return out
end

local function units_used(g, type)
  local out = {}
  for _, v in ipairs(g:find("type=" .. type)) do
    if v.free < v.size then out[v.name] = v.size - v.free end
  end
  return out
end

local function again(r) return assert(weir.R(r:format "rv1")) end

-- Starts jobs; returns their sets.
local function start(e, roll)
  local sets, ids = {}, {}
  local function slot(type, count)
    return { type = "slot", count = 1, label = type, with = { { type = type, count = count } } }
  end
  local shapes = { "slot=1/node/net=%d", "slot=2/node/net=%d", "slot=1/[core=1;net=%d]", "slot=1/core" }
  for _ = 1, 6 do
    local shape, n = shapes[roll(#shapes)], roll(6)
    local licensed = { resources = { slot("core", 1), slot("license", n) }, attributes = { system = {} } }
    local a = e:match(roll(3) == 1 and licensed or shape:format(n))
    if a then sets[#sets + 1], ids[#ids + 1] = again(a:rset()), a.id end
  end
  return sets, ids
end

local function union(sets)
  local all = sets[1]
  for i = 2, #sets do all = all | sets[i] end
  return all
end

describe("units in sets", function()
  it("[R8][G8] unions, parts and differences have the units of the jobs", function()
    cases.each_seed(150, function(_, seed)
      local roll = dice(seed)
      local g <close> = machine(roll)
      local e <close> = weir.engine { resources = g }
      local sets, ids = start(e, roll)
      local all = union(sets)
      local function same(want, r, type) assert.same({ seed, want }, { seed, units_in(r, type) }) end
      same(units_used(g, "switch"), all, "switch")
      same(units_used(g, "license"), all, "license")
      same(units_used(g, "switch"), again(all) | sets[roll(#sets)], "switch")

      local rank = tostring(roll(#g:find "type=node") - 1)
      local part, rest = all:on_ranks(rank), all - all:on_ranks(rank)
      same(units_used(g, "switch"), again(part) | again(rest), "switch")
      for i, id in ipairs(ids) do
        local gone = sets[i]:on_ranks(rank)
        if #gone == #sets[i] then
          assert(e:release(id))
        elseif #gone > 0 then
          assert(e:shrink(id, gone))
        end
      end
      same(units_used(g, "switch"), rest, "switch")
      same(units_used(g, "switch"), again(rest), "switch")
    end)
  end)
end)
