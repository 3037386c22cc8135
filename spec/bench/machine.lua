-- One machine, measured in a process of its own: weir run spec/bench/machine.lua RACKS. Prints one JSON object.
local weir = require "weir"
local core = require "weir.core"
package.path = "./?.lua;" .. package.path
local grug = require "spec.support.grug"

local RACKS = tonumber(arg[1])
local NODES = RACKS * 18
local REPEATS = 2000

local function peak_kb()
  for line in io.lines "/proc/self/status" do
    local kb = line:match("^VmHWM:%s*(%d+)")
    if kb then return tonumber(kb) end
  end
end

local function spread(times)
  table.sort(times)
  return { median = times[#times // 2 + 1] * 1e6, p10 = times[#times // 10 + 1] * 1e6, p90 = times[#times * 9 // 10 + 1] * 1e6 }
end

-- Matches and releases a request again and again; microseconds a match, visits of the last.
local function measure(e, shape, repeats)
  local request, times, ok = core.request(shape), {}, nil
  for i = 0, repeats do
    local t = os.clock()
    local a = e:match(request)
    times[i] = os.clock() - t
    ok = a ~= nil
    if a then e:release(a.id) end
  end
  times[0] = nil -- the first one builds the index
  local result = spread(times)
  result.visited, result.fits = e:stats().visited, ok
  return result
end

local before = peak_kb()
local text = grug(RACKS)
local start = os.clock()
local g = assert(core.parse(text, { format = "grug" }))
local load_ms = (os.clock() - start) * 1e3
local report = { racks = RACKS, nodes = NODES, vertices = g:count(), load_ms = load_ms, cases = {},
  bytes_per_vertex = (peak_kb() - before) * 1024 / g:count() }

local CASES = {
  { "one node", "slot/node" }, { "one node of 40 cores", "slot/node/core=40" }, { "one core", "slot/core" },
  { "4 cores and a gpu of one socket", "socket/slot/[core=4;gpu]" }, { "64 nodes", "slot=64/node", 200 },
  { "16 nodes of one rack", "rack/slot=16/node", 500 },
}
local FILLS = { { "empty", 0 }, { "50 %", 0.5 }, { "90 %", 0.9 }, { "99.9 %", 0.999 }, { "full", 1 } }

for _, policy in ipairs { "low", "high" } do
  local e = weir.engine { resources = g, policy = policy }
  local node, taken = core.request "slot/node", 0
  for _, fill in ipairs(FILLS) do
    while taken < math.floor(NODES * fill[2]) do
      assert(e:match(node))
      taken = taken + 1
    end
    for _, case in ipairs(CASES) do
      local result = measure(e, case[2], case[3] or REPEATS)
      result.policy, result.fill, result.case = policy, fill[1], case[1]
      table.insert(report.cases, result)
    end
  end
  for _, a in ipairs(e:jobs()) do e:release(a.id) end
end
print(core.json_encode(report))
