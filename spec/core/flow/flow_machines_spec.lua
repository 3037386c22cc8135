-- Requests for units that several ways lead to, on machines as they are built: power from two and three feeds, feeds over
-- PDUs over nodes with two parents each, fat trees, dragonflies, tori. Each is filled until it is full, and emptied again.
-- No answer is "limit", and small machines refuse nothing that a plain search over all choices finds.
local machines = require "spec.support.networks"
local networks = require "spec.support.tight_networks"
local dice = require "spec.support.dice"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1

-- ---- all choices, one by one ----

-- A way from a source to a node, along what the units and the flow so far leave over: depth first. Entrance and exit of a
-- unit are "in" and "out" of it.
local function push(m, at, met, amount)
  if at == m.sink then return amount end
  met[at] = true
  for next, left in pairs(m.left[at] or {}) do
    if left > 0 and not met[next] then
      local got = push(m, next, met, math.min(amount, left))
      if got > 0 then
        m.left[at][next] = left - got
        m.left[next] = m.left[next] or {}
        m.left[next][at] = (m.left[next][at] or 0) + got
        return got
      end
    end
  end
  return 0
end

-- Whether one flow brings demands[i] units to node i.
local function serves(network, demands)
  local m = { left = {}, sink = "sink" }
  local function arc(from, to, capacity)
    m.left[from] = m.left[from] or {}
    m.left[from][to] = capacity
  end
  local entered, node_of, wanted, sum = {}, {}, 0, 0
  for i, node in pairs(network.nodes) do node_of[node.path] = i end
  for _, e in ipairs(network.edges) do
    local from, to = e[1].path, e[2].path
    entered[to] = true
    if e[3] then entered[from] = true end
    arc(from .. " in", from .. " out", e[1].free)
    if node_of[to] then
      arc(from .. " out", to, math.huge)
    else
      arc(to .. " in", to .. " out", e[2].free)
      arc(from .. " out", to .. " in", math.huge)
      if e[3] then arc(to .. " out", from .. " in", math.huge) end
    end
  end
  for _, e in ipairs(network.edges) do
    if not entered[e[1].path] then arc("source", e[1].path .. " in", math.huge) end
  end
  for i, units in pairs(demands) do
    arc(network.nodes[i].path, "sink", units)
    wanted = wanted + units
  end
  repeat
    local got = push(m, "source", {}, math.huge)
    sum = sum + got
  until got == 0
  return sum == wanted
end

-- Whether nodes i and up can get `left` demands beside those chosen for the nodes before, `inside` of them in the rack of
-- node i so far.
local function exists(network, per, r, i, chosen, left, inside)
  if i % per == 0 and r.by_rack and inside > 0 and inside < r.by_rack then return false end
  if i % per == 0 then inside = 0 end
  if left == 0 and (not r.by_rack or inside == 0 or inside == r.by_rack) then return true end
  local node = network.nodes[i]
  for n = node and math.min(left, r.room(node), (r.by_rack or left) - inside) or -1, 0, -1 do
    chosen[i] = n > 0 and n * r.units or nil
    if (n == 0 or serves(network, chosen)) and exists(network, per, r, i + 1, chosen, left - n, inside + n) then return true end
  end
  chosen[i] = nil
  return false
end

-- ---- requests ----

local function free_cores(node)
  local n = 0
  for core in node:children() do n = n + core.free end
  return n
end
local function unused(node) return node.free == 1 and free_cores(node) == 8 and 1 or 0 end
local function slots(node) return free_cores(node) // 2 end
local function one_of(n) return function(node) return free_cores(node) >= 2 * n and 1 or 0 end end

-- {shape, demands of n, units of a demand of p, demands of a node, demands of a rack with any}
local SHAPES = {
  { "slot=N/node/net=P", function(n) return n end, 1, unused },
  { "slot=N/[core=2;net=P]", function(n) return n end, 1, slots },
  { "slot=N/[net=P;core=2]", function(n) return n end, 1, slots },
  { "node=N/slot=1/[core=2;net=P]", function(n) return n end, 1, one_of(1) },
  { "node=N/slot=2/[core=2;net=P]", function(n) return n end, 2, one_of(2) },
  { "rack=1/node=N/net=P", function(n) return n end, 1, unused, function(n) return n end },
  { "rack=2/node=2/net=P", function() return 4 end, 1, unused, function() return 2 end },
  { "rack=2/slot=3/[core=2;net=P]", function() return 6 end, 1, slots, function() return 3 end },
}

local function request(g, subsystem, roll, most)
  local row, n, p = SHAPES[roll(g:find("type=rack")[1] and #SHAPES or 5)], roll(most), roll(6)
  local r = { want = row[2](n), units = row[3] * p, room = row[4], by_rack = row[5] and row[5](n) }
  return (row[1]:gsub("N", n):gsub("P", p):gsub("net", subsystem)), r
end

local function left_over(g)
  local list = {}
  for i, v in ipairs(g:find "type!=cluster") do list[i] = v.free end
  return table.concat(list, " ")
end

-- Fills a machine until a tenth of the matches in a row are refused, with releases in between, and empties it.
local function fill(g, subsystem, roll, matches, most, refused)
  local e = weir.engine { resources = g }
  local jobs, before, answers = {}, left_over(g), { ok = 0, busy = 0, infeasible = 0, limit = 0 }
  for i = 1, matches do
    local shape, r = request(g, subsystem, roll, most)
    local a, why, code = e:match(shape)
    answers[a and "ok" or code] = answers[a and "ok" or code] + 1
    if a then
      jobs[#jobs + 1] = a.id
    else
      refused(shape, r, why)
      for _ = 1, i % 3 == 0 and #jobs > 0 and roll(2) or 0 do
        if #jobs > 0 then assert(e:release(table.remove(jobs, roll(#jobs)))) end
      end
    end
    if i % 50 == 0 then assert(g:check()) end
  end
  for _, id in ipairs(jobs) do assert(e:release(id)) end
  assert.equal(before, left_over(g))
  assert(g:check())
  return answers
end

-- {what, function of tight_networks.lua, racks, nodes of a rack, its further arguments}
local SMALL = {
  { "two feeds", networks.feeds, 2, 4, { 9, 14, 2, 2 } },
  { "three feeds, two PDUs", networks.feeds, 4, 2, { 7, 10, 3, 2 } },
  { "three feeds, three PDUs", networks.feeds, 2, 3, { 5, 9, 3, 3 } },
  { "two levels with two parents", networks.levels, 2, 4, { 7, 8 } },
  { "a dragonfly", networks.dragonfly, 2, 4, { 9, 40, 2 } },
  { "a torus", networks.torus, 2, 4, { 11, 13 } },
  { "a fat tree", networks.fat_tree, 2, 4, { 7, 27, 2 } },
}
local LARGE = {
  { "two feeds", networks.feeds, 40, 10, { 23, 200, 2, 2 } },
  { "two feeds that PDUs bound", networks.feeds, 10, 10, { 17, 500, 2, 2 } },
  { "three feeds, two PDUs", networks.feeds, 40, 10, { 11, 110, 3, 2 } },
  { "three feeds, three PDUs", networks.feeds, 40, 10, { 7, 84, 3, 3 } },
  { "two levels with two parents", networks.levels, 20, 10, { 7, 140 } },
  { "a dragonfly", networks.dragonfly, 9, 32, { 60, 900, 8 } },
  { "a torus", networks.torus, 16, 16, { 40, 150 } },
  { "a fat tree", networks.fat_tree, 8, 16, { 30, 900, 4 } },
}
for _, name in ipairs(machines.names) do
  LARGE[#LARGE + 1] = { "100 nodes, " .. name, function() return machines[name](100) end }
end

describe("flows on machines", function()
  for _, row in ipairs(SMALL) do
    it("are refused where no choice of nodes has one: " .. row[1], function()
      local total = { ok = 0, busy = 0, infeasible = 0, limit = 0 }
      for seed = 1, math.max(1, math.floor(4 * SCALE)) do
        local roll = dice(seed)
        local g, network = row[2](row[3], row[4], table.unpack(row[5]))
        local answers = fill(g, "net", roll, 60, 5, function(shape, r, why)
          assert.is_false(exists(network, row[4], r, 0, {}, r.want, 0), ("seed %d: %s: %s"):format(seed, shape, why))
        end)
        for code, n in pairs(answers) do total[code] = total[code] + n end
        g:close()
      end
      assert.equal(0, total.limit)
      assert.is_true(total.ok > 10 and total.busy + total.infeasible > 10, total.ok)
    end)
  end

  for _, row in ipairs(LARGE) do
    it("are always decided: " .. row[1], function()
      local g, network = row[2](row[3], row[4], table.unpack(row[5] or {}))
      local subsystem = type(network) == "string" and network or "net"
      local answers = fill(g, subsystem, dice(1), math.floor(600 * math.max(SCALE, 0.3)), 8, function() end)
      assert.equal(0, answers.limit)
      assert.is_true(answers.ok > 20 and answers.busy > 0, answers.busy)
      g:close()
    end)
  end
end)
