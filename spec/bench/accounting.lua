-- A year of accounting: weir run spec/bench/accounting.lua [JOBS] makes what sacct -P would print of JOBS (1,000,000) jobs,
-- one in ten an array task, each with a step, and tells the CPU seconds and the memory of reading it, and of a replay
-- with "replay" behind the number. The file is made in a temporary folder, and removed.
local random = require "weir.random"
local replay = require "weir.replay"
local trace = require "weir.trace"
local weir = require "weir"

local JOBS = math.tointeger(tonumber(arg[1] or 1000000))
local HEAD = "JobID|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|NCPUS|ReqTRES|AllocTRES|Partition|QOS|Account|User|State|Reason\n"
local STATES = { "COMPLETED", "COMPLETED", "COMPLETED", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 1000" }
local START = 1704067200 -- 2024-01-01

local function time(t) return os.date("!%Y-%m-%dT%H:%M:%S", t) end

local function span(s) return ("%d-%02d:%02d:%02d"):format(s // 86400, s // 3600 % 24, s // 60 % 60, s % 60) end

-- Writes the accounting of a cluster of `nodes` nodes with 32 processors each, at a load of some 70 %.
local function write(path, nodes)
  local file <close> = assert(io.open(path, "w"))
  local f, t = random.fractions(1), START
  local gap = 366 * 86400 / JOBS
  file:write(HEAD)
  for i = 1, JOBS do
    t = t - gap * math.log(f())
    local count = math.min(math.floor(math.exp(f() * 4)), 40)
    local run = math.floor(math.exp(f() * 6 + 2) * gap * nodes / 9200) + 1
    local limit, submit = run + math.floor(run * f() * 3) + 60, math.floor(t)
    local start = submit + math.floor(f() * f() * 3600)
    local id = i % 10 == 0 and ("%d_%d"):format(i - 1, i % 7) or tostring(i)
    local tres = ("billing=%d,cpu=%d,mem=%dM,node=%d"):format(count * 32, count * 32, count * 60000, count)
    local state = STATES[math.floor(f() * #STATES) + 1]
    file:write(table.concat({ id, time(submit), time(submit), time(start), time(start + run), span(run), span(limit), count,
      count * 32, tres, tres, "batch", "normal", "a" .. i % 40, "u" .. i % 400, state, "None" }, "|"), "\n")
    file:write(id, ".batch|", time(start), "|", time(start), "|", time(start), "|", time(start + run), "|", span(run),
      "||1|32||cpu=32,mem=60000M,node=1|||a", i % 40, "||", state, "|\n")
  end
end

local function read(path)
  local before, log, n, most = os.clock(), assert(trace.open(path)), 0, 0
  for _ in log.next do
    n = n + 1
    if n % 10000 == 0 then most = math.max(most, collectgarbage "count") end
  end
  print(("%d jobs and %d steps read in %.1f CPU s, %.1f MB of Lua at most"):format(n, log.steps, os.clock() - before, most / 1024))
  return n
end

local path = os.tmpname()
local NODES = 1000
write(path, NODES)
read(path)
if arg[2] == "replay" then
  local conf = path .. ".conf"
  local file = assert(io.open(conf, "w"))
  file:write(("NodeName=n[1-%d] Sockets=2 CoresPerSocket=16 RealMemory=64000\nPartitionName=batch Nodes=ALL\n"):format(NODES))
  file:close()
  local before = os.clock()
  local result = assert(replay.run { resources = assert(weir.load(conf)), trace = path, queue = "easy" })
  print(("%d replayed in %.1f CPU s; mean wait %.0f s, nodes in use %.1f %%"):format(result.metrics.jobs, os.clock() - before,
    result.metrics.wait.mean, result.metrics.utilisation.node * 100))
  os.remove(conf)
end
os.remove(path)
