-- Instances within instances: a service on the resources of a parent's job, three levels of services, and the
-- schedules when any of the services is killed.
local client = require "weir.serve.client"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

local CERT, KEY = "spec/data/tls/cert.pem", "spec/data/tls/key.pem"
local MACHINE = "cluster:1 rack:2 node:4 core:4" -- targets 0-7
local PATIENCE = 20 -- seconds

after_each(service.clean)

-- ---- levels -------------------------------------------------------------------------------------------------------

-- A service with a private directory, to be killed and started again. words: the arguments besides socket and state.
local function level(words)
  local it = { dir = shell.directory() }
  it.state = shell.path(it.dir, "state.sqlite")
  shell.path(it.dir, "state.sqlite-wal")
  shell.path(it.dir, "state.sqlite-shm")
  it.address = "unix:" .. it.dir .. "/s"
  function it.start()
    it.s = service.start(it.dir, { "--state", it.state, table.unpack(words) })
    it.c = it.s:connect()
  end
  function it.kill()
    it.c:close()
    it.s:kill()
  end
  function it.ask(...) return it.c:ask(...) end
  it.start()
  return it
end

local function root(machine, ...) return level { "-r", machine or MACHINE, ... } end

-- A child in a job matched for the child.
local function child(parent, request)
  local a = assert(parent.ask("match", { request = request }))
  local it = level { "--parent", parent.address .. "#" .. a.job }
  it.job = a.job
  return it
end

-- Polls until a condition holds.
local function eventually(what, f)
  local stop = uv.hrtime() + PATIENCE * 1e9
  while not f() do
    if uv.hrtime() > stop then error("waited in vain for " .. what, 2) end
  end
end

-- Waits until a child has the given targets of the parent.
local function has(it, acquired, leaving)
  local status
  eventually(("%s and leaving %s"):format(acquired, leaving or "nothing"), function()
    status = assert(it.ask "parent.status")
    return status.connected and status.acquired == acquired and status.leaving == (leaving or "")
  end)
  return status
end

-- The targets of a job.
local function ranks_of(it, job)
  local a = it.ask("job", { job = job, format = "rlite" })
  local set = weir.idset ""
  for _, entry in ipairs(a and a.resources or {}) do set = set | weir.idset(entry.rank) end
  return tostring(set)
end

local function nodes(it, what)
  return #assert(it.ask("find", { expression = "type=node and " .. what, fields = "path" })).vertices
end

-- Hears the events of a service: {lines}, "exception 1 on 3".
local function listen(it)
  local heard = {}
  local raw = it.s:raw(function(answer)
    local e = answer.result
    if e and (e.event == "exception" or e.event == "shrink") then
      heard[#heard + 1] = ("%s %d on %s"):format(e.event, e.job, e.targets)
    end
    if e and e.event == "exit" then heard[#heard + 1] = "exit: " .. e.note end
  end)
  raw.send '{"id":1,"method":"events"}\n'
  service.wait("the stream", function() return #raw.lines == 1 end)
  return heard
end

local function hears(heard, n)
  service.wait(n .. " events", function() return #heard >= n end)
  return heard
end

-- ---- one level ----------------------------------------------------------------------------------------------------

describe("a child service", function()
  it("[L3] has what a job of its parent has, as it lies in the machine, and nothing else", function()
    local top = root "cluster:1[rack:2[node:2[core:4 memory:1(size=16)] storage:1(size=100)]]"
    assert(top.ask("match", { request = "slot=1/node" }))
    local it = child(top, "slot=2/[core=3;memory=5]")
    local totals = it.ask("show", { as = "totals" }).totals
    assert.same({ 2, 6, 10 }, { totals.node.total, totals.core.total, totals.memory.total })
    local picks = {}
    for i, pick in ipairs(it.ask("match", { request = "slot=2/[core=1;memory=4]" }).vertices) do
      picks[i] = pick.path .. " " .. pick.amount
    end
    assert.same({ "/cluster0/rack0/node1/core0 1", "/cluster0/rack0/node1/memory0 4", "/cluster0/rack1/node2/core0 1",
      "/cluster0/rack1/node2/memory0 4" }, picks)
    assert.equal("infeasible", select(3, it.ask("match", { request = "slot=7/core" })))
    assert.is_nil(top.ask("find", { expression = "type=instance" }).vertices[1])
  end)

  it("[L3] keeps nothing of what its parent keeps for itself", function()
    local top = root()
    local it = child(top, "slot=2/node")
    local text = weir.json.encode(it.ask("match", { request = "slot=1/node", format = "rv1" }))
    assert.is_nil(text:find "weir%.service")
    assert.equal("0-1", it.ask("resource.status").targets)
  end)

  it("[Q2] asks for more, on whole targets that it does not have, and answers when that is here", function()
    local top = root()
    local it = child(top, "slot=2/node")
    assert.equal("0-2", assert(it.ask("parent.grow", { request = "slot=1/core=2" })).acquired)
    assert.equal("0-2", ranks_of(top, it.job))
    assert.equal(10, it.ask("show", { as = "totals" }).totals.core.total)
    assert.same({ nil, "infeasible" }, { nil, select(3, it.ask("parent.grow", { request = "slot=9/node" })) })
    assert.equal(5, nodes(top, "idle"))
  end)

  it("[Q2][RFC16:234][RFC28:290] is told that only the rest of its targets would do, and gets all of one after giving it back", function()
    local top = root "cluster:1 node:2 core:4"
    local it = child(top, "slot=1/core=2")
    assert.equal("0-1", assert(it.ask("parent.grow", { request = "slot=1/core=1" })).acquired)
    local _, why, code = it.ask("parent.grow", { request = "slot=1/core=1" })
    assert.equal("busy", code)
    assert.matches("job 1 has a part of what would fit, on targets 0%-1", why)
    assert.equal("infeasible", select(3, it.ask("parent.grow", { request = "slot=3/node" })))
    assert(it.ask("parent.shrink", { targets = "1" }))
    has(it, "0")
    assert.equal("0-1", assert(it.ask("parent.grow", { request = "slot=1/core=4" })).acquired)
    assert.equal(6, it.ask("show", { as = "totals" }).totals.core.total)
  end)

  it("[Q2] gets more of targets only, not of what is on none of them, of which it may have a part", function()
    local top = root "cluster:1[rack:2[node:2[core:4] storage:1(size=100)]]"
    local it = child(top, "slot=1/[node=1;storage=10]")
    local _, why, code = it.ask("parent.grow", { request = "slot=1/[node=1;storage=5]" })
    assert.matches("storage0 is on no target", why)
    assert.equal("invalid", code)
    assert.equal("0", ranks_of(top, it.job))
    assert.equal("0-1", assert(it.ask("parent.grow", { request = "slot=1/node" })).acquired)
    assert.equal(10, it.ask("show", { as = "totals" }).totals.storage.total)
  end)

  it("[Q2] gets what its parent gives it unasked", function()
    local top = root()
    local it = child(top, "slot=1/node")
    assert(top.ask("grow", { job = it.job, request = "slot=2/node" }))
    has(it, "0-2")
    assert.is_truthy(it.ask("match", { request = "slot=3/node" }))
  end)

  it("[Q7] gives back what it does not use, and the parent has it free", function()
    local top = root()
    local it = child(top, "slot=4/node")
    assert(it.ask("match", { request = "slot=1/node" }))
    assert(it.ask("parent.shrink", { targets = "2-3" }))
    has(it, "0-1")
    eventually("the release", function() return ranks_of(top, it.job) == "0-1" end)
    assert.equal(6, nodes(top, "idle"))
    assert.equal(2, it.ask("show", { as = "totals" }).totals.node.total)
  end)

  it("[Q7][Q13] gives back what jobs are on only by force: they get a fatal exception, and it goes when they have gone", function()
    local top = root()
    local it = child(top, "slot=4/node")
    local a = assert(it.ask("match", { request = "slot=2/node" }))
    local _, why, code = it.ask("parent.shrink", { targets = "1-2" })
    assert.matches("job 1 is on target 1", why)
    assert.equal("busy", code)
    assert.equal(4, nodes(it, "state=up"))
    local heard = listen(it)
    assert(it.ask("parent.shrink", { targets = "1-2", force = true }))
    has(it, "0,3", "1")
    assert.same({ "exception 1 on 1" }, hears(heard, 1))
    assert.equal("0-1,3", ranks_of(top, it.job))
    assert(it.ask("release", { job = a.job }))
    has(it, "0,3")
    eventually("the release", function() return ranks_of(top, it.job) == "0,3" end)
  end)

  it("[Q3][Q13] is shrunk by its parent: jobs there get a fatal exception, and the books keep the targets until they are gone", function()
    local top = root()
    local it = child(top, "slot=3/node")
    assert(it.ask("match", { request = "slot=2/node" }))
    local heard = listen(it)
    local answer = assert(top.ask("shrink", { job = it.job, ranks = "1-2" }))
    assert.equal("1-2", answer.leaving)
    has(it, "0", "1")
    assert.same({ "exception 1 on 1" }, hears(heard, 1))
    eventually("the release of 2", function() return ranks_of(top, it.job) == "0-1" end)
    assert.equal("busy", select(3, top.ask("match", { request = "slot=7/node" })))
    assert(it.ask("release", { job = 1 }))
    eventually("the release of 1", function() return ranks_of(top, it.job) == "0" end)
    assert(top.ask("match", { request = "slot=7/node" }))
  end)

  it("[Q3] loses what is taken from its parent, whose job need not end", function()
    local top = root()
    local it = child(top, "slot=3/node")
    assert(it.ask("match", { request = "slot=3/node" }))
    local above, below = listen(top), listen(it)
    assert(top.ask("resource.exclude", { targets = "1" }))
    has(it, "0,2", "1")
    assert.same({ "shrink 1 on 1" }, hears(above, 1))
    assert.same({ "exception 1 on 1" }, hears(below, 1))
    assert.equal("1", top.ask("resource.status").groups[1].leaving)
    assert(it.ask("release", { job = 1 }))
    eventually("the release", function() return top.ask("resource.status").groups[1].leaving == "" end)
    assert(top.ask("resource.include", { targets = "1" }))
    assert.equal(6, nodes(top, "idle and state=up"))
  end)

  for _, case in ipairs {
    { "a node is down", { "state", { uri = "/cluster0/rack0/node1", state = "down" } }, "0,2-4",
      { "state", { uri = "/cluster0/rack0/node1", state = "up" } } },
    { "a rack is down", { "state", { uri = "/cluster0/rack0", state = "down" } }, "4",
      { "state", { uri = "/cluster0/rack0", state = "up" } } },
    { "a target is drained", { "resource.drain", { targets = "0-2" } }, "3-4", { "resource.undrain", { targets = "0-2" } } },
    { "a monitor says so", { "resource.offline", { targets = "2" } }, "0-1,3-4", { "resource.online", { targets = "2" } } },
  } do
    it("[Q4][Q5][Q13] has targets offline while " .. case[1] .. " above, and jobs there go on", function()
      local top = root()
      local it = child(top, "slot=5/node")
      assert(it.ask("match", { request = "slot=5/core" }))
      local heard = listen(it)
      assert(top.ask(table.unpack(case[2])))
      eventually("offline", function() return it.ask("parent.status").online == case[3] end)
      local n = select(2, case[3]:gsub("%d+%-?%d*", "")) and weir.idset(case[3]):count()
      assert.equal(n, nodes(it, "state=up"))
      assert.is_truthy(it.ask("job", { job = 1 }))
      assert(top.ask(table.unpack(case[4])))
      eventually("online", function() return it.ask("parent.status").online == "0-4" end)
      assert.equal(5, nodes(it, "state=up"))
      assert.same({}, heard)
    end)
  end

  it("ends with status 1 when the job is released, and says so to everybody; so do those within it", function()
    local top = root()
    local mid = child(top, "slot=4/node")
    local leaf = child(mid, "slot=2/node")
    assert(leaf.ask("match", { request = "slot=1/node" }))
    local heard = listen(leaf)
    assert(top.ask("release", { job = mid.job }))
    assert.equal(1, mid.s:exit())
    assert.equal(1, leaf.s:exit())
    assert.matches("the parent has ended this service: job 1 is over", mid.s.err.text)
    assert.same({ "exception 1 on 0", "exit: the instance around this one has ended: job 1 is over" }, heard)
    assert.same({}, top.ask("child.list").children)
    assert.equal(8, nodes(top, "idle"))
  end)

  it("can be on a single node, which is a root, and give that back", function()
    local top = root "node:1 core:4"
    local it = child(top, "slot=1/node")
    assert.equal("/node0/core0", it.ask("match", { request = "slot=1/core" }).vertices[1].path)
    assert(top.ask("shrink", { job = it.job, ranks = "0" }))
    has(it, "", "0")
    it.kill()
    it.start()
    has(it, "", "0")
    assert(it.ask("release", { job = 1 }))
    assert.equal(1, it.s:exit())
    assert.equal(1, nodes(top, "idle"))
  end)

  it("of a group has its targets, and places nothing new there while nobody holds them for it", function()
    local top = root(MACHINE, "-g", "batch=4-6")
    local it = level { "--parent", top.address .. "#batch" }
    assert.equal("4-6", has(it, "4-6").online)
    assert(it.ask("match", { request = "slot=1/node" }))
    assert(top.ask("resource.move", { targets = "6", group = "default" }))
    has(it, "4-5")
    top.kill()
    eventually("the disconnect", function() return not it.ask("parent.status").connected end)
    assert.equal("busy", select(3, it.ask("match", { request = "slot=1/node" })))
    top.start()
    has(it, "4-5")
    assert(it.ask("match", { request = "slot=1/node" }))
    assert.equal("invalid", select(3, it.ask("parent.grow", { request = "slot=1/node" })))
    assert.equal("invalid", select(3, it.ask("parent.shrink", { targets = "4" })))
  end)

  for _, net in ipairs { "tcp", "tls" } do
    it("is the child of one that it reaches by " .. net .. " with a token, on a job that is its own", function()
      local dir = shell.directory()
      local alice, bob = "alice-0123456789abcdef", "bob-0123456789abcdef"
      local file = shell.path(dir, "tokens", alice .. " owner alice\n" .. bob .. " owner bob\n")
      assert(uv.fs_chmod(file, 384))
      local s = service.start(dir, { "-r", MACHINE, "-l", net .. ":127.0.0.1:0", "--token-file", file,
        table.unpack(net == "tls" and { "--tls-cert", CERT, "--tls-key", service.key(KEY) } or {}) })
      local address = s.out.text:match(net .. ":[%d.]+:%d+")
      local function as(token) return { token_file = shell.path(dir, token:sub(1, 3), token), ca = CERT } end
      local c <close> = assert(client.connect(address, as(alice)))
      local a = assert(c:ask("match", { request = "slot=2/node" }))
      local function words(token)
        return "--parent", ("%s#%d"):format(address, a.job), "--parent-ca", CERT, "--parent-token-file", as(token).token_file
      end
      local it = level { words(alice) }
      assert(it.ask("parent.grow", { request = "slot=1/node" }))
      assert(it.ask("parent.shrink", { targets = "0" }))
      has(it, "1-2")
      it.kill()
      local other = service.spawn { "serve", "-l", "unix:" .. shell.path(shell.directory(), "s"), words(bob) }
      assert.equal(2, other:exit())
      assert.matches("the owner of job 1 or an administrator may do that", other.err.text)
    end)
  end

  it("hands on what it has where it schedules nothing itself, and takes it back", function()
    local top = root()
    local a = assert(top.ask("match", { request = "slot=4/node" }))
    local mid = level { "--parent", top.address .. "#" .. a.job, "-a", "none" }
    local leaf = level { "--parent", mid.address }
    has(leaf, "0-3")
    assert(leaf.ask("match", { request = "slot=2/node" }))
    assert(top.ask("shrink", { job = a.job, ranks = "1,3" }))
    has(leaf, "0,2", "1")
    has(mid, "0,2", "1")
    assert(leaf.ask("release", { job = 1 }))
    eventually("the release", function() return ranks_of(top, a.job) == "0,2" end)
    assert.equal(2, mid.ask("show", { as = "totals" }).totals.node.total)
    assert(top.ask("grow", { job = a.job, request = "slot=1/core=2" }))
    has(leaf, "0-2")
    assert.equal(10, leaf.ask("show", { as = "totals" }).totals.core.total)
  end)

  it("drains targets of its own, whatever goes up and down above", function()
    local top = root()
    local it = child(top, "slot=3/node")
    assert(it.ask("resource.drain", { targets = "1" }))
    assert(top.ask("resource.drain", { targets = "1-2" }))
    eventually("offline", function() return it.ask("parent.status").online == "0" end)
    assert(top.ask("resource.undrain", { targets = "1-2" }))
    eventually("online", function() return it.ask("parent.status").online == "0-2" end)
    assert.equal(2, nodes(it, "state=up"))
  end)
end)

describe("a child service refuses", function()
  local top, it_

  local REFUSED = {
    { "to add", "it", "resource.add", { R = {} }, "parent.grow", "invalid" },
    { "to remove", "it", "resource.remove", { targets = "0" }, "parent.shrink", "invalid" },
    { "to give what it does not have", "it", "parent.shrink", { targets = "7" }, "target 7 was not acquired", "unknown" },
    { "to give what is no idset", "it", "parent.shrink", { targets = "x" }, "an idset", "invalid" },
    { "to ask for nothing", "it", "parent.grow", {}, "'request' is missing", "invalid" },
    { "a part of a target, as the parent's job", "top", "shrink", { job = 1, path = "/cluster0/rack0/node0/core0" }, "expected ranks",
      "busy" },
    { "a target that the job has not", "top", "shrink", { job = 1, ranks = "6" }, "has no target 6", "unknown" },
    { "to be freed in part", "top", "release", { job = 1, targets = "0" }, "shrink it", "busy" },
    { "a second one of the same job", "top", "resource.acquire", { group = "job.1" }, "already acquired", "busy" },
    { "to open a job that is not there", "top", "child.open", { job = 7 }, "no such job", "unknown" },
    { "a group of the name that children have", "top", "resource.move", { targets = "7", group = "job.9" }, "not job.N", "invalid" },
    { "to be no child", "top", "parent.status", {}, "no parent", "unavailable" },
  }
  for _, case in ipairs(REFUSED) do
    it(case[1], function()
      top = root()
      it_ = child(top, "slot=2/node")
      local result, why, code = (case[2] == "it" and it_ or top).ask(case[3], case[4])
      assert.is_nil(result)
      assert.matches(case[5], why, 1, true)
      assert.equal(case[6], code)
      has(it_, "0-1")
    end)
  end

  for _, case in ipairs {
    { "a parent that is not there", { "--parent", "unix:/nope/s#1" }, "no service answers there" },
    { "machine and parent at once", { "-r", MACHINE, "--parent", "unix:/nope/s#1" }, "exclude each other" },
    { "job 0", { "--parent", "unix:/nope/s#0" }, "jobs have numbers from 1 on" },
    { "another network", { "--parent", "http://x#1" }, "unix:PATH" },
  } do
    it("to start with " .. case[1], function()
      local s = service.spawn { "serve", "-l", "unix:" .. shell.path(shell.directory(), "s"), table.unpack(case[2]) }
      assert.equal(2, s:exit())
      assert.matches(case[3], s.err.text, 1, true)
    end)
  end

  it("to start on a job that is not there", function()
    top = root()
    local s = service.spawn { "serve", "-l", "unix:" .. shell.path(shell.directory(), "s"), "--parent", top.address .. "#3" }
    assert.equal(2, s:exit())
    assert.matches("no such job", s.err.text)
  end)
end)

-- ---- broken connections -------------------------------------------------------------------------------------------

describe("when the connection breaks", function()
  it("the child goes on with what it has, and the two compare what they have when it is back", function()
    local top = root()
    local it = child(top, "slot=3/node")
    local a = assert(it.ask("match", { request = "slot=1/node" }))
    top.kill()
    eventually("the disconnect", function() return not it.ask("parent.status").connected end)
    assert(it.ask("match", { request = "slot=1/node" }))
    assert(it.ask("release", { job = a.job }))
    assert.equal("unavailable", select(3, it.ask("parent.grow", { request = "slot=1/node" })))
    top.start()
    has(it, "0-2")
    assert.equal("0-2", ranks_of(top, it.job))
    assert(it.ask("parent.grow", { request = "slot=1/node" }))
  end)

  it("[Q9] a child that is gone loses nothing, and hears on its return what came, went, and is down", function()
    local top = root()
    local it = child(top, "slot=4/node")
    assert(it.ask("match", { request = "slot=2/node" }))
    it.kill()
    eventually("the disconnect", function() return not top.ask("child.list").children[1].acquired end)
    assert(top.ask("grow", { job = it.job, request = "slot=1/node" }))
    assert(top.ask("shrink", { job = it.job, ranks = "1,3" }))
    assert(top.ask("resource.drain", { targets = "2" }))
    assert.equal("0-4", ranks_of(top, it.job))
    top.kill()
    top.start()
    assert.equal("1,3", top.ask("child.list").children[1].leaving)
    it.start()
    assert.equal("0,4", has(it, "0,2,4", "1").online)
    assert(it.ask("release", { job = 1 }))
    has(it, "0,2,4")
    eventually("the release", function() return ranks_of(top, it.job) == "0,2,4" end)
  end)

  it("what is still to be given back is so after a kill of either", function()
    local top = root()
    local it = child(top, "slot=3/node")
    assert(it.ask("match", { request = "slot=3/node" }))
    assert(top.ask("resource.exclude", { targets = "0" }))
    assert(top.ask("shrink", { job = it.job, ranks = "1" }))
    has(it, "2", "0-1")
    it.kill()
    top.kill()
    top.start()
    it.start()
    has(it, "2", "0-1")
    assert(it.ask("release", { job = 1 }))
    has(it, "2")
    eventually("the release", function() return ranks_of(top, it.job) == "2" end)
    assert.equal(6, nodes(top, "idle"))
  end)

  it("a job that was released meanwhile ends the child on its return", function()
    local top = root()
    local it = child(top, "slot=1/node")
    it.kill()
    assert(top.ask("release", { job = it.job }))
    assert.equal(8, nodes(top, "idle"))
    local s = service.spawn { "serve", "-l", it.address, "--state", it.state, "--parent", top.address .. "#" .. it.job }
    assert.equal(1, s:exit())
    assert.matches("no such job", s.err.text)
  end)
end)

-- ---- three levels -------------------------------------------------------------------------------------------------

-- A machine of sixteen nodes: ten in a child, and six of the ten in a child of the child.
local function three()
  local top = root "cluster:1 rack:4 node:4 core:4"
  local mid = child(top, "slot=10/node")
  local leaf = child(mid, "slot=6/node")
  return { top, mid, leaf }
end

describe("three levels", function()
  it("[Q2] more comes down through all of them", function()
    local l = three()
    assert(l[2].ask("match", { request = "slot=4/node" })) -- nothing is left in the middle
    assert.equal("0-5,10-12", assert(l[3].ask("parent.grow", { request = "slot=3/node" })).acquired)
    assert.equal("0-12", ranks_of(l[1], l[2].job))
    assert.equal("0-5,10-12", ranks_of(l[2], l[3].job))
    assert.equal(3, nodes(l[1], "idle"))
    assert.equal(0, nodes(l[2], "idle"))
    assert.equal("infeasible", select(3, l[3].ask("parent.grow", { request = "slot=9/node" })))
  end)

  it("[Q7] what is given back goes up one level, or with pass through all", function()
    local l = three()
    assert(l[3].ask("parent.shrink", { targets = "5" }))
    eventually("one level", function() return ranks_of(l[2], l[3].job) == "0-4" end)
    assert.equal(5, nodes(l[2], "idle"))
    assert(l[3].ask("parent.shrink", { targets = "3-4", pass = true }))
    eventually("all levels", function() return ranks_of(l[1], l[2].job) == "0-2,5-9" end)
    assert.equal("0-2", ranks_of(l[2], l[3].job))
    assert.equal(8, nodes(l[1], "idle"))
    assert.equal(5, nodes(l[2], "idle"))
  end)

  it("[Q3][Q5] what is taken, or down, at the top is so at the bottom", function()
    local l = three()
    assert(l[3].ask("match", { request = "slot=2/node" }))
    assert(l[1].ask("resource.drain", { targets = "5" }))
    assert(l[1].ask("resource.exclude", { targets = "1,4,8" }))
    has(l[3], "0,2-3,5", "1")
    eventually("offline", function() return l[3].ask("parent.status").online == "0,2-3" end)
    has(l[2], "0,2-3,5-7,9", "1")
    eventually("the release of what nobody is on", function() return l[1].ask("resource.status").groups[1].leaving == "1" end)
    assert(l[3].ask("release", { job = 1 }))
    eventually("the release", function() return l[1].ask("resource.status").groups[1].leaving == "" end)
    assert.equal("0,2-3,5-7,9", ranks_of(l[1], l[2].job))
  end)
end)

-- ---- kills --------------------------------------------------------------------------------------------------------

-- Jobs acknowledged at a level, and not released: id -> paths.
local function paths_of(a)
  local list = {}
  for i, pick in ipairs(a.vertices) do list[i] = pick.path end
  table.sort(list)
  return table.concat(list, " ")
end

local function chance(p) return math.random() < p end

-- Random actions at a level; an answer counts on arrival only.
local ACTS = {
  function(it)
    local a = it.ask("match", { request = ("slot=%d/core"):format(math.random(4)) })
    if a then it.known[a.job] = paths_of(a) end
  end,
  function(it)
    local id = next(it.known)
    if id and it.ask("release", { job = id }) then it.known[id] = nil end
  end,
  function(it) if it.job then it.ask("parent.grow", { request = ("slot=%d/node"):format(math.random(2)) }) end end,
  function(it)
    local status = it.job and it.ask "parent.status"
    if not status then return end
    local set, one = weir.idset(status.acquired), nil
    for target in set:ids() do if not one or chance(0.3) then one = target end end
    if one and set:count() > 2 then it.ask("parent.shrink", { targets = tostring(one), pass = chance(0.5) }) end
  end,
}

-- Requests without a wait, so that the kill falls into the work.
local function in_flight(it)
  for _ = 1, math.random(0, 3) do
    local what = math.random(4)
    if what == 1 and it.job then it.c:send("parent.grow", { request = "slot=1/node" })
    elseif what == 2 and it.job then it.c:send("parent.shrink", { targets = tostring(math.random(0, 15)), pass = chance(0.5) })
    elseif what == 3 then it.c:send("match", { request = "slot=1/core" })
    end
  end
  for _ = 1, math.random(0, 3) do uv.run "nowait" end
end

-- Waits until no message is in flight between the levels.
local function at_rest(levels)
  for i = 2, #levels do
    local status = levels[i].ask "parent.status"
    local open = levels[i - 1].ask("child.list").children[1]
    if not status.connected or status.leaving ~= "" or open.leaving ~= "" or not open.acquired then return false end
    if status.acquired ~= ranks_of(levels[i - 1], levels[i].job) then return false end
  end
  return true
end

local function check_jobs(it)
  local found = {}
  for _, a in ipairs(assert(it.ask("jobs", { vertices = true })).jobs) do found[a.job] = paths_of(a) end
  for id, paths in pairs(it.known) do assert.equal(paths, found[id]) end
  for id, paths in pairs(found) do
    if id ~= it.below then it.known[id] = paths end -- a request in flight was done
  end
end

-- Cores of jobs are not free, all further cores are; and each level has the size told by the parent.
local function check_books(levels)
  for i, it in ipairs(levels) do
    local totals = it.ask("show", { as = "totals" }).totals
    local used = 0
    for id in pairs(it.known) do used = used + select(2, it.known[id]:gsub("core%d+", "")) end
    local inner = levels[i + 1] and weir.idset(ranks_of(it, levels[i + 1].job)):count() or 0
    assert.equal(totals.core.total - used - 4 * inner, totals.core.free)
    local size = i == 1 and 16 or weir.idset(it.ask("parent.status").acquired):count()
    assert.equal(size, totals.node and totals.node.total or 0)
  end
end

local ROUNDS = math.max(1, math.floor(6 * service.scale))

describe("levels that are killed", function()
  it(("[L5][L7] have exact books at each, after each of %d rounds of kill -9 at random moments"):format(ROUNDS), function()
    math.randomseed(ROUNDS, 28)
    local levels = three()
    for i, it in ipairs(levels) do it.known, it.below = {}, levels[i + 1] and levels[i + 1].job end
    for _ = 1, ROUNDS do
      for _ = 1, 12 do ACTS[math.random(#ACTS)](levels[math.random(3)]) end
      local dead = {}
      for i, it in ipairs(levels) do
        in_flight(it)
        if chance(0.5) then dead[#dead + 1] = i end
      end
      if #dead == 0 then dead[1] = math.random(3) end
      for _, i in ipairs(dead) do
        levels[i].kill()
        local g <close> = assert(weir.load(levels[i].state))
        assert(g:check())
      end
      for k = #dead, 2, -1 do
        local other = math.random(k)
        dead[k], dead[other] = dead[other], dead[k]
      end
      for _, i in ipairs(dead) do levels[i].start() end
      eventually("rest", function() return at_rest(levels) end)
      for _, it in ipairs(levels) do check_jobs(it) end
      check_books(levels)
    end
    for i = 3, 1, -1 do assert.equal(0, levels[i].s:stop(), levels[i].s.err.text) end
  end)
end)
