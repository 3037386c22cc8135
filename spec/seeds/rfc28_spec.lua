-- RFC 28, acquisition protocol, statement by statement, by line of the text: a scheduler (scheduler_client) and a resource
-- owner (provider) that talk directly. spec/support/acquire_text.lua has the same statements with the specs over sockets,
-- and those of the newer wording.
local providers = require "weir.acquire.provider"
local scheduler_client = require "weir.acquire.scheduler_client"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4" -- targets 0-7

-- A provider of MACHINE, or of another machine of targets 0-7, and a scheduler that has acquired groups. sent: requests;
-- heard: responses; said: events.
local function both(groups, targets, machine)
  local it = { sent = {}, heard = {}, said = {} }
  local g = machine or weir.synthetic(MACHINE)
  local all = assert(g:rset { scheduling = true })
  it.p = providers.new {
    targets = "0-7", groups = targets,
    resources = function(set) return all:on_ranks(set):table "rv1" end,
    send = function(key, response)
      it.heard[#it.heard + 1] = response
      if it.open then assert(it.f:receive(key, response)) end
    end,
  }
  it.f = scheduler_client.new {
    groups = groups or { "default" }, policy = "low",
    send = function(method, payload, group)
      it.sent[#it.sent + 1] = { method, payload }
      if method == "resource.acquire" then
        assert(it.p:acquire(group, payload))
      else
        it.answer = assert(it.p:release(group, payload))
      end
    end,
    on = {
      exception = function(x) it.said[#it.said + 1] = ("exception %d severity %d on %s"):format(x.job, x.severity, x.targets) end,
      unsatisfiable = function(name) it.said[#it.said + 1] = "unsatisfiable " .. name end,
      requeue = function(job) it.said[#it.said + 1] = "requeue " .. job end,
      exit = function(why) it.said[#it.said + 1] = "exit " .. why end,
    },
  }
  it.open = true
  it.f:start()
  return it
end

-- A scheduler alone; sent and said as above.
local function alone()
  local it = { sent = {}, said = {} }
  it.f = scheduler_client.new {
    policy = "low", send = function(method, payload) it.sent[#it.sent + 1] = { method, payload } end,
    on = { exit = function(why) it.said[#it.said + 1] = why end },
  }
  it.f:start()
  return it
end

local function R(ranks)
  return { version = 1, execution = { R_lite = { { rank = ranks, children = { core = "0-3" } } }, nodelist = { "n[" .. ranks .. "]" } } }
end

local function code(...) return (select(3, ...)) end

local function feasible(it, n) return it.f:feasible(("slot=%d/node"):format(n)) ~= nil end

local function ranks(a) return tostring(a:rset():ranks()) end

describe("RFC 28, background", function()
  it("[RFC28:40][Q1] the set comes from a file, is discovered, or is assigned by the enclosing instance", function()
    assert.equal(8, both().f.engine:resources():aggregate().node.total)
  end)

  it("[RFC28:42][Q11] excluded, made unavailable by administrators, failing", function()
    local it = both()
    assert(it.p:exclude "0")
    assert(it.p:drain("1", "disk"))
    assert(it.p:offline "2")
    assert.equal("3-7", ranks(assert(it.f:match "slot=5/node")))
    assert.equal("busy", code(it.f:match "slot=1/node"))
  end)

  it("[RFC28:49][Q4][Q5] availability is reported by target", function()
    local it = both()
    assert(it.p:offline "3-4")
    assert.same({ type = "offline", targets = "3-4" }, it.heard[2])
  end)

  it("[RFC28:51][Q5] all resources of a target are up or down as a unit", function()
    local it = both()
    assert(it.p:offline "1-7")
    assert.equal("busy", code(it.f:match "slot=5/core"))
    assert(it.f:match "slot=4/core")
  end)

  it("[RFC28:52][Q1] targets are the ranks of R_lite", function()
    assert.equal("0-7", both().heard[1].resources.execution.R_lite[1].rank)
  end)

  it("[RFC28:57][Q2] responses grow, shrink, online and offline", function()
    local it, seen = both(), {}
    assert(it.p:offline "0")
    assert(it.p:online "0")
    assert(it.p:exclude "0")
    assert(it.p:include "0")
    for i, response in ipairs(it.heard) do seen[i] = response.type end
    assert.same({ "grow", "offline", "online", "shrink", "grow" }, seen)
  end)
end)

describe("RFC 28, design criteria", function()
  it("[RFC28:65][Q1] discovery", function() assert.equal(32, both().f.engine:resources():aggregate().core.total) end)

  it("[RFC28:67][Q4] monitoring", function()
    local it = both()
    assert(it.p:offline "0-7")
    assert.equal("busy", code(it.f:match "slot=1/core"))
    assert(it.p:online "7")
    assert.equal("7", ranks(assert(it.f:match "slot=1/core")))
  end)

  it("[RFC28:69][Q10] satisfiability is independent of availability", function()
    local it = both()
    assert(it.p:offline "0-7")
    assert.is_true(feasible(it, 8))
    assert.is_false(feasible(it, 9))
  end)

  it("[RFC28:67][Q4][Q5] the state of a rack reaches schedulers as that of its targets", function()
    local service = require "spec.support.state".new(MACHINE, {})
    local admin = service:client "administrator"
    assert(service:ask(admin, "state", { uri = "/cluster0/rack0", state = "down" }))
    assert.equal("busy", code(service:ask(admin, "match", { request = "slot=5/node" })))
    assert.equal("0-3", assert(service:ask(admin, "resource.status")).groups[1].offline)
    assert(service:ask(admin, "state", { uri = "/cluster0/rack0", state = "up" }))
    assert(service:ask(admin, "match", { request = "slot=5/node" }))
    service:close()
  end)

  it("[RFC28:72][Q11] drain", function()
    local it = both()
    assert(it.p:drain("0-6", "fan"))
    assert.equal("7", ranks(assert(it.f:match "slot=1/node")))
  end)

  it("[RFC28:74][Q11] exclusion", function()
    local it = both()
    assert(it.p:exclude "0-6")
    assert.is_false(feasible(it, 2))
  end)
end)

describe("RFC 28, acquire", function()
  it("[RFC28:80][Q1] the scheduler SHALL send resource.acquire at initialization", function()
    assert.same({ { "resource.acquire", { group = "default" } } }, both().sent)
  end)

  it("[RFC28:84][Q12] there MAY be several active acquires", function()
    local it = both({ "default", "debug" }, { debug = "6-7" })
    assert.equal(2, #it.sent)
    assert.is_true(feasible(it, 8))
  end)

  it("[RFC28:91][Q1] group is REQUIRED, a string", function()
    local p = both().p
    for _, group in ipairs { 5, true, {} } do assert.equal("invalid", code(p:acquire("x", { group = group }))) end
    assert.equal("invalid", code(p:acquire("x", { groups = "default" })))
  end)

  it("[RFC28:95][Q1] default is all that is assigned to no group", function()
    assert.equal("0-1,4-7", both(nil, { login = "2-3" }).heard[1].online)
  end)

  it("[RFC28:107][Q11] an exclude group keeps nodes out of the default group", function()
    assert.equal("1-7", both(nil, { exclude = "0" }).heard[1].online)
  end)

  it("[RFC28:114][Q2] each response SHALL have its type", function()
    for _, response in ipairs { { type = "bogus" }, { targets = "0" }, { type = 5 } } do
      assert.equal("protocol", code(alone().f:receive("default", response)))
    end
  end)
end)

describe("RFC 28, grow", function()
  it("[RFC28:124][Q2] adds resources: resources, online and offline are REQUIRED", function()
    local it = alone()
    assert(it.f:receive("default", { type = "grow", resources = R "1-6", online = "2-3", offline = "1,4-6" }))
    assert.equal("2-3", ranks(assert(it.f:match "slot=2/node")))
    assert.is_true(feasible(it, 6))
    for _, key in ipairs { "resources", "online", "offline" } do
      local response = { type = "grow", resources = R "1-6", online = "2-3", offline = "1,4-6" }
      response[key] = nil
      assert.equal("protocol", code(alone().f:receive("default", response)))
    end
  end)

  it("[RFC28:139][Q14] the example: R_lite is a dictionary there, which RFC 20 forbids, and is refused with a word", function()
    local entry = { rank = "1-6", children = { core = "" } }
    local example = {
      type = "grow", online = "2-3", offline = "1,4-6",
      resources = { version = 1, scheduling = {}, attributes = {}, execution = { R_lite = entry } },
    }
    local _, why, word = alone().f:receive("default", example)
    assert.equal("protocol", word)
    assert.truthy(why:find("execution.R_lite: expected an array of", 1, true), why)
    example.resources.execution.R_lite, example.resources.scheduling = { entry }, nil
    local it = alone()
    assert(it.f:receive("default", example))
    assert.is_true(feasible(it, 6))
  end)

  it("[RFC28:160][Q10] the scheduler SHOULD wait for the first grow to judge satisfiability", function()
    assert.equal("busy", code(alone().f:feasible "slot=1/node"))
  end)

  it("[RFC28:164][Q2] a group that is reconfigured grows its stream", function()
    local it = both(nil, { exclude = "0-3" })
    assert.is_false(feasible(it, 5))
    assert(it.p:include "0")
    assert.is_true(feasible(it, 5))
  end)
end)

describe("RFC 28, shrink", function()
  it("[RFC28:170][Q3] subtracts targets, which are REQUIRED", function()
    local it = both()
    assert(it.p:exclude "2-3")
    assert.same({ type = "shrink", targets = "2-3" }, it.heard[2])
    assert.equal("protocol", code(it.f:receive("default", { type = "shrink" })))
  end)

  it("[RFC28:187][Q3] these SHALL NOT be allocated, unless a grow restores them", function()
    local it = both()
    assert(it.p:exclude "0-6")
    assert.equal("infeasible", code(it.f:match "slot=2/node"))
    assert(it.p:include "0-6")
    assert(it.f:match "slot=8/node")
  end)

  it("[RFC28:187][Q3] nor where a further hierarchy holds the target", function()
    local g = weir.synthetic(MACHINE)
    local pdu = assert(g:add(nil, { type = "pdu", size = 10 }))
    for _, v in ipairs(g:find "type=node") do
      assert(g:add_edge(pdu, v, { subsystem = "power", type = "supplies" }))
    end
    local it = both(nil, nil, g)
    assert(it.p:exclude "0-6")
    assert.same({ "containment", "power" }, it.f.engine:resources():subsystems())
    assert.equal("7", ranks(assert(it.f:match "slot=1/node")))
    assert.equal("infeasible", code(it.f:match "slot=2/node"))
  end)

  it("[RFC28:190][Q13] a job that has some gets a fatal exception", function()
    local it = both()
    local a = assert(it.f:match "slot=2/node")
    assert(it.p:exclude "1-3")
    assert.same({ ("exception %d severity 0 on 1"):format(a.id) }, it.said)
  end)

  it("[RFC28:191][Q7] sched.free of these is processed, and [RFC28:194] they are released as they become free", function()
    local it = both()
    local a = assert(it.f:match "slot=2/node")
    assert(it.p:exclude "0-3")
    assert.same({ "resource.release", { group = "default", targets = "2-3" } }, it.sent[2])
    assert(it.f:free(a.id, "1"))
    assert.same({ "resource.release", { group = "default", targets = "1" } }, it.sent[3])
    assert(it.f:free(a.id))
    assert.same({ "resource.release", { group = "default", targets = "0" } }, it.sent[4])
  end)

  it("[RFC28:197][Q3] the satisfiability of all in the queue SHOULD be judged again", function()
    local it = both()
    it.f:pend("big", weir.request "slot=8/node")
    it.f:pend("small", weir.request "slot=1/node")
    assert(it.p:exclude "0")
    assert.same({ "unsatisfiable big" }, it.said)
  end)
end)

describe("RFC 28, online and offline", function()
  it("[RFC28:207][Q4] online: targets, REQUIRED, may be used again", function()
    local it = both()
    assert(it.p:offline "0-7")
    assert(it.p:online "2-3")
    assert.same({ type = "online", targets = "2-3" }, it.heard[3])
    assert.equal("2-3", ranks(assert(it.f:match "slot=2/node")))
    assert.equal("protocol", code(it.f:receive("default", { type = "online" })))
  end)

  it("[RFC28:227][Q5] offline: targets, REQUIRED, [RFC28:244] SHALL NOT be allocated until they are online", function()
    local it = both()
    assert(it.p:offline "0-6")
    assert.equal("busy", code(it.f:match "slot=2/node"))
    assert(it.p:online "0")
    assert.equal("0,7", ranks(assert(it.f:match "slot=2/node")))
    assert.equal("protocol", code(it.f:receive("default", { type = "offline", targets = 5 })))
  end)

  it("[RFC28:247][Q13] no exception is raised on jobs there, and they are freed as any other", function()
    local it = both()
    local a = assert(it.f:match "slot=8/node")
    assert(it.p:offline "0-7")
    assert.same({}, it.said)
    assert(it.f:free(a.id))
    assert.equal(1, #it.sent)
  end)

  for _, row in ipairs {
    { 126, "grow", { "resources", "online", "offline" } }, { 172, "shrink", { "targets" } }, { 210, "online", { "targets" } },
    { 230, "offline", { "targets" } },
  } do
    it(("[RFC28:%d][Q2] a response %s without a REQUIRED key ends the acquisition"):format(row[1], row[2]), function()
      local whole = { grow = { type = "grow", resources = R "8", online = "8", offline = "" } }
      for _, key in ipairs(row[3]) do
        local it, response = both(), {}
        for k, value in pairs(whole[row[2]] or { type = row[2], targets = "1" }) do response[k] = k ~= key and value or nil end
        assert.equal("protocol", code(it.f:receive("default", response)), key)
        assert.equal("protocol", code(it.f:match "slot=1/node"), key)
      end
    end)
  end

  it("[RFC28:253][Q11] crashed and drained are not told apart", function()
    local it = both()
    assert(it.p:drain("0", "x"))
    assert(it.p:offline "0")
    assert(it.p:undrain "0")
    assert.equal(2, #it.heard)
    assert(it.p:online "0")
    assert.same({ type = "online", targets = "0" }, it.heard[3])
  end)
end)

describe("RFC 28, errors, release, disconnect", function()
  it("[RFC28:260][Q6] an error response to acquire: log it and exit", function()
    local it = alone()
    it.f:error("default", "no such group")
    assert.equal(1, #it.said)
    assert.equal("protocol", code(it.f:match "slot=1/node"))
  end)

  it("[RFC28:268][Q7] release acknowledges a shrink; [RFC28:275] group and targets are REQUIRED", function()
    local it = both()
    assert(it.p:exclude "5")
    assert.same({ "resource.release", { group = "default", targets = "5" } }, it.sent[2])
    assert.equal("invalid", code(it.p:release("default", { targets = "5" })))
    assert.equal("invalid", code(it.p:release("default", { group = "default" })))
  end)

  it("[RFC28:290][Q8] the group SHALL match, and the targets be of the shrink; [RFC28:293] no others SHALL be released", function()
    local it = both()
    assert.equal("protocol", code(it.p:release("default", { group = "default", targets = "0" })))
    assert.equal("unknown", code(it.p:release("default", { group = "other", targets = "0" })))
  end)

  it("[RFC28:291][Q8] the targets MAY be a proper subset of the shrink, each once", function()
    local it = both()
    local a = assert(it.f:match "slot=4/node")
    assert(it.p:exclude "0-3")
    assert.equal(1, #it.sent)
    for target = 3, 0, -1 do
      assert(it.f:free(a.id, tostring(target)))
      assert.same({ "resource.release", { group = "default", targets = tostring(target) } }, it.sent[#it.sent])
      assert.equal("protocol", code(it.p:release("default", { group = "default", targets = tostring(target) })))
    end
    assert.equal(5, #it.sent)
  end)

  it("[RFC28:296][Q8] the response SHALL have an empty payload", function()
    local it = both()
    assert(it.p:exclude "5")
    assert.same({}, it.answer)
  end)

  it("[RFC28:298][Q6] an error response to release: log it and exit", function()
    local it = both()
    it.f:error("default", "was not in a shrink")
    assert.truthy(it.said[1]:find("was not in a shrink", 1, true))
    assert.equal("protocol", code(it.f:match "slot=1/node"))
  end)

  it("[RFC28:305][Q9] a disconnect makes the resources available again; [RFC28:309] running jobs are unaffected", function()
    local it = both()
    local a = assert(it.f:match "slot=1/node")
    assert.is_true(it.p:disconnect "default")
    it.f:disconnected()
    assert.equal("busy", code(it.f:match "slot=1/node"))
    assert.equal("allocated", it.f.engine:job(a.id).state)
    it.f:start()
    assert.equal("1", ranks(assert(it.f:match "slot=1/node")))
  end)

  it("[RFC28:315][Q9] hello finds the allocations again", function()
    local old, new = both(), both()
    local a = assert(old.f:match "slot=2/node")
    assert(new.f:hello { { id = 7, R = a:format "rv1" } })
    assert.equal("0-1", ranks(new.f.engine:job(7)))
    assert.equal("2-7", ranks(assert(new.f:match "slot=6/node")))
  end)
end)

describe("RFC 28, the newer wording", function()
  it("[Q15] property-add and property-remove change the properties of targets", function()
    local f = scheduler_client.new { send = function() end, groups = { "default" }, style = "keyed", policy = "low" }
    f:start()
    assert(f:receive("default", { resources = R "0-3", up = "0-3" }))
    assert(f:receive("default", { ["property-add"] = { fast = "1-2" } }))
    assert.equal(2, #f.engine:resources():find "type=node and property=fast")
    assert(f:receive("default", { ["property-remove"] = { fast = "1" } }))
    assert.equal(2, f.engine:resources():find("type=node and property=fast")[1].rank)
  end)
end)
