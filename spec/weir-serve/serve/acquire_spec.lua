-- The acquisition protocol over a service's socket: further schedulers acquire groups of the service, which schedules
-- the rest by equal rules.
local scheduler_client = require "weir.acquire.scheduler_client"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4"

local function serve(...) return service.start(shell.directory(), { "-r", MACHINE, ... }) end

local function ranks_of(a) return tostring(weir.idset(a:rset():ranks())) end

local function ranks(result) return result.resources[1] and result.resources[1].rank end

-- A scheduler that follows a group over a connection: {f =, heard =, pump(n)}; pump waits for n responses.
local function scheduler(s, group)
  local it = { heard = {}, got = 0 }
  local last = 0
  local raw = s:raw(function(answer)
    if answer.id == 1 and answer.error then it.f:error(group, answer.error) end
    if answer.id == 1 and answer.result then it.f:receive(group, answer.result) end
    if answer.id ~= 1 and answer.error then it.f:error(group, answer.error) end
    it.got = it.got + 1
  end)
  it.f = scheduler_client.new {
    groups = { group }, policy = "low",
    send = function(method, payload)
      last = last + 1
      raw.send(weir.json.encode { id = last, method = method, params = payload } .. "\n")
    end,
    on = {
      exception = function(x) table.insert(it.heard, "exception " .. x.job .. " on " .. x.targets) end,
      exit = function(why) table.insert(it.heard, "exit " .. why) end,
    },
  }
  function it.pump(n) service.wait("a response", function() return it.got >= n end) end
  it.close = raw.close
  it.f:start()
  return it
end

after_each(service.clean)

describe("a service as provider", function()
  it("[Q1][Q12] hands a group to another scheduler, with its graph, and schedules the rest itself", function()
    local s = serve("-g", "batch=4-6", "-g", "exclude=7")
    local c = s:connect()
    assert.equal("infeasible", select(3, c:ask("match", { request = "slot=5/node" })))
    assert.equal("0-3", ranks(c:ask("match", { request = "slot=4/node", format = "rlite" })))
    local it = scheduler(s, "batch")
    it.pump(1)
    assert.equal("4-6", ranks_of(it.f:match "slot=3/node"))
    assert.is_truthy((it.f.engine:resources():vertex "/cluster0/rack1/node4"))
    assert.is_nil((it.f:feasible "slot=4/node"))
  end)

  it("[Q6] refuses a group that is taken: its own, or another scheduler's", function()
    local s = serve("-g", "batch=4-7")
    local first = scheduler(s, "batch")
    first.pump(1)
    for _, group in ipairs { "batch", "default", "nope" } do
      local it = scheduler(s, group)
      it.pump(1)
      assert.matches("^exit", it.heard[1])
    end
    assert.same({}, first.heard)
  end)

  it("[Q2][Q3][Q7] targets move from its own scheduler to another one once nobody is on them any more", function()
    local s = serve("-g", "batch=7")
    local c = s:connect()
    local events = s:raw()
    events.send '{"id":1,"method":"events"}\n'
    service.wait("the stream", function() return #events.lines == 1 end)
    local it = scheduler(s, "batch")
    it.pump(1)
    local a = c:ask("match", { request = "slot=2/node" })
    local status = c:ask("resource.move", { targets = "1-2", group = "batch" })
    assert.same({ "1", "" }, { status.groups[1].leaving, status.groups[2].leaving })
    it.pump(2)
    assert.equal("2,7", ranks_of(it.f:match("slot=2/node", { mode = "preview" })))
    service.wait("the event", function() return #events.lines == 2 end)
    assert.same({ "exception", 1, 0, "1" }, { events.lines[2].result.event, events.lines[2].result.job, events.lines[2].result.severity,
      events.lines[2].result.targets })
    assert(c:ask("release", { job = a.job }))
    it.pump(3)
    assert.equal("1-2,7", ranks_of(it.f:match "slot=3/node"))
    local g = weir.json.encode(c:ask("show", { as = "totals" }).totals.node, { sort = true })
    assert.equal('{"free":5,"idle":5,"total":5}', g)
  end)

  it("[Q3][Q7][Q8] takes back what it gave, as that becomes free", function()
    local s = serve("-g", "batch=4-7")
    local c = s:connect()
    local it = scheduler(s, "batch")
    it.pump(1)
    local a = it.f:match "slot=1/node"
    c:ask("resource.include", { targets = "4-5" })
    it.pump(3) -- the shrink, and the answer to the release of 5
    assert.same({ "exception 1 on 4" }, it.heard)
    assert.equal("0-3,5", ranks(c:ask("match", { request = "slot=5/node", format = "rlite", mode = "preview" })))
    it.f:free(a.id)
    it.pump(4)
    assert.equal("0-5", ranks(c:ask("match", { request = "slot=6/node", format = "rlite" })))
    local raw = s:raw()
    raw.send '{"id":1,"method":"resource.release","params":{"group":"batch","targets":"6"}}\n'
    service.wait("an answer", function() return #raw.lines == 1 end)
    assert.equal("unknown", raw.lines[1].code)
  end)

  it("[Q4][Q5][Q11] drain and undrain reach whoever has the target", function()
    local s = serve("-g", "batch=4-7")
    local c = s:connect()
    local it = scheduler(s, "batch")
    it.pump(1)
    c:ask("resource.drain", { targets = "0,4-6", reason = "disk" })
    it.pump(2)
    assert.equal("7", ranks_of(it.f:match("slot=1/node", { mode = "preview" })))
    assert.equal("1", ranks(c:ask("match", { request = "slot=1/node", format = "rlite", mode = "preview" })))
    c:ask("resource.undrain", { targets = "0,4" })
    it.pump(3)
    assert.equal("4", ranks_of(it.f:match("slot=1/node", { mode = "preview" })))
    assert.equal("0", ranks(c:ask("match", { request = "slot=1/node", format = "rlite", mode = "preview" })))
  end)

  it("[Q9] has everything back when a scheduler goes, and a new one acquires it", function()
    local s = serve("-g", "batch=4-7")
    local it = scheduler(s, "batch")
    it.pump(1)
    local a = it.f:match "slot=2/node"
    local jobs = { { id = a.id, R = a:format "rv1" } }
    it.close()
    local c = s:connect()
    service.wait("the disconnect", function() return not c:ask("resource.status").groups[2].acquired end)
    it = scheduler(s, "batch")
    it.pump(1)
    assert(it.f:hello(jobs))
    assert.equal("6-7", ranks_of(it.f:match "slot=2/node"))
  end)

  it("[Q9] cancel is a disconnect of one stream", function()
    local s = serve("-g", "a=4", "-g", "b=5")
    local raw = s:raw()
    raw.send '{"id":1,"method":"resource.acquire","params":{"group":"a"}}\n{"id":2,"method":"resource.acquire","params":{"group":"b"}}\n'
    raw.send '{"id":3,"method":"cancel","params":{"id":1}}\n'
    service.wait("answers", function() return #raw.lines == 4 end)
    assert.same({ id = 1, result = { ended = true } }, raw.lines[3])
    local groups = s:connect():ask("resource.status").groups
    assert.same({ false, true }, { groups[2].acquired, groups[3].acquired })
  end)

  it("provides only, where it is told to schedule nothing", function()
    local s = serve("-a", "none")
    local c = s:connect()
    assert.equal("unavailable", select(3, c:ask("match", { request = "slot=1/node" })))
    local it = scheduler(s, "default")
    it.pump(1)
    assert.equal("0-7", ranks_of(it.f:match "slot=8/node"))
  end)

  it("speaks the newer wording to those who ask without a group", function()
    local s = serve("-a", "none")
    local c, raw = s:connect(), s:raw()
    raw.send '{"id":1,"method":"resource.acquire"}\n'
    service.wait("resources", function() return #raw.lines == 1 end)
    assert.equal("0-7", raw.lines[1].result.up)
    assert.is_true(raw.lines[1].more)
    c:ask("resource.drain", { targets = "3" })
    c:ask("resource.property", { name = "fast", targets = "1-2" })
    service.wait("two responses", function() return #raw.lines == 3 end)
    assert.same({ down = "3" }, raw.lines[2].result)
    assert.same({ ["property-add"] = { fast = "1-2" } }, raw.lines[3].result)
  end)

  it("takes new targets in, and lets others go", function()
    local s = serve()
    local c = s:connect()
    assert(c:ask("resource.remove", { targets = "6-7" }))
    assert.equal(6, c:ask("show", { as = "totals" }).totals.node.total)
    local more = weir.synthetic("cluster:1 rack:3 node:4 core:4"):rset { scheduling = true }:subset { ranks = "8-9" }:table "rv1"
    local status = c:ask("resource.add", { R = more })
    assert.equal("0-5,8-9", status.targets)
    assert.equal("0-5,8-9", ranks(c:ask("match", { request = "slot=8/node", format = "rlite" })))
    assert.equal("exists", select(3, c:ask("resource.add", { R = more })))
  end)

  it("refuses targets that are not there without a walk through them", function()
    local c = serve():connect()
    local before = c:ask "resource.status"
    for _, method in ipairs { "move", "exclude", "include", "remove", "drain", "undrain", "online", "offline", "property" } do
      local extra = method == "property" and { name = "fast" } or method == "move" and { group = "debug" } or {}
      extra.targets = "0-4294967294"
      local ok, why, code = c:ask("resource." .. method, extra)
      assert.same({ nil, "unknown" }, { ok, code })
      assert.truthy(why:find("there is no target 8-4294967294 here", 1, true), why)
    end
    assert.same(before, c:ask "resource.status")
  end)

  it("refuses to add more at once than it may", function()
    local s = service.start(shell.directory(), { "-r", "cluster:1 node:8 core:4", "--limit", "add=100" })
    local c = s:connect()
    local function more(rank)
      return { R = { version = 1, execution = { R_lite = { { rank = rank, children = { core = "0-9" } } } } } }
    end
    for _, rank in ipairs { "100-4000000", "100-109" } do
      local ok, why, code = c:ask("resource.add", more(rank))
      assert.same({ nil, "limit" }, { ok, code })
      assert.truthy(why:find("one request may add 100 (--limit add=N allows more)", 1, true), why)
    end
    assert.equal("0-7,100-108", c:ask("resource.add", more "100-108").targets)
  end)

  it("does not take the whole machine out of itself", function()
    local s = service.start(shell.directory(), { "-r", "node:1 core:4" })
    local ok, why, code = s:connect():ask("resource.exclude", { targets = "0" })
    assert.is_nil(ok)
    assert.matches("the whole machine", why)
    assert.equal("invalid", code)
  end)
end)
