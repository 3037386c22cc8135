-- store.lua - the cost of the database: a machine of 10,080 nodes saved, saved again after one match, loaded; against
-- generating the machine. Arguments: racks of 18 nodes, 55 vertices each (default 560). Written to
-- build/bench_store.json for programs.
local weir = require "weir"
local core = require "weir.core"
package.path = "./?.lua;" .. package.path
local grug = require "spec.support.grug"

local RACKS = tonumber(arg[1] or 560)
local PATH = os.tmpname()
local report = {}

-- Seconds of a clock on the wall, to a hundredth: a save waits for the disk.
local function now()
  local file <close> = assert(io.open "/proc/uptime")
  return file:read "n"
end

-- Milliseconds of the processor and on the wall, the least of some turns of `times` calls each.
local function measure(name, turns, times, call)
  local cpu, wall = math.huge, math.huge
  for _ = 1, turns do
    local c, w = os.clock(), now()
    for _ = 1, times do call() end
    cpu, wall = math.min(cpu, (os.clock() - c) / times * 1e3), math.min(wall, (now() - w) / times * 1e3)
  end
  report[#report + 1] = { name = name, cpu_ms = cpu, wall_ms = wall }
  return cpu
end

local text = grug(RACKS)
local g
local generation = measure("generate", 5, 1, function()
  if g then g:close() end
  g = assert(core.parse(text, { format = "grug" }))
end)
local e = weir.engine { resources = g, policy = { name = "low", order = "id" } }
local node = core.request "slot/node"

local function match_and_release() e:release(assert(e:match(node)).id) end

match_and_release()
measure("match and release, no store", 5, 20000, match_and_release)
measure("save all, new file", 3, 1, function()
  os.remove(PATH)
  assert(g:save(PATH, { format = "sqlite" }))
end)
measure("save all again", 3, 1, function() assert(g:save(PATH, { format = "sqlite" })) end)
measure("match and release, changes noted", 5, 20000, match_and_release)

local function save_changed() assert(g:save(PATH, { format = "sqlite", changed = true })) end

save_changed()
measure("save changed, nothing", 3, 50, save_changed)
measure("save changed, one match", 3, 50, function()
  assert(e:match(node))
  save_changed()
end)
local states, n = { "down", "up" }, 0
measure("save changed, 1000 states", 3, 1, function()
  n = n + 1
  local k = 0
  for v in g:walk { type = "node" } do
    k = k + 1
    if k <= 1000 then v.state = states[n % 2 + 1] end
  end
  save_changed()
end)
local loaded
local load = measure("load, 150 jobs", 5, 1, function()
  if loaded then loaded:close() end
  loaded = assert(weir.load(PATH))
end)
assert(g:compare(loaded, true))

local file = assert(io.open(PATH, "rb"))
print(("\n%d vertices; the database has %.1f MB"):format(g:count(), file:seek "end" / 1e6))
file:close()
print("                                      cpu ms    wall ms  of generating")
for _, r in ipairs(report) do
  r.ratio = r.cpu_ms / generation
  print(("%-34s %9.4f %10.3f %9.4f"):format(r.name, r.cpu_ms, r.wall_ms, r.ratio))
end
print(("\nloading takes %.2f times as long as generating; expected at most 3"):format(load / generation))
os.remove(PATH)
local out = assert(io.open("build/bench_store.json", "w"))
out:write(core.json_encode(report, { indent = 1 }), "\n")
out:close()
