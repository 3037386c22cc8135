-- The service: answers, refusals, and survived faults. Each spec has a process of its own and clients on its socket.
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4"

local function serve(...) return service.start(shell.directory(), { "-r", MACHINE, ... }) end

-- A state file and the files that SQLite puts beside it.
local function state_in(dir)
  shell.path(dir, "state.sqlite-wal")
  shell.path(dir, "state.sqlite-shm")
  return shell.path(dir, "state.sqlite")
end

local function paths(result)
  local list = {}
  for i, pick in ipairs(result.vertices) do list[i] = pick.path end
  return table.concat(list, " ")
end

local function line(value) return weir.json.encode(value) .. "\n" end

after_each(service.clean)

describe("the service", function()
  it("says which protocol it speaks", function() assert.equal(1, serve():connect():ask("hello").protocol) end)

  it("answers everything that an engine does", function()
    local s = serve()
    local c = s:connect()
    local a = assert(c:ask("match", { request = "slot=2/node", format = "rlite" }))
    assert.same({ 1, "allocated" }, { a.job, a.state })
    assert.equal("/cluster0/rack0/node0 /cluster0/rack0/node1", paths(a))
    assert.equal("0-1", a.resources[1].rank)
    local grown = assert(c:ask("grow", { job = 1, request = "slot=1/node" }))
    assert.equal("/cluster0/rack0/node0 /cluster0/rack0/node1 /cluster0/rack0/node2", paths(grown))
    assert.equal("/cluster0/rack0/node1 /cluster0/rack0/node2", paths(assert(c:ask("shrink", { job = 1, ranks = "0" }))))
    assert.equal("/cluster0/rack0/node2", paths(assert(c:ask("shrink", { job = 1, path = "/cluster0/rack0/node1" }))))
    assert.is_true(c:ask("match", { request = "slot=8/node", mode = "feasible" }).feasible)
    assert.equal("matched", c:ask("match", { request = "slot=7/node", mode = "preview" }).state)
    assert.equal("busy", c:ask("explain", { request = "slot=8/node" }).verdict)
    assert.equal(7, #c:ask("find", { expression = "type=node and idle" }).vertices)
    assert.equal("node2", c:ask("show", { uri = "/cluster0/rack0/node2", as = "pool" }).name)
    assert.equal(8, c:ask("show", { as = "totals" }).totals.node.total)
    assert.is_truthy(c:ask("show").trees[1])
    assert.equal("/cluster0/rack0/node2", paths(c:ask("job", { job = 1 })))
    assert.equal(1, #c:ask("jobs").jobs)
    assert(c:ask("tag", { uri = "/cluster0/rack1", set = { maintenance = "disk" } }))
    assert.equal(1, #c:ask("find", { expression = "tag.maintenance=disk" }).vertices)
    assert(c:ask("state", { uri = "/cluster0/rack1/node4", state = "down" }))
    assert.equal(1, #c:ask("find", { expression = "state=down" }).vertices)
    assert.equal("spread", c:ask("policy.load", { name = "spread" }).name)
    assert.equal("mine", c:ask("policy.load", { source = "return {name = 'mine', order = '-id'}" }).name)
    assert.equal("/cluster0/rack1/node7", paths(c:ask("match", { request = "slot=1/node" })))
    assert(c:ask("release", { job = 1 }))
    assert.equal(1, c:ask("stats").allocated)
    assert.equal(0, s:stop())
  end)

  it("[R7] names the queue of a job in R, where the scheduler said it", function()
    local c = serve():connect()
    local function queue(method, params)
      params.format = "rv1"
      local R = assert(c:ask(method, params)).resources
      assert.same({}, weir.check_R(weir.json.encode(R)))
      return R.attributes and R.attributes.system.scheduler.queue or "none"
    end
    local about = { queue = "batch" }
    assert.equal("batch", queue("match", { request = "slot=1/node", about = about }))
    assert.equal("none", queue("match", { request = "slot=1/node" }))
    assert.equal("batch", queue("match", { request = "slot=1/node", about = about, mode = "preview" }))
    assert.equal("batch", queue("stage", { request = "slot=1/node", about = about }))
    assert.equal("batch", queue("grow", { job = 1, request = "slot=1/node" }))
    assert.equal("batch", queue("job", { job = 1 }))
    assert(c:ask("release", { job = 1 }))
    assert.equal("none", queue("match", { request = "slot=1/node", job = 1 }))
  end)

  it("documents each of its methods by an example, which it tells with the role that is needed", function()
    local c = serve():connect()
    for _, name in ipairs(c:ask("methods").methods) do
      local about = assert(c:ask("methods", { name = name }))
      local request = assert(weir.json.decode(about.example), name)
      assert.equal(name, request.method)
      assert.is_truthy(request.id and about.needs)
    end
    assert.equal("owner", c:ask("methods", { name = "release" }).needs)
    assert.matches("as group", c:ask("methods", { name = "child.open" }).about)
    assert.equal("unknown", select(3, c:ask("methods", { name = "nope" })))
  end)

  it("[L6] reads what -r names, and says on one line what it serves and where", function()
    local s = serve()
    assert.matches("^listening on unix:" .. s.path:gsub("%p", "%%%0") .. ": 43 vertices, 0 jobs\n$", s.out.text)
  end)

  it("lets only the user connect who runs it, and takes the socket away at the end", function()
    local s = serve()
    assert.equal(384, uv.fs_stat(s.path).mode & 511)
    assert.equal(0, s:stop())
    assert.is_nil(uv.fs_stat(s.path))
  end)

  it("ends clean on an interrupt, and with a client that is connected", function()
    local s = serve()
    local c = s:connect()
    assert(c:ask "hello")
    s.process:kill "sigint"
    assert.equal(0, s:exit())
    assert.same({ nil, "the service has closed the connection", "io" }, { c:ask "hello" })
  end)

  it("answers several requests in flight, in the order of each client, with their ids", function()
    local s = serve()
    local raw = s:raw()
    local text = {}
    for i = 1, 100 do text[i] = line { id = "r" .. i, method = i % 2 == 0 and "hello" or "nope" } end
    raw.send(table.concat(text))
    service.wait("answers", function() return #raw.lines == 100 end)
    for i, answer in ipairs(raw.lines) do
      assert.equal("r" .. i, answer.id)
      assert.equal(i % 2 == 1, answer.error ~= nil)
    end
  end)

  it("puts requests together that arrive in pieces", function()
    local s = serve()
    local raw = s:raw()
    for piece in line({ id = 1, method = "match", params = { request = "slot=1/node" } }):gmatch ".." do
      raw.send(piece)
      uv.run "nowait"
    end
    raw.send "\n"
    service.wait("an answer", function() return #raw.lines == 1 end)
    assert.equal(1, raw.lines[1].result.job)
  end)

  it("sends long lists in pages, which others do not wait for", function()
    local s = service.start(shell.directory(), { "-r", "cluster:1 node:50 core:40" })
    local raw = s:raw()
    raw.send(line { id = 1, method = "find", params = { expression = "type=core" } })
    service.wait("the last page", function() return raw.lines[1] and not raw.lines[#raw.lines].more end)
    local n = 0
    for i, page in ipairs(raw.lines) do
      n = n + #page.result.vertices
      assert.equal(i < #raw.lines, page.more == true)
      assert.equal(2000, page.result.total)
    end
    assert.equal(2000, n)
    assert.is_true(#raw.lines > 5)
  end)

  local WRONG = {
    { "no JSON", "rubbish", "a JSON object on a line", "parse" },
    { "no object", "[1]", "has an id", "parse" },
    { "a text", '"x"', "JSON object", "parse" },
    { "no id", '{"method":"hello"}', "has an id", "parse" },
    { "an id that is none", '{"id":{},"method":"hello"}', "has an id", "parse" },
    { "no method", '{"id":1}', "has a method", "parse" },
    { "params that are none", '{"id":1,"method":"hello","params":3}', "params are an object", "parse" },
    { "a method that is not there", '{"id":1,"method":"nope"}', 'no method "nope"', "unknown" },
    { "a parameter that is not there", '{"id":1,"method":"hello","params":{"x":1}}', 'no parameter "x"', "invalid" },
    { "a request that is missing", '{"id":1,"method":"match"}', "'request' is missing", "invalid" },
    { "a shape that is none", '{"id":1,"method":"match","params":{"request":"slot=/"}}', "request", "parse" },
    { "the name of a file as a request", '{"id":1,"method":"match","params":{"request":"/etc/passwd"}}', "request", "parse" },
    { "a policy by its path", '{"id":1,"method":"policy.load","params":{"name":"/tmp/x.lua"}}', "the name of a policy", "invalid" },
    { "a policy that does not load", '{"id":1,"method":"policy.load","params":{"source":"return 3"}}', "table", "policy" },
    { "what never fits", '{"id":1,"method":"match","params":{"request":"slot=9/node"}}', "never", "infeasible" },
    { "a job that is not there", '{"id":1,"method":"release","params":{"job":7}}', "job 7", "unknown" },
    { "a job that is no number", '{"id":1,"method":"release","params":{"job":"7"}}', "the id of a job", "invalid" },
    { "an expression that is none", '{"id":1,"method":"find","params":{"expression":"type="}}', "", "parse" },
    { "a vertex that is not there", '{"id":1,"method":"show","params":{"uri":"/nope"}}', "nope", "unknown" },
    { "a mode that is none", '{"id":1,"method":"match","params":{"request":"slot=1/node","mode":"x"}}', "one of now", "invalid" },
    { "to advance the wall's clock", '{"id":1,"method":"advance","params":{"to":5}}', "the wall's", "invalid" },
    { "a start that is over", '{"id":1,"method":"match","params":{"request":"slot=1/node","at":5}}', "is over", "invalid" },
    { "a stream that is not there", '{"id":1,"method":"cancel","params":{"id":5}}', "no stream", "unknown" },
    { "deep nesting", '{"id":1,"method":"match","params":{"request":' .. ("["):rep(3000) .. ("]"):rep(3000) .. "}}", "", "parse" },
  }
  it("answers what is wrong with {id, error, code}, changes nothing, and goes on", function()
    local s = serve()
    local raw = s:raw()
    for i, case in ipairs(WRONG) do
      raw.send(case[2] .. "\n")
      service.wait(case[1], function() return #raw.lines == i end)
      local answer = raw.lines[i]
      assert.equal(case[4], answer.code, case[1] .. ": " .. tostring(answer.error))
      assert.matches(case[3], answer.error, 1, true)
      assert.is_nil(answer.result)
    end
    assert.equal(0, s:connect():ask("stats").allocated)
    assert.equal("", s.err.text)
  end)

  it("closes on a line that is too long, and only that connection", function()
    local s = serve()
    local other = s:connect()
    local raw = s:raw()
    raw.send(("x"):rep((1 << 20) + 70000))
    service.wait("the end", function() return raw.closed end)
    assert.equal("limit", raw.lines[1].code)
    assert.is_truthy(other:ask "hello")
  end)

  it("has a limit on requests in flight", function()
    local s = serve("--limit", "streams=128")
    local raw = s:raw()
    for i = 1, 200 do raw.send(line { id = i, method = "events" }) end
    service.wait("answers", function() return #raw.lines == 200 end)
    assert.equal("listening", raw.lines[128].result.event)
    assert.equal("limit", raw.lines[129].code)
    raw.send(line { id = "again", method = "cancel", params = { id = 5 } })
    service.wait("an answer", function() return #raw.lines == 201 end)
    assert.equal("limit", raw.lines[201].code)
  end)

  it("refuses a second request with an id that is in flight", function()
    local s = serve()
    local raw = s:raw()
    raw.send(line { id = 1, method = "events" } .. line { id = 1, method = "hello" })
    service.wait("answers", function() return #raw.lines == 2 end)
    assert.equal("exists", raw.lines[2].code)
  end)

  it("does not wait for one who does not read: others are served, and its streams have an end", function()
    local s = service.start(shell.directory(), { "-r", "cluster:1 node:100 core:40" })
    local slow, other = s:raw(), s:connect()
    slow.pause()
    for i = 1, 8 do slow.send(line { id = i, method = "find", params = { expression = "size>=0" } }) end
    for _ = 1, 50 do assert(other:ask("release", { job = assert(other:ask("match", { request = "slot=1/node" })).job })) end
    local waiting
    service.poll("pages that nobody reads", function()
      waiting = other:ask("stats").server.waiting_bytes
      return waiting > 0
    end)
    assert.is_true(waiting < 2 << 20, "waiting: " .. waiting)
    slow.resume()
    local done, seen = 0, 0
    service.wait("all pages", function()
      for i = seen + 1, #slow.lines do done = done + (slow.lines[i].more and 0 or 1) end
      seen = #slow.lines
      return done == 8
    end)
  end)

  it("drops one whose streams pile up, and serves the others", function()
    local s = serve("--limit", "most=500000", "--limit", "streams=128")
    local slow, other = s:raw(), s:connect()
    slow.pause()
    for i = 1, 120 do slow.send(line { id = i, method = "events" }) end
    assert(other:ask("match", { request = "slot=8/node" }))
    local rounds = 0
    repeat -- each an exception to 120 streams
      assert(other:ask("resource.exclude", { targets = "3" }))
      assert(other:ask("release", { job = 1, targets = "3" }))
      assert(other:ask("resource.include", { targets = "3" }))
      assert(other:ask("grow", { job = 1, request = "slot=1/node" }))
      rounds = rounds + 1
    until s.err.text:find "dropped" or rounds == 2000
    assert.matches("a client was dropped: %d+ bytes", s.err.text)
    assert.equal(1, other:ask("stats").server.clients)
    slow.resume()
    service.wait("its end", function() return slow.closed end)
    assert.is_truthy(other:ask "hello")
  end)

  it("reserves by a clock of the user's, where it has one", function()
    local s = serve("--clock", "manual")
    local c = s:connect()
    assert.equal(0, c:ask("match", { request = "slot=8/node", duration = 100 }).start)
    local later = c:ask("match", { request = "slot=8/node", duration = 50, mode = "reserve" })
    assert.same({ 100, "reserved" }, { later.start, later.state })
    assert.equal("invalid", select(3, c:ask("match", { request = "slot=1/node", at = -1 })))
    assert(c:ask("release", { job = 1 }))
    assert.equal(100, c:ask("advance", { to = 100 }).now)
    assert.equal("allocated", c:ask("job", { job = later.job }).state)
  end)

  it("gives no id twice, whoever releases late", function()
    local s = serve()
    local c = s:connect()
    local a = c:ask("match", { request = "slot=1/node" })
    c:ask("release", { job = a.job })
    assert.equal(a.job + 1, c:ask("match", { request = "slot=1/node" }).job)
    assert.equal("exists", select(3, c:ask("match", { request = "slot=1/node", job = a.job + 1 })))
  end)
end)

describe("a client that was closed", function()
  -- Otherwise a collection takes the event that somebody is about to wait for, or calls a reader in the midst of a line.
  it("does not run the loop when it is collected", function()
    local s = serve()
    local closed, rounds, timer = setmetatable({}, { __mode = "k" }), 0, uv.new_timer()
    local function open_and_close()
      local c = s:connect()
      closed[c] = true
      c:close()
    end
    open_and_close()
    timer:start(0, 0, function() rounds = rounds + 1 end) -- due in the next turn of the loop
    collectgarbage()
    collectgarbage()
    assert.is_nil(next(closed))
    assert.equal(0, rounds)
  end)
end)

describe("starting a service", function()
  local function fails(words, status, text)
    local s = service.spawn(words)
    assert.equal(status, s:exit())
    service.wait("what it says", function() return s.err.text:find "\n" end)
    assert.matches(text, s.err.text, 1, true)
  end

  it("says what is wrong with its words", function()
    fails({ "serve" }, 2, "-r RESOURCES is missing")
    fails({ "serve", "-r", "/nope.json" }, 2, "nope.json")
    fails({ "serve", "-r", MACHINE, "-l", "tcp://0.0.0.0:80" }, 2, "expected unix:PATH")
    fails({ "serve", "-r", MACHINE, "-l", "unix:/nope/s" }, 2, "/nope/s: there is no directory /nope")
    fails({ "serve", "-r", MACHINE, "-l", "unix:README.md" }, 2, "README.md: is there already, and no socket")
    fails({ "serve", "-r", MACHINE, "-l", "unix:/" .. ("x"):rep(120) }, 2, "at most 100 bytes")
    fails({ "serve", "-r", MACHINE, "--limit", "calls" }, 2, "NAME=N")
    fails({ "serve", "-r", MACHINE, "--limit", "nope=3" }, 2,
      'there is no "nope"; there are add, address, allcopies, answermb, buffers, calls,')
    fails({ "serve", "-r", MACHINE, "-p", "nope" }, 2, "no policy")
    fails({ "serve", "-r", MACHINE, "-g", "x" }, 2, "NAME=TARGETS")
    fails({ "serve", "-r", MACHINE, "-g", "x=90" }, 2, "no target 90")
    fails({ "serve", "-r", MACHINE, "-a", "nope" }, 2, 'no group "nope"')
    fails({ "serve", "-r", MACHINE, "--state", "/nope/x.sqlite" }, 2, "/nope/x.sqlite")
  end)

  it("reports a port that is in use", function()
    local dir = shell.directory()
    local tokens = { "--token-file", shell.path(dir, "tokens") }
    local s = service.start(dir, { "-r", MACHINE, "-l", "tcp:127.0.0.1:0", table.unpack(tokens) })
    local address = s.out.text:match "tcp:127.0.0.1:%d+"
    fails({ "serve", "-r", MACHINE, "-l", address, table.unpack(tokens) }, 2, address .. ": another program listens there")
    assert.equal(0, s:stop())
  end)

  it("does not take over the socket of one that runs, but that of one that was killed", function()
    local dir = shell.directory()
    local s = service.start(dir, { "-r", MACHINE })
    fails({ "serve", "-r", MACHINE, "-l", "unix:" .. s.path }, 2, "another service listens there")
    assert.is_truthy(s:connect():ask "hello")
    s:kill()
    assert.is_truthy(uv.fs_stat(s.path))
    assert.is_truthy(service.start(dir, { "-r", MACHINE }):connect():ask "hello")
  end)

  it("[L4] refuses a state that is something else, and leaves it as it is", function()
    local dir = shell.directory()
    local foreign = shell.path(dir, "notes.txt", "these are my notes, and no database\n")
    fails({ "serve", "-r", MACHINE, "-l", "unix:" .. dir .. "/s", "--state", foreign }, 2, "notes.txt")
    assert.equal("these are my notes, and no database\n", shell.slurp(foreign))
  end)

  it("[L4] refuses a database that is damaged, and leaves it as it is", function()
    local dir = shell.directory()
    local state = state_in(dir)
    service.start(dir, { "-r", MACHINE, "--state", state }):stop()
    local text = shell.slurp(state)
    local damaged = text:sub(1, 5000) .. ("\255"):rep(20000) .. text:sub(25001)
    local file <close> = assert(io.open(state, "wb"))
    file:write(damaged)
    file:flush()
    fails({ "serve", "-l", "unix:" .. dir .. "/s", "--state", state }, 2, "state.sqlite")
    assert.equal(#damaged, #shell.slurp(state))
  end)
end)

describe("the state", function()
  it("[L4][L7] is where the service takes up: jobs, clock, states, tags, groups", function()
    local dir = shell.directory()
    local state = state_in(dir)
    local s = service.start(dir, { "-r", MACHINE, "--state", state, "--clock", "manual" })
    local c = s:connect()
    c:ask("advance", { to = 77 })
    local a = c:ask("match", { request = "slot=2/node", duration = 100 })
    local b = c:ask("match", { request = "slot=8/node", duration = 50, mode = "reserve" })
    c:ask("tag", { uri = "/cluster0/rack1", set = { owner = "me" } })
    c:ask("state", { uri = "/cluster0/rack1/node7", state = "failing" })
    c:ask("resource.drain", { targets = "4", reason = "disk" })
    local before = c:ask("jobs", { vertices = true })
    local status = c:ask "resource.status"
    assert.equal(0, s:stop())
    s = service.start(dir, { "--state", state, "--clock", "manual" })
    c = s:connect()
    assert.same(before, c:ask("jobs", { vertices = true }))
    assert.same(status, c:ask "resource.status")
    assert.equal("failing", c:ask("show", { uri = "/cluster0/rack1/node7", as = "pool" }).state)
    assert.equal("me", c:ask("show", { uri = "/cluster0/rack1", as = "pool" }).tags.owner)
    assert.equal(77, c:ask("stats").now)
    assert.equal(b and a.job + 1, b.job)
  end)

  it("keeps what is excluded, and who is still on it, over a restart", function()
    local dir = shell.directory()
    local state = state_in(dir)
    local s = service.start(dir, { "-r", MACHINE, "--state", state })
    local c = s:connect()
    local a = c:ask("match", { request = "slot=2/node" })
    c:ask("tag", { uri = "/cluster0/rack0/node1", set = { owner = "me" } })
    c:ask("resource.exclude", { targets = "1-2" })
    s:kill()
    s = service.start(dir, { "--state", state })
    c = s:connect()
    assert.equal(6, c:ask("show", { as = "totals" }).totals.node.total)
    assert.equal("1-2", c:ask("resource.status").groups[2].targets)
    c:ask("resource.include", { targets = "1-2" })
    assert.equal("/cluster0/rack0/node2", paths(c:ask("match", { request = "slot=1/node" }))) -- the job is still on 1
    assert.equal("me", c:ask("show", { uri = "/cluster0/rack0/node1", as = "pool" }).tags.owner)
    assert(c:ask("release", { job = a.job }))
    assert.equal("/cluster0/rack0/node0 /cluster0/rack0/node1", paths(c:ask("match", { request = "slot=2/node" })))
    s:stop()
    local g <close> = assert(weir.load(state))
    assert(g:check())
  end)

  it("[L8] is written only where something has changed", function()
    local dir = shell.directory()
    local s = service.start(dir, { "-r", MACHINE, "--state", state_in(dir) })
    local c = s:connect()
    local before = c:ask("stats").counts.commits
    for _ = 1, 20 do
      c:ask("find", { expression = "type=node" })
      c:ask("match", { request = "slot=1/node", mode = "preview" })
      c:ask("match", { request = "slot=99/node" })
    end
    assert.equal(before, c:ask("stats").counts.commits)
    c:ask("match", { request = "slot=1/node" })
    assert.equal(before + 1, c:ask("stats").counts.commits)
  end)

  it("saves what many ask for at once in few transactions", function()
    local dir = shell.directory()
    local s = service.start(dir, { "-r", "cluster:1 node:300", "--state", state_in(dir) })
    local raws, answers = {}, 0
    for i = 1, 16 do raws[i] = s:raw(function(answer) answers = answers + (answer.result and 1 or 0) end) end
    for i = 1, 16 do
      local text = {}
      for k = 1, 16 do text[k] = line { id = k, method = "match", params = { request = "slot=1/node" } } end
      raws[i].send(table.concat(text))
    end
    service.wait("256 answers", function() return answers == 256 end)
    local counts = s:connect():ask("stats").counts
    assert.equal(256, counts.matches)
    assert.is_true(counts.commits < 200, "commits: " .. counts.commits)
  end)

  it("tells clients what could not be saved, goes back to what was, and serves on once it can be again", function()
    local dir = shell.directory()
    local state = state_in(dir)
    local s = service.start(dir, { "-r", MACHINE, "--state", state })
    local c = s:connect()
    local a = assert(c:ask("match", { request = "slot=1/node" }))
    local lock = service.spawn { "run", shell.path(dir, "lock.lua", [[
      local uv = require "luv"
      local pipe = assert(io.popen("sqlite3 " .. arg[1], "w"))
      pipe:write("BEGIN IMMEDIATE;\n.print locked\n")
      pipe:flush()
      io.stdin:read "l"
      pipe:close()]]), state }
    service.wait("the lock", function() return lock.out.text:find "locked" or lock.code end)
    local ok, why, code = c:ask("match", { request = "slot=1/node" })
    assert.is_nil(ok)
    assert.matches("could not be saved", why)
    assert.equal("busy", code)
    lock:kill()
    assert.same({ a.job }, { c:ask("jobs").jobs[1].job, c:ask("jobs").jobs[2] })
    service.wait("the lock to go", function() return c:ask("match", { request = "slot=1/node" }) end)
    assert.equal(2, #c:ask("jobs").jobs)
  end)

  it("ends a service whose state something else has written to, before it answers", function()
    local dir = shell.directory()
    local state = state_in(dir)
    local first = service.start(dir, { "-r", MACHINE, "--state", state })
    local c = first:connect()
    assert(c:ask("match", { request = "slot=1/node" }))
    local g <close> = assert(weir.load(state))
    assert(weir.engine({ resources = g }):match "slot=1/node")
    assert(g:save(state, { format = "sqlite" }))
    local ok, _, code = c:ask("match", { request = "slot=1/node" })
    assert.is_nil(ok)
    assert.is_truthy(code == "exists" or code == "io")
    assert.equal(1, first:exit())
    local now <close> = assert(weir.load(state))
    assert.equal(2, #weir.engine({ resources = now }):jobs())
  end)
end)
