-- Disks and networks that fail: each system call of a store in turn, pairs of calls, and calls at random. An answer "done" is
-- done after a restart, an answer "not done" is not, and "unsure" is one of both.
local core = require "weir.core"
local etcds = require "spec.support.etcd"
local faulty = require "spec.support.faults"
local missing = require "spec.support.missing"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

local MACHINE = "cluster:1 node:8 core:2"
local SEED = math.tointeger(tonumber(os.getenv "WEIR_SPEC_SEED")) or os.time() % 100000
local MOST = 2000 -- calls of one change, beyond which something is wrong

local maybe = missing.it_with(etcds.available(), missing.program("etcd", "etcd-server"), it, pending)

after_each(function()
  etcds.clean()
  service.clean()
end)

local function read(path)
  local file <close> = io.open(path, "rb")
  return file and file:read "a"
end

-- A directory in memory, where saves do not wait for the disk.
local function directory()
  local name = ("/dev/shm/weir-spec-%d-%d"):format(os.time(), math.random(1 << 30))
  return os.execute("mkdir " .. name .. " 2>/dev/null") and name or shell.directory()
end

-- ---- saves and conversions --------------------------------------------------------------------------------------------

describe("a save on a failing disk", function()
  it("is done, not done, or unsure", function()
    local dir = directory()
    assert(os.execute("mkdir " .. dir .. "/at"))
    local faults = faulty.new(dir .. "/at/")
    local words = faults:within()
    for _, word in ipairs { shell.bin, "run", "spec/support/failing_saves.lua", dir, faults.file, service.scale, SEED } do
      words[#words + 1] = tostring(word)
    end
    local pipe <close> = assert(io.popen("'" .. table.concat(words, "' '") .. "' 2>&1"))
    local text, kinds = pipe:read "a", 0
    os.execute("rm -r " .. dir)
    for line in text:gmatch "[^\n]+" do
      assert.matches("^ok %d%d+ ", line)
      kinds = kinds + 1
    end
    assert.equal(6, kinds, text)
  end)

  it("leaves a database converted as a whole, or the old one", function()
    local dir = directory()
    local faults, path = faulty.new(dir .. "/at/"), dir .. "/at/m.db"
    assert(os.execute("mkdir " .. dir .. "/at"))
    local new, old = assert(weir.synthetic(MACHINE)), assert(weir.synthetic "cluster:1 node:2")
    assert(old:save(dir .. "/old.db"))
    local before, command = read(dir .. "/old.db"), table.concat(faults:within(), " ")
    for _, first in ipairs { true, false } do
      local calls = 0
      repeat
        os.execute(("rm -f %s*"):format(path))
        if not first then
          local file <close> = assert(io.open(path, "wb"))
          file:write(before)
        end
        calls = calls + 1
        faults:plan(tostring(calls))
        local ok = os.execute(("%s '%s' convert '%s' %s >/dev/null 2>%s/err"):format(command, shell.bin, MACHINE, path, dir))
        local failed, g = faults:failed() ~= "", weir.load(path)
        if ok then
          assert(g, "nothing there after call " .. calls):compare(new)
          assert(g:compare(new), calls)
        elseif read(dir .. "/err"):find("unsure", 1, true) then
          assert(g == nil or g:compare(new) or g:compare(old), calls)
        else
          assert(first and not g or not first and g and g:compare(old), ("call %d: %s"):format(calls, read(dir .. "/err")))
        end
      until not failed or calls > MOST
      assert.is_true(calls > 50 and calls < MOST)
    end
    os.execute("rm -r " .. dir)
  end)
end)

-- The number of jobs in the file `path`, or why it cannot be loaded.
local COUNT = [[
local g, why = require "weir".load(...)
print(g and #require "weir".engine({ resources = g }):jobs() or why)]]

-- Saves a second job to the database.
local ADD = [[
local weir = require "weir"
local g = assert(weir.load(...))
assert(weir.engine({ resources = g }):match "slot=1/core")
assert(g:save(..., { changed = true }))]]

describe("a load on a failing disk", function()
  it("has the last save, or fails", function()
    local dir = directory()
    local faults, path = faulty.new(dir .. "/at/"), dir .. "/at/m.db"
    assert(os.execute(("mkdir %s/at %s/kept"):format(dir, dir)))
    local count, add = shell.path(dir, "count.lua", COUNT), shell.path(dir, "add.lua", ADD)
    local command = table.concat(faults:within(), " ") .. " '" .. shell.bin .. "' run '%s' " .. path .. " 2>&1"
    local g = assert(weir.synthetic(MACHINE))
    assert(weir.engine({ resources = g }):match "slot=1/core")
    assert(g:save(path))
    faults:plan "pwrite64:m.db:1" -- the save stays in the write-ahead log
    assert(os.execute(command:format(add)))
    assert(os.execute(("cp %s* %s/kept"):format(path, dir)))
    local function load(plan)
      assert(os.execute(("rm -f %s*; cp %s/kept/* %s/at"):format(path, dir, dir)))
      faults:plan(plan)
      local pipe <close> = assert(io.popen(command:format(count)))
      local text = pipe:read "a"
      assert(text == "2\n" or plan ~= "" and text:find("m.db: ", 1, true), ("plan %q, seed %d: %s"):format(plan, SEED, text))
      return faults:failed() ~= ""
    end
    load ""
    local calls = 0
    repeat calls = calls + 1 until not load(tostring(calls)) or calls > MOST
    assert.is_true(calls > 30 and calls < MOST, calls)
    for i = 1, math.ceil(300 * service.scale) do load(("random %d 200"):format(SEED + i)) end
    os.execute("rm -r " .. dir)
  end)
end)

-- ---- services -------------------------------------------------------------------------------------------------------

local random

-- The jobs after a restart: {[job] = true}.
local function jobs_of(g)
  local jobs = {}
  assert(g:check())
  for _, job in ipairs(weir.engine({ resources = g }):jobs()) do jobs[job.id] = true end
  g:close()
  return jobs
end

-- Starts a service, and waits until it listens.
local function start(setup)
  local s = service.spawn({ "serve", "-r", MACHINE, "-l", "unix:" .. setup.socket, "--state", setup.state }, setup.faults:within())
  s.path = setup.socket
  service.wait("the service to listen", function() return s.out.text:find "\n" or s.code end)
  assert(not s.code, s.err.text)
  return s
end

local function listed(c)
  local answer, _, code = c:ask "jobs"
  if not answer then return nil, code end
  local jobs = {}
  for _, job in ipairs(answer.jobs) do jobs[job.job] = true end
  return jobs
end

-- Asks for changes while the calls of a plan fail, and compares each answer with what a restart finds. The state of `run`
-- goes on from plan to plan.
local function change(run, plan)
  local setup = run.setup
  if not run.s or run.s.code then
    setup.faults:plan ""
    run.s = start(setup)
    run.c = run.s:connect()
  end
  run.next = run.next + 1
  local grows = #run.order < 4 and (#run.order == 0 or random(2) == 1)
  local job = grows and run.next or run.order[1]
  local before = setup.stored()
  setup.faults:plan(plan)
  local answer, why, code = run.c:ask(grows and "match" or "release", { request = grows and "slot=1/core" or nil, job = job })
  local failed = select(2, setup.faults:failed():gsub("\n", ""))
  setup.faults:plan ""
  local after = setup.stored()
  local where = ("plan %q, seed %d: %s %d: %s (%s)"):format(plan, SEED, grows and "match" or "release", job, tostring(why), tostring(code))
  local was, is = before[job] == true, after[job] == true
  if answer then
    assert.equal(grows, is, where)
  elseif code ~= "unsure" and not why:find "closed the connection" then
    assert.equal(was, is, where)
    assert.matches("^not done", why)
  end
  local list = {}
  for id in pairs(after) do list[#list + 1] = id end
  table.sort(list)
  run.order = list
  if not run.s.code then
    local live
    service.wait("the state to be read", function()
      live = listed(run.c)
      return live or run.s.code
    end)
    if live then assert.same(after, live, where) end
  end
  return failed
end

-- Each call of a change in turn, pairs, and calls at random. `most`: how many of each.
local function try_all(setup, most)
  local run = { setup = setup, order = {}, next = 0 }
  local dice = SEED
  function random(n)
    dice = (dice * 1103515245 + 12345) % 2147483648
    return dice // 65536 % n + 1
  end
  uv.new_signal():start("sigpipe", function() end) -- a service that cannot read its state again ends
  change(run, "")
  local calls, quiet = 0, 0
  repeat -- changes differ in their calls: the last is beyond those of four changes
    local n = change(run, tostring(calls + 1))
    calls, quiet = calls + 1, n == 0 and quiet + 1 or 0
  until quiet == 4 or calls == MOST
  assert.is_true(calls > 4 and calls < MOST, calls)
  for _ = 1, most do
    local i = random(calls)
    change(run, i .. " " .. i + random(calls))
  end
  for i = 1, most do change(run, ("random %d %d"):format(SEED + i, ({ 5, 20, 50, 200 })[i % 4 + 1])) end
  run.c:close()
  if not run.s.code then run.s:kill() end
end

describe("a service on a failing store", function()
  it("says done, not done or unsure with its state in SQLite", function()
    local dir, copy = directory(), directory()
    local path, other = dir .. "/m.db", copy .. "/m.db"
    local function stored() -- what a restart would find: the files as they are now, without the memory shared by processes
      for _, suffix in ipairs { "", "-wal", "-journal" } do
        local text = read(path .. suffix)
        os.remove(other .. suffix)
        local file <close> = text and io.open(other .. suffix, "wb")
        if file then file:write(text) end
      end
      os.remove(other .. "-shm")
      return jobs_of(assert(weir.load(other)))
    end
    try_all({ socket = shell.path(shell.directory(), "s"), state = path, faults = faulty.new(path), stored = stored },
      math.ceil(100 * service.scale))
    os.execute(("rm -r %s %s"):format(dir, copy))
  end)

  maybe("says done, not done or unsure with its state in etcd", function()
    local etcd = etcds.start()
    local function stored()
      local pieces <close> = core.pieces()
      for key, text in pairs(etcd:all "/x/") do
        local name = key:sub(4)
        if name == "meta" or name:find "^kinds/" or name:find "^block/" or name:find "^data/" or name:find "^edges/"
          or name:find "^jobs/" then
          assert(pieces:put(name, text))
        end
      end
      return jobs_of(assert(pieces:graph()))
    end
    local socket, faults = shell.path(shell.directory(), "s"), faulty.new "net"
    local setup = { socket = socket, state = "etcd:" .. etcd.url .. "/x", faults = faults, stored = stored }
    try_all(setup, math.ceil(50 * service.scale))
  end)
end)
