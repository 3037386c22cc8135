-- serve.lua - a service under load: clients that match and release one of 10,080 nodes, with one request in flight
-- each and with several, with the state in memory and on disk; beside it Redis's SET where Redis is installed.
--   weir run spec/bench/serve.lua [SECONDS]           each row for so long; 5 if not given
--   weir run spec/bench/serve.lua soak SECONDS        whether memory and descriptors stay constant

local core = require "weir.core"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"

local MACHINE, CLIENTS = "cluster:1 rack:140 node:72 core:4", 64
local LOAD = shell.bin:match "^(.*)/[^/]*$" .. "/test/bench_serve"

-- ---- running programs ---------------------------------------------------------------------------------------------

-- The output of a program, once the program has ended; meanwhile() is called each second.
local function run(program, words, meanwhile)
  local out, text, code = uv.new_pipe(false), "", nil
  local process = assert(uv.spawn(program, { args = words, stdio = { nil, out, 2 } }, function(status) code = status end))
  out:read_start(function(_, piece) text = text .. (piece or "") end)
  local timer = uv.new_timer()
  timer:start(1000, 1000, meanwhile or function() end)
  while code == nil do uv.run "once" end
  timer:close()
  process:close()
  uv.run "nowait"
  return code == 0 and text or error(program .. " failed")
end

local function installed(program) return os.execute(("command -v %s >/dev/null 2>&1"):format(program)) == true end

-- Processor seconds that a process has used.
local function cpu(pid)
  local file <close> = assert(io.open(("/proc/%d/stat"):format(pid)))
  local fields = file:read("a"):match "^.*%)%s(.*)$"
  local user, system = fields:match(("%S+%s"):rep(11) .. "(%d+)%s(%d+)")
  return (tonumber(user) + tonumber(system)) / 100
end

local function load(s, seconds, depth, meanwhile)
  return core.json_decode(run(LOAD, { s.path, tostring(CLIENTS), tostring(seconds), tostring(depth) }, meanwhile))
end

-- Starts a service on the machine; durable: with its state on the disk of this directory.
local function start(durable)
  local dir = shell.directory()
  local words = { "-r", MACHINE }
  if durable then
    for _, suffix in ipairs { "", "-wal", "-shm" } do shell.path("build", "bench_state" .. suffix) end
    os.execute "rm -f build/bench_state*"
    table.insert(words, "--state")
    table.insert(words, "build/bench_state")
  end
  return service.start(dir, words)
end

-- ---- rows ---------------------------------------------------------------------------------------------------------

local function row(name, rate, p50, p99, micro)
  print(("%-62s %8.0f /s   p50 %6.2f ms   p99 %6.2f ms%s"):format(name, rate, p50, p99,
    micro and ("   %5.1f us of the processor"):format(micro) or ""))
end

local function measure(name, seconds, depth, durable)
  local s = start(durable)
  local pid = s.process:get_pid()
  load(s, 1, depth)
  local before = cpu(pid)
  local result = load(s, seconds, depth)
  assert(result.failed == 0, "requests failed")
  row(name, result.rate, result.p50, result.p99, (cpu(pid) - before) / result.requests * 1e6)
  s:stop()
end

local function redis(seconds, name, words)
  local dir = shell.directory()
  local path = shell.path(dir, "redis")
  local all = { "--port", "0", "--unixsocket", path, "--dir", dir, "--save", "" }
  for _, word in ipairs(words) do all[#all + 1] = word end
  local process = assert(uv.spawn("redis-server", { args = all, stdio = {} }, function() end))
  local client = { "-s", path, "-c", tostring(CLIENTS), "-t", "set", "--csv", "-n", tostring(seconds * 20000) }
  while not uv.fs_stat(path) do uv.sleep(10) end
  local fields = {}
  for field in run("redis-benchmark", client):match '"SET",([^\n]*)':gmatch '"([%d.]+)"' do fields[#fields + 1] = tonumber(field) end
  row(name, fields[1], fields[4] or 0 / 0, fields[6] or 0 / 0)
  process:kill "sigkill"
  os.execute(("rm -rf '%s/appendonlydir'"):format(dir))
end

-- ---- a soak -------------------------------------------------------------------------------------------------------

local function look(s, seen)
  local status, n = {}, 0
  for line in io.lines(("/proc/%d/status"):format(s.process:get_pid())) do
    local key, value = line:match "^(%w+):%s+(%d+)"
    if key then status[key] = tonumber(value) end
  end
  local dir = assert(uv.fs_scandir(("/proc/%d/fd"):format(s.process:get_pid())))
  while uv.fs_scandir_next(dir) do n = n + 1 end
  seen[#seen + 1] = { kilobytes = status.VmRSS, descriptors = n }
end

local function soak(seconds)
  local s, seen = start(true), {}
  local result = load(s, seconds, 1, function() look(s, seen) end)
  local first, last = seen[math.max(1, #seen // 10)], seen[#seen]
  print(("soak, %d s: %d requests, %d failed; memory %d kB after a tenth, %d kB at the end; descriptors %d, %d"):format(seconds,
    result.requests, result.failed, first.kilobytes, last.kilobytes, first.descriptors, last.descriptors))
  local client <close> = s:connect()
  local stats = client:ask "stats"
  print(("matches %d, commits %d, jobs left %d, Lua %d bytes"):format(stats.counts.matches, stats.counts.commits, stats.allocated,
    stats.bytes.lua))
  s:stop()
  assert(result.failed == 0 and last.kilobytes < first.kilobytes * 1.1 + 1024, "memory is not flat")
end

if arg[1] == "soak" then
  soak(tonumber(arg[2]) or 60)
else
  local seconds = tonumber(arg[1]) or 5
  local what = ("%d clients, match and release of 1 of 10,080 nodes"):format(CLIENTS)
  measure(what, seconds, 1, false)
  measure(what .. ", 8 in flight each", seconds, 8, false)
  measure(what .. ", durable", seconds, 1, true)
  measure(what .. ", durable, 8 each", seconds, 8, true)
  if installed "redis-server" and installed "redis-benchmark" then
    redis(seconds, ("Redis, %d clients, SET"):format(CLIENTS), { "--appendonly", "no" })
    redis(seconds, ("Redis, %d clients, SET, durable"):format(CLIENTS), { "--appendonly", "yes", "--appendfsync", "always" })
  end
end
service.clean()
