-- Stores that cannot be used: what a service says, that it ends or serves on, and that nothing is damaged. What a database that is
-- damaged or something else does is in serve_spec.lua.
local core = require "weir.core"
local etcds = require "spec.support.etcd"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4"

local maybe = etcds.available() and it or pending

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

-- ---- SQLite ------------------------------------------------------------------------------------------------------------------------

-- A state with a job in it.
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

-- Files grow no further than this: as on a full disk, writing fails.
local function with_limit(blocks)
  return { "sh", "-c", "trap '' XFSZ; ulimit -f " .. blocks .. '; exec "$@"', "sh" }
end

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
    if not s.code then assert.equal(1, #c:ask("jobs").jobs) end
    s:kill()
    assert.equal(1, check_stored(path))
    local g <close> = weir.load(path)
    local tags = g:vertex "/cluster0/rack0/node0".tags
    assert.is_truthy(tags["x" .. acknowledged - 1])
    assert.is_nil(tags["x" .. acknowledged])
  end)

  it("does not begin on a file that cannot be written, and says which", function()
    local dir = shell.directory()
    fails(dir, "/proc/version", "/proc/version")
    fails(dir, dir .. "/nowhere/m.sqlite", "nowhere/m.sqlite")
    fails(dir, "sqlite:", "sqlite:FILE")
    fails(dir, dir, dir)
  end)
end)

-- ---- etcd ---------------------------------------------------------------------------------------------------------------------------

-- A web server that is no etcd; in a process of its own nothing is needed, as the spec waits by its loop.
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
    local text = core.base64(("x"):rep(1 << 20))
    while etcd:ask("kv/put", { key = core.base64 "filler", value = text }) do uv.run "nowait" end
    local ok, why, code = c:ask("match", { request = "slot=1/node" })
    assert.same({ nil, "limit" }, { ok, code })
    assert.matches("^not done, as it could not be saved: .*space", why)
    assert.equal(1, #c:ask("jobs").jobs)
    local header = assert(etcd:ask("kv/deleterange", { key = core.base64 "filler" })).header
    etcd:ask("kv/compaction", { revision = header.revision, physical = true })
    etcd:ask("maintenance/defragment", { x = core.null })
    etcd:ask("maintenance/alarm", { action = "DEACTIVATE", alarm = "NOSPACE", memberID = header.member_id })
    assert(c:ask("match", { request = "slot=1/node" }))
    assert.equal(2, #c:ask("jobs").jobs)
    assert.equal(0, s:stop())
  end)
end)
