-- Requests that run in forked copies of the service: whatever a copy runs into, the service answers its clients, ends
-- when told, and keeps its state.
local client = require "weir.serve.client"
local core = require "weir.core"
local missing = require "spec.support.missing"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4"
local LARGE = "cluster:1 rack:10 node:40 core:20" -- 8411 vertices

local TOKENS = { alice = "alice-0123456789abcdef", bob = "bob-0123456789abcdef", reader = "reader-0123456789abcdef" }
local TOKEN_FILE = ("%s owner alice\n%s owner bob\n%s reader reader\n"):format(TOKENS.alice, TOKENS.bob, TOKENS.reader)

local function serve(machine, more)
  local dir = shell.directory()
  local tokens = shell.path(dir, "tokens", TOKEN_FILE)
  assert(uv.fs_chmod(tokens, 384))
  local s = service.start(dir, { "-r", machine, "-l", "tcp:127.0.0.1:0", "--token-file", tokens, table.unpack(more or {}) })
  s.dir, s.tcp, s.pid = dir, s.out.text:match "tcp:127.0.0.1:%d+", s.process:get_pid()
  return s
end

local function enter(s, who)
  return assert(client.connect(s.tcp, { token_file = shell.path(s.dir, who, TOKENS[who] .. "\n") }))
end

local function slurp(path)
  local file = io.open(path)
  if not file then return "" end
  local text = file:read "a"
  file:close()
  return text or ""
end

-- The processes forked by a service.
local function children(pid)
  local list = {}
  for child in slurp(("/proc/%d/task/%d/children"):format(pid, pid)):gmatch "%d+" do list[#list + 1] = math.tointeger(tonumber(child)) end
  return list
end

local poll, is_over = service.poll, service.is_over

-- Waits for a working copy of the service.
local function wait_copy(s)
  local found
  poll("a copy", function()
    found = children(s.pid)[1]
    return found
  end)
  return found
end

-- All that a client can read of the machine and the jobs.
local function whole(c)
  local all = { jobs = assert(c:ask("jobs", { vertices = true })), found = assert(c:ask("find", { expression = "size>0" })),
    totals = assert(c:ask("show", { as = "totals" })), tree = assert(c:ask("show", { as = "tree", all = true })) }
  table.sort(all.jobs.jobs, function(a, b) return a.job < b.job end)
  return core.json_encode(all, { sort = true })
end

after_each(service.clean)

local function code(text) return ("return {evaluate = function(v) %s return 1 end}"):format(text) end

local ENDLESS = service.ENDLESS

-- Code deaf to every limit: seconds to minutes inside a single C function of Lua.
local ATTACKS = {
  { "gmatch with an anchor", code [[for _ in ("^"):rep(190000):gmatch("^.-b") do end]] },
  { "gmatch with an anchor, shorter, more often", code [[for _ in ("^"):rep(3700):gmatch("^.-.-b") do end]] },
  { "gmatch while it is loaded", [[for _ in ("^"):rep(190000):gmatch("^.-b") do end return {evaluate = function() return 1 end}]] },
  { "a long replacement that adds nothing", code [[(("x"):rep(200000)):gsub("", ("%0"):rep(100000))]] },
  { "a long replacement by parts", code [[(("x"):rep(100000)):gsub("(x)", ("%1"):rep(100000))]] },
  { "a sort of texts with zero bytes", code [[local z = ("\0"):rep(4090) local a, b = z .. "a", z .. "b" local t = {}
    for i = 1, 16000 do t[i] = (i * 7919) % 3 == 0 and a or b end table.sort(t)]] },
  { "a sort by a C function", code [[local s = ("a"):rep(450) .. "-b" local t = {} for i = 1, 30000 do t[i] = s end
    table.sort(t, string.find)]] },
  { "a sort while it is loaded", [[local s = ("a"):rep(450) .. "-b" local t = {} for i = 1, 30000 do t[i] = s end
    table.sort(t, string.find) return {evaluate = function() return 1 end}]] },
  { "many sorts", code [[local t = {} for i = 1, 60000 do t[i] = (i * 7919) % 1000003 end for i = 1, 1e9 do table.sort(t) end]] },
  { "moves of nothing", code [[for i = 1, 1e9 do table.move({}, 1, 9999999, 1, {}) end]] },
  { "ephemerons", code [[local k = setmetatable({}, {__mode = "k"}) local p = {}
    for i = 1, 1e6 do local n = {} k[n] = p p = n end]] },
  { "a loop", code "while true do end" },
  { "a loop behind pcall", code "while true do pcall(function() while true do end end) end" },
  { "walks that are kept", code "local k = {} for i = 1, 1e9 do k[i] = v:graph():walk{upward = true} end" },
}

local WAYS = {
  { "walk", function(filter) return "walk", { filter = filter, type = "node" } end },
  { "match, to look", function(filter) return "match", { filter = filter, request = "slot=1/node", mode = "preview" } end },
  { "match", function(filter) return "match", { filter = filter, request = "slot=1/node" } end },
}

describe("a filter that would not end", function()
  for w, way in ipairs(WAYS) do
    it("is ended with " .. way[1] .. ", while others are served, and nothing has changed", function()
      local s = serve(MACHINE, { "--limit", "filters=1000000", "--limit", "filterms=200" })
      local hostile, other = enter(s, "alice"), s:connect()
      assert(other:ask("match", { request = "slot=1/core", job = 5 }))
      local before = whole(other)
      for i, attack in ipairs(ATTACKS) do
        if w == 1 or service.scale > 1 or i % 3 == w then
          local method, params = way[2](attack[2])
          local id = hostile:send(method, params)
          for _ = 1, 3 do
            local a = assert(other:ask("match", { request = "slot=1/node", mode = "preview" }))
            assert.equal("matched", a.state)
          end
          local result, _, kind = hostile:next(id)
          assert.is_nil(result, attack[1])
          assert.is_truthy(kind == "limit" or kind == "policy", attack[1] .. ": " .. tostring(kind))
        end
      end
      assert.equal(before, whole(other))
      poll("the copies to be waited for", function() return #children(s.pid) == 0 end)
    end)
  end

  it("does not keep the service from ending at once", function()
    local s = serve(MACHINE, { "--limit", "filterms=600000", "--filter-ms", "600000" })
    local c = enter(s, "reader")
    local id = c:send("walk", { filter = ENDLESS })
    local copy = wait_copy(s)
    s.process:kill "sigterm"
    assert.equal("busy", select(3, c:next(id)))
    assert.equal(0, s:exit())
    poll("the copy to end", function() return is_over(copy) end)
  end)

  it("does not outlive a service that is killed", function()
    local s = serve(MACHINE, { "--limit", "filterms=600000", "--filter-ms", "600000" })
    enter(s, "reader"):send("walk", { filter = ENDLESS })
    local copy = wait_copy(s)
    s:kill()
    poll("the copy to end", function() return is_over(copy) end)
  end)

  it("ends when its client is gone", function()
    local s = serve(MACHINE, { "--limit", "filterms=600000", "--filter-ms", "600000" })
    local c = enter(s, "reader")
    c:send("walk", { filter = ENDLESS })
    wait_copy(s)
    c.pipe:close_reset() -- one that closes its writing half only waits for the answer
    poll("the copy to end", function() return #children(s.pid) == 0 end)
  end)
end)

describe("copies of a service", function()
  it("are bounded for a user over all connections, and in all; beyond that requests wait, or are refused", function()
    local s = serve(MACHINE, { "--limit", "filterms=600000", "--filter-ms", "600000", "--limit", "copies=2", "--limit", "waits=3",
      "--limit", "allcopies=3" })
    local list = {}
    for i = 1, 8 do
      list[i] = enter(s, "alice")
      list[i]:send("walk", { filter = ENDLESS })
      assert(s:connect():ask "hello")
    end
    local refused = {}
    for _ = 1, 3 do
      local again = enter(s, "alice")
      local result, why, kind = again:ask("explain", { request = "slot=1/node" })
      assert.is_nil(result)
      assert.equal("busy", kind)
      refused[#refused + 1] = why
    end
    assert.matches("3 requests of token alice wait already", refused[1], 1, true)
    assert.equal(2, #children(s.pid))
    local bob, reader = enter(s, "bob"), enter(s, "reader")
    bob:send("walk", { filter = ENDLESS })
    poll("a copy for bob", function() return #children(s.pid) == 3 end)
    local waits = reader:send("explain", { request = "slot=1/node" })
    assert(s:connect():ask("explain", { request = "slot=1/node" })) -- administrators have a reserved copy
    poll("the end of that", function() return #children(s.pid) == 3 end)
    bob.pipe:close_reset()
    assert.is_truthy(reader:next(waits))
    list[1].pipe:close_reset()
    list[2].pipe:close_reset()
    poll("the next ones", function() return #children(s.pid) == 2 end)
    assert.equal(0, s:stop())
  end)

  it("that crash are an error of their request, and of nothing else", function()
    local s = serve(MACHINE, { "--limit", "filterms=600000", "--filter-ms", "600000" })
    local c, other = enter(s, "alice"), s:connect()
    local before = whole(other)
    for _, signal in ipairs { "sigkill", "sigsegv", "sigterm" } do
      poll("no copy", function() return #children(s.pid) == 0 end)
      local id = c:send("match", { request = "slot=1/node", filter = ENDLESS })
      uv.kill(wait_copy(s), signal)
      local result, why, kind = c:next(id)
      assert.is_nil(result)
      assert.equal("internal", kind)
      assert.matches("has ended without an answer", why, 1, true)
      poll("no copy", function() return #children(s.pid) == 0 end)
    end
    assert.equal(before, whole(other))
    assert.is_truthy(c:ask("match", { request = "slot=1/node" }))
  end)

  it("give what they look for as the service itself would", function()
    local function ample(tryms) return serve(LARGE, { "--clock", "manual", "--filter-ms", "600000", "--limit", "tryms=" .. tryms }) end
    local here, there = ample(100000), ample(1)
    for _, case in ipairs {
      { "match", { request = "slot=1-9007199254740992:1:+/core", mode = "preview" } },
      { "match", { request = "slot=401/node", mode = "preview" } }, { "match", { request = "slot=1/node", mode = "feasible" } },
      { "explain", { request = "slot=401/node" } }, { "find", { expression = "type=core" } }, { "find", { expression = "nope=" } },
      { "show", { as = "tree", all = true } }, { "show", { as = "children", uri = "/cluster0/rack0" } },
      { "show", { uri = "/nope" } }, { "jobs", { vertices = true } }, { "job", { job = 1 } }, { "job", { job = 99 } },
      { "walk", { filter = "return {evaluate = function(v) return v.id end}", type = "node" } },
    } do
      local answers = {}
      for i, s in ipairs { here, there } do
        local c = s:connect()
        c:ask("match", { request = "slot=300/node", job = 1 })
        local result, why, kind = c:ask(case[1], case[2])
        answers[i] = core.json_encode({ result = result, why = why, code = kind }, { sort = true })
      end
      assert.is_truthy(answers[1]:find('"result":', 1, true) or answers[1]:find '"code":"%l', case[1])
      assert.is_true(answers[1] == answers[2], case[1] .. ": " .. answers[1]:sub(1, 200) .. " / " .. answers[2]:sub(1, 200))
    end
  end)

  it("may answer and use only so much", function()
    local s = serve(LARGE, { "--limit", "answermb=1" })
    local c = s:connect()
    local result, why, kind = c:ask("match", { request = "slot=1-9007199254740992:1:+/core", mode = "preview", format = "jgf" })
    assert.is_nil(result)
    assert.equal("limit", kind)
    assert.matches("more than 1 MB", why, 1, true)
    assert.is_truthy(c:ask("explain", { request = "slot=401/node" }))
  end)

  it("end when looking takes too long", function()
    local s = serve("cluster:1 rack:20 node:100 core:16", { "--limit", "copyms=1", "--limit", "tryms=1" })
    local result, why, kind = s:connect():ask("explain", { request = "slot=40000/core" })
    assert.is_nil(result)
    assert.equal("limit", kind)
    assert.matches("longer than 1 ms", why, 1, true)
  end)

  it("wait for a client that does not read", function()
    local s = serve("cluster:1 rack:10 node:100 core:40", { "--limit", "high=1000" })
    local slow, other = s:raw(), s:connect()
    slow.pause()
    slow.send(core.json_encode { id = 1, method = "find", params = { expression = "type=core" } } .. "\n")
    wait_copy(s)
    for _ = 1, 50 do assert(other:ask("match", { request = "slot=1/core", mode = "preview" })) end
    slow.resume()
    local n = 0
    service.wait("all pages", function()
      local last = slow.lines[#slow.lines]
      return last and not last.more
    end)
    for _, page in ipairs(slow.lines) do n = n + #page.result.vertices end
    assert.equal(40000, n)
  end)
end)

describe("what a match with a filter has chosen", function()
  local POWER = "return {evaluate = function(v) return v.id end}"

  it("[W8] is booked exactly", function()
    local s = serve(LARGE, { "--filter-ms", "60000" })
    local c, e = enter(s, "alice"), weir.engine { resources = weir.synthetic(LARGE) }
    local policy = assert(require("weir.serve.filter").load(POWER, 60))
    for _, case in ipairs {
      { "slot=3/node", {} }, { "slot=2/core=7", {} }, { "node=2/slot=1/core=3", { mode = "reserve", duration = 50 } },
      { "slot=390/node", { mode = "reserve", duration = 10 } }, { "slot=1-1000:1:+/core", { duration = 7, job = 4000 } },
    } do
      local opts = { policy = policy }
      for key, value in pairs(case[2]) do opts[key] = value end
      local want = assert(e:match(case[1], opts))
      case[2].request, case[2].filter, case[2].format = case[1], POWER, "rv1_nosched"
      local got = assert(c:ask("match", case[2]))
      assert.equal(want.state, got.state)
      assert.equal(want.count, #got.vertices)
      for i, pick in ipairs(want:vertices()) do
        local has = got.vertices[i]
        assert.same({ pick.vertex.path, pick.amount, pick.exclusive }, { has.path, has.amount, has.exclusive })
      end
      assert.equal(case[2].duration, case[2].duration and got.duration)
      assert.matches("^filter@", got.policy)
      assert.equal("alice", got.owner)
      assert.is_truthy(c:ask("release", { job = got.job }))
      assert(e:release(want.id))
    end
  end)

  -- A match with node3 as its pick; the copy is stopped while f changes something.
  local function meanwhile(machine, f)
    local raw, other, copy = service.with_copy_at_work(function(filter)
      local s = serve(machine, { "--limit", "filterms=600000", "--filter-ms", "600000" })
      local raw, other = s:raw(), s:connect()
      raw.send(core.json_line { id = 1, method = "match", params = { request = "slot=1/node", filter = filter } })
      local copy = s:stopped_copy(function() return raw.lines[1] end)
      return copy and raw, other, copy
    end)
    f(other)
    local before = whole(other)
    uv.kill(copy, "sigcont")
    service.wait("the answer", function() return raw.lines[1] end)
    local answer = raw.lines[1]
    return { result = answer.result, code = answer.code, same = answer.result == nil and before == whole(other), other = other }
  end

  for _, case in ipairs {
    { "was given to another job", function(c) assert(c:ask("match", { request = "slot=4/node" })) end },
    { "was given to another job in part", function(c)
      assert(c:ask("match", { request = "slot=1/core", filter = "return {prune = function(v) return v.type ~= 'node' or v.id == 3 end}" }))
    end },
    { "is down by now", function(c) assert(c:ask("state", { uri = "/cluster0/node3", state = "down" })) end },
    { "is below what is down by now", function(c) assert(c:ask("state", { uri = "/cluster0", state = "down" })) end },
    { "has left the machine", function(c) assert(c:ask("resource.remove", { targets = "3" })) end },
    { "was drained", function(c) assert(c:ask("resource.drain", { targets = "3", reason = "disk" })) end },
    { "was excluded", function(c) assert(c:ask("resource.exclude", { targets = "3" })) end },
    { "is offline by now", function(c) assert(c:ask("resource.offline", { targets = "3" })) end },
    { "was moved to another group", function(c) assert(c:ask("resource.move", { targets = "3", group = "debug" })) end },
    { "was reserved for the time of the job", function(c)
      assert(c:ask("match", { request = "slot=4/node", mode = "reserve", at = c:ask("stats").now + 3600, duration = 10 }))
    end },
  } do
    it("[W8] is refused where it " .. case[1] .. ", and nothing has changed", function()
      local got = meanwhile("cluster:1 node:4 core:2", case[2])
      assert.is_nil(got.result)
      assert.equal("gone", got.code)
      assert.is_true(got.same)
    end)
  end

  it("[W8] is booked where the policy was loaded again meanwhile", function()
    local got = meanwhile("cluster:1 node:4 core:2", function(c)
      assert(c:ask("policy.load", { name = "high" }))
      assert(c:ask "policy.reload")
    end)
    assert.equal("/cluster0/node3", got.result.vertices[1].path)
    assert.matches("^filter@", got.result.policy)
  end)

  it("[W8] is booked where something else has changed meanwhile", function()
    local got = meanwhile("cluster:1 node:4 core:2", function(c)
      assert(c:ask("match", { request = "slot=3/node" }))
    end)
    assert.equal("/cluster0/node3", got.result.vertices[1].path)
    assert.equal(2, got.result.job)
    assert.equal(2, #assert(got.other:ask("jobs", {})).jobs)
  end)
end)

describe("a search that changes something", function()
  it("ends when its time is over, and nothing has changed", function()
    local dir = shell.directory()
    local policy = shell.path(dir, "slow.lua", "return { evaluate = function(v) for i = 1, 1e9 do end return 1 end }")
    local s = serve(MACHINE, { "-p", policy, "--limit", "changems=50", "--limit", "tryms=20", "--limit", "copyms=60" })
    local c = s:connect() -- the policy has instructions for longer
    local before = whole(c)
    for _, case in ipairs {
      { "match", { request = "slot=1/node" }, "nothing has changed" },
      { "match", { request = "slot=1/node", mode = "reserve" }, "nothing has changed" },
      { "match", { request = "slot=1/node", mode = "preview" }, "longer than 60 ms" },
    } do
      local result, why, kind = c:ask(case[1], case[2])
      assert.is_nil(result)
      assert.equal("limit", kind)
      assert.matches(case[3], why, 1, true)
    end
    assert.equal(before, whole(c))
  end)
end)

describe("a record of a job", function()
  local function engine() return weir.engine { resources = weir.synthetic "cluster:1 node:4 core:4" } end

  it("books what the job had, and refuses what is not free", function()
    local e = engine()
    local a = assert(e:match("node=2/slot=1/core=2", { duration = 30 }))
    local record, rv1 = assert(e:record(a.id)), assert(a:format "rv1_nosched")
    assert.equal("busy", select(3, e:book(record, 7)))
    assert(e:release(a.id))
    assert.is_true(e:book(record, 7))
    assert.equal(rv1, assert(e:job(7):format "rv1_nosched"))
    assert.equal(a.nslots, e:job(7).nslots)
    assert.equal(a.policy, e:job(7).policy)
    assert.is_true(e:resources():check())
    assert.equal("exists", select(3, (function()
      e:release(7)
      assert(e:match("slot=1/core", { job = 9, at = 100 }))
      return e:book(record, 9)
    end)()))
  end)

  it("has the units of flows, which go with the nodes", function()
    local g = weir.synthetic "cluster:1 node:3 core:2"
    local switches = {}
    for i = 1, 2 do switches[i] = assert(g:add(nil, { type = "switch", id = i, size = 4 })) end
    for _, node in ipairs(g:find "type=node") do
      for i = 1, 2 do assert(g:add_edge(switches[i], node, { subsystem = "net", type = "link" })) end
    end
    local e = weir.engine { resources = g }
    local a = assert(e:match("slot=2/node/net=3", { duration = 30 }))
    local record, before = assert(e:record(a.id)), g:dup()
    assert(e:release(a.id))
    assert.is_true(e:book(record, a.id))
    assert(g:check())
    assert(g:compare(before, true))
    assert(e:shrink(a.id, g "/cluster0/node0"))
    assert.equal(5, switches[1].free + switches[2].free)
    assert(e:release(a.id))
    for i = 1, #record do
      local ok = e:book(record:sub(1, i - 1) .. "9" .. record:sub(i + 1), 3)
      if ok then assert(e:release(3)) end
      assert.is_true(g:check())
    end
  end)

  it("that is cut or changed anywhere is refused, or is another one that is right", function()
    local e = engine()
    local a = assert(e:match("slot=2/core=2", { duration = 30 }))
    local record = assert(e:record(a.id))
    assert(e:release(a.id))
    local before = e:resources():dup()
    for i = 1, #record do
      for _, text in ipairs { record:sub(1, i - 1), record:sub(1, i - 1) .. "9" .. record:sub(i + 1),
        record:sub(1, i - 1) .. "x" .. record:sub(i + 1), record:sub(1, i - 1) .. "99999999999999999999" .. record:sub(i) } do
        local ok = e:book(text, 3)
        if ok then assert(e:release(3)) end
        assert.is_true(e:resources():check())
        assert(e:resources():compare(before, true))
      end
    end
  end)
end)

describe("a function in a copy of the process", function()
  local LIMITS = { seconds = 20, memory = 256 << 20, answer = 1000 }

  -- The output and the exit of a copy.
  local function run(f, limits)
    local child <close> = assert(core.snapshot(f, limits or LIMITS))
    local pipe, text, done, how = uv.new_pipe(false), {}, false, nil
    pipe:open(child:take())
    pipe:read_start(function(_, piece)
      if piece then text[#text + 1] = piece else done = true end
    end)
    service.wait("the end of the pipe", function() return done end)
    pipe:close()
    poll("the end of the copy", function()
      how = child:reap()
      return how
    end)
    return how, table.concat(text)
  end

  for _, case in ipairs {
    { { memory = 1, answer = 1 }, "field 'seconds': seconds above 0 expected" },
    { { seconds = 1e9, memory = 1, answer = 1 }, "field 'seconds': seconds above 0 expected" },
    { { seconds = 1, answer = 1 }, "field 'memory': a number of bytes above 0 expected" },
    { { seconds = 1, memory = 1, answer = -1 }, "field 'answer': a number of bytes above 0 expected" },
  } do
    it("has limits: " .. case[2], function()
      local ok, why = pcall(core.snapshot, function() end, case[1])
      assert.is_false(ok)
      assert.matches(case[2], why, 1, true)
    end)
  end

  it("writes to its parent, and nowhere else", function()
    local dir = shell.directory()
    local path, kept = shell.path(dir, "new"), assert(io.open(shell.path(dir, "kept", ""), "w"))
    kept:write "once"
    local how, text = run(function(write)
      write(tostring(io.open(path, "w") == nil) .. " " .. tostring(io.open "/etc/passwd" == nil) .. " ")
      write(tostring(io.popen and pcall(io.popen, "true") and "tried"))
      kept:write "twice"
      kept:flush()
    end)
    kept:close()
    assert.equal("done", how)
    assert.equal("true true tried", text)
    assert.equal("once", slurp(shell.path(dir, "kept")))
    assert.is_nil(io.open(path))
  end)

  for _, case in ipairs {
    { "raises", "raised", function() error "oh" end },
    { "writes more than it may", "answer", function(write) write(("x"):rep(1001)) end },
    { "writes more than it may, bit by bit", "answer", function(write) while true do write "xxxxxxx" end end },
    { "kills itself", "killed", function() uv.kill(uv.os_getpid(), "sigsegv") end },
    { "takes more of the processor than it may", "killed", function() while true do end end,
      { seconds = 0.01, memory = 1 << 28, answer = 1 } },
  } do
    it("that " .. case[1] .. " ends as: " .. case[2], function() assert.equal(case[2], (run(case[3], case[4]))) end)
  end

  -- Sanitizers hang in a failing mapping; the service kills the copy at its limit of seconds.
  local run_of_memory = missing.it_with(not os.getenv "ASAN_OPTIONS", "expected a build without sanitizers: make spec", it, pending)
  run_of_memory("that uses more memory than it may ends", function()
    local how = run(function()
      local t = {}
      for i = 1, 1e9 do t[i] = (t[i - 1] or ("x"):rep(1 << 20)) .. i end
    end, { seconds = 60, memory = 32 << 20, answer = 1 })
    assert.is_truthy(how == "memory" or how == "killed" or how == "raised", how)
  end)
end)
