-- Unusable stores: the message, whether the service ends or continues, and no damage. Damaged databases are in
-- spec/weir-serve/serve/serve_spec.lua.
local core = require "weir.core"
local net = require "weir.serve.net"
local etcds = require "spec.support.etcd"
local faulty = require "spec.support.faults"
local missing = require "spec.support.missing"
local service = require "spec.support.service"
local services = require "weir.serve.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4"

local maybe = missing.it_with(etcds.available(), missing.program("etcd", "etcd-server"), it, pending)

after_each(function()
  etcds.clean()
  service.clean()
end)

local function words(dir, state, ...) return { "serve", "-r", MACHINE, "-l", "unix:" .. dir .. "/s", "--state", state, ... } end

local function fails(dir, state, text)
  local s = service.spawn(words(dir, state))
  assert.equal(2, s:exit())
  assert.equal("", s.out.text)
  assert.matches(text, s.err.text, 1, true)
  assert.equal(1, select(2, s.err.text:gsub("\n", "")))
end

-- ---- SQLite -------------------------------------------------------------------------------------------------------

-- A state with a job.
local function stored(dir)
  local path = shell.path(dir, "m.sqlite")
  shell.path(dir, "m.sqlite-wal")
  shell.path(dir, "m.sqlite-shm")
  local s = service.start(dir, { "-r", MACHINE, "--state", path })
  local c <close> = s:connect()
  assert(c:ask("match", { request = "slot=1/node" }))
  assert.equal(0, s:stop())
  return path
end

local function check_stored(path)
  local g <close> = assert(weir.load(path))
  assert(g:check())
  return #weir.engine({ resources = g }):jobs()
end

-- Limits the size of files: as on a full disk, writing fails.
local function with_limit(blocks)
  return { "sh", "-c", "trap '' XFSZ; ulimit -S -f " .. blocks .. '; exec "$@"', "sh" }
end

-- Removes the limit.
local function lift_limit(s) assert(os.execute(("prlimit --pid %d --fsize=unlimited"):format(s.process:get_pid()))) end

describe("a service with its state in SQLite", function()
  it("begins nothing on a full disk, and leaves no file", function()
    local dir = shell.directory()
    local s = service.spawn(words(dir, dir .. "/m.sqlite"), with_limit(8))
    assert.equal(2, s:exit())
    assert.matches("m.sqlite", s.err.text, 1, true)
    assert.is_false(shell.exists(dir .. "/m.sqlite"))
  end)

  it("[L7] tells clients when the disk is full, undoes what it could not save, and damages nothing", function()
    local dir = shell.directory()
    local path = stored(dir)
    local s = service.spawn(words(dir, path), with_limit(300))
    s.path = shell.path(dir, "s")
    service.wait("the service to listen", function() return s.out.text:find "\n" or s.code end)
    local c <close> = s:connect()
    local acknowledged, why, code = 1, nil, nil
    for _ = 1, 400 do
      local a
      a, why, code = c:ask("tag", { uri = "/cluster0/rack0/node0", set = { ["x" .. acknowledged] = ("x"):rep(20000) } })
      if not a then break end
      acknowledged = acknowledged + 1
    end
    assert.equal("io", code)
    assert.matches("^not done, as it could not be saved", why)
    assert.equal(1, #c:ask("jobs").jobs)
    for _ = 1, 5 do
      local done, _, again = c:ask("tag", { uri = "/cluster0/rack0/node0", set = { y = ("y"):rep(60000) } })
      assert.same({ nil, "io" }, { done, again })
      assert.equal(1, #c:ask("jobs").jobs)
    end
    lift_limit(s)
    assert(c:ask("release", { job = assert(c:ask("match", { request = "slot=1/node" })).job }))
    s:kill()
    assert.equal(1, check_stored(path))
    local g <close> = weir.load(path)
    local tags = g:vertex "/cluster0/rack0/node0".tags
    assert.is_truthy(tags["x" .. acknowledged - 1])
    assert.is_nil(tags["x" .. acknowledged])
  end)

  it("is for who runs the service only, whatever the umask, and an old one is made so", function()
    local dir = shell.directory()
    local path = stored(dir)
    assert.equal(384, core.file_mode(path))
    assert.is_false(shell.exists(path .. "-lock"))
    for _, mode in ipairs { 420, 432, 438 } do -- 0644, 0660, 0666
      assert(uv.fs_chmod(path, mode))
      local s = service.start(dir, { "--state", path })
      assert.equal(384, core.file_mode(path))
      assert(s:connect():ask("match", { request = "slot=1/core" }))
      for _, suffix in ipairs { "", "-wal", "-shm", "-lock" } do assert.is_true((core.file_mode(path .. suffix) or 0) & 63 == 0, suffix) end
      assert.equal(0, s:stop())
      assert.matches(("others could use it %%(mode %o%%); its mode is 600 now"):format(mode), s.err.text)
    end
    assert.equal(4, check_stored(path))
  end)

  it("has one service at a time, by whatever name, and a killed one leaves no lock", function()
    local dir, elsewhere = shell.directory(), shell.directory()
    local path, link = stored(dir), shell.path(elsewhere, "link")
    assert(uv.fs_symlink(path, link))
    local first = service.start(dir, { "--state", path })
    for _, name in ipairs { path, "sqlite:" .. path, link } do
      local second = service.spawn { "serve", "-l", "unix:" .. elsewhere .. "/s", "--state", name }
      assert.equal(2, second:exit())
      assert.matches(("another service uses this state: process %d has it: unix:%s/s"):format(first.process:get_pid(), dir),
        second.err.text, 1, true)
    end
    assert(first:connect():ask("match", { request = "slot=1/node" }))
    first:kill()
    assert.is_true(shell.exists(path .. "-lock"))
    local third = service.start(dir, { "--state", link })
    assert.equal(2, #third:connect():ask("jobs").jobs)
    assert.equal(0, third:stop())
    assert.is_false(shell.exists(path .. "-lock"))
  end)

  it("is not locked through a link that somebody has put there", function()
    local dir = shell.directory()
    local precious = shell.path(dir, "precious", "precious\n")
    assert(uv.fs_symlink(precious, shell.path(dir, "m.sqlite-lock")))
    fails(dir, dir .. "/m.sqlite", "it cannot be locked")
    assert.equal("precious\n", shell.slurp(precious))
  end)

  it("does not begin on a file that cannot be written, and says which", function()
    local dir = shell.directory()
    fails(dir, "/proc/version", "/proc/version")
    fails(dir, dir .. "/nowhere/m.sqlite", "nowhere/m.sqlite")
    fails(dir, "sqlite:", "sqlite:FILE")
    fails(dir, dir, dir)
  end)
end)

describe("a recording on a full disk", function()
  it("is reported at most ten times at once", function()
    local dir = shell.directory()
    local record = shell.path(dir, "record")
    local s = service.spawn({ "serve", "-r", MACHINE, "-l", "unix:" .. dir .. "/s", "--record", record }, with_limit(64))
    s.path = shell.path(dir, "s")
    service.wait("the service to listen", function() return s.out.text:find "\n" or s.code end)
    local c <close> = s:connect()
    for _ = 1, 200 do
      assert(c:ask("resource.offline", { targets = "0" }))
      assert(c:ask("resource.online", { targets = "0" }))
    end
    assert.equal(0, s:stop())
    local lines = select(2, s.err.text:gsub("the recording is not complete: ", ""))
    -- ten, and one for each six seconds
    assert.is_true(lines > 0 and lines < 40, s.err.text)
  end)
end)

-- ---- failing disks --------------------------------------------------------------------------------------------------

-- A commit whose checkpoint fails stays in the write-ahead log, and the log is not begun again: the commit after it needs
-- one fdatasync.
local LOG_STAYS = "fdatasync:-wal:3"

-- {what fails during a change, the outcomes that are right, the plan}. "done": after a restart the change is there.
local FAILING = {
  { "the commit", { "io" }, "fdatasync:-wal:1" },
  { "the commit and the checkpoint after it", { "done" }, "fdatasync:-wal:1 pwrite64:.sqlite:1" },
  { "the commit, the checkpoint and the opening of the file", { "unsure" }, "fdatasync:-wal:1 pwrite64:.sqlite:1 open64:.sqlite:2" },
  { "the commit and two checkpoints", { "unsure" }, "fdatasync:-wal:1 pwrite64:.sqlite:1 pwrite64:.sqlite:2" },
}

describe("a service on a disk that fails now and then", function()
  for _, case in ipairs(FAILING) do
    for _, method in ipairs { "match", "release" } do
      it(("[L7] does not guess about a %s after failures of %s"):format(method, case[1]), function()
        local dir = shell.directory()
        local path = stored(dir)
        local faults = faulty.new(path)
        local s = service.spawn(words(dir, path), faults:within())
        s.path = shell.path(dir, "s")
        service.wait("the service to listen", function() return s.out.text:find "\n" or s.code end)
        local c <close> = s:connect()
        faults:plan(LOG_STAYS)
        assert(c:ask("match", { request = "slot=1/node", job = 10 }))
        assert.matches("fdatasync .*%-wal", faults:failed())
        faults:plan(case[3])
        local params = method == "match" and { request = "slot=1/node", job = 11 } or { job = 10 }
        local done, why, code = c:ask(method, params)
        assert.equal(select(2, case[3]:gsub("%S+", "")), select(2, faults:failed():gsub("\n", "")), faults:failed())
        faults:plan ""
        assert.same(case[2], { done and "done" or code })
        if not done then assert.matches(code == "io" and "^not done" or "^whether this was done is not known.*: ask again$", why) end
        local live
        service.wait("the state to be read", function()
          live = c:ask "jobs"
          return live
        end)
        s:kill()
        local g <close> = assert(weir.load(path))
        assert(g:check())
        local kept = weir.engine({ resources = g }):job(params.job) ~= nil
        if code ~= "unsure" then assert.equal((method == "match") == (done ~= nil), kept) end
        local jobs = 0
        for _, job in ipairs(live.jobs) do jobs = jobs + (job.job == params.job and 1 or 0) end
        assert.equal(kept and 1 or 0, jobs)
      end)
    end
  end
end)

-- ---- failing stores -----------------------------------------------------------------------------------------------

-- A service without sockets, on a store in memory that fails on demand; ask(method, params) is the answer for a
-- client.
local function on_faulty_store()
  local store = { address = "a store", kept = nil, fails = nil, lost = nil }
  function store.commit(_, graph)
    if store.fails then return nil, store.fails, "io" end
    if store.kept then store.kept:close() end
    store.kept = assert(graph:dup())
    return true
  end
  function store.load()
    if store.lost then return nil, store.lost, "io" end
    return store.kept:dup()
  end
  function store.tick() return true end
  function store.publish() end
  function store.published() return {} end
  local said = {}
  local s = assert(services.new(assert(weir.synthetic(MACHINE)), {
    store = store, clock = "manual", limits = { filters = 250 }, log = function(text) said[#said + 1] = text end,
  }))
  assert(s:commit())
  local function ask(method, params)
    local got = {}
    s:handle { client = { role = "administrator", name = "root" }, id = 1, method = method, params = params or {},
      answer = function(result) got[1] = result end, fail = function(why, code) got[2], got[3] = why, code end,
      pages = function(name, n, make)
        local list = {}
        for i = 1, n do list[i] = make(i) end
        got[1] = { [name] = list }
      end,
    }
    return table.unpack(got, 1, 3)
  end
  return s, store, ask, said
end

describe("a service whose store fails", function()
  it("undoes what was not saved, and takes changes again once it can be", function()
    local s, store, ask = on_faulty_store()
    assert.equal(1, assert(ask("match", { request = "slot=1/node" })).job)
    assert(s:commit())
    store.fails = "no space"
    for _ = 1, 3 do
      assert(ask("match", { request = "slot=1/node" }))
      assert.same({ nil, "no space", "io" }, { s:commit() })
      assert.is_true(s:restore())
      assert.equal(1, #ask("jobs").jobs)
      assert.is_true(s:commit(), "nothing is to be saved")
    end
    store.fails = nil
    assert(ask("match", { request = "slot=1/node" }))
    assert(s:commit())
    assert.equal(2, #ask("jobs").jobs)
    assert(s.graph:check())
  end)

  it("answers nothing while it cannot be read either, tells so, and is what was saved last after that", function()
    local s, store, ask, said = on_faulty_store()
    assert(ask("match", { request = "slot=1/node" }))
    assert(s:commit())
    store.fails, store.lost = "no space", "no space to read"
    assert(ask("match", { request = "slot=1/node" }))
    assert.is_nil((s:commit()))
    assert.is_true(s:restore())
    for _ = 1, 3 do
      for _, method in ipairs { "jobs", "match", "stats", "release" } do
        local result, why, code = ask(method, { job = 1 })
        assert.same({ nil, "io" }, { result, code })
        assert.matches("can neither be saved nor read now, .*: no space to read", why)
      end
      assert.is_truthy(ask "hello")
      s:tick(1e9)
      assert.is_true(s:commit())
      assert.is_true(s:retry())
    end
    assert.equal(1, #said)
    store.lost = nil
    assert.is_true(s:retry())
    assert.equal(1, #ask("jobs").jobs)
    assert.matches("the state was read again", said[2])
    store.fails = nil
    assert(ask("match", { request = "slot=1/node" }))
    assert(s:commit())
  end)
end)

-- ---- etcd ---------------------------------------------------------------------------------------------------------

-- A web server, but no etcd; a process, as the spec waits by an event loop.
local function web_server(text)
  local listener = uv.new_tcp()
  listener:bind("127.0.0.1", 0)
  listener:listen(8, function()
    local client = uv.new_tcp()
    listener:accept(client)
    client:read_start(function(_, piece)
      if piece then
        client:write("HTTP/1.1 200 OK\r\nContent-Length: " .. #text .. "\r\nConnection: close\r\n\r\n" .. text)
      elseif not client:is_closing() then
        client:close()
      end
    end)
  end)
  return "http://127.0.0.1:" .. listener:getsockname().port
end

describe("a service with its state in etcd", function()
  it("does not begin with an address that is none", function()
    local dir = shell.directory()
    fails(dir, "etcd:nonsense", "http://HOST:PORT")
    fails(dir, "etcd:http://h/p,http://i/p", "http://HOST:PORT")
    fails(dir, "etcd:http://127.0.0.1:1,nonsense", "http://HOST:PORT")
    fails(dir, "etcd:http://127.0.0.1:1", "127.0.0.1:1")
  end)

  for _, text in ipairs { "<html>welcome</html>", '{"hello":"world"}', "[]", "" } do
    it(("does not begin where another server answers %q"):format(text), function()
      fails(shell.directory(), "etcd:" .. web_server(text), "etcd")
    end)
  end

  local DAMAGED = {
    { "keys of something else", "something", "else", "keys of something else" },
    { "a piece that is cut off", "block/0/0", '[["run",0,', "block/0/0" },
    { "a piece of something else", "block/0/0", "hello", "block/0/0" },
    { "a job on what is not there", "jobs/1/0", '[["job",1,0,null,null,""],["pick",1,0,999,null,1,1]]', "table pick" },
    { "meta that is none", "meta", "{}", "meta" },
    { "a log that is not whole", "redo", '{"log":"x","parts":2}', "not complete" },
    { "a log that is none", "redo", "17", "redo" },
  }
  for _, case in ipairs(DAMAGED) do
    maybe(("refuses %s, and leaves it as it is"):format(case[1]), function()
      local etcd, dir = etcds.start(), shell.directory()
      local s = service.start(dir, { "-r", MACHINE, "--state", "etcd:" .. etcd.url .. "/x" })
      assert.equal(0, s:stop())
      etcd:put("/x/" .. case[2], case[3])
      local before = etcd:all "/x/"
      fails(dir, "etcd:" .. etcd.url .. "/x", case[4])
      assert.same(before, etcd:all "/x/")
    end)
  end

  maybe("refuses a state without its meta", function()
    local etcd, dir = etcds.start(), shell.directory()
    etcd:put("/x/block/0/0", "[]")
    fails(dir, "etcd:" .. etcd.url .. "/x", "meta is missing")
  end)

  maybe("[L7] tells clients when etcd is full, undoes what it could not save, and goes on when there is room", function()
    local etcd, dir = etcds.start { quota = 4 << 20 }, shell.directory()
    local s = service.start(dir, { "-r", MACHINE, "--state", "etcd:" .. etcd.url })
    local c <close> = s:connect()
    assert(c:ask("match", { request = "slot=1/node" }))
    local text = net.base64(("x"):rep(1 << 20))
    while etcd:ask("kv/put", { key = net.base64 "filler", value = text }) do uv.run "nowait" end
    local ok, why, code = c:ask("match", { request = "slot=1/node" })
    assert.same({ nil, "limit" }, { ok, code })
    assert.matches("^not done, as it could not be saved: .*space", why)
    assert.equal(1, #c:ask("jobs").jobs)
    local header = assert(etcd:ask("kv/deleterange", { key = net.base64 "filler" })).header
    etcd:ask("kv/compaction", { revision = header.revision, physical = true })
    etcd:ask("maintenance/defragment", { x = core.null })
    etcd:ask("maintenance/alarm", { action = "DEACTIVATE", alarm = "NOSPACE", memberID = header.member_id })
    assert(c:ask("match", { request = "slot=1/node" }))
    assert.equal(2, #c:ask("jobs").jobs)
    assert.equal(0, s:stop())
  end)
end)
