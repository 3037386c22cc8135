-- Files read again at SIGHUP: tokens, and the certificate for TLS. A faulty file changes nothing.
local client = require "weir.serve.client"
local core = require "weir.core"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"

local TLS = "spec/data/tls/"
local ADMIN, ALICE, BOB = "admin-0123456789abcdef", "alice-0123456789abcdef", "bob-0123456789abcdef"

local function lines(list) return table.concat(list, "\n") .. "\n" end

local ALL = { ADMIN .. " administrator root", ALICE .. " owner alice", BOB .. " owner bob" }

-- Writes a file that only the owner may read.
local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
  assert(uv.fs_chmod(path, 384))
end

local function serve(more)
  local dir = shell.directory()
  local tokens = shell.path(dir, "tokens", "")
  write(tokens, lines(ALL))
  local words = { "-r", "cluster:1 node:4 core:4", "-l", "tcp:127.0.0.1:0", "--token-file", tokens, table.unpack(more or {}) }
  local s = service.start(dir, words)
  s.dir, s.tokens, s.tcp, s.tls = dir, tokens, s.out.text:match "tcp:127.0.0.1:%d+", s.out.text:match "tls:localhost:%d+"
    or s.out.text:match "tls:127.0.0.1:%d+"
  return s
end

local function enter(s, token, address, access)
  access = access or {}
  access.token_file = shell.path(s.dir, "own", token .. "\n")
  return client.connect(address or s.tcp, access)
end

-- Sends SIGHUP, and waits until the service has logged `what` n times.
local function reload(s, what, n)
  s.process:kill "sighup"
  service.wait(what, function()
    local _, found = s.err.text:gsub(what, "")
    return found == (n or 1)
  end)
end

after_each(service.clean)

describe("a token that leaves the file", function()
  -- {title, the lines of the file afterwards}
  for _, case in ipairs {
    { "is removed", { ALL[1], ALL[3] } },
    { "gets another role", { ALL[1], ALICE .. " reader alice", ALL[3] } },
    { "gets another name", { ALL[1], ALICE .. " owner carol", ALL[3] } },
  } do
    it("as it " .. case[1] .. " ends its connections at SIGHUP, and those of no other token", function()
      local s = serve { "--filter-ms", "600000", "--limit", "filterms=600000" }
      local alice, again, bob, here = assert(enter(s, ALICE)), assert(enter(s, ALICE)), assert(enter(s, BOB)), s:connect()
      local stream = alice:send "events"
      assert(alice:next(stream))
      -- of hours, in few instructions, as their number is limited
      local endless = [[local z = ("\0"):rep(100000) return {evaluate = function() while true do local _ = z .. "a" < z .. "b" end end}]]
      local copy = again:send("walk", { filter = endless })
      s:stopped_copy()
      write(s.tokens, lines(case[2]))
      reload(s, "the tokens were read again")
      for c, call in pairs { [alice] = stream, [again] = copy } do
        local result, why, code = c:next(call)
        assert.same({ nil, "the token of alice is not valid any more", "io" }, { result, why, code })
      end
      local _, dropped = s.err.text:gsub("a client was dropped: the token of alice is not valid any more", "")
      assert.equal(2, dropped)
      assert(bob:ask "stats")
      assert(here:ask "stats")
      if #case[2] == 2 then
        local none, why = enter(s, ALICE)
        assert.is_nil(none)
        assert.matches("not known here", why)
      end
    end)
  end

  it("does nothing before SIGHUP, and nothing where it has only moved in the file", function()
    local s = serve()
    local alice = assert(enter(s, ALICE))
    write(s.tokens, lines { "# from now on", ALL[3], ALL[2] })
    assert(enter(s, ADMIN))
    reload(s, "the tokens were read again")
    assert(alice:ask "stats")
    assert.is_nil((enter(s, ADMIN)))
  end)

  it("ends connections over TLS likewise, with the reason", function()
    local s = serve { "-l", "tls:localhost:0", "--tls-cert", TLS .. "cert.pem", "--tls-key", service.key(TLS .. "key.pem") }
    local c = assert(enter(s, ALICE, s.tls, { ca = TLS .. "cert.pem" }))
    write(s.tokens, lines { ALL[1] })
    reload(s, "the tokens were read again")
    assert.same({ nil, "the token of alice is not valid any more", "io" }, { c:ask "stats" })
  end)
end)

describe("a file of tokens that cannot be used at SIGHUP", function()
  -- {title, change to the file, text in the log}
  for _, case in ipairs {
    { "is missing", function(path) assert(uv.fs_unlink(path)) end, "tokens" },
    { "has an error", function(path) write(path, lines { ALL[1], "short" }) end, "tokens:2: a token has at least 16 bytes" },
    { "is empty", function(path) write(path, "") end, "there is no token in it" },
    { "can be read by others", function(path) assert(uv.fs_chmod(path, 420)) end, "others may read it (mode 644); chmod 600" },
  } do
    it("as it " .. case[1] .. " is logged, and leaves all tokens as they were", function()
      local s = serve()
      local alice = assert(enter(s, ALICE))
      case[2](s.tokens)
      reload(s, "the tokens were not read again")
      assert.matches(case[3], s.err.text:match "the tokens were not read again[^\n]*", 1, true)
      assert(alice:ask "stats")
      assert(enter(s, BOB))
    end)
  end
end)

describe("a certificate that is renewed", function()
  it("is shown to new connections after SIGHUP; one that does not fit its key is not", function()
    local dir = shell.directory()
    local cert, key = shell.path(dir, "cert", shell.slurp(TLS .. "cert.pem")), service.key(TLS .. "key.pem")
    local s = serve { "-l", "tls:localhost:0", "--tls-cert", cert, "--tls-key", key }
    local before = assert(enter(s, ALICE, s.tls, { ca = TLS .. "cert.pem" }))
    write(cert, shell.slurp(TLS .. "next_cert.pem"))
    reload(s, "the certificate was not read again")
    assert.matches(key, s.err.text:match "the certificate was not read again[^\n]*", 1, true)
    assert(enter(s, ALICE, s.tls, { ca = TLS .. "cert.pem" }))
    write(key, shell.slurp(TLS .. "next_key.pem"))
    assert(uv.fs_chmod(key, 420))
    reload(s, "the certificate was not read again", 2)
    assert.matches("others may read it (mode 644); chmod 600", s.err.text, 1, true)
    assert(uv.fs_chmod(key, 384))
    reload(s, "the certificate was read again")
    assert(before:ask "stats")
    assert.is_nil((enter(s, ALICE, s.tls, { ca = TLS .. "cert.pem" })))
    assert(assert(enter(s, ALICE, s.tls, { ca = TLS .. "next_cert.pem" })):ask "stats")
  end)
end)

describe("the limit of open files", function()
  -- Starts a service with a limit of open files: returns the process, or its status and output.
  local function within(files)
    local dir = shell.directory()
    local path = shell.path(dir, "s")
    local s = service.spawn({ "serve", "-r", "cluster:1 node:4 core:4", "-l", "unix:" .. path, "--state", shell.path(dir, "state") },
      { "sh", "-c", ('ulimit -n %d && exec "$0" "$@"'):format(files) })
    s.path = path
    service.wait("the service to listen", function() return s.out.text:find "\n" or s.code end)
    return s
  end

  for _, files in ipairs { 20, 24, 41 } do
    it(("refuses to start a service with %d, and says what it takes"):format(files), function()
      local s = within(files)
      assert.equal(2, s:exit())
      assert.matches(("^weir: %d files may be open, and a service takes at least 42, or 1152 for all"):format(files), s.err.text)
    end)
  end

  -- {files, limits that follow}
  for _, case in ipairs {
    { 42, { reserve = 2, strangers = 2, allcopies = 1, clients = 4 } },
    { 100, { reserve = 8, strangers = 8, allcopies = 4, clients = 44 } },
    { 1151, { reserve = 16, strangers = 64, allcopies = 8, clients = 1023 } },
  } do
    it(("of %d is kept with all connections and copies that may be there"):format(case[1]), function()
      local s = within(case[1])
      local list = { s:connect() }
      local limits = assert(list[1]:ask "hello").limits
      for name, n in pairs(case[2]) do assert.equal(n, limits[name], name) end
      for i = 2, math.min(case[2].clients + case[2].reserve, 200) do list[i] = s:connect() end
      for i = 1, math.min(#list, 30) do list[i]:send("explain", { request = "slot=9/node" }) end
      for i = 1, math.min(#list, 30) do assert(list[i]:next(i == 1 and 2 or 1)) end
      assert(list[1]:ask("match", { request = "slot=1/node" }))
      assert.equal(0, s:stop())
    end)
  end

  it("changes nothing where it is high enough", function()
    local limits = assert(service.start(shell.directory(), { "-r", "cluster:1 node:1" }):connect():ask "hello").limits
    if core.open_files(0) >= 1152 then assert.equal(1024, limits.clients) end
  end)
end)
