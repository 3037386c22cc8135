-- A bad client: hundreds of connections, silent strangers, endless lines, requests without a pause. Good clients are
-- served as before, and every refused request gets a reason.
local client = require "weir.serve.client"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local users = require "weir.serve.users"
local uv = require "luv"
local weir = require "weir"
local wire = require "weir.serve.wire"

local MACHINE = "cluster:1 rack:2 node:4 core:4"

local TOKENS = { admin = "admin-0123456789abcdef", alice = "alice-0123456789abcdef", bob = "bob-0123456789abcdef" }

-- A service on a Unix socket and on TCP, with limits.
local function serve(limits)
  local dir = shell.directory()
  local text = ("%s administrator root\n%s reader alice\n%s reader bob\n"):format(TOKENS.admin, TOKENS.alice, TOKENS.bob)
  local file = shell.path(dir, "tokens", text)
  assert(uv.fs_chmod(file, 384))
  local words = { "-r", MACHINE, "-l", "tcp:127.0.0.1:0", "--token-file", file }
  for name, n in pairs(limits) do table.move({ "--limit", name .. "=" .. n }, 1, 2, #words + 1, words) end
  local s = service.start(dir, words)
  s.dir, s.tcp = dir, s.out.text:match "tcp:127.0.0.1:%d+"
  return s
end

local function enter(s, who) return client.connect(s.tcp, { token_file = shell.path(s.dir, who, TOKENS[who] .. "\n") }) end

-- The report on users for administrators.
local function told(s)
  local list = {}
  for _, user in ipairs(assert(s:connect():ask "stats").server.users) do list[user.user] = user end
  return list
end

after_each(service.clean)

-- ---- connections --------------------------------------------------------------------------------------------------

describe("connections of one user", function()
  it("end at a limit, which is told, and leave room for others", function()
    local s = serve { user = 3 }
    local mine = {}
    for i = 1, 3 do mine[i] = assert(enter(s, "alice")) end
    for _ = 1, 20 do
      local none, why, code = enter(s, "alice")
      assert.same({ nil, "limit" }, { none, code })
      assert.equal("login: the service has no room for more connections of token alice: 3 are open, which is as many as may be", why)
    end
    assert(enter(s, "bob")):ask "hello"
    assert.is_truthy(enter(s, "admin"))
    assert.same({ user = "token alice", connections = 3, input_bytes = 0, output_bytes = 0, refused = 20 }, told(s)["token alice"])
    assert.matches("a connection was refused: the service has no room for more connections of token alice", s.err.text, 1, true)
    mine[1]:close()
    service.wait("room", function() return enter(s, "alice") end)
  end)

  it("that take all there are leave the reserve to administrators, over TCP as over a Unix socket", function()
    local s = serve { clients = 4, user = 4, reserve = 2 }
    local busy = {}
    for i = 1, 4 do
      busy[i] = assert(enter(s, "alice"))
      assert(busy[i]:next(busy[i]:send "events"))
    end
    local none, why, code = enter(s, "bob")
    assert.same({ nil, "limit" }, { none, code })
    assert.equal("login: the service has no room for more connections: 4 are open, which is as many as may be", why)
    assert.equal("administrator", assert(enter(s, "admin")):ask("hello").role)
    assert.equal("administrator", s:connect():ask("hello").role)
    for _, c in ipairs(busy) do assert(c:ask "hello") end
  end)

  it("that are idle make room for another user's once all places are taken", function()
    local s = serve { clients = 4, user = 4 }
    local idle = {}
    for i = 1, 4 do idle[i] = assert(enter(s, "alice")) end
    assert(idle[1]:ask "hello")
    assert(assert(enter(s, "bob")):ask "hello")
    local lost = 0
    for _, c in ipairs(idle) do
      local hello, why = c:ask "hello"
      if not hello then
        lost = lost + 1
        assert.equal("token alice makes room for another connection", why)
      end
    end
    assert.equal(1, lost)
  end)

  it("are told of by the command line", function()
    local s = serve { user = 1 }
    local one <close> = assert(enter(s, "alice"))
    local result = shell.weir { "-s", s.tcp, "--token-file", s.dir .. "/alice", "jobs" }
    assert.equal(2, result.status)
    assert.matches("the service has no room for more connections of token alice", result.err, 1, true)
    assert(one:ask "hello")
  end)
end)

describe("strangers who say nothing", function()
  it("keep nobody out, however often they come again", function()
    local s = serve { strangers = 8, address = 8 }
    local all = {}
    for round = 1, 5 do
      for _ = 1, 20 do all[#all + 1] = s:knock() end
      assert.equal("alice", assert(enter(s, "alice")):ask("hello").name, round)
    end
    service.wait("the end of all but eight", function()
      local open = 0
      for _, raw in ipairs(all) do open = open + (raw.closed and 0 or 1) end
      return open <= 8
    end)
    assert.matches("makes room for another connection", all[1].text)
    assert.is_true(told(s)["address 127.0.0.1"].refused >= 92)
    local _, lines = s.err.text:gsub("\n", "")
    assert.is_true(lines <= 30, lines .. " lines of a log")
  end)

  it("go before those who have begun to speak", function()
    local s = serve { strangers = 3, address = 3 }
    local first = s:knock()
    first.send '{"id":1,'
    service.wait("the beginning of a line", function() return (told(s)["address 127.0.0.1"] or {}).input_bytes == 8 end)
    for _ = 1, 10 do s:knock() end
    first.send '"method":"hello"}\n'
    service.wait("an answer", function() return first.text:find '"role":"anyone"' or first.closed end)
    assert.is_falsy(first.closed)
  end)
end)

-- ---- bytes --------------------------------------------------------------------------------------------------------

local function resident(c) return tonumber(c:ask("metrics").text:match "\nweir_resident_bytes (%d+)") end

describe("lines without an end", function()
  it("are bounded for each user, and their memory is given back", function()
    local s = serve { input = 4 << 20 }
    local admin = s:connect()
    local before, bad, piece = resident(admin), {}, ("x"):rep((1 << 20) - 100)
    for i = 1, 60 do
      bad[i] = assert(enter(s, "alice"))
      bad[i].pipe:write(piece)
    end
    service.wait("refusals", function() return told(s)["token alice"].refused >= 50 end)
    assert.is_true(told(s)["token alice"].input_bytes <= 4 << 20)
    if not os.getenv "ASAN_OPTIONS" then assert.is_true(resident(admin) - before < 48 << 20, "grew by " .. resident(admin) - before) end
    assert(assert(enter(s, "bob")):ask "hello")
    local lost = 0
    for _, c in ipairs(bad) do
      if c.lost then
        lost = lost + 1
        assert.matches("bytes of requests of token alice wait, more than the 4194304 that may", c.lost, 1, true)
      end
      c:close()
    end
    assert.is_true(lost >= 50)
    if not os.getenv "ASAN_OPTIONS" then
      service.wait("the memory", function() return resident(admin) - before < 12 << 20 end)
    end
    assert.equal(0, told(s)["token alice"].input_bytes)
  end)

  it("are bounded for all users together, and who has most loses", function()
    local s = serve { input = 4 << 20, buffers = 5 << 20 }
    local piece, list = ("x"):rep((1 << 20) - 100), {}
    for i = 1, 3 do
      list[i] = assert(enter(s, "alice"))
      list[i].pipe:write(piece)
    end
    service.wait("what alice sends", function() return told(s)["token alice"].input_bytes == 3 * #piece end)
    for i = 4, 6 do
      list[i] = assert(enter(s, "bob"))
      list[i].pipe:write(piece)
    end
    service.wait("a refusal", function() return told(s)["token alice"].refused + told(s)["token bob"].refused > 0 end)
    assert.equal(1, told(s)["token alice"].refused + told(s)["token bob"].refused)
  end)

  it("that are whole are no such lines: requests wait, and all are answered", function()
    local s = serve { input = 1 << 20, line = 1 << 16 }
    local list, over = {}, 0
    local text = weir.json.encode { id = 1, method = "explain", params = { request = "slot=1/node", name = ("x"):rep(8000) } } .. "\n"
    for i = 1, 8 do
      list[i] = s:raw(function() over = over + 1 end)
      list[i].send(text:rep(100))
    end
    service.wait("all answers", function() return over == 800 end)
    for _, raw in ipairs(list) do assert.is_nil(raw.lines[100].error) end
  end)

  it("are kept in few pieces, however small they come, and come out as they were", function()
    for _, size in ipairs { 1, 2, 7, 1000 } do
      local lines, text = wire.lines(1 << 20), ("abcdefghij"):rep(2000)
      lines:put "\n"
      assert.equal("", lines:next())
      for i = 1, #text, size do
        lines:put(text:sub(i, i + size - 1))
        assert.is_nil(lines:next())
        assert.is_false(lines:is_whole())
        assert.is_true(#lines.pieces <= 16)
        assert.equal(math.min(#text, i + size - 1), lines:waiting())
      end
      lines:put "!\nx"
      assert.is_true(lines:is_whole())
      assert.equal(text .. "!", lines:next())
      assert.equal(1, lines:waiting())
    end
  end)
end)

-- ---- turns --------------------------------------------------------------------------------------------------------

describe("requests without a pause", function()
  it("delay those of another user by one turn, over however many connections they come", function()
    local s = serve {}
    local line, got, bob = '{"id":"%d","method":"hello"}\n', 0, assert(enter(s, "bob"))
    local flood = {}
    for i = 1, 5000 do flood[i] = line:format(i) end
    flood = table.concat(flood)
    local bad = {}
    for i = 1, 20 do bad[i] = s:raw(function() got = got + 1 end) end
    -- The service stands still until all have asked, and counts the answers itself: no clock of this process matters.
    s.process:kill "sigstop"
    for _, raw in ipairs(bad) do raw.send(flood) end
    local asked = {}
    for i = 1, 50 do asked[i] = bob:send "metrics" end
    local go = uv.new_timer()
    go:start(0, 0, function() s.process:kill "sigcont" end)
    local page
    for i = 1, 50 do page = assert(bob:next(asked[i])).text end
    go:close()
    local before = tonumber(page:match '\nweir_requests_total{method="hello"} (%d+)') or 0
    assert.is_true(before > 0 and before < 20000, before .. " of 100000 were answered before the last of 50")
    service.wait("all", function() return got == 100000 end)
  end)
end)

-- ---- user by user -------------------------------------------------------------------------------------------------

local LIMITS = { clients = 6, reserve = 2, user = 3, idle = 60, strangers = 4, address = 2, line = 100, input = 200000, output = 1000,
  buffers = 400000 }

-- A connection of a user, idle unless told otherwise.
local function connection(all, who, fields)
  local c = { since = 0, idle = true, lines = { is_whole = function() return false end } }
  for name, value in pairs(fields or {}) do c[name] = value end
  function c.is_idle() return c.idle end
  all:enter(c, who)
  return c
end

local ALICE, BOB, CAROL = users.of_token("alice", "reader"), users.of_uid(1000, "owner"), users.of_uid(1001, "reader")
local ROOT = users.of_uid(0, "administrator")

describe("users", function()
  local KEYS = {
    { "192.0.2.7", "address 192.0.2.7" }, { "::ffff:192.0.2.7", "address 192.0.2.7" },
    { "2001:db8:1:2:3:4:5:6", "address 2001:db8:1:2::/64" },
    { "2001:db8:1:2::9", "address 2001:db8:1:2::/64" }, { "2001:db8::9", "address 2001:db8:0:0::/64" }, { "::1", "address 0:0:0:0::/64" },
    { "fe80::1%eth0", "address fe80:0:0:0::/64" },
  }
  for _, case in ipairs(KEYS) do
    it("at " .. case[1] .. " are " .. case[2], function() assert.equal(case[2], users.of_address(case[1]).key) end)
  end

  it("replace their own connection that has been idle for long enough, the longest", function()
    local all = users.new(LIMITS)
    connection(all, ALICE, { idle = false })
    local old = connection(all, ALICE, { heard = 1000 })
    connection(all, ALICE, { heard = 2000 })
    assert.is_nil((all:room(ALICE, 60000)))
    assert.same({ true, old }, { all:room(ALICE, 61000) })
    assert.same({ true }, { all:room(BOB, 0) })
  end)

  it("give a place to who has less, and administrators give none", function()
    local all = users.new(LIMITS)
    for _ = 1, 3 do connection(all, ROOT) end
    for _ = 1, 2 do connection(all, ALICE, { idle = false }) end
    local last = connection(all, ALICE, { heard = 5 })
    assert.same({ true, last }, { all:room(BOB, 10) })
    last.idle = false
    assert.is_nil((all:room(BOB, 10)))
    assert.same({ true }, { all:room(ROOT, 10) })
    for _ = 1, 2 do connection(all, ROOT) end
    assert.is_nil((all:room(ROOT, 10)))
    all:leave(last)
    assert.same({ true }, { all:room(ROOT, 10) })
  end)

  it("who are strangers go, the oldest of the address with most, the silent first", function()
    local all = users.new(LIMITS)
    local A, B, C = users.of_address "192.0.2.1", users.of_address "192.0.2.2", users.of_address "192.0.2.3"
    connection(all, A, { since = 1, heard = 1 })
    local silent = connection(all, A, { since = 5 })
    assert.same({ true, silent }, { all:room(A, 9) })
    assert.same({ true }, { all:room(B, 9) })
    connection(all, B)
    connection(all, C)
    assert.same({ true, silent }, { all:room(B, 9) })
    assert.same({ true }, { all:room(ALICE, 9) })
  end)

  it("are served in turn, whatever each has queued", function()
    local all = users.new(LIMITS)
    local a1, a2, b = connection(all, ALICE), connection(all, ALICE), connection(all, BOB)
    local c = connection(all, CAROL)
    for _, one in ipairs { a1, a2, b, c } do all:put(one) end
    local order, name = {}, { [a1] = "a1", [a2] = "a2", [b] = "b", [c] = "c" }
    for _ = 1, 9 do
      local one = all:take()
      order[#order + 1] = name[one]
      all:put(one)
    end
    assert.equal("a1 b c a2 b c a1 b c", table.concat(order, " "))
    for _ = 1, 4 do all:take() end
    assert.is_nil(all:take())
    assert.equal(0, all.waiting)
  end)

  it("are not served while they do not read, and are forgotten once they are gone", function()
    local all = users.new(LIMITS)
    local one, two = connection(all, ALICE), connection(all, ALICE)
    all:note(one, 0, 600)
    assert.is_false(all:is_full(one.user))
    all:note(two, 10, 400)
    assert.is_true(all:is_full(one.user))
    all:leave(one)
    assert.is_false(all:is_full(two.user))
    all:leave(two)
    assert.equal(0, all.bytes)
    for i = 1, 5000 do all:refuse(users.of_uid(i, "reader")) end
    assert.is_true(#all:list() <= 1000)
    assert.equal(5000, all.refused)
  end)
end)
