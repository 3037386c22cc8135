-- Attacks on the service: filters against the policy in use, names of policies, lines that are no requests, tokens and
-- groups that look alike, every method by every role, a machine that changes while a copy works, copies that are hit by
-- signals, and files of the state that vanish under the service.
local client = require "weir.serve.client"
local core = require "weir.core"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"

local MACHINE = "cluster:1 node:8 core:2"
local TOKENS = {
  alice = ("a"):rep(32), bob = ("a"):rep(32) .. "b", reader = "reader-0123456789abcdef", root = "root-0123456789abcdef",
}
local TOKEN_FILE = ("%s owner alice\n%s owner bob\n%s reader reader\n%s administrator root\n"):format(
  TOKENS.alice, TOKENS.bob, TOKENS.reader, TOKENS.root)
local ANY = "return {evaluate = function() return 1 end}"
-- seconds of work for a copy that is stopped before the work is done
local LONG = "return {evaluate = function() for i = 1, 2e6 do end return 1 end}"
-- for a busy machine
local PATIENT = {
  "--filter-ms", "600000", "--limit", "filterms=600000", "--limit", "copyms=600000", "--limit", "filters=1000",
}

after_each(service.clean)

local function serve(more)
  local dir = shell.directory()
  local tokens = shell.path(dir, "tokens", TOKEN_FILE)
  assert(uv.fs_chmod(tokens, 384))
  local words = { "-r", MACHINE, "--clock", "manual", "-l", "tcp:127.0.0.1:0", "--token-file", tokens }
  for _, list in ipairs { PATIENT, more } do table.move(list, 1, #list, #words + 1, words) end
  local s = service.start(dir, words)
  s.dir, s.tcp, s.pid = dir, s.out.text:match "tcp:127.0.0.1:%d+", s.process:get_pid()
  return s
end

local function enter(s, who)
  return assert(client.connect(s.tcp, { token_file = shell.path(s.dir, who, TOKENS[who] .. "\n") }))
end

-- The code of a refusal, or "done".
local function outcome(c, method, params)
  local result, _, kind = c:ask(method, params)
  return result ~= nil and "done" or kind
end

local function ids(c)
  local list = {}
  for i, job in ipairs(assert(c:ask "jobs").jobs) do list[i] = job.job end
  return list
end

local function policy(fields) return ("return {%s}"):format(fields) end

describe("a match with a filter", function()
  it("is refused in each mode by the policy in use that rejects the job", function()
    local s = serve()
    local admin, alice = s:connect(), enter(s, "alice")
    local strict = policy [[name = "strict", admit = function() return false, "never" end]]
    assert(admin:ask("policy.load", { source = strict }))
    for _, mode in ipairs { "now", "reserve", "preview", "feasible" } do
      for _, filter in ipairs { ANY, "return {prune = function() return true end}" } do
        local a, why, kind = alice:ask("match", { request = "slot=1/core", mode = mode, filter = filter })
        assert.same({ nil, "policy strict rejects the job: never", "rejected" }, { a, why, kind }, mode)
      end
    end
    assert.same({}, ids(admin))
  end)

  it("gets the jobspec that the policy in use wants instead", function()
    local s = serve()
    local admin, alice = s:connect(), enter(s, "alice")
    assert(admin:ask("policy.load", { source = policy [[admit = function(j) j.resources[1].count = 3 return j end]] }))
    local a = assert(alice:ask("match", { request = "slot=1/node", filter = ANY }))
    assert.equal(3, #a.vertices)
  end)

  it("is refused where a policy that fails or never ends is in use", function()
    local s = serve()
    local admin, alice = s:connect(), enter(s, "alice")
    for _, body in ipairs { "error 'no'", "while true do end", "return 7", "return {}" } do
      assert(admin:ask("policy.load", { source = policy(("admit = function() %s end"):format(body)) }))
      local kind = outcome(alice, "match", { request = "slot=1/core", filter = ANY })
      assert.is_true(kind == "policy" or kind == "limit", body .. ": " .. kind)
    end
    assert.same({}, ids(admin))
  end)
end)

-- {what changes while the copy works, the outcome of the match, further parameters of the match}
local AMID = {
  { "a policy that rejects", "rejected", function(a)
    assert(a:ask("policy.load", { source = policy [[admit = function() return false, "no" end]] }))
  end },
  { "another policy", "done", function(a) assert(a:ask("policy.load", { name = "high" })) end },
  { "its node in a job", "gone", function(a) assert(a:ask("match", { request = "slot=1/node" })) end },
  { "the whole machine in jobs", "gone", function(a) assert(a:ask("match", { request = "slot=8/node" })) end },
  { "its node in a job that is over", "done", function(a)
    assert(a:ask("release", { job = assert(a:ask("match", { request = "slot=1/node" })).job }))
  end },
  { "its id in a job on another node", "exists", function(a)
    assert(a:ask("match", { request = "slot=2/node", job = 77 }))
    assert(a:ask("shrink", { job = 77, ranks = "0" }))
  end, 77 },
  { "its id in a job that is over", "done", function(a)
    assert(a:ask("match", { request = "slot=1/core", job = 77 }))
    assert(a:ask("release", { job = 77 }))
  end, 77 },
  { "its node in a group", "gone", function(a) assert(a:ask("resource.move", { targets = "0", group = "debug" })) end },
  { "its node down and up", "gone", function(a)
    assert(a:ask("state", { uri = "/cluster0/node0", state = "down" }))
    assert(a:ask("state", { uri = "/cluster0/node0", state = "up" }))
  end },
  { "a tag", "done", function(a) assert(a:ask("tag", { uri = "/cluster0/node0", set = { a = "b" } })) end },
  { "SIGHUP", "done", function(a, s)
    s.process:kill "sighup"
    assert(a:ask "hello")
  end },
}

describe("a copy that works on a match", function()
  for _, case in ipairs(AMID) do
    it(("meets %s: %s"):format(case[1], case[2]), function()
      local s = serve()
      local admin, alice = s:connect(), enter(s, "alice")
      local id = alice:send("match", { request = "slot=1/node", filter = LONG, job = case[4] })
      local copy = s:stopped_copy()
      case[3](admin, s)
      local before = core.json_encode(assert(admin:ask("jobs", { vertices = true })), { sort = true })
      uv.kill(copy, "sigcont")
      local a, _, kind = alice:next(id)
      assert.equal(case[2], a and "done" or kind)
      if not a then
        assert.equal(before, core.json_encode(assert(admin:ask("jobs", { vertices = true })), { sort = true }))
      end
      assert.equal(0, s:stop())
    end)
  end

  it("is gone past its end at the next moment, where the time has moved on meanwhile", function()
    local s = serve { "--overrun", "expire" }
    local admin, alice = s:connect(), enter(s, "alice")
    local id = alice:send("match", { request = "slot=1/node", duration = 10, filter = LONG })
    local copy = s:stopped_copy()
    assert(admin:ask("advance", { to = 50 }))
    uv.kill(copy, "sigcont")
    assert(alice:next(id))
    assert(admin:ask("advance", { to = 51 }))
    assert.same({}, ids(admin))
  end)

  it("has no file but a pipe, and a signal to it is a refusal of one request", function()
    local s = serve { "--state", shell.directory() .. "/state" }
    local admin, alice = s:connect(), enter(s, "alice")
    for _, signal in ipairs { "sigint", "sighup", "sigterm", "sigusr1", "sigpipe", "sigsegv", "sigkill" } do
      local id = alice:send("match", { request = "slot=1/node", filter = LONG })
      local copy = s:stopped_copy()
      local kinds = {}
      service.poll("the copy to close what it has inherited", function()
        kinds = {}
        for name in uv.fs_scandir_next, assert(uv.fs_scandir(("/proc/%d/fd"):format(copy))) do
          local target = uv.fs_readlink(("/proc/%d/fd/%s"):format(copy, name)) or ""
          if tonumber(name) > 2 then kinds[#kinds + 1] = target:match "^%a+" or target end
        end
        if #kinds > 1 then -- it was stopped before it was ready
          uv.kill(copy, "sigcont")
          uv.kill(copy, "sigstop")
        end
        return #kinds <= 1
      end)
      assert.same({ "pipe" }, kinds)
      uv.kill(copy, signal)
      uv.kill(copy, "sigcont")
      local a, _, kind = alice:next(id)
      assert.same({ nil, "internal" }, { a, kind }, signal)
      service.poll("the copy to be waited for", function() return #s:copies() == 0 end)
    end
    assert.same({}, ids(admin))
    assert.equal("done", outcome(alice, "match", { request = "slot=1/node", filter = ANY }))
  end)
end)

describe("a name of a policy", function()
  it("has no control characters and is UTF-8, and the policy in use stays where it is not", function()
    local s = serve()
    local admin = s:connect()
    local before = assert(admin:ask "policy").label
    for _, name in ipairs { [[a\nweir_fake 5]], [[\27[2J]], [[\r]], [[\127]], [[\u{9b}31m]], [[\xff]], [[\xc3]],
      [[a\u{d800}]], [[\0]] } do
      local source = policy(('name = "%s", admit = function() end'):format(name))
      assert.equal("policy", outcome(admin, "policy.load", { source = source }), name)
    end
    for _, field in ipairs { "doc", "version" } do
      local source = policy(('%s = "\\xff", admit = function() end'):format(field))
      assert.equal("policy", outcome(admin, "policy.load", { source = source }))
    end
    assert.equal(before, assert(admin:ask "policy").label)
  end)

  it("can be cut in a label anywhere, and all can still be told of its jobs", function()
    local s = serve()
    local admin = s:connect()
    for n = 55, 62 do
      for _, letter in ipairs { "é", "€", "🙂" } do
        local source = policy(('name = "%s", admit = function() end'):format(("x"):rep(n) .. letter:rep(9)))
        local label = assert(admin:ask("policy.load", { source = source })).label
        assert.is_truthy(utf8.len(label))
        local a = assert(admin:ask("match", { request = "slot=1/core" }))
        assert.equal(label, a.policy)
        assert.equal(label, assert(admin:ask "jobs").jobs[1].policy)
        for _, method in ipairs { "stats", "metrics", "policy" } do assert(admin:ask(method)) end
        assert(admin:ask("release", { job = a.job }))
      end
    end
  end)
end)

-- {line, the code of the answer}
local LINES = {
  { '{"id":1,"id":2,"method":"hello"}', "parse" }, { '{"id":1,"method":"hello","method":"jobs"}', "parse" },
  { '{"id":1,"method":"match","params":{"request":"slot=1/core","request":"slot=9/core"}}', "parse" },
  { '{"id":1e400,"method":"hello"}', "parse" },
  { '{"id":123456789012345678901234567890,"method":"hello"}', "parse" },
  { '{"id":NaN,"method":"hello"}', "parse" }, { '{"id":01,"method":"hello"}', "parse" },
  { '{"id":"\\ud800","method":"hello"}', "parse" },
  { '{"id":"\xff","method":"hello"}', "parse" }, { '{"id":"\xed\xa0\x80","method":"hello"}', "parse" },
  { '{"id":"\xc0\x80","method":"hello"}', "parse" }, { '{"id":1,"method":"he\0llo"}', "parse" }, { "\0", "parse" },
  { "[]", "parse" }, { "null", "parse" }, { "{}", "parse" }, { '[{"id":1,"method":"hello"}]', "parse" },
  { '{"id":{},"method":"hello"}', "parse" },
  { '{"id":1,"method":"hello"} x', "parse" },
  { '{"id":1,"method":"hello"}{"id":2,"method":"hello"}', "parse" },
  { '\xef\xbb\xbf{"id":1,"method":"hello"}', "parse" }, { ("["):rep(100000), "parse" },
  { ('{"a":'):rep(100000), "parse" },
  { '{"id":1,"method":"match","params":{"request":' .. ("["):rep(50000) .. ("]"):rep(50000) .. "}}", "parse" },
  { ('{"id":"%s","method":"hello"}'):format(("x"):rep(129)), "parse" },
  { '{"id":1,"method":"hello","params":"x"}', "parse" },
  { '{"id":1,"method":"hello","params":[1]}', "invalid" }, { '{"id":1,"method":"hello\\u0000"}', "unknown" },
  { '{"id":1,"method":"__index"}', "unknown" }, { '{"id":1,"method":"a\\nweir: fake\\u001b[2J"}', "unknown" },
  { '{"id":1,"method":"match","params":{"request":"slot=1/core","job":1.0}}', "invalid" },
  { '{"id":1,"method":"match","params":{"request":"slot=1/core","job":-0}}', "invalid" },
  { '{"id":1,"method":"match","params":{"request":"slot=1/core","job":9007199254740992}}', "invalid" },
  { '{"id":1,"method":"match","params":{"request":"slot=1/core","at":1e308}}', "invalid" },
  { '{"id":1,"method":"match","params":{"request":"slot=1/core","duration":-1}}', "invalid" },
}

describe("a line that is no request", function()
  it("is told so, whatever it is, in a piece or byte by byte, and nothing has changed", function()
    local s = serve()
    local raw = s:raw()
    for i, case in ipairs(LINES) do
      raw.send(case[1] .. "\n")
      service.wait("an answer to " .. case[1]:sub(1, 60), function() return raw.lines[i] or raw.closed end)
      assert.equal(case[2], raw.lines[i] and raw.lines[i].code, case[1]:sub(1, 60))
    end
    local n = #raw.lines
    for _, case in ipairs(LINES) do
      if #case[1] < 200 then
        for at = 1, #case[1] do raw.send(case[1]:sub(at, at)) end
        raw.send "\n"
        n = n + 1
      end
    end
    service.wait("all answers", function() return #raw.lines == n or raw.closed end)
    assert.equal(n, #raw.lines)
    assert.same({}, ids(s:connect()))
    assert.equal("", s.err.text)
  end)
end)

local RANK = { anyone = 0, reader = 1, owner = 2, administrator = 3 }

describe("every method", function()
  it("is refused to each role below the role that it is documented with", function()
    local s = serve()
    local who = { reader = enter(s, "reader"), owner = enter(s, "alice") }
    local admin = s:connect()
    local tested = 0
    for _, name in ipairs(assert(admin:ask "methods").methods) do
      local needed = RANK[assert(admin:ask("methods", { name = name })).needs]
      assert.is_truthy(needed, name)
      for role, c in pairs(who) do
        if RANK[role] < needed then
          assert.equal("forbidden", outcome(c, name, {}), role .. ": " .. name)
          tested = tested + 1
        end
      end
    end
    assert.is_true(tested > 40)
  end)

  it("takes an owner's job, and groups of no other spelling, from nobody else", function()
    local s = serve()
    local alice, bob, reader = enter(s, "alice"), enter(s, "bob"), enter(s, "reader")
    local job = assert(alice:ask("match", { request = "slot=2/node" })).job
    assert(alice:ask("child.open", { job = job }))
    local OWN = { { "release", { job = job } }, { "release", { job = job, targets = "0" } },
      { "shrink", { job = job, ranks = "0" } }, { "grow", { job = job, request = "slot=1/node" } },
      { "child.open", { job = job } } }
    for _, group in ipairs { "job.1", "job.01", "job.1 ", " job.1", "job.+1", "job.1.0", "job.1e0", "job.0x1", "JOB.1",
      "job.1\0", "job.-1", "job.", "default", "nosuch", "" } do
      OWN[#OWN + 1] = { "resource.acquire", { group = group } }
      OWN[#OWN + 1] = { "resource.release", { group = group, targets = "0-1" } }
    end
    for _, c in ipairs { bob, reader } do
      for _, case in ipairs(OWN) do
        assert.equal("forbidden", outcome(c, case[1], case[2]), case[1] .. " " .. core.json_encode(case[2]))
      end
    end
    local _, why, kind = alice:ask("resource.release", { group = "job.1", targets = "0" })
    assert.same({ 'resource.release: you have not acquired group "job.1"', "unknown" }, { why, kind })
  end)

  it("tells a child that its job is over, and a later job with the id belongs to who matched it", function()
    local s = serve { "--overrun", "expire" }
    local admin, alice, bob = s:connect(), enter(s, "alice"), enter(s, "bob")
    local job = assert(alice:ask("match", { request = "slot=2/node", duration = 100 })).job
    assert(alice:ask("child.open", { job = job }))
    local stream = alice:send("resource.acquire", { group = "job.1" })
    assert(alice:next(stream))
    assert(admin:ask("advance", { to = 200 }))
    assert.equal("over", select(3, alice:next(stream)))
    assert.equal(job, assert(bob:ask("match", { request = "slot=1/node", job = job })).job)
    assert(bob:ask("child.open", { job = job }))
    for _, case in ipairs { { "release", { job = job } }, { "grow", { job = job, request = "slot=1/core" } },
      { "resource.acquire", { group = "job.1" } }, { "resource.release", { group = "job.1", targets = "0" } } } do
      assert.equal("forbidden", outcome(alice, case[1], case[2]), case[1])
    end
    assert.equal("unknown", outcome(alice, "cancel", { id = stream }))
    assert.equal("done", outcome(bob, "release", { job = job }))
  end)
end)

describe("tokens", function()
  it("that begin alike are told apart", function()
    local s = serve()
    for who in pairs(TOKENS) do assert.equal(who, assert(enter(s, who):ask "hello").name) end
    local token = TOKENS.alice
    for _, wrong in ipairs { token:sub(1, -2), token:upper(), token .. "a", token .. "c", token:rep(2) } do
      local a, _, kind = client.connect(s.tcp, { token_file = shell.path(s.dir, "wrong", wrong) })
      assert.same({ nil, "forbidden" }, { a, kind }, wrong)
    end
  end)

  it("that stand in a file twice are refused, so that no order of lines decides about a role", function()
    local dir = shell.directory()
    local lines = "# two\n%s reader alice\n%s administrator alice\n"
    local path = shell.path(dir, "tokens", lines:format(TOKENS.alice, TOKENS.alice))
    assert(uv.fs_chmod(path, 384))
    local s = service.spawn { "serve", "-r", MACHINE, "-l", "unix:" .. dir .. "/s", "-l", "tcp:127.0.0.1:0",
      "--token-file", path }
    assert.equal(2, s:exit())
    service.wait("the message", function() return s.err.text:find "\n" end)
    assert.is_truthy(s.err.text:find("tokens:3: the token of line 2 again", 1, true), s.err.text)
  end)
end)

-- {what happens to the file of the state while the service runs}
local TORN = {
  { "is replaced by a copy", function(path)
    assert(uv.fs_copyfile(path, path .. ".x"))
    assert(uv.fs_rename(path .. ".x", path))
  end },
  { "is truncated", function(path) assert(io.open(path, "w")):close() end },
  { "is removed, and all beside it", function(path)
    for _, suffix in ipairs { "", "-wal", "-shm", "-lock" } do os.remove(path .. suffix) end
  end },
  { "becomes a link", function(path)
    assert(uv.fs_rename(path, path .. ".y"))
    assert(uv.fs_symlink(path .. ".y", path))
  end },
}

describe("the file of the state", function()
  for _, case in ipairs(TORN) do
    it(case[1] .. ", and all that was acknowledged is there after a kill", function()
      local path = shell.directory() .. "/state"
      local s = serve { "--state", path }
      local c, kept = s:connect(), {}
      for i = 1, 3 do kept[i] = assert(c:ask("match", { request = "slot=1/core" })).job end
      case[2](path)
      for i = 4, 6 do kept[i] = assert(c:ask("match", { request = "slot=1/core" })).job end
      s:kill()
      assert.same(kept, ids(serve({ "--state", path }):connect()))
    end)
  end
end)
