-- copies.lua - the cost of a forked copy of the service: weir run spec/bench/copies.lua. On machines of about 10,000
-- and 500,000 vertices, a short walk with a filter and a request that the service answers itself: the time until the
-- answer, and for the copy the processor time of the child, the page faults of the service and of the children, and
-- the memory that the service keeps.
package.path = "./?.lua;" .. package.path

local service = require "spec.support.service"
local shell = require "spec.support.shell"
local core = require "weir.core"

local ROUNDS = 50
local MACHINES = { "cluster:1 rack:10 node:24 core:40", "cluster:1 rack:128 node:64 core:60" }
local FILTER = "return {prune = function(v) return v.type == 'cluster' end, evaluate = function() return 1 end}"

-- Fields of /proc/PID/stat behind the name: page faults of the process and of its reaped children, seconds of both.
local function usage(pid)
  local file <close> = assert(io.open(("/proc/%d/stat"):format(pid)))
  local fields = {}
  for word in file:read("a"):match("^.*%)%s(.*)$"):gmatch "%S+" do fields[#fields + 1] = tonumber(word) or 0 end
  return { faults = fields[8], child_faults = fields[9], seconds = (fields[12] + fields[13]) / 100,
    child_seconds = (fields[14] + fields[15]) / 100 }
end

local function resident(pid)
  local file <close> = assert(io.open(("/proc/%d/status"):format(pid)))
  return tonumber(file:read("a"):match "VmRSS:%s*(%d+)") / 1024
end

local function measure(s, name, method, params)
  local c, pid, times = s:connect(), s.process:get_pid(), {}
  assert(c:ask(method, params))
  local before = usage(pid)
  for i = 1, ROUNDS do
    local begin = core.clock()
    assert(c:ask(method, params))
    times[i] = core.clock() - begin
  end
  table.sort(times)
  local after = usage(pid)
  local function each(key) return (after[key] - before[key]) / ROUNDS end
  print(("  %-34s p50 %8.2f ms  worst %8.2f ms  service %6.2f ms, %6.0f faults  copy %6.2f ms, %6.0f faults  %6.0f MB"):format(name,
    times[ROUNDS // 2] * 1e3, times[ROUNDS] * 1e3, each "seconds" * 1e3, each "faults", each "child_seconds" * 1e3, each "child_faults",
    resident(pid)))
  c:close()
end

for _, machine in ipairs(MACHINES) do
  local s = service.start(shell.directory(), { "-r", machine, "--limit", "filters=1000000", "--filter-ms", "10000" })
  local c = s:connect()
  print(("%s: %d vertices, %.0f MB"):format(machine, c:ask("stats").vertices, resident(s.process:get_pid())))
  measure(s, "preview of a node, in the service", "match", { request = "slot=1/node", mode = "preview" })
  measure(s, "preview with a filter, in a copy", "match", { request = "slot=1/node", mode = "preview", filter =
    "return {prune = function() return true end}" })
  measure(s, "walk with a filter, in a copy", "walk", { filter = FILTER })
  measure(s, "one job is listed, in a copy", "jobs", {})
  s:stop()
end
service.clean()
