-- The state of a vertex above targets, such as a rack: schedulers and children hear of all targets below (RFC 28).
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

after_each(service.clean)

local MACHINE = "cluster:1 rack:2 node:2 core:4" -- targets 0-3

local function start(...)
  local dir = shell.directory()
  local s = service.start(dir, { "--clock", "manual", ... })
  return s, s:connect(), "unix:" .. dir .. "/s", dir
end

-- Acquires a group on a connection of its own. Returns the list of the responses after the first: "offline 0-1".
local function acquire(s, group)
  local heard = {}
  local raw = s:raw(function(answer)
    local r = answer.result
    if r and r.type and r.type ~= "grow" then heard[#heard + 1] = ("%s %s"):format(r.type, r.targets) end
    if r and r.type == "grow" then heard.grow = r end
  end)
  raw.send(('{"id":1,"method":"resource.acquire","params":{"group":"%s"}}\n'):format(group))
  service.wait("the resources", function() return heard.grow end)
  return heard
end

local function hears(heard, n)
  service.wait(n .. " responses", function() return #heard >= n end)
  return heard
end

local function set(c, uri, state) return assert(c:ask("state", { uri = uri, state = state })) end

local function online(c) return c:ask("resource.status").groups[1].online end

describe("the state of a rack", function()
  it("[Q4][Q5] is told to the acquirers of its targets, and told again when it is up", function()
    local s, c = start("-r", MACHINE, "-g", "other=1-3")
    local heard = acquire(s, "other")
    assert(c:ask("resource.offline", { targets = "2" }))
    set(c, "/cluster0/rack0", "down")
    assert.equal("", online(c))
    set(c, "/cluster0/rack1", "down")
    assert.equal("busy", select(3, c:ask("match", { request = "slot=1/node" })))
    set(c, "/cluster0/rack0", "up")
    assert.equal("0", online(c))
    set(c, "/cluster0/rack1", "up")
    assert.same({ "offline 2", "offline 1", "offline 3", "online 1", "online 3" }, { table.unpack(hears(heard, 5)) })
  end)

  it("[Q5] keeps this service from the targets, and gives them back; those that are down themselves stay down", function()
    local _, c = start("-r", MACHINE)
    assert(c:ask("resource.offline", { targets = "1" }))
    for _, state in ipairs { "down", "failing", "draining" } do
      set(c, "/cluster0/rack0", state)
      assert.equal("2-3", online(c))
      assert.equal("busy", select(3, c:ask("match", { request = "slot=3/node" })))
      assert(c:ask("match", { request = "slot=3/node", mode = "feasible" }))
      set(c, "/cluster0/rack0", "up")
      assert.equal("0,2-3", online(c))
    end
    set(c, "/cluster0", "down")
    assert.equal("", online(c))
    set(c, "/cluster0", "degraded")
    assert.equal("0,2-3", online(c))
    assert(c:ask("resource.online", { targets = "1" }))
    assert.equal("0-3", online(c))
    assert(c:ask("match", { request = "slot=4/node" }))
  end)

  it("[Q5] drops reservations there, and raises nothing for running jobs", function()
    local s, c = start("-r", MACHINE)
    local heard = {}
    local raw = s:raw(function(answer)
      local e = answer.result
      if e and e.job then heard[#heard + 1] = ("%s %d"):format(e.event, e.job) end
    end)
    raw.send '{"id":1,"method":"events"}\n'
    service.wait("the stream", function() return #raw.lines == 1 end)
    assert(c:ask("match", { request = "slot=4/node", duration = 10 }))
    assert(c:ask("match", { request = "slot=1/node", duration = 10, mode = "reserve" }))
    set(c, "/cluster0/rack0", "down")
    service.wait("the event", function() return #heard >= 1 end)
    assert.same({ "requeue 2" }, heard)
    assert.equal("allocated", c:ask("job", { job = 1 }).state)
  end)

  it("[Q5][R9] is told to children, before and after they begin", function()
    local _, c, address = start("-r", MACHINE)
    local job = assert(c:ask("match", { request = "slot=4/node" })).job
    set(c, "/cluster0/rack0", "down")
    local _, child = start("--parent", address .. "#" .. job)
    local function nodes(n)
      local stop, up = uv.hrtime() + 20e9
      repeat
        up = #child:ask("find", { expression = "type=node and state=up", fields = "path" }).vertices
      until up == n or uv.hrtime() > stop
      assert.equal(n, up)
    end
    nodes(2)
    assert.equal("busy", select(3, child:ask("match", { request = "slot=3/node" })))
    set(c, "/cluster0/rack0", "up")
    nodes(4)
    local a = assert(child:ask("match", { request = "slot=4/node" }))
    assert(child:ask("release", { job = a.job }))
    set(c, "/cluster0/rack1", "down")
    nodes(2)
    assert.equal("busy", select(3, child:ask("match", { request = "slot=3/node" })))
    set(c, "/cluster0/rack1", "up")
    nodes(4)
    assert(child:ask("match", { request = "slot=4/node" }))
  end)

  it("[Q5] holds for a machine that is loaded so, and after a restart", function()
    local dir = shell.directory()
    local g = weir.synthetic(MACHINE)
    g:vertex("/cluster0/rack0").state = "down"
    local machine, state = shell.path(dir, "m.json", g:format "jgf"), shell.path(dir, "state.sqlite")
    shell.path(dir, "state.sqlite-wal")
    shell.path(dir, "state.sqlite-shm")
    local s = service.start(dir, { "--clock", "manual", "-r", machine, "--state", state })
    local c = s:connect()
    assert.equal("2-3", online(c))
    c:close()
    s:kill()
    s = service.start(dir, { "--clock", "manual", "-r", machine, "--state", state })
    c = s:connect()
    assert.equal("2-3", online(c))
    set(c, "/cluster0/rack0", "up")
    assert.equal("0-3", online(c))
    assert(c:ask("match", { request = "slot=4/node" }))
  end)
end)

describe("the state of a part of a target", function()
  it("[Q5] is minded by matches here, and not told: the protocol knows targets as a whole", function()
    local _, c = start("-r", MACHINE)
    set(c, "/cluster0/rack0/node0/core0", "down")
    assert.equal("0-3", online(c))
    assert.equal("busy", select(3, c:ask("match", { request = "slot=16/core" })))
    assert(c:ask("match", { request = "slot=15/core" }))
  end)
end)

describe("a drained target", function()
  it("[Q11] keeps its reason when it is drained again without one", function()
    local _, c = start("-r", MACHINE)
    assert(c:ask("resource.drain", { targets = "0", reason = "fan" }))
    assert.equal("fan", c:ask("resource.drain", { targets = "0-1" }).drained[1].reason)
    assert.equal("disk", c:ask("resource.drain", { targets = "0", reason = "disk" }).drained[1].reason)
    assert(c:ask("resource.undrain", { targets = "0" }))
    assert.is_nil(c:ask("resource.drain", { targets = "0" }).drained[1].reason)
  end)
end)

describe("a job whose targets were taken away", function()
  it("[Q3][Q13] is listed while it runs: what is left, and what was taken", function()
    local _, c = start("-r", MACHINE)
    assert(c:ask("match", { request = "slot=2/node" }))
    assert(c:ask("match", { request = "slot=1/node" }))
    assert(c:ask("resource.exclude", { targets = "1-2" }))
    local function list()
      local rows = {}
      for i, job in ipairs(assert(c:ask("jobs", { leaving = true })).jobs) do
        rows[i] = ("%d %s %s"):format(job.job, job.state, job.taken or "-")
      end
      return rows
    end
    assert.same({ "1 allocated 1", "2 leaving 2" }, list())
    assert.equal(1, #c:ask("jobs").jobs)
    assert(c:ask("release", { job = 2 }))
    assert(c:ask("release", { job = 1 }))
    assert.same({}, list())
  end)
end)
