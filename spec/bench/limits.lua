-- limits.lua - how far weir scales: `weir run spec/bench/limits.lua [FACTOR] [all]`. For each operation of
-- spec/support/growth.lua the time at FACTOR (4) times the size of the spec, and the factor by which doubling the
-- size multiplies the time: 2 is linear, 4 is quadratic. Then, with `all`, the sizes that weir is made for: ten
-- million vertices, a million jobs (needs 8 GB).
package.path = "./?.lua;" .. package.path
local growth = require "spec.support.growth"
local weir = require "weir"
local core = require "weir.core"

local MOST = 2.6

local function resident()
  local file <close> = assert(io.open "/proc/self/status")
  return tonumber(file:read("a"):match "VmRSS:%s*(%d+)") / 1024
end

local function step(name, f, ...)
  local begin = os.clock()
  local result = f(...)
  print(("%-60s %9.2f s  %8.0f MB"):format(name, os.clock() - begin, resident()))
  return result
end

local function large()
  local g = step("ten million vertices", weir.synthetic, "cluster:1 rack:100 node:1000 core:99")
  local nodes = g:find "type=node"
  step("each node has a property", function()
    for i, v in ipairs(nodes) do v.properties.serial = "s" .. i end
  end)
  step("find of one node", function() assert(#g:find "type=node and name=node77777" == 1) end)
  local path = os.tmpname()
  step("saved as JGF", function() assert(g:save(path, { format = "jgf" })) end)
  g:close()
  g = step("loaded from JGF", function() return assert(weir.load(path)) end)
  os.remove(path)
  assert(g:count() == 10000101)
  local e = weir.engine { resources = g, policy = "low" }
  local request = core.request "slot=1/core"
  step("a million jobs of a core", function()
    for _ = 1, 1000000 do assert(e:match(request)) end
  end)
  local more = step("one more job", function() return assert(e:match "slot=8/core") end)
  step("it is written as R", function() assert(more:format "rv1_nosched") end)
  path = path .. ".db"
  step("saved to a database, with the jobs", function() assert(g:save(path)) end)
  local again = step("loaded from it", function() return assert(weir.load(path)) end)
  assert(#weir.engine({ resources = again }):jobs() == 1000001)
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
  step("the million jobs are released", function()
    for i = 1, 1000000 do assert(e:release(i)) end
  end)
end

local factor = tonumber(arg[1]) or 4
print(("%-60s %9s %10s %8s"):format("operation", "size", "seconds", "doubled"))
for _, row in ipairs(growth.list) do
  local n = row[2] * factor
  local half, whole = growth.measure(row, n // 2), growth.measure(row, n)
  print(("%-60s %9d %10.4f %7.2fx%s"):format(row[1], n, whole, whole / half, whole / half > MOST and "  <- more than linear" or ""))
end
if arg[2] == "all" then large() end
