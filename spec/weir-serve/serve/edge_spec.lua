-- The edge of a service: permissions, TCP and TLS, limits, metrics, logs, options from a file, the service manager,
-- and the end of a service.
local client = require "weir.serve.client"
local core = require "weir.core"
local roles = require "weir.serve.roles"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4"
local CERT, KEY = "spec/data/tls/cert.pem", "spec/data/tls/key.pem"

local TOKENS = {
  admin = "admin-0123456789abcdef", alice = "alice-0123456789abcdef", bob = "bob-0123456789abcdef", reader = "reader-0123456789abcdef",
}
local TOKEN_FILE = ([[
# who may come in
%s administrator root
%s owner alice

%s owner bob
%s reader
]]):format(TOKENS.admin, TOKENS.alice, TOKENS.bob, TOKENS.reader)

local function private(dir, name, text)
  local path = shell.path(dir, name, text)
  assert(uv.fs_chmod(path, 384))
  return path
end

-- A service on a Unix socket and on TCP, with the tokens above; s.tcp is its TCP address.
local function serve(more)
  local dir = shell.directory()
  local words = { "-r", MACHINE, "-l", "tcp:127.0.0.1:0", "--token-file", private(dir, "tokens", TOKEN_FILE), table.unpack(more or {}) }
  local s = service.start(dir, words)
  s.dir, s.tcp, s.tls = dir, s.out.text:match "tcp:127.0.0.1:%d+", s.out.text:match "tls:127.0.0.1:%d+"
  return s
end

local function enter(s, who)
  local path = shell.path(s.dir, who, TOKENS[who] .. "\n")
  return assert(client.connect(s.tcp, { token_file = path }))
end

local function refused(code, result, why, got)
  assert.is_nil(result)
  assert.equal(code, got)
  return why
end

after_each(service.clean)

describe("weir -s SOCKET show", function()
  after_each(service.clean)

  it("draws for readers, and for nobody without a token", function()
    local s = serve()
    for _, format in ipairs { "--tree", "--svg", "--html", "--timeline", "--totals" } do
      local file = shell.path(s.dir, "reader", TOKENS.reader .. "\n")
      assert.equal(0, shell.weir({ "-s", s.tcp, "--token-file", file, "show", format }).status)
      local other = shell.weir { "-s", s.tcp, "show", format }
      assert.same({ "", 1 }, { other.out, other.status })
      assert.matches('not before "login" with a token', other.err, 1, true)
    end
  end)
end)

describe("roles", function()
  local WORDS = {
    { { "reader=*" }, { { role = "reader", all = true } } },
    { { "owner=alice,@users,1000" },
      { { role = "owner", name = "alice" }, { role = "owner", group = "users" }, { role = "owner", uid = 1000 } } },
    { { "administrator=a", "reader=b" }, { { role = "administrator", name = "a" }, { role = "reader", name = "b" } } },
    { nil, {} },
  }
  for _, case in ipairs(WORDS) do
    it("are given by " .. table.concat(case[1] or { "nothing" }, " "), function() assert.same(case[2], (roles.rules(case[1]))) end)
  end

  for _, word in ipairs { "boss=x", "anyone=*", "reader", "reader=", "reader=a b", "=x", "owner=@" } do
    it("are not given by " .. word, function()
      local rules, why = roles.rules { word }
      assert.is_nil(rules)
      assert.matches("expected", why)
    end)
  end

  local _, own = core.user()
  local stranger = own + 54321
  local OF = {
    { {}, { uid = own, gid = 0 }, "administrator" },
    { {}, { uid = 0, gid = 0 }, "administrator" },
    { {}, { uid = stranger, gid = 0 }, nil },
    { { "reader=*" }, { uid = stranger, gid = 0 }, "reader" },
    { { "reader=*", "owner=" .. stranger }, { uid = stranger, gid = 0 }, "owner" },
    { { "owner=" .. stranger, "reader=*" }, { uid = stranger, gid = 0 }, "owner" },
    { { "owner=nobody-there" }, { uid = stranger, gid = 0 }, nil },
    { { "owner=@root" }, { uid = stranger, gid = 0 }, "owner" },
    { { "owner=@root" }, { uid = stranger, gid = 1 }, nil },
  }
  for i, case in ipairs(OF) do
    it(("follow from the user, case %d"):format(i), function() assert.equal(case[3], (roles.of((roles.rules(case[1])), case[2]))) end)
  end

  it("are told by the socket of who has connected", function()
    local hello = serve():connect():ask "hello"
    local name, uid = core.user()
    assert.same({ "administrator", name or tostring(uid) }, { hello.role, hello.name })
  end)

  it("refuse who has none, and say what would help", function()
    local _, uid = core.user()
    if uid ~= 0 then return pending "other users are needed, and root alone becomes another user: run as root" end
    local dir = shell.directory()
    local s = service.start(dir, { "-r", MACHINE, "--mode", "666", "--allow", "reader=65533" })
    assert(uv.fs_chmod(dir, 493))
    local function as(user)
      local out, err, text, done = uv.new_pipe(false), uv.new_pipe(false), "", nil
      local function take(_, piece) text = text .. (piece or "") end
      local handle, why, code = uv.spawn(shell.bin, {
        args = { "-s", s.path, "call", "hello" }, stdio = { nil, out, err }, uid = user, gid = user,
      }, function(status) done = status end)
      if code == "EACCES" then return nil end
      assert(handle, why)
      out:read_start(take)
      err:read_start(take)
      service.wait("its end", function() return done and text:find "\n" end)
      handle:close()
      return done, text
    end
    local status, said = as(65534)
    if not status then return pending "other users cannot run what was built here: build below a folder that all may enter" end
    assert.equal(2, status)
    assert.matches("may not use this service; its administrator can start it with --allow reader=", said, 1, true)
    status, said = as(65533)
    assert.equal(0, status)
    assert.matches('"role":"reader"', said, 1, true)
  end)
end)

describe("who may do what", function()
  local function all_methods(c)
    local list = {}
    for _, name in ipairs(c:ask("methods").methods) do list[name] = true end
    return list
  end

  local READS = {
    hello = true, methods = true, login = true, cancel = true, stats = true, metrics = true, events = true, find = true, show = true,
    walk = true, job = true, jobs = true, explain = true, policy = true, ["policy.list"] = true, ["resource.status"] = true,
    ["child.list"] = true, ["parent.status"] = true, stages = true, edges = true, copy = true, save = true,
  }
  local OWNS = { match = true, release = true, grow = true, shrink = true, ["child.open"] = true, stage = true, commit = true,
    drop = true }

  it("lets a reader look and do nothing else, whatever the method", function()
    local s = serve()
    local c = enter(s, "reader")
    for name in pairs(all_methods(c)) do
      if name ~= "login" and name ~= "events" then
        local _, why, code = c:ask(name, {})
        assert.equal(READS[name] == nil, code == "forbidden", name)
        if code == "forbidden" then assert.matches("reader", why) end
      end
    end
  end)

  it("lets an owner have jobs besides, and nothing of an administrator's", function()
    local s = serve()
    local c = enter(s, "alice")
    for name in pairs(all_methods(c)) do
      if name ~= "login" and name ~= "events" then
        assert.equal(not READS[name] and not OWNS[name], select(3, c:ask(name, {})) == "forbidden", name)
      end
    end
  end)

  it("lets a reader ask what a match would give", function()
    local c = enter(serve(), "reader")
    assert.equal("matched", c:ask("match", { request = "slot=1/node", mode = "preview" }).state)
    assert.is_true(c:ask("match", { request = "slot=1/node", mode = "feasible" }).feasible)
    refused("forbidden", c:ask("match", { request = "slot=1/node" }))
  end)

  local ON_JOBS = {
    { "release", {} }, { "shrink", { path = "/cluster0/rack0/node0" } }, { "grow", { request = "slot=1/node" } }, { "child.open", {} },
  }
  for _, case in ipairs(ON_JOBS) do
    it(case[1] .. " is for the owner of a job, and for administrators", function()
      local s = serve()
      local alice, bob = enter(s, "alice"), enter(s, "bob")
      local job = assert(alice:ask("match", { request = "slot=1/node" })).job
      assert.equal("alice", bob:ask("job", { job = job }).owner)
      local params = { job = job }
      for key, value in pairs(case[2]) do params[key] = value end
      assert.matches(("the owner of job %d or an administrator may do that; bob has the role owner"):format(job),
        refused("forbidden", bob:ask(case[1], params)), 1, true)
      assert.is_truthy(alice:ask(case[1], params))
      refused("unknown", bob:ask("release", { job = 999 }))
    end)
  end

  it("keeps whose jobs are whose over a restart", function()
    local dir = shell.directory()
    for _, suffix in ipairs { "", "-wal", "-shm" } do shell.path(dir, "state" .. suffix) end
    local state = dir .. "/state"
    local s = serve { "--state", state }
    local job = assert(enter(s, "alice"):ask("match", { request = "slot=1/node" })).job
    s:kill()
    s = serve { "--state", state }
    refused("forbidden", enter(s, "bob"):ask("release", { job = job }))
    assert.is_truthy(enter(s, "alice"):ask("release", { job = job }))
  end)

  it("lets the owner of a job acquire what it has, and nobody else", function()
    local s = serve()
    local alice, bob = enter(s, "alice"), enter(s, "bob")
    local job = assert(alice:ask("match", { request = "slot=1/node" })).job
    assert.is_truthy(alice:ask("child.open", { job = job }))
    refused("forbidden", bob:ask("resource.acquire", { group = "job." .. job }))
    refused("forbidden", alice:ask("resource.acquire", { group = "default" }))
    assert.is_truthy(alice:next(alice:send("resource.acquire", { group = "job." .. job })))
  end)
end)

describe("TCP", function()
  local FAILS = {
    { { "-l", "tcp:127.0.0.1:0" }, "--token-file FILE is missing" },
    { { "-l", "tcp:0.0.0.0:0" }, "in the clear only on this machine" },
    { { "-l", "tcp:example.org:7" }, "in the clear only on this machine" },
    { { "-l", "tcp:127.0.0.1" }, "tcp:HOST:PORT" },
    { { "-l", "tcp:127.0.0.1:99999" }, "tcp:HOST:PORT" },
    { { "-l", "tls:127.0.0.1:0", "--token-file", "TOKENS" }, "--tls-cert FILE and --tls-key FILE are missing" },
    { { "-l", "tls:127.0.0.1:0", "--tls-cert", CERT }, "belong together" },
    { { "--tls-cert", CERT, "--tls-key", "NO KEY" }, "no_key: " },
    { { "--tls-cert", CERT, "--tls-key", "OPEN KEY" }, "open_key: others may read it (mode 640); chmod 600" },
    { { "--tls-cert", "/nope", "--tls-key", "KEY" }, "/nope" },
    { { "--token-file", "WEAK" }, "others may read it" },
    { { "--token-file", "SHORT" }, "short:1: a token has at least 16 bytes" },
    { { "--token-file", "ODD" }, 'odd:2: "king" is none of reader, owner, administrator' },
    { { "--token-file", "EMPTY" }, "there is no token in it" },
    { { "--mode", "999" }, "an octal number" },
    { { "--allow", "king=*" }, "expected ROLE=WHO" },
  }
  for _, case in ipairs(FAILS) do
    it("is not opened by " .. table.concat(case[1], " "), function()
      local dir = shell.directory()
      local files = {
        TOKENS = private(dir, "tokens", TOKEN_FILE), SHORT = private(dir, "short", "abc\n"), EMPTY = private(dir, "empty", "# none\n"),
        ODD = private(dir, "odd", "\n0123456789abcdef king\n"), WEAK = shell.path(dir, "weak", TOKEN_FILE),
      }
      files.KEY, files["NO KEY"] = private(dir, "key", shell.slurp(KEY)), private(dir, "no_key", shell.slurp(CERT))
      files["OPEN KEY"] = shell.path(dir, "open_key", shell.slurp(KEY))
      assert(uv.fs_chmod(files["OPEN KEY"], 416))
      assert(uv.fs_chmod(files.WEAK, 420))
      local words = { "serve", "-r", MACHINE, "-l", "unix:" .. shell.path(dir, "s") }
      for _, word in ipairs(case[1]) do words[#words + 1] = files[word] or word end
      local result = shell.weir(words)
      assert.equal(2, result.status)
      assert.matches(case[2], result.err, 1, true)
    end)
  end

  it("makes a token where there is none, for nobody else to read", function()
    local dir = shell.directory()
    local file = shell.path(dir, "token")
    local s = service.start(dir, { "-r", MACHINE, "-l", "tcp:127.0.0.1:0", "--token-file", file })
    assert.equal(384, uv.fs_stat(file).mode & 511)
    assert.matches("^%x+ administrator\n$", shell.slurp(file))
    local result = shell.weir { "-s", s.out.text:match "tcp:[%d.:]+%d", "--token-file", file, "call", "hello" }
    assert.equal("", result.err)
    assert.matches('"role":"administrator"', result.out, 1, true)
    assert.matches(("weir: %s: is new, and has the token of an administrator\n"):format(file), s.err.text, 1, true)
    assert.matches('jobs: not before "login" with a token: --token-file FILE, before the command',
      shell.weir({ "-s", s.out.text:match "tcp:[%d.:]+%d", "jobs" }).err, 1, true)
  end)

  it("answers nothing before a token but login and what is no secret", function()
    local c = assert(client.connect(serve().tcp))
    for _, method in ipairs { "stats", "find", "match", "metrics", "resource.acquire", "events", "policy.load" } do
      assert.matches('not before "login" with a token', refused("forbidden", c:ask(method, {})), 1, true)
    end
    assert.equal("anyone", c:ask("hello").role)
  end)

  it("is over after three wrong tokens", function()
    local s = serve()
    local c = assert(client.connect(s.tcp))
    for _ = 1, 3 do refused("forbidden", c:ask("login", { token = "0123456789abcdef" })) end
    refused("io", c:ask "hello")
    assert.matches("a token was refused", s.err.text)
    local result = shell.weir { "-s", s.tcp, "--token-file", shell.path(s.dir, "bad", "0123456789abcdef"), "jobs" }
    assert.equal(2, result.status)
    assert.matches("this token is not known here", result.err)
  end)

  it("takes short lines only before a token", function()
    local s = serve()
    local raw = s:knock()
    raw.send(("x"):rep(5000))
    service.wait("the end", function() return raw.closed end)
    assert.matches("a line may have 4096 bytes", raw.text)
    assert.is_truthy(enter(s, "alice"):ask("explain", { request = "slot=1/node", name = ("n"):rep(5000) }))
  end)

  it("has a limit on those who have shown no token", function()
    local s = serve { "--limit", "strangers=2" }
    local first = s:knock()
    local second, third = s:knock(), s:knock()
    service.wait("the end of the first", function() return first.closed end)
    assert.matches("address 127.0.0.1 makes room for another connection", first.text, 1, true)
    assert.is_falsy(second.closed or third.closed)
    assert.is_truthy(s:connect():ask "hello")
  end)

  it("is refused by a client in the clear to another machine", function()
    local c, why, code = client.connect "tcp:192.0.2.1:9"
    assert.is_nil(c)
    assert.equal("forbidden", code)
    assert.matches("tls:192.0.2.1:9", why, 1, true)
  end)
end)

describe("TLS", function()
  local function tls() return serve { "-l", "tls:localhost:0", "--tls-cert", CERT, "--tls-key", service.key(KEY) } end

  it("carries requests, long answers and many of them", function()
    local s = tls()
    local c = assert(client.connect(s.tls, { ca = CERT, token_file = shell.path(s.dir, "t", TOKENS.admin) }))
    assert.equal(43, #c:ask("find", { expression = "size>=0" }).vertices)
    local long = ("x"):rep(100000)
    assert.is_truthy(c:ask("tag", { uri = "/cluster0", set = { a = long:sub(1, 60000) } }))
    assert.equal(60000, #c:ask("show", { uri = "/cluster0", as = "pool" }).tags.a)
    for _ = 1, 200 do assert(c:ask("release", { job = assert(c:ask("match", { request = "slot=1/node" })).job })) end
    c:close()
    assert.equal(0, s:stop())
  end)

  it("is not trusted without its certificate, nor under another name", function()
    local s = serve { "-l", "tls:localhost:0", "-l", "tls:127.0.0.2:0", "--tls-cert", CERT, "--tls-key", service.key(KEY) }
    assert.matches("not trusted: .*; %-%-ca FILE has the certificates that are$", refused("io", client.connect(s.tls, {})))
    assert.matches("; one that speaks TLS is " .. s.tls, shell.weir({ "-s", (s.tls:gsub("tls:", "tcp:")), "--token-file",
      shell.path(s.dir, "a", TOKENS.admin), "jobs" }).err, 1, true)
    local other = s.out.text:match "tls:127.0.0.2:%d+"
    assert.matches("not trusted", refused("io", client.connect(other, { ca = CERT })))
    assert.matches("/nope", refused("io", client.connect(s.tls, { ca = "/nope" })))
  end)

  it("drops who does not speak it, and serves the others", function()
    local s = tls()
    local tcp, closed = uv.new_tcp(), false
    tcp:connect("127.0.0.1", tonumber(s.tls:match "%d+$"), function()
      tcp:write '{"id":1,"method":"hello"}\n'
      tcp:read_start(function(err, piece) closed = err ~= nil or piece == nil end)
    end)
    service.wait("the end", function() return closed end)
    assert.is_truthy(s:connect():ask "hello")
  end)
end)

describe("limits", function()
  it("hold for streams, and for lists in pages", function()
    -- Long paths make a list of so few vertices that no copy answers, and yet of 15 pages: more than a socket holds and
    -- than the service makes in the few turns in which it takes the three requests, which come in one piece.
    local machine = "cluster:1 " .. ("n"):rep(1000) .. ":30 core:30"
    local s = service.start(shell.directory(), { "-r", machine, "--limit", "streams=2", "--limit", "lists=1", "--limit", "tryms=60000" })
    local c = s:connect()
    for _ = 1, 2 do assert(c:next(c:send "events")) end
    assert.equal("2 streams are in flight, which is as many as may be", refused("limit", c:ask "events"))
    local slow = s:raw()
    slow.pause()
    local request = '{"id":%d,"method":"find","params":{"expression":"type=core"}}\n'
    slow.send(request:format(1) .. request:format(2) .. request:format(3))
    assert(s:connect():ask "hello")
    slow.resume()
    service.wait("an answer to each", function()
      local over = 0
      for _, answer in ipairs(slow.lines) do over = over + (answer.more and 0 or 1) end
      return over == 3
    end)
    local codes = {}
    for _, answer in ipairs(slow.lines) do codes[#codes + 1] = answer.code end
    assert.same({ "limit", "limit" }, codes)
  end)

  it("hold for the time that filters of one user take, and others are served meanwhile", function()
    local s = serve { "--limit", "filters=1", "--filter-ms", "600000" }
    local hostile, again, other = enter(s, "alice"), enter(s, "alice"), s:connect()
    -- Ended by the number of its instructions, after more than the share of a minute.
    local endless = { filter = "return {evaluate = function() while true do end end}" }
    assert.equal("policy", select(3, hostile:ask("walk", endless)))
    service.poll("the copy to be waited for, whose time is known then", function() return #s:copies() == 0 end)
    for _, c in ipairs { hostile, again } do assert.equal("limit", select(3, c:ask("walk", endless))) end
    assert.is_truthy(other:ask("walk", { filter = "return {evaluate = function(v) return v.free end}", type = "rack" }))
    assert.is_truthy(hostile:ask("match", { request = "slot=1/node" }))
  end)

  it("keep the memory of what a client may send and never read", function()
    local s = service.start(shell.directory(), { "-r", "cluster:1 node:100 core:40" })
    local slow, other = s:raw(), s:connect()
    slow.pause()
    local before = tonumber(other:ask("metrics").text:match "\nweir_resident_bytes (%d+)")
    for i = 1, 2000 do
      slow.send(weir.json.encode { id = i, method = "explain", params = { request = "slot=101/node", name = ("x"):rep(3000) } } .. "\n")
    end
    for _ = 1, 20 do assert(other:ask("release", { job = assert(other:ask("match", { request = "slot=1/node" })).job })) end
    local after = tonumber(other:ask("metrics").text:match "\nweir_resident_bytes (%d+)")
    if not os.getenv "ASAN_OPTIONS" then assert.is_true(after - before < 16 << 20, "grew by " .. after - before) end
    slow.resume()
    service.wait("all answers", function() return #slow.lines == 2000 end)
  end)
end)

describe("metrics", function()
  it("are text of Prometheus, and count what happens", function()
    local s = serve()
    local c = s:connect()
    assert(c:ask("match", { request = "slot=2/node" }))
    c:ask("match", { request = "slot=99/node" })
    c:ask "nope"
    local result = shell.weir { "-s", s.path, "metrics" }
    assert.equal(0, result.status)
    local names = {}
    for line in result.out:gmatch "[^\n]+" do
      local name = line:match "^# TYPE (weir_[%w_]+) %l+$" or line:match "^# HELP (weir_[%w_]+) .+%.$"
      if name then
        names[name] = true
      else
        local base = line:match '^(weir_[%w_]+)%f[{ ][{%w_="%+.,@-]*}? [%d.e+-]+$'
        assert.is_truthy(base and (names[base] or names[base:gsub("_bucket$", ""):gsub("_sum$", ""):gsub("_count$", "")]), line)
      end
    end
    local COUNTS = {
      'weir_requests_total{method="match"} 2', 'weir_jobs{state="allocated"} 1', 'weir_units{type="node",state="free"} 6',
      'weir_failures_total{code="infeasible"} 1', 'weir_failures_total{code="unknown"} 1', "weir_matches_refused_total 1",
      "weir_vertices 43",
    }
    for _, line in ipairs(COUNTS) do assert.is_truthy(result.out:find("\n" .. line .. "\n", 1, true), line) end
  end)

  it("are written to a file, whole", function()
    local file = shell.path(shell.directory(), "weir.prom")
    local s = serve { "--metrics-file", file }
    service.wait("the file", function()
      s:connect():ask "hello"
      return shell.exists(file)
    end)
    assert.matches("^# HELP .*\nweir_start_time_seconds [%d.]+\n$", shell.slurp(file))
  end)

  it("are not written through a link that somebody has put there", function()
    local dir = shell.directory()
    local precious, link = shell.path(dir, "precious", "precious\n"), shell.path(dir, "weir.prom")
    assert(uv.fs_symlink(precious, link))
    local s = serve { "--metrics-file", link }
    service.wait("the log", function() return s.err.text:find "metrics could not be written" end)
    assert.equal("precious\n", shell.slurp(precious))
    assert.equal("link", uv.fs_lstat(link).type)
  end)

  it("have a file that cannot be written logged, and the service goes on", function()
    local s = serve { "--metrics-file", "/nope/weir.prom" }
    service.wait("the log", function() return s.err.text:find "metrics could not be written" end)
    assert.is_truthy(s:connect():ask "hello")
  end)
end)

describe("logs", function()
  it("are JSON, one event a line, from a level on", function()
    local s = serve { "--log", "json", "--log-level", "debug" }
    enter(s, "alice"):ask "hello"
    s.process:kill "sighup"
    service.wait("the reload", function() return s.err.text:find "the policy was loaded again" end)
    local seen = {}
    for line in s.err.text:gmatch "[^\n]+" do
      local entry = assert(weir.json.decode(line))
      assert.matches("^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d%d%dZ$", entry.time)
      seen[entry.event] = entry
    end
    assert.same({ "debug", "anyone" }, { seen.connected.level, seen.connected.role })
  end)

  it("are not filled by what clients can cause as often as they like", function()
    local lines, now = {}, 0
    local log = require("weir.serve.log").new {
      format = "text", level = "info", write = function(line) lines[#lines + 1] = line end, now = function() return now end,
    }
    for i = 1, 1000 do log("no " .. i, { often = true }) end
    log "yes"
    now = 6
    log("again", { often = true, who = "\255" })
    assert.equal(12, #lines)
    assert.equal("yes", lines[11])
    assert.equal("again  left_out=990  who=\255", lines[12])
  end)

  it("tell nothing below their level", function()
    local s = serve { "--log-level", "error" }
    client.connect(s.tcp):ask("login", { token = "0123456789abcdef" })
    s.process:kill "sighup"
    assert(s:connect():ask "hello")
    assert.equal(0, s:stop())
    assert.equal("", s.err.text)
  end)
end)

describe("options from a file", function()
  local BAD = {
    { "c.lua", "return {\n  resources = 'cluster:1',\n  lisen = 'unix:a',\n}",
      'c.lua:3: there is no option "lisen" (did you mean "listen"?)' },
    { "c.json", '{"resources": "cluster:1",\n "clock": "sun"}', 'c.json:2: clock: "sun" is none of wall, manual' },
    { "c.lua", "return {limit = {calls = {}}}", "c.lua:1: limit: expected a text, a number, or a list of them" },
    { "c.lua", "return {\n  ['filter-ms'] = 0.5 }", 'c.lua:2: filter-ms: expected a whole number, not "0.5"' },
    { "c.lua", "return {clock = true}", "c.lua:1: clock: expected a text or a number" },
    { "c.lua", "return {config = 'x'}", "c.lua:1: config: a file of options names no other one" },
    { "c.lua", "return {resources = 'a', 5}", 'c.lua: there is no option "1"' },
    { "c.lua", "return {\n  resources = 5 5 }", "c.lua:2: " },
    { "c.lua", "return os.execute('false')", "c.lua:1: " },
    { "c.lua", "return 5", "c.lua: it returns no table" },
    { "c.json", '{"a": }', "c.json: " },
    { "c.json", '{"clock": null}', "c.json:1: clock: expected a text or a number" },
  }
  for _, case in ipairs(BAD) do
    it("says what is wrong with " .. case[2]:gsub("%s+", " "), function()
      local path = shell.path(shell.directory(), case[1], case[2])
      local result = shell.weir { "serve", "--config", path }
      assert.equal(2, result.status)
      assert.matches(path:gsub("[^/]*$", "") .. case[3], result.err, 1, true)
    end)
  end

  it("are taken, JSON as Lua, and the command line counts more", function()
    local dir = shell.directory()
    local TEXTS = {
      ["o.json"] = '{"resources": "cluster:1 node:4", "limit": {"calls": 7, "clients": 9}, "clock": "manual", "allow": ["reader=*"]}',
      ["o.lua"] = 'return { resources = "cluster:1 node:4", limit = { calls = 7, "clients=9" }, clock = "manual", '
        .. 'allow = { reader = "*" } }',
    }
    for name, text in pairs(TEXTS) do
      local s = service.start(shell.directory(), { "--config", shell.path(dir, name, text), "--clock", "wall" })
      local hello = s:connect():ask "hello"
      assert.same({ 7, 9, "wall" }, { hello.limits.calls, hello.limits.clients, hello.clock })
      assert.equal(5, s:connect():ask("stats").vertices)
      assert.equal(0, s:stop())
    end
  end)
end)

describe("files of a service", function()
  it("are not recorded to through a link", function()
    local dir = shell.directory()
    local precious, link = shell.path(dir, "precious", "precious\n"), shell.path(dir, "record")
    assert(uv.fs_symlink(precious, link))
    local result = shell.weir { "serve", "-r", MACHINE, "-l", "unix:" .. dir .. "/s", "--record", link }
    assert.equal(2, result.status)
    assert.matches("serve: --record: " .. link, result.err, 1, true)
    assert.equal("precious\n", shell.slurp(precious))
  end)

  it("are sockets of the mode that was asked for, whatever the umask", function()
    for _, mode in ipairs { "600", "660", "666", "777" } do
      local s = service.start(shell.directory(), { "-r", MACHINE, "--mode", mode })
      assert.equal(tonumber(mode, 8), core.file_mode(s.path) & 511)
      assert.equal(0, s:stop())
    end
  end)
end)

describe("the service manager", function()
  it("hands a socket over, is told what happens, and gets signs of life", function()
    local dir, manager = shell.directory(), "build/test/manager"
    local text, code, out = "", nil, uv.new_pipe(false)
    local path = shell.path(dir, "s")
    local words = { shell.path(dir, "n"), path, shell.bin, "serve", "-r", MACHINE }
    local process = assert(uv.spawn(manager, { args = words, stdio = { nil, out } }, function(status) code = status end))
    out:read_start(function(_, piece) text = text .. (piece or "") end)
    service.wait("its start", function() return text:find "READY=1" end)
    assert.matches("READY=1 STATUS=listening on unix:" .. path, text, 1, true)
    assert.is_truthy(assert(client.connect(path)):ask "hello")
    service.wait("a sign of life", function() return text:find "WATCHDOG=1" end)
    local pid = tonumber(text:match "pid (%d+)")
    uv.kill(pid, "sighup")
    service.wait("the reload", function() return text:find "RELOADING=1\nREADY=1" end)
    uv.kill(pid, "sigterm")
    service.wait("the end", function() return code end)
    assert.equal(0, code)
    assert.matches("STOPPING=1", text)
    assert.is_truthy(shell.exists(path) or uv.fs_stat(path)) -- the service may not remove the file
    process:close()
  end)
end)

describe("the end", function()
  for _, name in ipairs { "sigterm", "sigint" } do
    it("is clean on " .. name .. ": what was asked is answered, and the status is 0", function()
      local s = serve()
      local raw = s:raw()
      for i = 1, 50 do raw.send(weir.json.encode { id = i, method = "match", params = { request = "slot=1/core" } } .. "\n") end
      service.wait("the first", function() return raw.lines[1] end)
      s.process:kill(name)
      assert.equal(0, s:exit())
      service.wait("the end", function() return raw.closed end)
    end)
  end

  -- Starts a service by a shell with redirections: returns the process, its status once ended, and a client once it
  -- listens.
  local function through(redirections, dir)
    local script = ("%s exec '%s' serve -r '%s' -l unix:%s/s %s"):format(redirections.before or "", shell.bin, MACHINE, dir,
      redirections.after)
    local out, said, code = uv.new_pipe(false), "", nil
    local process = assert(uv.spawn("/bin/sh", { args = { "-c", script }, stdio = { nil, out } }, function(status) code = status end))
    out:read_start(function(_, piece) said = said .. (piece or "") end)
    local function connect()
      service.wait("the service", function() return said:find "listening" or code end)
      return assert(client.connect(dir .. "/s"))
    end
    return process, function() return code end, connect
  end

  it("comes at once, with status 2, where the line that it listens cannot be written", function()
    for _, after in ipairs { ">/dev/full", ">&-" } do
      local dir = shell.directory()
      shell.path(dir, "s")
      local process, code = through({ after = after .. " 2>/dev/null" }, dir)
      service.wait("the end", code)
      assert.equal(2, code())
      process:close()
    end
  end)

  it("does not come because nobody takes the log", function()
    for _, after in ipairs { "2>/dev/full", "2>&-" } do
      local dir = shell.directory()
      shell.path(dir, "s")
      local process, code, connect = through({ after = after }, dir)
      local c = connect()
      process:kill "sighup"
      assert.is_truthy(c:ask "hello")
      process:kill "sigterm"
      service.wait("the end", code)
      assert.equal(0, code())
      process:close()
    end
  end)

  it("[L4] does not come because the disk is full: who asks is told, and what was answered stays", function()
    local dir = shell.directory()
    shell.path(dir, "s")
    for _, suffix in ipairs { "", "-wal", "-shm" } do shell.path(dir, "state" .. suffix) end
    local process, code, connect = through({ before = "ulimit -f 300;", after = ("--state %s/state 2>/dev/null"):format(dir) }, dir)
    local c = connect()
    local answered, refusals = 0, 0
    for i = 1, 400 do
      local done, why = c:ask("tag", { uri = "/cluster0/rack0", set = { ["k" .. i % 40] = ("v"):rep(8000) .. i } })
      if done then answered = answered + 1 else refusals = refusals + 1 end
      if not done then assert.matches("could not be saved", why) end
      if refusals == 3 then break end
    end
    assert.is_true(answered > 0 and refusals == 3, ("%d answered, %d refused"):format(answered, refusals))
    local tags = c:ask("show", { uri = "/cluster0/rack0", as = "pool" }).tags
    assert.equal(("v"):rep(8000) .. answered, tags["k" .. answered % 40])
    process:kill "sigterm"
    service.wait("the end", code)
    assert.is_truthy(code() == 0 or code() == 1)
    process:close()
    local g <close> = assert(weir.load(dir .. "/state", { format = "sqlite" }))
    assert.equal(tags["k" .. answered % 40], g:vertex("/cluster0/rack0").tags["k" .. answered % 40])
  end)
end)
