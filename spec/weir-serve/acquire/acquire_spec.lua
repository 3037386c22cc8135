-- The acquisition protocol (RFC 28), both sides.
local weir = require "weir"
local acquire = require "spec.support.acquire"
local consumers = require "weir.acquire.consumer"
local scheduler_client = require "weir.acquire.scheduler_client"

local inventory, provider, told = acquire.inventory, acquire.provider, acquire.told
local pair, events, free_nodes, ranks_of = acquire.pair, acquire.events, acquire.free_nodes, acquire.ranks_of

describe("the provider", function()
  it("[Q1] gives a group as one grow response, default being what is in no group", function()
    local p, sent = provider { groups = { exclude = "0-1", debug = "7" }, up = "2-3,7" }
    assert.is_true(p:acquire("s", { group = "default" }))
    assert.is_true(p:acquire("t", { group = "debug" }))
    assert.same({ "s grow 2-6 online 2-3 offline 4-6", "t grow 7 online 7 offline " }, told(sent))
  end)

  it("[Q1] describes the resources of a grow by an R that reads back", function()
    local p, sent = provider()
    p:move("0-5", "other")
    assert(p:acquire("s", { group = "default" }))
    local R = assert(weir.rset(sent[1].response.resources))
    assert.equal("6-7", tostring(weir.idset(R:ranks())))
    assert.equal(8, R:count "core")
  end)

  it("[Q1] lets the group exclude be acquired like any other", function()
    local p, sent = provider { groups = { exclude = "0-1" } }
    assert.is_true(p:acquire("s", { group = "exclude" }))
    assert.same({ "s grow 0-1 online 0-1 offline " }, told(sent))
  end)

  local REFUSED = {
    { "a group that is not there", { group = "nope" }, 'there is no group "nope"', "unknown" },
    { "a group that is no text", { group = 3 }, "expected group, a string", "invalid" },
    { "a payload without a group", { other = 1 }, "expected group, a string", "invalid" },
    { "a group that somebody has", { group = "default" }, "is already acquired", "busy" },
    { "a group of which nothing is left", { group = "empty" }, "there is nothing in group", "unavailable" },
  }
  for _, case in ipairs(REFUSED) do
    it("[Q6] answers with an error: " .. case[1], function()
      local p, sent = provider { groups = { empty = "7" } }
      assert(p:acquire("first", { group = "default" }))
      assert(p:remove "7")
      told(sent)
      local ok, why, code = p:acquire("second", case[2])
      assert.is_nil(ok)
      assert.matches(case[3], why, 1, true)
      assert.equal(case[4], code)
      assert.same({}, sent)
    end)
  end

  it("[Q2] grows a stream by what comes into its group, and by what is new on the machine", function()
    local p, sent = provider { groups = { exclude = "0-1" }, up = "0,2-7" }
    p:acquire("s", { group = "default" })
    told(sent)
    assert.is_true(p:include "0-1")
    assert.same({ "s grow 0-1 online 0 offline 1" }, told(sent))
    assert.is_true(p:remove "5")
    assert(p:release("s", { group = "default", targets = "5" }))
    told(sent)
    assert.is_true(p:add "5")
    assert.same({ "s grow 5 online 5 offline " }, told(sent))
  end)

  it("[Q3] takes back what leaves its group, and gives it to the next only after the release", function()
    local p, sent = provider()
    p:acquire("s", { group = "default" })
    p:move("0", "debug")
    p:acquire("t", { group = "debug" })
    assert.same({ "s grow 0-7 online 0-7 offline ", "s shrink 0" }, told(sent))
    local ok, _, code = p:acquire("t", { group = "debug" })
    assert.is_nil(ok)
    assert.equal("unavailable", code)
    assert.same({}, p:release("s", { group = "default", targets = "0" }))
    assert.is_true(p:acquire("t", { group = "debug" }))
    assert.same({ "t grow 0 online 0 offline " }, told(sent))
    p:move("2-3", "debug")
    assert.same({ "s shrink 2-3" }, told(sent))
    p:release("s", { group = "default", targets = "3" })
    assert.same({ "t grow 3 online 3 offline " }, told(sent))
  end)

  it("[Q3] does not restore what is leaving before it was released", function()
    local p, sent = provider()
    p:acquire("s", { group = "default" })
    p:exclude "4"
    told(sent)
    p:include "4"
    assert.same({}, told(sent))
    p:release("s", { group = "default", targets = "4" })
    assert.same({ "s grow 4 online 4 offline " }, told(sent))
  end)

  it("[Q4][Q5] tells who has them that targets went up or down, and nobody else", function()
    local p, sent = provider { groups = { debug = "6-7" }, up = "0-6" }
    p:acquire("s", { group = "default" })
    p:acquire("t", { group = "debug" })
    told(sent)
    p:offline "5-6"
    assert.same({ "s offline 5", "t offline 6" }, told(sent))
    p:online "5-7"
    assert.same({ "s online 5", "t online 6-7" }, told(sent))
    p:online "5"
    assert.same({}, told(sent))
  end)

  it("[Q11] drain is offline to the scheduler, and holds while the target comes and goes", function()
    local p, sent = provider()
    p:acquire("s", { group = "default" })
    told(sent)
    assert(p:drain("3-4", "disk"))
    assert.same({ "s offline 3-4" }, told(sent))
    p:offline "4"
    p:online "4"
    assert.same({}, told(sent))
    assert.equal('[{"reason":"disk","target":3},{"reason":"disk","target":4}]', weir.json.encode(p:status().drained, { sort = true }))
    p:offline "4"
    p:undrain "3-4"
    assert.same({ "s online 3" }, told(sent))
  end)

  it("[Q11] exclude is a shrink, include a grow", function()
    local p, sent = provider()
    p:acquire("s", { group = "default" })
    told(sent)
    p:exclude "0"
    assert.same({ "s shrink 0" }, told(sent))
    p:release("s", { group = "default", targets = "0" })
    p:include "0"
    assert.same({ "s grow 0 online 0 offline " }, told(sent))
  end)

  local RELEASES = {
    { "what no shrink named", { group = "default", targets = "1" }, "not in a shrink", "protocol" },
    { "more than a shrink named", { group = "default", targets = "0-1" }, "target 1 was not in a shrink", "protocol" },
    { "a group that it has not", { group = "debug", targets = "0" }, "have not acquired", "unknown" },
    { "no idset", { group = "default", targets = "x" }, "targets", "invalid" },
    { "no group", { targets = "0" }, "group, a string", "invalid" },
  }
  for _, case in ipairs(RELEASES) do
    it("[Q8] refuses the release of " .. case[1], function()
      local p, sent = provider { groups = { debug = "7" } }
      p:acquire("s", { group = "default" })
      p:exclude "0"
      told(sent)
      local before = weir.json.encode(p:status(), { sort = true })
      local ok, why, code = p:release("s", case[2])
      assert.is_nil(ok)
      assert.matches(case[3], why, 1, true)
      assert.equal(case[4], code)
      assert.equal(before, weir.json.encode(p:status(), { sort = true }))
    end)
  end

  it("[Q8] refuses a second release of the same target", function()
    local p = provider()
    p:acquire("s", { group = "default" })
    p:exclude "0"
    assert.same({}, p:release("s", { group = "default", targets = "0" }))
    assert.is_nil((p:release("s", { group = "default", targets = "0" })))
  end)

  it("[Q9] has everything again after a disconnect, what was leaving included", function()
    local p, sent = provider()
    p:acquire("s", { group = "default" })
    p:exclude "0"
    told(sent)
    assert.is_true(p:disconnect "s")
    assert.is_false(p:disconnect "s")
    assert.is_true(p:acquire("t", { group = "default" }))
    assert.is_true(p:acquire("u", { group = "exclude" }))
    assert.same({ "t grow 1-7 online 1-7 offline ", "u grow 0 online 0 offline " }, told(sent))
  end)

  local COMMANDS = {
    { "drain", "9", "no target 9", "unknown" }, { "drain", "", "at least one", "invalid" }, { "drain", "x", "targets", "invalid" },
    { "undrain", "3", "not drained", "invalid" }, { "exclude", "8", "no target 8", "unknown" }, { "remove", "8", "no target", "unknown" },
    { "add", "3", "there already", "exists" }, { "online", "12", "no target", "unknown" },
  }
  for _, case in ipairs(COMMANDS) do
    it(("[Q11] refuses %s of '%s', and nothing has changed"):format(case[1], case[2]), function()
      local p, sent = provider()
      p:acquire("s", { group = "default" })
      told(sent)
      local ok, why, code = p[case[1]](p, case[2])
      assert.is_nil(ok)
      assert.matches(case[3], why, 1, true)
      assert.equal(case[4], code)
      assert.same({}, sent)
    end)
  end

  it("keeps groups and drains as plain data", function()
    local p = provider { groups = { exclude = "0" } }
    p:drain("3", "disk")
    p:offline "5"
    local kept = weir.json.decode(weir.json.encode(p:save()))
    local q, sent = provider(kept)
    q:acquire("s", { group = "default" })
    assert.same({ "s grow 1-7 online 1-2,4,6-7 offline 3,5" }, told(sent))
    assert.same(p:save(), q:save())
  end)

  it("speaks the newer wording to those who ask with nothing", function()
    local p, sent = provider { groups = { exclude = "0" }, up = "0-5" }
    assert(p:acquire("s", {}))
    assert.equal("1-7", sent[1].response.resources.execution.R_lite[1].rank)
    assert.same({ 's {"up":"1-5"}' }, told(sent))
    p:online "6"
    p:drain "1"
    p:exclude "2"
    p:property_add("fast", "3-4")
    p:property_remove("fast", "4")
    p:expire(1.5e9)
    assert.same({ 's {"up":"6"}', 's {"down":"1"}', 's {"down":"2","shrink":"2"}', 's {"property-add":{"fast":"3-4"}}',
      's {"property-remove":{"fast":"4"}}', 's {"expiration":1500000000.0}' }, told(sent))
  end)
end)

describe("a scheduler that follows", function()
  it("[Q2] schedules on what a grow brings, and only that", function()
    local it = pair { groups = { exclude = "0-5" } }
    assert.equal(2, it.f.engine:resources():aggregate().node.total)
    assert.is_truthy(it.f:match "slot=2/node")
    assert.is_nil((it.f:match "slot=1/node"))
    it.p:include "0-1"
    it.run()
    assert.equal("0", ranks_of(it.f:match "slot=1/node"))
  end)

  it("[Q2] a grow restores what a shrink took", function()
    local it = pair()
    it.p:exclude "2-3"
    it.run()
    it.p:include "2-3"
    it.run()
    local a = it.f:match "slot=8/node"
    assert.equal("0-7", ranks_of(a))
  end)

  it("[Q3] places nothing on what a shrink took, and judges by the rest what could ever run", function()
    local it = pair()
    it.p:exclude "0-5"
    it.run()
    assert.same({ "resource.acquire default", "resource.release 0-5" }, it.log)
    assert.equal("6-7", ranks_of(it.f:match "slot=2/node"))
    local ok, _, code = it.f:feasible "slot=3/node"
    assert.is_nil(ok)
    assert.equal("infeasible", code)
    assert.same({}, events(it))
  end)

  it("[Q3] tells which of the waiting jobs can no longer run, once", function()
    local it = pair()
    it.f:pend("small", "slot=2/node")
    it.f:pend("large", "slot=7/node")
    it.f:pend("larger", "slot=8/node")
    it.p:exclude "0-1"
    it.run()
    assert.same({ "unsatisfiable large", "unsatisfiable larger" }, events(it))
    it.p:exclude "2"
    it.run()
    assert.same({}, events(it))
  end)

  it("[Q3] gives back reservations on what a shrink took, and no exception for these", function()
    local it = pair()
    local running = it.f:match("slot=8/node", { duration = 100 })
    local later = it.f:match("slot=2/node", { mode = "reserve" })
    assert.equal("reserved", later.state)
    it.p:exclude "0"
    it.run()
    assert.same({ "requeue " .. later.id, "exception " .. running.id .. " on 0" }, events(it))
    assert.is_nil((it.f.engine:job(later.id)))
  end)

  it("[Q4] places on a target again once it is online", function()
    local it = pair { up = "0" }
    local ok, _, code = it.f:match "slot=2/node"
    assert.is_nil(ok)
    assert.equal("busy", code)
    it.p:online "7"
    it.run()
    assert.equal("0,7", ranks_of(it.f:match "slot=2/node"))
  end)

  it("[Q5] places nothing on a target that is offline", function()
    local it = pair()
    it.p:offline "0-6"
    it.run()
    assert.equal("7", ranks_of(it.f:match "slot=1/node"))
    assert.is_nil((it.f:match "slot=1/node"))
  end)

  it("[Q5] gives back reservations on what is offline: their time must not come there", function()
    local it = pair()
    it.f:match("slot=8/node", { duration = 10 })
    local later = it.f:match("slot=8/node", { mode = "reserve" })
    it.p:offline "3"
    it.run()
    assert.same({ "requeue " .. later.id }, events(it))
    it.f.engine:advance(20)
    assert.is_nil((it.f.engine:job(later.id)))
  end)

  it("[Q6] ends after an error response, and says why", function()
    local it = pair { want = { "nope" } }
    assert.matches('no group "nope"', events(it)[1], 1, true)
    local ok, _, code = it.f:match "slot=1/node"
    assert.is_nil(ok)
    assert.equal("protocol", code)
    assert.is_nil((it.f:receive("nope", { type = "grow" })))
  end)

  it("[Q7] releases what a shrink took as it becomes free, target by target", function()
    local it = pair()
    local a, b = it.f:match "slot=2/node", it.f:match "slot=1/node"
    assert.same({ "0-1", "2" }, { ranks_of(a), ranks_of(b) })
    it.log = {}
    it.p:exclude "1-3"
    it.run()
    assert.same({ "resource.release 3" }, it.log)
    assert(it.f:free(b.id))
    it.run()
    assert(it.f:free(a.id))
    it.run()
    assert.same({ "resource.release 3", "resource.release 2", "resource.release 1" }, it.log)
    assert.equal("", it.p:status().groups[1].leaving)
    assert.equal(5, free_nodes(it))
  end)

  it("[Q7] takes part by part what a job frees", function()
    local it = pair()
    local a = it.f:match "slot=4/node"
    it.p:exclude "0-1"
    it.run()
    it.log = {}
    assert(it.f:free(a.id, "0,2"))
    it.run()
    assert.same({ "resource.release 0" }, it.log)
    assert.equal("3", ranks_of(it.f.engine:job(a.id)))
    assert(it.f:free(a.id, "1,3"))
    it.run()
    assert.same({ "resource.release 0", "resource.release 1" }, it.log)
    assert.is_nil((it.f:free(a.id)))
  end)

  it("[Q7] waits for the last of several jobs on a target", function()
    local it = pair { policy = "first" }
    local a, b = it.f:match "slot=1/core=2", it.f:match "slot=1/core=2"
    assert.same({ "0", "0" }, { ranks_of(a), ranks_of(b) })
    it.log = {}
    it.p:exclude "0"
    it.run()
    assert.same({ "exception 1 on 0", "exception 2 on 0" }, events(it))
    it.f:free(a.id)
    it.run()
    assert.same({}, it.log)
    it.f:free(b.id)
    it.run()
    assert.same({ "resource.release 0" }, it.log)
  end)

  it("gives no id twice, so that a job that is freed twice meets no other one", function()
    local it = pair()
    local a = it.f:match "slot=1/node"
    it.f:free(a.id)
    local b = it.f:match "slot=1/node"
    assert.is_true(b.id > a.id)
    assert.is_nil((it.f:free(a.id)))
    assert.is_truthy(it.f.engine:job(b.id))
  end)

  it("[Q8] releases nothing but what a shrink named", function()
    local it = pair()
    local a = it.f:match "slot=3/node"
    it.log = {}
    it.f:free(a.id)
    it.p:offline "5"
    it.run()
    assert.same({}, it.log)
  end)

  it("[Q9] jobs run on over a disconnect, and a scheduler that is started anew finds them by their R", function()
    local it = pair()
    local a = it.f:match "slot=2/node"
    local b = it.f:match "slot=1/core=3"
    local jobs = { { id = a.id, R = a:format "rv1" }, { id = b.id, R = b:format "rv1_nosched" } }
    local before = it.f.engine:resources()
    it.p:disconnect "default"
    it.make()
    it.f:start()
    it.run()
    assert(it.f:hello(jobs))
    assert.same({ "0-1", "2" }, { ranks_of(it.f.engine:job(a.id)), ranks_of(it.f.engine:job(b.id)) })
    assert.equal(before:aggregate().core.free, it.f.engine:resources():aggregate().core.free)
    assert.equal("3-7", ranks_of(it.f:match "slot=5/node"))
    assert.same({}, events(it))
  end)

  it("finds a job again by an R without a graph whose nodes have a property of the name \"scheduling\"", function()
    local it = pair()
    local R = weir.json.decode(it.f:match("slot=2/node"):format "rv1_nosched")
    R.execution.properties = { scheduling = "0-1" }
    it.p:disconnect "default"
    it.make()
    it.f:start()
    it.run()
    assert(it.f:hello { { id = 1, R = weir.json.encode(R) } })
    assert.equal("0-1", ranks_of(it.f.engine:job(1)))
  end)

  it("[Q9] a job on what was not acquired again gets its fatal exception at hello", function()
    local it = pair()
    local a = it.f:match "slot=2/node"
    it.p:disconnect "default"
    it.p:exclude "1"
    it.make()
    it.f:start()
    it.run()
    assert(it.f:hello { { id = a.id, R = a:format "rv1" } })
    assert.same({ "exception 1 on 1" }, events(it))
    assert.equal("0", ranks_of(it.f.engine:job(a.id)))
  end)

  it("[Q9] one that goes on takes up where it was: what has come back is used, what has not is treated as taken", function()
    local it = pair()
    local a = it.f:match "slot=2/node"
    it.p:disconnect "default"
    it.f:disconnected()
    local ok, _, code = it.f:match "slot=1/node"
    assert.is_nil(ok)
    assert.equal("busy", code)
    it.p:exclude "1,7"
    it.log = {}
    it.f:start()
    it.run()
    assert.same({ "exception 1 on 1" }, events(it))
    assert.same({ "resource.acquire default" }, it.log)
    assert.equal("2-6", ranks_of(it.f:match "slot=5/node"))
    it.p:include "1,7"
    it.run()
    assert.equal("7", ranks_of(it.f:match "slot=1/node"))
    assert.is_nil((it.f:match "slot=1/node")) -- the job is on 1 still
    it.f:free(a.id)
    assert.equal("0-1", ranks_of(it.f:match "slot=2/node"))
  end)

  it("[Q10] judges what could ever run by all that is acquired, online or not", function()
    local it = pair { up = "0" }
    assert.is_true(it.f:feasible "slot=8/node")
    assert.is_nil((it.f:feasible "slot=9/node"))
  end)

  it("[Q10] says nothing about that before the first grow", function()
    local f = scheduler_client.new { send = function() end }
    f:start()
    local ok, why, code = f:feasible "slot=1/node"
    assert.is_nil(ok)
    assert.equal("nothing has been acquired yet", why)
    assert.equal("busy", code)
  end)

  it("[Q11] keeps jobs on drained targets, and places no more there", function()
    local it = pair()
    local a = it.f:match "slot=1/core=1"
    it.p:drain("0", "disk")
    it.run()
    assert.equal("0", ranks_of(it.f.engine:job(a.id)))
    assert.equal("1", ranks_of(it.f:match "slot=1/core=1"))
    assert.same({}, events(it))
  end)

  it("[Q12] acquires several groups at once, as one machine with books for each", function()
    local it = pair { groups = { debug = "6-7", exclude = "0" }, want = { "default", "debug" } }
    assert.equal("1-7", ranks_of(it.f:match "slot=7/node"))
    it.log = {}
    it.p:exclude "5-6"
    it.run()
    assert.same({ "exception 1 on 5", "exception 1 on 6" }, events(it))
    it.f:free(1)
    it.run()
    assert.same({ "resource.release 5", "resource.release 6" }, it.log)
  end)

  it("[Q12] a target that moves between two groups of one scheduler is released and comes back", function()
    local it = pair { groups = { debug = "6-7" }, want = { "default", "debug" } }
    it.log = {}
    it.p:move("0", "debug")
    it.run()
    assert.same({ "resource.release 0" }, it.log)
    assert.equal("0-7", ranks_of(it.f:match "slot=8/node"))
  end)

  it("[Q13] a shrink of what jobs have is a fatal exception on each of them, once", function()
    local it = pair()
    it.f:match "slot=3/node"
    it.f:match "slot=1/node"
    it.p:exclude "0-1,3"
    it.run()
    local first = it.heard[1][2]
    assert.equal(0, first.severity)
    assert.same({ "exception 1 on 0-1", "exception 2 on 3" }, events(it))
  end)

  it("[Q13] offline raises nothing on the jobs", function()
    local it = pair()
    local a = it.f:match "slot=3/node"
    it.p:offline "0-1"
    it.run()
    assert.same({}, events(it))
    assert.equal("0-2", ranks_of(it.f.engine:job(a.id)))
  end)

  local BROKEN = {
    { "a shrink before the first grow", { { type = "shrink", targets = "0" } }, "before the first grow" },
    { "no type", { { targets = "0" } }, "type" },
    { "a type that is none", { { type = "wane" } }, "wane" },
    { "online and offline that overlap", { { type = "grow", online = "0-1", offline = "1-7" } }, "together" },
    { "online and offline that leave something out", { { type = "grow", online = "0-1", offline = "2-6" } }, "together" },
    { "resources that are none", { { type = "grow", resources = { version = 2 }, online = "", offline = "" } }, "no R" },
    { "a second grow of the same", { { type = "grow", online = "0-7", offline = "" }, { type = "grow", online = "0-7", offline = "" } },
      "acquired already" },
    { "online of what it has not", { { type = "grow", online = "", offline = "0-7" }, { type = "online", targets = "8" } },
      "not acquired" },
    { "a shrink of what it has not", { { type = "grow", online = "", offline = "0-7" }, { type = "shrink", targets = "7-8" } },
      "not acquired" },
    { "targets that are no idset", { { type = "grow", online = "", offline = "0-7" }, { type = "offline", targets = "7-" } }, "idset" },
  }
  for _, case in ipairs(BROKEN) do
    it("[Q6] ends where the provider fails to conform: " .. case[1], function()
      local said
      local f = scheduler_client.new { send = function() end, on = { exit = function(why) said = why end } }
      f:start()
      local R = inventory():table "rv1"
      for i, message in ipairs(case[2]) do
        if message.type == "grow" and not message.resources then message.resources = R end
        local ok = f:receive("default", message)
        assert.equal(i < #case[2], ok == true)
      end
      assert.matches(case[3], said, 1, true)
      assert.is_nil((f:match "slot=1/node"))
    end)
  end
end)

describe("the newer wording", function()
  local function keyed(opts)
    opts = opts or {}
    opts.style = "keyed"
    return pair(opts)
  end

  it("[Q1] starts with resources and up", function()
    local it = keyed { groups = { exclude = "0" }, up = "0-2" }
    assert.equal("1-2", ranks_of(it.f:match "slot=2/node"))
    assert.is_true(it.f:feasible "slot=7/node")
    assert.is_nil((it.f:feasible "slot=8/node"))
  end)

  it("[Q13] raises nothing on jobs whose target was removed, and releases nothing", function()
    local it = keyed()
    it.f:match "slot=2/node"
    it.log = {}
    it.p:exclude "0"
    it.run()
    assert.same({}, events(it))
    assert.same({}, it.log)
    assert.is_nil((it.f:feasible "slot=8/node"))
    assert.is_true(it.f:free(1))
    assert.equal(7, free_nodes(it))
  end)

  it("takes a response with several keys as the example of the text has it", function()
    local it = keyed { up = "0-2,7" }
    assert(it.f:receive("default", {
      up = "3-6", down = "2,6", shrink = "6", ["property-add"] = { foo = "0-1" }, ["property-remove"] = { bar = "3" }, expiration = 12.5,
    }))
    it.run()
    local g = it.f.engine:resources()
    local function nodes(what) return tostring(weir.idset((function()
      local ids = {}
      for _, v in ipairs(g:find("type=node and " .. what)) do ids[#ids + 1] = v.rank end
      return ids
    end)())) end
    assert.equal("0-1,3-5,7", nodes "state=up")
    assert.equal("2", nodes "state=down")
    assert.equal("0-1", nodes "property=foo")
    assert.equal(12.5, select(2, g:validity()))
  end)

  it("[Q5] up and down come and go", function()
    local it = keyed()
    it.p:drain("0-6", "all")
    it.run()
    assert.equal("7", ranks_of(it.f:match "slot=1/node"))
    it.p:undrain "4"
    it.run()
    assert.equal("4", ranks_of(it.f:match "slot=1/node"))
  end)
end)

describe("a consumer", function()
  it("[Q8] never releases more than it owes, whatever it is told is free", function()
    local sent, set = {}, inventory()
    local function nothing() end
    local c = consumers.new {
      send = function(method, payload) sent[#sent + 1] = method .. " " .. (payload.targets or payload.group) end,
      on = { ranks = function(R) return weir.idset(weir.rset(R):ranks()) end, grow = nothing, shrink = nothing, online = nothing,
        offline = nothing, exit = nothing },
    }
    c:start()
    c:receive("default", { type = "grow", resources = set:table "rv1", online = "0-7", offline = "" })
    c:receive("default", { type = "shrink", targets = "2-3" })
    c:freed(weir.idset "0-2")
    c:freed(weir.idset "0-7")
    c:freed(weir.idset "0-7")
    assert.same({ "resource.acquire default", "resource.release 2", "resource.release 3" }, sent)
  end)
end)
